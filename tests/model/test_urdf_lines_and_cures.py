"""What a refusal of a URDF says: the line of the value, what is wrong with it, and the value to write instead."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import dynamis as dy
from dynamis.model.description import Limits, Mimic


def only_error(path):
    (problem,) = dy.check(path).errors
    return problem


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_the_line_of_a_refusal_is_that_of_the_value_in_a_tag_of_several_lines(arm, save, ending):
    text = arm('<inertia ixx="0.02" ixy="0.001" ixz="0"', '<inertia\n  ixx="0.02"\n  ixy="x>1"\n  ixz="0"')
    line = text.splitlines().index('  ixy="x>1"') + 1
    assert only_error(save(text.replace("\n", ending))).line == line


@pytest.mark.parametrize(
    ("old", "new", "piece"),
    [
        ('<axis xyz="0 1 0"/>', '<axis\n xyz="0 0 0"/>', 'xyz="0 0 0"'),
        ('<mass value="2"/>', '<mass\n value="-2"/>', 'value="-2"'),
        ('<parent link="base"/>', '<parent\n link="bsae"/>', 'link="bsae"'),
        ('<origin xyz="0.4 0 0"/>', '<origin\n xyz="0.4 0 0"\n rpy="0 0"/>', 'rpy="0 0"'),
        ('name="elbow" type="prismatic"', 'name="elbow"\n type="slider"', 'type="slider"'),
    ],
)
def test_what_is_found_after_reading_has_the_line_of_its_value_too(arm, save, line_of, old, new, piece):
    text = arm(old, new)
    assert dy.check(save(text)).errors[0].line == line_of(text, piece)


def test_the_line_of_a_value_does_not_depend_on_the_encoding(arm, save, line_of):
    text = arm('<mass value="2"/>', '<mass\n value="two"/>', '"tool"', '"größe"')
    line = line_of(text, 'value="two"')
    assert only_error(save(text.encode("utf-16"))).line == line
    assert only_error(save(text.replace('"1.0"', '"1.0" encoding="latin-1"').encode("latin-1"))).line == line


@pytest.mark.parametrize("macro", ["$(optenv SIDE left)", "${prefix}", "$(arg p)"])
def test_a_leftover_xacro_expression_is_reported_where_it_is(arm, refused, line_of, macro):
    text = arm('<link name="tool"/>', f'<link\n   name="{macro}"/>')
    message = str(refused(text))
    assert f":{line_of(text, macro)}: " in message
    assert macro in message
    assert "let the name of the file end in .xacro" in message


@pytest.mark.parametrize(
    ("suffix", "text", "word"),
    [
        (".xacro", '<robot name="r" xmlns:xacro="x"><xacro:include filename="f"/></robot>', "it includes 'f'"),
        (".sdf", '<sdf version="1.6"><model name="m"/></sdf>', "link"),
        (".world", '<sdf version="1.6"><model name="m"/></sdf>', "link"),
        (".xacro", "", "the file is empty"),
    ],
)
def test_a_file_of_another_format_is_read_as_such(save, suffix, text, word):
    with pytest.raises(dy.ModelError) as caught:
        dy.load(save(text, f"robot{suffix}"))
    assert word in str(caught.value)


def test_a_urdf_of_any_ending_is_read(arm, save):
    assert dy.load(save(arm(), "robot.txt")).n == 2
    assert dy.load(save(arm(), "robot.urdf.xacro")).n == 2


def test_a_file_without_any_robot_has_a_line(save):
    assert only_error(save('<?xml version="1.0"?>\n\n<robot name="r">\n</robot>')).line == 3
    assert only_error(save("")).line == 1


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('mass value="2"', 'mass value="0,5"', ["write 0.5 instead of 0,5"]),
        ('xyz="0 1 0"', 'xyz="0,5 1 0"', ['write "0.5 1 0" instead of "0,5 1 0"']),
        ('xyz="0 1 0"', 'xyz="0, 1, 0"', ['write "0 1 0" instead of "0, 1, 0"']),
        ('xyz="0 1 0"', 'xyz="0;1;0"', ['write "0 1 0" instead of "0;1;0"']),
        ('xyz="0 1 0"', 'xyz="0 1"', ["xyz needs 3 numbers, got 2: '0 1'"]),
        ('xyz="0 1 0"', 'xyz=""', ["xyz needs 3 numbers, got none"]),
        ('mass value="2"', 'mass value="2 3"', ["value needs 1 number, got 2: '2 3'"]),
        ('lower="-2"', 'lower="-114 deg"', ["write -1.989675347 instead of -114 deg"]),
        ('mass value="2"', 'mass value="2 lb"', ["write the value in SI units (rad, m, kg) instead of 2 lb"]),
        ('mass value="2"', 'mass value="1e400"', ["exceeds the range of floating-point numbers"]),
        ('type="prismatic"', 'type="Prismatic"', ['write type="prismatic"']),
        (' type="prismatic"', "", ["joint 'elbow': it has no type=…;"]),
        ('mass value="2"', 'mass value="1e60"', ["up to 1e+50"]),
    ],
)
def test_the_cure_is_the_corrected_value(arm, refused, old, new, words):
    message = str(refused(arm(old, new)))
    for word in words:
        assert word in message
    assert "correct the value" not in message


def test_text_before_the_declaration_is_named(arm, refused):
    message = str(refused("Here is the robot:\n" + arm()))
    assert "text before <?xml: 'Here is the robot:'" in message


def test_a_nul_byte_is_named_with_its_line(arm, refused, line_of):
    message = str(refused(arm('"tool"', '"to\0l"')))
    assert "is NUL" in message
    line = line_of(arm(), 'name="tool"')
    assert f":{line}: " in message


def test_utf_16_without_a_mark_is_named(arm, save):
    assert "byte order mark" in str(dy.check(save(arm('"1.0"', '"1.0" encoding="UTF-8"').encode("utf-16-le"))))


def test_toml_cures_are_the_corrected_values(two_links, refused):
    assert "write 0.1 instead of 0,1" in str(refused(two_links("viscous = 0.1", 'viscous = "0,1"'), "robot.toml"))
    assert "xyz needs 3 numbers, got 2" in str(refused(two_links('xyz = ["l", 0, 0]', 'xyz = ["l", 0]'), "robot.toml"))


def test_a_misspelt_child_is_one_error_with_its_cure(arm, save):
    report = dy.check(save(arm('<child link="tool"/>', '<chlid link="tool"/>')))
    assert [problem.code for problem in report.errors] == ["missing-element"]
    assert report.errors[0].repair == "write <child> instead of <chlid>"


def test_a_misspelt_link_is_answered_with_the_nearest(arm, save):
    report = dy.check(save(arm('<child link="tool"/>', '<child link="tol"/>')))
    assert [problem.repair for problem in report.errors] == ["write 'tool', or add the link"]


def test_a_misspelt_parent_is_not_answered_with_the_child_of_the_joint():
    robot = dy.Description("arm").add_link("base_link").add_link("fore_link", "base_link", "revolute", axis=(0, 0, 1))
    robot.joints[0].parent = "fore_lnk"
    (found,) = [p for p in dy.check(robot) if p.code == "missing-link"]
    assert "fore_link" not in found.repair


def test_links_of_one_name_are_reported_with_each_line_once():
    robot = dy.Description("arm").add_link("base").add_link("link", "base", "revolute", axis=(0, 0, 1))
    for link in (robot.links[1], dataclasses.replace(robot.links[1])):
        link.line = 110
        robot.links.append(link)
    found = next(p.found for p in dy.check(robot) if p.code == "duplicate-name")
    assert found == "3 links have this name (line 110)"


def test_findings_on_velocity_and_on_position_limits_are_of_two_kinds(arm, save):
    both = arm('lower="-2" upper="2" effort="50" velocity="3"', 'lower="0" upper="0" effort="0" velocity="0"')
    codes = [p.code for p in dy.check(save(both)).warnings]
    assert {"limits-zero", "range-zero"} <= set(codes)


def test_limits_of_zero_are_no_limits(arm, save):
    path = save(arm('upper="2" effort="50" velocity="3"', 'upper="2" effort="0" velocity="0"'))
    with pytest.warns(dy.ModelWarning, match="treated as not given"):
        limits = dy.load(path).limits
    assert np.isinf([limits["effort"][0], limits["velocity"][0]]).all()
    assert np.isfinite(limits["effort"][1])
    path = save(arm('lower="-2" upper="2"', 'lower="0" upper="0"'))
    with pytest.warns(dy.ModelWarning, match="both position limits are 0"):
        limits = dy.load(path).limits
    assert np.isinf([limits["lower"][0], limits["upper"][0]]).all()


@pytest.mark.filterwarnings("ignore:.*limits are 0")
@pytest.mark.filterwarnings("ignore:.*without moving any mass")
def test_the_zero_limit_of_a_follower_does_not_stop_its_leader():
    d = dy.Description("pair").add_link("base")
    body = dy.solids.rod(0.5, mass=1.0)
    d.add_link("one", "base", "revolute", inertia=body, joint_name="leader")
    d.add_link("two", "one", "revolute", inertia=body, joint_name="follower")
    leader, follower = d.joint("leader"), d.joint("follower")
    leader.limits, follower.limits = Limits(-1.0, 1.0, 3.0, 10.0), Limits(-2.0, 2.0, 0.0, 0.0)
    follower.mimic = Mimic("leader", 2.0, 0.0)
    assert dy.Robot(d).limits["velocity"].tolist() == [3.0]
    follower.limits = Limits(-2.0, 2.0, 1.0, 5.0)
    assert dy.Robot(d).limits["velocity"].tolist() == [0.5]  # the follower turns twice as fast
