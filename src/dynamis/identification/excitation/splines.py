"""Quintic B-splines: every coefficient moves one joint for a limited time; snap, the fourth derivative, is continuous.

The first three control points are q₀, and so are the last three, unless the motion may end elsewhere: then they share one
coefficient. Thus velocity and acceleration are zero at both ends for any coefficients.
"""

from __future__ import annotations

from functools import cached_property
from math import factorial
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.identification.excitation.basis import Basis, checked_duration
from dynamis.trajectories.motion import Motion, Polynomials

Array = npt.NDArray[Any]
DEGREE = 5
HELD = 3  # control points that determine position, velocity and acceleration at an end
MOST_POINTS = 400


class Splines(Basis):
    """B-splines on uniform knots, with ``points`` free control points between the ends.

    ``closed`` motions end where they start; others have one more coefficient for the end.

    >>> Splines(10.0, points=8, closed=False).size
    9
    """

    kind = "spline"

    def __init__(self, duration: float = 10.0, points: int = 10, *, closed: bool = True) -> None:
        self.duration = checked_duration(duration)
        if not isinstance(points, int | np.integer) or not 1 <= points <= MOST_POINTS:
            raise InputError(f"points must be an integer from 1 to {MOST_POINTS}, got {points!r}")
        self.points, self.closed = int(points), bool(closed)

    @cached_property
    def knots(self) -> Array:
        """The clamped knot vector, with end knots of multiplicity six."""
        inner = np.linspace(0.0, self.duration, self.points + 2 * HELD - DEGREE + 1)
        return np.concatenate([np.zeros(DEGREE), inner, np.full(DEGREE, self.duration)])

    @cached_property
    def combination(self) -> Array:
        """(control points, size): the control points minus q₀, for each function."""
        made = np.zeros((self.points + 2 * HELD, self.points + (not self.closed)))
        made[HELD:-HELD, : self.points] = np.eye(self.points)
        if not self.closed:
            made[-HELD:, -1] = 1.0
        return made

    @property
    def size(self) -> int:
        return int(self.combination.shape[1])

    @property
    def finest(self) -> int:
        return 1 + self.points // 2

    def derivative(self, t: Any, order: int = 0) -> Array:
        return np.asarray(self._spline(self.combination)(np.clip(np.asarray(t, float), 0.0, self.duration), order))

    def bound(self, c: Array, order: int) -> Array:
        # a spline lies in the convex hull of its control points
        return np.asarray(np.abs(self._spline(self.combination @ c).derivative(order).c).max(axis=0))

    def motion(self, q0: Array, c: Array, status: str = "") -> Motion:
        spline = self._spline(np.asarray(q0, float) + self.combination @ c)
        times = self.knots[DEGREE:-DEGREE]
        terms = [spline(times[:-1], order) / factorial(order) for order in range(DEGREE + 1)]
        return Polynomials(times, np.stack(terms, axis=1), status)

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "duration": self.duration, "points": self.points, "closed": self.closed}

    def _spline(self, control: Array) -> Any:
        from scipy.interpolate import BSpline

        return BSpline(self.knots, control, DEGREE)
