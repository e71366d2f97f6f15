"""Findings on entries that are set equal to each other, or that cannot be compared term by term."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from dynamis.classroom.answers import Located
from dynamis.classroom.checking.causes import Cause
from dynamis.classroom.checking.verdict import EntryVerdict
from dynamis.display import short
from dynamis.scalar import topological
from dynamis.symbolic.notation import WRITTEN

EXACT = frozenset({"add", "sub", "neg", "mul", "div", "sin", "cos", "symbol"})  # operations of the ring

ROOTS = frozenset({"sqrt", "asin", "acos", "atan2"})  # whose derivatives are no polynomials of the ring


def has_root(node: Any, state: Collection[Any]) -> bool:
    """Whether an expression has the root or the angle of an expression of the state: not written term by term."""
    own = {id(x) for x in state}
    return any(n.op in ROOTS and any(id(x) in own for x in topological([n])) for n in topological([node]))


def inconsistent(finding: EntryVerdict, entry: Located, wrong: list[int]) -> EntryVerdict:
    """The finding on expressions that are set equal, some right and others wrong."""
    texts = entry.texts or ("",) * (1 + len(entry.also))
    right = next(text for k, text in enumerate(texts) if k not in wrong)
    said = f"the expressions set equal differ: {short(right, 60)} is right, {short(texts[wrong[0]], 60)} is not"
    if not (right and texts[wrong[0]]):
        said = "the expressions set equal differ: one is right, the other is not"
    return replace(finding, cause=f"{said}: {finding.cause}", hint=f"{said}: {finding.hint}")


def in_form(cause: Cause, left: str) -> Cause:
    """The cause of an error in an equation that was solved for the ``left`` side, whose terms have other signs in the text."""
    said = f" (in the form {left} = …)" if left else ""
    return Cause(cause.text + said, cause.hint + said)


def no_terms(node: Any) -> Cause:
    """The finding on an expression that has no normal form, or too long a one."""
    functions = sorted({WRITTEN.get(n.op, n.op) for n in topological([node]) if n.op not in EXACT})
    if not functions:
        said = "the values differ, and the expression is too long to be compared term by term: "
        said += "cancel its quotients and its large powers"
        return Cause(said, said)
    said = (
        f"the values differ, and an expression with {' and '.join(functions)} cannot be compared term by term: "
        "write it as sums and products of sines and cosines"
    )
    said += " (the square root of 1 - sin(x)^2 is |cos(x)|)" if "sqrt" in functions else ""
    return Cause(said, said)
