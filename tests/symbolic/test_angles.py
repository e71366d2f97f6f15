"""The angles of a closed form: sums along parallel axes, fractions that multiples share, arguments multiplied out."""

from fractions import Fraction

import numpy as np
import pytest
from closed_forms import InNumbers, arm, largest_error

import dynamis as dy
from dynamis.model.description import Mimic
from dynamis.scalar import symbol
from dynamis.symbolic.angles import angles_for, joint_angles, linear_form

x, y, a, b = (symbol(name) for name in "xyab")


def terms(node):
    return {str(unit): ratio for unit, ratio in linear_form(node).terms}


def test_argument_is_a_sum_of_rational_multiples():
    assert terms(2.0 * x - y / 3.0 + 0.5) == {"x": 2, "y": Fraction(-1, 3)}
    assert linear_form(2.0 * x - y / 3.0 + 0.5).constant == 0.5
    assert terms(-(x - y) + x) == {"y": 1}
    assert terms((1.0 / 3.0) * x) == {"x": Fraction(1, 3)}
    assert linear_form(1.5).terms == ()


def test_products_are_multiplied_out_to_units_of_one_spelling():
    assert terms(a * (x + y)) == terms(a * x + y * a)
    assert terms((a * b) * x) == terms(a * (b * x))
    assert terms((x + y) * (x - y)) == terms(x * x - y * y)
    assert terms((x + 1.0) * 2.0) == {"x": 2}
    assert linear_form((x + 1.0) * 2.0).constant == 2.0


def test_a_product_over_one_of_its_factors_is_the_other():
    assert terms(a * x / a) == {"x": 1}
    assert terms((a * x + 3.0 * a * a * y) / (2.0 * a)) == terms(x / 2.0 + 1.5 * a * y)
    assert len(terms((a * x + y) / a)) == 1


def test_very_long_sums_are_read():
    total = sum((float(k) * symbol(f"x{k}") for k in range(1, 1010)), 0.0)
    assert len(linear_form(total).terms) == 1009


def test_very_large_products_stay_units():
    assert len(terms((sum((symbol(f"x{k}") for k in range(20)), 0.0)) ** 4)) <= 400


def test_multiples_share_a_fraction_where_it_is_simple():
    found = angles_for([linear_form(x / 2.0), linear_form(x / 3.0), linear_form(x)])
    assert [(str(angle.unit), angle.denominator) for angle in found] == [("x", 6)]


@pytest.mark.parametrize("ratio", [1.2345, 0.123456789, 37.0, 101.0 / 103.0])
def test_awkward_multiples_are_angles_of_their_own(ratio):
    found = angles_for([linear_form(x), linear_form(ratio * x), linear_form(2.0 * ratio * x)])
    assert len(found) == 2
    assert found[0].scaled is None
    assert found[1].scaled[0] is x


def bases(robot):
    form = robot.closed_form()
    return [(angle.base, angle.sign) for angle in joint_angles(robot.model, form.q)]


def test_parallel_axes_are_counted_from_each_other():
    assert bases(arm([(0, 0, 1)] * 3)) == [(None, 1), (0, 1), (1, 1)]
    assert bases(arm([(1, 2, 2)] * 2)) == [(None, 1), (0, 1)]


def test_opposite_axes_are_counted_with_a_sign():
    assert bases(arm([(0, 0, 1), (0, 0, -1), (0, 0, 1), (0, 0, -1)])) == [(None, 1), (0, -1), (1, 1), (2, -1)]


def test_other_axes_begin_anew():
    assert bases(arm([(0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 0, 1)])) == [(None, 1), (None, 1), (1, 1), (None, 1)]


def test_sliding_joints_do_not_end_a_run():
    assert bases(arm([(0, 0, 1), (0, 1, 0), (0, 0, 1)], kinds=["revolute", "prismatic", "revolute"])) == [(None, 1), (0, 1)]


def test_branches_are_counted_from_their_own_parents():
    assert bases(arm([(0, 0, 1)] * 4, parents=[0, 1, 1, 2])) == [(None, 1), (0, 1), (1, 1), (0, 1)]


def test_axes_almost_parallel_are_not_parallel():
    assert bases(arm([(0, 0, 1), (0, 1e-6, 1)])) == [(None, 1), (None, 1)]


def test_a_joint_that_another_follows_by_a_fraction_is_no_part_of_a_sum():
    robot = arm([(0, 0, 1)] * 3, joint2={"mimic": Mimic("joint1", 0.5, 0.0)})
    assert bases(robot) == [(None, 1)]
    angles = robot.closed_form().algebra.ring.angles
    assert [(str(angle.unit), angle.denominator) for angle in angles] == [("q[2]", 1), ("q[1]", 2)]


def test_fingers_do_not_change_the_angles_of_an_arm():
    finger = {"mimic": Mimic("joint3", -1.0, 0.0)}
    robot = arm([(0, 0, 1)] * 4, parents=[0, 1, 2, 2], joint4=finger)
    assert bases(robot) == [(None, 1), (0, 1), (1, 1)]


@pytest.mark.parametrize("axis", [1, -1])
def test_links_of_a_parallelogram_have_the_cosine_of_the_angle_between_them(axis):
    """Joint 2 follows joint 1 by −1: link 2 keeps its direction, and the angle of link 3 is that of joint 3 alone."""
    robot = arm([(0, 0, 1), (0, 0, axis), (0, 0, axis)], joint2={"mimic": Mimic("joint1", -axis, 0.0)})
    assert bases(robot) == [(None, 1), (None, 1)]
    form = robot.closed_form()
    assert ("c[2-1]" if axis == 1 else "c12") in str(form.M[0, 1])
    x = InNumbers(robot, form, lambda values: robot.replace(parameters=values))
    assert largest_error(x.of(form.M), x.numeric.mass_matrix(x.q)) < 1e-12
    assert largest_error(x.of(form.C), x.numeric.coriolis_matrix(x.q, x.v)) < 1e-12
    assert largest_error(x.of(form.torque), x.numeric.inverse_dynamics(x.q, x.v, x.a)) < 1e-12


def test_parallel_axes_of_rotated_links_are_found():
    R = dy.Pose(np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]]), np.array([1.0, 0.0, 0.0]))
    d = dy.Description("bent").add_link("link0")
    d.add_link("link1", "link0", "revolute", axis=(0, 0, 1), inertia=dy.solids.sphere(0.1, mass=1.0))
    d.add_link("link2", "link1", "revolute", axis=(0, -1, 0), origin=R, inertia=dy.solids.sphere(0.1, mass=1.0))
    d.add_link("link3", "link2", "revolute", axis=(0, 1, 0), origin=R, inertia=dy.solids.sphere(0.1, mass=1.0))
    signs = bases(dy.Robot(d))
    assert signs[1][0] == 0
    assert signs[2][0] is None
