"""Boxes, labelled braces, degrees and tuples, as answers usually have them."""

import pytest

import dynamis as dy

BOTH = r"g_1 = (m_1 l_1 + m_2 a_1) g c_1 + m_2 g l_2 c_{12}", r"g_2 = m_2 g l_2 c_{12}"


@pytest.mark.parametrize(
    "text",
    [rf"\boxed{{{BOTH[1]}}}", rf"$$\boxed{{{BOTH[1]}}}$$.", rf"\boxed{{{BOTH[0]}}} \boxed{{{BOTH[1]}}}",
     rf"\boxed{{{BOTH[0]} \\ {BOTH[1]}}}", r"g_2 = \boxed{m_2 g l_2 c_{12}}", r"g_1 = g \boxed{(m_1 l_1 + m_2 a_1) c_1 + m_2 l_2 c_{12}}",
     r"g_2 = \underbrace{m_2 g l_2}_{G_2} c_{12}", r"g_2 = \underbrace{m_2}_{=m} g \overbrace{l_2}^{\text{length}} c_{12}",
     r"g_2 = \underbrace{m_2 g l_2 c_{12}}_{\text{weight of } l_{2}}", r"g_2 = g \underbrace{(m_2 l_2)}_{} c_{12}"],
)  # fmt: skip
def test_boxes_and_labels_of_braces_are_no_part_of_a_formula(arm, text):
    verdict = dy.check_answer(arm, "gravity", text)
    assert verdict.correct, verdict.report()
    assert not dy.check_answer(arm, "gravity", text.replace("l_2", "2 l_2", 1)).correct


@pytest.mark.parametrize(
    "angle", ["90°", r"90^\circ", r"90^{\circ}", "90^°", r"90\degree", "90 deg", r"90\,\mathrm{deg}", r"\ang{90}"]
)
def test_degrees_after_a_number_are_degrees(arm, angle):
    verdict = dy.check_answer(arm, "gravity", rf"g_2 = m_2 g l_2 \sin({angle} - q_1 - q_2)")
    assert verdict.correct, verdict.report()
    assert verdict.notes == ()
    assert not dy.check_answer(arm, "gravity", rf"g_2 = m_2 g l_2 \sin({angle.replace('9', '8')} - q_1 - q_2)").correct


@pytest.mark.parametrize(
    ("text", "said"),
    [(r"\sin(q_1°)", "after a number"), (r"\sin(q_1^\circ)", "after a number"), (r"\pm m_2", "two values"), ("± m_2", "two values"),
     (r"e^{m_2}", "write exp"), (r"\boxed{m_2", "not closed"), (r"\underbrace{m_2}_{m", "not closed"), (r"\SI{x}{m}", "without a number")],
)  # fmt: skip
def test_what_has_no_value_is_said(arm, text, said):
    with pytest.raises(dy.FormatError, match=said):
        dy.check_answer(arm, "gravity", f"g_2 = {text}")


@pytest.mark.parametrize(
    "text",
    [r"G(q) = (0, -m g l sin θ)^T", "g = (0, -m g l sin(theta))", r"g = \left(0,\ -mgl\sin\theta\right)^\top", r"(0, -m g l \sin\theta)^{T}"],
)  # fmt: skip
def test_a_tuple_is_a_vector(cart_pole, text):
    assert dy.check_answer(cart_pole, "gravity", text).correct
    assert not dy.check_answer(cart_pole, "gravity", text.replace("-m", "m")).correct


def test_cells_beside_one_that_says_symmetric_may_be_empty():
    arm = dy.load("planar_3r").closed_form()
    (a, b, c), (_, d, e), (_, _, f) = arm.M
    for sign in (r"\text{sym}", "*"):
        text = rf"M = \begin{{bmatrix}} {a} & {b} & {c} \\ {sign} & {d} & {e} \\ & & {f} \end{{bmatrix}}"
        verdict = dy.check_answer(arm, "mass-matrix", text)
        assert verdict.correct
        assert verdict.complete
    with pytest.raises(dy.FormatError, match="empty entry"):
        dy.check_answer(arm, "mass-matrix", text.replace(str(b), ""))
