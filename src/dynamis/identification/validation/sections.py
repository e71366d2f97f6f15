"""The sections of a report: sentences, tables and figures."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dynamis.documents.blocks import Table
from dynamis.identification.validation.consistency import LinkConsistency
from dynamis.identification.validation.essential import EssentialParameters
from dynamis.identification.validation.held_out import Validation
from dynamis.identification.validation.readable_names import as_large_as, readable
from dynamis.identification.validation.report_contents import ReportFigure, Section
from dynamis.identification.validation.statistics import Statistics
from dynamis.version import __version__

if TYPE_CHECKING:
    from dynamis.identification.base_parameters import BaseParameters
    from dynamis.identification.equations import Equations
    from dynamis.identification.estimators.estimator import Estimator
    from dynamis.identification.samples import Samples


def number(x: float, digits: int = 4) -> str:
    """Return a number as text for a table, with a true minus sign and limited digits.

    >>> number(-0.00012345), number(123.4, 2), number(float("inf"))
    ('−0.0001234', '123', '∞')
    """
    if not np.isfinite(x):
        return "–" if np.isnan(x) else "∞" if x > 0 else "−∞"
    whole = 10.0**digits <= abs(x) < 1e6  # show all integer digits
    return (f"{x:.0f}" if whole else f"{x:.{digits}g}").replace("-", "−")


def data_section(samples: Sequence[Samples], rows: Equations) -> Section:
    """Return the section on the runs and the number of equations of each joint."""
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
    header = ("Source", "Samples", "Seconds", "Rate in Hz", "Torques used, %", "Low-pass, Hz", "Decimation")
    counts = [(name, str(int(np.sum(rows.joint == j)))) for j, name in enumerate(rows.joints)]
    tables = [Table("Runs", header, lines)] if lines else []
    return Section(
        "Data used",
        ["Each equation is one joint's torque at one sample. Dropped and repaired samples are listed in the notes."],
        [*tables, Table("Equations by joint", ("Joint", "Equations"), counts)],
    )


def model_section(base: BaseParameters) -> Section:
    """Return the section on the parameters, base parameters and priors."""
    model = base.model
    regrouped = [
        (name, readable(name), number(value), model.unit(int(k)), text)
        for name, value, k, text in zip(base.names, base.prior, base.independent, base.expressions, strict=True)
    ]
    sentence = (
        f"{len(model.names)} parameters describe links, friction and rotors; torques depend on {base.rank} combinations, "
        "the base parameters. The others cannot be identified from torques by any motion (see below). Gap between the non-zero "
        f"and the numerically zero singular values: {base.gap:.1e}."
    )
    header = ("Parameter", "Description", "Prior", "Unit", "Combination")
    return Section("Model", [sentence], [Table("Base parameters", header, regrouped)], folded=True)


def validation_section(
    v: Validation | None, others: Mapping[str, Validation] | None, drawn: Mapping[str, ReportFigure]
) -> list[Section]:
    """Return the section on held-out motion by fold, and other estimators."""
    tables, sentences = [], []
    if v is not None:
        prior = v.prior_joints if v.prior_joints is not None else np.full(len(v.joints), np.nan)
        cells = zip(v.joints, v.train_joints, v.held_out_joints, prior, v.mean_joints, strict=True)
        rows = [(name, *(number(float(x), 3) for x in values)) for name, *values in cells]
        whole = np.nan if v.prior is None else v.prior
        rows.append(("all joints", *(number(float(x), 3) for x in (v.train, v.held_out, whole, v.mean))))
        header = ("Joint", "Fitted", "Held out", "Prior model", "Mean torque as prediction")
        tables.append(Table("Residual in percent of the torque (100 |e| / |τ|)", header, rows))
        sentences.append("Blocks of time were held out from the fit and predicted: the relevant column is “Held out”.")
        sentences.append("“Mean torque as prediction”: the residual if the mean torque of the joint is its prediction.")
        folds = [
            (str(k), str(f.train_rows), str(f.held_out_rows), number(f.train, 3), number(f.held_out, 3))
            for k, f in enumerate(v.folds, 1)
        ]
        tables.append(Table("Folds", ("Fold", "Rows fitted", "Rows held out", "Fitted, %", "Held out, %"), folds))
    if others:
        each = {name: (w.train, w.held_out, w.held_out / max(w.train, 1e-300)) for name, w in others.items()}
        lines = [(name, *(number(x, 3) for x in values)) for name, values in each.items()]
        columns = ("Estimator", "Fitted, %", "Held out, %", "Held out / fitted")
        tables.append(Table("Comparison of estimators on the same rows", columns, lines))
    if not tables:
        return []
    return [Section("Validation", sentences, tables, [drawn[k] for k in ("torques", "validation") if k in drawn])]


def residuals_section(s: Statistics, drawn: Mapping[str, ReportFigure]) -> Section:
    """Return the section on the residuals of each joint."""
    rows = []
    for j in s.joints:
        w = j.whiteness
        memory = ("–", "–", "–") if w is None else (number(w.length, 3), number(w.seconds, 3), number(100.0 * w.effective, 3))
        flags = [*(["coloured"] if w is not None and not w.white else []), *(["outliers"] if j.outliers > 2e-3 else [])]
        shown = (j.rms, j.percent, j.largest, j.mean, j.skewness, j.kurtosis)
        rows.append((j.joint, str(j.rows), *(number(x, 3) for x in shown), *memory, "; ".join(flags)))
    header = ("Joint", "Rows", "RMS, N·m", "% of torque", "Largest, N·m", "Mean, N·m", "Skewness", "Excess kurtosis",
              "Correlation length, samples", "Correlation time, s", "Independent, %", "Flags")  # fmt: skip
    sentence = f"The overall residual on the fitted rows is {number(s.percent, 3)} % of the torque."
    if s.window > 1:
        sentence += (
            f" Residuals are correlated over time, so standard errors are computed with a window of {s.window} samples; they "
            f"are, in the median, {as_large_as(float(np.median(s.inflation)))} those of white noise."
        )
    high = float(s.leverage.max(initial=0.0))
    sentence += f" The largest leverage of an equation is {number(high, 2)} (1 means an exact fit of this equation)."
    figures = [drawn[k] for k in ("fit", "residuals", "friction") if k in drawn]
    return Section("Residuals", [sentence], [Table("Residuals by joint", header, rows)], figures)


def estimates_section(s: Statistics, base: BaseParameters, drawn: Mapping[str, ReportFigure]) -> Section:
    """Return the section on the base parameters with intervals and priors."""
    rows = []
    weak = set(s.excitation.weak)
    for k, name in enumerate(s.names):
        low, high = s.interval[k]
        before = float(base.prior[k])
        change = (s.coef[k] - before) / s.std[k] if s.std[k] > 0.0 else np.nan
        flags = [
            *(["weakly excited"] if name in weak else []),
            *(["includes zero"] if low <= 0.0 <= high else []),
            *(["prior outside"] if not low <= before <= high else []),
        ]
        interval = f"{number(low, 3)} … {number(high, 3)}"
        shown = [number(float(x), d) for x, d in ((s.coef[k], 4), (s.std[k], 2), (s.deviation[k], 2))]
        unit = base.model.unit(int(base.independent[k]))
        rows.append((name, *shown, interval, unit, number(before), number(float(change), 2), "; ".join(flags)))
    header = ("Parameter", "Value", "σ", "σ, %", f"{100 * s.level:g} % interval", "Unit", "Prior", "Change, σ", "Flags")
    note = "σ: standard error. Change: estimate minus prior, in standard errors."
    figures = [drawn[k] for k in ("parameters", "excitation") if k in drawn]
    return Section("Estimates", (), [Table("Estimated base parameters", header, rows, note)], figures)


def essential_section(found: EssentialParameters | None) -> list[Section]:
    """Return the section on the essential parameters."""
    if found is None:
        return []
    cells = zip(found.names, found.values, found.std, found.deviation, strict=True)
    rows = [(name, number(float(a)), number(float(b), 2), number(float(c), 2)) for name, a, b, c in cells]
    return [
        Section(
            "Essential parameters", [str(found)], [Table("Essential", ("Parameter", "Value", "σ", "σ, %"), rows)], folded=True
        )
    ]


def consistency_section(links: Sequence[LinkConsistency]) -> list[Section]:
    """Return the section on the physical consistency of the links."""
    if not links:
        return []
    rows = []
    for link in links:
        com = "–" if link.com is None else ", ".join(number(float(x), 3) for x in link.com)
        moments = "–" if link.moments is None else ", ".join(number(float(x), 3) for x in link.moments)
        rows.append((link.link, number(link.mass), com, moments, "consistent" if link.consistent else link.reason))
    header = ("Link", "Mass, kg", "Centre of mass, m", "Principal moments, kg·m²", "Verdict")
    sentence = "Base parameters do not determine the individual links; these full parameters are the nearest to the prior."
    return [Section("Physical consistency of the links", [sentence], [Table("Links", header, rows)])]


def unidentifiable_section(base: BaseParameters) -> Section:
    """Return the section on unidentifiable parameters and the reasons."""
    rows = [(name, readable(name), reason) for name, reason in base.unidentifiable.items()]
    sentence = f"{len(rows)} parameters cannot be identified from torques by any motion; most are part of a combination above."
    return Section(
        "Unidentifiable parameters",
        [sentence],
        [Table("Not identifiable", ("Parameter", "Description", "Reason"), rows)],
        folded=True,
    )


def reproduce_section(command: str, estimator: Estimator) -> Section:
    """Return the section on versions and the command."""
    import scipy

    versions = f"dynamis {__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}, Python {platform.python_version()}"
    with np.printoptions(threshold=8, precision=4):  # a prior is as long as the model
        settings = repr(estimator)
    return Section("How to reproduce", [f"Made with {versions}."], code=f"{command}\n{settings}".strip())
