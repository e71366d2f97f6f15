"""A task: selected directions of a frame's twist, and a characteristic length that scales rotations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table
from dynamis.errors import InputError, printable, unknown_name
from dynamis.model.model import Frame
from dynamis.robot import Robot
from dynamis.robot.checks import warn_of_open_loops
from dynamis.scalar import Node, symbol
from dynamis.tolerances import RECURSION_ROUNDING, SUM_ROUNDING

Array = npt.NDArray[Any]

ROWS = ("x", "y", "z", "rx", "ry", "rz")
MEASURES_OF_LOOPS = (
    "with the loops closed, velocities of a frame are J B times those of independent coordinates, with B of "
    "dynamis.constrained(robot).reduced_dynamics(q, v, tau)"
)  # for robots whose file closes loops
GROUPS = {"linear": (0, 1, 2), "angular": (3, 4, 5), "all": (0, 1, 2, 3, 4, 5)}
SAMPLES = 16  # random configurations that show which directions never move


@dataclass(frozen=True, eq=False, repr=False)
class Directions:
    """Directions (m × 6) of a frame's twist (ṗ, ω); ``selection @ J`` is the task's Jacobian.

    ``length`` L [m] scales distances if the task or the robot mixes angles and distances; ``names`` are labels.
    """

    frame: Frame
    selection: Array
    names: tuple[str, ...]
    length: float

    @property
    def key(self) -> tuple[Any, ...]:
        """Key for caching compiled functions of the task."""
        return self.frame.name, tuple(map(tuple, self.selection.tolist()))

    @property
    def size(self) -> int:
        return len(self.selection)

    @property
    def linear(self) -> Array:
        """Which of the directions are distances."""
        return np.asarray(np.abs(self.selection[:, 3:]).max(axis=1) == 0.0)

    @property
    def scale(self) -> Array:
        """The scale of the task rates: L for distances and 1 for angles, if there are both."""
        return np.where(self.linear, self.length, 1.0) if len(set(self.linear.tolist())) == 2 else np.ones(self.size)

    def joint_scale(self, robot: Robot) -> Array:
        """The scale of the joint rates: L for prismatic and 1 for revolute joints, if there are both."""
        turning = np.array([c.revolute for c in robot.model.coordinates], dtype=bool)
        return np.where(turning, 1.0, self.length) if len(set(turning.tolist())) == 2 else np.ones(robot.n)

    @property
    def noise(self) -> float:
        """The rounding error of a zero singular value."""
        return SUM_ROUNDING * max(self.length, 1.0)

    def unit(self) -> str:
        return (
            "m"
            if self.linear.all()
            else "rad"
            if not self.linear.any()
            else f"m and rad, distances divided by {self.length:.3g} m"
        )

    def __repr__(self) -> str:
        return f"<Directions at {printable(self.frame.name)}: {', '.join(self.names)}>"

    _repr_html_ = as_table


def directions_of(
    robot: Robot, frame: str | None, rows: Any, length: float | None = None, *, closed: bool = False
) -> Directions:
    """The task of a frame: ``rows`` is None (the position, without directions that never move), "linear", "angular",
    "all", names of rows such as "xy" or ("x", "rz"), or a matrix (m, 6) of directions.

    ``closed``: what is measured has the loops of the robot's file closed, so that there is nothing to warn of.
    """
    if not closed:
        warn_of_open_loops(robot, "this measure of a frame", instead=MEASURES_OF_LOOPS, stacklevel=4)
    f = robot.model.frame(frame)
    L = characteristic_length(robot, f.name) if length is None else _positive(length)
    if rows is None:
        moving = [k for k in movable_rows(robot, f.name) if k < 3] or movable_rows(robot, f.name) or [0, 1, 2]
        return _rows(f, moving, L)
    if isinstance(rows, str):
        return _rows(f, list(GROUPS[rows]) if rows in GROUPS else [_row(x) for x in _letters(rows)], L)
    if isinstance(rows, Sequence) and all(isinstance(x, str) for x in rows) and len(rows):
        return _rows(f, [_row(x) for x in rows], L)
    try:
        directions = np.array(rows, dtype=float)
    except (TypeError, ValueError):
        directions = np.zeros(0)
    if directions.ndim != 2 or directions.shape[1] != 6 or not 1 <= len(directions) <= 6 or not np.isfinite(directions).all():
        raise InputError(
            f"rows= must be 'linear', 'angular', 'all', names from {', '.join(ROWS)}, or an (m, 6) matrix; got {rows!r}"
        )
    return Directions(f, directions, tuple(f"direction {k + 1}" for k in range(len(directions))), L)


def _rows(frame: Frame, rows: list[int], length: float) -> Directions:
    if len(set(rows)) != len(rows):
        raise InputError("rows= contains a direction twice")
    return Directions(frame, np.eye(6)[rows], tuple(ROWS[k] for k in rows), length)


def _letters(text: str) -> list[str]:
    """ "xy" or "x,y,rz" as names."""
    words = [word for word in text.replace(",", " ").split() if word]
    if len(words) == 1 and words[0] not in ROWS and set(words[0]) <= set("xyz"):
        return list(words[0])
    if not words:
        raise InputError(f"rows= is empty; choose from {', '.join(ROWS)}")
    return words


def _row(name: str) -> int:
    if name not in ROWS:
        raise unknown_name("row", name, (*ROWS, *GROUPS))
    return ROWS.index(name)


def _positive(length: Any) -> float:
    try:
        value = float(length)
    except (TypeError, ValueError):
        value = np.nan
    if not (np.isfinite(value) and value > 0.0):
        raise InputError(f"length must be a positive number of metres, got {length!r}")
    return value


def movable_rows(robot: Robot, frame: str | None = None) -> list[int]:
    """The rows of the Jacobian that are not zero in every configuration."""
    if robot.model.symbolic:
        x = np.array([symbol(f"q[{k + 1}]") for k in range(robot.nq)], dtype=object)
        return [k for k, row in enumerate(robot.jacobian(x, frame)) if any(isinstance(v, Node) or v != 0.0 for v in row)]
    J = robot.jacobian(robot.random(0, SAMPLES), frame)
    return [int(k) for k in np.flatnonzero(np.abs(J).max(axis=(0, 2), initial=0.0) > RECURSION_ROUNDING)]


def characteristic_length(robot: Robot, frame: str | None = None) -> float:
    """L [m]: the length of the chain from the first joint to the frame, prismatic joints extended; 1 if it is zero.

    It relates rotations to translations: at the tip of a stretched arm, one radian of the first joint is L metres.
    """
    model, f = robot.model, robot.model.frame(frame)
    if model.symbolic:
        return 1.0  # a length would be an expression; what needs it asks for numbers
    total = float(np.linalg.norm(f.pose.p.astype(float)))
    chain = list(model.ancestors(f.body))
    for i in chain:
        body = model.bodies[i]
        assert body is not None
        if i != chain[-1]:
            total += float(np.linalg.norm(body.placement.p.astype(float)))
        for k in body.dof:
            c = model.coordinates[k]
            ends = [abs(x) for x in (c.lower, c.upper) if np.isfinite(x)]
            total += max(ends, default=0.0) if not c.revolute and c.q_index is not None else 0.0
    return total if total > RECURSION_ROUNDING else 1.0


def in_order_of_q(robot: Robot, states: Array) -> Array:
    """Convert coordinates (…, n) to configurations (…, nq)."""
    q = np.empty((*states.shape[:-1], robot.nq))
    for k, c in enumerate(robot.model.coordinates):
        assert c.q_index is not None
        q[..., c.q_index] = states[..., k]
    return q
