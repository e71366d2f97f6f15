"""Gravity and inertia over the two joints that change them most."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.report.numbers import middle, ranges, short, text, torque_unit, unit_of
from dynamis.report.section import Budget, Curves, Grid, HeatMap, Plot, Section
from dynamis.report.subject import Subject
from dynamis.robot import Robot

Array = npt.NDArray[Any]

KEY, TITLE = "maps", "Gravity and inertia"
CELLS = 45
POINTS = 181
SAMPLES = 64
SHOWN = 4  # joints whose torque or inertia has a map
NOTHING = 1e-9


def build(subject: Subject, section: Section, budget: Budget) -> None:
    robot = subject.robot
    movable = plain_coordinates(robot)
    if not movable:
        section.lead = "No joint of this robot has one number for its position, so there is nothing to draw maps over."
        return
    order = by_influence(robot, movable)
    budget.check("the maps")
    if len(order) == 1:
        _along(robot, order[0], section)
    else:
        _over(robot, order[0], order[1], section)
    names = [robot.coordinate_names[k] for k in order[:2]]
    section.lead = f"What the joints have to hold, and the inertia they feel, over {' and '.join(names)}." + (
        " Of all joints these change them most; the others stand still." if robot.n > 2 else ""
    )
    section.reproduce = (
        f"import numpy as np\nimport dynamis as dy\n\n{subject.load}\nq = np.tile({short(middle(robot), 6)}, (100, 1))\n"
        f"q[:, {robot.model.coordinates[order[0]].q_index}] = np.linspace(*{_ends(robot, order[0])}, 100)\n"
        "g, M = robot.gravity(q), robot.mass_matrix(q)"
    )


def _ends(robot: Robot, k: int) -> tuple[float, float]:
    low, high = ranges(robot)
    return round(float(low[k]), 5), round(float(high[k]), 5)


def plain_coordinates(robot: Robot) -> list[int]:
    """The coordinates whose v is the rate of one entry of q."""
    return [k for k, c in enumerate(robot.model.coordinates) if c.q_index is not None]


def has_plain_coordinates(robot: Robot, section: Section, what: str) -> bool:
    """Whether every coordinate is one; otherwise the section says that ``what`` it shows is not for this robot."""
    if len(plain_coordinates(robot)) == robot.n:
        return True
    section.lead = f"{what} is asked of robots on a fixed base, with one coordinate for each joint: not of this one."
    return False


def by_influence(robot: Robot, movable: list[int]) -> list[int]:
    """The coordinates, those first that change gravity and inertia most, on average over random configurations."""
    rng = np.random.default_rng(0)
    low, high = ranges(robot)
    q = robot.random(rng, SAMPLES)
    g, M = robot.gravity(q), robot.mass_matrix(q)
    scale = max(float(np.abs(g).mean()), NOTHING), max(float(np.abs(M).mean()), NOTHING)
    effect = {}
    for k in movable:
        moved = q.copy()
        moved[:, robot.model.coordinates[k].q_index] = rng.uniform(low[k], high[k], SAMPLES)
        change = np.abs(robot.gravity(moved) - g).mean() / scale[0] + np.abs(robot.mass_matrix(moved) - M).mean() / scale[1]
        effect[k] = float(change)
    first = sorted(movable, key=lambda k: -effect[k])
    # of two that are shown, the one nearer to the base comes first
    return sorted(first[:2]) + first[2:]


def _label(robot: Robot, k: int) -> str:
    return f"{robot.coordinate_names[k]} [{unit_of(robot, k)}]"


def _inertia_unit(robot: Robot, k: int) -> str:
    return "kg·m²" if robot.model.coordinates[k].revolute else "kg"


def _loaded(values: Array) -> list[int]:
    """The entries that matter: the largest few, in the order of the joints."""
    most = np.abs(values).reshape(-1, values.shape[-1]).max(axis=0)
    ranked = [int(k) for k in np.argsort(-most) if most[k] > 1e-3 * max(float(most.max()), NOTHING)]
    return sorted(ranked[:SHOWN])


def _over(robot: Robot, a: int, b: int, section: Section) -> None:
    low, high = ranges(robot)
    x, y = (low[k] + (high[k] - low[k]) * (np.arange(CELLS) + 0.5) / CELLS for k in (a, b))
    q = np.tile(middle(robot), (CELLS, CELLS, 1))
    q[..., robot.model.coordinates[a].q_index] = x[None, :]
    q[..., robot.model.coordinates[b].q_index] = y[:, None]
    g = robot.gravity(q)
    D = np.diagonal(robot.mass_matrix(q), axis1=-2, axis2=-1)
    ends, name = {k: (float(low[k]), float(high[k])) for k in (a, b)}, robot.coordinate_names
    made: list[tuple[str, Array, str, Any]] = [("gravity torque", g, "g", torque_unit), ("inertia", D, "M", _inertia_unit)]
    for what, values, letter, unit in made:
        kept = _loaded(values)
        if not np.ptp(values, axis=(0, 1)).max() > NOTHING * max(float(np.abs(values).max()), 1.0):
            told = ", ".join(f"{text(float(values[0, 0, k]))} {unit(robot, k)} for {name[k]}" for k in kept)
            section.notes.append(f"The {what} is the same everywhere: {told or 'zero'}.")
            continue
        views = [Grid(short(values[..., k], 4), f"{letter} of {robot.coordinate_names[k]}") for k in kept]
        k = max(kept, key=lambda k: float(np.abs(values[..., k]).max()))
        top = np.unravel_index(int(np.abs(values[..., k]).argmax()), values.shape[:2])
        least, most = float(values[..., k].min()), float(values[..., k].max())
        summary = (
            f"{what.capitalize()} of {name[k]}: from {text(least)} to {text(most)} {unit(robot, k)}, the largest at "
            f"{name[a]} = {text(float(x[top[1]]), 3)}, {name[b]} = {text(float(y[top[0]]), 3)}."
        )
        views.sort(key=lambda view: view.name != f"{letter} of {robot.coordinate_names[k]}")
        coordinates = [robot.model.coordinates[j].q_index for j in (a, b)]
        section.add(
            HeatMap(
                f"{'Gravity torque' if letter == 'g' else 'Inertia about each joint, the diagonal of M'}",
                ends[a],
                ends[b],
                _label(robot, a),
                _label(robot, b),
                _common([unit(robot, k) for k in kept]),
                views,
                summary,
                "joint",
                joints=(int(coordinates[0] or 0), int(coordinates[1] or 0)),
            )
        )


def _common(units: list[str]) -> str:
    return " or ".join(dict.fromkeys(units))


def _along(robot: Robot, k: int, section: Section) -> None:
    low, high = ranges(robot)
    x = np.linspace(low[k], high[k], POINTS)
    q = np.tile(middle(robot), (POINTS, 1))
    q[:, robot.model.coordinates[k].q_index] = x
    g, M = robot.gravity(q)[:, k], robot.mass_matrix(q)[:, k, k]
    for title, values, unit in (("Gravity torque", g, torque_unit(robot, k)), ("Inertia", M, _inertia_unit(robot, k))):
        summary = f"{title}: from {text(float(values.min()))} to {text(float(values.max()))} {unit}."
        curve = Curves(short(x), {robot.coordinate_names[k]: short(values)})
        section.add(Plot(title, _label(robot, k), f"{title.lower()} [{unit}]", [curve], summary))
