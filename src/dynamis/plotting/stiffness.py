"""Plot of a robot with its compliance ellipse and the two principal stiffnesses."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from dynamis.drawing import INK, MOTION, legend_outside, new_figure, save
from dynamis.plotting.projection import best_plane, draw_robot, finish

if TYPE_CHECKING:
    from dynamis.statics.stiffness import Stiffness


def plot(found: Stiffness, path: str | os.PathLike[str] | None) -> Any:
    """Plot the arm, its compliance ellipse, and the share of each joint, base and link in the compliance."""
    robot, q, frame = found.robot, found.q, found.frame
    plane = best_plane(robot, q, frame)
    ellipse = found.compliance_ellipsoid(plane)
    several = len(found.parts) > 1 or robot.n > 1
    figure = new_figure(11.0 if several else 7.0, 6.2)
    axes = figure.add_subplot(1, 2, 1) if several else figure.add_subplot()
    points = draw_robot(axes, robot, q, frame, plane)
    tip, size = points[-1], max(float(np.ptp(points, axis=0).max()), 0.3)
    scale = 0.35 * size / max(float(ellipse.radii.max()), 1e-300)
    outline = tip + scale * ellipse.outline()
    axes.fill(*outline.T, color=MOTION, alpha=0.18, zorder=3)
    axes.plot(*outline.T, color=MOTION, linewidth=2.2, zorder=4)
    for radius, direction, style in zip(ellipse.radii, ellipse.directions.T, ("--", ":"), strict=True):
        half = scale * radius * direction
        stiff = f"{1e-3 / radius:.3g} N/mm" if radius > 0.0 else "rigid"
        way = ", ".join(f"{x:.2f}" for x in direction + 0.0).replace("-", "\N{MINUS SIGN}")
        axes.plot(*np.array([tip - half, tip + half]).T, color=MOTION, linewidth=1.4, linestyle=style, zorder=5,
                  label=f"principal stiffness {stiff} along ({plane[0]}, {plane[1]}) = ({way})")  # fmt: skip
    shown = f": at most {1e3 * ellipse.radii.max():.3g} mm/N" if ellipse.radii.max() < 0.1 else ""
    finish(axes, plane, f"compliance ellipse at {frame}{shown}", [points, outline])
    # below the panels: inside them a label could lie over the robot or its ellipse
    handles, labels = axes.get_legend_handles_labels()
    legend_outside(figure, handles, labels, 9.5, labelcolor=INK)
    axes.set_anchor("N")
    if several:
        _shares(figure.add_subplot(1, 2, 2), found, plane)
    title = f"{robot.name}: stiffness at {frame}" + (f"\n{found.buckling}" if found.buckling else "")
    figure.suptitle(title, fontsize=13, x=0.01, ha="left", color=INK)
    return save(figure, path)


def _shares(axes: Any, found: Stiffness, plane: str) -> None:
    """The contributions of each joint, base and link to the mean compliance in the plane."""
    rows = ["xyz".index(c) for c in plane]
    J = found.robot.jacobian(found.q, found.frame)
    K = found.joint - found.load
    solved = np.linalg.solve(K, J.T)  # δq of unit wrenches
    shares = {name: float(sum(J[r, k] * solved[k, r] for r in rows)) for k, name in enumerate(found.robot.coordinate_names)}
    shares |= {name: float(sum(C[r, r] for r in rows)) for name, C in found.parts.items() if name != "joints"}
    total = sum(shares.values()) or 1.0
    names = list(shares)[::-1]
    values = np.array([100.0 * shares[name] / total for name in names])
    axes.barh(names, values, color=MOTION, alpha=0.85, height=0.62)
    for k, value in enumerate(values):
        axes.text(max(value, 0.0) + 1.0, k, f"{value:.0f} %", va="center", fontsize=9.5, color=INK)
    axes.set_ylim(len(names) - 1 - max(len(names), 6) + 0.5, len(names) - 0.5)
    axes.set_xlim(0.0, min(115.0, 1.2 * values.max() + 6.0))
    axes.set_xticks([])
    axes.spines[["top", "right", "bottom", "left"]].set_visible(False)
    axes.tick_params(left=False)
    axes.set_title(f"shares of the compliance in {plane[0]} and {plane[1]}", loc="left", fontsize=11, color=INK)
