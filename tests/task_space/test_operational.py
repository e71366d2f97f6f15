"""The operational-space model: the same motion as in joint space, the same energy, and an answer at every singularity."""

import functools
import warnings

import numpy as np
import pytest

import dynamis as dy

ts = dy.task_space
CASES = [("ur5e", ts.PoseTask()), ("ur5e", ts.PoseTask(coordinates="rpy")), ("panda", ts.PoseTask()),
         ("panda", ts.Position()), ("scara", ts.Position(rows=(0, 1)))]  # fmt: skip


@functools.cache
def frictionless(name, base="fixed"):
    return dy.load(name, base=base).replace(friction=0)


@functools.cache
def weightless(name):
    return frictionless(name).replace(gravity=(0, 0, 0))


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1].size}")
def case(request):
    name, task = request.param
    robot = frictionless(name)
    rng = np.random.default_rng(2)
    return name, robot, task, robot.random(rng), rng.uniform(-1, 1, robot.n), rng.uniform(-1, 1, task.size)


def test_motion_by_joint_torques_is_motion_by_task_forces(case):
    _, robot, task, q, v, x_ddot = case
    x = dy.operational_space(robot, q, v, task)
    a = robot.forward_dynamics(q, v, x.torque(x_ddot))
    np.testing.assert_allclose(task.jacobian(robot, q) @ a + task.bias(robot, q, v), x_ddot, atol=1e-8)
    # and a torque in the null space does not change it
    a = robot.forward_dynamics(q, v, x.torque(x_ddot, np.arange(robot.n)))
    np.testing.assert_allclose(task.jacobian(robot, q) @ a + task.bias(robot, q, v), x_ddot, atol=1e-8)


def test_any_joint_torque_moves_the_task_as_its_force_does(case):
    _, robot, task, q, v, _ = case
    x = dy.operational_space(robot, q, v, task)
    tau = np.linspace(-5, 5, robot.n)
    x_ddot = task.jacobian(robot, q) @ robot.forward_dynamics(q, v, tau) + task.bias(robot, q, v)
    # Λ ẍ + μ + p = J̄ᵀ τ
    np.testing.assert_allclose(x.force(x_ddot), x.J_bar.T @ tau, atol=1e-7)


def test_consistent_inverse_and_projector(case):
    _, robot, task, q, v, _ = case
    x = dy.operational_space(robot, q, v, task)
    np.testing.assert_allclose(x.J @ x.J_bar, np.eye(task.size), atol=1e-9)
    np.testing.assert_allclose(x.N @ x.N, x.N, atol=1e-8)
    np.testing.assert_allclose(x.J @ x.N, 0.0, atol=1e-9)
    np.testing.assert_allclose(x.Lambda, x.Lambda.T, atol=1e-8 * np.abs(x.Lambda).max())
    assert x.how == ("square" if task.size == robot.n else "redundant")
    assert x.rank == task.size
    assert not x.singular


def test_without_weight_nothing_is_felt_as_weight(case):
    name, robot, task, q, v, _ = case
    light = weightless(name)
    x, y = dy.operational_space(robot, q, v, task), dy.operational_space(light, q, v, task)
    np.testing.assert_allclose(y.p, 0.0, atol=1e-12)
    np.testing.assert_allclose(x.mu, y.mu, atol=1e-8)
    np.testing.assert_allclose(
        x.mu + x.p, x.Lambda @ (x.J @ np.linalg.solve(robot.mass_matrix(q), robot.bias(q, v)) - x.J_dot_v), atol=1e-8
    )


SQUARE = [("ur5e", ts.PoseTask()), ("planar_2r_melchiorri", ts.Position(rows=(0, 1))), ("ur5e", ts.PoseTask(coordinates="zyz"))]


@pytest.mark.parametrize(("name", "task"), SQUARE)
def test_energy_of_a_square_task_is_that_of_the_joints(name, task):
    robot = frictionless(name)
    q, v = robot.random(3) * 0.5 + 0.3, np.linspace(-1, 1, robot.n)
    x = dy.operational_space(robot, q, v, task)
    x_dot = x.J @ v
    assert x_dot @ x.Lambda @ x_dot == pytest.approx(v @ robot.mass_matrix(q) @ v, rel=1e-9)


def lambda_dot(robot, task, q, v, step=1e-6):
    forth, back = (dy.operational_space(robot, robot.integrate(q, h * v), v, task).Lambda for h in (step, -step))
    return (forth - back) / (2 * step)


@pytest.mark.parametrize(("name", "task"), SQUARE)
def test_coriolis_forces_of_a_square_task_do_no_work_but_that_of_the_inertia(name, task):
    # ẋᵀ (Λ̇ ẋ − 2 μ) = 0
    robot = frictionless(name)
    q, v = robot.random(3) * 0.5 + 0.3, np.linspace(-1, 1, robot.n)
    x = dy.operational_space(robot, q, v, task)
    x_dot = x.J @ v
    work = x_dot @ lambda_dot(robot, task, q, v) @ x_dot
    assert work == pytest.approx(2 * x_dot @ x.mu, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(("name", "task"), SQUARE[:2])
def test_the_notes_matrix_c_a_is_skew_with_the_rate_of_lambda(name, task):
    # C_A = J⁻ᵀ C J⁻¹ − Λ J̇ J⁻¹; Λ̇ − 2 C_A is skew and C_A ẋ = μ
    robot = frictionless(name)
    q, v = robot.random(3) * 0.5 + 0.3, np.linspace(-1, 1, robot.n)
    x = dy.operational_space(robot, q, v, task)
    J_inverse, J_dot = np.linalg.inv(x.J), robot.jacobian_dot(q, v)[: task.size]
    C_A = J_inverse.T @ robot.coriolis_matrix(q, v) @ J_inverse - x.Lambda @ J_dot @ J_inverse
    np.testing.assert_allclose(C_A @ (x.J @ v), x.mu, atol=1e-8 * max(1.0, np.abs(x.mu).max()))
    N = lambda_dot(robot, task, q, v) - 2 * C_A
    np.testing.assert_allclose(N + N.T, 0.0, atol=1e-5 * np.abs(N).max())
    np.testing.assert_allclose(x.p, J_inverse.T @ robot.gravity(q), atol=1e-9)
    np.testing.assert_allclose(x.Lambda, J_inverse.T @ robot.mass_matrix(q) @ J_inverse, rtol=1e-7)


STRETCHED = np.array([0.4, 0.0])


def test_a_singular_state_warns_by_name_and_leaves_what_can_be_moved():
    robot, task = frictionless("planar_2r_melchiorri"), ts.Position(rows=(0, 1))
    with pytest.warns(dy.SingularityWarning, match=r"rank 1 of 2.*0\.92 x \+ 0\.39 y"):
        x = dy.operational_space(robot, STRETCHED, [0.1, 0.2], task)
    assert x.rank == 1
    assert x.condition > 1e12
    assert x.how.startswith("truncated: 1 of 2 directions")
    assert np.isfinite(x.Lambda).all()
    across = np.array([-np.sin(0.4), np.cos(0.4)])
    a = robot.forward_dynamics(STRETCHED, [0.1, 0.2], x.torque(across))
    assert across @ (x.J @ a + x.J_dot_v) == pytest.approx(1.0)


def test_a_way_out_chosen_by_name_is_taken_without_a_warning():
    robot, task = frictionless("planar_2r_melchiorri"), ts.Position(rows=(0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cut = dy.operational_space(robot, STRETCHED, np.zeros(2), task, truncate=True)
        damped = dy.operational_space(robot, STRETCHED, np.zeros(2), task, damping=0.01)
    assert cut.rank == damped.rank == 1
    assert damped.how == "damped least squares with λ = 0.01"
    mobility = robot.jacobian(STRETCHED)[:2] @ np.linalg.solve(robot.mass_matrix(STRETCHED), robot.jacobian(STRETCHED)[:2].T)
    np.testing.assert_allclose(damped.Lambda, np.linalg.inv(mobility + 1e-4 * np.eye(2)), rtol=1e-9)


def test_little_damping_tends_to_the_truncated_answer_in_what_can_be_moved():
    robot, task = frictionless("planar_2r_melchiorri"), ts.Position(rows=(0, 1))
    across = np.array([-np.sin(0.4), np.cos(0.4)])
    cut = dy.operational_space(robot, STRETCHED, np.zeros(2), task, truncate=True)
    damped = dy.operational_space(robot, STRETCHED, np.zeros(2), task, damping=1e-6)
    assert across @ damped.Lambda @ across == pytest.approx(across @ cut.Lambda @ across, rel=1e-6)


def test_a_task_with_more_directions_than_joints_is_singular_everywhere():
    robot = frictionless("planar_2r_melchiorri")
    x = dy.operational_space(robot, [0.3, 0.8], np.zeros(2), ts.PoseTask(), truncate=True)
    assert x.rank == 2
    assert np.isfinite(x.torque(np.ones(6))).all()


def test_singular_coordinates_are_refused_with_a_cure():
    robot = frictionless("ur5e")
    q = np.array([0.3, -1.0, 1.2, 0.2, 0.4, 0.1])
    up = ts.Orientation(coordinates="rotation_vector", reference=robot.pose(q)[:3, :3])
    dy.operational_space(robot, q, np.zeros(6), up)  # at its reference it is regular
    wrist = dy.load("planar_2r_melchiorri")
    with pytest.raises(dy.SingularError, match="geometric"):
        dy.operational_space(wrist, [0.3, 0.8], np.zeros(2), ts.Orientation(coordinates="zyz"))


def test_a_floating_robot_has_the_same_formulas():
    robot = frictionless("panda", "floating")
    rng = np.random.default_rng(5)
    q, v, x_ddot = robot.random(rng), rng.uniform(-1, 1, robot.n), rng.uniform(-1, 1, 6)
    task = ts.PoseTask()
    x = dy.operational_space(robot, q, v, task)
    a = robot.forward_dynamics(q, v, x.torque(x_ddot))
    np.testing.assert_allclose(task.jacobian(robot, q) @ a + task.bias(robot, q, v), x_ddot, atol=1e-8)


@pytest.mark.parametrize("task", [ts.PoseTask(), ts.Position()])
def test_joints_alone_move_the_tip_of_a_floating_robot(task):
    robot = frictionless("panda", "floating")
    rng = np.random.default_rng(6)
    q, v, x_ddot = robot.random(rng), rng.uniform(-1, 1, robot.n), rng.uniform(-1, 1, task.size)
    x = dy.operational_space(robot, q, v, task, actuated="joints")
    assert x.actuated == tuple(range(6, robot.n))
    tau = np.concatenate([np.zeros(6), x.torque(x_ddot, np.ones(robot.n - 6))])
    a = robot.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(task.jacobian(robot, q) @ a + task.bias(robot, q, v), x_ddot, atol=1e-7)


def test_a_joint_without_a_motor_is_left_to_itself():
    robot, task = frictionless("panda"), ts.Position()
    q, v = robot.random(1), np.linspace(-1, 1, 7)
    names = [name for name in robot.coordinate_names if name != "panda_joint4"]
    x = dy.operational_space(robot, q, v, task, actuated=names)
    tau = np.zeros(7)
    tau[list(x.actuated)] = x.torque([1.0, 2.0, 3.0])
    a = robot.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(task.jacobian(robot, q) @ a + task.bias(robot, q, v), [1, 2, 3], atol=1e-8)
    assert tau[3] == 0.0


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"task": "position"}, dy.InputError, "Position"),
        ({"robot": "panda"}, dy.InputError, "dynamis.load"),
        ({"robot": dy.load("planar_3r"), "q": np.zeros(3), "v": np.zeros(3)}, dy.InputError, "parameters"),
        ({"damping": -1.0}, dy.InputError, "damping"),
        ({"damping": float("nan")}, dy.InputError, "damping"),
        ({"tolerance": 2.0}, dy.InputError, "tolerance"),
        ({"truncate": 0.1}, dy.InputError, "True or False"),
        ({"truncate": True, "damping": 0.1}, dy.InputError, "exclude each other"),
        ({"q": np.zeros(6)}, dy.InputError, "shape"),
        ({"q": np.zeros((2, 7))}, dy.InputError, "one state"),
        ({"v": np.full(7, np.nan)}, dy.InputError, "finite"),
        ({"actuated": "wheels"}, dy.NameLookupError, "no coordinate named 'wheels'"),
        ({"actuated": ["panda_joint9"]}, dy.NameLookupError, "panda_joint"),
        ({"actuated": [0, 0]}, dy.InputError, "twice"),
        ({"actuated": [99]}, dy.InputError, "indices"),
    ],
)
def test_wrong_input_is_refused_with_a_sentence(change, error, words):
    given = {"robot": dy.load("panda"), "q": np.zeros(7), "v": np.zeros(7), "task": ts.Position()} | change
    with pytest.raises(error, match=words):
        dy.operational_space(given.pop("robot"), given.pop("q"), given.pop("v"), given.pop("task"), **given)
