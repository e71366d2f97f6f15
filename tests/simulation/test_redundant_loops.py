"""Closures that always hold: their Jacobian is rounding error, and the robot moves as without them."""

import numpy as np
import pytest

import dynamis as dy


def rod_along_a_link():
    robot = dy.load("ur5e")
    ends = "upper_arm_link", "forearm_link"
    a, b = (robot.pose(robot.home(), name)[:3, 3] for name in ends)
    return robot, dy.constrained(robot, closures=dy.loops.Distance(*ends, float(np.linalg.norm(a - b))))


def doubled_hinge():
    arm = dy.load("panda").replace(friction=0)
    pose = arm.pose(arm.home(), "panda_link4", relative_to="panda_link3")
    robot = arm.with_frame("p1", "panda_link3", dy.Pose.from_matrix(pose))
    return robot, dy.constrained(robot, closures=dy.loops.Pin("p1", "panda_link4", axis=(0.0, 0.0, 1.0)))


@pytest.mark.parametrize("make", [rod_along_a_link, doubled_hinge])
def test_the_robot_moves_as_without_them(make):
    robot, held = make()
    rng = np.random.default_rng(0)
    q, (v, tau) = robot.random(1), rng.normal(size=(2, robot.n))
    assert held.independence(q).rank == 0
    a, forces = held.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(a, robot.forward_dynamics(q, v, tau), rtol=1e-9, atol=1e-9)
    assert np.abs(forces).max() < 1e-3
    np.testing.assert_allclose(held.assemble_velocity(q, v), v, atol=1e-12)
    np.testing.assert_allclose(held.impulse(q, v)[0], v, atol=1e-9)
    for options in ({"friction": "smooth"}, {"friction": "smooth", "method": "rk4", "step": 1e-3}):
        found = held.simulate(0.02, q, v, torque=tau, **options)
        expected = dy.simulate(robot, found.t, q, v, torque=tau, **options)
        assert found.status == "completed"
        np.testing.assert_allclose(found.q, expected.q, atol=1e-7)


def test_a_rod_without_direction_is_named():
    row = "[[link]]\nmass = 1\ncom = [0.1, 0, 0]\ninertia = {xx = 0.1, yy = 0.1, zz = 0.1}\n"
    held = dy.constrained(dy.load(f'[robot]\nname = "two"\n{row}{row}xyz = [1, 0, 0]\n'),
                          closures=dy.loops.Distance("base", "link1", 1.0))  # fmt: skip
    q, rest = np.array([0.1, 0.2]), np.zeros(2)
    for call in (held.jacobian, held.delassus, lambda q: held.forward_dynamics(q, rest, rest), lambda q: held.impulse(q, rest),
                 held.independence, lambda q: held.simulate(0.1, q)):  # fmt: skip
        with pytest.raises(dy.SingularError, match="'base' to 'link1' has no direction: its ends coincide"):
            call(q)
