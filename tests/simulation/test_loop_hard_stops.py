"""Hard stops of robots with loops: as of the same mechanism without loops, and with several stops of one motion."""

import numpy as np
import pytest
from campaign_params import few_of

import dynamis as dy
from dynamis.model.description import Limits, Mimic
from dynamis.simulation.loops.mechanisms import four_bar
from dynamis.simulation.loops.stops import after_impact, nearest, stay

RATIO, OFFSET = -1.5, 0.2
EXACT = {"rtol": 1e-10, "atol": 1e-12, "points": 41}


def geared(coupled, lower=-5.0, upper=5.0):
    """A double pendulum whose second joint follows the first: by a closure, or in a tree."""
    d = dy.Description("geared", gravity=np.array([0.0, 0.0, -9.81])).add_link("base")
    inertia = dy.Inertia.about_com(1.0, [0.3, 0.0, 0.0], np.eye(3) * 0.02)
    d.add_link("l1", "base", "revolute", joint_name="a", axis=(0, 1, 0), inertia=inertia, limits=Limits(lower=-0.5, upper=0.9))
    d.add_link("l2", "l1", "revolute", joint_name="b", axis=(0, 1, 0), origin=dy.Pose.translation([0.6, 0.0, 0.0]),
               inertia=inertia, limits=Limits(lower=lower, upper=upper))  # fmt: skip
    if not coupled:
        d.joint("b").mimic = Mimic("a", RATIO, OFFSET)
    robot = dy.Robot(d)
    return dy.constrained(robot, closures=dy.loops.Coupled("b", "a", RATIO, OFFSET)) if coupled else robot


def both_at(q):
    return np.array([q, RATIO * q + OFFSET])


BOUNCES = [(0.0, {}), (0.5, {"method": "RK45"}), (0.0, {"stabilisation": "baumgarte", "method": "Radau"}),
           (0.5, {}), (0.0, {"method": "RK45"}), (0.5, {"stabilisation": "baumgarte", "method": "Radau"})]  # fmt: skip


@pytest.mark.parametrize(("restitution", "options"), few_of(BOUNCES, BOUNCES[:3]))
def test_a_mechanism_with_a_loop_bounces_and_rests_as_its_tree_does(restitution, options):
    stops = dy.HardStops(restitution)
    loop = geared(True).simulate(2.0, both_at(0.1), stops=stops, **EXACT, **options)
    method = {k: x for k, x in options.items() if k == "method"}
    tree = dy.simulate(geared(False), 2.0, [0.1], stops=stops, **EXACT, **method)
    assert [(e.kind, e.joint) for e in loop.events] == [(e.kind, e.joint) for e in tree.events]
    assert loop.events[-1].kind == "rests at its upper stop"
    np.testing.assert_allclose([e.time for e in loop.events], [e.time for e in tree.events], atol=1e-6)
    np.testing.assert_allclose(loop.q[:, :1], tree.q, atol=1e-6)
    np.testing.assert_allclose(loop.q[:, 1], RATIO * loop.q[:, 0] + OFFSET, atol=1e-6)
    np.testing.assert_allclose(loop.stop_torque[-1], [tree.stop_torque[-1, 0], 0.0], atol=1e-6)
    np.testing.assert_allclose(loop.acceleration[-1], 0.0, atol=1e-6)
    assert np.abs(loop.energy_error).max() < 1e-5


def test_a_joint_leaves_its_stop_when_it_is_pushed_away():
    def torque(t):
        return np.array([0.0 if t < 1.0 else -20.0, 0.0])

    loop = geared(True).simulate(1.5, both_at(0.1), stops=dy.HardStops(), torque=torque, **EXACT)
    tree = dy.simulate(geared(False), 1.5, [0.1], stops=dy.HardStops(), torque=lambda t: torque(t)[:1], **EXACT)
    assert [e.kind for e in loop.events][:3] == [f"{verb} its upper stop" for verb in ("hits", "rests at", "leaves")]
    assert [str(e) for e in loop.events] == [str(e) for e in tree.events]
    np.testing.assert_allclose(loop.q[:, :1], tree.q, atol=1e-7)
    assert loop.drift.max() < 1e-12


def test_two_stops_of_one_motion_share_the_load():
    """Both joints reach their stops at the same instant: the reactions on the motion add up to that of one."""
    one = geared(True).simulate(1.0, both_at(0.1), stops=dy.HardStops(), **EXACT)
    two = geared(True, lower=RATIO * 0.9 + OFFSET).simulate(1.0, both_at(0.1), stops=dy.HardStops(), **EXACT)
    assert two.complete
    np.testing.assert_allclose(two.q, one.q, atol=1e-8)
    weights = np.array([1.0, RATIO])
    assert two.stop_torque[-1] @ weights == pytest.approx(one.stop_torque[-1] @ weights, rel=1e-8)
    assert two.stop_torque[-1, 0] <= 0.0 <= two.stop_torque[-1, 1]


def test_a_crank_bounces_between_its_stops_without_gain_of_energy_and_goes_on_from_a_pause():
    loop = four_bar()
    d = loop.robot.description
    crank, start = d.joint("crank"), loop.home()[0]
    crank.type = "revolute"
    crank.limits.lower, crank.limits.upper = start - 0.3, start + 0.3
    limited = dy.constrained(dy.Robot(d), closures=loop.closures)
    q, v = loop.home(), loop.assemble_velocity(loop.home(), [3.0, 0.0, 0.0], locked=["crank"])
    options = {"stops": dy.HardStops(0.8), "friction": "smooth", "rtol": 1e-9, "atol": 1e-11}
    motion = limited.simulate(0.6, q, v, points=61, **options)
    assert {"hits its upper stop", "hits its lower stop"} <= {e.kind for e in motion.events}
    assert np.abs(motion.q[:, 0] - start).max() <= 0.3 + 1e-9
    assert motion.drift.max() < 1e-10
    assert np.abs(motion.energy_error).max() < 1e-6
    assert (np.diff(motion.work[[0, -1]]) < 0.0).all()
    half = limited.simulate(0.3, q, v, points=31, **options)
    whole = limited.simulate(0.6, resume=half, points=31, **options)
    np.testing.assert_allclose(whole.q[-1], motion.q[-1], atol=1e-6)


def test_impacts_obey_newton_keep_the_loops_closed_and_lose_energy():
    rng = np.random.default_rng(0)
    for _ in range(50):
        R, H = rng.normal(size=(6, 5)), rng.normal(size=(2, 5))
        M, N = R.T @ R + np.eye(5), np.linalg.svd(H)[2][2:].T
        v = N @ rng.normal(size=3)
        hitting = {0: int(np.sign(v[0])), 3: int(np.sign(v[3]))}
        after = after_impact(M, H, v, hitting, {}, dy.HardStops(0.5))
        np.testing.assert_allclose(H @ after, 0.0, atol=1e-12)
        assert all(side * (after[k] + 0.5 * v[k]) <= 1e-12 for k, side in hitting.items())
        assert after @ M @ after <= v @ M @ v + 1e-12
        alone = after_impact(M, H, v, {0: hitting[0]}, {}, dy.HardStops(0.5))
        assert alone[0] == pytest.approx(-0.5 * v[0], abs=1e-12)


def test_of_joints_at_their_stops_those_stay_that_are_pushed_against_them():
    M, H, still = np.eye(3), np.array([[1.0, 1.0, 0.0]]), np.zeros(1)
    assert stay(M, np.array([1.0, 0.0, -1.0]), H, still, {0: 1, 2: 1}) == [0]
    assert stay(M, np.array([1.0, 0.0, 0.0]), H, still, {0: 1, 1: -1, 2: 1}) == [0, 1, 2]
    assert nearest(M, np.zeros((3, 0)), np.ones(3), {0: 1}, {}).tolist() == [1.0, 1.0, 1.0]


def test_with_contacts_that_can_lift_off_hard_stops_are_refused():
    robot = dy.load("go2", base="floating")
    stance = dy.constrained(robot, points=["FL_foot", "FR_foot", "RL_foot", "RR_foot"])
    with pytest.raises(dy.InputError, match="impacts at hard stops are not computed where contacts can lift off"):
        stance.simulate(0.1, robot.q(robot.description.appearance.pose), stops=dy.HardStops())
