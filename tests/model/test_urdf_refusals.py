from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy

BAD_NUMBERS = ["nan", "NaN", "inf", "-inf", "1,5", "0x10", "1_000", "", " ", "1e400", "-1e999", "١٢", "１", "1e", "--1", "1 2",
               "1f", "½", "1.2.3", "true", "1" * 500, "1\u00a0"]  # fmt: skip
NUMBER_PLACES = {
    "mass": ('mass value="2"', "mass value", "link 'upper'"),
    "inertia": ('ixx="0.02"', "ixx", "link 'upper'"),
    "limit": ('lower="-2"', "lower", "joint 'shoulder'"),
    "damping": ('damping="0.7"', "damping", "joint 'shoulder'"),
}


@pytest.mark.parametrize("place", NUMBER_PLACES)
@pytest.mark.parametrize("value", BAD_NUMBERS)
def test_a_number_that_is_not_finite_plain_decimal_is_refused_with_its_line(arm, refused, line_of, place, value):
    old, key, element = NUMBER_PLACES[place]
    new = f'{key}="{value}"'
    text = arm(old, new)
    error = refused(text)
    assert f":{line_of(text, new)}: " in str(error)
    assert element in str(error)
    assert value[:60] in str(error) or repr(value)[1:-1] in str(error)
    assert "allowed: finite decimal numbers" in str(error)
    assert "To repair" in str(error)


@pytest.mark.parametrize("value", ["0 1", "0 1 0 0", "a b c", "0,1,0", "nan 0 0", "1 2 inf", "0;1;0", ""])
@pytest.mark.parametrize("old", ['axis xyz="0 1 0"', 'origin xyz="0 0 0.3"', 'origin xyz="0.2 0 0"'])
def test_a_vector_that_is_not_three_numbers_is_refused(arm, refused, line_of, old, value):
    new = old.split('"')[0] + f'"{value}"'
    text = arm(old, new)
    error = refused(text)
    assert new.replace('"', "'") in str(error)
    assert "3 finite decimal numbers" in str(error)
    assert f":{line_of(text, new)}: " in str(error)


# what is exchanged, and what the message must say
STRUCTURE = {
    "zero axis": ('xyz="0 1 0"', 'xyz="0 0 0"', ["joint 'shoulder'", "(0, 0, 0)", "not zero"]),
    "tiny axis": ('xyz="0 1 0"', 'xyz="0 1e-200 0"', ["joint 'shoulder'", "axis"]),
    "axis without xyz": ('<axis xyz="0 1 0"/>', "<axis/>", ["joint 'shoulder'", "<axis> has no xyz"]),
    "two roots": ('<link name="base"/>', '<link name="base"/><link name="lost"/>', ["'base'", "'lost'", "one root"]),
    "nine roots": (
        '<link name="base"/>',
        '<link name="base"/>' + "".join(f'<link name="lost{k}"/>' for k in range(8)),
        ["9 links have no parent: 'base', 'lost0', 'lost1', 'lost2', 'lost3', 'lost4';"],
    ),
    "two parents": (
        "</robot>",
        '<joint name="again" type="fixed"><parent link="base"/><child link="tool"/></joint></robot>',
        ["link 'tool'", "'mount'", "'again'", "one parent"],
    ),
    "cycle": ('<parent link="base"/>', '<parent link="tool"/>', ["two|circle|no parent|root"]),
    "self joint": ('<child link="tool"/>', '<child link="fore"/>', ["itself", "'mount'"]),
    "unknown parent": ('<parent link="base"/>', '<parent link="bsae"/>', ["joint 'shoulder'", "'bsae'", "does not exist"]),
    "unknown child": ('<child link="tool"/>', '<child link="tol"/>', ["joint 'mount'", "'tol'", "does not exist"]),
    "duplicate link": (
        '<link name="tool"/>',
        '<link name="tool"/><link name="tool"/>',
        ["link 'tool'", "2 links have this name"],
    ),
    "duplicate joint": ('joint name="elbow"', 'joint name="shoulder"', ["joint 'shoulder'", "2 joints have this name"]),
    "empty link name": ('<link name="tool"/>', '<link name=""/>', ["link", "empty"]),
    "link without name": ('<link name="tool"/>', "<link/>", ["link", "empty"]),
    "joint without name": ('joint name="elbow"', "joint", ["joint", "empty"]),
    "unknown type": ('type="prismatic"', 'type="prismatik"', ["joint 'elbow'", "'prismatik'", "prismatic"]),
    "type in capitals": ('type="prismatic"', 'type="PRISMATIC"', ["joint 'elbow'", "'PRISMATIC'"]),
    "no type": (' type="prismatic"', "", ["joint 'elbow'", "has no type", 'give the joint a type, such as type="revolute"']),
    "no parent": ('<parent link="base"/>', "", ["joint 'shoulder'", "<parent>"]),
    "parent without link": ('<parent link="base"/>', '<parent name="base"/>', ["joint 'shoulder'", "<parent> has no link"]),
    "no mass": ('<mass value="2"/>', "", ["link 'upper'", "<mass>"]),
    "mass without value": ('<mass value="2"/>', "<mass/>", ["link 'upper'", "value"]),
    "no inertia": ('<inertia ixx="0.02"', '<inertja ixx="0.02"', ["link 'upper'", "<inertia>"]),
    "inertia without ixy": (' ixy="0.001"', "", ["link 'upper'", "ixy"]),
    "negative mass": ('mass value="2"', 'mass value="-2"', ["link 'upper'", "-2 kg", "0 or more"]),
    "two parents in a joint": (
        '<parent link="base"/>',
        '<parent link="base"/><parent link="tool"/>',
        ["<parent> is given 2 times", "different"],
    ),
    "an empty inertial before another": ("<inertial>", "<inertial/><inertial>", ["link 'upper'", "<inertial> has no <mass>"]),
    "mimic without joint": ("<dynamics", "<mimic/><dynamics", ["joint 'shoulder'", "<mimic> has no joint"]),
    "mimic of itself": ("<dynamics", '<mimic joint="shoulder"/><dynamics', ["joint 'shoulder'", "follows itself"]),
    "mimic of a fixed joint": ("<dynamics", '<mimic joint="mount"/><dynamics', ["'mount' is fixed"]),
    "mimic ratio 0": ("<dynamics", '<mimic joint="elbow" multiplier="0"/><dynamics', ["joint 'shoulder'", "ratio is 0"]),
    "mimic ratio nan": ("<dynamics", '<mimic joint="elbow" multiplier="nan"/><dynamics', ["'nan'"]),
    "no links": ('<robot name="arm">', '<robot name="arm"></robot><!--', None),
}


@pytest.mark.parametrize("case", STRUCTURE)
def test_a_description_that_is_not_one_tree_is_refused_in_words(arm, refused, case):
    old, new, words = STRUCTURE[case]
    text = arm(old, new)
    if words is None:
        text = '<robot name="empty"></robot>'
        words = ["no links", "at least one link"]
    message = str(refused(text))
    for word in words:
        assert any(choice in message for choice in word.split("|")), message
    assert "To repair" in message


def test_joints_that_follow_each_other_in_a_circle_are_refused(arm, refused):
    text = arm(
        "<dynamics", '<mimic joint="elbow"/><dynamics', '<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/><mimic joint="shoulder"/>'
    )
    assert "'shoulder' → 'elbow' → 'shoulder'" in str(refused(text))


def test_a_joint_cannot_follow_another_through_a_fixed_one(arm, refused):
    text = arm(
        '<child link="tool"/>', '<child link="tool"/><mimic joint="elbow"/>', "<dynamics", '<mimic joint="mount"/><dynamics'
    )
    assert "'mount' is fixed" in str(refused(text))


def test_links_in_a_circle_beside_a_sound_tree_are_refused(arm, refused, line_of):
    ring = '<link name="a"/><link name="b"/>' + "".join(
        f'<joint name="{p}{c}" type="fixed"><parent link="{p}"/><child link="{c}"/></joint>' for p, c in ("ab", "ba")
    )
    text = arm("</robot>", ring.replace("/><link", "/>\n<link") + "</robot>")
    error = refused(text)
    assert "'a', 'b'" in str(error)
    assert "circle" in str(error)
    assert [problem.line for problem in error.problems if "circle" in str(problem)] == [line_of(text, '<link name="a"/>')]


def test_an_axis_is_a_direction_unless_it_is_zero_to_rounding(arm, refused, save, quiet_load, same_dynamics):
    short = quiet_load(save(arm('<axis xyz="0 1 0"/>', '<axis xyz="0 1e-11 0"/>')))
    same_dynamics(short, quiet_load(save(arm())))
    assert "a direction that is not zero" in str(refused(arm('<axis xyz="0 1 0"/>', '<axis xyz="0 1e-13 0"/>')))


UNITS = {"deg": np.pi / 180, "degree": np.pi / 180, "degrees": np.pi / 180, "°": np.pi / 180, "rad": 1.0, "mm": 1e-3, "cm": 1e-2,
         "m": 1.0, "g": 1e-3, "kg": 1.0, "N": 1.0, "Nm": 1.0}  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_a_number_with_a_unit_is_refused_with_its_value_in_si_units(arm, refused, unit):
    assert f"write {-30.0 * UNITS[unit]:.10g} instead of -30 {unit}" in str(refused(arm('lower="-2"', f'lower="-30 {unit}"')))


def test_what_is_no_vector_is_refused_with_an_example_of_one(arm, refused):
    assert 'write 3 numbers, such as "0.5 0 0"' in str(refused(arm('xyz="0.4 0 0"', 'xyz="a b c"')))


def test_a_circle_of_all_links_is_refused_as_having_no_root(refused):
    joints = "".join(
        f'<joint name="{p}{c}" type="fixed"><parent link="{p}"/><child link="{c}"/></joint>' for p, c in ("ab", "ba")
    )
    assert "no root" in str(refused(f'<robot name="r"><link name="a"/><link name="b"/>{joints}</robot>'))


def test_every_problem_of_a_file_is_reported(arm, save):
    path = save(arm('mass value="2"', 'mass value="nan"', 'xyz="0 1 0"', 'xyz="1,0,0"', 'type="prismatic"', 'type="slider"',
                    'lower="-2"', 'lower="two"'))  # fmt: skip
    report = dy.check(path)
    assert {p.code for p in report} >= {"number", "joint-type"}
    assert [p.severity for p in report] == ["error"] * 4
    assert [p.line for p in report] == sorted(p.line for p in report)


def test_errors_of_structure_and_of_numbers_are_reported_together(arm, save):
    report = dy.check(
        save(arm('mass value="2"', 'mass value="-2"', '<link name="tool"/>', '<link name="tool"/><link name="tool"/>'))
    )
    assert {p.code for p in report} == {"negative-mass", "duplicate-name"}


def test_errors_of_reading_do_not_hide_errors_of_structure(arm, save):
    report = dy.check(
        save(arm('mass value="2"', 'mass value="x"', '<link name="tool"/>', '<link name="tool"/><link name="tool"/>'))
    )
    assert {p.code for p in report} == {"number", "duplicate-name"}


def test_a_spring_on_a_joint_without_single_position_is_found_by_check(arm, refused):
    message = str(refused(arm('type="prismatic"', 'type="floating"', '<axis xyz="1 0 0"/>', '<dynamis stiffness="3"/>')))
    assert "'elbow'" in message
    assert "spring" in message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('izz="0.04"', 'izz="1.7e308"'),
        ('mass value="2"', 'mass value="1e308"'),
        ('xyz="0.1 0.02 0.03"', 'xyz="1e200 0 0"'),
        ('xyz="0 1 0"', 'xyz="1e300 1e300 0"'),
        ('xyz="0 0 0.3"', 'xyz="1e308 1e308 0.3"'),
        ('rpy="0 0 0.5"', 'rpy="1e308 0 0"'),
        ('lower="-2"', 'lower="-1e308"'),
    ],
)
def test_numbers_near_the_largest_float_load_or_are_refused_without_any_other_complaint(arm, save, quiet_load, old, new):
    path = save(arm(old, new))
    report = dy.check(path)
    try:
        quiet_load(path)
    except dy.DynamisError:
        assert not report.ok
    else:
        assert report.ok


def test_nothing_is_left_half_loaded_by_a_bad_file(arm, save, same_dynamics):
    path = save(arm())
    before = dy.load(path)
    with pytest.raises(dy.ModelError):
        dy.load(save(arm('mass value="2"', 'mass value="x"'), "bad.urdf"))
    same_dynamics(before, dy.load(path))


def test_joints_that_join_missing_links_in_a_circle_are_each_reported():
    joints = "".join(
        f'<joint name="{name}" type="fixed"><parent link="{a}"/><child link="{b}"/></joint>' for name, a, b in ("jxy", "kyx")
    )
    report = dy.check(f'<robot name="r"><link name="base"/>{joints}</robot>')
    assert [problem.code for problem in report.errors] == ["missing-link"] * 4
    assert report.skipped
