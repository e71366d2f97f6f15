"""C. Melchiorri, "Dynamic model" (Università di Bologna); numbers in comments are slides."""

import numpy as np
import pytest
from seed_formulas import SEEDS, STUDY, along_motion, close, number, planar_case, random_values, state_values, symbols

import dynamis as dy
from dynamis.algorithms.jacobian import com_jacobian
from dynamis.algorithms.kinematics import relative_poses, world_poses
from dynamis.scalar import gradient, jacobian
from dynamis.spatial import Inertia, Pose, from_rpy, skew, solids, steiner

seeded = pytest.mark.parametrize("seed", SEEDS)
Q, V, A = symbols("q"), symbols("v"), symbols("a")
FRICTION = (0.0, 30.0, 80.0)  # the three settings of slide 61


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r")


@pytest.fixture(scope="module")
def ur5e():
    return dy.load("ur5e")


def state(robot, seed):
    rng = np.random.default_rng(seed)
    return robot.random(rng), *rng.uniform(-1, 1, (2, robot.n))


# 2, 4: the two models


def test_direct_and_inverse_models_undo_each_other_also_under_contact(ur5e):
    q, v, a = state(ur5e, 1)
    contact = {"tool0": np.arange(6.0)}
    close(ur5e.forward_dynamics(q, v, ur5e.inverse_dynamics(q, v, a, contact), contact), a, 1e-10)


# 10 to 18: kinetic energy of a rigid body


@pytest.fixture(scope="module")
def points():
    """(masses, positions from the centre of mass, the body as an inertia)."""
    rng = np.random.default_rng(2)
    masses, r = rng.uniform(0.1, 1.0, 7), rng.uniform(-0.5, 0.5, (7, 3))
    r = r - masses @ r / masses.sum()
    tensor = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, r, strict=True))
    return masses, r, Inertia(masses.sum(), np.zeros(3), tensor)


def test_konig_kinetic_energy_is_that_of_the_centre_of_mass_plus_that_of_the_turning(points):
    masses, r, body = points
    v_C, w = np.random.default_rng(3).uniform(-1, 1, (2, 3))
    K = 0.5 * masses @ np.sum((v_C + np.cross(w, r)) ** 2, axis=1)
    close(0.5 * body.mass * v_C @ v_C + 0.5 * w @ body.tensor @ w, K)
    V = np.concatenate([v_C, w])
    close(0.5 * V @ body.apply(V), K)


def test_euler_matrix_and_inertia_matrix_give_the_same_turning_energy(points):
    masses, r, body = points
    w = np.random.default_rng(4).uniform(-1, 1, 3)
    J = np.einsum("k,ki,kj->ij", masses, r, r)
    close(np.trace(skew(w) @ J @ skew(w).T), w @ body.tensor @ w)
    close(body.tensor, np.trace(J) * np.eye(3) - J)
    close(body.pseudo_inertia[:3, :3], J)


def test_velocity_of_a_point_has_the_same_form_in_the_axes_of_the_body():
    R, (v_C, w, r) = from_rpy((0.3, -0.5, 1.1)), np.random.default_rng(5).uniform(-1, 1, (3, 3))
    close(R.T @ (v_C + np.cross(w, r)), R.T @ v_C + np.cross(R.T @ w, R.T @ r))


def test_kinetic_energy_is_invariant_under_a_change_of_frame(points):
    body, pose = points[2], Pose(from_rpy((0.3, -0.5, 1.1)), np.array([0.2, -0.1, 0.4]))
    V = np.random.default_rng(6).uniform(-1, 1, 6)
    turned = body.seen_from(Pose(pose.R, np.zeros(3)))
    close(turned.tensor, pose.R @ body.tensor @ pose.R.T)
    moved, there = body.seen_from(pose), pose.twist_outward(V)
    close(there @ moved.apply(there), V @ body.apply(V))


def test_parallelepiped_and_hollow_cylinder_have_the_tabulated_inertias():
    # 15; the table's axis of symmetry is x, ours z
    m, a, b, c, h = 3.0, 0.5, 0.3, 0.2, 0.8
    expected = m / 12 * np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2])
    close(solids.box(a, b, c, mass=m).tensor, np.diag(expected))
    along, across = m / 2 * (a**2 + b**2), m / 12 * (3 * (a**2 + b**2) + h**2)
    tube = solids.hollow_cylinder(a, b, h, mass=m)
    close(tube.tensor, np.diag([across, across, along]))
    # single-axis translation to the end of the tube
    close(tube.seen_from(Pose.translation((0, 0, h / 2))).tensor[0, 0], across + m * (h / 2) ** 2)


def test_steiner_theorem(points):
    p, body = np.array([0.3, -0.2, 0.5]), points[2]
    shift = body.mass * (p @ p * np.eye(3) - np.outer(p, p))
    close(steiner(body.mass, p), shift)
    close(body.seen_from(Pose.translation(p)).tensor, body.tensor + shift)


# 19 to 29: the manipulator


def test_energies_add_over_links_and_make_the_inertia_matrix(ur5e):
    # 18 to 21; the slides' g points upwards, ours downwards
    q, v, _ = state(ur5e, 7)
    m = ur5e.model
    X_W, M, P = world_poses(m, relative_poses(m, q)), np.zeros((6, 6)), []
    K = []
    for i, body in m.moving:
        J_v, J_w = com_jacobian(m, X_W, i)
        v_C, w, R, I = J_v @ v, J_w @ v, X_W[i].R, body.inertia.tensor_about_com
        K.append(0.5 * body.inertia.mass * v_C @ v_C + 0.5 * w @ R @ I @ R.T @ w)
        M += body.inertia.mass * J_v.T @ J_v + J_w.T @ R @ I @ R.T @ J_w
        P.append(-m.gravity @ (R @ body.inertia.com + X_W[i].p) * body.inertia.mass)
    T, U = ur5e.link_energies(q, v)
    close(T, K)
    close(U, P)
    close(ur5e.mass_matrix(q), M)
    close(ur5e.kinetic_energy(q, v), 0.5 * v @ M @ v)
    assert np.linalg.eigvalsh(M)[0] > 0


def test_lagrange_equations_become_the_sums_over_h(ur5e):
    # 22 to 25, with h_kji = ∂M_kj/∂q_i − ½ ∂M_ij/∂q_k and contact on the right-hand side
    q, v, a = state(ur5e, 8)
    x = symbols("q", 6)
    dM = number(jacobian(ur5e.mass_matrix(x), list(x)), state_values(q=q))
    h = dM - 0.5 * np.einsum("ijk->kji", dM)
    close(np.einsum("kkk->k", h), np.zeros(6))
    F_c = np.arange(1.0, 7.0)
    tau = ur5e.mass_matrix(q) @ a + np.einsum("kji,i,j->k", h, v, v) + ur5e.gravity(q) - ur5e.jacobian(q).T @ F_c
    close(ur5e.inverse_dynamics(q, v, a, {"tool0": F_c}), tau, 1e-11)


def test_diagonal_inertia_is_the_moment_about_the_joint_axis_with_the_others_blocked(ur5e):
    # 24
    q = ur5e.random(9)
    X_W, M = world_poses(ur5e.model, relative_poses(ur5e.model, q)), ur5e.mass_matrix(q)
    for k, joint in ur5e.model.moving:
        z = X_W[k].R @ joint.motion.axis
        moment = 0.0
        for i, body in list(ur5e.model.moving)[k - 1 :]:
            arm = X_W[i].R @ body.inertia.com + X_W[i].p - X_W[k].p
            I = X_W[i].R @ body.inertia.tensor_about_com @ X_W[i].R.T
            moment += z @ I @ z + body.inertia.mass * np.sum(np.cross(z, arm) ** 2)
        close(M[k - 1, k - 1], moment)


def test_christoffel_symbols_are_symmetric_in_their_two_velocities(ur5e):
    # 27: the slides' c_ijk is our c[k, j, i]
    c = ur5e.christoffel(ur5e.random(10))
    close(c, np.einsum("kji->kij", c))


def test_n_is_skew_symmetric(ur5e):
    # 28, 29
    q, v, x = state(ur5e, 11)
    N = ur5e.mass_matrix_dot(q, v) - 2 * ur5e.coriolis_matrix(q, v)
    close(N, -N.T)
    assert abs(x @ N @ x) < 1e-12


def test_n_does_no_work_on_the_velocity_for_any_choice_of_c(ur5e):
    # 30, 31: add to C any matrix that annihilates q̇
    q, v, x = state(ur5e, 12)
    C = ur5e.coriolis_matrix(q, v) + np.outer(np.ones(6), x - v * (x @ v) / (v @ v))
    N = ur5e.mass_matrix_dot(q, v) - 2 * C
    assert abs(v @ N @ v) < 1e-12
    assert abs(x @ N @ x) > 1e-3


# 33, 34: pendulum


@seeded
def test_pendulum_has_the_printed_energies_and_equation(seed):
    robot, rng = dy.load("pendulum_from_vertical"), np.random.default_rng(seed)
    at = random_values(rng, ("g", "I", "m", "L", "d"))
    th, w, a = rng.uniform(-2, 2, 3)
    weight = at["m"] * at["g"] * at["L"]
    close(number(robot.kinetic_energy([th], [w]), at), 0.5 * at["I"] * w**2)
    rise = number(robot.potential_energy([th]), at) - number(robot.potential_energy([0.0]), at)
    close(rise, weight * (1 - np.cos(th)))
    close(number(robot.inverse_dynamics([th], [w], [a]), at), [at["I"] * a + at["d"] * w + weight * np.sin(th)])


# 35 to 43: planar arm


@seeded
def test_planar_arm_has_the_energies_of_the_classic_approach(arm, seed):
    c, q, v, _ = planar_case(seed)
    s1, s12, both = np.sin(q[0]), np.sin(q.sum()), v.sum()
    square = c.a_1**2 * v[0] ** 2 + c.l_2**2 * both**2 + 2 * c.a_1 * c.l_2 * np.cos(q[1]) * (v[0] ** 2 + v[0] * v[1])
    p_dot = c.com_jacobians(q)[1] @ v
    close(p_dot @ p_dot, square)
    K = [0.5 * (c.m_1 * c.l_1**2 + c.I_1) * v[0] ** 2, 0.5 * c.m_2 * square + 0.5 * c.I_2 * both**2]
    P = [c.m_1 * c.g * c.l_1 * s1, c.m_2 * c.g * (c.a_1 * s1 + c.l_2 * s12)]
    T, U = arm.link_energies(q, v)
    close(c.number(T), K)
    close(c.number(U), P)
    close(c.number(arm.potential_energy(q)), (c.m_1 * c.l_1 + c.m_2 * c.a_1) * c.g * s1 + c.m_2 * c.g * c.l_2 * s12)


@seeded
def test_planar_arm_has_the_same_equations_by_both_approaches(arm, seed):
    c, q, v, a = planar_case(seed)
    T, U = arm.kinetic_energy(Q, V), arm.potential_energy(Q)
    classic = along_motion(gradient(T, list(V)), Q, V, A) - gradient(T, list(Q)) + gradient(U, list(Q))
    close(c.number(classic, q=q, v=v, a=a), c.torque(q, v, a))
    structural = arm.mass_matrix(q) @ a + arm.coriolis_matrix(q, v) @ v + arm.gravity(q)
    close(c.number(structural), c.torque(q, v, a))
    close(c.mass_matrix(q) @ a + c.coriolis_matrix(q, v) @ v + c.gravity(q), c.torque(q, v, a))


@seeded
def test_planar_arm_has_the_printed_symbols_c_and_n(arm, seed):
    case, q, v, _ = planar_case(seed)
    c, h = case.number(arm.christoffel(q)), case.h(q)
    slides = {(1, 1, 1): 0, (1, 2, 1): h, (2, 1, 1): h, (2, 2, 1): h, (1, 1, 2): -h, (1, 2, 2): 0, (2, 1, 2): 0, (2, 2, 2): 0}
    for (i, j, k), expected in slides.items():
        close(c[k - 1, j - 1, i - 1], expected)
    N = case.number(arm.mass_matrix_dot(q, v) - 2 * arm.coriolis_matrix(q, v))
    n = 2 * h * v[0] + h * v[1]
    close(N, [[0, -n], [n, 0]])


# 57 to 62: dir2dyn.m


def dir2dyn(p, q, dq, tau, tauint, D):
    """The direct dynamic model of the Matlab block."""
    c1, c2, s2, c12 = np.cos(q[0]), np.cos(q[1]), np.sin(q[1]), np.cos(q[0] + q[1])
    M11 = p.I_1 + p.I_2 + p.l_1**2 * p.m_1 + p.m_2 * (p.a_1**2 + p.l_2**2 + 2 * p.a_1 * p.l_2 * c2)
    M12, M22 = p.I_2 + p.m_2 * (p.l_2**2 + p.a_1 * p.l_2 * c2), p.I_2 + p.l_2**2 * p.m_2
    C11, C12 = -(p.a_1 * dq[1] * s2 * p.l_2 * p.m_2), -(p.a_1 * (dq[0] + dq[1]) * s2 * p.l_2 * p.m_2)
    C = np.array([[C11, C12], [p.m_2 * p.a_1 * p.l_2 * s2 * dq[0], 0.0]])
    G = p.g * np.array([p.m_1 * p.l_1 * c1 + p.m_2 * (p.l_2 * c12 + p.a_1 * c1), p.m_2 * p.l_2 * c12])
    return np.linalg.inv([[M11, M12], [M12, M22]]) @ (tau + tauint - C @ dq - D * dq - G)


def study(D):
    robot = dy.load("planar_2r_melchiorri")
    return robot.replace(friction={name: {"viscous": D} for name in robot.joint_names})


@pytest.mark.parametrize("D", FRICTION)
def test_dir2dyn_gives_the_accelerations_of_the_library_robot(D):
    robot, rng = study(D), np.random.default_rng(13)
    for _ in range(10):
        q, v, tau, F = *rng.uniform(-3, 3, (2, 2)), *rng.uniform(-100, 100, (2, 2))
        tauint = robot.jacobian(q)[:2].T @ F
        a = robot.forward_dynamics(q, v, tau, {"link2": [*F, 0, 0, 0, 0]})
        close(a, dir2dyn(STUDY, q, v, tau, tauint, D), 1e-11)
        close(a, robot.forward_dynamics(q, v, tau + tauint), 1e-11)


@pytest.mark.parametrize("D", FRICTION)
def test_free_fall_of_the_study_loses_exactly_the_energy_of_friction(D):
    # 62: from rest at q = 0 without torque; two seconds, the dissipated energy integrated alongside
    robot = study(D)

    def rate(y):
        return np.concatenate([y[2:4], robot.forward_dynamics(y[:2], y[2:4], [0, 0]), [D * y[2:4] @ y[2:4]]])

    y, step = np.zeros(5), 0.005
    for _ in range(400):  # Runge–Kutta
        k1 = rate(y)
        k2 = rate(y + step / 2 * k1)
        k3 = rate(y + step / 2 * k2)
        y = y + step / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + step * k3))
    energy = robot.kinetic_energy(y[:2], y[2:4]) + robot.potential_energy(y[:2])
    assert abs(energy + y[4]) < 1e-3  # of the hundreds of joules exchanged
    assert (y[4] > 100.0) == (D > 0.0)
