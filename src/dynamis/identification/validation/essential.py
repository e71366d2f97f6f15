"""Essential parameters: backward elimination of the least certain parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_text
from dynamis.errors import InputError
from dynamis.identification.estimators.factors import FoldFactors, joint_noise, whitened
from dynamis.identification.validation.residuals import names_of_joints, percent

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class EssentialParameters:
    """``indices`` of the remaining parameters, with ``values``, standard errors and relative deviations 100 σ / |β|;
    ``dropped`` names the others in the order of elimination; ``percent_before`` and ``percent`` are 100 |e| / |τ|."""

    indices: Array
    names: tuple[str, ...]
    values: Array
    std: Array
    deviation: Array
    dropped: tuple[str, ...]
    percent_before: float
    percent: float
    stopped: str

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        count = len(self.names) + len(self.dropped)
        return (
            f"{len(self)} of {count} parameters are essential: with these the residual is {self.percent:.3g} % of the torque "
            f"instead of {self.percent_before:.3g} %. {self.stopped}"
        )

    def __repr__(self) -> str:
        count = f"{len(self)} of {len(self) + len(self.dropped)}"
        return f"<EssentialParameters: {count}; residual {self.percent:.3g} % of the torque>"

    _repr_html_ = as_text


def essential_parameters(
    X: Any,
    y: Any,
    names: Sequence[str],
    *,
    joint: Any = None,
    level: float = 0.05,
    growth: float | None = None,
    certain: float = 0.0,
    effective: Any = 1.0,
) -> EssentialParameters:
    """Eliminate the parameter with the largest relative deviation, fit again, and repeat until a parameter is significant.

    A parameter is significant if an F-test against the full fit rejects its elimination (``level``), or, with ``growth``, if
    the RMS residual grows by more than this fraction (0.01: one percent). Elimination also ends when every deviation is below
    ``certain`` percent. ``effective`` is the fraction of independent samples (`Whiteness.effective`), one number
    or one for each joint: coloured residuals otherwise make every parameter significant. A joint is weighted by its noise and
    counts as many samples as it has independent ones [Gautier 1991; Pressé and Gautier 1993].

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> y = X @ [3.0, 0.0, -2.0, 0.0] + 0.1 * rng.normal(size=300)
    >>> essential_parameters(X, y, ["a", "b", "c", "d"]).names
    ('a', 'c')
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    joint = np.zeros(len(X), int) if joint is None else np.asarray(joint, int)
    joints = len(names_of_joints(joint))
    factors = FoldFactors.of(X, y, joint, np.zeros(len(X), int), joints, 1)
    return essential_of(factors, names, level=level, growth=growth, certain=certain, effective=effective)


def essential_of(
    reduced: FoldFactors,
    names: Sequence[str],
    *,
    level: float = 0.05,
    growth: float | None = None,
    certain: float = 0.0,
    effective: Any = 1.0,
) -> EssentialParameters:
    """Return `essential_parameters` from the triangular factors of the rows of each joint."""
    factors, rows_of = reduced.merged()
    r, count, rows = factors[0].shape[1] - 1, len(factors), int(rows_of.sum())
    if rows <= r:
        raise InputError(f"{rows} equations do not determine {r} parameters and their noise: use more samples")
    share = np.asarray(effective, float)
    if share.shape not in ((), (count,)) or not ((share > 0.0) & (share <= 1.0)).all():
        raise InputError(f"effective={effective!r} must be a fraction of the samples, above 0 and at most 1, or one per joint")
    share = np.broadcast_to(share, (count,))
    # a sample that repeats others adds only its share of information
    sigma = joint_noise(factors, rows_of, least=1e-12) / np.sqrt(share)
    whole = np.zeros((r + 1, r + 1))
    found = whitened(factors, sigma)
    whole[: len(found)] = found
    R, z, floor = whole[:r, :r], whole[:r, r], float(whole[r, r] ** 2)
    dof = max(float(share @ rows_of) - r, 1.0)
    variance = floor / max(float(share @ rows_of) * (1.0 - r / rows), 1.0)
    from scipy.special import fdtrc

    every, kept = list(range(r)), list(range(r))
    dropped: list[str] = []
    fit = _fit(R, z, kept, variance)
    stopped = "Every relative deviation is small enough."
    while len(kept) > 1 and fit.deviation.max() > certain:
        worst = int(np.argmax(fit.deviation))
        fewer = kept[:worst] + kept[worst + 1 :]
        trial = _fit(R, z, fewer, variance)
        F = trial.growth / (len(dropped) + 1) / max(variance, 1e-300)
        probability = float(fdtrc(len(dropped) + 1, dof, max(F, 0.0)))
        grown = float(np.sqrt(1.0 + trial.growth / max(floor, 1e-300))) - 1.0
        if grown > growth if growth is not None else probability < level:
            what = f"the residual would grow by {100 * grown:.2g} %"
            odds = "" if growth is not None else f" (p = {probability:.1g})"
            stopped = f"Without {names[kept[worst]]} {what}{odds}."
            break
        dropped.append(names[kept[worst]])
        kept, fit = fewer, trial
    return EssentialParameters(
        np.array(kept), tuple(names[k] for k in kept), fit.values, fit.std, fit.deviation, tuple(dropped),
        _percent(factors, every, _fit(R, z, every, variance).values), _percent(factors, kept, fit.values), stopped,
    )  # fmt: skip


def _percent(factors: Sequence[Array], kept: list[int], values: Array) -> float:
    """Return 100 |e| / |τ|."""
    squares = sum(float(np.sum((F[:, kept] @ values - F[:, -1]) ** 2)) for F in factors)
    torque = sum(float(np.sum(F[:, -1] ** 2)) for F in factors)
    return percent(np.array([squares]), np.array([torque]), np.ones(1, int))[0]


@dataclass(frozen=True, eq=False)
class _Fit:
    values: Array
    std: Array
    deviation: Array
    growth: float  # of the sum of squares


def _fit(R: Array, z: Array, kept: list[int], variance: float) -> _Fit:
    Q, T = np.linalg.qr(R[:, kept])
    inverse = np.linalg.pinv(T)
    values = inverse @ (Q.T @ z)
    # the noise is that of the full fit: a wrongly eliminated parameter must not make the others look uncertain
    std = np.sqrt((inverse**2).sum(axis=1) * variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.where(values != 0.0, 100.0 * std / np.abs(values), np.inf)
    return _Fit(values, std, deviation, float(np.sum((z - R[:, kept] @ values) ** 2)))
