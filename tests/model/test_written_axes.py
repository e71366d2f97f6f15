"""Axes that are not of unit length, and quaternions of joints whose links are turned, mean the same in every format."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.spatial import Pose
from dynamis.spatial.rotation import from_rpy

FORMATS = {"planar": ("sdf", "urdf", "usda", "toml"), "cylindrical": ("sdf", "urdf", "usda", "mjcf"), "prismatic": ("sdf", "mjcf"),
           "universal": ("sdf", "urdf", "usda", "mjcf"), "helical": ("sdf", "toml"), "revolute": ("sdf", "urdf", "mjcf")}  # fmt: skip


def arm(kind, axis):
    description = dy.load("planar_2r_melchiorri").description
    joint = description.joints[1]
    joint.type, joint.axis, joint.pitch = kind, np.array(axis), 0.1
    joint.axis2 = np.array([2.0, 0.0, 0.0]) if kind == "universal" else None
    joint.origin = joint.origin @ Pose.translation([0.0, 0.1, 0.2])
    description.links[2].mass_properties.com = np.array([0.1, 0.05, 0.2])
    return dy.Robot(description)


@pytest.mark.filterwarnings("ignore:.*:dynamis.errors.ModelWarning")
@pytest.mark.parametrize("kind", FORMATS)
def test_only_the_direction_of_an_axis_matters(kind, tmp_path):
    robot = arm(kind, [0.0, 3.0, 4.0])
    q, v, a = np.random.default_rng(0).normal(size=(3, robot.n))
    same = arm(kind, [0.0, 0.6, 0.8])
    assert np.allclose(robot.inverse_dynamics(q, v, a), same.inverse_dynamics(q, v, a), atol=1e-12)
    for suffix in FORMATS[kind]:
        if suffix in ("usda", "mjcf"):
            pytest.importorskip({"usda": "pxr", "mjcf": "mujoco"}[suffix], reason="the reader's package is not installed")
        robot.write(tmp_path / f"arm.{suffix}")
        again = dy.load(tmp_path / f"arm.{suffix}")
        frame = robot.link_names[2]
        assert np.allclose(again.pose(q, frame), robot.pose(q, frame), atol=1e-12), suffix
        assert np.allclose(again.mass_matrix(q), robot.mass_matrix(q), atol=1e-11), suffix


@pytest.mark.parametrize("kind", FORMATS)
def test_a_pinocchio_model_has_unit_axes(kind):
    pin = pytest.importorskip("pinocchio", reason="pinocchio is not installed: pip install pin")
    robot = arm(kind, [0.0, 3.0, 4.0]).replace(friction=0)
    q, v, a = np.random.default_rng(0).normal(size=(3, robot.n))
    model = robot.to_pinocchio()
    assert np.allclose(pin.rnea(model, model.createData(), q, v, a), robot.inverse_dynamics(q, v, a), atol=1e-11)


@pytest.mark.filterwarnings("ignore:.*:dynamis.errors.ModelWarning")
def test_a_ball_joint_whose_link_is_turned_keeps_its_quaternion_in_mjcf(tmp_path):
    pytest.importorskip("mujoco", reason="mujoco is not installed: pip install 'dynamis[mujoco]'")
    description = dy.load("planar_2r_melchiorri").description
    joint = description.joints[1]
    joint.type, joint.tail = "spherical", Pose.rotation(from_rpy([0.5, 0.2, -0.3]))
    robot = dy.Robot(description)
    robot.write(tmp_path / "ball.mjcf")
    again, q, v = dy.load(tmp_path / "ball.mjcf"), robot.random(0), np.random.default_rng(0).normal(size=robot.n)
    frame = robot.link_names[2]
    assert np.allclose(again.pose(q, frame), robot.pose(q, frame), atol=1e-12)
    assert again.kinetic_energy(q, v) == pytest.approx(robot.kinetic_energy(q, v), rel=1e-10)


@pytest.mark.filterwarnings("ignore:.*without moving any mass")
def test_free_joints_that_a_format_cannot_hold_are_refused_or_listed(tmp_path):
    free = dy.load("go2", base="floating").description
    free.joints[0].origin = Pose.translation([0.0, 0.0, 0.5])
    with pytest.warns(dy.ModelWarning, match="origins of free joints, whose positions are in the world there"):
        dy.Robot(free).write(tmp_path / "free.mjcf")
    description = dy.load("planar_2r_melchiorri").description
    description.joints[1].type = "free"
    with pytest.raises(dy.ConversionError, match="a model of SDF has no other free joint than that of its root"):
        dy.Robot(description).write(tmp_path / "free.sdf")


@pytest.mark.parametrize("suffix", [".mjcf", ".usda", ".toml", ".urdf"])
def test_a_free_body_beside_a_fixed_arm_is_refused_in_sdf_and_kept_elsewhere(tmp_path, suffix):
    ball = dy.solids.sphere(0.1, mass=1.0)
    description = dy.Description("room").add_link("world").add_link("arm", "world", "revolute", axis=(0, 1, 0), inertia=ball)
    robot = dy.Robot(description.add_link("ball", "world", "free", inertia=ball))
    with pytest.raises(dy.ConversionError, match=r"joint 'ball_joint' is free, .* write MJCF, USD or TOML instead"):
        robot.write(tmp_path / "room.sdf")
    robot.write(tmp_path / f"room{suffix}")
    again = dy.load(tmp_path / f"room{suffix}")
    assert again.joint_names == robot.joint_names
    np.testing.assert_allclose(again.mass_matrix(again.neutral()), robot.mass_matrix(robot.neutral()), atol=1e-12)
