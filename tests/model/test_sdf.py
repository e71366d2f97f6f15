"""SDF files, written by a small function of the tests in two ways, read as the same robots; what is refused, and what is noted."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.cli.summary import summarise
from dynamis.model.readers.sdf import TYPES
from dynamis.model.writers.losses import losses
from dynamis.model.writers.sdf import write_sdf
from dynamis.spatial.rotation import to_quaternion, to_rpy

ROBOTS = ("ur5e", "panda", "stanford", "go2")
SDF_TYPE = {ours: theirs for theirs, ours in TYPES.items()} | {"universal": "universal"}


def numbers(values):
    return " ".join(repr(float(x)) for x in values)


def pose(X, frame="", quaternion=False):
    relative = f' relative_to="{frame}"' if frame else ""
    if quaternion:
        return f'<pose{relative} rotation_format="quat_xyzw">{numbers([*X.p, *to_quaternion(X.R)])}</pose>'
    return f"<pose{relative}>{numbers([*X.p, *to_rpy(X.R)])}</pose>"


def to_sdf(d, style):
    """The robot as SDF: links placed in the model at q = 0, joints in the child, axes in the joint or in the model."""
    places, out = {}, ['<?xml version="1.0"?>', '<sdf version="1.8">', f'<model name="{d.name}">']
    joints = {joint.child: joint for joint in d.joints}
    for link in d.links:
        chain, at = [], link.name
        while at in joints:
            chain.append(joints[at])
            at = joints[at].parent
        X = dy.Pose.identity()
        for joint in reversed(chain):
            X = X @ joint.origin @ joint.tail
        places[link.name] = X
        m = link.mass_properties
        I = np.zeros((3, 3)) if m is None else m.tensor
        inertia = "".join(
            f"<i{a}{b}>{numbers([I['xyz'.index(a), 'xyz'.index(b)]])}</i{a}{b}>"
            for a, b in ("xx", "xy", "xz", "yy", "yz", "zz")
        )
        com = "" if m is None else pose(dy.Pose.translation(m.com))
        mass = f"<inertial>{com}<mass>{numbers([0.0 if m is None else m.mass])}</mass><inertia>{inertia}</inertia></inertial>"
        out.append(f'<link name="{link.name}">{pose(X, "__model__", style == "model")}{mass}</link>')
    root = next(link.name for link in d.links if link.name not in joints)
    out.append(f'<joint name="to_world" type="fixed"><parent>world</parent><child>{root}</child></joint>')
    for joint in d.joints:
        limits = "".join(f"<{k}>{numbers([v])}</{k}>" for k, v in vars(joint.limits).items() if np.isfinite(v))
        drive = {"damping": joint.drive.viscous, "friction": joint.drive.coulomb, "spring_stiffness": joint.drive.stiffness,
                 "spring_reference": joint.drive.rest}  # fmt: skip
        dynamics = "".join(f"<{k}>{numbers([v])}</{k}>" for k, v in drive.items())
        J = places[joint.parent] @ joint.origin
        axis = joint.axis if style == "joint" else J.R @ joint.axis
        frame = "" if style == "joint" else ' expressed_in="__model__"'
        axis = f"<axis><xyz{frame}>{numbers(axis)}</xyz><limit>{limits}</limit><dynamics>{dynamics}</dynamics></axis>"
        place = pose(joint.tail.inverse()) if style == "joint" else pose(joint.origin, joint.parent)
        out.append(
            f'<joint name="{joint.name}_joint" type="{SDF_TYPE[joint.type]}">{place}<parent>{joint.parent}</parent><child>{joint.child}</child>{"" if joint.type == "fixed" else axis}</joint>'
        )
    return "\n".join([*out, "</model></sdf>"])


@pytest.mark.parametrize("style", ["joint", "model"])
@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_written_as_sdf_is_read_as_the_same(name, style, same_dynamics):
    d = dy.load(name).description
    for joint in d.joints:
        joint.drive.rotor_inertia = joint.drive.coulomb_bias = 0.0
    for joint in d.joints:
        joint.name = joint.name.removesuffix("_joint") + "_joint"
    again = dy.load(to_sdf(d, style).replace("_joint_joint", "_joint"))
    robot = dy.Robot(d)
    frames = list(robot.link_names)
    same_dynamics(robot, again, frames=frames)
    for key in ("lower", "upper", "effort", "velocity"):
        np.testing.assert_array_equal(robot.limits[key], again.limits[key])


@pytest.mark.filterwarnings("ignore:.*does not hold all of robot")
@pytest.mark.parametrize("name", ROBOTS)
def test_what_our_writer_writes_reads_back_the_same(name, tmp_path, same_dynamics):
    robot = dy.load(name)
    robot.write(tmp_path / "robot.sdf")
    again = dy.load(tmp_path / "robot.sdf")
    d = robot.description
    for joint in d.joints:
        joint.drive.rotor_inertia = joint.drive.coulomb_bias = 0.0
    same_dynamics(dy.Robot(d), again)
    assert again.link_names == robot.link_names


TWO = """<sdf version="1.9"><model name="m">
  <frame name="tool" attached_to="arm::tip"><pose>0 0 0.1 0 0 0</pose></frame>
  <frame name="mount"><pose>1 2 3 0 0 1.5707963267948966</pose></frame>
  <link name="base"><inertial><mass>1</mass></inertial></link>
  <model name="arm"><pose relative_to="mount"/>
    <link name="tip"><pose>0 0 1 0 0 0</pose><inertial><pose>0.5 0 0 0 0 0</pose><mass>2</mass></inertial>
      <sensor name="s" type="imu"/><visual name="v"><geometry><capsule><radius>1</radius><length>2</length></capsule></geometry></visual></link>
  </model>
  <joint name="hinge" type="revolute"><parent>base</parent><child>arm::tip</child>
    <axis><xyz expressed_in="base">0 1 0</xyz><limit><lower>-1</lower><upper>2</upper><effort>-1</effort></limit></axis></joint>
  <joint name="hold" type="fixed"><parent>world</parent><child>base</child></joint>
  <plugin name="p" filename="x.so"/>
</model></sdf>"""


def test_frames_nested_models_and_axes_of_other_frames():
    robot = dy.load(TWO)
    assert robot.link_names == ("base", "arm::tip", "tool", "mount")
    X = robot.pose([0.0], "tool")
    np.testing.assert_allclose(X[:3, 3], [1, 2, 4.1], atol=1e-12)
    np.testing.assert_allclose(X[:3, 0], [0, 1, 0], atol=1e-12)
    # about y of the base, through the tip: the centre of mass is at (0, 0.5, 0) from it, on the axis
    assert robot.mass_matrix([0.0])[0, 0] == pytest.approx(1.0)
    assert (robot.limits["lower"][0], robot.limits["effort"][0]) == (-1.0, np.inf)
    assert robot.description.link("arm::tip").shapes[0].kind == "capsule"
    notes = "\n".join(map(str, dy.check(TWO).notes))
    assert "without a counterpart: <plugin> (1: 'p' in model 'm')" in notes
    assert "without a counterpart: <sensor> (1: 's' in link 'arm::tip')" in notes


@pytest.mark.filterwarnings("ignore:.*it follows joint")
@pytest.mark.filterwarnings("ignore:.*free in SDF")
def test_screw_ball_and_universal_joints_and_a_follower():
    link = '<link name="{}"><inertial><pose>0.1 0.2 0.3 0 0 0</pose><mass>1</mass></inertial></link>'
    joint = '<joint name="{}" type="{}"><parent>{}</parent><child>{}</child>{}</joint>'
    axis = "<{0}><xyz>{1}</xyz><dynamics><damping>{2}</damping></dynamics>{3}</{0}>"
    text = '<sdf version="1.11"><model name="m">' + "".join(link.format(x) for x in "abcdef")
    text += joint.format(
        "s", "screw", "a", "b", axis.format("axis", "0 0 1", 0.1, "") + "<screw_thread_pitch>0.5</screw_thread_pitch>"
    )
    text += joint.format(
        "u", "revolute2", "b", "c", axis.format("axis", "1 0 0", 0.2, "") + axis.format("axis2", "0 1 0", 0.3, "")
    )
    text += joint.format("o", "ball", "c", "d", "")
    text += joint.format("r", "continuous", "d", "e", axis.format("axis", "1 0 0", 0, ""))
    follow = '<mimic joint="r"><multiplier>2</multiplier><offset>0.5</offset><reference>0.25</reference></mimic>'
    text += joint.format("g", "prismatic", "e", "f", axis.format("axis", "0 1 0", 0, follow)) + "</model></sdf>"
    robot = dy.load(text)
    assert robot.joint_names == ("s", "u.1", "u.2", "o", "r")
    assert robot.description.joint("s").pitch == pytest.approx(0.5 / (2 * np.pi))
    assert robot.model.viscous.tolist() == [0.1, 0.2, 0.3, 0, 0, 0, 0]
    mimic = robot.description.joint("g").mimic
    assert (mimic.joint, mimic.ratio, mimic.offset) == ("r", 2.0, 0.0)
    old = text.replace("<screw_thread_pitch>0.5", f"<thread_pitch>{-2 * np.pi / 0.5}").replace("</screw_thread", "</thread")
    assert dy.load(old).description.joint("s").pitch == pytest.approx(0.5 / (2 * np.pi))


def test_a_world_with_one_moving_model_and_its_gravity():
    scenery = '<model name="floor"><static>true</static><link name="l"/></model><light name="sun"/>'
    model = TWO[TWO.index("<model") : TWO.rindex("</sdf>")]
    world = f'<sdf version="1.9"><world name="w"><gravity>0 0 -3.7</gravity>{scenery}{model}</world></sdf>'
    robot = dy.load(world)
    assert robot.description.gravity.tolist() == [0, 0, -3.7]
    notes = "\n".join(map(str, dy.check(world).notes))
    assert "'floor'" in notes
    assert "<light>" in notes
    two = world.replace("<static>true</static>", "")
    with pytest.raises(
        dy.FormatError,
        match=r"2 models: 'floor', 'm'; .* To repair: write <static>true</static> into the others, or the model into a file of its own",
    ):
        dy.load(two)


@pytest.mark.filterwarnings("ignore:.*free in SDF")
def test_an_included_model_lies_beside_the_file(tmp_path):
    (tmp_path / "hand").mkdir()
    (tmp_path / "hand" / "model.sdf").write_text(
        '<sdf version="1.9"><model name="hand"><link name="palm"><pose>0 0 1 0 0 0</pose><inertial><mass>x</mass></inertial></link></model></sdf>'
    )
    include = "<include><uri>model://hand</uri><name>grip</name><pose>1 0 0 0 0 0</pose></include>"
    joint = '<joint name="w" type="fixed"><parent>base</parent><child>grip::palm</child></joint>'
    main = tmp_path / "arm.sdf"
    main.write_text(
        f'<sdf version="1.9"><model name="m"><link name="base"><inertial><mass>1</mass></inertial></link>\n{include}{joint}</model></sdf>'
    )
    problem = dy.check(main).errors[0]
    assert (problem.file, problem.line) == (str(tmp_path / "hand" / "model.sdf"), 1)
    (tmp_path / "hand" / "model.sdf").write_text((tmp_path / "hand" / "model.sdf").read_text().replace("<mass>x", "<mass>3"))
    np.testing.assert_allclose(dy.load(main).pose([], "grip::palm")[:3, 3], [1, 0, 1])
    main.write_text(main.read_text().replace("model://hand", "https://fuel.gazebosim.org/hand"))
    with pytest.raises(dy.FormatError, match=r"arm\.sdf:2: .*To repair: copy its <model> into the file"):
        dy.load(main)


@pytest.mark.parametrize(("old", "new", "message"), [
    ('version="1.9"', 'version="2.0"', "SDF version '2.0'; allowed: 1.5 to 1.12"),
    ('type="revolute"', 'type="slider"', "the type is 'slider'"),
    ("<parent>base", "<parent>nobody", "there is no link, joint or frame 'nobody'"),
    ('relative_to="mount"', 'relative_to="tool"', "a frame is defined by itself"),
    ("<mass>2", "<mass>2 kg", "write 2 instead of 2 kg"),
    ("0.5 0 0 0 0 0", "0.5 0 0", "pose needs 6 numbers, got 3"),
    ("<child>base</child>", "", "<joint> has no <child>"),
    ('name="mount"', 'name="base"', "two elements are called 'base'"),
    ("<lower>-1</lower>", "<lower>-1</lower><lower>0</lower>", "<lower> is given 2 times"),
    ('<inertial><mass>1', '<inertial auto="true"><mass>1', 'inertial auto="true"'),
    ('name="tool"', 'name="__tool"', "the name '__tool' is reserved"),
])  # fmt: skip
def test_faults_are_refused_with_line_and_cure(old, new, message, refused):
    assert old in TWO
    error = refused(TWO.replace(old, new), "robot.sdf")
    assert message in str(error)
    assert "To repair: " in str(error)


@pytest.mark.parametrize(("attributes", "doubted"), [("", True), (' degrees="true"', False)])
def test_angles_in_degrees_are_doubted_unless_the_file_says_so(attributes, doubted, save):
    text = TWO.replace("0.5 0 0 0 0 0", "0.5 0 0 0 90 0").replace("<pose", f"<pose{attributes}")
    report = dy.check(save(text, "robot.sdf"))
    found = [str(problem) for problem in report.warnings if problem.code == "angle-unit"]
    assert len(found) == doubted
    assert all("roll, pitch, yaw of <pose> is (0, 90, 0): more than a turn" in text for text in found)


def test_the_defaults_and_omissions_of_sdf_are_told():
    with pytest.warns(dy.ModelWarning, match="1 kg and 1 kg m² are used, the default of SDF"):
        dy.load(TWO.replace("<inertial><mass>1</mass></inertial>", ""))
    told = losses(dy.load("puma560").description, ".sdf")
    assert any(x.startswith("rotor inertias: 6 elements") for x in told)
    assert losses(dy.load("puma560").description, ".urdf") == []


@pytest.mark.filterwarnings("ignore:.*free in SDF")
def test_joints_of_nested_models_are_in_depth_first_order_of_the_document():
    def link(name):
        return f'<link name="{name}"><inertial><mass>1</mass></inertial></link>'

    def joint(name, parent, child):
        ends = f"<parent>{parent}</parent><child>{child}</child>"
        return f'<joint name="{name}" type="revolute">{ends}<axis><xyz>0 1 0</xyz></axis></joint>'

    arm = f'<model name="arm">{link("upper")}{link("fore")}{joint("elbow", "upper", "fore")}</model>'
    body = f"{link('base')}{link('hand')}{link('lamp')}{joint('shoulder', 'base', 'arm::upper')}{joint('swivel', 'arm::upper', 'lamp')}"
    text = f'<sdf version="1.9"><model name="m">{body}{arm}{joint("wrist", "arm::fore", "hand")}</model></sdf>'
    robot = dy.load(text)
    assert robot.joint_names == ("shoulder", "swivel", "arm::elbow", "wrist")
    assert set(dy.load(write_sdf(robot.description)).joint_names) == set(robot.joint_names)
    assert [joint["name"] for joint in summarise(robot)["joints"]] == list(robot.joint_names)


def test_a_wrong_name_is_reported_once_however_many_frames_stand_on_it():
    link = '<link name="{}"><pose relative_to="{}">0 0 1 0 0 0</pose><inertial><mass>1</mass></inertial></link>\n'
    text = "".join(link.format(f"l{k + 1}", f"l{k}" if k else "nope") for k in range(4))
    report = dy.check(f'<sdf version="1.9">\n<model name="m">\n{text}</model></sdf>')
    found = [p for p in report.errors if "'nope'" in p.found]
    assert len(found) == 1
    assert found[0].line == 3
    assert "met 4 times" in found[0].found


NESTED = """<sdf version="1.9"><model name="m">
  <link name="base"><inertial><mass>3</mass></inertial></link>
  <joint name="fix" type="fixed"><parent>world</parent><child>base</child></joint>
  <model name="arm"><pose relative_to="base">0.1 0.2 0.3 0.1 0.2 0.3</pose>
    <link name="l1"><pose>0 0 0.1 0 0 0.4</pose><inertial><pose>0.1 0 0 0 0 0</pose><mass>2</mass></inertial></link>
    <link name="l2"><pose relative_to="j2"/><inertial><mass>1</mass></inertial></link>
    <joint name="j2" type="revolute"><pose relative_to="l1">0.3 0 0 0.5 0 0</pose><parent>l1</parent><child>l2</child>
      <axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint>
    <frame name="tip" attached_to="l2"><pose>0 0 0.2 0 0 0</pose></frame>
    <model name="hand">
      <link name="palm"><pose>0 0 0.6 0 0 0</pose><inertial><mass>0.5</mass></inertial></link>
      <link name="finger"><pose relative_to="f"/><inertial><mass>0.1</mass></inertial></link>
      <joint name="f" type="prismatic"><pose relative_to="palm">0 0.05 0 0 0 0</pose><parent>palm</parent><child>finger</child>
        <axis><xyz>0 1 0</xyz><mimic joint="f2"><multiplier>2</multiplier></mimic></axis></joint>
      <link name="thumb"><pose relative_to="f2"/><inertial><mass>0.1</mass></inertial></link>
      <joint name="f2" type="prismatic"><pose relative_to="palm"/><parent>palm</parent><child>thumb</child>
        <axis><xyz>0 1 0</xyz></axis></joint>
    </model>
    <joint name="wrist" type="fixed"><parent>l2</parent><child>hand::palm</child></joint>
  </model>
  <joint name="j1" type="revolute"><parent>base</parent><child>arm::l1</child><axis><xyz>0 0 1</xyz></axis></joint>
</model></sdf>"""


def test_nested_models_are_written_as_nested_models(quiet_load, tmp_path, same_dynamics):
    robot = quiet_load(NESTED)
    robot.write(tmp_path / "o.sdf")
    again = quiet_load(tmp_path / "o.sdf")
    assert again.joint_names == robot.joint_names == ("j1", "arm::j2", "arm::hand::f2")
    assert set(again.link_names) == set(robot.link_names)
    assert losses(robot.description, ".sdf") == []
    same_dynamics(robot, again)
    assert dy.compare(robot, again).same(1e-12)


def test_names_that_cannot_be_nested_are_listed_as_written_otherwise():
    d = dy.Description("m").add_link("base")
    d.add_link("arm::l1", "base", "revolute", joint_name="arm::j1", inertia=dy.solids.sphere(0.1, mass=1.0))
    assert losses(d, ".sdf") == ["names with ::, written with /: 2 elements, 'arm::l1', 'arm::j1'"]
    assert dy.load(write_sdf(d)).joint_names == ("arm/j1",)


def test_a_model_that_nothing_holds_is_free_in_sdf_and_said_to_be_fixed_here(tmp_path):
    free = dy.load("go2", base="floating")
    free.write(tmp_path / "dog.sdf")
    with pytest.warns(dy.ModelWarning, match=r'free in SDF; its base is fixed. To repair: load it with base="floating"'):
        assert dy.load(tmp_path / "dog.sdf").n == free.n - 6
    assert dy.load(tmp_path / "dog.sdf", base="floating").n == free.n
    done = CliRunner().invoke(cli, ["convert", str(tmp_path / "dog.sdf"), str(tmp_path / "again.sdf")])
    assert done.exit_code == 0
    assert "free in SDF" not in done.output
    assert "<parent>world</parent>" not in (tmp_path / "again.sdf").read_text()


def test_a_link_with_the_name_world_is_renamed_and_said_so(tmp_path):
    description = dy.load("planar_2r_melchiorri").description
    root = next(link for link in description.links if link.name not in {joint.child for joint in description.joints})
    for joint in description.joints:
        joint.parent = "world" if joint.parent == root.name else joint.parent
    root.name, root.shapes = "world", [dy.load("ur5e").description.links[1].shapes[0]]
    robot = dy.Robot(description)
    with pytest.warns(dy.ModelWarning, match="names that SDF reserves, written with link_: 1 element, 'world'"):
        robot.write(tmp_path / "arm.sdf")
    again, q = dy.load(tmp_path / "arm.sdf"), robot.random(0)
    assert np.allclose(again.mass_matrix(q), robot.mass_matrix(q), atol=1e-12)


def test_what_changes_the_motion_is_warned_of_by_write(tmp_path):
    with pytest.warns(dy.ModelWarning, match="does not hold all of robot.*rotor inertias: 6 elements"):
        dy.load("puma560").write(tmp_path / "puma.sdf")


@pytest.mark.parametrize("kind", ["cylindrical", "planar", "spherical"])
def test_only_what_is_lost_of_joints_with_several_axes_is_told(kind, tmp_path):
    d = dy.Description("slide").add_link("base")
    d.add_link("slide", "base", kind, axis=(0, 0, 1), inertia=dy.solids.sphere(0.1, mass=1.0))
    d.joints[0].drive.viscous, d.joints[0].drive.coulomb = 0.5, 0.3
    robot = dy.Robot(d)
    if kind == "spherical":
        assert losses(d, ".sdf") == ["limits and friction of spherical and free joints: 1 element, 'slide_joint'"]
        return
    robot.write(tmp_path / "slide.sdf")  # a warning is an error here
    again, q, (v, a) = dy.load(tmp_path / "slide.sdf"), robot.random(0), np.random.default_rng(0).normal(size=(2, robot.n))
    np.testing.assert_array_equal(again.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a))
    d.joints[0].limits.effort = 10.0
    assert losses(d, ".sdf") == ["limits of joints with several axes: 1 element, 'slide_joint'"]
