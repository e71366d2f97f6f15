"""Plot of a motion: positions, velocities, accelerations, and torques from inverse dynamics."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.drawing import heading, legend_outside, new_figure, save, tidy
from dynamis.robot import Robot
from dynamis.trajectories.joint_moves import check_plain
from dynamis.trajectories.motion import Motion

Array = npt.NDArray[Any]


class Panel(NamedTuple):
    """One panel: values (times, n), and limits (n) if any."""

    title: str
    values: Array
    unit: str
    limits: Array | None = None


def plot(motion: Motion, path: str | os.PathLike[str] | None = None, robot: Robot | None = None) -> Any:
    """Plot stacked panels over time, with one legend of the joints below."""
    if robot is not None:
        check_plain(robot, *motion.shape)
    t, q, v, a = _sampled(motion)
    panels = [Panel("position", q, "")]
    if robot is None:
        panels += [Panel("velocity", v, ""), Panel("acceleration", a, "")]
    else:
        panels = [Panel("position", q, unit(robot, "")), Panel("velocity", v, unit(robot, "/s"), robot.limits["velocity"]),
                  Panel("acceleration", a, unit(robot, "/s²")), _torque(robot, q, v, a)]  # fmt: skip
    figure = new_figure(8.0, 1.0 + 2.1 * len(panels))
    axes = figure.subplots(len(panels), 1, sharex=True)
    names = robot.coordinate_names if robot is not None else [f"joint {k + 1}" for k in range(q.shape[1])]
    for ax, panel in zip(axes, panels, strict=True):
        draw_lines(ax, t, panel, names)
        tidy(ax)
        heading(ax, panel.title, 11)
        ax.set_ylabel(panel.unit)
        ax.margins(x=0.01)
    axes[-1].set_xlabel("t [s]")
    title = (f"{robot.name}: " if robot is not None else "") + f"duration {motion.duration:.4g} s"
    status = textwrap.fill(motion.status, 110)
    figure.suptitle(f"{title}\n{status}" if status else title, fontsize=10, x=0.01, ha="left")
    if len(names) > 1 or robot is not None:
        handles, labels = axes[0].get_legend_handles_labels()
        legend_outside(figure, handles, labels)
    return save(figure, path)


def _torque(robot: Robot, q: Array, v: Array, a: Array) -> Panel:
    """Torques relative to the limits if all joints have one, for a common scale."""
    torque, effort = robot.inverse_dynamics(q, v, a), robot.limits["effort"]
    if np.isfinite(effort).all() and effort.all():
        return Panel("torque / torque limit", torque / effort, "", np.ones(robot.n))
    return Panel("torque", torque, unit(robot, "", ("N m", "N")), effort)


def _sampled(motion: Motion) -> tuple[Array, Array, Array, Array]:
    """Sample uniformly, and on both sides of each break, where accelerations may be discontinuous."""
    T = motion.duration
    breaks = motion.breaks
    close = 1e-9 * T
    t = np.unique(np.clip(np.concatenate([np.linspace(0.0, T, 1201), breaks - close, breaks + close]), 0.0, T))
    q, v, a = (x.reshape(len(t), -1) for x in motion.at(t))
    # the rest before and after belongs to the picture of an acceleration that starts or ends with a jump
    return (
        np.concatenate([[0.0], t, [T]]),
        np.concatenate([q[:1], q, q[-1:]]),
        np.concatenate([v[:1], v, v[-1:]]),
        np.concatenate([0.0 * a[:1], a, 0.0 * a[-1:]]),
    )


def draw_lines(ax: Any, t: Array, panel: Panel, names: Sequence[str]) -> None:
    """The curves of a panel, and its limits where they are near."""
    largest = float(np.abs(panel.values).max(initial=0.0))
    for k, name in enumerate(names):
        ax.plot(t, panel.values[:, k], label=name, color=f"C{k % 10}", linewidth=1.5, linestyle="-" if k < 10 else "--")
    for limit in np.unique(panel.limits) if panel.limits is not None else ():
        if 0.0 < limit <= 1.6 * largest:  # a limit farther away would only flatten the curves
            for sign in (-1.0, 1.0):
                ax.axhline(sign * limit, color="0.35", linewidth=0.9, linestyle=(0, (4, 4)), zorder=1.5)
    if largest == 0.0:
        ax.set_ylim(-1.0, 1.0)


def unit(robot: Robot, per: str, units: tuple[str, str] = ("rad", "m")) -> str:
    """The unit of revolute joints, of prismatic ones, or both."""
    turning = {c.revolute for c in robot.model.coordinates}
    return ", ".join(name + per for name, kind in zip(units, (True, False), strict=True) if kind in turning)
