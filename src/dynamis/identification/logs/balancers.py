"""Balancers of joints, such as springs, counterweights and gas cylinders, that the file of a robot lacks.

Their torque is a function of the position of one joint only. Such a torque can also be due to wrong masses of the file; but
then the torques of inertia, and those of other joints, are wrong as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.friction_terms import TERMS, JointState, balancer_terms
from dynamis.identification.logs.free_fit import EXACT, MOST_ROWS, RIVAL, FreeFit
from dynamis.identification.logs.motion_summary import MotionSummary
from dynamis.robot import Robot

Array = npt.NDArray[Any]
MOST = 0.6  # part of what contradicts the file that balancers explain: the difference of the levels with it and without
CLEARLY = 0.05  # decrease of the level, per torque, with a balancer that is reported
LARGE = 0.15  # RMS torque of a balancer that is reported, relative to that of the joint


@dataclass(frozen=True, eq=False)
class Balancers:
    """The balancers of some joints of a robot: their ``harmonics`` and the coefficients of their ``terms`` by joint, and the
    level of a fit with them."""

    robot: Robot
    harmonics: dict[int, int]
    terms: dict[int, Array]
    level: float

    def torques(self, motion: MotionSummary) -> Array:
        """Return their torques (samples, n), of each joint without the mean, which is an offset."""
        tau = np.zeros(motion.tau.shape)
        for j, values in self.terms.items():
            tau[:, j] = _columns(self.robot, motion, j)[:, : len(values)] @ values
        return tau - tau.mean(axis=0)

    def removed(self, motion: MotionSummary) -> MotionSummary:
        """Return the motion without these torques."""
        return replace(motion, tau=motion.tau - self.torques(motion))


def balancers_of(fit: FreeFit, motion: MotionSummary, harmonics: Mapping[int, int]) -> Balancers:
    """Return the balancers of joints with these numbers of harmonics, with which torques and file are most likely."""
    return _Trials(fit, motion.thinned(MOST_ROWS), harmonics).fitted(harmonics)


def missing_balancers(fit: FreeFit, motion: MotionSummary) -> Balancers | None:
    """Return the balancers with which torques and file are clearly more likely, and almost as likely as with free parameters of
    the links; None if there are none."""
    thin = motion.thinned(MOST_ROWS)
    count, free, trials = thin.torque.size, fit.level(thin), _Trials(fit, thin, range(fit.n))
    found = without = trials.fitted({})
    if fit.unexplained(motion).mean() < EXACT and found.level < free + CLEARLY * count:
        return None
    while others := set(range(fit.n)) - {*found.terms}:
        best = min((trials.fitted({**found.harmonics, j: 1}) for j in sorted(others)), key=lambda trial: trial.level)
        if best.level > found.level - CLEARLY * count:
            break
        found = best
    if not found.terms or found.level > without.level - MOST * (without.level - free):
        return None
    for j in found.terms:
        more = trials.fitted({**found.harmonics, j: 2})
        found = more if more.level < found.level - RIVAL * count else found
    own = list(found.terms)
    share = found.torques(motion)[:, own].std(axis=0) / np.maximum(motion.tau[:, own].std(axis=0), 1e-300)
    return found if share.max() > LARGE else None


class _Trials:
    """Fits of the torques of a motion and the file with balancers of some of these joints."""

    def __init__(self, fit: FreeFit, motion: MotionSummary, joints: Iterable[int]) -> None:
        self.prior, self.robot, self.count = fit.with_file, fit.base.model.robot, len(motion.torque)
        columns = {j: motion.filtered(_columns(self.robot, motion, j)) for j in sorted(joints)}
        self.products = self.prior.products(motion, columns)
        ends = fit.base.rank + fit.n + np.cumsum([0, *(x.shape[1] for x in columns.values())])
        self.places = {j: np.arange(a, b) for j, a, b in zip(columns, ends[:-1], ends[1:], strict=True)}
        self.first = np.arange(ends[0])

    def fitted(self, harmonics: Mapping[int, int]) -> Balancers:
        own = {j: self.places[j][: 2 * harmonics[j]] for j in sorted(harmonics)}
        used = np.concatenate([self.first, *own.values(), [self.products.shape[1] - 1]])
        level, found = self.prior.level_and_terms(self.products[:, used[:, None], used], self.count)
        ends = np.cumsum([0, *map(len, own.values())])
        terms = {j: found[a:b] for j, a, b in zip(own, ends[:-1], ends[1:], strict=True)}
        return Balancers(self.robot, {j: harmonics[j] for j in own}, terms, level)


def _columns(robot: Robot, motion: MotionSummary, joint: int) -> Array:
    """Return the terms of a balancer with two harmonics of a joint (samples, k)."""
    state = JointState(0.0, 0.0, q=motion.q[:, joint])
    return np.stack([TERMS[term](state) for term in balancer_terms(robot.model.coordinates[joint].revolute, 2)], axis=1)
