"""Values of prims: numbers with their units, placements, and what is left aside.

Most attributes of the physics schema are single precision. An attribute ``dynamis:NAME`` beside NAME, in double precision, is
taken for it wherever it rounds to it: files written by Dynamis lose no digits, and a value edited by another program holds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import printable
from dynamis.model.diagnostics import Report
from dynamis.model.readers.usd_files import Prim, Stage
from dynamis.model.values import MAX_MAGNITUDE, shown
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import IDENTITY, from_quaternion
from dynamis.tolerances import FEW_ROUNDINGS, TYPED_PRECISION

Array = npt.NDArray[Any]
UNLIMITED = 1e30  # programs write the largest single-precision number for "no limit"
NOT_PHYSICS = ("xformOp", "primvars", "dynamis", "ui", "material", "omni", "semantic", "collection")


class Values:
    """Reads values of prims; findings go to the report, and something harmless is returned."""

    def __init__(self, stage: Stage, report: Report) -> None:
        self.stage, self.report = stage, report
        self.physics: dict[str, list[str]] = {}
        self.looks: dict[str, list[str]] = {}

    def wrong(self, prim: Prim, name: str, allowed: str, repair: str) -> None:
        found = f"{printable(name)[1:-1]} is {shown(prim.attributes.get(name))}"
        self.report.error("value", _where(prim), found, allowed, repair, prim.line)

    def error(self, code: str, prim: Prim, found: str, allowed: str, repair: str) -> None:
        self.report.error(code, _where(prim), found, allowed, repair, prim.line)

    def numbers(self, prim: Prim, name: str, default: Any, *, infinite: bool = False) -> Array:
        """The attribute as an array of as many numbers as the default; ``infinite`` ones may be allowed."""
        like = np.atleast_1d(np.array(default, float))
        if name not in prim.attributes:
            return like
        value = _array(prim.attributes[name])
        bad = value is None or value.shape != like.shape or bool(np.isnan(value).any())
        if value is None or bad or (not (np.abs(value) <= MAX_MAGNITUDE).all() and not (infinite and np.isinf(value).any())):
            count = "a number" if like.size == 1 else counted(like.size, "number")
            self.wrong(prim, name, f"{count}, finite and up to {MAX_MAGNITUDE:g}", "give it such a value")
            return like
        precise = _array(prim.attributes.get(f"dynamis:{name}"))
        if precise is not None and precise.shape == value.shape and (np.float32(precise) == np.float32(value)).all():
            return precise
        return value

    def number(self, prim: Prim, name: str, default: float = 0.0, *, infinite: bool = False) -> float:
        return float(self.numbers(prim, name, default, infinite=infinite)[0])

    def flag(self, prim: Prim, name: str, default: bool) -> bool:
        return bool(prim.attributes.get(name, default))

    def rotation(self, prim: Prim, name: str) -> Array:
        """R of a quaternion (w, x, y, z); 0 is no rotation, as the schema has it for principal axes."""
        w, x, y, z = self.numbers(prim, name, (1.0, 0.0, 0.0, 0.0))
        length = math.sqrt(w * w + x * x + y * y + z * z)
        if length == 0.0 or (x == y == z == 0.0):
            return IDENTITY
        if not 0.5 < length < 2.0:
            self.wrong(prim, name, "a quaternion of length 1", "normalise it")
            return IDENTITY
        return from_quaternion(np.array([x, y, z, w]) / length)

    def placed(self, prim: Prim) -> tuple[Pose, Array]:
        """(pose in the world in metres, scale along its axes) of a prim."""
        M = prim.matrix[:3, :3]
        scale = np.sqrt((M * M).sum(axis=1))
        if not np.isfinite(prim.matrix).all() or not (scale > 0.0).all() or scale.max() > MAX_MAGNITUDE:
            self.error("transform", prim, "its transform is singular or not finite", "rotation, translation and scale",
                       "correct its xformOp attributes")  # fmt: skip
            return Pose.identity(), np.ones(3)
        axes = M / scale[:, None]
        skewed = np.abs(axes @ axes.T - np.eye(3)).max() > TYPED_PRECISION
        if skewed or np.linalg.det(axes) < 0.0:
            found = "its transform shears it" if skewed else "its transform mirrors it"
            self.error(
                "transform", prim, found, "rotation, translation and positive scale", "apply the transform to its shapes"
            )
            return Pose.identity(), np.ones(3)
        U, _, Vt = np.linalg.svd(axes.T)
        exact = np.abs(axes @ axes.T - np.eye(3)).max() < FEW_ROUNDINGS
        return Pose(axes.T if exact else U @ Vt, prim.matrix[3, :3] * self.stage.meters), scale

    # what is left aside

    def leave(self, what: str, prim: Prim) -> None:
        """Physics without a counterpart, which a warning lists."""
        self.physics.setdefault(what, []).append(printable(prim.path)[1:-1])

    def leave_look(self, what: str, prim: Prim) -> None:
        """Appearance without a counterpart, which a note lists."""
        self.looks.setdefault(what, []).append(printable(prim.path)[1:-1])

    def leave_others(self, prim: Prim, known: tuple[str, ...]) -> None:
        """List the attributes and relationships of a body, joint or scene that are not read."""
        for name in (*prim.attributes, *prim.targets):
            space, colon, _ = name.partition(":")
            if colon and space not in NOT_PHYSICS and not name.startswith(known) and _acts(prim.attributes.get(name, True)):
                self.leave(printable(name)[1:-1], prim)
        if prim.animated:
            self.leave("animation (the earliest values are taken)", prim)

    def tell(self) -> None:
        cure = "model what matters in Python: controllers, contacts, friction"
        self.report.warn_aside("stage", self.physics, "bodies, joints, limits and mass properties", cure)
        self.report.note_aside("stage", self.looks)


def _acts(value: Any) -> bool:
    """Whether a value is neither 0, off nor unlimited."""
    array = _array(value)
    return bool(value) if array is None else bool(((array != 0.0) & (np.abs(array) < UNLIMITED)).any())


def _array(value: Any) -> Array | None:
    try:
        array = np.atleast_1d(np.array(value))
    except ValueError:  # of unequal lengths
        return None
    return array.astype(float) if array.dtype.kind in "iuf" else None


def _where(prim: Prim) -> str:
    return f"prim {printable(prim.name)}"
