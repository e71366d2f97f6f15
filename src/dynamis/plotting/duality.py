"""Plot of the duality of motion and force: the robot with both ellipses, and the four subspaces."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.drawing import FORCE, INK, MOTION, STRUCTURE, new_figure, save
from dynamis.plotting.projection import best_plane, draw_robot, finish
from dynamis.statics.ellipsoids import Ellipsoid, force_ellipsoid, velocity_ellipsoid

if TYPE_CHECKING:
    from dynamis.statics.duality import Duality

Array = npt.NDArray[Any]

ELLIPSE_SIZE = 0.42  # longer half-axis, of the arm's extent
MAX_SENTENCES = 4  # below the plot


def plot(found: Duality, path: str | os.PathLike[str] | None) -> Any:
    """Plot the robot on the left, the subspaces on the right, the sentences below."""
    figure = new_figure(12.6, 6.9)
    grid = figure.add_gridspec(1, 2, width_ratios=(1.0, 1.35))
    _robot(figure.add_subplot(grid[0, 0]), found)
    _diagram(figure.add_subplot(grid[0, 1]), found)
    sentences = [textwrap.shorten(s, 150, placeholder=" …") for s in found.sentences[:MAX_SENTENCES]]
    more = len(found.sentences) - len(sentences)
    lines = (
        [*sentences, f"… and {more} more"]
        if more
        else sentences or ["every motion of the frame is possible, and every wrench needs joint torque"]
    )
    figure.supxlabel("\n".join(lines), fontsize=10.5, x=0.01, ha="left", color=INK)
    state = "in a singular configuration" if found.singular else "in a regular configuration"
    title = f"{found.robot.name}, {found.task.frame.name}: duality of motion and force, {state}"
    figure.suptitle(title, fontsize=14, x=0.01, ha="left", color=INK)
    return save(figure, path)


def _robot(axes: Any, found: Duality) -> None:
    robot, q, frame = found.robot, found.q, found.task.frame.name
    plane = best_plane(robot, q, frame)
    points = draw_robot(axes, robot, q, frame, plane)
    tip, size = points[-1], max(float(np.ptp(points, axis=0).max()), 0.3)
    shown = [points]
    for make, colour, name in (
        (force_ellipsoid, FORCE, "forces for ‖τ‖ = 1"),
        (velocity_ellipsoid, MOTION, "velocities for ‖q̇‖ = 1"),
    ):
        ellipse: Ellipsoid = make(robot, q, frame, rows=plane)
        scale = ELLIPSE_SIZE * size / max(float(ellipse.radii[np.isfinite(ellipse.radii)].max(initial=0.0)), 1e-300)
        if np.isposinf(ellipse.radii).any():
            _strip(axes, ellipse, tip, scale, size, colour, name)
            continue
        outline = tip + scale * ellipse.outline()
        axes.fill(*outline.T, color=colour, alpha=0.16, zorder=3)
        axes.plot(*outline.T, color=colour, linewidth=2.2, zorder=4, label=name)
        shown.append(outline)
    axes.legend(loc="upper left", frameon=False, fontsize=9)
    finish(axes, plane, "velocity and force ellipses (different scales)", shown)
    _, high = axes.get_ylim()
    axes.set_ylim(top=high + 0.14 * (high - axes.get_ylim()[0]))


def _strip(axes: Any, ellipse: Ellipsoid, tip: Array, scale: float, size: float, colour: str, name: str) -> None:
    """An unbounded ellipse: two parallel lines."""
    along = ellipse.infinite[:, 0]
    across = ellipse.directions[:, np.isfinite(ellipse.radii)]
    half = scale * ellipse.radii[np.isfinite(ellipse.radii)]
    offset = across[:, 0] * min(float(half[0]), 0.12 * size) if across.size else np.zeros(2)
    far = 4.0 * size  # beyond the window
    for k, shift in enumerate((offset, -offset)):
        line = np.array([tip + shift - far * along, tip + shift + far * along])
        axes.plot(*line.T, color=colour, linewidth=2.2, zorder=4, label=f"{name}: unbounded" if k == 0 else None)
    corners = np.array(
        [tip + offset - far * along, tip + offset + far * along, tip - offset + far * along, tip - offset - far * along]
    )
    axes.fill(*corners.T, color=colour, alpha=0.16, zorder=3)


def _diagram(axes: Any, found: Duality) -> None:
    """Two rows of two boxes: motion above, force below; joints left, the frame right."""
    from matplotlib.patches import FancyArrowPatch

    r, m, n = found.rank, found.task.size, found.robot.n
    axes.set(xlim=(0.0, 10.0), ylim=(0.0, 10.0))
    axes.axis("off")
    top, bottom = (5.75, 9.2), (0.55, 4.0)
    left, right = (0.1, 3.9), (6.1, 9.9)
    _box(
        axes,
        left,
        top,
        r,
        n - r,
        MOTION,
        "joint velocities q̇",
        f"n = {n}",
        ("move the frame", "N(J): self-motions"),
        dead=STRUCTURE,
    )
    _box(axes, right, top, r, m - r, MOTION, "velocities ẋ", f"m = {m}", ("R(J): possible", "impossible"), dead=None)
    _box(
        axes,
        left,
        bottom,
        r,
        n - r,
        FORCE,
        "joint torques τ",
        f"n = {n}",
        ("R(Jᵀ): balanced", "not balanced"),
        dead=None,
    )
    _box(
        axes,
        right,
        bottom,
        r,
        m - r,
        FORCE,
        "wrenches F",
        f"m = {m}",
        ("need torque", "N(Jᵀ): structure"),
        dead=STRUCTURE,
    )
    for y, x0, x1, colour, name in ((7.6, 3.95, 6.05, MOTION, "ẋ = J q̇"), (2.4, 6.05, 3.95, FORCE, "τ = Jᵀ F")):
        arrow = FancyArrowPatch(
            (x0, y), (x1, y), arrowstyle="-|>", mutation_scale=26, linewidth=3.0, color=colour, shrinkA=0, shrinkB=0
        )
        axes.add_patch(arrow)
        axes.text(5.0, y + 0.35, name, ha="center", fontsize=13, color=colour)
    for x in (2.0, 8.0):
        axes.annotate("", xy=(x, 5.62), xytext=(x, 4.72), arrowprops={"arrowstyle": "<|-|>", "color": INK, "linewidth": 1.4})
    grey = "\ngrey and coloured parts\nopposite are orthogonal" if r < max(m, n) else "\nequal on both sides"
    axes.text(5.0, 5.0, f"power q̇·τ = ẋ·F{grey}", ha="center", va="center", fontsize=9.5, color=INK)


def _box(axes: Any, x: tuple[float, float], y: tuple[float, float], live: int, dead_count: int, colour: str, title: str,
         letter: str, names: tuple[str, str], dead: str | None) -> None:  # fmt: skip
    """A space in two parts, with heights proportional to their dimensions; a part that is not a subspace is hatched."""
    from matplotlib.patches import Rectangle

    total = live + dead_count
    share = live / total if total else 0.0
    share = share if share in (0.0, 1.0) else float(np.clip(share, 0.3, 0.7))
    width, height = x[1] - x[0], y[1] - y[0]
    split = y[1] - share * height
    if live:
        axes.add_patch(
            Rectangle((x[0], split), width, y[1] - split, facecolor=colour, alpha=0.85, edgecolor="white", linewidth=2)
        )
        _label(axes, x, split, y[1], names[0], live, "white")
    if dead_count:
        style: dict[str, Any] = (
            {"facecolor": dead, "alpha": 0.55} if dead else {"facecolor": "white", "hatch": "////", "edgecolor": "0.75"}
        )
        axes.add_patch(Rectangle((x[0], y[0]), width, split - y[0], linewidth=2, **{"edgecolor": "white", **style}))
        _label(axes, x, y[0], split, names[1], dead_count, INK, boxed=dead is None)
    axes.add_patch(Rectangle((x[0], y[0]), width, height, fill=False, edgecolor=INK, linewidth=1.4))
    axes.text(x[0], y[1] + 0.18, title, fontsize=11, color=INK, weight="bold")
    axes.text(x[1], y[1] + 0.18, letter, fontsize=10, color="0.4", ha="right")


def _label(
    axes: Any, x: tuple[float, float], low: float, high: float, name: str, count: int, colour: str, boxed: bool = False
) -> None:
    text = f"{name}\n{counted(count, 'dimension')}"
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 2.5} if boxed else None
    axes.text(0.5 * (x[0] + x[1]), 0.5 * (low + high), text, ha="center", va="center", fontsize=10, color=colour, bbox=paper)
