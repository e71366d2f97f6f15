"""Search for an optimal motion: random motions, the best of which are improved by sequential quadratic programming and verified
at every time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.excitation.basis import Basis, states
from dynamis.identification.excitation.criteria import Aggregated, Information
from dynamis.identification.excitation.limits import Rows
from dynamis.identification.excitation.start import Collides

Array = npt.NDArray[Any]

Progress = Callable[[float, str], None]
# sharpness of limits and criterion, and maximal iterations: smoothing is reduced in stages
STAGES = ((40.0, 4.0, 60), (150.0, 16.0, 60), (500.0, 64.0, 60))
TRIED_FOR_A_START = 12
TRIED_WITHOUT_COLLISION = 4  # of them, the best so many are made smaller until they do not collide
NEARLY_INSIDE = 1e-3
ENOUGH = 1e-5  # termination: change of the log criterion


POINTS = 1000  # minimum, and
POINTS_A_SWING = 200
DOUBT = 2.0  # safety factor on the curvature between the points
COARSE = 8  # of the points, every so many are checked for collisions first
COARSEST = 64  # and before these, every so many
NARROWINGS, NARROWINGS_WITH_COLLISIONS = 12, 6
SMALLER = 0.75  # factor of a random motion that collides
PATIENCE, DEEP = 20, 0.3  # after so many iterations a search with collisions as deep as this, relative to NEAR, is given up


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

    def __init__(self, basis: Basis, rows: Sequence[Rows], collides: Collides | None = None) -> None:
        self.basis, self.rows, self.collides = basis, list(rows), collides
        count = max(POINTS, POINTS_A_SWING * basis.finest)
        self.t = np.linspace(0.0, basis.duration, count + 1)
        self.phi = basis.matrices(self.t)

    def extents(self, q0: Array, c: Array) -> list[Extent]:
        """Return the range of each kind of limit."""
        state = states(self.phi, q0, c)
        return [self._extent(rows, rows.values(*state), c) for rows in self.rows]

    def excess(self, q0: Array, c: Array) -> float:
        """Return the largest violation; a motion is feasible if it is ≤ 0."""
        worst = max(float(extent.excess.max()) for extent in self.extents(q0, c))
        return 1.0 if worst <= 0.0 and self.collides_along(q0, c) else worst

    def collides_along(self, q0: Array, c: Array, step: int = COARSE) -> bool:
        """Return whether the motion collides at every ``step``-th point; few points are checked first, as most decide it."""
        if self.collides is None:
            return False
        q = states(self.phi, q0, c)[0]
        return any(np.any(self.collides(q[::k])) for k in (COARSEST, COARSE, 1) if k >= step)

    def inside(self, q0: Array, c: Array, about: Array | None = None) -> tuple[Array, float]:
        """Scale the motion about a feasible one (default: rest at q₀) until it is feasible; return it with the factor."""
        middle = np.zeros_like(c) if about is None else about

        def scaled(factor: float) -> Array:
            return np.asarray(middle + factor * (c - middle))

        if self.excess(q0, c) <= 0.0 and not self.collides_along(q0, c, 1):
            return c, 1.0
        good, bad = 0.0, 1.0
        step = 1e-4
        while step < 1.0:
            if self.excess(q0, scaled(1.0 - step)) <= 0.0:
                good = 1.0 - step
                break
            bad, step = 1.0 - step, 2.0 * step
        for _ in range(NARROWINGS if self.collides is None else NARROWINGS_WITH_COLLISIONS):
            half = 0.5 * (good + bad)
            good, bad = (half, bad) if self.excess(q0, scaled(half)) <= 0.0 else (good, half)
        if good > 0.0 and self.collides_along(q0, scaled(good), 1):
            good, bad = 0.0, good
            for _ in range(NARROWINGS_WITH_COLLISIONS):
                half = 0.5 * (good + bad)
                allowed = self.excess(q0, scaled(half)) <= 0.0 and not self.collides_along(q0, scaled(half), 1)
                good, bad = (half, bad) if allowed else (good, half)
        return scaled(good), good

    def _extent(self, rows: Rows, values: Array, c: Array) -> Extent:
        if rows.order is not None:
            h = self.t[1] - self.t[0]
            room = h * h / 8.0 * self.basis.bound(c[1:] if self.basis.free_start else c, rows.order + 2)
            return Extent(rows, values.min(axis=0) - room, values.max(axis=0) + room)
        bend = np.abs(np.diff(values, 2, axis=0))
        bend = np.concatenate([bend[:1], bend, bend[-1:]])  # at every point; the ends take that of their neighbour
        between = DOUBT / 8.0 * np.maximum(bend[1:], bend[:-1])
        highest = (np.maximum(values[1:], values[:-1]) + between).max(axis=0)
        lowest = (np.minimum(values[1:], values[:-1]) - between).min(axis=0)
        return Extent(rows, lowest, highest)


class OutOfTimeError(Exception):
    """The time limit was reached."""


class LostInCollisionError(Exception):
    """A search passed through a collision and does not find out of it."""


@dataclass(eq=False)
class Search:
    """Motions about a feasible q₀. The best so far is always verified as feasible."""

    information: Information
    limits: Aggregated
    distances: Aggregated | None
    checker: Checker
    q0: Array
    size: Array  # (size, n): scale of the coefficients
    deadline: float
    restarts: int
    progress: Progress | None = None
    best: Array | None = None
    value: float = np.inf
    first: Array | None = None
    history: list[float] = field(default_factory=list)
    status: str = ""
    _last: Array | None = None
    _noted: tuple[float, Array | None] = (np.inf, None)
    _free: tuple[float, Array | None] = (np.inf, None)  # the best one free of collisions
    _done: int = 0
    _stage: int = 0
    _began: float = 0.0

    def run(self, rng: np.random.Generator) -> None:
        """Search until all restarts are done, the time limit is reached, or Ctrl-C."""
        self._began = time.monotonic()
        tried: list[tuple[float, Array]] = []
        try:
            for _ in range(TRIED_FOR_A_START * self.restarts):
                c = self.random(rng)
                tried.append((self.information.measure(self.q0, c), c))
                self._look_at_the_clock()
            tried.sort(key=lambda x: x[0])
            self._noted = tried[0]
            for c in self._free_of_collisions(tried):
                try:
                    self._improve(c)
                except LostInCollisionError:
                    continue
                self._done += 1
                if self._done == self.restarts:
                    break
            self.status = f"best of {self.restarts} {'search' if self.restarts == 1 else 'searches'}"
        except OutOfTimeError:
            self.status = "stopped at the time limit"
        except KeyboardInterrupt:
            self.status = "interrupted: best so far"
        if not tried:
            c = self.random(rng)
            tried.append((self.information.measure(self.q0, c), c))
        self.first = min(tried, key=lambda x: x[0])[1]
        for kept in (self._free[1], self.first, self._noted[1], self._last):
            if kept is not None and (self.best is None or self.information.measure(self.q0, kept) < self.value):
                self._keep(kept)

    def _free_of_collisions(self, tried: list[tuple[float, Array]]) -> list[Array]:
        """Return the motions to improve: the best of the sorted ones after each is made smaller until it does not collide."""
        if self.checker.collides is None:
            return [c for _, c in tried]
        free = []
        for _, large in tried[: TRIED_WITHOUT_COLLISION * self.restarts]:
            c = large
            while self.checker.collides_along(self.q0, c, COARSEST) and np.abs(c).max() > 1e-12:
                c = SMALLER * c
            free.append((self.information.measure(self.q0, c), c))
            self._look_at_the_clock()
        free.sort(key=lambda x: x[0])
        self._free = next((x for x in free if not self.checker.collides_along(self.q0, x[1])), self._free)
        return [c for _, c in free]

    def random(self, rng: np.random.Generator) -> Array:
        """Return a random motion that uses the joint limits, scaled until all limits are satisfied."""
        c = rng.normal(size=self.size.shape) * self.size
        state = [phi @ c for phi in self.limits.phi]
        factor = np.full(len(self.q0), 1.0)
        for rows in self.limits.rows:
            if rows.order is not None:
                room = np.minimum(rows.upper - self.q0, self.q0 - rows.lower) if rows.order == 0 else rows.upper
                factor = np.minimum(factor, room / np.maximum(np.abs(state[rows.order]).max(axis=0), 1e-300))
        c = c * factor * rng.uniform(0.6, 1.0, len(self.q0))
        while self.limits.worst(self.q0, c) > 0.0 and np.abs(c).max() > 1e-12:
            c = 0.85 * c
        return c

    def _improve(self, c: Array) -> None:
        for limits in self._all_limits:
            limits.extra = [np.zeros_like(x) for x in limits.extra]
        for stage, (limit_sharpness, sharpness, iterations) in enumerate(STAGES):
            self._stage = stage
            if stage:
                self._narrow(c, limit_sharpness)
            c = self._minimise(c, limit_sharpness, sharpness, iterations)
            self._keep(c)

    @property
    def _all_limits(self) -> list[Aggregated]:
        return [self.limits] if self.distances is None else [self.limits, self.distances]

    def _narrow(self, c: Array, sharpness: float) -> None:
        """Tighten the bounds by the violations between the grid points."""
        state = states(self.limits.phi, self.q0, c)
        for k, (rows, extent) in enumerate(zip(self.limits.rows, self.checker.extents(self.q0, c), strict=True)):
            seen = rows.excess(rows.values(*state)).max(axis=0)
            hidden = np.where(np.isfinite(seen), extent.excess - np.where(np.isfinite(seen), seen, 0.0), 0.0)
            self.limits.extra[k] = np.clip(hidden, 0.0, 0.05)
        if self.distances is not None:
            (rows,), (extra,) = self.distances.rows, self.distances.extra
            seen = self.distances.values(self.q0, c, sharpness) - extra
            found = rows.excess(rows.values(*states(self.checker.phi, self.q0, c))).max(axis=0)
            self.distances.extra[0] = np.clip(found - seen, 0.0, 0.5)

    def _minimise(self, c: Array, limit_sharpness: float, sharpness: float, iterations: int) -> Array:
        from scipy.optimize import minimize

        # if torque or position limits are tight, motions are small: scale the variables accordingly
        unit = self.size * min(1.0, max(3.0 * float(np.sqrt(np.mean((c / self.size) ** 2))), 1e-9))

        def coefficients(x: Array) -> Array:
            return np.asarray(x.reshape(unit.shape) * unit)

        def objective(x: Array) -> tuple[float, Array]:
            self._look_at_the_clock()
            value, slope = self.information.value_and_gradient(self.q0, coefficients(x), sharpness)
            return value, (slope * unit).ravel()

        def limits(x: Array) -> Array:
            return np.concatenate([-y.values(self.q0, coefficients(x), limit_sharpness) for y in self._all_limits])

        def slopes(x: Array) -> Array:
            parts = [-y.jacobian(self.q0, coefficients(x), limit_sharpness) * unit for y in self._all_limits]
            return np.concatenate(parts).reshape(-1, unit.size)

        began = len(self.history)

        def told(x: Array) -> None:
            self._note(coefficients(x))
            near = self.distances if len(self.history) - began > PATIENCE else None
            if near is not None and near.worst(self.q0, coefficients(x)) > DEEP:
                raise LostInCollisionError

        inequality = {"type": "ineq", "fun": limits, "jac": slopes}
        found = minimize(objective, (c / unit).ravel(), jac=True, method="SLSQP", constraints=[inequality], callback=told,
                         options={"maxiter": iterations, "ftol": ENOUGH})  # fmt: skip
        return coefficients(found.x)

    def _keep(self, c: Array) -> None:
        """Keep the motion if it is verified as feasible and better than the best."""
        if not np.isfinite(c).all():
            return
        inside, factor = self.checker.inside(self.q0, c, None if self.checker.collides is None else self.best)
        if factor == 0.0 and self.best is not None:
            return
        value = self.information.measure(self.q0, inside)
        if self.best is None or value < self.value:
            self.best, self.value = inside, value

    def _note(self, c: Array) -> None:
        """Record an iteration, and remember it if it is the best feasible one on the grid."""
        self._last = c
        if self.limits.worst(self.q0, c) <= NEARLY_INSIDE:
            value = self.information.measure(self.q0, c)
            if value < self._noted[0]:
                self._noted = value, c
            if self.checker.collides is not None and value < self._free[0] and not self.checker.collides_along(self.q0, c):
                self._free = value, c
        self.history.append(self._noted[0])
        if self.progress is not None:
            # fraction of the time or of the searches, whichever is larger
            share = (time.monotonic() - self._began) / max(self.deadline - self._began, 1e-9)
            done = (self._done + self._stage / len(STAGES)) / self.restarts
            text = f"search {self._done + 1} of {self.restarts}, best {np.exp(self._noted[0]):.4g}"
            self.progress(min(1.0, max(share, done)), text)

    def _look_at_the_clock(self) -> None:
        if time.monotonic() > self.deadline:
            raise OutOfTimeError
