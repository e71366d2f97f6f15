"""Point-to-point profiles of one variable, or of several with common boundary conditions.

Trapezoidal and double-S profiles accelerate to a peak velocity, hold it, and decelerate. Both consist of velocity ramps: with
unlimited jerk a ramp has constant acceleration, with limited jerk the acceleration is itself trapezoidal. The profile then
depends on the peak velocity alone [Biagiotti & Melchiorri 2008, §3.2 and §3.4]; if the distance is too short for the velocity
limit, the peak velocity is solved from the distance, which covers all degenerate cases.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.tolerances import RECURSION_ROUNDING, SHORTEST_PIECE
from dynamis.trajectories.collision_free import collision_free
from dynamis.trajectories.motion import Polynomials, not_before, standing
from dynamis.trajectories.validate import number, numbers, positive

Array = npt.NDArray[Any]
Ramp = list[tuple[float, float, float]]  # pieces: duration, acceleration at the start, jerk


def polynomial(
    q0: Any,
    q1: Any,
    duration: float,
    *,
    order: int = 5,
    start_velocity: Any = 0.0,
    end_velocity: Any = 0.0,
    start_acceleration: Any = 0.0,
    end_acceleration: Any = 0.0,
    start_jerk: Any = 0.0,
    end_jerk: Any = 0.0,
    collision: Any = None,
) -> Polynomials:
    """One polynomial of order 3 (velocities at the ends), 5 (accelerations too) or 7 (jerks too), for a number or joints.

    A motion of joints that collides in ``collision``, a `collision.Scene`, is refused, with the pair and the time.

    >>> move = polynomial([0.0, 1.0], [2.0, 0.0], 4.0)
    >>> q, v, a = move.at(2.0)
    >>> q, v
    (array([1. , 0.5]), array([ 0.9375 , -0.46875]))
    """
    if order not in (3, 5, 7):
        raise InputError(f"order={order!r} is unknown; choose 3, 5 or 7")
    T = positive(duration, "duration")
    ends = [[q0, start_velocity, start_acceleration, start_jerk], [q1, end_velocity, end_acceleration, end_jerk]]
    names = ("position", "velocity", "acceleration", "jerk")
    given = [[numbers(x, f"the {name} at the {end}") for x, name in zip(row, names, strict=True)]
             for row, end in zip(ends, ("start", "end"), strict=True)]  # fmt: skip
    count = (order + 1) // 2
    for row in given:
        for k in range(count, 4):
            if row[k].any():
                raise InputError(
                    f"a polynomial of order {order} cannot satisfy a boundary condition on the {names[k]}: "
                    f"use order {2 * k + 1}"
                )
    try:
        shape = np.broadcast_shapes(*(x.shape for row in given for x in row))
    except ValueError:
        raise InputError("start, end, velocities and accelerations must have the same length") from None
    # in units of the duration, where all derivatives are of one size
    conditions = [np.broadcast_to(row[k] * T**k, shape) for row in given for k in range(count)]
    matrix = np.array([[_derivative_of_power(p, k, x) for p in range(order + 1)] for x in (0.0, 1.0) for k in range(count)])
    unit = np.linalg.solve(matrix, np.array(conditions).reshape(order + 1, -1)).reshape(order + 1, *shape)
    made = Polynomials(np.array([0.0, T]), (unit / T ** np.arange(order + 1).reshape(-1, *(1,) * len(shape)))[None])
    return collision_free(made, collision, None, "choose other ends")


def _derivative_of_power(p: int, k: int, x: float) -> float:
    return float(math.perm(p, k)) * x ** (p - k) if p >= k else 0.0


def trapezoidal(
    q0: float,
    q1: float,
    *,
    velocity: float | None = None,
    acceleration: float | None = None,
    duration: float | None = None,
    start_velocity: float = 0.0,
    end_velocity: float = 0.0,
) -> Polynomials:
    """Constant acceleration, constant velocity, constant deceleration.

    With velocity and acceleration limits the duration is minimal; the profile is triangular if the distance is too short to
    reach the velocity limit. With a duration, from rest to rest, given limits hold; without limits each ramp takes a third.

    >>> trapezoidal(0.0, 3.0, velocity=1.0, acceleration=2.0).duration
    3.5
    >>> trapezoidal(0.0, 3.0, duration=3.0).at(1.5)[1]
    np.float64(1.5)
    """
    start, end = number(q0, "q0"), number(q1, "q1")
    if duration is None:
        if velocity is None or acceleration is None:
            raise InputError("a trapezoidal profile requires velocity= and acceleration=, or a duration=")
        v, a = positive(velocity, "velocity"), positive(acceleration, "acceleration")
        return _by_limits(start, end, v, a, np.inf, start_velocity, end_velocity)
    T, way = positive(duration, "duration"), abs(end - start)
    if start_velocity or end_velocity:
        raise InputError("a profile of given duration is from rest to rest: omit the start and end velocities")
    ramp = _ramp_time(T, way, velocity, acceleration)
    return _built(
        start, end, [(ramp, way / (ramp * (T - ramp)), 0.0)], T - 2.0 * ramp, [(ramp, -way / (ramp * (T - ramp)), 0.0)], 0.0
    )


def _ramp_time(T: float, way: float, velocity: float | None, acceleration: float | None) -> float:
    """The acceleration time of a profile of given duration: from the limits, or a third of it; at most half."""
    if acceleration is not None:
        a = positive(acceleration, "acceleration")
        if 4.0 * way > a * T * T * (1.0 + RECURSION_ROUNDING):
            raise InputError(
                f"a distance of {way:g} in {T:g} s requires an acceleration of at least {4.0 * way / T**2:g}, the limit is "
                f"{a:g}"
            )
        # the shorter ramp of D = a t (T − t), written without the difference of close numbers
        ramp = 2.0 * way / a / (T + math.sqrt(max(0.0, T * T - 4.0 * way / a))) if way else T / 2.0
        if velocity is not None and way / (T - ramp) > positive(velocity, "velocity") * (1.0 + RECURSION_ROUNDING):
            raise InputError(
                f"a distance of {way:g} in {T:g} s requires a velocity of {way / (T - ramp):g} at this acceleration, "
                f"the limit is {velocity:g}"
            )
        return ramp
    if velocity is None:
        return T / 3.0
    v = positive(velocity, "velocity")
    if way >= v * T:
        raise InputError(f"a distance of {way:g} in {T:g} s requires a velocity above {way / T:g}, the limit is {v:g}")
    return min(T - way / v, T / 2.0)


def double_s(
    q0: float,
    q1: float,
    *,
    velocity: float,
    acceleration: float,
    jerk: float,
    duration: float | None = None,
    start_velocity: float = 0.0,
    end_velocity: float = 0.0,
) -> Polynomials:
    """Minimum-time profile within limits of velocity, acceleration and jerk, with zero acceleration at both ends.

    It has up to seven segments; fewer for short distances. Start and end velocities must be in the direction of the motion. A
    ``duration`` longer than the minimum slows the motion uniformly. Velocity and acceleration limits are infinite for none.

    >>> double_s(0.0, 10.0, velocity=5.0, acceleration=10.0, jerk=30.0).duration
    2.8333333333333335
    """
    start, end = number(q0, "q0"), number(q1, "q1")
    j, given = positive(jerk, "jerk"), {"velocity": velocity, "acceleration": acceleration}
    v, a = (np.inf if x == np.inf else positive(x, name) for name, x in given.items())
    # a velocity limit that is not there is one that the jerk keeps it from reaching on this way
    unreached = 2.0 * (j * (end - start) ** 2) ** (1.0 / 3.0) + max(abs(start_velocity), abs(end_velocity))
    profile = _by_limits(start, end, min(v, unreached), a, j, start_velocity, end_velocity)
    return profile if duration is None else with_duration(profile, duration, bool(start_velocity or end_velocity))


def with_duration(profile: Polynomials, duration: float, moving_ends: bool = False) -> Polynomials:
    """A profile slowed uniformly to a longer duration."""
    T = positive(duration, "duration")
    if moving_ends:
        raise InputError("a profile of given duration is from rest to rest: omit the start and end velocities")
    least = profile.duration * (1.0 - RECURSION_ROUNDING)
    if least > T:
        raise InputError(
            f"the minimum duration within the limits is {profile.duration:.6g} s; a duration of {T:g} s is too short"
        )
    return profile.stretched(T / profile.duration) if profile.duration else standing(profile.at(0.0)[0], T)


def _by_limits(
    start: float, end: float, v: float, a: float, j: float, start_velocity: float, end_velocity: float
) -> Polynomials:
    """The minimum-time profile within limits, computed in the direction of the motion."""
    way, sign = abs(end - start), -1.0 if end < start else 1.0
    v0, v1 = (sign * number(x, "a start or end velocity") for x in (start_velocity, end_velocity))
    for x in (v0, v1):
        if x < 0.0:
            raise InputError(
                f"a start or end velocity is opposite to the motion from {start:g} to {end:g}: "
                "divide the motion into two at the turning point"
            )
        if x > v:
            raise InputError(f"a start or end velocity of {x:g} exceeds the limit {v:g}")
    if way == v0 == v1 == 0.0:
        return standing(np.array(start))

    def length(peak: float) -> float:
        return sum((_time(_ramp(x, peak, a, j)) * (x + peak) / 2.0) for x in (v0, v1))

    least, peak = max(v0, v1), v
    if length(least) > way * (1.0 + RECURSION_ROUNDING):
        raise InputError(
            f"changing the velocity from {v0:g} to {v1:g} requires a distance of {length(least):g} within these limits, not "
            f"{way:g}"
        )
    if length(v) > way:
        from scipy.optimize import brentq

        exactly = length(least) >= way
        peak = least if exactly else float(brentq(lambda x: length(x) - way, least, v, xtol=1e-300, rtol=1e-15))
    cruise = max(0.0, way - length(peak)) / peak
    return _built(start, end, _ramp(v0, peak, a, j), cruise, _ramp(peak, v1, a, j), v0)


def _ramp(v0: float, v1: float, a: float, j: float) -> Ramp:
    """The minimum-time change of velocity with |acceleration| ≤ a and |jerk| ≤ j and zero acceleration at both ends."""
    change, sign = abs(v1 - v0), -1.0 if v1 < v0 else 1.0
    if change == 0.0:
        return []
    if j == np.inf:
        return [(change / a, sign * a, 0.0)]
    rising = min(a / j, math.sqrt(change / j))
    top, level = j * rising, max(0.0, change / (j * rising) - rising)
    return [(rising, 0.0, sign * j), (level, sign * top, 0.0), (rising, sign * top, -sign * j)]


def _time(ramp: Ramp) -> float:
    return sum(piece[0] for piece in ramp)


def _built(start: float, end: float, up: Ramp, cruise: float, down: Ramp, v0: float) -> Polynomials:
    """The consecutive pieces as polynomials, in the direction from start to end.

    A piece shorter than the rounding of its times is extended to the next representable time.
    """
    pieces = _without_rounding([*up, (cruise, 0.0, 0.0), *down], v0)
    short = SHORTEST_PIECE * _time(pieces)
    sign = -1.0 if end < start else 1.0
    times, rows, position, velocity = [0.0], [], 0.0, v0
    for T, a, j in pieces:
        times.append(not_before(times[-1], T) if short > T else times[-1] + T)
        span = times[-1] - times[-2]
        gentler = min(1.0, T / span)
        c = [velocity, gentler * a / 2.0, gentler**2 * j / 6.0]
        rows.append([start + sign * position, *(sign * x for x in c)])
        position += span * (c[0] + span * (c[1] + span * c[2]))
        velocity += T * (a + T * j / 2.0)
    if not rows:  # there already, at the velocity wanted
        return Polynomials(np.zeros(2), np.array([[start, sign * v0]]))
    made = Polynomials(np.array(times), np.array(rows))
    if len(rows) > 1:
        made.coefficients[-1, 0] = 0.0
        made.coefficients[-1, 0] = end - made.at(made.duration)[0]
    return made


def _without_rounding(pieces: Ramp, v0: float) -> Ramp:
    """Remove pieces that are due to rounding: negligible in time, velocity and acceleration."""
    changes = np.array([[T, T * (a + T * j / 2.0), T * j] for T, a, j in pieces])
    most = np.array([changes[:, 0].sum(), max(v0, (v0 + np.cumsum(changes[:, 1])).max()), max(abs(a) for _, a, _ in pieces)])
    kept = (np.abs(changes) > RECURSION_ROUNDING * most).any(axis=1) & (changes[:, 0] > 0.0)
    return [piece for piece, keep in zip(pieces, kept, strict=True) if keep]
