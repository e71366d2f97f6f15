r"""Names of an answer's own: abbreviations, coordinates called by the names of their joints, time derivatives."""

import pytest

import dynamis as dy


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r").closed_form()


@pytest.mark.parametrize(
    "text",
    [
        r"c_2 = \cos(q_1 + q_2) \\ g_2 = m_2 g l_2 c_2",
        r"g_2 = m_2 g l_2 c_2, \quad c_2 = \cos(q_1 + q_2)",
        r"c_2 = l_2 \cos(q_1 + q_2) \\ g_2 = m_2 g c_2",
        r"\phi = q_1 + q_2 \\ s_{1} = \sin(\phi + \pi/2) \\ g_2 = m_2 g l_2 s_{1}",
        r"c_{12} = \cos(q_1 + q_2) = c_1 c_2 - s_1 s_2 \\ g_2 = m_2 g l_2 c_{12}",
    ],
)
def test_an_abbreviation_that_is_defined_replaces_the_sine_or_cosine_of_its_name(arm, text):
    verdict = dy.check_answer(arm, "gravity", text)
    assert verdict.correct, verdict.report()


def test_a_redefined_cosine_has_its_new_value_only(arm):
    assert not dy.check_answer(arm, "gravity", r"c_{12} = \cos(q_1) \\ g_2 = m_2 g l_2 c_{12}").correct


def test_entries_of_a_vector_c_leave_the_cosines_what_they_are(arm):
    text = r"c_1 = -m_2 a_1 l_2 s_2 (2 \dot q_1 \dot q_2 + \dot q_2^2) \\ c_2 = m_2 a_1 l_2 s_2 \dot q_1^2 \\ g_2 = m_2 g l_2 (c_1 c_2 - s_1 s_2)"
    assert dy.check_answer(arm, "coriolis-vector", text).correct
    assert dy.check_answer(arm, "gravity", text).correct
