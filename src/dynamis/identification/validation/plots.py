"""Plots of a fit: measured and predicted torques, residuals, validation, friction."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.drawing import FAINT, FORCE, GOOD, INK, MOTION, STRUCTURE, heading, legend_outside, new_figure, save, tidy
from dynamis.identification.validation.held_out import Validation
from dynamis.identification.validation.readable_names import label
from dynamis.identification.validation.residuals import relative
from dynamis.identification.validation.statistics import Statistics

if TYPE_CHECKING:
    from dynamis.identification.equations import Equations

Array = npt.NDArray[Any]
Path = str | os.PathLike[str] | None
SHOWN_SECONDS = 20.0
MOST_POINTS = 700  # per line: more than a panel can resolve
MOST_DOTS = 700
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


def plot_torques(
    equations: Equations,
    predicted: Any,
    path: Path = None,
    *,
    held: Any = None,
    run: int = 0,
    window: tuple[float, float] | None = None,
) -> Any:
    """Plot measured and predicted torque of each joint over time, and their difference; rows ``held`` out are shaded.

    Only one ``run`` and one ``window`` of time (seconds from its start; default: the first 20) are drawn.
    """
    told, out = np.asarray(predicted, float), np.zeros(len(equations), bool) if held is None else np.asarray(held, bool)
    mine = equations.run == run
    start = float(equations.t[mine].min()) if mine.any() else 0.0
    low, high = (0.0, SHOWN_SECONDS) if window is None else window
    mine &= (equations.t >= start + low) & (equations.t <= start + high)
    figure, axes = joint_panels(len(equations.joints))
    for j, (name, ax) in enumerate(zip(equations.joints, axes, strict=True)):
        every = (equations.joint == j) & np.isfinite(told)
        at = np.flatnonzero(mine & every)
        left = relative((equations.y - told)[every], equations.y[every])
        heading(ax, f"{label(name)}: residual {left:.3g} %" if len(at) else f"{label(name)}: no rows", 10)
        at = at[:: max(1, len(at) // MOST_POINTS)]
        t, y, p = equations.t[at] - start, equations.y[at], told[at]
        for first, last in _stretches(out[at]):
            ax.axvspan(t[first], t[last], color=FAINT, linewidth=0, zorder=0)
        ax.fill_between(t, y - p, color=FORCE, alpha=0.75, linewidth=0, label="residual")
        ax.plot(t, y, color=STRUCTURE, linewidth=2.2, alpha=0.6, label="measured")
        ax.plot(t, p, color=MOTION, linewidth=1.0, label="predicted")
        ax.set_ylabel("N·m", fontsize=9)
        ax.margins(x=0.01)
        ax.tick_params(labelsize=8)
        tidy(ax)
    figure.supxlabel("t in s", fontsize=9)
    _legend_above(figure, axes[0], [("held out", FAINT)] if out.any() else [])
    return save(figure, path)


def _dots(ax: Any, x: Array, y: Array, label: str, **style: Any) -> None:
    """Draw dots as one path of zero-length segments with round caps: markers would make the file ten times as large."""
    speck = 1e-4 * max(float(np.ptp(x)) if len(x) else 0.0, 1e-9)
    across, up = np.stack([x, x + speck, np.full(len(x), np.nan)], axis=1), np.stack([y, y, np.full(len(y), np.nan)], axis=1)
    (line,) = ax.plot(across.ravel(), up.ravel(), linewidth=2.2, solid_capstyle="round", **style)
    line.get_path().should_simplify = False
    ax.plot([], [], ".", label=label, **style)


def _stretches(mask: Array) -> list[tuple[int, int]]:
    """Return first and last index of every run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(int), [0]])))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2)]


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
    longest = 1
    for k, part in enumerate(statistics.joints):
        colour = JOINTS[k % len(JOINTS)]
        e = statistics.residual[equations.joint == equations.joints.index(part.joint)]
        size = float(e.std()) or 1.0
        share = np.histogram(np.clip((e - e.mean()) / size, -5.0, 5.0), grid)[0] / len(e) / (grid[1] - grid[0])
        spread.stairs(share, grid, color=colour, linewidth=1.3, label=label(part.joint))
        if part.whiteness is not None:
            step = part.whiteness.seconds / part.whiteness.length
            rho = part.whiteness.correlation
            longest = max(longest, min(int(6 * part.whiteness.length) + 20, len(rho)))
            memory.plot(np.arange(len(rho)) * step, rho, color=colour, linewidth=1.3)
            memory.set_xlim(0.0, longest * step)
    spread.plot(grid, np.exp(-0.5 * grid**2) / np.sqrt(2.0 * np.pi), color=INK, linestyle="--", linewidth=1.2, label="normal")
    heading(spread, "Distribution of the residuals", 11)
    spread.set(xlabel="residual / its standard deviation", ylabel="density", xlim=(-5, 5))
    fewest = min((part.rows for part in statistics.joints), default=1)
    memory.axhspan(-2.0 / np.sqrt(fewest), 2.0 / np.sqrt(fewest), color=FAINT, linewidth=0, zorder=0)
    memory.axhline(0.0, color=INK, linewidth=0.8)
    heading(memory, "Autocorrelation of the residuals", 11)
    memory.set(xlabel="lag in s", ylabel="autocorrelation", ylim=(-0.35, 1.05))
    for ax in (spread, memory):
        tidy(ax)
    _legend_above(figure, spread, [("band of white noise", FAINT)])
    return save(figure, path)


def plot_validation(validation: Validation, path: Path = None) -> Any:
    """Plot each joint's residual: fitted, held out, prior model; a line marks that of the mean torque."""
    groups = [("fitted", validation.train_joints, MOTION), ("held out", validation.held_out_joints, FORCE)]
    if validation.prior_joints is not None:
        groups.append(("prior model", validation.prior_joints, STRUCTURE))
    n = len(validation.joints)
    figure = new_figure(max(7.0, 1.1 * n + 2.0), 3.8)
    ax = figure.subplots()
    width = 0.8 / len(groups)
    top = 1.15 * max(float(np.nanmax(np.where(np.isfinite(v), v, np.nan), initial=1e-3)) for _, v, _ in groups)
    for k, (whose, values, colour) in enumerate(groups):
        at = np.arange(n) + (k - 0.5 * (len(groups) - 1)) * width
        ax.bar(at, values, 0.92 * width, color=colour, label=whose)
        for x, value in zip(at, values, strict=True):
            if np.isfinite(value):
                ax.annotate(
                    f"{value:.0f}" if value >= 9.95 else f"{value:.2g}",
                    (x, value),
                    (0, 2),
                    textcoords="offset points",
                    ha="center",
                    fontsize=7,
                    color=INK,
                )
    near = np.flatnonzero(validation.mean_joints <= top)  # larger ones are outside the axes
    if len(near):
        mean = validation.mean_joints[near]
        ax.hlines(mean, near - 0.42, near + 0.42, color=INK, linewidth=1.2, linestyle=":", label="mean torque as prediction")
    ax.set_ylim(0.0, 1.05 * top)
    ax.set_xticks(np.arange(n), [label(name, 16) for name in validation.joints], rotation=0 if n < 8 else 30, fontsize=9)
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
    e = equations.y - equations.X @ beta
    figure, axes = joint_panels(len(equations.joints), 2.0)
    rng = np.random.default_rng(0)
    for j, (name, ax) in enumerate(zip(equations.joints, axes, strict=True)):
        at = np.flatnonzero(equations.joint == j)
        own = [k for k, parameter in enumerate(equations.names) if parameter in {f"{name}.{kind}" for kind in FRICTION}]
        curve = equations.X[at][:, own] @ beta[own]
        some = np.sort(rng.choice(len(at), min(MOST_DOTS, len(at)), replace=False)) if len(at) else np.zeros(0, int)
        _dots(ax, equations.v[at][some], (curve + e[at])[some], color=STRUCTURE, alpha=0.5, label="with residual")
        order = np.argsort(equations.v[at], kind="stable")
        order = order[:: max(1, len(order) // MOST_POINTS)]
        ax.plot(equations.v[at][order], curve[order], color=GOOD, linewidth=2.0, label="friction of the model")
        heading(ax, label(name) if own else f"{label(name)}: no friction in the model", 10)
        ax.set_ylabel("N·m", fontsize=9)
        ax.tick_params(labelsize=8)
        tidy(ax)
    figure.supxlabel("velocity in rad/s", fontsize=9)
    _legend_above(figure, axes[0])
    return save(figure, path)
