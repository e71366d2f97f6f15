"""Triangular factors of a log: what least squares, its priors and its constraints need instead of the rows.

Of the rows [X_j, y_j] of joint j only R of [X_j, y_j] = Q R is kept, for each of a few folds of consecutive samples: the folds
together give every fit, and leaving one out shows how well the others predict it.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError

Array = npt.NDArray[Any]
FOLDS = 5
WAITING = 8  # rows per column that wait for reduction
ENOUGH = 0.2  # fraction of a joint's rows that must be redundant for its noise to be estimated
CLEAR = 1e-4  # fraction of a column's square independent of the others, above which no direction is unexcited
UNEXCITED = 1e-10  # singular values of normalized columns, relative to the largest
AS_WELL = 1e-5  # of the squared errors of held-out blocks, at least of those of the noise: a difference without meaning


@dataclass(frozen=True, eq=False)
class FoldFactors:
    """R of [X, y] for each fold and joint, and the number of rows of each (folds, joints)."""

    R: tuple[tuple[Array, ...], ...]
    counts: Array

    @classmethod
    def of(cls, X: Array, y: Array, joint: Array, fold: Array, joints: int, folds: int) -> FoldFactors:
        """Reduce rows with the given joint and fold (rows,)."""
        sums = FactorSums(folds, joints, X.shape[1])
        for j in range(joints):
            own = np.flatnonzero(joint == j)
            columns = np.flatnonzero(X[own].any(axis=0)) if len(own) else np.zeros(0, int)
            for f in range(folds):
                at = own[fold[own] == f]
                sums.add(f, j, columns, np.column_stack([X[np.ix_(at, columns)], y[at]]))
        return sums.result()

    def __len__(self) -> int:
        return len(self.R)

    @functools.cached_property
    def merged(self) -> tuple[list[Array], Array]:
        """The factor of each joint over all folds, and the number of rows (joints,)."""
        if len(self) == 1:
            return list(self.R[0]), self.counts[0]
        return [householder_qr(np.vstack(own)) for own in zip(*self.R, strict=True)], self.counts.sum(axis=0)


class FactorSums:
    """Factors of [X, y] that grow with the rows of each group and joint; at most a few hundred rows wait for reduction."""

    def __init__(self, groups: int, joints: int, parameters: int) -> None:
        self.counts, self.parameters = np.zeros((groups, joints), int), parameters
        self._waiting: dict[tuple[int, int], list[Array]] = {}
        self._columns: dict[int, Array] = {}

    def add(self, group: int, joint: int, columns: Array, A: Array) -> None:
        """Add rows A (rows, columns + 1) of [X, y]; ``columns`` are those of X that a joint's torque depends on."""
        self._columns[joint] = columns
        self.counts[group, joint] += len(A)
        waiting = self._waiting.setdefault((group, joint), [])
        waiting.append(A)
        if sum(map(len, waiting)) > WAITING * A.shape[1]:
            self._waiting[group, joint] = [householder_qr(np.vstack(waiting))]

    def result(self) -> FoldFactors:
        """Return the factors of all groups, over all parameters."""
        groups, joints = self.counts.shape
        wide = tuple(tuple(self._wide(g, j) for j in range(joints)) for g in range(groups))
        if not all(np.isfinite(R).all() for own in wide for R in own):
            raise InputError("the samples contain numbers that overflow: check their units")
        return FoldFactors(wide, self.counts)

    def _wide(self, group: int, joint: int) -> Array:
        waiting = self._waiting.get((group, joint))
        if waiting is None:
            return np.zeros((0, self.parameters + 1))
        small = householder_qr(np.vstack(waiting))
        wide = np.zeros((len(small), self.parameters + 1))
        wide[:, np.append(self._columns[joint], self.parameters)] = small
        return wide


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while many small systems are solved: with more, they mostly wait for each other."""
    from threadpoolctl import threadpool_limits  # looks through all loaded libraries: not needed by those who do not identify

    with threadpool_limits(1, user_api="blas"):
        yield


def householder_qr(A: Array) -> Array:
    """Return R of A = Q R by Householder reflections, accurate to rounding of A."""
    if not len(A):  # LAPACK rejects empty matrices with a message on the terminal
        return np.zeros(A.shape)
    return np.asarray(np.linalg.qr(A, mode="r"))


def normal_solution(A: Array) -> Array:
    """Return β of [X, y]ᵀ [X, y]: by a Cholesky factorisation, or without unexcited directions if there are any."""
    G, b = A[:-1, :-1], A[:-1, -1]
    scale = np.sqrt(np.maximum(np.diag(G), 1e-300))
    G, b = G / np.outer(scale, scale), b / scale
    try:
        clear = bool(np.diag(np.linalg.cholesky(G)).min(initial=1.0) ** 2 > CLEAR)
    except np.linalg.LinAlgError:
        clear = False
    return np.asarray((np.linalg.solve(G, b) if clear else np.linalg.pinv(G, rcond=1e-9, hermitian=True) @ b) / scale)


def consecutive_folds(blocks: Any, joint: Array) -> Array:
    """Return the fold of each row, from the labels of its block of time, or from its place among the rows of its joint.

    Blocks are assigned in turn, so that every fold has samples from the whole motion.
    """
    if blocks is not None:
        labels = np.asarray(blocks)
        if labels.shape != joint.shape or len(np.unique(labels)) < 3:
            raise InputError(
                f"blocks= takes one label for each of the {counted(len(joint), 'row')}, with at least three distinct values"
            )
        return np.asarray(np.unique(labels, return_inverse=True)[1] % FOLDS)
    fold = np.zeros(len(joint), int)
    for j in np.unique(joint):
        at = np.flatnonzero(joint == j)
        fold[at] = np.arange(len(at)) * FOLDS // max(len(at), 1)
    return fold


def joint_noise(
    factors: Sequence[Array], counts: Array, *, least: float, iterations: int = 20, tolerance: float = 1e-6
) -> Array:
    """Return σ_j of iterated weighted least squares, without unexcited directions.

    A joint with few rows could be fitted exactly, which would raise its weight further: its noise is updated only while enough
    of its rows are redundant according to their leverage. ``least`` bounds the noise, relative to a joint's RMS torque.
    """
    r = factors[0].shape[1] - 1
    owner = np.repeat(np.arange(len(factors)), [len(F) for F in factors])
    floor = least_noise(factors, counts, least)
    stacked = np.vstack(factors)
    noise = np.ones(len(factors))
    for repeat in range(max(1, iterations)):
        weighted = stacked / noise[owner, None]
        U = _range(weighted[:, :r])
        left = weighted[:, r] - U @ (U.T @ weighted[:, r])
        squares = np.bincount(owner, left**2, len(factors)) * noise**2
        over = counts - np.bincount(owner, (U**2).sum(axis=1), len(factors))
        pooled = np.sqrt(squares.sum() / max(over.sum(), 1.0))
        found = np.where(over >= ENOUGH * counts, np.sqrt(squares / np.maximum(over, 1e-9)), noise if repeat else pooled)
        found = np.maximum(found, floor)
        settled = np.max(np.abs(found / noise - 1.0)) < tolerance
        noise = found
        if settled:
            break
    return noise


def least_noise(factors: Sequence[Array], counts: Array, share: float) -> Array:
    """Return the lower bounds (joints,) of the noise: a share of each joint's RMS torque."""
    sizes = np.sqrt(np.array([np.sum(F[:, -1] ** 2) for F in factors]) / np.maximum(counts, 1))
    return np.maximum(share * np.maximum(sizes, 1e-3 * sizes.max(initial=0.0)), 1e-100)


def _range(A: Array) -> Array:
    """Return an orthonormal basis of the columns of A without directions below rounding."""
    lengths = np.linalg.norm(A, axis=0)
    A = A / np.where(lengths > 0.0, lengths, 1.0)
    Q, R = np.linalg.qr(A)
    # as long as no diagonal entry is small, which is cheap to see, Q is the basis
    if np.abs(np.diagonal(R)).min(initial=1.0) > 1e-4:
        return np.asarray(Q)
    U, sigma, _ = np.linalg.svd(R)
    return np.asarray(Q @ U[:, : len(sigma)][:, sigma > UNEXCITED * sigma[0]])


def whitened(factors: Sequence[Array], noise: Array) -> Array:
    """Return R of [X, y] of all joints, the rows of each divided by its noise."""
    return householder_qr(np.vstack([F / s for F, s in zip(factors, noise, strict=True)]))


def held_out_weight(folds: FoldFactors, noise: Array, T: Array, origin: Array, wish: Array, tried: Array) -> float:
    """Return the λ of min |(y − X β) / noise|² + λ |x − wish|², with β = origin + T x, that predicts each fold best from the
    others; of those that predict as well the largest."""
    rows = [whitened(own, noise) for own in folds.R]
    parts = [(R[:, :-1] @ T, R[:, -1] - R[:, :-1] @ origin) for R in rows]
    grams = [(G.T @ G, G.T @ (g - G @ wish)) for G, g in parts]
    whole, along = sum(A for A, _ in grams), sum(b for _, b in grams)
    errors = np.zeros(len(tried))
    for (G, g), (A, b) in zip(parts, grams, strict=True):
        values, vectors = np.linalg.eigh(whole - A)
        steps = (vectors.T @ (along - b))[:, None] / (np.maximum(values, 0.0)[:, None] + tried)
        errors += np.sum(((g - G @ wish)[:, None] - (G @ vectors) @ steps) ** 2, axis=0)
    least = max(float(errors.min()), float(folds.counts.sum()))
    return float(tried[errors <= errors.min() + AS_WELL * least].max())
