"""Jacobians of a link: of the centre of mass, of the angular velocity, and both in six rows."""

import pytest

import dynamis as dy

LINEAR = r"-a_1 s_1 - l_2 s_{12}, -l_2 s_{12}; a_1 c_1 + l_2 c_{12}, l_2 c_{12}; 0, 0"
ANGULAR = r"0, 0; 0, 0; 1, 1"
RIGHT = {
    "J_O": f"J_O = [{ANGULAR}]",
    "its link as an index": f"J_{{O2}} = [{ANGULAR}]",
    "its link as a superscript": r"J_O^{(2)} = \begin{bmatrix} 0 & 0 \\ 0 & 0 \\ 1 & 1 \end{bmatrix}",
    "Siciliano": f"J_O^{{(l_2)}} = [{ANGULAR}]",
    "omega": rf"J_\omega = [{ANGULAR}]",
    "omega and its link": rf"J_{{\omega 2}} = [{ANGULAR}]",
    "beside that of another link": f"J_{{O1}} = [0, 0; 0, 0; 1, 0], J_{{O2}} = [{ANGULAR}]",
    "six rows": f"J = [{LINEAR}; {ANGULAR}]",
    "six rows of a link": f"J_2 = [{LINEAR}; {ANGULAR}]",
    "two matrices": f"J_P = [{LINEAR}], J_O = [{ANGULAR}]",
    "two matrices of links": f"J_{{P1}} = [0, 0; 0, 0; 0, 0], J_{{P2}} = [{LINEAR}], J_{{O2}} = [{ANGULAR}]",
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_the_angular_jacobian_is_compared_alone_or_below_that_of_the_centre_of_mass(arm, text):
    verdict = dy.check_answer(arm, "jacobian-of-link", text, body=2)
    assert verdict.correct, verdict.report()
    assert verdict.complete


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_one_wrong_entry_is_the_only_one(arm, text):
    wrong = text[::-1].replace("1", "2", 1)[::-1]
    verdict = dy.check_answer(arm, "jacobian-of-link", wrong.replace("O1} = [0, 0; 0, 0; 2", "O1} = [0, 0; 0, 0; 1"), body=2)
    assert [x.entry[-2:] for x in verdict.wrong] == ["62" if len(verdict.findings) > 6 else "32"]


@pytest.mark.parametrize(
    "text",
    [f"J_O = [{LINEAR}]", f"J = [{ANGULAR}]", f"J_P = [{ANGULAR}]", f"J = [{ANGULAR}; {LINEAR}]", rf"J_\omega = [{LINEAR}]"],
)
def test_the_two_jacobians_are_not_exchanged(arm, text):
    assert not dy.check_answer(arm, "jacobian-of-link", text, body=2).correct


def test_a_matrix_of_another_letter_beside_them_is_noted(arm):
    verdict = dy.check_answer(arm, "jacobian-of-link", f"Z = [{LINEAR}] \\\\ J_O = [{ANGULAR}]", body=2)
    assert verdict.correct
    assert any("not checked (line 1): -a_1 s_1" in note for note in verdict.notes)


def test_an_angular_jacobian_of_another_link_is_named(arm):
    with pytest.raises(dy.InputError, match="found JO1, which is the one of link 1"):
        dy.check_answer(arm, "jacobian-of-link", "J_{O1} = [0, 0; 0, 0; 1, 0]", body=2)


def test_the_letter_of_the_notation_is_that_of_the_angular_jacobian(arm):
    text = f"J_A^{{(2)}} = [{ANGULAR}]"
    assert dy.check_answer(arm, "jacobian-of-link", text, body=2, notation="tzafestas").correct
    assert not dy.check_answer(arm, "jacobian-of-link", text, body=2).correct


def test_columns_of_a_single_joint_are_stacked():
    form = dy.load("pendulum_from_vertical").closed_form()
    text = "J_P = [L cos(q); L sin(q); 0], J_O = [0; 0; 1]"
    assert dy.check_answer(form, "jacobian-of-link", text, body=1).correct
    assert not dy.check_answer(form, "jacobian-of-link", text.replace("1]", "2]"), body=1).correct
