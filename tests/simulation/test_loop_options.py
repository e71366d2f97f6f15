"""Motions with loops take the options of `simulate`: events, sampled controllers, fixed steps, continuation."""

import numpy as np
import pytest
from loop_mechanisms import BODY

import dynamis as dy
from dynamis.errors import InputError, ModelWarning
from dynamis.kinematics.closures import Anchor, Coupled, Pin, Point, Weld
from dynamis.model.closures import LoopClosure
from dynamis.simulation.loops.mechanisms import four_bar

EXACT = {"rtol": 1e-10, "atol": 1e-12, "points": 21}


def pendulums():
    """A free body on a pin, and the same on a joint."""
    d = dy.Description("held", gravity=np.array([0.0, 0.0, -9.81])).add_link("base")
    held = dy.constrained(dy.Robot(d.add_link("body", "base", "free", inertia=BODY)), closures=Pin("body", "base", (0, 1, 0)))
    d = dy.Description("jointed", gravity=np.array([0.0, 0.0, -9.81])).add_link("base")
    return held, dy.Robot(d.add_link("body", "base", "revolute", axis=(0, 1, 0), inertia=BODY))


def law(robot):
    """A spring and a damper about the pin, for either of the two."""
    place = robot.n - 2 if robot.n > 1 else 0  # of the velocity about y

    def torque(_t, q, v):
        tau = np.zeros(robot.n)
        angle = 2.0 * np.arcsin(q[4]) if robot.n > 1 else q[0]
        tau[place] = -0.3 * angle - 0.05 * v[place]
        return tau

    return torque


def test_dry_friction_of_the_model_holds_a_loop_at_rest():
    loop = dy.loops.four_bar()
    d = loop.robot.description
    for joint in d.joints:
        joint.drive.coulomb = 50.0
    motion = dy.constrained(dy.Robot(d), closures=loop.closures).simulate(0.1, loop.home(), points=3)
    assert motion.status == "completed"
    assert np.abs(motion.v).max() == 0.0
    assert np.abs(loop.simulate(0.1, loop.home(), points=3).v).max() > 0.1


def test_events_are_located_as_on_a_tree():
    held, jointed = pendulums()
    loop = held.simulate(2.0, events={"bottom": lambda t, q, v: v[4]}, **EXACT)
    tree = dy.simulate(jointed, 2.0, jointed.neutral(), events={"bottom": lambda t, q, v: v[0]}, **EXACT)
    assert len(tree.events) == 1
    np.testing.assert_allclose([e.time for e in loop.events], [e.time for e in tree.events], atol=1e-7)
    stopped = held.simulate(2.0, events={"bottom": dy.Event(lambda t, q, v: v[4], stop=True)}, **EXACT)
    assert stopped.complete
    np.testing.assert_allclose(stopped.t[-1], tree.events[0].time, atol=1e-7)
    assert stopped.drift.max() < 1e-12


def test_a_sampled_controller_acts_as_on_a_tree():
    held, jointed = pendulums()
    q = np.array([0.0, 0.0, 0.0, 0.0, np.sin(0.2), 0.0, np.cos(0.2)])
    loop = held.simulate(0.5, q, controller=dy.Sampled(law(held), rate=50.0, delay=5e-3), **EXACT)
    tree = dy.simulate(jointed, 0.5, [0.4], controller=dy.Sampled(law(jointed), rate=50.0, delay=5e-3), **EXACT)
    np.testing.assert_allclose(2.0 * np.arcsin(loop.q[:, 4]), tree.q[:, 0], atol=1e-8)
    np.testing.assert_allclose(loop.tau[:, 4], tree.tau[:, 0], atol=1e-8)


def test_compiled_intervals_between_samples_are_those_of_the_integrator():
    loop = four_bar()
    options = {"controller": dy.Sampled(lambda t, q, v: -0.2 * v, rate=100.0), **EXACT}
    compiled = loop.simulate(0.5, **options)
    located = loop.simulate(0.5, events={"never": lambda t, q, v: 1.0}, **options)
    np.testing.assert_allclose(compiled.q, located.q, atol=1e-9)
    assert compiled.drift.max() < 1e-12
    assert compiled.statistics["evaluations"] != located.statistics["evaluations"]


def test_passing_through_a_fold_between_samples_is_an_event():
    loop = four_bar(1.0, 0.4, 1.0, 0.4, angle=0.5, gravity=(0.0, 0.0, 0.0))
    q = loop.home()
    v = loop.assemble_velocity(q, [2.0, -2.0, 2.0])
    motion = loop.simulate(2.0, q, v, controller=dy.Sampled(lambda t: np.zeros(3), rate=20.0), points=5)
    assert [round(event.time, 1) for event in motion.events] == [1.3]


def test_a_resumed_motion_is_that_without_a_stop():
    loop = four_bar()
    robot = loop.robot
    options = {"controller": dy.Sampled(lambda t, q, v: -0.2 * v, rate=40.0), **EXACT}
    whole = loop.simulate(1.0, **options)
    half = loop.simulate(1.0, events={"half": dy.Event(lambda t, q, v: t - 0.43, stop=True)}, **options)
    assert 0.4 < half.t[-1] < 0.44
    both = loop.simulate(1.0, resume=half, **options)
    assert both.status == "completed"
    assert isinstance(both, type(whole))
    np.testing.assert_allclose(both.at(whole.t)[0], whole.q, atol=1e-8)
    assert both.constraint_forces.shape == (len(both), 2)
    assert both.statistics["rank"] == 2
    assert both.statistics["evaluations"] > half.statistics["evaluations"]
    with pytest.raises(InputError, match="other loops"):
        dy.simulate(robot, 1.0, resume=half)


def test_a_motion_from_a_file_is_resumed_with_its_closures(tmp_path):
    loop = four_bar()
    robot = loop.robot
    first = loop.simulate(0.3, **EXACT)
    read = dy.Trajectory.load(first.save(tmp_path / "motion.npz"), robot)
    both = loop.simulate(0.6, resume=read, **EXACT)
    np.testing.assert_allclose(both.q[-1], loop.simulate(0.6, **EXACT).q[-1], atol=1e-8)
    with pytest.raises(InputError, match="other loops"):
        dy.constrained(robot, closures=Pin("coupler_end", "rocker")).simulate(0.6, resume=read)
    with pytest.raises(InputError, match="other loops"):
        four_bar(closed_by="pin").simulate(0.6, resume=first)
    stance = dy.constrained(robot, points="rocker_end", closures=loop.closures)
    with pytest.raises(InputError, match="call its simulate"):
        dy.simulate(stance, 0.1)


def test_compiled_steps_are_those_of_the_equations():
    loop = four_bar()
    push = {"coupler": [1.0, 2.0, 0.0, 0.0, 0.0, 0.5]}
    exact = loop.simulate(0.5, wrenches=push, **EXACT)
    compiled = loop.simulate(0.5, wrenches=push, method="rk4", step=1e-3, points=21)
    free = loop.simulate(0.5, method="rk4", step=1e-3, points=3)
    np.testing.assert_allclose(free.q, loop.simulate(0.5, **{**EXACT, "points": 3}).q, atol=1e-9)
    called = loop.simulate(0.5, wrenches=push, torque=lambda t: np.zeros(3), method="rk4", step=1e-3, points=21)
    assert compiled.statistics["compiled"]
    assert not called.statistics["compiled"]
    np.testing.assert_allclose(compiled.q, exact.q, atol=1e-9)
    np.testing.assert_allclose(called.q, compiled.q, atol=1e-10)
    assert compiled.drift.max() < 1e-12
    assert np.abs(compiled.energy_error).max() < 1e-8


def test_compiled_steps_hold_contacts_wherever_they_are():
    robot = dy.load("ur5e")
    held = dy.constrained(robot, frames="wrist_1_link")
    for q in ([0.3, -1.2, 1.5, -0.4, 0.8, 0.1], [0.2, -1.0, 1.2, -0.4, 0.8, 0.1]):
        options = {"v0": [0.0, 0.0, 0.0, 0.0, 1.0, -1.0], "points": 3, "normal": None}
        motion = held.simulate(0.1, q, method="rk4", step=1e-3, **options)
        assert motion.statistics["compiled"]
        np.testing.assert_allclose(motion.q, held.simulate(0.1, q, **options).q, atol=1e-9)
        np.testing.assert_allclose(robot.pose(motion.q[-1], "wrist_1_link"), robot.pose(q, "wrist_1_link"), atol=1e-12)


def test_motions_start_with_closed_loops_and_are_stabilised_with_the_gains_of_the_robot():
    tree = dy.load("planar_2r_melchiorri")
    gear = Coupled("joint1", "joint2", 1.0, 0.3)
    geared = dy.constrained(tree, closures=gear)
    np.testing.assert_allclose(geared.home(), [0.15, -0.15], atol=1e-12)
    motion = geared.simulate(0.05, points=3)
    np.testing.assert_array_equal(motion.q[0], geared.home())
    assert motion.drift.max() < 1e-12
    firm = dy.constrained(tree, closures=gear, alpha=5.0, beta=7.0)
    for robot, gains in ((geared, (20.0, 20.0)), (firm, (5.0, 7.0))):
        assert robot.simulate(0.05, points=3, stabilisation="baumgarte").gains == gains
        assert robot.simulate(0.05, points=3).gains == (0.0, 0.0)


def test_points_between_outputs_close_the_loops():
    loop = four_bar()
    robot, q = loop.robot, loop.home()
    motion = loop.simulate(0.5, points=3)
    between, _ = motion.at(np.linspace(0.0, 0.5, 13))
    gap = robot.pose(between, "coupler_end")[:, :2, 3] - robot.pose(between, "rocker_end")[:, :2, 3]
    assert np.abs(gap).max() < 1e-12
    one, _ = motion.at(0.123)
    assert one.shape == q.shape


def test_a_tree_whose_file_closes_loops_is_simulated_with_one_warning():
    loop = four_bar()
    d = loop.robot.description
    d.closures.append(LoopClosure("point", "coupler_end", "rocker_end"))
    robot = dy.Robot(d)
    with pytest.warns(
        ModelWarning, match=r"point of 'coupler_end' and 'rocker_end'.*dynamis.constrained\(robot\).simulate"
    ) as found:
        dy.simulate(robot, 0.01, loop.home(), points=2)
    assert found[0].filename == __file__
    dy.simulate(robot, 0.01, loop.home(), points=2)
    with pytest.warns(ModelWarning, match="open in this motion"):
        dy.rollouts(dy.Robot(d), 0.01, loop.home()[None], method="euler", step=1e-2)
    closed = dy.Robot(d)
    assert dy.constrained(closed).simulate(0.01, loop.home(), points=2).drift.max() < 1e-12


@pytest.mark.parametrize("closure", [Point("tool0", None), Weld(None, "forearm_link"), Anchor(None, (0.0, 0.0, 0.0))])
def test_a_closure_without_one_of_its_frames_is_refused(closure):
    robot = dy.load("ur5e")
    with pytest.raises(dy.DynamisError, match="frame must be a name"):
        dy.constrained(robot, closures=closure)
    with pytest.raises(dy.DynamisError, match="frame must be a name"):
        dy.constrained(robot, points=["tool0", None])


def test_compliant_stops_keep_joints_of_loops_within_their_limits():
    loop = four_bar()
    d = loop.robot.description
    crank = d.joint("crank")
    start = loop.home()[0]
    crank.type = "revolute"  # which has limits
    crank.limits.lower, crank.limits.upper = start - 0.3, start + 0.3
    limited = dy.constrained(dy.Robot(d), closures=loop.closures)
    q, v = loop.home(), loop.assemble_velocity(loop.home(), [3.0, 0.0, 0.0], locked=["crank"])
    free = limited.simulate(0.5, q, v, friction="smooth", points=51)
    stopped = limited.simulate(
        0.5, q, v, friction="smooth", points=51, stops=dy.joint_stops(limited, stiffness=1e4, damping=1.0)
    )
    assert abs(free.q[:, 0] - start).max() > 0.4
    assert abs(stopped.q[:, 0] - start).max() < 0.32
    assert stopped.drift.max() < 1e-10
