"""Readings at rest that gravity does not explain: mistakes in the columns, each undone, and named if a refit is good."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.estimators.estimator import WeightedLeastSquares
from dynamis.identification.logs.mistakes import Mistake, mistakes
from dynamis.identification.validation.distributions import t_quantile
from dynamis.robot import Robot

Array = npt.NDArray[Any]
ROUNDING = 1e-9  # relative to the largest torque
OPPOSITE = -0.6  # correlation of torques with those of the prior, below which their sign may be wrong
CERTAIN = 1.0 - 1e-5  # probability that the mean friction of a joint is below zero
MOST_TURNS = 2.0  # of joints; positions beyond are degrees
LOADED = 0.05  # gravity torque of the file's robot relative to the largest, below which noise and friction may dominate
LARGE = 0.5  # residual of a joint relative to its torques, above which gravity does not explain them
HALF = 0.5  # ratio of the residuals of these joints after and before a correction
SIMILAR = 1.1  # ratio of residuals of corrections between which the parameters of the file decide
OUTLIER = 10.0  # error of a torque, relative to the median of its joint, of an outlier; one in 1e11 with normal noise
MOST_OUTLIERS = 5
UNIT = 30.0  # ratio of the torques to those of the file that only another unit has


@dataclass(frozen=True, eq=False)
class Readings:
    """Torques ``tau`` (P, n) at rest at ``q`` (P, nq), known where ``use``; gravity acts on the joints ``pulled`` (n,)."""

    base: BaseParameters
    q: Array
    tau: Array
    use: Array
    pulled: Array

    @cached_property
    def X(self) -> Array:
        rest = np.zeros(self.tau.shape)
        return self.base.regressor(self.q, rest, rest).reshape(-1, self.base.rank)[self.use.reshape(-1)]

    @cached_property
    def y(self) -> Array:
        """The torques without those of the springs."""
        robot, rest = self.base.model.robot, np.zeros(self.tau.shape)
        springs = robot.inverse_dynamics(self.q, rest, rest) - robot.gravity(self.q)
        return (self.tau - springs).reshape(-1)[self.use.reshape(-1)]

    @property
    def joint(self) -> Array:
        """The joint of each row."""
        return np.tile(np.arange(self.tau.shape[1]), len(self.tau))[self.use.reshape(-1)]

    @cached_property
    def largest(self) -> Array:
        """The largest torque of each joint (n,)."""
        return np.array([np.abs(self.y[self.joint == j]).max(initial=0.0) for j in range(self.tau.shape[1])])

    @property
    def balanced(self) -> Array:
        """The joints (n,) whose torques are rounding: their noise is not better known than the others'."""
        return self.largest < ROUNDING * self.largest.max(initial=0.0)

    @property
    def group(self) -> Array:
        """The joint whose noise each row has."""
        least = int(np.argmin(np.where(self.balanced, np.inf, self.largest)))
        return np.where(self.balanced[self.joint], least, self.joint)

    @cached_property
    def fit(self) -> WeightedLeastSquares:
        """The weighted least-squares fit; joints without gravity load contain only noise."""
        shown = self.pulled[self.joint]
        return WeightedLeastSquares().fit(self.X[shown], self.y[shown], joint=self.group[shown], names=self.base.names)

    def residual(self, fit: WeightedLeastSquares) -> Array:
        """The root mean square of the residuals of each joint (n,)."""
        counts = np.maximum(np.bincount(self.joint, minlength=len(self.pulled)), 1)
        return np.sqrt(np.bincount(self.joint, (self.y - self.X @ fit.coef_) ** 2, len(self.pulled)) / counts)

    @property
    def size(self) -> Array:
        """The root mean square of the torques of each joint (n,), about their mean if offsets are estimated."""
        columns = [self.y[self.joint == j] for j in range(len(self.pulled))]
        about_mean = "offset" in self.base.model.kind
        return np.array([np.sqrt(np.mean((x - about_mean * x.mean()) ** 2)) if len(x) else 0.0 for x in columns])

    @property
    def degrees_of_freedom(self) -> int:
        return int(self.pulled[self.joint].sum()) - self.base.rank

    @property
    def loaded(self) -> Array:
        """The joints (n,) on which the gravity torque of the file's robot is noticeable."""
        expected = np.bincount(self.joint, (self.X @ self.base.prior) ** 2, len(self.pulled))
        return self.pulled & ~self.balanced & (expected > LOADED**2 * expected.max(initial=0.0))

    def shares(self) -> Array:
        """The residual of each joint after a fit relative to its torques (n,), 0 for those hardly loaded."""
        rows = int(self.pulled[self.joint].sum())
        residual = self.residual(self.fit) * np.sqrt(rows / max(self.degrees_of_freedom, 1))
        return np.where(self.loaded, residual / np.maximum(self.size, 1e-300), 0.0)

    @property
    def bad(self) -> Array:
        """The joints (n,) whose torques gravity does not explain."""
        return self.shares() > LARGE

    def distance(self) -> float:
        """The torques of the difference of the parameters from those of the file, relative to the largest of each joint."""
        shown = self.pulled[self.joint]
        return float(np.sum(((self.X @ (self.fit.coef_ - self.base.prior)) / self.largest[self.group])[shown] ** 2))

    def changed(self, change: Callable[[Array], Array], *, motion: bool, torque: bool) -> Readings:
        """The readings with other columns of positions, torques or both."""
        return replace(self, q=change(self.q) if motion else self.q, tau=change(self.tau) if torque else self.tau)


def outliers(readings: Readings) -> list[tuple[int, int, float, float]]:
    """Return poses, and the joint of each, whose torque is far from the prediction by the other poses, with this distance and
    the median of those of the joint; the largest first."""
    X, y, joint, group = readings.X, readings.y, readings.joint, readings.group
    pose = np.repeat(np.arange(len(readings.tau)), readings.tau.shape[1])[readings.use.reshape(-1)]
    kept, found = readings.pulled[joint] & ~readings.balanced[joint], list[tuple[int, int, float, float]]()
    while kept.sum() > 2 * readings.base.rank and len(found) < MOST_OUTLIERS:
        fit = WeightedLeastSquares().fit(X[kept], y[kept], joint=group[kept], names=readings.base.names)
        noise = np.ones(len(y))
        noise[kept] = np.maximum(fit.noise_, 1e-300)[group[kept]]
        A = X[kept] / noise[kept, None]
        leverage = np.einsum("ij,ji->i", A, np.linalg.pinv(A))
        e = np.zeros(len(y))
        spare = np.sqrt(np.maximum(1.0 - leverage, ROUNDING))
        e[kept] = np.abs(y - X @ fit.coef_)[kept] / spare
        worst = int(np.argmax(e / noise))
        known = float(spare[np.count_nonzero(kept[:worst])])  # the noise relative to the error of the prediction
        own = kept & (pose != pose[worst])
        # the noise without this pose, which it enlarges
        fit = WeightedLeastSquares().fit(X[own], y[own], joint=group[own], names=readings.base.names)
        away = np.abs(y - X @ fit.coef_)
        usual = float(np.median(away[own & (joint == joint[worst])])) if (own & (joint == joint[worst])).any() else np.inf
        if known * away[worst] < OUTLIER * max(usual, ROUNDING * float(readings.largest.max())):
            break
        found.append((int(pose[worst]), int(joint[worst]), float(away[worst]), usual))
        kept = own
    return found


def check_angles(robot: Robot, q: Array) -> None:
    """Angles in degrees are recognised by their size."""
    turning = [c.revolute for c in robot.model.coordinates]
    if robot.nq == robot.n and (np.abs(q[:, turning]) > MOST_TURNS * 2.0 * np.pi).any():
        raise InputError("joint positions of more than two turns: are they in degrees? Give them in rad")


def wrong_signs(readings: Readings) -> Array:
    """Return (n,): the joints whose torques, inverted, give parameters closer to those of the file."""
    inverted = _against(readings)
    if inverted.any():
        again = replace(readings, tau=readings.tau * np.where(inverted, -1.0, 1.0))
        inverted &= again.distance() < readings.distance()
    return inverted


def _against(readings: Readings) -> Array:
    """Return (n,): the joints whose torques vary against those of the prior; all joints, if they do on all that tell."""
    X, y, joint = readings.X, readings.y, readings.joint
    cosine = np.zeros(len(readings.pulled))
    for j in np.flatnonzero(readings.pulled & ~readings.balanced):
        known, measured = (x[joint == j] - x[joint == j].mean() for x in (X @ readings.base.prior, y))
        cosine[j] = known @ measured / max(np.linalg.norm(known) * np.linalg.norm(measured), 1e-300)
    against, tells = cosine < OPPOSITE, np.abs(cosine) > -OPPOSITE
    return np.full(len(cosine), True) if tells.sum() > 1 and against[tells].all() else against


def mistakes_in(readings: Readings, friction: Array) -> list[str]:
    """Return sentences on mistakes in the columns; ``friction`` (P, n) is that of the poses approached from both sides.

    A mistake is named if gravity explains the torques once it is corrected: wrong signs of torques, another one, or both.
    """
    names = np.array([printable(name) for name in readings.base.model.robot.coordinate_names])
    inverted = wrong_signs(readings)
    turned = replace(readings, tau=readings.tau * np.where(inverted, -1.0, 1.0))
    units = _unit(readings)
    if not turned.bad.any() or readings.degrees_of_freedom < readings.base.rank:
        return [*_inverted(inverted, names), *units, *_inverted_directions(readings, friction, inverted)]
    for start, lines in ((readings, []), (turned, _inverted(inverted, names))):
        found = _mistake(start)
        if found is not None:
            mistake, after = found
            share = f"the residual is {_percent(after.max())} of the torques instead of {_percent(start.shares().max())}"
            return [*lines, f"{_in_words(mistake, names)}: corrected, {share}", *units]
    shares = readings.shares()
    return [
        f"gravity does not explain the torques of {', '.join(names[readings.bad])}: the residual is up to "
        f"{_percent(shares.max())} of the torques; look for friction (approach each pose from both sides), the order, signs "
        "and units of the columns, and the robot's file", *units,
    ]  # fmt: skip


def _mistake(readings: Readings) -> tuple[Mistake, Array] | None:
    """Return the mistake whose correction makes gravity explain the torques, and the shares then."""
    before, bad, good = readings.shares(), readings.bad, []
    if not bad.any():
        return None
    positions = readings.q.shape[1] == len(before)  # one for each joint, no quaternions
    for mistake in mistakes(len(before)):
        if "motion" in mistake.where and not positions:
            continue
        then = mistake.undo(readings)
        after = then.shares()
        if (after[bad] < HALF * before[bad]).all() and not then.bad.any():
            good.append((mistake, then, after))
    if not good:
        return None
    least = min(after.sum() for *_, after in good)
    alike = [trial for trial in good if trial[2].sum() <= SIMILAR * least]
    mistake, _, after = min(alike, key=lambda trial: trial[1].distance())
    return mistake, after


def _inverted(inverted: Array, names: Array) -> list[str]:
    if not inverted.any():
        return []
    whose = "of all joints" if inverted.all() else f"of {', '.join(names[inverted])}"
    signs = ", ".join("-1" if x else "1" for x in inverted)
    return [
        f"the torques {whose} seem to have the wrong sign: inverted, they give parameters closer to those of the file; "
        f"give tau * [{signs}]"
    ]


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %" if share > 0.1 else f"{100.0 * share:.2g} %"


def _unit(readings: Readings) -> list[str]:
    """Return a sentence if the torques are in another unit."""
    known, measured = readings.X @ readings.base.prior, readings.y
    size = float(np.linalg.norm(known))
    ratio = float(np.linalg.norm(measured)) / size if size else 1.0
    if 1.0 / UNIT < ratio < UNIT or not measured.any():
        return []
    return [f"the torques are {ratio:.3g} times those of the robot of the file: are they in N m (N for prismatic joints)?"]


def _in_words(mistake: Mistake, names: Array) -> str:
    """A mistake in words."""
    columns = {"motion": "the positions", "torque": "the torques", "torque and motion": "positions and torques"}[mistake.where]
    whose = " and ".join(names[list(mistake.joints)])
    if mistake.code == "degrees":
        return "all joint angles seem to be in degrees"
    verb = "seem to be exchanged" if mistake.code == "swapped" else "seem to have the wrong sign"
    return f"{columns} of {whose} {verb}"


def _inverted_directions(readings: Readings, friction: Array, inverted: Array) -> list[str]:
    """Return a sentence if Coulomb friction is negative, so that the directions of approach have the wrong sign."""
    signs, least = np.where(inverted, -1.0, 1.0), ROUNDING * np.abs(readings.tau).max(initial=0.0)
    known = [column[np.isfinite(column)] for column in friction.T]
    count = np.array([len(column) for column in known])
    mean, spread = (np.array([f(x) if len(x) else np.nan for x in known]) for f in (np.mean, np.std))
    sure = np.array([t_quantile(n - 1, CERTAIN) / np.sqrt(n - 1) if n > 1 else np.inf for n in count])
    against = signs * mean < -np.maximum(sure * spread, least)
    if not against.any():
        return []
    names = np.array([printable(name) for name in readings.base.model.robot.coordinate_names])
    whose = "of all joints" if against[count > 1].all() else f"of {', '.join(names[against])}"
    return [
        f"Coulomb friction {whose} is negative: direction= seems to have the wrong sign; "
        "inverted, friction is positive, and the parameters are the same"
    ]


def unexplained(readings: Readings, residual: Array) -> str:
    """The residual in words."""
    loaded = readings.pulled & (readings.size > 0.0)
    total = float(np.linalg.norm(readings.size[loaded]))
    if not total:
        return "all torques are zero"
    worst = int(np.argmax(np.where(readings.pulled, residual, -1.0)))
    robot = readings.base.model.robot
    unit = "N m" if robot.model.coordinates[worst].revolute else "N"
    share = float(np.linalg.norm(residual[loaded])) / total
    return (
        f"residual {_percent(share)} of the torques, largest {residual[worst]:.2g} {unit} "
        f"(joint {printable(robot.coordinate_names[worst])})"
    )
