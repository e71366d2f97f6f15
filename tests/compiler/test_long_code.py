"""Long code: optimised at once, in one part where it has no loops, while no garbage is collected."""

import gc
import threading

import numpy as np
import pytest
from processes import output_of

import dynamis as dy
from dynamis.compiler import background, jit, kernel, llvm_body, llvm_text
from dynamis.compiler.parts import in_parts
from dynamis.compiler.sincos import LARGEST_ANGLE
from dynamis.compiler.target import Target

WIDE = Target("double", 4, 16)


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


@pytest.mark.parametrize("limit", ["STRAIGHT", "MANY_RESULTS"])
def test_results_of_long_code_are_transposed_in_a_loop_with_the_same_bits(limit, monkeypatch):
    monkeypatch.setattr(kernel, "WORTH_A_BASELINE", 100)  # baseline code has a lower limit
    code_of, states = derivatives()
    assert in_parts(code_of.code) is None
    expected = code_of(*states)
    assert "@scatter" not in llvm_text.render(code_of.code, WIDE)
    monkeypatch.setattr(llvm_text, limit, 100)
    assert "call void @scatter0" in llvm_text.render(code_of.code, WIDE)
    part, _ = derivatives()
    assert np.array_equal(part(*states), expected)


def in_modules(monkeypatch):
    """From now on code is optimised at once, in modules of one function of few steps."""
    for place, name, value in ((kernel, "WORTH_A_BASELINE", 100), (llvm_text, "STRAIGHT", 100), (llvm_text, "FUNCTIONS", 1),
                               (llvm_body, "SEGMENT", 150)):  # fmt: skip
        monkeypatch.setattr(place, name, value)


def test_long_code_in_several_modules_has_the_same_bits(monkeypatch):
    whole, states = derivatives()
    expected = whole(*states)
    in_modules(monkeypatch)
    apart, _ = derivatives()
    assert len(list(llvm_text.modules(apart.code, jit.host_target("double")))) > 5
    assert np.array_equal(apart(*states), expected)
    assert np.array_equal(apart(*states.astype(np.float32)), derivatives()[0](*states.astype(np.float32)))


def test_modules_are_rendered_while_others_are_assembled(monkeypatch):
    threads, rendered, here = [], [], threading.current_thread
    assembled, modules = jit._object, kernel.modules
    monkeypatch.setattr(jit, "_object", lambda text, level: threads.append(here()) or assembled(text, level))
    monkeypatch.setattr(kernel, "modules", lambda *a, **k: (rendered.append(here()) or x for x in modules(*a, **k)))
    in_modules(monkeypatch)
    made, states = derivatives()
    made(*states)
    assert set(rendered) == {here()}
    assert set(threads[: len(rendered)]) != {here()}


def test_long_code_is_made_while_the_interpreter_ends():
    """No thread can be started then."""
    script = """
import atexit
import numpy as np
import dynamis as dy
from dynamis.compiler import kernel, llvm_text
kernel.WORTH_A_BASELINE = llvm_text.STRAIGHT = 100
robot = dy.load("ur5e")
atexit.register(lambda: print(robot.mass_matrix(np.zeros((20, 6))).shape))
"""
    assert output_of(script, DYNAMIS_NO_CACHE="1") == "(20, 6, 6)\n"


@pytest.mark.parametrize(("name", "function"), [("ur5e", "mass_matrix"), ("planar_2r_melchiorri", "inverse_dynamics")])
def test_baseline_code_transposes_many_results_and_rows_of_two_in_a_loop_with_the_same_bits(name, function):
    robot, rng = dy.load(name), np.random.default_rng(0)
    made = robot.kernel(function)
    states = rng.uniform(-1.0, 1.0, (len(made.arguments), 19, robot.n))
    assert "call void @scatter0" in llvm_text.render(made.code, WIDE, quick=True)
    assert "@scatter" not in llvm_text.render(made.code, WIDE)
    before = made(*states)
    assert kernel.wait_for_compiler(300.0)
    assert len(made.compiled("double").loaded) == 2
    assert np.array_equal(made(*states), before)


def test_an_angle_too_large_for_the_reduction_is_brought_into_range_in_its_lane_only():
    robot = dy.load("planar_2r_melchiorri")
    q = np.tile([0.4, -0.3], (19, 1))
    q[5, 1], q[11, 0] = 1e9, -1e12
    near = np.arctan2(np.sin(q), np.cos(q))
    far = np.abs(q) > LARGEST_ANGLE
    gravity = robot.kernel("gravity")
    for _ in range(2):
        assert np.array_equal(gravity(q), gravity(np.where(far, near, q)))
        assert kernel.wait_for_compiler(300.0)


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
