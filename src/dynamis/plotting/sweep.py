"""Plots of a sweep: outputs over inputs, and histograms of the outputs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from dynamis.drawing import new_figure, save
from dynamis.errors import unknown_name

if TYPE_CHECKING:
    from dynamis.sweeps.table import SweepResult

INK, FAINT = "#2b5c8a", "#b8cbe0"
MAX_PANELS = 6


def plot(result: SweepResult, path: str | os.PathLike[str] | None, output: str | None, over: str | None) -> Any:
    """Plot the outputs over one input (``over``), or one output over every input, with histograms below."""
    for name, known, kind in ((output, result.outputs, "output"), (over, result.inputs, "varied input")):
        if name is not None and name not in known:
            raise unknown_name(kind, name, known)
    pairs = _pairs(result, output, over)
    figure = new_figure(max(4.6, 3.5 * len(pairs)), 6.2)
    axes = figure.subplots(2, len(pairs), squeeze=False)
    shown: set[str] = set()
    for (above, below), (x, y) in zip(axes.T, pairs, strict=True):
        _scatter(above, result, x, y)
        spread = x if y in shown else y  # one output over many inputs: its own spread once, then theirs
        shown.add(y)
        _histogram(below, result, spread)
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.tick_params(labelsize=9)
    figure.suptitle(f"{result.study.name}: {result.status}", fontsize=12, x=0.01, ha="left")
    return save(figure, path)


def _pairs(result: SweepResult, output: str | None, over: str | None) -> list[tuple[str, str]]:
    """(input, output) of each column of panels."""
    changing = [name for name in result.outputs if _changes(result, name)]
    ends = [name for name in changing if name.startswith(("q.", "peak_"))] or changing or result.outputs
    if output is not None:
        return [(x, output) for x in ([over] if over is not None else result.inputs[:MAX_PANELS])]
    if over is not None or len(result.inputs) == 1:
        return [(over or result.inputs[0], y) for y in ends[:MAX_PANELS]]
    return [(x, ends[0]) for x in result.inputs[:MAX_PANELS]]


def _changes(result: SweepResult, name: str) -> bool:
    there = result[name][np.isfinite(result[name])]
    return len(there) > 0 and bool(np.ptp(there) > 1e-12 * max(1.0, float(np.abs(there).max())))


def _scatter(ax: Any, result: SweepResult, x: str, y: str) -> None:
    several = sum(v.law != "grid" or len(v.numbers) > 1 for v in result.study.variables) > 1
    line = not several and result.study.variables[0].law == "grid"
    size = float(np.clip(4000 / max(1, len(result)), 3, 22))
    order = np.argsort(result[x], kind="stable")
    style = {"linestyle": "-", "linewidth": 1.2} if line else {"linestyle": "none"}
    ax.plot(
        result[x][order], result[y][order], marker="o", markersize=size**0.5, markeredgewidth=0, color=INK,
        alpha=1.0 if line else 0.6, **style,
    )  # fmt: skip
    law = next(v.law for v in result.study.variables if v.name == x)
    if law == "log_uniform":
        ax.set_xscale("log")
    ax.set_xlabel(result.label(x), fontsize=10)
    ax.set_ylabel(result.label(y), fontsize=10)


def _histogram(ax: Any, result: SweepResult, name: str) -> None:
    there = result[name][np.isfinite(result[name])]
    values = np.unique(there)
    bins: Any
    gridded = len(values) > 1 and any(v.name == name and v.law in ("grid", "choice") for v in result.study.variables)
    if gridded:  # a bar for each value, up to the middle between neighbours
        middles = 0.5 * (values[1:] + values[:-1])
        bins = np.concatenate([[2.0 * values[0] - middles[0]], middles, [2.0 * values[-1] - middles[-1]]])
    else:
        bins = int(np.clip(np.sqrt(len(there)), 5, 40))
    ax.hist(there, bins=bins, color=FAINT, edgecolor="white", linewidth=0.6)
    if gridded:
        ax.set_title(f"{len(values)} values", fontsize=9, loc="left")
    elif len(there):
        low, median, high = np.quantile(there, (0.05, 0.5, 0.95))
        ax.axvline(median, color=INK, linewidth=1.4)
        for edge in (low, high):
            ax.axvline(edge, color=INK, linewidth=1.0, linestyle=":")
        ax.set_title(
            f"median {median:.4g}\n90 % in {low:.4g} … {high:.4g}".replace("-", "\N{MINUS SIGN}"), fontsize=9, loc="left"
        )
    ax.set_xlabel(result.label(name), fontsize=10)
    ax.set_ylabel("cases", fontsize=10)
    ax.locator_params(axis="x", nbins=5)
    ax.ticklabel_format(axis="x", scilimits=(-2, 4))  # small and large numbers with a common power of ten: they would overlap
    ax.yaxis.get_major_locator().set_params(integer=True)
