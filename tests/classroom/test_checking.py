"""Answers: every algebraic form of the right one is right; what is wrong is told by entry, difference, example and cause."""

import re

import numpy as np
import pytest
import sympy
from textbook_robots import RP_ARM

import dynamis as dy
from dynamis.classroom.checking.quantities import quantity


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r").closed_form()


@pytest.fixture(scope="module")
def prp():
    return dy.load("planar_prp").closed_form()


def as_text(expression):
    """SymPy's own text, with the names an answer uses."""
    return str(expression).replace("**", "^").replace("qdd", "ddq").replace("qd", "dq").replace("p_I", "I")


Q1 = sympy.Symbol("q1", real=True)
REWRITES = {
    "expanded": sympy.expand,
    "trigonometry expanded": sympy.expand_trig,
    "factored": sympy.factor,
    "collected otherwise": lambda x: sympy.collect(sympy.expand(x), sympy.Symbol("l_2", real=True)),
    "sine from a right angle": lambda x: x.replace(sympy.sin, lambda a: sympy.cos(a - sympy.pi / 2, evaluate=False)),
    "with a zero in disguise": lambda x: sympy.expand(x) + sympy.sin(Q1) ** 2 + sympy.cos(Q1) ** 2 - 1,
}


@pytest.mark.parametrize("rewrite", REWRITES.values(), ids=REWRITES)
@pytest.mark.parametrize(
    ("quantity", "letter"), [("mass-matrix", "M"), ("gravity", "g"), ("coriolis", "C"), ("equations", "tau")]
)
def test_any_algebraic_form_of_the_right_answer_is_right(arm, rewrite, quantity, letter):
    values = {"mass-matrix": arm.M, "gravity": arm.g, "coriolis": arm.C, "equations": arm.torque}[quantity]
    lines = []
    for index, x in np.ndenumerate(values):
        number = "".join(str(k + 1) for k in index)
        lines.append(f"{letter}_{number} = {as_text(rewrite(x.sympy())).replace('pi', '3.141592653589793')}")
    verdict = dy.check_answer(arm, quantity, "\n".join(lines))
    assert verdict.correct, verdict.report()


def test_our_own_print_is_right_in_every_notation(arm, prp):
    for form in (arm, prp):
        for letters in ("dynamis", "rocco", "melchiorri", "tzafestas", "deluca"):
            text = "M = " + form.M.latex(letters)
            assert dy.check_answer(form, "mass-matrix", text, notation=letters).correct, (letters, text)
            equations = "\n".join(e.latex(letters) for e in form.equations).replace("= f_", r"= \tau_")
            verdict = dy.check_answer(form, "equations", equations, notation=letters)
            assert verdict.correct, verdict.report()


def test_letters_are_found_out(arm):
    assert dy.check_answer(arm, "gravity", r"g_2 = m_2 g a_{C2} C_{12}").findings[0].right
    assert dy.check_answer(arm, "gravity", r"g_2 = m_2 g l_{c2} c_{12}").findings[0].right
    assert dy.check_answer(arm, "gravity", r"g_2 = m_2 g l_2 c_{12}").findings[0].right


BESIDE_FORMULAS = {  # and what is not read of it
    r"g_2 = m_2 g l_2 c_{12} \text{ with } g \text{ the acceleration of gravity}": r"\text{ with } g \text{ the acceleration of gravity}",
    r"g_2 = m_2 g l_2 c_{12}, \textrm{ with } g, l_2 \textrm{ as usual}": r"\textrm{ with } g, l_2 \textrm{ as usual}",
    r"\text{For joint } 2 \text{ we have } g_2 = m_2 g l_2 c_{12}": r"\text{For joint } 2 \text{ we have }",
    r"g_2 = m_2 g l_2 c_{12} \\ \text{where } c_{12} \text{ is $\cos(q_{1} + q_{2})$}": r"\text{where } c_{12} \text{ is $\cos(q_{1} + q_{2})$}",
    r"g_2 = m_2 g l_2 c_{12} \text{ with } g = 9.81 \text{ m/s}^2": "g = 9.81",
    r"g = \begin{bmatrix} * \\ m_2 g l_2 c_{12} \text{ with } g \text{ gravity} \end{bmatrix}": r"\text{ with } g \text{ gravity}",
    r"g_2 = m_2 g (l_2 \text{ of link } (2)) c_{12}": r"\text{ of link } (2)",
    r"g_2 = m_2 g h \text{ with } h = l_2 c_{12}": "",
    r"g_2 = m_2 g (l_2 c_1 c_2 \text{ (cosines)} - l_2 \text{ (sines)} \cdot s_1 s_2)": "",
    r"g = [\text{first: } *, \text{second: } m_2 g l_2 c_{12} \text{ (gravity)}]": "",
    r"g_2 = m_2 g l_2 c_1 c_2 \text{ (cosines) } - m_2 g l_2 s_1 s_2 \text{ (sines)}": "",
    r"g_2 = m_2 g l_2 c_{12} \text{ kg}\,\text{m}^2/\text{s}^{2}": "",
    r"\text{Gravity: } g_2 = m_2 g l_2 c_{12} \text{ N m} \label{eq:gravity} \tag{1}": "",
}  # fmt: skip


@pytest.mark.parametrize("text", BESIDE_FORMULAS)
def test_words_and_units_beside_a_formula_are_no_part_of_it(arm, text):
    verdict = dy.check_answer(arm, "gravity", text)
    assert verdict.findings[0].right, verdict.report()
    not_read = BESIDE_FORMULAS[text]
    assert verdict.notes == ((f"not read (line 1): {not_read}",) if not_read else ())
    assert all(note in verdict.report() for note in verdict.notes)


OF_Q1 = r"(m_2 (l_2^2 + a_1 l_2 c_2) + I_2) \ddot q_1"
REARRANGED = {  # equations of motion of joint 2, or of both; GRAVITY is its gravity torque
    "zero on the right": rf"{OF_Q1} + (m_2 l_2^2 + I_2) \ddot q_2 + m_2 a_1 l_2 s_2 \dot q_1^2 + GRAVITY - \tau_2 = 0",
    "zero on the left": rf"0 = \tau_2 - {OF_Q1} - (m_2 l_2^2 + I_2) \ddot q_2 - m_2 a_1 l_2 s_2 \dot q_1^2 - GRAVITY",
    "torque among terms": rf"(m_2 l_2^2 + I_2) \ddot q_2 = \tau_2 - {OF_Q1} - m_2 a_1 l_2 s_2 \dot q_1^2 - GRAVITY",
    "acceleration": rf"\ddot q_2 = \frac{{\tau_2 - {OF_Q1} - m_2 a_1 l_2 s_2 \dot q_1^2 - GRAVITY}}{{m_2 l_2^2 + I_2}}",
    "a common factor": rf"2 m_1 \tau_2 - 2 m_1 {OF_Q1} = 2 m_1 ((m_2 l_2^2 + I_2) \ddot q_2 + m_2 a_1 l_2 s_2 \dot q_1^2 + GRAVITY)",
    "vectors": rf"\begin{{bmatrix}} * \\ u_2 \end{{bmatrix}} = \begin{{bmatrix}} * \\ {OF_Q1} + (m_2 l_2^2 + I_2) \ddot q_2"
    r" + m_2 a_1 l_2 s_2 \dot q_1^2 + GRAVITY \end{bmatrix}",
}


@pytest.mark.parametrize("text", REARRANGED.values(), ids=REARRANGED)
def test_equations_of_motion_are_right_in_any_arrangement_and_wrong_ones_are_told_by_terms(arm, text):
    verdict = dy.check_answer(arm, "equations", text.replace("GRAVITY", "m_2 l_2 g c_{12}"))
    assert [(f.entry, f.right) for f in verdict.findings] == [("tau_2", True)], verdict.report()
    (slip,) = dy.check_answer(arm, "equations", text.replace("GRAVITY", "m_2 l_2 c_{12}")).wrong
    assert slip.entry == "tau_2"
    assert slip.cause.removesuffix(" (in the form tau_2 = …)") == "a missing factor: g in m_2*g*l_2*c12"


def test_equations_may_hold_several_torques(arm):
    backward = f"tau_1 = tau_2 + {arm.torque[0] - arm.torque[1]}"
    assert dy.check_answer(arm, "equations", backward).correct
    assert not dy.check_answer(arm, "equations", backward + " + m_1").correct
    (a, b), (_, c) = arm.M
    h, k = arm.coriolis_vector + arm.g
    solved = (
        f"ddq_1 = (({c})*(tau_1 - ({h})) - ({b})*(tau_2 - ({k})))/D; ddq_2 = (({a})*(tau_2 - ({k})) - ({b})*(tau_1 - ({h})))/D"
    )
    verdict = dy.check_answer(arm, "equations", f"{solved}; D = ({a})*({c}) - ({b})^2")
    assert verdict.correct, verdict.report()
    assert verdict.complete
    assert not dy.check_answer(arm, "equations", f"{solved}; D = ({a})*({c}) + ({b})^2").correct
    for text, why in {
        "tau_1^2 = m_1": "not linear in the torques",
        "tau_1 sin(q_1)^2 + tau_1 (cos(q_1)^2 - 1) = m_1": "cancel",
    }.items():
        with pytest.raises(dy.InputError, match=why):
            dy.check_answer(arm, "equations", text)


def test_a_right_partial_answer_is_right_and_says_what_was_not_given(arm):
    verdict = dy.check_answer(arm, "mass-matrix", r"M_{11} = " + arm.M[0, 0].latex())
    assert verdict.correct
    assert not verdict.complete
    assert verdict.absent == ("M_12", "M_22")
    assert "not given: M_12, M_22" in verdict.report()
    assert dy.check_answer(arm, "mass-matrix", str(arm.M)).complete


def test_half_of_a_symmetric_matrix_is_enough(arm):
    rows = [rf"M_{{{i + 1}{j + 1}}} = {arm.M[i, j].latex()}" for i, j in ((0, 0), (0, 1), (1, 1))]
    assert dy.check_answer(arm, "mass-matrix", "\n".join(rows)).correct


def test_an_entry_that_does_not_exist_is_wrong(arm):
    verdict = dy.check_answer(arm, "mass-matrix", r"M_{33} = m_2")
    assert "no such entry" in verdict.wrong[0].cause


def test_superfluous_rows_and_columns_are_one_finding(arm):
    verdict = dy.check_answer(arm, "mass-matrix", r"\begin{bmatrix} 1 & 2 & 3 \\ 2 & 1 & 0 \\ 3 & 0 & 1 \end{bmatrix}")
    assert [f.entry for f in verdict.wrong] == ["M_11", "M_12", "M_21", "M_22", "M_13, M_23, M_31, M_32, M_33"]
    assert "2 × 2" in verdict.wrong[-1].cause


def test_a_number_has_no_missing_factor(arm):
    verdict = dy.check_answer(arm, "mass-matrix", "M_{22} = 1")
    assert "factor" not in verdict.wrong[0].cause
    assert "missing" in verdict.wrong[0].cause


def test_answers_in_decimals_are_compared_with_a_tolerance():
    form = dy.load("scara").closed_form()
    rounded = f"M = {form.M.latex(digits=5)}"
    assert dy.check_answer(form, "mass-matrix", rounded, tolerance=1e-4).correct
    assert not dy.check_answer(form, "mass-matrix", rounded.replace("+", "-", 1), tolerance=1e-4).correct


def test_unknown_quantities_and_links_are_refused(arm):
    with pytest.raises(dy.NameLookupError, match="mass-matrix"):
        dy.check_answer(arm, "mass-matrx", "M_11 = 1")
    with pytest.raises(dy.InputError, match="give its number, from 1 to 2, by --link or body="):
        dy.check_answer(arm, "force", "f_1 = 1")
    with pytest.raises(dy.InputError, match="give its number"):
        dy.check_answer(arm, "force", "f_1 = 1", body=3)


def test_an_unreadable_answer_says_where_and_what_to_do(arm):
    with pytest.raises(dy.FormatError, match=r"answer\.tex:2:7.*To repair") as caught:
        dy.check_answer(arm, "gravity", "g_1 = 0\ng_2 = zz_9 c_1", file="answer.tex")
    assert "zz_9 c_1" in str(caught.value)


def test_an_answer_without_the_quantity_says_what_to_write(arm):
    with pytest.raises(dy.InputError, match=r"write g_\{1\} = …; found"):
        dy.check_answer(arm, "gravity", "M_11 = m_1\nC_11 = 0")


def test_powers_of_powers_are_refused_at_once(arm):
    with pytest.raises(dy.DynamisError, match=r"degree|power"):
        dy.check_answer(arm, "gravity", "g_2 = ((((m_1 + m_2)^9)^9)^9)^9")


def test_functions_outside_the_ring_are_compared_numerically_and_the_verdict_says_so(arm):
    (right,) = dy.check_answer(arm, "gravity", r"g_2 = m_2 g \sqrt{l_2^2} c_{12}").findings
    assert right.text() == "g_2: right at 20 random states (compared numerically)"
    (root,) = dy.check_answer(arm, "gravity", r"g_2 = m_2 g l_2 \sqrt{1 - \sin^2(q_1 + q_2)}").findings
    assert "an expression with sqrt cannot be compared term by term: write it as sums and products" in root.cause
    assert "q[" not in root.text()
    assert not dy.check_answer(arm, "potential-energy", r"U = \sqrt{1 - s_1^2}").correct
    both = dy.check_answer(arm, "gravity", r"g = [\sqrt{1 - s_1^2}; \sqrt{1 - s_{12}^2}]")
    assert [f.right for f in both.findings] == [False, False]


def test_a_function_that_agrees_for_positive_velocities_only_is_wrong(arm):
    (finding,) = dy.check_answer(arm, "coriolis-vector", r"c_2 = m_2 a_1 l_2 s_2 \dot q_1 |\dot q_1|").findings
    given, correct = re.search(r"your formula gives (\S+), the correct value is (\S+)", finding.example).groups()
    assert given != correct


def test_secant_cosecant_and_cotangent_are_read(arm):
    text = r"g_2 = \frac{m_2 g l_2}{\sec(q_1 + q_2)} = m_2 g l_2 \cot(q_1 + q_2) / \csc(q_1+q_2) = m_2 g l_2 \sec^2(q_1) c_1^2 c_{12}"
    assert dy.check_answer(arm, "gravity", text).correct


def test_numbers_are_corrected_as_the_answer_writes_them():
    form = dy.load("planar_2r_melchiorri").closed_form()
    (finding,) = dy.check_answer(form, "gravity", "g_1 = 736 c_1 + 245.25 c_12").findings
    assert finding.cause == "a coefficient: 736*c1 should be 735.75*c1"
    assert finding.correct == "735.75*c1 + 245.25*c12"
    assert finding.difference == "0.25*c1"
    (whole,) = dy.check_answer(form, "mass-matrix", "M_22 = 22").findings
    assert whole.cause == "the whole expression is 0.977778 times the correct value"


def test_fractions_and_decimals_of_a_symbolic_answer_stay_what_they_are(arm):
    for half in ("1/2", "0.5"):
        (finding,) = dy.check_answer(arm, "gravity", f"g_2 = m_2 g l_2 c_12 + {half} m_1").findings
        assert finding.cause == f"superfluous: {half}*m_1"


def test_of_several_masses_that_which_is_a_number_is_named():
    form = dy.load(RP_ARM.replace('m_1 = "symbol"', "m_1 = 2.0")).closed_form()
    with pytest.raises(dy.FormatError, match="m_1 is not a symbol of this robot: the mass of link 1 is a number"):
        dy.check_answer(form, "gravity", "g_1 = m_1 g l_1 c_1 + m_2 g q_2 c_1")


def test_a_parameter_that_is_a_number_is_said_with_its_value():
    form = dy.load("planar_2r_melchiorri").closed_form()
    for name, value in {"m_2": "50", "g": "9.81"}.items():
        with pytest.raises(dy.FormatError, match=rf"{name} is not a symbol of this robot: .*number.* write {value} in place"):
            dy.check_answer(form, "gravity", f"g_1 = {name} c_1")


@pytest.mark.parametrize("constant", ["U_0", "const", r"\text{const.}", r"\mathrm{const}"])
def test_a_free_constant_of_the_potential_energy_is_accepted(arm, constant):
    verdict = dy.check_answer(arm, "potential-energy", f"U = {arm.potential_energy} + {constant}")
    assert verdict.correct
    assert verdict.findings[0].note == "up to a constant (another datum)"
    assert not dy.check_answer(arm, "potential-energy", f"U = {arm.potential_energy} + {constant} c_1").correct
    with pytest.raises(dy.FormatError, match="no quantity named"):
        dy.check_answer(arm, "kinetic-energy", f"T = {arm.kinetic_energy} + {constant}")


def test_an_answer_in_whole_vectors_is_to_be_written_out(arm):
    with pytest.raises(dy.FormatError, match=r"has whole vectors .* write the answer out in the robot's symbols"):
        dy.check_answer(arm, "kinetic-energy", r"T = \frac12 \dot q^T M \dot q")


def test_another_datum_of_the_potential_energy_is_right_up_to_a_constant(arm):
    verdict = dy.check_answer(arm, "potential-energy", f"U = {arm.potential_energy} + (m_1 + m_2) g a_1")
    assert verdict.correct
    assert "correct up to a constant (another datum)" in verdict.report()
    assert "(m_1 + m_2)*g*a_1" in verdict.findings[0].difference
    assert not dy.check_answer(arm, "potential-energy", f"U = {arm.potential_energy} + m_1 g a_1 q_1").correct
    assert not dy.check_answer(arm, "kinetic-energy", f"T = {arm.kinetic_energy} + m_1 g a_1").correct
    one = dy.check_answer(arm, "potential-energy-of-link", f"U_1 = {arm.potential_energies[0]} - m_1 g l_1", body=1)
    assert one.correct


def test_the_vector_of_coriolis_torques_is_a_quantity_of_its_own(arm):
    right = "c_1 = -m_2 a_1 l_2 s_2 (2 dq1 dq2 + dq2^2)\nc_2 = m_2 a_1 l_2 s_2 dq1^2"
    assert dy.check_answer(arm, "coriolis-vector", right).correct
    assert dy.check_answer(arm, "coriolis-vector", r"C(q, \dot q) \dot q = " + arm.coriolis_vector.latex()).correct
    assert not dy.check_answer(arm, "coriolis-vector", right.replace("2 dq1 dq2", "dq1 dq2")).correct
    first_part = arm.M_dot @ [arm.algebra.of_node(v) for v in arm.v]
    slip = dy.check_answer(arm, "coriolis-vector", f"c_2 = {first_part[1]}").wrong[0]
    assert "first part" in slip.cause
    with pytest.raises(dy.InputError, match="checked as coriolis-vector"):
        dy.check_answer(arm, "coriolis", right)
    with pytest.raises(dy.InputError, match="matrix C is checked as coriolis"):
        dy.check_answer(arm, "coriolis-vector", str(arm.C))


COSINES = [  # of q_1 + q_2
    r"1 - 2 \sin^2\left(\frac{q_1 + q_2}{2}\right)",
    r"2 \cos^2((q_1 + q_2)/2) - 1",
    r"\frac{1 - \tan^2(\frac{q_1+q_2}{2})}{1 + \tan^2(\frac{q_1+q_2}{2})}",
    r"\cos(q_1/2 + q_2/2)^2 - \sin(q_1/2 + q_2/2)^2",
    r"\frac{\sin(2 q_1 + 2 q_2)}{2 \sin(q_1 + q_2)}",
    r"\cos(q_1 - q_2) - 2 \sin q_1 \sin q_2",
    r"4 \cos^3((q_1 + q_2)/3) - 3 \cos((q_1 + q_2)/3)",
    r"\cos(2 q_1 + q_2) \cos(q_1) + \sin(2 q_1 + q_2) \sin(q_1)",
    r"\sin(q_1 + q_2 + \pi/2)",
]


@pytest.mark.parametrize("cosine", COSINES)
def test_identities_of_sines_and_cosines_are_decided(arm, cosine):
    assert dy.check_answer(arm, "gravity", f"g_2 = m_2 g l_2 ({cosine})").correct
    assert not dy.check_answer(arm, "gravity", f"g_2 = m_2 g l_2 ({cosine}) + m_2 g l_2 \\sin^2(q_1/4)").correct


def test_a_half_angle_in_one_entry_leaves_the_others_in_whole_angles(arm):
    verdict = dy.check_answer(arm, "gravity", "g_1 = m_2 g l_2 s_12\ng_2 = m_2 g l_2 sin(q_1/2)^2")
    assert "/2" not in verdict.findings[0].text()
    assert verdict.findings[1].correct == str(arm.g[1])


def test_multiples_that_no_identity_relates_are_wrong_and_not_endless(arm):
    assert not dy.check_answer(arm, "gravity", "g_2 = m_2 g l_2 cos(1000000000 q_1)").correct
    assert not dy.check_answer(arm, "gravity", "g_2 = m_2 g l_2 cos(1.2345 q_1)").correct


@pytest.mark.parametrize(
    "name", ["mass_matrix", "mass-matrix", "Mass Matrix", "MASS_MATRIX", "inertia_matrix", "inertia-matrix", "M", "B", "D"]
)
def test_common_names_mean_the_inertia_matrix(arm, name):
    assert dy.check_answer(arm, name, str(arm.M)).quantity == "mass-matrix"


def test_common_names_mean_the_other_quantities(arm):
    meant = {"C": "coriolis", "coriolis_matrix": "coriolis", "c": "coriolis-vector", "g": "gravity", "gravity_vector": "gravity",
             "T": "kinetic-energy", "kinetic_energy": "kinetic-energy", "U": "potential-energy", "torque": "equations",
             "christoffel symbols": "christoffel", "Y": "regressor"}  # fmt: skip
    assert {name: quantity(arm, name).name for name in meant} == meant


def test_unicode_subscripts_are_indices(arm):
    assert dy.check_answer(arm, "gravity", "g₂ = m₂ g l₂ c₁₂").correct
    assert dy.check_answer(arm, "coriolis-vector", "c₁ = -m₂a₁l₂s₂(2θ̇₁θ̇₂ + θ̇₂²)").correct
    assert not dy.check_answer(arm, "gravity", "g₂ = m₁ g l₂ c₁₂").correct


@pytest.mark.parametrize(
    "mark", ["*", r"\ast", r"\cdot", r"\bullet", "•", r"\text{sym.}", r"\mathrm{sym.}", "sym", "sym.", r"\text{symm.}"]
)
def test_marks_below_the_diagonal_leave_an_entry_open(arm, mark):
    a, b, _, c = (x.latex() for x in arm.M.flat)
    for text in (
        rf"\begin{{bmatrix}} {a} & {b} \\ {mark} & {c} \end{{bmatrix}}",
        f"[{a}, {b}; {mark}, {c}]",
        f"[[{a}, {b}], [{mark}, {c}]]",
    ):
        verdict = dy.check_answer(arm, "mass-matrix", "M = " + text)
        assert verdict.correct
        assert verdict.complete
        assert len(verdict.findings) == 3


@pytest.mark.parametrize("parameters", [[1], "ab", {1: 2.0}])
def test_parameters_that_are_no_mapping_of_names_are_refused(parameters):
    with pytest.raises(dy.InputError, match="parameters must be a mapping of names"):
        dy.check_answer(dy.load("planar_2r").closed_form(), "mass-matrix", "M_22 = m_2 l_2^2 + I_2", parameters=parameters)
