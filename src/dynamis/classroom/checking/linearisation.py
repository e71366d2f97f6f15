"""Equations that are linearised about an equilibrium, where those of the motion are asked: sin θ ≈ θ, cos θ ≈ 1."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dynamis.classroom.checking.causes import Cause
from dynamis.classroom.checking.quantities import Quantity
from dynamis.errors import InputError
from dynamis.scalar import Node, directional, topological
from dynamis.symbolic import factored
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.equivalence import same
from dynamis.symbolic.notation import plain_text
from dynamis.symbolic.ring import Ring

_NAMES = {math.pi: "π", math.pi / 2: "π/2", -math.pi / 2: "-π/2"}


def linearised(form: ClosedForm, asked: Quantity, index: tuple[int, ...], given: Any) -> Cause | None:
    """The cause, if an equation of motion, a gravity torque or a potential energy is the correct one for small deviations."""
    if not any(n.op in ("sin", "cos") for n in topological([asked.entries[index].node()])):
        return None
    angles = [q for q, c in zip(form.q, form.model.coordinates, strict=True) if c.revolute]
    nodes = topological([given])
    if asked.has_datum:
        return _linearised_energy(form, asked.entries[index].node(), given) if _are_outside_functions(angles, nodes) else None
    free = asked.name == "equations" and not any(n.op in ("sin", "cos") for n in nodes)  # else a cosine is missing
    if asked.name not in ("equations", "gravity") or not (free or _are_outside_functions(angles, nodes)):
        return None
    for offsets in _equilibria(form):
        right = _shifted(form, asked.entries[index].node(), offsets)
        for variables in ([*form.q, *form.v, *form.a], [*form.q]):  # the second keeps products of rates
            try:
                first_order = _first_order(right, variables)
            except InputError:  # an eliminated acceleration, divided by zero here
                continue
            if isinstance(first_order, Node) and _are_proportional(form, first_order, given):
                return _cause(form, offsets)
    return None


def _linearised_energy(form: ClosedForm, right: Any, given: Any) -> Cause | None:
    """The cause, if the derivatives of a potential energy are those of the correct one to first order, or at zero."""
    slopes = _gradient(form, given)
    for offsets in _equilibria(form):
        correct = _gradient(form, _shifted(form, right, offsets))
        at_zero = [factored.replaced(x, {id(q): 0.0 for q in form.q}) for x in correct]
        for expected in ([_first_order(x, [*form.q]) for x in correct], at_zero):
            ring = Ring.of([*slopes, *expected], form.algebra.ring.angles, [*form.q])
            if all(same(ring, x, y) for x, y in zip(slopes, expected, strict=True)):
                return _cause(form, offsets)
    return None


def _gradient(form: ClosedForm, node: Any) -> list[Any]:
    return [directional([node], [q], [1.0])[0] for q in form.q]


def _cause(form: ClosedForm, offsets: Mapping[int, float]) -> Cause:
    said = [f"{plain_text(form.algebra.letters.variable('position', k + 1))} = {_NAMES[x]}" for k, x in offsets.items()]
    where = ", ".join([*said, "the others 0"] if said and form.n > len(said) else said) or "q = 0"
    message = f"linearised about {where}: sines and cosines are replaced by the first terms of their series"
    return Cause(message, message)


def _are_outside_functions(angles: Sequence[Any], nodes: Sequence[Node]) -> bool:
    """Whether joint angles occur outside of sines and cosines."""
    own = {id(q) for q in angles}
    return any(n.op not in ("sin", "cos") and any(id(x) in own for x in n.args) for n in nodes)


def _equilibria(form: ClosedForm) -> Iterator[dict[int, float]]:
    """Configurations about which robots are linearised, by the joints that are not at zero."""
    turning = [k for k, c in enumerate(form.model.coordinates) if c.revolute]
    yield {}
    for k in turning[:1]:
        yield from ({k: x} for x in _NAMES)
    if len(turning) > 1:
        yield dict.fromkeys(turning, math.pi)


def _shifted(form: ClosedForm, node: Any, offsets: Mapping[int, float]) -> Any:
    """An expression in terms of the deviations from a configuration."""
    if not offsets:
        return node
    values = {id(form.q[k]): form.q[k] + x for k, x in offsets.items()}
    return form.algebra.of_node(factored.replaced(node, values)).node()


def _first_order(node: Any, variables: Sequence[Any]) -> Any:
    """The Taylor expansion at zero to first order."""
    zero = {id(x): 0.0 for x in variables}
    total = factored.replaced(node, zero)
    for x in variables:
        total = total + factored.replaced(directional([node], [x], [1.0])[0], zero) * x
    return total


def _are_proportional(form: ClosedForm, right: Any, given: Any) -> bool:
    """Whether two expressions agree up to a factor that depends on parameters and configuration."""
    ring = Ring.of([right, given], form.algebra.ring.angles, [*form.q, *form.v, *form.a])
    if same(ring, right, given):
        return True
    for a in form.a:
        slopes = [directional([x], [a], [1.0])[0] for x in (right, given)]
        if all(isinstance(x, Node) or x != 0.0 for x in slopes):
            products = right * slopes[1], given * slopes[0]
            return same(Ring.of(products, form.algebra.ring.angles, [*form.q, *form.v, *form.a]), *products)
    return False
