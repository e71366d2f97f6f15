"""A trajectory as a picture: positions, velocities, torques, energies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from dynamis.errors import InputError, MissingExtraError, printable

if TYPE_CHECKING:
    from dynamis.simulation.trajectory import Trajectory


def plot(trajectory: Trajectory, path: str | os.PathLike[str] | None = None) -> Any:
    """Four panels over time."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("plots need matplotlib: pip install 'dynamis[plots]'") from None
    figure = Figure(figsize=(9, 7), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, 2, sharex=True)
    robot, t = trajectory.robot, trajectory.t
    names = robot.coordinate_names
    turning = all(c.revolute for c in robot.model.coordinates)
    units = ("rad", "rad/s", "N m") if turning else ("rad, m", "rad/s, m/s", "N m, N")
    q_names = names if robot.nq == robot.n else [f"q[{k}]" for k in range(robot.nq)]
    panels = [("position", trajectory.q, q_names, units[0]), ("velocity", trajectory.v, names, units[1]),
              ("torque", trajectory.tau, names, units[2])]  # fmt: skip
    for ax, (title, values, labels, unit) in zip(axes.flat, panels, strict=False):
        for k, label in enumerate(labels[:12]):
            (line,) = ax.plot(t, values[:, k], label=label, linewidth=1.4)
            if title == "torque" and np.any(trajectory.friction[:, k]):
                ax.plot(t, trajectory.friction[:, k], color=line.get_color(), linewidth=1.0, linestyle=":")
        if title == "torque" and np.any(trajectory.friction):
            title = "torque, and dry friction (dotted)"  # noqa: PLW2901
        ax.set_title(title, loc="left", fontsize=11)
        ax.set_ylabel(unit)
    axes[0, 0].legend(fontsize=8, frameon=False, ncols=2)
    energy = axes[1, 1]
    for label, values in (("kinetic", trajectory.kinetic_energy), ("potential", trajectory.potential_energy),
                          ("both", trajectory.energy), ("start + work", trajectory.energy[0] + trajectory.work)):  # fmt: skip
        energy.plot(t, values, label=label, linewidth=1.4, linestyle="--" if label == "start + work" else "-")
    energy.set_title("energy", loc="left", fontsize=11)
    energy.set_ylabel("J")
    energy.legend(fontsize=8, frameon=False)
    for ax in axes[1]:
        ax.set_xlabel("t in s")
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25, linewidth=0.6)
        for event in trajectory.events[:60]:
            ax.axvline(event.time, color="0.75", linewidth=0.6, zorder=0)
    figure.suptitle(f"{robot.name}: {trajectory.status}", fontsize=12, x=0.01, ha="left")
    if path is not None:
        try:
            figure.savefig(path, dpi=130)
        except (OSError, ValueError) as error:
            raise InputError(f"{printable(str(path))} cannot be written: {error}") from None
    return figure
