"""Exam "Robotica II", 10 June 2009: the PRP robot's inertia matrix, and the torque that is optimal on a redundant robot.

Equation numbers are those of the solution. The task is the position of the panda's tip: m = 3, n = 7.
"""

import numpy as np
import pytest
from seed_formulas import SEEDS, along_motion, close, number, random_values, state_values, symbols

import dynamis as dy
from dynamis.algorithms.kinematics import relative_poses, world_poses
from dynamis.task_space.feedback import commanded_acceleration

PRP = ("g", "m_1", "m_2", "m_3", "I_2", "I_3", "d_c2", "d_c3")


# exercise 1


@pytest.fixture(params=SEEDS)
def prp(request):
    """(robot, symbol values, q, v)."""
    rng = np.random.default_rng(request.param)
    return dy.load("planar_prp"), random_values(rng, PRP), *rng.uniform(-1.5, 1.5, (2, 3))


def com(robot, i, q):
    X = world_poses(robot.model, relative_poses(robot.model, q))[i]
    return X.R @ robot.model.bodies[i].inertia.com + X.p


def test_centres_of_mass_of_the_prp_robot_are_where_the_solution_puts_them(prp):
    robot, at, q, v = prp
    x, x_dot = symbols("q", 3), symbols("v", 3)
    s, c, arm = np.sin(q[1]), np.cos(q[1]), q[2] - at["d_c3"]
    p = {2: [at["d_c2"] * c, q[0] + at["d_c2"] * s, 0], 3: [arm * c, q[0] + arm * s, 0]}
    p_dot = {
        2: [-at["d_c2"] * s * v[1], v[0] + at["d_c2"] * c * v[1], 0],
        3: [v[2] * c - arm * s * v[1], v[0] + v[2] * s + arm * c * v[1], 0],
    }
    for i in (2, 3):
        values = at | state_values(q=q, v=v)
        close(number(com(robot, i, x), values), p[i])
        close(number(along_motion(com(robot, i, x), x, x_dot), values), p_dot[i])


def test_links_2_and_3_of_the_prp_robot_turn_together_and_link_1_not_at_all(prp):
    robot, at, q, v = prp
    spins = [number(robot.velocity(q, v, f"link{i}"), at)[5] for i in (1, 2, 3)]
    close(spins, [0, v[1], v[1]])


def test_kinetic_energies_of_the_prp_robot(prp):
    robot, at, q, v = prp
    m1, m2, m3, d, arm = at["m_1"], at["m_2"], at["m_3"], at["d_c2"], q[2] - at["d_c3"]
    s, c = np.sin(q[1]), np.cos(q[1])
    T = [
        0.5 * m1 * v[0] ** 2,
        0.5 * at["I_2"] * v[1] ** 2 + 0.5 * m2 * (v[0] ** 2 + d**2 * v[1] ** 2 + 2 * d * c * v[0] * v[1]),
        0.5 * at["I_3"] * v[1] ** 2
        + 0.5 * m3 * (v[0] ** 2 + arm**2 * v[1] ** 2 + v[2] ** 2 + 2 * arm * c * v[0] * v[1] + 2 * s * v[0] * v[2]),
    ]
    close(number(robot.link_energies(q, v)[0], at), T)
    close(number(robot.kinetic_energy(q, v), at), sum(T))


def test_inertia_matrix_of_the_prp_robot(prp):
    robot, at, q, v = prp
    arm, s, c = q[2] - at["d_c3"], np.sin(q[1]), np.cos(q[1])
    couple = (at["m_2"] * at["d_c2"] + at["m_3"] * arm) * c
    spin = at["I_2"] + at["m_2"] * at["d_c2"] ** 2 + at["I_3"] + at["m_3"] * arm**2
    total = at["m_1"] + at["m_2"] + at["m_3"]
    B = np.array([[total, couple, at["m_3"] * s], [couple, spin, 0], [at["m_3"] * s, 0, at["m_3"]]])
    close(number(robot.mass_matrix(q), at), B)
    assert np.linalg.eigvalsh(B)[0] > 0
    close(number(robot.kinetic_energy(q, v), at), 0.5 * v @ B @ v)
    # it depends on q_2 and q_3 only
    close(number(robot.mass_matrix([q[0] + 1.0, q[1], q[2]]), at), B)


# exercise 2


class Task:
    """A state of the panda, the task's Jacobian, and the letters of the solution."""

    def __init__(self, robot, seed):
        rng = np.random.default_rng(seed)
        self.robot, self.q = robot, robot.random(rng)
        self.v, self.q_ddot_0 = rng.uniform(-1, 1, (2, robot.n))
        self.x_ddot = rng.uniform(-1, 1, 3)
        self.B, self.n = robot.mass_matrix(self.q), robot.bias(self.q, self.v)
        self.B_inv = np.linalg.inv(self.B)
        self.J = robot.jacobian(self.q)[:3]
        self.drift = robot.jacobian_dot(self.q, self.v)[:3] @ self.v
        self.J_sharp = self.J.T @ np.linalg.inv(self.J @ self.J.T)
        self.P = np.eye(robot.n) - self.J_sharp @ self.J
        self.r_ddot = self.x_ddot - self.drift
        self.tau = self.B @ self.J_sharp @ (self.r_ddot + self.J @ self.B_inv @ self.n)  # (6)

    def H(self, tau):
        return 0.5 * tau @ self.B_inv @ self.B_inv @ tau

    def task_acceleration(self, tau):
        return self.J @ self.robot.forward_dynamics(self.q, self.v, tau) + self.drift


@pytest.fixture(scope="module")
def panda():
    return dy.load("panda").replace(friction=0)


@pytest.fixture(params=SEEDS)
def task(request, panda):
    return Task(panda, request.param)


def test_task_acceleration_is_j_a_plus_j_dot_v(task):
    a = task.q_ddot_0
    close(task.robot.acceleration(task.q, task.v, a)[:3], task.J @ a + task.drift)


def test_objective_is_a_complete_quadratic_form_of_the_acceleration(task):
    a = task.q_ddot_0
    form = 0.5 * a @ a + task.n @ task.B_inv @ a + 0.5 * task.n @ task.B_inv @ task.B_inv @ task.n
    close(form, task.H(task.robot.inverse_dynamics(task.q, task.v, a)), 1e-9)


def test_multipliers_and_acceleration_satisfy_the_conditions_of_a_minimum(task):
    # (1) to (5)
    lam = -np.linalg.solve(task.J @ task.J.T, task.r_ddot + task.J @ task.B_inv @ task.n)
    a = -task.B_inv @ task.n - task.J.T @ lam
    close(a + task.B_inv @ task.n + task.J.T @ lam, np.zeros(7), 1e-9)
    close(task.J @ a, task.r_ddot, 1e-9)
    close(a, task.J_sharp @ task.r_ddot - task.P @ task.B_inv @ task.n, 1e-9)
    close(task.J_sharp, np.linalg.pinv(task.J), 1e-10)


def test_optimal_torque_executes_the_task(task):
    # (6)
    close(task.task_acceleration(task.tau), task.x_ddot, 1e-9)


def test_optimal_torque_is_cheaper_than_any_other_that_executes_the_task(task):
    rng = np.random.default_rng(1)
    for _ in range(20):
        other = task.tau + task.B @ task.P @ rng.uniform(-1, 1, 7)
        close(task.task_acceleration(other), task.x_ddot, 1e-9)
        assert task.H(other) > task.H(task.tau)


def test_projector_is_symmetric_idempotent_and_annihilates_the_pseudo_inverse(task):
    close(task.P, task.P.T)
    close(task.P @ task.P, task.P)
    close(task.P @ task.J_sharp, np.zeros((7, 3)), 1e-11)


def test_every_null_space_acceleration_executes_the_task(task):
    # (7), (8)
    a = task.J_sharp @ task.r_ddot + task.P @ task.q_ddot_0
    close(task.J @ a, task.r_ddot, 1e-10)
    tau = task.B @ task.J_sharp @ task.r_ddot + task.B @ task.P @ task.q_ddot_0 + task.n
    close(task.robot.inverse_dynamics(task.q, task.v, a), tau, 1e-10)
    offset = task.J_sharp @ task.r_ddot + task.B_inv @ task.n
    form = 0.5 * task.q_ddot_0 @ task.P @ task.q_ddot_0 + offset @ task.P @ task.q_ddot_0 + 0.5 * offset @ offset
    close(task.H(tau), form, 1e-9)


def test_unconstrained_minimum_gives_the_same_torque(task):
    # (9) in (8) is (6)
    q_ddot_0 = -task.B_inv @ task.n
    gradient = task.P @ (q_ddot_0 + task.J_sharp @ task.r_ddot + task.B_inv @ task.n)
    close(gradient, np.zeros(7), 1e-10)
    close(task.B @ task.J_sharp @ task.r_ddot + task.B @ task.P @ q_ddot_0 + task.n, task.tau, 1e-9)


def test_without_gravity_and_at_rest_only_the_inertial_torque_remains(panda):
    # (10)
    robot = panda.replace(gravity=(0, 0, 0))
    task = Task(robot, 2)
    B, J_sharp, rest = task.B, task.J_sharp, np.zeros(7)
    close(robot.bias(task.q, rest), rest)
    tau = B @ J_sharp @ task.x_ddot
    close(task.J @ robot.forward_dynamics(task.q, rest, tau), task.x_ddot, 1e-9)


K_P, K_D = np.array([25.0, 9.0]), np.array([6.0, 6.0])


def feedback_torque(robot, q, v, desired):
    """(11) for the planar position of the tip; ``desired`` is (x_d, ẋ_d, ẍ_d)."""
    x_d, x_d_dot, x_d_ddot = desired
    B, J = robot.mass_matrix(q), robot.jacobian(q)[:2]
    x, drift = robot.pose(q)[:2, 3], robot.jacobian_dot(q, v)[:2] @ v
    command = x_d_ddot + K_D * (x_d_dot - J @ v) + K_P * (x_d - x) - drift
    return B @ np.linalg.pinv(J) @ (command + J @ np.linalg.solve(B, robot.bias(q, v)))


@pytest.fixture(scope="module")
def planar():
    """The planar 3R with numbers: redundant for the position of its tip."""
    lengths = {f"{name}_{k}": value for name, value in (("a", 0.5), ("l", 0.25), ("m", 2.0), ("I", 0.05)) for k in (1, 2, 3)}
    return dy.load("planar_3r", parameters=lengths | {"g": 9.81})


def test_feedback_imposes_the_linear_decoupled_error_equation(planar):
    # (11) gives (12)
    rng = np.random.default_rng(3)
    q, v, desired = rng.uniform(0.3, 1.0, 3), rng.uniform(-1, 1, 3), rng.uniform(-1, 1, (3, 2))
    a = planar.forward_dynamics(q, v, feedback_torque(planar, q, v, desired))
    e = desired[0] - planar.pose(q)[:2, 3]
    e_dot = desired[1] - planar.velocity(q, v)[:2]
    e_ddot = desired[2] - planar.acceleration(q, v, a)[:2]
    close(e_ddot + K_D * e_dot + K_P * e, np.zeros(2), 1e-9)


def decoupled_error(e, e_dot, t):
    """The solution of (12) for K_D = 6: K_P = 25 swings, K_P = 9 is critical."""
    swinging = np.exp(-3 * t) * (e[0] * np.cos(4 * t) + (e_dot[0] + 3 * e[0]) / 4 * np.sin(4 * t))
    critical = np.exp(-3 * t) * (e[1] + (e_dot[1] + 3 * e[1]) * t)
    return np.array([swinging, critical])


def test_task_error_decays_exponentially_each_component_on_its_own(planar):
    def desired(t):
        c, s = 0.2 * np.cos(2 * t), 0.2 * np.sin(2 * t)
        return np.array([0.8 + c, 0.5 + s]), 2 * np.array([-s, c]), -4 * np.array([c, s])

    def rate(t, y):
        return np.concatenate([y[3:], planar.forward_dynamics(y[:3], y[3:], feedback_torque(planar, y[:3], y[3:], desired(t)))])

    y, step = np.array([0.2, 0.6, 0.7, 0.1, -0.2, 0.3]), 0.01
    e = desired(0)[0] - planar.pose(y[:3])[:2, 3]
    e_dot = desired(0)[1] - planar.velocity(y[:3], y[3:])[:2]
    for k in range(100):  # Runge–Kutta
        t = k * step
        k1 = rate(t, y)
        k2 = rate(t + step / 2, y + step / 2 * k1)
        k3 = rate(t + step / 2, y + step / 2 * k2)
        y = y + step / 6 * (k1 + 2 * k2 + 2 * k3 + rate(t + step, y + step * k3))
    final = desired(1.0)[0] - planar.pose(y[:3])[:2, 3]
    np.testing.assert_allclose(final, decoupled_error(e, e_dot, 1.0), atol=1e-6)
    assert np.abs(final).max() < 0.2 * np.abs(e).max()


# the package's own functions, formula by formula

ts = dy.task_space
POSITION = ts.Position()


def test_the_law_of_the_package_is_the_solution_of_the_exam(task):
    # (6), and the same with the report
    tau = ts.least_cost_torque(task.robot, task.q, task.v, POSITION, task.x_ddot)
    close(tau, task.tau, 1e-9)
    found = ts.resolve(task.robot, task.q, task.v, POSITION, task.x_ddot)
    close(found.tau, task.tau, 1e-9)
    assert abs(found.cost - task.H(task.tau)) < 1e-9 * found.cost


def test_no_torque_of_a_thousand_that_execute_the_task_is_cheaper(task):
    rng = np.random.default_rng(7)
    tau = ts.least_cost_torque(task.robot, task.q, task.v, POSITION, task.x_ddot)
    q_ddot_0 = rng.normal(size=(1000, 7)) * 10.0 ** rng.uniform(-3, 2, (1000, 1))
    drawn = tau + (task.B @ task.P @ q_ddot_0.T).T  # (8)
    assert min(map(task.H, drawn)) > task.H(tau)


def test_part_b_is_a_function_of_the_package(panda):
    # (10)
    robot = panda.replace(gravity=(0, 0, 0))
    task = Task(robot, 2)
    tau = ts.least_cost_torque(robot, task.q, np.zeros(7), POSITION, task.x_ddot)
    close(tau, task.B @ task.J_sharp @ task.x_ddot, 1e-9)


TIP = ts.Position(rows=(0, 1))


def test_law_of_the_package_with_feedback_is_equation_11(planar):
    rng = np.random.default_rng(3)
    q, v, desired = rng.uniform(0.3, 1.0, 3), rng.uniform(-1, 1, 3), rng.uniform(-1, 1, (3, 2))
    command = commanded_acceleration(planar, q, v, TIP, desired, K_P, K_D)
    tau = ts.least_cost_torque(planar, q, v, TIP, command)
    close(tau, feedback_torque(planar, q, v, desired), 1e-9)
    controller = ts.Feedback(planar, TIP, lambda t: desired, K_P=K_P, K_D=K_D)
    close(controller(0.0, q, v), tau, 1e-9)


def test_simulated_error_follows_equation_12_to_the_accuracy_of_the_integration(planar):
    """Both components at every reported time, each with its own gains, by the package's own simulation."""

    def desired(t):
        c, s = 0.2 * np.cos(2 * t), 0.2 * np.sin(2 * t)
        return np.array([0.8 + c, 0.5 + s]), 2 * np.array([-s, c]), -4 * np.array([c, s])

    q0, v0 = np.array([0.2, 0.6, 0.7]), np.array([0.1, -0.2, 0.3])
    controller = ts.Feedback(planar, TIP, desired, K_P=K_P, K_D=K_D)
    motion = dy.simulate(planar, 1.0, q0, v0, controller=controller, rtol=1e-10, atol=1e-12, points=101)
    e = np.array([desired(t)[0] - x for t, x in zip(motion.t, motion.path()[:, :2], strict=True)])
    e_dot = desired(0.0)[1] - planar.velocity(q0, v0)[:2]
    np.testing.assert_allclose(e, decoupled_error(e[0], e_dot, motion.t).T, atol=1e-9)


def test_an_error_of_one_component_leaves_the_other_at_zero(planar):
    q0 = np.array([0.2, 0.6, 0.7])
    x0 = planar.pose(q0)[:2, 3]
    goal = x0 + np.array([0.05, 0.0])
    controller = ts.Feedback(planar, TIP, lambda t: (goal, np.zeros(2), np.zeros(2)), K_P=K_P, K_D=K_D)
    motion = dy.simulate(planar, 1.0, q0, controller=controller, rtol=1e-10, atol=1e-12, points=51)
    e = goal - motion.path()[:, :2]
    np.testing.assert_allclose(e[:, 1], 0.0, atol=1e-9)
    np.testing.assert_allclose(e[:, 0], decoupled_error(e[0], np.zeros(2), motion.t)[0], atol=1e-9)


def test_the_law_on_the_exams_own_robot(prp):
    # exercise 1's robot has three joints and two directions in its plane: exercise 2 applies to it
    robot, at, q, v = prp
    numeric = dy.load("planar_prp", parameters=at)
    x_ddot = np.array([0.4, -0.7])
    tau = ts.least_cost_torque(numeric, q, v, TIP, x_ddot)
    s, c = np.sin(q[1]), np.cos(q[1])
    J = np.array([[0.0, -q[2] * s, c], [1.0, q[2] * c, s]])
    J_dot_v = np.array([-q[2] * c * v[1] ** 2 - 2 * s * v[1] * v[2], -q[2] * s * v[1] ** 2 + 2 * c * v[1] * v[2]])
    B, n = numeric.mass_matrix(q), numeric.bias(q, v)
    close(tau, B @ np.linalg.pinv(J) @ (x_ddot - J_dot_v + J @ np.linalg.solve(B, n)), 1e-8)
    # the same with every mass and length a symbol
    close(number(ts.least_cost_torque(robot, q, v, TIP, x_ddot), at), tau, 1e-8)
