"""Logs that contradict each other: each has parameters of its own, as where the robot carried a payload in one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.identification.corrections import lower_residuals
from dynamis.identification.equations import Matrix, Regressor, equations
from dynamis.identification.estimators.estimator import Estimator, WeightedLeastSquares
from dynamis.identification.logs.log import LogFinding
from dynamis.identification.samples import Samples
from dynamis.identification.validation.describe import listed
from dynamis.identification.validation.held_out import Folds, validations
from dynamis.identification.validation.residuals import relative
from dynamis.identification.validation.run_comparison import RunComparison, compare_runs
from dynamis.identification.validation.statistics import judge_fit

Array = npt.NDArray[Any]
DEPENDENT = 1e-9  # relative size of a direction of the inertia of a link on which no torque depends
SHOWN = 3  # parameters in the message
GOOD = 2.0  # percent of the torques, below which a residual proves no contradiction (`verdict.SMALL` of its limit)


def differing_logs(folds: Folds, runs: Sequence[Samples], fit: Estimator) -> list[LogFinding]:
    """Return a finding of logs with different loads, or with other parameters than the first, if held-out motion is predicted
    clearly better with a load of its own in each, or by each fitted alone, than by all together; or [].

    ``fit`` is an estimator fitted to all rows.
    """
    rows, source = folds.rows, folds.rows.source
    assert isinstance(source, Regressor)
    logs = _logs(runs)
    if len(logs) < 2 or relative(rows.y - rows.predict(fit.coef_), rows.y) < GOOD:
        return []
    every = np.arange(len(rows.joints))
    together = np.asarray(rows.y - validations([folds.fits(fit)], folds)[0].predicted)
    loaded = lower_residuals(rows, together, _with_loads(folds, source, list(logs.values())), folds.seconds, every)
    if loaded is not None:
        link = printable(source.base.model.bodies[-1].name)
        text = (
            f"the load on {link} differs between the logs {listed(list(logs))}: with a load of its own in each, {loaded.text}"
        )
        cure = (
            "identify the robot from logs with one load, and the load of another with identify_payload (dynamis payload), with "
            "a log without load as reference"
        )
        return [LogFinding("warning", "differing logs", None, None, text, cure, caps=2)]
    alone, judged = np.empty(len(rows)), []
    try:
        for own in logs.values():
            part = Folds(equations(source.base, [runs[k] for k in own]), folds.k, guard=folds.guard)
            alone[np.isin(rows.run, own)] = part.rows.y - validations([part.fits(fit)], part)[0].predicted
            each = part.fit(type(fit)(**fit.get_params()))
            judged.append((judge_fit(part.rows, each), part.rows))
    except (InputError, ValueError):  # a log too short to be fitted alone
        return []
    refit = lower_residuals(rows, together, alone, folds.seconds, every)
    (first, first_rows), *more = judged
    pair = (source.base, source.base)
    compared = [compare_runs(pair, (first, s), (first_rows, r)) for s, r in more] if refit is not None else []
    names, changed = list(logs), [runs_of for runs_of in compared if runs_of.significant]
    if refit is None or not changed:
        return []
    others = [name for name, runs_of in zip(names[1:], compared, strict=True) if runs_of.significant]
    text = f"the parameters of {listed(others)} differ from those of {names[0]}, {_where(changed)}; identified separately, "
    cure = "identify them separately, and compare the results with compared_with: the robot, its friction or tool has changed"
    return [LogFinding("warning", "differing logs", None, None, f"{text}{refit.text}", cure, caps=2)]


def _with_loads(folds: Folds, source: Regressor, logs: Sequence[Sequence[int]]) -> Array:
    """Return the residuals on held-out motion of a fit in which the inertia of the last link differs between the logs."""
    rows, base = folds.rows, source.base
    U, sizes, _ = np.linalg.svd(base.B[:, base.model.bodies[-1].place], full_matrices=False)
    load = rows.X[:, : base.rank] @ U[:, sizes > DEPENDENT * sizes[0]]
    more = [np.where(np.isin(rows.run, own)[:, None], load, 0.0) for own in logs[1:]]
    X = np.hstack([rows.X, *more])
    names = (*rows.names, *(f"load {k}" for k in range(X.shape[1] - len(rows.names))))
    with_loads = folds.of_rows(replace(rows, names=names, source=Matrix(X)))
    return np.asarray(rows.y - validations([with_loads.fits(WeightedLeastSquares())], with_loads)[0].predicted)


def _logs(runs: Sequence[Samples]) -> dict[str, list[int]]:
    """Return the indices of the runs of each log, by the name of its file, or by their number."""
    logs: dict[str, list[int]] = {}
    for k, run in enumerate(runs):
        logs.setdefault(printable(run.source) if run.source else f"run {k + 1}", []).append(k)
    return logs


def _where(changed: Sequence[RunComparison]) -> str:
    runs = max(changed, key=lambda each: len(each.significant))
    return f"in {len(runs.significant)} of {len(runs.names)} base parameters, such as {', '.join(runs.significant[:SHOWN])}"
