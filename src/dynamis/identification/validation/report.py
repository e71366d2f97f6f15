"""The report of an identification: verdict, data, model, validation, residuals, estimates, as a document of blocks."""

from __future__ import annotations

import itertools
import platform
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dynamis.display import counted, flat
from dynamis.documents.blocks import Block, Code, Facts, Findings, Picture, Section, Table, without_mathematics
from dynamis.documents.numbers import text, without_noise
from dynamis.documents.report import Report
from dynamis.drawing import Panels
from dynamis.identification.full_parameters import LinkConsistency, link_consistency
from dynamis.identification.validation.describe import as_large_as, bound_text, readable
from dynamis.identification.validation.held_out import Validation
from dynamis.identification.validation.plots import (
    inline_svg,
    plot_excitation,
    plot_friction,
    plot_parameters,
    plot_residuals,
    plot_torques,
    plot_validation,
    shown_time,
)
from dynamis.identification.validation.statistics import EssentialParameters, Statistics
from dynamis.identification.validation.verdict import Verdict
from dynamis.version import __version__

if TYPE_CHECKING:
    from dynamis.identification.base_parameters import BaseParameters
    from dynamis.identification.equations import Equations
    from dynamis.identification.estimators.estimator import Estimator
    from dynamis.identification.samples import Samples

TONES = ("good", "warn", "bad", "bad")  # of a finding, by severity
FOOTER = "All results are computed from the equations of the log, in SI units. σ is the standard error of an estimate."
Drawing = Callable[..., list[Picture]]  # title, caption, function and arguments of a plot


def report_of(found: Any, *, command: str = "", draw: bool = True) -> Report:
    """The report of an `Identification`. ``command`` is the command or call that made it; ``draw=False`` omits the plots, which
    need matplotlib and take some seconds."""
    base, rows, s, v, said = found.base, found.equations, found.statistics, found.validation, found.verdict
    numbers = itertools.count()

    def drawn(title: str, caption: str, plot: Callable[..., Panels], *arguments: Any) -> list[Picture]:
        return [Picture(title, caption, inline_svg(plot(*arguments), caption, next(numbers)))] if draw else []

    first = Section(f"Verdict: {said.grade.capitalize()}", "verdict", _summary(said, base, v))
    first.add(*_torques(rows, found.validated_rows, v, drawn), _facts(s, base, rows, v))
    sections = [
        first,
        _findings(said),
        _data(found.samples, rows, found.notes),
        _model(base),
        _validation(v, found.comparison, s, drawn),
        _residuals(s, rows, drawn),
        _estimates(s, base, drawn),
        _essential(found.essential),
        _consistency(link_consistency(base.model, found.full)),
        _unidentifiable(base),
        _reproduce(command, found.estimator),
        Section("Glossary", "glossary", blocks=[Table("", ("Term", "Meaning"), GLOSSARY)]),
    ]
    return Report(
        f"Identification of {base.model.robot.name}",
        f"{counted(base.rank, 'base parameter')} from {counted(len(rows), 'equation')}, estimator {found.name}",
        [without_mathematics(section) for section in sections],
        FOOTER,
    )


def number(x: float, digits: int = 4) -> str:
    """A number for a table; infinite ones too.

    >>> number(-0.00012345), number(1.5e-7, 2), number(float("inf")), number(float("nan"))
    ('−0.0001234', '1.5 × 10⁻⁷', '∞', '–')
    """
    return ("∞" if x > 0 else "−∞") if np.isinf(x) else text(x, digits)


def _summary(verdict: Verdict, base: BaseParameters, v: Validation) -> str:
    """The result in one sentence with one number."""
    robot = base.model.robot
    before = "" if v.prior is None else f", the model before the identification {number(v.prior, 3)} %"
    return (
        f"The identified model of {robot.name} ({counted(robot.n, 'joint')}) is {verdict.grade}: its prediction of the torques "
        f"of motion that was not fitted leaves {number(v.held_out, 3)} %{before}."
    )


def _torques(rows: Equations, validated: Equations | None, v: Validation, drawn: Drawing) -> list[Picture]:
    """Measured and predicted torque of every joint: on the validation logs, or while held out."""
    if validated is not None:
        caption = "Measured torque of each joint in the validation log, not fitted, its prediction, and the difference."
        caption += shown_time(validated)
        return drawn("Measured and predicted torque, validation log", caption, plot_torques, validated, v.predicted)
    caption = "Measured torque of each joint, its prediction while held out, and the difference."
    return drawn("Measured and predicted torque", caption + shown_time(rows), plot_torques, rows, v.predicted)


def _findings(verdict: Verdict) -> Section:
    lead = "Each finding is marked with the best grade that it permits"
    lead += "; the lowest of them is the grade, and its findings come first." if verdict.reasons else "."
    findings = [
        ("noted" if f.topic == "coloured" and not f.severity else f.limit, TONES[f.severity], f.sentence)
        for f in sorted(verdict.findings, key=lambda f: -f.severity)
    ]
    return Section("Findings", "findings", lead, [Findings(findings)])


def _facts(s: Statistics, base: BaseParameters, rows: Equations, v: Validation) -> Facts:
    runs = np.unique(rows.run)
    seconds = sum(float(np.ptp(rows.t[rows.run == run])) for run in runs)
    facts = [
        ("Motion", f"{number(seconds, 3)} s in {counted(len(runs), 'run')}"),
        ("Equations", f"{len(rows):,}".replace(",", " ")),
        ("Base parameters", f"{base.rank} of {len(base.model.names)}"),
        ("Residual, fit to all rows", f"{number(s.percent, 3)} %"),
        ("Residual, held out", f"{number(v.held_out, 3)} %"),
    ]
    if v.prior is not None:
        facts.append(("Residual, prior model", f"{number(v.prior, 3)} %"))
    return Facts([*facts, ("Condition number", number(s.excitation.scaled_condition, 3))])


def _data(samples: Sequence[Samples], rows: Equations, notes: Sequence[str]) -> Section:
    """The runs, the number of equations of each joint, and notes on the processing of the logs."""
    lines = [
        (
            run.source or f"run {k}",
            str(len(run)),
            number(float(np.ptp(run.t)), 4) if len(run) else "0",
            "–" if run.period is None else number(1.0 / run.period, 4),
            number(100.0 * float(np.mean(run.use)), 3) if len(run) else "–",
            "–" if run.parallel is None else number(run.parallel, 3),
            str(run.every),
        )
        for k, run in enumerate(samples, 1)
    ]
    header = ("Source", "Samples", "Seconds", "Rate, Hz", "Torques used, %", "Low-pass, Hz", "Decimation")
    counts = [(name, str(int(np.sum(rows.joint == j)))) for j, name in enumerate(rows.joints)]
    lead = "Each equation is one joint's torque at one sample."
    if notes:
        lead += " Notes on the processing of the data, such as dropped and repaired samples, follow the tables."
    tables: list[Block] = [Table("Runs", header, lines)] if lines else []
    blocks = [*tables, Table("Equations by joint", ("Joint", "Equations"), counts)]
    return Section("Data used", "data", lead, blocks, notes=list(notes))


def _model(base: BaseParameters) -> Section:
    """The parameters, base parameters and priors."""
    model = base.model
    regrouped = [
        (name, readable(name), number(value), model.unit(int(k)), combination)
        for name, value, k, combination in zip(base.names, base.prior, base.independent, base.expressions, strict=True)
    ]
    lead = (
        f"{len(model.names)} parameters describe links, friction and rotors; torques depend on {base.rank} combinations, "
        "the base parameters. The others cannot be identified from torques by any motion (see below). Gap between the non-zero "
        f"and the numerically zero singular values: {number(base.gap, 2)}."
    )
    header = ("Parameter", "Description", "Prior", "Unit", "Combination")
    return Section("Model", "model", lead, [Table("Base parameters", header, regrouped, folded=True)])


def _validation(v: Validation, others: Mapping[str, Validation], s: Statistics, drawn: Drawing) -> Section:
    """Residuals on held-out motion by joint and fold, and of other estimators."""
    baseline = "“Mean torque as prediction”: the residual if the torque of each joint is predicted by its mean."
    section = Section("Validation", "validation", f"{_validation_lead(v, s)} {baseline}")
    prior = v.prior_joints if v.prior_joints is not None else np.full(len(v.joints), np.nan)
    cells = zip(v.joints, v.train_joints, v.held_out_joints, prior, v.mean_joints, strict=True)
    joints = [(name, *(number(float(x), 3) for x in values)) for name, *values in cells]
    whole = np.nan if v.prior is None else v.prior
    joints.append(("all joints", *(number(float(x), 3) for x in (v.train, v.held_out, whole, v.mean))))
    header = ("Joint", "Training", "Held out", "Prior model", "Mean torque as prediction")
    folds = [
        (str(k), str(f.train_rows), str(f.held_out_rows), number(f.train, 3), number(f.held_out, 3))
        for k, f in enumerate(v.folds, 1)
    ]
    each = {name: (w.train, w.held_out, w.held_out / max(w.train, 1e-300)) for name, w in others.items()}
    lines = [(name, *(number(x, 3) for x in values)) for name, values in each.items()]
    columns = ("Estimator", "Training, %", "Held out, %", "Held out / training")
    section.add(
        Table("Residual in percent of the torque (100 |e| / |τ|)", header, joints),
        Table("Folds", ("Fold", "Training rows", "Rows held out", "Training, %", "Held out, %"), folds),
        Table("Comparison of estimators on the same rows", columns, lines),
    )
    caption = f"Residual in percent of the torque, by joint; overall {v.train:.3g} training and {v.held_out:.3g} held out."
    return section.add(*drawn("Residual by joint", caption, plot_validation, v))


def _validation_lead(v: Validation, s: Statistics) -> str:
    """How the rows were held out, and how the training residual relates to that of the final fit."""
    if len(v.folds) == 1:
        return (
            "“Training”: residual of the fit on its own logs. “Held out”: residual on the validation logs, not used in the fit."
        )
    return (
        f"Cross-validation: in each of {counted(len(v.folds), 'fold')}, blocks of time are held out, the others "
        f"(training rows) are "
        "fitted, and the held-out blocks are predicted. “Training”: residual on the training rows, averaged over the folds; "
        f"that of the final fit to all rows is {number(s.percent, 3)} %. “Held out”: residual on all held-out blocks."
    )


def _residuals(s: Statistics, equations: Equations, drawn: Drawing) -> Section:
    """The residuals of each joint."""
    rows = []
    for j in s.joints:
        w = j.whiteness
        memory = [number(x, 3) for x in (w.length, w.seconds, 100.0 * w.effective)]
        flags = [*([] if w.white else ["coloured"]), *(["outliers"] if j.outliers > 2e-3 else [])]
        sizes = [number(x, 3) for x in (j.rms, j.percent, j.largest)]
        shape = [number(x, 2) for x in (j.mean, j.skewness, j.kurtosis)]
        rows.append((j.joint, j.unit, str(j.rows), *sizes, *shape, *memory, "; ".join(flags)))
    header = ("Joint", "Unit", "Rows", "RMS", "% of torque", "Largest", "Mean", "Skewness", "Excess kurtosis",
              "Correlation length, samples", "Correlation time, s", "Effective samples, %", "Flags")  # fmt: skip
    lead = f"The residual of the fit to all rows is {number(s.percent, 3)} % of the torque."
    if s.window > 1:
        lead += (
            f" Residuals are correlated over time, so standard errors are computed with a window of "
            f"{counted(s.window, 'sample')}; they "
            f"are, by parameter, {as_large_as(s.inflation_range)} those of white noise."
        )
    high = float(s.leverage.max(initial=0.0))
    lead += f" The largest leverage of an equation is {number(high, 2)} (1 means an exact fit of this equation)."
    section = Section("Residuals", "residuals", lead, [Table("Residuals by joint", header, rows)])
    coloured = sum(not j.whiteness.white for j in s.joints)
    caption = (
        f"Histograms of the residuals with the normal density, and their autocorrelation; {coloured} of "
        f"{counted(len(s.joints), 'joint')} "
        "exceed the band of white noise."
    )
    section.add(*drawn("Distribution and autocorrelation of the residuals", caption, plot_residuals, s, equations))
    return section.add(*drawn("Friction against velocity", FRICTION_CAPTION, plot_friction, equations, s.coef))


def _estimates(s: Statistics, base: BaseParameters, drawn: Drawing) -> Section:
    """The base parameters with intervals and priors."""
    rows = []
    weak = set(s.excitation.weak)
    largest = float(np.abs(s.coef).max(initial=0.0))
    std, interval = without_noise(s.std, largest), without_noise(s.interval, largest)
    for k, name in enumerate(s.names):
        low, high = s.interval[k]
        before = float(base.prior[k])
        change = (s.coef[k] - before) / s.std[k] if s.std[k] > 0.0 else np.nan
        flags = [
            *(["weakly excited"] if name in weak else []),
            *(["includes zero"] if low <= 0.0 <= high else []),
            *(["prior outside"] if before < low or before > high else []),
            *([bound_text(s.at_bound[k])] if s.at_bound[k] else []),
        ]
        shown = [number(float(x), d) for x, d in ((s.coef[k], 4), (std[k], 2), (s.deviation[k], 2))]
        unit = base.model.unit(int(base.independent[k]))
        ends = "none" if s.at_bound[k] else " … ".join(number(float(x), 3) for x in interval[k])
        rows.append((name, *shown, ends, unit, number(before), number(float(change), 2), "; ".join(flags)))
    header = ("Parameter", "Value", "σ", "σ, %", f"{100 * s.level:g} % interval", "Unit", "Prior", "Change, σ", "Flags")
    note = "σ: standard error. Change: estimate minus prior, in standard errors."
    if any(s.at_bound):
        note += (
            " An estimate at a bound or not determined by the log has neither a standard error nor an interval: the constraint "
            "or the prior determines it, not the log."
        )
    section = Section("Estimates", "estimates", blocks=[Table("Estimated base parameters", header, rows, note)])
    outside = int(np.sum((s.interval[:, 0] > base.prior) | (s.interval[:, 1] < base.prior)))
    caption = (
        f"Each base parameter with its interval, divided by the larger of estimate and prior; for {outside} of {len(s.names)} "
        f"the prior is outside, and {len(s.uncertain)} intervals contain zero."
    )
    at_bound = sum(map(bool, s.at_bound))
    if at_bound:
        are = "is" if at_bound == 1 else "are"
        caption += f" {counted(at_bound, 'estimate')} without interval {are} at a bound or not determined by the log."
    section.add(*drawn("Estimates and intervals with the prior model", caption, plot_parameters, s, base.prior))
    condition = number(s.excitation.scaled_condition, 3)
    caption = (
        f"Singular values of the scaled equations (condition number {condition}), and the weakest parameters; "
        f"{len(s.excitation.weak) or 'none'} are nearly collinear with others."
    )
    return section.add(*drawn("Excitation", caption, plot_excitation, s.excitation))


def _essential(found: EssentialParameters) -> Section:
    cells = zip(found.names, found.values, found.std, found.deviation, strict=True)
    rows = [(name, number(float(a)), number(float(b), 2), number(float(c), 2)) for name, a, b, c in cells]
    table = Table("Essential parameters", ("Parameter", "Value", "σ", "σ, %"), rows, folded=True)
    return Section("Essential parameters", "essential", str(found), [table])


def _consistency(links: Sequence[LinkConsistency]) -> Section:
    lead = "Base parameters do not determine the individual links; these full parameters are the nearest to the prior."
    rows = []
    for link in links:
        result = "consistent" if link.consistent else link.reason
        rows.append((link.link, number(link.mass), _numbers(link.com), _numbers(link.moments), result))
    header = ("Link", "Mass, kg", "Centre of mass, m", "Principal moments, kg m²", "Verdict")
    return Section("Physical consistency of the links", "consistency", lead, [Table("Links", header, rows)])


def _unidentifiable(base: BaseParameters) -> Section:
    rows = [(name, readable(name), reason) for name, reason in base.unidentifiable.items()]
    lead = f"{len(rows)} parameters cannot be identified from torques by any motion; most are part of a combination above."
    table = Table("Unidentifiable parameters", ("Parameter", "Description", "Reason"), rows, folded=True)
    return Section("Unidentifiable parameters", "unidentifiable", lead, [table])


def _reproduce(command: str, estimator: Estimator) -> Section:
    import scipy

    versions = f"dynamis {__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}, Python {platform.python_version()}"
    section = Section("How to reproduce", "reproduce").say(f"Made with {versions}. Estimator: {describe_estimator(estimator)}.")
    return section.add(Code(command)) if command else section


def describe_estimator(estimator: Estimator) -> str:
    """The class and the settings that differ from their defaults, in words."""
    changed = [f"{name} = {flat(value)}" for name, value in estimator.changed_settings().items() if name != "base"]
    return f"{type(estimator).__name__}, {', '.join(changed) or 'default settings'}"


def _numbers(values: Any) -> str:
    return "–" if values is None else ", ".join(number(float(x), 3) for x in without_noise(values, 1.0))


FRICTION_CAPTION = (
    "For each joint the friction of the model over the velocity, and dots with the residual added. At v = 0 Coulomb friction "
    "changes sign; the line is a ramp there, not a step, where the friction terms are low-pass filtered like the measured "
    "torques (its value then depends on earlier velocities too), or where the model replaces sign(v) by tanh(v / v₀) "
    "(option smooth)."
)
GLOSSARY = (
    (
        "Base parameter",
        "A linear combination of masses, first moments and inertias that determines torques. Its terms cannot be separated.",
    ),
    ("Condition number", "Ratio of the best to the least excited direction of the parameters."),
    ("Confidence interval", "A range that contains the true value in 95 of 100 repetitions, if the model is correct."),
    ("Essential parameters", "Parameters whose elimination would increase the residual significantly."),
    ("Held out", "Blocks of time not used in the fit. The prediction error on them measures the quality of the model."),
    ("Leverage", "Influence of one equation on its own fitted value, from 0 to 1."),
    ("Physically consistent", "A link has positive mass and moments of inertia of a real mass distribution."),
    ("Prior model", "The parameters in the robot's file before the identification."),
    ("Residual", "Measured minus predicted torque."),
    (
        "Residual, in percent",
        "RMS residual relative to the RMS torque: 0 is perfect, 100 corresponds to predicting zero.",
    ),
    ("Training rows", "The equations to which the parameters are fitted; in cross-validation those of one fold."),
    ("White noise", "Uncorrelated noise. Residuals correlated over time indicate effects missing in the model."),
    ("σ, standard error", "Standard deviation of an estimate over repeated experiments; σ, % is relative to the value."),
)
