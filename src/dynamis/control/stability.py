"""What is known about the stability of a loop: conditions in words, with numbers, and how sure they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dynamis.analysis.report import Bound
from dynamis.display import as_text, short

PROVEN = "proven"  # a theorem, whose premises were checked with proven numbers
SEARCHED = "searched"  # a theorem, with an extreme that was found by search and not proven
RULE = "rule of thumb"  # neither necessary nor sufficient, but usual


@dataclass(frozen=True, repr=False)
class Condition:
    """One condition: what must hold, whether it does, the number found and the one it is compared with.

    ``basis`` is "proven", "searched" or "rule of thumb"; ``why`` says what follows from it, with its source.
    """

    what: str
    holds: bool
    found: float
    needed: float
    basis: str
    why: str = ""

    @property
    def margin(self) -> float:
        """How many times what is needed; infinite where nothing is."""
        return self.found / self.needed if self.needed else float("inf")

    def __str__(self) -> str:
        mark = "holds" if self.holds else "FAILS"
        return f"{mark}  {self.what}: {self.found:.4g}, needed {self.needed:.4g} ({self.basis})" + (
            f"; {self.why}" if self.why else ""
        )

    def __repr__(self) -> str:
        return short(f"<Condition {self}>")

    _repr_html_ = as_text


@dataclass(frozen=True, repr=False)
class Stability:
    """The conditions under which a law is stable, checked on one robot.

    ``stable`` says that no condition of a theorem fails; ``proven`` that all of them are proven; ``advice`` are the rules of
    thumb that fail. ``notes`` say what the theorem promises, and what it does not.
    """

    law: str
    conditions: tuple[Condition, ...]
    notes: tuple[str, ...] = ()

    @property
    def stable(self) -> bool:
        return all(c.holds for c in self.conditions if c.basis != RULE)

    @property
    def proven(self) -> bool:
        """Whether there is a theorem, every condition of which holds, and by proven numbers."""
        bases = {c.basis for c in self.conditions} - {RULE}
        return self.stable and bases == {PROVEN}

    @property
    def advice(self) -> tuple[Condition, ...]:
        return tuple(c for c in self.conditions if c.basis == RULE and not c.holds)

    @property
    def verdict(self) -> str:
        """One sentence."""
        if not self.stable:
            return "a condition for stability fails"
        broken = "; a rule of thumb is broken" if self.advice else ""
        if all(c.basis == RULE for c in self.conditions):
            return "nothing is proven: no theorem was checked" + broken
        sure = "proven" if self.proven else "by searched, not proven, numbers"
        return f"the conditions for stability hold ({sure})" + broken

    def as_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        rows = [
            {"what": c.what, "holds": c.holds, "found": c.found, "needed": c.needed, "basis": c.basis, "why": c.why}
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
    """That a gain is above zero."""
    return Condition(what, least > 0.0, least, 0.0, PROVEN, why)


def as_rules(report: Stability, why: str) -> Stability:
    """The same conditions where the theorem's premise is missing: those that hold are rules of thumb, and a note says why."""
    lowered = tuple(replace(c, basis=RULE) if c.holds else c for c in report.conditions)
    return replace(report, conditions=lowered, notes=(*report.notes, why))


def outweighs(what: str, bound: Bound, factor: float, why: str) -> Condition:
    """That so many times a largest value stays below one: proven if the value cannot reach it, else searched."""
    surely = factor * bound.safe < 1.0
    margin = 1.0 / max(factor * (bound.safe if surely else bound.value), 1e-300)
    return Condition(what, margin > 1.0, margin, 1.0, PROVEN if surely else SEARCHED, why)


SAMPLES_A_RADIAN = 10.0  # some 60 samples in the period of the bandwidth


def sampled_often_enough(rate: float | None, bandwidth: float) -> tuple[Condition, ...]:
    """The usual rule for a law that was designed in continuous time: ten samples in 1/ω [Åström & Wittenmark 1997, §8.2]."""
    if rate is None:
        return ()
    needed = SAMPLES_A_RADIAN * bandwidth
    why = "ten samples in 1/ω; a hold of one period takes ω/(2 rate) of phase"
    return (Condition("sample rate [Hz]", rate >= needed, float(rate), needed, RULE, why),)
