"""Compiled Runge–Kutta steps for short smooth pieces of a motion, such as between two samples of a digital controller.

Between two samples the torques are constant, and usually no joint starts or stops. One compiled function then takes a step of
the method of Dormand and Prince, with the sticking joints and the sliding directions as inputs. Where the stick-slip state
changes inside an interval (a velocity changes its sign, a holding torque leaves its range) or the error stays too large,
the interval is integrated by `adaptive`, which locates the event. So it is near a singular configuration of loops.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.robot import Robot
from dynamis.scalar import maximum, solve_positive, sqrt
from dynamis.simulation.events import Watcher
from dynamis.simulation.motion import EquationsOfMotion
from dynamis.simulation.pieces import Pieces
from dynamis.simulation.sampling import Held
from dynamis.simulation.sources import EndOfMotionError
from dynamis.simulation.stepped import Pushes, TracedMotion
from dynamis.simulation.stepping import Clock
from dynamis.simulation.stick_slip import scale_of
from dynamis.tolerances import NEGLIGIBLE, RECURSION_ROUNDING

Array = npt.NDArray[Any]
EXPLICIT = ("DOP853", "RK45", "RK23")
MAX_COMPILED_DOF = 12  # larger robots take longer to compile than most motions to integrate
MAX_STEPS_PER_INTERVAL = 200  # more are left to SciPy's integrators, whose order is higher
SHRINK, GROW, SAFETY = 0.2, 5.0, 0.9

# the coefficients of Dormand and Prince, order 5 with an error estimate of order 4 [Hairer 1993, Table II.5.2]
C = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
A = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
E = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
# the polynomial of order 4 between both ends of a step [Hairer 1993, §II.6]
D = (
    -12715105075 / 11282082432, 0.0, 87487479700 / 32700410799, -10690763975 / 1880347072, 701980252875 / 199316789632,
    -1453857185 / 822651844, 69997945 / 29380423,
)  # fmt: skip


def rates(motion: EquationsOfMotion, t: Any, y: Array, hold: Array, slide: Array) -> tuple[Array, Array]:
    """(ẏ, friction) where joints with ``hold`` = 1 stick and those with ``slide`` = ±1 slide, for tracing.

    M a = r − d with a = 0 at the joints that hold, whose rows and columns are replaced by those of the identity.
    """
    q, v, z = motion.split(y)
    v = v * (1.0 - hold) if motion.sticking else v
    tau, wrenches = motion.drive(t, q, v, z)
    d = np.zeros(len(v), dtype=object)
    if not motion.sticking:
        a = motion.acceleration(q, v, tau, wrenches)
        return motion.rates(t, q, v, z, a, motion.power(q, v, tau, wrenches)), d
    M = motion.smooth.mass_matrix(q)
    r = tau - motion.smooth.inverse_dynamics(q, v, 0.0 * v, wrenches)
    free = np.ones(len(v), dtype=object)
    for k, law in motion.sticking.items():
        free[k] = 1.0 - hold[k]
        d[k] = free[k] * law.sliding(slide[k], v[k])
    held = M * np.outer(free, free)
    for k in motion.sticking:
        held[k, k] = held[k, k] + hold[k]
    a = solve_positive(held, free * (r - d))
    rest = M @ a
    for k in motion.sticking:
        d[k] = d[k] + hold[k] * (r[k] - rest[k])
    return motion.rates(t, q, v, z, a, motion.power(q, v, tau, wrenches) - d @ v), d


def dormand_prince(motion: EquationsOfMotion, t: Any, y: Array, h: Any, hold: Array, slide: Array) -> tuple[Array, ...]:
    """(y', estimated error, terms of the polynomial (3, N), friction at both ends (2, n)) of one step."""
    k: list[Array] = []
    friction = []
    new = y
    for row, c in zip(A, C, strict=True):
        new = y + h * sum((x * rate for x, rate in zip(row, k, strict=True) if x), start=0.0 * y) if row else y
        rate, d = rates(motion, t + c * h, new, hold, slide)
        k.append(rate)
        friction.append(d)
    error = h * sum(x * rate for x, rate in zip(E, k, strict=True) if x)
    quartic = h * sum(x * rate for x, rate in zip(D, k, strict=True) if x)
    return new, error, np.array([h * k[0], h * k[-1], quartic]), np.array([friction[0], friction[-1]])


@dataclass(frozen=True)
class Polynomial:
    """Dense output within one step, from the values and rates at both ends and the method's fourth coefficient."""

    t: float
    h: float
    y: Array
    new: Array
    terms: Array

    def __call__(self, t: Any) -> Array:
        s = (np.asarray(t) - self.t) / self.h
        if s.ndim:
            return np.stack([self(x) for x in np.asarray(t)], axis=-1)
        way = self.new - self.y
        first, last, quartic = self.terms
        bend = first - way
        return np.asarray(self.y + s * (way + (1.0 - s) * (bend + s * (way - last - bend + (1.0 - s) * quartic))))


@dataclass(frozen=True)
class Chain:
    """Several steps of one interval as one function of time."""

    ends: tuple[float, ...]
    steps: tuple[Polynomial, ...]

    def __call__(self, t: Any) -> Array:
        if np.ndim(t):
            return np.stack([self(x) for x in np.asarray(t)], axis=-1)
        return self.steps[min(int(np.searchsorted(self.ends, t)), len(self.steps) - 1)](t)


class CompiledPieces:
    """Integrates intervals without stick-slip transitions by compiled steps; rejects the others."""

    def __init__(
        self, traced: TracedMotion, held: Held | None, options: dict[str, Any], clock: Clock | None, watcher: Watcher | None
    ) -> None:
        self.traced, self.motion, self.held, self.clock, self.watcher = traced, traced.motion, held, clock, watcher
        self.longest, self.h = options.get("max_step", np.inf), np.inf
        robot, states = self.motion.robot, self.motion.states
        self.nq, self.n = robot.nq, robot.n

        def step(
            robot: Robot, y: Array, t: Array, h: Array, tau: Array, w: Array, d: Array, hold: Array, slide: Array, tol: Array
        ) -> Any:
            motion = traced.on(robot, tau, w, d)
            new, error, *others = dormand_prince(motion, t[0], y, h[0], hold, slide)
            if traced.motion.projecting:
                new = motion.projected(new)
            scaled = [e / (tol[0] + tol[1] * maximum(abs(a), abs(b))) for e, a, b in zip(error, y, new, strict=True)]
            size = sqrt(sum(x * x for x in scaled) / len(scaled))
            return new, np.array([size]), *others

        sizes: dict[str, Any] = {
            "y": self.nq + self.n + states + 1,
            "t": 1,
            "h": 1,
            "hold": self.n,
            "slide": self.n,
            "tol": 2,
            **traced.sizes,
        }
        self.kernel = traced.kernel("dormand-prince", lambda: robot.compile(step, **sizes))
        self._tolerances = np.array([options["atol"], options["rtol"]])
        self._t, self._h = np.zeros(1), np.zeros(1)
        # of each joint that may hold: the ends of its range of holding torques, and the scale of the margins at both ends
        self.ranges = {k: (*law.holding, scale_of(law, 0.0)) for k, law in self.motion.sticking.items()}
        self._known: tuple[dict[int, int] | None, Array, Array, list[int]] = (None, np.zeros(0), np.zeros(0), [])

    @staticmethod
    def suits(motion: EquationsOfMotion, pushes: Pushes, method: str) -> bool:
        """Whether such motions can be compiled."""
        suits = pushes.compilable and method in EXPLICIT and 0 < motion.robot.n <= MAX_COMPILED_DOF
        return suits and not motion.crossings()

    def interval(self, a: float, b: float, y: Array, reported: Array, before: Pieces | None) -> Pieces | None:
        """The motion from a to b, or None if the stick-slip state changes between."""
        directions = self._directions(y, before)
        if directions is None or self.motion.near_singular:
            return None
        hold, slide, still = self._masks(directions)
        given = (*self.traced.inputs(0.5 * (a + b), y, self.held), hold, slide, self._tolerances)
        function = self.kernel.compiled("double").gufunc.function
        steps: list[Polynomial] = []
        t, ends, tries = a, [], 0
        h = min(self.h, self.longest)
        while t < b:
            tries += 1
            if tries > MAX_STEPS_PER_INTERVAL:
                return None
            if self.clock is not None and self.clock.over:
                return None
            last = t + 1.0001 * h >= b
            h = b - t if last else h
            self._t[0], self._h[0] = t, h
            with np.errstate(all="ignore"):
                new, size, terms, friction = function(y, self._t, self._h, *given)
            wrong = float(size[0])
            if not math.isfinite(wrong):
                return None
            if wrong > 1.0:
                h *= max(SHRINK, SAFETY * wrong**-0.2)
                continue
            if still:
                new[still] = 0.0
            piece = Polynomial(t, h, y, new, terms)
            t = b if last else t + h
            if not self._unchanged(piece, friction, directions, first=not steps, inside=reported[1:-1]):
                return None
            steps.append(piece)
            ends.append(t)
            if self.clock is not None:
                self.clock.stepped(h)
            y = new
            self.h = h = min(h * min(GROW, SAFETY * max(wrong, 1e-10) ** -0.2), self.longest)
        try:
            changed = self.motion.accepted(b, y)
        except EndOfMotionError:
            return None
        if self.motion.near_singular:
            return None
        pieces = steps[0] if len(steps) == 1 else Chain(tuple(ends), tuple(steps))
        made = Pieces([pieces], [b], [], [directions], [{}], len(C) * tries, last=y if changed is None else changed)
        if self.watcher is not None:
            self.watcher.passed(pieces, a, b)
            made.events = self.watcher.records()
        return made

    def _directions(self, y: Array, before: Pieces | None) -> dict[int, int] | None:
        """The directions of the preceding interval, if the velocities agree with them."""
        if not self.ranges:
            return {}
        if before is None or not before.directions:
            return None
        known = before.directions[-1]
        v = y[self.nq : self.nq + self.n].tolist()
        fits = all(v[k] == 0.0 if s == 0 else v[k] * s > 0.0 for k, s in known.items())
        return known if fits and known.keys() == self.ranges.keys() else None

    def _masks(self, directions: dict[int, int]) -> tuple[Array, Array, list[int]]:
        """(1 for sticking joints, ±1 for sliding joints, indices of the velocities that are zero)."""
        if self._known[0] is not directions:
            hold, slide = np.zeros(self.n), np.zeros(self.n)
            for k, s in directions.items():
                hold[k], slide[k] = float(s == 0), float(s)
            self._known = directions, hold, slide, [self.nq + k for k, s in directions.items() if s == 0]
        return self._known[1:]

    def _unchanged(self, piece: Polynomial, friction: Array, directions: dict[int, int], *, first: bool, inside: Array) -> bool:
        """Whether sliding joints still slide at the end of a step and at reported times within it, and friction is able to
        hold the others at both ends."""
        if not directions:
            return True
        v = piece.new[self.nq : self.nq + self.n].tolist()
        rows = friction.tolist()
        for k, s in directions.items():
            if s:
                if v[k] * s <= 0.0:
                    return False
                continue
            low, high, scale = self.ranges[k]
            for d, margin in zip(
                (row[k] for row in rows), (RECURSION_ROUNDING if first else NEGLIGIBLE, NEGLIGIBLE), strict=True
            ):
                if not low - margin * scale <= d <= high + margin * scale:
                    return False
        for t in inside[(inside > piece.t) & (inside < piece.t + piece.h)] if len(inside) else ():
            now = piece(t)[self.nq : self.nq + self.n]
            if any(now[k] * s < 0.0 for k, s in directions.items()):
                return False
        return True
