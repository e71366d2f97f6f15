"""Residuals of a fit by joint: magnitude, distribution, and whiteness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table
from dynamis.errors import InputError, printable
from dynamis.identification.validation.whiteness import Whiteness, whiteness

Array = npt.NDArray[Any]
NORMAL_MAD = 1.4826  # standard deviation over median absolute deviation of normal noise


@dataclass(frozen=True, repr=False)
class JointResidual:
    """The residual e = τ − X β of one joint, in its unit of torque.

    ``percent`` is 100 |e| / |τ|. ``skewness`` and ``kurtosis`` (excess) are zero for normal noise; ``outliers`` is the fraction
    of rows beyond five robust standard deviations, less than one in a million for normal noise.
    """

    joint: str
    rows: int
    rms: float
    largest: float
    mean: float
    torque: float
    percent: float
    skewness: float
    kurtosis: float
    outliers: float
    whiteness: Whiteness | None

    def __repr__(self) -> str:
        share = f"{self.percent:.3g} % of the torque"
        return f"<JointResidual of {printable(self.joint)}: rms {self.rms:.4g}, {share}, {self.rows} rows>"

    _repr_html_ = as_table


def relative(e: Array, y: Array) -> float:
    """Return 100 |e| / |y|; infinite if the torque is zero, NaN without rows."""
    if not len(e):
        return float("nan")
    size, torque = float(np.linalg.norm(e)), float(np.linalg.norm(y))
    if torque > 0.0:
        return 100.0 * size / torque
    return 0.0 if size == 0.0 else float("inf")


def percent(squares: Array, torque: Array, counts: Array) -> tuple[float, Array]:
    """Return 100 |e| / |τ| of all joints together and of each (n,), from sums of squares and numbers of rows (n,).

    It is infinite if the torque is zero, NaN without rows.
    """

    def ratio(e: float, y: float, rows: int) -> float:
        if not rows:
            return float("nan")
        return 100.0 * float(np.sqrt(e / y)) if y > 0.0 else 0.0 if e == 0.0 else float("inf")

    every = ratio(float(squares.sum()), float(torque.sum()), int(counts.sum()))
    return every, np.array([ratio(*sums) for sums in zip(squares, torque, counts, strict=True)])


def names_of_joints(joint: Array, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the given names, checked against the joint indices; by default "joint 1" and so on."""
    count = int(joint.max()) + 1 if len(joint) else 0
    if names is None:
        return tuple(f"joint {j + 1}" for j in range(count))
    if len(names) < count:
        raise InputError(f"the rows belong to {count} joints, but {len(names)} joint names are given")
    return tuple(names)


def residuals_by_joint(
    e: Array, y: Array, joint: Array, t: Array | None = None, *, run: Array | None = None, names: Sequence[str] | None = None
) -> tuple[JointResidual, ...]:
    """Return the residual of every joint that has rows.

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> y = np.sin(np.arange(400.0))
    >>> part, = residuals_by_joint(0.1 * rng.normal(size=400), y, np.zeros(400, int), np.arange(400.0))
    >>> round(part.percent), part.whiteness.white
    (13, True)
    """
    found = []
    for j, name in enumerate(names_of_joints(joint, names)):
        at = np.flatnonzero(joint == j)
        if not len(at):
            continue
        own, torque = e[at], y[at]
        centred = own - own.mean()
        spread = float(centred.std())
        middle = float(np.median(own))
        robust = NORMAL_MAD * float(np.median(np.abs(own - middle)))
        shape = centred / spread if spread > 0.0 else centred
        found.append(
            JointResidual(
                joint=name,
                rows=len(at),
                rms=float(np.sqrt(np.mean(own**2))),
                largest=float(np.abs(own).max()),
                mean=float(own.mean()),
                torque=float(np.sqrt(np.mean(torque**2))),
                percent=relative(own, torque),
                skewness=float(np.mean(shape**3)),
                kurtosis=float(np.mean(shape**4) - 3.0) if spread > 0.0 else 0.0,
                outliers=float(np.mean(np.abs(own - middle) > 5.0 * robust)) if robust > 0.0 else 0.0,
                whiteness=None if t is None else whiteness(own, t[at], run=None if run is None else run[at]),
            )
        )
    return tuple(found)
