"""Other link frames and regrouped inertias leave torques, masses and accelerations as they are."""

import numpy as np
import pytest
from floating import floating
from random_trees import random_robot

import dynamis as dy
from dynamis.algorithms import coriolis, dynamics, mass_matrix
from dynamis.algorithms.configuration_rate import configuration_rate
from dynamis.model.reframe import _clean, reframe
from dynamis.model.regroup import regroup


def same(model, other, rng, robot):
    q, v, a = robot.random(rng), *rng.normal(size=(2, robot.n))
    for f, args in (
        (dynamics.inverse_dynamics, (q, v, a)),
        (dynamics.forward_dynamics, (q, v, a)),
        (mass_matrix.crba, (q,)),
        (coriolis.coriolis_matrix, (q, v)),
    ):
        try:
            expected = f(model, *args)
        except dy.SingularError:  # a floating arm whose base has no inertia of its own
            continue
        found = f(other, *args)
        scale = max(1.0, np.abs(expected).max())
        slack = np.linalg.cond(mass_matrix.crba(model, q)) if f is dynamics.forward_dynamics else 10.0
        assert np.abs(found - expected).max() <= 1e-14 * slack * scale * 10, f.__name__


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("name", ["ur5e", "panda", "xarm7", "kuka_iiwa14", "puma560", "baxter", "go2", "g1", "scara"])
@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.filterwarnings("ignore:.*without moving any mass")
def test_robots_of_the_library_move_the_same(name, base, apart):
    robot = dy.load(name) if base == "fixed" else floating(name)
    rng = np.random.default_rng(0)
    same(robot.model, reframe(robot.model, apart), rng, robot)
    same(robot.model, regroup(reframe(robot.model, apart)), rng, robot)


@pytest.mark.parametrize("seed", range(40))
def test_random_trees_move_the_same(seed):
    robot = random_robot(np.random.default_rng(seed))
    if robot.n == 0:
        pytest.skip("a tree without joints")
    rng = np.random.default_rng(seed)
    for apart in (False, True):
        same(robot.model, regroup(reframe(robot.model, apart)), rng, robot)


def test_a_turn_about_the_own_axis_becomes_part_of_the_angle(tmp_path):
    """A knee whose frame is tilted by 10 degrees about its own axis, below a hip tilted about its parent's."""
    path = tmp_path / "leg.urdf"
    inertial = '<inertial><origin xyz="0.1 0.02 -0.05"/><mass value="2"/><inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01" ixz="0" iyz="0.02"/></inertial>'
    joint = '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/><origin xyz="{3}" rpy="{4}"/><axis xyz="{5}"/></joint>'
    path.write_text(
        '<robot name="leg"><link name="base"/>'
        + "".join(f'<link name="{name}">{inertial}</link>' for name in ("hip", "thigh", "shin"))
        + joint.format("a", "base", "hip", "0 0.1 0.3", "0 0 0", "0 1 0")
        + joint.format("b", "hip", "thigh", "0 0.05 -0.03", "0 -0.1745 0", "1 0 0")
        + joint.format("c", "thigh", "shin", "-0.08 0.01 -0.2", "0.1745 0 0", "1 0 0")
        + "</robot>",
        encoding="utf-8",
    )
    robot = dy.load(path)
    moved = reframe(robot.model, apart=False)
    same(robot.model, moved, np.random.default_rng(3), robot)
    for _, body in moved.moving:
        assert (np.abs(body.placement.R) > 1e-12).sum() == 3  # right angles only
        axis = body.placement.R @ body.motion.axis
        assert abs(np.dot(body.placement.p, axis)) < 1e-15  # nothing left along the axis
    assert robot.cost("inverse_dynamics")["total"] < 200


def test_wrenches_are_still_given_in_the_frames_of_the_file():
    robot = dy.load("g1", base="floating")
    rng = np.random.default_rng(4)
    q, v, a = robot.random(rng), *rng.normal(size=(2, robot.n))
    frame = robot.link_names[-1]
    w = rng.normal(size=6)
    expected = robot.inverse_dynamics(q, v, a) - robot.jacobian(q, frame).T @ w
    assert np.abs(robot.inverse_dynamics(q, v, a, wrenches={frame: w}) - expected).max() < 1e-11


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", ["g1", "baxter", "puma560"])
def test_joints_move_as_before(name, base):
    """Moved frames give joints offsets of their own, which do not make them followers."""
    robot = dy.load(name) if base == "fixed" else floating(name)
    q, v = robot.random(0), np.random.default_rng(0).normal(size=robot.n)
    expected = configuration_rate(robot.model, q, v)
    for apart in (True, False):
        assert np.array_equal(configuration_rate(reframe(robot.model, apart=apart), q, v), expected)


def test_wrenches_act_at_the_frames_of_the_file_which_reframing_moves():
    robot = dy.load("kuka_iiwa14")
    rng = np.random.default_rng(3)
    q, v, a = robot.random(rng), *rng.normal(size=(2, robot.n))
    moved = reframe(robot.model, apart=False)
    assert (
        max(
            np.linalg.norm(b.placement.p - c.placement.p)
            for (_, b), (_, c) in zip(robot.model.moving, moved.moving, strict=True)
        )
        > 0.05
    )
    wrenches = {name: rng.normal(size=6) for name in robot.link_names[1:]}
    for axes in ("world", "local"):
        pull = sum(robot.jacobian(q, name, axes=axes).T @ w for name, w in wrenches.items())
        found = robot.inverse_dynamics(q, v, a) - robot.inverse_dynamics(q, v, a, wrenches, axes=axes)
        np.testing.assert_allclose(found, pull, rtol=0.0, atol=1e-11)


def test_only_rounding_is_removed_from_a_moved_placement():
    angle, length = 5e-13, 3.0
    kept = dy.Pose(np.array([[1.0, -angle, 0.0], [angle, 1.0, 0.0], [0.0, 0.0, 1.0]]), np.array([length, 5e-13 * length, 0.0]))
    assert np.array_equal(_clean(kept).R, kept.R)
    assert np.array_equal(_clean(kept).p, kept.p)
    noise = dy.Pose(np.eye(3) + 5e-15, np.array([length, 5e-15 * length, 0.0]))
    assert np.array_equal(_clean(noise).R, np.eye(3))
    assert _clean(noise).p.tolist() == [length, 0.0, 0.0]
