"""Collision detection: intervals in which the residual of the momentum observer exceeds its threshold.

The residual is computed from t, q, v and τ alone, of a simulation or of a robot log. A force on link k affects the joints up to
k only: the last joint whose residual exceeds its threshold identifies the link, or a more distal one with the force along its
axis [Haddadin et al. 2017].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.gains import gain
from dynamis.control.momentum_observer import momentum_rate
from dynamis.display import as_text, counted, short
from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.simulation.trajectory import Trajectory

Array = npt.NDArray[Any]


@dataclass(frozen=True, repr=False)
class Collision:
    """An interval ``start`` to ``end`` [s] with a residual above its threshold; ``joint`` is the most distal one affected.

    ``peak`` is the largest residual of any joint, in ``unit``.
    """

    start: float
    end: float
    joint: str
    peak: float
    unit: str = "N m"

    def __str__(self) -> str:
        return f"{self.start:.4g} … {self.end:.4g} s: at or beyond {self.joint}, up to {self.peak:.4g} {self.unit}"

    def __repr__(self) -> str:
        return short(f"<Collision {self}>")

    _repr_html_ = as_text


@dataclass(frozen=True, eq=False, repr=False)
class Collisions:
    """The collisions ``found``, with the residuals ``r`` (N, n) at the times ``t`` and the ``threshold`` (n)."""

    found: tuple[Collision, ...]
    t: Array
    r: Array
    threshold: Array

    def __len__(self) -> int:
        return len(self.found)

    def __str__(self) -> str:
        return "\n".join(map(str, self.found)) if self.found else "no collision: all residuals are below their thresholds"

    _repr_html_ = as_text

    def __repr__(self) -> str:
        return f"<Collisions: {len(self)} in {counted(len(self.t), 'point')} of {counted(self.r.shape[1], 'joint')}>"


def detect_collisions(
    motion: Trajectory, model: Robot | None = None, *, bandwidth: Any = 30.0, threshold: Any = None, calm: float = 0.0,
    slip: float = 0.05,
) -> Collisions:  # fmt: skip
    """Detect collisions in a motion by a momentum observer with the robot model ``model``.

    ``threshold`` (one number or one per joint, N m or N) is the largest residual without collision; None means twice the
    largest residual of the first ``calm`` seconds, which must be free of collisions.
    """
    known = motion.robot if model is None else model
    r = observer_residuals(known, motion.t, motion.q, motion.v, motion.tau, bandwidth=bandwidth, slip=slip)
    if threshold is None:
        quiet = motion.t <= motion.t[0] + calm
        if calm <= 0.0 or quiet.sum() < 3:
            raise InputError("give threshold=… in N m or N, or calm=… seconds at the start without a collision")
        if quiet.all():
            raise InputError(
                f"calm={calm:g} s covers the whole motion of {motion.t[-1] - motion.t[0]:g} s and leaves nothing to test: "
                "give a shorter time without collision, or threshold=… in N m or N"
            )
        limits = 2.0 * np.abs(r[quiet]).max(axis=0) + 1e-9
    else:
        limits = gain(threshold, "threshold", known.n)
    over = np.abs(r) > limits
    return Collisions(tuple(_spans(motion.t, r, over, known)), motion.t, r, np.asarray(limits))


def observer_residuals(model: Robot, t: Any, q: Any, v: Any, tau: Any, *, bandwidth: Any = 30.0, slip: float = 0.05) -> Array:
    """r (N, n) of a log: increasing times t (N), q (N, nq), v and τ (N, n); zero at its start.

    The filter ṙ = K (ṗ − τ − Cᵀ v + g + friction − r) is solved exactly for torques linear between points.
    """
    t, q, v, tau = (np.asarray(x, dtype=float) for x in (t, q, v, tau))
    _check_log(t, {"q": q, "v": v, "tau": tau})
    K = gain(bandwidth, "bandwidth", model.n)
    quickest = float(K.max(initial=0.0))
    if len(t) > 1 and quickest * float(np.diff(t).max()) > 1.0:  # beyond this, the observer's filter is faster than its samples
        raise InputError(
            f"points up to {np.diff(t).max():.3g} s apart are too coarse for {quickest:g} rad/s: use more points, or a "
            f"lower bandwidth"
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
    """Reject a log with a row that is not finite, or not later than the previous one."""
    if t.ndim != 1 or not len(t):
        raise InputError(f"a log must have one time per row, t of shape (N,) with N ≥ 1; got shape {t.shape}")
    for name, values in {"t": t, **columns}.items():
        if values.shape[:1] != t.shape:
            raise InputError(
                f"{name} has {counted(len(values) if values.ndim else 0, 'row')}, t has {len(t)}: give one row per time"
            )
        bad = np.flatnonzero(~np.isfinite(values.reshape(len(t), -1)).all(axis=1))
        if len(bad):
            raise InputError(f"row {bad[0]} of {name} is not finite: remove the rows without measurement")
    late = np.flatnonzero(np.diff(t) <= 0.0)
    if len(late):
        k = int(late[0])
        raise InputError(
            f"times must increase, but row {k + 1} has t = {t[k + 1]:g} s after {t[k]:g} s: sort the rows and remove duplicates"
        )


def _filtered(s: Array, K: Array, h: float, a: Array, b: Array) -> Array:
    """s after h of ṡ = u − K s, where u is linear from a to b."""
    decay = np.exp(-K * h)
    slope = (b - a) / h
    return np.asarray(decay * s + (1.0 - decay) / K * (a - slope / K) + slope * h / K)


def _spans(t: Array, r: Array, over: Array, robot: Robot) -> list[Collision]:
    """Intervals in which any joint exceeds its threshold, merged where adjacent."""
    found = []
    any_over = np.concatenate([[False], over.any(axis=1), [False]])
    edges = np.flatnonzero(any_over[1:] != any_over[:-1])
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        span = slice(first, last)
        joints = np.flatnonzero(over[span].any(axis=0))
        peaks = np.abs(r[span]).max(axis=0)
        unit = robot.model.coordinates[int(peaks.argmax())].effort_unit
        ends = float(t[first]), float(t[last - 1])
        found.append(Collision(*ends, robot.coordinate_names[joints[-1]], float(peaks.max()), unit))
    return found
