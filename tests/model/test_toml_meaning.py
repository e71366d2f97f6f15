from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy


def parents(robot):
    return {joint.child: joint.parent for joint in robot.description.joints}


def test_the_parent_of_a_link_is_the_link_above_in_the_file_whatever_its_table(save, quiet_load):
    robot = quiet_load(
        save('[[link]]\nlink = "a"\nmass = 1\n[[dh]]\nlink = "b"\nmass = 1\n[[poe]]\nlink = "c"\nmass = 1\n', "robot.toml")
    )
    assert parents(robot) == {"a": "base", "b": "a", "c": "b"}


def test_the_parent_of_a_frame_is_the_link_above_in_the_file(save, quiet_load):
    robot = quiet_load(
        save('[[link]]\nlink = "a"\nmass = 1\n[[frame]]\nlink = "f"\n[[link]]\nlink = "b"\nmass = 1\n', "robot.toml")
    )
    assert parents(robot) == {"a": "base", "f": "a", "b": "a"}


def test_the_line_of_a_finding_is_that_of_the_value(two_links, save, line_of):
    text = two_links("viscous = 0.1", "viscous = true")
    assert dy.check(save(text, "robot.toml")).errors[0].line == line_of(text, "viscous = true")


def test_the_line_of_a_finding_without_a_key_is_that_of_its_table(two_links, save, line_of):
    text = two_links("x = 0.5", "x = -0.5")
    assert dy.check(save(text, "robot.toml")).errors[0].line == line_of(text, 'link = "fore"') - 1


def test_the_example_of_the_documentation_is_the_textbook_arm(save):
    text = """
[robot]
name = "two-link arm"
gravity = [0, -9.81, 0]
[parameters]
l = 0.5
m = "symbol"
[[link]]
mass = "m"
com = ["l/2", 0, 0]
inertia = { zz = "m*l^2/12" }
[[link]]
xyz = ["l", 0, 0]
mass = "m"
com = ["l/2", 0, 0]
inertia = { zz = "m*l^2/12" }
"""
    path = save(text, "robot.toml")
    robot = dy.load(path, parameters={"m": 2.0})
    l, m, q2 = 0.5, 2.0, 0.7
    a, b, d = m * l**2 * (5 / 3 + np.cos(q2)), m * l**2 * (1 / 3 + np.cos(q2) / 2), m * l**2 / 3
    assert robot.mass_matrix([0.3, q2]) == pytest.approx(np.array([[a, b], [b, d]]))
    assert dy.load(path).model.symbolic


def test_dh_and_mdh_rows_compose_as_documented(save, quiet_load):
    def rot(axis, angle):
        c, s = np.cos(angle), np.sin(angle)
        T = np.eye(4)
        i, j = {"x": (1, 2), "z": (0, 1)}[axis]
        T[i, i], T[j, j], T[i, j], T[j, i] = c, c, -s, s
        return T

    def move(x, z):
        T = np.eye(4)
        T[0, 3], T[2, 3] = x, z
        return T

    a, alpha, d, theta, q = 0.3, 0.4, 0.5, 0.6, 0.7
    numbers = f"a = {a}\nalpha = {alpha}\nd = {d}\ntheta = {theta}\nmass = 1\n"
    expected = {
        ("dh", "revolute"): rot("z", theta + q) @ move(0, d) @ move(a, 0) @ rot("x", alpha),
        ("dh", "prismatic"): rot("z", theta) @ move(0, d + q) @ move(a, 0) @ rot("x", alpha),
        ("mdh", "revolute"): rot("x", alpha) @ move(a, 0) @ rot("z", theta + q) @ move(0, d),
        ("mdh", "prismatic"): rot("x", alpha) @ move(a, 0) @ rot("z", theta) @ move(0, d + q),
    }
    for (form, kind), pose in expected.items():
        robot = quiet_load(save(f'[[{form}]]\ntype = "{kind}"\n{numbers}', "robot.toml"))
        assert robot.pose([q]) == pytest.approx(pose, abs=1e-15)


def test_a_screw_row_is_home_times_exponential(save, quiet_load):
    robot = quiet_load(save("[[poe]]\nxyz = [1, 0, 0]\nscrew = [0, -0.5, 0, 0, 0, 1]\nmass = 1\n", "robot.toml"))
    # the screw turns about z through the point (0.5, 0, 0) of the link's frame
    assert robot.pose([np.pi])[:3, 3] == pytest.approx([2.0, 0, 0])


def test_dry_friction_may_depend_on_the_direction(save, quiet_load):
    robot = quiet_load(save("[[link]]\nmass = 1\ncoulomb = [0.5, 0.3]\nviscous = 0.1\n", "robot.toml"))
    assert robot.torque_ledger([0], [2], [0]).dry == pytest.approx([0.5])
    assert robot.torque_ledger([0], [-2], [0]).dry == pytest.approx([-0.3])
    assert robot.torque_ledger([0], [-2], [0]).viscous == pytest.approx([-0.2])


def test_a_solid_is_the_same_as_its_tensor(save, same_dynamics):
    solid = save(
        '[[link]]\nmass = 12\ncom = [1, 2, 3]\nsolid = { kind = "cylinder", radius = 0.1, length = 1, rpy = [0, 1.5707963267948966, 0] }',
        "a.toml",
    )
    zz = 12 * (3 * 0.01 + 1) / 12
    tensor = save(f"[[link]]\nmass = 12\ncom = [1, 2, 3]\ninertia = {{ xx = 0.06, yy = {zz}, zz = {zz} }}", "b.toml")
    same_dynamics(dy.load(solid), dy.load(tensor))


def test_a_byte_order_mark_and_crlf_do_not_matter(two_links, save, same_dynamics):
    other = save(b"\xef\xbb\xbf" + two_links().replace("\n", "\r\n").encode(), "other.toml")
    same_dynamics(dy.load(save(two_links(), "robot.toml")), dy.load(other, strict=True))


def test_one_moment_of_inertia_is_that_of_a_planar_robot(save):
    path = save("[[link]]\nmass = 2\ninertia = { zz = 0.1 }\n", "robot.toml")
    dy.load(path)
    assert [note.code for note in dy.check(path).notes] == ["inertia-one-moment"]
    with pytest.warns(dy.ModelWarning, match="triangle inequality"):
        dy.load(save("[[link]]\nmass = 2\ninertia = { xx = 0.01, zz = 0.1 }\n", "other.toml"))
