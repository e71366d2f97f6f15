"""Animation data for viewers: the poses of all links, frame by frame, as plain lists and numbers.

Positions are rounded to micrometres, quaternions and energies to six digits.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.model.description import Description, Shape
from dynamis.simulation.trajectory import Trajectory
from dynamis.spatial import rotation

Array = npt.NDArray[Any]
FORMAT = "dynamis animation 1"
DECIMALS = 6
MAX_FRAMES = 1_000_000


def animation(motion: Trajectory, rate: float = 60.0) -> dict[str, Any]:
    """The motion at ``rate`` frames per second; docs/simulation.md describes the format."""
    times = frame_times(motion, rate)
    q, v = motion.at(times)
    robot = motion.robot
    poses = [robot.pose(q, name) for name in robot.link_names]
    positions = np.stack([X[:, :3, 3] for X in poses], axis=1)
    quaternions = np.stack([continuous_quaternions(X[:, :3, :3]) for X in poses], axis=1)
    return {
        "format": FORMAT,
        "robot": robot.name,
        "status": motion.status,
        "rate": float(rate),
        "links": links(robot.description, robot.link_names),
        "times": _rounded(times),
        "positions": _rounded(positions),
        "quaternions": _rounded(quaternions),
        "kinetic_energy": _significant(robot.kinetic_energy(q, v)),
        "potential_energy": _significant(robot.potential_energy(q)),
        "events": [dataclasses.asdict(event) for event in motion.events],
    }


def frame_times(motion: Trajectory, rate: float) -> Array:
    """From the first point to the last, every 1/rate seconds."""
    if isinstance(rate, bool) or not (isinstance(rate, int | float | np.number) and 0 < rate < np.inf):
        raise InputError(f"rate must be a positive number of frames per second, got {rate!r}")
    start, end = float(motion.t[0]), float(motion.t[-1])
    count = np.floor((end - start) * rate + 1e-9) + 1
    if count > MAX_FRAMES:
        raise InputError(f"rate={rate:g} gives {count:.3g} frames for {end - start:g} s: use a lower rate")
    return np.asarray((start + np.arange(int(count)) / rate).clip(start, end))


def links(description: Description, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """The name, parent index (−1 for the root) and, where known, the shapes of each link."""
    parents = {joint.child: joint.parent for joint in description.joints}
    shapes = {link.name: link.shapes for link in description.links}
    number = {name: k for k, name in enumerate(names)}
    return [
        {
            "name": name,
            "parent": number.get(parents.get(name, ""), -1),
            "visuals": [_visual(shape) for shape in shapes.get(name, ()) if shape.role == "visual"],
        }
        for name in names
    ]


def _visual(shape: Shape) -> dict[str, Any]:
    R, p = shape.origin
    look: dict[str, Any] = {
        "kind": shape.kind,
        "size": _rounded(np.array(shape.size, dtype=float)),
        "position": _rounded(np.asarray(p, dtype=float)),
        "quaternion": _rounded(rotation.to_quaternion(np.asarray(R, dtype=float))),
    }
    look |= {"mesh": shape.mesh} if shape.mesh else {}
    return look | ({"rgba": [float(c) for c in shape.rgba]} if shape.rgba is not None else {})


def continuous_quaternions(R: Array) -> Array:
    """Unit quaternions (x, y, z, w) of rotations (N, 3, 3), with signs chosen for continuity."""
    found = np.array([rotation.to_quaternion(one) for one in R])
    turned = np.sum(found[1:] * found[:-1], axis=1) < 0.0
    # a sign that changes changes all that follow
    found[1:] *= np.where(np.cumsum(turned) % 2, -1.0, 1.0)[:, None]
    return found


def _rounded(x: Array) -> Any:
    return (np.round(x, DECIMALS) + 0.0).tolist()


def _significant(x: Array) -> list[float]:
    return [float(f"{value:.{DECIMALS}g}") for value in np.asarray(x)]
