"""Obstacles: shapes at rest in the world, or carried by a link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dynamis.collision.geometry import Part, parts_of
from dynamis.display import as_call, as_table
from dynamis.errors import InputError, printable
from dynamis.kinematics.targets import as_pose
from dynamis.model.description import Shape
from dynamis.model.shapes import SIZES, fault
from dynamis.spatial.checks import finite, shape_of
from dynamis.spatial.pose import Pose

KINDS = {**SIZES, "half_space": ()}


@dataclass(frozen=True, eq=False, repr=False)
class Obstacle:
    """A shape at rest in the world, or carried by a link.

    ``kind`` is box (size = x, y, z), rounded_box (x, y, z, radius of its edges), sphere (radius), capsule or cylinder (radius,
    length), tapered_capsule (radius at −z, radius at +z, length), ellipsoid (semi-axes), half_space (without size) or mesh.
    ``pose`` is that of its centre: a `Pose`, a 4 × 4 matrix or a position, in the world, or in ``frame``, a link or fixed frame
    that carries it. Axes are along z; a half-space is what lies below the xy plane of its pose. A mesh is the convex hull of
    the file ``mesh``, its size three factors (default 1).

    >>> import dynamis as dy
    >>> dy.collision.Obstacle("box", (1.0, 0.6, 0.05), (0.5, 0.0, -0.1)).pose.p
    array([ 0.5,  0. , -0.1])
    """

    kind: str
    size: Sequence[float] | float = ()
    pose: Any = field(default_factory=Pose.identity)
    mesh: str = ""
    frame: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind={printable(self.kind)} is unknown; choose {', '.join(KINDS)}")
        if (self.kind == "mesh") != bool(self.mesh):
            raise InputError('a mesh is given as Obstacle("mesh", mesh="part.stl"); other kinds have no mesh=')
        names = KINDS[self.kind]
        given = (1.0, 1.0, 1.0) if self.kind == "mesh" and not np.size(self.size) else self.size
        expected = f"({', '.join(names)})" if names else "nothing"
        try:
            numbers = np.atleast_1d(np.asarray(given, dtype=float))
        except (TypeError, ValueError):
            numbers = np.full(1, np.nan)
        size = tuple(numbers.tolist())
        if numbers.shape != (len(names),) or not np.isfinite(numbers).all():
            raise InputError(f"size= of a {self.kind} is {expected} in m, got {given!r}")
        place = self.pose
        pose = Pose.translation(finite(place, (3,), "pose")) if shape_of(place) == (3,) else as_pose(place, "pose")
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "pose", pose)
        if self.kind in SIZES and (wrong := fault(self.shape)) is not None:
            raise InputError(f"size= of a {self.kind} is {expected} in m: {wrong}")

    @property
    def shape(self) -> Shape:
        """The shape, whose origin is in the world or in its frame."""
        size: Any = self.size
        return Shape("collision", self.kind, size, self.pose, self.mesh)

    def parts(self) -> list[Part]:
        """Its convex parts; the file of a mesh is found from the working folder."""
        if self.kind != "mesh":
            return parts_of(self.shape, None)
        path = Path(self.mesh)
        named = Shape("collision", "mesh", self.shape.size, self.pose, path.name)
        try:
            return parts_of(named, path.resolve().parent)
        except (InputError, OSError) as error:
            raise InputError(f"the mesh {printable(self.mesh)} of an obstacle cannot be used: {error}") from None

    __repr__ = as_call
    _repr_html_ = as_table
