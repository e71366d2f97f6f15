"""Budgets: what would become too large or take too long is given factored, and is still the robot."""

import re
from itertools import product

import numpy as np
import pytest
from balanced_latex import is_balanced
from closed_forms import InNumbers, largest_error

import dynamis as dy
from dynamis.algorithms.dynamics import gravity
from dynamis.algorithms.mass_matrix import crba
from dynamis.symbolic.budget import Budget, BudgetSpent
from dynamis.symbolic.cleaning import with_right_angles
from dynamis.symbolic.formulas import Formulas

LIMITS = [{"seconds": 0}, {"terms": 10}]


def in_numbers(name, **limits):
    robot = dy.load(name)
    numeric = (lambda values: dy.load(name, parameters=values)) if robot.model.symbolic else None
    return InNumbers(robot, robot.closed_form(**limits), numeric)


@pytest.mark.parametrize(
    ("name", "limits"), [*product(("planar_2r", "scara", "puma560"), LIMITS), ("panda", LIMITS[0])], ids=str
)
def test_factored_form_is_the_robot(name, limits):
    x = in_numbers(name, **limits)
    assert not x.form.expanded
    for formulas, reference in (
        (x.form.M, x.numeric.mass_matrix(x.q)),
        (x.form.C, x.numeric.coriolis_matrix(x.q, x.v)),
        (x.form.g, x.numeric.gravity(x.q)),
        (x.form.torque, x.numeric.inverse_dynamics(x.q, x.v, x.a)),
        (x.form.M_dot, x.numeric.mass_matrix_dot(x.q, x.v)),
    ):
        assert largest_error(x.of(formulas), reference) < 1e-12


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_status_is_a_sentence_that_says_why(limits):
    form = dy.load("puma560").closed_form(**limits)
    assert form.status.startswith("factored: the expanded form ")
    assert ("0 s" if "seconds" in limits else "10 terms") in form.status
    assert form.status in repr(form)
    assert dy.load("puma560").closed_form().status == "expanded"


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("name", ["planar_2r", "puma560", "nine_body_tree"])
def test_factored_form_prints_balanced_latex(name, limits):
    form = dy.load(name).closed_form(**limits)
    assert is_balanced(form.latex())
    assert is_balanced(form.M.latex())
    assert r"\ddot{q}_1" in form.latex()
    assert isinstance(str(form.M), str)


def test_factored_kernel_is_the_robot():
    x = in_numbers("ur5e", seconds=0)
    assert largest_error(x.form.kernel("mass_matrix")(x.q), x.numeric.mass_matrix(x.q)) < 1e-12


def test_factored_regressor_is_the_robot():
    x = in_numbers("planar_2r", seconds=0)
    torque = np.einsum("bij,bj->bi", x.of(x.form.regressor), x.of(x.form.parameters))
    assert largest_error(torque, x.numeric.inverse_dynamics(x.q, x.v, x.a)) < 1e-12


def test_factored_expressions_add_multiply_and_divide():
    x = in_numbers("planar_2r", seconds=0)
    M = x.of(x.form.M)
    combined = (x.form.M[0, 0] * 2 - x.form.M[0, 1]) / x.form.M[1, 1] + 1
    assert not combined.expanded
    expected = (2 * M[:, 0, 0] - M[:, 0, 1]) / M[:, 1, 1] + 1
    assert largest_error(x.of(Formulas.of([combined], (1,))), expected) < 1e-12


def test_what_needs_the_expanded_form_says_so():
    form = dy.load("planar_2r").closed_form(seconds=0)
    with pytest.raises(dy.InputError, match="increase seconds or terms"):
        form.M[0, 0].diff(form.q[1])
    with pytest.raises(dy.InputError, match="increase seconds or terms"):
        len(form.M[0, 0])
    with pytest.raises(dy.InputError, match="increase seconds or terms"):
        assert form.M[0, 0] == form.M[1, 1]
    assert form.M[0, 0] == form.M[0, 0]
    assert not form.M[0, 0].is_zero
    assert form.viscous.is_zero


def test_progress_grows_to_its_end():
    told = []
    form = dy.load("planar_3r").closed_form(progress=lambda *step: told.append(step))
    assert form.expanded
    done, total, terms = (list(column) for column in zip(*told, strict=True))
    assert done == list(range(1, len(told) + 1))
    assert set(total) == {len(told)}
    assert terms == sorted(terms)


def test_progress_may_end_the_expansion():
    class Enough(Exception):
        pass

    def stop(done, total, terms):
        if terms > 50:
            raise Enough

    with pytest.raises(Enough):
        dy.load("planar_3r").closed_form(progress=stop)


def test_budget_counts_terms_of_all_results():
    budget = Budget(terms=10)
    budget.spend(6, 1, 3)
    with pytest.raises(BudgetSpent, match="more than 10 terms"):
        budget.spend(5, 2, 3)


@pytest.mark.parametrize("name", ["baxter", "go2", "g1"])
def test_large_robots_return_whatever_the_budget(name):
    x = in_numbers(name, terms=2000)
    assert x.form.M.shape == (x.form.n, x.form.n)
    model = with_right_angles(x.numeric.model)  # which the file gives to eleven digits
    assert largest_error(x.of(x.form.M), np.array([crba(model, q) for q in x.q])) < 1e-12
    assert largest_error(x.of(x.form.g), np.array([gravity(model, q) for q in x.q])) < 1e-12
    assert largest_error(x.of(x.form.M), x.numeric.mass_matrix(x.q)) < 1e-9


def test_factored_print_defines_every_name_it_uses():

    form = dy.load("puma560").closed_form(seconds=0)
    for text in (form.latex(), form.M.latex(), form.g[1].latex(), form.equations[0].latex()):
        used, defined = set(re.findall(r"x_\{\d+\}", text)), set(re.findall(r"(x_\{\d+\}) &?= ", text))
        assert used
        assert used == defined


def test_velocity_terms_of_a_factored_form_have_no_names():
    compact = dy.load("puma560").closed_form(seconds=0).compact
    assert compact.names == ()
    assert not compact.C[0, 0].expanded
