"""What was found wrong with a log: how bad, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dynamis.display import as_text, short
from dynamis.errors import InputError

SEVERITIES = ("error", "warning")


@dataclass(frozen=True, repr=False)
class Finding:
    """One thing that is wrong or doubtful. An "error" makes the log useless as it is; a "warning" should be known.

    ``code`` names the kind in a word or two; ``column`` is what the file calls the column, None where all are meant; ``row``
    counts the samples of the log from 0, None where the whole log is meant. ``mends`` says that `prepare` repairs it: an error
    only for those who use the log as it is.
    """

    severity: str
    code: str
    column: str | None
    row: int | None
    text: str
    cure: str
    mends: bool = False

    def __str__(self) -> str:
        return f"{self.severity}: {self.text}; {self.cure}"

    def __repr__(self) -> str:
        return short(f"<Finding {self}>")

    _repr_html_ = as_text


def refuse(findings: Iterable[Finding]) -> None:
    """Raise an `InputError` that lists the errors among findings; warnings pass.

    >>> refuse([Finding("warning", "constant", "q.elbow", None, "elbow does not move", "move it")])
    """
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        lines = [f"{finding.text}; {finding.cure}" for finding in errors]
        raise InputError(
            "the log cannot be used: " + lines[0] if len(lines) == 1 else "the log cannot be used:\n- " + "\n- ".join(lines)
        )
