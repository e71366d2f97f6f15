"""Names of an answer that are set equal to different expressions: h = m_2 a_1 l_2 s_2 = m_2 a_1 l_2 c_2."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from dynamis.classroom.answers import Answer, Located
from dynamis.classroom.checking.balls import SMOOTH, agree
from dynamis.classroom.checking.verdict import EntryVerdict
from dynamis.scalar import Node, topological
from dynamis.symbolic.angles import as_fraction
from dynamis.symbolic.closed_form import ClosedForm

ROOTS = frozenset({"sqrt", "asin", "acos", "atan2"})  # of which an answer may mean another branch
LARGEST_EXACT = 12  # numerator or denominator of a number that is no rounded one


def disagreements(form: ClosedForm, answer: Answer, compared: Collection[Located]) -> list[EntryVerdict]:
    """The findings on names that formulas use, other than the entries ``compared``, and whose expressions differ.

    Expressions of the state with the same parameters and accelerations are compared: one with fewer may have numbers in their
    place, and one of parameters alone is an assumption on them.
    """
    places = {(x.line, x.column) for x in compared}
    every = ((name, x) for name, x in answer.formulas() if x.used and x.also and (x.line, x.column) not in places)
    return [_finding(name, x) for name, x in every if _differ(form, x)]


def _differ(form: ClosedForm, x: Located) -> bool:
    state = {id(n) for n in (*form.q, *form.v)}
    symbols = [_symbols(node) for node in (x.node, *x.also)]
    if any(not own & state or own - state != symbols[0] - state for own in symbols):
        return False
    return any(not _may_agree(form, x.node, y) for y in x.also)


def _symbols(node: Any) -> set[int]:
    return {id(n) for n in topological([node]) if n.op == "symbol"}


def _may_agree(form: ClosedForm, first: Any, second: Any) -> bool:
    """Whether two expressions have equal values, or ones that are rounded or of another branch."""
    nodes = topological([first, second])
    made = [n for n in nodes if n.op != "symbol"]
    numbers = [as_fraction(x) for n in made for x in n.args if not isinstance(x, Node)]
    doubtful = any(n.op in ROOTS or n.op not in SMOOTH for n in made)
    doubtful = doubtful or any(max(abs(x.numerator), x.denominator) > LARGEST_EXACT for x in numbers)
    return doubtful or agree(form, first, second)


def _finding(name: str, x: Located) -> EntryVerdict:
    said = "the expressions set equal differ"
    written = ": " + " and ".join(x.texts) if x.texts and all(x.texts) else ""
    return EntryVerdict(name, x.line, False, cause=said + written, hint=said)
