"""Causes of residuals: a term missing in the model, or a delay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.identification.equations import Equations, JointRows, Regressor
from dynamis.identification.estimators.factors import whitened
from dynamis.identification.validation.residuals import period_of, whiteness
from dynamis.identification.validation.statistics import noise_of_joints

Array = npt.NDArray[Any]
FEWEST = 50  # rows of a joint
TELLING = 0.08  # fraction of the residual's variance a term must explain to be reported
CERTAIN = 5.0  # standard errors of its coefficient from zero, for the number of independent samples
LATEST, LATEST_S = 16, 0.06  # the longest delay considered: samples, and seconds
SLOW = 0.05  # relative to the largest velocity: near standstill
FLAT = 1e-9  # relative to the range of the torque: equal to the maximum
AT_LIMIT = 0.99  # of the effort limit: torques from here on are at it
BEYOND_LIMIT = 1.02  # of the effort limit: torques from here on show that it is not that of the drive


@dataclass(frozen=True, repr=False)
class Symptom:
    """One finding about one joint: its ``kind``, the fraction of the residual's variance it ``explained``, and the ``size`` of
    the term in SI units (seconds for a delay)."""

    joint: str
    kind: str
    explained: float
    size: float = 0.0

    __repr__ = as_call
    _repr_html_ = as_table


def missing_terms(rows: Equations, e: Array) -> tuple[Symptom, ...]:
    """Return, for each joint, the term that explains most of the residual e, if significant.

    Terms: "dry" sign v, "viscous" v, "stribeck" (Coulomb friction near standstill only), "quadratic" v |v|, "inertia" dv/dt,
    "offset" 1, and "delay", the predicted torque shifted in time. Each is first projected out of the span of the columns of X,
    so that a term partly absorbed by the fit counts with what it would add [Frisch and Waugh 1933].
    """
    R = rows.whole.R[0]
    noise = np.maximum(noise_of_joints(e, rows.joint, len(R)), 1e-12 * float(np.abs(rows.y).max()) + 1e-300)
    inverse = np.linalg.pinv(whitened(R, noise)[: len(rows.names), :-1])
    terms = {j: _JointTerms(rows, e, j) for j in range(len(R)) if np.count_nonzero(rows.joint == j) >= FEWEST}
    pulled = np.zeros(len(rows.names))
    for chunk in rows.chunks():
        for part in chunk:
            pulled[part.columns] += part.A[:, :-1].T @ e[part.rows] / noise[part.joint] ** 2
            if part.joint in terms:
                terms[part.joint].add(part)
    # the projection of e on the columns: zero after least squares
    taken = inverse.T @ pulled
    found = []
    for j, own in terms.items():
        if not np.ptp(own.e) > 0.0:
            continue
        best = Symptom(rows.joints[j], "", 0.0)
        share = whiteness(own.e, own.t, own.run).effective
        for k, (kind, unit) in enumerate(own.kinds):
            # the component of the term orthogonal to the columns: its norm, and its product with the residual
            along = inverse.T @ own.along[:, k] / noise[j]
            rest, product = float(own.squares[k] - along @ along), float(own.products[k] - noise[j] * (along @ taken))
            if rest <= 1e-6 * float(own.squares[k]):
                continue
            explained = min(product**2 / (rest * float(own.e @ own.e)), 1.0)
            samples = max(share * len(own.e), 3.0)
            distance = np.sqrt(explained * samples / max(1.0 - explained, 1e-12))
            if explained > max(best.explained, TELLING) and distance > CERTAIN:
                best = Symptom(rows.joints[j], kind, explained, unit * product / rest)
        if best.kind:
            found.append(best)
    agree = _agreeing_delays([symptom for symptom in found if symptom.kind == "delay"], len(R))
    return tuple(symptom for symptom in found if symptom.kind != "delay" or symptom in agree)


class _JointTerms:
    """The terms of one joint, summed over chunks of its rows in order of time: their products with X and with the residual."""

    def __init__(self, rows: Equations, e: Array, joint: int) -> None:
        at = np.flatnonzero(rows.joint == joint)
        at = at[np.lexsort((rows.t[at], rows.run[at]))]
        self.e, self.t, self.run, self.v = e[at], rows.t[at], rows.run[at], rows.v[at]
        self.predicted = rows.y[at] - self.e
        self.period, self.fastest = period_of(self.t), max(float(np.abs(self.v).max()), 1e-12)
        self.delays = min(LATEST, len(at) // 4, max(1, int(LATEST_S / self.period)))
        shifts = [("delay", sign * k * self.period) for k in range(1, self.delays + 1) for sign in (1, -1)]
        self.kinds = [(kind, 1.0) for kind in ("dry", "viscous", "stribeck", "quadratic", "inertia", "offset")] + shifts
        self.along = np.zeros((len(rows.names), len(self.kinds)))
        self.squares, self.products = np.zeros((2, len(self.kinds)))
        self._done = 0

    def add(self, part: JointRows) -> None:
        """Add the next rows."""
        T = self._terms(self._done, self._done + len(part.rows))
        own = self.e[self._done : self._done + len(part.rows)]
        self.along[part.columns] += part.A[:, :-1].T @ T
        self.squares += np.einsum("ij,ij->j", T, T)
        self.products += own @ T
        self._done += len(part.rows)

    def _terms(self, low: int, high: int) -> Array:
        """Return the terms (rows, k) at rows low … high; differences and delays also need their neighbours."""
        near = slice(max(0, low - self.delays - 1), high + self.delays + 1)
        v, t, run, predicted = (x[near] for x in (self.v, self.t, self.run, self.predicted))
        columns = [
            np.sign(v),
            v,
            np.sign(v) * np.exp(-((v / (2.0 * SLOW * self.fastest)) ** 2)),
            v * np.abs(v),
            rate(v, t, run, self.period),
            np.ones(len(v)),
        ]
        for k in range(1, self.delays + 1):
            # within one sample the fraction of one step gives the shift; beyond it the best number of steps does
            columns.append(_earlier(predicted, t, run, k, self.period) - predicted)
            columns.append(_earlier(predicted[::-1], -t[::-1], run[::-1], k, self.period)[::-1] - predicted)
        return np.stack([x[low - near.start : high - near.start] for x in columns], axis=1)


def _agreeing_delays(delays: Sequence[Symptom], joints: int) -> list[Symptom]:
    """Return the delays within the range considered that at least half of the joints have in common.

    Torques are logged together: a time shift of a single joint is an effect of friction or elasticity.
    """
    within = [symptom for symptom in delays if abs(symptom.size) <= LATEST_S]
    usual = float(np.median([symptom.size for symptom in within])) if within else 0.0
    agree = [symptom for symptom in within if abs(symptom.size - usual) <= 0.5 * abs(usual)]
    return agree if 2 * len(agree) >= joints else []


def _earlier(x: Array, t: Array, run: Array, k: int, period: float) -> Array:
    """Return x delayed by k samples; unchanged across gaps."""
    past = x.copy()
    near = (np.abs(t[k:] - t[:-k] - k * period) < 0.5 * period) & (run[k:] == run[:-k])
    past[k:][near] = x[:-k][near]
    return past


def rate(x: Array, t: Array, run: Array, period: float) -> Array:
    """Return dx/dt by central differences; zero next to gaps."""
    slope = np.zeros(len(x))
    if len(x) < 3:
        return slope
    span = t[2:] - t[:-2]
    near = (span > 0.0) & (span < 3.0 * period) & (run[2:] == run[:-2])
    slope[1:-1][near] = (x[2:] - x[:-2])[near] / span[near]
    return slope


def independent_samples(rows: Equations) -> float:
    """Return the number of rows, or where a parallel filter has passed less than these resolve, that of samples at twice its
    cut-off frequency."""
    if not isinstance(rows.source, Regressor):
        return float(len(rows))
    runs = rows.source.runs
    share = [min(1.0, 2.0 * run.parallel * run.period * run.every) if run.parallel and run.period else 1.0 for run in runs]
    return float(np.sum(np.array(share)[rows.run]))


def saturated_joints(rows: Equations, effort: Any) -> list[str]:
    """Return the joints whose torque stays at an extreme, or at the limit ``effort`` (n,), in many rows, with their share."""
    names = []
    limits = np.full(len(rows.joints), np.inf) if effort is None else np.asarray(effort, float)
    for j, (name, unit, limit) in enumerate(zip(rows.joints, rows.units, limits, strict=True)):
        own = rows.y[rows.joint == j]
        if len(own) < 50 or not np.ptp(own) > 0.0:
            continue
        ends = [own >= own.max() - FLAT * np.ptp(own), own <= own.min() + FLAT * np.ptp(own)]
        if np.abs(own).max() <= BEYOND_LIMIT * limit:
            ends.append(np.abs(own) >= AT_LIMIT * limit)
        share = max(float(np.mean(end)) for end in ends)
        if share * len(own) >= max(5.0, 0.005 * len(own)):
            names.append(f"{name} ({100 * share:.2g} % of its rows at {np.abs(own).max():.3g} {unit})")
    return names
