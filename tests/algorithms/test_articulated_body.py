"""The inward pass of the articulated-body algorithm, as it is shown to users."""

import numpy as np
import pytest
from random_trees import random_robot, random_states

import dynamis as dy
from dynamis.algorithms.articulated_body import aba, articulated_inertias
from dynamis.algorithms.kinematics import REST, MovingBase, relative_poses, twists
from dynamis.model.description import Description
from dynamis.robot import Robot
from dynamis.scalar import Program, symbol
from dynamis.spatial import Inertia, motion_cross


@pytest.mark.parametrize("seed", range(3))
def test_articulated_inertias_give_the_accelerations_of_the_first_joints(seed):
    """With wrenches, without, and on a base that moves: m̂ v̇ = τ − Sᵀ (M̂ a + b̂)."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=5, floating=False, mimics=False)
    m, (q, v, tau) = robot.model, (x[0] for x in random_states(rng, robot, 1))
    pushes = {i: rng.standard_normal(6) for i, _ in m.moving}
    moving = MovingBase(REST.pose, rng.standard_normal(6), rng.standard_normal(6))
    for wrenches, base in ((None, REST), ({}, REST), (pushes, REST), (pushes, moving)):
        art, a = articulated_inertias(m, q, v, tau, wrenches, base), aba(m, q, v, tau, wrenches, base)
        X = relative_poses(m, q)
        V = twists(m, X, v, base)
        for i, body in m.moving:
            if body.parent == 0:
                dof = list(body.dof)
                start = base.acceleration - np.concatenate([base.pose.R.T @ m.gravity, np.zeros(3)])
                carried = X[i].twist_inward(start) + motion_cross(V[i], body.S @ v[dof])
                np.testing.assert_allclose(art.m_hat[i] @ a[dof] + body.S.T @ (art.M_hat[i] @ carried + art.b_hat[i]), tau[dof],
                                           atol=1e-9 * max(1.0, np.abs(art.b_hat[i]).max()))  # fmt: skip


def test_a_symbolic_wrench_gives_a_symbolic_acceleration():
    robot = dy.load("planar_2r_melchiorri")
    m, q, v, tau = robot.model, np.array([0.3, -0.4]), np.array([0.5, 0.6]), np.array([1.0, 2.0])
    F = symbol("F")
    wrench = np.array([0.0, F, 0.0, 0.0, 0.0, 0.0], dtype=object)
    a = aba(m, q, v, tau, {len(m.bodies) - 1: wrench})
    assert a.dtype == object


def test_a_symbolic_robot_has_the_accelerations_of_its_numbers():
    def pendulum(m):
        d = Description("pendulum", gravity=[0.0, -9.81, 0.0]).add_link("base")
        return Robot(
            d.add_link(
                "bob", "base", "revolute", joint_name="hinge", inertia=Inertia.about_com(m, [0.5, 0.0, 0.0], 0.1 * np.eye(3))
            )
        )

    m, state = symbol("m"), (np.array([0.3]), np.array([0.5]), np.array([1.0]))
    found = aba(pendulum(m).model, *state)
    assert Program([m], found)(2.0) == pytest.approx(aba(pendulum(2.0).model, *state), rel=1e-14)


def test_joints_that_are_not_independent_are_refused():
    rng = np.random.default_rng(0)
    robot = next(r for r in (random_robot(rng, bodies=6, floating=False) for _ in range(100)) if r.model.coupled)
    q, v, tau = (x[0] for x in random_states(rng, robot, 1))
    with pytest.raises(dy.InputError, match="requires independent joints"):
        aba(robot.model, q, v, tau)
