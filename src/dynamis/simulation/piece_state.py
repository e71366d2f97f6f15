"""The equations of motion of one piece of a motion, in which the same joints slide, stick and rest at their stops."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import SingularError
from dynamis.simulation.friction import StickingLaw
from dynamis.simulation.hard_stops import Sides, Stop, Stops, laws_with_stops
from dynamis.simulation.motion import MAX_TRIAL_VELOCITY, EquationsOfMotion
from dynamis.simulation.pieces import Pieces
from dynamis.simulation.sources import SourceError
from dynamis.simulation.stepping import Clock, Crossing
from dynamis.simulation.stick_slip import Widened, scale_of, sizes
from dynamis.tolerances import NEGLIGIBLE

Array = npt.NDArray[Any]


class PieceState:
    """The right-hand side for one piece, with its last evaluation cached for the event functions."""

    def __init__(self, motion: EquationsOfMotion, result: Pieces, stops: Stops | None, clock: Clock | None) -> None:
        self.motion, self.result, self.stops, self.clock = motion, result, stops, clock
        self.directions: dict[int, int] = {}
        self.resting: Sides = {}
        self.laws: dict[int, StickingLaw] = {}
        self._sizes: Array = np.zeros(0)
        self._key: tuple[float, bytes] | None = None
        self._kept: tuple[Array, Array] = (np.zeros(0), np.zeros(0))

    def settle(self, t: float, y: Array, at_stop: Sides, creeping: set[int]) -> None:
        """Determine the sliding directions, and which of the joints at their stops stay there."""
        own = {k: Widened(law) if k in creeping else law for k, law in self.motion.sticking.items()}
        self.laws = laws_with_stops(own, at_stop)
        if not self.laws:
            return
        M, r, q, v, _, _ = self._terms(t, y)
        self.directions = self.motion.directions(q, v, M, r, self.laws)
        self._sizes = sizes(M, r, self.motion.holding(q, v, M, r, self.directions, self.laws)[0])
        self.resting = {k: side for k, side in at_stop.items() if self.directions[k] == 0}
        self.laws = laws_with_stops(own, self.resting)
        # a joint without friction that leaves its stop is free
        self.directions = {k: s for k, s in self.directions.items() if k in self.laws}

    def _terms(self, t: float, y: Array) -> tuple[Array, Array, Array, Array, Array, Any]:
        q, v, z = self.motion.split(y)
        q = q.copy()
        v = v.copy()
        tau, wrenches = self.motion.drive(t, q, v, z)
        M = self.motion.smooth.mass_matrix(q)
        r = tau - self.motion.smooth.inverse_dynamics(q, v, np.zeros(len(v)), wrenches)
        return M, r, q, v, tau, wrenches

    def rates(self, t: float, y: Array) -> Array:
        self.result.evaluations += 1
        if self.clock is not None:
            self.clock.check()
        try:
            return self._rates(t, y)
        except SingularError as error:
            raise SourceError(f"{error} (at t = {t:.6g} s)") from error
        except SourceError:
            # a function may refuse what lies beyond a stop, where only steps that are cut short go
            inside = None if self.stops is None else self.stops.drawn_back(y)
            if inside is None:
                raise
            return self._rates(t, inside)

    def _rates(self, t: float, y: Array) -> Array:
        q, v, z = self.motion.split(y)
        self.motion.check_bounds(t, v, MAX_TRIAL_VELOCITY)
        if not self.directions:
            tau, wrenches = self.motion.drive(t, q, v, z)
            a = self.motion.acceleration(q, v, tau, wrenches)
            return self.motion.rates(t, q, v, z, a, self.motion.power(q, v, tau, wrenches))
        a, d, tau, wrenches = self._solved(t, y)
        v = v.copy()
        v[[k for k, s in self.directions.items() if s == 0]] = 0.0
        return self.motion.rates(t, q, v, z, a, self.motion.power(q, v, tau, wrenches) - float(d @ v))

    def _solved(self, t: float, y: Array) -> tuple[Array, Array, Array, Any]:
        M, r, q, v, tau, wrenches = self._terms(t, y)
        a, d = self.motion.holding(q, v, M, r, self.directions, self.laws)
        self._key, self._kept = (t, y.tobytes()), (a, d)
        return a, d, tau, wrenches

    def friction(self, t: float, y: Array) -> Array:
        if self._key != (t, y.tobytes()):
            self._solved(t, y)
        return self._kept[1]

    def crossings(self) -> list[Crossing]:
        """Functions that become positive where a joint sticks, breaks away, or hits a stop, or a contact lifts off."""
        found: list[Crossing] = self.motion.crossings()
        for k, s in self.directions.items():
            if s:
                found.append(Crossing(partial(_against, self.motion.robot.nq + k, s), ("stops", k, s)))
                continue
            # slightly beyond the friction limit, so that a joint that just sticks does not start at once
            margin = NEGLIGIBLE * scale_of(self.laws[k], self._sizes[k])
            for side, end in zip((-1, 1), self.laws[k].holding, strict=True):
                if np.isfinite(end):
                    found.append(Crossing(partial(self._excess, k, side, end + side * margin), ("gives way", k, side)))
        for stop in [] if self.stops is None else self.stops.all:
            if self.resting.get(stop.k) != stop.side:
                rate = self.motion.robot.nq + stop.k
                found.append(Crossing(partial(_penetration, stop), ("hits", stop.k, stop.side), rate))
        return found

    def _excess(self, k: int, side: int, end: float, t: float, y: Array) -> float:
        """The holding torque required in excess of the available one."""
        return float(side * (self.friction(t, y)[k] - end))


def _against(place: int, direction: int, _t: float, y: Array) -> float:
    """The velocity opposite to the sliding direction."""
    return float(-direction * y[place])


def _penetration(stop: Stop, _t: float, y: Array) -> float:
    """The position beyond its limit."""
    return float(stop.side * (y[stop.place] - stop.limit))
