"""Where the tip can be, and how well it moves there."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.analysis.task import in_order_of_q
from dynamis.analysis.workspace import PLANES, WorkspaceSlice, workspace, workspace_slice
from dynamis.report.numbers import main_frame, ranges, short, text
from dynamis.report.section import Budget, Facts, Grid, HeatMap, Section
from dynamis.report.sections.maps import has_plain_coordinates
from dynamis.report.subject import Subject

Array = npt.NDArray[Any]

KEY, TITLE = "workspace", "Workspace and manipulability"
SAMPLES, CELLS = 40_000, 56


def build(subject: Subject, section: Section, budget: Budget) -> None:
    robot = subject.robot
    if not has_plain_coordinates(robot, section, "Where a tip can be"):
        return
    frame = main_frame(robot)
    low, high = ranges(robot)
    ends: dict[str, Any] = {"lower": low, "upper": high}
    cloud = workspace(robot, frame, samples=SAMPLES, **ends)
    lines = cloud.summary().splitlines()
    section.lead = f"{lines[0].strip()}." + (f" It fills {lines[1].strip()}." if len(lines) > 2 else "")
    units = {0: "", 1: " m", 2: " m²", 3: " m³"}
    section.add(
        Facts(
            [
                ("Reach from the first joint", f"{text(cloud.reach)} m"),
                ("Nearest", f"{text(cloud.nearest)} m"),
                ("Content", f"{text(cloud.content, 3)}{units[cloud.dimension]}"),
            ]
        )
    )
    if cloud.dimension < 2:
        section.notes.append("The tip moves on a line or not at all, so there is no map.")
        return
    budget.check("the maps")
    found = workspace_slice(robot, "manipulability", frame=frame, samples=SAMPLES, **ends)
    a, b, _ = PLANES[found.plane]
    # evenly drawn: the cloud has more at the ends of the joints' ranges, to find its edge
    even = in_order_of_q(robot, np.random.default_rng(0).uniform(low, high, (SAMPLES, robot.n)))
    points = robot.pose(even, frame)[:, :3, 3]
    section.add(_density(points[:, (a, b)], found.plane, frame), slice_map(found))
    section.reproduce = (
        f"import dynamis as dy\nfrom dynamis.analysis.workspace import workspace_slice\n\n{subject.load}\n"
        f"cloud = dy.workspace(robot, {frame!r}, samples={SAMPLES})\nprint(cloud.summary())\n"
        f"print(workspace_slice(robot, 'manipulability', frame={frame!r}, samples={SAMPLES}).summary())"
    )


def _density(points: Array, plane: str, frame: str) -> HeatMap:
    low, high = points.min(axis=0), points.max(axis=0)
    side = max(float((high - low).max()), 1e-9) / CELLS
    counts = np.maximum(np.ceil((high - low) / side - 1e-9).astype(int), 1)
    edges = [low[k] + side * np.arange(counts[k] + 1) for k in range(2)]
    met, _, _ = np.histogram2d(points[:, 0], points[:, 1], bins=edges)
    values = np.where(met > 0, met, np.nan).T
    return HeatMap(
        f"How often {frame} is met, seen along {'xyz'.replace(plane[0], '').replace(plane[1], '')}",
        (float(edges[0][0]), float(edges[0][-1])),
        (float(edges[1][0]), float(edges[1][-1])),
        f"{plane[0]} [m]",
        f"{plane[1]} [m]",
        "configurations",
        [Grid(short(values, 4))],
        "; ".join(f"{plane[k]} from {text(float(low[k]), 3)} to {text(float(high[k]), 3)} m" for k in range(2)) + ".",
        square=True,
    )


def slice_map(found: WorkspaceSlice) -> HeatMap:
    """A slice of the workspace as a map: the best configuration in each cell."""
    x, y, values = found.grid(CELLS)
    value, place, _ = found.best
    unit = found.measure.unit
    normal = "xyz"[PLANES[found.plane][2]]
    name = found.measure.label[:1].upper() + found.measure.label[1:]
    return HeatMap(
        f"{name} in the plane {normal} = {text(found.level, 3)} m",
        (float(x[0]), float(x[-1])),
        (float(y[0]), float(y[-1])),
        f"{found.plane[0]} [m]",
        f"{found.plane[1]} [m]",
        unit,
        [Grid(short(values.T, 4))],
        f"Best {text(value)}{' ' + unit if unit else ''} at "
        + ", ".join(f"{found.plane[k]} = {text(float(place[k]), 3)} m" for k in range(2))
        + ".",
        square=True,
    )
