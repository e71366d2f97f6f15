"""Verdict on an identification: a grade, and findings as sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, as_text, short
from dynamis.identification.validation.describe import as_large_as, listed, readable
from dynamis.identification.validation.held_out import Validation
from dynamis.identification.validation.link_masses import far_mass_findings
from dynamis.identification.validation.statistics import Statistics
from dynamis.identification.validation.symptoms import SLOW, Symptom, independent_samples, missing_terms, saturated_joints

if TYPE_CHECKING:
    from dynamis.identification.equations import Equations
    from dynamis.identification.logs.log import LogFinding

Array = npt.NDArray[Any]
GRADES = ("good", "usable", "doubtful", "not usable")
WELL_CONDITIONED, ILL_CONDITIONED = 100.0, 1000.0
RESIDUAL = (10.0, 20.0, 40.0)  # held-out residual in percent of the torque: limits of good, usable, doubtful
SMALL = 0.2  # fraction of the limit of good below which neither shape nor growth of the residual limits the grade
AS_GOOD = 1.01  # ratio to the residual of the prior model: smaller differences are ignored
WORSE = (1.05, 1.25)  # the same, above which a fit is not usable: of an estimator without and with a prior
OVERFIT = (1.25, 2.0)  # residual on held-out rows over that on training rows
MANY = 0.2  # parameters per independent sample: of white noise, as many raise the former ratio to 1.22
LASTING = 0.05  # fraction of the log over which noise is not correlated
BARELY = 0.7  # ratio to the residual of the mean torque above which the motion explains less than half of the variance
MOST = 0.5  # fraction of a residual's variance: a missing term that explains more is a defect if the residual is large
ROUGH = 2.0  # ratio of residuals near standstill and in motion to be reported
NONE = 100.0  # percent of its torque left on held-out motion by no prediction at all
EXACT = 1e-3  # percent: below sensor resolution, so the shape of the residual is ignored
CURES = {
    "dry": "Coulomb friction (add friction 'coulomb')",
    "viscous": "viscous friction (add friction 'viscous')",
    "stribeck": "friction that increases near standstill (add friction 'stribeck', or leave slow samples out: slow=…)",
    "quadratic": "friction quadratic in the velocity (add friction 'quadratic')",
    "inertia": "motor-side inertia (set rotor=True, or check the gear ratio)",
    "offset": "a constant torque (set offset=True, and check the sensor's zero)",
}
CHOSEN = ("stribeck", "quadratic", "offset")  # terms chosen by their prediction of held-out motion (`model_terms`)
PARAMETERS = {"dry": "coulomb", "viscous": "viscous", "stribeck": "stribeck", "quadratic": "quadratic", "inertia": "rotor",
              "offset": "offset"}  # fmt: skip
AT_REST = "friction is different near standstill, as in pauses. Leave slow samples out: slow=…"
INACCURATE = (
    "velocities and accelerations may be inaccurate. Check the times of the log and the filters (cutoff=…), or compare with "
    "estimator='weighted'"
)
OTHERWISE = "use a regularised or physically consistent estimator, which keeps poorly excited parameters at the prior"
HELD = "it is held by the prior or a bound. Compare with estimator='weighted'"
IN_MODEL = {"dry": AT_REST, "stribeck": AT_REST, "inertia": INACCURATE}
# findings that a delay, a joint zero or another fault of the log may cause
EFFECTS = {
    "overfit": "a residual that is larger on held-out motion than in training",
    "coloured": "correlated residuals",
    "outliers": "residuals beyond five standard deviations",
    "missing": "terms that seem to be missing in the model",
    "standstill": "larger residuals near standstill",
    "masses": "masses far from those of the file",
}


@dataclass(frozen=True, repr=False)
class VerdictItem:
    """One sentence, its ``topic``, and its ``severity``: the index of the grade in `GRADES` to which it limits the result."""

    topic: str
    severity: int
    sentence: str

    @property
    def limit(self) -> str:
        """The best grade that this finding permits."""
        return GRADES[self.severity]

    def __repr__(self) -> str:
        return short(f"<VerdictItem on {self.topic}: {self.sentence}>")

    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class Verdict:
    """``grade``: "good", "usable", "doubtful" or "not usable", the lowest of the limits set by the ``findings``."""

    findings: tuple[VerdictItem, ...]

    @property
    def grade(self) -> str:
        return GRADES[self._worst]

    @property
    def reasons(self) -> tuple[str, ...]:
        """The findings that limit the grade to what it is; none if it is "good"."""
        return tuple(f.sentence for f in self.findings if f.severity == self._worst > 0)

    @property
    def others(self) -> tuple[str, ...]:
        """The other findings, the worst first: without the ``reasons`` they would set the grade."""
        rest = [f for f in self.findings if not f.severity == self._worst > 0]
        return tuple(f.sentence for f in sorted(rest, key=lambda f: -f.severity))

    @property
    def sentences(self) -> tuple[str, ...]:
        """All findings, the reasons for the grade first."""
        return (*self.reasons, *self.others)

    @property
    def _worst(self) -> int:
        return max((f.severity for f in self.findings), default=0)

    def about(self, topic: str) -> tuple[VerdictItem, ...]:
        """Return the findings on one topic."""
        return tuple(f for f in self.findings if f.topic == topic)

    def __str__(self) -> str:
        lines = [f"{self.grade[:1].upper()}{self.grade[1:]}."]
        if self.reasons:
            lines += ["Reasons for this grade:", *(f"- {s}" for s in self.reasons), "Other findings:"]
        return "\n".join([*lines, *(f"- {s}" for s in self.others)])

    def __repr__(self) -> str:
        return short(f"<Verdict: {self.grade}; {self.sentences[0] if self.findings else 'no findings'}>")

    _repr_html_ = as_text


def verdict(
    statistics: Statistics,
    validation: Validation | None = None,
    *,
    equations: Equations | None = None,
    inconsistent: Mapping[str, str] | None = None,
    masses: Mapping[str, tuple[float, float]] | None = None,
    effort: Any = None,
    log_findings: Sequence[LogFinding] = (),
    limits: tuple[float, float, float] = RESIDUAL,
    regularised: bool = False,
    terms_chosen: bool = False,
) -> Verdict:
    """Assess a fit by its statistics, its prediction of held-out motion, and its residuals.

    ``equations`` are the rows of the statistics, used to search the residual for missing terms. ``inconsistent`` maps links to
    the reason of their physical inconsistency, ``masses`` to their masses in the file and as identified; ``effort`` (n,) are
    the torque limits; ``log_findings`` are problems of the logs that limit the grade; ``limits`` are the residuals on held-out
    motion, in percent, above which a result is no longer good, usable and doubtful. ``regularised`` tells that the estimator
    already uses the prior, ``terms_chosen`` that terms which predict held-out motion better are in the model, for the advice.
    """
    found = [VerdictItem("log", f.caps, f"{f.text[:1].upper()}{f.text[1:]}; {f.cure}.") for f in log_findings]
    at_rest = () if equations is None else equations.joints_at_rest
    level = _level(statistics, validation, limits)
    found = [replace(f, severity=max(f.severity, level[0].severity)) if f.severity > 1 else f for f in found]  # its cause
    found += [*_excitation(statistics, regularised, at_rest), *level]
    shape = [*_coloured(statistics), *_outliers(statistics)]
    if validation is not None:
        found += _against_others(validation, regularised)
        many = None if equations is None else (len(equations.names), independent_samples(equations))
        varies = bool(log_findings) or (equations is not None and _varies(statistics, equations))
        shape = [*_overfit(validation, regularised, many, log_findings, varies), *shape]
    if equations is not None:
        rows, e = equations, statistics.residual
        shown = {part.joint for part in statistics.joints if part.percent > EXACT}
        tried = CHOSEN if terms_chosen else ()
        terms = [term for term in missing_terms(rows, e) if term.joint in shown and term.kind not in tried]
        shape += [*_missing(terms, statistics, rows.parameters), *_standstill(rows, e, shown - {term.joint for term in terms})]
        found += _saturation(rows, effort)
    if (statistics.percent if validation is None else validation.held_out) <= SMALL * limits[0]:
        shape = [_harmless(item) for item in shape]  # a residual this small may have any shape
    found += [*shape, *_consistency(inconsistent), *(VerdictItem("masses", *said) for said in far_mass_findings(masses or {}))]
    return Verdict(tuple(_without_effects(found) if any(f.caps > 1 for f in log_findings) else found))


def _harmless(item: VerdictItem) -> VerdictItem:
    sentence = f"{item.sentence.partition(':')[0]}; both are small." if item.topic == "overfit" else item.sentence
    return replace(item, severity=0, sentence=sentence)


def _without_effects(found: Sequence[VerdictItem]) -> list[VerdictItem]:
    """Return findings on a log with faults, their possible effects named with the last of these."""
    effects = [item for item in found if item.topic in EFFECTS and (item.severity or item.topic in ("coloured", "missing"))]
    if not effects:
        return list(found)
    words = listed(list(dict.fromkeys(EFFECTS[item.topic] for item in effects)))
    fault = [item for item in found if item.topic == "log" and item.severity > 1][-1]
    text = f"{fault.sentence} Possible effects: {words}. Correct the log and identify again before you look for other causes."
    told = {id(fault): replace(fault, sentence=text)}
    return [told.get(id(item), item) for item in found if item not in effects]


def _excitation(s: Statistics, regularised: bool, at_rest: Sequence[str]) -> list[VerdictItem]:
    condition, weak = s.excitation.scaled_condition, s.excitation.weak
    number = f"the condition number of the scaled equations is {condition:.3g}"
    severity = 0 if condition < WELL_CONDITIONED else 1 if condition < ILL_CONDITIONED else 2
    if severity == 0:
        return [VerdictItem("excitation", 0, f"The parameters are well excited: {number} (below 100 is good).")]
    names = listed([readable(name) for name in weak])
    about = f" Nearly collinear: {names}." if weak else ""
    kept = "; parameters that the log does not determine keep their prior values"
    cure = f"Record a richer motion (see excitation design){kept if regularised else ', or use an estimator with a prior'}."
    text = f"Some parameters are weakly excited: {number} (below 100 is good).{about} {cure}"
    if at_rest:
        whose = "its" if len(at_rest) == 1 else "their"
        text = f"{listed(at_rest)} never moved, so {whose} friction and rotor inertia are not determined. {text}"
    return [VerdictItem("excitation", severity, text)]


def _level(s: Statistics, validation: Validation | None, limits: tuple[float, float, float]) -> list[VerdictItem]:
    overall = s.percent if validation is None else validation.held_out
    where = "on the fitted motion" if validation is None else "on held-out motion"
    severity = int(np.searchsorted(limits, overall))
    by_joint = {j.joint: j.percent for j in s.joints}
    if validation is not None:
        both = zip(validation.joints, validation.held_out_joints, strict=True)
        by_joint = {name: float(x) for name, x in both if np.isfinite(x)} or by_joint
    worst = max(by_joint, key=lambda name: by_joint[name])
    # of separate validation logs the torques are not known here
    same = validation is None or len(validation.folds) > 1
    sizes = (f" ({by_joint[worst] / 100 * j.torque:.3g} of {j.torque:.3g} {j.unit} RMS)" for j in s.joints if j.joint == worst)
    size = next(sizes, "") if same else ""
    parts = f"the worst joint is {worst} with {by_joint[worst]:.3g} %{size}"
    beside = f" ({_compared(validation)})" if validation is not None else ""
    findings = [VerdictItem("residual", severity, f"The residual {where} is {overall:.3g} % of the torque{beside}; {parts}.")]
    for low, high, worth, text in (
        (NONE, np.inf, 2, "predicted worse than by zero: with its motion, it contradicts the other torques or other parts of "
         "the logs, or it is only noise. Check the column, sign, unit and gear ratio of this joint"),
        (limits[2], NONE, 1, "hardly explained: it is small, noisy, or has unmodelled friction"),
    ):  # fmt: skip
        if (own := [f"{name} ({x:.3g} %)" for name, x in by_joint.items() if low < x <= high]) and (worth > 1 or severity < 2):
            findings.append(VerdictItem("residual", worth, f"The torque of {listed(own)} is {text}."))
    return findings


def _compared(v: Validation) -> str:
    """Return the residuals beside that on held-out motion."""
    prior = "" if v.prior is None else f", {v.prior:{'.3g' if v.prior < 1e3 else '.0f'}} % with the prior model"
    return f"{v.train:.3g} % on the training rows{' of the folds' if len(v.folds) > 1 else ''}{prior}"


def _overfit(
    v: Validation, regularised: bool, many: tuple[int, float] | None, log_findings: Sequence[LogFinding], varies: bool
) -> list[VerdictItem]:
    """Compare the residuals on held-out and training rows; ``many`` are the numbers of parameters and independent samples,
    ``varies`` tells that parts of the log differ by more than noise does."""
    ratio = v.held_out / max(v.train, 1e-12)
    if v.held_out < EXACT or ratio <= OVERFIT[0]:
        return []
    severity = 1 if ratio <= OVERFIT[1] else 2
    if v.held_out > BARELY * v.mean:
        text = (
            f"The torques of this log hardly depend on its motion: held out, this fit leaves {v.held_out:.3g} % of them and "
            f"the mean torque {v.mean:.3g} %. They are mostly noise, or the robot hardly moves: record a larger motion."
        )
        return [VerdictItem("overfit", severity, text)]
    text = f"The residual on held-out motion is {ratio:.2g} times that on the motion used for training"
    if many is not None and (log_findings or many[0] < MANY * many[1]):
        counts = f"with {many[0]} parameters and about {many[1]:.0f} independent samples"
        why = (
            "which the faults of the log named here may explain" if log_findings else "as if torques drift or friction changes"
        )
        if len(v.folds) == 1 and not log_findings:
            what = "the logs for validation are of another load or friction than those for training, or their motion is larger"
            return [VerdictItem("overfit", severity, f"{text}, {counts}: {what}.")]
        if varies:
            return [VerdictItem("overfit", severity, f"{text}, {counts}: parts of the log contradict each other, {why}.")]
    text += ": the fit overfits this log. Use more data"
    text += "." if regularised else ", fewer (essential) parameters, or a regularised estimator."
    return [VerdictItem("overfit", severity, text)]


def _varies(s: Statistics, rows: Equations) -> bool:
    """Return whether the residual of a joint is correlated over a large part of the log, as no sensor noise is."""
    whole = sum(float(np.ptp(rows.t[rows.run == run])) for run in np.unique(rows.run))
    return max((j.whiteness.wandering(j.rows) for j in s.joints), default=0.0) > LASTING * whole


def _against_others(v: Validation, regularised: bool) -> list[VerdictItem]:
    findings = []
    if v.held_out >= v.mean:
        text = f"The mean torque of each joint predicts held-out motion at least as well ({v.mean:.3g} %) as this fit."
        findings.append(VerdictItem("mean", 3, text))
    if v.prior is None:
        return findings
    # the file was not fitted without the held-out rows: if it comes from this log, its residual is one of training
    own = len(v.folds) > 1
    if v.held_out > max(AS_GOOD * v.prior, EXACT) and own and v.train < AS_GOOD * v.prior:
        text = (
            f"The prior model is as good within the uncertainty of this fit: it leaves {v.prior:.3g} %, this fit "
            f"{v.train:.3g} % on the motion used for training and {v.held_out:.3g} % on held-out motion. Was it identified "
            "from this log?"
        )
        return [*findings, VerdictItem("prior", int(v.held_out > OVERFIT[0] * v.prior), text)]
    if v.held_out > max(AS_GOOD * v.prior, EXACT):
        text = (
            f"On held-out motion this fit is worse than the prior model: residual {v.held_out:.3g} % against {v.prior:.3g} %. "
            f"Do not use it; {'keep the prior model' if regularised else OTHERWISE}."
        )
        return [*findings, VerdictItem("prior", 3 if v.held_out > WORSE[regularised] * v.prior else 2, text)]
    if v.held_out > max(v.prior, EXACT):
        findings.append(VerdictItem("prior", 0, "On held-out motion this fit is no better than the prior model."))
    if v.prior_joints is not None:
        both = zip(v.joints, v.held_out_joints, v.train_joints, v.prior_joints, strict=True)
        worse = [
            f"{name} ({new:.3g} % against {old:.3g} %)"
            for name, new, train, old in both
            if new > max(1.1 * old, EXACT) and not (own and train < AS_GOOD * old)
        ]
        if worse:
            findings.append(VerdictItem("prior", 1, f"The prior model predicts better for {listed(worse)}."))
    return findings


def _coloured(s: Statistics) -> list[VerdictItem]:
    coloured = [j for j in s.joints if not j.whiteness.white and j.percent > EXACT]
    if not coloured:
        return []
    longest = max(coloured, key=lambda j: j.whiteness.length)
    worth = longest.whiteness.effective * longest.rows
    text = (
        f"The residuals of {listed([j.joint for j in coloured])} are not white noise: at worst ({longest.joint}) they are "
        f"correlated over {longest.whiteness.seconds:.2g} s, so that {longest.rows} samples of a constant torque count as "
        f"{worth:.0f}."
    )
    if s.window > 1:
        by = as_large_as(s.inflation_range)
        text += f" The standard errors account for it: depending on the parameter, they are {by} those of white noise."
    return [VerdictItem("coloured", int(longest.whiteness.length > 10.0), text)]


def _outliers(s: Statistics) -> list[VerdictItem]:
    wild = [f"{j.joint} ({100 * j.outliers:.2g} % of its rows)" for j in s.joints if j.outliers > 2e-3 and j.percent > EXACT]
    if not wild:
        return []
    text = f"Residuals beyond five standard deviations: {listed(wild)}. Check the log there for disturbances."
    return [VerdictItem("outliers", 1, text)]


def _consistency(inconsistent: Mapping[str, str] | None) -> list[VerdictItem]:
    if inconsistent is None:
        return []
    if not inconsistent:
        return [VerdictItem("consistency", 0, "Every link is physically consistent.")]
    whole = inconsistent.get("")
    if whole is not None:  # inertias in combination, not of single links
        text = f"As estimated, {whole}: simulation may fail. Use a physically consistent estimator."
        return [VerdictItem("consistency", 2, text)]
    why = listed([f"{link} ({reason})" for link, reason in inconsistent.items()])
    text = f"Physically inconsistent: {why}. Simulation may fail; use a physically consistent estimator."
    return [VerdictItem("consistency", 2, text)]


def _missing(terms: Sequence[Symptom], s: Statistics, names: Sequence[str]) -> list[VerdictItem]:
    """Name the terms that explain the residuals; ``names`` are the parameters, among which such a term may already be."""
    findings = []
    known = {(term.joint, term.kind) for term in terms if f"{term.joint}.{PARAMETERS.get(term.kind)}" in names}
    left = {part.joint: part.percent for part in s.joints}
    for kind, there in dict.fromkeys((term.kind, (term.joint, term.kind) in known) for term in terms):
        own = [term for term in terms if term.kind == kind and ((term.joint, kind) in known) == there]
        joints = listed([f"{term.joint} ({100 * term.explained:.0f} %)" for term in own], 8)
        if kind == "delay":
            shifts = listed([f"{1e3 * abs(term.size):.0f} ms {'late' if term.size > 0 else 'early'}" for term in own], 8)
            text = f"A time shift explains much of the residual of {joints}: the torque is {shifts}. Align it first."
        elif there:
            what, why = CURES[kind].split(" (")[0], IN_MODEL.get(kind, HELD)
            text = f"Much of the residual of {joints} has the form of {what}, which is already in the model: {why}."
        else:
            text = f"Much of the residual of {joints} is due to a term missing in the model: {CURES[kind]}."
        grave = [term.joint for term in own if term.explained > MOST and left[term.joint] > RESIDUAL[1]]
        if grave:
            residuals = listed([f"{joint} ({left[joint]:.3g} %)" for joint in grave])
            text += f" It explains most of a residual above {RESIDUAL[1]:g} % of the torque: {residuals}."
        findings.append(VerdictItem("missing", 2 if grave else 1, text))
    return findings


def _standstill(rows: Equations, e: Array, joints: set[str]) -> list[VerdictItem]:
    """Name those of the joints whose RMS residual near standstill is much larger than in motion."""
    names = []
    for j, name in enumerate(rows.joints):
        own, speed = e[rows.joint == j], np.abs(rows.v[rows.joint == j])
        slow = speed < SLOW * speed.max(initial=0.0)
        if name in joints and min(int(slow.sum()), int((~slow).sum())) >= 20:
            ratio = np.sqrt(np.mean(own[slow] ** 2) / max(float(np.mean(own[~slow] ** 2)), 1e-300))
            names += [f"{name} ({ratio:.2g} times)"] if ratio > ROUGH else []
    if not names:
        return []
    text = f"Residuals near standstill are larger than in motion: {listed(names)}. Friction is different there: "
    return [VerdictItem("standstill", 1, text + "leave slow samples out (slow=…), or model stiction.")]


def _saturation(rows: Equations, effort: Any) -> list[VerdictItem]:
    """Name the joints whose torque stays at an extreme, or at the limit ``effort`` (n,), in many rows."""
    if not (names := saturated_joints(rows, effort)):
        return []
    text = f"Torques are saturated: {listed(names)}. The limit hides the dynamics: leave these rows out."
    return [VerdictItem("saturation", 1, text)]
