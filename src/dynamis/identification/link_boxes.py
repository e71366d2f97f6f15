"""Boxes around the shapes of links, within which their mass lies."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import regressor
from dynamis.errors import InputError, printable
from dynamis.model.description import Shape
from dynamis.model.meshes.reading import MeshFile, corners
from dynamis.model.packages import find_file, folder_of
from dynamis.model.shapes import balls
from dynamis.robot import Robot
from dynamis.spatial.pose import Pose

Array = npt.NDArray[Any]
MARGIN = 0.05  # of the longest side, on all sides: housings of motors and cables may stick out of simplified shapes


def link_boxes(robot: Robot) -> dict[str, tuple[Array, Array]]:
    """Return (lower, upper) corners of the box around all shapes of each moving link, in the axes of its body frame.

    Links fixed to it count with it. Links without shapes, or with a mesh that cannot be read, have no box.
    """
    description, model = robot.description, robot.model
    folder = folder_of(description.file)
    points: dict[int, list[Array]] = {}
    unknown: dict[int, str] = {}
    for link in description.links:
        frame = model.frames[link.name]
        for shape in link.shapes:
            try:
                points.setdefault(frame.body, []).append(_extremes(shape, frame.pose, folder))
            except (InputError, OSError) as error:
                unknown[frame.body] = str(error)
    boxes = {}
    for i, body in regressor.links(model):
        if i in points and i not in unknown:
            found = np.concatenate(points[i])
            low, high = found.min(axis=0), found.max(axis=0)
            room = MARGIN * float((high - low).max())
            boxes[body.name] = (low - room, high + room)
    if not boxes:
        why = next(iter(unknown.values()), "the file has none")
        raise InputError(f"shapes=True needs shapes of links, but no moving link of {printable(robot.name)} has one ({why})")
    return boxes


def _extremes(shape: Shape, pose: Pose, folder: Any) -> Array:
    """Return points (k, 3) in the body frame with the same bounding box as the shape."""
    R, p = (np.asarray(x, dtype=float) for x in pose)
    if shape.kind != "mesh":
        centres, radii = balls(shape)
        placed = centres @ R.T + p
        return np.concatenate([placed - radii[:, None], placed + radii[:, None]])
    found = corners(MeshFile.at(find_file(shape.mesh, folder)))
    if isinstance(found, str):
        raise InputError(found)
    inner, origin = (np.asarray(x, dtype=float) for x in shape.origin)
    return np.asarray((found * np.asarray(shape.size, dtype=float) @ inner.T + origin) @ R.T + p)
