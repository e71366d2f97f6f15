"""All solutions: as many as geometry has, distinct, in order."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.kinematics.all_solutions import all_solutions

D1, A2, A3, D4, D5, D6 = 0.1625, -0.425, -0.3922, 0.1333, 0.0997, 0.0996


def dh(theta, d, a, alpha):
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]])


def elbows_of_ur5e(X):
    """cos(elbow) for each shoulder and wrist, by geometry [Hawkins 2013]: two solutions where it lies between −1 and 1."""
    p5 = X[:3, 3] - D6 * X[:3, 2]
    found = []
    for shoulder in (1.0, -1.0):
        reach = np.hypot(p5[0], p5[1])
        if reach <= D4:
            continue
        q1 = np.arctan2(p5[1], p5[0]) + shoulder * np.arccos(D4 / reach) + np.pi / 2
        s1, c1 = np.sin(q1), np.cos(q1)
        cosine = (X[0, 3] * s1 - X[1, 3] * c1 - D4) / D6
        if abs(cosine) >= 1.0:
            continue
        for wrist in (1.0, -1.0):
            q5 = wrist * np.arccos(cosine)
            Y = np.linalg.inv(X)
            q6 = np.arctan2((-Y[1, 0] * s1 + Y[1, 1] * c1) / np.sin(q5), (Y[0, 0] * s1 - Y[0, 1] * c1) / np.sin(q5))
            inner = np.linalg.inv(dh(q1, D1, 0, np.pi / 2)) @ X @ np.linalg.inv(dh(q5, D5, 0, -np.pi / 2) @ dh(q6, D6, 0, 0))
            p = (inner @ [0.0, -D4, 0.0, 1.0])[:2]
            found.append((p @ p - A2**2 - A3**2) / (2 * A2 * A3))
    return np.array(found)


def test_ur5e_has_the_solutions_that_geometry_has():
    robot = dy.load("ur5e")
    counts = []
    for q in robot.random(3, 12):
        X = robot.pose(q)
        cosines = elbows_of_ur5e(X)
        if (np.abs(np.abs(cosines) - 1.0) < 1e-3).any():
            continue  # too near to where two solutions become one
        found = all_solutions(robot, X)
        assert len(found) == 2 * (np.abs(cosines) < 1.0).sum()
        assert np.allclose(robot.pose(np.array([s.q for s in found])), X, atol=1e-8)
        counts.append(len(found))
    assert 8 in counts


def test_solutions_are_distinct_sorted_and_the_nearest_is_the_start():
    robot = dy.load("ur5e")
    q = np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.1])
    found = all_solutions(robot, robot.pose(q), q0=q)
    assert np.allclose(found[0].q, q, atol=1e-8)
    distances = [np.linalg.norm(s.q - q) for s in found]
    assert distances == sorted(distances)
    assert len(found) == 8
    for i, a in enumerate(found):
        for b in found[:i]:
            gap = (a.q - b.q + np.pi) % (2 * np.pi) - np.pi
            assert np.abs(gap).max() > 0.01


def test_limits_leave_fewer_solutions():
    robot = dy.load("puma560")
    X = robot.pose(np.array([0.3, 0.7, -0.9, 0.4, 0.8, 0.2]))
    within, all_of_them = all_solutions(robot, X), all_solutions(robot, X, limits=False)
    assert len(all_of_them) == 8
    assert 1 <= len(within) < 8
    assert all(((robot.limits["lower"] <= s.q) & (s.q <= robot.limits["upper"])).all() for s in within)


def test_two_elbows_and_none_out_of_reach():
    robot = dy.load("planar_2r_melchiorri")
    found = all_solutions(robot, robot.pose([0.4, 0.9])[:3, 3], kind="position", starts=40)
    assert sorted(round(float(s.q[1]), 6) for s in found) == [-0.9, 0.9]
    assert all_solutions(robot, [99.0, 0.0, 0.0], kind="position", starts=20) == []


def test_progress_is_reported_and_bad_numbers_refused():
    robot, seen = dy.load("ur5e"), []
    X = robot.pose(np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.1]))
    found = all_solutions(robot, X, starts=120, progress=lambda *state: seen.append(state))
    assert [s[:2] for s in seen] == [(50, 120), (100, 120), (120, 120)]
    assert seen[-1][2] == len(found)
    for options, text in (
        ({"starts": 0}, "positive integer"),
        ({"apart": 0.0}, "a positive number"),
        ({"tolerance": -1}, "positive and finite"),
    ):
        with pytest.raises(dy.InputError, match=text):
            all_solutions(robot, X, **options)


def test_a_quaternion_and_its_negative_are_one_solution():
    rod = dy.solids.rod(0.3, mass=2.0).seen_from(dy.Pose.translation([0, 0, 0.15]))
    d = dy.Description("ball arm").add_link("base").add_link("upper", "base", "spherical", inertia=rod)
    elbow = dy.Pose.translation([0, 0, 0.3])
    d.add_link("fore", "upper", "revolute", axis=(0, 1, 0), origin=elbow, inertia=rod)
    robot = dy.Robot(d.add_link("hand", "fore", origin=elbow))
    q = robot.random(1)
    assert len(all_solutions(robot, robot.pose(q), q0=q, starts=60)) == 1
