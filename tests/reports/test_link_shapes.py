"""Shapes of robots whose files have none."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.reports.link_shapes import link_shapes
from dynamis.reports.meshes.drawing import drawing_of
from dynamis.reports.scene import scene_of

CART_POLE = """
<robot name="cart_pole"><link name="rail"/>
<joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/><origin xyz="0 0 0.2"/><axis xyz="1 0 0"/>
  <limit lower="-1.5" upper="0.5" effort="50" velocity="5"/></joint>
<link name="cart"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="cart"/><child link="pole"/><axis xyz="0 1 0"/></joint>
<link name="pole"><inertial><origin xyz="0 0 0.5"/><mass value="0.2"/>
  <inertia ixx="0.02" iyy="0.02" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>
"""


def test_a_cart_slides_on_a_rail_over_its_range():
    robot = dy.load(CART_POLE)
    shapes = [shape for shape in link_shapes(robot.model, 0, 5.0) if shape.kind == "tapered_capsule"]
    rail = max(shapes, key=lambda shape: shape.size[2])
    ends = [rail.origin.p + sign * 0.5 * rail.size[2] * rail.origin.R[:, 2] for sign in (-1, 1)]
    np.testing.assert_allclose(sorted(end[0] for end in ends), [-1.5, 0.5], atol=1e-12)
    np.testing.assert_allclose([end[1:] for end in ends], [[0.0, 0.2]] * 2, atol=1e-12)
    assert not scene_of(robot)["plate"]


TWO_JOINTS = """<mujoco><worldbody>
  <body name="cart"><joint name="along" type="slide" axis="1 0 0"/><joint name="about" axis="0 1 0"/>
    <geom type="box" size="0.1 0.1 0.1" mass="1"/></body>
</worldbody></mujoco>"""


def test_nothing_is_drawn_between_two_joints_of_a_body(tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "cart.xml").write_text(TWO_JOINTS)
    robot = dy.load(tmp_path / "cart.xml")
    assert [body.name for _, body in robot.model.moving] == ["cart/along", "cart"]
    assert {part.body for part in drawing_of(robot).shapes if part.body} == {2}
