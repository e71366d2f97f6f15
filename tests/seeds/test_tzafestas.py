"""K. Tzafestas, "Static and dynamic analysis of robot manipulators" (NTUA); numbers in comments are slides."""

import numpy as np
import pytest
from seed_formulas import SEEDS, along_motion, close, number, planar_case, state_values, symbols

import dynamis as dy
from dynamis.algorithms.jacobian import com_jacobian
from dynamis.algorithms.kinematics import relative_poses, world_poses
from dynamis.algorithms.newton_euler import joint_wrenches
from dynamis.algorithms.statics import static_forces
from dynamis.scalar import gradient, jacobian
from dynamis.spatial import Inertia, from_rpy, skew

seeded = pytest.mark.parametrize("seed", SEEDS)
Q, V, A = symbols("q"), symbols("v"), symbols("a")
cross = np.cross


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r")


@pytest.fixture(scope="module", params=["ur5e", "stanford"])
def robot(request):
    """A six-axis arm; the second has a sliding joint."""
    return dy.load(request.param)


def world(robot, q):
    return world_poses(robot.model, relative_poses(robot.model, q))


# statics


def test_every_link_is_in_static_equilibrium(robot):
    # 3: forces and moments about each centre of mass
    q, m = robot.random(1), robot.model
    W = np.arange(1.0, 7.0)  # on the last body, in its frame
    X_W = world(robot, q)
    _, f, N = static_forces(m, q, {m.n: W})
    on_environment = -X_W[m.n].R @ W[:3], -X_W[m.n].R @ W[3:]
    for i, body in m.moving:
        f_next, N_next, p_next = (f[i + 1], N[i + 1], X_W[i + 1].p) if i < m.n else (*on_environment, X_W[i].p)
        c = X_W[i].R @ body.inertia.com + X_W[i].p
        close(f[i] - f_next + body.inertia.mass * m.gravity, np.zeros(3))
        moments = N[i] - N_next - cross(c - X_W[i].p, f[i]) + cross(-(c - p_next), -f_next)
        close(moments, np.zeros(3), 1e-11)


def test_joint_actions_are_the_components_of_force_or_moment_along_their_axes(robot):
    # 3, 4
    q, m = robot.random(2), robot.model
    tau, f, N = static_forces(m, q)
    X_W = world(robot, q)
    for i, body in m.moving:
        b = X_W[i].R @ body.motion.axis
        close(tau[i - 1], b @ (N if m.coordinates[i - 1].revolute else f)[i])
    close(tau, robot.gravity(q))


def test_static_torque_is_j_transpose_times_the_wrench_of_the_robot(robot):
    # 3, 5: τ = JᵀF = −JᵀF_ext without weight; our wrench is F_ext
    q, F = robot.random(3), np.arange(1.0, 7.0)
    weightless, tip = robot.replace(gravity=(0, 0, 0)), robot.model.frame()
    close(weightless.static_torque(q, {tip.name: -F}), robot.jacobian(q).T @ F)
    close(robot.static_torque(q, {tip.name: F}), robot.gravity(q) - robot.jacobian(q).T @ F)


def test_virtual_work_of_torques_and_external_wrench_is_zero(robot):
    # 5
    q, F_ext = robot.random(4), np.arange(1.0, 7.0)
    tau = robot.replace(gravity=(0, 0, 0)).static_torque(q, {robot.model.frame().name: F_ext})
    for dq in np.random.default_rng(5).uniform(-1, 1, (5, 6)):
        assert abs((robot.jacobian(q) @ dq) @ F_ext + dq @ tau) < 1e-11


@seeded
def test_static_model_of_the_planar_arm(arm, seed):
    # 6
    c, q, F, _ = planar_case(seed)
    s1, c1, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(q.sum()), np.cos(q.sum())
    J = np.array([[-(c.a_1 * s1 + c.a_2 * s12), -c.a_2 * s12], [c.a_1 * c1 + c.a_2 * c12, c.a_2 * c12]])
    close(c.number(arm.jacobian(q)[:2]), J)
    weightless = arm.replace(gravity=(0, 0, 0))
    close(c.number(weightless.static_torque(q, {"link2": [*-F, 0, 0, 0, 0]})), J.T @ F)


def null_space(J):
    U, values, Vt = np.linalg.svd(J)
    rank = int((values > 1e-10).sum())
    return U[:, :rank], U[:, rank:], Vt[:rank].T, Vt[rank:].T


def test_ranges_and_null_spaces_of_kinematics_and_statics_are_orthogonal_complements():
    # 7: on a redundant robot, and on a stretched arm that has lost a direction
    panda, stretched = dy.load("panda"), dy.load("planar_2r_melchiorri")
    for J in (panda.jacobian(panda.random(6)), stretched.jacobian([0.4, 0.0])[:2]):
        range_J, null_JT, range_JT, null_J = null_space(J)
        m, n = J.shape
        close(J @ null_J, np.zeros((m, null_J.shape[1])), 1e-10)
        close(J.T @ null_JT, np.zeros((n, null_JT.shape[1])), 1e-10)
        close(null_J.T @ range_JT, np.zeros((null_J.shape[1], range_JT.shape[1])), 1e-10)
        close(null_JT.T @ range_J, np.zeros((null_JT.shape[1], range_J.shape[1])), 1e-10)
        assert null_J.shape[1] + range_JT.shape[1] == n
        assert null_JT.shape[1] + range_J.shape[1] == m


def test_a_force_in_the_null_space_of_j_transpose_needs_no_torque():
    # 7: the stretched arm resists a pull along itself without its motors
    robot = dy.load("planar_2r_melchiorri").replace(gravity=(0, 0, 0))
    pull = [np.cos(0.4), np.sin(0.4), 0, 0, 0, 0]
    close(robot.static_torque([0.4, 0.0], {"link2": pull}), [0, 0])


def test_compliance_and_stiffness_at_the_tip_are_those_of_joint_springs():
    # 8: an arm on springs, pushed gently
    d = dy.load("planar_2r_melchiorri").description
    d.gravity = np.zeros(3)
    q, k = np.array([0.3, 0.9]), np.array([200.0, 50.0])
    for joint, stiffness, rest in zip(d.joints, k, q, strict=True):
        joint.drive.stiffness, joint.drive.rest = stiffness, rest
    robot = dy.Robot(d)
    J = robot.jacobian(q)[:2]
    compliance = J @ np.diag(1 / k) @ J.T
    F = 1e-6 * np.array([3.0, -2.0])  # exerted on the arm
    dq = J.T @ F / k
    close(robot.inverse_dynamics(q + dq, [0, 0], [0, 0], {"link2": [*F, 0, 0, 0, 0]}) / 1e-6, [0, 0], 1e-5)
    moved = robot.pose(q + dq)[:2, 3] - robot.pose(q)[:2, 3]
    np.testing.assert_allclose(moved, compliance @ F, rtol=1e-5)
    close(np.linalg.inv(compliance) @ (J @ dq), F)


# Newton–Euler


def test_newton_and_euler_equations_of_every_link(robot):
    # 10, in the axes of the base
    rng, m = np.random.default_rng(7), robot.model
    q, v, a = robot.random(rng), *rng.uniform(-1, 1, (2, 6))
    x, x_dot, x_ddot = (symbols(s, 6) for s in "qva")
    X_W, F = world(robot, q), joint_wrenches(m, q, v, a)[1]
    names = {i: f.name for f in m.frames.values() for i in (f.body,) if i}
    at = state_values(q=q, v=v, a=a)
    for i, body in m.moving:
        R, f, N = X_W[i].R, X_W[i].R @ F[i][:3], X_W[i].R @ F[i][3:]
        arm, com = R @ body.inertia.com, X_W[i].R @ body.inertia.com + X_W[i].p
        # linear and angular momentum, differentiated rather than taken from the recursion
        pose = world(robot, x)[i]
        v_C = along_motion(pose.R @ body.inertia.com + pose.p, x, x_dot)
        w = robot.velocity(x, x_dot, names[i])[3:]
        G = pose.R @ body.inertia.tensor_about_com @ pose.R.T @ w
        E_dot = body.inertia.mass * number(along_motion(v_C, x, x_dot, x_ddot), at)
        G_dot = number(along_motion(G, x, x_dot, x_ddot), at)
        f_next = X_W[i + 1].R @ F[i + 1][:3] if i < m.n else np.zeros(3)
        N_next = X_W[i + 1].R @ F[i + 1][3:] if i < m.n else np.zeros(3)
        r_next = com - X_W[i + 1].p if i < m.n else arm
        close(f - f_next + body.inertia.mass * m.gravity, E_dot, 1e-11)
        close(N - N_next - cross(arm, f) + cross(r_next, f_next), G_dot, 1e-11)
        I, omega, alpha = R @ body.inertia.tensor_about_com @ R.T, number(w, at), robot.acceleration(q, v, a, names[i])[3:]
        close(G_dot, I @ alpha + cross(omega, I @ omega), 1e-11)


def test_rotation_matrix_changes_by_the_cross_product_with_the_angular_velocity(robot):
    # 12
    q, v = robot.random(8), np.random.default_rng(9).uniform(-1, 1, 6)
    x, x_dot = symbols("q", 6), symbols("v", 6)
    R_dot = number(along_motion(robot.pose(x)[:3, :3], x, x_dot), state_values(q=q, v=v))
    close(R_dot, skew(robot.velocity(q, v)[3:]) @ robot.pose(q)[:3, :3])


def test_tensor_is_the_integral_of_squares_and_turns_with_the_body():
    # 10, 11: angular momentum Σ m r × (ω × r) = I ω, in any axes
    rng = np.random.default_rng(10)
    masses, r, w = rng.uniform(0.1, 1, 6), rng.uniform(-1, 1, (6, 3)), rng.uniform(-1, 1, 3)
    r = r - masses @ r / masses.sum()
    x, y, z = r.T
    I = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, r, strict=True))
    close(masses @ cross(r, cross(w, r)), I @ w)
    close([I[0, 0], I[0, 1], I[2, 0]], [masses @ (y**2 + z**2), -masses @ (x * y), -masses @ (z * x)])
    R = from_rpy((0.2, 0.7, -0.4))
    turned = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, r @ R.T, strict=True))
    close(turned, R @ I @ R.T)
    body = Inertia(masses.sum(), np.zeros(3), I)
    close(body.apply(np.concatenate([np.zeros(3), w]))[3:], I @ w)


def test_double_cross_product_expands_into_dot_products():
    # 10
    a, b, c = np.random.default_rng(11).uniform(-1, 1, (3, 3))
    close(cross(a, cross(b, c)), (a @ c) * b - (a @ b) * c)


# Lagrange


def test_velocities_depend_on_rates_as_positions_on_coordinates(arm):
    # 14, (3)
    case, q, v, _ = planar_case(0)
    p = world(arm, Q)[2].p
    p_dot = along_motion(p, Q, V)
    close(case.number(jacobian(p_dot, list(V)), q=q, v=v), case.number(jacobian(p, list(Q)), q=q))


def test_conservative_forces_act_on_the_coordinates_as_minus_the_gradient(robot):
    # 15, 19: g_i sees only the links at or beyond joint i
    q, m = robot.random(12), robot.model
    x = symbols("q", 6)
    dP = number(gradient(robot.potential_energy(x), list(x)), state_values(q=q))
    X_W = world(robot, q)
    jacobians = [com_jacobian(m, X_W, i)[0] for i, _ in m.moving]
    close(dP, sum(-body.inertia.mass * m.gravity @ J for (_, body), J in zip(m.moving, jacobians, strict=True)))
    close(robot.gravity(q), dP)
    for j, J in enumerate(jacobians):
        close(J[:, j + 1 :], np.zeros((3, 5 - j)))


def test_generalised_actions_follow_from_the_energies(robot):
    # 13 to 15: τ = d/dt ∂K/∂q̇ − ∂K/∂q + ∂P/∂q, and from L = K − P
    rng = np.random.default_rng(13)
    q, v, a = robot.random(rng), *rng.uniform(-1, 1, (2, 6))
    x, x_dot, x_ddot = (symbols(s, 6) for s in "qva")
    K, P = robot.kinetic_energy(x, x_dot), robot.potential_energy(x)
    momentum = along_motion(gradient(K, list(x_dot)), x, x_dot, x_ddot)
    tau = number(momentum - gradient(K, list(x)) + gradient(P, list(x)), state_values(q=q, v=v, a=a))
    close(robot.inverse_dynamics(q, v, a), tau, 1e-11)
    L = K - P
    by_L = along_motion(gradient(L, list(x_dot)), x, x_dot, x_ddot) - gradient(L, list(x))
    close(number(by_L, state_values(q=q, v=v, a=a)), tau, 1e-11)


def test_inertia_matrix_is_the_sum_over_links(robot):
    # 16, 17
    q, v = robot.random(14), np.random.default_rng(15).uniform(-1, 1, 6)
    X_W, D = world(robot, q), np.diag(robot.model.rotor)
    for i, body in robot.model.moving:
        J_L, J_A = com_jacobian(robot.model, X_W, i)
        I = X_W[i].R @ body.inertia.tensor_about_com @ X_W[i].R.T
        D = D + body.inertia.mass * J_L.T @ J_L + J_A.T @ I @ J_A
    close(robot.mass_matrix(q), D)
    close(robot.kinetic_energy(q, v), 0.5 * v @ D @ v)


def test_c_by_the_terms_h_is_valid_but_not_the_one_with_skew_symmetry(robot):
    # 18 to 20: h_i = Σ h_ijk q̇_j q̇_k, C_ij = Σ h_ijk q̇_k
    q, (v, w) = robot.random(16), np.random.default_rng(17).uniform(-1, 1, (2, 6))
    x = symbols("q", 6)
    dD = number(jacobian(robot.mass_matrix(x), list(x)), state_values(q=q))
    C = (dD - 0.5 * np.einsum("jki->ijk", dD)) @ v
    close(C @ v, robot.coriolis_matrix(q, v) @ v, 1e-11)
    close(C @ v, dD @ v @ v - 0.5 * np.einsum("j,jki,k->i", v, dD, v), 1e-11)
    N = dD @ v - 2 * C
    assert abs(v @ N @ v) < 1e-11
    assert abs(w @ N @ w) > 1e-3


def test_external_wrench_enters_with_a_minus_on_the_side_of_the_torques(robot):
    # 20
    rng, tip = np.random.default_rng(18), robot.model.frame().name
    q, v, a = robot.random(rng), *rng.uniform(-1, 1, (2, 6))
    F_e = np.arange(1.0, 7.0)
    close(robot.inverse_dynamics(q, v, a, {tip: F_e}), robot.inverse_dynamics(q, v, a) - robot.jacobian(q).T @ F_e, 1e-11)


# the planar arm, 21 to 23


@seeded
def test_planar_arm_has_the_printed_inertia_velocities_and_energies(arm, seed):
    c, q, v, _ = planar_case(seed)
    c2, s1, s12, c1, c12 = np.cos(q[1]), np.sin(q[0]), np.sin(q.sum()), np.cos(q[0]), np.cos(q.sum())
    close(c.number(arm.mass_matrix(q)), c.mass_matrix(q))
    v_c2 = [-v[0] * (c.a_1 * s1 + c.l_2 * s12) - v[1] * c.l_2 * s12, v[0] * (c.a_1 * c1 + c.l_2 * c12) + v[1] * c.l_2 * c12, 0]
    close(c.number(com_jacobian(arm.model, world(arm, q), 2)[0]) @ v, v_c2)
    square = v[0] ** 2 * (c.a_1**2 + c.l_2**2 + 2 * c.a_1 * c.l_2 * c2) + v[1] ** 2 * c.l_2**2
    square += 2 * v[0] * v[1] * (c.l_2**2 + c.a_1 * c.l_2 * c2)
    close(np.dot(v_c2, v_c2), square)
    T, U = arm.link_energies(q, v)
    close(c.number(T), [0.5 * (c.m_1 * c.l_1**2 + c.I_1) * v[0] ** 2, 0.5 * c.m_2 * square + 0.5 * c.I_2 * v.sum() ** 2])
    close(c.number(U), [c.m_1 * c.g * c.l_1 * s1, c.m_2 * c.g * (c.a_1 * s1 + c.l_2 * s12)])


@seeded
def test_planar_arm_first_equation_follows_step_by_step(arm, seed):
    c, q, v, a = planar_case(seed)
    K, P = arm.kinetic_energy(Q, V), arm.potential_energy(Q)
    D = c.mass_matrix(q)
    momentum = gradient(K, list(V))
    close(c.number(momentum[0], q=q, v=v), D[0] @ v)
    h = c.h(q)
    rate = D[0] @ a + 2 * h * v[0] * v[1] + h * v[1] ** 2
    close(c.number(along_motion(momentum, Q, V, A)[0], q=q, v=v, a=a), rate)
    close(c.number(gradient(K, list(Q))[0], q=q, v=v), 0.0)
    g_1 = c.m_1 * c.g * c.l_1 * np.cos(q[0]) + c.m_2 * c.g * (c.a_1 * np.cos(q[0]) + c.l_2 * np.cos(q.sum()))
    close(c.number(gradient(P, list(Q))[0], q=q), g_1)
    close(c.number(arm.inverse_dynamics(q, v, a)[0]), rate + g_1)
