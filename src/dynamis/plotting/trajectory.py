"""Plots of a trajectory: positions, velocities, torques, energies, powers, and the energy error."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.drawing import legend_above, legend_outside, line_colours, new_figure, save
from dynamis.tolerances import NEGLIGIBLE

if TYPE_CHECKING:
    from dynamis.simulation.trajectory import Trajectory

Array = npt.NDArray[Any]
MAX_CURVES = 40  # in one panel
MAX_EQUAL_WIDTH_CURVES = 7  # more are drawn with decreasing widths
MAX_EVENTS = 60
TITLE_CHARACTERS = 100  # in a line
POWERS = ("torques", "friction", "viscous", "wrenches", "stops")


def plot(trajectory: Trajectory, path: str | os.PathLike[str] | None = None) -> Any:
    """Plot six panels over time, with one legend of the joints below; torques and powers that are zero are omitted."""
    draw = [_draw_position, _draw_velocity, _draw_torque, _draw_energy, _draw_power, _draw_error]
    if not _has_torques(trajectory):
        draw.remove(_draw_torque)
    if not _has_power(trajectory):
        draw.remove(_draw_power)
    rows = -(-len(draw) // 2)
    width = 10 if trajectory.robot.nq == trajectory.robot.n else 11  # room for the legend of positions
    figure = new_figure(width, 3.3 * rows + 0.4)
    panels = figure.subplots(rows, 2, sharex=True).flat
    for one, ax in zip(draw, panels, strict=False):
        one(trajectory, ax)
        ax.margins(x=0.02)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25, linewidth=0.6)
        for event in trajectory.events[:MAX_EVENTS]:
            ax.axvline(event.time, color="0.75", linewidth=0.6, zorder=0)
    for ax in panels[len(draw) :]:
        ax.remove()
    for ax in panels[len(draw) - 2 : len(draw)]:
        ax.set_xlabel("t in s")
        ax.tick_params(labelbottom=True)
    _joint_legends(trajectory, figure, *panels[:2])
    parts = [f"simulation {trajectory.status}"]
    parts += ["all joint torques are zero"] if _draw_torque not in draw else []
    count = len(trajectory.events)
    parts += (
        [f"grey lines: {'events' if count <= MAX_EVENTS else f'the first {MAX_EVENTS} of {count} events'}"] if count else []
    )
    title = textwrap.fill(f"{trajectory.robot.name}: {'; '.join(parts)}", TITLE_CHARACTERS)
    figure.suptitle(title, fontsize=12, x=0.01, ha="left")
    return save(figure, path)


def _has_torques(trajectory: Trajectory) -> bool:
    stops = trajectory.stop_torque
    return bool(np.any(trajectory.tau) or np.any(trajectory.friction) or (stops is not None and np.any(stops)))


def _has_power(trajectory: Trajectory) -> bool:
    largest = max(float(np.abs(getattr(trajectory.power, name)).max(initial=0.0)) for name in POWERS)
    return largest > NEGLIGIBLE * float(np.abs(trajectory.kinetic_energy).max(initial=0.0))


def _joint_legends(trajectory: Trajectory, figure: Any, position: Any, velocity: Any) -> None:
    handles, labels = velocity.get_legend_handles_labels()
    if handles:
        legend_outside(figure, handles, labels)
    if trajectory.robot.nq != trajectory.robot.n:
        handles, labels = position.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right upper", fontsize=7, frameon=False, title="position", title_fontsize=8)


def _title(ax: Any, title: str, unit: str) -> None:
    ax.set_title(title, loc="left", fontsize=11)
    ax.set_ylabel(unit)


def _lines(ax: Any, t: Array, values: Array, labels: Sequence[str], **style: Any) -> None:
    count = min(values.shape[1], MAX_CURVES)
    # lines that coincide, as those of symmetric legs, stay visible beside the narrower ones above them
    widths = np.linspace(3.0, 1.0, count) if count > MAX_EQUAL_WIDTH_CURVES else np.full(count, 1.4)
    for k, colour in enumerate(line_colours(count)):
        ax.plot(t, values[:, k], label=labels[k], color=colour, **{"linewidth": widths[k], **style})


def _units(trajectory: Trajectory) -> tuple[str, str, str]:
    turning = all(c.revolute for c in trajectory.robot.model.coordinates)
    return ("rad", "rad/s", "N m") if turning else ("rad, m", "rad/s, m/s", "N m, N")


def _draw_position(trajectory: Trajectory, ax: Any) -> None:
    robot = trajectory.robot
    own_names = robot.nq != robot.n  # the components of a quaternion are not coordinates
    _lines(ax, trajectory.t, trajectory.q, [f"q[{k}]" for k in range(robot.nq)] if own_names else robot.coordinate_names)
    _title(ax, "position", _units(trajectory)[0])


def _draw_velocity(trajectory: Trajectory, ax: Any) -> None:
    _lines(ax, trajectory.t, trajectory.v, trajectory.robot.coordinate_names)
    _title(ax, "velocity", _units(trajectory)[1])


def _draw_torque(trajectory: Trajectory, ax: Any) -> None:
    t, stops, names = trajectory.t, trajectory.stop_torque, trajectory.robot.coordinate_names
    for k, colour in enumerate(line_colours(min(trajectory.robot.n, MAX_CURVES))):
        ax.plot(t, trajectory.tau[:, k], label=names[k], color=colour, linewidth=1.4)
        if np.any(trajectory.friction[:, k]):
            ax.plot(t, trajectory.friction[:, k], color=colour, linewidth=1.2, linestyle=":")
        if stops is not None and np.any(stops[:, k]):
            ax.plot(t, stops[:, k], color=colour, linewidth=1.2, linestyle="-.")
    parts = ["torque"]
    parts += ["dry friction (dotted)"] if np.any(trajectory.friction) else []
    parts += ["stops (dash-dotted)"] if stops is not None and np.any(stops) else []
    _title(ax, ", ".join(parts), _units(trajectory)[2])


def _draw_energy(trajectory: Trajectory, ax: Any) -> None:
    for label, values in (("kinetic", trajectory.kinetic_energy), ("potential", trajectory.potential_energy),
                          ("total", trajectory.energy), ("work", trajectory.work)):  # fmt: skip
        # changes: the potential energy of a robot on a high base would flatten all lines
        ax.plot(trajectory.t, values - values[0], label=label, linewidth=1.4, linestyle="--" if label == "work" else "-")
    _title(ax, "change of energy", "J")
    legend_above(ax, 4)


def _draw_power(trajectory: Trajectory, ax: Any) -> None:
    """Plot the nonzero powers and their sum, the rate of change of the energy."""
    power = trajectory.power
    for k, name in enumerate(POWERS):
        values = getattr(power, name)
        if np.any(values):
            ax.plot(trajectory.t, values, label=name, color=f"C{k}", linewidth=1.4)
    ax.plot(trajectory.t, power.stored, label="stored (sum)", color="0.2", linewidth=1.2, linestyle="--")
    _title(ax, "power into the robot", "W")
    legend_above(ax, 3)


def _draw_error(trajectory: Trajectory, ax: Any) -> None:
    ax.plot(trajectory.t, trajectory.energy_error, color="C3", linewidth=1.2)
    ax.yaxis.set_major_formatter("{x:.2g}")
    _title(ax, "energy error: change − work", "J")
