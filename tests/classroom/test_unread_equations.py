r"""Equations of motion that cannot be read are named, and the verdict is not "correct"."""

import pytest

import dynamis as dy


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r").closed_form()


UNREAD = {  # the second equation of two, and why it is not compared
    "a torque without a number": (r"(m_2 l_2^2 + I_2) \ddot q_2 = \tau", r"\tau has no joint's number, and there are 2 joints"),
    "a zero torque without a number": (r"0 = \tau", r"\tau has no joint's number"),
    "a command without a number": (r"m_2 g l_2 c_{12} = u", "u has no joint's number"),
    "a name that is no torque": (r"m_2 \ddot q_2 = \tau_m", "taum is no torque of this robot"),
    "a generalised force": (r"m_2 g l_2 \cos(q_1 + q_2) = Q_2", "Q2 is no torque of this robot"),
    "a force of a revolute joint": (r"m_2 g l_2 \cos(q_1 + q_2) = F_2", "F2 is no torque of this robot"),
    "a sum": (r"\sum_i m_i \ddot q_2 = \tau_2", "derivatives or sums are not evaluated: write the equation out"),
    "Lagrange's equation": (
        r"\frac{d}{dt}\frac{\partial L}{\partial \dot q_2} - \frac{\partial L}{\partial q_2} = \tau_2", "are not evaluated"),
    "Lagrange's equation of a passive joint": (
        r"\frac{d}{dt}\frac{\partial L}{\partial \dot q_2} - \frac{\partial L}{\partial q_2} = 0", "are not evaluated"),
    "vectors": (r"M(q) \ddot q + C(q, \dot q) \dot q + g(q) = \tau", "whole vectors"),
}  # fmt: skip


@pytest.mark.parametrize(("equation", "why"), UNREAD.values(), ids=UNREAD)
def test_no_equation_of_motion_is_left_out_of_the_verdict(arm, equation, why):
    verdict = dy.check_answer(arm, "equations", rf"\tau_1 = {arm.torque[0].latex()} \\ {equation}")
    assert [f.right for f in verdict.findings] == [True]
    assert not verdict.correct
    (reason,) = verdict.unread
    assert reason.startswith(f"not read (line 1): {equation}: ")
    assert why in reason
    assert reason in verdict.report()
    assert verdict.summary == "1 of 1 entries is right, but 1 equation could not be read"


def test_a_step_of_a_derivation_is_no_loss_where_its_equation_follows(arm):
    lagrange = r"\frac{d}{dt}\frac{\partial L}{\partial \dot q_i} - \frac{\partial L}{\partial q_i} = \tau_i"
    both = rf"{lagrange} \\ \tau_1 = {arm.torque[0].latex()} \\ \tau_2 = {arm.torque[1].latex()}"
    assert dy.check_answer(arm, "equations", both).correct
    first = lagrange.replace("_i", "_1")
    assert dy.check_answer(arm, "equations", rf"{first} \\ \tau_1 = {arm.torque[0].latex()}").correct


def test_a_torque_given_under_two_letters_is_compared_twice(arm):
    text = rf"\tau_1 = {arm.torque[0].latex()} \\ u_1 = {arm.torque[0].latex()}"
    assert dy.check_answer(arm, "equations", text).correct
    assert not dy.check_answer(arm, "equations", f"{text} + m_1").correct


@pytest.mark.parametrize("equation", [r"m_2 g l_2 c_{12} = \tau", r"\tau = m_2 \ddot q_2", r"u = m_2 \ddot q_2", r"\tau = 0"])
def test_equations_without_a_number_alone_are_quoted(arm, equation):
    verdict = dy.check_answer(arm, "equations", equation)
    assert not verdict.correct
    assert verdict.findings == ()
    assert verdict.absent == ("tau_1", "tau_2")
    assert verdict.unread[0].startswith(f"not read (line 1): {equation}: ")
    assert verdict.summary == "nothing to compare: 1 equation could not be read"


SLIDE = '[[link]]\njoint = "{}"\ntype = "prismatic"\naxis = [{}]\nmass = "m"\n'
SLIDES = {"PR": [("x", "1, 0, 0")], "PPR": [("x", "1, 0, 0"), ("y", "0, 1, 0")]}


@pytest.fixture(params=SLIDES)
def wrist(request):
    head = '[robot]\ngravity = [0, "-g", 0]\n[parameters]\nm = "symbol"\nl = "symbol"\ng = "symbol"\n'
    slides = "".join(SLIDE.format(*x) for x in SLIDES[request.param])
    return dy.load(head + slides + '[[link]]\njoint = "theta"\nmass = "m"\ncom = ["l", 0, 0]\n').closed_form()


def test_tau_beside_forces_is_the_torque_of_the_only_revolute_joint(wrist):
    *forces, torque = map(str, wrist.torque)
    given = [f"F_{name} = {x}" for name, x in zip("xy", forces, strict=False)]
    for last in (rf"\tau = {torque}", rf"{torque} = \tau"):
        verdict = dy.check_answer(wrist, "equations", "\n".join([*given, last]))
        assert verdict.correct, verdict.report()
        assert verdict.complete
    wrong = dy.check_answer(wrist, "equations", "\n".join([*given, rf"\tau = {torque} + m"]))
    assert [x.entry for x in wrong.wrong] == [f"tau_{wrist.n}"]


def test_the_advice_names_the_joint_without_an_equation(wrist, arm):
    alone = dy.check_answer(wrist, "equations", rf"\tau = {wrist.torque[-1]}")
    assert alone.unread[0].endswith(rf"write … = \tau_{wrist.n}")
    second = dy.check_answer(arm, "equations", rf"\tau_1 = {arm.torque[0]}" + "\n" + rf"{arm.torque[1]} = \tau")
    assert second.unread[0].endswith(r"write … = \tau_2")


MATRICES = [
    r"M = [m_1 l_1^2 + I_1 + I_2 + m_2 (a_1^2 + l_2^2 + 2 a_1 l_2 c_2), m_2 (l_2^2 + a_1 l_2 c_2) + I_2; *, m_2 l_2^2 + I_2]",
    r"h = -m_2 a_1 l_2 s_2",
    r"g = [(m_1 l_1 + m_2 a_1) g c_1 + m_2 g l_2 c_{12}; m_2 g l_2 c_{12}]",
]
MATRIX = r"C = [h \dot q_2, h (\dot q_1 + \dot q_2); -h \dot q_1, 0]"
VECTOR = r"c = [h (2 \dot q_1 \dot q_2 + \dot q_2^2); -h \dot q_1^2]"


@pytest.mark.parametrize(
    ("coriolis", "equation", "right"),
    [
        (MATRIX, r"M \ddot q + C \dot q + g = \tau", True),
        (MATRIX, r"\tau = g(q) + M(q) \ddot q + C(q, \dot q) \dot q", True),
        (VECTOR, r"M(q) \ddot q + c(q, \dot q) + g(q) = \tau", True),
        (MATRIX, r"M \ddot q + g = \tau", False),
        (MATRIX.replace("h", "2 h", 1), r"M \ddot q + C \dot q + g = \tau", False),
    ],
)
def test_equations_are_assembled_from_the_matrices_of_an_answer(arm, coriolis, equation, right):
    verdict = dy.check_answer(arm, "equations", "\n".join([*MATRICES, coriolis, equation]))
    assert verdict.correct == right, verdict.report()
    assert verdict.complete
    assert verdict.unread == ()
    assert verdict.notes[0] == f"the equations are assembled from the matrices (line 5): {equation}"


@pytest.mark.parametrize(
    "equation", [r"M \ddot q + C \dot q - g = \tau", r"M \ddot q + C \dot q + g = \tau + J^T F", r"2 M \ddot q = \tau"]
)
def test_other_equations_of_matrices_are_not_read(arm, equation):
    verdict = dy.check_answer(arm, "equations", "\n".join([*MATRICES, MATRIX, equation]))
    assert verdict.findings == ()
    assert "whole vectors" in verdict.unread[0]


def test_a_matrix_equation_without_its_matrices_is_not_read(arm):
    verdict = dy.check_answer(arm, "equations", "\n".join([*MATRICES, r"M \ddot q + C \dot q + g = \tau"]))
    assert verdict.findings == ()
    assert len(verdict.unread) == 1
