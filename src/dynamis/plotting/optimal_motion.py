"""Plot of an optimal motion: positions, velocities, torques, and the cost over the iterations."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from dynamis.display import counted
from dynamis.drawing import heading, legend_outside, new_figure, save, tidy
from dynamis.optimize.problem import OptimalMotion
from dynamis.plotting.motion import Panel, draw_lines, unit


def plot(motion: OptimalMotion, path: str | os.PathLike[str] | None = None) -> Any:
    """Plot stacked panels over time, with one legend of the joints below."""
    robot = motion.robot
    limits, names = robot.limits, robot.coordinate_names
    held = np.concatenate([motion.tau, motion.tau[-1:]])
    effort = limits["effort"]
    torque = Panel("torque", held, unit(robot, "", ("N m", "N")), effort)
    if np.isfinite(effort).all() and effort.all():
        torque = Panel("torque / torque limit", held / effort, "", np.ones(robot.n))
    # a configuration with quaternions has no entry per coordinate
    position = np.full((len(motion.t), robot.n), np.nan)
    for k, coordinate in enumerate(robot.model.coordinates):
        if coordinate.q_index is not None:
            position[:, k] = motion.q[:, coordinate.q_index]
    panels = [
        Panel("position", position, unit(robot, "")),
        Panel("velocity", motion.v, unit(robot, "/s"), limits["velocity"]),
        torque,
    ]
    figure = new_figure(8.0, 9.4)
    axes = figure.subplots(4, 1, height_ratios=(1, 1, 1, 0.7))
    for ax, panel in zip(axes, panels, strict=False):
        draw_lines(ax, motion.t, panel, names)
        tidy(ax)
        heading(ax, panel.title, 11)
        ax.set_ylabel(panel.unit)
        ax.margins(x=0.01)
    axes[2].set_xlabel("t [s]")
    for ax in axes[:2]:
        ax.sharex(axes[2])
        ax.tick_params(labelbottom=False)
    _draw_cost(axes[3], motion)
    figure.suptitle(f"{robot.name}: cost {motion.cost:.4g}, {motion.status}", fontsize=10, x=0.01, ha="left", wrap=True)
    handles, labels = axes[0].get_legend_handles_labels()
    legend_outside(figure, handles, labels)
    return save(figure, path)


def _draw_cost(ax: Any, motion: OptimalMotion) -> None:
    """The cost after each accepted iteration; rejected ones, which the status counts too, leave it as it is."""
    from matplotlib.ticker import MaxNLocator, NullFormatter

    costs = np.maximum(motion.history, 1e-300)
    ax.plot(np.arange(1, len(costs) + 1), costs, color="0.25", linewidth=1.5, marker="." if len(costs) == 1 else "")
    if len(costs) and costs.max() > 10.0 * costs.min():
        ax.set_yscale("log")
        ax.yaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    tidy(ax)
    heading(ax, f"cost with penalties, {len(costs)} of {counted(motion.iterations, 'iteration')} accepted", 11)
    ax.set_xlabel("accepted iteration")
