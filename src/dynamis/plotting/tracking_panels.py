"""Tracking panels of one law: motion and reference, errors, torques, and utilisation of bounds and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dynamis.drawing import FAINT, FORCE, INK, STRUCTURE, heading, line_colours, tidy, with_extremes
from dynamis.plotting.motion import unit

if TYPE_CHECKING:
    from dynamis.control.law_runs import LawRun


def draw(run: LawRun, panels: Any) -> None:
    """Draw the four panels of a law."""
    colours, joint_colours = line_colours(len(run.tracking.names)), line_colours(run.trajectory.robot.n)
    positions, errors, torques, shares = panels
    _positions(positions, run, colours)
    _errors(errors, run, colours)
    _torques(torques, run, joint_colours)
    _shares(shares, run, colours, joint_colours)
    for ax in (positions, errors, torques):
        tidy(ax)
        ax.set_xlim(run.trajectory.t[0], run.trajectory.t[-1])
        ax.set_xlabel("t [s]", color=INK)


def _positions(ax: Any, run: LawRun, colours: list[Any]) -> None:
    track = run.tracking
    done = track.reference - track.error
    for k, name in enumerate(track.names):
        wanted = with_extremes(track.t, track.reference[:, k])
        ax.plot(*wanted, color=colours[k], linewidth=4.0, alpha=0.25, solid_capstyle="round")
        ax.plot(*with_extremes(track.t, done[:, k]), color=colours[k], linewidth=1.5, label=name)
    heading(ax, "motion (thin) and reference (wide)")
    ax.set_ylabel(_unit(run))
    if track.names != run.trajectory.robot.coordinate_names:
        ax.legend(fontsize=8, frameon=True, framealpha=0.85, edgecolor="none", labelcolor=INK)


def _errors(ax: Any, run: LawRun, colours: list[Any]) -> None:
    track = run.tracking
    largest = float(np.abs(track.error).max(initial=0.0))
    factor, prefix = _prefix(largest)
    for k in range(len(track.names)):
        ax.plot(*with_extremes(track.t, factor * track.error[:, k]), color=colours[k], linewidth=1.5)
    ax.axhline(0.0, color=STRUCTURE, linewidth=0.8)
    heading(ax, "error: reference − motion")
    if factor * largest < 0.1:  # a nanoradian or nanometre is the range of what is zero to rounding
        ax.set_ylim(-1.0, 1.0)
    ax.set_ylabel(" or ".join(f"{prefix}{u}" for u in sorted(set(run.units), reverse=True)))


def _torques(ax: Any, run: LawRun, colours: list[Any]) -> None:
    motion = run.trajectory
    for k, name in enumerate(motion.robot.coordinate_names):
        ax.plot(*with_extremes(motion.t, motion.tau[:, k]), color=colours[k], linewidth=1.5, label=name)
    ax.axhline(0.0, color=STRUCTURE, linewidth=0.8)
    heading(ax, f"torques: {len(run.chatter)} of {motion.robot.n} chatter at the sample rate" if run.chatter else "torques")
    ax.set_ylabel(unit(motion.robot, "", ("N m", "N")))


def _shares(ax: Any, run: LawRun, colours: list[Any], joint_colours: list[Any]) -> None:
    """Utilisation of error bounds and torque limits; without either, the RMS errors."""
    track, motion = run.tracking, run.trajectory
    rows: list[tuple[str, float, Any, str]] = []
    if run.bound is not None:
        # an exact model has the bound zero: no share is defined
        shares = np.where(run.bound > 0.0, track.largest / np.where(run.bound > 0.0, run.bound, 1.0), 0.0)
        rows += [
            (f"{name}: error", float(x), colours[k], "") for k, (name, x) in enumerate(zip(track.names, shares, strict=True))
        ]
    finite = np.isfinite(track.limit)
    rows += [
        (f"{name}: torque", float(track.peak[k] / track.limit[k]), joint_colours[k], "///")
        for k, name in enumerate(motion.robot.coordinate_names)
        if finite[k]
    ]
    if not rows:
        rows = [(name, float(x), colours[k], "") for k, (name, x) in enumerate(zip(track.names, track.rms, strict=True))]
        heading(ax, "RMS error")
        _bars(ax, rows, f"{{:.2g}} {run.units[0]}", None)
        return
    most = sorted(range(len(rows)), key=lambda k: -rows[k][1])[:16]
    left_out = "" if len(most) == len(rows) else f": {len(most)} of {len(rows)}, the largest"
    rows = [rows[k] for k in sorted(most)]
    heading(ax, f"utilisation of bounds and limits{left_out}")
    _bars(ax, [(label, 100.0 * x, colour, hatch) for label, x, colour, hatch in rows], "{:.3g} %", 100.0)
    parts = [
        *(["errors / bounds"] if run.bound is not None else []),
        *(["peak torques / limits"] if finite.any() else []),
    ]
    ax.set_xlabel("%: " + ", ".join(parts), color=INK)


def _bars(ax: Any, rows: list[tuple[str, float, Any, str]], text: str, limit: float | None) -> None:
    places = np.arange(len(rows))[::-1]
    values = [x for _, x, _, _ in rows]
    bars = ax.barh(places, values, color=[c for *_, c, _ in rows], height=0.72)
    for bar, (*_, hatch) in zip(bars, rows, strict=True):
        bar.set_hatch(hatch)
        bar.set_edgecolor("white")
    top = max([*values, limit or 0.0])
    for place, x in zip(places, values, strict=True):
        ax.text(x + 0.012 * top, place, text.format(x), va="center", fontsize=8, color=INK)
    ax.set_yticks(places, [label for label, *_ in rows], fontsize=8)
    ax.set_xlim(0.0, 1.14 * top)
    ax.set_ylim(-0.7, len(rows) - 0.3)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(left=False)
    ax.grid(axis="x", color=FAINT, linewidth=0.8)
    ax.set_axisbelow(True)
    if limit is not None:
        ax.axvline(limit, color=FORCE, linewidth=1.4)


def _prefix(size: float) -> tuple[float, str]:
    """The factor and the decimal prefix of the unit for values of this size, nano for all smaller ones."""
    for factor, prefix in ((1.0, ""), (1e3, "m"), (1e6, "µ")):
        if factor * size >= 0.1:
            return factor, prefix
    return 1e9, "n"


def _unit(run: LawRun) -> str:
    return " or ".join(sorted(set(run.units), reverse=True))
