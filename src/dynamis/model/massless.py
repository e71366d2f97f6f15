"""Motions that move no mass: where one exists, the mass matrix is singular and forward dynamics has no answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.model.model import Model
from dynamis.scalar.linear import PIVOT_TOLERANCE
from dynamis.spatial.inertia import Inertia

Array = npt.NDArray[Any]

MAX_DOF_FOR_RANK = 200  # for which the rank of M is computed on loading: its cost grows with their cube
CURE = "give the links that these joints carry mass and inertia, give the joints rotor inertia, or make them fixed"

CURE_WITH_LOOPS = "none, if the robot moves with its loops closed, by dynamis.constrained(robot): these may exclude the motion"


def massless_motion(model: Model, q: Array) -> Array | None:
    """A direction of v (n) without kinetic energy at q, its largest entry 1; None where M(q) is regular.

    M = AᵀA, where A stacks √𝓘ᵢ Jᵢ of every body and the square roots of the rotor inertias: the rank of A is determined by its
    singular values, without squaring.
    """
    J = [np.zeros((6, model.n))]
    rows = [np.diag(np.sqrt(np.maximum(np.asarray(model.rotor, dtype=float), 0.0)))]
    for _, body in model.moving:
        own = body.pose(q).twist_inward(J[body.parent])
        own[:, list(body.dof)] += body.S
        J.append(own)
        values, vectors = np.linalg.eigh(body.inertia.matrix())
        rows.append((vectors * np.sqrt(np.maximum(values, 0.0))).T @ own)
    A = np.vstack(rows)
    size = np.linalg.norm(A, axis=0)
    if not np.isfinite(A).all() or not model.n:
        return None
    if not size.all():
        return np.where(np.arange(model.n) == int(np.argmin(size)), 1.0, 0.0)
    _, singular, directions = np.linalg.svd(A / size)
    if len(singular) == model.n and singular[-1] ** 2 > PIVOT_TOLERANCE["double"] * singular[0] ** 2:
        return None
    motion = directions[-1] / size
    return motion / motion[int(np.abs(motion).argmax())]


def always_massless(model: Model) -> Array | None:
    """A motion without kinetic energy at a random configuration, if every configuration has one."""
    if model.symbolic or all(is_regular(body.inertia) for _, body in model.moving if not body.is_rotor):
        return None
    rng = np.random.default_rng(0)
    motion: Array | None = None
    for _ in range(3):  # random configurations; one regular configuration proves the robot regular
        motion = massless_motion(model, _random_configuration(model, rng))
        if motion is None:
            return None
    return motion


def joints_in(model: Model, motion: Array) -> list[str]:
    """The joints that take part in a motion."""
    size = np.abs(motion)
    # joints with smaller components of the motion are not named
    return list(dict.fromkeys(c.joint for c, x in zip(model.coordinates, size, strict=True) if x > 0.05 * size.max()))


def describe_motion(model: Model, motion: Array) -> str:
    """Which joints move without moving mass."""
    joints = joints_in(model, motion)
    names = ", ".join(map(printable, joints[:8])) + (", …" if len(joints) > 8 else "")
    if len(joints) == 1:
        return f"joint {names} can move without moving any mass"
    return f"joints {names} can move together without moving any mass"


def new_massless_motion(model: Model, before: Model) -> str:
    """Which joints move without moving mass, and what follows; empty where they did before, or if there are none."""
    motion = always_massless(model)
    if motion is None or always_massless(before) is not None:
        return ""
    return f"{describe_motion(model, motion)}: forward dynamics and simulation will refuse; {CURE}"


def is_regular(inertia: Inertia) -> bool:
    """Whether every twist of the body has kinetic energy; a symbolic body is taken to."""
    if inertia.parameters.dtype == object:
        return True
    values = np.linalg.eigvalsh(inertia.tensor_about_com) if inertia.mass > 0.0 else np.zeros(3)
    return bool(values[0] > PIVOT_TOLERANCE["double"] * values[-1])


def _random_configuration(model: Model, rng: np.random.Generator) -> Array:
    q = np.zeros(model.nq)
    for _, body in model.moving:
        if body.ratio == 1.0 and body.offset == 0.0:
            one = np.ones(body.motion.nq)
            q[body.q_index] = body.motion.random(rng, -one, one, 1)[0]
    return q
