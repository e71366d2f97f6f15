"""Inverse kinematics of robots with closed loops."""

import itertools

import numpy as np
import pytest
from loop_mechanisms import parts, rows

import dynamis as dy
from dynamis.errors import InputError, NameLookupError
from dynamis.model.description import Description, Limits
from dynamis.spatial import Pose, about_axis, solids

ts, loops = dy.task_space, dy.loops
PLANE = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
MECHANISMS = {
    "four-bar": (parts(loops.four_bar()), "coupler", PLANE),
    "hinges with redundant rows": (parts(loops.four_bar(closed_by="pin")), "coupler", PLANE),
    "five-bar": (parts(loops.five_bar()), "left_lower_end", PLANE),
    "slider-crank": (parts(loops.slider_crank()), "rod_end", PLANE),
    "delta": (parts(loops.delta()), "platform", None),
}


def gap(robot, closures, q):
    return np.abs(rows(robot, closures, q).h).max()


def closed_configurations(robot, closures, q, count):
    rng, found = np.random.default_rng(0), []
    while len(found) < count:
        try:
            found.append(dy.constrained(robot, closures=closures).assemble(q + rng.uniform(-0.8, 0.8, robot.n)))
        except InputError:
            continue
    return np.array(found)


def stewart():
    """A platform on six legs, each a universal and a prismatic joint below a ball joint."""
    d, closures = Description("stewart").add_link("base"), []
    d.add_link("platform", "base", "free", joint_name="free", inertia=solids.cylinder(0.3, 0.02, mass=2.0))
    for k in range(6):
        low, high = (np.pi / 3.0 * k + s * (1 if k % 2 else -1) for s in (0.2, -0.35))
        foot, corner = ([r * np.cos(x), r * np.sin(x), 0.0] for r, x in ((0.5, low), (0.3, high)))
        d.add_link(f"x{k}", "base", "continuous", origin=Pose.translation(foot), axis=(1.0, 0.0, 0.0))
        d.add_link(f"y{k}", f"x{k}", "continuous", axis=(0.0, 1.0, 0.0), inertia=solids.cylinder(0.02, 0.4, mass=0.5))
        d.add_link(f"leg{k}", f"y{k}", "prismatic", joint_name=f"leg{k}", axis=(0.0, 0.0, 1.0), limits=Limits(0.4, 1.0),
                   inertia=solids.cylinder(0.01, 0.4, mass=0.3))  # fmt: skip
        d.add_link(f"corner{k}", "platform", origin=Pose.translation(corner))
        closures.append(loops.Point(f"leg{k}", f"corner{k}"))
    robot = dy.Robot(d)
    q = robot.neutral()
    q[2] = q[9::3] = 0.7
    return robot, tuple(closures), dy.constrained(robot, closures=closures).assemble(q)


@pytest.mark.parametrize("name", MECHANISMS)
def test_targets_of_closed_configurations_are_found_with_closed_loops(name):
    (robot, closures, q0), frame, weights = MECHANISMS[name]
    X = robot.pose(closed_configurations(robot, closures, q0, 20), frame)
    found = dy.inverse_kinematics(robot, X, frame, q0=q0, weights=weights, closures=closures)
    assert found.found.all()
    assert gap(robot, closures, found.q) <= 1e-12
    rows = slice(0, 2) if weights else slice(0, 3)
    assert np.abs(robot.pose(found.q, frame)[:, rows, 3] - X[:, rows, 3]).max() < 1e-9


def test_the_pose_of_a_stewart_platform_is_found_within_the_limits_of_its_legs():
    robot, closures, q0 = stewart()
    X = robot.pose(q0, "platform").copy()
    X[:3, :3], X[:3, 3] = about_axis(np.array([1.0, 0.0, 0.0]), 0.2), X[:3, 3] + [0.05, -0.02, 0.03]
    found = dy.inverse_kinematics(robot, X, "platform", q0=q0, closures=closures)
    assert found.found
    assert gap(robot, closures, found.q) <= 1e-12
    assert np.allclose(robot.pose(found.q, "platform"), X, atol=1e-9)
    legs = found.q[9::3]
    assert ((legs >= 0.4) & (legs <= 1.0)).all()


def test_limits_of_joints_in_loops_hold_and_are_named():
    robot, closures, q0 = parts(loops.slider_crank(crank=0.2, rod=0.6))
    robot = robot.replace(limits={"slider": {"lower": 0.5, "upper": 0.7}})
    found = dy.inverse_kinematics(robot, [0.79, 0.0, 0.0], "slider", q0=q0, closures=closures, weights=[1.0, 0.0, 0.0])
    assert not found.found
    assert found.q[2] == 0.7
    assert gap(robot, closures, found.q) <= 1e-12
    assert "outside the joint limits: slider at 0.79" in found.status


def test_an_unreachable_target_leaves_loops_closed_at_the_smallest_error():
    robot, closures, q0 = parts(loops.delta())
    far = np.array([[3.0, 0.0, -0.5], [0.0, 0.0, -3.0]])
    found = dy.inverse_kinematics(robot, far, "platform", q0=q0, closures=closures, restarts=10)
    assert not found.found.any()
    assert gap(robot, closures, found.q) <= 1e-12
    # the arms stretched downwards: the platform is below the bases by (rod + arm), on a slope
    assert found.error[1] == pytest.approx(3.0 - np.sqrt(1.1**2 - 0.15**2), abs=1e-6)
    alone = dy.inverse_kinematics(robot, far[1], "platform", q0=q0, closures=closures, restarts=10)
    assert f"the position is out of reach by {found.error[1]:.3g} m" in alone.status


def test_the_status_counts_the_directions_in_which_closed_loops_let_a_frame_move():
    robot, closures, q0 = parts(loops.four_bar())
    target = robot.pose(q0, "coupler")[:3, 3] + [0.1, 0.0, 0.0]
    found = dy.inverse_kinematics(robot, target, "coupler", q0=q0, closures=closures, restarts=5)
    assert "can move the frame in 1 of the 3 independent directions" in found.status


def test_loops_that_cannot_close_are_named():
    robot, _, q0 = parts(loops.four_bar())
    apart = loops.Distance("coupler_end", "rocker_end", 5.0)
    found = dy.inverse_kinematics(robot, [0.3, 0.0, 0.0], "coupler", q0=q0, closures=apart, restarts=2)
    assert not found.found
    assert "the loops do not close: 'rod from coupler_end to rocker_end' stays open" in found.status


def test_goals_of_lower_priority_are_pursued_with_closed_loops():
    robot, closures, q0 = parts(loops.delta())
    reached = ts.Goal(ts.Position("platform", "xy"), [0.05, 0.02])
    posture = ts.Goal(ts.JointPositions("arm_1"), [0.2], priority=2)
    found = dy.inverse_kinematics(robot, [reached, posture], q0=q0, closures=closures)
    assert found.found
    assert gap(robot, closures, found.q) <= 1e-12
    assert np.allclose(found.q[[0, 3, 4]], [0.2, 0.05, 0.02], atol=1e-7)


def test_a_path_of_targets_is_followed_without_jumps():
    robot, closures, q0 = parts(loops.five_bar())
    way = robot.pose(q0, "left_lower_end")[:3, 3] + np.linspace([0.0, 0.0, 0.0], [0.1, -0.05, 0.0], 30)
    found = dy.inverse_kinematics(robot, way, "left_lower_end", q0=q0, closures=closures, path=True)
    assert found.found.all()
    assert gap(robot, closures, found.q) <= 1e-12
    assert np.abs(np.diff(found.q, axis=0)).max() < 0.05


def test_all_solutions_are_the_ways_to_assemble_a_delta_robot():
    robot, closures, q0 = parts(loops.delta())
    found = dy.all_solutions(robot, robot.pose(q0, "platform"), "platform", q0=q0, closures=closures)
    assert len(found) == 8
    assert max(gap(robot, closures, x.q) for x in found) <= 1e-12
    assert np.allclose(found[0].q, q0)


def test_full_turns_of_coupled_joints_are_not_exchanged():
    robot = dy.load("planar_2r_melchiorri")
    gear = loops.Coupled("joint1", "joint2", ratio=0.5)
    target = robot.pose([2.0, 4.0])[:3, 3]
    for solution in dy.all_solutions(robot, target, kind="position", q0=[0.0, 0.0], closures=gear, limits=False):
        assert solution.q[0] == pytest.approx(0.5 * solution.q[1], abs=1e-12)
    found = dy.inverse_kinematics(robot, target, q0=[1.5, 3.0], closures=gear, limits=False)
    assert found.found
    assert found.q[0] == pytest.approx(0.5 * found.q[1], abs=1e-12)


def test_closures_of_the_file_hold_by_default():
    pytest.importorskip("mujoco", reason="reads MJCF files")
    text = """<mujoco><worldbody>
    <body name="a"><joint name="a" axis="0 0 1"/><geom type="capsule" fromto="0 0 0 1 0 0" size="0.05"/>
      <body name="b" pos="1 0 0"><joint name="b" axis="0 0 1"/><geom type="capsule" fromto="0 0 0 1 0 0" size="0.05"/></body></body>
    <body name="c" pos="0 1 0"><joint name="c" axis="0 0 1"/><geom type="capsule" fromto="0 0 0 2 0 0" size="0.05"/></body>
    </worldbody><equality><joint joint1="a" joint2="c" polycoef="0.1 2 0 0 0"/></equality></mujoco>"""
    with pytest.warns(Warning, match="loops closed by"):
        robot = dy.load(text)
    closures = loops.closures(robot)
    q = dy.constrained(robot, closures=closures).assemble([0.5, 0.4, 0.0])
    target = ts.Goal(ts.Position("b", "xy"), robot.pose(q, "b")[:2, 3])
    found, tree = dy.inverse_kinematics(robot, target), dy.inverse_kinematics(robot, target, closures=())
    assert found.found
    assert gap(robot, closures, found.q) <= 1e-12
    assert tree.found
    assert gap(robot, closures, tree.q) > 0.1
    step = dy.differential_inverse_kinematics(robot, q, target, 0.01)
    assert abs(step.v[0] - 2.0 * step.v[2]) < 1e-12


def test_something_that_is_no_closure_is_rejected():
    robot, _, q0 = parts(loops.four_bar())
    with pytest.raises(InputError, match="a closure is a Point"):
        dy.inverse_kinematics(robot, [0.3, 0.0, 0.0], "coupler", q0=q0, closures=["coupler_end"])
    with pytest.raises(NameLookupError, match="typo"):
        dy.inverse_kinematics(robot, [0.3, 0.0, 0.0], "coupler", q0=q0, closures=loops.Point("typo", "rocker_end"))


@pytest.mark.parametrize("closed_by", ["plane", "pin"])
def test_differential_inverse_kinematics_moves_along_closed_loops(closed_by):
    pytest.importorskip("daqp", reason="quadratic programs")
    robot, closures, q = parts(loops.five_bar(closed_by=closed_by))
    target = robot.pose(q, "left_lower_end")[:2, 3] + [0.05, -0.04]
    goal, v, dt, gaps = ts.Goal(ts.Position("left_lower_end", "xy"), target), np.zeros(robot.n), 0.01, []
    for _ in range(150):
        step = dy.differential_inverse_kinematics(
            robot, q, goal, dt, v0=v, gain=0.1, acceleration_limits=10.0, closures=closures
        )
        q, v = step.q, step.v
        gaps.append(gap(robot, closures, q))
    assert step.feasible
    assert np.allclose(robot.pose(q, "left_lower_end")[:2, 3], target, atol=1e-5)
    assert max(gaps) < 1e-4
    assert gaps[-1] < 1e-10


def test_differential_inverse_kinematics_closes_open_loops_as_fast_as_limits_permit():
    pytest.importorskip("daqp", reason="quadratic programs")
    robot, closures, q = parts(loops.delta())
    goal = ts.Goal(ts.Position("platform"), robot.pose(q, "platform")[:3, 3])
    gaps = []
    q[-1] += 0.05
    for _ in range(25):
        step = dy.differential_inverse_kinematics(robot, q, goal, 0.01, velocity_limits=0.5, closures=closures)
        gaps.append((step.feasible, gap(robot, closures, q)))
        assert np.abs(step.v).max() <= 0.5
        q = step.q
    assert gaps[0] == (False, pytest.approx(0.0414, abs=1e-3))
    assert gaps[-1][0]
    assert gaps[-1][1] < 1e-6
    assert all(later < before for (_, before), (_, later) in itertools.pairwise(gaps[:6]))
