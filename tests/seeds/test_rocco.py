"""P. Rocco, "Dinamica del manipolatore" (Politecnico di Milano): its formulas and worked examples.

The slides carry no numbers; comments give their titles.
"""

import numpy as np
import pytest
from seed_formulas import SEEDS, along_motion, close, number, planar_case, random_values, state_values, symbols

import dynamis as dy
from dynamis.algorithms.jacobian import com_jacobian
from dynamis.algorithms.kinematics import relative_poses, world_poses
from dynamis.scalar import gradient, jacobian
from dynamis.spatial import Inertia, skew

seeded = pytest.mark.parametrize("seed", SEEDS)
Q, V, A = symbols("q"), symbols("v"), symbols("a")


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r")


@pytest.fixture(scope="module")
def puma():
    """Six joints, friction of both kinds, rotors."""
    return dy.load("puma560")


def state(robot, seed):
    rng = np.random.default_rng(seed)
    return robot.random(rng), *rng.uniform(-1.0, 1.0, (2, robot.n))


def friction(robot, v):
    """F_v q̇ + f_s of a moving joint; dry friction may depend on the direction."""
    m = robot.model
    return m.viscous * v + m.coulomb * np.sign(v) + m.coulomb_bias


def h_symbols(robot, q):
    """h_ijk = ∂b_ij/∂q_k − ½ ∂b_jk/∂q_i at q, and ∂b_ij/∂q_k."""
    x = symbols("q", robot.n)
    dB = number(jacobian(robot.mass_matrix(x), list(x)), state_values(q=q))
    return dB - 0.5 * np.einsum("jki->ijk", dB), dB


def com_jacobians(robot, q):
    X_W = world_poses(robot.model, relative_poses(robot.model, q))
    return [com_jacobian(robot.model, X_W, i) for i, _ in robot.model.moving], X_W


# "Energia cinetica", "Energia cinetica di un braccio", "Tensore di inerzia"


@pytest.fixture(scope="module")
def cloud():
    """(masses, points) of a body made of points."""
    rng = np.random.default_rng(1)
    return rng.uniform(0.1, 1.0, 6), rng.uniform(-0.5, 0.5, (6, 3))


@pytest.fixture(scope="module")
def free_body(cloud):
    """The same body, moving freely."""
    masses, points = cloud
    com = masses @ points / masses.sum()
    tensor = sum(m * skew(r).T @ skew(r) for m, r in zip(masses, points - com, strict=True))
    d = dy.Description("free body").add_link("world")
    return dy.Robot(d.add_link("body", "world", "free", inertia=Inertia.about_com(masses.sum(), com, tensor)))


def test_kinetic_energy_of_a_body_is_the_sum_over_its_points(cloud, free_body):
    q, twist = free_body.random(2), np.random.default_rng(3).uniform(-1, 1, 6)
    velocities = twist[:3] + np.cross(twist[3:], cloud[1])
    close(free_body.kinetic_energy(q, twist), 0.5 * cloud[0] @ np.sum(velocities**2, axis=1))


def test_potential_energy_of_a_body_is_that_of_its_centre_of_mass(cloud, free_body):
    masses, points = cloud
    X = free_body.pose(q := free_body.random(4), "body")
    by_points = -masses @ (points @ X[:3, :3].T + X[:3, 3]) @ free_body.model.gravity
    close(free_body.potential_energy(q), by_points)
    p_l = X[:3, :3] @ (masses @ points / masses.sum()) + X[:3, 3]
    close(by_points, -masses.sum() * free_body.model.gravity @ p_l)


def test_cross_product_matrix_is_antisymmetric_and_swaps_its_factors():
    w, r = np.random.default_rng(5).uniform(-1, 1, (2, 3))
    close(skew(w), -skew(w).T)
    close(skew(w) @ r, np.cross(w, r))
    close(skew(w) @ r, -skew(r) @ w)


def test_inertia_tensor_has_the_entries_of_its_definition(cloud, free_body):
    masses, points = cloud
    x, y, z = (points - masses @ points / masses.sum()).T
    xy, xz, yz = -masses @ (x * y), -masses @ (x * z), -masses @ (y * z)
    expected = [[masses @ (y**2 + z**2), xy, xz], [xy, masses @ (x**2 + z**2), yz], [xz, yz, masses @ (x**2 + y**2)]]
    close(free_body.model.bodies[1].inertia.tensor_about_com, expected)


def test_translational_and_rotational_parts_add_without_a_mutual_term(cloud, free_body):
    q, twist = free_body.random(6), np.random.default_rng(7).uniform(-1, 1, 6)
    R, inertia = free_body.pose(q, "body")[:3, :3], free_body.model.bodies[1].inertia
    w = R @ twist[3:]
    p_dot = R @ twist[:3] + np.cross(w, R @ inertia.com)
    T = 0.5 * inertia.mass * p_dot @ p_dot + 0.5 * w @ R @ inertia.tensor_about_com @ R.T @ w
    close(free_body.kinetic_energy(q, twist), T)


# "Coordinate libere"


def test_six_joints_leave_six_of_thirty_six_coordinates(puma):
    assert 6 * len(puma.model.moving) == 36
    assert 36 - 5 * len(puma.joint_names) == puma.n == 6


# "Esempio": motor rigidly coupled to a load


@seeded
def test_motor_with_load_has_the_energies_and_equation_of_the_example(seed):
    rng, robot = np.random.default_rng(seed), dy.load("motor_with_load")
    at = random_values(rng, ("g", "I", "I_m", "m", "l"))
    (th, w, w_dot), (q, v, a) = rng.uniform(-2, 2, 3), (symbols(x, 1) for x in "qva")
    inertia, weight = at["I"] + at["I_m"], at["m"] * at["g"] * at["l"]
    close(number(robot.kinetic_energy([th], [w]), at), 0.5 * inertia * w**2)
    close(number(robot.link_energies([th], [w])[0], at), [0.5 * at["I"] * w**2])
    close(number(robot.potential_energy([th]), at), weight * np.sin(th))

    L = robot.kinetic_energy(q, v) - robot.potential_energy(q)
    equation = along_motion(gradient(L, list(v)), q, v, a) - gradient(L, list(q))
    expected = [inertia * w_dot + weight * np.cos(th)]
    close(number(equation, at | state_values(q=[th], v=[w], a=[w_dot])), expected)
    close(number(robot.inverse_dynamics([th], [w], [w_dot]), at), expected)


# "Somma dei contributi", "Matrice di inerzia", "Energia potenziale"


@pytest.mark.parametrize("name", ["stanford", "scara", "puma560"])
def test_jacobian_columns_are_those_of_sliding_and_turning_joints(name):
    robot = dy.load(name)
    jacobians, X_W = com_jacobians(robot, robot.random(8))
    for i, (J_P, J_O) in enumerate(jacobians, start=1):
        p = X_W[i].R @ robot.model.bodies[i].inertia.com + X_W[i].p
        for j, body in robot.model.moving:
            z = X_W[j].R @ body.motion.axis
            if j > i:
                expected = np.zeros(6)
            elif robot.model.coordinates[j - 1].revolute:
                expected = np.concatenate([np.cross(z, p - X_W[j].p), z])
            else:
                expected = np.concatenate([z, np.zeros(3)])
            close(np.concatenate([J_P[:, j - 1], J_O[:, j - 1]]), expected)


def test_inertia_matrix_is_the_sum_over_jacobians_symmetric_positive_and_configuration_dependent(puma):
    q, v, _ = state(puma, 9)
    jacobians, X_W = com_jacobians(puma, q)
    B = np.diag(puma.model.rotor)
    for (J_P, J_O), X, (_, body) in zip(jacobians, X_W[1:], puma.model.moving, strict=True):
        B = B + body.inertia.mass * J_P.T @ J_P + J_O.T @ X.R @ body.inertia.tensor_about_com @ X.R.T @ J_O
    close(puma.mass_matrix(q), B)
    close(B, B.T)
    assert np.linalg.eigvalsh(B)[0] > 0
    assert np.abs(puma.mass_matrix(puma.random(10)) - B).max() > 0.1
    close(puma.kinetic_energy(q, v), 0.5 * v @ B @ v)


def test_gravity_torque_is_the_gradient_of_the_potential_and_the_sum_over_jacobians(puma):
    q, x = puma.random(11), symbols("q", 6)
    jacobians, _ = com_jacobians(puma, q)
    masses = [body.inertia.mass for _, body in puma.model.moving]
    g = -sum(m * puma.model.gravity @ J_P for m, (J_P, _) in zip(masses, jacobians, strict=True))
    close(puma.gravity(q), g)
    close(number(gradient(puma.potential_energy(x), list(x)), state_values(q=q)), g)
    close(puma.link_energies(q, np.zeros(6))[1].sum(), puma.potential_energy(q))


# "Equazioni del moto", "Calcolo degli elementi di C", "Anti-simmetria"


def test_equations_of_motion_follow_from_the_terms_h(puma):
    q, v, a = state(puma, 12)
    h, _ = h_symbols(puma, q)
    quadratic = np.einsum("ijk,j,k->i", h, v, v)
    close(puma.coriolis_matrix(q, v) @ v, quadratic, 1e-11)
    close(puma.inverse_dynamics(q, v, a), puma.mass_matrix(q) @ a + quadratic + puma.gravity(q) + friction(puma, v), 1e-11)


def test_a_joint_feels_no_centrifugal_effect_of_itself(puma):
    h, _ = h_symbols(puma, puma.random(13))
    close(np.einsum("iii->i", h), np.zeros(6))


def test_kinetic_energy_differentiates_into_the_printed_sums(puma):
    q, v, a = state(puma, 14)
    x, x_dot, x_ddot = (symbols(s, 6) for s in "qva")
    T = puma.kinetic_energy(x, x_dot)
    _, dB = h_symbols(puma, q)
    at = state_values(q=q, v=v, a=a)
    rate = number(along_motion(gradient(T, list(x_dot)), x, x_dot, x_ddot), at)
    close(rate, puma.mass_matrix(q) @ a + np.einsum("ijk,k,j->i", dB, v, v), 1e-11)
    close(number(gradient(T, list(x)), at), 0.5 * np.einsum("jki,k,j->i", dB, v, v), 1e-11)


def test_christoffel_symbols_of_the_first_kind_make_c(puma):
    q, v, _ = state(puma, 15)
    _, dB = h_symbols(puma, q)
    c = 0.5 * (dB + np.einsum("ikj->ijk", dB) - np.einsum("jki->ijk", dB))
    close(puma.christoffel(q), c, 1e-11)
    close(puma.coriolis_matrix(q, v), c @ v, 1e-11)


def test_b_dot_minus_2c_is_antisymmetric_with_the_printed_entries(puma):
    q, v, w = state(puma, 16)
    _, dB = h_symbols(puma, q)
    N = dB @ v - 2 * puma.coriolis_matrix(q, v)
    close(N, np.einsum("jki,k->ij", dB, v) - np.einsum("ikj,k->ij", dB, v), 1e-11)
    close(N, -N.T, 1e-11)
    assert abs(w @ N @ w) < 1e-11


def test_n_does_no_work_on_the_actual_velocity_whatever_c_is(puma):
    # C_ij = Σ h_ijk q̇_k is another valid choice; only the quadratic form in q̇ itself vanishes
    q, v, w = state(puma, 17)
    h, dB = h_symbols(puma, q)
    N = dB @ v - 2 * h @ v
    assert abs(v @ N @ v) < 1e-11
    assert abs(w @ N @ w) > 1e-3


def test_kinetic_energy_changes_by_the_power_of_all_joint_forces(puma):
    # "Principio di conservazione dell'energia", h exerted by the robot
    rng = np.random.default_rng(18)
    q, v, tau = puma.random(rng), *rng.uniform(-1, 1, (2, 6))
    h = rng.uniform(-1, 1, 6)
    a = puma.forward_dynamics(q, v, tau, {"flange": -h})
    rate = v @ puma.mass_matrix(q) @ a + 0.5 * v @ puma.mass_matrix_dot(q, v) @ v
    close(rate, v @ (tau - friction(puma, v) - puma.gravity(q) - puma.jacobian(q).T @ h), 1e-11)


def test_complete_model_subtracts_the_torques_of_the_contact_forces_of_the_robot(puma):
    # "Modello dinamico completo": right-hand side τ − Jᵀh
    q, v, a = state(puma, 19)
    h = np.arange(1.0, 7.0)
    left = puma.mass_matrix(q) @ a + puma.coriolis_matrix(q, v) @ v + friction(puma, v) + puma.gravity(q)
    close(left, puma.inverse_dynamics(q, v, a, {"flange": -h}) - puma.jacobian(q).T @ h, 1e-11)


def test_torque_is_linear_in_the_dynamic_parameters_with_friction_by_sign(puma):
    # "Linearità nei parametri dinamici"
    q, v, a = state(puma, 20)
    close(puma.regressor(q, v, a) @ puma.parameters, puma.inverse_dynamics(q, v, a), 1e-11)


# "Manipolatore cartesiano a due bracci"


@seeded
def test_cartesian_arm_has_constant_inertia_no_coriolis_and_weight_on_the_first_axis(seed):
    robot, rng = dy.load("cartesian_2p"), np.random.default_rng(seed)
    at, (q, v, a) = random_values(rng, ("g", "m_1", "m_2")), rng.uniform(-1, 1, (3, 2))
    total, weight = at["m_1"] + at["m_2"], (at["m_1"] + at["m_2"]) * at["g"]
    close(number(robot.mass_matrix(q), at), np.diag([total, at["m_2"]]))
    close(number(robot.coriolis_matrix(q, v), at), np.zeros((2, 2)))
    close(number(robot.gravity(q), at), [weight, 0.0])
    close(number(robot.inverse_dynamics(q, v, a), at), [total * a[0] + weight, at["m_2"] * a[1]])
    (J_1, O_1), (J_2, O_2) = com_jacobians(robot, q)[0]
    close(number(J_1, at), [[0, 0], [0, 0], [1, 0]])
    close(number(J_2, at), [[0, 1], [0, 0], [1, 0]])
    close(number(np.array([O_1, O_2]), at), np.zeros((2, 3, 2)))


# "Manipolatore planare a due bracci"


@seeded
def test_planar_arm_has_the_printed_jacobians(arm, seed):
    case, q, _, _ = planar_case(seed)
    (P_1, O_1), (P_2, O_2) = com_jacobians(arm, q)[0]
    for value, expected in zip((P_1, P_2), case.com_jacobians(q), strict=True):
        close(case.number(value), expected)
    close(case.number(O_1), [[0, 0], [0, 0], [1, 0]])
    close(case.number(O_2), [[0, 0], [0, 0], [1, 1]])


@seeded
def test_planar_arm_has_the_printed_inertia_coriolis_and_gravity(arm, seed):
    case, q, v, _ = planar_case(seed)
    close(case.number(arm.mass_matrix(q)), case.mass_matrix(q))
    close(case.number(arm.coriolis_matrix(q, v)), case.coriolis_matrix(q, v))
    close(case.number(arm.gravity(q)), case.gravity(q))


@seeded
def test_planar_arm_has_the_printed_christoffel_symbols(arm, seed):
    case, q, _, _ = planar_case(seed)
    h, expected = case.h(q), np.zeros((2, 2, 2))
    expected[0, 0, 1] = expected[0, 1, 0] = expected[0, 1, 1] = h
    expected[1, 0, 0] = -h
    close(case.number(arm.christoffel(q)), expected)
    dB = case.number(jacobian(arm.mass_matrix(Q), list(Q)), q=q)
    close(expected, 0.5 * (dB + np.einsum("ikj->ijk", dB) - np.einsum("jki->ijk", dB)))


@seeded
def test_planar_arm_has_the_printed_antisymmetric_n(arm, seed):
    case, q, v, _ = planar_case(seed)
    n = case.h(q) * (2 * v[0] + v[1])
    B_dot = case.number(along_motion(arm.mass_matrix(Q), Q, V), q=q, v=v)
    close(B_dot, case.mass_matrix_dot(q, v))
    close(B_dot - 2 * case.number(arm.coriolis_matrix(q, v)), [[0, -n], [n, 0]])


@seeded
def test_planar_arm_has_the_printed_equations_of_motion(arm, seed):
    case, q, v, a = planar_case(seed)
    close(case.number(arm.inverse_dynamics(q, v, a)), case.torque(q, v, a))
    L = arm.kinetic_energy(Q, V) - arm.potential_energy(Q)
    equation = along_motion(gradient(L, list(V)), Q, V, A) - gradient(L, list(Q))
    close(case.number(equation, q=q, v=v, a=a), case.torque(q, v, a))


@seeded
def test_planar_arm_is_linear_in_five_parameters(arm, seed):
    case, q, v, a = planar_case(seed)
    expected = case.five_column_regressor(q, v, a) @ case.five_parameters
    close(case.torque(q, v, a), expected)
    close(case.number(arm.regressor(q, v, a) @ arm.parameters), expected)


# "Identificazione dei parametri dinamici"


def stacked_regressor(case, count=30):
    states = np.random.default_rng(21).uniform(-2, 2, (count, 3, 2))
    return states, np.concatenate([case.five_column_regressor(*s) for s in states])


def test_mass_of_the_second_link_is_identifiable_only_in_combinations():
    # its column is a_1 times the first plus a_1² times the second
    case, *_ = planar_case(0)
    Y = stacked_regressor(case)[1]
    close(Y[:, 2], case.a_1 * Y[:, 0] + case.a_1**2 * Y[:, 1])
    assert np.linalg.matrix_rank(Y) == 4


def test_left_pseudo_inverse_identifies_the_combinations_from_torques(arm):
    case, *_ = planar_case(0)
    states, Y = stacked_regressor(case)
    tau = np.concatenate([case.number(arm.inverse_dynamics(*s)) for s in states])
    Y, pi = np.delete(Y, 2, axis=1), case.five_parameters
    expected = [pi[0] + case.a_1 * pi[2], pi[1] + case.a_1**2 * pi[2], pi[3], pi[4]]
    close(np.linalg.inv(Y.T @ Y) @ Y.T @ tau, expected, 1e-10)
