"""Shapes of bodies whose file gives none that can be drawn: capsules from joint to joint, a housing about each axis, and a
rail where a joint slides."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.description import Shape
from dynamis.model.joints import Helical, Prismatic, Revolute
from dynamis.model.model import Model
from dynamis.model.shapes import between
from dynamis.spatial.pose import Pose

Array = npt.NDArray[Any]

CAPSULE_RADIUS = 0.032  # of the reach, at the base, which carries all masses
TIP_RADIUS = 0.38  # of CAPSULE_RADIUS, where no mass is left to carry
RAIL_RADIUS = 0.35  # of the radius of the capsules of what slides on it
LINKS = ((0.774, 0.805, 0.839, 1.0), (0.397, 0.504, 0.624, 1.0))  # linear colours, in turn along the tree
BASE, JOINT, SLIDE = (0.147, 0.184, 0.227, 1.0), (0.032, 0.171, 0.434, 1.0), (0.584, 0.089, 0.05, 1.0)


def link_shapes(model: Model, body: int, reach: float) -> list[Shape]:
    """The shapes of a body (0 is the base), in its own frame."""
    radii = _radii(model, reach)
    colour = LINKS[body % 2] if body else BASE
    made = [_capsule(np.zeros(3), end, radii[body], radius, colour) for end, radius in _ends(model, body, radii, reach)]
    centre = _centre_of_mass(model, body)
    if body and centre is not None:
        near = min(
            (_nearest(centre, end) for end, _ in _ends(model, body, radii, reach)), key=_distance_to(centre), default=None
        )
        near = np.zeros(3) if near is None else near
        if np.linalg.norm(centre - near) > radii[body]:
            made.append(_capsule(near, centre, radii[body], radii[body], colour))
    return made + _rails(model, body, radii, reach) + ([_housing(model, body, radii[body])] if body else [])


def _capsule(start: Array, end: Array, first: float, last: float, colour: tuple[float, ...]) -> Shape:
    origin, length = between(start, end)
    return Shape("visual", "tapered_capsule", (first, last, length), origin, rgba=colour)


def _housing(model: Model, body: int, radius: float) -> Shape:
    moving = model.bodies[body]
    assert moving is not None
    motion = moving.motion
    if not isinstance(motion, Revolute | Prismatic | Helical):
        return Shape("visual", "sphere", (1.35 * radius,), Pose.identity(), rgba=JOINT)
    origin, _ = between(np.zeros(3), np.asarray(motion.axis, dtype=float))
    here = Pose.rotation(origin.R)
    if isinstance(motion, Prismatic):
        return Shape("visual", "rounded_box", (2.5 * radius, 2.5 * radius, 4.0 * radius, 0.2 * radius), here, rgba=SLIDE)
    return Shape("visual", "cylinder", (1.22 * radius, 2.7 * radius), here, rgba=JOINT)


def _rails(model: Model, body: int, radii: list[float], reach: float) -> list[Shape]:
    """The rails on which the children of a body slide: over the joint's range, at most the reach to each side."""
    made = []
    for i in model.children[body]:
        child = model.bodies[i]
        if child is not None and isinstance(child.motion, Prismatic) and len(child.dof) == 1:
            coordinate = model.coordinates[child.dof[0]]
            axis = np.asarray(child.placement.R, dtype=float) @ np.asarray(child.motion.axis, dtype=float)
            low, high = sorted(child.ratio * x + child.offset for x in (coordinate.lower, coordinate.upper))
            foot = np.asarray(child.placement.p, dtype=float)
            start, end = (foot + axis * float(np.clip(x, -reach, reach)) for x in (low, high))
            made.append(_capsule(start, end, RAIL_RADIUS * radii[i], RAIL_RADIUS * radii[i], BASE))
    return made


def _radii(model: Model, reach: float) -> list[float]:
    """Capsules get thinner as less mass is left to carry."""
    carried = [0.0] * len(model.bodies)
    for i, body in reversed(model.moving):
        carried[i] += float(body.inertia.mass)
        carried[body.parent] += carried[i]
    most = max(carried[0], 1e-12)
    return [
        CAPSULE_RADIUS * reach * (TIP_RADIUS + (1.0 - TIP_RADIUS) * float(np.cbrt(max(mass, 0.0) / most))) for mass in carried
    ]


def _ends(model: Model, body: int, radii: list[float], reach: float) -> list[tuple[Array, float]]:
    """Where capsules from a body's origin lead, and their radii there.

    To the joints of its children; where it has none to its farthest frame, or as far again as its centre of mass.
    """
    coincident = 1e-4 * reach
    children = [(i, model.bodies[i]) for i in model.children[body]]
    found = [(np.asarray(b.placement.p, dtype=float), radii[i]) for i, b in children if b is not None and not b.is_rotor]
    if not found and body:
        frames = [np.asarray(f.pose.p, dtype=float) for f in model.frames.values() if f.body == body]
        far = max(frames, key=lambda p: float(np.linalg.norm(p)), default=np.zeros(3))
        centre = _centre_of_mass(model, body)
        if np.linalg.norm(far) <= coincident and centre is not None:
            far = 2.0 * centre
        found = [(far, 0.85 * radii[body])]
    return [(end, radius) for end, radius in found if np.linalg.norm(end) > coincident]


def _centre_of_mass(model: Model, body: int) -> Array | None:
    inertia = model.with_locked_rotors(body) if body else model.base
    return np.asarray(inertia.com, dtype=float) if float(inertia.mass) > 0.0 else None


def _nearest(point: Array, end: Array) -> Array:
    """The point of the line from the origin to ``end`` that is nearest to another."""
    return np.asarray(np.clip(point @ end / (end @ end), 0.0, 1.0) * end)


def _distance_to(point: Array) -> Any:
    return lambda other: float(np.linalg.norm(other - point))
