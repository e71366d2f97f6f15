"""The Coriolis matrix is the Christoffel one, exactly, and has the properties the lectures prove."""

import numpy as np
import pytest
from campaign_params import seeds
from random_trees import random_robot, random_states, relative_error

import dynamis as dy
from dynamis.algorithms import coriolis, mass_matrix
from dynamis.scalar import Program, jacobian, symbol

pytestmark = pytest.mark.usefixtures("without_compilation")
WITH_RATES = ("revolute", "prismatic", "helical", "cylindrical", "universal", "planar", "fixed")


def traced_mass_matrix(robot):
    q = np.array([symbol(f"q[{k}]") for k in range(robot.n)], dtype=object)
    M = mass_matrix.crba(robot.model, q)
    dM = jacobian(M, list(q))  # dM[i, j, k] = ∂M_ij / ∂q_k
    return Program(list(q), dM)


@pytest.mark.parametrize("seed", seeds(4, 12))
def test_the_symbols_are_half_the_sum_of_three_derivatives_of_the_inertia_matrix(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=4, floating=False, kinds=WITH_RATES)
    if robot.n == 0:
        robot = dy.load("stanford")
    q, v, _ = (x[0] for x in random_states(rng, robot, 1))
    dM = traced_mass_matrix(robot)(*q)
    expected = 0.5 * (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1))
    c = robot.christoffel(q)
    scale = max(np.abs(robot.mass_matrix(q)).max(), np.abs(expected).max())
    assert np.abs(c - expected).max() < 1e-12 * scale
    assert relative_error(robot.coriolis_matrix(q, v), c @ v) < 1e-12
    # Ṁ − 2C is skew-symmetric, exactly
    N = dM @ v - 2.0 * robot.coriolis_matrix(q, v)
    assert np.abs(N + N.T).max() < 1e-12 * scale
    # symmetric in the last two indices, which is what makes C the Christoffel choice
    assert np.abs(c - c.transpose(0, 2, 1)).max() < 1e-12 * scale


@pytest.mark.parametrize("name", ["ur5e", "go2", "rod_and_disc"])
def test_the_transposed_product_is_the_rate_of_momentum_that_is_not_force(name):
    robot = dy.load(name, base="floating") if name == "go2" else dy.load(name)
    if robot.model.symbolic:
        values = {s: 1.0 + 0.1 * k for k, s in enumerate(["l", "m_s", "m_D", "I_x", "I_y", "I_z", "I_Ox", "I_Oy", "I_Oz"])}
        robot = dy.load(name, parameters=values)
    rng = np.random.default_rng(0)
    q, v, a = (x[0] for x in random_states(rng, robot, 1))
    tau = robot.inverse_dynamics(q, v, a) - robot.torque_ledger(q, v, a).viscous - robot.torque_ledger(q, v, a).dry
    h = 1e-6
    momentum = [robot.mass_matrix(robot.integrate(q, s * h * v)) @ (v + s * h * a) for s in (-1, 1)]
    rate = (momentum[1] - momentum[0]) / (2 * h)
    # d/dt (M v) = τ + Cᵀ v − g
    assert relative_error(coriolis.coriolis_transpose_product(robot.model, q, v) + tau - robot.gravity(q), rate) < 1e-7


def test_coriolis_torques_are_quadratic_in_the_velocity():
    robot = random_robot(np.random.default_rng(3), bodies=6)
    q, v, w = (x[0] for x in random_states(np.random.default_rng(4), robot, 1))
    C = lambda u: coriolis.coriolis_matrix(robot.model, q, u)  # noqa: E731
    assert relative_error(C(2.0 * v) @ (2.0 * v), 4.0 * C(v) @ v) < 1e-14
    assert relative_error(C(v + w), C(v) + C(w)) < 1e-13


@pytest.mark.parametrize("name", ["planar_2r_melchiorri", "ur5e"])
def test_the_ledger_at_rest_has_no_rounding_of_gravity_in_other_terms(name):
    robot = dy.load(name)
    q, rest = robot.random(0), np.zeros(robot.n)
    ledger = robot.torque_ledger(q, rest, rest)
    assert not ledger.coriolis.any()
    assert not ledger.inertia.any()
