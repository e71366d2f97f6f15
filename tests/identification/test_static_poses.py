"""Poses at rest: weight without friction, and no more than weight."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from campaign_params import few_of

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification.static_poses import identify_static, identify_static_payload, static_poses


def both_sides(robot, count, rng, friction, noise=0.0):
    """Readings of poses approached from both sides: q, tau, direction."""
    q = robot.random(rng, count)
    q = np.clip(q, -3.0, 3.0)
    sides = np.repeat([1.0, -1.0], count)[:, None] * np.ones(robot.n)
    poses = np.concatenate([q, q]) + 1e-4 * rng.normal(size=(2 * count, robot.nq))
    return poses, robot.gravity(poses) + sides * friction + noise * rng.normal(size=sides.shape), sides


@pytest.mark.parametrize("name", ["ur5e", "puma560", "panda", "planar_2r_melchiorri"])
def test_exact_poses_give_the_weight_everywhere(name):
    robot, rng = dy.load(name).replace(friction=0), np.random.default_rng(0)
    q = robot.random(rng, 80)
    found = identify_static(robot, q, robot.gravity(q))
    assert np.allclose(found.values, found.prior, atol=1e-8)
    fresh = robot.random(rng, 50)
    assert np.allclose(found.torque(fresh), robot.gravity(fresh), atol=1e-7)
    assert all(name.rsplit(".", 1)[1] in ("m", "mx", "my", "mz") for name in found.names)


def test_approaching_from_both_sides_takes_friction_out():
    robot, rng = dy.load("ur5e").replace(friction=0), np.random.default_rng(1)
    friction = np.array([8.0, 8.0, 6.0, 2.0, 2.0, 1.0])
    q, tau, sides = both_sides(robot, 40, rng, friction, noise=0.05)
    one_sided = identify_static(robot, q[:40], tau[:40])
    found = identify_static(robot, q, tau, direction=sides)
    fresh = robot.random(rng, 200)
    wrong, right = (np.abs(f.torque(fresh) - robot.gravity(fresh)).max() for f in (one_sided, found))
    assert right < 0.3 < wrong
    assert np.allclose(found.friction, friction, atol=0.1)
    assert found.friction_spread.max() < 0.2
    assert any("approached from one side" in line for line in one_sided.verdict)
    assert not any("approached from one side" in line for line in found.verdict)


@pytest.mark.parametrize("joints", [range(6), [1], [1, 2]])
def test_torques_of_the_wrong_sign_are_named(joints):
    robot, rng = dy.load("ur5e").replace(friction=0), np.random.default_rng(8)
    q, tau, sides = both_sides(dy.control.perturbed(robot, 0.2, seed=1), 40, rng, 1.5, noise=0.05)
    wrong = tau * np.where(np.isin(np.arange(6), joints), -1.0, 1.0)
    assert "sign" not in str(identify_static(robot, q, tau, direction=sides))
    line = identify_static(robot, q, wrong, direction=sides).verdict[0]
    named = "of all joints" if len(joints) == 6 else f"of {', '.join(repr(robot.coordinate_names[j]) for j in joints)} seem"
    assert line.startswith(f"the torques {named}")
    assert "wrong sign" in line
    assert "direction=" not in str(identify_static(robot, q, wrong, direction=sides))


EXCHANGED = [0, 2, 1, 3, 4, 5]
SECOND = np.where(np.arange(6) == 1, -1.0, 1.0)


@cache
def measured(paired):
    """A robot, positions, torques and directions of poses, and what is said of them."""
    robot, rng = dy.load("ur5e").replace(friction=0), np.random.default_rng(10)
    q, tau, sides = both_sides(dy.control.perturbed(robot, 0.2, seed=1), 40, rng, 1.5 if paired else 0.0, noise=0.05)
    direction = sides if paired else None
    return robot, q, tau, direction, str(identify_static(robot, q, tau, direction=direction))


CHANGES = [
    (
        lambda q, tau: (q[:, EXCHANGED], tau),
        "the positions of 'shoulder_lift_joint' and 'elbow_joint' seem to be exchanged",
    ),
    (lambda q, tau: (q, tau[:, EXCHANGED]), "the torques of 'shoulder_lift_joint' and 'elbow_joint' seem to be exchanged"),
    (lambda q, tau: (q * SECOND, tau), "the positions of 'shoulder_lift_joint' seem to have the wrong sign"),
    (
        lambda q, tau: (q * SECOND, tau * SECOND),
        "positions and torques of 'shoulder_lift_joint' seem to have the wrong sign",
    ),
    (lambda q, tau: (q, 1000.0 * tau), "times those of the robot of the file: are they in N m"),
    (lambda q, tau: (q[::-1], tau), "gravity does not explain the torques of 'shoulder_lift_joint', 'elbow_joint'"),
]
EVERY = [(change, words, paired) for change, words in CHANGES for paired in (False, True)]


# each change in poses approached from one side or from both
@pytest.mark.parametrize(("change", "words", "paired"), few_of(EVERY, [*EVERY[::4], *EVERY[3::4]]))
def test_columns_that_gravity_does_not_explain_are_named(change, words, paired):
    robot, q, tau, direction, right = measured(paired)
    assert "seem" not in right
    assert "does not explain" not in right
    lines = identify_static(robot, *change(q, tau), direction=direction).verdict
    assert words in lines[0]
    assert not any("direction= seems" in line for line in lines)


def test_the_residual_is_said_in_the_unit_of_the_torque():
    robot, rng = dy.load("scara").replace(friction=0), np.random.default_rng(11)
    q = robot.random(rng, 30)
    found = identify_static(robot, q, robot.gravity(q) + 0.01 * rng.normal(size=q.shape))
    assert found.verdict[1].startswith("residual 0.")
    assert " N (joint" in found.verdict[1]


def test_angles_in_degrees_are_recognised():
    robot, rng = dy.load("ur5e").replace(friction=0), np.random.default_rng(12)
    q = np.clip(robot.random(rng, 30), -3.0, 3.0)
    with pytest.raises(InputError, match="are they in degrees"):
        identify_static(robot, np.degrees(q), robot.gravity(q))
    q *= 0.03
    q[:, 1:4] += np.random.default_rng(13).uniform(-0.1, 0.1, (30, 3))
    assert "seem to be in degrees" in str(identify_static(robot, np.degrees(q), robot.gravity(q)))


@pytest.mark.parametrize("wrong", [False, True])
def test_negative_friction_tells_that_directions_are_inverted(wrong):
    robot, rng = dy.load("ur5e").replace(friction=0), np.random.default_rng(9)
    q, tau, sides = both_sides(robot, 20, rng, 1.5, noise=0.05)
    verdict = identify_static(robot, q, -tau if wrong else tau, direction=-sides).verdict
    (line,) = [line for line in verdict if "direction=" in line]
    assert line.startswith("Coulomb friction of all joints is negative: direction= seems to have the wrong sign")
    q, tau, sides = both_sides(robot, 20, rng, 0.0, noise=0.05)
    assert not any("negative" in line for line in identify_static(robot, q, tau, direction=sides).verdict)


def test_friction_that_grows_with_the_load_is_taken_out_too():
    robot, rng = dy.load("ur5e").replace(friction=0), np.random.default_rng(2)
    q, tau, sides = both_sides(robot, 40, rng, 0.0)
    tau = tau + sides * (2.0 + 0.1 * np.abs(robot.gravity(q)))
    found = identify_static(robot, q, tau, direction=sides)
    assert np.allclose(found.values, found.prior, atol=0.02)


def test_standard_errors_are_the_spread_of_repeated_readings():
    robot, rng = dy.load("planar_2r_melchiorri"), np.random.default_rng(3)
    q = robot.random(rng, 40)
    exact, noise = robot.gravity(q), np.array([5.0, 1.0])
    fits = [identify_static(robot, q, exact + noise * rng.normal(size=q.shape)) for _ in range(30)]
    spread, claimed = np.std([f.values for f in fits], axis=0), np.mean([f.standard_errors for f in fits], axis=0)
    assert np.all(np.abs(spread / claimed - 1.0) < 0.4)


def test_offsets_can_be_looked_for():
    robot, rng = dy.load("ur5e").replace(friction=0), np.random.default_rng(4)
    offset = rng.normal(size=6)
    q = robot.random(rng, 60)
    found = identify_static(robot, q, robot.gravity(q) + offset, offset=True)
    at = [k for k, name in enumerate(found.names) if name.endswith(".offset")]
    assert np.allclose(found.values[at], offset, atol=1e-8)


def test_springs_are_known():
    robot, rng = dy.load("planar_2r_melchiorri").replace(friction={"joint1": {"stiffness": 100.0}}), np.random.default_rng(5)
    q = rng.uniform(-2, 2, (20, 2))
    rest = np.zeros((20, 2))
    found = identify_static(robot, q, robot.inverse_dynamics(q, rest, rest))
    assert np.allclose(found.values, found.prior, atol=1e-9)


def test_poses_that_do_not_show_a_parameter_name_it():
    robot = dy.load("planar_2r_melchiorri")
    q = np.zeros((10, 2))
    with pytest.raises(InputError, match=r"link"):
        identify_static(robot, q, robot.gravity(q))


def test_a_scara_shows_little_and_says_so():
    robot, rng = dy.load("scara").replace(friction=0), np.random.default_rng(6)
    q = robot.random(rng, 20)
    found = identify_static(robot, q, robot.gravity(q))
    assert len(found.names) == 1
    assert any("gravity does not act on" in line for line in found.verdict)


def test_a_load_from_poses_at_rest():
    robot, rng = dy.load("ur5e").replace(friction=0), np.random.default_rng(7)
    load = dy.Inertia.about_com(1.5, [0.01, 0.02, 0.1], 0.01 * np.eye(3))
    carrying, offset = robot.replace(payload=load), np.array([0.5, -1.0, 0.5, 0.2, 0.1, -0.1])
    q, tau, sides = both_sides(carrying, 40, rng, np.array([5.0, 5.0, 4.0, 1.0, 1.0, 1.0]), noise=0.02)
    empty = robot.random(rng, 40)
    found = identify_static_payload(
        robot, q, tau + offset, direction=sides, empty=(empty, robot.gravity(empty) + offset + 0.02 * rng.normal(size=(40, 6)))
    )
    assert found.mass == pytest.approx(1.5, abs=0.03)
    assert np.allclose(found.com, load.com, atol=0.005)
    assert not found.identifiable[4:].any()


def test_wrong_readings_are_refused():
    robot = dy.load("planar_2r_melchiorri")
    q = np.array([[0.0, 0.0], [1.0, 1.0]])
    with pytest.raises(InputError, match="both sides"):
        static_poses(robot, q, np.zeros((2, 2)), [1, -1])
    with pytest.raises(InputError, match="signs"):
        static_poses(robot, q, np.zeros((2, 2)), [2, -1])
    with pytest.raises(InputError, match="poses, 2"):
        static_poses(robot, q, np.zeros((2, 3)))


def test_robots_on_which_gravity_does_not_act_are_refused():
    robot = dy.load("planar_2r_melchiorri").replace(gravity=(0.0, 0.0, 0.0))
    with pytest.raises(InputError, match="nothing to identify at rest"):
        identify_static(robot, np.ones((5, 2)), np.zeros((5, 2)))


def test_unexplained_poses_of_a_robot_with_quaternions_have_a_verdict():
    robot, rng = dy.load("go2", base="floating").replace(friction=0), np.random.default_rng(14)
    q = robot.random(rng, 40)
    found = identify_static(robot, q, robot.gravity(q)[::-1])
    assert found.verdict
    assert "positions of" not in str(found)


@pytest.mark.parametrize("name", ["ur5e", "kuka_iiwa14"])
def test_a_pose_far_from_the_prediction_by_the_others_is_named(name):
    robot = dy.load(name)
    for seed in range(4):
        q = robot.random(seed, size=25)
        tau = robot.gravity(q) + 0.1 * np.random.default_rng(seed).normal(size=q.shape)
        assert "far from the prediction" not in str(identify_static(robot, q, tau))
    tau[7, 1] += 10.0
    text = str(identify_static(robot, q, tau))
    assert re.search(
        r"far from the prediction by the other poses: pose 8 \(.*\) by [0-9.]+ N m at '(shoulder_lift_joint|joint2)'", text
    )
    assert text.count("pose 8") == text.count("by the other poses") == 1
