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

    def __call__(self, times: Array) -> tuple[Array, list[dict[int, int]]]:
        """States at these times, and the directions of sliding that held there."""
        where = np.searchsorted(self.ends, times, side="left").clip(0, len(self.pieces) - 1)
        states = np.array([self.pieces[k](t) for k, t in zip(where, times, strict=True)])
        return states, [self.directions[k] for k in where]


def integrate(
    motion: Motion,
    start: float,
    end: float,
    y0: Array,
    *,
    method: str,
    options: dict[str, Any],
    progress: Callable[[float], None] | None,
) -> Pieces:
    """Integrate from start to end."""
    from scipy.integrate import solve_ivp

    result = Pieces()
    t, y, at_once = start, y0.copy(), 0
    _, v, _ = motion.split(y)
    still = {k for k in motion.sticking if v[k] == 0.0}
    while t < end:
        state = _State(motion, result)
        try:
            directions = state.settled(t, y, still)
            state.directions = directions
            piece = solve_ivp(
                state.rates, (t, end), y, method=method, dense_output=True,
                events=state.switches(directions, progress, start, end), **options,
            )  # fmt: skip
        except SourceError as failed:
            result.status, result.failure = f"stopped: {failed}", failed
            break
        if piece.sol is not None and len(piece.t) > 1:
            result.pieces.append(piece.sol)
            result.ends.append(float(piece.t[-1]))
            result.directions.append(directions)
        if piece.status == -1:
            result.status = f"stopped at t = {piece.t[-1]:.6g} s: {_why(motion, piece)}"
            break
        at_once = at_once + 1 if piece.t[-1] - t < 1e-12 * max(1.0, abs(t)) else 0
        t, y = float(piece.t[-1]), piece.y[:, -1].copy()
        if at_once > SWITCHES_AT_ONCE:
            result.status = f"stopped at t = {t:.6g} s: joints start and stop there without end"
            break
        still = state.after(piece, t, y, directions)
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

    def __init__(self, motion: Motion, result: Pieces) -> None:
        self.motion, self.result = motion, result
        self.directions: dict[int, int] = {}
        self._key: tuple[float, bytes] | None = None
        self._kept: tuple[Array, Array] = (np.zeros(0), np.zeros(0))

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
        if not self.motion.sticking:
            tau, wrenches = self.motion.drive(t, q, v, z)
            a = self.motion.smooth.forward_dynamics(q, v, tau, wrenches)
            return self.motion.rates(q, v, z, a, self.motion.power(q, v, tau, wrenches))
        a, d, tau, wrenches = self._solved(t, y)
        v = v.copy()
        v[[k for k, s in self.directions.items() if s == 0]] = 0.0
        return self.motion.rates(q, v, z, a, self.motion.power(q, v, tau, wrenches) - float(d @ v))

    def _solved(self, t: float, y: Array) -> tuple[Array, Array, Array, Any]:
        M, r, _, v, tau, wrenches = self._terms(t, y)
        a, d = solve(M, r, v, self.directions, self.motion.sticking)
        self._key, self._kept = (t, y.tobytes()), (a, d)
        return a, d, tau, wrenches

    def friction(self, t: float, y: Array) -> Array:
        if self._key != (t, y.tobytes()):
            self._solved(t, y)
        return self._kept[1]

    def switches(self, directions: dict[int, int], progress: Any, start: float, end: float) -> list[Any]:
        """Functions that change sign where a joint stops, or where what holds it gives way."""
        found: list[Any] = []
        nq = self.motion.robot.nq
        for k, s in directions.items():
            if s:
                found.append(_terminal(lambda _t, y, k=k: y[nq + k], -s))
            else:
                low, high = self.motion.sticking[k].holding
                # a hair beyond the range, so that a joint that just holds does not start at once
                hair = 1e-9 * max(abs(low), abs(high), 1e-12)
                found.append(_terminal(lambda t, y, k=k, h=high + hair: self.friction(t, y)[k] - h, 1))
                found.append(_terminal(lambda t, y, k=k, h=low - hair: self.friction(t, y)[k] - h, -1))
        if progress is not None:

            def tell(t: float, _y: Array) -> float:
                progress((t - start) / (end - start))
                return 1.0

            found.append(tell)
        return found

    def after(self, piece: Any, t: float, y: Array, directions: dict[int, int]) -> set[int]:
        """Joints at rest after a piece; those that just stopped stand exactly still."""
        still = {k for k, s in directions.items() if s == 0}
        nq, place = self.motion.robot.nq, 0
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
                self.result.events.append(Event(t, "starts", names[k]))
        return still


def _terminal(function: Any, direction: int) -> Any:
    function.terminal, function.direction = True, direction
    return function
