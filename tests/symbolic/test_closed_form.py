"""The closed form is the robot: at random states of every small robot of the library, and as identities in the ring."""

import numpy as np
import pytest
from closed_forms import InNumbers, arm, in_numbers, largest_error, small_library

import dynamis as dy
from dynamis.algorithms import dynamics, jacobian, kinematics
from dynamis.model.description import Drive
from dynamis.scalar import symbol
from dynamis.symbolic.formulas import Formulas

ROBOTS = small_library()
# the axes of the xArm 7 are turned by 1.5708, not by a right angle, which gives its Coriolis terms a hundred thousand
# products; of two other arms with seven joints the iiwa 14 stays
HEAVY = [pytest.param(name, marks=pytest.mark.campaign) if name in ("xarm7", "panda") else name for name in ROBOTS]
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


@pytest.mark.parametrize("name", HEAVIER)
def test_center_of_mass_and_centroidal_matrix_equal_the_recursive_ones(name):
    x = in_numbers(name)
    beyond = [frame.name for frame in x.numeric.model.frames.values() if frame.body == 2][:1]
    for term in ("center_of_mass", "center_of_mass_jacobian", "centroidal_matrix", "centroidal_inertia"):
        for link in (None, *beyond):
            value, reference = x.of(getattr(x.form, term)(link)), getattr(x.numeric, term)(x.q, link)
            np.testing.assert_allclose(value, reference, rtol=0.0, atol=1e-11 * max(1.0, np.abs(reference).max()))


@pytest.mark.parametrize("name", [name for name in HEAVIER if name in SMALL or name in ("scara", "ur5e", "puma560")])
def test_inverse_of_the_mass_matrix_equals_the_numeric_one(name):
    x = in_numbers(name)
    assert largest_error(x.term("M_inverse"), x.numeric.mass_matrix_inverse(x.q)) < 1e-10
    assert all(entry.expanded == (x.form.n <= 3) for entry in x.form.M_inverse.flat)


@pytest.mark.parametrize("name", ["planar_2r", "planar_3r"])
def test_identities_of_mass_and_momentum_hold_exactly(name):
    form = dy.load(name).closed_form()
    one = form.M[0, 0] / form.M[0, 0]
    product_with_inverse = (form.M @ form.M_inverse).view(Formulas)
    assert all(product_with_inverse[i, j] == (one if i == j else 0 * one) for i, j in np.ndindex(form.n, form.n))
    c, J = form.center_of_mass(), form.center_of_mass_jacobian()
    assert all(c[i].diff(form.q[j]) == J[i, j] for i, j in np.ndindex(3, form.n))
    mass = sum(body.inertia.mass for _, body in form.model.moving)
    assert all(form.centroidal_matrix()[i, j] == mass * J[i, j] for i, j in np.ndindex(3, form.n))


def test_center_of_mass_of_a_planar_arm_is_printed_as_in_textbooks():
    form = dy.load("planar_2r").closed_form()
    assert str(form.center_of_mass()[0]) == "(m_1*l_1*c1 + m_2*(a_1*c1 + l_2*c12))/(m_1 + m_2)"


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


def test_a_point_mass_on_the_last_axis_has_equations_but_no_state_space():
    d, length = dy.Description("two").add_link("base"), dy.symbol("l_1")
    masses, centers = map(dy.symbol, ("m_1", "m_2")), ((length, 0, 0), (0, 0, 0))
    bodies = [dy.Inertia.about_com(m, c, np.zeros((3, 3))) for m, c in zip(masses, centers, strict=True)]
    for k, (body, place) in enumerate(zip(bodies, (0.0, length), strict=True)):
        origin = dy.Pose.translation([place, 0, 0])
        d.add_link(
            f"link{k}", d.links[-1].name, "revolute", joint_name=f"joint{k}", axis=(0, 0, 1), origin=origin, inertia=body
        )
    form = dy.Robot(d).closed_form()
    assert str(form.M[0, 0]) == "(m_1 + m_2)*l_1^2"
    with pytest.raises(dy.SingularError, match="singular at every configuration: 'joint1' can move without moving any mass"):
        _ = form.state_space
    text = form.derivation().markdown()
    assert "do not follow from the torques here: the mass matrix is singular" in text
    assert "inertia $\\hat m$ of a joint is zero" in text


def test_quotients_of_products_of_decimals_have_short_coefficients():
    """0.4² is 0.16000000000000003 in floating point: the integers of its fraction have seventeen digits."""
    d = dy.Description("pendulum").add_link("base").add_link("fork", "base", "revolute", axis=(0, 0, 1))
    bob = dy.Inertia.about_com(1.0, (0, 0, -0.4), np.zeros((3, 3)))
    form = dy.Robot(d.add_link("bob", "fork", "revolute", axis=(0, 1, 0), inertia=bob)).closed_form()
    assert str(form.M_inverse[0, 0]) == "(6.25)/(s2^2)"
    assert form.M_inverse[0, 0] * form.M[0, 0] == 1
    assert str(form.state_space.accelerations[0]) == "(6.25*tau_1 - 2*c2*s2*q_1'*q_2')/(s2^2)"


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


@pytest.mark.parametrize("name", HEAVIER)
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
