"""Start configuration of an excitation: within all limits at rest, and with room around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, printable
from dynamis.identification.excitation.criteria import smooth_maximum
from dynamis.identification.excitation.limits import Rows, stated_range
from dynamis.robot import Robot

Array = npt.NDArray[Any]
Collides = Callable[[Array], Array]  # of configurations (N, n): which of them collide (N)

TRIED = 4000
IMPROVED = 8
FREE_OF = 25  # for each of them, so many configurations are checked for collisions
CLEAR = 1e-9  # relative to a limit's scale: minimal distance to it at rest
COMFORTABLE = 0.02
NEIGHBOURS, NEAR = 64, 1.0  # configurations within 1 rad or m of a start, of which
ENOUGH_ROOM = 0.9  # so many should be free of collisions


def middle(robot: Robot, given: Any = None, position: Any = None) -> Array:
    """Return the given start, or the middle of the ranges, zero for joints without limits."""
    if given is not None:
        try:
            start = np.broadcast_to(np.array(given, dtype=float), (robot.n,)).copy()
        except (TypeError, ValueError):
            raise InputError(f"start= takes {counted(robot.n, 'joint position')}, got {given!r}") from None
        if not np.isfinite(start).all():
            raise InputError("start= contains a non-finite number")
        return start
    low, high = stated_range(robot, position)
    ended = np.isfinite(low) & np.isfinite(high)
    one = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
    return np.where(ended, 0.5 * (np.where(ended, low, 0.0) + np.where(ended, high, 0.0)), one)


def check_start(rows: Sequence[Rows], q: Array, named: str) -> None:
    """Reject a start that violates or touches a limit."""
    worst, kind, row, value = _worst(rows, q)
    if worst > -CLEAR:
        bounds = f"{kind.lower[row]:.6g} to {kind.upper[row]:.6g}"
        raise InputError(
            f"{named} violates a limit at rest: {kind.kind} of {printable(kind.names[row])} is {value:.6g}, "
            f"allowed is {bounds} (including the margin); choose another start, or widen this limit"
        )


def find_start(rows: Sequence[Rows], wanted: Array, rng: np.random.Generator, collides: Collides | None = None) -> Array:
    """Return the wanted configuration if it is clearly feasible, else the most feasible of many."""
    comfortable = _worst(rows, wanted)[0] < -COMFORTABLE and (collides is None or not collides(wanted[None])[0])
    if comfortable and (collides is None or _room(rows, wanted, rng, collides) >= ENOUGH_ROOM):
        return wanted
    position = rows[0]
    q = np.vstack([wanted[None], rng.uniform(position.lower, position.upper, (TRIED, len(wanted)))])
    still = np.zeros_like(q)
    excess = np.max([x.excess(x.values(q, still, still)).max(axis=1) for x in rows], axis=0)
    order = np.argsort(excess, kind="stable")
    if collides is not None:
        order = order[: FREE_OF * IMPROVED]
        order = order[~np.asarray(collides(q[order]))]
        if not len(order):
            raise InputError(f"each of {FREE_OF * IMPROVED} configurations within the limits collides; pass start=")
    spread = order[:: max(1, len(order) // (2 * IMPROVED))]
    order = order[:IMPROVED]
    better = [_improved(rows, q[k]) for k in order]
    free = better if collides is None else [x for x in better if not collides(x[None])[0]] or [q[k] for k in order]
    if collides is None:
        found = min(free, key=lambda x: _worst(rows, x)[0])
    else:
        free = [x for x in [*free, *q[spread], *([wanted] if comfortable else [])] if _worst(rows, x)[0] < -CLEAR] or free
        found = max(free, key=lambda x: _room(rows, x, rng, collides))
    worst, kind, row, value = _worst(rows, found)
    if worst > -CLEAR:
        raise InputError(
            f"no configuration at rest satisfies all limits: the best of {TRIED} has {kind.kind} of "
            f"{printable(kind.names[row])} at {value:.6g}, allowed is {kind.lower[row]:.6g} to {kind.upper[row]:.6g}; "
            "widen this limit, or pass start="
        )
    return found


def _room(rows: Sequence[Rows], q: Array, rng: np.random.Generator, collides: Collides) -> float:
    """Return the share of random configurations near q that satisfy the limits at rest and do not collide."""
    reach = np.minimum(0.5 * (rows[0].upper - rows[0].lower), NEAR)
    near = np.clip(q + rng.uniform(-1.0, 1.0, (NEIGHBOURS, len(q))) * reach, rows[0].lower, rows[0].upper)
    still = np.zeros_like(near)
    excess = np.max([x.excess(x.values(near, still, still)).max(axis=1) for x in rows], axis=0)
    return float(np.mean((excess <= 0.0) & ~np.asarray(collides(near))))


def _worst(rows: Sequence[Rows], q: Array) -> tuple[float, Rows, int, float]:
    """Return the largest violation at rest, with the kind of limit, its row, and the value."""
    still = np.zeros_like(q)
    found = []
    for kind in rows:
        values = kind.values(q, still, still)
        excess = kind.excess(values)
        row = int(np.argmax(excess))
        found.append((float(excess[row]), kind, row, float(values[row])))
    return max(found, key=lambda x: x[0])


def _improved(rows: Sequence[Rows], q: Array) -> Array:
    """Improve feasibility by minimizing the smooth maximum of all violations."""
    from scipy.optimize import minimize

    position = rows[0]

    def smooth_worst(x: Array) -> tuple[float, Array]:
        parts = [_excess_and_slopes(kind, x) for kind in rows if kind.order in (0, None)]  # at rest the others are zero
        excess, slopes = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        value, weights = smooth_maximum(excess, 60.0)
        return value, weights @ slopes

    bounds = list(zip(position.lower, position.upper, strict=True))
    return np.asarray(minimize(smooth_worst, q, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200}).x)


def _excess_and_slopes(kind: Rows, q: Array) -> tuple[Array, Array]:
    """Return (2m,) and (2m, n): violations of both finite bounds and their derivatives."""
    still, m = np.zeros_like(q), len(kind.names)
    values = kind.values(q, still, still)
    if kind.traced is None:
        J = np.eye(m)
    else:
        rest = np.tile(still, (m, 1))
        J = kind.traced.pull(np.tile(q, (m, 1)), rest, rest, np.eye(m))[0]
    excess = np.concatenate([(values - kind.upper) / kind.scale, (kind.lower - values) / kind.scale])
    slopes = np.concatenate([J, -J]) / np.tile(kind.scale, 2)[:, None]
    bounded = np.isfinite(excess)
    return excess[bounded], slopes[bounded]
