"""Double angles in place of squares or of single angles, cos 2q for cos² q, and the other way round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from dynamis.classroom.checking.causes import Cause
from dynamis.classroom.checking.quantities import Quantity
from dynamis.scalar import Node, topological
from dynamis.scalar.substitution import rebuilt
from dynamis.symbolic import factored
from dynamis.symbolic.angles import linear_form
from dynamis.symbolic.budget import BudgetSpent
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.equivalence import same
from dynamis.symbolic.notation import plain_text
from dynamis.symbolic.ring import Ring

MAX_ARCS = 12  # sines and cosines of an answer that are searched


class _Exchange(NamedTuple):
    """A function of an answer, another in its place, and both as text."""

    found: Node
    value: Any
    wrong: str
    correct: str


def double_angle(form: ClosedForm, asked: Quantity, index: tuple[int, ...], given: Any) -> Cause | None:
    """The cause, if an entry is right with another one of f(2x), f(x)² and f(x), where f is a sine or a cosine."""
    right = asked.entries[index].node()
    nodes = topological([given])
    arcs = [n for n in nodes if n.op in ("sin", "cos")]
    if not 0 < len(arcs) <= MAX_ARCS:
        return None
    for exchange in _exchanges(form, arcs, nodes):
        other = factored.replaced(given, {id(exchange.found): exchange.value})
        try:
            found = same(Ring.of([right, other], form.algebra.ring.angles, [*form.q, *form.v, *form.a]), right, other)
        except BudgetSpent:
            continue
        if found:
            text = f"a double angle: {exchange.wrong} should be {exchange.correct}"
            return Cause(text, f"a double angle: look at {exchange.wrong}")
    return None


def _exchanges(form: ClosedForm, arcs: Sequence[Node], nodes: Sequence[Node]) -> Iterator[_Exchange]:
    written = {id(q): plain_text(form.algebra.letters.variable("position", k + 1)) for k, q in enumerate(form.q)}
    for n in arcs:
        angle = linear_form(n.args[0])
        if angle.constant or any(id(unit) not in written or ratio.denominator > 1 for unit, ratio in angle.terms):
            continue
        single, double = (_text(n.op, angle.terms, written, factor) for factor in (1, 2))
        doubled = rebuilt(n.op, [2.0 * n.args[0]])
        yield _Exchange(n, doubled, single, double)
        squares = (x for x in nodes if x.op == "mul" and x.args[0] is n and x.args[1] is n)
        yield from (_Exchange(x, doubled, f"{single}^2", double) for x in squares)
        if all(ratio % 2 == 0 for _, ratio in angle.terms):
            terms = [(unit, ratio / 2) for unit, ratio in angle.terms]
            halved = rebuilt(n.op, [sum((unit * float(ratio) for unit, ratio in terms), 0.0)])
            single, double = (_text(n.op, terms, written, factor) for factor in (1, 2))
            yield _Exchange(n, halved * halved, double, f"{single}^2")
            yield _Exchange(n, halved, double, single)


def _text(function: str, terms: Sequence[tuple[Node, Fraction]], written: Mapping[int, str], factor: int) -> str:
    """A function of a multiple of an angle: cos(2*(q_1 - q_2))."""
    parts = [f"{'-' if c < 0 else '+'} {'' if abs(c) == 1 else f'{abs(c)}*'}{written[id(unit)]}" for unit, c in terms]
    angle = " ".join(parts).removeprefix("+ ")
    angle = f"({angle})" if factor > 1 and (len(terms) > 1 or not angle.startswith(written[id(terms[0][0])])) else angle
    return f"{function}({f'{factor}*' if factor > 1 else ''}{angle})"
