"""USD physics: what is read, compared with numbers taken from the stage by OpenUSD itself; what is written reads back the same."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

pxr = pytest.importorskip("pxr", reason="OpenUSD is not installed: pip install usd-core")

from click.testing import CliRunner  # noqa: E402
from pxr import Gf, Usd, UsdGeom, UsdPhysics, UsdUtils  # noqa: E402

import dynamis as dy  # noqa: E402
from dynamis.algorithms import mass_matrix  # noqa: E402
from dynamis.cli.commands import cli  # noqa: E402
from dynamis.model.readers import usd_files, usd_stage  # noqa: E402
from dynamis.model.writers.losses import losses  # noqa: E402
from dynamis.model.writers.usd import write_usd  # noqa: E402

FILES = Path(__file__).with_name("usd")
NEAREST = {"rounded_box": "box", "tapered_capsule": "capsule"}
ROBOTS = ("ur5e", "panda", "stanford", "go2", "g1")


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Stages are read in this process, which is quicker; tests of hostile files start processes."""
    monkeypatch.setattr(usd_files, "in_own_process", usd_stage.content)


def world_matrix(cache, prim):
    """R and p of a prim in the world, without its scale."""
    M = np.array(cache.GetLocalToWorldTransform(prim).RemoveScaleShear())
    return M[:3, :3].T, M[3, :3]


def mass_matrix_at_rest(path, joints):
    """M in the pose of the stage, from world axes and centres of mass: no recursion, no joint frames of the second body.

    ``joints`` maps each joint's path to the paths of the bodies that it moves, and the sign with which it moves them.
    """
    stage = Usd.Stage.Open(str(path))
    cache = UsdGeom.XformCache()
    M = np.zeros((len(joints), len(joints)))
    bodies = [p for p in stage.Traverse() if p.HasAPI(UsdPhysics.RigidBodyAPI)]
    for body in bodies:
        R, p = world_matrix(cache, body)
        api = UsdPhysics.MassAPI(body)
        c = R @ np.array(api.GetCenterOfMassAttr().Get(), float) + p
        quaternion = api.GetPrincipalAxesAttr().Get()
        axes = np.array(Gf.Matrix3d(Gf.Quatd(quaternion)).GetTranspose()) if quaternion.GetReal() else np.eye(3)
        I = R @ axes @ np.diag(np.array(api.GetDiagonalInertiaAttr().Get(), float)) @ axes.T @ R.T
        J = np.zeros((6, len(joints)))
        for k, (joint, (moved, sign)) in enumerate(joints.items()):
            if str(body.GetPath()) in moved:
                prim = stage.GetPrimAtPath(joint)
                own = UsdPhysics.Joint(prim)
                R0, p0 = world_matrix(cache, stage.GetPrimAtPath(own.GetBody0Rel().GetTargets()[0]))
                turn = np.array(Gf.Matrix3d(Gf.Quatd(own.GetLocalRot0Attr().Get())).GetTranspose())
                axis = sign * R0 @ turn[:, "XYZ".index(prim.GetAttribute("physics:axis").Get())]
                at = R0 @ np.array(own.GetLocalPos0Attr().Get(), float) + p0
                slides = prim.IsA(UsdPhysics.PrismaticJoint)
                J[:, k] = [*axis, 0, 0, 0] if slides else [*np.cross(axis, c - at), *axis]
        M += api.GetMassAttr().Get() * J[:3].T @ J[:3] + J[3:].T @ I @ J[3:]
    return M


def test_an_export_in_the_style_of_isaac_sim(quiet_load):
    path = FILES / "isaac_arm.usda"
    robot = quiet_load(path)
    assert robot.coordinate_names == ("shoulder", "reach")
    assert robot.link_names == ("base_link", "upper_arm", "slider", "finger")
    degrees = (
        np.degrees(robot.limits["lower"][0]),
        np.degrees(robot.limits["upper"][0]),
        np.degrees(robot.limits["velocity"][0]),
    )
    np.testing.assert_allclose(degrees, (-90.0, 180.0, 180.0))
    assert (robot.limits["effort"][0], robot.limits["lower"][1], robot.limits["upper"][1]) == (87.0, -0.05, 0.2)
    d = robot.description
    shoulder, grip = d.joint("shoulder"), d.joint("grip")
    assert shoulder.drive.rotor_inertia == 0.05
    assert (grip.mimic.joint, grip.mimic.ratio, grip.parent) == ("shoulder", 0.5, "slider")  # its first body is the child
    assert grip.mimic.offset == pytest.approx(-np.radians(30.0))
    grip.mimic, shoulder.drive.rotor_inertia = None, 0.0
    joints = {
        "/arm/joints/shoulder": (("/arm/upper_arm", "/arm/slider", "/arm/finger"), 1.0),
        "/arm/joints/reach": (("/arm/slider", "/arm/finger"), 1.0),
        "/arm/joints/grip": (("/arm/finger",), -1.0),
    }
    np.testing.assert_allclose(dy.Robot(d).mass_matrix(np.zeros(3)), mass_matrix_at_rest(path, joints), rtol=1e-6, atol=1e-7)
    (can,) = d.link("base_link").shapes  # of an instance
    assert (can.role, can.kind, can.size, can.rgba) == ("visual", "cylinder", (0.05, 0.4), (0.5, 0.25, 1.0, 1.0))
    np.testing.assert_allclose(can.origin.R[:, 2], [1.0, 0.0, 0.0])


def test_what_an_export_has_beside_the_robot_is_listed():
    report = dy.check(FILES / "isaac_arm.usda")
    (aside,) = [p.found for p in report.warnings if p.code == "left-aside"]
    assert "stiffness, damping and targets of drives, which are controllers (1: /arm/joints/shoulder)" in aside
    assert "physxJoint:jointFriction" in aside
    assert "breakForce" not in aside  # without limit
    assert "shapes of type Mesh (1: /arm/base_link/collisions/mesh)" in aside
    ground = [p.found for p in dy.check(FILES / "cart_pole.usda").notes]
    assert any("shapes outside the robot (1: /World/ground)" in found for found in ground)


def test_joint_physics_in_the_schema_of_newton(quiet_load):
    text = (FILES / "isaac_arm.usda").read_text()
    old = text[text.index("            float physxMimicJoint:rotX:gearing") : text.index("            rel physxMimicJoint")]
    text = text.replace(old, "            float newton:mimicCoef0 = 30\n            float newton:mimicCoef1 = -2\n")
    text = text.replace("physxMimicJoint:rotX:referenceJoint", "newton:mimicJoint")
    physics = "float newton:armature = 0.3\n            float newton:damping = 0.1\n            float newton:friction = 0.7\n            float newton:velocityLimit = 90"
    d = quiet_load(text.replace("float physxJoint:maxJointVelocity = 180", physics)).description
    drive, grip = d.joint("shoulder").drive, d.joint("grip").mimic
    assert (drive.rotor_inertia, drive.viscous, drive.coulomb) == (0.3, pytest.approx(0.1 * 180.0 / np.pi), 0.7)
    assert d.joint("shoulder").limits.velocity == pytest.approx(np.pi / 2.0)
    assert (grip.ratio, grip.offset) == (-2.0, pytest.approx(np.pi / 6.0))


def test_units_up_axis_density_and_scaled_bodies(quiet_load):
    robot = quiet_load(FILES / "cart_pole.usda")
    np.testing.assert_allclose(robot.description.gravity, [0.0, -9.81, 0.0])
    d = robot.description
    assert d.link("cart").mass_properties.mass == pytest.approx(2.0)
    np.testing.assert_allclose(
        np.diag(d.link("cart").mass_properties.tensor), dy.solids.box(0.5, 0.2, 0.3, mass=2.0).tensor.diagonal()
    )
    r, h, density, bob = 0.02, 0.8, 600.0, 0.5
    ends, shaft = density * 4.0 / 3.0 * np.pi * r**3, density * np.pi * r * r * h
    pole = d.link("pole").mass_properties
    assert pole.mass == pytest.approx(ends + shaft + bob)
    np.testing.assert_allclose(pole.com, [0.0, ((ends + shaft) * 0.4 + bob * 0.8) / pole.mass, 0.0])
    np.testing.assert_allclose(robot.limits["upper"], [2.0, np.pi / 3.0])
    X = robot.pose([0.3, 0.0], "pole")
    np.testing.assert_allclose(X[:3, 3], [0.3, 1.1, 0.0])  # half of the unit cube that the transform scales to 0.2 m
    about_pivot = robot.mass_matrix([0.0, 0.0])[1, 1]
    across = shaft * (h * h / 12.0 + r * r / 4.0) + ends * (0.4 * r * r + h * h / 4.0 + 0.375 * h * r)
    assert about_pivot == pytest.approx(across + (ends + shaft) * 0.4**2 + bob * (0.4 * 0.05**2 + 0.8**2))


def test_shapes_without_a_counterpart_are_told():
    text = (FILES / "isaac_arm.usda").read_text().replace("double radius = 0.05", "double radius = -0.05")
    (shape,) = [p for p in dy.check(text).warnings if p.code == "shape"]
    assert (str(shape.line), shape.found) == ("/arm/base_link/visuals/can", "a cylinder: radius = -0.05 is not a length")
    text = (FILES / "cart_pole.usda").read_text().replace('def Sphere "bob"', 'def Cone "bob"')
    (error,) = dy.check(text).errors
    assert "computed from /World/pole/bob of type Cone" in error.found
    assert str(error.line) == "/World/pole"


def test_a_joint_outside_the_articulation_closes_a_loop(tmp_path, quiet_load):
    with pytest.warns(dy.ModelWarning, match="loops closed by"):
        robot = dy.load(FILES / "four_bar.usda")
    assert robot.coordinate_names == ("a", "b", "d")
    closed = dy.constrained(robot, closures=dy.loops.closures(robot))
    assert np.linalg.matrix_rank(np.asarray(closed.jacobian(np.zeros(3)))) == 2  # one degree of freedom is left
    robot.write(tmp_path / "again.usda")
    again = quiet_load(tmp_path / "again.usda")
    assert len(again.description.closures) == 2


@pytest.mark.parametrize("name", ["ur5e", "panda"])
def test_openusd_sees_the_written_robot(name, tmp_path, quiet_load):
    robot, path = quiet_load(name), tmp_path / "robot.usda"
    robot.write(path)
    d, stage = robot.description, Usd.Stage.Open(str(path))
    paths = {prim.GetName(): str(prim.GetPath()) for prim in stage.Traverse()}
    moving = [joint for joint in d.joints if joint.type != "fixed" and joint.mimic is None]
    moved = {joint.name: [joint.child] for joint in moving}
    for links in moved.values():
        for link in links:  # which grows
            links += [joint.child for joint in d.joints if joint.parent == link]
    joints = {paths[joint.name]: ([paths[link] for link in moved[joint.name]], 1.0) for joint in moving}
    for joint in d.joints:
        joint.drive.rotor_inertia = 0.0
    M = mass_matrix.crba(dy.Robot(d).model, np.zeros(robot.n))
    np.testing.assert_allclose(M, mass_matrix_at_rest(path, joints), rtol=1e-6, atol=1e-7)
    cache = UsdGeom.XformCache()
    for link in d.links:
        R, p = world_matrix(cache, stage.GetPrimAtPath(paths[link.name]))
        X = robot.pose(np.zeros(robot.n), link.name)
        np.testing.assert_allclose(np.column_stack([R, p]), X[:3], atol=1e-12)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_the_validators_of_openusd_accept_the_written_robot(base, tmp_path, quiet_load):
    validation = pytest.importorskip("pxr.UsdValidation", reason="this OpenUSD has no validators")
    d = quiet_load("go2", base=base).description
    d.add_link("massless", "base", "revolute").add_link("tip", "massless", "prismatic", inertia=dy.solids.sphere(0.1, mass=1.0))
    (tmp_path / "robot.usda").write_text(write_usd(d))
    context = validation.ValidationContext(list(validation.ValidationRegistry().GetOrLoadAllValidators()))
    assert [e.GetErrorAsString() for e in context.Validate(Usd.Stage.Open(str(tmp_path / "robot.usda")))] == []


def test_a_kinematic_body_is_held_and_an_articulation_may_float(quiet_load):
    text = (FILES / "four_bar.usda").read_text()
    loose = text.replace("rel physics:body1 = </four_bar/frame>\n", "bool physics:jointEnabled = 0\n", 1)
    floating = quiet_load(loose)
    assert floating.coordinate_names[0].startswith("floating_base")
    assert floating.n == 9
    held = quiet_load(
        loose.replace("float physics:mass = 1\n", "float physics:mass = 1\n        bool physics:kinematicEnabled = 1\n")
    )
    assert held.n == 3


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_written_as_usd_reads_back_the_same(name, base, tmp_path, same_dynamics, quiet_load):
    robot = quiet_load(name, base=base)
    robot.write(tmp_path / "robot.usda")
    again = quiet_load(tmp_path / "robot.usda")
    same_dynamics(robot, again, frames=list(robot.link_names))
    assert sorted(again.link_names) == sorted(robot.link_names)
    assert again.name == robot.name
    for key in ("lower", "upper", "effort", "velocity"):
        np.testing.assert_allclose(robot.limits[key], again.limits[key], rtol=1e-15)
    for one, other in zip(robot.description.joints, again.description.joints, strict=True):
        assert (one.name, one.parent, one.child, one.drive) == (other.name, other.parent, other.child, other.drive)
    for one in robot.description.links:
        kept = [shape for shape in one.shapes if shape.kind != "mesh"]
        for a, b in zip(kept, again.description.link(one.name).shapes, strict=True):
            assert (a.role, NEAREST.get(a.kind, a.kind)) == (b.role, b.kind)
            if a.kind not in NEAREST:
                np.testing.assert_allclose(a.size, b.size)
            np.testing.assert_allclose(a.origin.matrix(), b.origin.matrix(), atol=1e-14)


def every_joint():
    d = dy.Description("every joint").add_link("0 base")
    rng, parent = np.random.default_rng(3), "0 base"
    for kind in (
        "revolute",
        "continuous",
        "prismatic",
        "universal",
        "cylindrical",
        "planar",
        "spherical",
        "fixed",
        "free",
        "revolute",
    ):
        name = f"{len(d.links)}-{kind}"
        R = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        origin = dy.Pose(R * np.linalg.det(R), rng.standard_normal(3))
        inertia = dy.solids.box(0.1, 0.2, 0.3, mass=2.0).seen_from(dy.Pose(R * np.linalg.det(R), rng.uniform(-0.1, 0.1, 3)))
        more = {"axis2": rng.standard_normal(3)} if kind == "universal" else {}
        d.add_link(
            name,
            parent,
            kind,
            joint_name=f"j{len(d.links)}",
            origin=origin,
            axis=rng.standard_normal(3),
            inertia=inertia,
            **more,
        )
        d.joints[-1].tail = origin.inverse()
        parent = name
    d.joints[0].limits = dy.model.description.Limits(-1.0, 0.7, 3.0, 11.0)
    d.joints[0].drive = dy.model.description.Drive(
        viscous=0.3, coulomb=0.1, coulomb_bias=0.01, rotor_inertia=1e-4, gear_ratio=50.0, stiffness=2.0, rest=0.2
    )
    d.joints[2].mimic = dy.model.description.Mimic("j1", 0.3, 0.02)
    d.joints[-1].mimic = dy.model.description.Mimic("j1", -1.5, 0.1)
    d.gravity = np.array([1.0, -2.0, -9.0])
    return d


def test_every_joint_but_the_helical_travels(tmp_path, same_dynamics, quiet_load):
    d = every_joint()
    robot = dy.Robot(d)
    robot.write(tmp_path / "robot.usda")
    again = quiet_load(tmp_path / "robot.usda")
    same_dynamics(robot, again, frames=[link.name for link in d.links])
    first = again.description.joint("j1")
    assert first.drive == d.joint("j1").drive
    np.testing.assert_allclose(
        [first.limits.lower, first.limits.upper, first.limits.velocity, first.limits.effort], [-1.0, 0.7, 3.0, 11.0]
    )
    assert losses(d, ".usda") == ["universal joints, written as two hinges: 1 element, 'j4'"]
    d.joints[1].type = "helical"
    with pytest.raises(dy.ConversionError, match="helical: USD has no such joint; write TOML"):
        write_usd(d)


def test_massless_links_point_masses_and_followers_travel(tmp_path, quiet_load):
    d = dy.Description("thin").add_link("base").add_link("a", "base", "revolute")
    d.add_link(
        "b",
        "a",
        "revolute",
        axis=(1, 0, 0),
        origin=dy.Pose.translation([0, 0, 1]),
        inertia=dy.solids.point_mass(mass=2.0).seen_from(dy.Pose.translation([0.0, 0.3, 0.1])),
    )
    d.link("b").mass_properties.tensor = np.zeros((3, 3))
    d.add_link("tool::tip", "b", origin=dy.Pose.translation([0, 0, 0.1]))
    dy.Robot(d).write(tmp_path / "thin.usda")
    again = quiet_load(tmp_path / "thin.usda").description
    assert again.link("a").mass_properties is None
    assert again.link("b").mass_properties.mass == 2.0
    assert not again.link("b").mass_properties.tensor.any()
    assert [link.name for link in again.links] == ["base", "a", "b", "tool::tip"]


def test_a_value_edited_by_another_program_holds(tmp_path, quiet_load):
    dy.load("panda").write(tmp_path / "robot.usda")
    text = (tmp_path / "robot.usda").read_text()
    stage = Usd.Stage.Open(str(tmp_path / "robot.usda"))
    prim = next(p for p in stage.Traverse() if p.HasAttribute("dynamis:physics:diagonalInertia"))
    moments = np.array(UsdPhysics.MassAPI(prim).GetDiagonalInertiaAttr().Get(), float)
    UsdPhysics.MassAPI(prim).GetDiagonalInertiaAttr().Set(Gf.Vec3f(*(2.0 * moments)))
    stage.Save()
    assert (tmp_path / "robot.usda").read_text() != text
    before = dy.load("panda").description.link(prim.GetName()).mass_properties.tensor
    after = quiet_load(tmp_path / "robot.usda").description.link(prim.GetName()).mass_properties.tensor
    np.testing.assert_allclose(np.linalg.eigvalsh(after), 2.0 * np.linalg.eigvalsh(before), rtol=1e-6)


@pytest.mark.parametrize("suffix", [".usd", ".usdc", ".usdz"])
def test_binary_files_and_packages_read_as_their_text(suffix, tmp_path, quiet_load, same_dynamics):
    stage = Usd.Stage.Open(str(FILES / "isaac_arm.usda"))
    path = tmp_path / f"robot{suffix}"
    if suffix == ".usdz":
        stage.Export(str(tmp_path / "robot.usdc"))
        assert UsdUtils.CreateNewUsdzPackage(str(tmp_path / "robot.usdc"), str(path))
    else:
        stage.Export(str(path))
    same_dynamics(quiet_load(FILES / "isaac_arm.usda"), quiet_load(path))


def test_sources_beside_a_path(tmp_path, quiet_load):
    text = (FILES / "cart_pole.usda").read_text()
    assert quiet_load(text).n == quiet_load(text.encode()).n == 2
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "robot.usda").write_text(text)
    assert quiet_load(tmp_path / "folder").n == 2
    with zipfile.ZipFile(tmp_path / "robot.zip", "w") as archive:
        archive.writestr("robot/robot.usda", text)
    assert quiet_load(tmp_path / "robot.zip").n == 2


def test_layers_in_the_folder_of_the_file_are_composed(tmp_path, quiet_load):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.usda").write_text((FILES / "isaac_arm.usda").read_text())
    head = '#usda 1.0\n(\n    defaultPrim = "World"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
    (tmp_path / "scene.usda").write_text(
        head
        + 'def Xform "World"\n{\n    def Xform "left" (\n        prepend payload = @./parts/arm.usda@\n    )\n    {\n    }\n}\n'
    )
    assert quiet_load(tmp_path / "scene.usda").coordinate_names == ("shoulder", "reach")


def test_conversions_list_what_does_not_travel(tmp_path):
    out = CliRunner().invoke(cli, ["convert", str(FILES / "isaac_arm.usda"), str(tmp_path / "arm.urdf"), "--json"])
    assert out.exit_code == 0, out.output
    d = dy.load("ur5e").description
    d.links[1].shapes.append(dy.model.description.Shape("visual", "mesh", (1.0, 1.0, 1.0), dy.Pose.identity(), "arm.stl"))
    assert any(sentence.startswith("meshes: 1 element") for sentence in losses(d, ".usda"))
    out = CliRunner().invoke(cli, ["convert", "ur5e", str(tmp_path / "ur5e.usda"), "--json"])
    assert json.loads(out.output)["written"] == [str(tmp_path / "ur5e.usda")]
