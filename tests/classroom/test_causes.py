"""Probable causes: none that another entry contradicts, and numbers in place of symbols."""

import pytest
from textbook_robots import GEARED_PENDULUM

import dynamis as dy


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r").closed_form()


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("g_2 = 9.81 m_2 l_2 c_12", "9.81 stands for the symbol g: use g, or give the robot g=9.81 (--set g=9.81)"),
        (
            "g_1 = 9.8 (m_1 l_1 + m_2 a_1) c_1 + 9.8 m_2 l_2 c_12",
            "9.8 stands for the symbol g: use g, or give the robot g=9.8 (--set g=9.8)",
        ),
        (
            "g_1 = (m_1 l_1 + m_2 a_1) g c_1 + 10 m_2 l_2 c_12",
            "10 stands for the symbol g: use g, or give the robot g=10 (--set g=10)",
        ),
        (
            "g_2 = -9.81 m_2 l_2 c_12",
            "9.81 stands for the symbol g: use g, or give the robot g=9.81 (--set g=9.81); sign error: every term has the opposite sign",
        ),
        ("g_2 = 3 m_2 l_2 c_12", "a missing factor: g in m_2*g*l_2*c12"),
    ],
)
def test_a_number_in_place_of_g_is_named(arm, text, cause):
    (finding,) = dy.check_answer(arm, "gravity", text).findings
    assert finding.cause == cause


M_11 = "m_1 l_1^2 + I_1 + m_2 (a_1^2 + l_2^2 + 2 a_1 l_2 c_2)"
M_12 = "m_2 (l_2^2 + a_1 l_2 c_2)"
M_22 = "m_2 l_2^2 + I_2"


def test_a_cause_is_consistent_with_all_entries(arm):
    right = f"[{M_11} + I_2, {M_12}; {M_12}, {M_22}]"
    assert {f.cause for f in dy.check_answer(arm, "mass-matrix", right).wrong} == {"missing: I_2"}
    other_slip = f"[{M_11.replace('2 a_1', 'a_1')} + I_2, {M_12}; *, {M_22}]"
    assert dy.check_answer(arm, "mass-matrix", other_slip).wrong[1].cause == "missing: I_2"
    relative = f"[{M_11}, {M_12}; {M_12}, {M_22}]"
    assert all("link 2 is q_1' + q_2'" in f.cause for f in dy.check_answer(arm, "mass-matrix", relative).wrong)


def test_a_moment_of_inertia_that_no_entry_has_is_missing(arm):
    forgotten = f"[{M_11}, {M_12}; {M_12}, m_2 l_2^2]"
    assert {f.cause for f in dy.check_answer(arm, "mass-matrix", forgotten).wrong} == {"missing: I_2"}


def test_a_value_at_zero_is_named(arm):
    form = dy.load("planar_2r_melchiorri").closed_form()
    causes = [f.hint for f in dy.check_answer(form, "mass-matrix", [[145, 47.5], [47.5, 22.5]]).wrong]
    assert causes == ["this is the value at q = 0; the entry is a function of q"] * 3
    (wrong,) = dy.check_answer(arm, "gravity", "g_2 = m_2 g l_2").wrong
    assert wrong.hint == "a cosine is missing in m_2*g*l_2"


@pytest.mark.parametrize(("angle", "named"), [
    (r"q_1\pi/180+q_2\pi/180", True), (r"\frac{\pi (q_1 + q_2)}{180}", True), (r"q_1 + q_2\pi/180", False),
])  # fmt: skip
def test_angles_in_degrees_are_named(arm, angle, named):
    (wrong,) = dy.check_answer(arm, "gravity", rf"g_2 = m_2 g l_2 \cos({angle})").wrong
    assert wrong.hint.startswith("degrees: the joint angles are in radians") == named


def test_a_mistake_throughout_would_have_changed_every_entry(arm):
    absolute = "m_2 a_1 l_2 c_2"
    alone, beside = (
        dy.check_answer(arm, "mass-matrix", t) for t in (f"M_12 = {absolute}", f"M_12 = {absolute}; M_11 = {M_11} + I_2")
    )
    assert "link 2 is q_1' + q_2'" in alone.wrong[0].cause
    assert "link 2 is" not in beside.wrong[0].cause


def test_a_missing_product_of_rates_is_no_relative_angular_velocity(arm):
    energy = f"T = {arm.kinetic_energy} - I_2 dq1 dq2"
    assert dy.check_answer(arm, "kinetic-energy", energy).wrong[0].cause == "missing: I_2*q_1'*q_2'"


BASE = ["m_1 l_1^2 + I_1 + m_2 a_1^2", "m_2 l_2^2 + I_2", "m_2 l_2", "m_1 l_1 + m_2 a_1"]
LINEAR = "the equations of motion are linear in them"


@pytest.mark.parametrize(
    ("parameters", "kind"),
    [
        (BASE, "another (minimal) parametrisation"),
        ([BASE[0], BASE[1], f"2 a_1 {BASE[2]}", f"g ({BASE[3]})"], "another (minimal) parametrisation"),
        (["m_1 l_1", "m_1 l_1^2", "I_1", "m_2", "m_2 l_2", "m_2 l_2^2", "I_2"], "another parametrisation (4 suffice)"),
    ],
)
def test_any_parameters_in_which_the_equations_are_linear_are_right(arm, parameters, kind):
    verdict = dy.check_answer(arm, "parameters", f"pi = [{', '.join(parameters)}]")
    assert verdict.correct
    assert verdict.complete
    assert verdict.remark == f"these are {kind}: {LINEAR}"
    assert verdict.remark in verdict.report(hint=True)


def test_the_order_of_parameters_does_not_matter(arm):
    inspected = [str(x) for x in arm.parameters]
    for parameters in (inspected, inspected[::-1]):
        assert dy.check_answer(arm, "parameters", f"pi = [{', '.join(parameters)}]").correct
    assert dy.check_answer(arm, "parameters", f"pi_1 = {BASE[3]}").absent == ("pi_2", "pi_3", "pi_4")


def test_wrong_parameters_are_compared_with_those_that_the_answer_means(arm):
    for text in (BASE[1].replace("l_2^2", "l_2"), "m_2 l_2^2 + q_1"):
        (slip,) = dy.check_answer(arm, "parameters", f"pi = [{BASE[0]}, {text}, {BASE[2]}, {BASE[3]}]").wrong
        assert (slip.entry, slip.correct) == ("pi_2", "m_2*l_2^2 + I_2")


SUMMED = "m_1 l_1^2 + I_1 + m_2 a_1^2 + I_2 + m_2 l_2^2"
SETS = {
    "regrouped": [SUMMED, "m_2 l_2", "I_2 + m_2 l_2^2", "m_1 l_1 + m_2 a_1"],
    "scaled": [SUMMED, "m_2 a_1 l_2", "I_2 + m_2 l_2^2", "g (m_1 l_1 + m_2 a_1)"],
    "in another order": [BASE[3], BASE[0], BASE[2], BASE[1]],
    "not minimal": ["m_1 l_1", "m_1 l_1^2", "m_2", "m_2 l_2", "m_2 l_2^2 + I_2", "I_1"],
}
SLIPS = [  # the set, the entry, and what is replaced in it
    ("regrouped", 0, ("a_1^2", "a_1")), ("regrouped", 1, ("m_2 l_2", "m_2 l_1")), ("regrouped", 2, ("l_2^2", "l_2")),
    ("regrouped", 3, ("m_2 a_1", "m_2 l_1")), ("scaled", 0, ("a_1^2", "a_1")), ("scaled", 1, ("m_2", "m_1")),
    ("scaled", 2, ("l_2^2", "l_2")), ("scaled", 3, ("m_2 a_1", "m_1 a_1")), ("in another order", 0, (" + m_2 a_1", "")),
    ("in another order", 1, (" + m_2 a_1^2", "")), ("in another order", 2, ("m_2", "m_1")), ("in another order", 3, (" + I_2", "")),
    ("not minimal", 0, ("l_1", "l_2")), ("not minimal", 2, ("m_2", "m_1")), ("not minimal", 3, ("l_2", "l_1")),
    ("not minimal", 4, ("m_2 l_2^2 + ", "")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "k", "slip"), SLIPS)
def test_the_wrong_one_of_several_parameters_is_named(arm, name, k, slip):
    parameters = SETS[name]
    assert dy.check_answer(arm, "parameters", f"pi = [{', '.join(parameters)}]").correct
    wrong = [*parameters[:k], parameters[k].replace(*slip), *parameters[k + 1 :]]
    verdict = dy.check_answer(arm, "parameters", f"pi = [{', '.join(wrong)}]")
    assert [f.entry for f in verdict.wrong] == [f"pi_{k + 1}"], verdict.report()
    corrected = [*wrong[:k], verdict.wrong[0].correct, *wrong[k + 1 :]]
    assert dy.check_answer(arm, "parameters", f"pi = [{', '.join(corrected)}]").correct


def test_parameters_of_which_either_may_be_wrong_are_both_named(arm):
    verdict = dy.check_answer(arm, "parameters", f"pi = [{SUMMED}, m_2 l_2, I_2 + m_2 l_2^2, 2 m_2 l_2]")
    assert [f.entry for f in verdict.wrong] == ["pi_2", "pi_4"]
    assert verdict.remark == "one of pi_2 and pi_4 is wrong: with another value of either these are a parametrisation"


def test_parameters_that_lack_one_are_right_as_far_as_given(arm):
    verdict = dy.check_answer(arm, "parameters", f"pi_1 = {SUMMED}, pi_2 = m_2 l_2, pi_3 = I_2 + m_2 l_2^2")
    assert verdict.correct
    assert verdict.absent == ("pi_4",)


SHORT = "m_1 l_1^2 + I_1, m_2 l_2^2 + I_2, m_2 l_2, m_1 l_1"


@pytest.mark.parametrize("text", [rf"\pi = [{SHORT}]", f"[{SHORT}]", SHORT.split(", ")])
def test_a_whole_vector_of_too_few_parameters_is_wrong(arm, text):
    verdict = dy.check_answer(arm, "parameters", text)
    (wrong,) = verdict.wrong
    assert [f.right for f in verdict.findings] == [True] * 4 + [False]
    assert wrong.entry == "pi"
    assert wrong.cause.endswith("these 4 parameters, which cannot represent m_2*(a_1^2*q_1'' + g*a_1*c1) in tau_1")
    assert "m_2" not in wrong.hint
    assert verdict.absent == ()


def test_the_terms_of_base_parameters_that_are_missing_are_named(arm):
    (wrong,) = dy.check_answer(arm, "parameters", f"pi = [{BASE[0]}, {BASE[1]}, {BASE[2]}]").wrong
    assert wrong.cause.endswith("these 3 parameters, which cannot represent (m_1*l_1 + m_2*a_1)*g*c1 in tau_1")


def test_parameters_given_one_by_one_may_be_a_part(arm):
    singly = ", ".join(rf"\pi_{k + 1} = {x}" for k, x in enumerate(SHORT.split(", ")))
    assert dy.check_answer(arm, "parameters", singly).correct
    assert dy.check_answer(arm, "parameters", rf"\pi = [{SHORT}], \pi_5 = m_2").correct


PAN_AND_TILT = """
[robot]
gravity = [0, 0, "-g"]
[parameters]
g = "symbol"
m = "symbol"
l = "symbol"
[[link]]
type = "revolute"
axis = [0, 0, 1]
[[link]]
type = "revolute"
axis = [0, 1, 0]
mass = "m"
com = ["l", 0, 0]
"""
DOUBLED = {  # M_11 = m l² cos² q_2, c_1 = -m l² sin(2 q_2) q̇_1 q̇_2
    "double for a square": ("mass-matrix", r"M_{11} = m l^2 \cos 2 q_2", "cos(2*q_2) should be cos(q_2)^2"),
    "single for a double": ("mass-matrix", r"M_{11} = m l^2 (1 + \cos q_2)/2", "cos(q_2) should be cos(2*q_2)"),
    "square for a double": ("coriolis-vector", r"c_1 = -m l^2 \sin^2 q_2 \dot q_1 \dot q_2", "sin(q_2)^2 should be sin(2*q_2)"),
    "beside other terms": (
        "equations", r"\tau_1 = m l^2 (\cos 2 q_2 \ddot q_1 - \sin 2 q_2 \dot q_1 \dot q_2)", "cos(2*q_2) should be cos(q_2)^2"),
}  # fmt: skip


@pytest.mark.parametrize(("quantity", "text", "cause"), DOUBLED.values(), ids=DOUBLED)
def test_a_double_angle_for_another_function_of_the_angle_is_named(quantity, text, cause):
    (wrong,) = dy.check_answer(dy.load(PAN_AND_TILT).closed_form(), quantity, text).wrong
    assert wrong.cause == f"a double angle: {cause}"
    assert wrong.hint == f"a double angle: look at {cause.split(' ')[0]}"


@pytest.mark.parametrize(
    ("function", "cause"),
    [
        (r"\cos(2 (q_1 + q_2))", "a double angle: cos(2*(q_1 + q_2)) should be cos(q_1 + q_2)"),
        (r"\cos^2(q_1 + q_2)", "a power: c12^2 should be c12 in m_2*g*l_2*c12"),
    ],
)
def test_a_double_angle_is_no_power(arm, function, cause):
    assert dy.check_answer(arm, "gravity", f"g_2 = m_2 g l_2 {function}").wrong[0].cause == cause


def matrix(M, places):
    return f"[{M[places[0]]}, {M[places[1]]}; {M[places[2]]}, {M[places[3]]}]"


def test_entries_in_the_places_of_others_are_named(arm):
    M, C, g = arm.M, arm.C, arm.g
    J = arm.linear_jacobians[1]
    answers = {
        "entries 1 and 2 are exchanged": ("gravity", f"g = [{g[1]}, {g[0]}]"),
        "equations 1 and 2 are exchanged": ("equations", rf"\tau_1 = {arm.torque[1]} \\ \tau_2 = {arm.torque[0]}"),
        "rows and columns 1 and 2 are exchanged": ("mass-matrix", f"M = {matrix(M, [(1, 1), (1, 0), (0, 1), (0, 0)])}"),
        "rows 1 and 2 are exchanged": ("mass-matrix", f"M = {matrix(M, [(1, 0), (1, 1), (0, 0), (0, 1)])}"),
        "the matrix is transposed: rows and columns are exchanged": (
            "coriolis", f"C = {matrix(C, [(0, 0), (1, 0), (0, 1), (1, 1)])}"),
        "columns 1 and 2 are exchanged": (
            "jacobian-of-link", f"J = [{'; '.join(f'{J[k, 1]}, {J[k, 0]}' for k in range(3))}]"),
        "the parameters of links 1 and 2 are exchanged": (
            "gravity", "g = [(m_2 l_2 + m_1 a_1) g c_1 + m_1 g l_1 c_12, m_1 g l_1 c_12]"),
    }  # fmt: skip
    for cause, (quantity, text) in answers.items():
        verdict = dy.check_answer(arm, quantity, text, body=2 if quantity.endswith("link") else None)
        assert {f.cause for f in verdict.wrong} == {cause}
        assert {f.hint for f in verdict.wrong} == {cause}


@pytest.mark.parametrize(
    "text", ["g_1 = m_2 g l_2 c_12", "g = [m_2 g l_2 c_12, (m_1 l_1 + m_2 a_1) g c_1]", "g = [0, 0]", "g_2 = m_1 g l_1 c_12"]
)
def test_what_is_no_exchange_is_not_called_one(arm, text):
    assert not any("are exchanged" in f.cause for f in dy.check_answer(arm, "gravity", text).wrong)


def test_a_mistake_in_several_terms_comes_before_others(arm):
    text = (
        r"\tau_2 = (m_2 l_2^2 + I_2) (\ddot q_1 + \dot q_2) + m_2 a_1 l_2 (c_2 \ddot q_1 + 2 s_2 \dot q_1^2) + m_2 g l_2 c_12"
    )
    cause = dy.check_answer(arm, "equations", text).wrong[0].cause
    assert [part.partition(" in ")[0] for part in cause.split("; ")[:2]] == ["a symbol: q_2' should be q_2''"] * 2
    assert cause.split("; ")[2].startswith("a factor 2: ")


def test_terms_with_nothing_in_common_replace_no_other(arm):
    (wrong,) = dy.check_answer(arm, "gravity", "g_2 = q_1").wrong
    assert wrong.cause.startswith("missing: m_2*g*l_2*c12; superfluous: q_1")
    (alike,) = dy.check_answer(arm, "mass-matrix", "M_22 = m_2 l_2^2 + I_1").wrong
    assert alike.cause == "an index: I_1 should be I_2 in I_2"


def test_the_cause_of_all_wrong_entries_stands_above_them(arm):
    report = dy.check_answer(arm, "gravity", "g = [-(m_1 l_1 + m_2 a_1) g c_1 - m_2 g l_2 c_12, -m_2 g l_2 c_12]").report()
    assert report.splitlines()[0] == "sign error: every wrong entry has the opposite sign"


def test_parameters_are_right_with_the_lengths_and_ratios_that_they_lack_in_the_regressor(arm):
    geared = dy.load(GEARED_PENDULUM).closed_form()
    verdict = dy.check_answer(geared, "parameters", "pi = [I + m l^2, J, m l]")
    assert verdict.correct
    assert verdict.remark == f"these are another parametrisation (2 suffice): {LINEAR}, with known n"
    verdict = dy.check_answer(arm, "parameters", "pi = [m_1, I_1, m_2, I_2]")
    assert verdict.correct
    assert verdict.remark == f"these are another (minimal) parametrisation: {LINEAR}, with known a_1, l_1, l_2"
    for wrong in ("[m_1, m_2, I_2]", "[m_1, I_1 + m_1 l_1, m_2, I_2]", "[a_1, l_1, l_2, m_1]"):
        assert not dy.check_answer(arm, "parameters", f"pi = {wrong}").correct


def test_a_gear_ratio_in_a_regressor_is_no_parameter():
    geared = dy.load(GEARED_PENDULUM).closed_form()
    assert dy.check_answer(geared, "regressor", "Y = [ddq, n^2 ddq, g sin(q)]").correct
    assert not dy.check_answer(geared, "regressor", "Y = [ddq, J n^2 ddq, g sin(q)]").correct


@pytest.mark.parametrize(("text", "difference", "cause"), [
    ("M = I + m l^2 + J/n^2", "(J*(1 - n)*(1 + n)*(1 + n^2))/(n^2)", "a power: 1/n^2 should be n^2 in J*n^2"),
    ("M = m l^2 + I/g + J n^2", "(I*(1 - g))/(g)", "a factor too many: 1/g beside I"),
    ("M = I + m/l + J n^2", "(m*(1 - l)*(1 + l + l^2))/(l)", "a power: 1/l should be l^2 in m*l^2"),
    ("M = (I + m l^2 + J n^2)/(m + J)", "((1 - m - J)*(m*l^2 + I + J*n^2))/(m + J)", "a divisor too many: m + J"),
    ("M = (I + m l^2)/(m + J) + J n^2", "((m*l^2 + I)*(1 - m - J))/(m + J)", None),
])  # fmt: skip
def test_differences_and_causes_are_those_of_the_entries_not_of_their_numerators(text, difference, cause):
    (finding,) = dy.check_answer(dy.load(GEARED_PENDULUM).closed_form(), "mass-matrix", text).wrong
    assert finding.difference == difference
    assert finding.cause == cause or (cause is None and finding.cause.endswith(" (over the denominator m + J)"))


@pytest.mark.parametrize(("text", "values"), [
    ("M_22 = m_2 l_2^2 + I_2 + 1e15 m_1", "your formula gives 2.6e+15, the correct value is 11.747"),
    ("M_22 = 1e-15 m_2 l_2^2", "your formula gives 9.747e-15, the correct value is 11.747"),
    ("M_22 = m_2 l_2^2 cos(pi/2)", "your formula gives 0, the correct value is 11.747"),
])  # fmt: skip
def test_values_beside_much_larger_ones_are_not_taken_for_zero(arm, text, values):
    (finding,) = dy.check_answer(arm, "mass-matrix", text).wrong
    assert finding.example.endswith(values)


@pytest.mark.parametrize(("text", "cause"), [
    ("M_22 = m_2 l_2^2 + 0.99999999 I_2", "a coefficient: 0.99999999*I_2 should be I_2"),
    ("M_22 = 0.99999999 (m_2 l_2^2 + I_2)", "the whole expression is 0.99999999 times the correct value"),
])  # fmt: skip
def test_coefficients_are_written_with_the_digits_in_which_they_differ(arm, text, cause):
    (finding,) = dy.check_answer(arm, "mass-matrix", text).wrong
    assert finding.cause == cause


@pytest.mark.parametrize(("number", "hint"), [
    ("1", "the whole expression is a multiple of the correct value"),
    ("20", "the whole expression is a multiple of the correct value"),
    ("45", "the whole expression is twice the correct value: a factor ½ is missing"),
    ("22.5 * 180/pi", "the whole expression is 180/π times the correct value"),
    ("-22.5", "sign error: every term has the opposite sign"),
])  # fmt: skip
def test_a_hint_names_a_usual_factor_alone(number, hint):
    form = dy.load("planar_2r_melchiorri").closed_form()
    (finding,) = dy.check_answer(form, "mass-matrix", f"M_22 = {number}").wrong
    assert finding.hint == hint
    both = dy.check_answer(form, "gravity", "g_1 = 654 c_1 + 218 c_12, g_2 = 218 c_12").report(hint=True)  # 8/9 of it
    assert "8/9" not in both


@pytest.mark.parametrize("text", ["M_22 = (m_1 + m_2 + l_1 + l_2)^{64}", "M_22 = (m_1 + m_2 + l_1)^{60}"])
def test_differences_of_very_many_terms_are_not_listed(arm, text):
    (finding,) = dy.check_answer(arm, "mass-matrix", text).wrong
    assert finding.difference == ""
    assert finding.cause.endswith("is too long to be compared term by term: cancel its quotients and its large powers")


def test_an_answer_too_long_to_be_expanded_is_refused_with_advice(arm):
    with pytest.raises(dy.InputError, match=r"more than 20000 terms: shorten the answer"):
        dy.check_answer(arm, "equations", r"\ddot q_1 = \tau_1/(m_1 + m_2 + l_1 + l_2)^{50}")


def test_an_entry_set_equal_to_a_wrong_expression_is_not_a_multiple():
    arm = dy.load("planar_2r").closed_form()
    verdict = dy.check_answer(arm, "gravity", "\n".join(f"g_{k} = {x}\ng_{k} = {x} + m_1" for k, x in enumerate(arm.g, 1)))
    assert len(verdict.wrong) == 2
    assert not any("1 times" in text for text in (verdict.remark, *(f.cause for f in verdict.wrong)))


def test_the_opposite_sign_of_every_term_is_named_of_rounded_numbers():
    form = dy.load("puma560").closed_form()
    (wrong,) = dy.check_answer(form, "gravity", f"g_2 = -({form.g[1]})").wrong
    assert wrong.cause == "sign error: every term has the opposite sign"
