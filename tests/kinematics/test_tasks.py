"""Tasks: x, J and J̇ v belong together, on numbers and symbols, fixed and floating; wrong input is refused with a cure."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.kinematics.rotations import orientation_error, rotation_of

ts = dy.task_space
KINDS = ("rotation_vector", "rpy", "zyx", "xyz", "zyz", "zxz")
STEP = 1e-6


@pytest.fixture(scope="module", params=["fixed", "floating"])
def robot(request):
    return dy.load("panda", base=request.param)


def rates(robot, task, q, v):
    """ẋ and J̇ v by central differences along the motion."""
    forth, back = robot.integrate(q, STEP * v), robot.integrate(q, -STEP * v)
    x_dot = (task.value(robot, forth) - task.value(robot, back)) / (2 * STEP)
    return x_dot, (task.jacobian(robot, forth) - task.jacobian(robot, back)) @ v / (2 * STEP)


def state(robot, seed):
    rng = np.random.default_rng(seed)
    return robot.random(rng), rng.uniform(-1, 1, robot.n)


@pytest.mark.parametrize("kind", KINDS)
def test_jacobian_and_bias_are_the_rates_of_the_value(robot, kind):
    q, v = state(robot, 3)
    task = ts.PoseTask(coordinates=kind)
    x_dot, drift = rates(robot, task, q, v)
    np.testing.assert_allclose(task.jacobian(robot, q) @ v, x_dot, atol=1e-7)
    np.testing.assert_allclose(task.bias(robot, q, v), drift, atol=1e-6)


@pytest.mark.parametrize("far", [0.0, 1e-6, 1e-3, 0.05, 0.2, 2.0, 3.1])
def test_a_rotation_vector_has_its_rates_near_and_far_from_its_reference(robot, far):
    q, v = state(robot, 5)
    R = robot.pose(q)[:3, :3]
    axis = np.array([0.48, -0.6, 0.64])
    task = ts.Orientation(coordinates="rotation_vector", reference=rotation_of(-far * axis) @ R)
    np.testing.assert_allclose(task.value(robot, q), far * axis, atol=1e-12)
    x_dot, drift = rates(robot, task, q, v)
    np.testing.assert_allclose(task.jacobian(robot, q) @ v, x_dot, atol=1e-6)
    np.testing.assert_allclose(task.bias(robot, q, v), drift, atol=1e-6)


def test_the_geometric_task_has_angular_velocity_and_acceleration_as_its_rates(robot):
    q, v = state(robot, 6)
    task = ts.PoseTask()
    np.testing.assert_array_equal(task.jacobian(robot, q), robot.jacobian(q))
    np.testing.assert_allclose(task.bias(robot, q, v), robot.jacobian_dot(q, v) @ v, atol=1e-12)


def middle_of(robot, q):
    p = robot.pose(q)[:3, 3]
    return np.array([np.sqrt(p[0] * p[0] + p[1] * p[1]), p[2] * np.sin(q[-1])])


def test_a_function_of_ones_own_is_differentiated(robot):
    q, v = state(robot, 7)
    task = ts.Function(middle_of, 2)
    x_dot, drift = rates(robot, task, q, v)
    np.testing.assert_allclose(task.value(robot, q), middle_of(robot, q))
    np.testing.assert_allclose(task.jacobian(robot, q) @ v, x_dot, atol=1e-7)
    np.testing.assert_allclose(task.bias(robot, q, v), drift, atol=1e-6)


def test_a_function_that_is_a_position_has_the_position_s_rates(robot):
    q, v = state(robot, 8)
    task, known = ts.Function(lambda robot, q: robot.pose(q)[:3, 3], 3), ts.Position()
    np.testing.assert_allclose(task.jacobian(robot, q), known.jacobian(robot, q), atol=1e-13)
    np.testing.assert_allclose(task.bias(robot, q, v), known.bias(robot, q, v), atol=1e-12)


def test_tasks_are_the_same_compiled(robot):
    tasks = ts.Stacked(ts.Position("panda_link5"), ts.Orientation(coordinates="zyz"), ts.Function(middle_of, 2))
    kernel = robot.compile(lambda robot, q, v: (tasks.value(robot, q), tasks.jacobian(robot, q), tasks.bias(robot, q, v)))
    q, v = state(robot, 9)
    for found, wanted in zip(
        kernel(q, v), (tasks.value(robot, q), tasks.jacobian(robot, q), tasks.bias(robot, q, v)), strict=True
    ):
        np.testing.assert_allclose(found, wanted, atol=1e-11)


def test_a_function_keeps_its_derivatives_where_a_coordinate_is_a_number():
    robot = dy.load("scara")
    task = ts.Function(lambda robot, q: robot.pose(q)[:2, 3], 2)
    angle = dy.symbol("angle")
    J = task.jacobian(robot, np.array([0.3, angle, 0.1, 0.0], dtype=object))
    np.testing.assert_allclose(dy.evaluate(J, {angle: 0.7}), task.jacobian(robot, [0.3, 0.7, 0.1, 0.0]), atol=1e-14)


def test_stacked_tasks_stand_one_below_the_other():
    robot = dy.load("panda")
    q, v = state(robot, 1)
    assert ts.Position(rows="xy") == ts.Position(rows=(0, 1))
    both = ts.Stacked(ts.Position(rows="xy"), ts.Orientation(rows=(2, 0, 1)))
    assert both.names == ("x", "y", "rz", "rx", "ry")
    assert ts.Stacked(ts.Position("panda_link5"), ts.Position()).names[3] == "2.x"
    np.testing.assert_array_equal(both.jacobian(robot, q), robot.jacobian(q)[[0, 1, 5, 3, 4]])
    np.testing.assert_allclose(both.bias(robot, q, v), (robot.jacobian_dot(q, v) @ v)[[0, 1, 5, 3, 4]], atol=1e-12)


def test_errors_go_the_shorter_way():
    angles = ts.Orientation(coordinates="rpy")
    np.testing.assert_allclose(angles.error([3.1, 0.0, 0.0], [-3.1, 0.0, 0.0]), [6.2 - 2 * np.pi, 0, 0], atol=1e-12)
    rng = np.random.default_rng(4)
    a, b = rng.uniform(-1.5, 1.5, (2, 3))
    e = ts.Orientation().error(a, b)
    np.testing.assert_allclose(rotation_of(e) @ rotation_of(b), rotation_of(a), atol=1e-12)
    np.testing.assert_allclose(orientation_error(rotation_of(a), rotation_of(b)), e, atol=1e-12)
    both = ts.PoseTask().error([1.0, 2.0, 3.0, *a], [0.5, 2.0, 3.0, *b])
    np.testing.assert_allclose(both, [0.5, 0, 0, *e], atol=1e-12)


def test_an_orientation_error_is_at_most_half_a_turn_and_nothing_at_the_goal():
    rng = np.random.default_rng(2)
    for axis in (*np.eye(3), *rng.normal(size=(5, 3))):
        half = rotation_of(np.pi * axis / np.linalg.norm(axis))
        for R in (np.eye(3), half, rotation_of(rng.normal(size=3))):
            np.testing.assert_allclose(orientation_error(R, R), 0.0, atol=1e-12)
            e = orientation_error(half @ R, R)
            assert np.linalg.norm(e) == pytest.approx(np.pi, abs=1e-12)
            np.testing.assert_allclose(rotation_of(e) @ R, half @ R, atol=1e-12)
            x = orientation_error(R, np.eye(3))
            np.testing.assert_allclose(ts.Orientation().error(x, x), 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "rows"), [("rpy", (2,)), ("rpy", (0, 2)), ("rotation_vector", (2,)), ("rotation_vector", (0, 1))]
)
def test_feedback_on_some_rows_of_an_orientation_converges(kind, rows):
    robot, q = dy.load("panda").replace(friction=0), np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
    reference = robot.pose(q)[:3, :3] if kind == "rotation_vector" else None
    task = ts.Stacked(ts.Position(), ts.Orientation(coordinates=kind, rows=rows, reference=reference))
    beside = [ts.Compensation(), ts.Damping(5.0)]
    goal = task.value(robot, q) + np.array([0.03, -0.02, 0.04, 0.7, -0.5])[: task.size]
    hold = ts.Feedback(robot, task, lambda t: (goal, np.zeros(task.size), np.zeros(task.size)), null_space=beside)
    made = dy.simulate(robot, 2.0, q, controller=hold)
    np.testing.assert_allclose(task.error(goal, task.value(robot, made.q[-1])), 0.0, atol=1e-5)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ts.Position(rows=()), "rows"),
        (lambda: ts.Position(rows=(0, 0)), "must be distinct"),
        (lambda: ts.Position(rows=(3,)), "0, 1, 2"),
        (lambda: ts.Position(rows=(0.5,)), "0, 1, 2"),
        (lambda: ts.Position(rows="xw"), "rows=\\(0, 1\\)"),
        (lambda: ts.Orientation(coordinates="quaternion"), "rotation_vector"),
        (lambda: ts.Orientation(coordinates="rpy", reference=np.eye(3)), "geometric"),
        (lambda: ts.Orientation(reference=np.ones((3, 3))), "rotation matrix"),
        (lambda: ts.Orientation(reference="up"), "rotation matrix"),
        (lambda: ts.Orientation(rows=(2,)), "choose 'rotation_vector' or 'rpy'"),
        (lambda: ts.Stacked(), "takes tasks"),
        (lambda: ts.Stacked(3), "takes tasks"),
        (lambda: ts.Function(3, 1), "function of"),
        (lambda: ts.Function(middle_of, 0), "positive integer"),
        (lambda: ts.Function(middle_of, 2, ("one",)), "must have 2 names"),
    ],
)
def test_a_task_that_makes_no_sense_is_refused(make, words):
    with pytest.raises(dy.InputError, match=words):
        make()


def test_a_frame_that_is_not_there_is_named_with_its_neighbours():
    with pytest.raises(dy.NameLookupError, match="panda_link5"):
        ts.Position("panda_lnk5").value(dy.load("panda"), np.zeros(7))


def test_a_function_of_the_wrong_size_says_so():
    with pytest.raises(dy.InputError, match=r"shape \(2,\)"):
        ts.Function(middle_of, 3).value(dy.load("panda"), np.zeros(7))


@pytest.mark.parametrize(
    "task", [ts.Position(), ts.Orientation(), ts.PoseTask(), ts.Function(lambda robot, q: robot.pose(q)[:1, 3], 1)]
)
def test_a_task_takes_the_robot_first(robot, task):
    q = robot.random(0)
    for call in (lambda: task.value(q, robot), lambda: task.jacobian(q, robot), lambda: task.bias(q, robot, q)):
        with pytest.raises(dy.InputError, match=r"takes the robot first, then q; got numpy\.ndarray for the robot"):
            call()
