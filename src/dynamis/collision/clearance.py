"""The smallest distance along a motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, counted, short
from dynamis.errors import InputError, printable
from dynamis.robot import Robot
from dynamis.tolerances import SOLUTION_TOLERANCE
from dynamis.trajectories.motion import Motion

Array = npt.NDArray[Any]
REFINED = 5  # local minima of the samples


@dataclass(frozen=True, eq=False, repr=False)
class Clearance:
    """The smallest ``distance`` along a motion, its ``time``, configuration ``q`` and ``pair``.

    ``t`` (N) are the times at which the motion was examined, ``distances`` (N) the smallest distances there. ``collisions`` are
    intervals of time, between examined ones, in which the distance is at most the ``margin`` of the scene.
    """

    distance: float
    time: float
    q: Array
    pair: tuple[str, ...]
    t: Array
    distances: Array
    collisions: tuple[tuple[float, float], ...]
    margin: float = 0.0

    @property
    def free(self) -> bool:
        """Whether no collision was found."""
        return not self.collisions

    @property
    def status(self) -> str:
        if not self.pair:
            return "no pair is checked"
        where = f"{self.distance:.4g} m between {' and '.join(map(printable, self.pair))} at t = {self.time:.4g} s"
        what = "in collision" if self.distance <= 0.0 else f"within the margin of {self.margin:.4g} m"
        return f"smallest distance {where}" + ("" if self.free else f"; {what} during {_intervals(self.collisions)}")

    def __repr__(self) -> str:
        return short(f"<Clearance: {self.status}>", 240)

    _repr_html_ = as_table


def _intervals(collisions: tuple[tuple[float, float], ...], shown: int = 3) -> str:
    texts = [f"{a:.4g} … {b:.4g} s" for a, b in collisions[:shown]]
    return ", ".join(texts) + (f" and {counted(len(collisions) - shown, 'more interval')}" if len(collisions) > shown else "")


def sampled(robot: Robot, motion: Any, samples: Any) -> tuple[Array, Array, Callable[[Any], Array]]:
    """Times (N) and configurations (N, nq) of a motion, and the configurations at any times.

    ``motion`` is a `Motion`, anything with times ``t`` and configurations ``q``, or a pair of them; the way between two of
    these is what the motion gives ``at`` a time, otherwise the shortest.
    """
    if not isinstance(samples, int | np.integer) or samples < 2:
        raise InputError(f"samples= must be an integer of at least 2, got {samples!r}")
    if isinstance(motion, Motion):
        if motion.shape != (robot.n,) or robot.nq != robot.n:
            raise InputError(
                f"the motion has shape {motion.shape}; it must be that of the {counted(robot.n, 'joint')}, ({robot.n},)"
            )
        times = np.unique(np.concatenate([np.linspace(0.0, motion.duration, samples), motion.breaks]))
        return times, np.asarray(motion.at(times)[0], dtype=float), lambda time: np.asarray(motion.at(time)[0])
    pair = isinstance(motion, tuple) and len(motion) == 2
    t, q = motion if pair else (getattr(motion, "t", None), getattr(motion, "q", None))
    if t is None or q is None:
        raise InputError(
            f"give a motion of trajectories, a simulated motion, or times and configurations, got {type(motion).__name__}"
        )
    times, rows = np.asarray(t, dtype=float), robot.inputs.vector(q, robot.nq, "q").astype(float)
    if times.ndim != 1 or rows.shape != (len(times), robot.nq) or not len(times):
        raise InputError(
            f"times and configurations must have the shapes (N,) and (N, {robot.nq}), got {times.shape} and {rows.shape}"
        )
    if not np.isfinite(times).all() or (np.diff(times) < 0.0).any():
        raise InputError("the times of a motion must be finite and must not decrease")
    if len(times) == 1:
        return times, rows, lambda _: rows[0]

    def between(time: Any) -> Array:
        if not pair and callable(given := getattr(motion, "at", None)):
            return np.asarray(given(time)[0])
        k = np.clip(np.searchsorted(times, time, side="right") - 1, 0, len(times) - 2)
        share = np.asarray((time - times[k]) / np.maximum(times[k + 1] - times[k], 1e-300))
        return np.asarray(robot.interpolate(rows[k], rows[k + 1], share))

    parts = -(-(samples - 1) // (len(times) - 1))  # of each step, at least
    if parts > 1:
        finer = (times[:-1, None] + np.diff(times)[:, None] * np.arange(parts) / parts).ravel()
        times_between = np.append(finer, times[-1])
        return times_between, between(times_between), between
    return times, rows, between


def clearance(
    robot: Robot, motion: Any, samples: int, margin: float, distance: Callable[[Any], Any], nearest: Callable[[Array], Any]
) -> Clearance:
    """The smallest distance along a motion: at samples, then by golden-section search about the lowest of them."""
    t, q, at = sampled(robot, motion, samples)
    robot.inputs.warn_degrees_of_states(q, 4)
    d = np.asarray(distance(q))
    if np.isfinite(d).all() and len(t) > 2:
        t, d = _refined(t, d, lambda time: float(distance(at(time))))
        q = np.array([at(float(time)) for time in t]) if len(t) != len(q) else q
    k = int(np.argmin(d))
    found = nearest(q[k])
    return Clearance(float(d[k]), float(t[k]), q[k], found[0].pair if found else (), t, d, _below(t, d <= margin), margin)


def _refined(t: Array, d: Array, distance: Callable[[float], float]) -> tuple[Array, Array]:
    """The samples, with the minima near the lowest local minima among them."""
    from scipy.optimize import minimize_scalar

    padded = np.concatenate([[np.inf], d, [np.inf]])
    low = np.flatnonzero((d <= padded[:-2]) & (d <= padded[2:]))
    more = []
    for k in low[np.argsort(d[low], kind="stable")][:REFINED]:
        ends = t[max(k - 1, 0)], t[min(k + 1, len(t) - 1)]
        found = minimize_scalar(distance, bounds=ends, method="bounded", options={"xatol": SOLUTION_TOLERANCE * t[-1]})
        more.append((float(found.x), float(found.fun)))
    times, values = np.concatenate([t, [x for x, _ in more]]), np.concatenate([d, [y for _, y in more]])
    order = np.argsort(times, kind="stable")
    return times[order], values[order]


def _below(t: Array, touching: Array) -> tuple[tuple[float, float], ...]:
    """The intervals of consecutive samples that touch."""
    change = np.diff(np.concatenate([[0], touching.astype(int), [0]]))
    starts, ends = np.flatnonzero(change > 0), np.flatnonzero(change < 0) - 1
    return tuple((float(t[a]), float(t[b])) for a, b in zip(starts, ends, strict=True))
