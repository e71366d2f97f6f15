"""Findings of the checks of a log: severity, location and remedy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dynamis.display import as_text, short
from dynamis.errors import InputError

SEVERITIES = ("error", "warning")


@dataclass(frozen=True, repr=False)
class LogFinding:
    """One problem. An "error" makes the log unusable as it is; a "warning" does not.

    ``code`` is a short name of the kind; ``column`` is the column name in the file, None for all columns; ``row`` is a sample
    index from 0, None for the whole log. ``mends`` means that `prepare` repairs it: it is an error only for direct use of the
    log. ``caps`` is the number of the best grade, in the order "good", "usable", "doubtful", "not usable", of a result obtained
    in spite of it.
    """

    severity: str
    code: str
    column: str | None
    row: int | None
    text: str
    cure: str
    mends: bool = False
    caps: int = 0

    def __str__(self) -> str:
        return f"{self.severity}: {self.text}; {self.cure}"

    def __repr__(self) -> str:
        return short(f"<LogFinding {self}>")

    _repr_html_ = as_text


def raise_errors(findings: Iterable[LogFinding]) -> None:
    """Raise an `InputError` that lists the errors among findings; warnings are ignored.

    >>> raise_errors([LogFinding("warning", "constant", "q.elbow", None, "elbow does not move", "move it")])
    """
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        lines = [f"{finding.text}; {finding.cure}" for finding in errors]
        raise InputError(
            "the log cannot be used: " + lines[0] if len(lines) == 1 else "the log cannot be used:\n- " + "\n- ".join(lines)
        )
