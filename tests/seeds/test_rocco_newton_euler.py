"""P. Rocco, "Dinamica del manipolatore": Newton–Euler link by link, direct dynamics, operational space."""

import numpy as np
import pytest
from seed_formulas import SEEDS, along_motion, close, number, planar_case, state_values, symbols

import dynamis as dy
from dynamis.algorithms.lagrange import lagrange
from dynamis.algorithms.newton_euler import joint_wrenches
from dynamis.spatial import Pose

seeded = pytest.mark.parametrize("seed", SEEDS)
cross = np.cross


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r")


# "Equazioni di Newton e Eulero", "Accelerazioni di un braccio", "Algoritmo ricorsivo"


def recursion(robot, q, v, a):
    """The algorithm of the slides on a Denavit–Hartenberg chain, all vectors in base axes.

    Returns ω, ω̇, ṗ, p̈ (with −g_0 in it) and p̈_C of the links, f, μ, and τ without friction and rotors.
    """
    names = robot.link_names[: robot.n + 1]
    poses = [robot.pose(q, name) for name in names]
    R, p = [X[:3, :3] for X in poses], [X[:3, 3] for X in poses]
    n = robot.n
    bodies = [robot.model.bodies[i] for i in range(1, n + 1)]
    # the centre of mass in base axes; the model keeps it in the frame before the link's tail
    com = []
    for i in range(1, n + 1):
        tail = robot.model.frames[names[i]].pose
        com.append(R[i] @ tail.R.T @ (bodies[i - 1].inertia.com - tail.p))
    w, w_dot, p_dot, p_ddot, c_ddot = [np.zeros(3)], [np.zeros(3)], [np.zeros(3)], [-robot.model.gravity], [None]
    for i in range(1, n + 1):
        z, r = R[i - 1][:, 2], p[i] - p[i - 1]
        turns = robot.model.coordinates[i - 1].revolute
        rate, acceleration = v[i - 1], a[i - 1]
        w.append(w[-1] + rate * z * turns)
        w_dot.append(w_dot[-1] + (acceleration * z + rate * cross(w[-2], z)) * turns)
        slide = np.zeros(3) if turns else acceleration * z + 2 * rate * cross(w[i], z)
        p_dot.append(p_dot[-1] + cross(w[i], r) + (0 if turns else rate * z))
        p_ddot.append(p_ddot[-1] + slide + cross(w_dot[i], r) + cross(w[i], cross(w[i], r)))
        c_ddot.append(p_ddot[i] + cross(w_dot[i], com[i - 1]) + cross(w[i], cross(w[i], com[i - 1])))
    f, mu, tau = [np.zeros(3)] * (n + 2), [np.zeros(3)] * (n + 2), np.zeros(n)
    for i in range(n, 0, -1):
        z, r, tail = R[i - 1][:, 2], p[i] - p[i - 1], robot.model.frames[names[i]].pose
        E = R[i] @ tail.R.T
        I = E @ bodies[i - 1].inertia.tensor_about_com @ E.T
        f[i] = f[i + 1] + bodies[i - 1].inertia.mass * c_ddot[i]
        mu[i] = -cross(f[i], r + com[i - 1]) + mu[i + 1] + cross(f[i + 1], com[i - 1]) + I @ w_dot[i] + cross(w[i], I @ w[i])
        tau[i - 1] = (mu[i] if robot.model.coordinates[i - 1].revolute else f[i]) @ z
    return w, w_dot, p_dot, p_ddot, f, mu, tau


CHAINS = ["stanford", "puma560", "planar_2r_melchiorri"]


def chain_state(name):
    robot, rng = dy.load(name), np.random.default_rng(1)
    return robot, robot.random(rng), *rng.uniform(-1, 1, (2, robot.n))


@pytest.mark.parametrize("name", CHAINS)
def test_forward_recursion_gives_the_velocities_and_accelerations_of_the_links(name):
    robot, q, v, a = chain_state(name)
    w, w_dot, p_dot, p_ddot, *_ = recursion(robot, q, v, a)
    for i, link in enumerate(robot.link_names[: robot.n + 1]):
        close(robot.velocity(q, v, link), np.concatenate([p_dot[i], w[i]]))
        # gravity rides on the recursion as an acceleration of the base
        close(robot.acceleration(q, v, a, link), np.concatenate([p_ddot[i] + robot.model.gravity, w_dot[i]]))


@pytest.mark.parametrize("name", CHAINS)
def test_backward_recursion_gives_the_forces_moments_and_torques_of_the_joints(name):
    robot, q, v, a = chain_state(name)
    *_, f, mu, tau = recursion(robot, q, v, a)
    m = robot.model
    friction = m.viscous * v + m.coulomb * np.sign(v) + m.coulomb_bias * (v != 0)
    close(robot.inverse_dynamics(q, v, a), tau + friction + m.rotor * a)
    F = joint_wrenches(m, q, v, a)[1]
    for i in range(1, robot.n + 1):
        X = Pose.from_matrix(robot.pose(q, robot.link_names[i])) @ m.frames[robot.link_names[i]].pose.inverse()
        # ours acts at the moved joint's origin, theirs about the origin of frame i − 1
        force, arm = X.R @ F[i][:3], X.p - robot.pose(q, robot.link_names[i - 1])[:3, 3]
        close(force, f[i])
        close(X.R @ F[i][3:] + cross(arm, force), mu[i])


@pytest.mark.parametrize("name", CHAINS)
def test_newton_and_euler_equations_balance_each_link(name):
    robot, q, v, a = chain_state(name)
    w, w_dot, _, _, f, mu, _ = recursion(robot, q, v, a)
    for i in range(1, robot.n + 1):
        X, tail = robot.pose(q, robot.link_names[i]), robot.model.frames[robot.link_names[i]].pose
        inertia, E = robot.model.bodies[i].inertia, X[:3, :3] @ tail.R.T
        r, I = E @ (inertia.com - tail.p), E @ inertia.tensor_about_com @ E.T
        c_ddot = robot.acceleration(q, v, a, robot.link_names[i])[:3] + cross(w_dot[i], r) + cross(w[i], cross(w[i], r))
        close(f[i] - f[i + 1] + inertia.mass * robot.model.gravity, inertia.mass * c_ddot)
        arm = X[:3, 3] + r - robot.pose(q, robot.link_names[i - 1])[:3, 3]
        moments = mu[i] + cross(f[i], arm) - mu[i + 1] - cross(f[i + 1], r)
        close(moments, I @ w_dot[i] + cross(w[i], I @ w[i]))


# "Manipolatore planare a due bracci": the recursion written out


def planar_quantities(case, q, v, a):
    """The printed results, in link axes."""
    g, r1, r2, y1, y2, m1, m2 = case.g, case.a_1, case.a_2, case.l_1, case.l_2, case.m_1, case.m_2
    s1, c1, s2, c2 = np.sin(q[0]), np.cos(q[0]), np.sin(q[1]), np.cos(q[1])
    s12, c12, w, al = np.sin(q.sum()), np.cos(q.sum()), v[0] + v[1], a[0] + a[1]

    def outer(x):  # acceleration at distance x along link 2
        return np.array([
            r1 * s2 * a[0] - r1 * c2 * v[0] ** 2 - x * w**2 + g * s12,
            r1 * c2 * a[0] + x * al + r1 * s2 * v[0] ** 2 + g * c12,
            0,
        ])  # fmt: skip

    return {
        "w": ([0, 0, v[0]], [0, 0, w]),
        "w_dot": ([0, 0, a[0]], [0, 0, al]),
        "p_ddot": ([-r1 * v[0] ** 2 + g * s1, r1 * a[0] + g * c1, 0], outer(r2)),
        "c_ddot": ([-y1 * v[0] ** 2 + g * s1, y1 * a[0] + g * c1, 0], outer(y2)),
        "f": (
            [
                -m2 * y2 * s2 * al - m1 * y1 * v[0] ** 2 - m2 * r1 * v[0] ** 2 - m2 * y2 * c2 * w**2 + (m1 + m2) * g * s1,
                (m1 * y1 + m2 * r1) * a[0] + m2 * y2 * c2 * al - m2 * y2 * s2 * w**2 + (m1 + m2) * g * c1,
                0,
            ],
            m2 * outer(y2),
        ),
        "mu": (
            (case.I_1 + m2 * r1**2 + m1 * y1**2 + m2 * r1 * y2 * c2) * a[0]
            + (case.I_2 + m2 * r1 * y2 * c2 + m2 * y2**2) * al
            + m2 * r1 * y2 * s2 * v[0] ** 2
            - m2 * r1 * y2 * s2 * w**2
            + (m1 * y1 + m2 * r1) * g * c1
            + m2 * y2 * g * c12,
            (case.I_2 + m2 * y2**2) * al + m2 * r1 * y2 * (c2 * a[0] + s2 * v[0] ** 2) + m2 * y2 * g * c12,
        ),
    }


@seeded
def test_planar_arm_has_the_printed_frames_and_arms(arm, seed):
    # "Definizione vettori e matrici"
    case, q, _, _ = planar_case(seed)
    X_1, X_2 = (case.number(arm.pose(q, link)) for link in ("link1", "link2"))
    for R, angle in ((X_1[:3, :3], q[0]), (X_1[:3, :3].T @ X_2[:3, :3], q[1])):
        close(R, [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    close(X_1[:3, :3].T @ X_1[:3, 3], [case.a_1, 0, 0])
    close(X_2[:3, :3].T @ (X_2[:3, 3] - X_1[:3, 3]), [case.a_2, 0, 0])
    for k, length, l in ((1, case.a_1, case.l_1), (2, case.a_2, case.l_2)):
        com = case.number(arm.model.bodies[k].inertia.com - arm.model.frames[f"link{k}"].pose.p)
        close(com, [l - length, 0, 0])


@seeded
def test_planar_arm_forward_recursion_has_every_printed_quantity(arm, seed):
    case, q, v, a = planar_case(seed)
    printed = planar_quantities(case, q, v, a)
    d = arm.description
    for k in (1, 2):  # the centre of mass as a frame of its own
        d.add_link(f"com{k}", f"link{k}", origin=Pose.translation(d.link(f"link{k}").mass_properties.com))
    marked = dy.Robot(d)
    up = np.array([0, case.g, 0])  # p̈_0 − g_0
    for k in (1, 2):
        R = case.number(marked.pose(q, f"link{k}"))[:3, :3]
        velocity = case.number(marked.velocity(q, v, f"link{k}"))
        link, com = (case.number(marked.acceleration(q, v, a, f"{name}{k}")) for name in ("link", "com"))
        close(R.T @ velocity[3:], printed["w"][k - 1])
        close(R.T @ link[3:], printed["w_dot"][k - 1])
        close(R.T @ (link[:3] + up), printed["p_ddot"][k - 1])
        close(R.T @ (com[:3] + up), printed["c_ddot"][k - 1])


@seeded
def test_planar_arm_backward_recursion_has_every_printed_quantity(arm, seed):
    case, q, v, a = planar_case(seed)
    printed = planar_quantities(case, q, v, a)
    tau, F = joint_wrenches(arm.model, q, v, a)
    for k in (1, 2):
        wrench = case.number(F[k])
        close(wrench[:3], printed["f"][k - 1])
        close(wrench[5], printed["mu"][k - 1])
    close(case.number(tau), printed["mu"])  # τ_i = μ_iᵀ z: both joints turn about z
    close(printed["mu"], case.torque(q, v, a))  # as found by Lagrange


# "Lagrange vs. Newton-Eulero"


@pytest.mark.parametrize("name", CHAINS)
def test_lagrange_and_newton_euler_give_the_same_torques(name):
    robot, q, v, a = chain_state(name)
    robot = robot.replace(friction=0)
    close(lagrange(robot.model, q, v, a), robot.inverse_dynamics(q, v, a), 1e-11)


# "Calcolo della dinamica diretta ed inversa"


def test_newton_euler_without_acceleration_gives_the_bias_and_unit_accelerations_the_columns_of_b():
    robot = dy.load("puma560")
    q, v, tau = robot.random(2), *np.random.default_rng(3).uniform(-1, 1, (2, 6))
    rest = np.zeros(6)
    n = robot.inverse_dynamics(q, v, rest)
    m = robot.model
    friction = m.viscous * v + m.coulomb * np.sign(v) + m.coulomb_bias
    close(n, robot.coriolis_matrix(q, v) @ v + robot.gravity(q) + friction)
    close(n, robot.bias(q, v))
    weightless = robot.replace(gravity=(0, 0, 0))
    B = np.column_stack([weightless.inverse_dynamics(q, rest, unit) for unit in np.eye(6)])
    close(B, robot.mass_matrix(q))
    close(robot.forward_dynamics(q, v, tau), np.linalg.solve(B, tau - n), 1e-10)


def test_direct_and_inverse_dynamics_undo_each_other():
    robot = dy.load("puma560")
    q, v, a = robot.random(4), *np.random.default_rng(5).uniform(-1, 1, (2, 6))
    close(robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a)), a, 1e-10)


# "Modello dinamico nello spazio operativo"


def operational(robot, seed):
    """(q, v, h, J_A, J̇_A) away from singularities; J̇_A by differentiating J_A."""
    x, x_dot = symbols("q", robot.n), symbols("v", robot.n)
    rng = np.random.default_rng(seed)
    q, v = robot.random(rng), rng.uniform(-1, 1, robot.n)
    while np.linalg.svd(robot.analytic_jacobian(q, orientation="zyz"))[1][-1] < 0.05:
        q = robot.random(rng)
    J = robot.analytic_jacobian(x, orientation="zyz")
    J, J_dot = (number(e, state_values(q=q, v=v)) for e in (J, along_motion(J, x, x_dot)))
    return q, v, rng.uniform(-1, 1, 6), J, J_dot


def test_operational_space_model_is_equivalent_to_the_joint_space_model():
    robot = dy.load("ur5e")
    q, v, h, J, J_dot = operational(robot, 6)
    B, C, g = robot.mass_matrix(q), robot.coriolis_matrix(q, v), robot.gravity(q)
    J_inv, h_A = np.linalg.inv(J), np.linalg.solve(J.T, robot.jacobian(q).T @ h)
    gamma = np.arange(1.0, 7.0)
    a = robot.forward_dynamics(q, v, J.T @ gamma, {"tool0": -h})
    x_ddot = J @ a + J_dot @ v
    B_A = np.linalg.inv(J @ np.linalg.inv(B) @ J.T)
    close(B_A, J_inv.T @ B @ J_inv, 1e-9)
    coriolis = B_A @ J @ np.linalg.solve(B, C @ v) - B_A @ J_dot @ v
    close(coriolis, J_inv.T @ C @ v - B_A @ J_dot @ v, 1e-9)
    g_A = J_inv.T @ g
    close(B_A @ x_ddot + coriolis + g_A, gamma - h_A, 1e-9)
    B_inv = np.linalg.inv(B)
    close(x_ddot, J_dot @ v - J @ B_inv @ (C @ v + g) + J @ B_inv @ J.T @ (gamma - h_A), 1e-9)


def test_operational_space_model_holds_formally_for_a_redundant_robot():
    robot = dy.load("panda").replace(friction=0)
    q, v, _, J, J_dot = operational(robot, 7)
    B, C, g = robot.mass_matrix(q), robot.coriolis_matrix(q, v), robot.gravity(q)
    gamma = np.arange(1.0, 7.0)
    x_ddot = J @ robot.forward_dynamics(q, v, J.T @ gamma) + J_dot @ v
    B_A = np.linalg.inv(J @ np.linalg.inv(B) @ J.T)
    coriolis = B_A @ J @ np.linalg.solve(B, C @ v) - B_A @ J_dot @ v
    close(B_A @ x_ddot + coriolis + B_A @ J @ np.linalg.solve(B, g), gamma, 1e-9)
