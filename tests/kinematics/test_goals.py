"""Several goals at once: weights give the least-squares minimum, priorities the lexicographic one, limits hold."""

import re

import numpy as np
import pytest
from floating import floating

import dynamis as dy
from dynamis.kinematics import ik_problem
from dynamis.task_space import (
    CenterOfMass,
    Direction,
    Function,
    Goal,
    JointPositions,
    LookAt,
    Orientation,
    PoseTask,
    Position,
    Stacked,
)

HOME = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])


def errors(robot, goal, q):
    return goal.weight * goal.task.residual(robot, q, goal.task.as_target(goal.target))[0]


def numeric_gradient(f, robot, q, h=1e-6):
    steps = h * np.eye(robot.n)
    return np.array([(f(robot.integrate(q, d)) - f(robot.integrate(q, -d))) / (2 * h) for d in steps])


@pytest.mark.parametrize(
    ("task", "target"),
    [
        (LookAt(), np.array([0.5, 0.4, 0.1])),
        (Direction(axis="-y"), np.array([0.0, 0.6, 0.8])),
        (CenterOfMass("xz"), np.array([0.1, 0.3])),
        (JointPositions(["joint_a2", "joint_a4"]), np.array([0.3, 0.4])),
    ],
    ids=lambda x: type(x).__name__,
)
def test_jacobians_are_the_derivatives_of_the_errors(task, target):
    robot = dy.load("kuka_iiwa14")
    if isinstance(task, JointPositions):
        task = JointPositions([robot.joint_names[1], robot.joint_names[3]])
    q, v = robot.random(1), np.random.default_rng(0).normal(size=robot.n)
    target = task.as_target(target)
    _, J = task.residual(robot, q, target)
    numeric = numeric_gradient(lambda x: task.residual(robot, x, target)[0], robot, q).T
    assert np.allclose(J, -numeric, atol=1e-8)
    rate = numeric_gradient(lambda x: task.value(robot, x), robot, q).T
    assert np.allclose(task.jacobian(robot, q), rate, atol=1e-8)
    h = 1e-6
    change = (task.jacobian(robot, robot.integrate(q, h * v)) - task.jacobian(robot, robot.integrate(q, -h * v))) / (2 * h)
    assert np.allclose(task.bias(robot, q, v), change @ v, atol=1e-7)


def test_goals_of_a_two_armed_robot_are_reached_together():
    robot = dy.load("baxter")
    q = robot.random(3)
    left, right = "left_hand_link", "right_hand_link"
    goals = [
        Goal(PoseTask(left), robot.pose(q, left)),
        Goal(Stacked(Position(right), Direction(right)), [robot.pose(q, right)[:3, 3], robot.pose(q, right)[:3, 2]]),
    ]
    found = dy.inverse_kinematics(robot, goals, restarts=20)
    assert found.found, found.status
    assert np.allclose(robot.pose(found.q, left), robot.pose(q, left), atol=1e-8)
    assert np.allclose(robot.pose(found.q, right)[:3, 2:], robot.pose(q, right)[:3, 2:], atol=1e-8)
    assert ((robot.limits["lower"] <= found.q) & (found.q <= robot.limits["upper"])).all()


def test_conflicting_goals_end_at_the_minimum_of_their_weighted_squares():
    robot = dy.load("panda")
    q = robot.random(4)
    goals = [
        Goal(Position(), robot.pose(q)[:3, 3] + [0.3, 0.2, 0.1], weight=3.0),
        Goal(JointPositions(robot.joint_names), HOME, weight=0.5),
    ]
    found = dy.inverse_kinematics(robot, goals, restarts=5)
    assert not found.found
    assert "lower priority" in found.status
    assert re.search(r"Position\(.*?\) by [0-9.]+ m,", found.status)
    gradient = numeric_gradient(lambda x: sum((errors(robot, goal, x) ** 2).sum() for goal in goals), robot, found.q)
    assert np.abs(gradient).max() < 1e-5


def test_a_lower_priority_is_optimal_in_the_null_space_and_leaves_the_higher_one_exact():
    robot = dy.load("panda")
    X = robot.pose(robot.random(5))
    goals = [Goal(PoseTask(), X), Goal(JointPositions(robot.joint_names), HOME, priority=2)]
    found = dy.inverse_kinematics(robot, goals, q0=HOME)
    assert found.found
    assert np.allclose(robot.pose(found.q), X, atol=2e-9)
    limits = robot.limits
    assert ((limits["lower"] <= found.q) & (found.q <= limits["upper"])).all()
    # KKT: the gradient of the second level is a combination of the rows of J and of active limits
    gradient = found.q - HOME
    at_limit = (found.q == limits["lower"]) | (found.q == limits["upper"])
    rows = np.concatenate([robot.jacobian(found.q), np.eye(7)[at_limit]])
    multipliers = np.linalg.lstsq(rows.T, gradient, rcond=None)[0]
    assert np.abs(rows.T @ multipliers - gradient).max() < 1e-6
    alone = dy.inverse_kinematics(robot, X, q0=HOME)
    assert np.linalg.norm(found.q - HOME) <= np.linalg.norm(alone.q - HOME) + 1e-9


def test_three_levels_in_a_batch():
    robot = dy.load("panda")
    points = robot.pose(robot.random(6, 3))[:, :3, 3]
    goals = [
        Goal(Position(), points),
        Goal(Direction(axis="z"), [0.0, 0.0, -1.0], priority=2),
        Goal(JointPositions(robot.joint_names), HOME, priority=3),
    ]
    found = dy.inverse_kinematics(robot, goals, q0=HOME)
    assert found.found.all()
    assert np.allclose(robot.pose(found.q)[:, :3, 3], points, atol=2e-9)
    without = dy.inverse_kinematics(robot, goals[:2], q0=HOME)
    u, v = (robot.pose(x.q)[:, 2, 2] for x in (found, without))
    assert np.allclose(u, v, atol=1e-5)  # the third level does not change the second


def test_a_floating_robot_balances_its_centre_of_mass_over_a_foot():
    robot = floating("planar_2r_melchiorri")
    q = robot.random(2)
    center = robot.center_of_mass(q) + np.array([0.1, 0.0, 0.05])
    found = dy.inverse_kinematics(robot, [Goal(Position(), robot.pose(q)[:3, 3]), Goal(CenterOfMass(), center)])
    assert found.found, found.status
    assert np.allclose(robot.center_of_mass(found.q), center, atol=1e-8)
    assert np.linalg.norm(found.q[3:7]) == pytest.approx(1.0)


def test_functions_of_the_user_and_angles_are_tasks_too():
    robot = dy.load("ur5e")
    distance = Function(lambda robot, q: [np.sqrt(robot.pose(q)[0, 3] ** 2 + robot.pose(q)[1, 3] ** 2)], 1)
    angles = Orientation(coordinates="rpy", rows=(2,))
    found = dy.inverse_kinematics(robot, [Goal(distance, [0.4]), Goal(angles, [0.3])], q0=[0.3, -1.2, 1.5, -0.4, 0.8, 0.1])
    assert found.found, found.status
    assert np.hypot(*robot.pose(found.q)[:2, 3]) == pytest.approx(0.4)
    assert angles.value(robot, found.q) == pytest.approx(0.3)


def test_bad_goals_are_refused():
    robot, point = dy.load("ur5e"), np.zeros(3)
    for goals, text in (
        ([Goal(Position(), point), point], "no Goal"),
        ([Goal(Position(), np.zeros(2))], "shape"),
        ([Goal(Direction(), point)], "not zero"),
        ([Goal(Position(), np.zeros((2, 3))), Goal(LookAt(), np.ones((3, 3)))], "do not broadcast"),
    ):
        with pytest.raises(dy.InputError, match=text):
            dy.inverse_kinematics(robot, goals)
    with pytest.raises(dy.NameLookupError, match="elbow_joint"):
        dy.inverse_kinematics(robot, [Goal(JointPositions(["elbow"]), [0.0])])
    with pytest.raises(dy.InputError, match="goals have their own"):
        dy.inverse_kinematics(robot, [Goal(Position(), point)], kind="position")
    for make, text in (
        (lambda: Goal("tip", point), "takes a task"),
        (lambda: Goal(Position(), point, priority=0), "positive integer"),
        (lambda: Goal(Position(), point, weight=-1.0), "non-negative"),
        (lambda: Direction(axis="w"), "axis="),
        (lambda: JointPositions(3), "names of joints"),
    ):
        with pytest.raises(dy.InputError, match=text):
            make()


@pytest.mark.parametrize("coordinates", ["rpy", "xyz", "zyz"])
def test_angles_beyond_the_range_of_the_second_are_the_orientation_they_name(coordinates):
    robot = dy.load("ur5e")
    task = PoseTask(coordinates=coordinates)
    value = task.value(robot, np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.1]))
    other = value.copy()
    second = (np.pi if len(set(coordinates)) == 3 else 0.0) - value[4]
    other[3:] = value[3] + np.pi, second - 2.0 * np.pi, value[5] - np.pi
    found = dy.inverse_kinematics(robot, [Goal(task, np.array([value, other]))])
    assert found.found.all()
    for q in found.q:
        np.testing.assert_allclose(task.error(value, task.value(robot, q)), 0.0, atol=1e-8)
    with pytest.raises(dy.InputError, match=r"is 4 rad, and this angle is between .* give all three angles"):
        dy.inverse_kinematics(robot, Goal(Orientation(coordinates=coordinates, rows=(1,)), [4.0]))


def test_a_slow_search_ends_when_starts_lead_to_the_same_error(monkeypatch):
    monkeypatch.setattr(ik_problem, "MAX_PRODUCTS", 0)  # interpreted, as for a humanoid
    robot = dy.load("scara")
    goal = Goal(Position(), [3.0, 0.0, 0.1])
    found = dy.inverse_kinematics(robot, goal)
    assert not found.found
    assert found.restarts < 20
    q = robot.random(1)
    assert dy.inverse_kinematics(robot, Goal(Position(), robot.pose(q)[:3, 3])).found
