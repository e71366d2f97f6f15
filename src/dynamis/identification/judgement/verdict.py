"""The verdict on an identification: a grade, and in plain sentences with numbers what speaks for it and what against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, as_text, short
from dynamis.identification.judgement.readable_names import as_large_as, listed, readable
from dynamis.identification.judgement.statistics import Statistics
from dynamis.identification.judgement.symptoms import Symptom, missing_terms, rough_standstill, saturated
from dynamis.identification.judgement.validation import Validation

if TYPE_CHECKING:
    from dynamis.identification.equations import Equations

Array = npt.NDArray[Any]
GRADES = ("good", "usable", "doubtful", "not usable")
WELL_CONDITIONED, ILL_CONDITIONED = 100.0, 1000.0
RESIDUAL = (10.0, 20.0, 40.0)  # percent of the torque, held out: up to which a fit is good, usable, doubtful
AS_GOOD = 1.01  # times what the model before leaves: less is no difference
OVERFIT = (1.25, 2.0)  # held out over fitted
EXACT = 1e-3  # percent: less of the torque than any sensor shows, so that what it looks like says nothing
CURES = {
    "dry": "dry friction is missing: add friction 'coulomb'",
    "viscous": "viscous friction is missing: add friction 'viscous'",
    "stribeck": "friction that is larger near standstill: add friction 'stribeck', or leave slow samples out",
    "quadratic": "friction that grows with the square of the velocity: add friction 'quadratic'",
    "inertia": "inertia on the motor's side is missing: let rotor=True, or check the gear ratio",
    "offset": "a constant torque is missing: let offset=True, and check the zero of the sensor",
}


@dataclass(frozen=True, repr=False)
class Finding:
    """One sentence, what it is about (``topic``), and how bad it is: 0 nothing wrong, 1 a doubt, 2 a defect, 3 fatal."""

    topic: str
    severity: int
    sentence: str

    def __repr__(self) -> str:
        return short(f"<Finding on {self.topic}: {self.sentence}>")

    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class Verdict:
    """``grade``: "good", "usable", "doubtful" or "not usable", that of the worst finding."""

    findings: tuple[Finding, ...]

    @property
    def grade(self) -> str:
        return GRADES[max((f.severity for f in self.findings), default=0)]

    @property
    def sentences(self) -> tuple[str, ...]:
        """All findings, the worst first."""
        return tuple(f.sentence for f in sorted(self.findings, key=lambda f: -f.severity))

    def about(self, topic: str) -> tuple[Finding, ...]:
        """The findings on one topic."""
        return tuple(f for f in self.findings if f.topic == topic)

    def __str__(self) -> str:
        return "\n".join([f"{self.grade[:1].upper()}{self.grade[1:]}.", *(f"- {s}" for s in self.sentences)])

    def __repr__(self) -> str:
        return short(f"<Verdict: {self.grade}; {self.sentences[0] if self.findings else 'nothing found'}>")

    _repr_html_ = as_text


def verdict(
    statistics: Statistics,
    validation: Validation | None = None,
    *,
    equations: Equations | None = None,
    inconsistent: Mapping[str, str] | None = None,
    effort: Any = None,
) -> Verdict:
    """Judge a fit by its statistics, by how it predicted motion it had not seen, and by what its residual looks like.

    ``equations`` are the rows the statistics were made of; with them the residual is searched for terms the model lacks.
    ``inconsistent`` says of links why no real body has the inertia found; ``effort`` (n,) are the limits of the torques.
    """
    found = [*_excitation(statistics), *_level(statistics, validation)]
    if validation is not None:
        found += [*_overfit(validation), *_against_others(validation)]
    found += [*_coloured(statistics), *_outliers(statistics), *_consistency(inconsistent)]
    if equations is not None:
        rows, e, names = equations, statistics.residual, equations.joints
        shown = {part.joint for part in statistics.joints if part.percent > EXACT}
        every = missing_terms(rows.X, rows.y, e, rows.joint, rows.t, rows.v, run=rows.run, names=names)
        terms = [term for term in every if term.joint in shown]
        rough = [symptom for symptom in rough_standstill(e, rows.joint, rows.v, names) if symptom.joint in shown]
        found += [*_missing(terms, statistics), *_standstill(rough, terms)]
        limits = None if effort is None else np.asarray(effort, float)
        found += _saturation(saturated(rows.y, rows.joint, limits, names))
    return Verdict(tuple(found))


def _excitation(s: Statistics) -> list[Finding]:
    condition, weak = s.excitation.scaled_condition, s.excitation.weak
    number = f"the condition number of the scaled equations is {condition:.3g}"
    severity = 0 if condition < WELL_CONDITIONED else 1 if condition < ILL_CONDITIONED else 2
    if severity == 0:
        return [Finding("excitation", 0, f"The motion tells the parameters apart well: {number} (below 100 is good).")]
    names = listed([readable(name) for name in weak])
    about = f" Hardly told apart: {names}." if weak else ""
    cure = "Record a richer motion (see excitation design), or use an estimator with a prior."
    text = f"The motion excites some parameters weakly: {number} (below 100 is good).{about} {cure}"
    return [Finding("excitation", severity, text)]


def _level(s: Statistics, validation: Validation | None) -> list[Finding]:
    overall = s.percent if validation is None else validation.held_out
    where = "on the motion it was fitted to" if validation is None else "on motion held out"
    severity = int(np.searchsorted(RESIDUAL, overall))
    by_joint = {j.joint: j.percent for j in s.joints}
    if validation is not None:
        both = zip(validation.joints, validation.held_out_joints, strict=True)
        by_joint = {name: float(x) for name, x in both if np.isfinite(x)} or by_joint
    worst = max(by_joint, key=lambda name: by_joint[name])
    size = next((f" ({j.rms:.3g} of {j.torque:.3g} N·m RMS where it was fitted)" for j in s.joints if j.joint == worst), "")
    parts = f"the worst joint is {worst} with {by_joint[worst]:.3g} %{size}"
    findings = [Finding("residual", severity, f"{overall:.3g} % of the torque is left unexplained {where}; {parts}.")]
    bad = [f"{name} ({x:.3g} %)" for name, x in by_joint.items() if x > RESIDUAL[2]]
    if bad and severity < 2:
        text = f"The torque of {listed(bad)} is hardly explained: it is small, noisy, or has friction the model lacks."
        findings.append(Finding("residual", 1, text))
    return findings


def _overfit(v: Validation) -> list[Finding]:
    ratio = v.held_out / max(v.train, 1e-12)
    if v.held_out < EXACT or ratio <= OVERFIT[0]:
        text = f"Motion held out is predicted as well as the fitted one: {v.held_out:.3g} % and {v.train:.3g} % unexplained."
        return [Finding("overfit", 0, text)]
    numbers = f"{v.held_out:.3g} % against {v.train:.3g} %"
    text = (
        f"Motion held out is predicted {ratio:.2g} times worse than the fitted one ({numbers} unexplained): the fit has bent "
        "itself to this log. Use more data, fewer (essential) parameters, or a regularised estimator."
    )
    return [Finding("overfit", 1 if ratio <= OVERFIT[1] else 2, text)]


def _against_others(v: Validation) -> list[Finding]:
    findings = []
    if v.held_out >= v.mean:
        text = f"The mean torque of each joint predicts held-out motion no worse ({v.mean:.3g} %) than this fit does."
        findings.append(Finding("mean", 3, text))
    if v.prior is None:
        return findings
    if v.held_out > max(AS_GOOD * v.prior, EXACT):
        text = (
            f"On a new motion this fit is worse than the model you had: {v.held_out:.3g} % against {v.prior:.3g} % is left "
            "unexplained. Do not use it; use a regularised or physically consistent estimator, which keeps to the model you "
            "had where the log says little."
        )
        return [*findings, Finding("prior", 3 if v.held_out > 1.05 * v.prior else 2, text)]
    text = f"On motion held out the fit leaves {v.held_out:.3g} % unexplained, the model you had {v.prior:.3g} %"
    text += ": no better." if v.held_out > max(v.prior, EXACT) else "."
    findings.append(Finding("prior", 0, text))
    if v.prior_joints is not None:
        both = zip(v.joints, v.held_out_joints, v.prior_joints, strict=True)
        worse = [f"{name} ({new:.3g} % against {old:.3g} %)" for name, new, old in both if new > max(1.1 * old, EXACT)]
        if worse:
            findings.append(Finding("prior", 1, f"For {listed(worse)} the model you had predicts better."))
    return findings


def _coloured(s: Statistics) -> list[Finding]:
    coloured = [j for j in s.joints if j.whiteness is not None and not j.whiteness.white and j.percent > EXACT]
    if not coloured:
        return []
    longest = max(coloured, key=lambda j: j.whiteness.length if j.whiteness else 0.0)
    assert longest.whiteness is not None
    worth = longest.whiteness.effective * longest.rows
    text = (
        f"The residuals of {listed([j.joint for j in coloured])} are not white noise: at worst ({longest.joint}) they stay "
        f"alike for {longest.whiteness.seconds:.2g} s, so that {longest.rows} samples are worth {worth:.0f}."
    )
    if s.window > 1:
        text += (
            f" The standard errors allow for it: they are {as_large_as(float(np.median(s.inflation)))} those of white noise."
        )
    return [Finding("coloured", int(longest.whiteness.length > 10.0), text)]


def _outliers(s: Statistics) -> list[Finding]:
    wild = [f"{j.joint} ({100 * j.outliers:.2g} % of its rows)" for j in s.joints if j.outliers > 2e-3 and j.percent > EXACT]
    if not wild:
        return []
    text = f"Residuals beyond five standard deviations: {listed(wild)}. Look at the log there, or use a robust estimator."
    return [Finding("outliers", 1, text)]


def _consistency(inconsistent: Mapping[str, str] | None) -> list[Finding]:
    if inconsistent is None:
        return []
    if not inconsistent:
        return [Finding("consistency", 0, "Every link has an inertia that a real body can have.")]
    whole = inconsistent.get("")
    if whole is not None:  # of links as torques show them, several together
        text = f"As estimated, {whole}: simulation may fail. Use a physically consistent estimator."
        return [Finding("consistency", 2, text)]
    why = listed([f"{link} ({reason})" for link, reason in inconsistent.items()])
    text = f"No real body has the inertia found for {why}: simulation may fail. Use a physically consistent estimator."
    return [Finding("consistency", 2, text)]


def _missing(terms: Sequence[Symptom], s: Statistics) -> list[Finding]:
    findings = []
    left = {part.joint: part.percent for part in s.joints}
    for kind in dict.fromkeys(term.kind for term in terms):
        own = [term for term in terms if term.kind == kind]
        joints = listed([f"{term.joint} ({100 * term.explained:.0f} %)" for term in own], 8)
        if kind == "delay":
            shifts = listed([f"{1e3 * abs(term.size):.0f} ms {'late' if term.size > 0 else 'early'}" for term in own], 8)
            text = f"A shift in time explains much of what is left of {joints}: the torque is {shifts}. Align it first."
        else:
            text = f"Much of what is left of {joints} follows a term the model lacks: {CURES[kind]}."
        grave = any(term.explained > 0.5 and left[term.joint] > RESIDUAL[1] for term in own)
        findings.append(Finding("missing", 2 if grave else 1, text))
    return findings


def _standstill(rough: Sequence[Symptom], terms: Sequence[Symptom]) -> list[Finding]:
    said = {term.joint for term in terms}  # a cause is known already
    names = [f"{s.joint} ({s.explained:.2g} times)" for s in rough if s.joint not in said]
    if not names:
        return []
    text = f"Near standstill the residual is larger than in motion: {listed(names)}. Friction there is different: "
    return [Finding("standstill", 1, text + "leave slow samples out, or model stiction.")]


def _saturation(limited: Sequence[Symptom]) -> list[Finding]:
    if not limited:
        return []
    names = listed([f"{s.joint} ({100 * s.explained:.2g} % of its rows at {s.size:.3g} N·m)" for s in limited])
    text = f"Torques rest at their limit: {names}. That is the limit, not the dynamics: leave these rows out."
    return [Finding("saturation", 1, text)]
