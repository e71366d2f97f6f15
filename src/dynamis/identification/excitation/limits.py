"""Constraints of a motion: functions of the state, each between two bounds.

Positions, velocities and accelerations are the state itself; torques come from the prior robot model; positions of frames and
user-defined functions are traced. All have gradients, and bounds that include the margin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.identification.excitation.basis import Basis
from dynamis.identification.excitation.regions import Region, Traced
from dynamis.robot import Robot
from dynamis.trajectories.validate import limits as given_limits

Array = npt.NDArray[Any]

KINDS = ("position", "velocity", "acceleration")
ASSUMED_RANGE = np.pi  # rad to both sides of the reference configuration, for revolute joints without limits


@dataclass(frozen=True, eq=False)
class Rows:
    """m functions of a state with bounds (m,). ``order`` is 0, 1, 2 for q, v or a, None if traced.

    ``limit`` (m,) is the reference for 100 %: half the range, or the bound without margin; NaN if neither is known. ``centre``
    is the reference for 0 %; ``aside`` is the allowance for Coulomb friction. ``assumed`` (m,) marks bounds that neither the
    robot nor the caller gave.
    """

    kind: str
    names: tuple[str, ...]
    lower: Array
    upper: Array
    limit: Array
    centre: Array
    order: int | None = None
    traced: Traced | None = None
    aside: Any = 0.0
    assumed: Any = False

    @property
    def scale(self) -> Array:
        """Scale (m,) of the violations."""
        return np.where(np.isfinite(self.limit) & (self.limit > 0.0), self.limit, 1.0)

    def values(self, q: Array, v: Array, a: Array) -> Array:
        """Return (…, m)."""
        if self.order is not None:
            return (q, v, a)[self.order]
        assert self.traced is not None
        return self.traced(q, v, a)

    def excess(self, values: Array) -> Array:
        """Return (…, m): the violation in units of the scale; negative inside."""
        return np.asarray(np.maximum(values - self.upper, self.lower - values) / self.scale)


def joint_rows(robot: Robot, start: Array, margin: float, given: dict[str, Any]) -> list[Rows]:
    """Return position, velocity and acceleration limits: the robot's, unless others are given."""
    names, own = robot.coordinate_names, robot.limits
    low, high, assumed = _range(robot, given.get("position"), start)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    kept = (1.0 - margin) * half
    made = [Rows("position", names, middle - kept, middle + kept, half, middle, order=0, assumed=assumed)]
    for order, kind in ((1, "velocity"), (2, "acceleration")):
        bound = np.full(robot.n, np.inf) if kind == "acceleration" else np.where(own[kind] > 0.0, own[kind], np.inf)
        if given.get(kind) is not None:
            bound = np.minimum(bound, given_limits(given[kind], robot.n, kind))
        top = (1.0 - margin) * bound
        made.append(Rows(kind, names, -top, top, bound, np.zeros(robot.n), order=order))
    return made


def torque_rows(robot: Robot, margin: float, effort: Any = None) -> Rows | None:
    """Return the torque limits with the prior robot model; None if no joint has one.

    Coulomb friction counts with its full magnitude in both directions, since its sign at velocity reversals is unknown.
    """
    bound = np.where(robot.limits["effort"] > 0.0, robot.limits["effort"], np.inf)
    if effort is not None:
        bound = np.minimum(bound, given_limits(effort, robot.n, "effort"))
    if not np.isfinite(bound).any():
        return None
    model = robot.model
    dry = np.array(np.abs(model.coulomb) + np.abs(model.coulomb_bias), float)
    frictionless = robot
    if dry.any():
        joints = sorted({c.joint for c, size in zip(model.coordinates, dry, strict=True) if size})
        frictionless = robot.replace(friction={name: {"coulomb": 0.0, "coulomb_bias": 0.0} for name in joints})
    top = (1.0 - margin) * bound - dry
    if not (top > 0.0).all():
        k = int(np.argmin(top))
        raise InputError(
            f"joint {printable(robot.coordinate_names[k])}: Coulomb friction of {dry[k]:.4g} exceeds its torque limit "
            f"{bound[k]:.4g}; raise effort=, or design with torque=False"
        )

    def torques(robot: Robot, q: Array, v: Array, a: Array) -> Array:
        return robot.inverse_dynamics(q, v, a)

    traced = Traced(frictionless, torques, "excitation_torque")
    return Rows("torque", robot.coordinate_names, -top, top, bound, np.zeros(robot.n), traced=traced, aside=dry)


def region_rows(robot: Robot, regions: Sequence[Region]) -> Rows | None:
    """Return the constraints on frame positions; user-defined bounds, without margin."""
    if not regions:
        return None
    frames = [robot.model.frame(region.frame).name for region in regions]

    def places(robot: Robot, q: Array, v: Array, a: Array) -> Array:  # noqa: ARG001 - every traced function has a state
        return np.concatenate([r.measures(robot.pose(q, f)[:3, 3]) for r, f in zip(regions, frames, strict=True)])

    lower, upper = (np.concatenate([region.bounds()[k] for region in regions]) for k in (0, 1))
    names = tuple(f"{label} of {frame}" for region, frame in zip(regions, frames, strict=True) for label in region.labels())
    closed = np.isfinite(lower) & np.isfinite(upper)
    with np.errstate(invalid="ignore"):
        half, middle = np.where(closed, 0.5 * (upper - lower), np.nan), np.where(closed, 0.5 * (upper + lower), np.nan)
    return Rows("place", names, lower, upper, half, middle, traced=Traced(robot, places, "excitation_places"))


def user_rows(robot: Robot, functions: Sequence[Callable[..., Any]]) -> Rows | None:
    """Return g(robot, q, v, a) ≤ 0, functions of one state, traceable, each with one or several values."""
    if not functions:
        return None

    def together(robot: Robot, q: Array, v: Array, a: Array) -> Array:
        return np.concatenate([np.ravel(np.asarray(g(robot, q, v, a))) for g in functions])

    traced = Traced(robot, together, "excitation_constraints")
    sizes = [int(np.prod(Traced(robot, g, "constraint").shape)) for g in functions]
    labels = [getattr(g, "__name__", "constraint") for g in functions]
    names = tuple(f"{x}[{k}]" if size > 1 else x for x, size in zip(labels, sizes, strict=True) for k in range(size))
    none = np.full(len(names), np.nan)
    return Rows("constraint", names, np.full(len(names), -np.inf), np.zeros(len(names)), none, none, traced=traced)


def stated_range(robot: Robot, given: Any = None) -> tuple[Array, Array]:
    """Return the position limits (n,) of the robot, tightened by ``given`` = (lower, upper); infinite where neither has one."""
    low, high = robot.limits["lower"], robot.limits["upper"]
    if given is None:
        return low, high
    try:
        lower, upper = (np.broadcast_to(np.array(x, dtype=float), (robot.n,)) for x in given)
    except (TypeError, ValueError):
        raise InputError(f"position= takes (lower, upper), each one number or {robot.n}") from None
    return np.maximum(low, lower), np.minimum(high, upper)


def _range(robot: Robot, given: Any, start: Array) -> tuple[Array, Array, Array]:
    """Return lower, upper, assumed (n,): revolute joints without limits are bounded, prismatic ones refused."""
    low, high = stated_range(robot, given)
    open_ended = ~(np.isfinite(low) & np.isfinite(high))
    lengths = [printable(c.name) for c, x in zip(robot.model.coordinates, open_ended, strict=True) if x and not c.revolute]
    if lengths:
        raise InputError(
            f"{', '.join(lengths)}: no position limits in metres, and none can be assumed; give position=(lower, upper), one "
            f"number per coordinate: {', '.join(map(printable, robot.coordinate_names))}"
        )
    low, high = (
        np.where(np.isfinite(bound), bound, start + side) for bound, side in ((low, -ASSUMED_RANGE), (high, ASSUMED_RANGE))
    )
    if not (low < high).all():
        k = int(np.argmin(high - low))
        raise InputError(
            f"joint {printable(robot.coordinate_names[k])} has no range: positions from {low[k]:.4g} to {high[k]:.4g}"
        )
    return low, high, open_ended


POINTS = 1000  # minimum, and
POINTS_A_SWING = 200
DOUBT = 2.0  # safety factor on the curvature between the points
NARROWINGS = 12


@dataclass(frozen=True, eq=False)
class Extent:
    """Guaranteed range of the rows of one kind."""

    rows: Rows
    lowest: Array
    highest: Array

    @property
    def excess(self) -> Array:
        """Return (m,): the violation of the bounds; negative inside."""
        return np.maximum(self.highest - self.rows.upper, self.rows.lower - self.lowest) / self.rows.scale

    @property
    def used(self) -> Array:
        """Return (m,): the fraction of each limit that is used; NaN without a reference for 100 %."""
        away = np.maximum(self.highest - self.rows.centre, self.rows.centre - self.lowest)
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(self.rows.limit), (away + self.rows.aside) / self.rows.limit, np.nan)


class Checker:
    """Range computation for motions of one basis."""

    def __init__(self, basis: Basis, rows: Sequence[Rows]) -> None:
        self.basis, self.rows = basis, list(rows)
        count = max(POINTS, POINTS_A_SWING * basis.finest)
        self.t = np.linspace(0.0, basis.duration, count + 1)
        self.phi = basis.matrices(self.t)

    def extents(self, q0: Array, c: Array) -> list[Extent]:
        """Return the range of each kind of limit."""
        phi, phi_dot, phi_ddot = self.phi
        state = q0 + phi @ c, phi_dot @ c, phi_ddot @ c
        return [self._extent(rows, rows.values(*state), c) for rows in self.rows]

    def excess(self, q0: Array, c: Array) -> float:
        """Return the largest violation; a motion is feasible if it is ≤ 0."""
        return max(float(extent.excess.max()) for extent in self.extents(q0, c))

    def inside(self, q0: Array, c: Array) -> tuple[Array, float]:
        """Scale the motion about the feasible q₀ until it is feasible; return it with the factor."""
        if self.excess(q0, c) <= 0.0:
            return c, 1.0
        good, bad = 0.0, 1.0
        step = 1e-4
        while step < 1.0:
            if self.excess(q0, (1.0 - step) * c) <= 0.0:
                good = 1.0 - step
                break
            bad, step = 1.0 - step, 2.0 * step
        for _ in range(NARROWINGS):
            middle = 0.5 * (good + bad)
            good, bad = (middle, bad) if self.excess(q0, middle * c) <= 0.0 else (good, middle)
        return good * c, good

    def _extent(self, rows: Rows, values: Array, c: Array) -> Extent:
        if rows.order is not None:
            h = self.t[1] - self.t[0]
            room = h * h / 8.0 * self.basis.bound(c, rows.order + 2)
            return Extent(rows, values.min(axis=0) - room, values.max(axis=0) + room)
        bend = np.abs(np.diff(values, 2, axis=0))
        bend = np.concatenate([bend[:1], bend, bend[-1:]])  # at every point; the ends take that of their neighbour
        between = DOUBT / 8.0 * np.maximum(bend[1:], bend[:-1])
        highest = (np.maximum(values[1:], values[:-1]) + between).max(axis=0)
        lowest = (np.minimum(values[1:], values[:-1]) - between).min(axis=0)
        return Extent(rows, lowest, highest)
