"""Collisions found in a motion: where the residual of the momentum observer leaves what the model's errors explain.

The residual is computed from the logged t, q, v and τ alone, so that it works on simulations and on a robot's own logs. A
push on link k shows in the joints up to k only: the last joint whose residual leaves its threshold names the link, or one
beyond that is pushed along its axis [Haddadin et al. 2017].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.gains import gain
from dynamis.control.momentum_observer import momentum_rate
from dynamis.display import as_text, short
from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.simulation.trajectory import Trajectory

Array = npt.NDArray[Any]
TOO_COARSE = 1.0  # step times bandwidth: beyond it the filter no longer follows


@dataclass(frozen=True, repr=False)
class Collision:
    """From ``start`` to ``end`` [s] some residual was over its threshold; ``joint`` is the farthest from the base."""

    start: float
    end: float
    joint: str
    peak: float

    def __str__(self) -> str:
        return f"{self.start:.4g} … {self.end:.4g} s: at or beyond {self.joint}, up to {self.peak:.4g} N m"

    def __repr__(self) -> str:
        return short(f"<Collision {self}>")

    _repr_html_ = as_text


@dataclass(frozen=True, eq=False, repr=False)
class Collisions:
    """``found``, with the residuals ``r`` (N, n) at the times ``t`` and the ``threshold`` (n) they were held against."""

    found: tuple[Collision, ...]
    t: Array
    r: Array
    threshold: Array

    def __len__(self) -> int:
        return len(self.found)

    def __str__(self) -> str:
        return "\n".join(map(str, self.found)) if self.found else "no collision: every residual stayed under its threshold"

    _repr_html_ = as_text

    def __repr__(self) -> str:
        return f"<Collisions: {len(self)} in {len(self.t)} points of {self.r.shape[1]} joints>"


def detect(
    motion: Trajectory, model: Robot | None = None, *, bandwidth: Any = 30.0, threshold: Any = None, calm: float = 0.0,
    slip: float = 0.05,
) -> Collisions:  # fmt: skip
    """Collisions in a motion, by a momentum observer on its points; ``model`` is what is known of the robot.

    ``threshold`` (one number or one for each joint, N m) is the largest residual that is no collision; None takes twice the
    largest of the first ``calm`` seconds, in which there must be none.
    """
    known = motion.robot if model is None else model
    r = residuals(known, motion.t, motion.q, motion.v, motion.tau, bandwidth=bandwidth, slip=slip)
    if threshold is None:
        quiet = motion.t <= motion.t[0] + calm
        if calm <= 0.0 or quiet.sum() < 3:
            raise InputError("say what is no collision: threshold=… in N m, or calm=… seconds at the start without one")
        limits = 2.0 * np.abs(r[quiet]).max(axis=0) + 1e-9
    else:
        limits = gain(threshold, "threshold", known.n)
    over = np.abs(r) > limits
    return Collisions(tuple(_spans(motion.t, r, over, known.coordinate_names)), motion.t, r, np.asarray(limits))


def residuals(model: Robot, t: Any, q: Any, v: Any, tau: Any, *, bandwidth: Any = 30.0, slip: float = 0.05) -> Array:
    """r (N, n) of a log: times t (N) that grow, q (N, nq), v and τ (N, n); zero at its start.

    The filter ṙ = K (ṗ − τ − Cᵀ v + g + friction − r) is solved exactly for torques that are straight between points.
    """
    t, q, v, tau = (np.asarray(x, dtype=float) for x in (t, q, v, tau))
    _check_log(t, {"q": q, "v": v, "tau": tau})
    K = gain(bandwidth, "bandwidth", model.n)
    quickest = float(K.max(initial=0.0))
    if len(t) > 1 and quickest * float(np.diff(t).max()) > TOO_COARSE:
        raise InputError(
            f"points up to {np.diff(t).max():.3g} s apart are too coarse for {quickest:g} rad/s: take more, or a slower "
            "observer"
        )
    known = momentum_rate(model, q, v, slip) + tau
    p = np.einsum("nij,nj->ni", model.mass_matrix(q), v)
    # s = p − r/K obeys ṡ = known + r = known + K (p − s): a filter of the known rate and of p
    r, s = np.zeros_like(p), p[0].copy()
    for k in range(len(t) - 1):
        h = t[k + 1] - t[k]
        s = _filtered(s, K, h, known[k] + K * p[k], known[k + 1] + K * p[k + 1])
        r[k + 1] = K * (p[k + 1] - s)
    return r


def _check_log(t: Array, columns: dict[str, Array]) -> None:
    """Refuse a log in which a row is no number, or no later than the one before."""
    if t.ndim != 1 or not len(t):
        raise InputError(f"a log has one time for each row, t of shape (N,) with N ≥ 1; got shape {t.shape}")
    for name, values in {"t": t, **columns}.items():
        if values.shape[:1] != t.shape:
            raise InputError(f"{name} has {len(values) if values.ndim else 0} rows, t has {len(t)}: give one for each time")
        bad = np.flatnonzero(~np.isfinite(values.reshape(len(t), -1)).all(axis=1))
        if len(bad):
            raise InputError(f"row {bad[0]} of {name} is not finite: drop the rows that were not measured")
    late = np.flatnonzero(np.diff(t) <= 0.0)
    if len(late):
        k = int(late[0])
        raise InputError(
            f"times must grow, but row {k + 1} has t = {t[k + 1]:g} s after {t[k]:g} s: sort them, drop repeated rows"
        )


def _filtered(s: Array, K: Array, h: float, a: Array, b: Array) -> Array:
    """s after h of ṡ = u − K s, where u goes straight from a to b."""
    decay = np.exp(-K * h)
    slope = (b - a) / h
    return np.asarray(decay * s + (1.0 - decay) / K * (a - slope / K) + slope * h / K)


def _spans(t: Array, r: Array, over: Array, names: tuple[str, ...]) -> list[Collision]:
    """Times at which any joint is over, put together where they touch."""
    found = []
    any_over = np.concatenate([[False], over.any(axis=1), [False]])
    edges = np.flatnonzero(any_over[1:] != any_over[:-1])
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        span = slice(first, last)
        joints = np.flatnonzero(over[span].any(axis=0))
        found.append(Collision(float(t[first]), float(t[last - 1]), names[joints[-1]], float(np.abs(r[span]).max())))
    return found
