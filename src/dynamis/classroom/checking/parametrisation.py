"""Dynamic parameters in any parametrisation: π′ is one if the equations of motion are linear in it, τ = Y′(q, q̇, q̈) π′.

With known lengths and gravity as coefficients, this is so if the base parameters are linear combinations of π′; π′ is
minimal if it has as many entries as there are base parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dynamis.classroom.answers import Located
from dynamis.classroom.checking.causes import Cause
from dynamis.classroom.checking.mistakes import is_small
from dynamis.classroom.checking.parameter_space import ParameterSpace
from dynamis.classroom.checking.quantities import Quantity
from dynamis.classroom.checking.verdict import EntryVerdict
from dynamis.scalar import Node, topological
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.equivalence import same
from dynamis.symbolic.expression import Algebra, Expression
from dynamis.symbolic.ring import Ring

Index = tuple[int, ...]


def reference(form: ClosedForm, asked: Quantity, given: Mapping[Index, Located]) -> tuple[Quantity, Cause]:
    """The parameters with which to compare those of an answer, in its order, and a remark on the answer as a whole.

    They are those of the answer itself if these are a parametrisation, or would be one with another entry in place of a wrong
    one; otherwise the parameters found by inspection or the base parameters, whichever have more in common with the answer.
    """
    inspected, nodes = list(asked.entries.values()), {index: x.node for index, x in given.items()}
    others = any(len(index) != 1 or x.also for index, x in given.items())
    if others or not is_small(form) or _are_same(form, nodes, inspected):
        return asked, Cause("", "")
    base = list(form.base_parameters.flat)
    every = [*nodes.values(), *(x.node() for x in (*inspected, *base, *form.base_regressor.flat))]
    ring = Ring.of(every, form.algebra.ring.angles, [*form.q, *form.v, *form.a])
    space = ParameterSpace.of(form, ring, nodes, [*base, *inspected], len(base))
    if space is not None and space.is_spanned(list(nodes)):
        entries = {index: form.algebra.of_node(node) for index, node in nodes.items()}
        return replace(asked, entries=entries), _remark(len(nodes), len(base))
    if known := _lengths_elsewhere(form, nodes, every):
        wider = ParameterSpace.of(form, ring, nodes, [*base, *inspected], len(base), known)
        if wider is not None and wider.is_spanned(list(nodes)):
            entries = {index: form.algebra.of_node(node) for index, node in nodes.items()}
            return replace(asked, entries=entries), _remark(len(nodes), wider.rank(wider.base), known)
    matched = max((_matched(ring, nodes, parameters) for parameters in (inspected, base)), key=lambda found: found[1])
    if space is not None and matched[1] < len(nodes):
        algebra, entries = Algebra(ring, form.algebra.letters), {k: form.algebra.of_node(node) for k, node in nodes.items()}
        free = [(k,) for k in range(len(base)) if (k,) not in nodes]
        one, lacking = space.ambiguous(), space.lacking()
        changed = one or dict(zip(free, lacking, strict=False)) or space.foreign()
        entries |= {k: form.algebra.of_node(Expression(algebra, p).node()) for k, p in changed.items()}
        if changed:
            return replace(asked, entries=entries), _undecided(list(one), asked)
    return (replace(asked, entries=matched[0]) if matched[1] else asked), Cause("", "")


def incomplete(form: ClosedForm, asked: Quantity, given: Mapping[Index, Located]) -> EntryVerdict | None:
    """The finding on a vector of right parameters that is given whole, in which the equations of motion are not linear.

    It names parameters that the vector lacks, with their terms in the equations. None if there are none, or too many to tell.
    """
    nodes = {index: x.node for index, x in given.items()}
    base, inspected = list(form.base_parameters.flat), list(form.parameters.flat)
    if not is_small(form):
        return None
    every = [*nodes.values(), *(x.node() for x in (*inspected, *base, *form.base_regressor.flat))]
    ring = Ring.of(every, form.algebra.ring.angles, [*form.q, *form.v, *form.a])
    space = ParameterSpace.of(form, ring, nodes, [*base, *inspected], len(base))
    if space is None or space.is_spanned(list(nodes)):
        return None
    minimal = space.rank([*space.given.values(), *space.base]) == len(base)
    parameters, regressor = (base, form.base_regressor) if minimal else (inspected, form.regressor)
    said = []
    for k in space.lacks(space.base if minimal else space.own[len(base) :]):
        terms = [(i, regressor[i, k] * parameters[k]) for i in range(form.n)]
        said += [f"{x} in tau_{i + 1}" for i, x in terms if not x.is_zero]
    these = "this parameter" if len(given) == 1 else f"these {len(given)} parameters"
    found = f"the equations of motion are not linear in {these}"
    cause, hint = f"{found}, which cannot represent {', '.join(said)}", f"{found}: at least one more is needed"
    first = min(given.values(), key=lambda x: (x.line, x.column))
    return EntryVerdict(asked.letters[0], first.line, False, cause=cause, hint=hint)


def _undecided(wrong: Sequence[Index], asked: Quantity) -> Cause:
    if len(wrong) < 2:
        return Cause("", "")
    *names, last = (f"{asked.letters[0]}_{index[0] + 1}" for index in wrong)
    message = f"one of {', '.join(names)} and {last} is wrong: with another value of either these are a parametrisation"
    return Cause(message, message)


def _lengths_elsewhere(form: ClosedForm, nodes: Mapping[Index, Any], every: Sequence[Any]) -> list[Node]:
    """The lengths and ratios of gears that an answer has nowhere, so that they belong to its regressor."""
    roles, given = form.algebra.letters.roles, {id(n) for n in topological(list(nodes.values()))}
    symbols = [n for n in topological(every) if n.op == "symbol" and id(n) not in given and id(n) not in roles]
    return sorted(symbols, key=str)


def _remark(count: int, least: int, known: Sequence[Node] = ()) -> Cause:
    kind = "another (minimal) parametrisation" if count == least else f"another parametrisation ({least} suffice)"
    message = f"these are {kind}: the equations of motion are linear in them"
    message += f", with known {', '.join(map(str, known))}" if known else ""
    return Cause(message, message)


def _are_same(form: ClosedForm, nodes: Mapping[Index, Any], parameters: list[Expression]) -> bool:
    """Whether an answer has exactly these parameters, in this order."""
    ring = Ring.of([*nodes.values(), *(x.node() for x in parameters)], form.algebra.ring.angles)
    pairs = [(nodes.get((k,)), x.node()) for k, x in enumerate(parameters)]
    return len(nodes) == len(pairs) and all(x is not None and same(ring, y, x) for x, y in pairs)


def _matched(ring: Ring, nodes: Mapping[Index, Any], parameters: list[Expression]) -> tuple[dict[Index, Expression], int]:
    """Parameters in the order of the answer: equal ones first, the others in their own order; and the number of equal ones."""
    rest = list(parameters)
    found: dict[Index, Expression] = {}
    for index, node in nodes.items():
        equal = next((k for k, x in enumerate(rest) if same(ring, x.node(), node)), None)
        if equal is not None:
            found[index] = rest.pop(equal)
    count, size = len(found), max(len(parameters), *(index[0] + 1 for index in nodes))
    free = sorted(((k,) for k in range(size) if (k,) not in found), key=lambda index: index not in nodes)
    found.update(zip(free, rest, strict=False))
    return dict(sorted(found.items())), count
