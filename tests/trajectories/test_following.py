"""Joints that take a frame along a Cartesian motion."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.kinematics.targets import rotation_vectors
from dynamis.trajectories import arc, follow, line, screw, time_optimal, trapezoidal

ROBOT = dy.load("ur5e")
HOME = np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.1])


def moved(dp):
    X = ROBOT.pose(HOME)
    X[:3, 3] += dp
    return X


PROFILE = trapezoidal(0.0, 1.0, velocity=1.0, acceleration=4.0)
START = ROBOT.pose(HOME)
WAYS = {
    "line": line(START, moved((0.1, 0.15, -0.2)), PROFILE),
    "screw": screw(START, ROBOT.pose(HOME + 0.3), PROFILE),
    "arc": arc(START, START[:3, 3] + (0.1, 0.05, 0.05), moved((0.15, 0.0, -0.1)), PROFILE),
}


@pytest.mark.parametrize("name", WAYS)
def test_the_frame_goes_where_it_should_and_as_fast(name):
    way = WAYS[name]
    motion = follow(ROBOT, way, q0=HOME)
    t = np.linspace(0.0, motion.duration, 333)
    q, v, a = motion.at(t)
    X, V, A = way.at(t)
    made = ROBOT.pose(q)
    far = np.linalg.norm(made[:, :3, 3] - X[:, :3, 3], axis=1).max()
    turned = np.linalg.norm(rotation_vectors(made[:, :3, :3] @ np.swapaxes(X[:, :3, :3], 1, 2)), axis=1).max()
    assert far <= max(1.5 * motion.measured["position"], 1e-9)
    assert turned <= max(1.5 * motion.measured["rotation"], 1e-9)
    assert max(far, turned) <= 1e-6
    assert np.abs(ROBOT.velocity(q, v) - V).max() < 1e-4
    assert np.abs(ROBOT.acceleration(q, v, a) - A).max() < 2e-2
    assert motion.duration == way.duration


def test_a_redundant_arm_follows_and_a_point_is_enough():
    panda = dy.load("panda")
    q0 = np.array([0.1, -0.3, 0.2, -1.8, 0.1, 1.6, 0.5])
    end = panda.pose(q0)
    end[:3, 3] += 0.1, -0.1, 0.05
    motion = follow(panda, line(panda.pose(q0), end, 1.0), q0=q0)
    assert np.allclose(panda.pose(motion.at(1.0)[0]), end, atol=1e-6)
    point = follow(panda, line(panda.pose(q0), end, 1.0), q0=q0, kind="position")
    assert np.allclose(panda.pose(point.at(1.0)[0])[:3, 3], end[:3, 3], atol=1e-6)
    assert point.measured["rotation"] == 0.0


def test_a_followed_path_can_be_made_as_fast_as_possible():
    motion = follow(ROBOT, WAYS["line"], q0=HOME)
    quick = time_optimal(ROBOT, motion, points=60)
    assert quick.duration < motion.duration
    p = ROBOT.pose(quick.at(np.linspace(0.0, quick.duration, 100))[0])[:, :3, 3]
    way = WAYS["line"].rate / WAYS["line"].length
    across = (p - START[:3, 3]) - np.outer((p - START[:3, 3]) @ way, way)
    assert np.abs(across).max() < 1e-6


def test_paths_that_leave_the_workspace_are_refused_with_the_place():
    with pytest.raises(
        dy.InputError, match=r"cannot follow the path beyond s = 0\.\d+: not found .*(out of reach|not with this orientation)"
    ):
        follow(ROBOT, line(START, moved((3.0, 0.0, 0.0)), 1.0), q0=HOME)
    far = START.copy()
    far[:3, 3] += 5.0
    with pytest.raises(dy.InputError, match="no configuration for the first pose"):
        follow(ROBOT, line(far, START, 1.0), restarts=3)
    with pytest.raises(dy.InputError, match="must be a Cartesian motion"):
        follow(ROBOT, PROFILE)


def test_joints_beyond_their_velocity_limits_are_named_and_time_optimal_keeps_them():
    q = np.array([0.3, -1.2, 1.5, -0.4, 0.03, 0.1])  # near the singularity of the wrist
    X0, X1 = ROBOT.pose(q), ROBOT.pose(q)
    X1[:3, 3] += 0.0, 0.2, 0.0
    with pytest.warns(dy.ModelWarning, match=r"wrist_\d_joint' moves at .* times its velocity limit at t = .*time_optimal"):
        motion = follow(ROBOT, line(X0, X1, 0.5), q0=q)
    use = (abs(motion.sample(8001)[2]) / ROBOT.limits["velocity"]).max()
    assert motion.measured["velocity"] == pytest.approx(use, rel=0.01)
    assert "velocity limit" in motion.status
    slower = time_optimal(ROBOT, motion)
    assert (abs(slower.sample(2001)[2]) / ROBOT.limits["velocity"]).max() <= 1.0
    assert "velocity limit" not in follow(ROBOT, WAYS["line"], q0=HOME).status
