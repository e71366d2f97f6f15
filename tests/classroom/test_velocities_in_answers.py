r"""Velocities, norms, quadratic forms and components in answers: read, or named as what cannot be checked."""

import pytest

import dynamis as dy

VECTOR = r"v_{c2} = \begin{bmatrix} -a_1 s_1 \dot q_1 - l_2 s_{12} (\dot q_1 + \dot q_2) \\ a_1 c_1 \dot q_1 + l_2 c_{12} (\dot q_1 + \dot q_2) \end{bmatrix}"
SQUARE = r"a_1^2 \dot q_1^2 + l_2^2 (\dot q_1 + \dot q_2)^2 + 2 a_1 l_2 c_2 \dot q_1 (\dot q_1 + \dot q_2)"
ENERGY = r"T_2 = \frac12 m_2 NORM + \frac12 I_2 (\dot q_1 + \dot q_2)^2"


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r").closed_form()


NORMS = {
    "of a vector": (VECTOR, r"\|v_{c2}\|^2"),
    "with delimiters": (VECTOR, r"\left\| v_{c2} \right\|^2"),
    "of a vector, by a product": (VECTOR, r"v_{c2}^T v_{c2}"),
    "of a speed given by its square": (rf"v_{{c2}}^2 = {SQUARE}", r"\lVert v_{c2} \rVert^2"),
    "given by its square": (rf"\|v_{{c2}}\|^2 = {SQUARE}", r"\|v_{c2}\|^2"),
    "in Unicode": (VECTOR, "‖v_{c2}‖^2"),
}


@pytest.mark.parametrize(("definition", "norm"), NORMS.values(), ids=NORMS)
def test_squares_of_norms_are_read(arm, definition, norm):
    text = "\n".join((definition, ENERGY.replace("NORM", norm)))
    verdict = dy.check_answer(arm, "kinetic-energy-of-link", text, body=2)
    assert verdict.correct, verdict.report()
    assert not dy.check_answer(arm, "kinetic-energy-of-link", text.replace("l_2", "l_1", 1), body=2).correct


def test_a_norm_is_a_step_where_it_is_written_out_and_is_to_be_defined_elsewhere(arm):
    step = ENERGY.replace("NORM", r"\|v_{c2}\|^2")
    result = arm.kinetic_energies[1].latex()
    assert dy.check_answer(arm, "kinetic-energy-of-link", f"{step} = {result}", body=2).correct
    with pytest.raises(dy.FormatError, match=r"no quantity named 'vc_2'.* or define it"):
        dy.check_answer(arm, "kinetic-energy-of-link", step, body=2)


@pytest.mark.parametrize(("quantity", "form"), [
    ("coriolis-power", r"\dot q^T C \dot q"), ("coriolis-power", r"\dot{q}^{T} C(q, \dot{q}) \dot{q}"),
    ("kinetic-energy", r"\frac12 \dot q^\top M(q) \dot q"), ("kinetic-energy", r"\frac{1}{2} \dot{\mathbf{q}}^T B \dot{\mathbf{q}}"),
])  # fmt: skip
def test_a_quadratic_form_of_the_rates_names_its_quantity(arm, quantity, form):
    power = r"-m_2 a_1 l_2 s_2 \dot q_1 \dot q_2 (\dot q_1 + \dot q_2)"
    value = power if quantity == "coriolis-power" else arm.kinetic_energy.latex()
    assert dy.check_answer(arm, quantity, f"{form} = {value}").correct
    assert not dy.check_answer(arm, quantity, f"{form} = {value} + m_1").correct


@pytest.mark.parametrize("name", [r"\mu_z", r"\mu_{2,z}", r"\mu_{2z}", r"\mu_{z2}"])
def test_components_of_moments_and_forces_have_the_names_of_axes(arm, name):
    verdict = dy.check_answer(arm, "moment", f"{name} = {arm.torque[1].latex()}", body=2)
    assert verdict.correct, verdict.report()
    assert [f.entry for f in verdict.findings] == ["mu_3"]
    (slip,) = dy.check_answer(arm, "force", "f_x = m_2", body=2).wrong
    assert slip.entry == "f_1"


@pytest.mark.parametrize(("quantity", "body"), [("kinetic-energy-of-link", 2), ("kinetic-energy", None), ("mass-matrix", None)])
def test_a_velocity_is_no_quantity_and_those_that_are_get_listed(arm, quantity, body):
    with pytest.raises(
        dy.InputError, match=r"which is the velocity; the quantities that are checked are mass-matrix, coriolis,"
    ):
        dy.check_answer(arm, quantity, r"v_{c2} = l_1 \dot q_1", body=body)


def test_a_moment_is_no_gravity_torque(arm):
    with pytest.raises(dy.InputError, match=r"no entry of the gravity: .* found muz, which is the moment"):
        dy.check_answer(arm, "gravity", r"\mu_z = m_2")
