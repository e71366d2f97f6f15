"""Result of an identification: parameters with standard errors, validation, verdict, and the identified robot."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted, identification_card
from dynamis.errors import InputError
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.equations import Equations
from dynamis.identification.estimators.estimator import Estimator
from dynamis.identification.estimators.regularised import PhysicallyConsistent, Ridge
from dynamis.identification.full_parameters import InfeasibleError, full_parameters, inconsistent_links, link_consistency
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.logs.log import LogFinding
from dynamis.identification.samples import Samples
from dynamis.identification.validation.held_out import Validation
from dynamis.identification.validation.link_masses import determined_masses
from dynamis.identification.validation.report import describe_estimator, report_of
from dynamis.identification.validation.run_comparison import RunComparison, compare_runs
from dynamis.identification.validation.statistics import EssentialParameters, Statistics, essential_of
from dynamis.identification.validation.verdict import RESIDUAL, Verdict, verdict
from dynamis.identification.write_back import Edited, Written, edit, representable, unrepresented, write_identified
from dynamis.robot import Robot

Array = npt.NDArray[Any]
NEXT_TO_NOTHING = 1e-3  # in standard errors


@dataclass(frozen=True, eq=False)
class Identification:
    """The ``estimator`` fitted to all ``equations`` of the ``samples``, with ``statistics`` of the fit, the ``comparison`` of
    the errors of this and other estimators on held-out motion, and ``notes`` on the processing of the logs.

    ``validated`` is true if the comparison uses separate validation logs, whose equations are ``validated_rows``, instead of
    held-out blocks of the same logs. ``call`` is Python code that repeats the identification, if all arguments are file names,
    numbers and the like. ``log_findings`` are problems of the logs that limit the grade, ``limits`` the residuals on held-out
    motion [%] that do so. ``refit`` identifies another model from the same samples. ``terms_chosen``: terms
    which predict held-out motion better were added to the model.
    """

    base: BaseParameters
    estimator: Estimator
    equations: Equations
    samples: tuple[Samples, ...]
    statistics: Statistics
    comparison: Mapping[str, Validation]
    name: str
    notes: tuple[str, ...] = ()
    validated: bool = False
    call: str = ""
    log_findings: tuple[LogFinding, ...] = ()
    limits: tuple[float, float, float] = RESIDUAL
    validated_rows: Equations | None = None
    refit: Callable[[LinearModel], Identification] | None = None
    terms_chosen: bool = False

    @property
    def parameters(self) -> dict[str, float]:
        """The base parameters by name."""
        return dict(zip(self.base.names, map(float, self.estimator.coef_), strict=True))

    @property
    def validation(self) -> Validation:
        """The validation of this estimator."""
        return self.comparison[self.name]

    @functools.cached_property
    def full(self) -> Array:
        """All parameters of the model: physically consistent and nearest to the prior."""
        own = getattr(self.estimator, "full_", None)
        if own is not None:
            return np.asarray(own)
        covariance = self.estimator.covariance_
        selected = getattr(self.estimator, "only", None)
        if selected is not None:  # the others are zero for want of information: they may move towards the prior
            others = np.array([name not in selected for name in self.base.names])
            size = np.maximum(np.abs(self.base.prior), 1e-3 * np.abs(self.base.prior).max(initial=1e-9))
            covariance = covariance + np.diag(np.where(others, size**2, 0.0))
        return full_parameters(self.base, self.estimator.coef_, infeasible="nearest", covariance=covariance)

    @functools.cached_property
    def in_file(self) -> Identification:
        """The identification with only the terms that a robot file can represent; this one if it has no others."""
        model = representable(self.base.model)
        return self if model is self.base.model or self.refit is None else self.refit(model)

    @functools.cached_property
    def improved(self) -> Edited:
        """The robot with the parameters of `in_file` (``.robot``), and notes on them."""
        found = self.in_file
        return edit(found.base.model.robot, found.base.model, found.full)

    @property
    def robot(self) -> Robot:
        """The identified robot."""
        return self.improved.robot

    @functools.cached_property
    def verdict(self) -> Verdict:
        """The assessment of the result, as a grade and sentences."""
        effort = self.base.model.robot.limits["effort"]
        return verdict(
            self.statistics, self.validation, equations=self.equations, inconsistent=self._inconsistent, masses=self._masses,
            effort=effort, log_findings=self.log_findings, limits=self.limits,
            regularised=isinstance(self.estimator, PhysicallyConsistent | Ridge), terms_chosen=self.terms_chosen,
        )  # fmt: skip

    @property
    def _inconsistent(self) -> dict[str, str] | None:
        """Physically inconsistent links, if the estimator determines the links."""
        own = getattr(self.estimator, "full_", None)
        if own is None:
            try:
                own = full_parameters(self.base, self.estimator.coef_)
            except InfeasibleError as error:
                return {"": error.reason}
        return inconsistent_links(link_consistency(self.base.model, own))

    @property
    def _masses(self) -> dict[str, tuple[float, float]] | None:
        """The masses of the links in the file, if above zero, and as identified, if the estimator determines the links and the
        torques contradict those of the file."""
        own, model = getattr(self.estimator, "full_", None), self.base.model
        at = {body.name: body.place.start for body in model.bodies if model.prior[body.place.start] > 0.0}
        if own is None:
            return None
        masses = {name: (float(model.prior[k]), float(max(own[k], 1e-9))) for name, k in at.items()}
        if isinstance(self.estimator, PhysicallyConsistent):
            return determined_masses(masses, self.estimator, self.equations)
        return masses

    @functools.cached_property
    def essential(self) -> EssentialParameters:
        """The parameters needed to explain the torques; ``identify(…, only="essential")`` fits these."""
        return essential_of(self.equations.whole, self.equations.names, effective=self.statistics.effective)

    def compared_with(self, other: Identification) -> RunComparison:
        """Return the differences of the base parameters in combined standard errors, and the residual of each identification on
        the samples of the other. Both must have the same base parameters: ``identify(self.base.model, log)``."""
        if not isinstance(other, Identification):
            raise InputError(f"compared_with takes another Identification, got {type(other).__name__}")
        pairs = (self.base, other.base), (self.statistics, other.statistics), (self.equations, other.equations)
        return compare_runs(*pairs)

    def write(self, path: str | os.PathLike[str]) -> Written:
        """Write the identified robot as .urdf or .toml, and verify the file by loading it.

        If the model has terms that a file cannot represent (Stribeck friction, presliding, shared motors, user-defined
        columns), the file holds a fit without them to the same samples, with a note. ``held_out`` of the result is the residual
        of the file on held-out motion.
        """
        found = self.in_file
        coef = found.base.values(found.full)
        written = write_identified(found.base, found.full, coef, path)
        held_out, notes = found.validation.held_out, written.notes
        farthest = found._standard_errors_away(coef)
        if farthest > NEXT_TO_NOTHING:
            rows = found.validated_rows or found.equations
            held_out = max(held_out, 100.0 * float(np.linalg.norm(rows.y - rows.predict(coef)) / np.linalg.norm(rows.y)))
            where = f"base parameters in the file differ by up to {farthest:.2g} standard errors"
            notes = (f"the estimate is not physically consistent: {where}", *notes)
        if found is not self:
            lost = f"a robot file cannot represent {', '.join(unrepresented(self.base.model))}"
            own, file = (f"{x:.3g} %" for x in (self.validation.held_out, held_out))
            text = f"{lost}: it holds a fit without, with a residual of {file} on held-out motion instead of {own}"
            notes = (text, *notes)
        return replace(written, notes=notes, held_out=held_out)

    def _standard_errors_away(self, coef: Array) -> float:
        found = self.estimator.coef_
        away = np.abs(coef - found)
        # ignore rounding, however small the standard error, and parameters that were not fitted
        clear = (away > 1e-9 * np.abs(found).max()) & ~np.isin(self.statistics.at_bound, ("fixed", "prior"))
        errors = np.maximum(np.nan_to_num(self.statistics.std), 1e-300)  # NaN at a bound
        return float(np.max(away / errors, where=clear, initial=0.0))

    def report(self, path: str | os.PathLike[str], *, command: str = "", draw: bool = True) -> Path:
        """Write everything as one self-contained file: an .html page, .md (without figures) or .pdf (needs a browser).

        ``command`` is the command shown under "How to reproduce"; by default it is ``call``.
        """
        return report_of(self, command=command or self.call, draw=draw).write(path)

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers as a dictionary for JSON; a parameter at a bound, or not determined by the log ("prior"),
        has no standard error and interval (None)."""
        s, base, grade = self.statistics, self.base, self.verdict
        rows = zip(base.names, base.expressions, s.coef, s.std, s.interval, base.prior, s.at_bound, strict=True)
        return {
            "robot": self.base.model.robot.name,
            "estimator": describe_estimator(self.estimator),
            "verdict": {"grade": grade.grade, "reasons": list(grade.reasons), "sentences": list(grade.sentences)},
            "parameters": [
                {"name": n, "expression": e, "value": _plain(c), "standard_error": _plain(d),
                 "interval": None if b else [_plain(x) for x in i], "at_bound": b or None, "prior": _plain(p)}
                for n, e, c, d, i, p, b in rows
            ],
            "residual_percent": _plain(s.percent),
            "residuals": {j.joint: {"rms": _plain(j.rms), "percent": _plain(j.percent)} for j in s.joints},
            "comparison": {
                name: {"train": _plain(v.train), "held_out": _plain(v.held_out), "prior": _plain(v.prior)}
                for name, v in self.comparison.items()
            },
            "unidentifiable": self.base.unidentifiable,
            "notes": list(self.notes),
        }  # fmt: skip

    def __repr__(self) -> str:
        v = self.validation
        return (
            f"<Identification of {self.base.model.robot.name!r}: {counted(self.base.rank, 'base parameter')} "
            f"from {len(self.equations)} "
            f"equations, {self.verdict.grade}; held out {v.held_out:.3g} %>"
        )

    def _repr_html_(self) -> str:
        return identification_card(self)

    def __str__(self) -> str:
        return f"{self!r}\n{self.verdict}"


def _plain(x: Any) -> float | None:
    """Return a float for JSON, or None if it is not finite."""
    return float(x) if x is not None and np.isfinite(x) else None
