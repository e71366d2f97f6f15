"""What came out of an identification: parameters with their errors, a judgement in words, and the robot they make."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import identification_card
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.equations import Equations
from dynamis.identification.estimators.estimator import Estimator
from dynamis.identification.full_parameters import InfeasibleError, full_parameters
from dynamis.identification.judgement.consistency import inconsistent_links, link_consistency
from dynamis.identification.judgement.contents import contents_of
from dynamis.identification.judgement.essential import EssentialParameters, essential_parameters
from dynamis.identification.judgement.report import write_report
from dynamis.identification.judgement.statistics import Statistics
from dynamis.identification.judgement.validation import Validation
from dynamis.identification.judgement.verdict import Verdict, verdict
from dynamis.identification.samples import Samples
from dynamis.identification.write_back import Edited, Written, edit, write_identified
from dynamis.robot import Robot

Array = npt.NDArray[Any]
NEXT_TO_NOTHING = 1e-3  # of a standard error
# what a joint of a description can have
HELD = ("viscous", "coulomb", "coulomb_bias", "offset", "rotor", "stiffness", "inertia")


@dataclass(frozen=True, eq=False)
class Identification:
    """The ``estimator`` fitted to all ``equations`` of the ``samples``; ``statistics`` of the fit, ``comparison`` of what this
    and other estimators leave of motion they have not seen, ``notes`` on what was done to the logs.

    ``validated`` says that the comparison is on logs of their own, not on blocks of the same ones.
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

    @property
    def parameters(self) -> dict[str, float]:
        """The base parameters by name."""
        return dict(zip(self.base.names, map(float, self.estimator.coef_), strict=True))

    @property
    def validation(self) -> Validation:
        """Of this estimator."""
        return self.comparison[self.name]

    @functools.cached_property
    def full(self) -> Array:
        """All parameters of the model: those of a robot that can exist, nearest to what was believed."""
        own = getattr(self.estimator, "full_", None)
        if own is not None:
            return np.asarray(own)
        return full_parameters(self.base, self.estimator.coef_, infeasible="nearest", covariance=self.estimator.covariance_)

    @functools.cached_property
    def improved(self) -> Edited:
        """The robot with these parameters (``.robot``), and notes on what it cannot hold."""
        return edit(self.base.model.robot, self.base.model, self.full)

    @property
    def robot(self) -> Robot:
        """The identified robot."""
        return self.improved.robot

    @functools.cached_property
    def verdict(self) -> Verdict:
        """What to make of it, in words."""
        effort = self.base.model.robot.limits["effort"]
        return verdict(
            self.statistics, self.validation, equations=self.equations, inconsistent=self._inconsistent, effort=effort
        )

    @property
    def _inconsistent(self) -> dict[str, str] | None:
        """Links that cannot exist, where the estimator says anything about whole links."""
        own = getattr(self.estimator, "full_", None)
        if own is None:
            try:
                own = full_parameters(self.base, self.estimator.coef_)
            except InfeasibleError as error:
                return {"": error.reason}
        return inconsistent_links(link_consistency(self.base.model, own))

    @functools.cached_property
    def essential(self) -> EssentialParameters:
        """The parameters that the torques cannot do without."""
        rows = self.equations
        shares = [j.whiteness.effective for j in self.statistics.joints if j.whiteness is not None]
        return essential_parameters(rows.X, rows.y, rows.names, joint=rows.joint, effective=min(shares, default=1.0))

    def write(self, path: str | os.PathLike[str]) -> Written:
        """The identified robot as .urdf or .toml, proven by reading it again.

        Terms that no description has a place for (Stribeck's, shared motors, one's own columns) are left out, with a note;
        identify without them for a file that says all.
        """
        model = self.base.model
        held = np.array([inertial or kind in HELD for inertial, kind in zip(model.is_inertial, model.kind, strict=True)])
        held &= ~model.is_shared
        coef = self.base.values(np.where(held, self.full, 0.0))
        written = write_identified(model.robot, self.base, coef, path, full=self.full)
        farthest = self._standard_errors_away(self.base.values(self.full))
        if farthest > NEXT_TO_NOTHING:
            where = f"base parameters in the file are up to {farthest:.2g} standard errors away"
            return replace(written, notes=(f"the estimate is of no robot that can exist: {where}", *written.notes))
        return written

    def _standard_errors_away(self, coef: Array) -> float:
        found = self.estimator.coef_
        away = np.abs(coef - found)
        clear = away > 1e-9 * np.abs(found).max()  # rounding is not far, however small an error is
        return float(np.max(away / np.maximum(self.statistics.std, 1e-300), where=clear, initial=0.0))

    def report(self, path: str | os.PathLike[str], *, command: str = "", draw: bool = True) -> Path:
        """Everything as one HTML file that needs nothing else."""
        contents = contents_of(
            self.base, self.equations, self.estimator, statistics=self.statistics, validation=self.validation,
            verdict=self.verdict, samples=self.samples, parameters=self.full, comparison=self.comparison,
            essential=self.essential, notes=self.notes, command=command, draw=draw,
        )  # fmt: skip
        return write_report(contents, path)

    def as_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        s = self.statistics
        rows = zip(self.base.names, self.base.expressions, s.coef, s.std, s.interval, self.base.prior, strict=True)
        return {
            "robot": self.base.model.robot.name,
            "estimator": repr(self.estimator),
            "verdict": {"grade": self.verdict.grade, "sentences": list(self.verdict.sentences)},
            "parameters": [
                {"name": n, "expression": e, "value": _plain(c), "standard_error": _plain(d),
                 "interval": [_plain(x) for x in i], "prior": _plain(p)}
                for n, e, c, d, i, p in rows
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
            f"<Identification of {self.base.model.robot.name!r}: {self.base.rank} base parameters from {len(self.equations)} "
            f"equations, {self.verdict.grade}; held out {v.held_out:.3g} %>"
        )

    def _repr_html_(self) -> str:
        return identification_card(self)

    def __str__(self) -> str:
        return f"{self!r}\n{self.verdict}"


def _plain(x: Any) -> float | None:
    """A number for JSON, which has none that are not finite."""
    return float(x) if x is not None and np.isfinite(x) else None
