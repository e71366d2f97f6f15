"""Linear models of robots with closed loops and contacts, against differences along the constraints."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.simulation.loops.constrained import assembled
from dynamis.simulation.loops.constraints import held_at

STEP = 1e-6


@pytest.fixture(scope="module")
def monoped():
    """A trunk on a leg with a foot that is held, and an arm with a ball joint."""
    d = dy.Description("monoped").add_link("world")
    d.add_link("trunk", "world", "free", joint_name="base", inertia=dy.solids.box(0.3, 0.2, 0.2, mass=4.0))
    rod = dy.solids.rod(0.3, mass=0.5).seen_from(dy.Pose.translation([0, 0, -0.15]))
    for name, parent, axis in (("hip", "trunk", (1, 0, 0)), ("thigh", "hip", (0, 1, 0)), ("shank", "thigh", (0, 1, 0))):
        place = dy.Pose.translation([0, 0, -0.3 if name == "shank" else 0.0])
        d.add_link(name, parent, "revolute", joint_name=f"{name} joint", axis=axis, origin=place, inertia=rod)
    d.add_link("foot", "shank", origin=dy.Pose.translation([0, 0, -0.3]))
    d.add_link("arm", "trunk", "spherical", joint_name="shoulder", inertia=dy.solids.box(0.1, 0.2, 0.3, mass=1.0))
    return dy.constrained(dy.Robot(d), points="foot")


def slopes(robot, near, rows):
    """Differences of the independent accelerations along motions that keep the constraints, and by the inputs."""
    tree, m = robot.robot, len(rows)
    held, names = held_at(tree, robot.contacts, near.q), [tree.coordinate_names[k] for k in rows]
    inputs = [tree.coordinate_names.index(name) for name in near.actuated]

    def acceleration(x):
        q = assembled(tree, held, tree.integrate(near.q, near.displacements @ x[:m]), rows, 1e-13, 100)
        guess, tau = near.v.copy(), near.tau.copy()
        guess[rows] += x[m : 2 * m]
        tau[inputs] += x[2 * m :]
        return robot.forward_dynamics(q, robot.assemble_velocity(q, guess, locked=names), tau)[0][rows]

    steps = STEP * np.eye(2 * m + len(inputs))
    return np.stack([(acceleration(x) - acceleration(-x)) / (2.0 * STEP) for x in steps], axis=1)


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("mechanism", ["four_bar", "five_bar", "delta", "monoped"])
def test_linear_models_are_the_slopes_along_the_constraints(mechanism, moving, request):
    robot = request.getfixturevalue("monoped") if mechanism == "monoped" else getattr(dy.loops, mechanism)()
    bent = {"thigh joint": 0.5, "shank joint": -1.0}
    q, n = robot.robot.q(bent) if mechanism == "monoped" else robot.home(), robot.n
    v = robot.assemble_velocity(q, np.random.default_rng(1).normal(size=n)) if moving else np.zeros(n)
    near = dy.linearize(robot, q, v)
    rows = [robot.robot.coordinate_names.index(name) for name in near.coordinates]
    m = len(rows)
    assert m == n - robot.independence(q).rank
    found = slopes(robot, near, rows)
    # the rates of coordinates of joints that turn in a moving frame are no independent variables of these differences
    turning = np.abs(near.A[:m, :m]).max() > 0.0
    assert turning == (moving and mechanism == "monoped")
    np.testing.assert_allclose(np.hstack([near.A[m:], near.B[m:]]), found, atol=3e-7 * np.abs(found).max())


def test_a_law_from_the_linear_model_balances_a_four_bar():
    from scipy.linalg import solve_continuous_are

    loop = dy.loops.four_bar()
    q = loop.home()
    near = dy.linearize(loop, q, actuated=["crank"], independent=["crank"])
    assert near.at_equilibrium
    assert near.modes[0].kind == "unstable"
    K = near.B.T @ solve_continuous_are(near.A, near.B, np.eye(2), np.eye(1))

    def law(t, x, v):
        return near.tau - np.array([1.0, 0.0, 0.0]) * (K @ np.array([x[0] - q[0], v[0]]))[0]

    start = loop.assemble(q + np.array([0.1, 0.0, 0.0]), locked=["crank"])
    motion = loop.simulate(3.0, start, controller=law, friction="none")
    assert abs(motion.q[-1] - q).max() < 1e-3
    assert abs(start[0] - q[0]) == pytest.approx(0.1)


def test_torques_hold_the_robot_as_far_as_the_motors_can():
    loop = dy.loops.five_bar()
    names = loop.robot.coordinate_names
    driven = [names[0], names[-1]]
    near = dy.linearize(loop, loop.home(), actuated=driven)
    assert near.at_equilibrium
    assert set(np.flatnonzero(near.tau)) <= {names.index(name) for name in driven}
    assert not dy.linearize(loop, loop.home(), actuated=driven[:1]).at_equilibrium


def test_open_loops_and_options_of_other_robots_are_refused():
    loop = dy.loops.four_bar()
    with pytest.raises(dy.InputError, match=r"q does not close the loops of 'four-bar': assemble\(q\) differs by"):
        dy.linearize(loop, loop.home() + np.array([0.1, 0.0, 0.0]))
    with pytest.raises(dy.InputError, match="friction_velocity= is for robots without contacts and loops"):
        dy.linearize(loop, loop.home(), friction_velocity=0.1)
    with pytest.raises(dy.InputError, match="independent= chooses coordinates of a robot with contacts or loops"):
        dy.linearize(dy.load("planar_2r_melchiorri"), [0.0, 0.0], independent=["joint1"])
    with pytest.raises(dy.SingularError, match="do not determine the others"):
        dy.linearize(loop, loop.home(), independent=["crank", "rocker"])
