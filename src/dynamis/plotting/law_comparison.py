"""Plot of a comparison of laws: tracking and torques of each; for cycles the arm, null-space velocity, drift and costs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import relative_poses, world_poses
from dynamis.drawing import FAINT, FORCE, INK, STRUCTURE, heading, legend_outside, line_colours, new_figure, save, tidy
from dynamis.errors import InputError
from dynamis.plotting.motion import unit
from dynamis.plotting.tracking_panels import draw
from dynamis.robot import Robot
from dynamis.tolerances import RECURSION_ROUNDING

if TYPE_CHECKING:
    from dynamis.control.law_runs import LawComparison, LawRun
    from dynamis.control.null_space_motion import NullSpaceMotion
    from dynamis.kinematics.tasks import Task

Array = npt.NDArray[Any]
COLOURS = ("#2b5c8a", "#3f7d4e", "#b5402f", "#8a5a9e", "#b07d12", "#22303c")
COSTS = {"driven-acceleration": "½ τᵀM⁻²τ", "acceleration-energy": "½ τᵀM⁻¹τ", "torque": "½ τᵀτ"}
FLAT_PATH = 0.05  # of its length: the width of a path that is drawn as a line
MAX_SCALE_RATIO = 30.0  # torques that differ by more are not drawn to one scale


def plot(comparison: LawComparison, path: str | os.PathLike[str] | None = None) -> Any:
    """Plot the tracking of each law; for periodic motions the arm and the torques of each, and their null-space motion."""
    figure = _cycles(comparison) if comparison.periodic else _tracking(comparison)
    return save(figure, path)


def _tracking(comparison: LawComparison) -> Any:
    """Four panels per law: two rows for a single law, otherwise one row for each."""
    runs = comparison.runs
    shape = (2, 2) if len(runs) == 1 else (len(runs), 4)
    figure = new_figure(*((11.5, 7.6) if len(runs) == 1 else (19.0, 0.8 + 3.4 * len(runs))))
    panels = figure.subplots(*shape, squeeze=False).reshape(len(runs), 4)
    for run, row in zip(runs, panels, strict=True):
        draw(run, row)
        if len(runs) > 1:
            row[0].set_title(f"{run.law_name}: {row[0].get_title(loc='left')}", loc="left", fontsize=11, color=INK)
    error = f", parameters off by up to {100.0 * comparison.error:g} %" if comparison.error else ""
    verdict = f"\n{runs[0].stability.verdict}" if len(runs) == 1 and runs[0].stability is not None else ""
    stable = all(run.stability is None or run.stability.stable is not False for run in runs)
    title = f"{comparison.robot.name}: {', '.join(run.law_name for run in runs)}{error}{verdict}"
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, linespacing=1.5, color=INK if stable else FORCE)
    handles, names = panels[0, 2].get_legend_handles_labels()
    legend_outside(figure, handles, names, 9, labelcolor=INK)
    return figure


def _cycles(comparison: LawComparison) -> Any:
    """One column per law above, all laws together below."""
    runs = comparison.runs
    figure = new_figure(4.2 * max(3, len(runs)), 11.6)
    figure.get_layout_engine().set(h_pad=0.09)
    header, upper, lower = figure.subfigures(3, 1, height_ratios=(0.2, 2.0, 1.0))
    _write_title(comparison, header)
    panels = upper.subplots(2, len(runs), squeeze=False, height_ratios=(1.35, 1.0))
    _draw_arms(comparison, panels[0])
    _draw_torques(comparison, upper, panels[1])
    speed, drift, cost = lower.subplots(1, 3)
    _draw_speeds(comparison, speed)
    _draw_drifts(comparison, drift)
    _draw_costs(comparison, cost)
    return figure


def _cycles_of(run: LawRun) -> NullSpaceMotion:
    assert run.null_space is not None  # the motion is periodic
    return run.null_space


def _write_title(comparison: LawComparison, header: Any) -> None:
    motion, names = comparison.motion, ", ".join(comparison.task.names)
    title = f"{comparison.robot.name}: {names} along a {type(motion).__name__.lower()} with different laws"
    header.text(0.012, 0.52, f"{title}, {motion.cycles} × {motion.period:g} s", fontsize=15, color=INK)
    caption = (
        "arm at the start (dashed) and at the end of each cycle (solid, the last one darkest), with the path of the task frame"
    )
    header.text(0.012, 0.14, caption, fontsize=11, color=STRUCTURE)


def _colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


def _draw_arms(comparison: LawComparison, panels: Any) -> None:
    """The arm where each cycle ends, over the path of the task's frame."""
    robot, task = comparison.robot, comparison.task
    chains = [_skeletons(robot, task, _ends(run, comparison.motion.period)) for run in comparison.runs]
    paths = [_path(robot, task, run.trajectory.q) for run in comparison.runs]
    plane = _plane(np.concatenate([x.reshape(-1, 3) for x in paths]), np.concatenate([c.reshape(-1, 3) for c in chains]))
    names = "xyz"
    cloud = np.concatenate([x.reshape(-1, 3)[:, plane] for x in (*chains, *paths)])
    middle, half = 0.5 * (cloud.min(axis=0) + cloud.max(axis=0)), 0.5 * np.ptp(cloud, axis=0) * 1.12
    for place, (axes, run, chain, path) in enumerate(zip(panels, comparison.runs, chains, paths, strict=True)):
        # the start in grey, then darker from cycle to cycle
        for k, bones in enumerate(chain):
            colour = STRUCTURE if k == 0 else _colour(place)
            strength = 0.75 if k == 0 else 0.25 + 0.75 * k / max(1, len(chain) - 1)
            axes.plot(*bones[:, plane].T, color=colour, alpha=strength, linewidth=2.4, marker="o", markersize=4.5,
                      linestyle="--" if k == 0 else "-", solid_capstyle="round")  # fmt: skip
        axes.plot(*path[:, plane].T, color=INK, linewidth=1.0, zorder=0)
        axes.set_aspect("equal", adjustable="box")
        axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
        axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
        axes.set_title(run.name.replace("-", " "), loc="left", fontsize=13, color=INK, pad=22)
        _note(axes, 1.025, f"cost: {_cycles_of(run).minimises}")
        axes.set_xlabel(f"{names[plane[0]]} [m]")
        axes.set_ylabel(f"{names[plane[1]]} [m]" if place == 0 else "")
        tidy(axes)


def _note(axes: Any, height: float, text: str) -> None:
    """A line of small print, outside the layout of the panels."""
    axes.text(0.0, height, text, transform=axes.transAxes, fontsize=9.5, color=STRUCTURE).set_in_layout(False)


def _ends(run: LawRun, period: float) -> Array:
    """Configurations at the start and at the end of each cycle, or of the motion."""
    t = run.trajectory.t
    places = [int(np.argmin(np.abs(t - k * period))) for k in range(int(t[-1] / period + 1e-9) + 1)]
    return run.trajectory.q[places if run.trajectory.complete else [*places, -1]]


def _frame(robot: Robot, task: Task) -> Any:
    try:
        return robot.model.frame(getattr(task, "frame", None))
    except InputError:  # no tip: the last link stands for it
        return robot.model.frame(robot.link_names[-1])


def _skeletons(robot: Robot, task: Task, q: Array) -> Array:
    """(configurations, joints, 3): the joints on the way to the task's frame, and the frame."""
    frame = _frame(robot, task)
    chain = sorted(robot.model.ancestors(frame.body))
    made = []
    for state in q:
        X_W = world_poses(robot.model, relative_poses(robot.model, state))
        made.append([*(X_W[i].p for i in chain), (X_W[frame.body] @ frame.pose).p])
    return np.array(made, dtype=float)


def _path(robot: Robot, task: Task, q: Array) -> Array:
    return robot.pose(q, _frame(robot, task).name)[:, :3, 3]


def _plane(path: Array, points: Array) -> tuple[int, int]:
    """The two world axes with the largest extent of the path, or of the arm where the path is a line; x or y horizontal."""
    spread = np.ptp(path, axis=0)
    if np.sort(spread)[1] < FLAT_PATH * spread.max():
        spread = np.ptp(points, axis=0)
    flat = int(np.argmin(spread))
    return ((1, 2), (0, 2), (0, 1))[flat]


def _draw_torques(comparison: LawComparison, figure: Any, panels: Any) -> None:
    peaks = [run.peak_torque for run in comparison.runs]
    together = max(peaks) < MAX_SCALE_RATIO * max(min(peaks), RECURSION_ROUNDING)
    names = comparison.robot.coordinate_names
    colours = line_colours(len(names))
    for place, (axes, run) in enumerate(zip(panels, comparison.runs, strict=True)):
        for k, name in enumerate(names):
            axes.plot(run.trajectory.t, run.trajectory.tau[:, k], color=colours[k], linewidth=1.3, label=name)
        if together:
            axes.set_ylim(-1.08 * max(peaks), 1.08 * max(peaks))
        axes.set_xlim(0.0, comparison.motion.duration)
        gave_up = "" if run.trajectory.complete else f"; stopped at {run.trajectory.t[-1]:.3g} s"
        heading(axes, f"torques, peak {_number(run.peak_torque)} {run.peak_unit}{gave_up}", 11)
        axes.set_xlabel("t [s]")
        axes.set_ylabel(unit(comparison.robot, "", ("N m", "N")) if place == 0 else "")
        tidy(axes)
    handles, labels = panels[0].get_legend_handles_labels()
    if len(labels) <= 12:
        legend_outside(figure, handles, labels, 9)


def _number(value: float) -> str:
    """Three digits; with a power of ten where decimal notation would be long."""
    if value < 1e5:
        return np.format_float_positional(value, 3, fractional=False, trim="-")
    digits, exponent = f"{value:.1e}".split("e")
    return rf"${digits}\times10^{{{int(exponent)}}}$"


def _draw_speeds(comparison: LawComparison, axes: Any) -> None:
    for place, run in enumerate(comparison.runs):
        axes.plot(
            run.trajectory.t, _cycles_of(run).speed, color=_colour(place), linewidth=1.6, label=run.name.replace("-", " ")
        )
    peak = max(float(_cycles_of(run).speed.max(initial=0.0)) for run in comparison.runs)
    least = min(float(_cycles_of(run).speed.max(initial=0.0)) for run in comparison.runs)
    if peak > MAX_SCALE_RATIO * max(least, RECURSION_ROUNDING):
        axes.set_yscale("symlog", linthresh=max(least, 1e-3 * peak))
    for k in range(1, comparison.motion.cycles):
        axes.axvline(k * comparison.motion.period, color=FAINT, zorder=0)
    axes.set_xlim(0.0, comparison.motion.duration)
    axes.set_ylim(bottom=0.0)
    heading(axes, "null-space velocity", 11)
    axes.set_xlabel("t [s]")
    axes.set_ylabel("‖(1 − J#J) v‖ [rad/s]")
    tidy(axes)


def _draw_drifts(comparison: LawComparison, axes: Any) -> None:
    for place, run in enumerate(comparison.runs):
        cycles = np.arange(len(_cycles_of(run).drift) + 1)
        axes.plot(cycles, [0.0, *_cycles_of(run).drift], color=_colour(place), linewidth=1.6, marker="o", markersize=6,
                  label=run.name.replace("-", " "))  # fmt: skip
    axes.set_xticks(range(comparison.motion.cycles + 1))
    axes.set_ylim(bottom=0.0)
    heading(axes, "joint drift after each cycle", 11)
    axes.set_xlabel("cycles")
    axes.set_ylabel("‖q − q(0)‖ [rad]")
    axes.legend(fontsize=9, frameon=False, loc="best")
    tidy(axes)


def _draw_costs(comparison: LawComparison, axes: Any) -> None:
    """Plot each cost relative to the lowest among the laws."""
    keys, runs = list(_cycles_of(comparison.runs[0]).costs), comparison.runs
    width = 0.8 / len(runs)
    for place, run in enumerate(runs):
        least = [max(min(_cycles_of(other).costs[key] for other in runs), RECURSION_ROUNDING) for key in keys]
        times = [max(_cycles_of(run).costs[key], RECURSION_ROUNDING) / x for key, x in zip(keys, least, strict=True)]
        x = np.arange(len(keys)) + (place - 0.5 * (len(runs) - 1)) * width
        axes.bar(x, times, 0.92 * width, color=_colour(place))
        for at, value in zip(x, times, strict=True):
            text = "1" if value < 1.005 else f"{value:.2g}" if value < 9.95 else _number(value)
            axes.text(at, value, text, ha="center", va="bottom", fontsize=8.5, color=INK)
    axes.set_yscale("log")
    axes.set_ylim(0.8, 2.0 * axes.get_ylim()[1])
    axes.set_xticks(range(len(keys)), [f"∫ {COSTS[key]}" for key in keys])
    heading(axes, "costs relative to the lowest", 11)
    tidy(axes)
    axes.grid(visible=False, axis="x")
