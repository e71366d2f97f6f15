"""Mistakes of a log in signs, order and units of columns: each is undone, and made if the model then explains the torques."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from dynamis.identification.logs.explained import Explained, explained
from dynamis.identification.logs.free_fit import MOST_ROWS, RIVAL, FreeFit
from dynamis.identification.logs.motion_summary import MotionSummary
from dynamis.robot import Robot

Array = npt.NDArray[Any]
VERIFIED = 0.35  # unexplained fraction of the torques below which a refit after the correction is good
FITTED = 0.05  # the same, mean over the joints, with the motion of joints exchanged: of some of them it fits better, too
ROUNDED = 1.05  # ratio of these fractions after and before, up to which the refit is no worse
DEGREE = np.pi / 180.0
SIGN_STEPS = 5  # in which the signs of a torque and a fit to it are estimated in turn
MOST_TURNS = 2.0  # the largest positions that may be revolutions
CLEARLY = 0.1  # ratio of the unexplained fractions after and before a conversion of revolutions
BETTER = 0.4  # required increase of the explained fraction
GOOD = 0.6  # fraction that counts as explained
NO_WORSE = 0.15  # tolerated decrease for any joint
SIMPLER = 0.05  # required advantage over mistakes earlier in the list
SHAPE = 0.8  # explained fraction beyond friction above which the model is correct up to scale
IMPROVED = 0.5  # ratio of the unexplained fractions of joints after and before a correction of their columns
LARGEST = 12  # joints up to which pairs of columns are tried


class Columns(Protocol):
    """Measurements whose columns of motion and torque can be changed."""

    def changed(self, change: Callable[[Array], Array], *, motion: bool, torque: bool) -> Self: ...


T = TypeVar("T", bound=Columns)


@dataclass(frozen=True)
class Mistake:
    """A kind of mistake and the joints of its columns; ``change`` corrects these. "motion" columns are those of q, v and a;
    ``order`` are the columns of these joints."""

    code: str
    joints: tuple[int, ...]
    where: str
    change: Callable[[Array], Array]
    order: tuple[int, ...] = ()

    def undo(self, measured: T) -> T:
        """The measurements with the mistake corrected."""
        return measured.changed(self.change, motion="motion" in self.where, torque="torque" in self.where)


def mistakes(n: int) -> Iterator[Mistake]:
    """Yield all mistakes tried for a robot of n joints, the most frequent first."""
    if n > 1:
        yield Mistake("inverted", tuple(range(n)), "torque", np.negative)
    for where in ("torque", "motion", "torque and motion"):
        for i in range(n):
            signs = np.where(np.arange(n) == i, -1.0, 1.0)
            yield Mistake("wrong sign", (i,), where, partial(np.multiply, signs))
    yield Mistake("degrees", tuple(range(n)), "motion", partial(np.multiply, DEGREE))
    for where in ("torque", "motion", "torque and motion") if n <= LARGEST else ():
        for i, j in combinations(range(n), 2):
            order = np.arange(n)
            order[[i, j]] = j, i
            yield Mistake("swapped", (i, j), where, partial(np.take, indices=order, axis=1))


def level_without(fit: FreeFit, mistake: Mistake, motion: MotionSummary) -> float:
    """Return the level of a motion with a mistake corrected, which is computed once."""
    thin = motion.thinned(MOST_ROWS)
    key = thin, mistake.code, mistake.joints, mistake.where, mistake.order
    if key not in fit.levels:
        fit.levels[key] = fit.level(mistake.undo(thin))
    return fit.levels[key]


def torques_in_order(robot: Robot, motion: MotionSummary, now: Explained) -> Mistake | None:
    """Return the exchange of more than two torque columns with which the model explains most: each joint with each column, and
    the best assignment of these."""
    from scipy.optimize import linear_sum_assignment

    n = robot.n
    fractions = SIMPLER * np.eye(n)
    for shift in range(n):
        order = np.roll(np.arange(n), -shift)
        shifted = motion.changed(partial(np.take, indices=order, axis=1), motion=False, torque=True)
        fractions[np.arange(n), order] += explained(robot, shifted, now.predicted).fraction
    order = linear_sum_assignment(fractions, maximize=True)[1]
    moved = np.flatnonzero(order != np.arange(n))
    if len(moved) < 3:
        return None
    change = partial(np.take, indices=order, axis=1)
    return Mistake("swapped", tuple(map(int, moved)), "torque", change, tuple(map(int, order[moved])))


def joints_in_order(prior: FreeFit, motion: MotionSummary) -> Mistake | None:
    """Return the exchange of more than two joints, positions and torques alike, with which torques and file are most likely.

    It is reached by exchanges of pairs, each the best one, from the order of the log and from the best of the orders that run
    backwards or begin with another joint.
    """
    n, motion = prior.n, motion.thinned(MOST_ROWS // 2)

    def level(order: tuple[int, ...]) -> float:
        return prior.level(motion.changed(partial(np.take, indices=order, axis=1), motion=True, torque=True))

    here = tuple(range(n))
    others = [here[::-1], *(here[k:] + here[:k] for k in range(1, n))]
    found = min((_climbed(level, start) for start in (here, min(others, key=level))), key=lambda each: each[0])[1]
    moved = np.flatnonzero(np.not_equal(found, here))
    if len(moved) < 3:
        return None
    change = partial(np.take, indices=found, axis=1)
    return Mistake("swapped", tuple(map(int, moved)), "torque and motion", change, tuple(found[k] for k in moved))


def _climbed(level: Callable[[tuple[int, ...]], float], order: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
    """Return the lowest level that exchanges of pairs reach, and its order."""
    least = level(order)
    while True:
        pairs = []
        for i, j in combinations(range(len(order)), 2):
            other = list(order)
            other[i], other[j] = other[j], other[i]
            pairs.append((level(tuple(other)), tuple(other)))
        if min(pairs)[0] >= least:
            return least, order
        least, order = min(pairs)


def revolutions(robot: Robot, motion: MotionSummary, fit: FreeFit) -> Trial | None:
    """Return the conversion of the angles from revolutions to rad if a fit with free parameters is good only then, or None.

    Torques of such motions look like those of the model in another scale.
    """
    turning = np.array([coordinate.revolute for coordinate in robot.model.coordinates])
    if not turning.any() or np.abs(motion.q[:, turning]).max() > MOST_TURNS:
        return None
    change = partial(np.multiply, np.where(turning, 2.0 * np.pi, 1.0))
    mistake = Mistake("revolutions", tuple(map(int, np.flatnonzero(turning))), "motion", change)
    converted = mistake.undo(motion)
    if fit.unexplained(converted).mean() > min(FITTED, CLEARLY * fit.unexplained(motion).mean()):
        return None
    before, then = explained(robot, motion), explained(robot, converted)
    return Trial(mistake, motion, converted, before, then, 0.0) if then.agreement > GOOD else None


def magnitudes(robot: Robot, motion: MotionSummary, fit: FreeFit) -> Trial | None:
    """Return the signs of a torque logged without its sign, if a fit with free parameters is good only with those of the model,
    not as logged or inverted, or None."""
    now = None
    for joint in np.flatnonzero((motion.tau >= 0.0).all(axis=0) & np.any(motion.tau > 0.0, axis=0)):
        now = now or explained(robot, motion)
        signs = np.ones(motion.tau.shape)
        rate = motion.v[:, joint] / max(float(np.abs(motion.v[:, joint]).max()), 1e-300)
        columns = np.stack(
            [np.asarray(robot.inverse_dynamics(motion.q, motion.v, motion.a))[:, joint], rate, np.sign(rate)], axis=1
        )
        columns = np.column_stack([columns, motion.a[:, joint], np.ones(len(columns))])
        fitted = columns[:, 0]
        for _ in range(SIGN_STEPS):
            signs[:, joint] = np.where(fitted < 0.0, -1.0, 1.0)
            measured = motion.tau[:, joint] * signs[:, joint]
            fitted = columns @ np.linalg.lstsq(columns, measured, rcond=None)[0]
        signed = replace(motion, tau=motion.tau * signs)
        mistake = Mistake("magnitude", (int(joint),), "torque", partial(np.multiply, signs))
        inverted = replace(motion, tau=motion.tau * np.where(np.arange(robot.n) == joint, -1.0, 1.0))
        left = fit.unexplained(signed)[joint]
        if left < min(FITTED, *(CLEARLY * fit.unexplained(each)[joint] for each in (motion, inverted))):
            return Trial(mistake, motion, signed, now, explained(robot, signed), 0.0)
    return None


@dataclass(frozen=True, eq=False)
class Trial:
    """A corrected mistake: the torques explained before and after, the increase, and whether another correction would explain
    as much."""

    mistake: Mistake
    logged: MotionSummary
    motion: MotionSummary
    before: Explained
    then: Explained
    growth: float
    elsewhere: bool = False


def mistakes_made(robot: Robot, motion: MotionSummary, now: Explained, fit: FreeFit) -> tuple[list[Trial], Explained]:
    """Return the mistakes whose correction makes the model explain the torques, and the explanation after correction."""
    made: list[Trial] = []
    orders: list[Mistake] = []
    first = now
    while len(made) < robot.n and ((now.fraction < GOOD).any() or (now.model_share < 0.5 and now.speaks.any())):
        several = [torques_in_order(robot, motion, now)] if robot.n > 2 else []
        if not made and 2 < robot.n <= LARGEST:
            several.append(joints_in_order(fit.with_file, motion))
        orders += (found := [order for order in several if order is not None])
        every = [*mistakes(robot.n), *found]
        trials = [t for t in (_tried(robot, mistake, motion, now) for mistake in every) if t is not None]
        if not trials:
            break
        most = max(t.growth for t in trials)
        best = next(t for t in trials if t.growth > most - SIMPLER)
        rivals = [t for t in trials if t.growth > most - SIMPLER and t.mistake.where != best.mistake.where]
        elsewhere = any((t.mistake.code, t.mistake.joints) == (best.mistake.code, best.mistake.joints) for t in rivals)
        made.append(replace(best, elsewhere=elsewhere))
        motion, now = best.motion, best.then
        if best.mistake.code == "inverted":
            break
    if made:
        made = _most_likely(robot, _as_one(made), fit, orders)
        motion, now = made[-1].motion, made[-1].then
        before, left = fit.unexplained(made[0].logged), fit.unexplained(motion)
        own = [j for trial in made for j in trial.mistake.joints]
        # free parameters fit torques of the opposite sign as well: the file must agree with them, too
        poor = any(t.mistake.code == "swapped" and "motion" in t.mistake.where for t in made) and left.mean() > FITTED
        if (
            poor
            or max(left.mean(), left[own].max()) > VERIFIED
            or left.mean() > ROUNDED * before.mean()
            or now.agreement < GOOD
        ):
            return [], first
    return made, now


def _as_one(made: list[Trial]) -> list[Trial]:
    """Return several exchanges of the same kind of columns as one."""
    first, last = made[0], made[-1]
    if len(made) == 1 or {(t.mistake.code, t.mistake.where) for t in made} != {("swapped", first.mistake.where)}:
        return made
    order = np.arange(first.logged.tau.shape[1])[None]
    for trial in made:
        order = trial.mistake.change(order)
    moved = np.flatnonzero(order[0] != np.arange(order.size))
    if not len(moved):
        return made
    joints, own = tuple(map(int, moved)), tuple(map(int, order[0][moved])) if len(moved) > 2 else ()
    whole = Mistake("swapped", joints, first.mistake.where, partial(np.take, indices=order[0], axis=1), own)
    return [Trial(whole, first.logged, last.motion, first.before, last.then, sum(trial.growth for trial in made))]


def _most_likely(robot: Robot, made: list[Trial], fit: FreeFit, orders: list[Mistake]) -> list[Trial]:
    """Return these mistakes, or another single one if the torques and the inertias of the file are more likely with it, and the
    model explains the torques of its joints much better."""
    prior, motion, before = fit.with_file, made[0].logged, made[0].before
    every = [*(mistake for mistake in mistakes(robot.n) if mistake.code in ("wrong sign", "swapped")), *orders]
    levels = np.array([level_without(prior, mistake, motion) for mistake in every])
    least = prior.level(made[-1].motion) - RIVAL * motion.thinned(MOST_ROWS).torque.size
    for k in np.argsort(levels):
        if levels[k] > least:
            break
        without, own = every[k].undo(motion), list(every[k].joints)
        then = explained(robot, without)
        if (1.0 - then.fraction[own]).mean() < IMPROVED * (1.0 - before.fraction[own]).mean():
            return [Trial(every[k], motion, without, before, then, 0.0)]
    return made


def _tried(robot: Robot, mistake: Mistake, motion: MotionSummary, now: Explained) -> Trial | None:
    """Return a trial if the correction explains clearly more, improves its own joints and harms no other."""
    without = mistake.undo(motion)
    known = now.predicted if mistake.where == "torque" else None  # the motion is as logged
    then = explained(robot, without, known)
    growth = float((then.fraction - now.fraction).sum())
    if then.model_share > SHAPE and then.speaks.any():
        growth += max(0.0, then.model_share - max(now.model_share, 0.0))
    about = list(mistake.joints)
    good = then.fraction[about] > GOOD
    helped = good.any() if mistake.code in ("inverted", "degrees") else good.all()
    harmless = (then.fraction > np.minimum(now.fraction, GOOD) - NO_WORSE).all()
    return Trial(mistake, motion, without, now, then, growth) if growth > BETTER and helped and harmless else None
