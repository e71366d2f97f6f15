"""SciPy's adaptive integrators, restarted wherever joints start or stop sliding or hit their stops."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import PerformanceWarning
from dynamis.simulation.events import EventRecord, Watcher
from dynamis.simulation.hard_stops import Sides, Stops
from dynamis.simulation.motion import LIFTS_OFF, EquationsOfMotion
from dynamis.simulation.piece_state import PieceState
from dynamis.simulation.pieces import REACHED, Pieces
from dynamis.simulation.sources import SourceError, warn_of_states
from dynamis.simulation.stepping import Clock, OutOfTimeError, Piece, RunawayError, StiffnessDetector, run_piece
from dynamis.simulation.stick_slip import UnsettledError
from dynamis.tolerances import NEGLIGIBLE, RECURSION_ROUNDING, SOLUTION_TOLERANCE, TIME_ROUNDING

Array = npt.NDArray[Any]
METHODS = ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")
STIFF_METHOD = "Radau"
UNRESOLVED = 10.0  # tolerances of the position, as a speed per s: slower joints are held
SHORT, MANY = 10.0 * NEGLIGIBLE, 200  # s: so many shorter steps with a joint at rest; those of stiff equations are longer
MAX_SWITCHES_PER_INSTANT = 60  # more mean that the friction has no solution there


def integrate(
    motion: EquationsOfMotion,
    times: Array,
    y0: Array,
    *,
    method: str,
    options: dict[str, Any],
    progress: Callable[[float], None] | None,
    stops: Stops | None = None,
    watcher: Watcher | None = None,
    clock: Clock | None = None,
    before: Pieces | None = None,
    automatic: bool,
) -> Pieces:
    """Integrate from the first of these times to the last, with stick-slip transitions checked at least at each of them.

    ``before`` is the preceding part of the same motion: changes of sticking with respect to it are events. With ``automatic``,
    DOP853 gives way to an implicit method where the equations are stiff.
    """
    run = _Run(motion, times, y0, method, options, progress, stops, watcher, clock, before, automatic)
    try:
        run.go()
        if progress is not None:
            progress(1.0)
    except KeyboardInterrupt:
        run.result.interrupted(float(times[0]))
    if watcher is not None:
        run.result.events = sorted([*run.result.events, *watcher.records()], key=lambda event: event.time)
    return run.result


class _Run:
    """One integration, from piece to piece."""

    def __init__(
        self,
        motion: EquationsOfMotion,
        times: Array,
        y0: Array,
        method: str,
        options: dict[str, Any],
        progress: Callable[[float], None] | None,
        stops: Stops | None,
        watcher: Watcher | None,
        clock: Clock | None,
        before: Pieces | None,
        automatic: bool,
    ) -> None:
        self.motion, self.times, self.method, self.options = motion, times, method, options
        self.automatic = automatic
        self.stiffness = StiffnessDetector() if automatic and method == "DOP853" else None
        self.stops, self.watcher, self.clock = stops, watcher, clock
        self.names, self.nq = motion.robot.coordinate_names, motion.robot.nq
        self.start, self.end = float(times[0]), float(times[-1])
        self.progress = progress
        self.before, self.held_steps = self.start, 0  # the time of the last step, and the number of short ones
        # at is the instant of the last change; t may be a few roundings later
        self.t, self.at, self.y, self.at_once = self.start, self.start, y0.copy(), 0
        self.result = Pieces()
        known = before is not None and before.directions
        self.held: dict[int, int] | None = before.directions[-1] if before and known else None
        self.rested: Sides = before.resting[-1] if before and known else {}
        self.creeping: set[int] = set()  # joints that stopped after sliding more slowly than the tolerances resolve

    def go(self) -> None:
        if self.watcher is not None:
            self.watcher.jumped(self.t, self.y)
        while self.t < self.end and self.result.status == REACHED:
            state = PieceState(self.motion, self.result, self.stops, self.clock)
            try:
                self._impact()
                self._settle(state)
                if self._watched() or self._lifting():
                    return
                piece = self._piece(state)
            except SourceError as error:
                self.result.status, self.result.failure = f"stopped: {error}", error
                return
            except UnsettledError as error:
                self._stopped(f"no consistent stick-slip state at {self._joints(error.joints)}: friction and stops contradict")
                return
            self._keep(piece, state)
        if self.result.status == REACHED and self.result.ends:
            self.result.ends[-1] = max(self.result.ends[-1], self.end)  # a nudge may have gone over it

    def _joints(self, joints: tuple[int, ...]) -> str:
        return ", ".join(self.names[k] for k in joints) or "the joints"

    def _stopped(self, why: str) -> None:
        self.result.status = f"stopped at t = {self.at:.6g} s: {why}"

    def _event(self, kind: str, k: int) -> None:
        self.result.events.append(EventRecord(self.at, kind, self.names[k]))

    def _impact(self) -> None:
        """Apply the impact of joints at their stops: new velocities, and the lost energy subtracted from the balance."""
        hitting = {} if self.stops is None else self.stops.hitting(self.y)
        if not hitting or self.stops is None:
            return
        self.stops.snap(self.y, hitting)
        q, v, _ = self.motion.split(self.y)
        M = self.motion.smooth.mass_matrix(q.copy())
        after = self.motion.after_impact(self.stops, q.copy(), v.copy(), M, hitting, self.stops.resting(self.y))
        unmoved = (v == 0.0) & (np.abs(after) <= RECURSION_ROUNDING * np.abs(after - v).max())
        after[unmoved] = 0.0
        self.y[-1] += 0.5 * float(after @ M @ after - v @ M @ v)
        v[:] = after
        for k, side in sorted(hitting.items()):
            self._event(self.stops.event("hits", side), k)

    def _settle(self, state: PieceState) -> None:
        """Determine which joints slide, stick and rest from here on, and record the changes."""
        at_stop = {} if self.stops is None else self.stops.resting(self.y)
        if self.stops is not None:
            self.stops.snap(self.y, at_stop)
        state.settle(self.t, self.y, at_stop, self.creeping)
        if self.held is None:
            return
        still = {k for k in self.motion.sticking if self.y[self.nq + k] == 0.0}
        for k in range(len(self.names)):
            side, before = state.resting.get(k), self.rested.get(k)
            if before is not None and side is None and self.stops is not None:
                self._event(self.stops.event("leaves", before), k)
            elif side is not None:
                if before is None and self.stops is not None:
                    self._event(self.stops.event("rests at", side), k)
            elif state.directions.get(k) and (k in still or self.held.get(k) == 0):
                self._start(k, reversed_=state.directions[k] != self.held.get(k))

    def _start(self, k: int, *, reversed_: bool) -> None:
        """Record that a joint starts; one that stopped at the same instant reverses, or goes on, which is no event."""
        stop = EventRecord(self.at, "stops", self.names[k])
        if stop not in self.result.events[-2 * len(self.names) :]:
            self._event("starts", k)
            return
        self.result.events.remove(stop)
        if reversed_:
            self._event("reverses", k)

    def _lifting(self) -> bool:
        """Whether a contact that would have to pull ends the motion here; where contacts are released, it goes on without."""
        while (name := self.motion.pulling(self.t, self.y)) is not None:
            if not self._lifts_off(name):
                return True
        return False

    def _lifts_off(self, name: str) -> bool:
        """Whether the motion goes on."""
        self.result.events.append(EventRecord(self.at, LIFTS_OFF, name))
        goes_on = self.motion.release(name, self.at)
        if not goes_on:
            self._end(f"{name} {LIFTS_OFF}")
        return goes_on

    def _end(self, event: str) -> None:
        self._stopped(f"{event} (stopping event)")
        self.result.at_end = True

    def _watched(self) -> bool:
        """Whether an event ends the motion here, where the state may have jumped."""
        if self.watcher is None:
            return False
        self.watcher.jumped(self.t, self.y)
        return self._ended_by_watch()

    def _ended_by_watch(self) -> bool:
        if self.watcher is None or self.watcher.stopped is None:
            return False
        self._end(self.watcher.stopped)
        return True

    def _piece(self, state: PieceState) -> Piece:
        return run_piece(
            state.rates, self.t, self.y, self.times, state.crossings(), watcher=self.watcher, clock=self.clock,
            accepted=self._accepted, method=self.method, options=self.options, stiffness=self.stiffness,
            probed=self.motion.probed,
        )  # fmt: skip

    def _accepted(self, t: float, y: Array) -> Array | None:
        v = self.motion.split(y)[1]
        if len(v) and np.abs(v).max() > self.motion.fastest:
            k = int(np.argmax(np.abs(v)))
            raise RunawayError(
                f"the velocity of {self.names[k]} diverged ({v[k]:.3g}) at t = {t:.6g} s: check the torques; under control, "
                "check the sign of the feedback, lower its gains, or sample it more often"
            )
        self.held_steps = self.held_steps + 1 if t - self.before < SHORT and self._held_by_gear(y) else 0
        self.before = t
        if self.held_steps > MANY:
            raise RunawayError(f"at t = {t:.6g} s {self._held_by_gear(y)}")
        if self.clock is not None and self.clock.reminds:
            speed = float(np.abs(v).max(initial=0.0))
            why = self.clock.sentence(self.method, len(self.result.events), speed, automatic=self.automatic)
            warnings.warn(
                f"simulate {why} and goes on at t = {t:.6g} s; seconds= limits the computing time",
                PerformanceWarning,
                stacklevel=2,
            )
        if self.progress is not None:
            self.progress((t - self.start) / (self.end - self.start))
        if self.motion.state is not None:
            warn_of_states(self.motion.state)
        return self.motion.accepted(t, y)

    def _keep(self, piece: Piece, state: PieceState) -> None:
        """Append a piece and the event that ended it to the result."""
        result = self.result
        if piece.between:
            result.ends.append(piece.end)
            result.directions.append(state.directions)
            result.resting.append(state.resting)
            result.pieces.append(piece.solution(self.method))
        self.at_once = self.at_once + 1 if piece.end - self.t < 1e-12 * max(1.0, abs(self.t)) else 0
        self.t = self.at = piece.end
        self.y = piece.y.copy()
        self._stand_still(state)
        result.last = self.y
        if piece.stiff:
            self.method, self.stiffness = STIFF_METHOD, None
        if piece.interrupted:
            result.interrupted(self.at)
        elif isinstance(piece.failure, OutOfTimeError) and self.clock is not None:
            speed = float(np.abs(self.motion.split(self.y)[1]).max(initial=0.0))
            why = self.clock.sentence(self.method, len(result.events), speed, automatic=self.automatic)
            self._stopped(self._held_by_gear(self.y) or why)
            result.at_end = True
        elif piece.failure is not None:
            result.status, result.failure = f"stopped: {piece.failure}", piece.failure
        elif piece.message is not None:
            self._stopped(self._underflow_reason(piece.message))
        elif not self._ended_by_watch():
            self._cross(piece, state)

    def _stand_still(self, state: PieceState) -> None:
        self.y[[self.nq + k for k, s in state.directions.items() if s == 0]] = 0.0
        if self.stops is not None:
            self.stops.snap(self.y, state.resting)

    def _cross(self, piece: Piece, state: PieceState) -> None:
        """Set the state exactly on the event surface, so that the next piece starts beyond it."""
        if self.at_once > MAX_SWITCHES_PER_INSTANT:
            places = sorted({self.names[k] if isinstance(k, int) else k for _, k, _ in piece.crossed})
            self._stopped(f"endless stick-slip transitions ({', '.join(places)})")
            return
        self.held, self.rested = state.directions, state.resting
        for kind, k, side in piece.crossed:
            if kind == "stops":
                self._mark_creeping(piece, k)
                self.y[self.nq + k] = 0.0
                self._event("stops", k)
            elif kind == "gives way":
                self.creeping.discard(k)
            elif kind == "hits" and self.stops is not None:
                self.stops.snap(self.y, {k: side})
            elif kind == LIFTS_OFF:
                self._lifts_off(k)
            elif kind == "touches again":
                self.result.events.append(EventRecord(self.at, kind, k))
                self._end(f"{k} {kind}")
        if any(kind == "gives way" for kind, _, _ in piece.crossed):
            # the instant is found to a few roundings: a push that jumps there must be seen from its far side
            self.t += TIME_ROUNDING * max(1.0, abs(self.t))

    def _mark_creeping(self, piece: Piece, k: int) -> None:
        """Mark a joint that hardly moved before it stopped. One that approaches its rest under sliding friction, as under a
        well-damped controller, would otherwise start and stop by the errors of the integrator again and again."""
        spans = zip(piece.times[:-1], piece.times[1:], piece.between, strict=True)
        speed = max(abs(float(between(x)[self.nq + k])) for a, b, between in spans for x in np.linspace(a, b, 5))
        place = self.motion.robot.model.coordinates[k].q_index
        size = 1.0 if place is None else abs(float(self.y[place]))
        slow = speed <= UNRESOLVED * (self.options["atol"] + self.options["rtol"] * size)
        (self.creeping.add if slow else self.creeping.discard)(k)

    def _held_by_gear(self, y: Array) -> str:
        """Why the motion ends where a gear with losses holds a joint at rest; "" if none does."""
        v = self.motion.split(y)[1]
        for k, actuator in self.motion.actuators.items():
            if getattr(actuator, "efficiency", 1.0) != 1.0 and abs(v[k]) < SOLUTION_TOLERANCE:
                return (
                    f"the gear of {self.names[k]}, with its efficiency, holds the joint at rest, which adaptive methods cannot "
                    "follow; fixed steps can, method='rk4' with a step, but the joint creeps; or model its losses by dry "
                    "friction (coulomb)"
                )
        return ""

    def _underflow_reason(self, message: str) -> str:
        """The probable reason for the step-size underflow."""
        if held := self._held_by_gear(self.y):
            return held
        _, v, _ = self.motion.split(self.y)
        if not np.isfinite(self.y).all() or np.abs(v).max(initial=0.0) > 1e6:
            k = int(np.nanargmax(np.abs(v)))
            return f"the velocity of {self.names[k]} diverged ({v[k]:.3g})"
        return f"{message} (stiff equations: try method='Radau' or 'LSODA', or a smoother friction law)"
