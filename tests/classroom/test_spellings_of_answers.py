"""Answers as textbooks, lectures and computer algebra systems write them."""

import pytest

import dynamis as dy
from dynamis.classroom.answers.rewriting import rewritten

SPRING = """
[robot]
gravity = [0, 0, 0]
[parameters]
m = "symbol"
k = "symbol"
x_0 = "symbol"
[[link]]
joint = "x"
type = "prismatic"
axis = [1, 0, 0]
mass = "m"
stiffness = "k"
rest = "x_0"
"""
M = "[[I_1+I_2+m_1*l_1**2+m_2*(a_1**2+l_2**2+2*a_1*l_2*{c}), {x}],[{x}, I_2+m_2*l_2**2]]"


@pytest.fixture(scope="module")
def pendulum():
    return dy.load("pendulum_from_horizontal").closed_form()


@pytest.fixture(scope="module")
def without_gravity():
    return dy.load("planar_prp").closed_form()


@pytest.mark.parametrize("left", ["g", r"g(\theta)", "g(q)", "G", r"\frac{\partial U}{\partial \theta}", "g_1"])
def test_the_gravity_of_one_joint_may_be_called_g_though_g_is_a_parameter(pendulum, left):
    assert dy.check_answer(pendulum, "gravity", rf"{left} = m g l \cos(\theta)").correct
    assert not dy.check_answer(pendulum, "gravity", rf"{left} = m g l \sin(\theta)").correct


def test_a_number_for_the_acceleration_of_gravity_is_no_gravity_torque(pendulum):
    with pytest.raises(dy.FormatError, match="cannot be redefined"):
        dy.check_answer(pendulum, "gravity", "g = 9.81")


@pytest.mark.parametrize(
    "text", ["g = 0", "g(q) = 0", r"g = \mathbf{0}", r"\mathbf{g}(q) = \mathbf{0}", "G(q) = 0", "g = (0, 0, 0)^T"]
)
def test_a_whole_vector_may_be_zero(without_gravity, arm, text):
    verdict = dy.check_answer(without_gravity, "gravity", text)
    assert verdict.correct
    assert len(verdict.findings) == 3
    if "(0" not in text:
        assert len(dy.check_answer(arm, "gravity", text).wrong) == 2


def test_a_row_vector_may_be_separated_by_blanks(cart_pole, arm):
    assert dy.check_answer(cart_pole, "gravity", "g = [0 -m*g*l*sin(theta)]").correct
    assert dy.check_answer(cart_pole, "gravity", "[0 -m*g*l*sin(theta)]'").correct
    assert not dy.check_answer(cart_pole, "gravity", "g = [0 m*g*l*sin(theta)]").correct
    assert dy.check_answer(arm, "gravity", "g_2 = [m_2 l_2] g c_12").correct


@pytest.mark.parametrize("left", [r"\ddot q_2", "qdd2", "a", r"\ddot{\theta}_2", r"\frac{d^2 q_2}{dt^2}"])
def test_the_last_acceleration_has_its_own_name(arm, left):
    right = r"\frac{\tau_2 - (m_2(l_2^2+a_1l_2c_2)+I_2)\ddot q_1 - m_2 a_1 l_2 s_2 \dot q_1^2 - m_2 g l_2 c_{12}}{I_2+m_2l_2^2}"
    assert dy.check_answer(arm, "last-acceleration", f"{left} = {right}").correct
    assert not dy.check_answer(arm, "last-acceleration", f"{left} = {right.replace('s_2', 'c_2')}").correct


@pytest.mark.parametrize("vector", ["(0, 0, -98.1, 0)^T", "(0, 0, -98.1, 0)", "(0,0,-98.1,0)^{T}"])
def test_a_vector_of_numbers_may_stand_in_parentheses(vector):
    form = dy.load("scara").closed_form()
    assert dy.check_answer(form, "gravity", f"g = {vector}").correct
    assert not dy.check_answer(form, "gravity", f"g = {vector.replace('98', '97')}").correct


def test_a_decimal_comma_in_parentheses_is_refused():
    with pytest.raises(dy.FormatError, match="comma"):
        dy.check_answer(dy.load("scara").closed_form(), "gravity", "g_3 = (98,1)")


@pytest.mark.parametrize(
    "left", [r"\frac{\partial U}{\partial q_2}", r"\partial U/\partial q_2", r"\dfrac{\partial V}{\partial q_{2}}"]
)
def test_a_derivative_of_the_potential_energy_is_an_entry_of_gravity(arm, left):
    verdict = dy.check_answer(arm, "gravity", rf"{left} = m_2 g l_2 \cos(q_1+q_2)")
    assert [f.text() for f in verdict.findings] == ["g_2: right"]
    assert not dy.check_answer(arm, "gravity", rf"{left} = m_2 g l_2 \sin(q_1+q_2)").correct


@pytest.mark.parametrize(
    "acceleration",
    [r"\frac{d^2\theta}{dt^2}", r"\frac{d^2 \theta}{d t^2}", r"\frac{d^{2}}{d t^{2}} \theta{\left(t \right)}",
     r"\frac{\mathrm{d}^2\theta}{\mathrm{d}t^2}", "Derivative(theta(t), (t, 2))", r"\frac{d^2}{dt^2}\theta(t)"],
)  # fmt: skip
def test_accelerations_may_be_written_as_derivatives(pendulum, acceleration):
    angle = r"\theta{\left(t \right)}"
    assert dy.check_answer(pendulum, "equations", rf"\tau = I {acceleration} + m g l \cos{{\left({angle} \right)}}").correct


@pytest.mark.parametrize(
    "rate", [r"\frac{dq_1}{dt}", r"\frac{d}{dt}q_1(t)", r"\frac{d}{d t} q_{1}{\left(t \right)}", "Derivative(q1(t), t)"]
)
def test_rates_may_be_written_as_derivatives(arm, rate):
    assert dy.check_answer(arm, "coriolis-vector", rf"c_2 = m_2 a_1 l_2 \sin(q_2) ({rate})^2").correct
    assert not dy.check_answer(arm, "coriolis-vector", rf"c_2 = m_2 a_1 l_2 \sin(q_2) {rate}").correct


@pytest.mark.parametrize("name", ["q_{2}", r"\operatorname{q_2}"])
def test_powers_of_functions_of_time_are_read_as_sympy_writes_them(name):
    form = dy.load("planar_prp", parameters={}).closed_form()
    text = rf"M_{{22}} = {form.M[1, 1]} + {name}^{{2}}{{\left(t \right)}} - q_2^2"
    assert dy.check_answer(form, "mass-matrix", text).correct
    assert not dy.check_answer(form, "mass-matrix", text.replace("^{2}{", "^{3}{")).correct


@pytest.mark.parametrize(
    ("head", "tail", "cosine"),
    [("Matrix(", ")", "cos(q2)"), ("M = Matrix(", ")", "cos(q_2)"), ("M = np.array(", ")", "np.cos(q2)"),
     ("M = sp.Matrix(", ")", "sp.cos(q2(t))"), ("M = numpy.array(", ")", "numpy.cos(q2)"), ("ImmutableDenseMatrix(", ")", "cos(q2)")],
)  # fmt: skip
def test_matrices_of_sympy_and_numpy_are_read(arm, head, tail, cosine):
    matrix = M.format(c=cosine, x=f"I_2+m_2*(l_2**2+a_1*l_2*{cosine})")
    assert dy.check_answer(arm, "mass-matrix", f"{head}{matrix}{tail}").correct
    assert not dy.check_answer(arm, "mass-matrix", f"{head}{matrix.replace('l_2**2]', 'l_1**2]')}{tail}").correct


def test_a_column_of_sympy_with_derivatives_is_read(arm):
    rates = "(2*Derivative(q1(t), t) + Derivative(q2(t), t))*Derivative(q2(t), t)"
    text = f"Matrix([[-a_1*l_2*m_2*sin(q2(t))*{rates}], [a_1*l_2*m_2*sin(q2(t))*Derivative(q1(t), t)**2]])"
    assert dy.check_answer(arm, "coriolis-vector", text).correct


@pytest.mark.parametrize("gap", [", ", r", \quad ", "\n", r" \text{ with } "])
def test_a_definition_may_follow_a_matrix_without_a_name(arm, gap):
    matrix = r"\begin{bmatrix} h\dot q_2 & h(\dot q_1+\dot q_2) \\ -h\dot q_1 & 0 \end{bmatrix}"
    assert dy.check_answer(arm, "coriolis", f"{matrix}{gap}h=-m_2a_1l_2 s_2").correct
    assert not dy.check_answer(arm, "coriolis", f"{matrix}{gap}h=m_2a_1l_2 s_2").correct


def test_the_expressions_exported_to_sympy_are_read(pendulum):
    pytest.importorskip("sympy", reason="SymPy is not installed")
    exported = str(pendulum.M[0, 0].sympy())
    assert exported == "p_I"
    assert dy.check_answer(pendulum, "mass-matrix", f"M = {exported}").correct


@pytest.mark.parametrize(
    ("name", "text"),
    [("gravity", "g_2 = m_2 g_0 l_2 c_12"), ("coriolis-vector", r"c_2 = m_2 a_1 l_2 s_2 \omega_1^2"),
     ("mass-matrix", "M_{22} = J_2 + m_2 l_2^2"), ("mass-matrix", "M_{22} = I_{zz,2} + m_2 l_2^2"),
     ("mass-matrix", "M_{22} = I_{2,zz} + m_2 l_2^2"), ("mass-matrix", "M_{22} = I_{2zz} + m_2 l_2^2")],
)  # fmt: skip
def test_other_common_names_of_parameters_and_rates_are_read(arm, name, text):
    assert dy.check_answer(arm, name, text).correct
    assert not dy.check_answer(arm, name, text.replace("= ", "= 2 ", 1)).correct


def test_a_definition_takes_precedence_over_another_common_name(arm):
    assert dy.check_answer(arm, "mass-matrix", "J_2 = I_2 + m_2 l_2^2, M_{22} = J_2").correct
    assert dy.check_answer(arm, "coriolis-vector", r"\omega_1 = 2 \dot q_1, c_2 = m_2 a_1 l_2 s_2 \omega_1^2 / 4").correct


def test_the_second_angular_velocity_has_no_meaning_of_its_own(arm):
    with pytest.raises(
        dy.FormatError, match=r"the rate of joint 2 or the angular velocity of link 2.*write .dot q_2 for the former"
    ):
        dy.check_answer(arm, "coriolis-vector", r"c_1 = -m_2 a_1 l_2 s_2 (2\dot q_1 + \omega_2) \omega_2")


@pytest.mark.parametrize("entry", ["M[2,2]", "M[2, 2]", "M(2,2)"])
def test_an_entry_may_have_its_indices_in_brackets(arm, entry):
    verdict = dy.check_answer(arm, "mass-matrix", f"{entry} = I_2 + m_2*l_2^2")
    assert [f.text() for f in verdict.findings] == ["M_22: right"]


def test_indices_in_brackets_may_begin_with_zero(arm):
    text = "M[0,1] = I_2 + m_2*(l_2^2 + a_1*l_2*c2)\nM[1,1] = I_2 + m_2*l_2^2"
    assert [f.text() for f in dy.check_answer(arm, "mass-matrix", text).findings] == ["M_12: right", "M_22: right"]


def test_the_missing_energy_of_a_spring_is_written_as_the_difference():
    (finding,) = dy.check_answer(dy.load(SPRING).closed_form(), "potential-energy", "U = 0").wrong
    assert finding.difference == "-1/2*k*(q - x_0)^2"
    assert finding.cause == "missing terms: 1/2*k*(q - x_0)^2"


@pytest.mark.parametrize("limit", [{"seconds": -1}, {"seconds": float("nan")}, {"terms": -5}, {"seconds": "1"}])
def test_negative_limits_of_a_closed_form_are_refused(limit):
    with pytest.raises(dy.InputError, match="must be a number that is not negative"):
        dy.load("planar_2r").closed_form(**limit)


@pytest.mark.parametrize("text", [r"\frac{dq_1}{dt}", "Derivative(q1(t), (t, 2))", "M = np.array([[1]])", "M[1,1] = 2"])
def test_positions_in_a_text_are_kept(text):
    assert len(rewritten(text)) == len(text)


@pytest.mark.parametrize("rate", [r"\frac{d}{dt}", r"\frac{d}{d t}"])
@pytest.mark.parametrize(("opening", "closing"), [("(", ")"), (r"\left[", r"\right]")])
def test_the_time_derivative_of_a_bracket_is_evaluated(arm, rate, opening, closing):
    momentum = rf"{opening} (m_2(l_2^2+a_1l_2c_2)+I_2)\dot q_1+(m_2l_2^2+I_2)\dot q_2 {closing}"
    rest = r"m_2 a_1 l_2 s_2 \dot q_1 (\dot q_1 + \dot q_2) + m_2 g l_2 c_{12}"
    assert dy.check_answer(arm, "equations", rf"\tau_2 = {rate} {momentum} + {rest}").correct
    assert not dy.check_answer(arm, "equations", rf"\tau_2 = {rate} {momentum} - {rest}").correct


def test_steps_with_derivatives_of_other_expressions_are_passed_over(arm):
    step = r"\tau_2 = \frac{d}{dt}\frac{\partial L}{\partial \dot q_2} - \frac{\partial L}{\partial q_2}"
    with pytest.raises(dy.FormatError, match="derivatives"):
        dy.check_answer(arm, "equations", step)
    assert dy.check_answer(
        arm, "gravity", r"\tau_2 = \frac{d}{dt}\frac{\partial L}{\partial \dot q_2} \\ g_2 = m_2 g l_2 c_{12}"
    ).correct


def test_a_shorthand_with_indices_in_brackets_is_no_entry(arm):
    assert dy.check_answer(arm, "gravity", "c[1,2] = cos(q_1+q_2)\ng_2 = m_2 g l_2 c[1,2]").correct


ELL = """
[robot]
name = "pendulum"
gravity = [0, 0, "-g"]
[parameters]
g = "symbol"
ell = "symbol"
m_hat = "symbol"
[[link]]
joint = "theta"
type = "revolute"
axis = [0, 1, 0]
mass = "m_hat"
com = [0, 0, "ell"]
"""


@pytest.mark.parametrize("length", [r"\ell", "ℓ", "ell", "l", r"\mathrm{ell}"])
def test_a_parameter_named_ell_may_be_written_as_its_letter(length):
    form = dy.load(ELL).closed_form()
    assert dy.check_answer(form, "gravity", rf"g = -m_{{hat}} g {length} \sin\theta").correct


def test_words_in_indices_are_upright_and_read_back():
    form = dy.load(ELL).closed_form()
    assert form.g[0].latex() == r"-m_{\mathrm{hat}} g \ell \sin q"
    assert dy.check_answer(form, "gravity", "g = " + form.g.latex()).correct


@pytest.mark.parametrize(
    "rate", [r"\frac{d\dot\theta}{dt}", r"\frac{d\dot{\theta}}{dt}", r"\frac{\mathrm{d}\dot q}{\mathrm{d}t}", r"\dot\omega"]
)
def test_derivatives_of_rates_are_read_where_a_parameter_is_called_d(rate):
    form = dy.load("pendulum_from_vertical").closed_form()
    text = rf"I {rate} = \tau - d\dot\theta - m g L\sin\theta"
    assert dy.check_answer(form, "equations", text).correct
    assert not dy.check_answer(form, "equations", text.replace("- d", "+ d")).correct


@pytest.mark.parametrize("angle", ["(q_{12})", "q_{12}", r"(\theta_{12})", "q_{12}, q_{12} = q_1 + q_2"])
def test_an_angle_with_two_joints_is_their_sum(angle):
    form = dy.load("planar_2r").closed_form()
    assert dy.check_answer(form, "gravity", rf"g_2 = m_2 g l_2 \cos {angle}").correct


def test_an_angle_with_two_joints_may_be_defined_otherwise():
    form = dy.load("planar_2r").closed_form()
    assert not dy.check_answer(form, "gravity", r"g_2 = m_2 g l_2 \cos q_{12}, q_{12} = q_1 - q_2").correct
    text = r"\tau_2 = m_2 a_1 l_2 (c_2\ddot q_1 + s_2\dot q_1^2) + (m_2 l_2^2 + I_2)\ddot q_{12} + m_2 g l_2\cos q_{12}"
    assert dy.check_answer(form, "equations", text).correct
    assert dy.check_answer(form, "equations", rf"q_{{12}} = q_1 + q_2 \\ {text}").correct


def test_christoffel_symbols_with_an_upper_index_are_named_as_those_of_the_second_kind():
    form = dy.load("planar_2r").closed_form()
    with pytest.raises(dy.FormatError, match=r"of the second kind.* write those of the first kind, c_\{211\} = …"):
        dy.check_answer(form, "christoffel", r"\Gamma^2_{11} = m_2 a_1 l_2 s_2")
    assert dy.check_answer(form, "christoffel", r"\Gamma_{211} = m_2 a_1 l_2 s_2").correct


POTENTIAL = "m_1 g l_1 s_1 + m_2 g (a_1 s_1 + l_2 s_{12})"


@pytest.mark.parametrize("operand", [rf"\left({POTENTIAL}\right)", f"[{POTENTIAL}]", rf"(U) \\ U = {POTENTIAL}"])
def test_partial_derivatives_of_explicit_expressions_are_evaluated(operand):
    form = dy.load("planar_2r").closed_form()
    assert dy.check_answer(form, "gravity", rf"g_2 = \frac{{\partial}}{{\partial q_2}}{operand}").correct
    assert not dy.check_answer(form, "gravity", rf"g_1 = \frac{{\partial}}{{\partial q_2}}{operand}").correct


@pytest.mark.parametrize("step", ["(U)", r"\left(U_1 + U_2\right)"])
def test_a_partial_derivative_of_a_name_without_value_is_a_step(step):
    form = dy.load("planar_2r").closed_form()
    text = rf"g_2 = \frac{{\partial}}{{\partial q_2}}{step} = m_2 g l_2 c_{{12}}"
    assert dy.check_answer(form, "gravity", text).correct
    assert dy.check_answer(form, "gravity", rf"g_i = \frac{{\partial}}{{\partial q_i}}{step} \\ {text}").correct


@pytest.mark.parametrize(
    "cosine",
    ["συν(q_1+q_2)", "συν(θ_1+θ_2)", r"\operatorname{συν}(q_1+q_2)", r"\text{συν}(q_1+q_2)",
     "(συν q_1 συν q_2 - ημ q_1 ημq_2)", "c_12 εφ q_1 σφ q_1"],
)  # fmt: skip
def test_functions_have_greek_names_too(arm, cosine):
    assert dy.check_answer(arm, "gravity", f"g_2 = m_2 g l_2 {cosine}").correct
    assert not dy.check_answer(arm, "gravity", f"g_2 = m_2 g l_2 {cosine.replace('συν', 'ημ').replace('σφ', 'εφ')}").correct


def test_a_greek_function_whose_letters_are_parameters_is_their_product():
    text = SPRING.replace('m = "symbol"', 'eta = "symbol"\nmu = "symbol"').replace('mass = "m"', 'mass = "mu"')
    form = dy.load(text.replace('stiffness = "k"', 'stiffness = "k"\nviscous = "eta*mu"')).closed_form()
    assert dy.check_answer(form, "equations", r"\tau = μ \ddot x + ημ \dot x + k (x - x_0)").correct


@pytest.mark.parametrize("factor", ["100 · 10⁻²", "l_1⁻¹ l_1", "m_1¹² / m_1^{12}"])
def test_raised_digits_may_have_a_sign_and_be_several(arm, factor):
    assert dy.check_answer(arm, "gravity", f"g_2 = {factor} m_2 g l_2 c_12").correct


def test_the_angular_velocity_of_the_first_link_that_turns_is_the_rate_of_its_joint(cart_pole):
    energy = r"T = \frac12 M \dot x^2 + \frac12 m (\dot x^2 + 2 l \dot x \omega_2 \cos\theta + l^2 \omega_2^2)"
    assert dy.check_answer(cart_pole, "kinetic-energy", energy).correct


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gravity", r"g_1 = (m_1 l_1 + m_2 a_1) g c_{\theta_1} + m_2 g l_2 c_{\theta_{12}}"),
        ("gravity", r"g_1 = (m_1 l_1 + m_2 a_1) g c\theta_1 + m_2 g l_2 \mathrm{c}\theta_{12}"),
        ("gravity", r"g_2 = m_2 g l_2 (c\theta_1 C\theta_2 - s\theta_1 s\theta_2)"),
        ("gravity", "g_2 = m_2*g*l_2*(cθ1 cθ2 - sθ1 sθ2)"),
        ("gravity", r"g_2 = m_2 g l_2 c_{q_1 + q_2}"),
        ("coriolis", r"C_{21} = m_2 a_1 l_2 s_{\theta_2} q_1^{\prime}"),
        ("equations", r"\tau_2 = m_2 (l_2^2 (q_1^{\prime\prime} + q_2'') + a_1 l_2 (c_2 q_1'' + s_2 (q_1^\prime)^2)) + I_2 (q_1'' + q_2'') + m_2 g l_2 c_{12}"),
    ],
)  # fmt: skip
def test_indices_with_the_variables_and_primes_of_latex(arm, name, text):
    verdict = dy.check_answer(arm, name, text)
    assert verdict.correct, verdict.report()


def test_a_parameter_c_is_no_cosine_of_the_variable_in_its_index():
    robot = '[robot]\n[parameters]\nc = "symbol"\nm = "symbol"\n[[link]]\ntype = "revolute"\nmass = "m"\ncom = ["c", 0, 0]\n'
    two = dy.load(robot + robot[robot.index("[[") :]).closed_form()
    with pytest.raises(dy.FormatError, match="no quantity named 'cq_1'"):
        dy.check_answer(two, "equations", r"\tau_1 = c_{q_1}")


@pytest.mark.parametrize("index", ["2x", "{2xx}", "{xx2}", "{xx,2}", "{2,xx}"])
def test_moments_of_inertia_about_an_axis_have_it_twice_or_once(index):
    body = """
[[link]]
axis = [{axis}]
mass = 1
inertia = {{xx = "I_{k}x", yy = "I_{k}y", zz = 0.2}}
"""
    names = "\n".join(f'I_{k}{axis} = "symbol"' for k in (1, 2) for axis in "xy")
    bodies = body.format(axis="0, 0, 1", k=1) + body.format(axis="1, 0, 0", k=2)
    form = dy.load(f'[robot]\nname = "inertias"\n[parameters]\n{names}\n{bodies}').closed_form()
    assert dy.check_answer(form, "mass-matrix", f"M_22 = I_{index}").correct
    assert not dy.check_answer(form, "mass-matrix", f"M_22 = I_{index}".replace("x", "y")).correct
    assert not dy.check_answer(form, "mass-matrix", f"M_22 = I_{index}".replace("2", "1").replace("M_12", "M_22")).correct


@pytest.mark.parametrize("sign", ["&=", "=&", "& ="])
def test_an_equation_may_be_aligned_outside_of_its_environment(arm, sign):
    assert dy.check_answer(arm, "gravity", rf"g_2 {sign} m_2 g l_2 c_{{12}}").correct
    assert not dy.check_answer(arm, "gravity", rf"g_2 {sign} m_2 g l_2 c_2").correct


@pytest.mark.parametrize("text", ["m_2 g l_2 c(q_1 + q_2)", "m_2gl_2c(q_1+q_2)", r"m_2 g l_2 c\left(\theta_1+\theta_2\right)"])
def test_c_and_s_before_joint_angles_in_brackets_are_cosine_and_sine(arm, text):
    assert dy.check_answer(arm, "gravity", f"g_2 = {text}").correct
    assert not dy.check_answer(arm, "gravity", f"g_2 = {text}".replace("c(", "s(").replace(r"c\left", r"s\left")).correct
    assert not dy.check_answer(arm, "gravity", f"g_2 = {text}, c = m_2").correct  # which the answer defines


def test_c_before_other_brackets_is_no_cosine(arm):
    for inside in ("2 q_1", "q_1, q_2", "l_2", r"\dot q_1"):
        with pytest.raises(dy.FormatError, match="no quantity named 'c'"):
            dy.check_answer(arm, "gravity", f"g_2 = m_2 g l_2 c({inside})")
