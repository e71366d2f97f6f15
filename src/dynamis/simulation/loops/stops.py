"""Hard stops of robots with loops: impacts, and which of the joints at their stops stay there.

Both are the point x nearest to a free one, in the metric of M, that keeps the loops closed and satisfies inequalities at the
stops: velocities after an impact, or accelerations by Gauss's principle. Impulses and forces f ≥ 0 of the stops solve the dual
problem, least squares without negative values, also where several stops hold one motion of the loops.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.simulation.hard_stops import HardStops, Sides
from dynamis.simulation.loops.constrained import null_space, solve
from dynamis.tolerances import NEGLIGIBLE

Array = npt.NDArray[Any]


def nearest(M: Array, N: Array, x: Array, sides: Sides, shift: Mapping[int, float]) -> Array:
    """The point nearest to x among x + N y with side_k x_k + shift_k ≤ 0 for all joints at stops."""
    from scipy.optimize import nnls

    if not N.shape[1] or not sides:
        return x
    joints = list(sides)
    G = np.array([sides[k] for k in joints])[:, None] * N[joints]
    L = np.linalg.cholesky(N.T @ M @ N)
    C = np.linalg.solve(L, G.T)
    excess = np.array([sides[k] * x[k] + shift.get(k, 0.0) for k in joints])
    f = nnls(C, np.linalg.lstsq(C.T, excess, rcond=None)[0])[0]
    return np.asarray(x - N @ np.linalg.solve(L.T, C @ f))


def after_impact(M: Array, H: Array, v: Array, hitting: Sides, resting: Sides, rule: HardStops) -> Array:
    """The velocities after an impact, with H v = 0; joints that come to rest have exactly zero velocity."""
    e, slow = rule.restitution, rule.rest_speed
    sides, N = resting | hitting, null_space(H, np.zeros(len(H)))[1]
    bounce = {k: e * abs(v[k]) for k in hitting if e * abs(v[k]) >= slow}
    after = nearest(M, N, v, sides, bounce)
    slowly = [k for k in sides if abs(after[k]) < slow]
    if slowly:
        stopped = held_at_stops(M, M @ after, H, np.zeros(len(H)), slowly)[0]
        if all(side * stopped[k] <= NEGLIGIBLE * slow for k, side in sides.items()):
            after = stopped
    return after


def held_at_stops(M: Array, r: Array, H: Array, rate: Array, joints: list[int]) -> tuple[Array, Array]:
    """(a, d): M a = r + Hᵀ λ − d with H a = rate, where a is zero and d is not at the joints held."""
    E = np.eye(len(r))[joints]
    found = solve(M, r, np.vstack([H, E]), np.concatenate([rate, np.zeros(len(joints))]))
    a, d = found.acceleration.copy(), np.zeros(len(r))
    a[joints], d[joints] = 0.0, -found.multipliers[len(H) :]
    return a, d


def stay(M: Array, r: Array, H: Array, rate: Array, at_stop: Sides) -> list[int]:
    """The joints at their stops, at rest, that are not accelerated away from them."""
    p, N = null_space(H, rate)
    free = p + N @ np.linalg.solve(N.T @ M @ N, N.T @ (r - M @ p))
    a = nearest(M, N, free, at_stop, {})
    return [k for k, side in at_stop.items() if side * a[k] >= -NEGLIGIBLE * (1.0 + np.abs(free).max())]
