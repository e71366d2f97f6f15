"""Stability reports: conditions with numerical values and the basis of each."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dynamis.analysis.report import Bound
from dynamis.display import as_text, short
from dynamis.tolerances import NEGLIGIBLE
from dynamis.trajectories.validate import positive as positive_number

PROVEN = "proven"  # a theorem, whose premises were checked with proven numbers
SEARCHED = "searched"  # a theorem, with an extreme value over sampled configurations that is not proven
LOCAL = "proven for small errors"  # by the eigenvalues of the linearised loop [Lyapunov]
RULE = "rule of thumb"  # neither necessary nor sufficient, but usual
CONTINUOUS = "of the continuous law"  # a condition of a theorem that does not hold for the sampled law


@dataclass(frozen=True, repr=False)
class Condition:
    """A stability condition: the quantity, whether the condition holds, the value found and the value needed.

    ``basis`` is "proven", "searched", "proven for small errors", "rule of thumb" or "of the continuous law"; ``why`` states the
    consequence, with its source. ``relation`` is the one required between the value found and the value needed: ">", "≥", "<"
    or "≤".
    """

    what: str
    holds: bool
    found: float
    needed: float
    basis: str
    why: str = ""
    relation: str = ">"

    @property
    def margin(self) -> float:
        """Found over needed value; infinite if none is needed."""
        return self.found / self.needed if self.needed else float("inf")

    @property
    def requirement(self) -> str:
        """The bound with its relation, such as "> 0"; empty for a condition without a number."""
        return "" if math.isnan(self.needed) else f"{self.relation} {self.needed:.4g}"

    def __str__(self) -> str:
        mark = "holds" if self.holds else "FAILS"
        numbers = f": {self.found:.4g}, required {self.requirement}" if self.requirement else ""
        return f"{mark}  {self.what}{numbers} ({self.basis})" + (f"; {self.why}" if self.why else "")

    def __repr__(self) -> str:
        return short(f"<Condition {self}>")

    _repr_html_ = as_text


@dataclass(frozen=True, repr=False)
class Stability:
    """The conditions under which a law is stable, checked on one robot.

    ``stable`` is False where a condition of a theorem fails, True where all of them hold, and None where no theorem was
    checked, only rules of thumb. At a sample rate the theorem is one of the sampled loop: what holds for the continuous law
    does not decide. ``proven`` states that all of them are proven; ``advice`` are the violated rules of thumb. ``notes`` give
    the scope of the theorem.
    """

    law: str
    conditions: tuple[Condition, ...]
    notes: tuple[str, ...] = ()

    @property
    def stable(self) -> bool | None:
        found = [c.holds for c in self.conditions if c.basis not in (RULE, CONTINUOUS)]
        return all(found) if found else None

    @property
    def proven(self) -> bool:
        """Whether there is a theorem, all conditions of which hold with proven values."""
        return self.stable is True and all(c.basis != SEARCHED for c in self.conditions)

    @property
    def advice(self) -> tuple[Condition, ...]:
        return tuple(c for c in self.conditions if c.basis == RULE and not c.holds)

    @property
    def verdict(self) -> str:
        """The conclusion in one sentence."""
        if self.stable is False:
            return "a condition for stability fails"
        broken = "; a rule of thumb is violated" if self.advice else ""
        if self.stable is None:
            return "not proven: no theorem was checked" + broken
        local = any(c.basis == LOCAL for c in self.conditions)
        proven = LOCAL if local else PROVEN
        sure = proven if self.proven else "with extreme values from sampled configurations, not proven"
        return f"the conditions for stability hold ({sure})" + broken

    def as_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        rows = [
            {
                "what": c.what,
                "holds": c.holds,
                "found": c.found,
                "relation": c.relation,
                "needed": c.needed,
                "basis": c.basis,
                "why": c.why,
            }
            for c in self.conditions
        ]
        return {"law": self.law, "verdict": self.verdict, "stable": self.stable, "proven": self.proven,
                "conditions": rows, "notes": list(self.notes)}  # fmt: skip

    def __str__(self) -> str:
        lines = [f"{self.law}: {self.verdict}", *(f"  {c}" for c in self.conditions), *(f"  {note}" for note in self.notes)]
        return "\n".join(lines)

    _repr_html_ = as_text

    def __repr__(self) -> str:
        return short(f"<Stability of {self.law}: {self.verdict}>")


def positive(what: str, least: float, why: str) -> Condition:
    """The condition that a gain is positive."""
    return Condition(what, least > 0.0, least, 0.0, PROVEN, why)


def as_rules(report: Stability, why: str, basis: str = RULE) -> Stability:
    """The same conditions as rules of thumb, with a note, where an assumption of the theorem is not met."""
    lowered = tuple(replace(c, basis=basis) if c.holds and c.basis != RULE else c for c in report.conditions)
    return replace(report, conditions=lowered, notes=(*report.notes, why))


def no_better(report: Stability, condition: Condition) -> Condition:
    """A further condition of a law with this report: where no theorem holds for the law, it proves nothing about the loop."""
    return replace(condition, basis=RULE) if report.stable is None and condition.holds else condition


def damped(what: str, damping: Any, robot: Any, why: str) -> Condition:
    """The condition that a damping (n) and the viscous friction F_v of the joints, which may be negative, dissipate energy."""
    total = np.broadcast_to(damping, (robot.n,)) + robot.model.viscous
    return positive(f"smallest {what} + F_v" if np.any(robot.model.viscous) else f"smallest {what}", float(total.min()), why)


def outweighs(what: str, bound: Bound, factor: float, why: str, otherwise: str) -> Condition:
    """The condition that a factor times the largest value is below one; ``otherwise`` names a configuration where it is not.

    Proven by the upper bound, or violated at the value found, which proves it too; else not decided by more than a search.
    """
    if factor * bound.safe < NEGLIGIBLE:
        return Condition(what, True, math.nan, math.nan, PROVEN, f"gravity has no slope to outweigh; {why}")
    surely, not_so = factor * bound.safe < 1.0, factor * bound.value >= 1.0
    margin = 1.0 / (factor * (bound.safe if surely else bound.value))
    basis = PROVEN if surely or not_so else SEARCHED
    return Condition(what, not not_so, margin, 1.0, basis, otherwise if not_so else why)


def sampled_often_enough(rate: float | None, bandwidth: float) -> tuple[Condition, ...]:
    """Rule for a law designed in continuous time: ten samples per 1/ω [Åström & Wittenmark 1997, §8.2]."""
    if rate is None:
        return ()
    rate = positive_number(rate, "the sample rate")
    needed = 10.0 * bandwidth  # about 63 samples per period of the bandwidth
    why = "ten samples per 1/ω; the hold adds a phase lag of ω/(2 rate)"
    return (Condition("sample rate [Hz]", rate >= needed, rate, needed, RULE, why, "≥"),)
