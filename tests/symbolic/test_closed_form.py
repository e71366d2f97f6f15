"""The closed form is the robot: at random states of every small robot of the library, and as identities in the ring."""

import numpy as np
import pytest
from closed_forms import InNumbers, arm, at, in_numbers, largest_error, rod, small_library, with_symbols

import dynamis as dy
from dynamis.algorithms import dynamics, jacobian, kinematics
from dynamis.model.description import Drive, Mimic
from dynamis.scalar import symbol
from dynamis.symbolic.budget import BudgetSpent
from dynamis.symbolic.closed_form import closed_form
from dynamis.symbolic.expression import Formulas

ROBOTS = small_library()
# its axes are turned by 1.5708, not by a right angle, which gives its Coriolis terms a hundred thousand products
HEAVY = [pytest.param(name, marks=pytest.mark.campaign) if name == "xarm7" else name for name in ROBOTS]
# what the Christoffel symbols say already
HEAVIER = [pytest.param(n, marks=pytest.mark.campaign) if n in ("xarm7", "panda", "kuka_iiwa14") else n for n in ROBOTS]
SMALL = [name for name in ROBOTS if dy.load(name).n <= 3]
SYMBOLIC = [name for name in ROBOTS if dy.load(name).model.symbolic]
EXACT = [*SYMBOLIC, "planar_2r_melchiorri"]  # the others' decimals are rounded on the way to the joint frames


def product(A, b):
    """A b as formulas."""
    return Formulas.of((sum((A[i, k] * b[k] for k in range(1, len(b))), A[i, 0] * b[0]) for i in range(len(A))), (len(A),))


def test_library_has_robots_enough():
    assert len(ROBOTS) >= 14
    assert {"puma560", "panda", "stanford", "scara", "ur5e", "xarm7", "planar_2r", "planar_3r"} <= set(ROBOTS)


# agreement with the recursive algorithms


@pytest.mark.parametrize("name", HEAVY)
def test_mass_matrix_equals_the_composite_bodies(name):
    x = in_numbers(name)
    assert largest_error(x.term("M"), x.numeric.mass_matrix(x.q)) < 1e-12


@pytest.mark.parametrize("name", HEAVIER)
def test_coriolis_matrix_equals_the_recursive_one(name):
    x = in_numbers(name)
    assert largest_error(x.term("C"), x.numeric.coriolis_matrix(x.q, x.v)) < 1e-12


@pytest.mark.parametrize("name", ROBOTS)
def test_gravity_equals_the_recursive_one(name):
    x = in_numbers(name)
    assert largest_error(x.term("g"), x.numeric.gravity(x.q)) < 1e-12


@pytest.mark.parametrize("name", HEAVIER)
def test_torque_equals_newton_euler(name):
    x = in_numbers(name)
    assert largest_error(x.of(x.form.torque), x.numeric.inverse_dynamics(x.q, x.v, x.a)) < 1e-12


@pytest.mark.parametrize("name", HEAVY)
def test_terms_add_up_to_newton_euler(name):
    x = in_numbers(name)
    own = sum(x.of(part) for part in (x.form.viscous, x.form.dry, x.form.spring))
    moving = np.einsum("bij,bj->bi", x.term("M"), x.a) + np.einsum("bijk,bj,bk->bi", x.term("christoffel"), x.v, x.v)
    assert largest_error(moving + x.term("g") + own, x.numeric.inverse_dynamics(x.q, x.v, x.a)) < 1e-12


@pytest.mark.parametrize("name", HEAVY)
def test_christoffel_symbols_equal_the_recursive_ones(name):
    x = in_numbers(name)
    assert largest_error(x.term("christoffel"), x.numeric.christoffel(x.q)) < 1e-12
    assert x.form.S is x.form.christoffel


@pytest.mark.parametrize("name", HEAVIER)
def test_rate_of_the_mass_matrix_equals_the_recursive_one(name):
    x = in_numbers(name)
    assert largest_error(x.term("M_dot"), x.numeric.mass_matrix_dot(x.q, x.v)) < 1e-12


@pytest.mark.parametrize("name", HEAVIER)
def test_velocity_torques_are_quadratic_forms_of_the_rates(name):
    x = in_numbers(name)
    quadratic = np.einsum("bkij,bi,bj->bk", x.term("christoffel"), x.v, x.v)
    reference = np.einsum("bij,bj->bi", x.numeric.coriolis_matrix(x.q, x.v), x.v)
    assert largest_error(quadratic, reference) < 1e-12
    assert largest_error(np.einsum("bij,bj->bi", x.term("C"), x.v), reference) < 1e-12


@pytest.mark.parametrize("name", [name for name in ROBOTS if dy.load(name).n <= 6])
def test_other_coefficients_give_the_same_velocity_torques(name):
    x = in_numbers(name)
    reference = np.einsum("bij,bj->bi", x.numeric.coriolis_matrix(x.q, x.v), x.v)
    assert largest_error(np.einsum("bkij,bi,bj->bk", x.term("h"), x.v, x.v), reference) < 1e-12
    assert largest_error(x.term("coriolis_vector"), reference) < 1e-12


@pytest.mark.parametrize("name", HEAVIER)
def test_energies_equal_those_of_the_bodies(name):
    x = in_numbers(name)
    T, U = x.numeric.link_energies(x.q, x.v)
    assert largest_error(x.of(x.form.kinetic_energies), T) < 1e-12
    assert largest_error(x.of(x.form.potential_energies), U) < 1e-12
    total = Formulas.of([x.form.kinetic_energy, x.form.potential_energy], (2,))
    reference = np.stack([x.numeric.kinetic_energy(x.q, x.v), x.numeric.potential_energy(x.q)], -1)
    assert largest_error(x.of(total), reference) < 1e-12


@pytest.mark.parametrize("name", HEAVY)
def test_centres_of_mass_and_their_jacobians_equal_those_of_the_bodies(name):
    x = in_numbers(name)
    model, form = x.robot.model, x.form
    world = kinematics.world_poses(model, kinematics.relative_poses(model, form.q))
    for k, (i, body) in enumerate(model.moving):
        J_P, J_O = jacobian.com_jacobian(model, world, i)
        centre = world[i].R @ body.inertia.com + world[i].p
        assert largest_error(x.of(form.linear_jacobians[k]), x.of_nodes(J_P)) < 1e-12
        assert largest_error(x.of(form.angular_jacobians[k]), x.of_nodes(J_O)) < 1e-12
        assert largest_error(x.of(form.rotations[k]), x.of_nodes(world[i].R)) < 1e-12
        assert largest_error(x.of(form.positions[k]), x.of_nodes(centre)) < 1e-12


@pytest.mark.parametrize("name", HEAVY)
def test_wrench_at_the_tip_gives_the_torques_of_statics(name):
    x = in_numbers(name)
    frame = x.robot.model.frame(None).name
    J = x.numeric.jacobian(x.q, frame)
    assert largest_error(x.of(x.form.jacobian(frame)), J) < 1e-12
    assert largest_error(x.of(x.form.external(frame)), np.einsum("bij,bi->bj", J, x.w)) < 1e-12


@pytest.mark.parametrize("name", SMALL)
def test_accelerations_of_the_state_space_equal_forward_dynamics(name):
    x = in_numbers(name)
    space = x.form.state_space
    assert largest_error(x.of(space.bias), x.numeric.bias(x.q, x.v)) < 1e-12
    assert largest_error(x.of(space.accelerations), x.numeric.forward_dynamics(x.q, x.v, x.tau)) < 1e-9
    unit = np.einsum("bij,bjk->bik", x.of(space.adjugate), x.numeric.mass_matrix(x.q))
    determinant = x.of(Formulas.of([space.determinant], (1,)))
    assert largest_error(unit, determinant[..., None] * np.eye(x.form.n)) < 1e-12


@pytest.mark.parametrize("name", ["puma560", "scara", "stanford"])
def test_state_space_of_a_larger_robot_leaves_the_inverse_to_numbers(name):
    space = in_numbers(name).form.state_space
    assert space.accelerations is None
    assert space.determinant is None


@pytest.mark.parametrize("name", ["puma560", "panda", "motor_with_load", "planar_2r"])
def test_joint_physics_equals_the_ledger(name):
    x = in_numbers(name)
    ledger = x.numeric.torque_ledger(x.q, x.v, x.a)
    for part in ("viscous", "dry", "spring"):
        reference = getattr(ledger, part)
        assert largest_error(x.of(getattr(x.form, part)) + 0.0 * x.q, reference) < 1e-12, part
    kinetic = x.of(x.form.rotor_energies)
    rotor = np.array(x.numeric.model.rotor, dtype=float)
    assert largest_error(kinetic + 0.0 * x.q, 0.5 * rotor * x.v**2) < 1e-12


def test_springs_and_every_friction_enter_the_torque():
    fields = {n: symbol(n) for n in ("viscous", "coulomb", "coulomb_bias", "stiffness", "rest", "rotor_inertia", "gear_ratio")}
    robot = arm([(0, 0, 1)] * 2, joint2={"drive": Drive(**fields)})
    x = InNumbers(robot, robot.closed_form())
    reference = x.of_nodes(dynamics.inverse_dynamics(robot.model, x.form.q, x.form.v, x.form.a))
    assert largest_error(x.of(x.form.torque), reference) < 1e-12
    without = x.of(x.form.torque - x.form.viscous - x.form.dry - x.form.spring)
    assert largest_error(without, reference) > 1e-3
    assert {str(s) for s in x.values} >= set(fields)


@pytest.mark.parametrize("name", ["mass_matrix", "coriolis_matrix", "gravity", "inverse_dynamics"])
@pytest.mark.parametrize("robot", ["planar_2r_melchiorri", "puma560", "stanford"])
def test_kernel_of_a_closed_form_computes_the_robot(robot, name):
    x = in_numbers(robot)
    arguments = {"mass_matrix": "q", "coriolis_matrix": "qv", "gravity": "q", "inverse_dynamics": "qva"}[name]
    state = [getattr(x, letter) for letter in arguments]
    assert largest_error(x.form.kernel(name)(*state), getattr(x.numeric, name)(*state)) < 1e-12


def test_kernel_takes_the_symbols_as_parameters():
    x = in_numbers("planar_2r")
    kernel = x.form.kernel("mass_matrix", parameters=list(x.values))
    assert largest_error(kernel(x.q, np.array(list(x.values.values()))), x.numeric.mass_matrix(x.q)) < 1e-12


def test_kernel_of_another_name_is_refused():
    with pytest.raises(dy.NameLookupError, match="mass_matrix"):
        in_numbers("planar_2r").form.kernel("mass_matrxi")


# identities, proven


@pytest.mark.parametrize("name", HEAVY)
def test_rate_minus_twice_coriolis_is_skew(name):
    form = in_numbers(name).form
    assert (form.N + form.N.T).view(Formulas).is_zero
    assert form.N.is_zero == form.C.is_zero


@pytest.mark.parametrize("name", HEAVY)
def test_rate_of_the_mass_matrix_is_coriolis_and_its_transpose(name):
    form = in_numbers(name).form
    assert form.M_dot == (form.C + form.C.T).view(Formulas)
    assert form.M == form.M.T


@pytest.mark.parametrize("name", EXACT)
def test_kinetic_energy_is_half_the_quadratic_form_of_the_mass_matrix(name):
    form = in_numbers(name).form
    v = [form.algebra.of_node(x) for x in form.v]
    half = sum((form.M[i, j] * v[i] * v[j] for i, j in np.ndindex(form.n, form.n)), 0 * v[0]) / 2
    assert half == form.kinetic_energy


@pytest.mark.parametrize("name", EXACT)
def test_regressor_times_parameters_is_the_torque(name):
    form = in_numbers(name).form
    assert product(form.regressor, form.parameters) == form.torque


@pytest.mark.parametrize("name", SYMBOLIC)
def test_numbers_of_symbolic_robots_are_exact(name):
    form = in_numbers(name).form
    for entry in (*form.M.flat, *form.C.flat, *form.g):
        assert all(int(c.q) <= 96 for c in entry.numerator.coeffs())
        assert "." not in str(entry)


@pytest.mark.parametrize("name", [name for name in HEAVIER if name not in EXACT])
def test_regressor_times_parameters_is_the_torque_in_decimals(name):
    x = in_numbers(name)
    Y, p = x.of(x.form.regressor), x.of(x.form.parameters)
    assert largest_error(np.einsum("bij,bj->bi", Y, p + 0.0 * x.q[:, :1]), x.numeric.inverse_dynamics(x.q, x.v, x.a)) < 1e-9


def test_potential_energy_is_counted_from_the_chosen_configuration():
    x = in_numbers("planar_2r")
    U = x.form.potential_energy_from([0.0, np.pi / 2])
    reference = x.numeric.potential_energy(x.q) - x.numeric.potential_energy(np.array([0.0, np.pi / 2]))
    assert largest_error(x.of(Formulas.of([U], (1,))), reference[:, None]) < 1e-12
    with pytest.raises(dy.InputError, match="2 numbers"):
        x.form.potential_energy_from([0.0])


def test_energy_is_conserved_along_the_equations_of_motion():
    """d(T + U)/dt = τᵀ q̇ without friction, as an identity in the ring."""
    form = dy.load("planar_3r").closed_form()
    energy = form.kinetic_energy + form.potential_energy
    v, a = ([form.algebra.of_node(x) for x in y] for y in (form.v, form.a))
    power = sum((energy.diff(form.q[k]) * v[k] + energy.diff(form.v[k]) * a[k] for k in range(1, form.n)), energy.diff(form.q[0]) * v[0] + energy.diff(form.v[0]) * a[0])  # fmt: skip
    torque = sum((form.torque[k] * v[k] for k in range(1, form.n)), form.torque[0] * v[0])
    assert power == torque


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
