"""Many threads on one robot while better code takes over, threads that compile at the same time, and what outlives what."""

import gc
import os
import threading

import numpy as np
import pytest
from joint_zoo import zoo_robot, zoo_states
from processes import output_of

import dynamis as dy
from dynamis.algorithms import dynamics, mass_matrix
from dynamis.compiler import background, jit
from dynamis.compiler.kernel import wait_for_compiler

THREADS = 32
CALLS = 10_000  # of each thread


def in_threads(count, work):
    """Run work(k) in threads that start together; whatever one of them raises is raised here."""
    errors = []
    start = threading.Barrier(count)

    def run(k):
        try:
            start.wait()
            work(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]


def test_no_thread_sees_a_wrong_value_while_code_is_exchanged(monkeypatch):
    """Every thread calls every function, bare and through the robot, first while better code is being made, then while
    another thread puts one code in the place of the other without pause."""
    monkeypatch.delenv("DYNAMIS_TIER", raising=False)
    monkeypatch.setenv("DYNAMIS_NO_CACHE", "1")
    robot = dy.load("planar_2r_melchiorri")
    rng = np.random.default_rng(0)
    states = rng.uniform(-2, 2, (16, 3, 2))
    functions = {"gravity": 1, "bias": 2, "mass_matrix": 1, "coriolis_matrix": 2, "kinetic_energy": 2, "inverse_dynamics": 3}
    expected = {
        (name, k): getattr(robot, name)(*states[k, :count]).tobytes() for name, count in functions.items() for k in range(16)
    }
    names = list(functions)
    bare = {name: robot.kernel(name).ufunc() for name in names}
    compiled = [robot.kernel(name).compiled("double") for name in names]
    stop = threading.Event()
    exchanged, wrong = [], []

    def work(me):
        for j in range(CALLS):
            k = (7 * me + j) % 16
            name = names[(me + j) % len(names)]
            call = getattr(robot, name) if j < 50 or j % 16 == 0 else bare[name]
            if call(*states[k, : functions[name]]).tobytes() != expected[name, k]:
                wrong.append((name, k, j))

    def exchange():
        while not stop.is_set():
            for c in compiled:
                c.gufunc.exchange(c.loaded[len(exchanged) % len(c.loaded)].address)
            exchanged.append(len(compiled[0].loaded))

    swapper = threading.Thread(target=exchange)
    swapper.start()
    try:
        in_threads(THREADS, work)
    finally:
        stop.set()
        swapper.join()
    assert not wrong
    assert wait_for_compiler(300.0)
    assert all(len(c.loaded) == 2 for c in compiled)
    assert len(exchanged) > 100
    assert exchanged[-1] == 2  # the better code was there before the last call


def test_threads_that_want_the_same_new_function_at_once_all_get_it(monkeypatch):
    """One of them compiles, the others wait for it; all have the same bits."""
    monkeypatch.setenv("DYNAMIS_NO_CACHE", "1")
    assembled = []
    assemble = jit.assemble
    monkeypatch.setattr(jit, "assemble", lambda *given: assembled.append(given) or assemble(*given))
    robot = dy.Robot(zoo_robot("screws").description)
    q, v, a = zoo_states(robot, 6)
    expected = np.array([dynamics.forward_dynamics(robot.model, *state) for state in zip(q, v, a, strict=True)])
    found = [None] * THREADS

    def work(k):
        found[k] = robot.forward_dynamics(q, v, a)

    in_threads(THREADS, work)
    assert np.allclose(found[0], expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
    assert all(np.array_equal(f, found[0]) for f in found)
    assert len(assembled) == 1


@pytest.mark.parametrize("tier", ["quick", ""])
def test_threads_that_make_robots_and_compile_at_once_do_not_disturb_each_other(monkeypatch, tier):
    """Expressions are shared by all threads: two traces at once must each find their own function."""
    monkeypatch.setenv("DYNAMIS_TIER", tier)
    monkeypatch.setenv("DYNAMIS_NO_CACHE", "1")
    description = dy.load("scara").description
    results = {}

    def work(k):
        d = description.copy()
        d.gravity = np.array([0.1 * k, -0.2 * k, -9.81])
        d.joints[k % 4].drive.viscous = 0.3 + k
        robot = dy.Robot(d)
        q, v, a = np.random.default_rng(k).uniform(-1, 1, (3, 5, 4))
        law = robot.compile(lambda robot, q, v, gain: gain[0] * q - float(k + 1) * v + robot.gravity(q), gain=1)
        results[k] = (
            robot.model, (q, v, a), robot.inverse_dynamics(q, v, a), robot.mass_matrix(q), law(q, v, np.array([3.0])),
            robot.forward_dynamics(q[0], v[0], a[0]),
        )  # fmt: skip

    count = 8
    in_threads(count, work)
    assert len(results) == count
    for k, (model, (q, v, a), tau, M, push, acceleration) in results.items():
        right = np.array([dynamics.inverse_dynamics(model, *state) for state in zip(q, v, a, strict=True)])
        assert np.allclose(tau, right, rtol=1e-12, atol=1e-12), k
        assert np.allclose(M, [mass_matrix.crba(model, x) for x in q], rtol=1e-12, atol=1e-12), k
        weight = np.array([dynamics.gravity(model, x) for x in q])
        assert np.allclose(push, 3.0 * q - (k + 1.0) * v + weight, rtol=1e-12, atol=1e-12), k
        assert np.allclose(acceleration, dynamics.forward_dynamics(model, q[0], v[0], a[0]), rtol=1e-9), k
    assert wait_for_compiler(300.0)


def test_no_better_code_is_made_for_what_is_gone(monkeypatch):
    monkeypatch.delenv("DYNAMIS_TIER", raising=False)
    monkeypatch.setenv("DYNAMIS_NO_CACHE", "1")
    made = []
    monkeypatch.setattr(jit, "assemble", lambda text, level, assemble=jit.assemble: made.append(level) or assemble(text, level))
    robot = dy.load("planar_2r_melchiorri")
    robot.inverse_dynamics([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
    del robot
    gc.collect()
    assert wait_for_compiler(300.0)
    assert made == [0]


def test_a_bare_ufunc_outlives_its_robot(monkeypatch):
    monkeypatch.delenv("DYNAMIS_TIER", raising=False)
    monkeypatch.setenv("DYNAMIS_NO_CACHE", "1")
    q = np.random.default_rng(0).uniform(-1, 1, (9, 4))
    robot = dy.load("scara")
    expected = robot.gravity(q)
    bare = robot.kernel("gravity").ufunc()
    del robot
    gc.collect()
    filler = [dy.load("scara").replace(gravity=(0, k, -9)).gravity(q) for k in range(3)]  # may take the memory that was let go
    assert np.array_equal(bare(q), expected)
    assert wait_for_compiler(300.0)  # better code arrives for kernels nobody holds
    gc.collect()
    assert np.array_equal(bare(q), expected)
    assert not np.array_equal(filler[2], expected)


def test_a_process_may_end_while_better_code_is_being_made():
    text = "import dynamis as dy; r = dy.load('ur5e'); x = [0.1] * 6; print(r.inverse_dynamics(x, x, x).shape, r.regressor(x, x, x).shape)"
    assert output_of(text, DYNAMIS_NO_CACHE="1").strip() == "(6,) (6, 90)"


FORKED = """
import faulthandler, os, sys, time
import numpy as np, dynamis as dy
robot = dy.load("ur5e")
q = np.random.default_rng(0).uniform(-1, 1, (50_000, 6))
expected = {BEFORE}
child = os.fork()
if child == 0:
    faulthandler.dump_traceback_later(120, exit=True)  # an endless wait ends here, with a report
    os._exit(0 if np.array_equal({INSIDE}, {RIGHT}) else 3)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
"""
FORKS = {
    "after a batch was split over threads": {
        "BEFORE": "robot.gravity(q)", "INSIDE": "robot.gravity(q)", "RIGHT": "expected",
    },
    "while better code is being made": {
        "BEFORE": "(robot.regressor(q[0], q[0], q[0]), time.sleep(0.03))",
        "INSIDE": "robot.mass_matrix(q[:5])",
        "RIGHT": "np.array([robot.mass_matrix(x) for x in q[:5]])",
    },
}  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("moment", FORKS)
def test_a_forked_process_can_compute(moment):
    """multiprocessing forks by default on Linux: threads are not there in the child, and what they held stays held."""
    text = FORKED
    for name, value in FORKS[moment].items():
        text = text.replace("{" + name + "}", value)
    tier = {"DYNAMIS_TIER": "quick"} if "split" in moment else {}
    quiet = "import warnings\nwarnings.simplefilter('ignore')\n"  # newer versions of Python warn of forks beside threads
    output_of(quiet + text, DYNAMIS_NO_CACHE="1", DYNAMIS_NUM_THREADS="2", **tier)


FAILING = """
import warnings
import numpy as np, dynamis as dy
from dynamis.compiler import cache, kernel
told = []
warnings.showwarning = lambda message, *rest: told.append(str(message))
store, failures = cache.store, []
def fail_once(*given, replace=True):
    if replace and not failures:
        failures.append(given)
        raise MemoryError
    return store(*given, replace=replace)
cache.store = fail_once
robot = dy.load("scara")
robot.gravity(np.zeros((11, 4)))  # more states than are interpreted
assert kernel.wait_for_compiler(300.0)
robot.mass_matrix(np.zeros((11, 4)))
print(kernel.wait_for_compiler(300.0), len(failures), len(robot.kernel("mass_matrix").compiled("double").loaded))
assert len(told) == 1 and "gravity" in told[0] and "MemoryError" in told[0], told
"""


def test_a_kernel_that_cannot_be_improved_does_not_stop_the_next():
    assert output_of(FAILING, DYNAMIS_NO_CACHE="1").strip() == "True 1 2"


def test_a_complaint_of_the_compiling_thread_is_shown_where_warnings_are_errors(monkeypatch):
    shown = []
    monkeypatch.setattr(threading, "excepthook", shown.append)
    background._complain("no better code")
    assert [(x.exc_type, str(x.exc_value), x.thread) for x in shown] == [
        (RuntimeWarning, "no better code", threading.current_thread())
    ]
    with pytest.warns(RuntimeWarning, match="no better code"):
        background._complain("no better code")
    assert len(shown) == 1


FIRST = """
import threading
import dynamis as dy
robots = [dy.load(name) for name in ("ur5e", "planar_2r_melchiorri")]
gate, found = threading.Barrier(4), {}
def work(k):
    robot = robots[k % 2]
    q = robot.random(k, 40)
    gate.wait()
    found[k] = [robot.gravity(x).sum() + robot.mass_matrix(x).sum() + robot.inverse_dynamics(x, x, x).sum() for x in q]
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
[t.start() for t in threads], [t.join() for t in threads]
print(sorted(found) == list(range(4)))
"""


def test_threads_may_make_the_first_calls_of_a_process():
    """Machine code that all kernels share is made once, not by each thread, where that of all but one would be freed."""
    for _ in range(3):
        assert output_of(FIRST) == "True\n"
