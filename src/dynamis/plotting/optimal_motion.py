"""Plot of an optimal motion: positions, velocities, torques, and the cost over the iterations."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

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
    axes[2].set_xlabel("t in s")
    for ax in axes[:2]:
        ax.sharex(axes[2])
        ax.tick_params(labelbottom=False)
    axes[3].semilogy(np.arange(1, len(motion.history) + 1), np.maximum(motion.history, 1e-300), color="0.25", linewidth=1.5)
    tidy(axes[3])
    heading(axes[3], "cost with penalties", 11)
    axes[3].set_xlabel("iteration")
    figure.suptitle(f"{robot.name}: cost {motion.cost:.4g}, {motion.status}", fontsize=10, x=0.01, ha="left", wrap=True)
    handles, labels = axes[0].get_legend_handles_labels()
    legend_outside(figure, handles, labels)
    return save(figure, path)
