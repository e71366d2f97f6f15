"""Closed forms of robots of every make: axes, branches, prismatic, helical and mimic joints, symbols anywhere."""

import numpy as np
import pytest
from closed_forms import InNumbers, arm, at, in_numbers, largest_error, rod, small_library, with_symbols

import dynamis as dy
from dynamis.algorithms import dynamics, jacobian
from dynamis.model.description import Mimic
from dynamis.scalar import symbol
from dynamis.symbolic.budget import BudgetSpent
from dynamis.symbolic.closed_form import closed_form
from dynamis.symbolic.formulas import Formulas

ROBOTS = small_library()
SYMBOLIC = [name for name in ROBOTS if dy.load(name).model.symbolic]


# robots of every make


def against_newton_euler(robot, seed=0):
    x = InNumbers(robot, robot.closed_form(), seed=seed)
    assert x.form.expanded
    reference = x.of_nodes(dynamics.inverse_dynamics(robot.model, x.form.q, x.form.v, x.form.a))
    assert largest_error(x.of(x.form.torque), reference) < 1e-12
    return x


def test_axes_that_point_up_and_down_add_with_their_signs():
    x = against_newton_euler(arm([(0, 0, 1), (0, 0, -1), (0, 0, 1)]))
    form = x.form
    assert str(form.g[2]) == "m_3*g*l_3*c[1-2+3]"
    assert "c[1-2]" in str(form.g[1])
    assert "c[2-3]" in str(form.M[0, 2])
    assert "c_{1-2+3}" in form.g[2].latex()
    q = form.q
    U = sum(symbol(f"m_{k}") * symbol("g") * y for k, y in zip((1, 2, 3), heights(q[0], -q[1], q[2]), strict=True))
    assert form.algebra.of_node(U) == form.potential_energy


def heights(*turns):
    angle, y, found = 0.0, 0.0, []
    for k, turn in enumerate(turns, 1):
        angle = angle + turn
        found.append(y + symbol(f"l_{k}") * np.sin(angle))
        y = y + symbol(f"a_{k}") * np.sin(angle)
    return found


@pytest.mark.parametrize("signs", [(1, 1, 1, 1), (-1, 1, 1, -1), (-1, -1, 1, 1), (1, -1, -1, 1), (-1, -1, -1, -1)])
def test_runs_of_parallel_axes_of_either_direction_are_the_robot(signs):
    x = against_newton_euler(arm([(0, 0, s) for s in signs]))
    assert not any("s1*" in str(entry) for entry in x.form.M.flat)  # the first joint turns the whole arm


def test_branches_of_a_tree_keep_their_own_sums():
    x = against_newton_euler(arm([(0, 0, 1)] * 5, parents=[0, 1, 1, 3, 2]))
    form = x.form  # bodies are numbered depth first: links 1, 2, 5, then 3, 4
    assert [c.joint for c in x.robot.model.coordinates] == [f"joint{k}" for k in (1, 2, 5, 3, 4)]
    assert form.M[1, 3].is_zero
    assert form.M[2, 4].is_zero
    assert str(form.g[2]) == "m_5*g*l_5*c123"
    assert str(form.g[4]) == "m_4*g*l_4*c145"


def test_joints_about_other_axes_are_the_robot():
    for axes in (
        [(1, 0, 0), (0, 1, 0), (0, 0, 1)],
        [(0, 1, 0)] * 3,
        [(0.6, 0.8, 0.0), (0, 0, 1), (0.0, 0.6, 0.8)],
        [(1, 2, 3)] * 2,
    ):
        against_newton_euler(arm(axes))


def test_prismatic_joints_between_parallel_axes_keep_the_sum():
    x = against_newton_euler(arm([(0, 0, 1), (1, 0, 0), (0, 0, 1)], kinds=["revolute", "prismatic", "revolute"]))
    assert "c13" in str(x.form.g[0])
    assert "q_2" in str(x.form.M[0, 0])


def test_helical_joint_with_a_symbol_for_its_pitch_is_the_robot():
    robot = arm([(0, 0, 1)] * 2, kinds=["helical", "helical"], joint1={"pitch": symbol("h_1")}, joint2={"pitch": symbol("h_2")})
    x = against_newton_euler(robot)
    assert "h_1" in str(x.form.M[0, 0])


@pytest.mark.parametrize("size", [1.0, 2.0])
def test_the_length_of_an_axis_does_not_depend_on_the_angle_of_its_plane(size):
    alpha, m, g = symbol("alpha"), symbol("m"), symbol("g")
    d = dy.Description("incline", gravity=np.array([0.0, -g, 0.0], dtype=object)).add_link("ground")
    axis = np.array([size * np.cos(alpha), size * np.sin(alpha), 0.0], dtype=object)
    block = dy.Inertia.about_com(m, np.zeros(3), np.zeros((3, 3)))
    form = dy.Robot(d.add_link("block", "ground", "prismatic", axis=axis, inertia=block)).closed_form()
    assert str(form.M[0, 0]) == "m"
    assert str(form.g[0]) == "m*g*sin(alpha)"


def test_angle_of_the_geometry_may_be_a_symbol():
    alpha = symbol("alpha")
    c, s = np.cos(alpha), np.sin(alpha)
    R = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]], dtype=object)
    d = dy.Description("twisted", gravity=np.array([0.0, 0.0, -symbol("g")], dtype=object)).add_link("link0")
    d.add_link("link1", "link0", "revolute", inertia=rod(1)).add_link("link2", "link1", "revolute", origin=at(symbol("a_1"), R=R), inertia=rod(2))  # fmt: skip
    x = against_newton_euler(dy.Robot(d))
    assert "alpha" in str(x.form.M[0, 1])
    assert r"\cos \alpha" in x.form.M.latex()
    rate = x.form.M[0, 1].diff(alpha)
    h = 1e-6
    high, low = (x.with_value(alpha, x.values[alpha] + e).of(x.form.M)[:, 0, 1] for e in (h, -h))
    assert np.abs((high - low) / (2 * h) - x.of(Formulas.of([rate], (1,)))[:, 0]).max() < 1e-8


@pytest.mark.parametrize("ratio", [1.0, -1.0, 2.0, 0.5, -1.5, 1.2345, 0.123456789, 37.0])
def test_joint_that_follows_another_is_the_robot_at_any_ratio(ratio):
    robot = arm([(0, 0, 1), (0, 0, 1), (0, 1, 0)], joint2={"mimic": Mimic("joint1", ratio, 0.3)})
    x = against_newton_euler(robot)
    assert x.form.n == 2
    assert x.form.latex().count("\\begin") == 1


def test_length_that_only_a_frame_has_is_a_symbol_of_the_closed_form():
    robot = arm([(0, 0, 1)] * 2)
    d = robot.description.copy()
    d.add_link("tool", "link2", origin=at(symbol("a_tool")))
    x = InNumbers(dy.Robot(d), dy.Robot(d).closed_form())
    J = x.of_nodes(jacobian.jacobian(x.robot.model, x.form.q, x.robot.model.frame("tool")))
    assert largest_error(x.of(x.form.jacobian("tool")), J) < 1e-12


def test_masses_may_be_quotients():
    tensor = np.zeros((3, 3), dtype=object)
    tensor[2, 2] = symbol("J") / symbol("r")
    inertia = dy.Inertia.about_com(symbol("W") / symbol("g"), np.array([symbol("l"), 0.0, 0.0], dtype=object), tensor)
    d = dy.Description("quotients", gravity=np.array([0.0, -symbol("g"), 0.0], dtype=object)).add_link("link0")
    d.add_link("link1", "link0", "revolute", inertia=inertia)
    d.add_link("link2", "link1", "revolute", origin=at(symbol("a")), inertia=inertia)
    x = against_newton_euler(dy.Robot(d))
    assert x.form.g[1].denominator is None
    assert x.form.M[0, 0].denominator is not None
    assert "W" in str(x.form.C[0, 0])


def test_robot_without_joints_has_an_empty_closed_form():
    form = dy.Robot(dy.Description("rock").add_link("link0")).closed_form()
    assert form.n == 0
    assert form.expanded
    assert form.M.shape == form.C.shape == (0, 0)
    assert form.g.shape == (0,)
    assert form.kinetic_energy == 0
    assert "aligned" in form.latex()


def test_robot_with_one_joint_is_written_without_indices():
    form = dy.load("pendulum_from_vertical").closed_form()
    assert r"\ddot{q} " in form.latex()
    assert "q_1" not in form.latex()
    assert form.C.is_zero


@pytest.mark.parametrize("joint", ["spherical", "free"])
def test_joints_on_a_quaternion_are_refused_with_the_cure(joint):
    d = dy.Description("ball").add_link("link0").add_link("link1", "link0", joint, inertia=dy.solids.sphere(0.1, mass=1.0))
    with pytest.raises(dy.InputError, match="three revolute joints"):
        dy.Robot(d).closed_form()


@pytest.mark.parametrize("joint", ["cylindrical", "universal", "planar"])
def test_joints_of_several_coordinates_have_a_closed_form(joint):
    fields = {"axis2": (0, 1, 0), "axis": (1, 0, 0)} if joint == "universal" else {}
    d = dy.Description("compound").add_link("link0").add_link("link1", "link0", joint, inertia=dy.solids.box(0.1, 0.2, 0.3, mass=1.5), **fields)  # fmt: skip
    d.add_link("link2", "link1", "revolute", axis=(0, 1, 0), origin=at(0.25), inertia=rod(2))
    against_newton_euler(dy.Robot(d))


def test_frame_that_is_not_there_is_named_in_the_error():
    with pytest.raises(dy.NameLookupError):
        in_numbers("planar_2r").form.external("tool_99")


def test_fully_symbolic_puma_is_the_robot():
    form = closed_form(with_symbols(dy.load("puma560").model))
    x = InNumbers(dy.load("puma560"), form)
    reference = x.of_nodes(dynamics.inverse_dynamics(form.model, form.q, form.v, form.a))
    assert largest_error(x.of(form.torque), reference) < 1e-12


def test_what_was_asked_before_does_not_change_an_answer():
    one, other = dy.load("planar_3r").closed_form(), dy.load("planar_3r").closed_form()
    for name in ("base", "torque", "state_space", "g", "C", "M"):
        getattr(other, name)
    for name in ("M", "C", "g", "torque"):
        assert str(getattr(one, name)) == str(getattr(other, name))


def test_other_letters_are_the_same_closed_form_whatever_was_spent_before():
    form = dy.load("planar_2r").closed_form()
    with pytest.raises(BudgetSpent):
        form.budget.spend(10**9, 1, 1)
    other = form.in_letters("rocco")
    assert other.expanded
    assert r"\vartheta" in other.latex()
    assert other.M == form.M


@pytest.mark.parametrize("name", ["ur5e", "puma560", "scara", "stanford"])
def test_no_rounding_residue_is_left_in_any_term(name):
    form = dy.load(name).closed_form()
    for formulas in (form.M, form.C, form.g, form.christoffel, form.h, form.M_dot, form.N):
        sizes = [[abs(int(c.p) / int(c.q)) for c in x.numerator.coeffs()] for x in formulas.flat]
        largest = max((s for entry in sizes for s in entry), default=0.0)
        assert all(s > 1e-15 * largest for entry in sizes for s in entry)
        assert "e-1" not in str(formulas)
    assert (form.N + form.N.T).is_zero
