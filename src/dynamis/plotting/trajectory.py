"""Plots of a trajectory: positions, velocities, torques, energies, powers, and the energy error."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.drawing import legend_above, legend_outside, line_colours, new_figure, save
from dynamis.model.joints import Free, Spherical
from dynamis.model.model import Body
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
    """Plot six panels over time, with one legend of the joints below; torques and powers that are zero are omitted.

    The positions and quaternions of free and spherical joints, whose velocities are no rates of q, have panels of their own.
    """
    draw = [_draw_position, _draw_velocity, _draw_place, _draw_quaternion, _draw_torque, _draw_energy, _draw_power, _draw_error]
    if all(c.q_index is None for c in trajectory.robot.model.coordinates):
        draw.remove(_draw_position)
    if not any(isinstance(body.motion, Free) for _, body in trajectory.robot.model.moving):
        draw.remove(_draw_place)
    if trajectory.robot.nq == trajectory.robot.n:
        draw.remove(_draw_quaternion)
    if not _has_torques(trajectory):
        draw.remove(_draw_torque)
    if not _has_power(trajectory):
        draw.remove(_draw_power)
    rows = -(-len(draw) // 2)
    figure = new_figure(10, 3.3 * rows + 0.4)
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
        ax.set_xlabel("t [s]")
        ax.tick_params(labelbottom=True)
    handles, labels = panels[draw.index(_draw_velocity)].get_legend_handles_labels()
    if handles:
        legend_outside(figure, handles, labels)
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


def _title(ax: Any, title: str, unit: str) -> None:
    ax.set_title(title, loc="left", fontsize=11)
    ax.set_ylabel(unit)


def _joint_lines(trajectory: Trajectory, ax: Any, values: Array) -> None:
    """One curve for each column of values (times, n), in the colour of its joint; none for columns of nan."""
    count = min(trajectory.robot.n, MAX_CURVES)
    # lines that coincide, as those of symmetric legs, stay visible beside the narrower ones above them
    widths = np.linspace(3.0, 1.0, count) if count > MAX_EQUAL_WIDTH_CURVES else np.full(count, 1.4)
    for k, colour in enumerate(line_colours(count)):
        if not np.isnan(values[:, k]).all():
            ax.plot(trajectory.t, values[:, k], label=trajectory.robot.coordinate_names[k], color=colour, linewidth=widths[k])


def _units(trajectory: Trajectory) -> tuple[str, str]:
    kinds = {c.revolute for c in trajectory.robot.model.coordinates}
    if len(kinds) == 1:
        return ("rad/s", "N m") if True in kinds else ("m/s", "N")
    return "rad/s, m/s", "N m, N"


def _draw_position(trajectory: Trajectory, ax: Any) -> None:
    coordinates = trajectory.robot.model.coordinates
    q = np.full(trajectory.v.shape, np.nan)
    for k, c in enumerate(coordinates):
        if c.q_index is not None:
            q[:, k] = trajectory.q[:, c.q_index]
    kinds = {c.revolute for c in coordinates if c.q_index is not None}
    _joint_lines(trajectory, ax, q)
    _title(ax, "position", ", ".join(unit for unit, kind in (("rad", True), ("m", False)) if kind in kinds))


def _draw_place(trajectory: Trajectory, ax: Any) -> None:
    bodies = _draw_parts(trajectory, ax, "xyz", slice(0, 3), (Free,))
    of_base = len(bodies) == 1 and bodies[0].parent == 0
    _title(ax, "position of the base" if of_base else "position of free joints", "m")


def _draw_quaternion(trajectory: Trajectory, ax: Any) -> None:
    bodies = _draw_parts(trajectory, ax, "xyzw", slice(-4, None), (Free, Spherical))
    _title(ax, "quaternion" if len(bodies) == 1 else f"quaternions of {len(bodies)} joints", "")


def _draw_parts(trajectory: Trajectory, ax: Any, letters: str, part: slice, kinds: tuple[type, ...]) -> list[Body]:
    """Draw a part of the configuration of each joint of these kinds, and return their bodies."""
    bodies = [body for _, body in trajectory.robot.model.moving if isinstance(body.motion, kinds)]
    for i, body in enumerate(bodies):
        for k, values in enumerate(trajectory.q[:, body.q_index][:, part].T):
            style = {"color": f"C{k}", "linewidth": 1.4, "linestyle": ("-", "--", ":", "-.")[i % 4]}
            ax.plot(trajectory.t, values, label=letters[k] if i == 0 else None, **style)
    legend_above(ax, len(letters))
    return bodies


def _draw_velocity(trajectory: Trajectory, ax: Any) -> None:
    _joint_lines(trajectory, ax, trajectory.v)
    _title(ax, "velocity", _units(trajectory)[0])


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
    _title(ax, ", ".join(parts), _units(trajectory)[1])


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
