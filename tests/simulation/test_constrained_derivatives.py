"""Derivatives of accelerations and forces of robots with contacts and loops, against differences of forward dynamics."""

import numpy as np
import pytest
from joint_zoo import zoo_robot

import dynamis as dy
from dynamis.tolerances import CENTRAL_DIFFERENCE_STEP

AGREE = 1e-6  # of central differences, relative to the largest entry of all: internal forces are known to 1e-9 only
FEET = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]


def by_differences(held, q, v, tau, **options):
    """∂(v̇, λ) by q, v and τ."""
    robot, h = held.robot, CENTRAL_DIFFERENCE_STEP

    def at(direction, which):
        given = [q, v, tau]
        given[which] = robot.integrate(q, direction) if which == 0 else given[which] + direction
        return np.concatenate(held.forward_dynamics(*given, **options))

    steps = h * np.eye(robot.n)
    return [np.stack([(at(d, k) - at(-d, k)) / (2 * h) for d in steps], axis=-1) for k in range(3)]


def check(held, q, v, tau, **options):
    accelerations, forces = held.forward_dynamics_derivatives(q, v, tau, **options)
    expected = by_differences(held, q, v, tau, **options)
    scale = max(np.abs(x).max() for x in expected)
    for a, f, x in zip(accelerations, forces, expected, strict=True):
        np.testing.assert_allclose(np.concatenate([a, f]), x, rtol=0, atol=AGREE * scale)


def test_feet_of_a_quadruped():
    robot = dy.load("go2", base="floating")
    rng = np.random.default_rng(0)
    q, v, tau = robot.q(robot.description.appearance.pose), 0.2 * rng.normal(size=18), rng.normal(size=18)
    stance = dy.constrained(robot, points=FEET)
    check(stance, q, v, tau, wrenches={"base": rng.normal(size=6)}, acceleration=rng.normal(size=12))


def test_a_point_of_a_robot_that_flies():
    robot = zoo_robot("flyer")
    rng = np.random.default_rng(4)
    check(dy.constrained(robot, points="tool"), robot.random(rng), *rng.normal(size=(2, robot.n)))


@pytest.mark.parametrize(
    ("name", "options"),
    [("ur5e", {"points": "tool0", "alpha": 3.0}), ("panda", {"points": ["panda_link7", "panda_link8"]})],
    ids=["one point", "two points of one link"],
)
def test_contacts_of_an_arm(name, options):
    """Two points keep their distance, so that a row is redundant: the forces of least norm turn with the range of J."""
    robot = dy.load(name)
    rng = np.random.default_rng(1)
    speed = 1.0 if name == "ur5e" else 0.0  # points of one link that move cannot both have no acceleration
    check(dy.constrained(robot, **options), robot.random(rng), speed * rng.normal(size=robot.n), rng.normal(size=robot.n))


@pytest.mark.filterwarnings("ignore:the loops are")  # beside the closed configuration, where differences are taken
@pytest.mark.parametrize("closed_by", ["plane", "pin"])
def test_loops_also_with_redundant_rows(closed_by):
    loop = dy.loops.four_bar(closed_by=closed_by)
    q = loop.home()
    check(loop, q, loop.assemble_velocity(q, [1.0, 0.0, 0.0]), np.array([0.5, 0.0, 0.0]))


def test_they_are_those_of_the_differentiated_solution():
    """Without differences: derivatives of the factorisation itself."""
    robot = dy.load("ur5e")
    held = dy.constrained(robot, points="forearm_link")
    rng = np.random.default_rng(2)
    q, v, tau = robot.random(rng), *rng.normal(size=(2, 6))

    def accelerations(robot, q, v, tau):
        return dy.constrained(robot, points="forearm_link").forward_dynamics(q, v, tau)[0]

    expected = robot.differentiate(accelerations).jacobian(q, v, tau)
    found = np.concatenate(list(held.forward_dynamics_derivatives(q, v, tau)[0]), axis=-1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_batches_are_their_states():
    robot = dy.load("ur5e")
    held = dy.constrained(robot, points="tool0")
    rng = np.random.default_rng(3)
    q, (v, tau) = robot.random(rng, (2, 3)), rng.normal(size=(2, 2, 3, 6))
    accelerations, forces = held.forward_dynamics_derivatives(q, v, tau)
    assert accelerations.dq.shape == (2, 3, 6, 6)
    assert forces.dtau.shape == (2, 3, 3, 6)
    one, force = held.forward_dynamics_derivatives(q[1, 2], v[1, 2], tau[1, 2])
    np.testing.assert_allclose(accelerations.array[1, 2], one.array, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(forces.array[1, 2], force.array, rtol=1e-9, atol=1e-9)


def test_dry_friction_at_rest_is_said_of_the_function_that_was_called():
    arm = dy.load("planar_2r_melchiorri").replace(friction={"joint1": {"coulomb": 2.0}})
    held, q, v, tau = dy.constrained(arm, points=[arm.link_names[-1]]), [0.3, 0.8], np.zeros(2), np.ones(2)
    with pytest.warns(dy.ModelWarning, match=r"the derivative of constrained\(…\)\.forward_dynamics is that") as warned:
        held.forward_dynamics_derivatives(q, v, tau)
    assert len(warned) == 1
    held.forward_dynamics_derivatives(q, v, tau)
