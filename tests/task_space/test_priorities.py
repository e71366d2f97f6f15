"""Tasks in the order of their importance: those above never suffer, those below get what is left."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.task_space.priorities import prioritised_torque

ts = dy.task_space


@pytest.fixture(scope="module")
def panda():
    return dy.load("panda").replace(friction=0)


@pytest.fixture(params=range(3))
def state(request, panda):
    rng = np.random.default_rng(request.param)
    return panda.random(rng), rng.uniform(-1, 1, 7), rng


def elbow(robot, q):
    return robot.pose(q, "panda_link4")[2:3, 3]


def test_two_levels_that_fit_are_both_executed(panda, state):
    q, v, rng = state
    levels = [(ts.Position(), rng.uniform(-1, 1, 3)), (ts.Orientation(), rng.uniform(-1, 1, 3))]
    found = ts.prioritised(panda, q, v, levels)
    for level in found.levels:
        np.testing.assert_allclose(level.task_error, 0.0, atol=1e-8)
        assert level.how in ("redundant", "square")


def test_three_levels_and_what_is_preferred_below_them(panda, state):
    q, v, rng = state
    levels = [(ts.Position(), rng.uniform(-1, 1, 3)), (ts.Orientation(), rng.uniform(-1, 1, 3)), (ts.Function(elbow, 1), [1.0])]
    plain = ts.prioritised(panda, q, v, levels, null_space=ts.Damping(5.0))
    for level in plain.levels:
        np.testing.assert_allclose(level.task_error, 0.0, atol=1e-6)
    # seven directions of seven: nothing is left for a preference
    np.testing.assert_allclose(plain.tau, ts.prioritised(panda, q, v, levels).tau, atol=1e-6 * np.abs(plain.tau).max())


def test_one_level_is_the_dynamically_consistent_law(panda, state):
    q, v, rng = state
    x_ddot = rng.uniform(-1, 1, 3)
    tau = ts.least_cost_torque(panda, q, v, ts.Position(), x_ddot, "acceleration-energy")
    np.testing.assert_allclose(ts.prioritised(panda, q, v, [(ts.Position(), x_ddot)]).tau, tau, atol=1e-9)
    np.testing.assert_allclose(prioritised_torque(panda, q, v, [(ts.Position(), x_ddot)]), tau, atol=1e-9)


def test_a_task_below_never_disturbs_one_above_even_where_they_conflict(panda, state):
    q, v, rng = state
    wanted = rng.uniform(-1, 1, 6)
    levels = [(ts.PoseTask(), wanted), (ts.Position("panda_link4"), 10 * rng.uniform(-1, 1, 3))]
    found = ts.prioritised(panda, q, v, levels)
    np.testing.assert_allclose(found.levels[0].task_error, 0.0, atol=1e-8)
    assert found.levels[1].rank == 1
    assert found.levels[1].how.startswith("truncated: 2 of 3")
    assert np.linalg.norm(found.levels[1].task_error) > 0.1
    # what is left of it is executed: the error is orthogonal, in the metric of Λ, to what the elbow can still do
    x = dy.operational_space(panda, q, v, ts.PoseTask())
    J = ts.Position("panda_link4").jacobian(panda, q) @ x.N
    reach = J @ np.linalg.solve(panda.mass_matrix(q), J.T)
    np.testing.assert_allclose(reach @ found.levels[1].task_error, 0.0, atol=1e-6)


def test_damping_weakens_a_task_but_does_not_let_those_below_disturb_it(panda, state):
    q, v, rng = state
    wanted, low, high = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3), 50 * rng.uniform(-1, 1, 3)
    alone = ts.prioritised(panda, q, v, [(ts.Position(), wanted)], damping=0.1).levels[0].task_error
    assert np.linalg.norm(alone) > 1e-4
    for below in (low, high):
        levels = [(ts.Position(), wanted), (ts.Orientation(), below)]
        found = ts.prioritised(panda, q, v, levels, damping=0.1, null_space=ts.Damping(5.0))
        np.testing.assert_allclose(found.levels[0].task_error, alone, atol=1e-8)
        tau = prioritised_torque(panda, q, v, levels, damping=0.1)
        a = panda.forward_dynamics(q, v, tau)
        found_error = wanted - ts.Position().jacobian(panda, q) @ a - ts.Position().bias(panda, q, v)
        np.testing.assert_allclose(found_error, alone, atol=1e-8)


def test_a_damped_recursion_is_finite_where_a_task_is_singular_compiled_too():
    arm, plane = dy.load("planar_2r_melchiorri"), ts.Position(rows=(0, 1))

    def law(robot, q, v):
        return prioritised_torque(robot, q, v, [(plane, np.ones(2)), (ts.Position(rows=(0,)), np.ones(1))], damping=0.01)

    q = np.array([0.4, 0.0])
    wanted = law(arm, q, np.zeros(2))
    assert np.isfinite(wanted).all()
    np.testing.assert_allclose(arm.compile(law)(q, np.zeros(2)), wanted, rtol=1e-6)


def test_the_same_task_twice_gives_the_second_nothing(panda, state):
    q, v, _ = state
    found = ts.prioritised(panda, q, v, [(ts.Position(), [1.0, 0.0, 0.0]), (ts.Position(), [0.0, 1.0, 0.0])])
    np.testing.assert_allclose(found.levels[0].task_error, 0.0, atol=1e-9)
    assert found.levels[1].rank == 0
    assert np.isfinite(found.tau).all()


def test_the_recursion_is_the_same_compiled(panda, state):
    q, v, rng = state
    a, b = rng.uniform(-1, 1, (2, 3))

    def law(robot, q, v, a, b):
        return prioritised_torque(robot, q, v, [(ts.Position(), a), (ts.Orientation(), b)])

    kernel = panda.compile(law, a=3, b=3)
    wanted = ts.prioritised(panda, q, v, [(ts.Position(), a), (ts.Orientation(), b)]).tau
    np.testing.assert_allclose(kernel(q, v, a, b), wanted, atol=1e-7 * np.abs(wanted).max())


def test_levels_that_make_no_sense_are_refused(panda):
    with pytest.raises(dy.InputError, match="pairs"):
        ts.prioritised(panda, np.zeros(7), np.zeros(7), [])
    with pytest.raises(dy.InputError, match="pairs"):
        ts.prioritised(panda, np.zeros(7), np.zeros(7), [ts.Position()])
    with pytest.raises(dy.InputError, match="x, y, z"):
        ts.prioritised(panda, np.zeros(7), np.zeros(7), [(ts.Position(), [1.0])])
