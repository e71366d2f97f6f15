"""Faults of the torques of single joints, found with free parameters: a drift over the log, or a delay of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.identification.logs.free_fit import (
    BLOCKS,
    CERTAIN,
    DELAYS,
    EXACT,
    LATEST,
    MOST_ROWS,
    PART,
    SHORTEST,
    FreeFit,
    vertex,
)
from dynamis.identification.logs.log import LogFinding
from dynamis.identification.logs.motion_summary import MotionSummary
from dynamis.identification.nonlinear import WeightedFit
from dynamis.robot import Robot

Array = npt.NDArray[Any]
EXPLAINED = 0.5  # fraction of a joint's unexplained variance that is left by a drift
REMOVED = 0.3  # the same by a delay of one joint: friction has the form of a small one
FITTED = 0.05  # fraction of the variance of a torque, below which its fit with the correction is good
LARGE = 0.35  # change of a torque over the log, relative to its RMS value: a tenth of it on average
SHORTEST_OWN = 2.0 * SHORTEST  # s: friction that sticks has the form of a shorter delay of one joint
COARSER = 4  # of the delays that are tried for all joints


def drift(fit: FreeFit, motion: MotionSummary) -> Array | None:
    """Return the slopes (n,) of torques [N m/s] that grow linearly with time, zero for joints that do not drift; None if none
    does.

    Slopes are many standard errors from zero, by blocks of time, and explain most of what is left of their joint.
    """
    motion, n = motion.thinned(MOST_ROWS), fit.n
    free = fit.fitted(motion)
    before = fit.left(free.rest)
    time = motion.t[motion.rows] - motion.t[motion.rows].mean()
    if before.mean() < EXACT or not np.ptp(time) > 0.0:
        return None
    effect = free.beyond((time[:, None, None] * np.eye(n)).reshape(-1, n) / free.noise[:, None])
    inverse = np.linalg.pinv(effect.T @ effect, hermitian=True)
    slopes = inverse @ (effect.T @ free.rest)
    rest = free.rest - effect @ slopes
    block = np.minimum((BLOCKS * (time - time.min()) / np.ptp(time)).astype(int), BLOCKS - 1).repeat(n)
    scores = np.stack([np.bincount(block, own * rest, BLOCKS) for own in effect.T])
    errors = np.sqrt(np.diag(inverse @ scores @ scores.T @ inverse))
    drifts = (np.abs(slopes) > CERTAIN * errors) & (fit.left(rest) < np.minimum(EXPLAINED * before, FITTED))
    return np.where(drifts, slopes, 0.0) if drifts.any() else None


def own_delays(fit: FreeFit, motion: MotionSummary) -> Array | None:
    """Return the delays (n,) [s] of joints whose torques alone are late, or early, zero for the others; None if there are none.

    The delay of a joint leaves a small part of what is unexplained without it, and with the opposite one. If the torques are as
    likely with one delay of all joints, these have it.
    """
    motion, n = motion.thinned(MOST_ROWS), fit.n
    latest = min(LATEST, PART * max(float(np.ptp(run.t)) for run in motion.runs))
    spread = np.linspace(-1.0, 1.0, 2 * (DELAYS // COARSER) + 1)
    delays, none = latest * spread * np.abs(spread), len(spread) // 2
    shifted = motion.later(delays)  # (rows, n, delays), NaN beyond the ends
    within = np.asarray(np.isfinite(shifted).all(axis=(1, 2)))
    free = fit.fitted(motion, within)
    moved = (shifted - shifted[..., none : none + 1])[within] / FreeFit.size(motion)[:, None]
    rest, found = free.rest, np.zeros(n)
    if fit.left(rest).mean() < EXACT:
        return None
    while True:
        best, least = None, 0.0
        for j in np.flatnonzero(found == 0.0):
            effect = free.beyond((moved[:, j, None] * np.eye(n)[j][:, None]).reshape(-1, len(delays)))
            left = np.stack([fit.left(e) for e in (rest[:, None] + effect).T])
            level = np.log(np.maximum(left / left[none], 1e-300)).mean(axis=1)
            k, own = int(np.argmin(level)), left[:, j]
            seconds = vertex(delays, own, k)
            clear = own[k] < min(REMOVED * min(own[none], own[2 * none - k]), FITTED) and 0 < k < 2 * none
            if clear and abs(seconds) >= SHORTEST_OWN and level[k] < least:
                best, least = (j, seconds, rest + effect[:, k]), float(level[k])
        if best is None:
            return _shared(fit, free, moved, delays, found, rest) if found.any() else None
        found[best[0]], rest = best[1], best[2]


def _shared(fit: FreeFit, free: WeightedFit, moved: Array, delays: Array, own: Array, rest: Array) -> Array:
    """Return one delay of all joints (n,) if the torques are as likely with it as with their ``own`` ones, else these."""
    effect = free.beyond(moved.reshape(-1, len(delays)))
    left = np.stack([fit.left(e) for e in (free.rest[:, None] + effect).T])
    level = np.log(np.maximum(left, 1e-300)).mean(axis=1)
    k = int(np.argmin(level))
    shared = level[k] < np.log(np.maximum(fit.left(rest), 1e-300)).mean() and len(own) > 1
    return np.full(len(own), vertex(delays, level, k)) if shared else own


def drift_finding(
    slopes: Array, motion: MotionSummary, robot: Robot, source: str, column: Callable[[str, int], str]
) -> LogFinding:
    """Return the finding for torques with these slopes (n,); ``column`` gives the names of columns of the log."""
    whole, joints = slopes * np.ptp(motion.t), np.flatnonzero(slopes)
    share = np.abs(whole) / np.sqrt(np.mean(motion.torque**2, axis=0))
    names = ", ".join(printable(robot.coordinate_names[j]) for j in joints)
    sizes = ", ".join(f"{whole[j]:.2g} {robot.model.coordinates[j].effort_unit}" for j in joints)
    text = f"{source}the torques of {names} drift by {sizes} over the log (temperature, gravity compensation, sensor offset)"
    cure = "let drives and sensors warm up, check the zeros of the sensors, and record again"
    at, caps, drift = column("tau", int(np.argmax(share))), 1 + bool(share.max() > LARGE), tuple(map(float, slopes))
    return LogFinding("warning", "drift", at, None, text, cure, caps=caps, drift=drift)


def delay_finding(late: Array, robot: Robot, source: str, column: Callable[[str, int], str]) -> LogFinding:
    """Return the finding for joints whose torques alone have these delays (n,), with the option that corrects them."""
    at = column("tau", int(np.argmax(np.abs(late))))
    if np.ptp(late) == 0.0 and len(late) > 1:
        when = f"{1e3 * abs(late[0]):.0f} ms {'late' if late[0] > 0 else 'early'}"
        text, cure = f"{source}the torques of all joints seem to be {when}", f"correct it with delay={late[0]:.4f}"
        return LogFinding("warning", "delay", None, None, text, cure, caps=2, delay=float(late[0]))
    each = []
    for j in np.flatnonzero(late):
        when = f"{1e3 * abs(late[j]):.0f} ms {'late' if late[j] > 0 else 'early'}"
        each.append(f"the torque of {printable(robot.coordinate_names[j])} is {when}")
    delays = tuple(map(float, np.round(late, 4)))
    text = f"{source}{' and '.join(each)}, those of the other joints are not"
    cure = f"correct it with delay=({','.join(f'{x:g}' for x in delays)})"
    return LogFinding("warning", "delay", at, None, text, cure, caps=2, delays=delays)
