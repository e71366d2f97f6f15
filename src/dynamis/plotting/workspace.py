"""Plots of workspaces: sampled positions with projections, and a coloured slice."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.drawing import FAINT, INK, SEQUENCE, heading, new_figure, save, space_axes, square_limits, tidy
from dynamis.kinematics.stick_figure import chain_points
from dynamis.kinematics.workspace import cell_edges
from dynamis.tolerances import NEGLIGIBLE

if TYPE_CHECKING:
    from dynamis.kinematics.workspace import Workspace, WorkspaceSlice

Array = npt.NDArray[Any]

MAX_DOTS = 12_000  # in the scatter plot; the projections count all points
COLOUR_QUANTILES = (
    0.005,
    0.98,
)  # at the ends of a colour scale: single cells beyond would take most of the colours
WIDE_ASPECT = 0.75  # height over width of a box in space that fills the width of its figure
LOW_ASPECT = 0.5  # height over width of a workspace whose side views are wide and low
AXES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


def draw_arm(axes: Any, points: Array, colour: str = INK, width: float = 4.0) -> None:
    """Plot a chain of points (…, 2): links as lines, joints as rings, the tip as a dot, and the ground at the first."""
    axes.plot(*points.T, color="white", linewidth=width + 2.5, solid_capstyle="round", solid_joinstyle="round", zorder=6)
    axes.plot(*points.T, color=colour, linewidth=width, solid_capstyle="round", solid_joinstyle="round", zorder=7)
    axes.plot(
        *points[:-1].T,
        "o",
        markersize=width + 3.5,
        markerfacecolor="white",
        markeredgecolor=colour,
        markeredgewidth=1.8,
        zorder=8,
    )
    axes.plot(*points[-1:].T, "o", markersize=width + 2.0, color=colour, zorder=8)
    axes.plot(*points[:1].T, "s", markersize=width + 8.0, color=FAINT, markeredgecolor=colour, markeredgewidth=1.2, zorder=5)


def plot(cloud: Workspace, path: str | os.PathLike[str] | None) -> Any:
    """Plot a scatter with three views, or the plane of a planar workspace."""
    unit = {1: "m", 2: "m²", 3: "m³"}.get(cloud.dimension, "")
    kind = {1: "length", 2: "area", 3: "volume"}.get(cloud.dimension, "extent")
    size = f"{kind} {cloud.volume:.3g} ± {float(f'{cloud.volume_error:.1g}'):g} {unit}"
    reach = f", reach {cloud.reach:.3g} m" if cloud.has_reach else ""
    facts = f"{size}{reach}; {counted(len(cloud.points), 'sampled configuration')}"
    if cloud.dimension < 3:
        figure = new_figure(7.2, 7.0)
        _view(figure.add_subplot(), cloud, _flat_view(cloud))
    else:
        figure = _views(cloud)
    title = f"{cloud.robot.name}: workspace of {cloud.frame}\n{facts}"
    figure.suptitle(title, fontsize=13, x=0.015, ha="left", color=INK)
    return save(figure, path)


def _views(cloud: Workspace) -> Any:
    """A scatter and three views; below one another where the workspace is low, so that the figure has no empty half."""
    size = np.ptp(cloud.points, axis=0)
    share = float(size[2] / max(size[0], size[1]))
    if share > LOW_ASPECT:
        figure = new_figure(10.4, 9.4)
        grid = figure.add_gridspec(2, 2)
        places = {"3d": grid[0, 0], "xz": grid[0, 1], "xy": grid[1, 0], "yz": grid[1, 1]}
    else:
        panel = 4.8  # in, width of a panel
        heights = panel, panel * share + 0.9  # with its labels
        figure = new_figure(10.4, sum(heights) + 0.9)
        grid = figure.add_gridspec(2, 2, height_ratios=heights)
        places = {"xy": grid[0, 0], "3d": grid[0, 1], "xz": grid[1, 0], "yz": grid[1, 1]}
    _scatter(figure.add_subplot(places.pop("3d"), projection="3d"), cloud)
    for plane, place in places.items():
        _view(figure.add_subplot(place), cloud, plane)
    return figure


def _flat_view(cloud: Workspace) -> str:
    extent = np.ptp(cloud.points, axis=0)
    return {0: "yz", 1: "xz", 2: "xy"}[int(np.argmin(extent))]


def _view(axes: Any, cloud: Workspace, plane: str) -> None:
    """Plot the density of configurations, projected along an axis."""
    a, b = AXES[plane]
    x, y = cloud.points[:, a], cloud.points[:, b]
    cells = np.clip(np.sqrt(len(x) / 8.0), 20, 160)
    counts, *edges = np.histogram2d(x, y, cell_edges(np.column_stack([x, y]), cells))
    shown = np.where(counts > 0, np.log10(np.maximum(counts, 1)), np.nan)
    axes.pcolormesh(*edges, shown.T, cmap="Blues", vmin=-0.6 * np.nanmax(shown), rasterized=True)
    axes.plot(*cloud.origin[[a, b]], "+", color=INK, markersize=11, markeredgewidth=1.8)
    tidy(axes)
    axes.locator_params(nbins=5)  # narrow panels: labels must not touch
    axes.set(xlabel=f"{plane[0]} [m]", ylabel=f"{plane[1]} [m]")
    square_limits(axes, [np.column_stack([x, y])], 0.04)
    names = {"xy": "top view", "xz": "side view", "yz": "front view"}
    heading(axes, names[plane] if cloud.dimension == 3 else "density of sampled configurations (darker: more)", 10.5)


def _scatter(axes: Any, cloud: Workspace) -> None:
    """Plot the half behind the first joint, which shows the interior."""
    behind = cloud.points[cloud.points[:, 1] >= cloud.origin[1]]
    half = len(behind) > len(cloud.points) // 8
    behind = behind if half else cloud.points
    some = behind[:: max(1, len(behind) // MAX_DOTS)]
    distance = np.linalg.norm(some - cloud.origin, axis=1)
    axes.scatter(*some.T, c=distance, cmap=SEQUENCE, s=5.0, alpha=0.7, linewidths=0, rasterized=True)
    axes.set_aspect("equal")
    size = [abs(high - low) for low, high in (axes.get_xlim(), axes.get_ylim(), axes.get_zlim())]
    low = size[2] < LOW_ASPECT * max(size)
    space_axes(axes, ("x [m]", "y [m]", "z [m]"))
    axes.view_init(elev=28 if low else 18, azim=-68)
    if size[2] < WIDE_ASPECT * max(size):  # the box fills the width: its labels need room
        axes.set_box_aspect(size, zoom=0.82)
    if low:
        axes.xaxis.labelpad, axes.zaxis.labelpad = 14.0, -2.0
    shown = f"positions with y ≥ {cloud.origin[1]:.3g} m, " if half else ""
    heading(axes, f"{shown}coloured by distance", 10.5)


def plot_slice(found: WorkspaceSlice, path: str | os.PathLike[str] | None, pick: str, cells: int) -> Any:
    """Plot a map of the plane, its colour scale, and the robot in the best configuration."""
    from matplotlib.colors import LogNorm, Normalize

    fewer = int(np.clip(np.sqrt(len(found.points) / 8.0), 24, cells))
    x, y, numbers = found.grid(fewer, pick)
    numbers = _without_pinholes(numbers)
    there = numbers[np.isfinite(numbers)]
    figure = new_figure(7.6, 6.9)
    axes = figure.add_subplot()
    measure = found.measure
    low, high = np.quantile(there, COLOUR_QUANTILES) if len(there) else (0.0, 1.0)
    if high <= low * (1.0 + NEGLIGIBLE):
        high = 1.1 * low or 1.0  # the same value everywhere
    logarithmic = measure.logarithmic and low > 0.0 and high > 3.0 * low
    norm = LogNorm(low, high) if logarithmic else Normalize(min(low, 0.0) if measure.more_is_better else low, high)
    colours = SEQUENCE if measure.more_is_better else f"{SEQUENCE}_r"
    shown = np.clip(numbers, norm.vmin, norm.vmax)  # a logarithmic scale has no colour for zero
    drawn = axes.pcolormesh(x, y, shown.T, cmap=colours, norm=norm, rasterized=True)
    unit = f" [{measure.unit}]" if measure.unit else ""
    beyond = _clipped_extremes(there, float(norm.vmin or 0.0), float(norm.vmax or 0.0))
    ends = {(): "neither", ("below",): "min", ("above",): "max", ("below", "above"): "both"}[tuple(beyond)]
    label = textwrap.fill(f"{measure.label}{unit}", 44)
    bar = figure.colorbar(drawn, ax=axes, label=label, pad=0.02, shrink=0.85, extend=ends)
    bar.outline.set_visible(False)
    for formatter in ("set_major_formatter", "set_minor_formatter") if logarithmic and high < 30.0 * low else ():
        getattr(bar.ax.yaxis, formatter)("{x:g}")
    a, b = AXES[found.plane]
    value, _, q = found.worst if pick == "worst" else found.best
    arm = chain_points(found.robot, q, found.frame)[:, [a, b]]
    draw_arm(axes, arm)
    tidy(axes)
    axes.set(xlabel=f"{found.plane[0]} [m]", ylabel=f"{found.plane[1]} [m]")
    square_limits(axes, [found.points, arm], 0.04)
    heading(axes, f"{found.robot.name}: {measure.label}", 13)
    third = next(c for c in "xyz" if c not in found.plane)
    words = {
        "best": "best value at each position",
        "worst": "worst value at each position",
        "mean": "mean value at each position",
    }
    shown_state = "worst" if pick == "worst" else "best"
    caption = f"{third} = {found.level:.3g} m; colours: {words[pick]}; the arm is shown in the {shown_state} configuration"
    caption += f" ({_plain(value)} {measure.unit})".replace(" )", ")") if np.isfinite(value) else ""
    caption += "\nwhite: cells that no sampled configuration reaches"
    added, _, _ = found.note.partition("; ")
    caption += f"\n{added}" if added.startswith("in addition") else ""
    caption += f"\ncolours are clipped {' and '.join(beyond.values())}" if beyond else ""
    figure.supxlabel(caption, fontsize=9, color="0.4", x=0.02, ha="left")
    return save(figure, path)


def _clipped_extremes(numbers: Array, low: float, high: float) -> dict[str, str]:
    """The ends of a colour scale that values go beyond by at least the printed digits, with the extreme value."""
    found = {}
    least, most = (float(numbers.min()), float(numbers.max())) if len(numbers) else (low, high)
    if least < low and _plain(least) != _plain(low):
        found["below"] = f"below {_plain(low)} (smallest value {_plain(least)})"
    if most > high and _plain(most) != _plain(high):
        found["above"] = f"above {_plain(high)} (largest value {_plain(most)})"
    return found


def _plain(x: float) -> str:
    return np.format_float_positional(x, 3, fractional=False, trim="-") if 1e-4 <= abs(x) < 1e7 else f"{x:.3g}"


def _without_pinholes(numbers: Array) -> Array:
    """Fill isolated empty cells, which sampling missed, with the mean of their neighbours."""
    padded = np.pad(numbers, 1, constant_values=np.nan)
    shifts = [np.roll(padded, (i, j), (0, 1))[1:-1, 1:-1] for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    around = np.stack(shifts)
    finite = np.isfinite(around)
    mean = np.where(finite, around, 0.0).sum(axis=0) / np.maximum(finite.sum(axis=0), 1)
    return np.where(np.isnan(numbers) & (finite.sum(axis=0) >= 5), mean, numbers)
