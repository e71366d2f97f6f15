"""Logs of a portal, whose linear axes have gravity on one joint only and no arms that would tell them apart."""

import numpy as np
import pytest
from campaign_params import few_of

import dynamis as dy
from dynamis.identification import Log

PORTAL = """
[robot]
name = "portal"
[[link]]
link = "bridge"
joint = "X"
type = "prismatic"
axis = [1, 0, 0]
mass = 85
com = [0, 0.8, 0]
inertia = { xx = 26, yy = 0.6, zz = 26 }
[[link]]
link = "carriage"
joint = "Y"
type = "prismatic"
axis = [0, 1, 0]
mass = 28
com = [0.05, 0, 0.1]
inertia = { xx = 0.4, yy = 0.4, zz = 0.4 }
[[link]]
link = "ram"
joint = "Z"
type = "prismatic"
mass = 14
com = [0, 0, 0.3]
inertia = { xx = 1.2, yy = 1.2, zz = 0.03 }
[[link]]
link = "rotor"
joint = "C"
mass = 4
com = [0.03, 0, -0.08]
inertia = { xx = 0.02, yy = 0.02, zz = 0.015 }
"""
VISCOUS, COULOMB, ROTORS = np.array([[180.0, 90.0, 70.0, 0.6], [95.0, 60.0, 38.0, 1.1], [40.0, 22.0, 15.0, 0.03]])


def recorded(seed):
    """The robot of the file, and t, q and τ of one with masses 15 % off, friction and rotors; the motion is fastest at 6 s."""
    robot, rng, t = dy.load(PORTAL), np.random.default_rng(seed), np.arange(1500) / 125.0
    real = dy.control.perturbed(robot, 0.15, seed=seed)
    w, phase = 2.0 * np.pi * rng.uniform(0.1, 0.5, (3, 4)), rng.uniform(0.0, 6.28, (3, 4))
    q = 0.15 * np.sin(w * t[:, None, None] + phase).sum(axis=1) * (0.4 + 1.5 * np.exp(-(((t - 6.0) / 0.8) ** 2)))[:, None]
    v = np.gradient(q, t, axis=0, edge_order=2)
    a = np.gradient(v, t, axis=0, edge_order=2)
    tau = real.inverse_dynamics(q, v, a) + VISCOUS * v + COULOMB * np.sign(v) + ROTORS * a
    return robot, t, q, tau + rng.normal(size=q.shape) * [8.0, 5.0, 4.0, 0.08]


@pytest.mark.parametrize("seed", few_of([0, 4], [0]))
def test_two_exchanged_axes_are_named_where_residuals_hardly_tell(seed):
    robot, t, q, tau = recorded(seed)
    assert dy.identify(robot, Log(t, q, tau), compare=()).verdict.grade == "good"
    order = [1, 0, 2, 3]
    found = dy.identify(robot, Log(t, q[:, order], tau[:, order]), compare=())
    assert found.verdict.grade == "doubtful"
    assert "'q.X' and 'q.Y' and those of their torques seem to be swapped" in found.verdict.reasons[0]
    assert "nearer to those of the file" in found.verdict.reasons[0]


def test_currents_of_linear_axes_are_not_taken_for_forces():
    robot, t, q, tau = recorded(1)
    found = dy.identify(robot, Log(t, q, tau / [260.0, 190.0, 170.0, 9.0]), compare=())
    assert found.verdict.grade == "not usable"
    assert "seem to be currents" in found.verdict.reasons[0]
