"""The figures as pictures, for a page or a stage."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.closed_forms import plots as closed_forms
from benchmarks.drawing import OURS, STYLE, TICKS, WIDE, headline
from benchmarks.offers import FUNCTIONS
from benchmarks.rivals import RIVALS

COLOURS = {
    "pinocchio": "#737b87", "mujoco": "#6aa084", "robotics_toolbox": "#c9a25a", "adam_casadi": "#b5705f", "adam_jax": "#d9a79b",
    "frax": "#7d6b91", "dynibo": "#5b86a8",
}  # fmt: skip
ROBOTS = {
    "ur5e": "UR5e", "panda": "Panda", "xarm7": "xArm 7", "kuka_iiwa14": "iiwa 14", "puma560": "Puma 560",
    "stanford": "Stanford", "go2": "Go2", "g1": "G1", "talos": "TALOS",
}  # fmt: skip


def draw(sections: Mapping[str, Any], folder: Path) -> str:
    """Pictures of what was measured; says in a line what was drawn, or why nothing was."""
    try:
        pyplot: Any = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return "no pictures: matplotlib is not installed"
    pyplot.switch_backend("Agg")
    drawn = []
    with pyplot.rc_context(STYLE):
        if "throughput" in sections:
            rows, batch = sections["throughput"]["rows"], sections["throughput"]["batch"]
            drawn += [(f"speedup_{function}", _speedup(pyplot, rows, function, batch)) for function in FUNCTIONS]
            drawn.append(("float32", _float32(pyplot, rows, batch)))
        if "growth" in sections:
            drawn.append(("growth", _growth(pyplot, sections["growth"]["rows"])))
        if "closed-form" in sections:
            drawn.append(("closed_form", closed_forms.comparison(pyplot, sections["closed-form"]["comparison"])))
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in drawn:
            figure.savefig(folder / f"{name}.png")
            pyplot.close(figure)
    return f"pictures in {folder.name}/: {', '.join(name for name, _ in drawn)}" if drawn else "no pictures: nothing measured"


def _panel(pyplot: Any, title: str, subtitle: str) -> tuple[Any, Any]:
    figure, axes = pyplot.subplots(figsize=WIDE)
    figure.subplots_adjust(left=0.075, right=0.975, top=0.80, bottom=0.12)
    headline(figure, title, subtitle)
    return figure, axes


def _note(figure: Any, text: str) -> None:
    figure.text(0.975, 0.022, text, fontsize=13, color="#55595f", ha="right")


def _names(rows: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(row["robot"] for row in rows))


def _labels(rows: list[dict[str, Any]]) -> list[str]:
    freedom = {row["robot"]: row["degrees_of_freedom"] for row in rows}
    return [f"{ROBOTS.get(name, name)}\n{freedom[name]} DoF" for name in _names(rows)]


def _speedup(pyplot: Any, every: list[dict[str, Any]], function: str, batch: int) -> Any:
    rows = [row for row in every if row["function"] == function]
    rivals = [key for key in RIVALS if any(key in row["rivals"] for row in rows)]
    words = function.replace("_", " ")
    figure, axes = _panel(
        pyplot,
        f"{words.capitalize()}: how many times longer others take",
        f"time per state as a multiple of Dynamis, float64, one core, batch of {batch}; logarithmic scale",
    )
    width = 0.9 / max(len(rivals), 1)
    for key in rivals:
        # bars of a robot stand side by side, without a gap where a rival does not take part
        places, heights = [], []
        for at, row in enumerate(rows):
            present = [name for name in rivals if name in row["rivals"]]
            if key in present:
                places.append(at + (present.index(key) - (len(present) - 1) / 2) * width)
                heights.append(row["rivals"][key]["ratio"])
        looped = any("Python loop" in row["rivals"][key]["how"] for row in rows if key in row["rivals"])
        name = RIVALS[key].name + (" *" if looped else "")
        axes.bar(places, [height - 1.0 for height in heights], width * 0.92, bottom=1.0, color=COLOURS[key], label=name)
        for x, y in zip(places, heights, strict=True):
            axes.text(x, max(y, 1.0) * 1.04, _short(y), ha="center", va="bottom", fontsize=11, color="#33363b")
    axes.axhline(1.0, color=OURS, linewidth=5, clip_on=False, zorder=10)
    _multiples(axes, [v["ratio"] for row in rows for v in row["rivals"].values()])
    if any(" *" in text for text in axes.get_legend_handles_labels()[1]):
        _note(figure, "* called state by state from Python")
    axes.set_xticks(range(len(rows)), _labels(rows))
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.5, len(rows) - 0.5)
    figure.legend(loc="upper left", bbox_to_anchor=(0.068, 0.875), ncols=max(len(rivals), 1), fontsize=14, handlelength=1.1)
    return figure


def _short(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}"


def _multiples(axes: Any, ratios: list[float]) -> None:
    low, high = min([1.0, *(0.9 * ratio for ratio in ratios)]), 1.4 * max([10.0, *ratios])
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    ticks = [t for t in TICKS if low <= t <= high]
    axes.set_yticks(ticks, ["Dynamis" if t == 1 else f"{t:g}×" for t in ticks])
    axes.minorticks_off()
    axes.get_yticklabels()[ticks.index(1)].set(color=OURS, fontweight="bold")


def _float32(pyplot: Any, rows: list[dict[str, Any]], batch: int) -> Any:
    figure, axes = _panel(
        pyplot,
        "Single precision: how many times faster than double",
        f"Dynamis, float64 time over float32 time, one core, batch of {batch}",
    )
    names = _names(rows)
    shades = {"inverse_dynamics": "#1f4e79", "forward_dynamics": "#6a94bd", "mass_matrix": "#b3c6d9"}
    for k, function in enumerate(FUNCTIONS):
        gains = {row["robot"]: row["float32_gain"] for row in rows if row["function"] == function}
        places = [at + (k - 1) * 0.27 for at in range(len(names))]
        axes.bar(places, [gains[name] for name in names], 0.25, color=shades[function], label=function.replace("_", " "))
        for x, name in zip(places, names, strict=True):
            white = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}  # over the line at twice
            number = f"{gains[name]:.2f}"
            axes.text(x, gains[name] + 0.02, number, ha="center", va="bottom", fontsize=12, color="#33363b", bbox=white)
    axes.axhline(2.0, color="#55595f", linewidth=1.5, linestyle=(0, (5, 4)))
    axes.text(
        len(names) - 0.47, 2.0, "twice the\nnumbers in\na register", fontsize=11, color="#55595f", va="center", clip_on=False
    )
    axes.set_ylabel("gain, times")
    axes.set_ylim(0.0, max(2.2, *(row["float32_gain"] * 1.1 for row in rows)))
    axes.set_xticks(range(len(names)), _labels(rows))
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.5, len(names) - 0.5)
    figure.subplots_adjust(right=0.925)
    figure.legend(loc="upper left", bbox_to_anchor=(0.068, 0.875), ncols=3, fontsize=14, handlelength=1.1)
    return figure


def _growth(pyplot: Any, rows: list[dict[str, Any]]) -> Any:
    links = sorted({row["links"] for row in rows})
    figure, axes = _panel(
        pyplot,
        f"Chains of {min(links)} to {max(links)} links: time per link",
        "nanoseconds per link and state, float64, one core, with the checks of the robot's methods; logarithmic scales",
    )
    ends = []
    for key, name, colour in (
        ("pinocchio_ns_per_link", "Pinocchio", COLOURS["pinocchio"]),
        ("ours_ns_per_link", "Dynamis", OURS),
    ):
        for function, mark, dash in (("inverse_dynamics", "o", "-"), ("forward_dynamics", "s", (0, (5, 2)))):
            points = [(row["links"], row[key]) for row in rows if row["function"] == function and key in row]
            if points:
                x, y = zip(*points, strict=True)
                axes.plot(x, y, marker=mark, markersize=9, linewidth=3, linestyle=dash, color=colour)
                ends.append((x[-1], y[-1], f"{name}, {function.split('_')[0]}", colour))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(visible=True, axis="both")
    axes.set_xticks(links, [str(n) for n in links])
    values = [row[key] for row in rows for key in ("ours_ns_per_link", "pinocchio_ns_per_link") if key in row]
    axes.set_ylim(0.7 * min(values), 1.4 * max(values))
    ticks = [t for t in TICKS if 0.7 * min(values) <= t <= 1.4 * max(values)]
    axes.set_yticks(ticks, [f"{t:,g}" for t in ticks])
    axes.minorticks_off()
    axes.set_xlabel("links")
    axes.set_ylabel("ns per link and state")
    _place_names(axes, ends)
    figure.subplots_adjust(right=0.81, bottom=0.13, top=0.85)
    missing = [row for row in rows if "left_out" in row]
    if missing:
        first = min(missing, key=lambda row: row["links"])
        _note(figure, f"Pinocchio with {first['links']} links: {first['left_out']}")
    return figure


def _place_names(axes: Any, ends: list[tuple[float, float, str, str]]) -> None:
    """Names at the right edge, at the height of their lines' ends, moved apart where they would touch."""
    low, high = axes.get_ylim()
    step = (high / low) ** 0.055
    previous = 0.0
    for _, y, text, colour in sorted(ends, key=lambda end: end[1]):
        place = max(y, previous * step)
        previous = place
        axes.annotate(
            text, (1.0, place), xycoords=("axes fraction", "data"), xytext=(12, 0), textcoords="offset points",
            color=colour, fontsize=15, fontweight="bold", va="center", annotation_clip=False,
        )  # fmt: skip
