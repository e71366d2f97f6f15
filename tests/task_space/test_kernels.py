"""Compiled over batches: the same as state by state, damping when called, and no NaN without a word."""

import warnings

import numpy as np
import pytest

import dynamis as dy
from dynamis.task_space.feedback import commanded_acceleration
from dynamis.task_space.redundancy import LAWS
from dynamis.task_space.task_state import singular

ts = dy.task_space
COUNT = 17


@pytest.fixture(scope="module")
def panda():
    return dy.load("panda").replace(friction=0)


@pytest.fixture(scope="module")
def compiled(panda):
    return ts.task_kernels(panda, ts.Position())


@pytest.fixture(scope="module")
def states(panda):
    rng = np.random.default_rng(0)
    return panda.random(rng, COUNT), rng.uniform(-1, 1, (COUNT, 7)), rng.uniform(-1, 1, (COUNT, 3))


def test_every_state_of_a_batch_is_as_alone(panda, compiled, states):
    q, v, x_ddot = states
    Lambda, mu, p = compiled.terms(q, v)
    bias, tau = compiled.bias(q, v), compiled.law(q, v, x_ddot)
    for k in range(COUNT):
        x = dy.operational_space(panda, q[k], v[k], ts.Position())
        size = 1e-9 * x.condition**2
        for found, wanted in ((Lambda[k], x.Lambda), (compiled.Lambda(q[k]), x.Lambda), (mu[k], x.mu), (p[k], x.p),
                              (bias[k], x.mu + x.p)):  # fmt: skip
            np.testing.assert_allclose(found, wanted, atol=size * max(1, np.abs(wanted).max()))
        wanted = ts.least_cost_torque(panda, q[k], v[k], ts.Position(), x_ddot[k])
        np.testing.assert_allclose(tau[k], wanted, atol=1e-9 * max(1, np.abs(wanted).max()))


def test_damping_is_given_when_called_one_for_all_or_one_a_state(panda, compiled, states):
    q, v, _ = states
    many = np.linspace(0.0, 0.5, COUNT)
    by_state = compiled.Lambda(q, many)
    for k in (0, 5, COUNT - 1):
        wanted = dy.operational_space(panda, q[k], v[k], ts.Position(), damping=float(many[k])).Lambda
        np.testing.assert_allclose(by_state[k], wanted, atol=1e-8 * np.abs(wanted).max())
    np.testing.assert_array_equal(compiled.Lambda(q, 0.3), compiled.Lambda(q, np.full(COUNT, 0.3)))


@pytest.mark.parametrize("law", list(LAWS))
def test_each_law_is_compiled_with_its_preferences(panda, states, law):
    q, v, x_ddot = states
    preferences = [ts.Damping(2.0), ts.AwayFromLimits(3.0)]
    tau = ts.task_kernels(panda, ts.Position(), law, null_space=preferences).law(q, v, x_ddot)
    for k in (0, 7):
        wanted = ts.resolve(panda, q[k], v[k], ts.Position(), x_ddot[k], law, null_space=preferences).tau
        np.testing.assert_allclose(tau[k], wanted, atol=1e-7 * max(1, np.abs(wanted).max()))


def test_leading_axes_broadcast_and_single_precision_stays(compiled, states):
    q, v, _ = states
    assert compiled.law(q[:, None], v[:4], np.ones(3)).shape == (COUNT, 4, 7)
    single = compiled.law(q.astype(np.float32), v.astype(np.float32), np.ones(3, np.float32), 0.1)
    assert single.dtype == np.float32


def test_singular_states_are_counted_in_a_warning_unless_damped():
    robot = dy.load("planar_2r_melchiorri").replace(friction=0)
    compiled = ts.task_kernels(robot, ts.Position(rows=(0, 1)))
    q = np.array([[0.3, 1.0], [0.0, 0.0], [0.2, 0.5]])
    for call in (lambda d: compiled.Lambda(q, d), lambda d: compiled.law(q, np.zeros(2), np.ones(2), d)):
        with pytest.warns(dy.SingularityWarning, match=r"singular at 1 of 3 states, the first at index \(1,\)"):
            assert np.isfinite(call(0.0)[[0, 2]]).all()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isfinite(call(0.01)).all()


STRETCHED = np.array([[0.4, 0.0], [0.7, 0.0], [1.1, 0.0], [2.3, 0.0], [0.0, 0.0], [np.pi, 0.0], [0.3, np.pi]])


@pytest.mark.parametrize("law", list(LAWS))
def test_every_singular_state_is_found_not_only_those_without_rounding(law):
    robot = dy.load("planar_2r_melchiorri")
    compiled = ts.task_kernels(robot, ts.Position(rows=(0, 1)), law)
    v, a = np.ones(2), np.ones(2)
    calls = (lambda d: compiled.Lambda(STRETCHED, d), lambda d: compiled.terms(STRETCHED, v, d)[0],
             lambda d: compiled.bias(STRETCHED, v, d), lambda d: compiled.law(STRETCHED, v, a, d))  # fmt: skip
    for call in calls:
        with pytest.warns(dy.SingularityWarning, match="singular at 7 of 7 states"):
            found = call(0.0).reshape(len(STRETCHED), -1)
        assert not np.isfinite(found).all(axis=1).any()
        for damping in (0.01, 1e-5):
            assert np.isfinite(call(damping)).all()
    for q in STRETCHED:
        with pytest.raises(dy.SingularError, match="damping"):
            ts.least_cost_torque(robot, q, v, ts.Position(rows=(0, 1)), a, law)
        assert np.isfinite(ts.least_cost_torque(robot, q, v, ts.Position(rows=(0, 1)), a, law, damping=0.01)).all()


def test_singular_poses_of_six_joints_are_found_and_others_are_not():
    robot, rng = dy.load("ur5e"), np.random.default_rng(0)
    compiled, q = ts.task_kernels(robot, ts.PoseTask()), rng.uniform(-3, 3, (300, 6))
    assert np.isfinite(compiled.Lambda(q)).all()
    for joint in (2, 4):  # the elbow stretched, the wrist aligned
        there = q.copy()
        there[:, joint] = 0.0
        with pytest.warns(dy.SingularityWarning, match="300 of 300"):
            compiled.Lambda(there)


@pytest.mark.parametrize("law", [*LAWS, lambda *args, **options: ts.least_cost_torque(*args, "torque", **options)])
def test_feedback_at_a_singular_state_warns_and_stays_usable(law):
    robot, task = dy.load("planar_2r_melchiorri"), ts.Position(rows=(0, 1))
    for q in STRETCHED:
        goal = task.value(robot, q)
        hold = ts.Feedback(robot, task, lambda t, goal=goal: (goal, np.zeros(2), np.zeros(2)), law)
        with pytest.warns(dy.SingularityWarning, match="singular at this state"):
            tau = hold(0.0, q, np.zeros(2))
        assert np.abs(tau).max() < 1e5
        if isinstance(law, str):
            wanted = ts.resolve(robot, q, np.zeros(2), task, np.zeros(2), law, truncate=True).tau
            np.testing.assert_allclose(tau, wanted, rtol=1e-6, atol=1e-6)


def test_feedback_where_the_coordinates_are_singular_says_so():
    robot, task = dy.load("panda"), ts.Orientation(coordinates="zyz")
    q = np.zeros(7)  # the tool points straight down
    hold = ts.Feedback(robot, task, lambda t: (np.zeros(3), np.zeros(3), np.zeros(3)))
    with pytest.raises(dy.SingularError, match="orientation coordinates of the task are singular"):
        hold(0.0, q, np.zeros(7))


def test_a_row_that_is_zero_for_every_state_is_singular_in_symbols():
    x = dy.symbol("x")
    for G in ([[x, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, x]]):
        lost = singular(np.array(G, dtype=object))
        assert bool(dy.evaluate(np.array([lost + 0.0], dtype=object), {x: 2.0})[0])


def test_wrong_input_is_refused(panda, compiled):
    with pytest.raises(dy.InputError, match="damping"):
        compiled.Lambda(np.zeros(7), -1.0)
    with pytest.raises(dy.InputError, match="robot and a task"):
        ts.task_kernels(panda, "position")
    with pytest.raises(dy.NameLookupError, match="torque"):
        ts.task_kernels(panda, ts.Position(), "torqe")


def test_laws_are_traced_into_rollouts_with_everything_around_them():
    sizes = {f"{name}_{k}": x for name, x in (("a", 0.5), ("l", 0.25), ("m", 2.0), ("I", 0.05)) for k in (1, 2, 3)}
    arm, task = dy.load("planar_3r", parameters=sizes | {"g": 9.81}), ts.Position(rows=(0, 1))

    def law(robot, t, q, v, goal):
        desired = goal, np.zeros(2), np.zeros(2)
        command = commanded_acceleration(robot, q, v, task, desired, 100.0, 20.0)
        preferred = ts.Damping(5.0).torque(robot, q, v) + robot.bias(q, v)
        return ts.least_cost_torque(robot, q, v, task, command, "acceleration-energy", preferred=preferred, damping=1e-6)

    start = np.array([0.3, 0.8, 0.9])
    goals = arm.pose(start)[:2, 3] + np.random.default_rng(0).uniform(-0.2, 0.2, (8, 2))
    made = dy.rollouts(arm, 1.5, start, controller=law, parameters={"goal": goals}, every=100)
    assert made.note == ""
    np.testing.assert_allclose(arm.pose(made.q[-1])[:, :2, 3], goals, atol=1e-5)
