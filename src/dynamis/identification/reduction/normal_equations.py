"""Sufficient statistics of least squares in constant memory: a triangular matrix for each joint.

The rows of joint j are Y_j π = τ_j; of the matrix A_j = [Y_j, τ_j] only R_j of A_j = Q_j R_j is kept (tall-skinny QR), which
is sufficient for any weighting of joints, any prior and any constraint. Rows are processed in blocks of fixed length: the
result is bit-identical however a log is split.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from dynamis.display import normal_equations_card
from dynamis.errors import InputError

Array = npt.NDArray[Any]
CLEAR = 1e-6
TALL = 8  # rows per column above which normal equations are faster


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """For each joint: the columns that affect its torque, R of [X, y] over them, and the number of rows.

    ``names`` are the parameter names. ``exact`` means that every row was reduced by Householder reflections; otherwise full
    blocks use AᵀA, with an error of the squared condition number times rounding. `merge` combines those of several logs;
    estimators fit them with ``fit_normal_equations``.
    """

    names: tuple[str, ...]
    joints: tuple[str, ...]
    columns: tuple[Array, ...]
    R: tuple[Array, ...]
    counts: Array
    samples: int = 0
    exact: bool = True

    def factors(self) -> list[Array]:
        """Return R of [X, y] over all columns, for each joint."""
        full = []
        for columns, R in zip(self.columns, self.R, strict=True):
            wide = np.zeros((len(R), len(self.names) + 1))
            wide[:, np.append(columns, len(self.names))] = R
            full.append(wide)
        return full

    def stacked(self, weights: Any = None) -> tuple[Array, Array, float]:
        """Return (R, z, rest) of all joints with these weights: |W (y − X β)|² = |z − R β|² + rest²."""
        scale = np.ones(len(self.R)) if weights is None else np.asarray(weights, float)
        whole = householder_qr(np.vstack([w * F for w, F in zip(scale, self.factors(), strict=True)]))
        r = len(self.names)
        return whole[:r, :r], whole[:r, r], float(abs(whole[r, r])) if len(whole) > r else 0.0

    def __repr__(self) -> str:
        return f"<NormalEquations: {len(self.names)} parameters, {self.samples} samples, {int(self.counts.sum())} rows>"

    def _repr_html_(self) -> str:
        return normal_equations_card(self)


def merge(parts: Iterable[NormalEquations]) -> NormalEquations:
    """Combine the normal equations of several logs, in their order."""
    found = list(parts)
    if not found:
        raise InputError("no normal equations given to merge")
    first = found[0]
    for other in found[1:]:
        if other.names != first.names or any(
            not np.array_equal(a, b) for a, b in zip(first.columns, other.columns, strict=True)
        ):
            raise InputError("normal_equations of different parameters cannot be merged: use one model for all logs")
    R = tuple(householder_qr(np.vstack([part.R[j] for part in found])) for j in range(len(first.R)))
    counts = np.sum([part.counts for part in found], axis=0)
    return replace(
        first, R=R, counts=counts, samples=sum(part.samples for part in found), exact=all(part.exact for part in found)
    )


def nothing(names: Sequence[str], joints: Sequence[str], pattern: Array) -> NormalEquations:
    """Return the normal equations of zero rows."""
    columns = tuple(np.flatnonzero(row) for row in pattern)
    R = tuple(np.zeros((0, len(c) + 1)) for c in columns)
    return NormalEquations(tuple(names), tuple(joints), columns, R, np.zeros(len(columns), int))


def householder_qr(A: Array) -> Array:
    """Return R of A = Q R by Householder reflections, accurate to rounding of A."""
    if not len(A):  # LAPACK rejects empty matrices with a message on the terminal
        return np.zeros(A.shape)
    R, *_ = scipy.linalg.lapack.dgeqrf(A)
    return np.asarray(np.triu(R[: min(A.shape)]))


def cholesky_qr(A: Array, gram: Array) -> Array:
    """Return R from AᵀA by Cholesky, several times faster; the last column is y. Directions below rounding are omitted.

    Rounding of AᵀA is small relative to its largest entries, so it matters only if the whole log is weak in a direction,
    by the squared condition number; the estimators check this.
    """
    r = len(gram) - 1
    scale = np.sqrt(np.diag(gram)[:r])
    scale[scale == 0.0] = 1.0
    U, pivots, rank, _ = scipy.linalg.lapack.dpstrf(gram[:r, :r] / np.outer(scale, scale))
    order = pivots - 1
    U = np.triu(U)[:rank]
    z = _solved(U[:, :rank], (gram[:r, r] / scale)[order[:rank]], trans=1)
    whole = np.zeros((rank + 1, r + 1))
    whole[:rank, order], whole[:rank, r] = U * scale[order], z
    rest = gram[r, r] - z @ z
    if rest > CLEAR * gram[r, r]:
        whole[rank, r] = np.sqrt(rest)
    else:  # a small difference of squares would be rounding: compute it from the rows
        beta = np.zeros(r)
        beta[order[:rank]] = _solved(U[:, :rank], z) / scale[order[:rank]]
        whole[rank, r] = np.linalg.norm(A[:, r] - A[:, :r] @ beta)
    return whole


def _solved(U: Array, b: Array, trans: int = 0) -> Array:
    """Return U⁻¹ b, or U⁻ᵀ b; U is upper triangular, and LAPACK rejects an empty one."""
    return np.asarray(scipy.linalg.lapack.dtrtrs(U, b, trans=trans)[0]).reshape(-1) if len(b) else b
