"""Finite sums with numbers as bounds are written out; others are steps of derivations."""

import pytest

import dynamis as dy

HEIGHTS = r"y_1 = l_1 s_1, y_2 = a_1 s_1 + l_2 s_{12}"
SPEEDS = (
    r"v_{c1} = l_1\dot q_1, v_{c2}^2 = a_1^2\dot q_1^2 + l_2^2(\dot q_1+\dot q_2)^2 + 2a_1l_2c_2\dot q_1(\dot q_1+\dot q_2)"
    r", \omega_1 = \dot q_1, \omega_2 = \dot q_1 + \dot q_2"
)
SUMS = {  # quantity, answer, and a replacement that makes it wrong
    "heights": ("potential-energy", rf"U = \sum_{{i=1}}^2 m_i g y_i, {HEIGHTS}", ("m_i", "m_1")),
    "bounds above and below": ("potential-energy", rf"U = g\sum\limits_{{i=1}}^{{2}} m_i y_i, {HEIGHTS}", ("l_1 s_1", "l_2 s_1")),
    "entries": ("potential-energy", r"U = \sum_{i=1}^2 U_i, U_1 = m_1 g l_1 s_1, U_2 = m_2 g (a_1 s_1 + l_2 s_{12})", ("m_2 g", "m_1 g")),
    "two factors": ("kinetic-energy", rf"T = \sum_{{i=1}}^2 \left(\frac12 m_i v_{{ci}}^2 + \frac12 I_i \omega_i^2\right), {SPEEDS}", ("I_i", "I_1")),
    "two sums": ("kinetic-energy", r"T = \frac12\sum_{i=1}^2\sum_{j=1}^2 M_{ij}\dot q_i\dot q_j, M = MATRIX", (r"\dot q_j", r"\dot q_i")),
}  # fmt: skip


@pytest.mark.parametrize(("quantity", "text", "mistake"), SUMS.values(), ids=SUMS)
def test_sums_with_numbers_as_bounds_are_written_out(arm, quantity, text, mistake):
    text = text.replace("MATRIX", arm.M.latex())
    verdict = dy.check_answer(arm, quantity, text)
    assert verdict.correct, verdict.report()
    assert text.replace(*mistake) != text
    assert not dy.check_answer(arm, quantity, text.replace(*mistake)).correct


@pytest.mark.parametrize(
    "step",
    [
        r"T = \sum_{i=1}^2 \frac12 m_i v_i^2 + \frac12 I_i \omega_i^2 \\ T =",  # v_i is not the rate of joint i here
        r"T = \sum_{i=1}^2 \left(\frac12 m_i v_{ci}^2 + \frac12 I_i \omega_i^2\right) =",
        r"K = \sum_{i=1}^2 K_i \\ T =",
        r"h_{ij} = \sum_{k=1}^2 c_{ijk} \dot q_k \\ T =",
    ],
)
def test_a_sum_beside_its_result_is_a_step(arm, step):
    verdict = dy.check_answer(arm, "kinetic-energy", f"{step} {arm.kinetic_energy.latex()}")
    assert verdict.correct, verdict.report()


def test_a_sum_with_a_letter_as_bound_is_named(arm):
    with pytest.raises(dy.InputError, match=r"found y; sums are read with numbers as bounds, as in \\sum_\{i=1\}\^2 m_i"):
        dy.check_answer(arm, "potential-energy", rf"U = \sum_{{i=1}}^n m_i g y_i, {HEIGHTS}")
