"""One state, one result: the same bits in any place of any batch, on any number of threads, from either code."""

import numpy as np
import pytest
from joint_zoo import zoo_robot, zoo_states

import dynamis as dy
from dynamis.compiler import kernel as kernels
from dynamis.compiler.kernel import wait_for_compiler

PRECISIONS = {"double": np.float64, "float": np.float32}
FUNCTIONS = {
    "inverse dynamics": lambda r, q, v, a: r.inverse_dynamics(q, v, a, {"tool": np.ones(6, q.dtype)}),
    "forward dynamics": lambda r, q, v, a: r.forward_dynamics(q, v, a),
    "mass matrix": lambda r, q, v, a: r.mass_matrix(q),
    "pose": lambda r, q, v, a: r.pose(q, "tool"),
    "energy": lambda r, q, v, a: r.kinetic_energy(q, v),
}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", ["screws", "wrists"])
def test_the_place_of_a_state_in_a_batch_does_not_matter(name, function, precision):
    robot, call = zoo_robot(name), FUNCTIONS[function]
    states = zoo_states(robot, 37, PRECISIONS[precision])
    whole = call(robot, *states)
    rng = np.random.default_rng(1)
    for _ in range(3):
        order = rng.permutation(37)
        assert np.array_equal(call(robot, *(x[order] for x in states)), whole[order])
    for shift in range(9):  # every lane, beside every neighbour
        assert np.array_equal(call(robot, *(np.roll(x, shift, axis=0) for x in states)), np.roll(whole, shift, axis=0))
    for start in range(5):
        for stop in range(start + 1, 14):
            assert np.array_equal(call(robot, *(x[start:stop] for x in states)), whole[start:stop])
    alone = np.array([call(robot, *state) for state in zip(*states, strict=True)])
    assert np.array_equal(alone, whole)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("batch", [(4001,), (3, 1337), (1337, 3), (7, 11, 53)])
def test_the_number_of_threads_does_not_matter(monkeypatch, batch, precision):
    description = zoo_robot("sliders").description
    monkeypatch.setattr(kernels, "WORTH_A_THREAD", 1)  # otherwise only very large batches are split
    splits = []
    split = kernels.in_threads
    monkeypatch.setattr(kernels, "in_threads", lambda *given: splits.append(given[5]) or split(*given))
    count = int(np.prod(batch))
    states = [x.reshape(*batch, -1) for x in zoo_states(zoo_robot("sliders"), count, PRECISIONS[precision])]
    results = {name: [] for name in FUNCTIONS}
    for threads in ("1", "2", "3", "7", "32"):
        monkeypatch.setenv("DYNAMIS_NUM_THREADS", threads)
        robot = dy.Robot(description)  # the number of threads is read when a function is compiled
        for name, call in FUNCTIONS.items():
            results[name] += [call(robot, *states), call(robot, *states)]  # the second by a direct call
    for found in results.values():
        for result in found[1:]:
            assert result.dtype == found[0].dtype
            assert np.array_equal(result, found[0])
    assert splits == [threads for threads in (2, 3, 7, 32) for _ in range(2 * len(FUNCTIONS))]


def test_more_threads_than_states_and_strange_numbers_of_threads(monkeypatch):
    robot = zoo_robot("sliders")
    monkeypatch.setattr(kernels, "WORTH_A_THREAD", 0)
    q, v, _ = zoo_states(robot, 3)
    expected = np.array([robot.bias(q[k], v[k]) for k in range(3)])
    for threads in ("2", "64", "0", "", "-3", "many", "2.5", "\u00b2"):  # the last is a digit that is no whole number
        monkeypatch.setenv("DYNAMIS_NUM_THREADS", threads)
        assert np.array_equal(robot.bias(q, v), expected)


@pytest.mark.parametrize("name", ["screws", "wrists", "flyer"])
def test_better_code_has_the_same_bits_in_both_precisions(monkeypatch, name):
    """Both codes of a kernel, in both precisions: first what answers at once, then what replaces it."""
    monkeypatch.delenv("DYNAMIS_TIER", raising=False)
    monkeypatch.setenv("DYNAMIS_NO_CACHE", "1")
    robot = dy.Robot(zoo_robot(name).description)  # with no compiled function yet
    calls = {what: FUNCTIONS[what] for what in ("inverse dynamics", "pose", "forward dynamics")[: 3 if name == "flyer" else 2]}
    before, after = {}, {}
    for when in (before, after):
        for precision, dtype in PRECISIONS.items():
            states = zoo_states(robot, 50, dtype)
            when.update({(what, precision): call(robot, *states) for what, call in calls.items()})
        assert wait_for_compiler(300.0)
    for key, result in before.items():
        assert np.array_equal(result, after[key]), key
    for kernel in robot.evaluator.kernels.values():
        for precision in PRECISIONS:
            assert len(kernel.compiled(precision).loaded) == 2  # otherwise nothing was compared


def test_a_second_robot_from_the_same_description_has_the_same_bits():
    first = zoo_robot("wrists")
    second = dy.Robot(first.description)
    states = zoo_states(first, 20)
    for call in FUNCTIONS.values():
        assert np.array_equal(call(first, *states), call(second, *states))
