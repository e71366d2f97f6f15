"""Held-out motion: which rows are fitted, which are predicted, and what is compared."""

import numpy as np
import pytest
from judged_fits import held_out, simulated

import dynamis as dy
from dynamis.identification.estimators.estimator import LeastSquares, WeightedLeastSquares
from dynamis.identification.estimators.regularised import Ridge
from dynamis.identification.validation.held_out import blocked_folds, clear_of, cross_validate


def test_no_block_is_torn_apart_and_folds_are_even():
    blocks = np.repeat(np.arange(23), 7)
    fold = blocked_folds(blocks, 5)
    for block in range(23):
        assert len(set(fold[blocks == block])) == 1
    counts = np.bincount(fold)
    assert counts.max() - counts.min() <= 7


def test_rows_near_held_out_ones_are_not_fitted_but_those_of_other_runs_are():
    t, run = np.tile(np.arange(10.0), 2), np.repeat([0, 1], 10)
    held = np.zeros(20, bool)
    held[5] = True
    keep = clear_of(t, held, 1.5, run=run)
    assert np.flatnonzero(~keep).tolist() == [4, 5, 6]
    assert np.flatnonzero(~clear_of(t, held, 1.0, run=run)).tolist() == [4, 5, 6]  # at the guard's distance is not beyond it
    assert np.flatnonzero(~clear_of(t, held, 0.9, run=run)).tolist() == [5]
    assert clear_of(t, held, 0.0, run=run).sum() == 19


@pytest.mark.parametrize("k", [3, 5])
def test_no_row_that_is_fitted_lies_within_the_guard_of_one_that_is_predicted(k):
    """The fit of a fold from shared triangular factors is that of the rows beyond the guard, chosen here one by one."""
    rows, guard = simulated("planar_2r_melchiorri", seconds=4.0).rows, 0.05
    fold = blocked_folds(rows.blocks(0.2), k)
    found = cross_validate(WeightedLeastSquares(), rows, k=k, block_seconds=0.2, guard=guard)
    for f in range(k):
        apart = np.abs(rows.t[:, None] - np.unique(rows.t[fold == f])).min(axis=1)
        kept = rows.select(apart > guard)
        expected = WeightedLeastSquares().fit(kept.X, kept.y, joint=kept.joint)
        assert np.allclose(found.folds[f].coef, expected.coef_, rtol=1e-7, atol=1e-9)
        assert found.folds[f].train_rows == len(kept)


def test_every_row_is_predicted_by_a_fit_that_has_not_seen_it():
    case = simulated(seconds=10.0)
    v = cross_validate(WeightedLeastSquares(), case.rows, k=4, block_seconds=0.5, guard=0.05, prior=case.prior)
    assert len(v.folds) == 4
    assert np.isfinite(v.predicted).all()
    assert sum(fold.held_out_rows for fold in v.folds) == len(case.rows)
    assert all(fold.train_rows + fold.held_out_rows < len(case.rows) for fold in v.folds)
    assert v.held_out == pytest.approx(100 * np.linalg.norm(case.rows.y - v.predicted) / np.linalg.norm(case.rows.y))
    assert v.train <= v.held_out < 1.3 * v.train < v.prior < v.mean
    assert v.held_out_joints.shape == v.prior_joints.shape == v.mean_joints.shape == (7,)
    assert v.spread.shape == (case.base.rank,)
    assert "prior" not in str(cross_validate(LeastSquares(), case.rows, k=2))
    assert "prior model" in str(v)


def test_the_estimator_that_is_given_is_not_fitted_itself():
    case = simulated("planar_2r_melchiorri", seconds=4.0)
    estimator = LeastSquares()
    cross_validate(estimator, case.rows)
    assert not hasattr(estimator, "coef_")


def test_separate_rows_are_predicted():
    rows = simulated("planar_2r_melchiorri", seconds=9.0).rows
    late = rows.t > 6.0
    train, test = rows.select(~late), rows.select(late)
    v = held_out(LeastSquares(), train, test)
    assert len(v.predicted) == len(test)
    assert v.folds[0].train_rows == len(train)
    assert v.held_out == pytest.approx(100 * np.linalg.norm(test.y - v.predicted) / np.linalg.norm(test.y))


def test_weak_excitation_makes_least_squares_worse_than_the_prior_and_a_ridge_better_than_both():
    weak = simulated(size=0.06, noise=0.2, seconds=8.0, seed=1, wrong=0.2)
    rich = simulated(size=0.8, seed=2)
    plain = held_out(LeastSquares(), weak.rows, rich.rows, prior=weak.prior)
    drawn = held_out(Ridge(prior=weak.prior, prior_scale=0.2), weak.rows, rich.rows, prior=weak.prior)
    assert plain.held_out > 1.5 * plain.prior
    assert drawn.held_out < plain.prior < plain.held_out


def test_what_cannot_be_split_is_refused():
    case = simulated("planar_2r_melchiorri", seconds=4.0)
    with pytest.raises(dy.InputError, match="cannot fill"):
        cross_validate(LeastSquares(), case.rows, k=5, block_seconds=2.0)
    with pytest.raises(dy.InputError, match="at least two"):
        blocked_folds([0, 1, 2], 1)
    with pytest.raises(dy.InputError, match="no rows to fit"):
        cross_validate(LeastSquares(), case.rows, k=2, block_seconds=0.2, guard=1.0)
    with pytest.raises(dy.InputError, match="≥ 0"):
        clear_of([0.0], [True], -1.0)
