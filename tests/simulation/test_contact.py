"""Surfaces and stops: they push, never pull, take energy only where they should, and can be traced."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.scalar import evaluate, symbol
from dynamis.simulation.contact import ContactGroup


def falling(mass=2.0):
    """A ball that can only go up and down."""
    d = dy.Description("ball", gravity=np.array([0.0, 0.0, -9.81])).add_link("base")
    d.add_link("ball", "base", "prismatic", axis=(0, 0, 1), inertia=dy.solids.sphere(0.1, mass=mass))
    return dy.Robot(d)


FLOOR = dy.Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))


def test_a_ball_comes_to_rest_where_the_floor_carries_its_weight():
    robot = falling()
    floor = dy.contact(robot, "ball", FLOOR, stiffness=1e4, damping=5.0, radius=0.1)
    motion = dy.simulate(robot, 6.0, [0.3], wrenches={"ball": floor}, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(motion.q[-1], [0.1 - 2.0 * 9.81 / 1e4], atol=1e-5)


def test_output_times_lie_on_the_steps_of_the_default_method():
    robot = falling()
    floor = dy.contact(robot, "ball", FLOOR, stiffness=1e4, damping=5.0, radius=0.1)
    motion = dy.simulate(robot, 0.4, [0.3], wrenches={"ball": floor}, step=1e-3)
    assert (len(motion.t), motion.statistics["steps"]) == (401, 400)
    standing = dy.constrained(robot.replace(friction={robot.joint_names[0]: {"coulomb": 5.0}}), points=["ball"])
    assert len(standing.simulate(0.1, [0.1], step=1e-3).t) == 101


def test_without_damping_it_bounces_to_where_it_started():
    robot = falling()
    floor = dy.contact(robot, "ball", FLOOR, stiffness=1e5, radius=0.1)
    motion = dy.simulate(robot, 2.0, [0.5], wrenches={"ball": floor}, rtol=1e-10, atol=1e-12, points=4001)
    peaks = motion.q[(motion.v[:, 0] ** 2 < 1e-3) & (motion.q[:, 0] > 0.2), 0]
    assert len(peaks) > 1
    np.testing.assert_allclose(peaks.max(), 0.5, atol=1e-4)


def test_a_surface_never_pulls():
    robot = falling()
    floor = dy.contact(robot, "ball", FLOOR, stiffness=1e4, damping=100.0, radius=0.1)
    for q in (-0.05, 0.05, 0.09999, 0.10001, 1.0):
        for v in (-5.0, 0.0, 5.0):
            assert floor(0.0, np.array([q]), np.array([v]))[2] >= 0.0
    assert floor(0.0, np.array([0.11]), np.array([-1.0]))[2] == 0.0


def test_friction_is_against_the_slip_and_not_more_than_mu_n():
    arm = dy.load("planar_2r_melchiorri")
    push = dy.contact(arm, None, dy.Plane((0, -1, 0), (0, 1, 0)), stiffness=1e4, friction=0.5)
    q = np.array([-np.pi / 2 + 0.3, 0.0])
    for v in ([1.0, 0.0], [-1.0, 0.0], [1e-6, 0.0]):
        fx, fy = push(0.0, q, np.array(v))[:2]
        slip = arm.velocity(q, np.array(v))[0]
        assert fx * slip <= 0.0
        assert abs(fx) <= 0.5 * fy + 1e-9


def test_a_ball_pushes_away_from_its_centre():
    arm = dy.load("planar_2r_melchiorri")
    q = np.array([0.3, -0.2])
    p = arm.pose(q)[:3, 3]
    centre = p - np.array([0.0, 0.3, 0.0])
    force = dy.contact(arm, None, dy.Ball(tuple(centre), 0.5), stiffness=100.0)(0.0, q, np.zeros(2))
    np.testing.assert_allclose(force[:3], [0.0, 100.0 * 0.2, 0.0], atol=1e-9)


def test_contacts_can_be_traced_into_rollouts():
    arm = dy.load("planar_2r_melchiorri")
    push = dy.contact(arm, None, dy.Plane((0, -1, 0), (0, 1, 0)), stiffness=1e4, friction=0.5, radius=0.02)
    q, v = (np.array([symbol(f"{x}{k}") for k in range(2)], dtype=object) for x in "qv")
    traced = push(0.0, q, v)
    at = {q[0]: -1.2, q[1]: 0.1, v[0]: 0.4, v[1]: -0.3}
    np.testing.assert_allclose(evaluate(traced, at), push(0.0, np.array([-1.2, 0.1]), np.array([0.4, -0.3])), rtol=1e-12)


def test_stops_hold_a_joint_near_its_limit():
    robot = dy.load("scara").replace(gravity=(0, 0, 0))
    stops = dy.joint_stops(robot, stiffness=1e5, damping=1.0)
    upper = robot.limits["upper"]
    motion = dy.simulate(robot, 2.0, torque=[0.0, 0.0, 50.0, 0.0], stops=stops)
    assert upper[2] < motion.q[:, 2].max() < upper[2] + 0.02
    assert np.all(stops(0.0, np.array([0.0, 0.0, 0.5 * upper[2], 0.0]), np.zeros(4)) == 0.0)


def test_work_at_the_surroundings_is_in_the_balance():
    robot = falling()
    floor = dy.contact(robot, "ball", FLOOR, stiffness=1e4, damping=5.0, radius=0.1)
    motion = dy.simulate(robot, 1.0, [0.3], wrenches={"ball": floor}, rtol=1e-10, atol=1e-12)
    assert np.abs(motion.energy_error).max() < 1e-6


def test_impossible_surroundings_are_refused():
    with pytest.raises(dy.InputError, match="stiffness= of a contact must be a finite number > 0"):
        dy.contact(falling(), "ball", FLOOR, stiffness=0.0)
    for without_limits in (falling(), dy.loops.four_bar()):
        with pytest.raises(dy.InputError, match="no joint with limits"):
            dy.joint_stops(without_limits, stiffness=1.0)


def test_a_group_of_contacts_acts_as_its_contacts_together():
    arm = dy.load("planar_2r_melchiorri")
    floor, law = dy.Plane((0, -1.5, 0), (0, 1, 0)), {"stiffness": 2e3, "damping": 0.5, "friction": 0.4}
    tip = arm.model.frame(None).name
    one, two = (
        dy.contact(arm, tip, floor, radius=r, point=p, **law) for r, p in ((0.1, (0.0, 0.0, 0.0)), (0.05, (-0.3, 0.0, 0.0)))
    )
    q, v = np.array([-1.4, -0.2]), np.array([0.3, -1.0])
    group = ContactGroup([one, two])
    assert np.allclose(group(0.0, q, v), one(0.0, q, v) + two(0.0, q, v), rtol=1e-12)
    alone, grouped = (dy.simulate(arm, 0.3, q, wrenches={tip: w}, step=1e-3, points=4) for w in (one, [one]))
    assert np.allclose(alone.q, grouped.q, rtol=1e-12)
    assert np.allclose(alone.wrenches[tip], [one(0.0, *x) for x in zip(alone.q, alone.v, strict=True)], rtol=1e-9)
    both = dy.simulate(arm, 0.6, q, wrenches={tip: group}, step=1e-3)
    assert np.abs(both.energy_error).max() < 2e-2 * np.ptp(both.kinetic_energy)
    with pytest.raises(dy.InputError, match="same frame"):
        ContactGroup([one, dy.contact(arm, arm.link_names[1], floor, **law)])


@pytest.mark.parametrize(
    "given", [((0.0, 0.0), (0.0, 1.0)), ((0, 0, np.nan), (0, 0, 1)), ((0, -1, 0), (0, 0, 0)), ("xyz", (0, 0, 1))]
)
def test_a_plane_that_is_none_is_refused(given):
    with pytest.raises(dy.InputError, match="of a plane must"):
        dy.Plane(*given)


def test_a_ball_that_is_none_is_refused():
    for given in (((0, 0), 1.0), ((0, 0, 0), 0.0), ((0, 0, 0), np.nan)):
        with pytest.raises(dy.InputError, match="of a ball must"):
            dy.Ball(*given)


def test_a_contact_is_given_under_its_own_frame():
    arm = dy.load("ur5e")
    push = dy.contact(arm, "tool0", dy.Plane(), stiffness=1e4)
    with pytest.raises(dy.InputError, match="a contact of the frame 'tool0' under 'forearm_link'"):
        dy.simulate(arm, 0.01, arm.home(), wrenches={"forearm_link": push})


@pytest.mark.parametrize("share", [0.25, 0.76, 0.98])
def test_a_body_under_a_steady_tangential_load_creeps_as_documented(share):
    """At slip artanh(F / (μ N)): the velocity at which the smoothed friction balances the load."""
    d = dy.Description("block").add_link("base").add_link("rail", "base", "prismatic", axis=(0, 0, 1))
    d.add_link("block", "rail", "prismatic", joint_name="x", axis=(1, 0, 0), inertia=dy.solids.sphere(0.1, mass=2.0))
    robot, weight = dy.Robot(d), 2.0 * 9.81
    contact = dy.contact(robot, "block", FLOOR, stiffness=1e4, damping=0.5, friction=0.4)
    torque = [0.0, share * 0.4 * weight]
    motion = dy.simulate(robot, 0.05, [-weight / 1e4, 0.0], torque=torque, wrenches={"block": contact}, rtol=1e-9)
    assert motion.v[-1][1] == pytest.approx(1e-3 * np.arctanh(share), rel=0.01)
