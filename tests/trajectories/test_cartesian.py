"""Lines, arcs and screws: where they lead, that their twists are derivatives, and one answer for all kinds of time."""

import numpy as np
import pytest
from scipy.linalg import expm, logm

import dynamis as dy
from dynamis.kinematics.targets import rotation_vectors
from dynamis.spatial.rotation import about_axis, from_rpy, skew
from dynamis.trajectories import arc, double_s, line, polynomial, screw, trapezoidal


def pose(rpy, p):
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = from_rpy(rpy), p
    return X


A, B = pose((0.2, -0.5, 1.0), (0.4, 0.1, 0.3)), pose((-1.0, 0.8, -0.7), (-0.2, 0.5, 0.6))
PROFILE = double_s(0.0, 1.0, velocity=1.0, acceleration=3.0, jerk=20.0)
MOTIONS = {
    "line": line(A, B, PROFILE),
    "screw": screw(A, B, PROFILE),
    "arc": arc(A, (0.3, 0.5, 0.2), B, PROFILE),
    "long arc": arc(A, (1.3, -0.5, 0.2), B, PROFILE),
    "no turn": screw(A, pose((0.2, -0.5, 1.0), (1.0, 1.0, 1.0)), PROFILE),
    "hardly a turn": screw(A, pose((0.2, -0.5, 1.0 + 1e-7), (1.0, 1.0, 1.0)), PROFILE),
    "half a turn": line(A, A @ np.diag([1.0, -1.0, -1.0, 1.0]), PROFILE),
    "on the spot": line(A, A, 1.0),
}


@pytest.fixture(params=MOTIONS, ids=lambda name: name.replace(" ", "_"))
def motion(request):
    return MOTIONS[request.param]


def test_poses_are_poses_and_the_ends_are_met(motion):
    X, V, _ = motion.at(np.linspace(-0.1, motion.duration + 0.1, 50))
    assert np.allclose(np.swapaxes(X[:, :3, :3], 1, 2) @ X[:, :3, :3], np.eye(3), atol=1e-12)
    assert np.allclose(X[:, 3], [0, 0, 0, 1])
    assert np.allclose(X[0], motion.start.matrix(), atol=1e-12)
    assert not V[0].any()
    assert not V[-1].any()


@pytest.mark.parametrize("name", ["line", "screw", "arc", "long arc"])
def test_the_end_is_the_second_pose(name):
    assert np.allclose(MOTIONS[name].at(9.0)[0], B, atol=1e-12)


def test_twists_and_accelerations_are_derivatives(motion):
    h, t = 1e-5, np.linspace(0.05, 0.95, 19) * motion.duration
    (X0, V0, _), (X, V, A_), (X1, V1, _) = (motion.at(t + d) for d in (-h, 0.0, h))
    assert np.allclose((X1[:, :3, 3] - X0[:, :3, 3]) / (2 * h), V[:, :3], atol=1e-7)
    turned = X1[:, :3, :3] @ np.swapaxes(X0[:, :3, :3], 1, 2)
    assert np.allclose(rotation_vectors(turned) / (2 * h), V[:, 3:], atol=1e-7)
    assert np.allclose((V1 - V0) / (2 * h), A_, atol=2e-4)
    assert X.shape == (19, 4, 4)


def test_numbers_arrays_and_a_symbol_give_the_same(motion):
    times = np.concatenate([[-1.0, 0.0, 9.0], np.linspace(0.03, 0.97, 11) * motion.duration])
    t = dy.symbol("t")
    traced = motion.at(t)
    for k, many in enumerate(motion.at(times)):
        for j, time in enumerate(times):
            assert np.allclose(motion.at(float(time))[k], many[j], atol=1e-13)
            assert np.allclose(dy.evaluate(traced[k], {t: time}), many[j], atol=1e-12)


def test_a_line_is_straight_and_turns_about_one_axis():
    motion = MOTIONS["line"]
    s = PROFILE.at(0.4)[0]
    X, V, _ = motion.at(0.4)
    assert np.allclose(X[:3, 3], A[:3, 3] + s * (B - A)[:3, 3])
    turn = rotation_vectors(B[:3, :3] @ A[:3, :3].T)
    assert np.allclose(X[:3, :3], about_axis(turn / np.linalg.norm(turn), s * np.linalg.norm(turn)) @ A[:3, :3])
    assert np.allclose(np.cross(V[3:], turn), 0.0, atol=1e-12)


def test_a_screw_is_the_exponential_of_a_twist():
    motion = MOTIONS["screw"]
    xi = np.real(logm(B @ np.linalg.inv(A)))
    for t in (0.3, 0.7, 1.1):
        s, s1, _ = PROFILE.at(t)
        X, V, _ = motion.at(t)
        assert np.allclose(X, expm(s * xi) @ A, atol=1e-10)
        Xdot = s1 * xi @ X
        assert np.allclose(Xdot[:3, 3], V[:3], atol=1e-9)
        assert np.allclose(Xdot[:3, :3] @ X[:3, :3].T, skew(V[3:]), atol=1e-9)


@pytest.mark.parametrize("via", [(0.3, 0.5, 0.2), (1.3, -0.5, 0.2)])
def test_an_arc_stays_on_the_circle_through_its_three_points(via):
    motion = arc(A, via, B, trapezoidal(0.0, 1.0, velocity=1.0, acceleration=4.0))
    p = motion.along(np.linspace(0.0, 1.0, 4001))[0][:, :3, 3]
    assert np.linalg.norm(p - via, axis=1).min() < 1e-3 * motion.length
    steps = np.linalg.norm(np.diff(p, axis=0), axis=1)
    assert np.allclose(steps, steps[0])
    assert steps.sum() == pytest.approx(motion.length, rel=1e-6)


def test_a_quarter_circle_by_hand():
    end = np.eye(4)
    end[:2, 3] = 1.0, 1.0
    motion = arc(np.eye(4), (np.sqrt(0.5), 1 - np.sqrt(0.5), 0.0), end, polynomial(0.0, 1.0, 2.0))  # about (0, 1, 0)
    assert motion.length == pytest.approx(np.pi / 2)
    X, V, _ = motion.at(1.0)
    assert np.allclose(X[:3, 3], (np.sqrt(0.5), 1 - np.sqrt(0.5), 0.0))
    assert np.allclose(V[:3] / np.linalg.norm(V[:3]), (np.sqrt(0.5), np.sqrt(0.5), 0.0))


def test_motions_that_make_no_sense_are_refused():
    for call, text in (
        (lambda: arc(np.eye(4), (1.0, 0.0, 0.0), pose((0, 0, 0), (2.0, 0.0, 0.0)), 1.0), "collinear or coincide"),
        (lambda: line(np.eye(3), B, 1.0), "pose0 must be a Pose or a 4 × 4 matrix"),
        (lambda: line(A, 2.0 * B, 1.0), "pose1 is not a pose: its last row"),
        (lambda: line(A, B, trapezoidal(0.0, 2.0, velocity=1.0, acceleration=1.0)), "from 0 to 1"),
        (lambda: line(A, B, -1.0), "positive"),
        (lambda: line(A, B, "slow"), "must be numeric"),
    ):
        with pytest.raises(dy.InputError, match=text):
            call()
