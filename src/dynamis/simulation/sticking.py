"""Which joints slide and which hold, where friction is dry.

While joints H hold, their acceleration is zero and friction supplies what is needed: from M a = r − d,

    M_ss a_s = r_s − d_s,     d_h = r_h − M_hs a_s,

with the joints s that slide and their friction d_s. A joint holds as long as d_h stays inside its range; it starts in the
direction of the excess. Several joints may start or stop at once: the sets are settled by exchanging one joint at a time,
the one that is worst, until nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.simulation.friction import Coulomb, Stribeck

Array = npt.NDArray[Any]
Sticking = Mapping[int, Coulomb | Stribeck]
ROUNDS = 200


def solve(M: Array, r: Array, v: Array, directions: dict[int, int], laws: Sticking) -> tuple[Array, Array]:
    """(a, d): accelerations and friction torques, for given directions (0 holds) of the joints that can stick."""
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


def settle(M: Array, r: Array, v: Array, laws: Sticking, still: set[int]) -> dict[int, int]:
    """The direction of each joint with dry friction: that of its velocity, or what equilibrium asks of those at rest."""
    directions = {k: 0 if k in still else (1 if v[k] > 0 else -1) for k in laws}
    for _ in range(ROUNDS):
        a, d = solve(M, r, v, directions, laws)
        worst, change, k_worst = 0.0, 0, -1
        for k in still:
            low, high = laws[k].holding
            scale = max(abs(low), abs(high), 1e-12)
            if directions[k] == 0:
                excess = max((d[k] - high) / scale, (low - d[k]) / scale)
                if excess > max(worst, 1e-12):
                    worst, change, k_worst = excess, (1 if d[k] > high else -1), k
            elif a[k] * directions[k] < 0:
                # released, but pushed back: it holds after all
                excess = abs(a[k]) * M[k, k] / scale
                if excess > max(worst, 1e-12):
                    worst, change, k_worst = excess, 0, k
        if k_worst < 0:
            return directions
        directions[k_worst] = change
    return directions
