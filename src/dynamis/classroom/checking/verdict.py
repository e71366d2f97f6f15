"""The result of checking an answer, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dynamis.display import as_text, counted, short


@dataclass(frozen=True, repr=False)
class EntryVerdict:
    """One entry: whether it is right, and if not the correct value, the difference, a counterexample and the probable cause.

    ``hint`` names the cause without the correct formula. ``note`` qualifies a correct entry, such as a potential energy with
    another datum. ``alternative`` marks an entry that differs from the Christoffel matrix in a C with the correct C q̇.
    """

    entry: str
    line: int
    right: bool
    correct: str = ""
    difference: str = ""
    example: str = ""
    cause: str = ""
    hint: str = ""
    note: str = ""
    alternative: bool = False

    def text(self, *, hint: bool = False) -> str:
        """The finding as text; with ``hint``, the probable cause without the correct formula and its values."""
        if self.right:
            return f"{self.entry}: right" + (f" {self.note}" if self.note else "")
        where = f"{self.entry} (line {self.line})"
        head = f"{where}: differs from the Christoffel matrix." if self.alternative else f"{where}: wrong."
        if hint and self.alternative:
            return head
        if hint:
            return f"{head} Hint: {self.hint}"
        lines = [f"{head} {_sentence(self.cause)}".rstrip()]
        if self.alternative:
            lines += [f"    Christoffel: {self.correct}", f"    difference:  {self.difference}"]
        elif self.correct:
            lines.append(f"    correct:    {self.correct}")
            lines += [f"    difference: {self.difference}"] if self.difference else []
            lines += [f"    example:    {self.example}"] if self.example else []
        return "\n".join(lines)

    __str__ = text

    def __repr__(self) -> str:
        return short(f"<EntryVerdict {self.entry}: {'right' if self.right else f'wrong, line {self.line}'}>")

    _repr_html_ = as_text


@dataclass(frozen=True, repr=False)
class Verdict:
    """The findings on one answer.

    ``correct`` states that every given entry is right and that no equation is ``unread``; ``complete`` that none is absent.
    ``remark`` applies to the answer as a whole, ``hint`` is the same without the correct formula. ``notes`` say which parts of
    the text were not read, and how expressions were compared that have no normal form. ``unread`` lists equations of motion
    that were not compared, each with the reason.
    """

    quantity: str
    findings: tuple[EntryVerdict, ...]
    absent: tuple[str, ...] = ()
    remark: str = ""
    letters: str = ""
    hint: str = ""
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def correct(self) -> bool:
        return bool(self.findings) and not self.wrong and not self.unread

    @property
    def complete(self) -> bool:
        return not self.absent

    @property
    def wrong(self) -> tuple[EntryVerdict, ...]:
        return tuple(f for f in self.findings if not f.right)

    @property
    def alternative(self) -> bool:
        """Whether a Coriolis matrix has the correct C q̇ but is not the Christoffel matrix."""
        return any(f.alternative for f in self.findings)

    @property
    def summary(self) -> str:
        """One sentence: correct, or how many entries are."""
        given = len(self.findings)
        right = given - len(self.wrong)
        counted_entries = f"{right} of {given} entries {'is' if right == 1 else 'are'}"
        if self.alternative:
            return f"C q̇ is right; {counted_entries} {'that' if right == 1 else 'those'} of the Christoffel matrix"
        if not self.findings:
            unread = f": {counted(len(self.unread), 'equation')} could not be read" if self.unread else ""
            return f"nothing to compare{unread}"
        if self.wrong:
            return f"{counted_entries} right"
        if self.unread:
            return f"{counted_entries} right, but {counted(len(self.unread), 'equation')} could not be read"
        verdict = f"correct {', '.join(sorted({f.note for f in self.findings if f.note}))}".rstrip()
        return verdict if self.complete else f"{verdict} as far as given; not given: {', '.join(self.absent)}"

    def report(self, *, hint: bool = False) -> str:
        """The verdict as text; with ``hint``, causes without the solution."""
        entries = (f.text(hint=hint) for f in self.findings)
        return "\n".join([*self.introduction(hint=hint), *entries, *self.conclusion(hint=hint)])

    def introduction(self, *, hint: bool = False) -> list[str]:
        """The lines above the entries: the remark, where it is the cause of the entries' findings."""
        return self._remark(hint) if self.wrong else []

    def conclusion(self, *, hint: bool = False) -> list[str]:
        """The lines below the entries: what was not given, the remark unless it stands above, notes, and the summary."""
        absent = [f"not given: {', '.join(self.absent)}"] if self.absent and not self.correct else []
        remark = [] if self.wrong else self._remark(hint)
        return [*absent, *remark, *self.notes, *self.unread, f"{self.quantity}: {self.summary}"]

    def _remark(self, hint: bool) -> list[str]:
        remark = self.hint if hint else self.remark
        return [remark] if remark else []

    def without_solution(self) -> Verdict:
        """The verdict with hints in place of causes, and without correct formulas, differences and examples."""
        kept = (replace(f, correct="", difference="", example="", cause=f.hint) for f in self.findings)
        return replace(self, findings=tuple(kept), remark=self.hint)

    __str__ = report
    _repr_html_ = as_text

    def __repr__(self) -> str:
        return short(f"<Verdict on {self.quantity}: {self.summary}>")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
