"""What is said of an answer that is wrong or incomplete: cause, hint, shape, and which entries are right."""

import re

import pytest
from campaign_params import few_of

import dynamis as dy
from dynamis.classroom.checking import names
from dynamis.classroom.checking.quantities import is_of_link, quantity
from dynamis.symbolic.formulas import Formulas


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r").closed_form()


SLIPS = {
    "sign": (r"g_2 = -m_2 g l_2 c_{12}", "sign error"),
    "sign of one term": (r"g_1 = (m_1 l_1 - m_2 a_1) g c_1 + m_2 g l_2 c_{12}", "the sign of a product"),
    "sine for cosine": (r"g_2 = m_2 g l_2 s_{12}", "sine and cosine exchanged"),
    "angle": (r"g_2 = m_2 g l_2 c_1", "an angle: c1 should be c12"),
    "index": (r"g_2 = m_1 g l_2 c_{12}", "an index: m_1 should be m_2"),
    "symbol": (r"g_2 = m_2 g a_2 c_{12}", "a_2 should be l_2"),
    "factor": (r"g_2 = 2 m_2 g l_2 c_{12}", "a factor 2"),
    "number": (r"g_2 = 3 m_2 g l_2 c_{12}", "a coefficient"),
    "missing factor": (r"g_2 = m_2 l_2 c_{12}", "a missing factor: g"),
    "extra factor": (r"g_2 = m_2 g l_2 a_1 c_{12}", "a factor too many: a_1"),
    "missing term": (r"g_1 = m_1 g l_1 c_1 + m_2 g l_2 c_{12}", "missing: m_2*g*a_1*c1"),
    "extra term": (r"g_2 = m_2 g l_2 c_{12} + m_1", "superfluous: m_1"),
    "nothing": (r"g_2 = 0", "missing: m_2*g*l_2*c12"),
    "addition theorem": (
        r"g_2 = m_2 g l_2 (c_1 c_2 + s_1 s_2)", "the sign of s1*s2: m_2*g*l_2*s1*s2 should be -m_2*g*l_2*s1*s2"),
    "half an addition theorem": (
        r"g_1 = (m_1 l_1 + m_2 a_1) g c_1 + m_2 g l_2 c_1 c_2", "missing: -m_2*g*l_2*s1*s2"),
    "sine in an addition theorem": (
        r"g_2 = m_2 g l_2 (s_1 c_2 - s_1 s_2)", "sine and cosine exchanged: s1 should be c1 in m_2*g*l_2*c1*c2"),
    "sine of a sum": (r"g_2 = m_2 g l_2 (s_1 c_2 + c_1 s_2)", "sine and cosine exchanged: s12 should be c12"),
    "chain": (
        r"g_2 = m_2 g l_2 c_{12} = m_2 g l_2 (c_1 c_2 + s_1 s_2)",
        "the expressions set equal differ: m_2 g l_2 c_{12} is right, m_2 g l_2 (c_1 c_2 + s_1 s_2) is not: the sign of s1*s2"),
    "chain of matrices": (
        "g = [*; m_2 g l_2 s_12] = [*; m_2 g l_2 c_12]", "m_2 g l_2 c_12 is right, m_2 g l_2 s_12 is not: sine and cosine"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "cause"), SLIPS.values(), ids=SLIPS)
def test_usual_slips_are_named(arm, text, cause):
    (finding,) = dy.check_answer(arm, "gravity", text).findings
    assert not finding.right
    assert cause in finding.cause


def test_the_example_shows_the_difference(arm):
    (finding,) = dy.check_answer(arm, "gravity", r"g_2 = m_2 g l_2 s_{12}").findings
    said = re.fullmatch(r"at q_1 = \S+, q_2 = .*: your formula gives (\S+), the correct value is (\S+)", finding.example)
    assert said, finding.example
    assert abs(float(said[1]) - float(said[2])) > 1e-3


def test_a_factor_of_the_whole_is_said_once(arm):
    verdict = dy.check_answer(arm, "mass-matrix", f"M = 2 {arm.M.latex()}")
    assert verdict.report().count("½") == 1
    assert "all 4 wrong entries are twice the correct value: a factor ½ is missing" in verdict.remark
    (energy,) = dy.check_answer(arm, "kinetic-energy", f"T = 2 ({arm.kinetic_energy})").findings
    assert energy.cause == "the whole expression is twice the correct value: a factor ½ is missing"


M_11 = "m_1*l_1^2 + I_1 + m_2*(a_1^2 + l_2^2 + 2*a_1*l_2*c2) + I_2"
CONCEPTS = {
    "Steiner's term of link 2": ("M", "M_22 = I_2", "parallel-axis (Steiner) term of link 2 is missing: m_2*l_2^2"),
    "Steiner's term of a moved link": ("M", "M_11 = m_1*l_1^2 + I_1 + I_2", "parallel-axis (Steiner) term of link 2"),
    "relative angular velocity": ("M", f"M_11 = {M_11} - I_2", "link 2 is q_1' + q_2', not q_2' alone"),
    "relative angular velocity beside the diagonal": ("M", "M_12 = m_2*(l_2^2 + a_1*l_2*c2)", "link 2 is q_1' + q_2'"),
    "relative velocities throughout": (
        "T",
        "T = 1/2 (m_1 l_1^2 + I_1) dq1^2 + 1/2 m_2 (a_1^2 dq1^2 + l_2^2 dq2^2 + 2 a_1 l_2 c_2 dq1 dq2) + 1/2 I_2 dq2^2",
        "link 2 is q_1' + q_2', not q_2' alone",
    ),
    "relative velocities throughout the matrix": ("M", "M_11 = m_1 l_1^2 + I_1 + m_2 a_1^2", "link 2 is q_1' + q_2'"),
    "one length for another": (
        "M", f"M_11 = {M_11.replace('a_1', 'l_1')}", "l_1 should be a_1 in m_2*(a_1^2 + 2*a_1*l_2*c2)"),
    "two lengths exchanged": (
        "M", "M_11 = m_1*a_1^2 + I_1 + m_2*(l_1^2 + l_2^2 + 2*l_1*l_2*c2) + I_2", "exchanged symbols: a_1 and l_1"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "cause"), CONCEPTS.values(), ids=CONCEPTS)
def test_slips_of_concept_are_named(arm, name, text, cause):
    (finding,) = dy.check_answer(arm, name, text).findings
    assert not finding.right
    assert cause in finding.cause


def test_hints_name_the_cause_and_not_the_solution(arm):
    # a hint quotes the answer's own term, which with a wrong number contains the right one
    slips = [text for slip, (text, _) in SLIPS.items() if slip not in ("factor", "number")]
    answers = [("gravity", text) for text in slips] + [(name, text) for name, text, _ in CONCEPTS.values()]
    for name, text in answers:
        verdict = dy.check_answer(arm, name, text)
        (finding,) = verdict.findings
        for said in (verdict.report(hint=True), str(verdict.without_solution())):
            assert finding.correct not in said
            assert finding.example not in said
            assert finding.hint
            assert finding.hint[1:] in said
    sine = dy.check_answer(arm, "gravity", "g_2 = m_2 g l_2 s_12")
    assert sine.findings[0].hint == "sine and cosine exchanged: look at s12 in m_2*g*l_2*s12"
    nothing = dy.check_answer(arm, "gravity", "g_2 = 0")
    assert "m_2" not in nothing.report(hint=True)


SMALL = [
    "cartesian_2p", "motor_with_load", "pendulum_from_horizontal", "pendulum_from_vertical", "planar_2r",
    "planar_2r_melchiorri", "planar_3r", "planar_prp",
]  # fmt: skip


@pytest.mark.parametrize("robot", few_of(SMALL, set(SMALL) - {"planar_3r"}))  # the longest formulas
def test_the_text_of_every_quantity_checks_as_correct(robot):
    form = dy.load(robot).closed_form()
    for name in names():
        body = form.n if is_of_link(name) else None
        asked = quantity(form, name, body)
        shape = tuple(max(k) + 1 for k in zip(*asked.entries, strict=True)) if () not in asked.entries else ()
        values = list(asked.entries.values())
        whole = Formulas.of(values, shape) if shape else values[0]
        texts = [f"{asked.letters[0]} = {whole.latex()}", whole.latex(), str(whole)] if len(shape) < 3 else []
        index = ["_{" + ",".join(str(k + 1) for k in i) + "}" if i else "" for i in asked.entries]
        texts.append("\n".join(f"{asked.letters[0]}{i} = {x}" for i, x in zip(index, values, strict=True)))
        for text in texts:
            verdict = dy.check_answer(form, name, text, body=body)
            assert verdict.correct, (name, text, verdict.report())
            assert verdict.complete


@pytest.mark.parametrize("text", ["1", "[1,2]", "[[1, 2]]", "M = 1", "M_1 = 1", "M_{111} = 1"])
@pytest.mark.parametrize("robot", ["planar_2r", "pendulum_from_vertical"])
def test_an_answer_of_another_shape_says_which_is_needed(robot, text):
    form = dy.load(robot).closed_form()
    if form.n == 1 and text in ("1", "M = 1", "M_1 = 1", "M_{111} = 1"):
        assert not dy.check_answer(form, "mass-matrix", text).correct
        return
    with pytest.raises(dy.InputError, match=r"mass-matrix is a . × . matrix, but the answer is a .*write M_\{11\}"):
        dy.check_answer(form, "mass-matrix", text)


def test_a_lone_bracketed_symbol_is_no_coriolis_matrix():
    form = dy.load("motor_with_load").closed_form()
    assert not dy.check_answer(form, "coriolis", r"\begin{bmatrix}\right I \end{bmatrix}").correct


@pytest.mark.parametrize("text", [r"\begin{bmatrix} • \quad \end{bmatrix}", "M = [*, *; *, *]"])
def test_a_matrix_whose_entries_are_all_left_open_is_no_answer(arm, text):
    with pytest.raises(dy.DynamisError, match="no answer in this text"):
        dy.check_answer(arm, "mass-matrix", text)


def test_numbers_beyond_floats_are_written(arm):
    (finding,) = dy.check_answer(arm, "equations", "tau_1 = 1e308 m_1 (1e3 q_1 + q_2) ").findings
    assert "e+311" in finding.difference


def test_a_robot_instead_of_its_closed_form_is_refused_with_the_remedy():
    with pytest.raises(dy.InputError, match=r"takes a closed form, such as robot\.closed_form\(\), got Robot"):
        dy.check_answer(dy.load("planar_2r"), "gravity", "g_1 = 0")


@pytest.mark.parametrize(
    ("asked", "text"),
    [("gravity", "M_12 = m_2"), ("coriolis", "M_12 = m_2"), ("mass-matrix", "g_1 = 0"), ("kinetic-energy", "U = 0")],
)
def test_an_entry_of_another_quantity_is_not_taken_for_the_one_that_is_asked(arm, asked, text):
    with pytest.raises(dy.InputError, match=rf"no entry of the {asked}: write .*; found {text[0]}, which is the "):
        dy.check_answer(arm, asked, text)


def test_dependent_equations_of_motion_determine_one_torque(arm):
    one, two = (str(x) for x in arm.torque)
    total = f"{one} + {two} = tau_1 + tau_2"
    twice = dy.check_answer(arm, "equations", f"{total}\n2*({one}) + 2*({two}) = 2*tau_1 + 2*tau_2")
    assert twice.correct
    assert not twice.complete
    assert [x.right for x in twice.findings] == [True]
    for second in (f"{one} + 0 = tau_1", f"{one} - ({two}) = tau_1 - tau_2"):
        assert dy.check_answer(arm, "equations", f"{total}\n{second}").complete
    assert not dy.check_answer(arm, "equations", f"{total}\n2*({one}) + 3*({two}) = 2*tau_1 + 2*tau_2").correct


@pytest.mark.parametrize(
    ("right", "summary"),
    [(0, "0 of 1 entries are right"), (1, "1 of 2 entries is right"), (2, "2 of 3 entries are right")],
)
def test_the_verb_agrees_with_the_number_of_right_entries(right, summary):
    form = dy.load("planar_3r").closed_form()
    text = "; ".join([*(f"g_{k + 1} = {form.g[k]}" for k in range(right)), f"g_{right + 1} = 2*({form.g[right]})"])
    assert dy.check_answer(form, "gravity", text).summary == summary


INVERSES = (r"\cos(\arcsin(\sin(q_1+q_2)))", r"\sin(\arccos(s_{12}))", r"\sqrt{\cos^2(q_1+q_2)}", r"\cos(\sqrt{(q_1+1)^2})")


@pytest.mark.parametrize("function", INVERSES)
@pytest.mark.parametrize(
    ("quantity", "entry"),
    [("gravity", "g_2"), ("equations", r"\tau_2"), ("potential-energy", "U"), ("equations", r"\tau_1 + \tau_2")],
)
def test_inverse_functions_get_a_verdict(arm, quantity, entry, function):
    verdict = dy.check_answer(arm, quantity, f"{entry} = m_2 g l_2 {function}")
    assert "cannot be compared term by term" in verdict.wrong[0].cause
    assert verdict.wrong[0].correct
    assert verdict.wrong[0].example


@pytest.mark.parametrize("function", [r"\cos(\arccos(c_{12}))", r"\sin(\arcsin(c_{12}))"])
def test_functions_and_their_inverses_cancel(arm, function):
    assert dy.check_answer(arm, "gravity", f"g_2 = m_2 g l_2 {function}").correct


@pytest.mark.parametrize(
    "text", [r"g_2 = m_2 g l_2 \cos q_1+q_2", "g_2 = m_2 g l_2 cos q_1 + q_2", "g_2 = m_2 g l_2 cos(q_1) - q_2"]
)
def test_missing_parentheses_of_an_argument_are_suspected(arm, text):
    (finding,) = dy.check_answer(arm, "gravity", text).wrong
    assert "are parentheses missing, as in cos(…" in finding.cause
    assert "are parentheses missing, as in cos(…" in finding.hint


def test_an_angle_of_a_spring_suggests_no_parentheses(arm):
    (finding,) = dy.check_answer(arm, "gravity", r"g_2 = m_2 g l_2 c_{12} + 3 m_2 q_2").wrong
    assert "parentheses" not in finding.cause


@pytest.mark.parametrize("text", ["", " ", "\n\n", "$ $"])
def test_nothing_is_pointed_at_in_an_empty_answer(arm, text):
    with pytest.raises(dy.FormatError, match="no answer in this text") as refused:
        dy.check_answer(arm, "gravity", text)
    assert ("^" in str(refused.value)) == bool(text.strip())
