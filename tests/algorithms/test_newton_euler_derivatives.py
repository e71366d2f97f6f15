"""Analytical derivatives of the Newton–Euler algorithm: against differentiation on symbols, and by parts."""

import numpy as np
import pytest
from campaign_params import seeds
from random_trees import random_robot, random_states, relative_error

import dynamis as dy
from dynamis.algorithms import derivatives
from dynamis.algorithms.mass_matrix import crba
from dynamis.algorithms.newton_euler import rnea
from dynamis.algorithms.newton_euler_derivatives import SpatialState


def a_tree(seed):
    """Every joint type, branches, mimics, free bases, rotors that ride on links, friction and springs."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=int(rng.integers(1, 7)))
    return robot.model, [x[0] for x in random_states(rng, robot, 1)]


@pytest.mark.parametrize("seed", seeds(15, 40))
def test_recursion_and_differentiation_agree(seed):
    model, state = a_tree(seed)
    analytical = derivatives.inverse_dynamics_derivatives(model, *state)
    differentiated = derivatives.inverse_dynamics_differentiated(model, *state).astype(float)
    for part, expected in zip(analytical, differentiated, strict=True):
        assert relative_error(part, expected) < 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_derivatives_of_the_accelerations_agree(seed):
    model, state = a_tree(seed)
    if np.linalg.cond(crba(model, state[0])) > 1e5:
        return
    analytical = derivatives.forward_dynamics_derivatives(model, *state)
    differentiated = derivatives.forward_dynamics_differentiated(model, *state).astype(float)
    for part, expected in zip(analytical, differentiated, strict=True):
        assert relative_error(part, expected) < 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_torques_and_mass_matrix_in_the_common_frame_are_those_of_the_recursions(seed):
    model, (q, v, a) = a_tree(seed)
    state = SpatialState(model, q, v, a)
    assert relative_error(state.torques(), rnea(model, q, v, a)) < 1e-12
    assert relative_error(state.mass_matrix() + np.diag(model.rotor), crba(model, q)) < 1e-12


def test_joints_of_different_branches_do_not_influence_each_other():
    robot = dy.load("baxter")
    q, v, a = (x[0] for x in random_states(np.random.default_rng(0), robot, 1))
    dq, dv, M = derivatives.inverse_dynamics_derivatives(robot.model, q, v, a)
    names = robot.coordinate_names
    left, right = ([k for k, name in enumerate(names) if name.startswith(side)] for side in ("left", "right"))
    assert len(left) == len(right) == 7
    for part in (dq, dv, M):
        assert not part[np.ix_(left, right)].any()
        assert not part[np.ix_(right, left)].any()
        assert part[np.ix_(left, left)].any()


@pytest.mark.parametrize(
    ("name", "shorter", "longer"),
    [("scara", "forward differentiation", "analytical"), ("panda", "analytical", "forward differ")],
)
def test_the_shorter_code_is_compiled(name, shorter, longer):
    chosen, others = dy.load(name).explain("inverse_dynamics_derivatives").splitlines()[1].split("; ")
    assert shorter in chosen
    assert longer in others
