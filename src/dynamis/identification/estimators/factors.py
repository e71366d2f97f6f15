"""Triangular factors of a log: what least squares, its priors and its constraints need instead of the rows.

Of the rows [X_j, y_j] of joint j only R of [X_j, y_j] = Q R is kept, for each of a few folds of consecutive samples: the folds
together give every fit, and leaving one out shows how well the others predict it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.identification.reduction.normal_equations import householder_qr

Array = npt.NDArray[Any]
FOLDS = 5
ENOUGH = 0.2  # fraction of a joint's rows that must be redundant for its noise to be estimated
UNEXCITED = 1e-10  # singular values of normalized columns, relative to the largest


@dataclass(frozen=True, eq=False)
class FoldFactors:
    """R of [X, y] for each fold and joint, and the number of rows of each (folds, joints)."""

    R: tuple[tuple[Array, ...], ...]
    counts: Array

    @classmethod
    def of(cls, X: Array, y: Array, joint: Array, fold: Array, joints: int, folds: int) -> FoldFactors:
        """Reduce rows with the given joint and fold (rows,)."""
        R, counts = [], np.zeros((folds, joints), int)
        for f in range(folds):
            own = []
            for j in range(joints):
                at = np.flatnonzero((fold == f) & (joint == j))
                counts[f, j] = len(at)
                own.append(factor(X, y, at))
            R.append(tuple(own))
        return cls(tuple(R), counts)

    def __len__(self) -> int:
        return len(self.R)

    def merged(self) -> tuple[list[Array], Array]:
        """Return the factor of each joint over all folds, and the number of rows (joints,)."""
        if len(self) == 1:
            return list(self.R[0]), self.counts[0]
        return [householder_qr(np.vstack(own)) for own in zip(*self.R, strict=True)], self.counts.sum(axis=0)


def factor(X: Array, y: Array, rows: Array) -> Array:
    """Return R of [X, y] over these rows; columns without entries, such as those of other joints, are left out of the work."""
    block = X[rows]
    there = np.flatnonzero(block.any(axis=0))
    A = np.empty((len(rows), len(there) + 1), order="F")
    A[:, :-1], A[:, -1] = block[:, there], y[rows]
    small = householder_qr(A)
    R = np.zeros((len(small), X.shape[1] + 1))
    R[:, np.append(there, X.shape[1])] = small
    return R


def consecutive_folds(blocks: Any, joint: Array) -> Array:
    """Return the fold of each row, from the labels of its block of time, or from its place among the rows of its joint.

    Blocks are assigned in turn, so that every fold has samples from the whole motion.
    """
    if blocks is not None:
        labels = np.asarray(blocks)
        if labels.shape != joint.shape or len(np.unique(labels)) < 3:
            raise InputError(f"blocks= takes one label for each of the {len(joint)} rows, with at least three distinct values")
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
    sizes = np.sqrt(np.array([np.sum(F[:, -1] ** 2) for F in factors]) / np.maximum(counts, 1))
    floor = np.maximum(least * np.maximum(sizes, 1e-3 * sizes.max(initial=0.0)), 1e-100)
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


def held_out_weight(folds: Sequence[tuple[Array, Array]], wish: Array, tried: Array) -> float:
    """Return the λ of min |G x − g|² + λ |x − wish|² that predicts each fold best from the others.

    ``folds`` are G (rows, p) and g (rows,) of each fold, rows in units of their noise.
    """
    grams = [(G.T @ G, G.T @ (g - G @ wish)) for G, g in folds]
    whole, along = sum(A for A, _ in grams), sum(b for _, b in grams)
    errors = np.zeros(len(tried))
    for (G, g), (A, b) in zip(folds, grams, strict=True):
        values, vectors = np.linalg.eigh(whole - A)
        steps = (vectors.T @ (along - b))[:, None] / (np.maximum(values, 0.0)[:, None] + tried)
        errors += np.sum(((g - G @ wish)[:, None] - (G @ vectors) @ steps) ** 2, axis=0)
    return float(tried[int(np.argmin(errors))])
