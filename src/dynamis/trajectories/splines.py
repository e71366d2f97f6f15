"""Splines: motions and paths through via points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError
from dynamis.trajectories.collision_free import collision_free
from dynamis.trajectories.motion import Polynomials
from dynamis.trajectories.validate import limits, number, numbers

Array = npt.NDArray[Any]


def spline(
    times: Any,
    points: Any,
    *,
    start_velocity: Any = 0.0,
    end_velocity: Any = 0.0,
    order: int = 3,
    velocity: Any = None,
    acceleration: Any = None,
    collision: Any = None,
) -> Polynomials:
    """Spline through points (k, n) at times (k): cubic with continuous acceleration, or fifth-order with continuous snap.

    The fifth-order spline has zero acceleration at the ends. With ``times=None`` the times are proportional to the durations
    of the segments at the velocity limits, scaled uniformly until a velocity or acceleration limit is reached. Limits are
    infinite for none, but successive points must then differ in a joint that has a velocity limit: a segment between equal
    points has no duration of its own. A motion that collides in ``collision``, a `collision.Scene`, is refused, with the pair
    and the time.

    >>> motion = spline([0.0, 1.0, 2.0], [[0.0], [1.0], [0.0]])
    >>> motion.at(1.0)[0], motion.at(2.0)[1]
    (array([1.]), array([0.]))
    """
    via = numbers(points, "points", (1, 2))
    if len(via) < 2:
        raise InputError("a spline requires at least two points")
    if order not in (3, 5):
        raise InputError(f"order={order!r} is unknown; choose 3 or 5")
    n = 1 if via.ndim == 1 else via.shape[1]
    bounds = {name: limits(x, n, name).reshape(via.shape[1:])
              for name, x in (("velocity", velocity), ("acceleration", acceleration)) if x is not None}  # fmt: skip
    speeds = [np.broadcast_to(numbers(x, "a start or end velocity"), via.shape[1:]) for x in (start_velocity, end_velocity)]
    if times is not None:
        if bounds:
            raise InputError("velocity and acceleration limits require times=None; omit the limits or the times")
        return _checked(_interpolated(_growing(times, len(via)), via, speeds, order), collision)
    if "velocity" not in bounds:
        raise InputError("times=None requires velocity=")
    if any(x.any() for x in speeds):
        raise InputError("times=None is for motions from rest to rest: omit the start and end velocities, or give times")
    made = _interpolated(_paced(via, bounds["velocity"]), via, speeds, order)
    return _checked(_scaled_to_limits(made, bounds), collision)


def _checked(motion: Polynomials, collision: Any) -> Polynomials:
    return collision_free(motion, collision, None, "choose other points, or more of them")


def spline_path(points: Any) -> Polynomials:
    """A geometric path through points (k, n): a cubic spline parametrised by chord length.

    It has no time law: its parameter is a length. `time_optimal` computes the time-optimal motion along it.

    >>> spline_path([[0.0, 0.0], [3.0, 4.0]]).duration
    5.0
    """
    from scipy.interpolate import CubicSpline

    via = numbers(points, "points", (2,))
    if len(via) < 2:
        raise InputError("a path requires at least two points")
    chords = np.linalg.norm(np.diff(via, axis=0), axis=1)
    if not chords.all():
        raise InputError(f"points {int(np.argmin(chords))} and {int(np.argmin(chords)) + 1} coincide: remove one")
    s = np.concatenate([[0.0], np.cumsum(chords)])
    made = CubicSpline(s, via, bc_type="natural")
    return Polynomials(s, np.moveaxis(made.c[::-1], 0, 1).copy())


def _growing(times: Any, count: int) -> Array:
    t = numbers(times, "times", (1,))
    if len(t) != count:
        raise InputError(f"{len(t)} times were given for {counted(count, 'point')}")
    if not (np.diff(t) > 0.0).all():
        raise InputError("times must be strictly increasing")
    if number(t[0], "the first time") != 0.0:
        raise InputError(f"times must start at 0, got {t[0]:g}")
    return t


def _interpolated(t: Array, via: Array, speeds: list[Array], order: int) -> Polynomials:
    from scipy.interpolate import CubicSpline, make_interp_spline

    if order == 3:
        made = CubicSpline(t, via, bc_type=((1, speeds[0]), (1, speeds[1])))
        return Polynomials(t, np.moveaxis(made.c[::-1], 0, 1).copy())
    still = np.zeros(via.shape[1:])
    ends = tuple([(1, speed), (2, still)] for speed in speeds)
    return from_b_spline(make_interp_spline(t, via, k=5, bc_type=ends))


def from_b_spline(made: Any) -> Polynomials:
    """SciPy's B-spline as polynomials between its knots."""
    knots = np.unique(made.t[made.k : len(made.t) - made.k])
    rows = [made(knots[:-1], nu=k) / math.factorial(k) for k in range(made.k + 1)]
    return Polynomials(knots, np.stack(rows, axis=1))


def _paced(via: Array, velocity: Array) -> Array:
    """Times proportional to the duration of the slowest joint in each segment."""
    needed = np.abs(np.diff(via, axis=0)) / velocity
    needed = needed.reshape(len(needed), -1).max(axis=1)
    if not (needed > 0.0).all():
        here = int(np.argmin(needed))
        raise InputError(
            f"points {here} and {here + 1} coincide, or no velocity limit applies between them: remove one, or give times"
        )
    return np.concatenate([[0.0], np.cumsum(needed)])


def _scaled_to_limits(motion: Polynomials, bounds: dict[str, Array]) -> Polynomials:
    """The motion scaled in time until a limit is reached."""
    rates = motion.derivative()
    factor = float((rates.peaks() / bounds["velocity"]).max())
    if "acceleration" in bounds:
        factor = max(factor, float(np.sqrt((rates.derivative().peaks() / bounds["acceleration"]).max())))
    return motion.stretched(factor)
