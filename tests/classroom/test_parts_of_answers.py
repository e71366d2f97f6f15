"""Energies of single links, definitions and labels: which part of an answer is compared with what."""

import pytest

import dynamis as dy

T_1 = r"T_1 = \frac12(m_1 l_1^2+I_1)\dot q_1^2"
T_2 = (
    r"T_2 = \frac12 m_2(a_1^2\dot q_1^2 + l_2^2(\dot q_1+\dot q_2)^2+2a_1l_2c_2\dot q_1(\dot q_1+\dot q_2))"
    r"+\frac12 I_2(\dot q_1+\dot q_2)^2"
)
U_12 = ["U_1 = m_1 g l_1 s_1", "U_2 = m_2 g (a_1 s_1 + l_2 s_12)"]


@pytest.mark.parametrize(
    ("name", "parts", "total"),
    [("kinetic-energy", [T_1, T_2], "T = T_1 + T_2"), ("potential-energy", U_12, "U = U_1 + U_2"),
     ("kinetic-energy", [x.replace("T_", "K_") for x in (T_1, T_2)], "K = K_1 + K_2")],
)  # fmt: skip
def test_an_energy_may_be_the_sum_of_those_of_the_links(arm, name, parts, total):
    assert dy.check_answer(arm, name, "\n".join([*parts, total])).correct
    assert not dy.check_answer(arm, name, "\n".join([*parts, total.replace("+", "-")])).correct
    assert dy.check_answer(arm, f"{name}-of-link", "\n".join([*parts, total]), body=2).correct


@pytest.mark.parametrize(
    ("name", "parts", "said"),
    [("kinetic-energy", [T_1, T_2], "T is taken as T_1 + T_2"), ("potential-energy", U_12, "U is taken as U_1 + U_2")],
)
def test_energies_of_the_links_alone_are_added(arm, name, parts, said):
    verdict = dy.check_answer(arm, name, "\n".join(parts))
    assert verdict.correct
    assert verdict.notes == (said,)
    wrong = dy.check_answer(arm, name, "\n".join([parts[0], parts[1].replace("m_2", "m_1", 1)]))
    assert "m_1 should be m_2" in wrong.wrong[0].cause
    part = dy.check_answer(arm, name, parts[1])
    assert part.correct
    assert [*part.absent] == [said[0] + "_1"]


@pytest.mark.parametrize(
    ("name", "text", "absent"),
    [
        ("kinetic-energy", T_1, "T_2"),
        ("potential-energy", U_12[1], "U_1"),
        ("potential-energy", U_12[1] + " + U_0", "U_1"),
    ],
)
def test_the_energy_of_one_link_is_a_part_of_an_answer(arm, name, text, absent):
    verdict = dy.check_answer(arm, name, text)
    assert verdict.correct, verdict.report()
    assert verdict.absent == (absent,)


def test_the_energy_of_one_link_is_wrong_for_another_one(arm):
    verdict = dy.check_answer(arm, "potential-energy", U_12[1].replace("U_2", "U_1"))
    assert [x.entry for x in verdict.wrong] == ["U_1"]
    with pytest.raises(dy.InputError, match="found U, which is the one of link 1"):
        dy.check_answer(arm, "potential-energy-of-link", U_12[0], body=2)


@pytest.mark.parametrize("name", ["U_1", "U_{tot}", "E_p", "X"])
def test_an_energy_of_the_robot_may_have_another_name(arm, name):
    parts = " + ".join(x.partition("=")[2] for x in U_12)
    assert dy.check_answer(arm, "potential-energy", f"{name} = {parts}").correct


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("kinetic-energy", "h = -m_2 a_1 l_2 s_2", "h"),
        ("potential-energy", "y_2 = a_1 s_1 + l_2 s_{12}", "y"),
        ("kinetic-energy", "M_{22} = m_2 l_2^2 + I_2, h = m_2 a_1 l_2 s_2, g_2 = m_2 g l_2 c_{12}", "h"),
        ("coriolis", r"N = [0, h (2 \dot q_1 + \dot q_2); -h (2 \dot q_1 + \dot q_2), 0], h = m_2 a_1 l_2 s_2", "N"),
    ],
)
def test_a_definition_is_no_answer_to_the_question(arm, name, text, found):
    with pytest.raises(dy.InputError, match=f"no entry of the {name}: write .* found .*{found}"):
        dy.check_answer(arm, name, text)


def test_a_jacobian_is_that_of_the_link_in_its_name(arm):
    first, second = (
        "J_1 = [-l_1 s_1, 0; l_1 c_1, 0]",
        "J_2 = [-a_1 s_1 - l_2 s_{12}, -l_2 s_{12}; a_1 c_1 + l_2 c_{12}, l_2 c_{12}]",
    )
    assert dy.check_answer(arm, "jacobian-of-link", first, body=1).correct
    assert dy.check_answer(arm, "jacobian-of-link", f"{first}\n{second}", body=2).correct
    with pytest.raises(dy.InputError, match="found J1, which is the one of link 1"):
        dy.check_answer(arm, "jacobian-of-link", first, body=2)
