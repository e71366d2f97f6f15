"""Information of logs on the base parameters: what a further motion adds to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_text, counted
from dynamis.errors import InputError
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.equations import equations, filter_of
from dynamis.identification.estimators.factors import joint_noise, whitened
from dynamis.identification.samples import Samples
from dynamis.identification.validation.residuals import residuals_by_joint

Array = npt.NDArray[Any]
LEAST_NOISE = 1e-6  # relative to the RMS torque of a joint: logs of simulations may have none
UNEXCITED = 1e-13  # eigenvalues of the normalized information matrix, relative to the largest
SHOWN = 5  # parameters listed as text


class LogInformation:
    """The equations of all logs for one set of base parameters; ``rate`` is their number per second and joint."""

    def __init__(self, base: BaseParameters, after: Any) -> None:
        runs = [run for item in (after if isinstance(after, list | tuple) else [after]) for run in _samples(item)]
        seconds = sum(len(run) * (run.period or np.nan) for run in runs)
        if not seconds > 0.0:
            raise InputError("after= takes at least one log, of samples with a sampling period: Samples.of(…, period=0.01)")
        self.rows = equations(base, runs)
        self.rate = sum(filter_of(run).rows(len(run)) for run in runs) / seconds
        self.factors, self.counts = self.rows.whole.merged

    def noise(self) -> Array:
        """Return (n,): the RMS residual of each joint, larger if it is correlated over time, as if its samples were fewer."""
        whole = whitened(self.factors, joint_noise(self.factors, self.counts, least=LEAST_NOISE))
        lengths = np.maximum(np.linalg.norm(whole[:, :-1], axis=0), 1e-300)
        coef = np.linalg.lstsq(whole[:, :-1] / lengths, whole[:, -1])[0] / lengths
        joints = residuals_by_joint(self.rows, self.rows.y - self.rows.predict(coef))
        found = {j.joint: max(j.rms, LEAST_NOISE * j.torque) / np.sqrt(j.whiteness.effective) for j in joints}
        typical = float(np.median([*found.values()]))
        return np.array([found.get(name) or typical or 1.0 for name in self.rows.joints])

    def matrix(self, noise: Array) -> Array:
        """Return (r, r): Σ X_jᵀ X_j / σ_j² over all rows."""
        return np.asarray(sum(F[:, :-1].T @ F[:, :-1] / s**2 for F, s in zip(self.factors, noise, strict=True)))


def _samples(item: Any) -> Sequence[Samples]:
    from dynamis.identification.identification import Identification

    if isinstance(item, Samples):
        return [item]
    if not isinstance(item, Identification):
        raise InputError(f"after= takes an Identification, Samples, or a list of these, got {type(item).__name__}")
    return item.samples


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedErrors:
    """Standard errors (r,) of the base parameters: ``before``, from the logs so far, and ``after``, with the log of the motion.

    Both are those of weighted least squares without a prior, infinite where the logs leave a parameter undetermined. ``order``
    has the least certain parameter so far first: the one whose standard error causes the largest error of torques relative
    to the noise, in random motions within the limits.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    before: Array
    after: Array
    order: tuple[int, ...]

    @property
    def rows(self) -> list[tuple[str, float, float, str]]:
        """Name, standard error before and after, and unit; the least certain parameter so far comes first."""
        return [(self.names[k], float(self.before[k]), float(self.after[k]), self.units[k]) for k in self.order]

    def __str__(self) -> str:
        name, before, after, unit = self.rows[0]
        fall = f"is expected to fall from {before:.3g} to {after:.3g} {unit}".rstrip()
        others = ", ".join(f"{name} ({before:.3g} → {after:.3g} {unit}".rstrip() + ")" for name, before, after, unit in
                           self.rows[1:SHOWN])  # fmt: skip
        first = f"least certain so far: {name}; its standard error {fall}"
        return f"{first}; then {others}" if others else first

    def __repr__(self) -> str:
        name, before, after, _ = self.rows[0]
        return f"<ExpectedErrors of {counted(len(self.names), 'base parameter')}: {name} {before:.3g} → {after:.3g}>"

    _repr_html_ = as_text


def expected_errors(base: BaseParameters, known: Array, added: Array, lengths: Array) -> ExpectedErrors:
    """Return the standard errors from the information matrices of the logs and of the motion; ``lengths`` (r,) are the RMS
    torques per unit of the parameters relative to the noise."""
    before, after = (standard_errors(M, lengths) for M in (known, known + added))
    units = tuple(base.model.unit(int(k)) for k in base.independent)
    return ExpectedErrors(base.names, units, before, after, tuple(map(int, np.argsort(-before * lengths, kind="stable"))))


def standard_errors(M: Array, lengths: Array) -> Array:
    """Return √ diag M⁻¹; infinite for parameters with a part in the null space of M."""
    values, vectors = np.linalg.eigh(M / np.outer(lengths, lengths))
    null = values <= UNEXCITED * max(values[-1], np.finfo(float).tiny)
    variance = np.sum(vectors[:, ~null] ** 2 / values[~null], axis=1)
    undetermined = np.sum(vectors[:, null] ** 2, axis=1) > 1e-6
    return np.where(undetermined, np.inf, np.sqrt(variance) / lengths)
