"""Long code: optimised at once, in one part where it has no loops, while no garbage is collected."""

import gc
import threading

import numpy as np
import pytest

import dynamis as dy
from dynamis.compiler import background, columns, jit, kernel, llvm_text
from dynamis.compiler.parts import in_parts
from dynamis.robot import kernel_report


@pytest.fixture(autouse=True)
def optimised(monkeypatch):
    monkeypatch.delenv("DYNAMIS_TIER", raising=False)
    monkeypatch.setenv("DYNAMIS_NO_CACHE", "1")
    yield
    assert kernel.wait_for_compiler(300.0)


def derivatives(count=19):
    robot, rng = dy.load("ur5e"), np.random.default_rng(0)
    return robot.kernel("inverse_dynamics_derivatives"), rng.uniform(-1.0, 1.0, (3, count, 6))


def test_long_code_has_no_baseline(monkeypatch):
    levels = []
    assemble = jit.assemble
    monkeypatch.setattr(jit, "assemble", lambda text, level: levels.append(level) or assemble(text, level))
    short, states = derivatives()
    before = short(*states)
    assert short.state() == "float64 baseline code, optimisation pending"
    assert levels[-1] == kernel.QUICK
    assert kernel.wait_for_compiler(300.0)
    monkeypatch.setattr(kernel, "WORTH_A_BASELINE", 100)
    levels.clear()
    long, _ = derivatives()
    after = long(*states)
    assert long.state() == "float64 optimised"
    assert kernel.wait_for_compiler(300.0)
    assert set(levels) == {kernel.GOOD}
    assert len(long.compiled("double").loaded) == 1  # nothing replaced it
    assert bool(long.compiled("double").single[0]) == (jit.single_state_target("double") is not None)
    assert np.array_equal(before, after)
    assert np.array_equal(long(*states[:, 0]), after[0])


def test_very_long_code_without_loops_is_one_part_with_the_same_bits(monkeypatch):
    code_of, states = derivatives()
    assert in_parts(code_of.code) is None
    expected = code_of(*states)
    monkeypatch.setattr(columns, "STRAIGHT", 100)
    monkeypatch.setattr(llvm_text, "LONG", 100)
    part, _ = derivatives()
    assert [x.turns for x in in_parts(part.code).parts] == [1]
    assert np.array_equal(part(*states), expected)
    monkeypatch.setattr(kernel_report, "LONG", 100)
    assert "loops" not in dy.load("ur5e").explain("inverse_dynamics_derivatives")


def test_no_garbage_is_collected_while_code_is_made():
    assert gc.isenabled()
    with background.collector_paused():
        assert not gc.isenabled()
        with background.collector_paused():
            pass
        assert not gc.isenabled()
        background._collect_again()  # as in a forked process, where the thread that paused it is missing
        assert gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with background.collector_paused():
            pass
        assert not gc.isenabled()  # it was off before
    finally:
        gc.enable()


def test_the_collector_runs_again_after_threads_have_compiled():
    def work():
        with background.collector_paused():
            barrier.wait()

    barrier = threading.Barrier(3)
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gc.isenabled()


def test_the_collector_runs_again_after_an_error():
    with pytest.raises(ZeroDivisionError), background.collector_paused():
        _ = 1 / 0
    assert gc.isenabled()
