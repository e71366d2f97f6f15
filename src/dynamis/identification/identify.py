"""The complete identification: logs, samples, equations, fit, validation and model."""

from __future__ import annotations

import ast
import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, printable, unknown_name
from dynamis.identification.base_parameters import BaseParameters, base_parameters
from dynamis.identification.constraint_checks import contradicted_constraints, unconstrained
from dynamis.identification.corrections import absorbed_mistakes, verified_in_turn
from dynamis.identification.differing_logs import differing_logs
from dynamis.identification.disturbances import disturbances
from dynamis.identification.equations import Equations, Regressor, equations
from dynamis.identification.estimators.body_space import BodySpace
from dynamis.identification.estimators.estimator import Estimator, LeastSquares, WeightedLeastSquares
from dynamis.identification.estimators.factors import one_blas_thread
from dynamis.identification.estimators.regularised import PhysicallyConsistent, Ridge
from dynamis.identification.identification import Identification
from dynamis.identification.linear_model import LinearModel, model_of
from dynamis.identification.logs.examine import examine
from dynamis.identification.logs.examine_torques import examine_torques
from dynamis.identification.logs.log import Log, LogFinding, one_per_cause, raise_errors
from dynamis.identification.logs.reading import log_beginning
from dynamis.identification.model_terms import with_balancers, with_terms
from dynamis.identification.samples import Decimation, Samples
from dynamis.identification.signals.prepare import prepare, time_spans
from dynamis.identification.signals.windows import WINDOW, prepare_in_windows
from dynamis.identification.validation.held_out import Folds, predictions, validations
from dynamis.identification.validation.link_masses import unlike_total
from dynamis.identification.validation.statistics import essential_of, judge_fit
from dynamis.identification.validation.verdict import RESIDUAL
from dynamis.robot import Robot, load

Array = npt.NDArray[Any]
SHARED = 0.05  # fraction of the rows of a log that may also be in another
PLAUSIBLE = 1e30  # N m: squares of larger torques, or of the reciprocals of smaller ones, would overflow
NO_LITERAL = "…"  # in place of an argument that cannot be written as a literal
Source = Log | Samples | str | os.PathLike[str]
Progress = Callable[[float, str], None]


def near_the_prior(base: BaseParameters) -> Ridge:
    """Return ridge regression with prior standard deviations relative to the prior link inertias.

    Scales taken from the torques of the log would leave poorly excited parameters unregularized.
    """
    space = BodySpace(base.model)
    return Ridge(prior=base.prior, prior_scale=np.linalg.norm(base.B @ space.spun @ space.C, axis=1))


ESTIMATORS: dict[str, Callable[[BaseParameters], Estimator]] = {
    "ordinary": lambda _: LeastSquares(),
    "weighted": lambda _: WeightedLeastSquares(),
    "ridge": near_the_prior,
    "consistent": PhysicallyConsistent,
}
COMPARED = tuple(ESTIMATORS)


@one_blas_thread()
def identify(
    robot: Robot | LinearModel | str | os.PathLike[str],
    logs: Source | Sequence[Source],
    *,
    validate: Source | Sequence[Source] | None = None,
    mapping: Any = None,
    signals: Mapping[str, Any] | None = None,
    estimator: str | Estimator = "consistent",
    constraints: Mapping[str, Any] | None = None,
    only: str | Sequence[str] | None = None,
    compare: Sequence[str | Estimator] = COMPARED,
    folds: int = 5,
    block_seconds: float | None = None,
    examined: bool = True,
    limits: tuple[float, float, float] = RESIDUAL,
    progress: Progress | None = None,
) -> Identification:
    """Identify the dynamic parameters of a robot from logs, with standard errors and validation.

    ``robot`` is the prior model, or a `LinearModel` that selects the parameters; without one, offsets, further friction terms
    and coupled motors are added if they clearly improve the prediction of held-out motion. ``logs`` are files, `Log`s or
    `Samples`; ``mapping`` describes the columns of files, and ``signals`` are the arguments of `prepare`. ``estimator`` is
    "ordinary", "weighted", "ridge", "consistent" or an estimator object; those in ``compare`` are fitted
    too. ``constraints`` are further arguments of `PhysicallyConsistent`, the estimator "consistent": masses from data sheets,
    shapes that contain the links, and so on. With ``only``, a list of base parameters or "essential", just these are fitted,
    by weighted least squares, and the others are zero. Each is validated by cross-validation with ``folds`` folds in blocks of
    ``block_seconds``, or on the logs in ``validate``. With ``examined=False`` suspicious logs are not rejected. ``limits`` are
    the residuals on held-out motion, in percent, above which the grade is no longer "good", "usable" and "doubtful".

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("planar_2r_melchiorri")
    >>> t = np.arange(2000)[:, None] * 0.005
    >>> w, phase = np.array([1.3, 2.1]), np.array([0.0, 1.0])
    >>> q, v, a = np.sin(w * t + phase), w * np.cos(w * t + phase), -(w**2) * np.sin(w * t + phase)
    >>> noise = np.random.default_rng(0).normal(size=q.shape)
    >>> run = dy.identification.Samples.of(q, v, a, robot.inverse_dynamics(q, v, a) + noise, period=0.005)
    >>> found = dy.identify(dy.identification.LinearModel(robot, rotor=False), run, compare=())
    >>> found.verdict.grade
    'good'
    """
    model = model_of(robot if isinstance(robot, Robot | LinearModel) else load(robot))
    call = _call(
        robot, logs, validate=validate, mapping=mapping, signals=signals, estimator=estimator, constraints=constraints,
        only=only, compare=compare, folds=folds, block_seconds=block_seconds, examined=examined, limits=limits,
    )  # fmt: skip
    if constraints and estimator != "consistent":
        raise InputError(f"constraints= are those of the estimator 'consistent', not of {label(estimator)!r}")
    tell = progress or (lambda _, __: None)
    notes, caps, seen = list[str](), list[LogFinding](), list[Array]()
    tell(0.0, "reading logs")
    base = base_parameters(model)
    runs = _samples(logs, base, mapping, signals or {}, examined, notes, caps, seen)
    if not isinstance(robot, LinearModel):
        base, caps = with_balancers(base, caps, notes)
        tell(0.2, "choosing the terms of the model")
    reach, seconds = _reach(runs), block_seconds if validate is None else None

    def folds_of(rows: Equations) -> Folds:
        # rows whose filter reaches into a held-out block depend on it and are not fitted
        return Folds(rows, folds, seconds=seconds, guard=min(reach, 0.1 * seconds) if seconds else reach)

    prior, said, given = base, len(notes), isinstance(robot, LinearModel)
    rows, unloaded, unsure = with_terms(prior, runs, notes, reach, given=given)
    base, separate = _base_of(rows), folds_of(rows)
    tell(0.4, f"fitting ({label(estimator)})")
    caps, corrected = verified_in_turn(caps, separate, runs, unconstrained(chosen("consistent", base, constraints)))
    if corrected is not runs and not given:  # without terms that only have the form of what is wrong with single joints
        del notes[said:]
        base = _base_of(with_terms(prior, corrected, notes, reach, given=given)[0])
        notes[said:] = [f"with drift and delays of single joints corrected, {note}" for note in notes[said:]]
        rows, unloaded, unsure = with_terms(base, runs, notes, reach, given=True)
        base, separate = _base_of(rows), folds_of(rows)
    if only is not None:
        estimator = _selected(estimator, only, separate)
    main = separate.fit(chosen(estimator, base, constraints))
    if examined and all(f.code == "clipped" for f in caps):
        caps += (
            contradicted_constraints(separate, main)
            or differing_logs(separate, runs, main)
            or disturbances(separate, runs, main)
            or absorbed_mistakes(separate if unloaded is None else separate.of_rows(unloaded), runs, beginning(runs))
        )
    others = {name: chosen(other, base, constraints) for name, other in others_by_name(estimator, compare).items()}
    unseen = None if validate is None else _samples(validate, base, mapping, signals or {}, examined, notes, caps, tuple(seen))
    fresh = None if unseen is None else equations(base, unseen)
    fits: dict[str, Array] = {}
    for number, (name, each) in enumerate({label(estimator): main, **others}.items()):
        tell(0.5 + 0.4 * number / (1 + len(others)), f"validating ({name})")
        try:
            if fresh is None:
                fits[name] = separate.fits(each)
            else:
                fits[name] = (each if each is main else separate.fit(each)).coef_
        except InputError as error:
            if name == label(estimator):
                raise
            notes.append(f"{name}: {error}")
    coefs, known = list(fits.values()), base.prior
    residuals = validations(coefs, separate, prior=known) if fresh is None else predictions(coefs, rows, fresh, prior=known)
    tell(0.95, "computing statistics")
    found = Identification(
        base, main, rows, tuple(runs), judge_fit(rows, main, more=unsure), dict(zip(fits, residuals, strict=True)),
        label(estimator), (*unlike_total((constraints or {}).get("total_mass"), model), *notes),
        validated=fresh is not None, call=call, log_findings=tuple(caps), limits=limits, validated_rows=fresh,
        refit=functools.partial(_refit, main, runs, validate=unseen, folds=folds, block_seconds=block_seconds),
        terms_chosen=not isinstance(robot, LinearModel),
    )  # fmt: skip
    tell(1.0, "done")
    return found


def _refit(estimator: Estimator, runs: Sequence[Samples], model: LinearModel, **options: Any) -> Identification:
    """Identify another model from the same samples with the same kind of estimator."""
    base, settings = base_parameters(model), estimator.get_params()
    if isinstance(estimator, PhysicallyConsistent):
        bounds = {name: pair for name, pair in (estimator.bounds or {}).items() if name in model.names}
        settings |= {"base": base, "prior": None, "bounds": bounds or None}
    elif isinstance(estimator, Ridge):
        settings = near_the_prior(base).get_params() | {key: settings[key] for key in ("strength", "noise")}
    elif settings.get("only") is not None:
        settings["only"] = [name for name in settings["only"] if name in base.names]
    same = type(estimator)(**settings)
    return identify(model, runs, estimator=same, compare=(), examined=False, **options)


def _selected(estimator: str | Estimator, only: str | Sequence[str], folds: Folds) -> WeightedLeastSquares:
    """Return weighted least squares of the selected parameters; "essential" ones are found by a fit of all parameters."""
    if estimator not in ("consistent", "weighted"):
        raise InputError(f"only= selects parameters of weighted least squares; it cannot be combined with {estimator!r}")
    if only == "essential":
        rows = folds.rows
        fit = folds.fit(WeightedLeastSquares())
        only = essential_of(rows.whole, rows.names, effective=judge_fit(rows, fit).effective).names
    return WeightedLeastSquares(only=[only] if isinstance(only, str) else list(only))


def _call(*arguments: Any, **options: Any) -> str:
    """Return the call of `identify` as Python code; "" if an argument is an object that has no literal."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(identify).parameters.items()}
    texts = [_literal(value) for value in arguments]
    texts += [f"{name}={_literal(value)}" for name, value in options.items() if value is not defaults[name]]
    if any(text.endswith(NO_LITERAL) for text in texts):
        return ""
    return f"import dynamis as dy\n\nfound = dy.identify({', '.join(texts)})"


def _literal(value: Any) -> str:
    """Return Python code for the value, paths as text; `NO_LITERAL` if there is none."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    elif isinstance(value, list | tuple):
        value = type(value)(os.fspath(item) if isinstance(item, os.PathLike) else item for item in value)
    try:
        return repr(value) if ast.literal_eval(repr(value)) == value else NO_LITERAL
    except (ValueError, SyntaxError):
        return NO_LITERAL


def _reach(runs: Sequence[Samples]) -> float:
    """Return half the duration of the filter of the equations, in s."""
    return max(len(Decimation(run.period, run.parallel, run.every).taps) * (run.period or 0.0) / 2.0 for run in runs)


def _base_of(rows: Equations) -> BaseParameters:
    assert isinstance(rows.source, Regressor)
    return rows.source.base


def _samples(
    sources: Source | Sequence[Source],
    base: BaseParameters,
    mapping: Any,
    signals: Mapping[str, Any],
    examined: bool,
    notes: list[str],
    caps: list[LogFinding],
    seen: list[Array] | tuple[Array, ...],
) -> list[Samples]:
    """Return the samples of all logs; ``seen`` are keys of the rows before, in a tuple those not to be used again."""
    given = list(sources) if isinstance(sources, Sequence) and not isinstance(sources, str) else [sources]
    if not given:
        raise InputError("no logs given; identification needs at least one")
    _check_names(signals, prepare, 2, "signals")
    runs: list[Samples] = []
    robot = base.model.robot
    for source in given:
        if not isinstance(source, Log | Samples | str | os.PathLike):
            kinds = "files, Log(t, q, tau) or Samples.of(q, v, a, tau)"
            raise InputError(
                f"a log of type {type(source).__name__} cannot be used; identify takes {kinds}, or a list of these"
            )
        if isinstance(source, Samples):
            if examined and _repeated(source, seen, notes):
                continue
            _check_samples(source)
            runs.append(source)
            if examined:
                look_at(examine_torques(source, robot, base=base), notes, caps)
            continue
        period = signals.get("period")
        log, more = (source, None) if isinstance(source, Log) else log_beginning(source, robot, mapping, WINDOW, period=period)
        if examined:
            if _repeated(log, seen, notes):
                continue
            timed = log.with_time_scale(signals.get("time_scale", 1.0))
            found = [f for f in examine(timed, robot) if not _left_out(f, timed, signals)]
            look_at(found, notes, caps, outliers=signals.get("outliers", True))
        ready = prepare(log, robot, **signals) if more is None else prepare_in_windows(log, more, robot, **signals)
        notes += [f"{printable(log.source) if log.source else 'the log'}: {note}" for note in ready.notes]
        runs += ready.samples
        if examined:
            # torques of joints are combinations of motor columns
            columns = log.columns if log.side_of("tau") == log.side_of("q") == "joint" else {}
            look_at(examine_torques(beginning(ready.samples), robot, columns, base), notes, caps)
    return runs


def _left_out(finding: LogFinding, log: Log, signals: Mapping[str, Any]) -> bool:
    """Return whether a position jumps at an end of, or within, a time that is left out."""
    if finding.code != "position jump" or finding.row is None:
        return False
    before, after = log.t[finding.row - 1 : finding.row + 1]
    return any(start <= after and before <= end for start, end in time_spans(signals.get("leave_out", ())))


def _check_names(given: Any, function: Callable[..., Any], first: int, what: str) -> None:
    """Refuse what is no mapping of arguments of a function, of which the first ones are not meant."""
    known = tuple(inspect.signature(function).parameters)[first:]
    if not isinstance(given, Mapping):
        raise InputError(f"{what}= takes a dictionary of {', '.join(known[:3])}, …; got {type(given).__name__}")
    if unknown := set(given) - set(known):
        raise unknown_name(f"argument of {function.__name__} in {what}=", str(min(unknown, key=str)), known)


def _check_samples(run: Samples) -> None:
    size, whose = float(np.abs(run.tau).max(initial=0.0)), printable(run.source) if run.source else "the samples"
    if not size or not (np.any(run.v) or np.any(run.a)):
        raise InputError(f"{whose}: {'the robot never moves' if size else 'all torques are zero'}")
    if not 1.0 / PLAUSIBLE < size < PLAUSIBLE:
        raise InputError(f"{whose}: torques of {size:.3g} N m or N are of no robot; check their unit")


def _repeated(log: Log | Samples, seen: list[Array] | tuple[Array, ...], notes: list[str]) -> bool:
    """Return whether all rows of a log, in groups of three, were seen before; a part of them, or validation with them, is
    refused. Keys of new rows are added to those seen, unless these are a tuple."""
    keys, whose = _row_keys(log), printable(log.source) if log.source else "a log"
    rows = np.unique(keys) if seen else keys
    shared = float(np.mean(np.isin(rows, np.concatenate(seen)))) if seen and len(rows) else 0.0
    if shared > SHARED:
        if isinstance(seen, tuple):
            what = f"validation needs rows that were not fitted, but {100 * shared:.0f} % of those of {whose} were"
            raise InputError(f"{what}: give another log, or none to validate on held-out blocks")
        if shared < 1.0 - SHARED:
            raise InputError(f"{100 * shared:.0f} % of the rows of {whose} are also in a log before it: give each row once")
        notes.append(f"{whose} repeats the rows of a log before it and is not used")
    elif isinstance(seen, list):
        seen.append(keys)
    return shared > SHARED


def _row_keys(log: Log | Samples) -> Array:
    """Return a hash of each group of three successive rows: the sum of their bits with odd factors, modulo 2⁶⁴."""
    columns = [np.ascontiguousarray(x).view(np.uint64) for signal in (log.q, log.tau) for x in signal.T]
    odd = np.random.default_rng(0).integers(1 << 63, size=len(columns) + 2, dtype=np.uint64) | np.uint64(1)
    key = sum(factor * column for factor, column in zip(odd[2:], columns, strict=True))
    return np.asarray(key[:-2] + odd[0] * key[1:-1] + odd[1] * key[2:])


def beginning(runs: Sequence[Samples]) -> list[Samples]:
    """Return the runs of the first window of a log."""
    found, left = [], WINDOW
    for run in runs:
        if left > 0 and Decimation(run.period, run.parallel, run.every).rows(min(left, len(run))):
            found.append(run[:left])
        left -= len(run)
    return found or list(runs[:1])


def look_at(
    findings: Sequence[LogFinding], notes: list[str], caps: list[LogFinding] | None = None, *, outliers: bool = True
) -> None:
    """Raise an error for problems of a log that cannot be repaired, and note the others; ``caps`` limit the grade.

    Spikes are repaired with ``outliers`` only.
    """
    raise_errors(f for f in findings if not f.mends or (f.code == "beyond limits" and not outliers))
    for finding in one_per_cause(findings):
        if finding.caps and caps is not None:
            caps.append(finding)
        else:
            notes.append(f"repaired: {finding.text}" if finding.mends else str(finding))


def chosen(name: str | Estimator, base: BaseParameters, constraints: Mapping[str, Any] | None = None) -> Estimator:
    """Return the estimator with this name; estimator objects are returned unchanged."""
    if isinstance(name, Estimator):
        return name
    if name not in ESTIMATORS:
        raise unknown_name("estimator", name, ESTIMATORS)
    if name == "consistent":
        _check_names(constraints or {}, PhysicallyConsistent, 1, "constraints")
        return PhysicallyConsistent(base, **(constraints or {}))
    return ESTIMATORS[name](base)


def label(estimator: str | Estimator) -> str:
    """Return the name shown in tables."""
    if isinstance(estimator, WeightedLeastSquares) and estimator.only is not None:
        return f"weighted, {counted(len(estimator.only), 'parameter')}"
    return estimator if isinstance(estimator, str) else type(estimator).__name__


def others_by_name(estimator: str | Estimator, compare: Sequence[str | Estimator]) -> dict[str, str | Estimator]:
    """Return the estimators to compare with, by unique name: repeated names are numbered."""
    names: dict[str, str | Estimator] = {label(estimator): estimator}
    for other in compare:
        name, count = label(other), 1
        if any(other is known or (isinstance(other, str) and other == known) for known in names.values()):
            continue
        while name in names:
            count += 1
            name = f"{label(other)} {count}"
        names[name] = other
    del names[label(estimator)]
    return names
