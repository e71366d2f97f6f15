"""Plots of the eigenvalues of M(q) or Λ(q) over one or two joints (requires ``dynamis[plots]``)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.analysis.dependence import Expressions
from dynamis.display import counted
from dynamis.drawing import heading, mark_turns, new_figure, save, shades, tidy
from dynamis.errors import InputError, printable, unknown_name
from dynamis.kinematics.box import box_of, check_robot
from dynamis.kinematics.directions import directions_of, in_order_of_q
from dynamis.kinematics.manipulability import operational_eigenvalues
from dynamis.robot import Robot

Array = npt.NDArray[Any]


def eigenvalue_plot(
    robot: Robot, joint: str | int | Sequence[str | int] | None = None, path: str | os.PathLike[str] | None = None, *,
    q: Any = None, lower: Any = None, upper: Any = None, points: int = 181, logarithmic: bool | None = None,
    of: str = "M", frame: str | None = None, rows: Any = None,
) -> Any:  # fmt: skip
    """Plot the eigenvalues of M over one joint, or as surfaces over two joints [Melchiorri, slide 53]; returns the axes.

    ``of="Λ"`` plots those of the operational-space inertia Λ = (J M⁻¹ Jᵀ)⁻¹ of a ``frame`` in the directions ``rows`` (by
    default its position); they are infinite in singular configurations.

    ``joint`` is one or two coordinates by name or index, by default the one with the largest change of the eigenvalues. The
    others are kept at ``q`` (n), by default the middle of the box. Ranges are as in ``structural_bounds``. ``path`` is a file
    to write (.png, .pdf, .svg). The scale is logarithmic if the eigenvalues span more than two decades.

    >>> import dynamis as dy
    >>> axes = eigenvalue_plot(dy.load("planar_2r_melchiorri"))  # doctest: +SKIP
    """
    check_robot(robot)
    if not isinstance(points, int | np.integer) or not 2 <= points <= 10_000:
        raise InputError(f"points must be an integer from 2 to 10000, got {points!r}")
    felt = Quantity(robot, of, frame, rows)
    low, high = box_of(robot, lower, upper)
    middle = np.where(np.isfinite(low + high), 0.5 * (low + high), np.clip(0.0, low, high))
    at = _configuration(robot, middle if q is None else q)
    chosen = _chosen(robot, joint, at, low, high)
    for k in chosen:
        if not np.isfinite([low[k], high[k]]).all():
            raise InputError(f"{printable(robot.coordinate_names[k])} has no limits; give lower= and upper=")
    figure = new_figure(7.2, 4.6 if len(chosen) == 1 else 5.6)
    draw = _along_one if len(chosen) == 1 else _over_two
    draw(figure, felt, chosen, at, low, high, points, logarithmic)
    return save(figure, path)


class Quantity:
    """The matrix of the eigenvalues: M, or Λ at a frame."""

    def __init__(self, robot: Robot, of: str, frame: str | None, rows: Any) -> None:
        if of not in ("M", "Λ", "Lambda"):
            raise InputError(f"of={of!r} is unknown; choose 'M' or 'Λ'")
        self.robot, self.letter, self.frame, self.rows = robot, "M" if of == "M" else "Λ", frame, rows
        self.task = None if of == "M" else directions_of(robot, frame, rows)
        self.count = robot.n if self.task is None else self.task.size

    def __call__(self, states: Array) -> Array:
        """Eigenvalues (…, count) in ascending order, at coordinates (…, n)."""
        if self.task is None:
            return _eigenvalues(self.robot, states)
        return operational_eigenvalues(self.robot, in_order_of_q(self.robot, states), self.frame, rows=self.rows)

    @property
    def unit(self) -> str:
        if self.task is None:
            return _unit(self.robot)
        return "kg" if self.task.linear.all() else "kg m²" if not self.task.linear.any() else "kg m², kg"

    @property
    def title(self) -> str:
        where = "" if self.task is None else f" at {self.task.frame.name}"
        return f"{self.robot.name}: eigenvalues of {self.letter}(q){where}"


def _configuration(robot: Robot, q: Any) -> Array:
    """The configuration, in the order of the coordinates."""
    value = np.asarray(q, dtype=float) if not isinstance(q, str) else np.zeros(0)
    if value.shape != (robot.n,) or not np.isfinite(value).all():
        raise InputError(f"q must have {counted(robot.n, 'finite number')}, got {q!r}")
    return value


def _chosen(robot: Robot, joint: Any, at: Array, low: Array, high: Array) -> list[int]:
    if joint is None:
        return [_most_influential(robot, at, low, high)]
    several = isinstance(joint, Sequence) and not isinstance(joint, str)
    asked = list(joint) if several else [joint]
    if len(asked) not in (1, 2):
        raise InputError(f"joint= must be one or two coordinates, got {len(asked)}")
    names = robot.coordinate_names
    chosen = []
    for one in asked:
        if isinstance(one, int) and not isinstance(one, bool) and 0 <= one < robot.n:
            chosen.append(one)
        elif isinstance(one, str) and one in names:
            chosen.append(names.index(one))
        else:
            raise unknown_name("coordinate", one if isinstance(one, str) else str(one), names)
    if len(set(chosen)) != len(chosen):
        raise InputError("joint= must be two different coordinates")
    return chosen


def _most_influential(robot: Robot, at: Array, low: Array, high: Array) -> int:
    """The coordinate of M with the largest relative change of the eigenvalues."""
    terms = Expressions(robot.model)
    used = [k for k in terms.coordinates_in(terms.inertia) if np.isfinite([low[k], high[k]]).all()]
    changes = []
    for k in used:
        eigenvalues = np.maximum(_eigenvalues(robot, _sweep(at, k, np.linspace(low[k], high[k], 61))), 1e-300)
        changes.append(np.log(eigenvalues.max(axis=0) / eigenvalues.min(axis=0)).max())
    return used[int(np.argmax(changes))] if used else 0


def _sweep(at: Array, k: int, values: Array) -> Array:
    states = np.tile(at, (len(values), 1))
    states[:, k] = values
    return states


def _eigenvalues(robot: Robot, states: Array) -> Array:
    """Eigenvalues (…, n) in ascending order, of M at coordinates (…, n)."""
    return np.linalg.eigvalsh(robot.mass_matrix(in_order_of_q(robot, states)))


def _label(robot: Robot, k: int) -> str:
    return f"{robot.coordinate_names[k]} [{'rad' if robot.model.coordinates[k].revolute else 'm'}]"


def _unit(robot: Robot) -> str:
    turns = {c.revolute for c in robot.model.coordinates}
    return "kg m²" if turns == {True} else "kg" if turns == {False} else "kg m², kg"


def _spans_decades(eigenvalues: Array) -> bool:
    there = eigenvalues[np.isfinite(eigenvalues)]
    return bool(len(there) and there.min() > 0.0 and there.max() > 100.0 * there.min())


def _along_one(
    figure: Any, felt: Quantity, chosen: list[int], at: Array, low: Array, high: Array, points: int, logarithmic: bool | None
) -> None:
    robot, (k,) = felt.robot, chosen
    x = np.linspace(low[k], high[k], points)
    eigenvalues = felt(_sweep(at, k, x))
    axes = figure.add_subplot()
    colours = shades(felt.count)
    for i in reversed(range(felt.count)):
        axes.plot(x, eigenvalues[:, i], color=colours[i], linewidth=2.0, label=f"λ$_{{{i + 1}}}$")
    if _spans_decades(eigenvalues) if logarithmic is None else logarithmic:
        axes.set_yscale("log")
    axes.set(xlabel=_label(robot, k), ylabel=f"eigenvalues of {felt.letter} [{felt.unit}]", xlim=(x[0], x[-1]))
    heading(axes, felt.title)
    tidy(axes)
    _mark_turns(axes.xaxis, robot, k, x)
    figure.legend(loc="outside right upper", frameon=False)


def _over_two(
    figure: Any, felt: Quantity, chosen: list[int], at: Array, low: Array, high: Array, points: int, logarithmic: bool | None
) -> None:
    robot, count = felt.robot, min(points, 91)
    sides = [np.linspace(low[k], high[k], count) for k in chosen]
    X, Y = np.meshgrid(*sides, indexing="ij")
    states = np.tile(at, (count, count, 1))
    states[..., chosen[0]], states[..., chosen[1]] = X, Y
    eigenvalues = felt(states)
    eigenvalues = np.where(np.isfinite(eigenvalues), eigenvalues, np.nan)
    scaled = _spans_decades(eigenvalues) if logarithmic is None else logarithmic
    heights = np.log10(eigenvalues) if scaled else eigenvalues
    axes = figure.add_subplot(projection="3d", computed_zorder=False)
    colours = shades(felt.count)
    for i in range(felt.count):
        axes.plot_surface(X, Y, heights[..., i], color=colours[i], alpha=0.9, shade=False, edgecolor="white", linewidth=0.3,
                          rcount=30, ccount=30, label=f"λ$_{{{i + 1}}}$")  # fmt: skip
    height = f"eigenvalues of {felt.letter} [{felt.unit}]"
    axes.set(
        xlabel=_label(robot, chosen[0]), ylabel=_label(robot, chosen[1]), zlabel=f"log₁₀ of {height}" if scaled else height
    )
    for axis, k, side in zip((axes.xaxis, axes.yaxis), chosen, sides, strict=True):
        _mark_turns(axis, robot, k, side)
    heading(axes, felt.title)
    axes.view_init(elev=22, azim=-58)
    axes.set_box_aspect((1.0, 1.0, 0.8), zoom=0.95)
    axes.legend(*(entries[::-1] for entries in axes.get_legend_handles_labels()), loc="upper left", frameon=False)


def _mark_turns(axis: Any, robot: Robot, k: int, x: Array) -> None:
    if robot.model.coordinates[k].revolute:
        mark_turns(axis, x[0], x[-1])
