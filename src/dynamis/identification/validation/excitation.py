"""Excitation of the parameters by a motion: condition numbers, collinearity of columns, leverage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table
from dynamis.identification.equations import Equations, equations_of_rows
from dynamis.identification.estimators.factors import householder_qr

Array = npt.NDArray[Any]
CHUNK = 16384
BARELY_INDEPENDENT = 0.03  # independent fraction of a column


@dataclass(frozen=True, eq=False, repr=False)
class Excitation:
    """``condition`` of X in mixed units, and ``scaled_condition`` with normalized columns.

    ``independence`` (r,) is the fraction of each column that is not a combination of the others: 1 if orthogonal to them, 0 if
    linearly dependent (1/√ of the variance inflation factor). ``column_rms`` (r,) is the RMS torque per unit of the parameter.
    """

    names: tuple[str, ...]
    condition: float
    scaled_condition: float
    singular_values: Array
    independence: Array
    column_rms: Array

    @property
    def weak(self) -> tuple[str, ...]:
        """Nearly collinear parameters, the weakest first."""
        order = np.argsort(self.independence)
        return tuple(self.names[k] for k in order if self.independence[k] < BARELY_INDEPENDENT)

    def __repr__(self) -> str:
        return (
            f"<Excitation of {len(self.names)} parameters: condition {self.condition:.4g}, scaled {self.scaled_condition:.4g}>"
        )

    _repr_html_ = as_table


def excitation(X: Array, names: Sequence[str] | None = None, *, noise: Array | None = None) -> Excitation:
    """Return the excitation of the rows X; ``noise`` (rows,) divides them first, as in a weighted fit.

    >>> import numpy as np
    >>> x = np.linspace(0.0, 1.0, 50)
    >>> e = excitation(np.stack([np.sin(7 * x), x, x + 0.001 * np.cos(9 * x)], axis=1), ["a", "b", "c"])
    >>> e.weak, e.scaled_condition > 1000
    (('c', 'b'), True)
    """
    R = triangle(X, noise)
    return excitation_of(R, R if noise is None else triangle(X), len(X), names)


def excitation_of(R: Array, every: Array, rows: int, names: Sequence[str] | None = None) -> Excitation:
    """Return the excitation from the triangular factors of the weighted and of the plain rows."""
    size = np.linalg.norm(R, axis=0)
    scaled = R / np.where(size > 0.0, size, 1.0)
    values, Vt = np.linalg.svd(scaled)[1:]
    plain = np.linalg.svd(every, compute_uv=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        inflation = ((Vt.T[:, : len(values)] / values) ** 2).sum(axis=1)
        own = np.where(size > 0.0, 1.0 / np.sqrt(inflation), 0.0)
        ratios = [float(s[0] / s[-1]) if s[-1] > 0.0 else float("inf") for s in (plain, values)]
    labels = tuple(names) if names is not None else tuple(f"β{k + 1}" for k in range(R.shape[1]))
    return Excitation(labels, ratios[0], ratios[1], values, np.nan_to_num(own), np.linalg.norm(every, axis=0) / rows**0.5)


def leverage_of(rows: Equations, R: Array, noise: Array) -> Array:
    """Return the leverage (rows,) of each row, 0 … 1: the diagonal of X (XᵀX)⁻¹ Xᵀ; it sums to the rank.

    ``R`` is the triangular factor of X, the rows of each joint divided by its ``noise`` (joints,).
    """
    _, sigma, Vt = np.linalg.svd(R, full_matrices=False)
    shown = sigma > 1e-13 * sigma.max(initial=0.0)
    root = Vt[shown].T / sigma[shown]
    found = np.empty(len(rows))
    for chunk in rows.chunks():
        for part in chunk:
            found[part.rows] = np.sum((part.A[:, :-1] @ root[part.columns]) ** 2, axis=1) / noise[part.joint] ** 2
    return found


def leverage(X: Array) -> Array:
    """Return the leverage (rows,) of each row of a matrix."""
    rows = equations_of_rows(X, np.zeros(len(X)), np.zeros(len(X), int), None, [""] * X.shape[1], [""])
    return leverage_of(rows, triangle(X), np.ones(1))


def triangle(X: Array, noise: Array | None = None) -> Array:
    """Return R of X = Q R, with rows divided by ``noise`` (rows,)."""
    parts = [householder_qr(X[part] if noise is None else X[part] / noise[part, None]) for part in chunks(len(X))]
    return parts[0] if len(parts) == 1 else householder_qr(np.vstack(parts))


def chunks(rows: int) -> list[slice]:
    """Return slices of the rows that are small enough for copies of them to need little memory."""
    return [slice(low, low + CHUNK) for low in range(0, max(rows, 1), CHUNK)]
