"""Inertias of homogeneous solids about their centre of mass, by mass or by density.

Each takes ``mass=`` or ``density=`` (exactly one) and returns an `Inertia` whose origin is the centre of mass.
Axes of symmetry are along z. Move the result with ``inertia.seen_from(pose)``.

>>> float(sphere(radius=0.5, mass=10.0).tensor[2, 2])
1.0
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dynamis.errors import InputError, literal
from dynamis.scalar import Node, is_number
from dynamis.spatial.inertia import Inertia

__all__ = ["box", "cylinder", "disc", "ellipsoid", "hollow_cylinder", "point_mass", "rod", "sphere"]


def _check(mass: Any, density: Any = None, **lengths: Any) -> None:
    stated = {name: value for name, value in (("mass", mass), ("density", density)) if value is not None}
    for name, value in {**lengths, **stated}.items():
        if not isinstance(value, Node) and not (is_number(value) and math.isfinite(value) and value >= 0.0):
            raise InputError(f"{name} must be a finite number that is not negative, or a symbol, got {literal(value)}")
    if len(stated) != 1:
        raise InputError("give exactly one of mass= and density=")


def _solid(xx: Any, yy: Any, zz: Any, mass: Any) -> Inertia:
    # (xx, yy, zz) are the moments of a unit mass
    return Inertia(mass, np.zeros(3), np.diag(np.array([mass * xx, mass * yy, mass * zz])))


def point_mass(*, mass: Any) -> Inertia:
    """A point mass: no inertia about its centre.

    >>> bool(point_mass(mass=2.0).tensor.any())
    False
    """
    _check(mass)
    return _solid(0.0, 0.0, 0.0, mass)


def sphere(radius: Any, *, mass: Any = None, density: Any = None) -> Inertia:
    """A solid sphere: 2/5 m r².

    >>> float(sphere(1.0, mass=5.0).tensor[0, 0])
    2.0
    """
    _check(mass, density, radius=radius)
    k = 0.4 * radius * radius
    return _solid(k, k, k, density * (4.0 / 3.0 * math.pi * radius * radius * radius) if mass is None else mass)


def box(x: Any, y: Any, z: Any, *, mass: Any = None, density: Any = None) -> Inertia:
    """A solid box with sides x, y and z: m (y² + z²) / 12 about x, and cyclically.

    >>> box(1.0, 2.0, 3.0, mass=12.0).tensor.diagonal().tolist()
    [13.0, 10.0, 5.0]
    """
    _check(mass, density, x=x, y=y, z=z)
    xx, yy, zz = x * x / 12.0, y * y / 12.0, z * z / 12.0
    return _solid(yy + zz, xx + zz, xx + yy, density * (x * y * z) if mass is None else mass)


def cylinder(radius: Any, length: Any, *, mass: Any = None, density: Any = None) -> Inertia:
    """A solid cylinder along z: ½ m r² about its axis.

    >>> float(cylinder(1.0, 2.0, mass=4.0).tensor[2, 2])
    2.0
    """
    _check(mass, density, radius=radius, length=length)
    return hollow_cylinder(radius, 0.0, length, mass=mass, density=density)


def hollow_cylinder(outer: Any, inner: Any, length: Any, *, mass: Any = None, density: Any = None) -> Inertia:
    """A tube along z: ½ m (a² + b²) about its axis, m (3 (a² + b²) + h²) / 12 across it.

    Seed 003 prints b² for the last h²; deriving the integral gives h².

    >>> hollow_cylinder(2.0, 1.0, 3.0, mass=2.0).tensor.diagonal().tolist()
    [4.0, 4.0, 5.0]
    """
    _check(mass, density, outer=outer, inner=inner, length=length)
    if is_number(outer) and is_number(inner) and inner > outer:
        raise InputError(f"the inner radius {inner} is larger than the outer {outer}")
    squares = outer * outer + inner * inner
    across = (3.0 * squares + length * length) / 12.0
    volume = math.pi * (outer * outer - inner * inner) * length
    return _solid(across, across, squares / 2.0, density * volume if mass is None else mass)


def rod(length: Any, *, mass: Any) -> Inertia:
    """A thin rod along z: m l² / 12 about x and y.

    >>> rod(2.0, mass=3.0).tensor.diagonal().tolist()
    [1.0, 1.0, 0.0]
    """
    _check(mass, length=length)
    k = length * length / 12.0
    return _solid(k, k, 0.0, mass)


def disc(radius: Any, *, mass: Any) -> Inertia:
    """A thin disc normal to z: ½ m r² about its axis, ¼ m r² about a diameter.

    >>> disc(2.0, mass=1.0).tensor.diagonal().tolist()
    [1.0, 1.0, 2.0]
    """
    _check(mass, radius=radius)
    k = radius * radius / 4.0
    return _solid(k, k, 2.0 * k, mass)


def ellipsoid(a: Any, b: Any, c: Any, *, mass: Any = None, density: Any = None) -> Inertia:
    """A solid ellipsoid with half-axes a, b and c: m (b² + c²) / 5 about x, and cyclically.

    >>> ellipsoid(1.0, 2.0, 3.0, mass=5.0).tensor.diagonal().tolist()
    [13.0, 10.0, 5.0]
    """
    _check(mass, density, a=a, b=b, c=c)
    xx, yy, zz = a * a / 5.0, b * b / 5.0, c * c / 5.0
    return _solid(yy + zz, xx + zz, xx + yy, density * (4.0 / 3.0 * math.pi * a * b * c) if mass is None else mass)
