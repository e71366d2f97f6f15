"""Corrections of a log that its findings propose, applied and refitted before they are reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.identification.base_parameters import BaseParameters, base_parameters
from dynamis.identification.equations import Equations, Regressor, equations
from dynamis.identification.estimators.body_space import BodySpace
from dynamis.identification.estimators.estimator import Estimator
from dynamis.identification.estimators.regularised import PhysicallyConsistent
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.logs.examine_torques import column_finding, zero_finding
from dynamis.identification.logs.log import LogFinding
from dynamis.identification.logs.mistakes import VERIFIED
from dynamis.identification.model_terms import with_estimated_links
from dynamis.identification.samples import Samples
from dynamis.identification.signals.outliers import CubicSpline
from dynamis.identification.validation.describe import listed
from dynamis.identification.validation.held_out import Folds, cross_validate, validations
from dynamis.identification.validation.statistics import noise_of_joints
from dynamis.identification.validation.verdict import RESIDUAL

Array = npt.NDArray[Any]
FALLS = 0.98  # ratio of the held-out residuals with and without a correction that is reported
LEFT = 0.6**2  # the same of their squares, relative to the noise of each joint: what leaves more is not their cause
LATE = 0.8  # the same of a delay on which the joints agree: what is left is not explained
CERTAIN = 2.0  # standard errors of the difference of these residuals, from its scatter over blocks of time
NO_WORSE = 1.02  # ratio of the held-out residuals with and without a correction that makes the parameters agree with the file
FILE = 10.0  # weight λ of the file's inertias in the search for such a correction: standard errors of 30 %
TRUSTED = 1.0  # weight of the file, chosen on held-out blocks with the correction, below which its inertias prove nothing
SURE = 2.5  # standard errors of the difference of held-out residuals with two joints exchanged: one of many pairs
NEARER = 0.25  # ratio of the squared distances from the file, with residuals that are no larger, that needs no lower residual
LOWER = 0.9  # ratio of the squared residuals with two joints exchanged, each relative to the noise of its joint
FITTED = RESIDUAL[0] / 100.0  # residual relative to the torques, above which they must be lower by `LEFT`
FARTHER = 0.1  # of the decrease of the squared residuals: increase of the squared distance from the file that is tolerated
BETTER = 25.0  # decrease of the cost: five standard errors


def verified_in_turn(
    findings: Sequence[LogFinding], folds: Folds, runs: Sequence[Samples], estimator: Estimator
) -> tuple[list[LogFinding], Sequence[Samples]]:
    """Return the findings that hold (`verified`), each with those of single joints before it corrected, and the runs with these
    corrected."""
    kept = []
    for finding in findings:
        if (found := verified(finding, folds, runs, estimator)) is not None:
            kept.append(found)
            if len(found.of_joints) or found.change is not None:
                folds, runs = _corrected(folds, runs, found), [_corrected_run(run, found) for run in runs]
    return kept, runs


def verified(finding: LogFinding, folds: Folds, runs: Sequence[Samples], estimator: Estimator) -> LogFinding | None:
    """Return a finding of joint zeros, a delay, a drift, a change, a clock, a factor or coupled motors with the residuals on
    held-out motion, if its correction explains them, over blocks of time; otherwise None. Other findings are returned as is."""
    if finding.coupled:
        return _coupled(finding, folds, runs, estimator)
    corrects = finding.zero, finding.delay, finding.factors, finding.positions, len(finding.of_joints)
    if not any(corrects) and finding.time_scale == 1.0 and finding.change is None:
        return finding
    if finding.drift or finding.change is not None:
        folds, estimator = _with_offsets(folds, runs, estimator)
    # a delay has the joints as witnesses, a clock the file; a part of the residual that they leave is another matter
    most = LATE if finding.delay else FALLS**2 if finding.time_scale != 1.0 else LEFT
    left = _lower_residuals(finding, folds, _corrected(folds, runs, finding), estimator, estimator, most)
    partly = finding.time_scale == 1.0 and finding.change is None
    if left is None or not (partly or left.percent <= 100.0 * FITTED):
        return None
    rest = ": a part of it, the rest is not explained" if left.ratio > LEFT else ""
    return replace(finding, text=f"{finding.text}; corrected, {left.text}{rest}")


def _with_offsets(folds: Folds, runs: Sequence[Samples], estimator: Estimator) -> tuple[Folds, Estimator]:
    """Return folds and estimator of the same model with offsets: a torque that drifts has no known start."""
    source = folds.rows.source
    assert isinstance(source, Regressor)
    model = source.base.model
    if model.settings["offset"]:
        return folds, estimator
    settings: dict[str, Any] = {**model.settings, "offset": True}
    base = base_parameters(LinearModel(model.robot, **settings))
    base = with_estimated_links(base, runs, 2) if base.model.is_loaded else base
    with_base = type(estimator)(**{**estimator.get_params(), "base": base})
    return folds.of_rows(equations(base, runs)), with_base


class Refit(NamedTuple):
    """The residual on held-out motion after a refit, in words and in percent, and the ratio of the squares, relative to the
    noise, to those before."""

    text: str
    percent: float
    ratio: float


def _coupled(finding: LogFinding, folds: Folds, runs: Sequence[Samples], estimator: Estimator) -> LogFinding | None:
    """Return a finding of coupled motors with the residuals of a refit: with the coupling in the model, the torques those of
    the joints, or those of the motors if this is better."""
    source = folds.rows.source
    assert isinstance(source, Regressor)
    model = source.base.model
    a, b = finding.coupled
    names = model.robot.coordinate_names
    known = {frozenset(pair) for pair in model.couplings}
    further = () if {a, b} in known else ((names[a], names[b]),)
    settings: dict[str, Any] = dict(model.settings)
    settings["couplings"] = (*settings["couplings"], *further)
    base = base_parameters(LinearModel(model.robot, **settings))
    found, least = None, np.inf
    for carried in (0.0, 1.0):  # the part of the torque of motor B that acts on joint A, too, and is not in the log
        mixed = np.eye(len(names))
        mixed[b, a] = carried
        corrected = [replace(run, tau=run.tau @ mixed) for run in runs]
        refit = folds.of_rows(equations(base, corrected))
        left = _lower_residuals(finding, folds, refit, estimator, PhysicallyConsistent(base))
        if left is not None and left.percent < least:
            found, least = (carried, left), left.percent
    if found is None:
        return None
    carried, left = found
    if not carried:
        return replace(finding, text=f"{finding.text}; with this coupling in the model, {left.text}")
    one, other = printable(names[a]), printable(names[b])
    text = f"{finding.text}, and the torques to be those of the motors: that of {other} acts on {one}, too"
    text += f"; added to it, with the coupling in the model, {left.text}"
    table = f"coupling = [[{b + 1}, {a + 1}, 1]] and ratios of 1 of the transmission"
    cure = f'in a mapping, give side = "motor" of the torques, {table}; and {finding.cure}'
    return replace(finding, text=text, cure=cure, caps=2)


def _lower_residuals(
    finding: LogFinding, folds: Folds, corrected: Folds, estimator: Estimator, refitted: Estimator, most: float = LEFT
) -> Refit | None:
    """Return the residuals on held-out motion with a correction, if they are clearly lower, with a ratio of their squares,
    relative to the noise of each joint, of at ``most`` the given one; otherwise None."""
    rows = folds.rows
    pair = ((folds, estimator), (corrected, refitted))
    both = [each.rows.y - validations([each.fits(fit)], each)[0].predicted for each, fit in pair]
    both[1] *= np.asarray(finding.factors or np.ones(len(rows.joints)))[rows.joint]
    names, joints = rows.joints, np.asarray(finding.of_joints)
    if finding.code == "wrong scale":  # few joints depend on the torque of another: one is a witness
        before, after = (np.bincount(rows.joint, e**2, len(names)) for e in both)
        joints = np.array([np.argmin(after / before)])
    return lower_residuals(rows, both[0], both[1], folds.seconds, joints if len(joints) else np.arange(len(names)), most)


def residual_of(folds: Folds, estimator: Estimator) -> float:
    """Return the residual on held-out motion in percent of the torques."""
    return float(validations([folds.fits(estimator)], folds)[0].held_out)


def lower_residuals(
    rows: Equations, before: Array, after: Array, seconds: float, joints: Array, most: float = LEFT
) -> Refit | None:
    """Return the residuals of the joints on held-out motion after a refit, if they are clearly lower over blocks of time, with
    a ratio of their squares, relative to the noise of each joint, of at ``most`` the given one; otherwise None."""
    noise, own = noise_of_joints(after, rows.joint, len(rows.joints))[rows.joint], np.isin(rows.joint, joints)
    sums = [np.bincount(rows.blocks(seconds)[own], (e / noise)[own] ** 2) for e in (before, after)]
    gained = np.sqrt(sums[0]) - np.sqrt(sums[1])  # RMS residuals: a few blocks far off do not decide
    certain = gained.mean() > CERTAIN * gained.std() / np.sqrt(max(len(gained) - 1, 1))
    old, new = (100.0 * float(np.linalg.norm(e[own]) / np.linalg.norm(rows.y[own])) for e in (before, after))
    if not certain or sums[1].sum() > most * sums[0].sum() or new > FALLS * old:
        return None
    which = "" if len(joints) == len(rows.joints) else f" of {listed([printable(rows.joints[j]) for j in joints])}"
    what = f"the residual{which} on held-out motion is {new:.3g} % instead of {old:.3g} %"
    return Refit(what, new, float(sums[1].sum() / sums[0].sum()))


def absorbed_mistakes(folds: Folds, runs: Sequence[Samples], some: Sequence[Samples]) -> list[LogFinding]:
    """Return a finding of exchanged or reversed joints, or of joint zeros, that the inertias of the links can absorb, or []."""
    return _wrong_columns(folds, runs, some) or _absorbed_zeros(folds, runs, some)


def _absorbed_zeros(folds: Folds, runs: Sequence[Samples], some: Sequence[Samples]) -> list[LogFinding]:
    """Return a finding of joint zeros that the inertias of the links can absorb, if with them torques and file agree better.

    The zeros are estimated from ``some`` of the runs with the file's inertias as measurements of 30 %. They are reported if the
    default estimator, with the zeros corrected, trusts the file, fits torques and file together clearly better, and predicts
    held-out blocks no worse.
    """
    source = folds.rows.source
    assert isinstance(source, Regressor)
    base = source.base
    if base.model.robot.nq != base.model.robot.n or not (finding := zero_finding(some, base, FILE)):
        return []
    corrected = _corrected(folds, runs, finding)
    after = PhysicallyConsistent(base)
    corrected.fit(after)
    if after.regularisation_ < TRUSTED:
        return []
    before = PhysicallyConsistent(base, regularisation=after.regularisation_)
    folds.fit(before)
    if _cost(before, folds, after) < _cost(after, corrected, after) + BETTER:
        return []
    old, new = (cross_validate(fit, each).held_out for fit, each in ((before, folds), (after, corrected)))
    if new > NO_WORSE * old or new > 100.0 * FITTED:
        return []
    shifts = [_shifts(base, fit.full_) for fit in (before, after)]
    link = max(shifts[0], key=lambda name: shifts[0][name] - shifts[1][name])
    near, far = (1e3 * each[link] for each in reversed(shifts))
    moved = f"the centre of mass of {printable(link)} is {near:.0f} mm from that of the file instead of {far:.0f} mm"
    left = f"the residual on held-out motion {new:.3g} % instead of {old:.3g} %"
    return [replace(finding, text=f"{finding.text}; corrected, {moved}, and {left}")]


def _wrong_columns(folds: Folds, runs: Sequence[Samples], some: Sequence[Samples]) -> list[LogFinding]:
    """Return a finding of two joints whose columns are exchanged, or of one that turns the other way, if torques and file agree
    better with them corrected.

    The joints are those for which ``some`` of the runs and the file's inertias, as measurements of 30 %, are most likely. They
    are reported if, corrected, the fit predicts held-out blocks with clearly lower errors, relative to the noise of each joint,
    and is not farther from the file, or little compared with this decrease; or if it is much nearer to the file.
    """
    source = folds.rows.source
    assert isinstance(source, Regressor)
    base = source.base
    if base.model.robot.nq != base.model.robot.n or not (finding := column_finding(some, base, FILE)):
        return []
    pair = (folds, _corrected(folds, runs, finding))
    fits = [PhysicallyConsistent(base, regularisation=FILE) for _ in pair]
    for fit, each in zip(fits, pair, strict=True):
        each.fit(fit)
    both = [each.rows.y - cross_validate(fit, each).predicted for fit, each in zip(fits, pair, strict=True)]
    away = [_distance(fit, fits[1]) for fit in fits]
    noise = noise_of_joints(both[1], pair[1].rows.joint, len(base.model.robot.coordinate_names))
    order = np.asarray(finding.order or np.arange(len(noise)))
    columns = (order, np.arange(len(noise)))  # the joint of each column of the log
    costs = [
        np.bincount(each.rows.blocks(each.seconds), (e / noise[own[each.rows.joint]]) ** 2)
        for each, e, own in zip(pair, both, columns, strict=True)
    ]
    gained = costs[0] - costs[1] if len(costs[0]) == len(costs[1]) else np.zeros(2)
    certain = gained.mean() > SURE * gained.std() / np.sqrt(max(len(gained) - 1, 1))
    farther = away[1] - away[0] > FARTHER * gained.sum()
    rows = pair[1].rows
    accused = np.flatnonzero((order != columns[1]) | (np.asarray(finding.signs or 1.0) < 0.0))
    left = [np.sum(both[1][rows.joint == j] ** 2) / np.sum(rows.y[rows.joint == j] ** 2) for j in accused]
    good = float(both[1] @ both[1]) < FITTED**2 * float(rows.y @ rows.y)
    lower = certain and costs[1].sum() <= (LOWER if good else LEFT) * costs[0].sum()
    nearer = away[1] < NEARER * away[0] and costs[1].sum() <= costs[0].sum()
    if not (lower or nearer) or farther or max(left) > VERIFIED:
        return []
    if lower:
        times = np.sqrt(costs[0].sum() / costs[1].sum())
        better = f"the residuals on held-out motion are {times:.3g} times lower, relative to the noise of each joint"
    else:
        better = (
            f"the parameters are {np.sqrt(away[0] / away[1]):.2g} times nearer to those of the file, with no larger residuals"
        )
    return [replace(finding, text=f"{finding.text}: {'in order' if finding.order else 'inverted'}, {better}")]


def _corrected(folds: Folds, runs: Sequence[Samples], finding: LogFinding) -> Folds:
    """Return the equations of the corrected runs in the same folds."""
    source = folds.rows.source
    assert isinstance(source, Regressor)
    corrected = [_corrected_run(run, finding) for run in runs]
    base = with_estimated_links(source.base, corrected, 2) if source.base.model.is_loaded else source.base
    return folds.of_rows(equations(base, corrected))


def _corrected_run(run: Samples, finding: LogFinding) -> Samples:
    if finding.order:
        own = np.asarray(finding.order)
        return replace(run, **{name: getattr(run, name)[:, own] for name in ("q", "v", "a", "tau", "use")})
    if finding.signs:
        return replace(run, **{name: getattr(run, name) * np.asarray(finding.signs) for name in ("q", "v", "a", "tau")})
    if finding.time_scale != 1.0:
        return replace(run, v=run.v / finding.time_scale, a=run.a / finding.time_scale**2)
    if finding.zero or finding.positions or finding.factors:
        one = np.ones(run.tau.shape[1])
        scale, factors = (np.asarray(x or one) for x in (finding.positions, finding.factors))
        q = run.q / scale + np.asarray(finding.zero or 0.0 * one)
        return replace(run, q=q, v=run.v / scale, a=run.a / scale, tau=run.tau / factors)
    if finding.change is not None:
        same = run.source == finding.change.source
        return replace(run, tau=finding.change.removed(run.t, run.q, run.v, run.a, run.tau)) if same else run
    if finding.drift:
        return replace(run, tau=run.tau - np.outer(run.t - run.t.mean(), finding.drift))
    delays = np.asarray(finding.delays or [finding.delay] * run.tau.shape[1])
    late = {s: CubicSpline(run.t, run.tau)(np.clip(run.t + s, run.t[0], run.t[-1])) for s in np.unique(delays)}
    return replace(run, tau=np.stack([late[s][:, j] for j, s in enumerate(delays)], axis=1))


def _cost(fit: PhysicallyConsistent, folds: Folds, reference: PhysicallyConsistent) -> float:
    """Return Σ_j |e_j|² / σ_j² + λ |x|², with the noise, the weight and the coordinates x of the reference."""
    factors, _ = folds.factors().merged
    squares = np.array([np.sum((F @ np.append(fit.coef_, -1.0)) ** 2) for F in factors])
    return float(np.sum(squares / reference.noise_**2) + _distance(fit, reference))


def _distance(fit: PhysicallyConsistent, reference: PhysicallyConsistent) -> float:
    """Return the distance from the file, λ |x|², with the weight and the coordinates x of the reference."""
    x = BodySpace(fit.base.model, sizes=reference.sizes_).coordinates(fit.full_)
    return float(reference.regularisation_ * np.sum(x**2))


def _shifts(base: BaseParameters, parameters: Array) -> dict[str, float]:
    """Return the distances [m] of the links' centres of mass from those of the file, for links with a mass in both."""
    both = (base.model.prior, parameters)
    found = {}
    for body in base.model.bodies:
        (m, *h), (mass, *moment) = (pi[body.place][:4] for pi in both)
        if min(m, mass) > 0.0:
            found[body.name] = float(np.linalg.norm(np.array(h) / m - np.array(moment) / mass))
    return found
