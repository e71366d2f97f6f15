"""Torque explained by free base parameters, and corrections of a log with which they explain more.

A joint zero turns everything beyond the joint, which the base parameters of the links cannot represent completely as long as
further joints follow; a delay shifts torques against the motion. Both are found by fits with free base parameters, independent
of the prior masses, with the correction applied. What the base parameters do absorb of a zero moves them away from the prior:
with the prior as further measurements, such zeros are found as well.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import unknown_name
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.equations import Regressor
from dynamis.identification.estimators.body_space import BodySpace
from dynamis.identification.estimators.factors import householder_qr, normal_solution
from dynamis.identification.logs.motion_summary import MotionSummary
from dynamis.identification.nonlinear import UNEXCITED, Solution, Unknown, WeightedFit, single_steps, solve

Array = npt.NDArray[Any]
ROUNDING = 1e-14  # fraction of the square of a torque, below which its residual computed from products is rounding
EXACT = 1e-5  # fraction of the variance below which there is nothing to correct
BLOCKS = 30  # of time, whose residuals are taken as independent
WEIGHT = 10.0  # of the inertias of the file as measurements: standard errors of 30 %
RIVAL = 0.02  # decrease of the level, per torque, with which one correction is more likely than another
MOST_ROWS = 400  # samples used in a fit
STEPS = 10  # Gauss–Newton iterations of a zero
SHOWN = 0.03  # rad or m: a smaller zero is not reported
FARTHEST = 1.6  # rad or m: the largest zero considered
POSSIBLE, CERTAIN = 3.0, 5.0  # standard errors of a zero, after the first step and in the end
TRIED = 3  # joints whose zero is estimated
WIDE = 10.0  # standard errors of friction and other scalars, relative to those of the inertias
LOADED = 100.0  # kg, kg m and kg m²: standard errors of a load that is not known
GAINS = np.array([x for x in np.geomspace(0.1, 10.0, 81) if not 0.75 < x < 4.0 / 3.0])  # factors of a joint's torques
HALVED = 0.5  # ratio of the unexplained fractions of a joint with and without a factor, or a coupled motor, that is reported
LATEST = 0.5  # s: the longest delay considered; filters of currents take up to some tenths of a second
PART = 0.1  # fraction of the log: a longer delay would leave too little of it
DELAYS = 100  # considered in each direction, closer to each other the shorter they are
SHORTEST = 0.005  # s: filters of drives delay torques by less
AGREE = 0.6  # fraction of the joints, of those that a delay affects, that must agree on it
LOWER = 0.9  # ratio of the unexplained fractions of a joint after and before the correction of a delay that it agrees on


@dataclass(frozen=True)
class Zeros:
    """Zeros of some ``joints``: ``angles`` [rad or m] to add to the logged positions, their standard errors, and the fractions
    of the torques that are unexplained without and with them."""

    joints: tuple[int, ...]
    angles: tuple[float, ...]
    errors: tuple[float, ...]
    before: float
    after: float

    def of(self, n: int) -> Array:
        """The zeros of all n joints."""
        return np.bincount(self.joints, self.angles, n)


def _is_certain(s: Solution) -> bool:
    """Return whether zeros are to be reported; beyond the bounds they are not zeros."""
    size = np.abs(s.values)
    return bool(((size > SHOWN) & (size > CERTAIN * s.errors) & (size < 0.99 * FARTHEST)).all())


@dataclass(frozen=True)
class Delay:
    """Torques logged ``seconds`` late (early if negative), in agreement of ``joints``, and both unexplained fractions."""

    seconds: float
    joints: tuple[int, ...]
    before: float
    after: float


class TorqueRows:
    """Torques y and regressor X, as functions of unknowns that correct the measurements (see `nonlinear.Unknown`).

    ``regressor`` returns the filtered regressor (rows, n, r) of a motion; ``names`` are the coordinates of q, ``joints`` those
    of the torques. ``prior`` are rows W of X and W β₀ of y that state a prior of β in units of its standard error.
    ``deflecting`` (samples, n) are the torques that deflect elastic joints. Gains multiply the regressor: torques divided by
    them would be explained the better the larger the gains.
    """

    def __init__(
        self,
        regressor: Callable[[MotionSummary], Array],
        motion: MotionSummary,
        unknowns: Sequence[Unknown],
        names: Sequence[str],
        joints: Sequence[str],
        prior: tuple[Array, Array] | None = None,
        deflecting: Array | None = None,
    ) -> None:
        self.deflecting = deflecting
        self.regressor, self.motion, self.unknowns, self.names, self.joints = regressor, motion, unknowns, names, joints
        self.prior = prior
        n, centres = len(joints), motion.rows
        self.group = np.tile(np.arange(n), len(centres))
        t, run = motion.t[centres], motion.run[centres]
        seconds = max(float(np.ptp(t)), 1e-9) / BLOCKS
        self.block = np.repeat(np.unique([run, np.floor(t / seconds)], axis=1, return_inverse=True)[1].reshape(-1), n)
        if prior is not None:
            own = np.arange(len(prior[1]))
            self.group = np.append(self.group, np.full(len(own), -1))
            self.block = np.append(self.block, self.block.max(initial=0) + 1 + own)

    def __call__(self, theta: Array) -> tuple[Array, Array]:
        motion, gains = self.motion, np.ones(len(self.joints))
        both = list(zip(self.unknowns, theta, strict=True))
        for unknown, value in sorted(both, key=lambda each: each[0].kind == "compliance"):  # what deflects, last
            if unknown.kind == "gain" and unknown.change is None:
                gains += value * one_of(self.joints, unknown.joint)
            elif value != 0.0 or unknown.change is not None:
                motion = self._corrected(motion, unknown, float(value))
        X = self.regressor(motion) * gains[:, None]
        X, y = X.reshape(-1, X.shape[2]), motion.torque.reshape(-1)
        return (X, y) if self.prior is None else (np.vstack([X, self.prior[0]]), np.append(y, self.prior[1]))

    def _corrected(self, motion: MotionSummary, unknown: Unknown, value: float) -> MotionSummary:
        if unknown.change is not None:
            return unknown.change(motion, value)
        match unknown.kind:
            case "delay":
                return replace(motion, tau=motion.shifted(value))
            case "compliance":
                assert self.deflecting is not None
                joint, coordinate = (value * one_of(names, unknown.joint) for names in (self.joints, self.names))
                return motion.deflected(self.deflecting, joint, coordinate)
            case "bias":
                return replace(motion, tau=motion.tau - value * one_of(self.joints, unknown.joint))
        return replace(motion, q=motion.q + value * one_of(self.names, unknown.coordinate))


def one_of(names: Sequence[str], name: str) -> Array:
    """Return 1 at the place of a joint, 0 elsewhere."""
    if name not in names:
        raise unknown_name("joint", name, names)
    return np.asarray(np.arange(len(names)) == list(names).index(name), float)


class FreeFit:
    """Weighted least squares of friction, offsets and base parameters of a robot to a `MotionSummary`.

    ``weight`` is that of the prior inertias in the estimation of joint zeros, as λ of `PhysicallyConsistent`; friction is free.
    With a ``load``, the inertia of the last link is free, too.
    """

    def __init__(self, base: BaseParameters, weight: float = 0.0, *, load: bool = False) -> None:
        self.base, self.n, self.names = base, base.model.robot.n, base.model.robot.coordinate_names
        self.prior = None if weight == 0.0 else self._prior(weight, load)
        self._fits: dict[MotionSummary, WeightedFit] = {}  # to motions as logged
        self.levels: dict[Any, float] = {}  # of motions with a mistake corrected

    @functools.cached_property
    def with_file(self) -> FreeFit:
        """The same fit with the inertias of the file as measurements."""
        return FreeFit(self.base, WEIGHT)

    def _prior(self, weight: float, load: bool) -> tuple[Array, Array]:
        """Return the rows W and values W β₀ of a prior of the base parameters with WᵀW = λ (S Sᵀ)⁻¹, β = β₀ + S x."""
        space = BodySpace(self.base.model)
        S = self.base.B @ space.spun @ space.C
        S = np.hstack([S, WIDE * S[:, space.others]])
        if load:
            S = np.hstack([S, LOADED * self.base.B[:, self.base.model.bodies[-1].place]])
        W = np.sqrt(weight) * np.linalg.inv(householder_qr(S.T)).T
        return np.hstack([W, np.zeros((len(W), self.n))]), W @ self.base.prior

    def rows(self, motion: MotionSummary, unknowns: Sequence[Unknown] = ()) -> TorqueRows:
        """Return the torques of a motion and their regressor as functions of unknowns."""
        return TorqueRows(self._regressor, motion, unknowns, self.names, self.names, self.prior)

    def _regressor(self, motion: MotionSummary) -> Array:
        """Return the filtered columns (rows, n, r + n) of the base parameters and offsets."""
        base, n = self.base, self.n
        if motion in self._fits:
            return self._fits[motion].X.reshape(-1, n, base.rank + n)
        X = np.concatenate([np.zeros((n, base.rank)), np.eye(n)], axis=1)[None].repeat(len(motion.torque), axis=0)
        joint, column = np.nonzero(base.pattern)
        done = 0
        for run in motion.runs:
            for entries in Regressor(base, (run,)).filtered(run):
                X[done : done + len(entries), joint, column] = entries
                done += len(entries)
        return X

    def unexplained(self, motion: MotionSummary) -> Array:
        """Return the fraction (n,) of the variance of each torque that the fit leaves."""
        return self.left(self.fitted(motion.thinned(MOST_ROWS)).rest)

    def parameters(self, motion: MotionSummary) -> Array:
        """Return the base parameters (r,) of the fit."""
        return self.fitted(motion.thinned(MOST_ROWS)).beta[: self.base.rank]

    def columns(self, motion: MotionSummary) -> Array:
        """Return the filtered columns (rows, n, r + n) of the base parameters and offsets of a motion."""
        return self._regressor(motion)

    def fitted(self, motion: MotionSummary, within: Array | None = None) -> WeightedFit:
        """Return the fit to a motion, or to those of its rows that lie ``within``."""
        if motion not in self._fits:
            X, y = TorqueRows(self._regressor, motion, (), self.names, self.names)(np.zeros(0))
            self._fits[motion] = WeightedFit.of(X, y, np.tile(self.size(motion), len(y) // self.n))
        fit = self._fits[motion]
        return fit if within is None else WeightedFit.of(*(x[np.repeat(within, self.n)] for x in (fit.X, fit.y, fit.noise)))

    @staticmethod
    def size(motion: MotionSummary) -> Array:
        """The standard deviation (n,) of the torques, above zero."""
        return np.asarray(np.maximum(motion.torque.std(axis=0), 1e-9 * np.abs(motion.torque).max() + 1e-300))

    def left(self, weighted: Array) -> Array:
        """Return the fraction (n,) of the variance in a residual weighted by the standard deviations."""
        return np.asarray((weighted.reshape(-1, self.n) ** 2).mean(axis=0))

    def level(self, motion: MotionSummary) -> float:
        """Return the negative logarithm of the likelihood of the torques and of the prior, each joint with its own noise."""
        motion = motion.thinned(MOST_ROWS)
        return self.level_and_terms(self.products(motion, {}), len(motion.torque))[0]

    def products(self, motion: MotionSummary, terms: Mapping[int, Array]) -> Array:
        """Return [X, y]ᵀ [X, y] of each joint, with further ``terms`` in the torques of single joints: filtered columns
        (rows, k) by joint, which stand between those of the offsets and y."""
        place = self.base.rank + self.n
        last = place + sum(columns.shape[1] for columns in terms.values())
        products, none = np.zeros((self.n, last + 1, last + 1)), np.zeros((len(motion.torque), 0))
        for j, (entries, shows) in enumerate(zip(self._entries(motion), self.base.pattern, strict=True)):
            more = terms.get(j, none)
            further = np.arange(place, place := place + more.shape[1])
            columns = np.concatenate([np.flatnonzero(shows), [self.base.rank + j], further, [last]])
            A = np.column_stack([entries[:, :-1], more, entries[:, -1]])
            products[j][np.ix_(columns, columns)] = A.T @ A
        return products

    def level_and_terms(self, products: Array, count: int) -> tuple[float, Array]:
        """Return the level of ``count`` rows with these `products`, and the coefficients of the further terms."""
        own, last = self.base.rank + self.n, products.shape[1] - 1
        W = np.zeros((0, last + 1))
        if self.prior is not None:
            W = np.column_stack([self.prior[0], np.zeros((len(self.prior[0]), last - own)), self.prior[1]])
        squares = products[:, last, last]
        least = ROUNDING * squares + UNEXCITED**2 * squares.max() + 1e-300
        noise = np.sqrt(np.maximum(squares, least) / count)
        for _ in range(2):
            beta = np.append(normal_solution(np.tensordot(noise**-2.0, products, 1) + W.T @ W), -1.0)
            noise = np.sqrt(np.maximum(np.einsum("k,jkl,l->j", beta, products, beta), least) / count)
        return float(count * np.sum(np.log(noise)) + 0.5 * np.sum((W @ beta) ** 2)), beta[own:last]

    def _entries(self, motion: MotionSummary) -> list[Array]:
        """Return for each joint the filtered nonzero columns of its base parameters, its offset and its torque."""
        parts = [entries for run in motion.runs for entries in Regressor(self.base, (run,)).filtered(run)]
        entries, one = np.concatenate(parts), np.ones(len(motion.torque))
        own = np.split(entries, np.cumsum(self.base.pattern.sum(axis=1))[:-1], axis=1)
        return [np.column_stack([X, one, y]) for X, y in zip(own, motion.torque.T, strict=True)]

    def zeros(self, motion: MotionSummary) -> Zeros | None:
        """Return the joint zeros, each many standard errors from zero, with which the fit is best, or None."""
        motion = motion.thinned(MOST_ROWS)
        before = float(self.left(self.fitted(motion).rest).mean())
        if before < EXACT:
            return None
        size = np.tile(self.size(motion), len(motion.torque))
        found: Zeros | None = None
        while found is None or len(found.joints) < self.n:
            trials = [self._with_zeros(motion, joints) for joints in self._candidates(motion, found)]
            better = [(s.level, joints, s) for joints, s in trials if _is_certain(s)]
            if not better:
                return found
            _, joints, s = min(better, key=lambda trial: trial[0])
            left = float(self.left(s.residual[: len(size)] / size).mean())
            found = Zeros(joints, tuple(map(float, s.values)), tuple(map(float, s.errors)), before, left)
        return found

    def _candidates(self, motion: MotionSummary, found: Zeros | None) -> list[tuple[int, ...]]:
        """Return the sets of joints to try: those found, and each of the few whose zero would explain most of the residual."""
        known = () if found is None else found.joints
        if found is not None:
            motion = replace(motion, q=motion.q + found.of(self.n))
        rows = self.rows(motion, [Unknown("zero", name) for name in self.names])
        steps, errors = single_steps(rows, self.n, group=rows.group, block=rows.block)
        sure = np.abs(steps) / errors
        telling = [k for k in np.argsort(-sure) if k not in known and sure[k] > POSSIBLE and abs(steps[k]) > 0.5 * SHOWN]
        return [(*known, int(k)) for k in telling[:TRIED]]

    def _with_zeros(self, motion: MotionSummary, joints: tuple[int, ...]) -> tuple[tuple[int, ...], Solution]:
        unknowns = [Unknown("zero", self.names[k], lower=-FARTHEST, upper=FARTHEST) for k in joints]
        rows = self.rows(motion, unknowns)
        return joints, solve(rows, unknowns, group=rows.group, block=rows.block, steps=STEPS)

    def delay(self, motion: MotionSummary) -> Delay | None:
        """Return the delay with which the torques are most likely, if it is within the range and the joints agree, or None."""
        thin = motion.thinned(MOST_ROWS)
        latest = min(LATEST, PART * max(float(np.ptp(run.t)) for run in motion.runs))
        spread = np.linspace(-1.0, 1.0, 2 * DELAYS + 1)
        delays = latest * spread * np.abs(spread)
        shifted = thin.later(delays)  # NaN beyond the ends
        within = np.asarray(np.isfinite(shifted).all(axis=(1, 2)))
        fit = self.fitted(thin, within)
        if self.left(fit.rest).mean() < EXACT:
            return None
        shifted = shifted[within].reshape(-1, len(delays)) / fit.noise[:, None]
        left = np.stack([self.left(e) for e in fit.beyond(shifted).T])
        level = np.log(np.maximum(left, 1e-300)).mean(axis=1)  # each joint has its own noise
        best = int(np.argmin(level))
        if best in (0, 2 * DELAYS) or abs(seconds := vertex(delays, level, best)) < SHORTEST:
            return None
        own = delays[np.argmin(left, axis=0)]
        near = np.abs(own - seconds) <= max(0.3 * abs(seconds), SHORTEST)
        # the opposite shift interpolates, and so smooths, the torques as much
        ratio = left[best] / np.minimum(left[DELAYS], left[2 * DELAYS - best])
        agreeing = np.flatnonzero(near & (ratio < LOWER))
        affected = np.count_nonzero((ratio < LOWER) | (ratio > 1.0 / LOWER))
        if len(agreeing) < max(min(2, self.n), AGREE * affected):
            return None
        seconds = float(np.median([vertex(delays, left[:, j], int(np.argmin(left[:, j]))) for j in agreeing]))
        return Delay(seconds, tuple(map(int, agreeing)), float(left[DELAYS].mean()), float(left[best].mean()))

    def factor(self, motion: MotionSummary) -> tuple[int, float] | None:
        """Return the joint whose torques, divided by a factor, fit those of the others much better, and the factor, or None."""
        motion = motion.thinned(MOST_ROWS)
        fit = self.fitted(motion)
        rest = fit.rest.reshape(-1, self.n)
        if (before := self.left(rest)).mean() < EXACT or self.n == 1:
            return None
        ratios, change = np.empty((self.n, len(GAINS), self.n)), 1.0 / GAINS[:, None] - 1.0
        for j, one in enumerate(np.eye(self.n)):
            effect = fit.beyond(((fit.y / fit.noise).reshape(-1, self.n) * one).reshape(-1)).reshape(-1, self.n)
            left = before + 2.0 * change * (rest * effect).mean(axis=0) + change**2 * (effect**2).mean(axis=0)
            ratios[j] = np.maximum(left, 1e-300) / np.maximum(before, 1e-300) * np.where(one > 0.0, GAINS[:, None] ** 2, 1.0)
        levels = 0.5 * np.log(ratios).mean(axis=2)
        best = levels.argmin(axis=1)
        level, least = levels[np.arange(self.n), best], ratios[np.arange(self.n), best].min(axis=1)
        # the torques of two joints may fit each other if either is scaled: the file tells which
        likely = np.flatnonzero((level < level.min() + RIVAL) & (least < HALVED))
        prior = self if len(likely) < 2 else FreeFit(self.base, WEIGHT)
        found = [(joint, float(GAINS[best[joint]])) for joint in map(int, likely)]
        return min(found, key=lambda each: prior.level_with(motion, *each), default=None)

    def level_with(self, motion: MotionSummary, joint: int, factor: float) -> float:
        """Return the level of the torques of a motion, those of a joint as a multiple of the true ones."""
        factors = np.where(np.arange(self.n) == joint, factor, 1.0)
        divided = motion.changed(lambda x: x / factors, motion=False, torque=True)
        return self.level(divided) + len(motion.thinned(MOST_ROWS).torque) * float(np.log(factor))

    def shared_motor(self, motion: MotionSummary) -> tuple[int, int] | None:
        """Return neighbouring joints (A, B) for which a motor of B that turns with A, too, explains most of the rest, or None.

        Inertia and friction of the motor then depend on v_A + v_B.
        """
        motion = motion.thinned(MOST_ROWS)
        fit = self.fitted(motion)
        before, known = self.left(fit.rest), {frozenset(pair) for pair in self.base.model.couplings}
        if before.mean() < EXACT:
            return None
        found, least = None, HALVED
        for a, b in ((j, k) for j in range(self.n) for k in (j - 1, j + 1) if 0 <= k < self.n and {j, k} not in known):
            terms = np.stack([motion.a[:, a], motion.v[:, a], np.sign(motion.v[:, a] + motion.v[:, b])], axis=1)
            columns = np.zeros((len(motion.torque), self.n, 3))
            columns[:, b] = motion.filtered(terms)
            effect = fit.beyond(columns.reshape(-1, 3) / fit.noise[:, None])
            left = self.left(fit.rest - effect @ np.linalg.lstsq(effect, fit.rest, rcond=None)[0])
            if left[b] < least * before[b]:
                found, least = (a, b), float(left[b] / before[b])
        return found


def vertex(x: Array, y: Array, k: int) -> float:
    """Return the minimum of the parabola through three neighbouring points, the middle one the lowest; x[k] at an end."""
    if k in (0, len(x) - 1):
        return float(x[k])
    bend, slope, _ = np.polynomial.polynomial.polyfit(x[k - 1 : k + 2] - x[k], y[k - 1 : k + 2], 2)[::-1]
    return float(x[k] - (0.5 * slope / bend if bend > 0.0 else 0.0))
