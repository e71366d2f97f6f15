"""Terms that are rounding errors of numeric geometry do not appear."""

import re

import pytest

import dynamis as dy

TILTED = """
<robot name="tilted"><link name="base"/>
<joint name="j1" type="revolute"><parent link="base"/><child link="l1"/><origin rpy="0.3 0 0.2"/><axis xyz="0 0 1"/>
  <limit lower="-3" upper="3" effort="9" velocity="9"/></joint>
<link name="l1"><inertial><origin xyz="0.02 0.01 0.15"/><mass value="4.2"/>
  <inertia ixx="0.05" iyy="0.06" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j2" type="revolute"><parent link="l1"/><child link="l2"/><origin xyz="0.05 0 0.3" rpy="1.4 0.1 0"/><axis xyz="0 0 1"/>
  <limit lower="-3" upper="3" effort="9" velocity="9"/></joint>
<link name="l2"><inertial><origin xyz="0.2 0.01 0"/><mass value="3.1"/>
  <inertia ixx="0.01" iyy="0.06" izz="0.06" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j3" type="prismatic"><parent link="l2"/><child link="l3"/><origin xyz="0.4 0 0" rpy="0 1.2 0"/><axis xyz="0 0 1"/>
  <limit lower="0" upper="1" effort="9" velocity="9"/></joint>
<link name="l3"><inertial><origin xyz="0 0 0.1"/><mass value="1.1"/>
  <inertia ixx="0.006" iyy="0.006" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>
"""


def test_positions_of_prismatic_joints_beside_rounding_errors_do_not_appear():
    form = dy.load(TILTED).closed_form()
    texts = [str(x) for x in (*form.equations, *form.M.flat, *form.C.flat)]
    assert not [x for text in texts for x in re.findall(r"[0-9.]+e-1[0-9]", text)]


def test_right_angles_of_a_file_are_right_angles():
    arm = """<robot name="arm"><link name="base"/>
<joint name="j1" type="continuous"><parent link="base"/><child link="l1"/><origin rpy="0 {angle} 0"/><axis xyz="0 1 0"/></joint>
<link name="l1"><inertial><origin xyz="0.02 0 0.3"/><mass value="7.5"/>
  <inertia ixx="0.3" iyy="0.3" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j2" type="continuous"><parent link="l1"/><child link="mount"/><origin xyz="0 0 0.6" rpy="{angle} 0 {angle}"/>
  <axis xyz="0 1 0"/></joint><link name="mount"/>
<joint name="bolts" type="fixed"><parent link="mount"/><child link="l2"/><origin xyz="0 0.1 0.2" rpy="0 {angle} {angle}"/></joint>
<link name="l2"><inertial><origin xyz="0.2 0.01 0.003"/><mass value="3.1"/>
  <inertia ixx="0.01" iyy="0.06" izz="0.07" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
    exact, rounded = (dy.load(arm.format(angle=angle)).closed_form() for angle in ("1.5707963267948966", "1.57079632679"))
    for right, found in zip(
        [*exact.M.flat, *exact.C.flat, *exact.g], [*rounded.M.flat, *rounded.C.flat, *rounded.g], strict=True
    ):
        assert str(found) == str(right)
    slanted = dy.load(arm.format(angle="1.5708")).closed_form()  # five digits: an angle of its own
    assert len(slanted.g[0]) > len(exact.g[0])


def test_rounding_errors_beside_other_parameters_do_not_appear():
    """Of a rotation by 30°, whose sine is ½."""
    text = """
[robot]
gravity = [0, 0, "-g"]
[parameters]
m_2 = "symbol"
m_3 = "symbol"
b = "symbol"
e = "symbol"
r = "symbol"
g = "symbol"
[[link]]
type = "revolute"
[[link]]
type = "prismatic"
xyz = ["b", "e", 0]
rpy = [0, "pi/6", 0]
axis = [1, 0, 0]
mass = "m_2"
com = [0, "e", 0]
[[link]]
type = "revolute"
xyz = [0, 0, "e"]
axis = [0, 1, 0]
mass = "m_3"
com = ["r", 0, 0]
"""
    form = dy.load(text).closed_form()
    texts = [str(x) for x in (*form.equations, *form.M.flat, *form.regressor.flat)]
    assert not [x for text in texts for x in re.findall(r"[0-9.]+e-[0-9]+", text)]
    assert "1/2*" in str(form.g[1])


TWISTED = """
[robot]
name = "twisted"
gravity = [0, 0, "-g"]
[parameters]
g = "symbol"
a = "symbol"
m = "symbol"
J = "symbol"
[[dh]]
a = "a"
alpha = "ALPHA"
[[dh]]
a = "a"
mass = "m"
com = ["-a/2", 0, 0]
inertia = { yy = "J", zz = "J" }
"""


@pytest.mark.parametrize(
    ("alpha", "text", "latex"),
    [
        ("30 deg", "m*a^2*(sqrt(3)/8 + sqrt(3)/4*c2) + sqrt(3)/2*J", r"\tfrac{\sqrt{3}}{2} J"),
        ("45 deg", "m*a^2*(sqrt(2)/8 + sqrt(2)/4*c2) + sqrt(2)/2*J", r"\tfrac{\sqrt{2}}{2} J"),
        ("60 deg", "1/8*m*a^2*(1 + 2*c2) + 1/2*J", r"\tfrac{1}{2} J"),
        ("0.5", "m*a^2*(0.219396 + 0.438791*c2) + 0.877583*J", "0.877583 J"),
    ],
)
def test_sines_of_30_45_and_60_degrees_are_roots(alpha, text, latex, tmp_path):
    (tmp_path / "twisted.toml").write_text(TWISTED.replace("ALPHA", alpha), encoding="utf-8")
    form = dy.load(tmp_path / "twisted.toml").closed_form()
    M = form.M
    assert str(M[0, 1]) == text
    assert latex in M[0, 1].latex()
    assert ("sqrt" in str(M[0, 1].sympy())) == ("sqrt" in text)
    answer = f"[[{M[0, 0]}, {M[0, 1]}], [{M[1, 0]}, {M[1, 1]}]]"
    assert dy.check_answer(form, "mass_matrix", answer).correct
    assert not dy.check_answer(form, "mass_matrix", answer.replace("m*a", "2*m*a")).correct


def test_squares_of_roots_are_fractions(tmp_path):
    (tmp_path / "twisted.toml").write_text(TWISTED.replace("ALPHA", "30 deg"), encoding="utf-8")
    M = dy.load(tmp_path / "twisted.toml").closed_form().M
    assert str(M[0, 0]) == "m*a^2*(19/16 + c2 + 1/16*c2^2) + J*(3/4 + 1/4*c2^2)"
    assert "." not in M[0, 0].latex()
