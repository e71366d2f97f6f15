"""Disturbances: short times of a log in which the torques of several joints are not those of its other motion, as by a push."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.identification.equations import Equations, Regressor, equations
from dynamis.identification.estimators.estimator import Estimator
from dynamis.identification.estimators.factors import householder_qr
from dynamis.identification.logs.log import LogFinding
from dynamis.identification.samples import Decimation, Samples
from dynamis.identification.validation.describe import listed
from dynamis.identification.validation.held_out import Folds, validations
from dynamis.identification.validation.residuals import NORMAL_MAD, relative
from dynamis.identification.validation.verdict import EXACT

Array = npt.NDArray[Any]
STRONG = 9.0  # mean square of the residuals of all joints, each in robust standard deviations: three of these
USUAL = 4.0  # the same, down to which a disturbance extends: two of these
REFITS = 3  # without the disturbances found, after which their times have settled
JOINED = 3  # successive instants with smaller residuals that do not end a disturbance
MOST = 3  # disturbances; where there are more, their cause is a property of the robot
LARGE = 0.1  # fraction of the sum over the log of these squares that one disturbance has at least
SHARE, BRIEF = 0.5, 0.1  # all of them have at least the first fraction of this sum, in at most the second of the log's instants
ALIKE = 1.5  # ratio of the leverages of equations within and outside of the disturbances, above which the motion differs, too
RANK = 1e-9  # relative size of a direction of the scaled equations that determine it
SLOW = 0.02  # speed of a joint at rest, relative to its largest: noise of the velocities
RESTING = 0.2  # fraction of the filter of an equation in which its joint is at rest, from which static friction acts in it
LOWER = 0.9  # ratio of the residuals on held-out motion, outside of the disturbances, without and with them in the fit


def disturbances(folds: Folds, runs: Sequence[Samples], fit: Estimator) -> list[LogFinding]:
    """Return a finding of the disturbances of the logs, if the other motion is predicted clearly better without them, or [].

    ``fit`` is an estimator fitted to all rows.
    """
    rows, base = folds.rows, _source(folds.rows).base
    e = rows.y - rows.predict(fit.coef_)
    if relative(e, rows.y) < EXACT:
        return []
    static = static_friction(rows, runs, dict(zip(base.names, fit.coef_, strict=True)))
    found, rest = _brief(rows, _in_deviations(rows, e, static)), folds
    for _ in range(REFITS if found else 0):  # a fit to all rows adapts to a disturbance and hides its ends
        times = found
        kept = [run if not (own := [x for x in found if x[0] == k]) else _without(run, own) for k, run in enumerate(runs)]
        rest = folds.of_rows(equations(base, kept))
        inside = np.any([(rows.run == run) & (rows.t >= start) & (rows.t <= end) for run, start, end in found], axis=0)
        if len(rest.rows) != len(rows) - np.count_nonzero(inside):
            return []
        e = rows.y - rows.predict(rest.fit(type(fit)(**fit.get_params())).coef_)
        found = _brief(rows, _in_deviations(rows, e, static)) or times
        if found == times:
            break
    if not found or _another_motion(rows, e, inside):
        return []
    before, after = (
        100.0 * float(np.linalg.norm(error) / np.linalg.norm(rest.rows.y))
        for error in (_held_out(folds, fit)[~inside], _held_out(rest, fit))
    )
    if after > LOWER * before:
        return []
    several = len(found) > 1
    span = [f"({start:.6g},{end:.6g})" for _, start, end in found]
    when = listed([f"between {start:.6g} and {end:.6g} s{_whose(runs, run)}" for run, start, end in found])
    largest = np.array([np.abs(e[inside & (rows.joint == j)]).max(initial=0.0) for j in range(len(rows.joints))])
    j = int(np.argmax(largest))
    text = (
        f"{when} the torques are not those of the other motion, by up to {largest[j]:.3g} {rows.units[j]} at "
        f"{printable(rows.joints[j])} (a push, a contact or a collision); without {'these times' if several else 'this time'}, "
        f"the residual on the other motion, held out, is {after:.3g} % instead of {before:.3g} %"
    )
    given = f"[{','.join(span)}]" if several else span[0]
    cure = f"leave {'them' if several else 'it'} out with leave_out={given}"
    return [LogFinding("warning", "disturbance", None, None, text, cure, caps=2 if after < 0.5 * before else 1)]


def _source(rows: Equations) -> Regressor:
    assert isinstance(rows.source, Regressor)
    return rows.source


def _deviations(rows: Equations, e: Array) -> Array:
    """Return the robust standard deviation of the residuals of each joint."""
    spread = [NORMAL_MAD * float(np.median(np.abs(e[rows.joint == j]))) if np.any(rows.joint == j) else 0.0
              for j in range(len(rows.joints))]  # fmt: skip
    return np.maximum(spread, 1e-12 * float(np.abs(rows.y).max(initial=0.0)) + 1e-300)


def _in_deviations(rows: Equations, e: Array, static: Array) -> Array:
    """Return the squares of the residuals (rows,) beyond static friction, relative to the robust variance of their joint."""
    return np.asarray((np.maximum(np.abs(e) - static, 0.0) / _deviations(rows, e)[rows.joint]) ** 2)


def static_friction(rows: Equations, runs: Sequence[Samples], parameters: Mapping[str, float]) -> Array:
    """Return the residuals (rows,) up to which friction holds a joint at rest: twice its dry friction, of either sign."""
    dry = np.array([2.0 * abs(parameters.get(f"{name}.coulomb", 0.0)) for name in rows.joints])
    found = np.zeros(len(rows.y))
    for k, run in enumerate(runs):
        half = max(Decimation(run.period, run.parallel, run.every).half, 1)
        slow = np.abs(run.v) < SLOW * np.abs(run.v).max(axis=0)
        sums = np.concatenate([np.zeros((1, slow.shape[1])), np.cumsum(slow, axis=0)])
        own = np.flatnonzero(rows.run == k)
        at = np.searchsorted(run.t, rows.t[own]).clip(0, len(run.t) - 1)
        first, last = np.maximum(at - half, 0), np.minimum(at + half + 1, len(run.t))
        joint = rows.joint[own]
        rests = sums[last, joint] - sums[first, joint] > RESTING * (last - first)
        found[own] = np.where(rests, dry[joint], 0.0)
    return found


def _another_motion(rows: Equations, e: Array, inside: Array) -> bool:
    """Return whether the equations inside of some times determine parameters that the others do not, so that large residuals
    may be due to the model: their mean leverage is higher [Belsley 1980, §2.1]."""
    A = rows.X / _deviations(rows, e)[rows.joint, None]
    A /= np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    _, sizes, V = np.linalg.svd(householder_qr(A))
    shown = sizes > RANK * sizes[0]
    leverage = np.sum((A @ (V[shown].T / sizes[shown])) ** 2, axis=1)
    return bool(leverage[inside].mean() > ALIKE * leverage[~inside].mean())


def _brief(rows: Equations, squares: Array) -> list[tuple[int, float, float]]:
    """Return the run, start and end [s] of the disturbances, or [] where large residuals are not confined to few short times,
    or to one joint."""
    order = np.lexsort((rows.t, rows.run))
    t, run = rows.t[order], rows.run[order]
    instant = np.concatenate([[0], np.cumsum((np.diff(t) != 0.0) | (np.diff(run) != 0))])
    first = np.flatnonzero(np.concatenate([[True], np.diff(instant) > 0]))
    sizes = np.bincount(instant, squares[order])
    mean = sizes / np.bincount(instant)
    strong = np.flatnonzero(mean > STRONG)
    if not len(strong):
        return []
    splits = np.flatnonzero((np.diff(strong) > JOINED) | (np.diff(run[first[strong]]) != 0)) + 1
    groups = [part for part in np.split(strong, splits) if sizes[part[0] : part[-1] + 1].sum() > LARGE * sizes.sum()]
    covered = [slice(part[0], part[-1] + 1) for part in groups]
    share = sum(float(sizes[part].sum()) for part in covered) / float(sizes.sum())
    duration = sum(part.stop - part.start for part in covered) / len(sizes)
    if not 0 < len(covered) <= MOST or share < SHARE or duration > BRIEF:
        return []
    found, usual = [], np.flatnonzero((mean <= USUAL) | np.concatenate([[True], np.diff(run[first]) != 0]))
    for core in covered:
        before, after = usual[usual < core.start], usual[usual >= core.stop]
        part = slice(int(before.max(initial=-1)) + 1, int(after.min(initial=len(mean))))
        own = order[first[part.start] : (first[part.stop] if part.stop < len(first) else len(order))]
        joints = [j for j in np.unique(rows.joint[own]) if squares[own][rows.joint[own] == j].mean() > STRONG]
        if len(joints) < min(2, len(rows.joints)):
            return []
        start, end = (1e-3 * turn(1e3 * t[first[k]]) for turn, k in ((np.floor, part.start), (np.ceil, part.stop - 1)))
        found.append((int(run[first[part.start]]), float(start), float(end)))
    return found


def _without(run: Samples, times: Sequence[tuple[int, float, float]]) -> Samples:
    use = run.use.copy()
    for _, start, end in times:
        use[(run.t >= start) & (run.t <= end)] = False
    return replace(run, use=use)


def _held_out(folds: Folds, fit: Estimator) -> Array:
    """Return the residuals (rows,) on held-out motion."""
    return np.asarray(folds.rows.y - validations([folds.fits(fit)], folds)[0].predicted)


def _whose(runs: Sequence[Samples], run: int) -> str:
    return f" of {printable(runs[run].source)}" if len({r.source for r in runs}) > 1 and runs[run].source else ""
