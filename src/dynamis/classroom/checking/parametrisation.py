"""Dynamic parameters in any parametrisation: π′ is one if the equations of motion are linear in it, τ = Y′(q, q̇, q̈) π′.

With known lengths and gravity as coefficients, this is so if the base parameters are linear combinations of π′; π′ is
minimal if it has as many entries as there are base parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import flint
import numpy as np

from dynamis.classroom.answers import Located
from dynamis.classroom.checking.causes import Cause
from dynamis.classroom.checking.mistakes import is_small
from dynamis.classroom.checking.quantities import Quantity
from dynamis.scalar import topological
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.equivalence import same
from dynamis.symbolic.expression import Expression
from dynamis.symbolic.ring import Polynomial, Ring

Index = tuple[int, ...]


def reference(form: ClosedForm, asked: Quantity, given: Mapping[Index, Located]) -> tuple[Quantity, Cause]:
    """The parameters with which to compare those of an answer, in its order, and a remark on the answer as a whole.

    They are those of the answer itself if these are a parametrisation, otherwise the parameters found by inspection or the
    base parameters, whichever have more in common with the answer.
    """
    inspected, nodes = list(asked.entries.values()), {index: x.node for index, x in given.items()}
    others = any(len(index) != 1 or x.also for index, x in given.items())
    if others or not is_small(form) or _are_same(form, nodes, inspected):
        return asked, Cause("", "")
    base = list(form.base_parameters.flat)
    every = [*nodes.values(), *(x.node() for x in (*inspected, *base, *form.base_regressor.flat))]
    ring = Ring.of(every, form.algebra.ring.angles, [*form.q, *form.v, *form.a])
    if _spans(form, ring, nodes, base):
        entries = {index: form.algebra.of_node(node) for index, node in nodes.items()}
        return replace(asked, entries=entries), _remark(len(nodes), len(base))
    matched = max((_matched(ring, nodes, parameters) for parameters in (inspected, base)), key=lambda found: found[1])
    return (replace(asked, entries=matched[0]) if matched[1] else asked), Cause("", "")


def _remark(count: int, least: int) -> Cause:
    kind = "another (minimal) parametrisation" if count == least else f"another parametrisation ({least} suffice)"
    message = f"these are {kind}: the equations of motion are linear in them"
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


def _spans(form: ClosedForm, ring: Ring, nodes: Mapping[Index, Any], base: list[Expression]) -> bool:
    """Whether the base parameters are linear combinations of expressions, with coefficients of the known quantities.

    Known are the symbols of the regressor. The ranks are found at random values of them.
    """
    state = {id(x) for x in (*form.q, *form.v, *form.a, *form.tau)}
    if any(id(n) in state for n in topological(nodes.values())):
        return False
    known = {id(n) for n in topological([x.node() for x in form.base_regressor.flat])} - state
    values = [ring.value(x) for x in (*nodes.values(), *(x.node() for x in base))]
    if any(denominator is not None for _, denominator in values):
        return False
    rng = np.random.default_rng(3)
    numbers = {k: flint.fmpq(int(rng.integers(1000, 9999)), 1000) for k, a in enumerate(ring.atoms) if id(a.node) in known}
    columns = [_by_unknowns(p, numbers) for p, _ in values]
    monomials = sorted({m for column in columns for m in column})
    own, every = (
        flint.fmpq_mat([[column.get(m, flint.fmpq(0)) for m in monomials] for column in part]).rank()
        for part in (columns[: len(nodes)], columns)
    )
    return bool(own == every)


def _by_unknowns(p: Polynomial, numbers: Mapping[int, Any]) -> dict[tuple[int, ...], Any]:
    """The coefficients of a polynomial by its monomials in the other symbols, at values of the known ones."""
    found: dict[tuple[int, ...], Any] = {}
    for exponents, c in p.to_dict().items():
        for k, x in numbers.items():
            c = c * x ** int(exponents[k])  # noqa: PLW2901
        key = tuple(0 if k in numbers else int(e) for k, e in enumerate(exponents))
        found[key] = found.get(key, flint.fmpq(0)) + c
    return found
