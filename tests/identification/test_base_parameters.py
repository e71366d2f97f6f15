"""Base parameters: as many as the literature counts, and the same torques."""

from pathlib import Path

import numpy as np
import pytest

import dynamis as dy
from dynamis.identification import LinearModel, base_parameters
from dynamis.spatial.rotation import from_rpy

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.mark.parametrize(("name", "count"), [("puma560", 36), ("ur5e", 36), ("panda", 43), ("kuka_iiwa14", 43)])
def test_counts_of_the_literature(name, count):
    robot = dy.load(name)
    base = base_parameters(robot)
    assert base.rank == count
    assert base.gap > 1e10


def without_drives(robot):
    bare = robot.replace(friction=0)
    return bare.replace(friction={joint: {"rotor_inertia": 0.0} for joint in bare.joint_names})


@pytest.mark.parametrize(("name", "count"), [("puma560", 36), ("ur5e", 36), ("panda", 43), ("kuka_iiwa14", 43)])
def test_the_closed_form_counts_the_same(name, count):
    assert without_drives(dy.load(name)).closed_form().base.dimension == count


def test_counts_of_the_ur10():
    path = DATA / "ur10_unisa" / "ur10_robot.urdf"
    if not path.exists():
        pytest.skip("the UR10's file is not beside this checkout (../shared/data)")
    robot = dy.load(path)
    assert base_parameters(robot).rank == 36
    assert without_drives(robot).closed_form().base.dimension == 36


def test_planar_arm_in_a_vertical_plane_has_the_five_parameters_of_the_lectures():
    model = LinearModel(dy.load("planar_2r_melchiorri"), friction=(), rotor=False)
    # links whose centre of mass lies on their axis: m, m l and I about the joint
    wanted = [name for name in model.names if name.split(".")[1] in ("m", "mx", "Izz")]
    shown = [name for name in wanted if model.pattern[:, model.index(name)].any()]
    assert shown == ["link1.mx", "link1.Izz", "link2.m", "link2.mx", "link2.Izz"]
    base = base_parameters(model, among=wanted)
    # of the five, the mass of the second link shows only with the first two: four can be told apart
    assert base.expressions == ("link1.mx + link2.m", "link1.Izz + link2.m", "link2.mx", "link2.Izz")
    assert base.unidentifiable["link2.m"] == "it is identifiable only in combination with link1.mx and link1.Izz"


@pytest.mark.parametrize("name", ["puma560", "ur5e", "panda", "stanford", "scara", "baxter", "go2", "nine_body_tree"])
def test_base_regressor_gives_the_same_torques_for_any_parameters(name):
    robot = dy.load(name)
    model = LinearModel(robot)
    base = base_parameters(model)
    rng = np.random.default_rng(5)
    q, v, a = robot.random(rng, size=30), *rng.normal(size=(2, 30, robot.n))
    any_parameters = rng.normal(size=len(model.names))
    whole = model.regressor(q, v, a) @ any_parameters
    assert np.allclose(base.regressor(q, v, a) @ base.values(any_parameters), whole, rtol=1e-9, atol=1e-9 * abs(whole).max())
    # and fewer would not do: the columns are independent
    W = base.regressor(robot.random(rng, size=400), *rng.normal(size=(2, 400, robot.n))).reshape(-1, base.rank)
    assert np.linalg.matrix_rank(W / np.linalg.norm(W, axis=0)) == base.rank


def test_every_other_parameter_has_a_reason():
    base = base_parameters(dy.load("ur5e"))
    assert len(base.unidentifiable) == 60 - 36
    assert "only 'shoulder_pan_joint' moves this link" in base.unidentifiable["shoulder_link.m"]
    assert "would be identifiable if the base were tilted" in base.unidentifiable["shoulder_link.mx"]
    assert "only in combination with upper_arm_link.Ixz" in base.unidentifiable["forearm_link.mz"]
    tilted = base_parameters(dy.load("ur5e").replace(gravity=(3.0, 0.0, -9.0)))
    assert "shoulder_link.mx" in tilted.names


def test_expressions_can_be_read():
    base = base_parameters(dy.load("ur5e"))
    assert "upper_arm_link.mx − 0.425 forearm_link.m − 0.425 wrist_1_link.m − 0.425 wrist_2_link.m − 0.425 wrist_3_link.m" in (
        base.expressions
    )


def test_an_offset_and_a_direction_dependent_friction_are_one():
    base = base_parameters(LinearModel(dy.load("ur5e"), friction=("coulomb_bias",), offset=True))
    assert base.unidentifiable["elbow_joint.offset"] == "it is identifiable only in combination with elbow_joint.coulomb_bias"


def test_right_angles_written_with_five_digits_are_right_angles():
    # what turns the second joint of an xArm 7 is its own, but for the rounding of π/2 in the file
    base = base_parameters(LinearModel(dy.load("xarm7")))
    assert "joint2.rotor" not in base.names
    assert base.gap > 1e4
    assert base_parameters(base.model, tolerance=1e-9).rank == base.rank + 1
    # an angle that is off by more than its digits is another robot
    description = dy.load("xarm7").description
    joint = description.joint("joint2")
    joint.origin = joint.origin @ dy.Pose(from_rpy((1e-4, 0.0, 0.0)), np.zeros(3))
    assert base_parameters(LinearModel(dy.Robot(description))).rank == base.rank + 1


def test_bodies_between_the_axes_of_one_joint_have_no_parameters(tmp_path):
    file = tmp_path / "mobile.toml"
    file.write_text("""
[[link]]
link = "platform"
joint = "base"
type = "planar"
mass = 20
solid = { kind = "cylinder", radius = 0.25, length = 0.2 }
[[link]]
link = "upper"
joint = "shoulder"
xyz = [0, 0, 0.3]
axis = [0, 1, 0]
mass = 2
com = [0, 0, 0.2]
solid = { kind = "rod", length = 0.4 }
[[link]]
link = "fore"
joint = "elbow"
xyz = [0, 0, 0.4]
axis = [0, 1, 0]
mass = 1
com = [0, 0, 0.15]
solid = { kind = "rod", length = 0.3 }
""")
    robot = dy.load(file)
    assert "3 moving bodies" in repr(robot)
    base = base_parameters(LinearModel(robot, friction=(), rotor=False))
    assert (len(base.model.names), base.rank) == (30, 18)
    assert {name.partition(".")[0] for name in base.model.names} == {"platform", "upper", "fore"}
    q, v, a = np.random.default_rng(0).normal(size=(3, 5))
    np.testing.assert_allclose(base.regressor(q, v, a) @ base.prior, robot.inverse_dynamics(q, v, a), atol=1e-11)
