"""What a file has and a description has no place for: each kind of it is listed, with the names."""

import warnings

import pytest

import dynamis as dy
from dynamis.model.writers.losses import losses

INERTIAL = (
    '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/><origin rpy="0 0 0"/></inertial>'
)
URDF = f"""<robot name="r" version="1.0" xmlns:more="https://example.org">
  <material name="red"><color rgba="1 0 0 1"/><texture filename="red.png"/></material>
  <link name="a">{INERTIAL}<foo><visual><unheard/></visual></foo></link>
  <link name="b">{INERTIAL}<contact><lateral_friction value="1"/></contact>
    <visual/><visual><geometry><torus/></geometry></visual></link>
  <joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit effort="10" velocity="1" lower="-1" upper="1" current="3"/>
    <dynamics damping="0.1"/><safety_controller k_velocity="10"/><calibration rising="0.1"/></joint>
  <transmission name="t"><joint name="j"/></transmission>
  <gazebo reference="b"><mu1>0.2</mu1></gazebo>
  <gazebo/><gazebo/>
  <sensor name="cam"><parent link="b"/></sensor>
</robot>"""
OF_URDF = [
    "<transmission> (1: 't')", "<gazebo> (3: 'b', robot ×2)", "<sensor> (1: 'cam')", "<texture> (1: robot)", "<foo> (1: link 'a')",
    "<contact> (1: link 'b')", "<torus> (1: link 'b')", "a visual without one geometry (2: link 'b' ×2)",
    "<safety_controller> (1: joint 'j')", "<calibration> (1: joint 'j')", "the attribute 'current' of <limit> (1: joint 'j')",
]  # fmt: skip
SDF = """<sdf version="1.9"><world name="w"><physics name="fast"/><model name="m"><self_collide>true</self_collide>
  <link name="a"><self_collide>true</self_collide><inertial><mass>1</mass></inertial>
    <collision name="c"><geometry><box><size>1 1 1</size></box></geometry><surface><friction/></surface></collision>
    <visual name="v"><geometry><heightmap/></geometry><material><diffuse>1 0 0 1</diffuse><script/></material></visual></link>
  <joint name="j" type="revolute"><parent>world</parent><child>a</child>
    <axis><xyz>0 0 1</xyz><initial_position>1</initial_position></axis><physics><ode/></physics></joint>
</model></world></sdf>"""
OF_SDF = [
    "<physics> (2: 'fast' in world, joint 'j')", "<self_collide> (2: model 'm', link 'a')", "<surface> (1: link 'a')",
    "<heightmap> (1: link 'a')", "<script> (1: link 'a')", "<initial_position> (1: joint 'j')",
]  # fmt: skip
MJCF = """<mujoco>
  <option timestep="0.001" integrator="RK4"><flag contact="disable" gravity="disable"/></option>
  <visual><global fovy="30"/></visual>
  <size nuser_geom="1"/>
  <custom><numeric name="n" data="1"/><text name="x" data="abc"/></custom>
  <asset><texture name="wood" type="2d" builtin="flat" width="8" height="8"/><material name="oak" texture="wood"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <geom name="table" type="box" size="1 1 1" friction="0.5 0 0"/>
    <body name="hand" mocap="true"><geom size=".1"/></body>
    <body name="a"><geom name="g" size=".1" condim="4" solref=".1 1" material="oak"/>
      <joint name="j" axis="0 0 1" actuatorfrcrange="-3 40" solreflimit="0.03 1"/></body>
    <flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" mass="1" radius=".01"/>
  </worldbody>
</mujoco>"""
OF_MJCF = [
    "textures (1: 'wood')", "materials (1: 'oak')", "custom numbers (1: 'n')", "custom texts (1: 'x')",
    "contact parameters of shapes (2: 'table', 'g')", "softness of limits (1: 'j')",
    "settings of the simulation (3: 'integrator', 'timestep', 'flag')", "user data (1: 'geom')",
    "settings of views and sizes (2: '<visual>', '<size>')",
]  # fmt: skip
WARNED_OF_MJCF = ["planes (1: 'floor')", "mocap bodies (1: 'hand')",
                  "smaller bounds of actuatorfrcrange, which differ from the larger (1: 'j')",
                  "deformable objects (1: 'cloth')"]  # fmt: skip
BEGIN = "left aside, without a counterpart: "


def found(report):
    return sorted(note.found.removeprefix(BEGIN) for note in report.notes if note.code == "left-aside")


def test_extensions_of_urdf_are_listed_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = dy.load(URDF)
    for report in (dy.check(URDF), dy.check(robot)):
        assert found(report) == sorted(OF_URDF)
        assert not report.problems


@pytest.mark.parametrize("suffix", [".sdf", ".mjcf", ".toml", ".usda", ".urdf"])
def test_extensions_of_urdf_do_not_travel_except_in_its_own_document(suffix, tmp_path):
    (tmp_path / "r.urdf").write_text(URDF)
    robot = dy.load(tmp_path / "r.urdf")
    lost = losses(robot.description, suffix)
    assert set(OF_URDF) <= set(lost) if suffix != ".urdf" else lost == []
    assert not set(OF_URDF) & set(losses(robot.description, suffix, essential=True))
    assert set(OF_URDF) <= set(losses(robot.rerooted("b").description, suffix))  # a document of its own


def test_elements_of_sdf_are_listed():
    report = dy.check(SDF)
    assert found(report) == sorted(OF_SDF)
    assert not report.problems


def test_a_kinematic_link_of_sdf_has_a_warning():
    for word, count in (("true", 1), ("false", 0)):
        report = dy.check(SDF.replace('<link name="a">', f'<link name="a"><kinematic>{word}</kinematic>'))
        assert [p.code for p in report.warnings] == ["kinematic"] * count
        assert found(report) == sorted(OF_SDF)


def test_elements_of_mjcf_are_listed_by_their_names():
    pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install mujoco")
    report = dy.check(MJCF)
    assert found(report) == sorted(OF_MJCF)
    (warning,) = report.warnings
    assert warning.found == BEGIN + "; ".join(WARNED_OF_MJCF)
    assert [note.found for note in report.notes if note.code == "world-shapes"] == ["shapes of the world (1: 'table')"]
    with pytest.warns(dy.ModelWarning, match="without a counterpart"):
        robot = dy.load(MJCF)
    assert robot.limits["effort"][0] == 40.0
    assert {*OF_MJCF, *WARNED_OF_MJCF} <= set(losses(robot.description, ".urdf"))


def test_shapes_of_the_world_are_written_as_mjcf():
    pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install mujoco")
    text = '<mujoco><worldbody><geom name="table" type="box" size="1 2 3"/><body><joint/><geom size=".1"/></body></worldbody></mujoco>'
    model = dy.load(text).to_mujoco()
    assert not dy.from_mujoco(model).description.aside  # that of shapes without contact included
    assert model.geom_size[0].tolist() == [1.0, 2.0, 3.0]
    assert model.geom_bodyid.tolist() == [0, 1]


@pytest.mark.parametrize("name", ["", 'name="a"'])
def test_findings_about_mjcf_have_lines(name, tmp_path):
    pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install mujoco")
    body = f'\n<body {name} pos="{{}} 0 0">\n<joint/>\n<geom size=".1"/></body>'
    text = f"<mujoco><worldbody>{body.format(0)}{body.format('nan') if not name else ''}</worldbody></mujoco>"
    text = text if not name else text.replace('pos="0 ', 'pos="nan ')
    (error,) = dy.check(text).errors
    assert (error.line, "nan" in error.found) == (2 if name else 5, True)
    (tmp_path / "part.xml").write_text(f"<mujoco>\n{text[8:]}")
    (tmp_path / "all.xml").write_text('<mujoco><include file="part.xml"/></mujoco>')
    (error,) = dy.check(tmp_path / "all.xml").errors
    assert (error.file, error.line) == (str(tmp_path / "part.xml"), 3 if name else 6)


def test_copies_of_bodies_have_no_line_but_those_with_a_name():
    pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install mujoco")
    text = """<mujoco><worldbody>
    <replicate count="2"><body><joint/><geom size=".1"/></body></replicate>
    <body name="c" pos="nan 0 0"><joint name="k"/><geom size=".1"/></body></worldbody></mujoco>"""
    (error,) = dy.check(text).errors
    assert (error.where, error.line) == ("joint 'k'", 3)


def test_lists_of_names_are_cut_in_messages_and_complete_in_data():
    text = URDF.replace("<gazebo/>", "".join(f'<gazebo reference="link {k}"/>' for k in range(9)), 1)
    (note,) = [note for note in dy.check(text).notes if "<gazebo>" in note.found]
    assert note.found == BEGIN + "<gazebo> (11: 'b', 'link 0', 'link 1', 'link 2', …)"
    assert note.as_dict()["found"].endswith("'link 7', 'link 8', robot)")
    assert "complete" not in note.as_dict()


def test_what_the_file_of_an_attached_robot_has_is_kept_beside_that_of_the_other():
    tool = URDF.replace('name="r"', 'name="tool"')
    both = dy.load(URDF).attach(dy.load(tool), "b", prefix="tool_")
    alone, kept = dy.load(URDF).description.aside, both.description.aside
    assert alone
    assert dy.load(URDF).attach(dy.load("ur5e"), "b").description.aside == alone
    for what, names in alone.items():
        assert kept[what] == [*names, *(f"{name} of 'tool'" for name in names)]
    assert "of 'tool'" in " ".join(losses(both.description, ".sdf"))


def test_mjcf_files_have_no_velocity_limits_which_is_noted_once():
    pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install mujoco")
    text = "<mujoco><worldbody><body><joint/><geom size='.1'/><body pos='1 0 0'><joint/><geom size='.1'/></body></body></worldbody></mujoco>"
    (note,) = [note for note in dy.check(text).notes if note.code == "velocity-limits"]
    assert note.found == "MJCF has no velocity limits: 2 joints without one"
    still = "<mujoco><worldbody><body><geom size='.1'/></body></worldbody></mujoco>"
    assert not [note for note in dy.check(still).notes if note.code == "velocity-limits"]


def test_remarks_of_mujoco_are_notes_and_are_not_printed(capfd, tmp_path, monkeypatch):
    pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install mujoco")
    monkeypatch.chdir(tmp_path)
    body = "<worldbody><body><joint/><geom size='.1'/></body></worldbody>"
    notes = dy.check(f"<mujoco><compiler settotalmass='3'/>{body}</mujoco>").notes
    assert capfd.readouterr() == ("", "")
    assert not list(tmp_path.iterdir())  # MUJOCO_LOG.TXT
    if remarks := [note.found for note in notes if note.code == "mujoco"]:  # of versions that deprecate it
        assert "settotalmass" in remarks[0]


def test_the_initial_pose_of_a_free_joint_of_mjcf_is_named_with_its_value():
    text = """<mujoco><worldbody><body pos="{pos}" quat="0.5 0.5 -0.5 0.5"><freejoint name="root"/><geom size=".1"/></body>
    <body name="b" pos="0 0 0" quat="1 0 0 0"><freejoint name="at origin"/><geom size=".1"/></body></worldbody></mujoco>"""
    with pytest.warns(dy.ModelWarning, match="initial poses of free joints .give them in q0") as found:
        robot = dy.load(text.format(pos="0 0 0.8"))
    assert "(1: 'root at [0, 0, 0.8, 0.5, -0.5, 0.5, 0.5]')" in str(found[0].message)
    assert robot.description.aside
