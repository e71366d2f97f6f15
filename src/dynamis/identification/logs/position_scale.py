"""The scale of the positions of one joint: the factor, of a gear ratio or an encoder, with which torques and motion agree.

Positions r times the true ones turn the links beyond the joint by wrong angles and velocities, which no base parameters can
represent; where they are r times those about another angle than zero, the zero is off, too. The torques of the joint are as
logged, or 1/r times the true ones where a wrong gear ratio converts both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.logs.free_fit import CERTAIN, EXACT, MOST_ROWS, RIVAL, SHOWN, TRIED, FreeFit, one_of
from dynamis.identification.logs.motion_summary import MotionSummary
from dynamis.identification.nonlinear import DIFFERENCE, Unknown, noise_by_group, solve

Array = npt.NDArray[Any]
LEAST = np.log(1.02)  # of the factor: smaller errors of kinematics are a matter of calibration
MOST = np.log(12.0)  # of the factor; degrees are found by their size
FARTHEST = 2.0 * np.pi  # rad or m: the largest zero considered
STARTS = np.log([0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 1.25, 1.6, 2.0, 3.0, 5.0, 10.0])  # of the iteration
STEPS = 15  # Gauss–Newton iterations


@dataclass(frozen=True)
class PositionScale:
    """Positions of a ``joint`` that are ``factor`` times the true ones, the standard error of its logarithm, the ``zero`` to
    add to them afterwards, and whether its torques are the ``factor``-th part of the true ones; ``level`` is the negative
    logarithm of the likelihood of the logged torques and of the inertias of the file."""

    joint: int
    factor: float
    error: float
    zero: float
    torques: bool
    level: float

    def of(self, motion: MotionSummary) -> MotionSummary:
        """The motion with the corrected positions and torques."""
        return _corrected(motion, self.joint, self.torques, float(np.log(self.factor)), self.zero)


def position_scale(fit: FreeFit, prior: FreeFit, motion: MotionSummary) -> PositionScale | None:
    """Return the scale of the positions of one joint with which the torques are most likely, if it is many standard errors from
    1 and they are clearly more likely with it, free and with the inertias of the file as measurements (``prior``), or None."""
    thin = motion.thinned(MOST_ROWS)
    if fit.unexplained(thin).mean() < EXACT or not thin.v.any():
        return None
    found = [_solved(fit, prior, thin, joint, torques) for joint, torques in _candidates(fit, thin)]
    # a scale that is not the whole cause takes a wrong value: another one is then certain in the corrected motion
    whole = (scale for scale in found if scale is not None and not _candidates(fit, scale.of(thin)))
    best = min(whole, key=lambda scale: scale.level, default=None)
    if best is None:
        return None
    alone = _level(fit, best.of(thin), best.torques * float(np.log(best.factor)))
    better = min(prior.level(thin) - best.level, fit.level(thin) - alone)
    return best if better > RIVAL * thin.torque.size else None


def _candidates(fit: FreeFit, thin: MotionSummary) -> list[tuple[int, bool]]:
    """Return the few joints, each with or without its torques, of whose scale, about any angle, a first Gauss–Newton step is
    certain."""
    rows, count = fit.rows(thin), len(thin.torque)
    X, y = rows(np.zeros(0))
    free = fit.fitted(thin)
    free = free.weighted(noise_by_group(free.residual, rows.group))
    sure: dict[tuple[int, bool], float] = {}
    for joint, name in enumerate(fit.names):
        own = np.tile(one_of(fit.names, name), count)
        moved = [_corrected(thin, joint, False, *step)
                 for step in ((DIFFERENCE, 0.0), (0.0, DIFFERENCE))]  # fmt: skip
        scale, zero = ((X - fit.rows(m)(np.zeros(0))[0]) @ free.beta / DIFFERENCE / free.noise for m in moved)
        zero = free.beyond(zero)
        for torques, change in ((False, scale), (True, scale + own * y / free.noise)):
            J = free.beyond(change)
            J = J - zero * (zero @ J) / max(float(zero @ zero), 1e-300)
            square = max(float(J @ J), 1e-300)
            jacobian = own * torques  # smaller torques have smaller residuals, which is no better fit
            step = float(np.sum(jacobian - J * free.rest)) / square
            scores = np.bincount(rows.block, J * (free.rest + J * step) - jacobian)
            error = np.sqrt(max(float(scores @ scores) / square, 1.0) / square)
            sure[joint, torques] = float(abs(step) / error)
    return [key for key in sorted(sure, key=lambda key: -sure[key]) if sure[key] > CERTAIN][:TRIED]


def _solved(fit: FreeFit, prior: FreeFit, thin: MotionSummary, joint: int, torques: bool) -> PositionScale | None:
    """Return the scale with which the fit is best, if it is many standard errors from 1, or None; its zero is that of the
    logged positions, or another one that is as certain."""

    def change(motion: MotionSummary, logarithm: float) -> MotionSummary:
        return _corrected(motion, joint, torques, logarithm, 0.0)

    def level(logarithm: float, zero: float) -> float:
        return _level(prior, _corrected(thin, joint, torques, logarithm, zero), torques * logarithm)

    name, middle = fit.names[joint], float(thin.q[:, joint].mean())
    starts = [(x, zero) for x in STARTS for zero in (0.0, middle * (1.0 - np.exp(-x)))]
    start = np.array(min(starts, key=lambda each: level(*each)))
    unknowns = [Unknown("scale", name, lower=-MOST, upper=MOST, change=change),
                Unknown("zero", name, lower=-FARTHEST, upper=FARTHEST)]  # fmt: skip
    for some in (unknowns, unknowns[:1]):
        rows = fit.rows(thin, some)
        found = solve(rows, some, group=rows.group, block=rows.block, start=start[: len(some)], steps=STEPS)
        start = found.values
        if len(some) == 1 or abs(start[1]) > max(CERTAIN * found.errors[1], SHOWN):
            break
    value, error, zero = float(start[0]), float(found.errors[0]), float(start[1]) if len(start) > 1 else 0.0
    if found.dependent or not max(CERTAIN * error, LEAST) < abs(value) < 0.99 * MOST:
        return None
    return PositionScale(joint, float(np.exp(value)), error, zero, torques, level(value, zero))


def _level(fit: FreeFit, corrected: MotionSummary, logarithm: float) -> float:
    """Return the level of the logged torques, those of one joint of which were multiplied by a factor."""
    return fit.level(corrected) - len(corrected.torque) * logarithm


def _corrected(motion: MotionSummary, joint: int, torques: bool, logarithm: float, zero: float) -> MotionSummary:
    """Return a motion with the positions of a joint divided by a factor, and its torques multiplied by it."""
    own = np.arange(motion.v.shape[1]) == joint
    factors = np.where(own, np.exp(logarithm), 1.0)
    scaled = motion.changed(lambda x: x / factors, motion=True, torque=False)
    if torques:
        scaled = scaled.changed(lambda x: x * factors, motion=False, torque=True)
    return scaled.moved(zero * own)
