"""The same motion from fewer numbers: inertia that can be moved across a joint is moved towards the base.

What lies on a revolute joint's axis belongs to both of its bodies: mass, the first moment along the axis, and a transverse
moment of inertia equal in all directions can be given to the parent without changing any torque or wrench. A prismatic
joint lets the whole tensor pass, a spherical one the mass at its centre. This is the regrouping of the minimal inertial
parameters [Khalil & Dombre 2002, §9.4.2]; here it serves computation: zeros cost nothing. The regrouped bodies are not
physical, the torques, the mass matrix and the accelerations are those of the model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.joints import Prismatic, Revolute, Spherical, Spin
from dynamis.model.model import Body, Model
from dynamis.spatial.inertia import Inertia, seen_from

Array = npt.NDArray[Any]


def regroup(model: Model) -> Model:
    """A model with the same dynamics and sparser inertias; what reaches a fixed base vanishes."""
    inertias = [model.base] + [body.inertia for _, body in model.moving]
    for i, body in reversed(model.moving):
        moved = _movable(body, inertias[i])
        if moved is not None:
            inertias[i] = Inertia.from_parameters(_clean(inertias[i].parameters - moved.parameters))
            if body.parent > 0:
                inertias[body.parent] = inertias[body.parent] + seen_from(moved, body.placement)
    bodies = tuple(None if b is None else replace(b, inertia=inertias[i]) for i, b in enumerate(model.bodies))
    return replace(model, bodies=bodies)


def _movable(body: Body, inertia: Inertia) -> Inertia | None:
    motion = body.motion
    if isinstance(motion, Revolute | Spin):
        u = motion.axis
        across = np.eye(3) - np.outer(u, u)
        # the direction across the axis whose moment is taken away: the coordinate axis least along it
        e = across[_least_along(u)]
        transverse = np.dot(e, inertia.tensor @ e) / np.dot(e, e)
        return Inertia(inertia.mass, u * np.dot(u, inertia.first_moment), transverse * across)
    if isinstance(motion, Prismatic):
        return Inertia(0.0, np.zeros(3), inertia.tensor)
    if isinstance(motion, Spherical):
        return Inertia(inertia.mass, np.zeros(3), np.zeros((3, 3)))
    return None


def _least_along(u: Array) -> int:
    plain = [abs(x) if isinstance(x, float | int) else 1.0 for x in u]
    return 2 - int(np.argmin(plain[::-1]))  # the last of equals


def _clean(parameters: Array) -> Array:
    if parameters.dtype == object:
        return parameters
    size = np.abs(parameters).max()
    return np.where(np.abs(parameters) <= 1e-15 * size, 0.0, parameters)
