"""Stick-slip states of joints with dry friction or at stops.

While joints h stick, their acceleration is zero and friction balances the other torques: from M a = r − d,

    M_ss a_s = r_s − d_s,     d_h = r_h − M_hs a_s,

with the sliding joints s and their friction d_s. A joint sticks as long as d_h stays inside its range; it breaks away in the
direction of the excess. Several joints may start or stop at once: the sets are found by pivoting, exchanging the joint with the
largest violation until there is none. The solution is unique, since M is positive definite and the torque of a joint is a
nondecreasing function of its acceleration; only rounding can prevent finding it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import DynamisError
from dynamis.simulation.friction import StickingLaw
from dynamis.tolerances import RECURSION_ROUNDING, SOLUTION_TOLERANCE

Array = npt.NDArray[Any]
MAX_ITERATIONS = 200
MAX_ENUMERATED = 3**8  # combinations of stick and slip, tried one by one where the iteration cycles


Sticking = Mapping[int, StickingLaw]


@dataclass(frozen=True)
class Widened(StickingLaw):
    """A law that holds `SOLUTION_TOLERANCE` more than its own friction."""

    law: StickingLaw

    def sliding(self, direction: Any, v: Any) -> Any:
        return self.law.sliding(direction, v)

    @property
    def holding(self) -> tuple[float, float]:
        low, high = self.law.holding
        margin = SOLUTION_TOLERANCE * scale_of(self.law, 0.0)
        return low - margin, high + margin


class UnsettledError(DynamisError):
    """No consistent stick-slip state; ``joints`` are those violated by the last one tried."""

    def __init__(self, joints: Iterable[int]) -> None:
        self.joints = tuple(joints)
        super().__init__(f"no consistent stick-slip state at joints {self.joints}")


def solve(M: Array, r: Array, v: Array, directions: dict[int, int], laws: Sticking) -> tuple[Array, Array]:
    """(a, d): accelerations and friction torques, for given directions (0: sticking) of the joints that can stick."""
    d = np.zeros(len(r))
    holding = [k for k, s in directions.items() if s == 0]
    for k, s in directions.items():
        if s:
            d[k] = laws[k].sliding(s, v[k])
    free = np.array([k for k in range(len(r)) if k not in holding], dtype=int)
    a = np.zeros(len(r))
    if len(free):
        a[free] = np.linalg.solve(M[np.ix_(free, free)], (r - d)[free])
    for k in holding:
        d[k] = r[k] - M[k] @ a
    return a, d


def scale_of(law: StickingLaw, size: float) -> float:
    """Reference magnitude of a joint's torques: its friction, or the applied torque (``size``) if much larger."""
    ends = [abs(x) for x in law.holding if np.isfinite(x)]
    return max(*ends, 1e-3 * size, 1e-12)  # N m or N: positive also without torques


def sizes(M: Array, r: Array, a: Array) -> Array:
    """The magnitude of the terms of d = r − M a."""
    return np.asarray(np.abs(r) + np.abs(M) @ np.abs(a))


def settle(M: Array, r: Array, v: Array, laws: Sticking, still: set[int]) -> dict[int, int]:
    """The direction of each joint with dry friction: that of its velocity, or at rest from the equilibrium conditions."""
    directions = {k: 0 if k in still else (1 if v[k] > 0 else -1) for k in laws}
    for rule in (_worst, _first):
        met = set()
        for _ in range(MAX_ITERATIONS):
            wrong = _violations(M, r, v, directions, laws, still)
            if not wrong:
                return directions
            choice = tuple(directions[k] for k in sorted(still))
            if choice in met:
                break
            met.add(choice)
            _, k, better = rule(wrong)
            directions[k] = better
    return _tried(M, r, v, directions, laws, still)


def torques(M: Array, r: Array, v: Array, laws: Sticking) -> Array:
    """The dry friction at arbitrary states: (N, n, n), (N, n) and (N, n) to (N, n)."""
    d = np.zeros_like(v)
    for k, (inertia, row, rate) in enumerate(zip(M, r, v, strict=True)):
        still = {j for j in laws if rate[j] == 0.0}
        d[k] = solve(inertia, row, rate, settle(inertia, row, rate, laws, still), laws)[1]
    return d


Wrong = tuple[float, int, int]  # how much, which joint, and the direction it should rather have


def _violations(M: Array, r: Array, v: Array, directions: dict[int, int], laws: Sticking, still: set[int]) -> list[Wrong]:
    """The violations of the joints at rest."""
    if not still:
        return []
    a, d = solve(M, r, v, directions, laws)
    size = sizes(M, r, a)
    found = []
    for k in sorted(still):
        low, high = laws[k].holding
        scale = scale_of(laws[k], size[k])
        if directions[k] == 0:
            excess, better = max((d[k] - high, 1), (low - d[k], -1))
        else:
            # released, but pushed back: it holds after all
            excess, better = -a[k] * directions[k] * M[k, k], 0
        if excess > RECURSION_ROUNDING * scale:
            found.append((float(excess / scale), k, better))
    return found


def _worst(wrong: list[Wrong]) -> Wrong:
    return max(wrong)


def _first(wrong: list[Wrong]) -> Wrong:
    """The violated joint of lowest index: slower, but cycle-free in exact arithmetic [Murty 1974]."""
    return wrong[0]


def _tried(M: Array, r: Array, v: Array, directions: dict[int, int], laws: Sticking, still: set[int]) -> dict[int, int]:
    """The best of all combinations, if within tolerance."""
    joints = sorted(still)
    if 3 ** len(joints) <= MAX_ENUMERATED:
        best = np.inf
        for choice in product((0, 1, -1), repeat=len(joints)):
            tried = directions | dict(zip(joints, choice, strict=True))
            worst = max((w[0] for w in _violations(M, r, v, tried, laws, still)), default=0.0)
            if worst < best:
                best, directions = worst, tried
        if best <= SOLUTION_TOLERANCE:
            return directions
    raise UnsettledError(k for _, k, _ in _violations(M, r, v, directions, laws, still))
