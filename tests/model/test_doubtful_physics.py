from __future__ import annotations

import re
import warnings
from importlib import resources

import numpy as np
import pytest

import dynamis as dy
from dynamis.model.build import SINGULAR_MASS, examine, snap
from dynamis.model.description import Drive
from dynamis.model.plausibility import inertia_fault

# what is exchanged, the finding's code, and what the warning must say
DOUBTS = {
    "triangle": ('izz="0.04"', 'izz="0.4"', "inertia-triangle", ["link 'upper'", "triangle", "used as written"]),
    "not positive definite": ('ixx="0.02"', 'ixx="-0.02"', "inertia-negative", ["link 'upper'", "not positive definite", "used as written"]),
    "massless leaf": ('<child link="tool"/>', '<child link="tool"/><!-- moves -->', "massless-leaf", ["joint 'mount'", "'tool'", "singular"]),
    "swapped limits": ('lower="-2" upper="2"', 'lower="2" upper="-2"', "limits-swapped", ["joint 'shoulder'", "2", "-2", "exchanged"]),
    "negative velocity limit": ('upper="2" effort="50" velocity="3"', 'upper="2" effort="50" velocity="-3"', "limits-negative", ["joint 'shoulder'", "velocity limit is -3", "used as written"]),
    "limits of zero": ('upper="2" effort="50" velocity="3"', 'upper="2" effort="0" velocity="0"', "limits-zero",
                       ["joint 'shoulder'", "the velocity and effort limits are 0", "treated as not given"]),
    "no range": ('lower="-2" upper="2"', 'lower="0" upper="0"', "range-zero", ["joint 'shoulder'", "both position limits are 0", "treated as not given"]),
    "axis length": ('xyz="0 1 0"', 'xyz="0 2 0"', "axis-length", ["joint 'shoulder'", "length 2", "direction is used"]),
    "degrees in limits": ('lower="-2" upper="2"', 'lower="-180" upper="180"', "angle-unit", ["joint 'shoulder'", "180", "π/180"]),
    "degrees in rpy": ('rpy="0 0 0.5"', 'rpy="0 0 90"', "angle-unit", ["joint 'shoulder'", "90", "π/180"]),
    "degrees in an inertial": ('rpy="0.1 0.2 0.3"', 'rpy="0 90 0"', "angle-unit", ["link 'upper'", "90", "π/180"]),
    "millimetres in origins": ('xyz="0.4 0 0"', 'xyz="400 0 0"', "length-unit", ["joint 'elbow'", "400", "millimetres"]),
    "millimetres in centres of mass": ('xyz="0.2 0 0"', 'xyz="200 0 0"', "length-unit", ["link 'fore'", "200", "millimetres"]),
    "millimetres in limits": ('lower="-0.5" upper="0.5"', 'lower="-500" upper="500"', "length-unit", ["joint 'elbow'", "500", "millimetres"]),
    "kg mm²": ('ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"', 'ixx="10000" ixy="0" ixz="0" iyy="20000" iyz="0" izz="20000"',
               "inertia-unit", ["link 'fore'", "kg mm²"]),
    "no limits": ('    <limit lower="-2" upper="2" effort="50" velocity="3"/>\n', "", "no-limits", ["joint 'shoulder'", "no limits"]),
    "negative damping": ('damping="0.7"', 'damping="-0.7"', "negative-drive", ["joint 'shoulder'", "damping is -0.7"]),
    "no name": ('<robot name="arm">', "<robot>", "no-name", ["robot", "no name"]),
    "bad shape": ('<link name="tool"/>', '<link name="tool"><visual><geometry><box size="1 x 1"/></geometry></visual></link>',
                  "shape", ["link 'tool'", "left out"]),
    "shape of negative size": ('<link name="tool"/>', '<link name="tool"><visual><geometry><box size="1 -1 1"/></geometry></visual></link>',
                               "shape", ["link 'tool'", "y = -1 is not a length", "left out"]),
    "inertia without mass": ('mass value="2"', 'mass value="0"', "inertia-without-mass", ["link 'upper'", "0 kg", "used as written", "give the link its mass"]),
    "mimic of nothing": ("<dynamics", '<mimic joint="nobody"/><dynamics', "mimic-target", ["joint 'shoulder'", "'nobody'", "own coordinate"]),
    "axis twice": ('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><axis xyz="1 0 0"/>', "repeated-element", ["<axis> is given 2 times", "different", "first"]),
    "axis twice the same": ('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><axis xyz="0 1 0"/>', "repeated-element", ["<axis> is given 2 times", "identical"]),
    "two origins": ('<axis xyz="0 1 0"/>', '<origin/><axis xyz="0 1 0"/>', "repeated-element", ["<origin> is given 2 times", "first"]),
    "white space before the declaration": ('<?xml', '\n \n<?xml', "blank-start", ["white space before <?xml", "skipped"]),
    "degrees in a shape": ('<link name="tool"/>', '<link name="tool"><visual><origin rpy="0 90 0"/><geometry><box size="1 1 1"/></geometry></visual></link>',
                           "angle-unit", ["link 'tool' visual box", "90", "used as written"]),
    "mimic of a fixed joint": ('<child link="tool"/>', '<child link="tool"/><mimic joint="elbow"/>', "mimic", ["joint 'mount'", "stays fixed"]),
}  # fmt: skip


def test_missing_masses_and_far_centres_of_mass_are_found():
    text = """<robot name="arm"><link name="base"/>
    <link name="one"><inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0"
      izz="0.01"/></inertial></link>
    <link name="two"><inertial><origin xyz="0.2 0 0"/><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0"
      izz="0.01"/></inertial><visual><geometry><box size="0.4 0.1 0.1"/></geometry></visual></link>
    <joint name="a" type="continuous"><parent link="base"/><child link="one"/><axis xyz="0 1 0"/></joint>
    <joint name="b" type="continuous"><parent link="one"/><child link="two"/><origin xyz="0.3 0 0"/><axis xyz="0 1 0"/></joint>
    </robot>"""
    codes = {"com-far", "no-mass"}
    assert not [n for n in dy.check(text).notes if n.code in codes]
    far = [n for n in dy.check(text.replace("0.2 0 0", "2 0 0").replace("0.1 0 0", "1 1 0")).notes if n.code in codes]
    assert [n.where for n in far] == ["link 'one'", "link 'two'"]
    assert "1.41 m" in far[0].found
    assert "0.3 m" in far[0].found
    shape = '<visual><geometry><sphere radius="0.1"/></geometry></visual>'
    bare = text.replace(
        text[text.index('<link name="one">') : text.index('<link name="two">')], f'<link name="one">{shape}</link>'
    )
    assert [(n.code, n.where) for n in dy.check(bare).warnings if n.code in codes] == [("no-mass", "link 'one'")]
    last = text.replace(
        text[text.index('<link name="two">') : text.index('<joint name="a"')], f'<link name="two">{shape}</link>'
    )
    assert {n.code for n in dy.check(last).warnings} == {"massless-leaf"}
    assert [n.where for n in dy.check(last).notes if n.code in codes] == ["link 'two'"]
    cover = '<link name="c"/><joint name="f" type="fixed"><parent link="one"/><child link="c"/></joint>'
    held = bare.replace('name="b" type="continuous"><parent link="one"', 'name="b" type="fixed"><parent link="c"')
    assert not [n for n in dy.check(held.replace("</robot>", cover + "</robot>")).warnings if n.code in codes]


def doubtful(arm, case):
    old, new, *_ = DOUBTS[case]
    text = arm(old, new)
    return text.replace('name="mount" type="fixed"', 'name="mount" type="continuous"') if case == "massless leaf" else text


@pytest.mark.parametrize("case", DOUBTS)
def test_doubtful_physics_loads_with_one_warning_that_says_what_was_done(arm, save, case):
    _, _, code, words = DOUBTS[case]
    path = save(doubtful(arm, case))
    with pytest.warns(dy.ModelWarning) as caught:
        dy.load(path)
    assert len(caught) == 1
    message = str(caught[0].message)
    assert message.startswith(f"{path}:")
    for word in words:
        assert word in message
    report = dy.check(path)
    assert report.ok
    assert [p.code for p in report] == [code]


@pytest.mark.parametrize("case", DOUBTS)
def test_doubtful_physics_is_refused_under_strict(arm, save, case):
    with pytest.raises(dy.ModelError) as caught, warnings.catch_warnings():
        warnings.simplefilter("error")
        dy.load(save(doubtful(arm, case)), strict=True)
    assert caught.value.problems[0].code == DOUBTS[case][2]


def test_a_warning_points_at_the_line_that_called_load(arm, save):
    with pytest.warns(dy.ModelWarning) as caught:
        dy.load(save(doubtful(arm, "triangle")))
    assert caught[0].filename == __file__


def test_the_lines_of_the_warnings_are_those_of_the_file(arm, save, line_of):
    text = arm('xyz="0 1 0"', 'xyz="0 2 0"', 'izz="0.04"', 'izz="0.4"')
    lines = {p.code: p.line for p in dy.check(save(text))}
    assert lines == {"inertia-triangle": line_of(text, "<inertial>"), "axis-length": line_of(text, "<axis")}


def test_every_doubt_is_reported_at_once(arm, save):
    path = save(arm('xyz="0 1 0"', 'xyz="0 2 0"', 'izz="0.04"', 'izz="0.4"', 'lower="-2" upper="2"', 'lower="2" upper="-2"',
                    'xyz="0.4 0 0"', 'xyz="400 0 0"'))  # fmt: skip
    assert {p.code for p in dy.check(path)} == {"axis-length", "inertia-triangle", "limits-swapped", "length-unit"}
    with pytest.warns(dy.ModelWarning) as caught:
        dy.load(path)
    assert len(caught) == 4


def test_only_the_direction_of_an_axis_is_used(arm, save, quiet_load, same_dynamics):
    same_dynamics(dy.load(save(arm())), quiet_load(save(arm('xyz="0 1 0"', 'xyz="0 25 0"'), "long.urdf")))


def test_swapped_limits_are_exchanged(arm, save, quiet_load):
    limits = quiet_load(save(arm('lower="-2" upper="2"', 'lower="2" upper="-2"'))).limits
    assert (limits["lower"][0], limits["upper"][0]) == (-2.0, 2.0)


def test_a_mimic_joint_moves_with_its_leader(arm, save):
    text = arm("<dynamics", '<mimic joint="elbow" multiplier="2" offset="0.1"/><dynamics')
    follower, plain = dy.load(save(text), strict=True), dy.load(save(arm(), "plain.urdf"))  # nothing to warn of
    assert [note.code for note in dy.check(save(text)).notes] == ["mimic"]
    assert follower.joint_names == ("elbow",)
    q = 0.3
    assert follower.pose([q]) == pytest.approx(plain.pose([2 * q + 0.1, q]), abs=1e-15)
    to_all = np.array([[2.0], [1.0]])
    expected = to_all.T @ plain.mass_matrix([2 * q + 0.1, q]) @ to_all
    assert follower.mass_matrix([q]) == pytest.approx(expected, abs=1e-13)


def test_a_motion_without_mass_makes_forward_dynamics_say_singular(arm, save, quiet_load):
    robot = quiet_load(save(doubtful(arm, "massless leaf")))
    assert np.isfinite(robot.inverse_dynamics([0.1] * 3, [0.1] * 3, [0.1] * 3)).all()
    with pytest.raises(dy.SingularError, match="mass"):
        robot.forward_dynamics([0.1] * 3, [0.1] * 3, [0.1] * 3)


@pytest.mark.parametrize("code", ["inertia-triangle", "inertia-negative"])
def test_an_impossible_inertia_is_used_as_written(arm, save, quiet_load, code):
    case = {"inertia-triangle": "triangle", "inertia-negative": "not positive definite"}[code]
    robot = quiet_load(save(doubtful(arm, case)))
    tensor = robot.description.link("upper").mass_properties.tensor
    written = {"inertia-triangle": [0.02, 0.03, 0.4], "inertia-negative": [-0.02, 0.03, 0.04]}[code]
    assert np.trace(tensor) == pytest.approx(sum(written))


def test_a_warning_carries_no_control_characters_of_the_file(save):
    text = '[[link]]\njoint = "a\\u001b[31m"\nmass = 1\n\n[[link]]\nmass = 1\nmimic = { joint = "a\\u001b[31m" }\n'
    with pytest.warns(dy.ModelWarning) as caught:
        dy.load(save(text, "robot.toml"))
    assert "\x1b" not in str(caught[0].message)


def test_a_rotational_inertia_without_mass_is_doubted_in_toml_too(two_links, save):
    text = two_links('mass = "m"\ncom = ["l/2", 0, 0]\ninertia', "mass = 0\ninertia")
    (problem,) = dy.check(save(text, "robot.toml")).problems
    assert problem.code == "inertia-without-mass"
    assert "give the link its mass" in problem.repair


def test_a_joint_that_mimics_a_missing_joint_has_its_own_coordinate(arm, save, quiet_load, same_dynamics):
    text = arm("<dynamics", '<mimic joint="nobody"/><dynamics')
    same_dynamics(dy.load(save(arm(), "plain.urdf")), quiet_load(save(text)))


def test_of_elements_given_twice_the_first_is_used(arm, save, quiet_load, same_dynamics):
    inertial = '<inertial><mass value="9"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    text = arm('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><axis xyz="1 0 0"/>', '<mass value="1.5"/>', '<mass value="1.5"/><mass value="7"/>',
               "    </inertial>\n  </link>", f"    </inertial>{inertial}\n  </link>")  # fmt: skip
    same_dynamics(dy.load(save(arm(), "plain.urdf")), quiet_load(save(text)))


def test_many_warnings_of_one_kind_are_one_with_their_number_and_the_first_names(save):
    count = 12
    parts = ['<link name="l0"/>']
    for k in range(1, count + 1):
        parts.append(
            f'<link name="l{k}"/>\n<joint name="j{k}" type="continuous"><parent link="l{k - 1}"/><child link="l{k}"/><axis xyz="0 0 2"/></joint>'
        )
    path = save(f'<robot name="r">{"".join(parts)}</robot>')
    with pytest.warns(dy.ModelWarning) as caught:
        dy.load(path)
    lengths = [str(w.message) for w in caught if "length 2" in str(w.message)]
    assert len(lengths) == 1
    assert "joint 'j1'" in lengths[0]
    assert "and 11 more like it: joint 'j2' (line 3), joint 'j3' (line 4)" in lengths[0]
    assert sum(p.code == "axis-length" for p in dy.check(path)) == count


def test_up_to_three_warnings_of_one_kind_are_given_one_by_one(arm, save):
    path = save(arm('xyz="0 1 0"', 'xyz="0 2 0"', 'axis xyz="1 0 0"', 'axis xyz="3 0 0"'))
    with pytest.warns(dy.ModelWarning) as caught:
        dy.load(path)
    assert len(caught) == 2


@pytest.mark.parametrize(("moments", "asymmetry", "fault"), [
    ((1.0, 1.0, 1.0), 2e-6, "asymmetric"), ((1.0, 1.0, 1.0), 5e-7, ""),
    ((-2e-6, 1.0, 1.0), 0.0, "negative"), ((-5e-7, 1.0, 1.0), 0.0, ""),
    ((0.4, 0.6 - 3e-6, 1.0), 0.0, "triangle"), ((0.4, 0.6 - 5e-7, 1.0), 0.0, ""),
])  # fmt: skip
def test_a_tensor_is_doubted_from_a_millionth_of_its_size_on(moments, asymmetry, fault):
    assert inertia_fault(1.0, moments, asymmetry, 1.0) == fault
    # the tensor of a body smaller than 0.1 µm is rounding, that of a larger one is not
    assert inertia_fault(1.0, (-1.0, 1.0, 1.0), 0.0, (2e-7) ** 2) == "negative"
    assert inertia_fault(1.0, (-1.0, 1.0, 1.0), 0.0, (5e-8) ** 2) == ""


def test_a_motor_axis_is_a_unit_vector_to_four_digits():
    def length(value):
        d = (
            dy.Description("arm")
            .add_link("base")
            .add_link("upper", "base", "revolute", inertia=dy.solids.sphere(0.1, mass=1.0))
        )
        d.add_link("fore", "upper", "revolute", inertia=dy.solids.sphere(0.1, mass=1.0), joint_name="elbow",
                   drive=Drive(rotor_inertia=1e-5, gear_ratio=10.0, motor_link="upper", motor_axis=(0.0, 0.0, value)))  # fmt: skip
        return dy.Robot(d)

    assert length(1.0 + 5e-5).n == 2
    with pytest.raises(dy.ModelError, match="motor axis has length"):
        length(1.0 + 3e-4)


def test_rounding_in_rotations_is_removed_and_small_angles_are_kept():
    assert snap(np.array([5e-15, 1.0 - 5e-15, -1.0 + 5e-15])).tolist() == [0.0, 1.0, -1.0]
    kept = np.array([5e-13, 1.0 - 5e-13, -1.0 + 5e-13])
    assert snap(kept).tolist() == kept.tolist()


def test_a_robot_that_is_singular_at_zero_alone_has_no_motion_without_mass():
    """A mass at the tip of two rods without mass: M = m JᵀJ is singular where the arm is straight, and only there."""

    def singular(*axes):
        d = dy.Description("arm").add_link("base").add_link("upper", "base", "revolute", axis=axes[0])
        d.add_link("fore", "upper", "revolute", axis=axes[1], origin=dy.Pose.translation([1.0, 0.0, 0.0]),
                   inertia=dy.Inertia.about_com(2.0, [1.0, 0.0, 0.0], np.zeros((3, 3))))  # fmt: skip
        return [problem.where for problem in examine(d).problems if problem.code == SINGULAR_MASS]

    assert singular((0, 0, 1), (0, 0, 1)) == []
    assert singular((0, 0, 1), (1, 0, 0)) == ["joint 'fore_joint'"]  # the mass lies on the second axis


@pytest.mark.parametrize(("excess", "doubted"), [(1e-7, False), (1e-5, True)])
def test_moments_that_violate_the_triangle_inequality_beyond_printed_digits_are_doubted(arm, save, excess, doubted):
    old = 'ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"'
    text = arm(old, f'ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="{0.03 * (1.0 + excess)!r}"')
    assert bool(dy.check(save(text)).warnings) is doubted


def test_masses_in_grams_stand_out_against_the_effort_limits(tmp_path):
    """The gravity load of an arm is below its effort limits, and a thousand times it is not."""
    text = resources.files("dynamis.model.library").joinpath("ur5e.toml").read_text()
    path = tmp_path / "grams.toml"
    path.write_text(re.sub(r"^mass = (.*)", lambda m: f"mass = {1000.0 * float(m[1])}", text, flags=re.MULTILINE))
    (found,) = dy.check(path)
    assert found.code == "mass-unit"
    assert "joint 'shoulder_" in found.where
    load = float(re.search(r"up to (\S+) N m, its effort limit is 150 N m", found.found)[1])
    arm = dy.load("ur5e")
    assert load == pytest.approx(1000.0 * np.abs(arm.gravity(np.zeros(6))).max(), rel=0.05)  # stretched out level
    assert "grams" in found.repair
    path.write_text(text)
    assert not list(dy.check(path))


@pytest.mark.parametrize("factor", [1.0, 1000.0])
def test_masses_in_grams_stand_out_without_effort_limits_too(factor, tmp_path):
    text = resources.files("dynamis.model.library").joinpath("ur5e.toml").read_text()
    text = re.sub(r", effort = \d+", "", text)
    path = tmp_path / "arm.toml"
    path.write_text(re.sub(r"^mass = (.*)", lambda m: f"mass = {factor * float(m[1])}", text, flags=re.MULTILINE))
    report = dy.check(path)
    assert report.ok
    found = [problem for problem in report.warnings if problem.code == "mass-unit"]
    assert len(found) == (factor > 1.0)
    assert all(problem.where == "robot" and "grams" in problem.repair for problem in found)


@pytest.mark.parametrize(("limits", "doubted"), [
    ((180.0, 180.0, 360.0), True), ((100.0, 225.0, 600.0), True), ((3.1, 3.1, 6.3), False), ((20.0, 60.0, 90.0), False),
    ((1000.0, 1000.0, 1000.0), False), ((100.0, 1e4, 1e4), False), ((2e3, 3e3, 5e3), False), ((0.0, 180.0, 180.0), True),
])  # fmt: skip
def test_velocity_limits_in_degrees_per_second_are_doubted(limits, doubted):
    """A power of ten stands for a limit that is not known."""
    rows = [f"[[link]]\nmass = 1\ncom = [0.2, 0, 0]\nxyz = [0.4, 0, 0]\nlimits = {{ velocity = {x} }}\n" for x in limits]
    found = [problem for problem in dy.check("[robot]\n" + "".join(rows)).warnings if problem.code == "speed-unit"]
    assert len(found) == doubted
    assert all("π/180" in problem.repair for problem in found)


def test_a_robot_with_replaced_friction_is_checked_like_a_file():
    arm = dy.load("ur5e")
    with pytest.warns(dy.ModelWarning, match="UR5e: warning: joint 'elbow_joint': viscous is -1; allowed: 0 or more") as caught:
        arm.replace(friction={"elbow_joint": {"viscous": -1}})
    assert caught[0].filename == __file__
    arm.replace(friction={"elbow_joint": {"viscous": 1}})


@pytest.mark.parametrize(("mass", "moments", "noted"), [
    (2500.0, (0.1, 0.1, 0.1), True), (2500.0, (100.0, 100.0, 100.0), False), (2.5, (0.1, 0.1, 0.1), False),
    (10.0, (0.0, 0.0, 0.0), False), (10.0, (1e-9, 1e-9, 1e-9), False), (0.1, (1e-8, 1e-8, 1e-8), False),
    (10.0, (0.0, 0.03, 0.03), False),
])  # fmt: skip
def test_a_body_that_is_denser_than_any_material_is_noted(mass, moments, noted):
    body = dy.Inertia.about_com(mass, np.zeros(3), np.diag(moments))
    d = dy.Description("arm").add_link("base").add_link("arm", "base", "revolute", inertia=body)
    report = dy.check(d)
    notes = [str(note) for note in report.notes if note.code == "inertia-small"]
    assert len(notes) == noted
    if noted:
        assert "link 'arm': a largest moment of 0.1 kg m² for 2500 kg is a radius of gyration of 6.32 mm" in notes[0]
        assert "divide the mass by 1000 if the file gives grams" in notes[0]


def test_no_robot_of_the_library_is_denser_than_any_material():
    assert not [name for name in dy.library() if any(note.code == "inertia-small" for note in dy.check(name).notes)]


@pytest.mark.parametrize(
    ("coulomb", "bias", "doubtful"), [(1.0, 0.5, False), (1.0, -1.0, False), (0.5, 1.5, True), (0.0, -1.0, True)]
)
def test_dry_friction_with_a_larger_constant_torque_is_noted(coulomb, bias, doubtful):
    d = dy.load("scara").description
    d.joints[0].drive = Drive(coulomb=coulomb, coulomb_bias=bias)
    found = [str(p) for p in dy.check(d).notes if p.code == "driving-friction"]
    assert len(found) == doubtful
    if doubtful:
        assert f"{coulomb + bias:g} in the positive and {coulomb - bias:g} in the negative direction" in found[0]
        assert "without its sign" in found[0]


@pytest.mark.parametrize(("gravity", "noted"), [
    ((0, 0, 9.81), True), ((0, 1, 5), True), ((0, 0, -9.81), False), ((0, 9.81, 0), False), ((0, 0, 0), False), ((9, 0, 3), False),
])  # fmt: skip
def test_gravity_that_points_up_is_noted(gravity, noted):
    report = dy.check(f"[robot]\ngravity = {list(gravity)}\n[[link]]\nmass = 1\ncom = [1, 0, 0]\n")
    found = [note for note in report.notes if note.code == "gravity-up"]
    assert len(found) == noted
    assert not found or "reverse its sign, unless the base is mounted upside down" in str(found[0])
