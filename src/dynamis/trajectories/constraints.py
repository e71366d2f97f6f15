"""Limits of torque, velocity and acceleration along a path, as rows a u + b x + c + k √x ≤ 0 with x = ṡ² and u = s̈.

    v = q' ṡ                          |v| ≤ v_max  ⇔  q'² x ≤ v_max²
    a = q' u + q'' x
    τ = M q' u + (M q'' + C(q, q') q') x + g + springs + F_s sgn(q') + F_v q' √x

The sign of dry friction is constant within an interval, since intervals end where a joint reverses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.robot import Robot
from dynamis.trajectories.motion import PathMotion, Polynomials, State
from dynamis.trajectories.reachability import Interval

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of each joint, infinite for none."""

    torque: Array
    velocity: Array
    acceleration: Array


def intervals(robot: Robot, path: Polynomials, limits: Limits, s: Array, tight: Array) -> list[Interval]:
    """The intervals of the path between points s (N + 1), with the limits at both ends, multiplied by ``tight`` (N)."""
    middle = 0.5 * (s[:-1] + s[1:])
    piece = np.searchsorted(path.times[1:-1], middle, side="right")
    direction = np.sign(path.on_pieces(middle, piece)[1])
    slowest = 1e-6 * path.duration  # per second: below it, the tangent of √x is that at this rate

    def between(part: slice, *, resting: bool) -> list[Interval]:
        ends = [
            _rows(robot, limits, path.on_pieces(at[part], piece[part]), direction[part], tight[part], resting)
            for at in (s[:-1], s[1:])
        ]
        lengths = np.diff(s)[part]
        return [Interval(float(length), a, b, slowest) for length, a, b in zip(lengths, *ends, strict=True)]

    first, inner, last = slice(0, 1), slice(1, -1), slice(len(middle) - 1, None)
    return between(first, resting=True) + between(inner, resting=False) + between(last, resting=True)


def _rows(robot: Robot, limits: Limits, at: State, direction: Array, tight: Array, resting: bool) -> Array:
    q, q1, q2 = at
    zero, parts = np.zeros_like(q1), []
    bound = np.isfinite(limits.torque)
    if bound.any():
        now, more = robot.torque_ledger(q, q1, q1), robot.torque_ledger(q, zero, q2)
        a, b, still = now.inertia + now.rotor, more.inertia + more.rotor + now.coriolis, now.gravity + now.spring
        model = robot.model
        dry = np.asarray(model.coulomb * direction + model.coulomb_bias * direction**2)
        moving = np.stack([a, b, still + dry, now.viscous], axis=-1)[:, bound] / limits.torque[bound, None]
        parts += _both_signs(moving, tight)
        if resting:
            # there inverse dynamics has no dry friction: the limits hold without it too
            parts += _both_signs(np.stack([a, b, still, now.viscous], axis=-1)[:, bound] / limits.torque[bound, None], tight)
    bound = np.isfinite(limits.acceleration)
    if bound.any():
        parts += _both_signs(np.stack([q1, q2, zero, zero], axis=-1)[:, bound] / limits.acceleration[bound, None], tight)
    bound = np.isfinite(limits.velocity)
    if bound.any():
        squares = (q1[:, bound] / limits.velocity[bound]) ** 2
        most = np.broadcast_to(-(tight[:, None] ** 2), squares.shape)
        parts.append(np.stack([0.0 * squares, squares, most, 0.0 * squares], axis=-1))
    return np.concatenate(parts, axis=1)


def _both_signs(rows: Array, tight: Array) -> list[Array]:
    """|a u + b x + c| ≤ tight as two rows each."""
    minus = np.zeros_like(rows)
    minus[..., 2] = tight[:, None]
    return [rows - minus, -rows - minus]


def use(robot: Robot, limits: Limits, motion: PathMotion, t: Array) -> Array:
    """(…, 3, n): utilisation of the limits of torque, velocity and acceleration at the times."""
    q, v, a = motion.at(t)
    torque = robot.inverse_dynamics(q, v, a) if np.isfinite(limits.torque).any() else 0.0 * v
    return np.stack([abs(torque) / limits.torque, abs(v) / limits.velocity, abs(a) / limits.acceleration], axis=-2)
