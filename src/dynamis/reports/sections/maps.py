"""Gravity torque and inertia of each joint over the two coordinates that change them most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.documents.blocks import Axes, Curves, Grid, HeatMap, Plot, Section
from dynamis.documents.numbers import short, text, without_noise
from dynamis.reports.numbers import effort_name, ranges, torque_unit, unit_of
from dynamis.reports.subject import Subject
from dynamis.robot import Robot
from dynamis.tolerances import NEGLIGIBLE

Array = npt.NDArray[Any]
Values = Callable[[Array], Array]  # of configurations (..., nq): one number per coordinate (..., n)
Unit = Callable[[Robot, int], str]

KEY, TITLE = "maps", "Gravity torque and inertia"
CELLS_PER_AXIS = 45
POINTS_PER_LINE = 181
SAMPLES = 64
MAX_MAPS = 4  # coordinates whose torque or inertia has a map
CANDIDATE_AXES = 6  # coordinates from which the axes of a map are chosen
COARSE_POINTS_PER_AXIS = 9  # to compare pairs of axes


def build(subject: Subject, section: Section) -> None:
    robot = subject.robot
    movable = plain_coordinates(robot)
    if not movable:
        section.lead = "Not applicable: no joint of this robot has a single scalar position to draw a map over."
        return
    quantities: list[tuple[str, str, Values, Unit]] = [
        (f"Gravity {effort_name(robot)}", "g", robot.gravity, torque_unit),
        ("Joint inertia (diagonal of M)", "M", lambda q: _diagonal(robot, q), inertia_unit),
    ]
    if len(movable) == 1:
        computed = _line_figures(robot, movable[0], section)
        section.lead = (
            f"Gravity {effort_name(robot, movable[0])} and inertia as functions of {robot.coordinate_names[movable[0]]}."
        )
    else:
        computed = [
            line
            for title, letter, values, unit in quantities
            for line in _map(robot, title, letter, values, unit, movable, section)
        ]
        section.lead = (
            f"Static gravity {effort_name(robot)} g(q) of the joints, and the diagonal entries of the inertia matrix M(q). "
            "Each map spans the two coordinates that change the chosen quantity most; all others are in the home configuration "
            "(zero, or mid-range for joints whose limits exclude zero)."
        )
        section.interaction = "Click or tap a map to show that configuration in the 3-D view."
    section.reproduce = _snippet(subject, computed, over_two=len(movable) > 1)


GRID = f"""
def grid(a, x, b, y, cells={CELLS_PER_AXIS}):
    # configurations at the centres of cells: q[a] in x along the rows, q[b] in y along the columns, the others at home
    centres = (np.arange(cells) + 0.5) / cells
    q = np.tile(robot.home(), (cells, cells, 1))
    q[..., a] = x[0] + (x[1] - x[0]) * centres
    q[..., b] = (y[0] + (y[1] - y[0]) * centres)[:, None]
    return q

"""
LINE = f"""
def line(k, x, points={POINTS_PER_LINE}):
    # configurations with q[k] in x
    q = np.tile(robot.home(), (points, 1))
    q[:, k] = np.linspace(*x, points)
    return q

"""


def _snippet(subject: Subject, computed: Sequence[tuple[str, str]], *, over_two: bool) -> str:
    """Python that computes the values of every view of every figure, by name."""
    lines = ["import numpy as np", "import dynamis as dy", "", subject.load]
    if not computed:
        return "\n".join([*lines, "print(robot.gravity(robot.home()), robot.mass_matrix(robot.home()))"])
    lines += [GRID if over_two else LINE, "figures = {", *(f"    {name!r}: {code}," for name, code in computed), "}"]
    return "\n".join([*lines, "for name, values in figures.items():", "    print(name, values.min(), values.max())"])


def _interval(robot: Robot, k: int) -> str:
    """The entry of q and the interval of a coordinate, as arguments."""
    low, high = ranges(robot)
    return f"{robot.model.coordinates[k].q_index}, ({float(low[k]):.9g}, {float(high[k]):.9g})"


def _entry(letter: str, q: str, k: int) -> str:
    """Python for an entry of g or of the diagonal of M."""
    return f"robot.gravity({q})[..., {k}]" if letter == "g" else f"robot.mass_matrix({q})[..., {k}, {k}]"


def plain_coordinates(robot: Robot) -> list[int]:
    """The coordinates whose v is the rate of one entry of q."""
    return [k for k, c in enumerate(robot.model.coordinates) if c.q_index is not None]


def has_plain_coordinates(robot: Robot, section: Section, what: str) -> bool:
    """Whether every coordinate is one; otherwise the section says that ``what`` it shows does not apply."""
    if len(plain_coordinates(robot)) == robot.n:
        return True
    section.lead = f"Not applicable: {what} is computed for robots with a fixed base and one coordinate per joint."
    return False


def by_influence(robot: Robot, movable: list[int]) -> list[int]:
    """The coordinates in decreasing order of their mean effect on gravity and inertia, over random configurations."""
    rng = np.random.default_rng(0)
    low, high = ranges(robot)
    q = robot.random(rng, SAMPLES)
    g, M = robot.gravity(q), robot.mass_matrix(q)
    scale = max(float(np.abs(g).mean()), NEGLIGIBLE), max(float(np.abs(M).mean()), NEGLIGIBLE)
    effect = {}
    for k in movable:
        moved = q.copy()
        moved[:, robot.model.coordinates[k].q_index] = rng.uniform(low[k], high[k], SAMPLES)
        change = np.abs(robot.gravity(moved) - g).mean() / scale[0] + np.abs(robot.mass_matrix(moved) - M).mean() / scale[1]
        effect[k] = float(change)
    return sorted(movable, key=lambda k: -effect[k])


def _diagonal(robot: Robot, q: Array) -> Array:
    return np.diagonal(robot.mass_matrix(q), axis1=-2, axis2=-1)


def _label(robot: Robot, k: int) -> str:
    return f"{robot.coordinate_names[k]} [{unit_of(robot, k)}]"


def inertia_unit(robot: Robot, k: int) -> str:
    return "kg m²" if robot.model.coordinates[k].revolute else "kg"


def _map(
    robot: Robot, title: str, letter: str, values: Values, unit: Unit, movable: Sequence[int], section: Section
) -> list[tuple[str, str]]:  # fmt: skip
    """One figure: a view for each of the entries that vary most, over the pair of coordinates it varies most with.

    Returns the name of each view and the Python that computes its values.
    """
    axes, variation = best_axes(robot, values, movable)
    largest = float(variation.max())
    at_rest = values(robot.home())
    if not largest > NEGLIGIBLE * max(float(np.abs(at_rest).max()), 1.0):
        same = [k for k in range(robot.n) if abs(at_rest[k]) > NEGLIGIBLE] or [0]
        values_text = ", ".join(
            f"{text(float(at_rest[k]))} {unit(robot, k)} ({robot.coordinate_names[k]})" for k in same[:MAX_MAPS]
        )
        section.notes.append(f"{title}: independent of the configuration, {values_text}.")
        return []
    ranked = [int(k) for k in np.argsort(-variation, kind="stable") if variation[k] > 1e-3 * largest][:MAX_MAPS]
    views = [_view(robot, k, letter, values, unit(robot, k), axes[k]) for k in ranked]
    section.add(HeatMap(title, views, "joint"))
    return [
        (view.name, _entry(letter, f"grid({_interval(robot, axes[k][0])}, {_interval(robot, axes[k][1])})", k))
        for k, view in zip(ranked, views, strict=True)
    ]


def best_axes(robot: Robot, values: Values, movable: Sequence[int]) -> tuple[list[tuple[int, int]], Array]:
    """For each entry of ``values`` the pair of coordinates it varies most with, others at rest, and its range there (n,)."""
    spread = {k: np.ptp(values(_line(robot, k)), axis=0) for k in movable}
    random = values(robot.random(1, SAMPLES))
    scale = np.maximum(np.ptp(random, axis=0), NEGLIGIBLE)
    # pairs among the coordinates that change any entry most, and among those that change each entry most
    ranked = sorted(movable, key=lambda k: -float((spread[k] / scale).max()))
    pairs = {tuple(sorted(pair)) for pair in combinations(ranked[:CANDIDATE_AXES], 2)}
    for k in range(robot.n):
        own = sorted(movable, key=lambda j: -float(spread[j][k]))[:3]
        pairs |= {tuple(sorted(pair)) for pair in combinations(own, 2)}
    best: list[tuple[int, int]] = [(movable[0], movable[1])] * robot.n
    score, found = np.full(robot.n, -1.0), np.zeros(robot.n)
    for a, b in sorted(pairs):
        grid = values(_rectangle(robot, a, b, COARSE_POINTS_PER_AXIS))
        # mean variance along each axis: the map is to change along both, and only then as much as possible
        along = np.stack([grid.var(axis=1).mean(axis=0), grid.var(axis=0).mean(axis=0)])
        worth = along.min(axis=0) + 1e-3 * along.sum(axis=0)  # a small weight for variations along one axis alone
        for k in range(robot.n):
            # a later pair must be better by more than rounding
            if worth[k] > score[k] * (1.0 + 1e-9) + NEGLIGIBLE**2:
                best[k], score[k], found[k] = (a, b), worth[k], float(np.ptp(grid[..., k]))
    return best, found


def _line(robot: Robot, k: int) -> Array:
    low, high = ranges(robot)
    q = np.tile(robot.home(), (POINTS_PER_LINE, 1))
    q[:, robot.model.coordinates[k].q_index] = np.linspace(low[k], high[k], POINTS_PER_LINE)
    return q


def _rectangle(robot: Robot, a: int, b: int, cells: int) -> Array:
    """Configurations (cells, cells, nq) at the centres of cells, b along the first axis and a along the second."""
    low, high = ranges(robot)
    x, y = (without_noise(low[k] + (high[k] - low[k]) * (np.arange(cells) + 0.5) / cells) for k in (a, b))
    q = np.tile(robot.home(), (cells, cells, 1))
    q[..., robot.model.coordinates[a].q_index] = x[None, :]
    q[..., robot.model.coordinates[b].q_index] = y[:, None]
    return q


def _view(robot: Robot, k: int, letter: str, values: Values, unit: str, pair: tuple[int, int]) -> Grid:
    (a, b), name, c = pair, robot.coordinate_names, robot.model.coordinates
    q = _rectangle(robot, a, b, CELLS_PER_AXIS)
    found = without_noise(values(q)[..., k])
    low, high = ranges(robot)
    axes = Axes(
        (float(low[a]), float(high[a])),
        (float(low[b]), float(high[b])),
        _label(robot, a),
        _label(robot, b),
        (int(c[a].q_index or 0), int(c[b].q_index or 0)),
    )
    top = np.unravel_index(int(np.abs(found).argmax()), found.shape)
    size = max(float(np.ptp(found)), 1e-300)
    still = [j for j, axis in ((a, 1), (b, 0)) if float(np.ptp(found, axis=axis).max()) < 1e-6 * size]
    changing = [j for j in (a, b) if j not in still]
    place = ", ".join(f"{name[j]} = {text(float(q[top][c[j].q_index]), 3)} {unit_of(robot, j)}" for j in changing)
    summary = (
        f"{letter} of {name[k]} at the points of the map: {text(float(found.min()))} to {text(float(found.max()))} {unit}"
        + (f"; largest magnitude at {place}." if place else ".")
        + (f" It does not depend on {name[still[0]]}." if still else "")
    )
    return Grid(axes, short(found, 4), f"{letter} of {name[k]}", unit, summary)


def _line_figures(robot: Robot, k: int, section: Section) -> list[tuple[str, str]]:
    """The figures over the only coordinate, and the Python that computes their values."""
    low, high = ranges(robot)
    x, q = np.linspace(low[k], high[k], POINTS_PER_LINE), _line(robot, k)
    g, M = robot.gravity(q)[:, k], robot.mass_matrix(q)[:, k, k]
    for title, values, unit in (
        (f"Gravity {effort_name(robot, k)}", without_noise(g), torque_unit(robot, k)),
        ("Inertia", M, inertia_unit(robot, k)),
    ):
        summary = f"{title} between {text(float(values.min()))} and {text(float(values.max()))} {unit}."
        curve = Curves(short(x), {robot.coordinate_names[k]: short(values)})
        section.add(Plot(title, _label(robot, k), f"{title.lower()} [{unit}]", [curve], summary))
    q_code = f"line({_interval(robot, k)})"
    return [(f"Gravity {effort_name(robot, k)}", _entry("g", q_code, k)), ("Inertia", _entry("M", q_code, k))]
