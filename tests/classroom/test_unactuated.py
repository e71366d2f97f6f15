r"""Equations of motion of robots with passive joints: without torques, and with their accelerations eliminated."""

import pytest
from textbook_robots import CART_POLE

import dynamis as dy
from dynamis.classroom.checking.unactuated import Unactuated
from dynamis.symbolic.budget import BudgetSpent

IF = "if τ_2 = 0 (joint 2 not actuated)"
CART = r"\ddot q_1 = \frac{\tau_1 + m \sin q_2 (l \dot q_2^2 - g \cos q_2)}{M + m \sin^2 q_2}"
CART_F = r"\ddot x = \frac{F + m \sin\theta (l \dot\theta^2 - g \cos\theta)}{M + m \sin^2\theta}"
POLE_F = r"\ddot\theta = \frac{(M + m) g \sin\theta - \cos\theta (F + m l \dot\theta^2 \sin\theta)}{l (M + m \sin^2\theta)}"
LAGRANGE_1 = r"(M + m) \ddot x + m l \ddot\theta \cos\theta - m l \dot\theta^2 \sin\theta"
LAGRANGE_2 = r"m l \ddot x \cos\theta + m l^2 \ddot\theta - m g l \sin\theta"


@pytest.fixture(scope="module")
def cart_pole():
    return dy.load(CART_POLE).closed_form()


@pytest.fixture(scope="module")
def double():
    """Two pendulums on a cart."""
    link = '[[link]]\njoint = "phi"\ntype = "revolute"\naxis = [0, 1, 0]\nxyz = [0, 0, "l"]\nmass = "m"\ncom = [0, 0, "l"]'
    return dy.load(CART_POLE + link).closed_form()


RIGHT = {  # each with the findings: right with this note
    "solved": (CART, {"tau_1": IF}),
    "set to zero first": (rf"\tau_2 = 0 \\ {CART}", {"tau_1": IF}),
    "set to zero last": (rf"{CART} \\ \tau_2 = 0", {"tau_1": IF}),
    "solved for the force": (
        r"F = (M + m \sin^2\theta) \ddot x - m \sin\theta (l \dot\theta^2 - g \cos\theta)", {"tau_1": IF}),
    "the other acceleration eliminated": (POLE_F, {"tau_1": IF}),
    "the other acceleration eliminated, with a number": (POLE_F.replace("F", r"\tau_1"), {"tau_1": IF}),
    "the other acceleration eliminated, declared": (rf"{POLE_F}, \tau_2 = 0", {"tau_1": IF}),
    "the other acceleration eliminated, multiplied": (
        r"l (M + m \sin^2\theta) \ddot\theta = (M + m) g \sin\theta - \cos\theta (F + m l \dot\theta^2 \sin\theta)",
        {"tau_1": IF}),
    "the other acceleration eliminated, divided": (
        r"\ddot\theta = \frac{g \sin\theta + \cos\theta \frac{-F - m l \dot\theta^2 \sin\theta}{M + m}}"
        r"{l (1 - \frac{m \cos^2\theta}{m + M})}", {"tau_1": IF}),
    "both solved": (rf"{CART_F} \\ {POLE_F}", {"tau_1": IF, "tau_2": IF}),
    "zero on the right": (f"{LAGRANGE_2} = 0", {"tau_2": IF}),
    "zero on the left": (f"0 = {LAGRANGE_2}", {"tau_2": IF}),
    "divided": (r"\ddot x \cos\theta + l \ddot\theta = g \sin\theta", {"tau_2": IF}),
    "acceleration": (r"\ddot\theta = (g \sin\theta - \ddot x \cos\theta)/l", {"tau_2": IF}),
    "twice": (rf"{LAGRANGE_2} = 0 \\ \ddot\theta = (g \sin\theta - \ddot x \cos\theta)/l", {"tau_2": IF}),
    "both": (rf"{LAGRANGE_1} = F \\ {LAGRANGE_2} = 0", {"tau_1": "", "tau_2": IF}),
    "both, the other first": (rf"{LAGRANGE_2} = 0 \\ {LAGRANGE_1} = F", {"tau_1": "", "tau_2": IF}),
    "both, as vectors": (
        rf"\begin{{bmatrix}} F \\ 0 \end{{bmatrix}} = \begin{{bmatrix}} {LAGRANGE_1} \\ {LAGRANGE_2} \end{{bmatrix}}",
        {"tau_1": "", "tau_2": IF}),
    "both, after the vector of torques": (
        rf"\tau = \begin{{bmatrix}} F \\ 0 \end{{bmatrix}} \\ {LAGRANGE_1} = F \\ {LAGRANGE_2} = 0", {"tau_1": "", "tau_2": IF}),
    "own torque, set to zero": (rf"{LAGRANGE_2} = \tau_2 \\ \tau_2 = 0", {"tau_2": ""}),
}  # fmt: skip


@pytest.mark.parametrize(("text", "findings"), RIGHT.values(), ids=RIGHT)
def test_equations_of_passive_joints_are_right_if_their_torques_vanish(cart_pole, text, findings):
    verdict = dy.check_answer(cart_pole, "equations", text)
    assert verdict.correct, verdict.report()
    assert {f.entry: f.note for f in verdict.findings} == findings
    assert not dy.check_answer(cart_pole, "equations", text.replace("g ", "2 g ")).correct


WRONG = {  # what is replaced in POLE_F, and the cause
    "sign of the rate": (("F + m", "F - m"), "the sign of a product: m*l*s2*q_2'^2 should be -m*l*s2*q_2'^2"),
    "factor 2": (("g ", "2 g "), "a factor 2: 2*M*g*s2/c2 should be M*g*s2/c2"),
    "missing mass": (("(M + m) g", "M g"), "missing: m*g*s2/c2"),
    "missing rate": ((r" + m l \dot\theta^2 \sin\theta", ""), "missing: -m*l*s2*q_2'^2"),
    "missing length": (("{l (M", "{(M"), "a missing factor: l in m*l*s2^2*q_2''/c2"),
    "cosine for sine": ((r"m \sin^2", r"m \cos^2"), "sine and cosine exchanged: c2^2 should be s2^2 in m*l*s2^2*q_2''/c2"),
    "sign of the force": ((r"- \cos", r"+ \cos"), "the sign of s2^2/c2"),
}


@pytest.mark.parametrize(("slip", "cause"), WRONG.values(), ids=WRONG)
def test_a_wrong_equation_with_the_other_acceleration_eliminated_stays_wrong(cart_pole, slip, cause):
    (finding,) = dy.check_answer(cart_pole, "equations", POLE_F.replace(*slip)).wrong
    assert finding.cause.startswith(cause)
    assert finding.correct.endswith(IF)


def test_a_sum_of_equations_that_eliminates_no_acceleration_is_wrong(cart_pole):
    assert not dy.check_answer(cart_pole, "equations", rf"F = {LAGRANGE_1} + {LAGRANGE_2}").correct
    assert not dy.check_answer(cart_pole, "equations", rf"F = {LAGRANGE_1} + \cos\theta ({LAGRANGE_2})").correct


def test_the_verdict_says_which_joint_is_not_actuated(cart_pole):
    assert f"tau_1: right {IF}" in dy.check_answer(cart_pole, "equations", CART).report()
    declared = dy.check_answer(cart_pole, "equations", rf"{LAGRANGE_1} = \tau_1 \\ \tau_2 = 0")
    assert declared.notes == ("joint 2 is taken as not actuated: τ_2 = 0",)
    assert declared.absent == ("tau_2",)


def test_a_wrong_equation_is_compared_with_that_of_the_same_accelerations(cart_pole):
    (slip,) = dy.check_answer(cart_pole, "equations", CART.replace("l \\dot", "\\dot")).wrong
    assert slip.cause == "a missing factor: l in m*l*s2*q_2'^2 (in the form tau_1 = …)"
    assert slip.correct.endswith(IF)
    (slip,) = dy.check_answer(cart_pole, "equations", r"\ddot x \cos\theta + l \ddot\theta + g \sin\theta = 0").wrong
    assert (slip.entry, slip.cause) == ("tau_2", "the sign of a product: m*g*l*s2 should be -m*g*l*s2 (in the form 0 = …)")


def test_a_forgotten_acceleration_is_a_missing_term():
    arm = dy.load("planar_2r").closed_form()
    text = r"\tau_2 = (m_2 l_2^2 + I_2)\ddot q_2 + m_2 g l_2 c_{12}"
    (slip,) = dy.check_answer(arm, "equations", text).wrong
    assert slip.cause == "missing terms: m_2*(l_2^2*q_1'' + a_1*l_2*(c2*q_1'' + s2*q_1'^2)) + I_2*q_1''"
    assert "not actuated" not in slip.correct


def test_a_torque_of_zero_alone_is_an_answer(cart_pole):
    assert [f.entry for f in dy.check_answer(cart_pole, "equations", r"\tau_2 = 0").wrong] == ["tau_2"]


def test_a_sum_of_two_equations_is_not_that_of_one_joint():
    arm = dy.load("planar_2r").closed_form()
    assert not dy.check_answer(arm, "equations", f"tau_1 = {arm.torque[0] + arm.torque[1]}").correct


@pytest.mark.parametrize("letter", [r"\tau", "u"])
def test_the_only_torque_needs_no_number(letter):
    acrobot = dy.load("planar_2r").closed_form()
    first, second = acrobot.torque
    verdict = dy.check_answer(acrobot, "equations", f"{first} = 0; {second} = {letter}")
    assert [f.note for f in verdict.findings] == [IF.replace("2", "1"), ""]
    assert verdict.correct
    assert not dy.check_answer(acrobot, "equations", f"{first} = 0; {second} + a_2 = {letter}").correct


def test_an_equation_without_torque_beside_those_of_all_joints_is_refused():
    arm = dy.load("planar_2r").closed_form()
    both = f"tau_1 = {arm.torque[0]}; tau_2 = {arm.torque[1]}"
    with pytest.raises(dy.InputError, match="no torque in this equation, and every joint has an equation of its own"):
        dy.check_answer(arm, "equations", f"{both}; ddq_1 + ddq_2 = 0")


def test_decimals_of_a_passive_joint_are_right_to_their_digits():
    form = dy.load("scara").closed_form()
    (finding,) = dy.check_answer(form, "equations", f"{form.torque[0].latex(digits=4)} = 0").findings
    assert finding.text() == "tau_1: right if τ_1 = 0 (joint 1 not actuated) to the digits given"


def test_an_identity_is_no_equation_of_motion(cart_pole):
    named = rf"\ddot x = \ddot q_1 \\ {LAGRANGE_1} = F"
    assert [f.entry for f in dy.check_answer(cart_pole, "equations", named).findings] == ["tau_1"]
    with pytest.raises(dy.InputError, match="both sides of this equation are equal"):
        dy.check_answer(cart_pole, "equations", r"m (\ddot x + \ddot\theta) = m \ddot x + m \ddot\theta")


def test_several_joints_may_be_passive(double):
    force, *passive = (str(x) for x in double.torque)
    verdict = dy.check_answer(double, "equations", f"{force} = F; {passive[0]} = 0; 2*({passive[1]}) = 0")
    assert verdict.correct, verdict.report()
    assert [f.note for f in verdict.findings] == ["", IF, IF.replace("2", "3")]
    swapped = dy.check_answer(double, "equations", f"{passive[1]} = 0; {passive[0]} = 0")
    assert [f.entry for f in swapped.findings] == ["tau_2", "tau_3"]
    (a, b), (_, c) = double.M[1:, 1:]
    row, h = double.M[0], double.coriolis_vector + double.g
    u, v = [double.M[k, 0] * double.algebra.of_node(double.a[0]) + h[k] for k in (1, 2)]
    det = a * c - b * b
    x, y = (b * v - c * u) / det, (b * u - a * v) / det
    eliminated = row[0] * double.algebra.of_node(double.a[0]) + row[1] * x + row[2] * y + h[0]
    (finding,) = dy.check_answer(double, "equations", f"F = {eliminated}").findings
    assert finding.note == "if τ_2 = τ_3 = 0 (joints 2 and 3 not actuated)"


def test_two_accelerations_may_be_eliminated_by_two_passive_joints(double):
    """The force by the acceleration of the first pendulum alone."""
    rows = list(double.torque)
    for joint in (0, 2):  # q̈_1 and q̈_3, by the equations of the pendulums
        a, pivot = double.a[joint], rows.pop()
        rows = [row - row.diff(a) / pivot.diff(a) * pivot for row in rows]
    (finding,) = dy.check_answer(double, "equations", f"F = {rows[0]}").findings
    assert finding.note == "if τ_2 = τ_3 = 0 (joints 2 and 3 not actuated)"
    assert not dy.check_answer(double, "equations", f"F = {rows[0]} + m*g").correct


def test_a_sign_is_told_with_the_form_in_which_the_equation_was_compared(cart_pole):
    solved = r"\ddot x = \frac{F + m l \sin\theta \dot\theta^2 + m g \sin\theta \cos\theta}{M + m \sin^2\theta}"
    (slip,) = dy.check_answer(cart_pole, "equations", solved).wrong
    assert slip.cause == "the sign of c2*s2: -m*g*c2*s2 should be m*g*c2*s2 (in the form tau_1 = …)"
    assert slip.hint.endswith("(in the form tau_1 = …)")
    assert slip.correct.startswith("tau_1 = M*q_1''")


def test_an_equation_with_its_torque_alone_on_one_side_needs_no_other_form(cart_pole):
    for text in (rf"F = {LAGRANGE_1} + 2 m g", rf"{LAGRANGE_1} + 2 m g = F"):
        (slip,) = dy.check_answer(cart_pole, "equations", text).wrong
        assert slip.cause == "superfluous: 2*m*g"
        assert "=" not in slip.correct


FREE_HAND = (  # the equation of the third joint
    r"(I_3+m_3l_3^2)\ddot q_3+(I_3+m_3(l_3^2+a_2l_3c_3))\ddot q_2+(I_3+m_3(l_3^2+a_2l_3c_3+a_1l_3c_{23}))\ddot q_1"
    r"+m_3l_3(a_2s_3(\dot q_1+\dot q_2)^2 SIGN a_1s_{23}\dot q_1^2)+m_3gl_3c_{123}"
)


@pytest.mark.parametrize("solved", [False, True])
def test_a_wrong_equation_whose_eliminations_are_too_long_to_expand_gets_a_verdict(solved):
    form = dy.load("planar_3r").closed_form()
    text = (
        r"\ddot q_3 = -\frac{" + FREE_HAND.partition("+(")[2].join(("(", r"}{I_3+m_3l_3^2}")) if solved else f"0 = {FREE_HAND}"
    )
    assert dy.check_answer(form, "equations", text.replace("SIGN", "+")).correct
    (wrong,) = dy.check_answer(form, "equations", text.replace("SIGN", "-")).wrong
    assert wrong.hint == "the sign of a product in -m_3*a_1*l_3*s23*q_1'^2 (in the form 0 = …)"


def test_an_elimination_too_long_to_expand_is_compared_by_its_values(double, monkeypatch):
    def too_long(*_):
        raise BudgetSpent("too long")

    a, pivot, cart = double.a[1], double.torque[1], double.torque[0]
    text = f"F = {cart - cart.diff(a) / pivot.diff(a) * pivot}"
    monkeypatch.setattr(Unactuated, "_reduced", too_long)
    assert dy.check_answer(double, "equations", text).findings[0].note == IF
    assert not dy.check_answer(double, "equations", f"{text} + m*g").correct


@pytest.mark.parametrize("torques", ["", r"\tau_1"])
def test_equations_of_an_arm_without_any_torque_are_not_complete(torques):
    arm = dy.load("planar_2r").closed_form()
    text = "\n".join(str(x).rpartition("=")[0] + "= 0" for x in arm.equations).replace("= 0", f"= {torques or 0}", 1)
    verdict = dy.check_answer(arm, "equations", text)
    assert verdict.correct
    assert verdict.complete is bool(torques)
    assert verdict.absent == (() if torques else ("tau_1", "tau_2"))
    assert ("not given: tau_1, tau_2" in verdict.report()) is not verdict.complete


def test_joints_that_an_answer_calls_not_actuated_miss_no_torque():
    arm = dy.load("planar_2r").closed_form()
    text = "\n".join(str(x).rpartition("=")[0] + "= 0" for x in arm.equations)
    assert dy.check_answer(arm, "equations", text + "\ntau_1 = 0\ntau_2 = 0").complete


def test_an_equation_without_torques_is_compared_by_its_right_side():
    arm = dy.load("planar_2r").closed_form()
    text = str(arm.equations[1]).rpartition("=")[0] + "= 0"
    (finding,) = dy.check_answer(arm, "equations", text.replace("c12", "c1")).findings
    assert "the right side of your equation 0 = … is" in finding.example
    assert "the correct value" not in finding.example
