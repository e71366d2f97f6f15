"""SciPy's adaptive integrators, in pieces: between two pieces joints start or stop sliding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.simulation.motion import Motion
from dynamis.simulation.sources import SourceError
from dynamis.simulation.sticking import settle, solve
from dynamis.simulation.trajectory import Event

Array = npt.NDArray[Any]
METHODS = ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")
SWITCHES_AT_ONCE = 60  # more at one instant means that the friction has no solution there
ROUNDINGS = 16 * float(np.finfo(float).eps)
HAIR = 1e-9  # of the range that holds a joint: beyond it by so much, the joint starts


@dataclass
class Pieces:
    """What was integrated: dense pieces, what happened between them, and why it ended."""

    pieces: list[Any] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    directions: list[dict[int, int]] = field(default_factory=list)
    evaluations: int = 0
    status: str = "reached the end"
    failure: Exception | None = None

    def add(self, others: Pieces) -> None:
        """Go on with what was integrated from here."""
        self.pieces += others.pieces
        self.ends += others.ends
        self.events += others.events
        self.directions += others.directions
        self.evaluations += others.evaluations
        self.status, self.failure = others.status, others.failure

    def __call__(self, times: Array) -> tuple[Array, list[dict[int, int]]]:
        """States at these times, and the directions of sliding that held there."""
        where = np.searchsorted(self.ends, times, side="left").clip(0, len(self.pieces) - 1)
        states = np.array([self.pieces[k](t) for k, t in zip(where, times, strict=True)])
        return states, [self.directions[k] for k in where]


def integrate(
    motion: Motion,
    times: Array,
    y0: Array,
    *,
    method: str,
    options: dict[str, Any],
    progress: Callable[[float], None] | None,
) -> Pieces:
    """Integrate from the first of these times to the last; no joint starts or stops unseen from one time to the next."""
    result = Pieces()
    names = motion.robot.coordinate_names
    start, end = float(times[0]), float(times[-1])
    t, at, y, at_once = start, start, y0.copy(), 0
    _, v, _ = motion.split(y)
    still = {k for k in motion.sticking if v[k] == 0.0}
    while t < end:
        state = _State(motion, result, lambda t: None if progress is None else progress((t - start) / (end - start)))
        try:
            directions = state.settled(t, y, still)
            state.directions = directions
            result.events += [Event(at, "starts", names[k]) for k in sorted(still) if directions[k] and result.pieces]
            piece, failed = state.integrated(t, y, times, {"method": method, **options})
        except SourceError as error:
            piece, failed = None, error
        if failed is not None:
            result.status, result.failure = f"stopped: {failed}", failed
        if piece is None:
            break
        if piece.sol is not None and len(piece.t) > 1:
            result.pieces.append(piece.sol)
            result.ends.append(float(piece.t[-1]))
            result.directions.append(directions)
        if failed is not None:
            break
        if piece.status == -1:
            result.status = f"stopped at t = {piece.t[-1]:.6g} s: {_why(motion, piece)}"
            break
        at_once = at_once + 1 if piece.t[-1] - t < 1e-12 * max(1.0, abs(t)) else 0
        t, y = float(piece.t[-1]), piece.y[:, -1].copy()
        if at_once > SWITCHES_AT_ONCE:
            result.status = f"stopped at t = {t:.6g} s: joints start and stop there without end"
            break
        at = t
        still, released = state.after(piece, t, y, directions)
        if released:
            # the instant is found to a few roundings: a push that jumps there must be seen from its far side
            t += ROUNDINGS * max(1.0, abs(t))
    if progress is not None:
        progress(1.0)
    return result


def _why(motion: Motion, piece: Any) -> str:
    """What made the step collapse, as far as the state tells."""
    _, v, _ = motion.split(piece.y[:, -1])
    if not np.isfinite(piece.y[:, -1]).all() or np.abs(v).max(initial=0.0) > 1e6:
        k = int(np.nanargmax(np.abs(v)))
        return f"the velocity of {motion.robot.coordinate_names[k]} grew beyond all bounds ({v[k]:.3g})"
    return f"{piece.message} (a stiff robot: try method='Radau' or 'LSODA', or a smoother friction law)"


class _State:
    """The right-hand side for one piece, which remembers its last evaluation for the switches that look at it."""

    def __init__(self, motion: Motion, result: Pieces, progress: Callable[[float], None]) -> None:
        self.motion, self.result, self.progress = motion, result, progress
        self.accepted = -np.inf
        self.directions: dict[int, int] = {}
        self._key: tuple[float, bytes] | None = None
        self._kept: tuple[Array, Array] = (np.zeros(0), np.zeros(0))

    def integrated(self, t: float, y: Array, times: Array, options: dict[str, Any]) -> tuple[Any, SourceError | None]:
        """The piece from t on, up to a switch, the end or what a source refused: then as far as it went, and the refusal."""
        from scipy.integrate import solve_ivp

        def run(end: float) -> Any:
            return solve_ivp(self.rates, (t, end), y, dense_output=True, events=self.switches(), **options)

        piece, failed = None, None
        try:
            piece = run(float(times[-1]))
        except SourceError as error:
            failed = error
            if self.accepted > t:
                piece = run(self.accepted)
        if piece is not None:
            overlooked = self._overlooked(piece, times)
            if overlooked is not None:
                piece, failed = run(overlooked), None
        return piece, failed

    def _overlooked(self, piece: Any, times: Array) -> float | None:
        """The first of these times inside a piece where the directions are no longer right: a step passed over a switch."""
        nq = self.motion.robot.nq
        for t in times[(times > piece.t[0]) & (times < piece.t[-1])] if self.directions else ():
            y = piece.sol(t)
            friction = self.friction(float(t), y) if 0 in self.directions.values() else None
            for k, s in self.directions.items():
                low, high = self._range(k)
                if y[nq + k] * s < 0 if s else friction is not None and not low <= friction[k] <= high:
                    return float(t)
        return None

    def _range(self, k: int) -> tuple[float, float]:
        """The torques that hold a joint, and a hair more, so that one that just holds does not start at once."""
        low, high = self.motion.sticking[k].holding
        hair = HAIR * max(abs(low), abs(high), 1e-12)
        return low - hair, high + hair

    def _terms(self, t: float, y: Array) -> tuple[Array, Array, Array, Array, Array, Any]:
        q, v, z = self.motion.split(y)
        q = q.copy()
        v = v.copy()
        tau, wrenches = self.motion.drive(t, q, v, z)
        M = self.motion.smooth.mass_matrix(q)
        r = tau - self.motion.smooth.inverse_dynamics(q, v, np.zeros(len(v)), wrenches)
        return M, r, q, v, tau, wrenches

    def settled(self, t: float, y: Array, still: set[int]) -> dict[int, int]:
        if not self.motion.sticking:
            return {}
        M, r, _, v, _, _ = self._terms(t, y)
        return settle(M, r, v, self.motion.sticking, still)

    def rates(self, t: float, y: Array) -> Array:
        self.result.evaluations += 1
        q, v, z = self.motion.split(y)
        self.motion.check_bounds(t, v)
        if not self.motion.sticking:
            tau, wrenches = self.motion.drive(t, q, v, z)
            a = self.motion.smooth.forward_dynamics(q, v, tau, wrenches)
            return self.motion.rates(t, q, v, z, a, self.motion.power(q, v, tau, wrenches))
        a, d, tau, wrenches = self._solved(t, y)
        v = v.copy()
        v[[k for k, s in self.directions.items() if s == 0]] = 0.0
        return self.motion.rates(t, q, v, z, a, self.motion.power(q, v, tau, wrenches) - float(d @ v))

    def _solved(self, t: float, y: Array) -> tuple[Array, Array, Array, Any]:
        M, r, _, v, tau, wrenches = self._terms(t, y)
        a, d = solve(M, r, v, self.directions, self.motion.sticking)
        self._key, self._kept = (t, y.tobytes()), (a, d)
        return a, d, tau, wrenches

    def friction(self, t: float, y: Array) -> Array:
        if self._key != (t, y.tobytes()):
            self._solved(t, y)
        return self._kept[1]

    def switches(self) -> list[Any]:
        """Functions that change sign where a joint stops, or where what holds it gives way."""
        found: list[Any] = []
        nq = self.motion.robot.nq
        for k, s in self.directions.items():
            if s:
                found.append(_terminal(lambda _t, y, k=k: y[nq + k], -s))
            else:
                low, high = self._range(k)
                found.append(_terminal(lambda t, y, k=k, h=high: self.friction(t, y)[k] - h, 1))
                found.append(_terminal(lambda t, y, k=k, h=low: self.friction(t, y)[k] - h, -1))

        def mark(t: float, _y: Array) -> float:
            self.accepted = t
            self.progress(t)
            return 1.0

        return [*found, mark]

    def after(self, piece: Any, t: float, y: Array, directions: dict[int, int]) -> tuple[set[int], bool]:
        """Joints at rest after a piece, and whether one gave way; those that just stopped stand exactly still."""
        still = {k for k, s in directions.items() if s == 0 or y[self.motion.robot.nq + k] == 0.0}
        nq, place, released = self.motion.robot.nq, 0, False
        names = self.motion.robot.coordinate_names
        for k, s in directions.items():
            happened = [piece.t_events[place + j] for j in range(1 if s else 2)]
            place += len(happened)
            if not any(len(times) and times[-1] == piece.t[-1] for times in happened):
                continue
            if s:
                y[nq + k] = 0.0
                still.add(k)
                self.result.events.append(Event(t, "stops", names[k]))
            else:
                released = True
        return still, released


def _terminal(function: Any, direction: int) -> Any:
    function.terminal, function.direction = True, direction
    return function
