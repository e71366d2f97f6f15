"""Plots of an excitation trajectory: its use of the limits over time, and the convergence of the search."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.drawing import FORCE, INK, MOTION, heading, legend_outside, new_figure, save, tidy
from dynamis.identification.excitation.excitation import Excitation

Array = npt.NDArray[Any]
MAX_ROWS, MIN_ROWS = 32, 5
UNITS = {"position": ("rad", "m"), "velocity": ("rad/s", "m/s"), "acceleration": ("rad/s²", "m/s²"), "torque": ("N m", "N")}


def plot(excitation: Excitation, path: str | os.PathLike[str] | None = None) -> Any:
    """Plot three panels over time on the left; the search and the use of the limits on the right."""
    figure = new_figure(12.5, 8.0)
    halves = figure.add_gridspec(1, 2, width_ratios=(1.9, 1.0))
    left, right = halves[0].subgridspec(3, 1), halves[1].subgridspec(2, 1, height_ratios=(1.0, 1.7))
    t = np.linspace(0.0, excitation.duration, 1501)
    q, v, a = excitation.at(t)
    shown = {"position": q, "velocity": v, "acceleration": a}
    if excitation.robot is not None:
        del shown["acceleration"]
        shown["torque"] = excitation.robot.inverse_dynamics(q, v, a)
    panels: list[Any] = []
    for row, (kind, values) in enumerate(shown.items()):
        panels.append(figure.add_subplot(left[row], sharex=panels[0] if panels else None))
        _over_time(panels[-1], excitation, kind, t, values)
        if row < 2:
            panels[-1].tick_params(labelbottom=False)
    panels[-1].set_xlabel("t [s]")
    _search(figure.add_subplot(right[0]), excitation)
    _shares(figure.add_subplot(right[1]), excitation)
    handles, labels = panels[0].get_legend_handles_labels()
    legend_outside(figure, handles, labels)
    name = excitation.robot_name or "robot"
    size = f"{excitation.duration:g} s, {counted(excitation.parameters, 'parameter')}"
    title = f"{name}: excitation of {size}, condition number {excitation.condition:.3g}"
    figure.suptitle(title, fontsize=13, x=0.01, ha="left", color=INK)
    return save(figure, path)


def _over_time(axes: Any, excitation: Excitation, kind: str, t: Array, values: Array) -> None:
    """Plot relative to the limits if all joints have them: 0 in the middle, 1 at the limit."""
    uses = {use.name: use for use in excitation.uses if use.kind == kind and use.limit}
    whole = len(uses) == len(excitation.joint_names)
    for k, name in enumerate(excitation.joint_names):
        line = values[:, k]
        if whole:
            use = uses[name]
            centre = 0.5 * (use.lower + use.upper)
            line = (line - centre) / (use.limit or 1.0)
        axes.plot(t, line, label=name, color=f"C{k % 10}", linewidth=1.5, linestyle="-" if k < 10 else "--")
    tidy(axes)
    axes.margins(x=0.0)
    reference = "limit or assumed range" if any(use.assumed for use in uses.values()) else "limit"
    heading(axes, f"{kind} relative to {reference}" if whole else kind, 11)
    if whole:
        _forbidden(axes, 1.0 - excitation.margin)
    else:
        robot = excitation.robot
        turning = {True, False} if robot is None else {c.revolute for c in robot.model.coordinates}
        axes.set_ylabel(", ".join(unit for unit, turns in zip(UNITS[kind], (True, False), strict=True) if turns in turning))


def _forbidden(axes: Any, kept: float) -> None:
    """Shade the region beyond the limits in red, and the margin in a lighter one."""
    for sign in (-1.0, 1.0):
        axes.axhspan(sign, 1.25 * sign, color=FORCE, alpha=0.16, linewidth=0.0, zorder=0)
        axes.axhspan(sign * kept, sign, color=FORCE, alpha=0.06, linewidth=0.0, zorder=0)
        axes.axhline(sign, color=FORCE, linewidth=0.9, zorder=0.5)
    axes.set_ylim(-1.12, 1.12)
    axes.set_yticks([-1.0, -0.5, 0.0, 0.5, 1.0])


def _search(axes: Any, excitation: Excitation) -> None:
    heading(axes, f"search: {excitation.criterion}", 11)
    tidy(axes)
    history = np.array(excitation.history)
    if len(history) == 0:
        axes.text(0.5, 0.5, "no iterations", ha="center", va="center", color="0.5", transform=axes.transAxes)
        return
    axes.semilogy(np.arange(1, len(history) + 1), history, color=MOTION, linewidth=1.3)
    axes.set_xlabel("iteration, before verification")
    axes.margins(x=0.02)
    if excitation.criterion == "condition":
        for value, text, side in (
            (excitation.condition_before, "best random motion", 3),
            (excitation.condition, "result, verified", -10),
        ):
            if np.isfinite(value):
                axes.axhline(value, color="0.45", linewidth=0.9, linestyle=(0, (4, 4)), zorder=0.5)
                axes.annotate(f"{text} {value:.3g}", (1.0, value), xycoords=("axes fraction", "data"), xytext=(-2, side),
                              textcoords="offset points", ha="right", fontsize=8, color="0.3")  # fmt: skip
    _plain_ticks(axes, history, excitation.condition_before if excitation.criterion == "condition" else 0.0)


def _plain_ticks(axes: Any, history: Array, before: float) -> None:
    """Use plain tick labels, and a range robust to outlying iterations."""
    from matplotlib.ticker import LogLocator, NullFormatter

    finite = history[np.isfinite(history)]
    top = max(float(np.percentile(finite, 98.0)), before if np.isfinite(before) else 0.0) if finite.size else 1.0
    bottom = float(finite.min()) if finite.size else 0.1
    axes.set_ylim(0.75 * bottom, 1.3 * max(top, 1.05 * bottom))
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 5.0)))
    axes.yaxis.set_major_formatter("{x:.3g}")
    axes.yaxis.set_minor_formatter(NullFormatter())


def _shares(axes: Any, excitation: Excitation) -> None:
    """Plot a bar for each limit and joint."""
    heading(axes, "maximum use of each limit", 11)
    tidy(axes)
    kinds = {kind: names for kind, names in excitation.used.items() if names}
    colours = {"position": MOTION, "velocity": "#6f9bc4", "acceleration": "#a9c4dd", "torque": FORCE, "place": "#7a7a7a"}
    rows = list(dict.fromkeys(name for names in kinds.values() for name in names))[:MAX_ROWS]
    height = 0.8 / max([1, *(sum(name in names for names in kinds.values()) for name in rows)])
    for kind, names in kinds.items():
        places = []
        for name in (name for name in names if name in rows):
            own = [k for k, there in kinds.items() if name in there]  # bars of one name side by side, without gaps
            places.append(rows.index(name) + (own.index(kind) - 0.5 * (len(own) - 1)) * height)
        axes.barh(
            places, [names[name] for name in names if name in rows], 0.9 * height, color=colours.get(kind, INK), label=kind
        )
    axes.axvline(100.0, color=FORCE, linewidth=0.9)
    axes.axvspan(100.0, 110.0, color=FORCE, alpha=0.16, linewidth=0.0, zorder=0)
    axes.set_xlim(0.0, 106.0)
    axes.set_ylim(max(len(rows), MIN_ROWS) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("% of the limit")
    if kinds:
        axes.legend(
            fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.45, -0.15), ncols=len(kinds), columnspacing=1.2
        )
