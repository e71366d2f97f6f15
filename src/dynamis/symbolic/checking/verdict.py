"""The result of checking an answer: entry by entry, right or wrong, by what, and why."""

from __future__ import annotations

from dataclasses import dataclass

from dynamis.display import as_text, short


@dataclass(frozen=True, repr=False)
class Finding:
    """One entry: whether it is right, and if not what is right, the difference, a counterexample and the probable cause."""

    entry: str
    line: int
    right: bool
    correct: str = ""
    difference: str = ""
    example: str = ""
    cause: str = ""

    def __str__(self) -> str:
        if self.right:
            return f"{self.entry}: right"
        lines = [f"{self.entry} (line {self.line}): wrong. {self.cause[:1].upper() + self.cause[1:]}"]
        lines += [f"    correct:    {self.correct}", f"    difference: {self.difference}", f"    for example {self.example}"]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return short(f"<Finding {self.entry}: {'right' if self.right else f'wrong, line {self.line}'}>")

    _repr_html_ = as_text


@dataclass(frozen=True, repr=False)
class Verdict:
    """``correct`` only if every entry of the answer is; ``remark`` says what holds for the answer as a whole."""

    quantity: str
    findings: tuple[Finding, ...]
    absent: tuple[str, ...] = ()
    remark: str = ""
    letters: str = ""

    @property
    def correct(self) -> bool:
        return all(f.right for f in self.findings) and not self.absent

    @property
    def wrong(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if not f.right)

    def report(self) -> str:
        """The verdict in words."""
        lines = [str(f) for f in self.findings]
        if self.absent:
            lines.append("not given: " + ", ".join(self.absent))
        if self.remark:
            lines.append(self.remark)
        given = len(self.findings)
        count = f"{given - len(self.wrong)} of {given} entries are right"
        lines.append(f"{self.quantity}: " + ("correct" if self.correct else count))
        return "\n".join(lines)

    __str__ = report
    _repr_html_ = as_text

    def __repr__(self) -> str:
        count = f"{len(self.findings) - len(self.wrong)} of {len(self.findings)} entries are right"
        return f"<Verdict on {self.quantity}: {'correct' if self.correct else count}>"
