"""Plots of a trajectory: positions, velocities, torques, energies, powers, and the energy error."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.drawing import new_figure, save

if TYPE_CHECKING:
    from dynamis.simulation.trajectory import Trajectory

Array = npt.NDArray[Any]
MOST_LINES = 40  # in one panel: more is a carpet
MOST_EVENTS = 60
NOTHING = 1e-9  # of the largest power or energy
EASILY_TOLD_APART = 10  # colours of the usual cycle


def plot(trajectory: Trajectory, path: str | os.PathLike[str] | None = None) -> Any:
    """Plot six panels over time, with one legend of the joints below."""
    figure = new_figure(10, 10)
    axes = figure.subplots(3, 2, sharex=True)
    _draw_joints(trajectory, figure, *axes.flat[:3])
    _draw_energy(trajectory, axes[1, 1])
    _draw_power(trajectory, axes[2, 0])
    _draw_error(trajectory, axes[2, 1])
    for ax in axes[-1]:
        ax.set_xlabel("t in s")
    for ax in axes.flat:
        ax.margins(x=0.02)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25, linewidth=0.6)
        for event in trajectory.events[:MOST_EVENTS]:
            ax.axvline(event.time, color="0.75", linewidth=0.6, zorder=0)
    figure.suptitle(f"{trajectory.robot.name}: {trajectory.status}", fontsize=12, x=0.01, ha="left")
    return save(figure, path)


def _title(ax: Any, title: str, unit: str) -> None:
    ax.set_title(title, loc="left", fontsize=11)
    ax.set_ylabel(unit)


def _colours(count: int) -> list[Any]:
    """Colours of the default cycle, or of a rainbow map for more lines."""
    if count <= EASILY_TOLD_APART:
        return [f"C{k}" for k in range(count)]
    from matplotlib import colormaps

    return [colormaps["turbo"](x) for x in np.linspace(0.05, 0.95, count)]


def _lines(ax: Any, t: Array, values: Array, labels: Sequence[str], **style: Any) -> None:
    count = min(values.shape[1], MOST_LINES)
    for k, colour in enumerate(_colours(count)):
        ax.plot(t, values[:, k], label=labels[k], color=colour, **{"linewidth": 1.4, **style})


def _draw_joints(trajectory: Trajectory, figure: Any, position: Any, velocity: Any, torque: Any) -> None:
    robot, t = trajectory.robot, trajectory.t
    names = robot.coordinate_names
    turning = all(c.revolute for c in robot.model.coordinates)
    units = ("rad", "rad/s", "N m") if turning else ("rad, m", "rad/s, m/s", "N m, N")
    own_names = robot.nq != robot.n  # the numbers of a quaternion are no coordinates
    _lines(position, t, trajectory.q, [f"q[{k}]" for k in range(robot.nq)] if own_names else names)
    _lines(velocity, t, trajectory.v, names)
    if own_names:
        position.legend(fontsize=7, ncols=1 + robot.nq // 5, framealpha=0.6, edgecolor="none", columnspacing=1.0)
    told = ["torque"]
    count = min(robot.n, MOST_LINES)
    for k, colour in enumerate(_colours(count)):
        torque.plot(t, trajectory.tau[:, k], label=names[k], color=colour, linewidth=1.4)
        if np.any(trajectory.friction[:, k]):
            torque.plot(t, trajectory.friction[:, k], color=colour, linewidth=1.2, linestyle=":")
        if trajectory.stop_torque is not None and np.any(trajectory.stop_torque[:, k]):
            torque.plot(t, trajectory.stop_torque[:, k], color=colour, linewidth=1.2, linestyle="-.")
    told += ["dry friction (dotted)"] if np.any(trajectory.friction) else []
    told += ["stops (dash-dotted)"] if trajectory.stop_torque is not None and np.any(trajectory.stop_torque) else []
    for ax, title, unit in ((position, "position", units[0]), (velocity, "velocity", units[1])):
        _title(ax, title, unit)
    _title(torque, ", ".join(told), units[2])
    if not any(np.any(line.get_ydata()) for line in torque.lines):
        torque.set_ylim(-1.0, 1.0)
    handles, labels = velocity.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower left", fontsize=8, frameon=False, ncols=min(7, len(labels)))


def _draw_energy(trajectory: Trajectory, ax: Any) -> None:
    for label, values in (("kinetic", trajectory.kinetic_energy), ("potential", trajectory.potential_energy),
                          ("total", trajectory.energy), ("work", trajectory.work)):  # fmt: skip
        # from the start on: what a high base adds to the potential energy would flatten all lines
        ax.plot(trajectory.t, values - values[0], label=label, linewidth=1.4, linestyle="--" if label == "work" else "-")
    _title(ax, "change of energy", "J")
    ax.legend(fontsize=8, framealpha=0.6, edgecolor="none")


def _draw_power(trajectory: Trajectory, ax: Any) -> None:
    """Plot the nonzero powers and their sum, the stored power."""
    power = trajectory.power
    for k, name in enumerate(("torques", "friction", "viscous", "wrenches", "stops")):
        values = getattr(power, name)
        if np.any(values):
            ax.plot(trajectory.t, values, label=name, color=f"C{k}", linewidth=1.4)
    ax.plot(trajectory.t, power.stored, label="stored (sum)", color="0.2", linewidth=1.2, linestyle="--")
    _title(ax, "power into the robot", "W")
    if np.abs(power.stored).max() < NOTHING * np.abs(power.torques).max(initial=np.abs(trajectory.kinetic_energy).max()):
        ax.set_ylim(-1.0, 1.0)  # rounding, which would fill the panel
    ax.legend(fontsize=8, framealpha=0.6, edgecolor="none")


def _draw_error(trajectory: Trajectory, ax: Any) -> None:
    ax.plot(trajectory.t, trajectory.energy_error, color="C3", linewidth=1.2)
    ax.yaxis.set_major_formatter("{x:.2g}")
    _title(ax, "energy error: change − work", "J")
