"""Workspace of a frame: sampled positions, and slices coloured by a measure."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_text, counted, plotted, short
from dynamis.errors import InputError, printable
from dynamis.kinematics.box import box_of, check_robot
from dynamis.kinematics.cell_volume import sampled_volume
from dynamis.kinematics.reach import Reach, reach_of, starts_with_slide
from dynamis.kinematics.state_measures import Measure, measure_named, payload_note, with_unit
from dynamis.kinematics.workspace_samples import PLANES, chosen_plane, configurations, first_origin, onto_plane
from dynamis.robot import Robot
from dynamis.robot.checks import warn_of_open_loops
from dynamis.tolerances import NEGLIGIBLE, RANK_TOLERANCE

Array = npt.NDArray[Any]
Progress = Callable[[float, str], None]

STATES_PER_BATCH = 20_000  # between two reports of progress
MAX_SAMPLES = 20_000_000
QUANTILES = 0.05, 0.25, 0.5, 0.75, 0.95
RANK_SAMPLES = 64  # configurations that show in how many directions the frame moves


@dataclass(frozen=True, eq=False, repr=False)
class Workspace:
    """Sampled positions of a frame (N, 3), with their configurations (N, nq).

    ``reach`` and ``nearest`` are the extreme distances of the frame's origin from ``origin``, a point of the first joint's axis
    which ``measured_from`` names; these and ``extent`` are refined from the samples by optimisation. ``dimension`` is 3, 2 if
    the points lie in a plane, 1 on a line, 0 if the frame does not move.
    """

    robot: Robot
    frame: str
    points: Array
    q: Array
    distances: Reach

    @property
    def origin(self) -> Array:
        return self.distances.origin

    @property
    def measured_from(self) -> str:
        """The definition of the origin, in words."""
        return self.distances.definition

    @property
    def has_reach(self) -> bool:
        """Whether ``reach`` and ``nearest`` describe the arm; of a linear axis that carries the others, ``extent`` does."""
        return not starts_with_slide(self.robot, self.frame)

    @property
    def reach(self) -> float:
        """The largest distance from the origin [m]."""
        return self.distances.largest

    @property
    def nearest(self) -> float:
        """The smallest distance from the origin [m]."""
        return self.distances.smallest

    @property
    def extent(self) -> tuple[Array, Array]:
        """The least and largest coordinates of the frame's origin, in world axes [m]."""
        return self.distances.lower, self.distances.upper

    @property
    def box(self) -> tuple[Array, Array]:
        """The corners of the bounding box of the points."""
        return self.points.min(axis=0), self.points.max(axis=0)

    def _flattened(self) -> tuple[Array, Array]:
        """Coordinates along the principal axes of the cloud, and these axes as rows; world axes where possible."""
        low, high = self.box
        size = max(float((high - low).max()), 1e-300)
        straight = np.flatnonzero(high - low > RANK_TOLERANCE * size)
        centred = self.points - self.points.mean(axis=0)
        # singular values of the points: eigenvalues of their covariance would lose half of the digits
        _, extents, axes = np.linalg.svd(np.linalg.qr(centred, mode="r"))
        count = int((extents > RANK_TOLERANCE * size * np.sqrt(len(centred))).sum()) if size > 1e-300 else 0
        rows = np.eye(3)[straight] if len(straight) == count else axes[:count]
        return self.points @ rows.T, rows

    @property
    def dimension(self) -> int:
        return int(self._flattened()[0].shape[1])

    @property
    def _freedoms(self) -> int:
        """The largest rank of the position Jacobian over the samples."""
        values = np.linalg.svd(self.robot.jacobian(self.q[:RANK_SAMPLES], self.frame)[:, :3], compute_uv=False)
        return int((values > RANK_TOLERANCE * max(float(values.max(initial=0.0)), 1e-300)).sum(axis=1).max(initial=0))

    @property
    def volume(self) -> float:
        """Volume [m³], area [m²] or length [m] of the workspace, by counting the cells in which points lie.

        Cells at the boundary count with their filled share. The cell size follows from the number of points; `volume_error`
        estimates the error, which is larger where the set is thinner than a few cells. The volume between the spheres of the
        smallest and largest distance is never exceeded. A curve has no area, and a surface no volume.
        """
        return self._volume[0]

    @property
    def volume_error(self) -> float:
        """Estimated error of `volume`, from the comparison of two cell sizes, in the same unit."""
        return self._volume[1]

    @cached_property
    def _volume(self) -> tuple[float, float]:
        x, _ = self._flattened()
        if x.shape[1] == 0 or self._freedoms < x.shape[1]:
            return 0.0, 0.0
        volume, error = sampled_volume(x)
        far, near = self.reach, self.nearest
        most = {2: np.pi * (far**2 - near**2), 3: 4.0 / 3.0 * np.pi * (far**3 - near**3)}.get(x.shape[1], np.inf)
        return min(volume, float(most)), error

    def summary(self) -> str:
        what = {0: "does not move", 1: "moves on a line", 2: "moves in a plane", 3: "moves in space"}[self.dimension]
        unit = {0: "", 1: " m", 2: " m²", 3: " m³"}[self.dimension]
        kind = {0: "", 1: "length", 2: "area", 3: "volume"}[self.dimension]
        low, high = self.extent
        lines = [f"{self.frame} of {self.robot.name} {what}: {counted(len(self.points), 'sampled configuration')}"]
        if self.dimension:
            thin = self._freedoms < self.dimension
            much = (
                f"a {'curve' if self._freedoms < 2 else 'surface'}"
                if thin
                else f"{kind} {self.volume:.3g} ± {float(f'{self.volume_error:.1g}'):g}{unit}"
            )
            reach = f", distance from {self.measured_from} to {self.frame}: {self.nearest:.4g} to {self.reach:.4g} m"
            lines.append(f"  {much}{reach if self.has_reach else ''}")
        ranges = (f"{axis} {a:.4g} … {b:.4g}" for axis, a, b in zip("xyz", low, high, strict=True))
        return "\n".join([*lines, "  " + ", ".join(ranges) + " m"])

    def as_dict(self) -> dict[str, Any]:
        low, high = self.extent
        return {
            "robot": self.robot.name, "frame": self.frame, "samples": len(self.points), "dimension": self.dimension,
            "volume": self.volume, "volume_error": self.volume_error, "reach": self.reach, "nearest": self.nearest,
            "measured_from": self.measured_from, "origin": self.origin.tolist(),
            "lower": low.tolist(), "upper": high.tolist(),
        }  # fmt: skip

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Plot the positions in space with three projections, or in their plane; returns the axes."""
        return plotted("workspace", self, path)

    def __repr__(self) -> str:
        where = f"{counted(len(self.points), 'position')} of {printable(self.frame)}"
        reach = f", reach {self.reach:.4g} m" if self.has_reach else ""
        return short(f"<Workspace of {printable(self.robot.name)}: {where}{reach}>")

    def __str__(self) -> str:
        return self.summary()

    _repr_html_ = as_text


def cell_edges(points: Array, cells: float) -> list[Array]:
    """Edges of nearly square cells that end where the points (N, 2) end, ``cells`` of them along the longer side."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = high - low
    side = max(float(extent.max()), 1e-9) / cells
    counts = np.maximum(np.ceil(extent / side - 1e-9).astype(int), 1)
    # along a direction without extent: one cell around the points
    room = np.where(extent < 1e-9, 0.5 * side, 0.0)
    return [np.linspace(low[k] - room[k], high[k] + room[k], counts[k] + 1) for k in range(2)]


def cells_of(points: Array, edges: list[Array]) -> Array:
    """The indices (N, 2) of the cells in which the points lie."""
    found = [np.searchsorted(edge, points[:, k], side="right") - 1 for k, edge in enumerate(edges)]
    return np.stack([np.clip(at, 0, len(edge) - 2) for at, edge in zip(found, edges, strict=True)], axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class WorkspaceSlice:
    """Positions (N, 2) of a frame in a plane, with ``values`` of a measure and the configurations (N, nq).

    ``measure`` describes the values; ``grid()`` gives the best, worst or mean value of each cell.
    """

    robot: Robot
    frame: str
    plane: str
    level: float
    measure: Measure
    points: Array
    values: Array
    q: Array

    def grid(self, cells: int = 120, pick: str = "best") -> tuple[Array, Array, Array]:
        """(edges, edges, values) of nearly square cells over the plane; values of empty cells are nan.

        ``pick`` is "best", "worst" or "mean" of the configurations that reach a cell.
        """
        if pick not in ("best", "worst", "mean"):
            raise InputError(f"pick={pick!r} is unknown; choose 'best', 'worst' or 'mean'")
        _count(cells, "cells", 4096)
        edges = cell_edges(self.points, cells)
        counts = np.array([len(edge) - 1 for edge in edges])
        where = cells_of(self.points, edges)
        flat = where[:, 0] * counts[1] + where[:, 1]
        numbers = np.full(int(counts.prod()), np.nan)
        if pick == "mean":
            finite = np.isfinite(self.values)
            sums = np.bincount(flat[finite], self.values[finite], minlength=len(numbers))
            met = np.bincount(flat[finite], minlength=len(numbers))
            numbers[met > 0] = sums[met > 0] / met[met > 0]
            numbers[flat[np.isposinf(self.values) & (met[flat] == 0)]] = np.inf  # singular in all its configurations
        else:
            (np.fmax if (pick == "best") == self.measure.more_is_better else np.fmin).at(numbers, flat, self.values)
        return edges[0], edges[1], numbers.reshape(tuple(counts))

    @property
    def best(self) -> tuple[float, Array, Array]:
        """(value, position (2), configuration) of the best sample."""
        return self._extreme(self.measure.more_is_better)

    @property
    def worst(self) -> tuple[float, Array, Array]:
        """(value, position (2), configuration) of the worst sample."""
        return self._extreme(not self.measure.more_is_better)

    def _extreme(self, largest: bool) -> tuple[float, Array, Array]:
        k = int(np.argmax(np.where(np.isnan(self.values), -np.inf, self.values if largest else -self.values)))
        return float(self.values[k]), self.points[k], self.q[k]

    @property
    def note(self) -> str:
        """What the values do not contain: the payload that the robot has, and what else limits the best one; or empty."""
        if self.measure.name != "payload" or not len(self.q):
            return ""
        own = sum(float(x.inertia.mass) for x in self.robot.description.payloads.values())
        added = f"in addition to the {own:.4g} kg that the robot carries already" if own else ""
        return "; ".join(filter(None, (added, payload_note(self.robot, self.best[2], self.q, self.frame))))

    def quantiles(self, shares: Sequence[float]) -> list[float]:
        """Quantiles of the values, infinite ones at singular configurations included; nan where there is no value."""
        finite = self.values[~np.isnan(self.values)]
        return [float(x) for x in np.quantile(finite, shares, method="inverted_cdf")] if len(finite) else [np.nan] * len(shares)

    def summary(self) -> str:
        low, middle, high = self.quantiles((0.05, 0.5, 0.95))
        unit = f" {self.measure.unit}" if self.measure.unit else ""
        a, b = self.plane[0], self.plane[1]

        def sample(name: str, value: float, place: Array, q: Array) -> str:
            at = f"at {a} = {place[0]:.4g} m, {b} = {place[1]:.4g} m, q = " + ", ".join(f"{x:.4g}" for x in q)
            return f"  {name} {value:.4g}{unit} {at}"

        return "\n".join([
            f"{self.measure.label} of {self.robot.name} over {a}, {b} ({counted(len(self.points), 'configuration')})",
            sample("best", *self.best),
            sample("worst", *self.worst),
            f"  median {middle:.4g}{unit}, 90 % in {low:.4g} … {high:.4g}",
            *([f"  note: {self.note}"] if self.note else []),
        ])  # fmt: skip

    def as_dict(self) -> dict[str, Any]:
        extremes = {
            name: {"value": value if np.isfinite(value) else None, "at": place.tolist(), "q": q.tolist()}
            for name, (value, place, q) in (("best", self.best), ("worst", self.worst))
        }
        quantiles = zip(QUANTILES, self.quantiles(QUANTILES), strict=True)
        return {
            "robot": self.robot.name, "frame": self.frame, "plane": self.plane, "level": self.level,
            "measure": self.measure.name, "unit": self.measure.unit, "samples": len(self.points),
            **extremes, "quantiles": {f"{share:g}": x if np.isfinite(x) else None for share, x in quantiles},
            "note": self.note or None,
        }  # fmt: skip

    def plot(self, path: str | os.PathLike[str] | None = None, *, pick: str = "best", cells: int = 160) -> Any:
        """Plot a map of the plane, with the robot in the best configuration (of "worst", the worst); returns the axes."""
        return plotted("workspace", self, path, pick, cells, function="plot_slice")

    def __repr__(self) -> str:
        best = f"best {self.best[0]:.4g} {self.measure.unit}".strip()
        what = f"{self.measure.label} over {self.plane}, {counted(len(self.points), 'position')}"
        return short(f"<WorkspaceSlice of {printable(self.robot.name)}: {what}, {best}>")

    def __str__(self) -> str:
        return self.summary()

    _repr_html_ = as_text


def workspace(
    robot: Robot, frame: str | None = None, *, samples: int = 100_000, seed: int = 0, lower: Any = None, upper: Any = None,
    progress: Progress | None = None,
) -> Workspace:  # fmt: skip
    """Positions of a frame at random configurations within the joint limits (or from ``lower`` to ``upper``).

    Revolute joints without limits cover one turn. Some configurations are sampled with joints at their limits, where the
    boundary of the workspace often is. ``progress(fraction, text)`` is called periodically.

    >>> import dynamis as dy, numpy as np
    >>> cloud = dy.workspace(dy.load("planar_2r_melchiorri"), samples=20_000)
    >>> cloud.dimension, bool(abs(cloud.volume - 4 * np.pi) < 0.5)  # a disc of radius 2
    (2, True)
    """
    check_robot(robot)
    warn_of_open_loops(robot, "its workspace", closed="dynamis.inverse_kinematics")
    f = robot.model.frame(frame)
    q = configurations(robot, _count(samples, "samples", MAX_SAMPLES), seed, lower, upper)
    points = np.empty((len(q), 3))
    for start in range(0, len(q), STATES_PER_BATCH):
        part = slice(start, start + STATES_PER_BATCH)
        points[part] = robot.pose(q[part], f.name)[:, :3, 3]
        _report_progress(progress, min(1.0, (start + STATES_PER_BATCH) / len(q)), "reaching")
    return Workspace(robot, f.name, points, q, reach_of(robot, f.name, q, *box_of(robot, lower, upper)))


def workspace_slice(
    robot: Robot, colour: str | Measure = "manipulability", *, frame: str | None = None, plane: str | None = None,
    level: float | None = None, rows: Any = None, samples: int = 200_000, seed: int = 0, lower: Any = None, upper: Any = None,
    progress: Progress | None = None, **options: Any,
) -> WorkspaceSlice:  # fmt: skip
    """Map of a measure over a plane of the workspace: random configurations, moved onto the plane by Newton's method.

    ``colour`` is "manipulability", "force", "dynamic", "condition", "inertia" and "least_inertia" (eigenvalues of M),
    "effective_mass" and "least_effective_mass" (of Λ), "payload" (``torque_limits=``), "stiffness" (``joint_stiffness=``), or a
    user-defined `Measure`. ``plane`` is "xy", "xz" or "yz", by default that of a planar arm, else the vertical "xz";
    ``level`` is its position on the third axis, by default that of the first joint, or of a frame that stays in a plane.

    >>> import dynamis as dy
    >>> from dynamis.kinematics.workspace import workspace_slice
    >>> found = workspace_slice(dy.load("planar_2r_melchiorri"), samples=2000)
    >>> found.plane, round(found.best[0], 3)
    ('xy', 1.0)
    """
    check_robot(robot)
    warn_of_open_loops(robot, "its workspace", closed="dynamis.inverse_kinematics")
    for name in sorted(set(options) - {"torque_limits", "joint_stiffness"}):
        cure = f"; {name}= belongs to .plot(path, {name}=…) of the result" if name in ("pick", "cells") else ""
        raise InputError(f"workspace_slice has no option {name!r}; its options are torque_limits= and joint_stiffness={cure}")
    measure = colour if isinstance(colour, Measure) else measure_named(colour, options)
    f = robot.model.frame(frame)
    measure = with_unit(measure, robot, f.name, rows)
    q = configurations(robot, _count(samples, "samples", MAX_SAMPLES), seed, lower, upper)
    chosen = chosen_plane(robot, f.name, plane, q)
    a, b, normal = PLANES[chosen]
    height = _height(robot, f.name, q, normal) if level is None else float(level)
    if not np.isfinite(height):
        raise InputError(f"level must be a finite number of metres, got {level!r}")
    low, high = box_of(robot, lower, upper)
    kept, points, values = [], [], []
    for start in range(0, len(q), STATES_PER_BATCH):
        part = onto_plane(robot, f.name, q[start : start + STATES_PER_BATCH], normal, height, low, high)
        kept.append(part)
        points.append(robot.pose(part, f.name)[:, (a, b), 3])
        values.append(np.asarray(measure.of(robot, part, f.name, rows), dtype=float) if len(part) else np.zeros(0))
        _report_progress(progress, min(1.0, (start + STATES_PER_BATCH) / len(q)), measure.label)
    found = np.concatenate(kept)
    if not len(found):
        raise InputError(
            f"no configuration was found with {printable(f.name)} at {'xyz'[normal]} = {height:g} m; choose level="
        )
    return WorkspaceSlice(robot, f.name, chosen, height, measure, np.concatenate(points), np.concatenate(values), found)


def _height(robot: Robot, frame: str, q: Array, normal: int) -> float:
    """The position of the first joint along an axis, or of a frame whose position there is always the same."""
    heights = robot.pose(q[:STATES_PER_BATCH], frame)[:, normal, 3]
    is_planar = np.ptp(heights) <= NEGLIGIBLE * max(1.0, float(np.abs(heights).max()))
    return float(heights[0] if is_planar else first_origin(robot, frame)[normal])


def _count(value: Any, name: str, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise InputError(f"{name} must be an integer from 1 to {most}, got {value!r}")
    return value


def _report_progress(progress: Progress | None, fraction: float, text: str) -> None:
    if progress is not None:
        progress(fraction, text)
