"""Slips of the lecture notes: what the equations of motion give, and that the printed form is not it.

Conventions on which the notes disagree follow at the end. The notes: Rocco (000), Pisa (001), Melchiorri (003),
Tzafestas (004).
"""

import numpy as np
import pytest
from seed_formulas import SEEDS, along_motion, close, differs, number, planar_case, random_values, state_values, symbols

import dynamis as dy
from dynamis.algorithms.articulated_body import articulated_inertias
from dynamis.algorithms.jacobian import com_jacobian
from dynamis.algorithms.kinematics import relative_poses, world_poses
from dynamis.algorithms.newton_euler import joint_wrenches
from dynamis.scalar import jacobian
from dynamis.spatial import Pose, ad, from_rpy, solids

seeded = pytest.mark.parametrize("seed", SEEDS)
Q, V = symbols("q"), symbols("v")


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r")


# Rocco


@seeded
def test_backward_recursion_of_link_1_takes_the_mass_of_link_1(arm, seed):
    # 000, "Ricorsione all'indietro: braccio 1"; the expanded result has m_1 and is checked with the recursion
    case, q, v, a = planar_case(seed)
    f = [case.number(F[:3]) for F in joint_wrenches(arm.model, q, v, a)[1][1:]]
    c, s, (c1, s1) = np.cos(q[1]), np.sin(q[1]), (np.cos(q[0]), np.sin(q[0]))
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    p_ddot = np.array([-case.l_1 * v[0] ** 2 + case.g * s1, case.l_1 * a[0] + case.g * c1, 0])
    close(f[0], R @ f[1] + case.m_1 * p_ddot)
    differs(f[0], R @ f[1] + case.m_2 * p_ddot)


# Pisa


def two_bodies():
    box = solids.box(0.3, 0.2, 0.1, mass=2.0).seen_from(Pose(from_rpy((0.3, 0.1, 0.2)), np.array([0.1, 0.05, -0.1])))
    place = Pose(from_rpy((0.4, -0.7, 0.2)), np.array([0.5, 0.1, 0.2]))
    d = dy.Description("two bodies", gravity=np.zeros(3)).add_link("base")
    d.add_link("handle", "base", "revolute", axis=(1, 2, 2), inertia=box)
    robot = dy.Robot(d.add_link("arm", "handle", "revolute", axis=(2, -1, 2), origin=place, inertia=box))
    return robot, np.array([0.3, -0.8]), np.array([1.2, -0.7]), np.array([0.5, 0.9])


def test_acceleration_of_the_second_body_subtracts_its_bias_wrench():
    # 001, intermediate steps
    robot, q, v, tau = two_bodies()
    one, two = (body for _, body in robot.model.moving)
    A_inv = np.linalg.inv(two.pose(q).Ad())
    X, M = two.S[:, 0], two.inertia.matrix()
    a = robot.forward_dynamics(q, v, tau)
    seen = A_inv @ one.S[:, 0] * v[0]  # the base stands still, so V̇_1 = X_1 q̈_1
    V_2 = seen + X * v[1]
    b = -ad(V_2).T @ M @ V_2
    carried = A_inv @ one.S[:, 0] * a[0] - ad(X * v[1]) @ seen
    close(a[1], (tau[1] - X @ (M @ carried + b)) / (X @ M @ X), 1e-11)
    differs(a[1], (tau[1] - X @ (M @ carried - b)) / (X @ M @ X))


def test_bias_of_a_leaf_contains_its_external_wrench():
    # 001, pass 2
    robot, q, v, tau = two_bodies()
    W, two = np.arange(1.0, 7.0), robot.model.bodies[2]
    V_2 = np.linalg.inv(two.pose(q).Ad()) @ robot.model.bodies[1].S[:, 0] * v[0] + two.S[:, 0] * v[1]
    b = -ad(V_2).T @ two.inertia.matrix() @ V_2
    close(articulated_inertias(robot.model, q, v, tau, {2: W}).b_hat[2], b - W)
    a = robot.forward_dynamics(q, v, tau, {"arm": W}, axes="local")
    bias = robot.inverse_dynamics(q, v, np.zeros(2), {"arm": W}, axes="local")
    close(a, np.linalg.solve(robot.mass_matrix(q), tau - bias), 1e-11)
    differs(robot.forward_dynamics(q, v, tau), a)  # what b̂ = b would give


@pytest.fixture(params=SEEDS)
def rod_and_disc(request):
    """(symbol values, articulated quantities)."""
    robot = dy.load("rod_and_disc")
    names = ("l", "m_s", "m_D", "I_x", "I_y", "I_z", "I_Ox", "I_Oy", "I_Oz")
    at = random_values(np.random.default_rng(request.param), names)
    return at, articulated_inertias(robot.model, robot.neutral(), np.zeros(7), np.zeros(7))


def test_projected_inertia_of_the_disc_has_a_zero_about_its_axle(rod_and_disc):
    # 001, M̄_D
    at, art = rod_and_disc
    m, x, z = at["m_D"], at["I_x"], at["I_z"]
    M_bar = number(art.M_bar[2], at)
    close(M_bar, np.diag([m, m, m, x, 0, z]))
    differs(M_bar, np.diag([m, m, m, x, at["I_y"], z]))


def test_articulated_inertia_of_the_rod_about_x_contains_the_arm_of_the_disc(rod_and_disc):
    # 001, M̂_s entry (4, 4)
    at, art = rod_and_disc
    entry = number(art.M_hat[1][3, 3], at)
    close(entry, at["I_x"] + at["I_Ox"] + at["l"] ** 2 * at["m_D"])
    differs(entry, at["I_x"] + at["I_Ox"])


def test_wrench_about_y_is_the_rods_own_inertia_about_y(rod_and_disc):
    # 001, wrench of the articulated body
    at, art = rod_and_disc
    moment = (number(art.M_hat[1], at) @ [0, 0, 0, 0.7, 1.3, 0])[4]
    close(moment, at["I_Oy"] * 1.3)
    differs(moment, at["I_Ox"] * 1.3)


# Melchiorri


def test_hollow_cylinder_across_its_axis_has_the_square_of_its_length():
    # 003, slide 15: ∫ (y² + z²) dm with z along the axis; Gauss points make the polynomial integrals exact
    m, a, b, h = 3.0, 0.5, 0.3, 0.9
    x, weights = np.polynomial.legendre.leggauss(6)
    r, z = (a + b) / 2 + (a - b) / 2 * x, h / 2 * x
    ring = weights * r / (weights @ r)  # share of the mass at each radius
    across = m * (ring @ r**2 / 2 + weights @ z**2 / 2)  # ∮ sin² = ½; the weights along z add to 2
    close(across, m * (3 * (a**2 + b**2) + h**2) / 12)
    close(solids.hollow_cylinder(a, b, h, mass=m).tensor[0, 0], across)
    differs(across, m * (3 * (a**2 + b**2) + b**2) / 12)


@seeded
def test_regressor_entry_y14_has_the_square_of_the_second_velocity(arm, seed):
    # 003, slide 55
    case, q, v, a = planar_case(seed)
    tau, Y = case.number(arm.inverse_dynamics(q, v, a)), case.five_column_regressor(q, v, a)
    close(Y @ case.five_parameters, tau)
    Y[0, 3] += case.a_1 * np.sin(q[1]) * (v[1] ** 2 - v[0] ** 2)  # as printed
    differs(Y @ case.five_parameters, tau)


@seeded
def test_coupling_inertia_has_the_first_power_of_the_second_centre_of_mass(arm, seed):
    # 003, slide 54
    case, q, _, _ = planar_case(seed)
    M_12 = case.number(arm.mass_matrix(q))[0, 1]
    close(M_12, case.m_2 * (case.l_2**2 + case.a_1 * case.l_2 * np.cos(q[1])) + case.I_2)
    differs(M_12, case.m_2 * (case.l_2**2 + case.a_1 * case.l_2**2 * np.cos(q[1])) + case.I_2)


@seeded
def test_energy_derivation_has_the_rate_of_the_inertia_matrix(arm, seed):
    # 003, slide 31
    case, q, v, _ = planar_case(seed)
    M_dot = case.number(along_motion(arm.mass_matrix(Q), Q, V), q=q, v=v)
    work = v @ case.number(arm.coriolis_matrix(q, v)) @ v
    close(0.5 * v @ M_dot @ v, work)
    differs(0.5 * v @ case.number(arm.mass_matrix(q)) @ v, work)


@seeded
def test_turning_part_of_the_inertia_matrix_takes_the_second_jacobian_twice(arm, seed):
    # 003, slide 39, prints J_ω1ᵀ I_2 J_ω2 for the second term
    case, q, _, _ = planar_case(seed)
    X_W = world_poses(arm.model, relative_poses(arm.model, q))
    J_1, J_2 = (case.number(com_jacobian(arm.model, X_W, i)[1]) for i in (1, 2))
    expected = [[case.I_1 + case.I_2, case.I_2], [case.I_2, case.I_2]]
    close(case.I_1 * J_1.T @ J_1 + case.I_2 * J_2.T @ J_2, expected)
    differs(case.I_1 * J_1.T @ J_1 + case.I_2 * J_1.T @ J_2, expected)


def test_bound_of_the_coriolis_terms_needs_absolute_velocities():
    # 003, slide 51, prints |2 θ̇_1 θ̇_2 + θ̇_2² + θ̇_1²| as a bound on the way; opposite velocities break it
    robot, v_b, v = dy.load("planar_2r_melchiorri"), 50.0 * 1.0 * 0.5, np.array([1.0, -1.0])
    norm = np.abs(robot.coriolis_matrix([0.0, np.pi / 2], v) @ v).sum()
    assert norm > v_b * abs(2 * v[0] * v[1] + v[1] ** 2 + v[0] ** 2)
    assert norm <= v_b * np.abs(v).sum() ** 2


# Tzafestas


@seeded
def test_gravity_of_the_first_joint_has_the_cosine_of_its_angle(arm, seed):
    # 004, slide 21
    c, q, _, _ = planar_case(seed)
    beyond = c.m_2 * c.g * (c.a_1 * np.cos(q[0]) + c.l_2 * np.cos(q.sum()))
    g_1 = c.number(arm.gravity(q))[0]
    close(g_1, c.m_1 * c.g * c.l_1 * np.cos(q[0]) + beyond)
    differs(g_1, c.m_1 * c.g * c.l_1 + beyond)


@seeded
def test_coriolis_coefficients_of_the_second_joint_vanish(arm, seed):
    # 004, slide 21, prints h_122 = h_212 = −h_211
    case, q, _, _ = planar_case(seed)
    c, h = case.number(arm.christoffel(q)), case.h(q)
    close([c[0, 1, 1], c[0, 0, 1], c[0, 1, 0], -c[1, 0, 0]], [h] * 4)
    close([c[1, 0, 1], c[1, 1, 0]], [0, 0])
    differs(c[1, 0, 1], h)
    # nor is it so by the slides' own definition, where these two only cancel each other
    dD = case.number(jacobian(arm.mass_matrix(Q), list(Q)), q=q)
    own = dD - 0.5 * np.einsum("jki->ijk", dD)
    close([own[1, 0, 1], own[1, 1, 0]], [h / 2, -h / 2])


@seeded
def test_kinetic_energy_of_link_2_has_the_square_of_the_first_velocity(arm, seed):
    # 004, slide 23
    c, q, v, _ = planar_case(seed)

    def K_2(first):
        square = c.a_1**2 * v[0] ** 2 + c.l_2**2 * (v[0] ** 2 + v[1] ** 2) + 2 * c.l_2**2 * v[0] * v[1]
        square += 2 * c.a_1 * c.l_2 * np.cos(q[1]) * (first + v[0] * v[1])
        return 0.5 * c.m_2 * square + 0.5 * c.I_2 * v.sum() ** 2

    T_2 = c.number(arm.link_energies(q, v)[0])[1]
    close(T_2, K_2(v[0] ** 2))
    differs(T_2, K_2(v[0]))


# conventions


def test_a_wrench_is_positive_when_the_environment_exerts_it_on_the_robot():
    robot = dy.load("ur5e")
    q, (v, tau) = robot.random(1), np.random.default_rng(2).uniform(-1, 1, (2, 6))
    w = np.arange(1.0, 7.0)
    a = robot.forward_dynamics(q, v, tau, {"tool0": w})
    left = robot.mass_matrix(q) @ a + robot.bias(q, v)
    close(left, tau + robot.jacobian(q).T @ w, 1e-10)
    differs(left, tau - robot.jacobian(q).T @ w)
    # held up by the environment, an arm needs no torque
    pendulum = dy.load("pendulum_from_horizontal", parameters={"g": 10.0, "I": 2.0, "m": 1.0, "l": 1.0})
    close(pendulum.static_torque([0.0], {"pendulum": [0, 0, 0, 0, 0, 10.0]}), [0.0])


def test_c_is_the_choice_by_christoffel_symbols():
    robot = dy.load("ur5e")
    q, v = robot.random(3), np.random.default_rng(4).uniform(-1, 1, 6)
    x = symbols("q", 6)
    dM = number(jacobian(robot.mass_matrix(x), list(x)), state_values(q=q))
    christoffel = 0.5 * (dM + np.einsum("ikj->ijk", dM) - np.einsum("jki->ijk", dM))
    C = robot.coriolis_matrix(q, v)
    close(C, christoffel @ v, 1e-11)
    close(dM @ v - 2 * C, -(dM @ v - 2 * C).T, 1e-11)
    differs(C, (dM - 0.5 * np.einsum("jki->ijk", dM)) @ v)


def test_twists_wrenches_and_jacobians_have_their_linear_part_first():
    robot = dy.load("pendulum_from_horizontal", parameters={"g": 10.0, "I": 2.0, "m": 1.0, "l": 1.0})
    d = robot.description
    tipped = dy.Robot(d.add_link("tip", "pendulum", origin=Pose.translation((3.0, 0.0, 0.0))))
    close(tipped.jacobian([0.0], "tip")[:, 0], [0, 3, 0, 0, 0, 1])
    close(tipped.velocity([0.0], [2.0], "tip"), [0, 6, 0, 0, 0, 2])
    weightless = tipped.replace(gravity=(0, 0, 0))
    close(weightless.static_torque([0.0], {"tip": [0, 1, 0, 0, 0, 0]}), [-3.0])
    close(weightless.static_torque([0.0], {"tip": [0, 0, 0, 0, 0, 1]}), [-1.0])


def test_the_two_pendulums_measure_their_angle_from_the_vertical_and_from_the_horizontal():
    at = {"g": 10.0, "I": 2.0, "m": 1.0}
    vertical = dy.load("pendulum_from_vertical", parameters=at | {"L": 0.5, "d": 0.1})
    horizontal = dy.load("pendulum_from_horizontal", parameters=at | {"l": 0.5})
    th = np.linspace(-3.0, 3.0, 7)[:, None]
    close(vertical.gravity(th), 5.0 * np.sin(th))
    close(horizontal.gravity(th), 5.0 * np.cos(th))
    close(horizontal.gravity(th - np.pi / 2), vertical.gravity(th))
