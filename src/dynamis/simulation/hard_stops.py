"""Rigid stops at the joint limits: impact with restitution, resting contact, and separation.

An impact is instantaneous. Impulses p ≥ 0 act at all joints that are at their stops, hitting or resting:

    v⁺ = v⁻ − M⁻¹ Σ side_k e_k p_k,     side_k (v_k⁺ + e v_k⁻) ≤ 0,     p_k > 0 only where that is an equality,

with Newton's restitution e at those that hit, and 0 at those that rest [Moreau 1988]. With x = v⁺ + e v⁻ this is the problem
that `sticking` solves for accelerations: M x = M (v⁻ + e v⁻) − d, where x_k = 0 or d_k = 0. While a joint rests at its stop,
the reaction of the stop is unilateral: the range of holding torques is unbounded on the side of the stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.errors import InputError, printable
from dynamis.robot import Robot
from dynamis.simulation.friction import StickingLaw
from dynamis.simulation.stick_slip import Sticking, settle, solve
from dynamis.tolerances import NEGLIGIBLE

Array = npt.NDArray[Any]
Sides = dict[int, int]  # of joints at their stops: 1 at the upper, −1 at the lower
SIDES = {1: "upper", -1: "lower"}


@dataclass(frozen=True, repr=False)
class HardStops:
    """Rigid stops at the joint limits, for ``simulate(…, stops=HardStops())``.

    A joint that reaches its limit rebounds with ``restitution`` times its speed; if that is less than ``rest_speed``
    (rad/s or m/s) it rests at the limit until a torque or an impact moves it away.

    >>> import dynamis as dy
    >>> motion = dy.simulate(dy.load("scara"), 1.0, stops=HardStops(restitution=0.3))
    >>> print(motion.events[0])
    0.728974 s: joint3 hits its upper stop
    """

    restitution: float = 0.0
    rest_speed: float = 1e-3

    def __post_init__(self) -> None:
        for name, most in (("restitution", 1.0), ("rest_speed", np.inf)):
            value = getattr(self, name)
            if isinstance(value, bool) or not (isinstance(value, int | float | np.number) and 0 <= value <= most):
                raise InputError(f"{name} of hard stops must be a number from 0{'' if most > 1 else ' to 1'}, got {value!r}")
        if not 0 < self.rest_speed < np.inf:
            raise InputError(f"rest_speed must be positive and finite, got {self.rest_speed!r}: slower joints come to rest")

    __repr__ = as_call
    _repr_html_ = as_table


COMPLIANT = "dynamis.joint_stops(robot, …) gives compliant ones"


def hard_stops(robot: Robot, stops: Any) -> Stops | None:
    """The hard stops of a robot, None for compliant stops or none; anything else is refused."""
    if isinstance(stops, HardStops):
        return Stops(robot, stops)
    if stops is not None and (isinstance(stops, type) or not callable(stops)):
        found = stops.__name__ if isinstance(stops, type) else repr(stops)
        raise InputError(
            f"stops= must be an object: dynamis.HardStops() is for rigid stops, {COMPLIANT}; got {printable(found)}"
        )
    return None


@dataclass(frozen=True)
class AtStop(StickingLaw):
    """The holding torques of a joint at its stop: dry friction, if any, and the unilateral reaction of the stop."""

    side: int
    dry: StickingLaw | None = None

    def sliding(self, direction: Any, v: Any) -> Any:
        return 0.0 if self.dry is None else self.dry.sliding(direction, v)

    @property
    def holding(self) -> tuple[float, float]:
        low, high = self._own
        return (low, np.inf) if self.side > 0 else (-np.inf, high)

    @property
    def _own(self) -> tuple[float, float]:
        return (0.0, 0.0) if self.dry is None else self.dry.holding

    def split(self, d: float) -> tuple[float, float]:
        """(friction, torque of the stop on the joint) whose difference is d: friction takes as much of it as it can."""
        low, high = self._own
        friction = min(max(d, low), high)
        return friction, friction - d


@dataclass(frozen=True)
class Stop:
    """One end of a joint's range: of coordinate ``k``, whose position is ``q[place]``."""

    k: int
    place: int
    side: int
    limit: float


class Stops:
    """The hard stops of a robot."""

    def __init__(self, robot: Robot, rule: HardStops) -> None:
        self.rule, self.names, self.nq = rule, robot.coordinate_names, robot.nq
        self.all: list[Stop] = []
        for k, c in enumerate(robot.model.coordinates):
            if c.q_index is None:
                continue
            if not c.lower < c.upper:
                raise InputError(
                    f"joint {c.name!r} has an empty range between its stops ({c.lower:g} to {c.upper:g}): make it a fixed "
                    f"joint, or change its limits"
                )
            ends = ((1, c.upper), (-1, c.lower))
            self.all += [Stop(k, c.q_index, side, float(x)) for side, x in ends if np.isfinite(x)]
        if not self.all:
            raise InputError(f"robot {robot.name!r} has no joint with limits: stops have no effect")

    def checked_start(self, q: Array) -> Array:
        """The initial configuration, checked against the limits; excess within rounding is set to the limit."""
        q = q.copy()
        for stop in self.all:
            over = stop.side * (q[stop.place] - stop.limit)
            if over > NEGLIGIBLE * max(1.0, abs(stop.limit)):
                raise InputError(
                    f"{self.names[stop.k]} starts at {q[stop.place]:.6g}, beyond its {SIDES[stop.side]} stop at "
                    f"{stop.limit:.6g}: start within the limits, or without stops"
                )
            if over > 0:
                q[stop.place] = stop.limit
        return q

    def hitting(self, y: Array) -> Sides:
        """Joints at a limit that move outward."""
        return {s.k: s.side for s in self._at(y) if s.side * y[self.nq + s.k] > 0}

    def resting(self, y: Array) -> Sides:
        """Joints at a limit with zero velocity."""
        return {s.k: s.side for s in self._at(y) if y[self.nq + s.k] == 0.0}

    def _at(self, y: Array) -> list[Stop]:
        return [s for s in self.all if s.side * (y[s.place] - s.limit) >= 0.0]

    def drawn_back(self, y: Array) -> Array | None:
        """A state beyond the limits moved to them; None if it is within."""
        beyond = [s for s in self.all if s.side * (y[s.place] - s.limit) > 0.0]
        if not beyond:
            return None
        y = y.copy()
        for stop in beyond:
            y[stop.place] = stop.limit
        return y

    def snap(self, y: Array, sides: Sides) -> None:
        """Set joints exactly to their limits."""
        for stop in self.all:
            if sides.get(stop.k) == stop.side:
                y[stop.place] = stop.limit

    def event(self, verb: str, side: int) -> str:
        return f"{verb} its {SIDES[side]} stop"

    def after_impact(self, M: Array, v: Array, hitting: Sides, resting: Sides) -> Array:
        """The velocities after an impact; joints that come to rest have exactly zero velocity."""
        e, slow = self.rule.restitution, self.rule.rest_speed
        bounce = {k: e if e * abs(v[k]) >= slow else 0.0 for k in hitting}
        sides = resting | hitting
        after = impact(M, v, sides, bounce)
        return _without_creeping(M, after, sides, slow)


def impact(M: Array, v: Array, sides: Mapping[int, int], restitution: Mapping[int, float]) -> Array:
    """v⁺ for the joints ``sides`` at their stops, of which those with a ``restitution`` hit."""
    kept = np.zeros(len(v))
    for k, e in restitution.items():
        kept[k] = e * v[k]
    laws = {k: AtStop(side) for k, side in sides.items()}
    r = M @ (v + kept)
    x, _ = solve(M, r, v, settle(M, r, v, laws, set(sides)), laws)
    return np.asarray(x - kept)


def _without_creeping(M: Array, v: Array, sides: Sides, slow: float) -> Array:
    """Keep joints that leave their stops below the rest speed at rest, so that sequences of small impacts terminate.

    The impulse that stops them dissipates energy, and is proportional to their speed.
    """
    creeping = [k for k in sides if abs(v[k]) < slow]
    if not any(v[k] for k in creeping):
        return v
    others = [k for k in range(len(v)) if k not in creeping]
    result = np.zeros(len(v))
    if others:
        held = M[np.ix_(others, creeping)] @ v[creeping]
        result[others] = v[others] + np.linalg.solve(M[np.ix_(others, others)], held)
    return v if any(side * result[k] > 0 for k, side in sides.items()) else result


def laws_with_stops(sticking: Sticking, resting: Sides) -> dict[int, StickingLaw]:
    """The holding torques of each joint: dry friction, and the reaction of a stop at which it rests."""
    return {**sticking, **{k: AtStop(side, sticking.get(k)) for k, side in resting.items()}}
