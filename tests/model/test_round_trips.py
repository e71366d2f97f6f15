from __future__ import annotations

import numpy as np
import pytest
from campaign_params import seeds
from random_trees import random_description

import dynamis as dy
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import from_rpy

URDF_KINDS = ("fixed", "revolute", "continuous", "prismatic", "planar", "free")

BLUE = '<material name="blue"><color rgba="0 0 1 1"/></material>'


def written(robot, path, form, load):
    robot.write(path, form)
    return load(path)


@pytest.mark.parametrize("seed", seeds(3, 8))
def test_a_random_tree_is_the_same_after_toml(seed, tmp_path, quiet_load, same_dynamics):
    rng = np.random.default_rng(seed)
    robot = dy.Robot(random_description(rng, 7))
    again = written(robot, tmp_path / "r.toml", "link", quiet_load)
    same_dynamics(robot, again, frames=robot.link_names)
    for one, other in zip(robot.description.joints, again.description.joints, strict=True):
        assert (one.name, one.type, one.parent, one.child) == (other.name, other.type, other.parent, other.child)
        assert one.drive == other.drive
        assert one.limits == other.limits


@pytest.mark.parametrize("seed", seeds(3, 8))
def test_a_random_tree_of_urdf_joints_is_the_same_after_urdf(seed, tmp_path, quiet_load, same_dynamics):
    rng = np.random.default_rng(seed)
    robot = dy.Robot(random_description(rng, 7, kinds=URDF_KINDS))
    again = written(robot, tmp_path / "r.urdf", "link", quiet_load)
    same_dynamics(robot, again, frames=robot.link_names)


@pytest.mark.parametrize("seed", seeds(3, 6))
def test_cylindrical_and_universal_joints_are_the_same_motion_after_urdf(seed, tmp_path, quiet_load, same_dynamics):
    rng = np.random.default_rng(seed)
    robot = dy.Robot(random_description(rng, 4, kinds=("cylindrical", "universal", "revolute"), mimics=False))
    again = written(robot, tmp_path / "r.urdf", "link", quiet_load)
    same_dynamics(robot, again, frames=robot.link_names)


@pytest.mark.parametrize("seed", seeds(3, 6))
def test_a_random_tree_of_simple_joints_is_the_same_as_screws(seed, tmp_path, quiet_load, same_dynamics):
    rng = np.random.default_rng(seed)
    robot = dy.Robot(random_description(rng, 7, kinds=("revolute", "continuous", "prismatic", "helical", "fixed")))
    again = written(robot, tmp_path / "r.toml", "poe", quiet_load)
    assert {j.name: j.type for j in again.description.joints} == {j.name: j.type for j in robot.description.joints}
    same_dynamics(robot, again, frames=robot.link_names)


@pytest.mark.parametrize("suffix", ["urdf", "toml"])
def test_a_urdf_file_is_the_same_after_writing(arm, save, tmp_path, same_dynamics, suffix):
    robot = dy.load(save(arm()))
    robot.write(tmp_path / f"again.{suffix}")
    again = dy.load(tmp_path / f"again.{suffix}", strict=True)
    same_dynamics(robot, again, frames=robot.link_names)
    assert again.link_names == robot.link_names
    ledger = again.torque_ledger([0.1, 0.1], [1, 1], [0, 0])
    assert ledger.viscous == pytest.approx([0.7, 0])
    assert ledger.dry == pytest.approx([0.3, 0])


@pytest.mark.parametrize("suffix", ["urdf", "toml"])
def test_writing_twice_gives_the_same_bytes(arm, save, tmp_path, suffix):
    first, second = tmp_path / f"first.{suffix}", tmp_path / f"second.{suffix}"
    dy.load(save(arm())).write(first)
    dy.load(first).write(second)
    assert first.read_bytes() == second.read_bytes()


def test_shapes_and_mesh_names_survive(arm, save, tmp_path):
    shape = ('<link name="tool"><visual><origin xyz="0 0 1" rpy="0 0 1"/><geometry><mesh filename="package://p/a &amp; b.stl" scale="1 2 3"/>'
             '</geometry><material name="m"><color rgba="0.1 0.2 0.3 1"/></material></visual><collision><geometry>'
             '<cylinder radius="0.1" length="2"/></geometry></collision></link>')  # fmt: skip
    robot = dy.load(save(arm('<link name="tool"/>', shape)))
    for suffix in ("urdf", "toml"):
        robot.write(tmp_path / f"again.{suffix}")
        mesh, cylinder = dy.load(tmp_path / f"again.{suffix}").description.link("tool").shapes
        assert (mesh.role, mesh.kind, mesh.mesh, mesh.size) == ("visual", "mesh", "package://p/a & b.stl", (1.0, 2.0, 3.0))
        assert mesh.rgba == (0.1, 0.2, 0.3, 1.0)
        assert mesh.origin.p == pytest.approx([0, 0, 1])
        assert (cylinder.role, cylinder.kind, cylinder.size) == ("collision", "cylinder", (0.1, 2.0))


def test_a_colour_may_be_named_in_one_place_and_given_in_another(arm, save):
    tool = '<link name="tool"><visual><geometry><sphere radius="1"/></geometry><material name="blue"/></visual></link>'
    for text in (tool + BLUE, BLUE + tool):
        (shape,) = dy.load(save(arm('<link name="tool"/>', text))).description.link("tool").shapes
        assert shape.rgba == (0.0, 0.0, 1.0, 1.0)


def test_gravity_rotors_and_springs_survive_urdf(tmp_path, quiet_load):
    robot = dy.load("scara").replace(
        gravity=[1.0, -2.0, 3.0], friction={"joint1": {"stiffness": 5.0, "rest": 0.2, "coulomb_bias": 0.1}}
    )
    robot.write(tmp_path / "r.urdf")
    again = quiet_load(tmp_path / "r.urdf")
    q, v, a = [0.1] * 4, [0.2] * 4, [0.3] * 4
    for one, other in zip(
        robot.torque_ledger(q, v, a).as_dict().values(), again.torque_ledger(q, v, a).as_dict().values(), strict=True
    ):
        assert one == pytest.approx(other, abs=1e-12)


def test_a_joint_without_limits_stays_without_limits(tmp_path, quiet_load):
    body = dy.solids.sphere(0.1, mass=1.0)
    d = (
        dy.Description("r")
        .add_link("base")
        .add_link("a", "base", "revolute", inertia=body)
        .add_link("b", "a", "prismatic", inertia=body)
    )
    for suffix in ("toml", "urdf"):
        dy.Robot(d).write(tmp_path / f"r.{suffix}")
        again = quiet_load(tmp_path / f"r.{suffix}")
        assert np.isinf(again.limits["lower"]).all()
        assert np.isinf(again.limits["upper"]).all()
        assert np.abs(again.random(0)).max() < 10.0


def test_a_symbolic_robot_survives_toml(tmp_path, quiet_load):
    robot = dy.load("planar_2r")
    robot.write(tmp_path / "r.toml")
    again = dy.load(tmp_path / "r.toml")
    assert again.model.symbolic
    values = {"g": 9.81, "a_1": 0.5, "a_2": 0.4, "l_1": 0.25, "l_2": 0.2, "m_1": 3.0, "m_2": 2.0, "I_1": 0.1, "I_2": 0.05}
    one, other = dy.load("planar_2r", parameters=values), quiet_load(tmp_path / "r.toml", parameters=values)
    q, v = [0.3, 0.7], [0.1, -0.4]
    assert one.mass_matrix(q) == pytest.approx(other.mass_matrix(q), abs=1e-14)
    assert one.bias(q, v) == pytest.approx(other.bias(q, v), abs=1e-14)
    assert one.pose(q) == pytest.approx(other.pose(q), abs=1e-14)


@pytest.mark.parametrize(
    "name", ["planar_2r_melchiorri", "planar_3r", "cartesian_2p", "motor_with_load", "rod_and_disc", "planar_prp"]
)
def test_every_symbolic_library_robot_is_written_or_refused_in_words(name, tmp_path):
    robot = dy.load(name)
    for form in ("link", "poe"):
        try:
            robot.write(tmp_path / "r.toml", form)
        except dy.ConversionError:
            continue
        again = dy.load(tmp_path / "r.toml")
        assert again.n == robot.n
        assert again.model.symbolic == robot.model.symbolic


XACRO_LIKE = ["${x}", "a${b}", "$(arg p)", "${", "$x", "x$(find y)/z", "&#36;{a}", "$$${a} & <b>", "$x and ${y}"]


def named(name):
    d = dy.Description(name).add_link(f"base {name}")
    d.add_link(f"link {name}", f"base {name}", "revolute", joint_name=f"joint {name}", axis=np.array([0.0, 0.0, 1.0]),
               inertia=dy.Inertia.about_com(1.0, np.array([0.1, 0.2, 0.3]), 0.1 * np.eye(3)))  # fmt: skip
    return dy.Robot(d)


@pytest.mark.parametrize("suffix", ["urdf", "toml"])
@pytest.mark.parametrize("name", XACRO_LIKE)
def test_names_that_look_like_xacro_are_read_back_unchanged(name, suffix, tmp_path, quiet_load):
    robot, path = named(name), tmp_path / f"r.{suffix}"
    again = written(robot, path, "link", quiet_load)
    assert (again.name, again.link_names, again.joint_names) == (robot.name, robot.link_names, robot.joint_names)
    if suffix == "urdf":
        path.write_text(path.read_text().replace("</robot>", "<!-- ${x} --></robot>"))  # the whole tree is looked at
        assert quiet_load(path).link_names == robot.link_names


@pytest.mark.parametrize("name", XACRO_LIKE)
def test_a_robot_renamed_in_its_own_document_is_read_back_unchanged(name, arm, save, tmp_path, quiet_load):
    description = dy.load(save(arm())).description
    description.name = name
    assert written(dy.Robot(description), tmp_path / "r.urdf", "link", quiet_load).name == name


@pytest.mark.parametrize("kind", ["helical", "revolute", "continuous"])
@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (1.0, 2.0, 3.0), (1e4, -1e4, 1e4), (3e6, -2e6, 9e6)])
@pytest.mark.parametrize("form", ["poe", "link"])
def test_a_joint_without_pitch_keeps_its_type_and_has_none_after_writing(kind, place, form, tmp_path, quiet_load):
    d = dy.Description("r").add_link("base")
    pitch = {"pitch": 0.0} if kind == "helical" else {}
    d.add_link("a", "base", kind, joint_name="j", axis=np.array([0.3, -0.2, 0.9]) / np.sqrt(0.94), **pitch,
               inertia=dy.Inertia.about_com(1.0, np.array([0.1, 0.2, 0.3]), 0.1 * np.eye(3)))  # fmt: skip
    d.joints[0].tail = Pose(from_rpy([0.3, 0.2, 0.1]), np.array(place))
    joint = written(dy.Robot(d), tmp_path / "r.toml", form, quiet_load).description.joints[0]
    assert (joint.type, joint.pitch) == (kind, 0.0)


@pytest.mark.parametrize("pitch", [1e-12, 1e-3, -0.2])
def test_a_pitch_is_read_back_from_a_screw(pitch, tmp_path, quiet_load):
    d = dy.Description("r").add_link("base")
    d.add_link("a", "base", "helical", joint_name="j", axis=np.array([0.0, 0.6, 0.8]), pitch=pitch,
               inertia=dy.Inertia.about_com(1.0, np.array([0.1, 0.2, 0.3]), 0.1 * np.eye(3)))  # fmt: skip
    d.joints[0].tail = Pose.translation([0.1, 0.2, 0.3])
    joint = written(dy.Robot(d), tmp_path / "r.toml", "poe", quiet_load).description.joints[0]
    assert joint.pitch == pytest.approx(pitch, abs=1e-15)
