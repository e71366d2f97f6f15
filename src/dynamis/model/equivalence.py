"""Whether two models are the same robot: the poses of their frames and the inertias of their bodies at one configuration."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.model import Model
from dynamis.spatial.inertia import seen_from
from dynamis.spatial.pose import Pose

Array = npt.NDArray[Any]


def are_equivalent(one: Model, other: Model, tolerance: float) -> bool:
    """Whether all frames of ``one`` and all bodies are in the same places in ``other``, relative to the robot's own size.

    The joints have one coordinate each. Every one is moved by another amount, so that the axes are compared as well.
    """
    if one.nq != other.nq or len(one.bodies) != len(other.bodies) or any(name not in other.frames for name in one.frames):
        return False
    length = _length(one, np.zeros(one.nq))
    q = np.array([(0.1 + 0.3 * k) * (1.0 if c.revolute else length) for k, c in enumerate(one.coordinates)])
    length = _length(one, q)
    ours, theirs = _bodies(one, q), _bodies(other, q)
    for name, frame in one.frames.items():
        a, b = ours[frame.body] @ frame.pose, theirs[other.frames[name].body] @ other.frames[name].pose
        if np.abs(a.R - b.R).max() > tolerance or np.abs(a.p - b.p).max() > tolerance * length:
            return False
    return all(
        _same_inertia(
            seen_from(body.inertia, ours[i]).parameters, seen_from(their.inertia, theirs[i]).parameters, tolerance, length
        )
        for (i, body), (_, their) in zip(one.moving, other.moving, strict=True)
    )


def _length(model: Model, q: Array) -> float:
    """How far the robot's frames are from its base."""
    X_W = _bodies(model, q)
    return max(float(np.abs((X_W[frame.body] @ frame.pose).p).max()) for frame in model.frames.values()) or 1.0


def _bodies(model: Model, q: Array) -> list[Pose]:
    """The poses of the bodies, the base's first."""
    X_W = [Pose.identity()]
    for _, body in model.moving:
        X_W.append(X_W[body.parent] @ body.pose(q))
    return X_W


def _same_inertia(a: Array, b: Array, tolerance: float, length: float) -> bool:
    mass, first, second = abs(a[0]), np.abs(a[1:4]).max(), np.abs(a[4:]).max()
    scales = np.array([mass, *[first + mass * length] * 3, *[second + first * length + mass * length**2] * 6])
    return bool((np.abs(a - b) <= tolerance * scales).all())
