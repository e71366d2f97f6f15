"""Contents of a report, from base parameters, equations, an estimator and its assessment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dynamis.identification.validation.consistency import inconsistent_links, link_consistency
from dynamis.identification.validation.essential import EssentialParameters
from dynamis.identification.validation.held_out import Validation
from dynamis.identification.validation.pictures import pictures
from dynamis.identification.validation.report_contents import ReportContents
from dynamis.identification.validation.sections import (
    consistency_section,
    data_section,
    essential_section,
    estimates_section,
    model_section,
    number,
    reproduce_section,
    residuals_section,
    unidentifiable_section,
    validation_section,
)
from dynamis.identification.validation.statistics import Statistics, judge_fit
from dynamis.identification.validation.verdict import Verdict
from dynamis.identification.validation.verdict import verdict as decide

if TYPE_CHECKING:
    from dynamis.identification.base_parameters import BaseParameters
    from dynamis.identification.equations import Equations
    from dynamis.identification.estimators.estimator import Estimator
    from dynamis.identification.samples import Samples


def contents_of(
    base: BaseParameters,
    equations: Equations,
    estimator: Estimator,
    *,
    statistics: Statistics | None = None,
    validation: Validation | None = None,
    verdict: Verdict | None = None,
    samples: Sequence[Samples] = (),
    parameters: Any = None,
    comparison: Mapping[str, Validation] | None = None,
    essential: EssentialParameters | None = None,
    held: Any = None,
    notes: Sequence[str] = (),
    command: str = "",
    title: str = "",
    name: str = "",
    draw: bool = True,
) -> ReportContents:
    """Collect the contents of a report on a fitted ``estimator``; missing items are computed, except those that need new fits.

    ``parameters`` (p,) are full parameters for the consistency of the links, ``comparison`` validations of other estimators by
    name, ``held`` (rows,) a mask of the held-out rows, ``command`` the command or call, ``name`` that of the
    estimator; ``draw=False`` omits the plots, which need matplotlib and take some seconds.
    """
    s = statistics or judge_fit(equations, estimator)
    links = () if parameters is None else link_consistency(base.model, parameters)
    reasons = None if parameters is None else inconsistent_links(links)
    said = verdict or decide(s, validation, equations=equations, inconsistent=reasons, effort=base.model.robot.limits["effort"])
    drawn = pictures(s, equations, base.prior, validation, held) if draw else {}
    robot = base.model.robot.name
    sections = [
        data_section(samples, equations),
        model_section(base),
        *validation_section(validation, comparison, drawn),
        residuals_section(s, drawn),
        estimates_section(s, base, drawn),
        *essential_section(essential),
        *consistency_section(links),
        unidentifiable_section(base),
        reproduce_section(command, estimator),
    ]
    return ReportContents(
        title=title or f"Identification of {robot}",
        subtitle=f"{base.rank} base parameters from {len(equations)} equations, estimator {name or type(estimator).__name__}",
        verdict=said,
        facts=_facts(s, base, equations, validation),
        notes=tuple(notes),
        sections=tuple(sections),
        glossary=GLOSSARY,
    )


def _facts(s: Statistics, base: BaseParameters, rows: Equations, v: Validation | None) -> list[tuple[str, str]]:
    seconds = sum(float(np.ptp(rows.t[rows.run == run])) for run in np.unique(rows.run))
    runs = len(np.unique(rows.run))
    facts = [
        ("Motion", f"{number(seconds, 3)} s in {runs} {'run' if runs == 1 else 'runs'}"),
        ("Equations", f"{len(rows):,}".replace(",", " ")),
        ("Base parameters", f"{base.rank} of {len(base.model.names)}"),
        ("Residual, fitted", f"{number(s.percent, 3)} %"),
    ]
    if v is not None:
        facts.append(("Residual, held out", f"{number(v.held_out, 3)} %"))
        if v.prior is not None:
            facts.append(("Residual, prior model", f"{number(v.prior, 3)} %"))
    return [*facts, ("Condition number", number(s.excitation.scaled_condition, 3))]


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
    ("White noise", "Uncorrelated noise. Residuals correlated over time indicate effects missing in the model."),
    ("σ, standard error", "Standard deviation of an estimate over repeated experiments; σ, % is relative to the value."),
)
