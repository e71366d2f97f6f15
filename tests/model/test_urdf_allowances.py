from __future__ import annotations

import re

import numpy as np
import pytest

import dynamis as dy

# what the specification lets a file say differently: (old, new, …) pieces, all meaning the same robot
SAME_ROBOT = {
    "axis omitted": ('    <axis xyz="1 0 0"/>\n', ""),
    "origin rpy zero": ('<origin xyz="0.4 0 0"/>', '<origin xyz="0.4 0 0" rpy="0 0 0"/>'),
    "scientific notation": ('mass value="2"', 'mass value="+2.0E+0"', 'izz="0.04"', 'izz="4e-2"', 'upper="2"', 'upper=".2e1"'),
    "white space in numbers": ('xyz="0.4 0 0"', 'xyz="  0.4\t 0\n 0 "', 'mass value="2"', 'mass value=" 2 "'),
    "trailing point": ('mass value="2"', 'mass value="2."'),
    "comments": ("<mass", "<!-- heavy --><mass", "</robot>", "<!-- ${x} <xacro:if> --></robot>"),
    "processing instruction": ("</robot>", "<?editor on?></robot>"),
    "white space in tags": ('<mass value="2"/>', '<mass\n  value = "2"\n></mass >'),
    "single quotes": ('<mass value="2"/>', "<mass value='2'/>"),
    "character references": ('link name="upper"', 'link name="&#117;pper"'),
    "text between elements": ('<mass value="2"/>', 'about 2 kg: <mass value="2"/><![CDATA[ <mass value="9"/> ]]>'),
    "default namespace": ('<robot name="arm">', '<robot name="arm" xmlns="http://www.ros.org">'),
    "left-over namespaces": (
        '<robot name="arm">',
        '<robot name="arm" xmlns:xacro="http://ros.org/wiki/xacro" xmlns:xi="x" version="1.0">',
    ),
    "transmission": (
        "</robot>",
        '<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="shoulder">'
        '<hardwareInterface>EffortJointInterface</hardwareInterface></joint><actuator name="m">'
        "<mechanicalReduction>100</mechanicalReduction></actuator></transmission></robot>",
    ),
    "ros2_control": (
        "</robot>",
        '<ros2_control name="c" type="system"><joint name="shoulder"><command_interface name="position">'
        '<param name="min">-1</param></command_interface></joint></ros2_control></robot>',
    ),
    "gazebo": (
        "</robot>",
        '<gazebo reference="upper"><mu1>0.2</mu1><link name="inner"/><joint name="shoulder" type="odd"/></gazebo><gazebo/></robot>',
    ),
    "material": ("</robot>", '<material name="blue"><color rgba="0 0 1 1"/></material></robot>'),
    "safety and calibration": ("<dynamics", '<safety_controller k_velocity="10"/><calibration rising="0"/><dynamics'),
    "unknown attributes": ('<link name="upper">', '<link name="upper" colour="red" id="7">'),
    "axis of a fixed joint": ('<child link="tool"/>', '<child link="tool"/><axis xyz="0 0 0"/>'),
    "limit of a fixed joint": ('<child link="tool"/>', '<child link="tool"/><limit effort="0" velocity="0"/>'),
    "no declaration": ('<?xml version="1.0"?>\n', ""),
    "shapes": (
        '<link name="tool"/>',
        '<link name="tool"><visual><geometry><mesh filename="package://p/m.stl"/></geometry></visual>'
        '<collision name="c"><geometry><box size="1 1 1"/></geometry></collision><visual/></link>',
    ),
}


@pytest.mark.parametrize("case", SAME_ROBOT)
def test_what_the_specification_allows_loads_silently_and_means_the_same(arm, save, same_dynamics, case):
    plain = dy.load(save(arm()))
    varied = save(arm(*SAME_ROBOT[case]), "varied.urdf")
    assert not dy.check(varied).problems
    same_dynamics(plain, dy.load(varied), frames=plain.link_names)


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("\n", "\r").encode(),
        lambda text: text.encode("utf-16"),
        lambda text: text.encode() + b"\n\n  ",
    ],
    ids=["byte order mark", "CRLF", "CR", "UTF-16", "trailing space"],
)
def test_the_bytes_of_other_systems_load_silently_and_mean_the_same(arm, save, same_dynamics, encode):
    same_dynamics(dy.load(save(arm())), dy.load(save(encode(arm()), "other.urdf"), strict=True))


def test_the_lines_of_a_file_with_crlf_are_counted_once(arm, save, line_of):
    text = arm('mass value="2"', 'mass value="x"')
    assert dy.check(save(text.replace("\n", "\r\n"))).errors[0].line == line_of(text, 'value="x"')


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_elements_does_not_matter(arm, save, same_dynamics, seed):
    rng = np.random.default_rng(seed)
    head, *parts = re.split(r"(?=  <link|  <joint)", arm().removesuffix("</robot>\n"))
    rng.shuffle(parts)
    shuffled = []
    for part in parts:
        lines = part.splitlines(keepends=True)
        if lines[0].startswith("  <joint"):
            inner = lines[1:-1]
            rng.shuffle(inner)
            lines = [lines[0], *inner, lines[-1]]
        shuffled.append("".join(lines))
    plain = dy.load(save(arm()))
    same_dynamics(
        plain, dy.load(save(head + "".join(shuffled) + "</robot>", "shuffled.urdf"), strict=True), frames=plain.link_names
    )


def test_an_omitted_axis_is_x_and_an_omitted_origin_is_none(arm, save):
    robot = dy.load(save(arm('<axis xyz="0 1 0"/>', "", '<origin xyz="0 0 0.3" rpy="0 0 0.5"/>', "")))
    pose = robot.pose([0.4, 0.0], "upper")
    turn = np.array([[1, 0, 0], [0, np.cos(0.4), -np.sin(0.4)], [0, np.sin(0.4), np.cos(0.4)]])
    assert pose == pytest.approx(np.block([[turn, np.zeros((3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]]), abs=1e-15)


def test_an_omitted_axis_is_noted_by_the_check_alone(arm, save, line_of):
    text = arm('<axis xyz="0 1 0"/>', "")
    path = save(text)
    report = dy.check(path)
    assert not list(report)
    (note,) = report.notes
    assert note.line == line_of(text, 'name="shoulder"')
    assert "a revolute joint without <axis>; its axis is x, the default of URDF" in str(report)
    assert dy.load(path, strict=True).n == 2


def test_an_origin_with_only_rpy_or_only_xyz_is_read(arm, save):
    only_rpy = dy.load(save(arm('xyz="0 0 0.3" rpy="0 0 0.5"', 'rpy="0 0 0.5"')))
    only_xyz = dy.load(save(arm('xyz="0 0 0.3" rpy="0 0 0.5"', 'xyz="0 0 0.3"')))
    assert only_rpy.pose([0, 0], "upper")[:3, 3] == pytest.approx([0, 0, 0])
    assert only_rpy.pose([0, 0], "upper")[0, 0] == pytest.approx(np.cos(0.5))
    assert only_xyz.pose([0, 0], "upper")[:3, 3] == pytest.approx([0, 0, 0.3])
    assert only_xyz.pose([0, 0], "upper")[:3, :3] == pytest.approx(np.eye(3))


def test_massless_frames_behind_fixed_joints_change_nothing_else(arm, save, same_dynamics):
    chain = "".join(
        f'<link name="f{k}"/><joint name="m{k}" type="fixed"><parent link="{"tool" if k == 0 else f"f{k - 1}"}"/>'
        f'<child link="f{k}"/><origin xyz="0 0 0.1"/></joint>'
        for k in range(5)
    )
    plain, framed = dy.load(save(arm())), dy.load(save(arm("</robot>", chain + "</robot>"), "framed.urdf"), strict=True)
    same_dynamics(plain, framed, frames=plain.link_names)
    step = framed.pose([0, 0], "f4")[:3, 3] - framed.pose([0, 0], "tool")[:3, 3]
    assert step == pytest.approx([0, 0, 0.5], abs=1e-15)


def test_a_zero_mass_inertial_is_a_frame(arm, save, same_dynamics):
    zero = '<inertial><mass value="0"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'
    weightless = dy.load(save(arm('<link name="tool"/>', f'<link name="tool">{zero}</link>'), "zero.urdf"), strict=True)
    same_dynamics(dy.load(save(arm())), weightless)


def test_a_mass_behind_a_fixed_joint_is_carried_by_the_moving_link(arm, save):
    heavy = '<inertial><mass value="3"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'
    robot = dy.load(save(arm('<link name="tool"/>', f'<link name="tool">{heavy}</link>')))
    assert robot.mass == pytest.approx(6.5)
    # the prismatic joint pushes fore and tool
    assert robot.mass_matrix([0.3, 0.1])[1, 1] == pytest.approx(4.5)


def test_the_rotation_of_an_inertial_origin_turns_the_tensor(arm, save, same_dynamics):
    turned = arm('<origin xyz="0.2 0 0"/>', f'<origin xyz="0.2 0 0" rpy="0 0 {np.pi / 2}"/>', 'ixx="0.01"', 'ixx="0.02"',
                 'iyy="0.02" iyz="0" izz="0.02"', 'iyy="0.01" iyz="0" izz="0.02"')  # fmt: skip
    same_dynamics(dy.load(save(arm())), dy.load(save(turned, "turned.urdf")))


def test_an_inertial_origin_turned_about_three_axes_has_its_moments_along_its_own_axes(arm, save):
    """R I Rᵀ and Rᵀ I R differ for a general rotation, but not for a quarter turn of a diagonal tensor."""
    moments, (roll, pitch, yaw) = (0.011, 0.017, 0.023), (0.4, -0.7, 1.1)
    text = arm('<origin xyz="0.2 0 0"/>', f'<origin xyz="0.2 0 0" rpy="{roll} {pitch} {yaw}"/>',
               'ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"',
               'ixx="{}" ixy="0" ixz="0" iyy="{}" iyz="0" izz="{}"'.format(*moments))  # fmt: skip
    tensor = dy.load(save(text)).description.link("fore").mass_properties.tensor
    # rotations about the fixed axes x, y, z, in this order: the inertial frame's axes in the link's frame
    (cr, sr), (cp, sp), (cy, sy) = ((np.cos(x), np.sin(x)) for x in (roll, pitch, yaw))
    about_x, about_y, about_z = (
        [[1, 0, 0], [0, cr, -sr], [0, sr, cr]],
        [[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]],
        [[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]],
    )
    axes = np.array(about_z) @ about_y @ about_x
    for axis, moment in zip(axes.T, moments, strict=True):
        np.testing.assert_allclose(tensor @ axis, moment * axis, rtol=0.0, atol=1e-15)


def test_every_urdf_joint_type_has_its_degrees_of_freedom(arm, save, quiet_load):
    expected = {"fixed": 1, "revolute": 2, "continuous": 2, "prismatic": 2, "planar": 4, "floating": 7}
    for kind, n in expected.items():
        assert quiet_load(save(arm('type="prismatic"', f'type="{kind}"'))).n == n


def test_damping_is_viscous_and_friction_is_dry(arm, save):
    robot = dy.load(save(arm()))
    for speed in (-2.0, 0.5):
        ledger = robot.torque_ledger([0.2, 0.1], [speed, 1.0], [0.0, 0.0])
        assert ledger.viscous == pytest.approx([0.7 * speed, 0.0])
        assert ledger.dry == pytest.approx([0.3 * np.sign(speed), 0.0])
    assert robot.torque_ledger([0, 0], [0, 0], [1, 1]).dry == pytest.approx([0, 0])


def test_the_limits_are_those_of_the_file(arm, save):
    limits = dy.load(save(arm('type="prismatic"', 'type="continuous"'))).limits
    assert limits["lower"].tolist() == [-2.0, -np.inf]
    assert limits["upper"].tolist() == [2.0, np.inf]
    assert limits["effort"].tolist() == [50.0, 50.0]
    assert limits["velocity"].tolist() == [3.0, 3.0]


def test_limits_without_lower_and_upper_are_no_position_limits(arm, save):
    """The specification says 0 for both, with which the joint could not move."""
    with pytest.warns(dy.ModelWarning, match="both position limits are 0"):
        robot = dy.load(save(arm(' lower="-2" upper="2"', "")))
    assert (robot.description.joint("shoulder").limits.lower, robot.limits["lower"][0]) == (0.0, -np.inf)


def test_a_spherical_joint_is_read(arm, save):
    robot = dy.load(save(arm('type="prismatic"', 'type="spherical"')))
    assert robot.description.joint("elbow").type == "spherical"
    assert robot.n == 4


def test_the_text_of_a_document_is_read_like_its_file(arm, save, same_dynamics):
    plain = dy.load(save(arm()))
    for text in (arm(), "\ufeff" + arm(), arm('"1.0"', '"1.0" encoding="latin-1"', '"tool"', '"größe"')):
        same_dynamics(plain, dy.load(text), frames=["upper", "fore"])
    assert dy.load(arm('"tool"', '"größe"')).link_names[-1] == "größe"
    assert str(dy.check(arm('mass value="2"', 'mass value="x"'))).startswith("URDF text:7: error")


def test_a_document_after_white_space_has_the_lines_of_its_file(arm, save, line_of):
    text = "\r\n \n" + arm('mass value="2"', 'mass value="x"')
    assert dy.check(save(text)).errors[0].line == line_of(text, 'value="x"')


def test_a_shape_turned_by_more_than_a_turn_is_used_as_written(arm, save, quiet_load):
    shape = '<link name="tool"><visual><origin rpy="0 0 7"/><geometry><box size="1 1 1"/></geometry></visual></link>'
    (box,) = quiet_load(save(arm('<link name="tool"/>', shape))).description.link("tool").shapes
    assert box.origin.R[0, 0] == pytest.approx(np.cos(7.0))
