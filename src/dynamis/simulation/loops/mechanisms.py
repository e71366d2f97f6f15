"""Example mechanisms: four-bar, five-bar, slider-crank, and a Delta robot with massless rods.

The planar ones lie in the x–y plane, turn about z, and have gravity along −y; their bars are thin and uniform, along x of
their own frames. Each has an assembled home configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.kinematics.closures import Closure, Distance, InPlane, Pin, Point
from dynamis.model.description import Description
from dynamis.robot import Robot
from dynamis.scalar import is_number
from dynamis.simulation.contact_equations import Contacts
from dynamis.simulation.loops.constrained_robot import ConstrainedRobot
from dynamis.spatial import Inertia, Pose, about_axis, solids
from dynamis.spatial.checks import finite

Array = npt.NDArray[Any]
DOWN = (0.0, -9.81, 0.0)
Z = np.array([0.0, 0.0, 1.0])
PINS: dict[str, Callable[[str, str], Closure]] = {"plane": partial(InPlane, normal_frame="base"), "pin": Pin, "point": Point}


def _mechanism(d: Description, closures: tuple[Closure, ...], q: Array) -> ConstrainedRobot:
    return ConstrainedRobot(Robot(d), Contacts(closures=closures), q)


def _bar(length: float, mass: float) -> Inertia:
    k = mass * length * length / 12.0
    return Inertia.about_com(mass, (0.5 * length, 0.0, 0.0), np.diag([0.0, k, k]))


def _at(x: float, y: float = 0.0) -> Pose:
    return Pose.translation((x, y, 0.0))


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not (is_number(value) and 0.0 < value < np.inf):
            raise InputError(f"{name}= must be a positive number, got {value!r}")


def _finite(value: Any, shape: tuple[int, ...], name: str) -> Any:
    """A number, or a list of them."""
    return finite(value, shape, f"{name}=").tolist()


def _chain(d: Description, at: Pose, names: Sequence[str], lengths: Sequence[float], masses: Sequence[float]) -> None:
    """A serial chain of bars from a point of the base; the end of the last bar is a frame ``…_end``."""
    parent, place = "base", at
    for name, length, mass in zip(names, lengths, masses, strict=True):
        d.add_link(name, parent, "continuous", joint_name=name, origin=place, axis=Z, inertia=_bar(length, mass))
        parent, place = name, _at(length)
    d.add_link(f"{parent}_end", parent, origin=place)


def _pinned(kind: str, frame_a: str, frame_b: str) -> tuple[Closure, ...]:
    if kind not in PINS:
        raise InputError(f"closed_by={kind!r} is unknown; choose {', '.join(map(repr, PINS))}")
    return (PINS[kind](frame_a, frame_b),)


def _meeting(a: Array, radius_a: float, b: Array, radius_b: float, side: int) -> Array:
    """Intersection of circles about a and b, to the left (side 1) or right (−1) of the line from a to b."""
    d = b - a
    apart = float(np.linalg.norm(d))
    along = (apart * apart + radius_a * radius_a - radius_b * radius_b) / (2.0 * apart) if apart else np.inf
    high = radius_a * radius_a - along * along
    if not high >= -1e-12 * radius_a * radius_a:
        raise InputError(
            f"the loop cannot close: bars of {radius_a:.6g} m and {radius_b:.6g} m do not meet between points {apart:.6g} m "
            f"apart"
        )
    return a + (along * d + side * np.sqrt(max(high, 0.0)) * np.array([-d[1], d[0]])) / apart


def _angle(a: Array, b: Array) -> float:
    return float(np.arctan2(b[1] - a[1], b[0] - a[0]))


def _turned(angle: float, length: float) -> Array:
    return length * np.array([np.cos(angle), np.sin(angle)])


def four_bar(
    ground: float = 1.0,
    crank: float = 0.3,
    coupler: float = 0.9,
    rocker: float = 0.7,
    *,
    masses: Sequence[float] = (0.5, 1.5, 1.2),
    angle: float = np.pi / 3,
    side: int = 1,
    closed_by: str = "plane",
    gravity: Sequence[float] = DOWN,
) -> ConstrainedRobot:
    """Crank and rocker on the ground, the coupler between their ends: one degree of freedom.

    Coordinates are crank, coupler (relative to the crank) and rocker. ``masses`` are those of the three bars, ``angle`` the
    crank's, ``side`` the branch: 1 where the coupler's end is left of the line from the crank's end to the rocker's pivot.
    ``closed_by`` is "plane", "pin" (three redundant rows) or "point" (one redundant row).

    >>> loop = four_bar()
    >>> loop.home().round(4)
    array([ 1.0472, -0.5398,  1.6615])
    >>> motion = loop.simulate(0.5, points=11)
    >>> motion.status, bool(motion.drift.max() < 1e-12), motion.constraint_forces.shape
    ('completed', True, (11, 2))
    """
    _positive(ground=ground, crank=crank, coupler=coupler, rocker=rocker)
    masses, gravity = _finite(masses, (3,), "masses"), _finite(gravity, (3,), "gravity")
    angle = _finite(angle, (), "angle")
    d = Description("four-bar", gravity=np.array(gravity)).add_link("base")
    _chain(d, _at(0.0), ("crank", "coupler"), (crank, coupler), masses[:2])
    _chain(d, _at(ground), ("rocker",), (rocker,), masses[2:])
    far = np.array([ground, 0.0])
    elbow = _turned(angle, crank)
    end = _meeting(elbow, coupler, far, rocker, side)
    q = np.array([angle, _angle(elbow, end) - angle, _angle(far, end)])
    return _mechanism(d, _pinned(closed_by, "coupler_end", "rocker_end"), q)


def five_bar(
    ground: float = 0.4,
    upper: float = 0.3,
    lower: float = 0.5,
    *,
    masses: Sequence[float] = (0.5, 0.4, 0.5, 0.4),
    angles: Sequence[float] = (2.2, 0.9),
    side: int = 1,
    closed_by: str = "plane",
    gravity: Sequence[float] = DOWN,
) -> ConstrainedRobot:
    """Two arms of two bars with a common end point: two degrees of freedom, actuated at the base.

    Coordinates are left, left_lower (relative), right, right_lower; ``angles`` are those of left and right.
    """
    _positive(ground=ground, upper=upper, lower=lower)
    masses, gravity = _finite(masses, (4,), "masses"), _finite(gravity, (3,), "gravity")
    angles = _finite(angles, (2,), "angles")
    d = Description("five-bar", gravity=np.array(gravity)).add_link("base")
    _chain(d, _at(0.0), ("left", "left_lower"), (upper, lower), masses[:2])
    _chain(d, _at(ground), ("right", "right_lower"), (upper, lower), masses[2:])
    elbows = _turned(angles[0], upper), np.array([ground, 0.0]) + _turned(angles[1], upper)
    tool = _meeting(elbows[0], lower, elbows[1], lower, side)
    q = [x for angle, elbow in zip(angles, elbows, strict=True) for x in (angle, _angle(elbow, tool) - angle)]
    return _mechanism(d, _pinned(closed_by, "left_lower_end", "right_lower_end"), np.array(q))


def slider_crank(
    crank: float = 0.2,
    rod: float = 0.6,
    *,
    offset: float = 0.0,
    masses: Sequence[float] = (0.5, 0.8, 1.0),
    angle: float = np.pi / 3,
    closed_by: str = "plane",
    gravity: Sequence[float] = DOWN,
) -> ConstrainedRobot:
    """A crank, a rod, and a slider along x at the height ``offset``: one degree of freedom.

    Coordinates are crank, rod (relative to the crank) and slider; the slider is on the far side of the crank.
    """
    _positive(crank=crank, rod=rod)
    masses, gravity = _finite(masses, (3,), "masses"), _finite(gravity, (3,), "gravity")
    angle, offset = _finite(angle, (), "angle"), _finite(offset, (), "offset")
    d = Description("slider-crank", gravity=np.array(gravity)).add_link("base")
    _chain(d, _at(0.0), ("crank", "rod"), (crank, rod), masses[:2])
    d.add_link("slider", "base", "prismatic", joint_name="slider", origin=_at(0.0, offset), axis=(1.0, 0.0, 0.0),
               inertia=solids.box(0.1, 0.1, 0.1, mass=masses[2]))  # fmt: skip
    elbow = _turned(angle, crank)
    drop = offset - elbow[1]
    if abs(drop) > rod:
        raise InputError(f"the loop cannot close: the rod of {rod:.6g} m does not reach the slider {abs(drop):.6g} m away")
    end = elbow + np.array([np.sqrt(rod * rod - drop * drop), drop])
    q = np.array([angle, _angle(elbow, end) - angle, end[0]])
    return _mechanism(d, _pinned(closed_by, "rod_end", "slider"), q)


def delta(
    base: float = 0.2,
    arm: float = 0.3,
    rod: float = 0.8,
    platform: float = 0.05,
    *,
    masses: Sequence[float] = (0.6, 0.4),
    angles: Sequence[float] = (0.3, 0.3, 0.3),
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
) -> ConstrainedRobot:
    """A Delta robot: three arms around a base of this radius, and massless rods to a platform, with three degrees of freedom.

    Each pair of parallel rods keeps the platform level, so it moves like a point with three prismatic coordinates x, y and z,
    and one rod represents a pair. Coordinates are arm_1, arm_2, arm_3 (positive downwards), x, y, z; ``masses`` are those of
    an arm and of the platform.
    """
    _positive(base=base, arm=arm, rod=rod, platform=platform)
    masses, gravity = _finite(masses, (2,), "masses"), _finite(gravity, (3,), "gravity")
    angles = _finite(angles, (3,), "angles")
    d = Description("delta", gravity=np.array(gravity)).add_link("base")
    spheres = []
    for k, angle in enumerate(angles, start=1):
        around = Pose.rotation(about_axis(Z, 2.0 * np.pi * (k - 1) / 3.0))
        d.add_link(f"arm_{k}", "base", "continuous", joint_name=f"arm_{k}", origin=around @ _at(base), axis=(0.0, 1.0, 0.0),
                   inertia=_bar(arm, masses[0]))  # fmt: skip
        d.add_link(f"elbow_{k}", f"arm_{k}", origin=_at(arm))
        elbow = np.array([base + arm * np.cos(angle), 0.0, -arm * np.sin(angle)])
        spheres.append(around.R @ (elbow - np.array([platform, 0.0, 0.0])))
    parent = "base"
    for name, axis in zip("xyz", np.eye(3), strict=True):
        body = solids.cylinder(platform, 0.01, mass=masses[1]) if name == "z" else None
        link = "platform" if name == "z" else f"carriage_{name}"
        d.add_link(link, parent, "prismatic", joint_name=name, axis=axis, inertia=body)
        parent = link
    for k in (1, 2, 3):
        around = Pose.rotation(about_axis(Z, 2.0 * np.pi * (k - 1) / 3.0))
        d.add_link(f"corner_{k}", "platform", origin=around @ _at(platform))
    rods = tuple(Distance(f"elbow_{k}", f"corner_{k}", rod) for k in (1, 2, 3))
    return _mechanism(d, rods, np.array([*angles, *_lower_intersection(spheres, rod)]))


def _lower_intersection(centres: Sequence[Array], radius: float) -> Array:
    """The lower of the two points equidistant from three points."""
    a, b, c = centres
    normal = np.cross(b - a, c - a)
    area = float(normal @ normal)
    # the centre of the circle through the three
    side_b, side_c = b - a, c - a
    middle = a + (np.cross(normal, side_b) * (side_c @ side_c) + np.cross(side_c, normal) * (side_b @ side_b)) / (2.0 * area)
    high = radius * radius - float((middle - a) @ (middle - a))
    if high < 0.0:
        raise InputError(f"the loop cannot close: rods of {radius:.6g} m do not reach from the elbows to one point")
    up = normal / np.sqrt(area)
    return np.asarray(middle - np.sign(up[2]) * np.sqrt(high) * up)
