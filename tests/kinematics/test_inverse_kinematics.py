"""Inverse kinematics: what is found is right and within limits; what is not found says why."""

import numpy as np
import pytest
from floating import floating

import dynamis as dy
from dynamis.kinematics.ik_diagnosis import _beyond_limits, _without_limits
from dynamis.kinematics.ik_problem import target_problem
from dynamis.kinematics.inverse_kinematics import inverse_kinematics
from dynamis.kinematics.targets import rotation_vectors
from dynamis.kinematics.turns import Turns
from dynamis.spatial import Pose
from dynamis.spatial.rotation import from_rpy

HOME = np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.1])


@pytest.mark.parametrize("name", ["ur5e", "puma560", "stanford", "panda", "kuka_iiwa14"])
def test_random_reachable_poses_are_found_within_limits(name):
    robot = dy.load(name)
    lower, upper = robot.limits["lower"], robot.limits["upper"]
    for q in robot.random(7, 30):
        target = robot.pose(q)
        found = inverse_kinematics(robot, target)
        assert found.found, found.status
        assert ((lower <= found.q) & (found.q <= upper)).all()
        X = robot.pose(found.q)
        assert np.linalg.norm(X[:3, 3] - target[:3, 3]) <= 1e-9
        assert np.linalg.norm(rotation_vectors(X[:3, :3] @ target[:3, :3].T)) <= 2e-9
        assert found.error <= 1e-9


def test_positions_and_orientations_alone():
    robot = dy.load("ur5e")
    target = robot.pose(HOME)
    point = inverse_kinematics(robot, target[:3, 3], kind="position")
    assert point.found
    assert np.allclose(robot.pose(point.q)[:3, 3], target[:3, 3], atol=1e-9)
    assert point.rotation_error == 0.0
    turned = inverse_kinematics(robot, target[:3, :3], kind="orientation")
    assert turned.found
    assert np.allclose(robot.pose(turned.q)[:3, :3], target[:3, :3], atol=1e-8)
    arm = dy.load("planar_2r_melchiorri")
    elbow = inverse_kinematics(arm, arm.pose([0.4, 0.9])[:3, 3], kind="position", q0=[0.3, 0.7])
    assert np.allclose(elbow.q, [0.4, 0.9], atol=1e-8)


def test_other_frames_and_poses_of_other_kinds():
    robot = dy.load("ur5e")
    frame = "wrist_1_link"
    found = inverse_kinematics(robot, robot.pose(HOME, frame)[:3, 3], frame, kind="position")
    assert np.allclose(robot.pose(found.q, frame)[:3, 3], robot.pose(HOME, frame)[:3, 3], atol=1e-9)
    target = dy.Pose.from_matrix(robot.pose(HOME))
    assert inverse_kinematics(robot, target, q0=HOME + 0.1).found
    with pytest.raises(dy.NameLookupError, match="wrist_1_link"):
        inverse_kinematics(robot, target, "wrist_1_lnk")


def test_directions_with_weight_zero_do_not_matter():
    scara = dy.load("scara")
    target = scara.pose([0.3, 0.7, 0.4, -0.2])
    target[:3, :3] = from_rpy([0.0, 0.3, 0.0]) @ target[:3, :3]  # a tilt that the arm cannot have
    assert not inverse_kinematics(scara, target, restarts=5).found
    found = inverse_kinematics(scara, target, weights=[1, 1, 1, 0, 0, 0])
    assert found.found
    assert np.allclose(scara.pose(found.q)[:3, 3], target[:3, 3], atol=1e-9)


def test_joints_that_come_round_end_near_the_start():
    robot = dy.load("ur5e")
    target = robot.pose(HOME)
    around = HOME + 2 * np.pi * np.array([-1, 1, 0, 1, 0, 0])
    near = inverse_kinematics(robot, target, q0=around + 0.1, limits=True)
    assert np.abs(near.q - around).max() < 1e-6
    with pytest.warns(dy.errors.ReachWarning, match="q0 is in radians, and .* if these are degrees"):
        inverse_kinematics(robot, target, q0=np.rad2deg(HOME), restarts=100)
    free = inverse_kinematics(robot, target, q0=HOME + 20 * np.pi, limits=False, restarts=100)
    assert free.found
    assert np.abs(free.q - HOME - 20 * np.pi).max() <= np.pi + 1e-9


def test_turns_go_to_the_nearest_within_limits():
    turns = Turns(dy.load("ur5e"))
    q = turns.nearest(np.array([3.0, 3.0, 3.0, -6.0, 0.0, 6.2]), np.array([-4.0, 0.0, -3.0, 6.0, 12.0, 0.0]))
    assert np.allclose(q, [3.0 - 2 * np.pi, 3.0, 3.0, -6.0 + 4 * np.pi - 2 * np.pi, 2 * np.pi, 6.2 - 2 * np.pi])
    assert list(Turns(dy.load("stanford")).places) == [0, 1, 3, 4, 5]  # the boom slides


def test_out_of_reach_says_by_how_much():
    robot = dy.load("planar_2r_melchiorri")
    reach = np.linalg.norm(robot.pose([0.0, 0.0])[:2, 3])
    failed = inverse_kinematics(robot, [reach + 0.25, 0.0, 0.0], kind="position", restarts=10)
    assert not failed.found
    assert failed.position_error == pytest.approx(0.25, rel=1e-3)
    assert "out of reach by 0.25 m" in failed.status
    assert "singular (arm stretched or folded)" in failed.status
    far = dy.load("ur5e").pose(HOME)
    far[:3, 3] *= 5.0
    status = inverse_kinematics(dy.load("ur5e"), far, restarts=5).status
    assert "out of reach by" in status
    assert "mm" not in status
    far[:3, 3] *= 200.0
    for target in (far, far[:3, 3]):
        status = inverse_kinematics(dy.load("ur5e"), target, restarts=5).status
        assert " m (positions are in m: is the target in mm?)" in status


def test_limits_in_the_way_are_named():
    robot = dy.load("puma560")
    q = np.array([0.3, 0.5, -0.5, 0.2, 0.6, 0.1])
    limits = robot.description
    limits.joint("elbow").limits.upper = -1.0
    limits.joint("elbow").limits.lower = -2.0
    narrow = dy.Robot(limits)
    failed = inverse_kinematics(narrow, robot.pose(q), restarts=20)
    assert not failed.found
    assert "solutions exist only outside the joint limits: elbow at" in failed.status
    assert "allowed: -2 to -1" in failed.status
    assert -2.0 <= failed.q[2] <= -1.0
    assert inverse_kinematics(narrow, robot.pose(q), limits=False).found


def test_too_few_joints_are_told_apart_from_too_short_ones():
    robot = dy.load("planar_2r_melchiorri")
    target = robot.pose([0.3, 0.4])
    target[:3, :3] = np.eye(3)
    status = inverse_kinematics(robot, target, restarts=5).status
    assert "2 of the 6 independent directions of the task" in status
    assert "kind='position'" in status


def test_a_wrong_orientation_is_told_from_a_far_point():
    robot = dy.load("puma560")
    target = robot.pose(np.array([0.3, 0.5, -0.5, 0.2, 0.6, 0.1]))
    tip = np.linalg.norm(target[:3, 3])
    assert tip < 1.5
    q = robot.description
    for name in ("wrist_roll", "wrist_bend", "flange_roll"):
        q.joint(name).limits.lower, q.joint(name).limits.upper = -0.05, 0.05
    stiff = dy.Robot(q)
    target[:3, :3] = target[:3, :3] @ from_rpy([2.0, 1.0, 0.5])
    status = inverse_kinematics(stiff, target, restarts=10).status
    assert "solutions exist only outside the joint limits" in status


@pytest.mark.parametrize("name", ["puma560", "ur5e"])
def test_targets_within_reach_that_were_not_found_are_said_to_be_within_reach(name):
    robot = dy.load(name)
    tried = [inverse_kinematics(robot, robot.pose(q), restarts=0) for q in robot.random(5, 30)]
    failed = [solution.status for solution in tried if not solution.found]
    assert failed
    assert all("a solution exists: increase restarts=" in status for status in failed)


def test_an_arm_of_few_joints_names_its_limits_first():
    free = dy.load("planar_2r_melchiorri")
    narrow = free.description
    for name in ("joint1", "joint2"):
        narrow.joint(name).limits.lower, narrow.joint(name).limits.upper = -0.5, 0.5
    status = inverse_kinematics(dy.Robot(narrow), free.pose([1.0, 0.3]), restarts=5).status
    assert "solutions exist only outside the joint limits: joint1 at 1 (allowed: -0.5 to 0.5)" in status
    assert "independent directions" not in status


def test_a_turn_too_many_is_not_beyond_the_limits():
    robot = dy.load("ur5e")
    target = robot.pose(HOME)
    problem = target_problem(robot, target, None, "pose", True, None, np.full(2, 1e-9))
    turned = HOME + np.array([4.0, 0.0, 0.0, -4.0, 0.0, 2.0]) * np.pi
    solution = _without_limits(problem, turned[None])
    assert np.allclose(solution, HOME)
    assert _beyond_limits(problem, solution) == ""


def test_a_target_at_a_singularity_is_found():
    robot = dy.load("planar_2r_melchiorri")
    found = inverse_kinematics(robot, robot.pose([0.4, 0.0])[:3, 3], kind="position", tolerance=1e-8)
    assert found.found, found.status
    assert inverse_kinematics(dy.load("ur5e"), dy.load("ur5e").pose(np.zeros(6)), q0=HOME).found


@pytest.mark.filterwarnings("ignore:.*without moving any mass")
def test_a_floating_base_moves_on_its_manifold():
    robot = floating("planar_2r_melchiorri")
    q = robot.random(4)
    found = inverse_kinematics(robot, robot.pose(q))
    assert found.found
    assert np.allclose(robot.pose(found.q), robot.pose(q), atol=1e-8)
    assert np.linalg.norm(found.q[3:7]) == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_answer():
    robot = dy.load("puma560")
    target = robot.pose(robot.random(11))
    a, b = (inverse_kinematics(robot, target, seed=seed) for seed in (5, np.int64(5)))
    assert np.array_equal(a.q, b.q)
    assert a.status == b.status


def test_the_points_of_a_path_start_from_one_another():
    robot = dy.load("ur5e")
    along = np.linspace(HOME, HOME + 0.5, 20)
    solution = inverse_kinematics(robot, robot.pose(along), q0=HOME, path=True)
    assert solution.found.all()
    assert np.allclose(solution.q, along, atol=1e-6)
    with pytest.raises(dy.InputError, match="one leading axis"):
        inverse_kinematics(robot, robot.pose(HOME), path=True)


def test_a_batch_of_targets_has_the_solutions_of_its_targets():
    robot = dy.load("panda")
    X = robot.pose(robot.random(2, 12))
    X[3, :3, 3] += 9.0  # out of reach
    batch = inverse_kinematics(robot, X, restarts=20)
    alone = [inverse_kinematics(robot, x, restarts=20) for x in X]
    assert batch.found.tolist() == [k != 3 for k in range(12)]
    assert batch.status == "11 of 12 found"
    assert np.array_equal(batch.q, [s.q for s in alone])
    assert batch.restarts.tolist() == [s.restarts for s in alone]
    assert np.array_equal(batch.error, [s.error for s in alone])
    assert len(batch) == 12
    assert [s.found for s in batch] == batch.found.tolist()
    assert "solve for this target alone" in batch[3].status


def test_batches_have_the_axes_of_the_targets():
    robot = dy.load("ur5e")
    X = robot.pose(robot.random(0, (2, 4)))
    for targets in (X, X[..., :3, 3], [[Pose(x[:3, :3], x[:3, 3]).matrix() for x in row] for row in X]):
        found = inverse_kinematics(robot, targets, q0=HOME)
        assert found.q.shape == (2, 4, 6)
        assert np.allclose(robot.pose(found.q)[..., :3, 3], X[..., :3, 3], atol=1e-9)
    poses = inverse_kinematics(robot, [Pose(x[:3, :3], x[:3, 3]) for x in X[0]], q0=np.tile(HOME, (4, 1)))
    assert np.allclose(robot.pose(poses.q), X[0], atol=1e-8)
    turned = inverse_kinematics(robot, X[0, :, :3, :3])
    assert np.allclose(robot.pose(turned.q)[:, :3, :3], X[0, :, :3, :3], atol=1e-8)
    with pytest.raises(dy.InputError, match=r"q0 has shape \(2, 6\)"):
        inverse_kinematics(robot, X[0], q0=np.zeros((2, 6)))


BAD_TARGETS = {
    "its last row": np.ones((4, 4)),
    r"shape \(3, 4\)": np.ones((3, 4)),
    "nan": np.full((4, 4), np.nan),
    "column 0 of its rotation has length 2": np.diag([2.0, 1.0, 1.0, 1.0]),
    "reflection": np.diag([1.0, 1.0, -1.0, 1.0]),
    "not orthogonal": np.array([[1, 0.6, 0, 0], [0, 0.8, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]),
    "got str": "home",
}


@pytest.mark.parametrize("text", BAD_TARGETS)
def test_what_is_no_pose_is_refused_by_the_condition_it_breaks(text):
    with pytest.raises(dy.InputError, match=text):
        inverse_kinematics(dy.load("ur5e"), BAD_TARGETS[text])


def test_other_bad_input_is_refused():
    robot, target = dy.load("ur5e"), np.eye(4)
    for options, text in (
        ({"q0": np.zeros(5)}, "q0 has shape"),
        ({"q0": np.full(6, np.nan)}, "finite"),
        ({"kind": "velocity"}, "'pose', 'position' or 'orientation'"),
        ({"tolerance": 0.0}, "positive and finite"),
        ({"tolerance": "tight"}, "must be one number"),
        ({"restarts": -1}, "non-negative integer"),
        ({"weights": [1.0, 1.0]}, "6 finite non-negative numbers"),
        ({"weights": np.zeros(6)}, "not all zero"),
        ({"seed": "x"}, "seed"),
    ):
        with pytest.raises(dy.InputError, match=text):
            inverse_kinematics(robot, target, **options)
    with pytest.raises(dy.InputError, match="robot must be a Robot"):
        inverse_kinematics("ur5e", target)
    with pytest.raises(dy.InputError, match="has symbolic parameters"):
        inverse_kinematics(dy.load("planar_2r"), target)


def test_the_shape_of_the_target_determines_the_task():
    robot = dy.load("ur5e")
    pose = robot.pose([0.3, -1.2, 1.5, -0.4, 0.8, 0.1])
    assert np.allclose(robot.pose(dy.inverse_kinematics(robot, pose[:3, 3]).q)[:3, 3], pose[:3, 3])
    assert np.allclose(robot.pose(dy.inverse_kinematics(robot, pose[:3, :3]).q)[:3, :3], pose[:3, :3])


def test_small_weights_are_small_and_not_rounding():
    for name in ("ur5e", "stanford"):
        robot = dy.load(name)
        for seed in range(3):
            target = robot.pose(robot.random(seed))
            found = dy.inverse_kinematics(robot, target, weights=[1.0, 1.0, 1.0, 1e-9, 1e-9, 1e-9])
            assert found.found
            assert np.abs(robot.pose(found.q) - target).max() < 1e-6


def test_joints_that_do_not_move_the_frame_stay_where_they_are():
    robot, frame = dy.load("baxter"), "left_wrist"
    others = [k for k, name in enumerate(robot.coordinate_names) if not name.startswith("left")]
    q0 = robot.random(1)
    targets = robot.pose(robot.random(0, 20), frame)
    for found in (dy.inverse_kinematics(robot, targets, frame, q0=q0), dy.inverse_kinematics(robot, targets[3], frame, q0=q0)):
        assert np.all(found.found)
        assert (found.q[..., others] == q0[others]).all()


def test_a_gripper_has_no_part_in_the_solutions_of_its_arm():
    arm = dy.load("ur5e")
    d = dy.Description("gripper").add_link("palm")
    d.add_link("finger", "palm", "prismatic", axis=(0, 1, 0), inertia=dy.solids.sphere(0.01, mass=0.1))
    d.joint("finger_joint").limits.lower, d.joint("finger_joint").limits.upper = 0.0, 0.04
    robot = arm.attach(dy.Robot(d), "tool0")
    q = np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.1, 0.03])
    found = dy.all_solutions(robot, robot.pose(q, "tool0"), "tool0", q0=q)
    assert len(found) == 8
    assert {float(one.q[6]) for one in found} == {0.03}
    far = dy.inverse_kinematics(robot, [2.0, 0.0, 0.0], "tool0", q0=[*q[:6], 0.0])
    assert "finger_joint" not in far.status


def test_three_points_are_no_orientation():
    robot, points = dy.load("ur5e"), [[0.3, 0.2, 0.4], [0.3, 0.2, 0.5], [0.3, 0.3, 0.4]]
    with pytest.raises(dy.InputError, match="for three positions, set kind='position'"):
        dy.inverse_kinematics(robot, points)
    assert dy.inverse_kinematics(robot, points, kind="position").found.all()


def test_a_tolerance_below_rounding_is_named_as_the_cause():
    robot = dy.load("ur5e")
    found = dy.inverse_kinematics(robot, robot.pose([0.3, -1.2, 1.5, -0.4, 0.8, 0.1]), tolerance=1e-18, restarts=2)
    assert "use a larger tolerance=" in found.status
