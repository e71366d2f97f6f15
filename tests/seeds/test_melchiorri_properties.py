"""C. Melchiorri, "Dynamic model": the structural properties of the model, slides 44 to 56, and their printed figures."""

import numpy as np
import pytest
from seed_formulas import SEEDS, STUDY, PlanarArm, close, number, planar_case, state_values, symbols

import dynamis as dy
from dynamis.scalar import jacobian

seeded = pytest.mark.parametrize("seed", SEEDS)
ANGLES = np.linspace(-np.pi / 2, np.pi / 2, 181)


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r")


@pytest.fixture(scope="module")
def inertias():
    """M of the study's arm over θ_2 in [−π/2, π/2]."""
    robot = dy.load("planar_2r_melchiorri")
    return robot.mass_matrix(np.column_stack([np.zeros_like(ANGLES), ANGLES]))


# inertia matrix


def norm_bounds(c):
    """(M_1, M_2) of slide 50."""
    low = c.m_1 * c.l_1**2 + c.m_2 * (c.a_1**2 + 2 * c.l_2**2) + c.I_1 + 2 * c.I_2
    return low, low + 3 * c.m_2 * c.a_1 * c.l_2


def test_printed_bounds_of_the_norm():
    # slide 53
    assert norm_bounds(STUDY) == (117.5, 192.5)


def test_printed_maxima_of_the_norms(inertias):
    # slide 53
    def largest(order):
        return np.linalg.norm(inertias, order, axis=(1, 2)).max()

    assert largest(1) == pytest.approx(192.5, rel=1e-12)
    assert largest(np.inf) == pytest.approx(192.5, rel=1e-12)
    assert round(largest(2), 2) == 161.26


def test_one_norm_is_that_of_the_first_column_and_stays_within_its_bounds(inertias):
    columns = np.abs(inertias).sum(axis=1)
    close(np.linalg.norm(inertias, 1, axis=(1, 2)), columns[:, 0])
    low, high = norm_bounds(STUDY)
    assert columns[:, 0].min() >= low - 1e-10
    assert columns[:, 0].max() <= high + 1e-10


@seeded
def test_one_norm_of_any_planar_arm_stays_within_its_bounds(arm, seed):
    case, *_ = planar_case(seed)
    low, high = norm_bounds(case)
    for angle in ANGLES[::20]:
        assert low - 1e-12 <= np.linalg.norm(case.number(arm.mass_matrix([0.3, angle])), 1) <= high + 1e-12


def test_inertia_lies_between_constant_multiples_of_the_identity(inertias):
    # slide 45
    values = np.linalg.eigvalsh(inertias)
    low, high = values.min(), values.max()
    assert low > 0
    x = np.random.default_rng(1).uniform(-1, 1, (50, 2))
    forms = np.einsum("xi,kij,xj->kx", x, inertias, x) / np.sum(x**2, axis=1)
    inverse = np.einsum("xi,kij,xj->kx", x, np.linalg.inv(inertias), x) / np.sum(x**2, axis=1)
    assert (forms >= low - 1e-9).all()
    assert (forms <= high + 1e-9).all()
    assert (inverse >= 1 / high - 1e-12).all()
    assert (inverse <= 1 / low + 1e-12).all()


def test_eigenvalues_depend_on_the_second_angle_only():
    # slide 53
    robot = dy.load("planar_2r_melchiorri")
    first = np.linalg.eigvalsh(robot.mass_matrix(np.column_stack([ANGLES, np.full_like(ANGLES, 0.7)])))
    close(first, np.broadcast_to(first[0], first.shape))
    assert np.ptp(np.linalg.eigvalsh(robot.mass_matrix(np.column_stack([ANGLES * 0, ANGLES])))[:, 1]) > 1.0


def test_a_sliding_joint_makes_the_bounds_grow_with_the_configuration():
    # slides 45, 46, 47
    robot = dy.load("stanford")

    def at(reach):
        q = np.array([0.3, 1.0, reach, 0.2, 0.5, 0.1])
        v = np.ones(6)
        C_v = robot.coriolis_matrix(q, v) @ v
        return np.linalg.norm(robot.mass_matrix(q), 2), np.linalg.norm(C_v), np.linalg.norm(robot.gravity(q))

    assert all(far > 10 * near for near, far in zip(at(1.0), at(100.0), strict=True))


@pytest.mark.parametrize("name", ["ur5e", "puma560", "planar_2r_melchiorri"])
def test_turning_joints_keep_every_bound_periodic(name):
    robot = dy.load(name)
    q, v = robot.random(2), np.random.default_rng(3).uniform(-1, 1, robot.n)
    turns = 2 * np.pi * np.arange(1, robot.n + 1)
    close(robot.mass_matrix(q + turns), robot.mass_matrix(q), 1e-10)
    close(robot.coriolis_matrix(q + turns, v), robot.coriolis_matrix(q, v), 1e-10)
    close(robot.gravity(q + turns), robot.gravity(q), 1e-10)


# velocity terms


@pytest.mark.parametrize("name", ["ur5e", "stanford", "panda"])
def test_coriolis_terms_are_quadratic_forms_with_s_k(name):
    # slide 46: S_k = ½ (∂m_k/∂q + (∂m_k/∂q)ᵀ − ∂M/∂q_k), m_k the k-th column of M
    robot = dy.load(name)
    q, v = robot.random(4), np.random.default_rng(5).uniform(-1, 1, robot.n)
    x = symbols("q", robot.n)
    dM = number(jacobian(robot.mass_matrix(x), list(x)), state_values(q=q))
    C_v = robot.coriolis_matrix(q, v) @ v
    for k in range(robot.n):
        S = 0.5 * (dM[:, k, :] + dM[:, k, :].T - dM[:, :, k])
        close(S, S.T, 1e-11)
        close(v @ S @ v, C_v[k], 1e-11)


def test_coriolis_terms_grow_with_the_square_of_the_speed():
    robot = dy.load("ur5e")
    q, v = robot.random(6), np.random.default_rng(7).uniform(-1, 1, 6)
    close(robot.coriolis_matrix(q, 3 * v) @ (3 * v), 9 * robot.coriolis_matrix(q, v) @ v)


def test_coriolis_terms_of_the_planar_arm_stay_under_their_bound():
    # slide 51: v_b = m_2 a_1 a_C2 with the 1-norm; the middle expression of the slide needs |θ̇_1| and |θ̇_2|
    rng, robot = np.random.default_rng(8), dy.load("planar_2r_melchiorri")
    v_b = STUDY.m_2 * STUDY.a_1 * STUDY.l_2
    for q, v in rng.uniform(-3, 3, (200, 2, 2)):
        printed = v_b * abs(np.sin(q[1])) * (abs(2 * v[0] * v[1] + v[1] ** 2) + v[0] ** 2)
        norm = np.abs(robot.coriolis_matrix(q, v) @ v).sum()
        close(norm, printed)
        assert norm <= v_b * (abs(v[0]) + abs(v[1])) ** 2 + 1e-9
    v = np.array([1.0, 1.0])  # where the bound is reached
    close(np.abs(robot.coriolis_matrix([0, np.pi / 2], v) @ v).sum(), 4 * v_b)


# gravity and friction


def test_gravity_of_the_planar_arm_stays_under_its_bound_and_reaches_it():
    # slide 52
    robot = dy.load("planar_2r_melchiorri")
    g_b = (STUDY.m_1 * STUDY.l_1 + STUDY.m_2 * STUDY.a_1) * STUDY.g + 2 * STUDY.m_2 * STUDY.g * STUDY.l_2
    q = np.random.default_rng(9).uniform(-np.pi, np.pi, (200, 2))
    assert np.abs(robot.gravity(q)).sum(axis=1).max() <= g_b + 1e-9
    close(np.abs(robot.gravity([0, 0])).sum(), g_b)


def test_viscous_friction_is_bounded_by_its_largest_coefficient():
    # slide 47
    robot = dy.load("puma560")
    rest, v = np.zeros(6), np.random.default_rng(10).uniform(-1, 1, 6)
    D_v = robot.torque_ledger(robot.neutral(), v, rest).viscous
    assert np.linalg.norm(D_v) <= robot.model.viscous.max() * np.linalg.norm(v)


# linearity and identification


@seeded
def test_model_is_linear_in_five_parameters(arm, seed):
    # slides 54, 55
    case, q, v, a = planar_case(seed)
    Y = case.five_column_regressor(q, v, a)
    close(case.number(arm.inverse_dynamics(q, v, a)), Y @ case.five_parameters)
    # Y depends on a_1 and g, not on the parameters themselves
    other = PlanarArm(**(case.values | {"m_1": 9.0, "m_2": 7.0, "I_1": 5.0, "I_2": 3.0, "l_1": 0.1, "l_2": 0.2}))
    close(other.five_column_regressor(q, v, a), Y)


def test_model_is_linear_in_friction_too():
    robot = dy.load("puma560")
    q, (v, a) = robot.random(12), np.random.default_rng(13).uniform(-1, 1, (2, 6))
    close(robot.regressor(q, v, a) @ robot.parameters, robot.inverse_dynamics(q, v, a), 1e-11)


def test_left_pseudo_inverse_recovers_what_is_identifiable(arm):
    # slide 56: the minimum-norm solution explains the torques, though one parameter cannot be told apart
    case, *_ = planar_case(0)
    states = np.random.default_rng(14).uniform(-2, 2, (25, 3, 2))
    Y = np.concatenate([case.five_column_regressor(*s) for s in states])
    tau = np.concatenate([case.number(arm.inverse_dynamics(*s)) for s in states])
    alpha = np.linalg.pinv(Y) @ tau
    close(Y @ alpha, tau, 1e-11)
    assert np.linalg.matrix_rank(Y) == 4
    close(alpha[3:], case.five_parameters[3:], 1e-11)
    assert abs(alpha[2] - case.m_2) > 1e-3
