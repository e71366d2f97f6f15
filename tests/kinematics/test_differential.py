"""Velocities by quadratic programs: tasks are followed, limits and barriers hold, the optimum satisfies its conditions."""

import itertools
import sys

import numpy as np
import pytest

import dynamis as dy
from dynamis.kinematics.differential import differential_inverse_kinematics
from dynamis.task_space import Function, Goal, JointPositions, PoseTask, Position

Q0 = np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.1])


def test_the_missing_solver_names_its_cure(monkeypatch):
    monkeypatch.setitem(sys.modules, "daqp", None)
    with pytest.raises(dy.MissingExtraError, match=r"pip install 'dynamis\[qp\]'"):
        differential_inverse_kinematics(dy.load("ur5e"), Q0, [Goal(Position(), np.zeros(3))], 0.01)


@pytest.fixture(autouse=True)
def solver(request):
    if "missing" not in request.node.name:
        pytest.importorskip("daqp", reason="DAQP is not installed: pip install 'dynamis[qp]'")


def test_without_active_limits_the_error_is_removed_in_one_step():
    robot = dy.load("ur5e")
    target = robot.pose(Q0 + 1e-4)
    step = differential_inverse_kinematics(robot, Q0, [Goal(PoseTask(), target)], 0.01, damping=1e-9)
    assert np.allclose(robot.pose(step.q), target, atol=1e-6)
    assert np.allclose(step.v, 1e-2, rtol=1e-2)
    assert step.feasible
    assert step.active == ()
    assert step.status == "within limits"


def test_a_moving_target_is_followed_within_velocity_and_acceleration_limits():
    robot, dt = dy.load("ur5e"), 0.01
    q, v = Q0, np.zeros(6)
    X = robot.pose(Q0)
    for k in range(60):
        X[:3, 3] = robot.pose(Q0)[:3, 3] + 0.05 * np.array([np.sin(k * dt), 1.0 - np.cos(k * dt), 0.0])
        step = differential_inverse_kinematics(
            robot, q, [Goal(PoseTask(), X)], dt, v0=v, velocity_limits=1.0, acceleration_limits=3.0
        )
        assert np.abs(step.v).max() <= 1.0
        assert np.abs(step.v - v).max() <= 3.0 * dt + 1e-12
        assert np.allclose(step.q, q + dt * step.v)
        q, v = step.q, step.v
    assert np.linalg.norm(robot.pose(q)[:3, 3] - X[:3, 3]) < 1e-5


def test_joints_brake_before_their_limits():
    robot, dt = dy.load("panda"), 0.02
    goal = Goal(JointPositions(robot.joint_names), robot.limits["upper"] + 1.0)
    q, v = robot.home(), np.zeros(7)
    for _ in range(150):
        step = differential_inverse_kinematics(robot, q, [goal], dt, v0=v, acceleration_limits=4.0)
        assert np.abs(step.v - v).max() <= 4.0 * dt + 1e-9
        assert (step.q <= robot.limits["upper"]).all()
        q, v = step.q, step.v
    assert np.allclose(q, robot.limits["upper"], atol=1e-2)
    assert len(step.active) == 7


def test_the_optimum_satisfies_the_conditions_of_karush_kuhn_and_tucker():
    robot = dy.load("panda")
    q, dt = robot.home() + 0.1, 0.01
    goal = Goal(PoseTask(), robot.pose(robot.random(0)), weight=[1, 1, 1, 0.3, 0.3, 0.3])
    step = differential_inverse_kinematics(robot, q, [goal], dt, velocity_limits=0.5, damping=1e-3)
    w = goal.weight
    A, b = w[:, None] * robot.jacobian(q), w * step.errors[0] / dt
    gradient = A.T @ (A @ step.v - b) + 1e-3 * step.v
    at_upper, at_lower = np.isclose(step.v, 0.5), np.isclose(step.v, -0.5)
    assert (at_upper | at_lower).any()
    assert np.abs(gradient[~(at_upper | at_lower)]).max(initial=0.0) < 1e-6
    assert (gradient[at_upper] <= 1e-6).all()
    assert (gradient[at_lower] >= -1e-6).all()


def test_a_lower_priority_does_not_change_a_higher_one():
    robot = dy.load("panda")
    q = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
    first = Goal(Position(), robot.pose(q)[:3, 3] + [0.001, 0.0, 0.002])
    second = Goal(JointPositions(robot.joint_names), q + 0.3, priority=2)
    alone = differential_inverse_kinematics(robot, q, [first], 0.01, velocity_limits=2.0)
    both = differential_inverse_kinematics(robot, q, [first, second], 0.01, velocity_limits=2.0)
    J = robot.jacobian(q)[:3]
    assert np.allclose(J @ both.v, J @ alone.v, atol=1e-6)
    assert np.linalg.norm(both.q - q - 0.3) < np.linalg.norm(alone.q - q - 0.3)


@pytest.mark.parametrize("form", ["task", "functions"])
def test_a_barrier_is_not_crossed(form):
    robot, wall = dy.load("ur5e"), 0.05
    p = robot.pose(Q0)[:3, 3]
    barrier = (
        Function(lambda robot, q: [p[1] + wall - robot.pose(q)[1, 3]], 1)
        if form == "task"
        else (lambda q: p[1] + wall - robot.pose(q)[1, 3], lambda q: -robot.jacobian(q)[1])
    )
    goal, q, values = Goal(Position(), p + np.array([0.0, 0.2, 0.0])), Q0, []
    for _ in range(80):
        step = differential_inverse_kinematics(robot, q, [goal], 0.02, barriers=[barrier], gain=0.2, barrier_rate=10.0)
        values.append(float(step.barriers[0]))
        assert step.feasible
        q = step.q
    assert min(values) > -1e-4  # the linearisation of one step
    assert values[-1] < 1e-3
    assert all(b >= 0.8 * a - 1e-4 for a, b in itertools.pairwise(values))  # h decreases by γ dt = 0.2 at most


def test_conflicting_barriers_are_reported_and_violated_least():
    robot = dy.load("ur5e")
    slope = robot.jacobian(Q0)[2]
    barriers = [(lambda q: -1.0, lambda q: slope), (lambda q: -1.0, lambda q: -slope)]
    step = differential_inverse_kinematics(robot, Q0, [Goal(Position(), np.zeros(3))], 0.01, barriers=barriers)
    assert not step.feasible
    assert "cannot be respected" in step.status
    assert abs(slope @ step.v) < 1e-2


def test_bad_input_is_refused():
    robot, goal = dy.load("ur5e"), Goal(Position(), np.zeros(3))
    for goals, options, text in (
        ([], {}, "list of Goal"),
        ([goal], {"dt": 0.0}, "dt must be a positive number"),
        ([goal], {"barriers": [lambda q: q]}, "pair of functions"),
        ([goal], {"barriers": [(lambda q: 1.0, lambda q: np.zeros(3))]}, r"shape \(1, 6\)"),
        ([goal], {"velocity_limits": -1.0}, "must not be negative"),
        ([Goal(Position(), np.zeros((2, 3)))], {}, "leading axes"),
    ):
        with pytest.raises(dy.InputError, match=text):
            differential_inverse_kinematics(robot, Q0, goals, **{"dt": 0.01, **options})


def test_limits_that_cannot_be_kept_are_named():
    """An acceleration is given up to keep a velocity; a position outside its limits stays outside for a while."""
    robot = dy.load("xarm7")
    q = np.array([0.0, -0.5, 0.0, 0.8, 0.0, 1.2, 0.0])
    goal = [dy.task_space.Goal(dy.task_space.PoseTask(), robot.pose(q))]
    fast = dy.differential_inverse_kinematics(robot, q, goal, 0.01, v0=np.full(7, 10.0), acceleration_limits=10)
    assert not fast.feasible
    assert "acceleration of joint1" in fast.status
    outside = dy.differential_inverse_kinematics(robot, q + 5.0 * np.eye(7)[1], goal, 0.01)
    assert not outside.feasible
    assert "position of joint2" in outside.status
    inside = dy.differential_inverse_kinematics(robot, q, goal, 0.01)
    assert inside.feasible
    assert "exceeded" not in inside.status
