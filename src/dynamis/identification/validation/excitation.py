"""Excitation of the parameters by a motion: condition numbers, collinearity of columns, leverage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table

Array = npt.NDArray[Any]
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
    W = X if noise is None else X / noise[:, None]
    R = np.linalg.qr(W, mode="r")
    size = np.linalg.norm(R, axis=0)
    scaled = R / np.where(size > 0.0, size, 1.0)
    values, Vt = np.linalg.svd(scaled)[1:]
    plain = np.linalg.svd(np.linalg.qr(X, mode="r") if noise is not None else R, compute_uv=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        inflation = ((Vt.T[:, : len(values)] / values) ** 2).sum(axis=1)
        own = np.where(size > 0.0, 1.0 / np.sqrt(inflation), 0.0)
        ratios = [float(s[0] / s[-1]) if s[-1] > 0.0 else float("inf") for s in (plain, values)]
    labels = tuple(names) if names is not None else tuple(f"β{k + 1}" for k in range(X.shape[1]))
    return Excitation(labels, ratios[0], ratios[1], values, np.nan_to_num(own), np.sqrt(np.mean(X**2, axis=0)))


def leverage(X: Array, *, noise: Array | None = None) -> Array:
    """Return the leverage (rows,) of each row, 0 … 1: the diagonal of X (XᵀX)⁻¹ Xᵀ; it sums to the rank."""
    Q = np.linalg.qr(X if noise is None else X / noise[:, None], mode="reduced")[0]
    return np.asarray(np.einsum("ij,ij->i", Q, Q))
