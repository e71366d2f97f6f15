"""Misspelt names in URDF and SDF files are found; extensions are not taken for them."""

import pytest

import dynamis as dy
from dynamis.errors import ModelError

URDF = """<robot name="r">
  <link name="base"/>
  <link name="arm">
    <inertial>
      <origin xyz="0 0 0.1"/>
      <mass value="1"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
    </inertial>
    <visual><geometry><box size="1 1 1"/></geometry></visual>
  </link>
  <joint name="j" type="revolute">
    <parent link="base"/>
    <child link="arm"/>
    <origin xyz="0 0 0.4"/>
    <axis xyz="0 0 1"/>
    <limit lower="-1"
           upper="1" effort="10" velocity="2"/>
    <dynamics damping="0.5" friction="0.1"/>
  </joint>
</robot>"""
SDF = """<sdf version="1.9"><model name="r">
  <link name="base"><inertial><mass>1</mass></inertial></link>
  <link name="arm">
    <pose relative_to="j">0 0 0.1 0 0 0</pose>
    <inertial><mass>2</mass><inertia><ixx>1</ixx></inertia></inertial>
    <visual name="v"><geometry><box><size>1 1 1</size></box></geometry></visual>
  </link>
  <joint name="fix" type="fixed"><parent>world</parent><child>base</child></joint>
  <joint name="j" type="revolute">
    <pose relative_to="base">0 0 0.4 0 0 0</pose>
    <parent>base</parent><child>arm</child>
    <axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper></limit><dynamics><damping>1</damping></dynamics></axis>
  </joint>
</model></sdf>"""


def spelling(text):
    return [problem for problem in dy.check(text).warnings if problem.code == "spelling"]


@pytest.mark.parametrize(
    ("right", "wrong", "meant", "line"),
    [
        ('<origin xyz="0 0 0.4"', '<Origin xyz="0 0 0.4"', "<origin>", 14),
        ('<origin xyz="0 0 0.4"', '<origin xzy="0 0 0.4"', "xyz", 14),
        ('<origin xyz="0 0 0.1"', '<orgin xyz="0 0 0.1"', "<origin>", 5),
        ("upper=", "uper=", "upper", 17),
        ("damping=", "dampening=", "damping", 18),
        ("<dynamics", "<dynamic", "<dynamics>", 18),
        ("friction=", "fricton=", "friction", 18),
        ("<limit ", "<limits ", "<limit>", 16),
        ("<axis ", "<axes ", "<axis>", 15),
        ('<link name="base"/>', '<Link name="base"/>', "<link>", 2),
        ("geometry>", "Geometry>", "<geometry>", 9),
    ],
)
def test_misspelt_names_of_urdf_have_a_warning_with_their_line(right, wrong, meant, line):
    assert right in URDF
    assert spelling(URDF) == []
    text = URDF.replace(right, wrong)
    assert [(p.line, f"did you mean {meant}?" in p.found) for p in spelling(text)] == [(line, True)]
    with pytest.raises(ModelError, match="did you mean"):
        dy.load(text, strict=True)


@pytest.mark.parametrize(
    ("right", "wrong", "meant"),
    [
        ("<mass>2</mass>", "<mas>2</mas>", "<mass>"),
        ('<pose relative_to="j">0 0 0.1 0 0 0</pose>', "<Pose>0 0 0.1 0 0 0</Pose>", "<pose>"),
        ('<pose relative_to="base">', '<pose relative="base">', "relative_to"),
        ("<ixx>1</ixx>", "<lxx>1</lxx>", "<ixx>"),
        ("<damping>1</damping>", "<dampening>1</dampening>", "<damping>"),
        ("<upper>1</upper>", "<uper>1</uper>", "<upper>"),
        ("<size>1 1 1</size>", "<sise>1 1 1</sise>", "<size>"),
    ],
)
def test_misspelt_names_of_sdf_have_a_warning(right, wrong, meant):
    assert right in SDF
    assert spelling(SDF) == []
    report = dy.check(SDF.replace(right, wrong))
    (found,) = [problem for problem in report.warnings if problem.code == "spelling"]
    assert f"did you mean {meant}?" in found.found
    assert not any(wrong[1:5] in note.found for note in report.notes)


@pytest.mark.parametrize(
    "extension",
    [
        "<gazebo reference='arm'><maxVel>1</maxVel></gazebo>",
        "<transmission name='t'><joint name='j'><hardwareInterface/></joint></transmission>",
        "<drake:joint drake:nane='x'/>",
        "<calibrations_of_the_maker/><sensors/><loop_joint name='x'/>",
        "<link name='c'><collision><verbose value='x'/><geometry><mesh filename='a.stl' convex='y'/></geometry></collision></link>"
        "<joint name='k' type='fixed'><parent link='arm'/><child link='c'/><safety_controller k_velocity='1'/></joint>",
    ],
)
def test_extensions_are_not_taken_for_misspelt_names(extension):
    text = URDF.replace("</robot>", extension + "</robot>").replace("<robot ", '<robot xmlns:drake="d" ')
    assert spelling(text) == []
