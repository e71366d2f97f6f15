"""Torques within limits: the law where it fits, the nearest where it does not, and a sentence about it."""

import sys

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

import dynamis as dy
from dynamis.task_space.redundancy import LAWS

ts = dy.task_space
TASK = ts.Position()


def test_without_the_extra_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "daqp", None)
    with pytest.raises(dy.MissingExtraError, match=r"dynamis\[qp\]"):
        ts.limited_torque(dy.load("panda"), np.zeros(7), np.zeros(7), TASK, np.zeros(3))


@pytest.fixture(scope="module")
def panda():
    pytest.importorskip("daqp", reason="DAQP is not installed: pip install 'dynamis[qp]'")
    return dy.load("panda").replace(friction=0)


@pytest.fixture(params=range(4))
def state(request, panda):
    rng = np.random.default_rng(request.param)
    return panda.random(rng), rng.uniform(-1, 1, 7), rng.uniform(-1, 1, 3)


@pytest.mark.parametrize("law", list(LAWS))
def test_limits_that_are_far_away_change_nothing(panda, state, law):
    q, v, x_ddot = state
    found = ts.limited_torque(panda, q, v, TASK, x_ddot, law, torque_limits=1e6, null_space=ts.Damping(2.0))
    wanted = ts.resolve(panda, q, v, TASK, x_ddot, law, null_space=ts.Damping(2.0))
    np.testing.assert_allclose(found.tau, wanted.tau, atol=1e-5 * max(1, np.abs(wanted.tau).max()))
    assert found.feasible
    assert found.active == ()
    assert found.status == "the task is feasible within the limits"


def test_tight_limits_are_kept_and_the_task_too(panda, state):
    q, v, x_ddot = state
    free = ts.least_cost_torque(panda, q, v, TASK, x_ddot, "torque")
    limit = np.full(7, 0.97 * np.abs(free).max())
    found = ts.limited_torque(panda, q, v, TASK, x_ddot, torque_limits=limit)
    assert (np.abs(found.tau) <= limit).all()
    a = panda.forward_dynamics(q, v, found.tau)
    np.testing.assert_allclose(a, found.acceleration, atol=1e-6 * max(1, np.abs(a).max()))
    if found.feasible:
        np.testing.assert_allclose(found.task_error, 0.0, atol=1e-6)
        assert found.active
        assert found.cost >= 0.5 * free @ free


def test_a_task_beyond_the_limits_is_missed_by_the_least(panda, state):
    q, v, x_ddot = state
    M, J = panda.mass_matrix(q), TASK.jacobian(panda, q)
    A = J @ np.linalg.inv(M)
    b = 300.0 * x_ddot - TASK.bias(panda, q, v) + A @ panda.bias(q, v)
    limit = panda.limits["effort"] * 0.2
    found = ts.limited_torque(panda, q, v, TASK, 300.0 * x_ddot, torque_limits=limit)
    best = lsq_linear(A, b, bounds=(-limit, limit), tol=1e-14, method="bvls").x  # the same question to SciPy
    assert not found.feasible
    assert np.linalg.norm(found.task_error) == pytest.approx(np.linalg.norm(A @ best - b), rel=1e-4)
    assert found.status.startswith("the task is infeasible within the limits; for the best torque the task error is")
    assert (np.abs(found.tau) <= limit).all()


def test_acceleration_limits_are_kept_where_they_can_be(panda, state):
    q, v, x_ddot = state
    # holding still is possible, so limits on accelerations leave something
    found = ts.limited_torque(panda, q, v, TASK, 50.0 * x_ddot, torque_limits=None, acceleration_limits=8.0)
    assert (np.abs(found.acceleration) <= 8.0 + 1e-6).all()
    np.testing.assert_array_equal(found.acceleration_excess, 0.0)


def test_limits_that_contradict_each_other_give_way_in_their_order(panda, state):
    q, _, x_ddot = state
    # hardly any torque, and no acceleration: the arm must fall
    limit, room = 0.1, 1e-3
    found = ts.limited_torque(panda, q, np.zeros(7), TASK, x_ddot, torque_limits=limit, acceleration_limits=room)
    assert (np.abs(found.tau) <= limit).all()
    assert found.acceleration_excess.max() > 0.1
    assert "exceeds its limit by" in found.status
    # Σ excess² is the least that torques within the limits allow
    M, n = panda.mass_matrix(q), panda.bias(q, np.zeros(7))

    def excess(tau):
        return np.maximum(np.abs(np.linalg.solve(M, tau - n)) - room, 0.0)

    least = minimize(lambda tau: np.sum(excess(tau) ** 2), found.tau, bounds=[(-limit, limit)] * 7, tol=1e-12)
    assert np.sum(found.acceleration_excess**2) == pytest.approx(least.fun, rel=1e-3)


def test_where_the_task_is_singular_the_cheapest_of_the_nearest_is_taken(panda):
    sizes = {f"{name}_{k}": x for name, x in (("a", 0.5), ("l", 0.25), ("m", 2.0), ("I", 0.05)) for k in (1, 2, 3)}
    arm, task = dy.load("planar_3r", parameters=sizes | {"g": 9.81}), ts.Position(rows=(0, 1))
    q = np.array([0.3, 0.0, 0.0])
    found = ts.limited_torque(arm, q, np.zeros(3), task, [1.0, 2.0], torque_limits=1e3)
    left = ts.resolve(arm, q, np.zeros(3), task, [1.0, 2.0], "torque", truncate=True)
    assert not found.feasible
    np.testing.assert_allclose(found.task_error, left.task_error, atol=1e-6)
    np.testing.assert_allclose(found.tau, left.tau, atol=1e-4)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"torque_limits": -1.0}, "torque_limits"),
        ({"torque_limits": [1.0, 2.0]}, "7 numbers"),
        ({"torque_limits": (1.0, -1.0)}, "lower limits must not exceed"),
        ({"acceleration_limits": np.nan}, "acceleration_limits"),
        ({"law": "power"}, "torque"),
    ],
)
def test_wrong_limits_are_refused(panda, options, words):
    with pytest.raises(dy.DynamisError, match=words):
        ts.limited_torque(panda, panda.random(0), np.zeros(7), TASK, np.zeros(3), **options)


def test_two_numbers_for_two_joints_are_refused_as_a_tuple_and_read_as_joints_in_a_list():
    arm, q, v, task = dy.load("planar_2r_melchiorri"), np.array([0.3, 1.0]), np.zeros(2), ts.Position(rows=(0, 1))
    with pytest.raises(dy.InputError, match="is ambiguous for 2 joints"):
        ts.limited_torque(arm, q, v, task, np.zeros(2), torque_limits=(-5.0, 5.0))
    limits = np.array([900.0, 300.0])
    found = ts.limited_torque(arm, q, v, task, [500.0, 0.0], torque_limits=limits.tolist())
    assert np.all(np.abs(found.tau) <= limits)
    pair = ts.limited_torque(arm, q, v, task, [500.0, 0.0], torque_limits=([-900.0, -300.0], [900.0, 300.0]))
    np.testing.assert_allclose(pair.tau, found.tau, atol=1e-9)
