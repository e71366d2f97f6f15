"""Cubic splines through samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
FEWEST = 4  # samples of a cubic


class CubicSpline:
    """The cubic spline through values (N, …) at increasing times (N,), "not a knot" at its ends; straight lines for N < 4.

    >>> t = np.linspace(0.0, 1.0, 11)
    >>> bool(np.allclose(CubicSpline(t, t**3)(np.array([0.05, 0.93])), [0.05**3, 0.93**3]))
    True
    """

    def __init__(self, t: Array, values: Array) -> None:
        self.t, self.shape = t, values.shape[1:]
        self.x = np.asarray(values, float).reshape(len(t), -1)
        self.slopes = self._slopes() if len(t) >= FEWEST else None

    def _slopes(self) -> Array:
        """Return the slopes (N, c) for which the second derivatives are continuous."""
        from scipy.linalg import solve_banded

        h = np.diff(self.t)
        rise = np.diff(self.x, axis=0) / h[:, None]
        bands, right = np.zeros((3, len(self.t))), np.empty_like(self.x)
        bands[0, 2:], bands[1, 1:-1], bands[2, :-2] = h[:-1], 2.0 * (h[:-1] + h[1:]), h[1:]
        right[1:-1] = 3.0 * (h[1:, None] * rise[:-1] + h[:-1, None] * rise[1:])
        for end, beside, (first, second), (near, far) in (
            (0, 1, h[:2], rise[:2]),
            (-1, -2, h[-1:-3:-1], rise[-1:-3:-1]),
        ):
            # the third derivative is continuous, too, at the sample next to the end
            bands[1, end], bands[0 if end == 0 else 2, beside] = second, first + second
            right[end] = ((first + 2.0 * (first + second)) * second * near + first**2 * far) / (first + second)
        return np.asarray(solve_banded((1, 1), bands, right))

    def __call__(self, wanted: Array) -> Array:
        """Return the values at these times (M, …)."""
        if self.slopes is None:
            found = np.stack([np.interp(wanted, self.t, column) for column in self.x.T], axis=1)
            return found.reshape(len(wanted), *self.shape)
        k = np.clip(np.searchsorted(self.t, wanted, side="right") - 1, 0, len(self.t) - 2)
        h = (self.t[k + 1] - self.t[k])[:, None]
        s = (wanted - self.t[k])[:, None] / h
        a, b, da, db = self.x[k], self.x[k + 1], h * self.slopes[k], h * self.slopes[k + 1]
        found = a + s * (da + s * (3.0 * (b - a) - 2.0 * da - db + s * (2.0 * (a - b) + da + db)))
        return np.asarray(found).reshape(len(wanted), *self.shape)
