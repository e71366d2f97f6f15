"""Independent formulations give the same dynamics: 40 random trees, 10 states each, in every run.

Newton–Euler in link frames and in the base frame, Lagrange by differentiating energies, composite bodies, the sum over
Jacobians, and the articulated-body recursion. All joint types, branches, fixed and floating bases, random file order.
"""

import numpy as np
import pytest
from campaign_params import seeds
from random_trees import random_robot, random_states, relative_error

from dynamis.algorithms import articulated_body, coriolis, dynamics, mass_matrix, newton_euler, newton_euler_base, regressor
from dynamis.algorithms.joint_physics import spring_torque
from dynamis.algorithms.lagrange import lagrange_program
from dynamis.scalar import symbol

STATES, CHUNK = 10, 10
COSTLY_STATES = 2  # for what takes n runs or differences
EXACT = 1e-12
SKEW = 1e-9  # what differences of M can resolve


@pytest.mark.parametrize("chunk", seeds(4, 15))
def test_all_formulations_agree_on_random_trees(chunk):
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        agree_on_one_tree(seed)


def test_wrenches_may_be_missing_and_may_be_symbolic():
    robot = random_robot(np.random.default_rng(1), bodies=3, floating=False)
    q, v, a = (x[0] for x in random_states(np.random.default_rng(2), robot, 1))
    pushed = {1: np.array([symbol("F"), 0.0, 0.0, 0.0, 0.0, 0.0], dtype=object)}
    for formulation in (newton_euler.rnea, newton_euler_base.rnea_base_frame):
        assert relative_error(formulation(robot.model, q, v, a), newton_euler.rnea(robot.model, q, v, a, {})) < EXACT
        assert formulation(robot.model, q, v, a, pushed).dtype == object


@pytest.mark.campaign
@pytest.mark.parametrize("chunk", range(2000))
def test_all_formulations_agree_on_twenty_thousand_trees(chunk):
    for seed in range(10_000 + chunk * CHUNK, 10_000 + (chunk + 1) * CHUNK):
        agree_on_one_tree(seed)


def by_difference_of_mass_matrix(robot, q, v, h=1e-5):
    """Ṁ along v by differences of fourth order: it knows nothing of C."""
    M = {s: mass_matrix.crba(robot.model, robot.integrate(q, s * h * v)) for s in (-2, -1, 1, 2)}
    return (8.0 * (M[1] - M[-1]) - (M[2] - M[-2])) / (12.0 * h)


def agree_on_one_tree(seed):
    rng = np.random.default_rng(seed)
    bodies = None if seed % 5 == 0 else int(rng.integers(1, 4))  # a fifth are large trees, which take most of the time
    robot = random_robot(rng, bodies)
    while robot.n == 0:
        robot = random_robot(rng, bodies)
    m = robot.model
    states = random_states(rng, robot, STATES)
    by_lagrange, energy_rates = lagrange_program(m)(*states)
    worst = {}

    def close(what, value, reference, limit=EXACT):
        worst[what] = max(worst.get(what, 0.0), relative_error(value, reference) / limit)

    for k in range(STATES):
        q, v, a = (x[k] for x in states)
        wrenches = {i: rng.uniform(-5.0, 5.0, 6) for i, _ in m.moving if rng.random() < 0.5}
        tau = newton_euler.rnea(m, q, v, a)
        close(
            "base-frame Newton–Euler",
            newton_euler_base.rnea_base_frame(m, q, v, a, wrenches),
            newton_euler.rnea(m, q, v, a, wrenches),
        )
        close("Lagrange", by_lagrange[k], tau + m.rotor * a + spring_torque(m, q))

        M = mass_matrix.crba(m, q)
        close("Jacobian sum", mass_matrix.mass_matrix_from_jacobians(m, q), M)
        if k < COSTLY_STATES:
            close("unit accelerations", mass_matrix.mass_matrix_from_rnea(m, q), M)
        close("symmetry", M.T, M, 1e-15)
        eigenvalues = np.linalg.eigvalsh(M)
        assert eigenvalues[0] > 0.0, (seed, k)

        C, g = coriolis.coriolis_matrix(m, q, v), dynamics.gravity(m, q)
        close("M a + C v + g", M @ a + C @ v + g, tau + m.rotor * a)
        if k < COSTLY_STATES:
            M_dot = by_difference_of_mass_matrix(robot, q, v)
            # Ṁ = C + Cᵀ, so Ṁ − 2C is skew
            error = np.abs(C + C.T - M_dot).max() / (np.abs(M).max() + np.abs(M_dot).max())
            worst["skew symmetry"] = max(worst.get("skew symmetry", 0.0), error / SKEW)

        full, bias = dynamics.inverse_dynamics(m, q, v, a, wrenches), dynamics.bias(m, q, v, wrenches)
        # the acceleration is a difference of what τ and the bias would each produce, and can be no sharper than they are
        produced = max(np.abs(a).max(), np.abs(np.linalg.solve(M, bias)).max())
        round_trip = max(50.0 * np.finfo(float).eps * eigenvalues[-1] / eigenvalues[0], 1e-13) * produced / np.abs(a).max()
        close("forward after inverse", dynamics.forward_dynamics(m, q, v, full, wrenches), a, round_trip)
        if not m.coupled:
            driving = full - dynamics.joint_bias(m, q, v)
            close("articulated bodies", articulated_body.aba(m, q, v, driving, wrenches), a, round_trip)

        Y = regressor.regressor(m, q, v, a)
        close("Y π = τ", Y @ regressor.parameters(m), dynamics.inverse_dynamics(m, q, v, a))
        close("ledger", dynamics.torque_ledger(m, q, v, a, wrenches).total, full)

        # the energies change by the power of what is not conservative
        power = v @ (dynamics.inverse_dynamics(m, q, v, a) - dynamics.viscous_torque(m, v) - dynamics.dry_torque(m, v))
        scale = np.abs(v) @ np.abs(full) + np.abs(energy_rates[k]).sum()
        worst["power balance"] = max(worst.get("power balance", 0.0), abs(energy_rates[k].sum() - power) / scale / EXACT)
    bad = {what: error for what, error in worst.items() if error > 1.0}
    assert not bad, f"tree {seed}: {bad} times the allowed error"
