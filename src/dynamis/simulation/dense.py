"""Interpolation of a motion between its output points: the integrator's dense output, or cubic polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.configuration_rate import configuration_rate
from dynamis.model.joints import Free, Spherical
from dynamis.model.model import Body, Model
from dynamis.simulation.pieces import Pieces
from dynamis.spatial import rotation

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Dense:
    """Dense output of adaptive integration: pieces from ``start`` up to each of ``ends``, with sliding directions."""

    nq: int
    start: float
    ends: tuple[float, ...]
    pieces: tuple[Any, ...]
    directions: tuple[dict[int, int], ...]

    @staticmethod
    def of(nq: int, start: float, pieces: Pieces) -> Dense | None:
        if not pieces.pieces:
            return None
        return Dense(nq, start, tuple(pieces.ends), tuple(pieces.pieces), tuple(pieces.directions))

    def followed_by(self, later: Dense | None) -> Dense:
        if later is None:
            return self
        joined = {name: getattr(self, name) + getattr(later, name) for name in ("ends", "pieces", "directions")}
        return Dense(self.nq, self.start, **joined)

    def until(self, t: float) -> Dense:
        """The part before a time."""
        count = int(np.searchsorted(self.ends, t, side="left"))
        if count >= len(self.ends):
            return self
        return Dense(self.nq, self.start, (*self.ends[:count], t), self.pieces[: count + 1], self.directions[: count + 1])

    def states(self, times: Array) -> Array:
        """Full states (N, …) at these times; sticking joints have zero velocity."""
        where = np.searchsorted(self.ends, times, side="left").clip(0, len(self.pieces) - 1)
        result: Array | None = None
        for k in np.unique(where):
            chosen = where == k
            found = self.pieces[k](times[chosen]).T
            found[:, [self.nq + j for j, s in self.directions[k].items() if s == 0]] = 0.0
            if result is None:
                result = np.empty((len(times), found.shape[1]))
            result[chosen] = found
        assert result is not None
        return result

    def last(self) -> Array:
        """The state at the end."""
        return self.states(np.array([self.ends[-1]]))[0]


def unit_quaternions(model: Model, q: Array) -> Array:
    """Configurations (N, nq) with normalised quaternions."""
    result = q.copy()
    for _, body in model.moving:
        if body.motion.nq > body.motion.nv:
            part = result[:, body.q_index.stop - 4 : body.q_index.stop]
            part /= np.linalg.norm(part, axis=1, keepdims=True)
    return result


def between_points(model: Model, t: Array, q: Array, v: Array, times: Array) -> tuple[Array, Array]:
    """(q, v) at times inside t, by cubic Hermite interpolation between the two adjacent points.

    Quaternions are interpolated by components and normalised, which keeps the order. v is the derivative of the polynomial, so
    that q and v are consistent.
    """
    if len(t) == 1:
        return np.repeat(q, len(times), axis=0), np.repeat(v, len(times), axis=0)
    k = np.searchsorted(t, times, side="right").clip(1, len(t) - 1) - 1
    h = (t[k + 1] - t[k])[:, None]
    s = ((times - t[k])[:, None] / h).clip(0.0, 1.0)
    needed = np.unique(np.concatenate([k, k + 1]))
    rates = np.zeros((len(t), model.nq))
    rates[needed] = [configuration_rate(model, q[j], v[j]) for j in needed]
    q0, q1, r0, r1 = q[k], q[k + 1].copy(), h * rates[k], h * rates[k + 1]
    for part in _quaternions(model):
        # q and −q are the same rotation: the shorter way
        turned = np.sum(q0[:, part] * q1[:, part], axis=1) < 0.0
        q1[turned, part] *= -1.0
        r1[turned, part] *= -1.0
    way = q1 - q0
    place = q0 + s * r0 + s * s * (3.0 * way - 2.0 * r0 - r1) + s**3 * (r0 + r1 - 2.0 * way)
    rate = (r0 + 2.0 * s * (3.0 * way - 2.0 * r0 - r1) + 3.0 * s * s * (r0 + r1 - 2.0 * way)) / h
    return unit_quaternions(model, place), velocities(model, place, rate)


def _quaternions(model: Model) -> Sequence[slice]:
    bodies = [body for _, body in model.moving if body.motion.nq > body.motion.nv]
    return [slice(body.q_index.stop - 4, body.q_index.stop) for body in bodies]


def velocities(model: Model, q: Array, rate: Array) -> Array:
    """v (N, n) from q and q̇ (N, nq): the inverse of `configuration_rate`; quaternions may have any nonzero norm."""
    v = np.zeros((len(q), model.n))
    for _, body in model.moving:
        if body.ratio != 1.0 or body.offset != 0.0:
            continue
        v[:, list(body.dof)] = _body_velocity(body, q[:, body.q_index], rate[:, body.q_index])
    return v


def _body_velocity(body: Body, q: Array, rate: Array) -> Array:
    match body.motion:
        case Spherical():
            return _angular_velocity(q, rate)
        case Free():
            unit = q[:, 3:] / np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
            moved = [rotation.from_quaternion(x).T @ p for x, p in zip(unit, rate[:, :3], strict=True)]
            return np.hstack([np.reshape(moved, (-1, 3)), _angular_velocity(q[:, 3:], rate[:, 3:])])
    return rate


def _angular_velocity(x: Array, rate: Array) -> Array:
    """ω = 2 x* ẋ / |x|², independent of the component of ẋ along x."""
    conjugate = x * np.array([-1.0, -1.0, -1.0, 1.0])
    product = rotation.multiply_quaternions(conjugate.T, rate.T)[:3].T
    return np.asarray(2.0 * product / np.sum(x * x, axis=1, keepdims=True))
