"""Plots of a fit: measured and predicted torques, residuals, validation, friction; and plots as SVG in the page of a report."""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.documents.html_blocks import escaped
from dynamis.drawing import (
    FAINT,
    FORCE,
    GOOD,
    INK,
    MOTION,
    STRUCTURE,
    Panels,
    heading,
    laid_out,
    legend_outside,
    new_figure,
    save,
    tidy,
)
from dynamis.identification.equations import Regressor
from dynamis.identification.validation.describe import label
from dynamis.identification.validation.held_out import Validation
from dynamis.identification.validation.residuals import relative
from dynamis.identification.validation.statistics import BARELY_INDEPENDENT, Excitation, Statistics

if TYPE_CHECKING:
    from dynamis.identification.equations import Equations

Array = npt.NDArray[Any]
Path = str | os.PathLike[str] | None
SHOWN_SECONDS = 20.0
MOST_POINTS = 700  # per line: more than a panel can resolve
MOST_DOTS = 700
GAP = 2.5  # usual steps of time: longer ones interrupt a line
NAME_SIZE, CHARACTER = 9.0, 0.62 / 72.0  # of joint names below an axis: size in points; width of a letter in inches per point
LABEL_SHARE = 0.06  # of the height of the axes that the number above a bar takes
JOINTS = ("#4c78a8", "#e07b1a", "#54a24b", "#b279a2", "#d6494b", "#4ba3a0", "#9d755d", "#c49a1a")  # on light and dark
FRICTION = ("viscous", "coulomb", "coulomb_bias", "stribeck", "quadratic", "power", "offset")


def joint_panels(count: int, height: float = 1.9, columns: int = 2) -> tuple[Any, list[Any]]:
    """Return a figure with one panel per joint, in two columns unless there is only one."""
    columns = min(columns, count)
    rows = -(-count // columns)
    figure = new_figure(5.4 * columns if columns > 1 else 8.0, height * rows + 0.7)
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for unused in axes[count:]:
        unused.set_visible(False)
    return figure, axes[:count]


def plot_torques(equations: Equations, predicted: Any, path: Path = None) -> Any:
    """Plot measured and predicted torque of each joint over the first 20 s of the first run, and their difference.

    Lines are interrupted where rows are left out.
    """
    told, mine = np.asarray(predicted, float), equations.run == 0
    start = float(equations.t[mine].min()) if mine.any() else 0.0
    mine &= equations.t <= start + SHOWN_SECONDS
    figure, axes = joint_panels(len(equations.joints))
    for j, (name, ax) in enumerate(zip(equations.joints, axes, strict=True)):
        every = (equations.joint == j) & np.isfinite(told)
        at = np.flatnonzero(mine & every)
        left = relative((equations.y - told)[every], equations.y[every])
        heading(ax, f"{label(name)}: residual {left:.3g} %" if len(at) else f"{label(name)}: no rows", 10)
        part = _parts(equations.t[at])
        stride = max(1, len(at) // MOST_POINTS)
        at, part = at[::stride], part[::stride]
        t, y, p = (_broken(x, part) for x in (equations.t[at] - start, equations.y[at], told[at]))
        ax.fill_between(t, y - p, color=FORCE, alpha=0.75, linewidth=0, label="residual")
        ax.plot(t, y, color=STRUCTURE, linewidth=2.2, alpha=0.6, label="measured")
        ax.plot(t, p, color=MOTION, linewidth=1.0, label="predicted")
        ax.set_ylabel(equations.units[j], fontsize=9)
        ax.margins(x=0.01)
        ax.tick_params(labelsize=8)
        tidy(ax)
    figure.supxlabel("t [s]", fontsize=9)
    _legend_above(figure, axes[0])
    return save(figure, path)


def shown_time(equations: Equations) -> str:
    """Return the sentence on what `plot_torques` leaves out, empty if nothing."""
    first, runs = equations.t[equations.run == 0], len(np.unique(equations.run))
    seconds = float(np.ptp(first)) if len(first) else 0.0
    if seconds <= SHOWN_SECONDS and runs <= 1:
        return ""
    which = f"the first of {runs} runs" if runs > 1 else "the log"
    shown = which if seconds <= SHOWN_SECONDS else f"the first {SHOWN_SECONDS:g} s of {seconds:.3g} s of {which}"
    return f" Shown: {shown}."


def _parts(t: Array) -> Array:
    """Return the number of the uninterrupted part that each time is in."""
    steps = np.diff(t)
    late = steps > GAP * np.median(steps) if len(steps) else np.zeros(0, bool)
    return np.concatenate([[0], np.cumsum(late)]) if len(t) else np.zeros(0, int)


def _broken(x: Array, part: Array) -> Array:
    """Return the values with NaN between parts."""
    return np.asarray(np.insert(x, np.flatnonzero(np.diff(part)) + 1, np.nan))


def _dots(ax: Any, x: Array, y: Array, label: str, **style: Any) -> None:
    """Draw dots as one path of zero-length segments with round caps: markers would make the file ten times as large."""
    speck = 1e-4 * max(float(np.ptp(x)) if len(x) else 0.0, 1e-9)
    across, up = np.stack([x, x + speck, np.full(len(x), np.nan)], axis=1), np.stack([y, y, np.full(len(y), np.nan)], axis=1)
    (line,) = ax.plot(across.ravel(), up.ravel(), linewidth=2.2, solid_capstyle="round", **style)
    line.get_path().should_simplify = False
    ax.plot([], [], ".", label=label, **style)


def _legend_above(figure: Any, ax: Any, patches: Sequence[tuple[str, str]] = ()) -> None:
    from matplotlib.patches import Patch

    handles, labels = ax.get_legend_handles_labels()
    handles += [Patch(color=colour, label=text) for text, colour in patches]
    labels += [text for text, _ in patches]
    if handles:
        legend_outside(figure, handles, labels, 9, place="upper left")


def plot_residuals(statistics: Statistics, equations: Equations, path: Path = None) -> Any:
    """Plot the distribution of the residuals with the normal one, and their autocorrelation with the white-noise band."""
    figure = new_figure(10.8, 4.0)
    spread, memory = figure.subplots(1, 2)
    grid = np.linspace(-5.0, 5.0, 41)
    longest, lowest = 1, -0.3
    for k, part in enumerate(statistics.joints):
        colour = JOINTS[k % len(JOINTS)]
        e = statistics.residual[equations.joint == equations.joints.index(part.joint)]
        size = float(e.std()) or 1.0
        share = np.histogram(np.clip((e - e.mean()) / size, -5.0, 5.0), grid)[0] / len(e) / (grid[1] - grid[0])
        spread.stairs(share, grid, color=colour, linewidth=1.3, label=label(part.joint))
        step, rho = part.whiteness.seconds / part.whiteness.length, part.whiteness.correlation
        longest = max(longest, min(int(6 * part.whiteness.length) + 20, len(rho)))
        lowest = min(lowest, float(np.min(rho)))
        memory.plot(np.arange(len(rho)) * step, rho, color=colour, linewidth=1.3)
        memory.set_xlim(0.0, longest * step)
    spread.plot(grid, np.exp(-0.5 * grid**2) / np.sqrt(2.0 * np.pi), color=INK, linestyle="--", linewidth=1.2, label="normal")
    heading(spread, "Distribution of the residuals", 11)
    spread.set(xlabel="residual / its standard deviation", ylabel="density", xlim=(-5, 5))
    fewest = min((part.rows for part in statistics.joints), default=1)
    memory.axhspan(-2.0 / np.sqrt(fewest), 2.0 / np.sqrt(fewest), color=FAINT, linewidth=0, zorder=0)
    memory.axhline(0.0, color=INK, linewidth=0.8)
    heading(memory, "Autocorrelation of the residuals", 11)
    memory.set(xlabel="lag [s]", ylabel="autocorrelation", ylim=(lowest - 0.05, 1.05))
    for ax in (spread, memory):
        tidy(ax)
    _legend_above(figure, spread, [("band of white noise", FAINT)])
    return save(figure, path)


def plot_validation(validation: Validation, path: Path = None) -> Any:
    """Plot each joint's residual: training rows, held out, prior model; a line marks that of the mean torque."""
    groups = [("training", validation.train_joints, MOTION), ("held out", validation.held_out_joints, FORCE)]
    if validation.prior_joints is not None:
        groups.append(("prior model", validation.prior_joints, STRUCTURE))
    n = len(validation.joints)
    inches = max(10.8, 1.1 * n + 2.0)
    figure = new_figure(inches, 3.8)
    ax = figure.subplots()
    width = 0.8 / len(groups)
    top = 1.15 * max(float(np.nanmax(np.where(np.isfinite(v), v, np.nan), initial=1e-3)) for _, v, _ in groups)
    for k, (whose, values, colour) in enumerate(groups):
        at = np.arange(n) + (k - 0.5 * (len(groups) - 1)) * width
        ax.bar(at, values, 0.92 * width, color=colour, label=whose)
        for x, value, mean in zip(at, values, validation.mean_joints, strict=True):
            if np.isfinite(value):
                ax.annotate(
                    f"{value:.0f}" if value >= 9.95 else f"{value:.2g}",
                    # the number stands above the line where the line would cross it
                    (x, mean if value <= mean <= value + LABEL_SHARE * top else value),
                    (0, 2),
                    textcoords="offset points",
                    ha="center",
                    fontsize=7,
                    color=INK,
                )
    near = np.flatnonzero(validation.mean_joints <= top)  # larger ones are outside the axes
    if len(near):
        style = {"color": INK, "linewidth": 1.2, "linestyle": ":"}
        ax.hlines(validation.mean_joints[near], near - 0.42, near + 0.42, label="mean torque as prediction", **style)
    ax.set_ylim(0.0, 1.05 * top)
    names = [label(name) for name in validation.joints]
    across = (max(map(len, names)) + 2) * CHARACTER * NAME_SIZE * n < inches - 1.0
    turned: dict[str, Any] = {} if across else {"rotation": 30, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(np.arange(n), names, fontsize=NAME_SIZE, **turned)
    ax.set_ylabel("residual, % of the torque")
    tidy(ax)
    ax.grid(axis="x", visible=False)
    _legend_above(figure, ax)
    return save(figure, path)


def plot_friction(equations: Equations, coef: Any, path: Path = None) -> Any:
    """Plot friction of each joint against its velocity: the model's curve, and dots with the residual added.

    A pattern of dots off the curve indicates friction missing in the model.
    """
    beta = np.asarray(coef, float)
    friction = {f"{joint}.{kind}" for joint in equations.joints for kind in FRICTION}
    shown = np.array([name in friction for name in equations.names])
    # a joint's torque depends on the friction of other joints through shared motors only
    fitted, filtered = equations.predict(np.stack([beta, np.where(shown, beta, 0.0)], axis=1)).T
    e = equations.y - fitted
    figure, axes = joint_panels(len(equations.joints), 2.0)
    rng = np.random.default_rng(0)
    for j, (name, ax) in enumerate(zip(equations.joints, axes, strict=True)):
        at = np.flatnonzero(equations.joint == j)
        own = [k for k, parameter in enumerate(equations.names) if parameter in {f"{name}.{kind}" for kind in FRICTION}]
        some = np.sort(rng.choice(len(at), min(MOST_DOTS, len(at)), replace=False)) if len(at) else np.zeros(0, int)
        v = equations.v[at]
        law = _friction_law(equations, beta, j)
        curve = filtered[at][some] if law is None else law(v[some])
        _dots(ax, v[some], curve + e[at][some], color=STRUCTURE, alpha=0.5, label="with residual")
        if law is None or not len(at):
            order = np.argsort(v, kind="stable")
            order = order[:: max(1, len(order) // MOST_POINTS)]
            speeds, curve = v[order], filtered[at][order]
        else:
            ends = [-1e-9 * np.ptp(v), 1e-9 * np.ptp(v)] if v.min() < 0.0 < v.max() else []
            speeds = np.sort(np.append(np.linspace(v.min(), v.max(), MOST_POINTS), ends))
            curve = law(speeds)
        ax.plot(speeds, curve, color=GOOD, linewidth=2.0, label="friction of the model")
        heading(ax, label(name) if own else f"{label(name)}: no friction in the model", 10)
        ax.set_ylabel(equations.units[j], fontsize=9)
        ax.tick_params(labelsize=8)
        tidy(ax)
    units = ["m/s" if unit == "N" else "rad/s" for unit in equations.units]
    for ax, unit in zip(axes, units if len(set(units)) > 1 else (), strict=False):
        ax.set_xlabel(unit, fontsize=8)
    figure.supxlabel("velocity" if len(set(units)) > 1 else f"velocity [{units[0]}]", fontsize=9)
    _legend_above(figure, axes[0])
    return save(figure, path)


def _friction_law(equations: Equations, beta: Array, joint: int) -> Callable[[Array], Array] | None:
    """Return the friction of a joint as a function of its velocity, without the filter of the rows; None if the equations
    were given as a matrix."""
    if not isinstance(equations.source, Regressor):
        return None
    model, names = equations.source.base.model, equations.names
    own = [kind for kind in FRICTION if f"{equations.joints[joint]}.{kind}" in names]
    factors = [beta[names.index(f"{equations.joints[joint]}.{kind}")] for kind in own]

    def law(v: Array) -> Array:
        parts = [x * model.friction_of(kind, v) for kind, x in zip(own, factors, strict=True)]
        return np.asarray(sum(parts, np.zeros(len(v))))

    return law


EDGE = 2.2  # axis limit; intervals beyond it end in an arrow
ROWS_IN_A_COLUMN = 32
WEAKEST_SHOWN = 18
HOLLOW: dict[str, Any] = {
    "linestyle": "", "marker": "D", "markersize": 4.5, "markerfacecolor": "none", "markeredgecolor": INK,
    "markeredgewidth": 0.9,
}  # fmt: skip
AT_BOUND: dict[str, Any] = {"linestyle": "", "marker": "^", "markersize": 4.5, "color": STRUCTURE}


def plot_parameters(statistics: Statistics, prior: Any = None, path: Path = None) -> Any:
    """Plot every estimate with its interval, and the prior model, each divided by the larger of the two.

    Red: the prior model is outside the interval. Grey: the interval contains zero. Triangle: at a bound or not
    determined by the log, without interval.
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
    _legend(figure, before is not None, any(s.at_bound))
    return save(figure, path)


def _forest(ax: Any, s: Statistics, before: Array | None, scale: Array, part: Array) -> None:
    for row, k in enumerate(part):
        if s.at_bound[k]:
            if before is not None:
                ax.plot([before[k] / scale[k]], [row], **HOLLOW)
            ax.plot([s.coef[k] / scale[k]], [row], **AT_BOUND)
            continue
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


def _legend(figure: Any, with_prior: bool, with_bounds: bool) -> None:
    from matplotlib.lines import Line2D

    entries = [Line2D([], [], color=MOTION, marker="o", markersize=4, linewidth=2, label="estimate and interval")]
    if with_prior:
        entries.append(Line2D([], [], color=FORCE, marker="o", markersize=4, linewidth=2, label="prior outside interval"))
    entries.append(Line2D([], [], color=STRUCTURE, marker="o", markersize=4, linewidth=2, label="interval contains zero"))
    if with_prior:
        entries.append(Line2D([], [], label="prior model", **HOLLOW))
    if with_bounds:
        entries.append(Line2D([], [], label="no interval", **AT_BOUND))
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


# map plot colours to CSS variables of the page, which depend on the theme
THEME = {
    INK: "var(--ink)", "#000000": "var(--ink)", "#ffffff": "var(--card)", "#e6e6e6": "var(--grid)", FAINT: "var(--empty)",
    MOTION: "var(--accent)", FORCE: "var(--bad)", GOOD: "var(--good)",
    STRUCTURE: "color-mix(in srgb, var(--ink) 58%, var(--card))",
    **{colour: f"var(--series-{k})" for k, colour in enumerate(JOINTS, 1)},
}  # fmt: skip


def inline_svg(panels: Panels, alt: str, number: int = 0) -> str:
    """Return a figure as an ``<svg>`` element; ``alt`` is its description, ``number`` makes its ids unique."""
    from matplotlib import rc_context

    target = io.StringIO()
    settings: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": f"figure {number}", "path.simplify_threshold": 0.5}
    with rc_context(settings), warnings.catch_warnings():
        # glyphs missing in the layout font are rendered by the browser
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        with laid_out(panels.figure, "svg", panels.figure.dpi):
            panels.figure.savefig(target, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = target.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r'\s(?:xmlns(?::\w+)?|version)="[^"]*"', "", text)  # implied in HTML
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\1f{number}-", text)
    text = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), text)  # 0.01 pt resolution
    for colour, name in THEME.items():
        text = re.sub(re.escape(colour), name, text, flags=re.IGNORECASE)
    head = re.sub(r'(width|height)="[^"]*"\s*', "", text[: text.index(">")], count=2)
    return f'{head} role="img" aria-label="{escaped(alt)}"{text[text.index(">") :]}'.strip()
