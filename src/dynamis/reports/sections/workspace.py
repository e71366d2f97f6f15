"""The workspace of the tip, and its manipulability there."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.documents.blocks import Axes, Facts, Grid, HeatMap, Section
from dynamis.documents.numbers import quantity, short, text, triple
from dynamis.kinematics.directions import in_order_of_q
from dynamis.kinematics.workspace import WorkspaceSlice, cell_edges, cells_of, workspace, workspace_slice
from dynamis.kinematics.workspace_samples import PLANES
from dynamis.reports.configurations import encoded
from dynamis.reports.numbers import main_frame, ranges
from dynamis.reports.sections.maps import has_plain_coordinates
from dynamis.reports.self_collision import add_self_collision
from dynamis.reports.subject import Subject
from dynamis.robot import Robot
from dynamis.tolerances import PRINTED_AS_ZERO

Array = npt.NDArray[Any]

KEY, TITLE = "workspace", "Workspace and manipulability"
SAMPLES, CELLS = 40_000, 44
FLOAT_DIGITS = 17  # with which a float is reproduced exactly
EXTENTS = (
    ("Volume", "", "does not move"),
    ("Length", " m", "moves along a line"),
    ("Area", " m²", "moves in a plane"),
    ("Volume", " m³", "moves in space"),
)
MIXED = "SI units (m, rad)"  # of a measure whose terms have different units
NO_SAMPLE = "no sampled configuration puts the tip in this cell"


def build(subject: Subject, section: Section) -> None:
    robot = subject.robot
    if not has_plain_coordinates(robot, section, "the workspace of the tip"):
        return
    _add_workspace(subject, section)
    if section.reproduce:
        add_self_collision(robot, section)


def _add_workspace(subject: Subject, section: Section) -> None:
    robot = subject.robot
    frame = main_frame(robot)
    low, high = ranges(robot)
    ends: dict[str, Any] = {"lower": low, "upper": high}
    cloud = workspace(robot, frame, samples=SAMPLES, **ends)
    name, unit, moves = EXTENTS[cloud.dimension]
    section.lead = (
        f"{frame} {moves}. Its positions are computed at {SAMPLES} random configurations within the joint limits "
        "(joints without limits: one turn, or ±1 m)."
    )
    size = (f"{name}, approximate", f"{text(cloud.volume, 3)} ± {text(cloud.volume_error, 1)}{unit}")
    if cloud.has_reach:
        reach = (f"Reach to {frame}", quantity(cloud.reach, "m", 4)), ("Smallest distance", quantity(cloud.nearest, "m", 4))
        section.add(Facts([*reach, size]))
        section.notes.append(
            f"Reach is the largest distance from {cloud.measured_from}, at {triple(cloud.origin, 4)} m, to the origin of "
            f"{frame}, over all configurations within the joint limits. Data sheets may define reach differently (often to the "
            "wrist)."
        )
    else:
        spans = zip("xyz", *cloud.extent, strict=True)
        grain = 1e-4 * float(np.abs(cloud.extent).max())  # m: extremes are found to a few digits
        ends_of = [(axis, *(text(x if abs(x) > grain else 0.0, 4) for x in (a, b))) for axis, a, b in spans]
        section.add(Facts([*((f"{axis} of {frame}", f"{a} … {b} m") for axis, a, b in ends_of), size]))
    if cloud.dimension < 2:
        section.notes.append(f"No map is drawn: {frame} {moves}.")
        return
    found = workspace_slice(robot, "manipulability", frame=frame, samples=SAMPLES, **ends)
    # uniform samples: the cloud has more of them at the limits of the joints, to find the boundary
    even = in_order_of_q(robot, np.random.default_rng(0).uniform(low, high, (SAMPLES, robot.n)))
    section.add(_density(robot, even, found.plane, frame), slice_map(found))
    section.reproduce = (
        "import numpy as np\nimport dynamis as dy\nfrom dynamis.kinematics.workspace import cell_edges, workspace_slice\n\n"
        f"{subject.load}\n{intervals(robot)}\n"
        f"cloud = dy.workspace(robot, {frame!r}, samples={SAMPLES}, lower=low, upper=high)\nprint(cloud.summary())\n"
        f"found = workspace_slice(robot, 'manipulability', frame={frame!r}, samples={SAMPLES}, lower=low, upper=high)\n"
        f"print(found.summary())\nx, y, w = found.grid({CELLS})  # edges of the cells, and the best value of each cell\n\n"
        f"{_density_snippet(robot, found.plane, frame)}"
    )


def intervals(robot: Robot) -> str:
    """Python for the intervals of the coordinates in which the report samples."""
    low, high = ranges(robot)
    limits = robot.limits
    if np.array_equal(low, limits["lower"]) and np.array_equal(high, limits["upper"]):
        return "low, high = robot.limits['lower'], robot.limits['upper']"
    return f"low, high = {short(low, FLOAT_DIGITS)}, {short(high, FLOAT_DIGITS)}"  # rounded ends would shift the random samples


def _density_snippet(robot: Robot, plane: str, frame: str) -> str:
    order = [int(c.q_index or 0) for c in robot.model.coordinates]
    in_q = "" if order == list(range(robot.n)) else f"[:, {[int(k) for k in np.argsort(order)]}]"
    axes = PLANES[plane][:2]
    return (
        f"q = np.random.default_rng(0).uniform(low, high, ({SAMPLES}, robot.n)){in_q}\n"
        f"points = robot.pose(q, {frame!r})[:, {axes}, 3]\n"
        f"density, _, _ = np.histogram2d(*points.T, bins=cell_edges(points, {CELLS}))"
    )


def _density(robot: Robot, q: Array, plane: str, frame: str) -> HeatMap:
    a, b, normal = PLANES[plane]
    points = robot.pose(q, frame)[:, (a, b), 3]
    edges, cells, shape = _cells(points)
    met = np.bincount(cells, minlength=shape[0] * shape[1])
    values = np.where(met > 0, met, np.nan).reshape(shape)
    used, first = np.unique(cells, return_index=True)
    sides = zip(plane, points.min(axis=0), points.max(axis=0), strict=True)
    spans = "; ".join(f"{c} from {text(float(x), 3)} to {text(float(y), 3)} m" for c, x, y in sides)
    summary = f"Number of the {counted(len(q), 'random configuration')} per cell: {spans}."
    view = Grid(_axes(edges, plane), short(values, 4), "", "configurations", summary, encoded(robot, q[first], used, met.size))
    return HeatMap(f"Sample density of {frame}, viewed along {'xyz'[normal]}", [view], square=True, empty=NO_SAMPLE)


def _cells(points: Array) -> tuple[list[Array], Array, tuple[int, int]]:
    """The edges of cells over points (N, 2), the cell of each point (row by row from the lowest), (rows, columns)."""
    edges = cell_edges(points, CELLS)
    at, columns, rows = cells_of(points, edges), len(edges[0]) - 1, len(edges[1]) - 1
    return edges, at[:, 1] * columns + at[:, 0], (rows, columns)


def _axes(edges: list[Array], plane: str) -> Axes:
    spans = [(float(edge[0]), float(edge[-1])) for edge in edges]
    return Axes(spans[0], spans[1], f"{plane[0]} [m]", f"{plane[1]} [m]")


def slice_map(found: WorkspaceSlice) -> HeatMap:
    """A slice of the workspace as a map: the best configuration of each cell."""
    edges, cells, shape = _cells(found.points)
    worth = np.where(np.isnan(found.values), -np.inf, found.values if found.measure.more_is_better else -found.values)
    rising = np.argsort(worth, kind="stable")
    best = np.full(shape[0] * shape[1], -1)
    best[cells[rising]] = rising  # the last assignment to a cell is its best configuration
    used = np.flatnonzero(best >= 0)
    values = np.full(best.size, np.nan)
    values[used] = found.values[best[used]]
    value, place, _ = found.best
    unit = found.measure.unit
    name = found.measure.label[:1].upper() + found.measure.label[1:]
    place = np.where(np.abs(place) <= PRINTED_AS_ZERO * np.abs(found.points).max(), 0.0, place)
    where = ", ".join(f"{found.plane[k]} = {text(float(place[k]), 3)} m" for k in range(2))
    summary = f"Best of the sampled configurations in each cell; overall {text(value)}{' ' + unit if unit else ''} at {where}."
    q = encoded(found.robot, found.q[best[used]], used, best.size)
    view = Grid(_axes(edges, found.plane), short(values.reshape(shape), 4), "", unit or MIXED, summary, q)
    title = f"{name} in the plane {'xyz'[PLANES[found.plane][2]]} = {text(found.level, 3)} m"
    return HeatMap(title, [view], square=True, empty=NO_SAMPLE)
