"""Comparison of two identifications of the same base parameters: has the robot changed between two runs?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import card, counted
from dynamis.errors import InputError, printable
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.equations import Equations
from dynamis.identification.validation.residuals import relative
from dynamis.identification.validation.statistics import Statistics

Array = npt.NDArray[Any]
STANDARD_ERRORS = 3.0  # difference of a single parameter that is significant
SAME_COMBINATION = 1e-6  # relative difference of the coefficients of a base parameter
LISTED = 8  # names in a message
COLUMNS = ("base parameter", "first", "standard error", "second", "standard error", "difference", "unit")


@dataclass(frozen=True, eq=False, repr=False)
class RunComparison:
    """Base parameters ``first`` and ``second`` (r,) of two identifications, with their standard errors.

    ``ratio`` (r,) is second − first in combined standard errors, NaN where a parameter is at a bound and has none. A parameter
    is ``significant`` if |ratio| exceeds ``threshold``: three standard errors of a single parameter, more for r parameters,
    so that one of them exceeds it by chance as rarely (Bonferroni). ``links`` are the links whose parameters occur in every
    significant base parameter: a change of one of them may explain all. ``own`` are the residuals in percent of each on its own
    samples, ``crossed`` those of the first on the samples of the second and of the second on those of the first.
    """

    robot: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    first: Array
    first_error: Array
    second: Array
    second_error: Array
    ratio: Array
    threshold: float
    significant: tuple[str, ...]
    links: tuple[str, ...]
    own: tuple[float, float]
    crossed: tuple[float, float]

    @property
    def rows(self) -> list[tuple[str, float, float | None, float, float | None, str, str]]:
        """Name, both values with standard errors, difference in standard errors (marked * if significant) and unit; the largest
        difference comes first. A parameter at a bound has no standard error (None)."""
        marks = ["" if np.isnan(x) else f"{x:+.1f}{' *' if abs(x) > self.threshold else ''}" for x in self.ratio]
        one, two = _finite(self.first_error), _finite(self.second_error)
        found = list(zip(self.names, self.first.tolist(), one, self.second.tolist(), two, marks, self.units, strict=True))
        return [found[k] for k in np.argsort(-np.nan_to_num(np.abs(self.ratio)), kind="stable")]

    @property
    def sentences(self) -> list[str]:
        """What differs, and how well each result predicts the torques of the other run."""
        many = f"{len(self.significant)} of {counted(len(self.names), 'base parameter')}"
        differ = f"{many} differ by more than {self.threshold:.2f} combined standard errors"
        cause = f"; each of them contains parameters of {' and of '.join(self.links)}" if self.links else ""
        (a, b), (ab, ba) = self.own, self.crossed
        return [
            differ + cause,
            f"residual on the first run: {a:.3g} % with its own parameters, {ba:.3g} % with those of the second",
            f"residual on the second run: {b:.3g} % with its own parameters, {ab:.3g} % with those of the first",
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers as a dictionary for JSON; None for a parameter at a bound."""
        errors = (_finite(x) for x in (self.first_error, self.second_error, self.ratio))
        rows = zip(self.names, self.first.tolist(), self.second.tolist(), *errors, strict=True)
        keys = ("name", "first", "second", "first_standard_error", "second_standard_error", "difference_in_standard_errors")
        return {
            "parameters": [dict(zip(keys, row, strict=True)) for row in rows], "threshold": self.threshold,
            "significant": list(self.significant), "links": list(self.links), "own_residual_percent": list(self.own),
            "crossed_residual_percent": list(self.crossed),
        }  # fmt: skip

    def __str__(self) -> str:
        width = max(map(len, self.names), default=0)
        lines = []
        for name, a, s, b, t, mark, unit in self.rows:
            values = (f"{x:>11.4g} {'at bound' if e is None else f'± {e:.2g}':<11}" for x, e in ((a, s), (b, t)))
            lines.append(f"  {name:<{width}}  {' '.join(values)} {mark:>8}  {unit}".rstrip())
        return "\n".join([f"two runs of {self.robot}", *self.sentences, *lines])

    def __repr__(self) -> str:
        return f"<RunComparison of {printable(self.robot)}: {self.sentences[0].split(';')[0]}>"

    def _repr_html_(self) -> str:
        return card(f"two runs of {self.robot}", self.sentences, COLUMNS, self.rows)


def _finite(x: Array) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in x]


def compare_runs(
    bases: tuple[BaseParameters, BaseParameters], fits: tuple[Statistics, Statistics], rows: tuple[Equations, Equations]
) -> RunComparison:
    """Compare two fits of the same base parameters, each to its own rows."""
    _check_same(*bases)
    from scipy.special import ndtr, ndtri

    base, (s, t) = bases[0], fits
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (t.coef - s.coef) / np.hypot(s.std, t.std)
    threshold = float(-ndtri(ndtr(-STANDARD_ERRORS) / max(base.rank, 1)))
    beyond = np.flatnonzero(np.abs(ratio) > threshold)
    bodies = base.model.bodies if len(beyond) else ()
    links = tuple(body.name for body in bodies if base.B[beyond, body.place].any(axis=1).all())
    residuals = [[relative(own.y - own.predict(x.coef), own.y) for own in rows] for x in fits]
    return RunComparison(
        base.model.robot.name, base.names, tuple(base.model.unit(int(k)) for k in base.independent), s.coef, s.std, t.coef,
        t.std, ratio, threshold, tuple(base.names[k] for k in beyond), links, (residuals[0][0], residuals[1][1]),
        (residuals[0][1], residuals[1][0]),
    )  # fmt: skip


def _check_same(a: BaseParameters, b: BaseParameters) -> None:
    different: list[str] = []
    for x, y in ((a.names, b.names), (a.model.names, b.model.names)):
        if x != y:
            different = [name for name in (*x, *y) if name not in x or name not in y] or list(x)
            break
    else:
        far = np.abs(a.B - b.B).max(axis=1) > SAME_COMBINATION * np.abs(a.B).max(axis=1)
        different = [name for name, away in zip(a.names, far, strict=True) if away]
    if different:
        listed = ", ".join(map(printable, different[:LISTED])) + (", …" if len(different) > LISTED else "")
        raise InputError(
            f"the base parameters differ in {listed}: identify both runs with one model, such as "
            "dy.identify(first.base.model, log)"
        )
