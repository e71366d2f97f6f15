"""What is left over, searched for its cause: a term the model lacks, a delay, standstill, torques at their limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.identification.judgement.residuals import names_of_joints
from dynamis.identification.judgement.statistics import noise_of_joints
from dynamis.identification.judgement.whiteness import in_order, period_of, whiteness

Array = npt.NDArray[Any]
TELLING = 0.08  # share of the residual's variance a term must explain to be named
CERTAIN = 5.0  # standard errors its coefficient must be away from zero, counting independent samples
LATEST, LATEST_S = 16, 0.06  # the longest delay looked for: samples, and seconds
SLOW = 0.05  # of the fastest: near standstill
ROUGH = 2.0  # how many times larger the residual near standstill must be to be named
FLAT = 1e-9  # of the torque's range: as large as the largest


@dataclass(frozen=True, repr=False)
class Symptom:
    """One finding about one joint: its ``kind``, how much of the residual's variance it explains (0 … 1, or a ratio or
    share where the kind says so), and the ``size`` of the term in SI units (seconds for a delay)."""

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
    """For each joint the term that would explain most of the residual e, if any explains much.

    Terms: "dry" sign v, "viscous" v, "stribeck" (dry friction near standstill only), "quadratic" v |v|, "inertia" dv/dt,
    "offset" 1, and "delay", the torque predicted a little earlier or later. Each is first freed of what the columns of X can
    imitate, so that a term the fit has already bent itself to is judged by what it would really add [Frisch and Waugh 1933].
    """
    found = []
    labels = names_of_joints(joint, names)
    noise = np.maximum(noise_of_joints(e, joint, len(labels)), 1e-12 * float(np.abs(y).max()) + 1e-300)
    inverse = np.linalg.pinv(np.linalg.qr(X / noise[joint][:, None], mode="r"))
    # what the columns still find in e: nothing after least squares
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
            # the part of the term outside the columns: its length, and its product with the residual
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
    return tuple(found)


def _terms(v: Array, t: Array, run: Array | None, predicted: Array) -> Iterator[tuple[str, float, Array]]:
    """Kind, what a coefficient of one means in SI units, and the term itself."""
    fastest = max(float(np.abs(v).max()), 1e-12)
    yield "dry", 1.0, np.sign(v)
    yield "viscous", 1.0, v
    yield "stribeck", 1.0, np.sign(v) * np.exp(-((v / (2.0 * SLOW * fastest)) ** 2))
    yield "quadratic", 1.0, v * np.abs(v)
    yield "inertia", 1.0, rate(v, t, run)
    yield "offset", 1.0, np.ones(len(v))
    period = period_of(t)
    for k in range(1, min(LATEST, len(v) // 4, max(1, int(LATEST_S / period))) + 1):
        # a share of one step says how far between two samples the shift is; beyond one step the best step says it
        yield "delay", k * period, _earlier(predicted, t, run, k) - predicted
        yield "delay", -k * period, _earlier(predicted[::-1], -t[::-1], None if run is None else run[::-1], k)[::-1] - predicted


def _earlier(x: Array, t: Array, run: Array | None, k: int) -> Array:
    """x of k samples before; where there is a gap between, x itself."""
    past = x.copy()
    near = np.abs(t[k:] - t[:-k] - k * period_of(t)) < 0.5 * period_of(t)
    if run is not None:
        near &= run[k:] == run[:-k]
    past[k:][near] = x[:-k][near]
    return past


def rate(x: Array, t: Array, run: Array | None = None) -> Array:
    """dx/dt by central differences; zero next to gaps, where it is not known."""
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
    """The joints whose residual is much larger near standstill than in motion; ``explained`` is the ratio of the two RMS."""
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
    """The joints whose torque rests at its extreme, or at the limit ``effort`` (n,); ``explained`` is the share of rows."""
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
