"""Plots of the parameters: estimates with intervals, the prior model, and excitation."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.drawing import FORCE, GOOD, INK, MOTION, STRUCTURE, heading, legend_outside, new_figure, save, tidy
from dynamis.identification.validation.excitation import BARELY_INDEPENDENT, Excitation
from dynamis.identification.validation.readable_names import label
from dynamis.identification.validation.statistics import Statistics

Array = npt.NDArray[Any]
Path = str | os.PathLike[str] | None
EDGE = 2.2  # axis limit; intervals beyond it end in an arrow
ROWS_IN_A_COLUMN = 32
WEAKEST_SHOWN = 18
HOLLOW: dict[str, Any] = {
    "linestyle": "", "marker": "D", "markersize": 4.5, "markerfacecolor": "none", "markeredgecolor": INK,
    "markeredgewidth": 0.9,
}  # fmt: skip


def plot_parameters(statistics: Statistics, prior: Any = None, path: Path = None) -> Any:
    """Plot every estimate with its interval, and the prior model, each divided by the larger of the two.

    Red: the prior model is outside the interval. Grey: the interval contains zero.
    """
    s, r = statistics, len(statistics.names)
    before = None if prior is None else np.asarray(prior, float)
    scale = np.abs(s.coef) if before is None else np.maximum(np.abs(s.coef), np.abs(before))
    scale = np.where(scale > 0.0, scale, np.where(s.std > 0.0, s.std, 1.0))
    columns = max(1, -(-r // ROWS_IN_A_COLUMN))
    rows = -(-r // columns)
    figure = new_figure(5.2 * columns + 0.8, 0.21 * rows + 1.3)
    for c, ax in enumerate(figure.subplots(1, columns, squeeze=False).flat):
        part = np.arange(c * rows, min((c + 1) * rows, r))
        _forest(ax, s, before, scale, part)
        ax.set_ylim(rows - 0.4, -0.6)
    _legend(figure, before is not None)
    return save(figure, path)


def _forest(ax: Any, s: Statistics, before: Array | None, scale: Array, part: Array) -> None:
    for row, k in enumerate(part):
        low, high = s.interval[k] / scale[k]
        outside = before is not None and not low <= before[k] / scale[k] <= high
        colour = STRUCTURE if low <= 0.0 <= high else FORCE if outside else MOTION
        ends = np.clip([low, high], -EDGE, EDGE)
        ax.plot(ends, [row, row], color=colour, linewidth=2.0, solid_capstyle="butt")
        for end, value, mark in ((-EDGE, low, "<"), (EDGE, high, ">")):
            if abs(value) > EDGE and np.sign(value) == np.sign(end):
                ax.plot([end], [row], mark, color=colour, markersize=4)
        if before is not None:
            ax.plot([before[k] / scale[k]], [row], **HOLLOW)
        ax.plot([np.clip(s.coef[k] / scale[k], -EDGE, EDGE)], [row], "o", color=colour, markersize=4)
    ax.axvline(0.0, color=INK, linewidth=0.8)
    ax.set_xlim(-EDGE - 0.1, EDGE + 0.1)
    ax.set_yticks(np.arange(len(part)), [label(s.names[k]) for k in part], fontsize=8)
    ax.set_xlabel("value / max(|estimate|, |prior|)", fontsize=9)
    tidy(ax)


def _legend(figure: Any, with_prior: bool) -> None:
    from matplotlib.lines import Line2D

    entries = [Line2D([], [], color=MOTION, marker="o", markersize=4, linewidth=2, label="estimate and interval")]
    if with_prior:
        entries.append(Line2D([], [], color=FORCE, marker="o", markersize=4, linewidth=2, label="prior outside interval"))
    entries.append(Line2D([], [], color=STRUCTURE, marker="o", markersize=4, linewidth=2, label="interval contains zero"))
    if with_prior:
        entries.append(Line2D([], [], label="prior model", **HOLLOW))
    legend_outside(figure, entries, [str(entry.get_label()) for entry in entries], 9, place="upper left")


def plot_excitation(excitation: Excitation, path: Path = None) -> Any:
    """Plot the singular values of the scaled equations, and the most collinear parameters."""
    figure = new_figure(10.8, 4.4)
    values, weakest = figure.subplots(1, 2, width_ratios=[1, 1.15])
    place = np.arange(1, len(excitation.singular_values) + 1)
    values.semilogy(place, np.maximum(excitation.singular_values, 1e-300), "o-", color=MOTION, markersize=3.5, linewidth=1.2)
    heading(values, f"Singular values: condition number {excitation.scaled_condition:.3g}", 11)
    values.yaxis.set_major_formatter("{x:g}")
    if excitation.scaled_condition < 30.0:  # about one decade: powers of ten would be too few ticks
        values.yaxis.set_minor_formatter("{x:g}")
    else:
        values.yaxis.set_minor_formatter("")
    values.set(xlabel="direction", ylabel="singular value (normalized columns)")
    order = np.argsort(excitation.independence)[:WEAKEST_SHOWN]
    own = 100.0 * excitation.independence[order]
    colours = [FORCE if value < 100.0 * BARELY_INDEPENDENT else GOOD for value in own]
    weakest.barh(np.arange(len(order)), np.maximum(own, 1e-6), color=colours, height=0.7)
    weakest.axvline(100.0 * BARELY_INDEPENDENT, color=INK, linewidth=1.0, linestyle=":")
    weakest.set_xscale("log")
    weakest.set_xlim(min(1.0, 0.5 * max(float(own.min()), 1e-6)), 110.0)
    weakest.xaxis.set_major_formatter("{x:g}")
    weakest.set_ylim(len(order) - 0.4, -0.6)
    weakest.set_yticks(np.arange(len(order)), [label(excitation.names[k]) for k in order], fontsize=8)
    weakest.set_xlabel("independent fraction of the column, %")
    heading(weakest, "Weakest parameters (left of the line: nearly collinear)", 11)
    for ax in (values, weakest):
        tidy(ax)
    return save(figure, path)
