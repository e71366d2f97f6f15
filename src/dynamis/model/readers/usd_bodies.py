"""Shapes and mass properties of USD bodies: authored, or computed from density and collision shapes as the schema says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.model.description import MassProperties, Shape
from dynamis.model.readers.usd_files import Prim
from dynamis.model.readers.usd_values import Values
from dynamis.model.shapes import fault
from dynamis.spatial import solids
from dynamis.spatial.inertia import Inertia, seen_from
from dynamis.spatial.pose import Pose
from dynamis.tolerances import FILE_PRECISION, SMALLEST_INERTIA

Array = npt.NDArray[Any]
WATER = 1000.0  # kg/m³: the schema's density of a shape without one
ALONG = {"X": np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
         "Y": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]), "Z": np.eye(3)}  # fmt: skip
MASS = ("physics:mass", "physics:density", "physics:centerOfMass", "physics:diagonalInertia", "physics:principalAxes")


def shapes_of(values: Values, prim: Prim, X_WL: Pose) -> list[Shape]:
    """A shape as collision and visual of the link whose pose in the world is ``X_WL``; none for kinds we do not have."""
    X_WS, scale = values.placed(prim)
    made = _solid_shape(values, prim, scale * values.stage.meters)
    if made is None:
        values.leave(f"shapes of type {prim.type}", prim)
        return []
    kind, size, R = made
    X = X_WL.inverse() @ X_WS @ Pose.rotation(R)
    color = prim.attributes.get("primvars:displayColor")
    rgb = color[0] if isinstance(color, list) and len(color) == 1 and isinstance(color[0], list) else []
    opacity = prim.attributes.get("primvars:displayOpacity")
    alpha = opacity[0] if isinstance(opacity, list) and len(opacity) == 1 and isinstance(opacity[0], float) else 1.0
    rgba = (*map(float, rgb), alpha) if len(rgb) == 3 else None
    roles = ["collision"] if _collides(values, prim) else []
    roles += ["visual"] if prim.purpose not in ("guide", "hidden") else []
    found = [Shape(role, kind, size, X, rgba=rgba) for role in roles]
    unusable = fault(found[0]) if found else None
    if unusable is not None:
        values.report.warn("shape", f"prim {printable(prim.name)}", f"a {kind}: {unusable}", "lengths of 0 or more",
                           "correct its size", "the shape is left out", prim.line)  # fmt: skip
        return []
    return found


def _collides(values: Values, prim: Prim) -> bool:
    return prim.has("PhysicsCollisionAPI") and values.flag(prim, "physics:collisionEnabled", True)


def _solid_shape(values: Values, prim: Prim, unit: Array) -> tuple[str, tuple[float, ...], Array] | None:
    """(kind, size, rotation of its axis from z) of a primitive shape; ``unit`` [m] is the length of its units along x, y, z."""
    along = str(prim.attributes.get("axis", "Z"))
    R = ALONG.get(along, np.eye(3))
    across, length = np.abs(R.T @ unit)[:2], float((R.T @ unit)[2])
    round_, even = (bool(np.ptp(x) <= FILE_PRECISION * x.max()) for x in (across, unit))
    if prim.type == "Cube":
        return "box", tuple(float(x) for x in values.number(prim, "size", 2.0) * unit), np.eye(3)
    if prim.type == "Sphere":
        radii = values.number(prim, "radius", 1.0) * unit
        if even:
            return "sphere", (float(radii[0]),), np.eye(3)
        return "ellipsoid", tuple(map(float, radii)), np.eye(3)
    if (prim.type == "Cylinder" and round_) or (prim.type == "Capsule" and even):
        radius, height = (1.0, 2.0) if prim.type == "Cylinder" else (0.5, 1.0)
        size = (values.number(prim, "radius", radius) * float(across[0]), values.number(prim, "height", height) * length)
        return prim.type.lower(), size, R
    return None


def _inertia(shape: tuple[str, tuple[float, ...], Array], density: float) -> Inertia:
    kind, s, _ = shape
    match kind:
        case "box":
            return solids.box(*s, density=density)
        case "sphere":
            return solids.sphere(s[0], density=density)
        case "ellipsoid":
            return solids.ellipsoid(*s, density=density)
        case "cylinder":
            return solids.cylinder(s[0], s[1], density=density)
    r, h = s  # a capsule: a cylinder and two half balls, whose centres are 3/8 r from its ends
    whole = solids.cylinder(r, h, density=density)
    ball = solids.sphere(r, density=density)
    half = 0.5 * ball.mass
    across = 2.0 * (0.5 * ball.tensor[0, 0] + half * (0.25 * h * h + 0.375 * r * h))
    return Inertia(whole.mass + ball.mass, np.zeros(3), whole.tensor + np.diag([across, across, ball.tensor[2, 2]]))


def mass_properties(values: Values, body: Prim, X_WB: Pose, scale: Array, shapes: list[Prim]) -> MassProperties | None:
    """The mass properties of a body; None where it has neither mass nor collision shapes."""
    m, kg = values.stage.meters, values.stage.kilograms
    mass = _positive(values, body, "physics:mass") * kg
    moments = values.numbers(body, "physics:diagonalInertia", np.zeros(3)) * (kg * m * m)
    stated = values.numbers(body, "physics:centerOfMass", np.full(3, -math.inf), infinite=True)
    com = stated * scale * m if np.isfinite(stated).all() else None
    has_inertia = bool(moments.any()) or "dynamis:physics:diagonalInertia" in body.attributes
    if mass and max(mass, *np.abs(moments)) <= 2.0 * SMALLEST_INERTIA:
        return None  # as our writer writes moving links without mass
    colliders = [shape for shape in shapes if _collides(values, shape)]
    computed = None
    if not (mass and has_inertia and (com is not None or not colliders)) and colliders:
        computed = _of_colliders(values, body, X_WB, colliders)
        if computed is None:
            return None
    if computed is None or not computed.mass:
        if not mass:
            values.report.warn("no-mass", f"prim {printable(body.name)}", "no physics:mass and no collision shapes", "a mass",
                               "give physics:mass and physics:diagonalInertia", "the link has no mass", body.line)  # fmt: skip
            return None
        if not has_inertia:
            values.error("no-inertia", body, "it has a mass, but neither physics:diagonalInertia nor collision shapes",
                         "an inertia", "give physics:diagonalInertia, in the unit of mass times length squared")  # fmt: skip
            return None
        computed = Inertia.zero()
    mass = mass or float(computed.mass)
    if com is None:
        com = np.asarray(computed.com, float) if computed.mass else np.zeros(3)
    if has_inertia:
        R = values.rotation(body, "physics:principalAxes")
        tensor = R @ np.diag(moments) @ R.T
    else:
        tensor = np.asarray(computed.tensor_about_com, float) * (mass / float(computed.mass))
    return MassProperties(mass, com, 0.5 * (tensor + tensor.T), body.line)


def _of_colliders(values: Values, body: Prim, X_WB: Pose, colliders: list[Prim]) -> Inertia | None:
    """The inertia of the collision shapes: by the mass or density of each, the body's, its material's, or that of water."""
    m, kg = values.stage.meters, values.stage.kilograms
    total = Inertia.zero()
    for prim in colliders:
        X_WS, scale = values.placed(prim)
        shape = _solid_shape(values, prim, scale * m)
        if shape is None:
            values.error("no-inertia", body, f"its mass properties are to be computed from {prim.path} of type {prim.type}",
                         "physics:mass, physics:diagonalInertia and physics:centerOfMass, or primitive shapes",
                         "write these attributes; simulators that compute them can export them")  # fmt: skip
            return None
        if min(shape[1]) < 0.0:
            values.error("shape", prim, f"its size is {shape[1]}", "lengths of 0 or more", "correct its size")
            return None
        stated = [_positive(values, x, "physics:density") for x in (prim, body, *_materials(values, prim))]
        density = next((x * kg / m**3 for x in stated if x), WATER)
        mass = _positive(values, prim, "physics:mass") * kg
        inertia = _inertia(shape, density)
        if mass and inertia.mass:
            factor = mass / inertia.mass
            inertia = Inertia(mass, inertia.first_moment * factor, inertia.tensor * factor)
        total = total + seen_from(inertia, X_WB.inverse() @ X_WS @ Pose.rotation(shape[2]))
    return total


def _positive(values: Values, prim: Prim, name: str) -> float:
    """The number, or 0, which stands for one to be found elsewhere."""
    number = values.number(prim, name)
    if number < 0.0:
        values.wrong(prim, name, "0 or more", "correct it, or leave it out")
    return max(0.0, number)


def _materials(values: Values, prim: Prim) -> list[Prim]:
    paths = [path for name in ("material:binding:physics", "material:binding") for path in prim.targets.get(name, ())]
    return [values.stage.prims[path] for path in paths if path in values.stage.prims]
