"""Selection of the projection plane of a robot, and drawing in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.drawing import heading, square_limits, tidy
from dynamis.kinematics.directions import movable_rows
from dynamis.kinematics.stick_figure import chain_points
from dynamis.plotting.workspace import AXES, draw_arm
from dynamis.robot import Robot

Array = npt.NDArray[Any]


def best_plane(robot: Robot, q: Array, frame: str) -> str:
    """ "xy", "xz" or "yz": the plane of a planar robot, else the one in which the projected chain is longest."""
    moving = [k for k in movable_rows(robot, frame) if k < 3]
    if len(moving) == 2:
        return "".join("xyz"[k] for k in moving)
    points = chain_points(robot, q, frame)
    steps = np.diff(points, axis=0)
    lengths = {plane: float(np.linalg.norm(steps[:, list(axes)], axis=1).sum()) for plane, axes in AXES.items()}
    return max(("xz", "yz", "xy"), key=lambda plane: round(lengths[plane], 9))


def draw_robot(axes: Any, robot: Robot, q: Array, frame: str, plane: str) -> Array:
    """The chain in this plane; returns its points (…, 2)."""
    points = chain_points(robot, q, frame)[:, list(AXES[plane])]
    draw_arm(axes, points)
    return points


def finish(axes: Any, plane: str, title: str, points: list[Array]) -> None:
    tidy(axes)
    axes.set(xlabel=f"{plane[0]} [m]", ylabel=f"{plane[1]} [m]")
    square_limits(axes, points)
    heading(axes, title, 11)
