"""The rate of the configuration: q̇ from v, and steps along it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.joints import Free, Spherical
from dynamis.model.model import Model
from dynamis.scalar import sqrt
from dynamis.spatial import rotation

Array = npt.NDArray[Any]


def configuration_rate(model: Model, q: Array, v: Array) -> Array:
    """q̇: equal to v, and for quaternions half of the quaternion times the angular velocity."""
    rate = np.empty(model.nq, dtype=object if object in (q.dtype, v.dtype) else float)
    for _, body in model.moving:
        own, rates = q[body.q_index], v[list(body.dof)]
        match body.motion:
            case Spherical():
                rate[body.q_index] = _spin(own, rates)
            case Free():
                turned = rotation.from_quaternion(own[3:]) @ rates[:3]
                rate[body.q_index] = np.concatenate([turned, _spin(own[3:], rates[3:])])
            case _:
                rate[body.q_index] = rates
    return rate


def moved(model: Model, q: Array, rate: Array) -> Array:
    """q + rate, projected to the manifold."""
    return normalised(model, q + rate)


def normalised(model: Model, q: Array) -> Array:
    """The configuration with quaternions of norm 1."""
    result = q
    for _, body in model.moving:
        if body.motion.nq > body.motion.nv:
            part = slice(body.q_index.stop - 4, body.q_index.stop)
            result = result.copy() if result is q else result
            result[part] = result[part] / sqrt(np.dot(result[part], result[part]))
    return result


def _spin(quaternion: Array, w: Array) -> Array:
    return 0.5 * rotation.multiply_quaternions(quaternion, np.array([*w, 0.0]))
