r"""Regressors: Y is right if Y π = τ for some parameters π, in any order of the columns."""

import numpy as np
import pytest

import dynamis as dy


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r").closed_form()


def matrix(columns):
    return "Y = [" + "; ".join(", ".join(map(str, row)) for row in np.asarray(columns)) + "]"


@pytest.mark.parametrize("robot", ["planar_2r", "planar_prp", "planar_3r", "pendulum_from_vertical", "cartesian_2p"])
def test_regressors_are_right_in_any_order_of_their_columns(robot):
    form = dy.load(robot).closed_form()
    for Y, parameters in ((form.regressor, form.parameters), (form.base_regressor, form.base_parameters)):
        columns, names = np.asarray(Y), [str(x) for x in parameters.flat]
        for order in (range(len(names)), range(len(names))[::-1]):
            verdict = dy.check_answer(form, "regressor", matrix(columns[:, list(order)]))
            assert verdict.correct, verdict.report()
            assert verdict.complete
            assert not verdict.remark or verdict.remark.endswith(", ".join(names[k] for k in order))


def test_the_parameters_of_other_columns_are_named(arm):
    verdict = dy.check_answer(arm, "regressor", matrix(np.asarray(arm.base_regressor)[:, [1, 0, 3, 2]]))
    assert verdict.remark == (
        "Y π = τ: the columns are those of the base parameters m_1*l_1 + m_2*a_1, m_1*l_1^2 + I_1 + m_2*a_1^2, m_2*l_2, m_2*l_2^2 + I_2"
    )
    scaled = matrix(arm.base_regressor * 2)
    assert (
        dy.check_answer(arm, "regressor", scaled).remark
        == "Y π = τ holds for other parameters π than those by inspection (4 suffice)"
    )


@pytest.mark.parametrize("minimal", [False, True])
def test_a_wrong_entry_is_found_in_permuted_columns(arm, minimal):
    columns = np.asarray(arm.base_regressor if minimal else arm.regressor)[:, ::-1]
    text = matrix(columns).replace("g*c12", "g*c1", 1)
    (slip,) = dy.check_answer(arm, "regressor", text).wrong
    assert slip.entry == ("y_11" if minimal else "y_12")
    assert slip.cause == "an angle: c1 should be c12 in g*c12"


@pytest.mark.parametrize(("text", "cause"), [
    ("Y = [ddq_1, ddq_2; 0, ddq_1]", "column 1 is that of m_1*l_1^2 + I_1"),
    ("Y = [cos(q_1), q_1; 0, q_2]", "there are no parameters π, free of the state, with Y π = τ"),
])  # fmt: skip
def test_a_matrix_that_is_no_regressor_is_one_finding(arm, text, cause):
    (finding,) = dy.check_answer(arm, "regressor", text).findings
    assert finding.entry == "Y"
    assert cause in finding.cause


def test_a_missing_column_is_named(arm):
    (finding,) = dy.check_answer(arm, "regressor", matrix(np.asarray(arm.regressor)[:, :4])).findings
    assert finding.cause.endswith("with Y π = τ: no column is that of m_2*l_2^2 + I_2")


OTHER = """
Y = [ddq_1, 2 c_2 ddq_1 + c_2 ddq_2 - 2 s_2 dq_1 dq_2 - s_2 dq_2^2, ddq_2, g c_1, g c_12;
     0, c_2 ddq_1 + s_2 dq_1^2, ddq_1 + ddq_2, 0, g c_12]
"""  # of m_1 l_1² + m_2 (a_1² + l_2²) + I_1 + I_2, m_2 a_1 l_2, m_2 l_2² + I_2, m_1 l_1 + m_2 a_1, m_2 l_2


@pytest.mark.parametrize(
    ("mistake", "entry"),
    [(("+ s_2 dq_1^2", "- s_2 dq_1^2"), "y_22"), (("2 c_2", "c_2"), "y_12"), (("0, g c_12]", "0, g c_1]"), "y_25"),
     (("- s_2 dq_2^2", ""), "y_12")],
)  # fmt: skip
def test_one_wrong_entry_of_another_parametrisation_is_the_only_one(arm, mistake, entry):
    assert dy.check_answer(arm, "regressor", OTHER).correct
    assert OTHER.replace(*mistake) != OTHER
    verdict = dy.check_answer(arm, "regressor", OTHER.replace(*mistake))
    assert [x.entry for x in verdict.wrong] == [entry]
    assert len(verdict.findings) == 10
    assert "the other entries fit together: with another entry here" in verdict.report(hint=True)


def test_two_wrong_entries_of_another_parametrisation_are_no_regressor(arm):
    text = OTHER.replace("+ s_2 dq_1^2", "- s_2 dq_1^2").replace("g c_1,", "g c_2,")
    assert len(dy.check_answer(arm, "regressor", text).wrong) > 1


def test_masses_in_a_regressor_are_no_parameters(arm):
    assert not dy.check_answer(arm, "regressor", f"Y = [{arm.torque[0]}, 0; 0, {arm.torque[1]}]").correct


def test_the_product_with_the_parameters_of_the_answer_decides(arm):
    parameters = [str(x) for x in arm.base_parameters.flat]
    text = matrix(arm.base_regressor) + "; pi = [{}]"
    verdict = dy.check_answer(arm, "regressor", text.format(", ".join(parameters)))
    assert verdict.correct
    assert verdict.notes == ()
    (finding,) = dy.check_answer(arm, "regressor", text.format(", ".join(parameters).replace("m_1*l_1 ", "m_1*l_2 "))).findings
    assert finding.hint == "Y π differs from τ in row 1"
    (finding,) = dy.check_answer(arm, "regressor", text.format(", ".join(parameters[:3]))).findings
    assert finding.cause == "Y has 4 columns and π 3 entries"
