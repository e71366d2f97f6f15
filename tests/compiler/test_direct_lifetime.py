"""Direct calls over time: references, threads, code that is exchanged, forked processes, robots that are gone."""

import contextlib
import gc
import os
import sys
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import dynamis as dy
from dynamis.compiler import direct
from dynamis.compiler.kernel import wait_for_compiler

pytestmark = pytest.mark.skipif(not direct.available(), reason="this interpreter does not allow direct calls")


@pytest.fixture(scope="module")
def arm():
    robot = dy.load("scara")
    for name, count in (("inverse_dynamics", 3), ("kinetic_energy", 2)):
        getattr(robot, name)(*[robot.neutral()] * count)
    return robot


@pytest.fixture
def state(arm):
    rng = np.random.default_rng(3)
    return [rng.uniform(-1.0, 1.0, arm.n) for _ in range(3)]


def test_no_reference_is_lost_or_kept(arm, state):
    q, v, a = state
    bad = q * np.nan
    out = np.empty(arm.n)
    arm.inverse_dynamics(q, v, a)
    things = [q, v, a, bad, out]
    before = [sys.getrefcount(x) for x in things]
    for _ in range(2000):
        arm.inverse_dynamics(q, v, a)
        arm.inverse_dynamics(q, v, a, out=out)
        arm.kinetic_energy(q, v)
    for _ in range(100):
        with pytest.raises(dy.InputError):
            arm.inverse_dynamics(bad, v, a)
        with pytest.raises(dy.InputError):
            arm.inverse_dynamics(q[:-1], v, a)
    gc.collect()
    assert [sys.getrefcount(x) for x in things] == before
    result = arm.inverse_dynamics(q, v, a)
    assert sys.getrefcount(result) == 2
    assert result.flags.owndata
    tracemalloc.start()
    try:
        for _ in range(2):
            start = tracemalloc.get_traced_memory()[0]
            for _ in range(20_000):
                arm.inverse_dynamics(q, v, a)
        assert tracemalloc.get_traced_memory()[0] - start < 10_000
    finally:
        tracemalloc.stop()


def test_a_function_outlives_the_name_of_its_robot_and_both_go_in_the_end():
    robot = dy.Robot(dy.load("planar_2r_melchiorri").description)
    q = np.ones(2)
    expected = robot.gravity(q)
    held, robot = robot.gravity, weakref.ref(robot)
    gc.collect()
    assert np.array_equal(held(q), expected)
    assert np.array_equal(held([1.0, 1.0]), expected)
    del held
    gc.collect()
    assert robot() is None


def test_threads_share_a_function_without_the_interpreters_lock(arm):
    """Long batches run without the lock: another thread goes on meanwhile, and each gets its own results."""
    rng = np.random.default_rng(0)
    batches = [[rng.uniform(-1, 1, (600, arm.n)) for _ in range(3)] for _ in range(8)]
    expected = [arm.inverse_dynamics(*batch).tobytes() for batch in batches]
    wrong = []

    def work(k):
        for _ in range(60):
            if arm.inverse_dynamics(*batches[k]).tobytes() != expected[k]:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.campaign
def test_many_threads_see_no_wrong_value_while_code_is_exchanged(monkeypatch):
    """32 threads with 100,000 calls each, while one code takes the place of the other without pause."""
    monkeypatch.delenv("DYNAMIS_TIER", raising=False)
    robot = dy.Robot(dy.load("scara").description)
    rng = np.random.default_rng(0)
    states = [[rng.uniform(-1, 1, robot.n) for _ in range(3)] for _ in range(16)]
    expected = [robot.inverse_dynamics(*state).tobytes() for state in states]
    assert wait_for_compiler(300.0)
    compiled = robot.kernel("inverse_dynamics").compiled("double")
    loops = [loaded.address for loaded in (*compiled.loaded, *compiled.loaded_single)]
    stop, wrong = threading.Event(), []

    def exchange():
        k = 0
        while not stop.is_set():
            compiled.gufunc.exchange(loops[k % len(loops)])
            compiled.single[0] = loops[(k // 2) % len(loops)] if k % 3 else None
            k += 1

    def work(me):
        for j in range(100_000):
            k = (me + j) % 16
            if robot.inverse_dynamics(*states[k]).tobytes() != expected[k]:
                wrong.append((me, j))

    swapper = threading.Thread(target=exchange)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(32)]
    for thread in (swapper, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    swapper.join()
    assert not wrong


@pytest.mark.campaign
def test_a_million_calls_leave_nothing_behind(arm, state):
    q, v, a = state
    bad, out = q * np.nan, np.empty(arm.n)
    gc.collect()
    before, none = [sys.getrefcount(x) for x in (q, v, a, bad, out)], sys.getrefcount(None)
    tracemalloc.start()
    try:
        start = tracemalloc.get_traced_memory()[0]
        for k in range(1_000_000):
            arm.inverse_dynamics(q, v, a)
            if k % 4 == 0:
                arm.inverse_dynamics(q, v, a, out=out)
            if k % 100 == 0:
                with contextlib.suppress(dy.InputError):
                    arm.inverse_dynamics(bad, v, a)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - start
    finally:
        tracemalloc.stop()
    assert grown < 20_000
    assert [sys.getrefcount(x) for x in (q, v, a, bad, out)] == before
    assert abs(sys.getrefcount(None) - none) < 1000  # others hold it too, but none of the 10,000 errors and no call does


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_calls_directly(arm, state):
    expected = arm.inverse_dynamics(*state).tobytes()
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, b"same" if arm.inverse_dynamics(*state).tobytes() == expected else b"else")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 4) == b"same"
    os.close(read), os.close(write)
