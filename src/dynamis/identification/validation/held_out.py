"""Validation on held-out motion: blocks of time are held out, since single rows are correlated with their neighbours."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_text, counted
from dynamis.errors import InputError
from dynamis.identification.estimators.estimator import FromFactors
from dynamis.identification.estimators.factors import FoldFactors
from dynamis.identification.validation.residuals import percent

if TYPE_CHECKING:
    from dynamis.identification.equations import Equations
    from dynamis.identification.estimators.estimator import Estimator

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Fold:
    """One fit and its held-out rows: 100 |e| / |τ| on both, overall and for each joint (n,)."""

    coef: Array
    train_rows: int
    held_out_rows: int
    train: float
    held_out: float
    train_joints: Array
    held_out_joints: Array

    def __repr__(self) -> str:
        return f"<Fold: held out {self.held_out:.3g} % of {counted(self.held_out_rows, 'row')}, training {self.train:.3g} %>"


@dataclass(frozen=True, eq=False, repr=False)
class Validation:
    """Residuals 100 |e| / |τ| in percent: of ``train`` rows, of ``held_out`` rows, and of other predictors on the latter.

    ``train`` is the mean over the folds, each fitted to its own rows, so it differs from the residual of a fit to all rows.
    ``prior`` is that of the prior model (None if not given), ``mean`` that of the mean torque of each joint, a baseline for any
    model. ``…_joints`` (n,) are the same by joint. ``predicted`` (rows,) are the torques predicted for held-out rows, NaN for
    rows never held out.
    """

    joints: tuple[str, ...]
    folds: tuple[Fold, ...]
    train: float
    held_out: float
    mean: float
    prior: float | None
    train_joints: Array
    held_out_joints: Array
    mean_joints: Array
    prior_joints: Array | None
    predicted: Array

    @property
    def spread(self) -> Array:
        """The standard deviation of each parameter over the folds (r,)."""
        return np.std([fold.coef for fold in self.folds], axis=0)

    def __repr__(self) -> str:
        return f"<Validation: {self}>"

    def __str__(self) -> str:
        text = f"held out {self.held_out:.3g} %, training {self.train:.3g} %, mean torque {self.mean:.3g} %"
        return text if self.prior is None else text + f", prior model {self.prior:.3g} %"

    _repr_html_ = as_text


def blocked_folds(blocks: Any, k: int = 5) -> Array:
    """Return the fold 0 … k − 1 of every row from the index of its block: blocks are assigned in turn, so that every fold has
    blocks from the whole motion.

    >>> blocked_folds([0, 0, 1, 1, 2, 2, 3, 3], 2).tolist()
    [0, 0, 1, 1, 0, 0, 1, 1]
    """
    numbers, place = np.unique(np.asarray(blocks), return_inverse=True)
    if k < 2:
        raise InputError(f"k={k!r} folds: at least two are needed")
    if len(numbers) < k:
        raise InputError(
            f"{counted(len(numbers), 'block')} cannot fill {k} folds: use shorter blocks, fewer folds, or a longer log"
        )
    return np.asarray(place % k)


def clear_of(t: Any, held: Any, guard: float, *, run: Any = None) -> Array:
    """Return a mask of the rows to fit: not held out, and more than ``guard`` seconds from held-out rows (filters)."""
    times, out = np.asarray(t, float), np.asarray(held, bool)
    if guard < 0.0:
        raise InputError(f"guard={guard!r} must be a time in seconds ≥ 0")
    keep = ~out
    if guard == 0.0:
        return keep
    runs = np.zeros(len(times), int) if run is None else np.asarray(run)
    for which in np.unique(runs[out]):
        rows = np.flatnonzero(runs == which)
        edges = np.concatenate([[-np.inf], np.sort(times[rows][out[rows]]), [np.inf]])
        after = np.searchsorted(edges, times[rows])
        distance = np.minimum(np.abs(edges[after] - times[rows]), np.abs(times[rows] - edges[after - 1]))
        keep[rows] &= distance > guard
    return keep


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of rows: the part and the fold of each (groups,), the folds (k, groups) for which it is fitted, the factors of its
    rows, and the sum of their torques (groups, joints)."""

    part: Array
    fold: Array
    fitted: Array
    factors: FoldFactors
    sums: Array

    def squares(self, coefs: Array) -> Array:
        """Return the sums (groups, joints, k) of the squared residuals of parameters (k, r)."""
        ends = np.column_stack([coefs, -np.ones(len(coefs))]).T
        return np.array([[np.sum((F @ ends) ** 2, axis=0) for F in own] for own in self.factors.R])


class Folds:
    """The rows of a log in k folds of blocks of time, with their triangular factors, which several estimators share.

    ``seconds`` is the duration of a block, by default that of the log over 4 k, at least a quarter of a second. Rows within
    ``guard`` seconds of held-out ones are not fitted.
    """

    def __init__(self, rows: Equations, k: int = 5, *, seconds: float | None = None, guard: float = 0.0) -> None:
        self.seconds, self.guard = _block_seconds(rows, max(k, 1)) if seconds is None else seconds, guard
        blocks = rows.blocks(self.seconds)
        self.rows, self.k, self.fold = rows, k, blocked_folds(blocks, k)
        # with two or three folds, each is divided in two: those fitted must be several for settings chosen on held-out ones
        self.part = self.fold + (k * (blocks // k % 2) if k < 4 else 0)
        self.fitted = np.array([clear_of(rows.t, self.fold == f, guard, run=rows.run) for f in range(k)])
        if not self.fitted.any(axis=1).all():
            raise InputError("the guard leaves no rows to fit: use longer blocks or a smaller guard")
        self._factors: dict[int | None, FoldFactors] = {}

    def of_rows(self, rows: Equations) -> Folds:
        """Return other equations of the same runs in the same folds."""
        return Folds(rows, self.k, seconds=self.seconds, guard=self.guard)

    @functools.cached_property
    def groups(self) -> Groups:
        """The triangular factors of groups of rows: those of one part that are fitted for the same folds."""
        bits = self.part + 2 * self.k * (1 << np.arange(self.k)) @ self.fitted
        numbers, first, which = np.unique(bits, return_index=True, return_inverse=True)
        factors = self.rows.factors(which, len(numbers))
        R, counts = factors.merged
        self.rows.__dict__["whole"] = FoldFactors((tuple(R),), counts[None])  # a cached property
        sums = np.zeros(factors.counts.shape)
        np.add.at(sums, (which, self.rows.joint), self.rows.y)
        return Groups(self.part[first], self.fold[first], self.fitted[:, first], factors, sums)

    def factors(self, without: int | None = None) -> FoldFactors:
        """Return the factors of all folds, or of those to fit when one of them is held out."""
        if without not in self._factors:
            groups, parts = self.groups, []
            kept = np.ones(len(groups.part), bool) if without is None else groups.fitted[without]
            for part in np.unique(groups.part[kept]):
                own = np.flatnonzero((groups.part == part) & kept)
                parts.append(FoldFactors(tuple(groups.factors.R[g] for g in own), groups.factors.counts[own]).merged)
            self._factors[without] = FoldFactors(tuple(tuple(R) for R, _ in parts), np.array([counts for _, counts in parts]))
        return self._factors[without]

    def fit(self, estimator: Estimator, without: int | None = None) -> Estimator:
        """Fit the estimator to all rows, or to those to fit when a fold is held out."""
        rows = self.rows
        if isinstance(estimator, FromFactors):
            return estimator.fit_factors(self.factors(without), rows.names)
        kept = rows if without is None else rows.select(self.fitted[without])
        return estimator.fit(kept.X, kept.y, joint=kept.joint, names=kept.names)

    def fits(self, estimator: Estimator) -> Array:
        """Return the parameters (k, r) fitted with each fold held out."""
        fresh = (type(estimator)(**estimator.get_params()) for _ in range(self.k))
        return np.array([self.fit(each, f).coef_ for f, each in enumerate(fresh)])


def cross_validate(
    estimator: Estimator,
    equations: Equations | Folds,
    k: int = 5,
    *,
    block_seconds: float | None = None,
    guard: float = 0.0,
    prior: Any = None,
) -> Validation:
    """Cross-validate with k folds of blocks of time (`Folds`). ``prior`` (r,) are the prior parameters, for comparison.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("planar_2r_melchiorri")
    >>> q, v, a = np.random.default_rng(0).normal(size=(3, 200, 2))
    >>> samples = dy.identification.Samples.of(q, v, a, robot.inverse_dynamics(q, v, a), period=0.01)
    >>> rows = dy.identification.equations(dy.identification.base_parameters(robot), samples)
    >>> cross_validate(dy.identification.LeastSquares(), rows, block_seconds=0.1).held_out < 1e-6
    True
    """
    folds = equations if isinstance(equations, Folds) else Folds(equations, k, seconds=block_seconds, guard=guard)
    return validations([folds.fits(estimator)], folds, prior=prior)[0]


def validations(fits: Sequence[Array], folds: Folds, *, prior: Any = None) -> list[Validation]:
    """Return the validation of each set of parameters (k, r), one row for each fold held out.

    The residuals come from the triangular factors; the regressor is evaluated once more, for the predicted torques of all.
    """
    rows, groups, k = folds.rows, folds.groups, folds.k
    counts = groups.factors.counts
    torque = groups.squares(np.zeros((1, len(rows.names))))[:, :, 0]
    held = groups.fold[:, None] == np.arange(k)
    mean = np.array([groups.sums[own].sum(axis=0) / np.maximum(counts[own].sum(axis=0), 1) for own in groups.fitted])
    # Σ (y − m)² of the rows held out, with the mean m of those fitted
    apart = [torque[h] - 2.0 * m * groups.sums[h] + m**2 * counts[h] for h, m in zip(held.T, mean, strict=True)]
    plain = np.sum([np.maximum(x, 0.0).sum(axis=0) for x in apart], axis=0)
    before = None if prior is None else groups.squares(np.asarray(prior, float)[None])[:, :, 0].sum(axis=0)
    predicted = rows.predict_in_groups(folds.fold, np.stack(fits, axis=-1))
    found = []
    for number, fit in enumerate(fits):
        squares = groups.squares(np.asarray(fit))
        parts = []
        for f in range(k):
            train, out = groups.fitted[f], held[:, f]
            sums = [squares[own, :, f].sum(axis=0) for own in (train, out)]
            sizes = [torque[own].sum(axis=0) for own in (train, out)]
            rows_of = [counts[own].sum(axis=0) for own in (train, out)]
            parts.append(_fold(fit[f], sums, sizes, rows_of))
        left = np.sum([squares[held[:, f], :, f].sum(axis=0) for f in range(k)], axis=0)
        whole = torque.sum(axis=0), counts.sum(axis=0), left, plain, before
        found.append(_pooled(tuple(parts), rows, predicted[:, number], *whole))
    return found


def predictions(coefs: Sequence[Array], train: Equations, test: Equations, *, prior: Any = None) -> list[Validation]:
    """Return the validation on ``test`` of each vector of parameters, all fitted to ``train``."""
    n = len(test.joints)
    beta = np.stack(coefs, axis=1)
    ends = np.vstack([beta, -np.ones(beta.shape[1])])
    fitted = np.array([np.sum((F @ ends) ** 2, axis=0) for F in train.whole.R[0]])  # (joints, k)
    predicted = test.predict(beta)
    errors = np.stack([np.bincount(test.joint, (test.y - column) ** 2, n) for column in predicted.T], axis=1)
    torques = [np.bincount(rows.joint, rows.y**2, n) for rows in (train, test)]
    counts = [np.bincount(rows.joint, minlength=n) for rows in (train, test)]
    mean = np.bincount(train.joint, train.y, n) / np.maximum(counts[0], 1)
    plain = np.bincount(test.joint, (test.y - mean[test.joint]) ** 2, n)
    before = None if prior is None else np.bincount(test.joint, (test.y - test.predict(prior)) ** 2, n)
    return [
        _pooled(
            (_fold(coef, [fitted[:, k], errors[:, k]], torques, counts),), test, predicted[:, k], torques[1], counts[1],
            errors[:, k], plain, before,
        )
        for k, coef in enumerate(coefs)
    ]  # fmt: skip


def _block_seconds(equations: Equations, k: int) -> float:
    total = sum(float(np.ptp(equations.t[equations.run == run])) for run in np.unique(equations.run))
    return max(total / (4 * k), min(0.25, total / (2 * k)), 1e-9)


def _fold(coef: Array, squares: Sequence[Array], torque: Sequence[Array], counts: Sequence[Array]) -> Fold:
    """Return a fold from the sums of each joint, of its training rows and of those held out."""
    (train, trains), (out, outs) = (percent(s, y, c) for s, y, c in zip(squares, torque, counts, strict=True))
    return Fold(coef, int(counts[0].sum()), int(counts[1].sum()), train, out, trains, outs)


def _pooled(
    folds: tuple[Fold, ...], rows: Equations, predicted: Array, torque: Array, counts: Array, left: Array, mean: Array,
    prior: Array | None,
) -> Validation:  # fmt: skip
    """Return the validation from sums for each joint over all rows held out: Σ τ², the number of rows, and the squared
    residuals of the fits, of the mean torque and of the prior model."""
    out, plain = percent(left, torque, counts), percent(mean, torque, counts)
    before = None if prior is None else percent(prior, torque, counts)
    weights = np.array([fold.train_rows for fold in folds], float)
    return Validation(
        joints=tuple(rows.joints),
        folds=folds,
        train=float(np.average([fold.train for fold in folds], weights=weights)),
        held_out=out[0],
        mean=plain[0],
        prior=None if before is None else before[0],
        train_joints=np.average([fold.train_joints for fold in folds], axis=0, weights=weights),
        held_out_joints=out[1],
        mean_joints=plain[1],
        prior_joints=None if before is None else before[1],
        predicted=predicted,
    )
