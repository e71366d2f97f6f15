"""Lagrange against Newton–Euler as a picture."""

from __future__ import annotations

from typing import Any

from benchmarks.drawing import OURS, TICKS, WIDE, headline

COLOURS = {"planar": "#6aa084", "puma560": "#b5705f", "iiwa14": OURS}
FEWEST = 2  # joints: one alone is an operation or two
NAMES = {"planar": "planar arm", "puma560": "Puma 560", "iiwa14": "iiwa 14"}


def comparison(pyplot: Any, rows: list[dict[str, Any]]) -> Any:
    """Operations on the left, nanoseconds on the right; a colour for each chain, dashes for the recursion."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=WIDE)
    figure.subplots_adjust(left=0.075, right=0.975, top=0.77, bottom=0.105, wspace=0.16)
    headline(
        figure, "Lagrange against Newton–Euler", "inverse dynamics of arms whose parameters are numbers; logarithmic scale"
    )
    _panel(left, rows, lambda row, way: row["operations"]["numbers"]["inverse dynamics"][way], "operations")
    _panel(right, rows, lambda row, way: row["ns"][way], "nanoseconds per state, compiled, one core")
    figure.legend(*_keys(pyplot), loc="upper left", bbox_to_anchor=(0.068, 0.875), ncols=5, fontsize=14, handlelength=2.8)
    return figure


def _panel(axes: Any, rows: list[dict[str, Any]], figure: Any, title: str) -> None:
    values = []
    for chain, colour in COLOURS.items():
        own = [row for row in rows if row["chain"] == chain and row["joints"] >= FEWEST]
        for way, dash, mark in (("closed", "-", "o"), ("recursion", (0, (4, 2)), "s")):
            points = [(row["joints"], figure(row, way)) for row in own]
            values += [y for _, y in points]
            axes.plot(*zip(*points, strict=True), color=colour, linestyle=dash, marker=mark, markersize=7, linewidth=2.5)
    axes.set_title(title, fontsize=16, fontweight="normal", color="#33363b", pad=10)
    axes.set_yscale("log")
    low, high = 0.7 * min(values), 1.5 * max(values)
    axes.set_ylim(low, high)
    ticks = [t for t in TICKS if low <= t <= high]
    axes.set_yticks(ticks, [f"{t:,g}" for t in ticks])
    axes.minorticks_off()
    axes.set_xticks(range(FEWEST, max(row["joints"] for row in rows) + 1))
    axes.set_xlabel("joints")


def _keys(pyplot: Any) -> tuple[list[Any], list[str]]:
    def line(**style: Any) -> Any:
        return pyplot.Line2D([], [], linewidth=2.5, **style)

    lines = {NAMES[chain]: line(color=colour) for chain, colour in COLOURS.items()}
    lines["closed form"] = line(color="#55595f", marker="o", markersize=7)
    lines["recursion"] = line(color="#55595f", marker="s", markersize=7, linestyle=(0, (4, 2)))
    return list(lines.values()), list(lines)
