"""The closed form is the robot: on every robot of the library with up to seven joints it gives the torques of the recursion."""

import numpy as np
import pytest
from closed_forms import random_values

import dynamis as dy
from dynamis.scalar import Program, symbol

STATES = 100
ARMS = [name for name in dy.library() if 0 < dy.load(name).n <= 7 and dy.load(name).nq == dy.load(name).n]


def test_the_library_has_arms_of_every_kind():
    assert {"puma560", "stanford", "scara", "ur5e", "panda", "xarm7", "kuka_iiwa14", "planar_2r", "planar_prp"} <= set(ARMS)


# the axes of the xArm 7 are turned by decimals that are no right angles: its form is ten times as long as any other
# and the terms of that of the Panda, the next in length, are added up in tests/symbolic/test_closed_form.py
LONG = {"xarm7": pytest.mark.campaign, "panda": pytest.mark.campaign}


@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG.get(name, ())) for name in ARMS])
def test_torques_are_those_of_newton_and_euler(name):
    rng = np.random.default_rng(5)
    form = dy.load(name).closed_form()
    atoms = [a.node.args[0] for a in form.algebra.ring.atoms if a.kind == "symbol" and a.node.op == "symbol"]
    values = random_values([s for s in atoms if "[" not in s], rng, 0.5, 2.0)  # those with brackets are the state
    robot = dy.load(name, parameters=values or None)
    q, v, a = robot.random(1, STATES), *rng.normal(size=(2, STATES, robot.n))
    inputs = [*form.q, *form.v, *form.a, *(symbol(s) for s in values)]
    columns = [*q.T, *v.T, *a.T, *(np.full(STATES, x) for x in values.values())]
    torque = Program(inputs, form.torque_graph())(*columns)
    expected = robot.inverse_dynamics(q, v, a)
    assert (np.abs(torque - expected).max(axis=1) <= 1e-12 * np.abs(expected).max(axis=1)).all()
