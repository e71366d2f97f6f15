"""Causes of residuals: a term missing in the model, a delay, standstill, saturated torques."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.identification.validation.residuals import names_of_joints
from dynamis.identification.validation.statistics import noise_of_joints
from dynamis.identification.validation.whiteness import in_order, period_of, whiteness

Array = npt.NDArray[Any]
TELLING = 0.08  # fraction of the residual's variance a term must explain to be reported
CERTAIN = 5.0  # standard errors of its coefficient from zero, for the number of independent samples
LATEST, LATEST_S = 16, 0.06  # the longest delay considered: samples, and seconds
SLOW = 0.05  # relative to the largest velocity: near standstill
ROUGH = 2.0  # ratio of residuals near standstill and in motion to be reported
FLAT = 1e-9  # relative to the range of the torque: equal to the maximum


@dataclass(frozen=True, repr=False)
class Symptom:
    """One finding about one joint: its ``kind``, the fraction of the residual's variance it ``explained`` (or a ratio or
    fraction of rows, depending on the kind), and the ``size`` of the term in SI units (seconds for a delay)."""

    joint: str
    kind: str
    explained: float
    size: float = 0.0

    __repr__ = as_call
    _repr_html_ = as_table


def missing_terms(
    X: Array,
    y: Array,
    e: Array,
    joint: Array,
    t: Array,
    v: Array,
    *,
    run: Array | None = None,
    names: Sequence[str] | None = None,
) -> tuple[Symptom, ...]:
    """Return, for each joint, the term that explains most of the residual e, if significant.

    Terms: "dry" sign v, "viscous" v, "stribeck" (Coulomb friction near standstill only), "quadratic" v |v|, "inertia" dv/dt,
    "offset" 1, and "delay", the predicted torque shifted in time. Each is first projected out of the span of the columns of X,
    so that a term partly absorbed by the fit counts with what it would add [Frisch and Waugh 1933].
    """
    found = []
    labels = names_of_joints(joint, names)
    noise = np.maximum(noise_of_joints(e, joint, len(labels)), 1e-12 * float(np.abs(y).max()) + 1e-300)
    inverse = np.linalg.pinv(np.linalg.qr(X / noise[joint][:, None], mode="r"))
    # the projection of e on the columns: zero after least squares
    taken = inverse.T @ (X.T @ (e / noise[joint] ** 2))
    for j, name in enumerate(labels):
        at = np.flatnonzero(joint == j)
        if len(at) < 50 or not np.ptp(e[at]) > 0.0:
            continue
        runs = None if run is None else run[at]
        order = in_order(t[at], runs)
        at = at[order]
        own, runs, Q = e[at], None if runs is None else runs[order], X[at] @ inverse / noise[j]
        best = Symptom(name, "", 0.0)
        share = whiteness(own, t[at], run=runs).effective
        for kind, unit, term in _terms(v[at], t[at], runs, y[at] - own):
            # the component of the term orthogonal to the columns: its norm, and its product with the residual
            along = Q.T @ term
            rest, product = float(term @ term - along @ along), float(term @ own - noise[j] * (along @ taken))
            if rest <= 1e-6 * float(term @ term):
                continue
            explained = min(product**2 / (rest * float(own @ own)), 1.0)
            samples = max(share * len(own), 3.0)
            distance = np.sqrt(explained * samples / max(1.0 - explained, 1e-12))
            if explained > max(best.explained, TELLING) and distance > CERTAIN:
                best = Symptom(name, kind, explained, unit * product / rest)
        if best.kind:
            found.append(best)
    agree = _agreeing_delays([symptom for symptom in found if symptom.kind == "delay"], len(labels))
    return tuple(symptom for symptom in found if symptom.kind != "delay" or symptom in agree)


def _agreeing_delays(delays: Sequence[Symptom], joints: int) -> list[Symptom]:
    """Return the delays within the range considered that at least half of the joints have in common.

    Torques are logged together: a time shift of a single joint is an effect of friction or elasticity.
    """
    within = [symptom for symptom in delays if abs(symptom.size) <= LATEST_S]
    usual = float(np.median([symptom.size for symptom in within])) if within else 0.0
    agree = [symptom for symptom in within if abs(symptom.size - usual) <= 0.5 * abs(usual)]
    return agree if 2 * len(agree) >= joints else []


def _terms(v: Array, t: Array, run: Array | None, predicted: Array) -> Iterator[tuple[str, float, Array]]:
    """Yield the kind, the SI value of a unit coefficient, and the term itself."""
    fastest = max(float(np.abs(v).max()), 1e-12)
    yield "dry", 1.0, np.sign(v)
    yield "viscous", 1.0, v
    yield "stribeck", 1.0, np.sign(v) * np.exp(-((v / (2.0 * SLOW * fastest)) ** 2))
    yield "quadratic", 1.0, v * np.abs(v)
    yield "inertia", 1.0, rate(v, t, run)
    yield "offset", 1.0, np.ones(len(v))
    period = period_of(t)
    for k in range(1, min(LATEST, len(v) // 4, max(1, int(LATEST_S / period))) + 1):
        # within one sample the fraction of one step gives the shift; beyond it the best number of steps does
        yield "delay", k * period, _earlier(predicted, t, run, k) - predicted
        yield "delay", -k * period, _earlier(predicted[::-1], -t[::-1], None if run is None else run[::-1], k)[::-1] - predicted


def _earlier(x: Array, t: Array, run: Array | None, k: int) -> Array:
    """Return x delayed by k samples; unchanged across gaps."""
    past = x.copy()
    near = np.abs(t[k:] - t[:-k] - k * period_of(t)) < 0.5 * period_of(t)
    if run is not None:
        near &= run[k:] == run[:-k]
    past[k:][near] = x[:-k][near]
    return past


def rate(x: Array, t: Array, run: Array | None = None) -> Array:
    """Return dx/dt by central differences; zero next to gaps."""
    slope = np.zeros(len(x))
    if len(x) < 3:
        return slope
    span = t[2:] - t[:-2]
    near = (span > 0.0) & (span < 3.0 * period_of(t))
    if run is not None:
        near &= run[2:] == run[:-2]
    slope[1:-1][near] = (x[2:] - x[:-2])[near] / span[near]
    return slope


def rough_standstill(e: Array, joint: Array, v: Array, names: Sequence[str] | None = None) -> tuple[Symptom, ...]:
    """Return joints with a much larger residual near standstill than in motion; ``explained`` is the ratio of RMS values."""
    found = []
    for j, name in enumerate(names_of_joints(joint, names)):
        own, speed = e[joint == j], np.abs(v[joint == j])
        slow = speed < SLOW * speed.max(initial=0.0)
        if min(int(slow.sum()), int((~slow).sum())) < 20:
            continue
        ratio = np.sqrt(np.mean(own[slow] ** 2) / max(float(np.mean(own[~slow] ** 2)), 1e-300))
        if ratio > ROUGH:
            found.append(Symptom(name, "standstill", float(ratio)))
    return tuple(found)


def saturated(y: Array, joint: Array, effort: Array | None = None, names: Sequence[str] | None = None) -> tuple[Symptom, ...]:
    """Return joints whose torque stays at an extreme, or at the limit ``effort`` (n,); ``explained``: fraction of rows."""
    found = []
    for j, name in enumerate(names_of_joints(joint, names)):
        own = y[joint == j]
        if len(own) < 50 or not np.ptp(own) > 0.0:
            continue
        ends = [own >= own.max() - FLAT * np.ptp(own), own <= own.min() + FLAT * np.ptp(own)]
        if effort is not None and np.isfinite(effort[j]) and effort[j] > 0.0:
            ends.append(np.abs(own) >= 0.99 * effort[j])
        share = max(float(np.mean(end)) for end in ends)
        if share * len(own) >= max(5.0, 0.005 * len(own)):
            found.append(Symptom(name, "saturation", share, float(np.abs(own).max())))
    return tuple(found)
