"""Gravity in the base frame that fits the torques of a log best: how the robot is mounted, or whether they contain gravity.

Torques are linear in gravity g for known parameters π, and linear in π for known g. Both are estimated together, with the
inertias of the file as measurements of π that have standard errors, friction and offsets free.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.estimators.body_space import BodySpace
from dynamis.identification.logs.free_fit import MOST_ROWS, RIVAL, WEIGHT, FreeFit
from dynamis.identification.logs.motion_summary import MotionSummary
from dynamis.identification.nonlinear import UNEXCITED
from dynamis.robot import Robot

Array = npt.NDArray[Any]
CONVERGED = 1e-3  # change of the level, per torque
STEPS = 12  # Gauss–Newton iterations
STANDARD = 9.81  # m/s²
WEAK = 0.3  # gravity relative to that of the file, below which the torques contain none
LEAST_ANGLE = np.radians(10.0)  # a smaller tilt may be due to centres of mass that are off
WHOLE = 0.1  # deviation from the size of gravity up to which none of it acts along all joint axes
ALONG_AXIS = 0.03  # components of a direction that are taken as zero
GOOD = 0.15  # unexplained fraction of the torques, mean over the joints, up to which a fit is good
CLEAR = 0.2  # decrease of the level, per torque, that is clear: the noise of all joints is lower by a fifth
MOMENTS = 4  # parameters of a link on which gravity acts: its mass and first moments
FELT = 0.1  # torque of the difference of gravity relative to that of the joint, above which the joint is a witness
LOWER = 0.7  # ratio of the unexplained fractions of a witness after and before
PRECISE = 1e-3  # noise relative to the torque of a joint, below which a better fit proves nothing


@dataclass(frozen=True, eq=False)
class Gravity:
    """Gravity (3,) in the base frame, the negative logarithm of the likelihood with it, and for each joint (n,) the fraction of
    the variance of its torques that remains. ``fitted`` (N, n) are the torques with it."""

    vector: Array
    level: float
    left: Array
    fitted: Array

    def angle(self, other: Array) -> float:
        """The angle to another vector in rad."""
        size = float(np.linalg.norm(self.vector) * np.linalg.norm(other))
        return float(np.arccos(np.clip(self.vector @ other / size, -1.0, 1.0))) if size else 0.0


class GravityFit:
    """Parameters, offsets and gravity fitted to the rows of a motion."""

    def __init__(self, fit: FreeFit, motion: MotionSummary) -> None:
        thin = motion.thinned(MOST_ROWS)
        base, robot, n = fit.base, fit.base.model.robot, fit.n
        self.n, self.known = n, np.asarray(robot.model.gravity, float)
        space = BodySpace(base.model)
        self.T = space.spun @ space.C
        self.prior = np.asarray(space.spun @ space.origin)
        X = fit.columns(thin)
        self.X, self.offsets = X[..., : base.rank] @ base.B, X[..., base.rank :]
        self.XT = self.X @ self.T
        self.moments = np.concatenate([np.arange(MOMENTS) + body.place.start for body in base.model.bodies])
        kernel = robot.compile(_columns, identity="gravity of links", gravity=3)
        columns = np.stack([kernel(thin.q, e) for e in np.eye(3)], axis=-1)[:, :, self.moments]
        self.G = thin.filtered(columns)  # (rows, n, moments, 3)
        self.y = thin.torque
        self.W = np.sqrt(WEIGHT) * base.model.is_inertial
        self.friction = np.flatnonzero(~base.model.is_inertial)
        self.variance = np.maximum(self.y.var(axis=0), 1e-300)

    @property
    def count(self) -> int:
        """The number of torques."""
        return self.y.size

    def best(self) -> Gravity:
        """Return the gravity that fits best, of any direction and size."""
        return self._solved(self.known, free=True)

    def at(self, gravity: Array) -> Gravity:
        """Return the fit with a given gravity."""
        return self._solved(np.asarray(gravity, float), free=False)

    def _solved(self, g: Array, *, free: bool) -> Gravity:
        p, n, count = len(self.prior), self.n, len(self.y)
        x, c = np.zeros(p), np.zeros(n)
        least = PRECISE * np.sqrt(self.variance) + UNEXCITED * np.abs(self.y).max() + 1e-300
        noise = np.maximum(np.sqrt(self.variance), least)
        if free:  # first with the inertias of the file
            g = self._of_file(noise)
        level = np.inf
        for _ in range(STEPS):
            pi = self.prior + self.T @ x
            A = self.XT + (self.G @ (g - self.known)) @ self.T[self.moments]
            of_g = pi[self.moments] @ self.G
            rest = self.y - self._torques(pi, g, c)
            J = np.concatenate([A, self.offsets, *([of_g] if free else [])], axis=-1)
            rows, right = (J / noise[:, None]).reshape(count * n, -1), (rest / noise).reshape(-1)
            normal, side = rows.T @ rows, rows.T @ right
            normal[np.arange(p), np.arange(p)] += self.W**2
            side[:p] -= self.W**2 * x
            size = np.sqrt(np.diagonal(normal))
            size = np.where(size > UNEXCITED * size.max(), size, np.inf)  # such as gravity along all joint axes
            step = np.linalg.lstsq(normal / np.outer(size, size), side / size, rcond=1e-12)[0] / size
            x, c = x + step[:p], c + step[p : p + n]
            g = g + step[p + n :] if free else g
            rest = self.y - self._torques(self.prior + self.T @ x, g, c)
            noise = np.maximum(np.sqrt((rest**2).mean(axis=0)), least)
            before, level = level, float(count * np.log(noise).sum() + 0.5 * np.sum((self.W * x) ** 2))
            if abs(before - level) < CONVERGED * self.count:
                break
        return Gravity(g, level, (rest**2).mean(axis=0) / self.variance, self.y - rest)

    @property
    def observable(self) -> bool:
        """Whether the torques depend on all components of gravity."""
        squares = np.einsum("ijk,ijl->kl", *[self.prior[self.moments] @ self.G] * 2)
        sizes = np.linalg.eigvalsh(squares)
        return bool(sizes[0] > UNEXCITED * sizes[-1])

    def felt(self, gravity: Array) -> Array:
        """Return the RMS torques (n,) of a gravity on the links of the file, relative to the logged ones."""
        return np.sqrt((((self.prior[self.moments] @ self.G) @ gravity) ** 2).mean(axis=0) / self.variance)

    def _torques(self, pi: Array, g: Array, c: Array) -> Array:
        return np.asarray(self.X @ pi + (pi[self.moments] @ self.G) @ (g - self.known) + self.offsets @ c)

    def _of_file(self, noise: Array) -> Array:
        """Return the gravity that fits the torques best with the inertias of the file; friction and offsets are free."""
        of_g = self.prior[self.moments] @ self.G
        J = np.concatenate([of_g, self.X[..., self.friction], self.offsets], axis=-1) / noise[:, None]
        rest = (self.y - self._torques(self.prior, np.zeros(3), np.zeros(self.n))) / noise
        J = J.reshape(rest.size, -1)
        size = np.linalg.norm(J, axis=0)
        size = np.where(size > UNEXCITED * size.max(), size, np.inf)
        return np.asarray(np.linalg.lstsq(J / size, rest.reshape(-1), rcond=1e-9)[0][:3] / size[:3])


@dataclass(frozen=True, eq=False)
class Mounting:
    """The fits to a ``motion`` with the gravity of the file and with that found; ``samples`` are the indices of its samples in
    the complete motion, ``witness`` is the joint with the largest decrease of those on which the difference of gravity acts."""

    motion: MotionSummary
    samples: Array
    before: Gravity
    after: Gravity
    witness: int


def mounting(fit: FreeFit, motion: MotionSummary, corrected: MotionSummary) -> Mounting | None:
    """Return another direction of gravity, or none, if the torques fit clearly better with it, and better than those of the
    motion ``corrected`` otherwise; else None."""
    own = GravityFit(fit, motion)
    known, best = own.known, own.best()
    size = float(np.linalg.norm(known)) or STANDARD
    strength = float(np.linalg.norm(best.vector))
    if strength < WEAK * size:
        tried = np.zeros(3)
    elif not known.any() or best.angle(known) > LEAST_ANGLE:
        direction = best.vector / strength
        direction[np.abs(direction) < ALONG_AXIS] = 0.0
        whole = own.observable or abs(strength / size - 1.0) < WHOLE
        tried = direction * (size if whole else strength) / np.linalg.norm(direction)
    else:
        return None
    if np.array_equal(tried, known):
        return None
    before, after = own.at(known), own.at(tried)
    if after.left.mean() > GOOD or after.level > before.level - CLEAR * own.count:
        return None
    if corrected is not motion and after.level > GravityFit(fit, corrected).at(known).level - RIVAL * own.count:
        return None
    witness = int(np.argmax(np.where(own.felt(tried - known) > FELT, before.left - after.left, -np.inf)))
    if after.left[witness] > LOWER * before.left[witness]:
        return None
    thin = motion.thinned(MOST_ROWS)
    step = 1 if len(thin.t) == len(motion.t) else round(len(motion.t) / len(thin.t))
    return Mounting(thin, np.arange(len(motion.t))[::step], before, after, witness)


@dataclass(frozen=True, eq=False)
class Compensation:
    """Torques without those of the file's gravity: the level with these added, the ``joint`` on which they act most, and the
    RMS residuals of its torque as logged and with them added."""

    level: float
    joint: int
    before: float
    after: float


def missing_compensation(fit: FreeFit, motion: MotionSummary) -> Compensation | None:
    """Return the fit of the torques to which those of the file's gravity are added, if they are clearly more likely, and more
    so than with another gravity, as where a controller that computes with the file compensates gravity; else None."""
    thin = motion.thinned(MOST_ROWS)
    weights = np.asarray(fit.base.model.robot.gravity(thin.q))
    whole, count = replace(thin, tau=thin.tau + weights), thin.torque.size
    loaded = FreeFit(fit.base, WEIGHT, load=True)  # an unknown load has gravity that the file's compensation leaves
    level = loaded.level(whole)
    if level > loaded.level(thin) - CLEAR * count:
        return None
    added = GravityFit(fit, whole)
    if added.at(added.known).level > GravityFit(fit, thin).best().level:
        return None
    both = [np.sqrt(fit.left(fit.fitted(each).rest)) * FreeFit.size(each) for each in (thin, whole)]
    joint = int(np.argmax(both[0] - both[1]))
    before, after = (float(rest[joint]) for rest in both)
    good = fit.left(fit.fitted(whole).rest).mean() < GOOD
    return Compensation(level, joint, before, after) if good and after < LOWER * before else None


def missing_weight(robot: Robot, motion: MotionSummary) -> int | None:
    """Return the joint on which gravity acts with the same force in all positions, as along a vertical axis, if its torque has
    none of this force, or None.

    Without an offset such a force determines the mass, which is zero if it is missing. Its inertia proves that it is there, in
    the scale of the torques.
    """
    motion = motion.thinned(MOST_ROWS)
    weights = np.asarray(robot.gravity(motion.q))
    force = weights.mean(axis=0)
    j = int(np.argmax(np.abs(force)))
    if np.abs(weights - force).max() > ALONG_AXIS * abs(force[j]) or not force[j]:
        return None
    columns = np.column_stack([motion.friction[:, j], np.ones(len(motion.torque))])
    found = np.linalg.lstsq(columns, motion.torque[:, j], rcond=None)[0]
    scale = found[2] / float(np.asarray(robot.mass_matrix(motion.q[0]))[j, j])
    rest = float(np.std(motion.torque[:, j] - columns @ found))
    return j if abs(found[3]) + 3.0 * rest < WEAK * abs(force[j]) * min(scale, 1.0) else None


def _columns(robot: Any, q: Array, gravity: Array) -> Array:
    """Return the columns of the torques due to gravity, traced."""
    still = np.zeros(robot.n)
    return np.asarray(robot.replace(gravity=gravity).regressor(q, still, still))
