"""Treatment of the ends of a run: a cubic with the positions and accelerations there is subtracted before smoothing.

Point reflection of a signal at its ends implies zero acceleration there. The remainder after subtraction of the cubic
satisfies this; the cubic itself is differentiated exactly.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
WINDOW = 1.5  # periods of the cut-off used to estimate the acceleration at an end


class Cubic(NamedTuple):
    """Positions, velocities and accelerations at the samples."""

    q: Array
    v: Array
    a: Array


def end_cubic(x: Array, period: float, cutoff: float | None) -> Cubic:
    """Return the cubic through both ends of (N,) or (N, n), with their accelerations."""
    N = len(x)
    count = int(np.clip(12 if cutoff is None else round(WINDOW / (cutoff * period)), 8, N))
    length = (N - 1) * period
    (q0, a0), (q1, a1) = _end(x[:count], period), _end(x[::-1][:count], period)
    a0, a1 = a0 * length**2, a1 * length**2
    c1 = q1 - q0 - a0 / 3.0 - a1 / 6.0
    s = np.linspace(0.0, 1.0, N).reshape(-1, *(1,) * (x.ndim - 1))
    return Cubic(
        q0 + s * (c1 + s * (a0 / 2.0 + s * (a1 - a0) / 6.0)),
        (c1 + s * (a0 + s * (a1 - a0) / 2.0)) / length,
        (a0 + s * (a1 - a0)) / length**2,
    )


def _end(x: Array, period: float) -> tuple[Array, Array]:
    """Return position and acceleration at the first sample, from a polynomial of degree four fitted to the samples."""
    c = np.polynomial.polynomial.polyfit(np.linspace(0.0, 1.0, len(x)), x, 4)
    return c[0], 2.0 * c[2] / ((len(x) - 1) * period) ** 2
