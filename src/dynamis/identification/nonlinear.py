"""Unknowns on which measurements depend nonlinearly, estimated together with parameters that enter linearly.

The measurements satisfy y(θ) ≈ X(θ) β. The linear parameters β are eliminated (variable projection [Golub and Pereyra 1973]),
and the unknowns θ follow by Gauss–Newton steps, each with a prior mean, a standard deviation and bounds. An unknown whose
effect is a combination of the effects of β and of the unknowns before it, or whose standard error would be too large to be of
use, is not identifiable and keeps its prior value.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table, counted
from dynamis.errors import InputError

Array = npt.NDArray[Any]
Rows = Callable[[Array], tuple[Array, Array]]  # θ to X (rows, linear parameters) and y (rows,)
DIFFERENCE = 1e-6  # step of the derivatives by differences, in SI units
DEPENDENT = 1e-4  # relative effect beyond that of others, below which an unknown is not identifiable
STEPS = 30
CONVERGED = 1e-9  # relative decrease of the cost, and step in SI units
HALVINGS = 12
PASSES = 10  # iterations of the noise at the start, at most
SETTLED = 0.01  # relative change of the noise
ROUNDING = 1e-12  # relative norm of a column without effect
UNEXCITED = 1e-9  # relative eigenvalue of XᵀX of directions without effect


@dataclass(frozen=True, repr=False)
class Unknown:
    """A quantity to estimate: its ``prior`` mean and standard deviation ``sigma``, its bounds, and whether it is ``frozen``.

    ``kind`` is "zero" (a position to add to that of ``joint``), "length" (a coordinate of the joint's origin in its parent's
    frame, along ``axis`` x, y or z), "tilt" (a rotation of the joint's frame about its ``axis``), "compliance" (in rad/(N m) or
    m/N: elasticity between the encoder and the link, whose position is lower by compliance · torque), "base" or "tool" (a
    coordinate x, y, z or a rotation rx, ry, rz of the base in the measuring frame, or of the measured frame in its link),
    "gain" and "bias" (of a torque sensor: it measures (1 + gain) τ + bias), "delay" (of the torques, in s), or any name with
    ``change``, a function of the measurements and the value that returns the corrected measurements. All are corrections, zero
    if the file is right.

    >>> Unknown("zero", joint="elbow", sigma=0.1).name
    'zero.elbow'
    """

    kind: str
    joint: str = ""
    axis: str = ""
    prior: float = 0.0
    sigma: float = np.inf
    lower: float = -np.inf
    upper: float = np.inf
    frozen: bool = False
    change: Callable[[Any, float], Any] | None = None

    def __post_init__(self) -> None:
        if not self.lower <= self.prior <= self.upper or not self.sigma > 0.0:
            raise InputError(
                f"unknown {self.name}: its prior {self.prior:g} must be within its bounds {self.lower:g} … {self.upper:g}, and "
                f"sigma above zero, got {self.sigma:g}"
            )

    @property
    def name(self) -> str:
        """Kind, joint and axis, such as "length.elbow.x"."""
        return ".".join(part for part in (self.kind, self.joint, self.axis) if part)

    @property
    def coordinate(self) -> str:
        """The coordinate of the robot to which the value is added: that of the joint, or of a virtual joint of this name."""
        return self.joint if self.kind == "zero" else self.name

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, eq=False)
class Solution:
    """Values θ (k,) of the unknowns and their covariance (k, k), the residual (rows,), the noise of each row, and the names
    (``dependent``) of the unknowns whose effect is a combination of others."""

    values: Array
    covariance: Array
    beta: Array
    residual: Array
    noise: Array
    dependent: tuple[str, ...]

    @property
    def errors(self) -> Array:
        """The standard errors (k,); zero for unknowns that keep their prior value."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def level(self) -> float:
        """The negative logarithm of the likelihood, mean over the rows: the lower, the more likely the measurements."""
        return float((np.log(self.noise) + 0.5 * (self.residual / self.noise) ** 2).mean())


def solve(
    rows: Rows,
    unknowns: Sequence[Unknown],
    *,
    group: Array,
    block: Array,
    start: Array | None = None,
    steps: int = STEPS,
    largest: Array | None = None,
) -> Solution:
    """Estimate the unknowns from measurements y(θ) ≈ X(θ) β.

    ``group`` (rows,) numbers the rows with equal noise, which is estimated from their residuals; those of group −1 have unit
    noise, such as rows that state a prior of β. ``block`` (rows,) numbers blocks whose residuals are independent of each other,
    for the standard errors. The steps begin at ``start``, or at the prior values. Unknowns without a prior whose expected
    standard errors exceed ``largest`` (k,) are not identifiable.
    """
    prior = np.array([u.prior for u in unknowns], float)
    lower, upper = (np.array([getattr(u, name) for u in unknowns], float) for name in ("lower", "upper"))
    precision = np.array([0.0 if np.isinf(u.sigma) else 1.0 / u.sigma**2 for u in unknowns])
    free = np.array([not u.frozen for u in unknowns], bool)
    theta = prior.copy() if start is None else np.where(free, start, prior)
    here = WeightedFit.of(*rows(theta), np.ones(len(group)))
    noise = noise_by_group(here.residual, group)
    for _ in range(PASSES):
        here = here.weighted(noise)
        before, noise = noise, noise_by_group(here.residual, group)
        if np.allclose(noise, before, rtol=SETTLED):
            break
    here = here.weighted(noise)
    J, whole = _derivatives(rows, theta, here, free)
    free &= _independent(J, whole, precision, np.full(len(free), np.inf) if largest is None else largest)
    kept = free
    dependent = tuple(u.name for u, own in zip(unknowns, free, strict=True) if not own and not u.frozen)
    for _ in range(steps):
        cost = here.cost + float(precision @ (theta - prior) ** 2)
        step = _step(J, here.rest, precision, theta - prior, free)
        while (outward := free & (((theta <= lower) & (step < 0.0)) | ((theta >= upper) & (step > 0.0)))).any():
            free = free & ~outward  # for this step
            step = _step(J, here.rest, precision, theta - prior, free)
        free = kept
        for _ in range(HALVINGS):
            there = np.clip(theta + step, lower, upper)
            new = WeightedFit.of(*rows(there), noise)
            if new.cost + float(precision @ (there - prior) ** 2) <= cost * (1.0 + CONVERGED):
                break
            step = step / 2.0
        else:
            break
        moved, gained = float(np.abs(there - theta).max(initial=0.0)), cost - new.cost - precision @ (there - prior) ** 2
        theta, here = there, new
        done = moved < CONVERGED or abs(gained) < CONVERGED * cost
        noise = noise_by_group(here.residual, group)
        here = here.weighted(noise)
        J, _ = _derivatives(rows, theta, here, free)
        if done:
            break
    covariance = _covariance(J, here.rest, precision, free, block, here.X.shape[1])
    return Solution(theta, covariance, here.beta, here.residual, noise, dependent)


def held_out_residuals(
    rows: Rows, unknowns: Sequence[Unknown], start: Array, *, group: Array, block: Array, folds: int = 5
) -> tuple[Array, Array]:
    """Return the residuals (rows,) of blocks that were held out: with all unknowns at their prior values, and estimated.

    ``start`` are the values estimated from all blocks, from which each fold converges in a few steps.
    """
    numbers, place = np.unique(block, return_inverse=True)
    if folds < 2 or len(numbers) < folds:
        blocks = f"{counted(len(numbers), 'block')} of measurements cannot be divided into {counted(folds, 'fold')}"
        raise InputError(f"{blocks}: use two or more folds, and measure more")
    fixed = [replace(unknown, frozen=True) for unknown in unknowns]
    both = []
    for own in (fixed, unknowns):
        left = np.empty(len(group))
        for fold in range(folds):
            held = place % folds == fold
            kept = _without(rows, held)
            fit = solve(kept, own, group=group[~held], block=block[~held], start=start)
            X, y = rows(fit.values)
            left[held] = y[held] - X[held] @ fit.beta
        both.append(left)
    return both[0], both[1]


def _without(rows: Rows, held: Array) -> Rows:
    def others(theta: Array) -> tuple[Array, Array]:
        X, y = rows(theta)
        return X[~held], y[~held]

    return others


def single_steps(rows: Rows, count: int, *, group: Array, block: Array) -> tuple[Array, Array]:
    """Return the first Gauss–Newton step of each of several unknowns alone, from zero, and its standard error (both (k,)).

    The step is zero, and the error infinite, for an unknown whose effect is one of the linear parameters.
    """
    theta, every = np.zeros(count), np.ones(count, bool)
    fit = WeightedFit.of(*rows(theta), np.ones(len(group)))
    fit = fit.weighted(noise_by_group(fit.residual, group))
    J, whole = _derivatives(rows, theta, fit, every)
    squares = np.einsum("ij,ij->j", J, J)
    seen = np.sqrt(squares) > DEPENDENT * np.linalg.norm(whole, axis=0)
    steps = np.divide(-(J.T @ fit.rest), squares, out=np.zeros(count), where=seen)
    after = fit.rest[:, None] + J * steps
    one, free = np.zeros(1), np.ones(1, bool)
    alone = [_covariance(J[:, [k]], after[:, k], one, free, block, fit.X.shape[1])[0, 0] for k in range(count)]
    return steps, np.where(seen, np.sqrt(alone), np.inf)


def noise_by_group(residual: Array, group: Array) -> Array:
    """Return the RMS residual (rows,) of each row's group, at least a small fraction of the largest; 1 in group −1."""
    own = group >= 0
    size = np.sqrt(np.bincount(group[own], residual[own] ** 2) / np.maximum(np.bincount(group[own]), 1))
    return np.where(own, np.maximum(size, UNEXCITED * size.max() + 1e-300)[group], 1.0)


@dataclass(frozen=True, eq=False)
class WeightedFit:
    """Weighted least squares of the linear parameters, with P the pseudo-inverse of XᵀX in units of the noise."""

    X: Array
    y: Array
    noise: Array
    P: Array
    beta: Array

    @classmethod
    def of(cls, X: Array, y: Array, noise: Array) -> WeightedFit:
        W, z = X / noise[:, None], y / noise
        size = np.linalg.norm(W, axis=0)
        size[size <= ROUNDING * size.max(initial=0.0)] = np.inf  # columns of rounding errors
        S = W / size
        P = np.linalg.pinv(S.T @ S, rcond=UNEXCITED, hermitian=True) / np.outer(size, size)
        return cls(X, y, noise, P, P @ (W.T @ z))

    def weighted(self, noise: Array) -> WeightedFit:
        return WeightedFit.of(self.X, self.y, noise)

    @functools.cached_property
    def residual(self) -> Array:
        return np.asarray(self.y - self.X @ self.beta)

    @functools.cached_property
    def rest(self) -> Array:
        """The residual relative to the noise."""
        return self.residual / self.noise

    @property
    def cost(self) -> float:
        return float(self.rest @ self.rest)

    def beyond(self, d: Array) -> Array:
        """Return the part of a vector or of vectors (rows, k), relative to the noise, orthogonal to the columns of X."""
        W = self.X / self.noise[:, None]
        return np.asarray(d - W @ (self.P @ (W.T @ d)))


def _derivatives(rows: Rows, theta: Array, fit: WeightedFit, free: Array) -> tuple[Array, Array]:
    """Return the derivatives (rows, k) of the residual relative to the noise, beyond the effect of β, and with β held fixed."""
    d = np.zeros((len(fit.y), len(theta)))
    for k in np.flatnonzero(free):
        X, y = rows(theta + DIFFERENCE * (np.arange(len(theta)) == k))
        d[:, k] = ((y - X @ fit.beta) - fit.residual) / DIFFERENCE / fit.noise
    return fit.beyond(d), d


def _independent(J: Array, whole: Array, precision: Array, largest: Array) -> Array:
    """Return a mask of the unknowns that have a prior, or an effect that β and the unknowns before them do not have, from which
    they follow with standard errors below the ``largest`` ones (k,)."""
    size = np.linalg.norm(whole, axis=0)
    keep = np.zeros(len(size), bool)
    Q = np.zeros((len(J), 0))
    for k in np.flatnonzero(size > 0.0):
        rest = J[:, k] - Q @ (Q.T @ J[:, k])
        rest = rest - Q @ (Q.T @ rest)  # again, against rounding
        length = float(np.linalg.norm(rest))
        if length > max(DEPENDENT * size[k], 1.0 / largest[k]):
            keep[k] = True
            Q = np.column_stack([Q, rest / length])
        elif precision[k] > 0.0:
            keep[k] = True
    return keep


def _step(J: Array, rest: Array, precision: Array, away: Array, free: Array) -> Array:
    step = np.zeros(len(free))
    if free.any():
        H = np.vstack([J[:, free], np.diag(np.sqrt(precision[free]))])
        e = np.concatenate([rest, np.sqrt(precision[free]) * away[free]])
        size = np.maximum(np.linalg.norm(H, axis=0), 1e-300)
        step[free] = -np.linalg.lstsq(H / size, e)[0] / size
    return step


def _covariance(J: Array, rest: Array, precision: Array, free: Array, block: Array, linear: int) -> Array:
    """Return the covariance: the larger of that of independent residuals and that of blocks of correlated ones (sandwich)."""
    total = np.zeros((len(free), len(free)))
    if not free.any():
        return total
    own = J[:, free]
    size = np.sqrt(np.maximum(np.einsum("ij,ij->j", own, own) + precision[free], 1e-300))
    A = np.linalg.pinv((own.T @ own + np.diag(precision[free])) / np.outer(size, size), rcond=1e-14, hermitian=True)
    A = A / np.outer(size, size)
    degrees = max(len(rest) - linear - own.shape[1], 1)
    plain = A * float(rest @ rest) / degrees
    numbers, place = np.unique(block, return_inverse=True)
    scores = np.zeros((len(numbers), own.shape[1]))
    np.add.at(scores, place, own * rest[:, None])
    if len(numbers) > own.shape[1] + 1:
        correction = len(numbers) / (len(numbers) - 1.0) * len(rest) / degrees
        within = A @ (scores.T @ scores * correction + np.diag(precision[free])) @ A
        scale = np.sqrt(np.maximum(np.diag(within) / np.maximum(np.diag(plain), 1e-300), 1.0))
        plain = plain * np.outer(scale, scale)
    total[np.ix_(free, free)] = plain
    return total
