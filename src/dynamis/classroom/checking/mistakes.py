"""Entries of another quantity, and those that follow from a mistake made throughout."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import pi
from typing import Any, cast

from dynamis.classroom.checking.balls import agree
from dynamis.classroom.checking.causes import Cause
from dynamis.classroom.checking.double_angles import double_angle
from dynamis.classroom.checking.linearisation import linearised
from dynamis.classroom.checking.quantities import Quantity
from dynamis.errors import InputError
from dynamis.scalar import topological
from dynamis.scalar.substitution import rebuilt
from dynamis.symbolic import factored
from dynamis.symbolic.angles import linear_form
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.equivalence import same
from dynamis.symbolic.expression import Expression
from dynamis.symbolic.notation import plain_text
from dynamis.symbolic.ring import Ring
from dynamis.tolerances import NEGLIGIBLE

Index = tuple[int, ...]
MAX_DOF_FOR_MISTAKES = 4  # for larger robots the mistaken quantities take longer than the check


def is_small(form: ClosedForm) -> bool:
    """Whether other formulas than those that are asked take less time than the check."""
    return form.expanded and form.n <= MAX_DOF_FOR_MISTAKES


def mistaken_for(
    form: ClosedForm,
    asked: Quantity,
    index: Index,
    given: Any,
    right: Collection[Index] = (),
    summed: Collection[int] = (),
) -> Cause | None:
    """The cause, if the entry is that of another quantity or follows from a common mistake made throughout.

    The entries ``right`` contradict a mistake that would have changed them; those of the links ``summed`` contradict that their
    angular velocities are relative.
    """
    if not is_small(form):
        return None
    for node, cause in _candidates(form, asked, index, right, summed):
        ring = Ring.of([node, given], form.algebra.ring.angles, [*form.q, *form.v, *form.a])
        if same(ring, node, given):
            return cause
    causes = (find(form, asked, index, given) for find in (_in_degrees, double_angle, linearised, _at_zero))
    return next((cause for cause in causes if cause is not None), None)


def _at_zero(form: ClosedForm, asked: Quantity, index: Index, given: Any) -> Cause | None:
    """The cause, if the entry is the correct one at q = 0, where several of its terms are one."""
    state = {id(q) for q in form.q}
    if index not in asked.entries or any(id(n) in state for n in topological([given])):
        return None
    right = asked.entries[index].node()
    try:
        value = factored.replaced(right, {id(q): 0.0 for q in form.q})
        ring = Ring.of([right, value, given], form.algebra.ring.angles, [*form.q, *form.v, *form.a])
        collapsed = 0 < len(ring.value(value)[0]) < len(ring.value(right)[0])  # otherwise a cosine or all is missing
        found = collapsed and same(ring, value, given)
    except (InputError, ArithmeticError):  # a quotient, divided by zero here
        return None
    message = "this is the value at q = 0; the entry is a function of q"
    return Cause(message, message) if found else None


def _in_degrees(form: ClosedForm, asked: Quantity, index: Index, given: Any) -> Cause | None:
    """The cause, if the entry is right where the angles of its sines and cosines are taken as they are, without π/180."""
    arcs = [n for n in topological([given]) if n.op in ("sin", "cos")]
    ratios = [abs(float(ratio)) for n in arcs for _, ratio in linear_form(n.args[0]).terms]
    if not any(abs(ratio * 180.0 / pi - 1.0) < NEGLIGIBLE for ratio in ratios) or index not in asked.entries:
        return None
    radians = {id(q): q * (180.0 / pi) for q in form.q}
    turned = {id(n): rebuilt(n.op, [factored.replaced(n.args[0], radians)]) for n in arcs}
    if not agree(form, asked.entries[index].node(), factored.replaced(given, turned)):
        return None
    message = "degrees: the joint angles are in radians, without the factor π/180"
    return Cause(message, message)


def _candidates(
    form: ClosedForm, asked: Quantity, index: Index, right: Collection[Index], summed: Collection[int]
) -> Iterator[tuple[Any, Cause]]:
    M = form.notation.inertia
    if asked.name == "coriolis-power":
        message = f"this is the kinetic energy, ½ q̇ᵀ {M} q̇: the required term contains the rate of {M}"
        yield form.kinetic_energy.node(), Cause(message, message)
    if asked.name == "coriolis-vector" and index[0] < form.n:
        rates = [form.algebra.of_node(v) for v in form.v]
        terms = [form.M_dot[index[0], j] * rates[j] for j in range(form.n)]
        total = sum(terms[1:], terms[0])
        message = f"this is the first part of the vector only, the rate of {M} times q̇"
        yield total.node(), Cause(f"{message}: −½ ∂(q̇ᵀ {M} q̇)/∂q_{index[0] + 1} is missing", message)
    if asked.inertial and not summed and all_parallel(form) and not any(_is_changed(form, other) for other in right):
        yield from _relative_rates(form, asked, index)


def all_parallel(form: ClosedForm) -> bool:
    """Whether all joints of the chain are revolute with parallel axes, so that angular velocities are sums of rates."""
    angles = form.algebra.ring.angles
    run = len(angles) == form.n > 1 and all(a.base == (k - 1 if k else None) and a.sign == 1 for k, a in enumerate(angles))
    return run and all(a.unit is q for a, q in zip(angles, form.q, strict=True))


def _relative_rates(form: ClosedForm, asked: Quantity, index: Index) -> Iterator[tuple[Any, Cause]]:
    """The energy, or the inertia matrix, with q̇_k where the angular velocity of link k, a sum of rates, belongs."""
    if index:
        if max(index) >= form.n:
            return
        node = _with_relative_rates(form, *index).node()
    else:
        relative = {id(v): v - form.v[k] for k, v in enumerate(form.v[1:])}
        node = next(iter(asked.entries.values())).node(relative)
    rates = [plain_text(form.algebra.letters.variable("velocity", k + 1)) for k in range(form.n)]
    message = f"the angular velocity of link 2 is {rates[0]} + {rates[1]}, not {rates[1]} alone"
    if form.n > 2:
        message += ", and so on for the links that follow"
    yield node, Cause(message, f"the angular velocity of link 2 is not {rates[1]}")


def _is_changed(form: ClosedForm, index: Index) -> bool:
    """Whether relative rates would change an entry of the inertia matrix."""
    return bool(index) and not (_with_relative_rates(form, *index) - form.M[index]).is_zero


def _with_relative_rates(form: ClosedForm, i: int, j: int) -> Expression:
    """M_ij of A⁻ᵀ M A⁻¹, which M becomes with ω = A q̇ taken for q̇; A⁻¹ takes differences of neighbouring rates."""
    rows, columns = ([(k, 1), *([(k + 1, -1)] if k + 1 < form.n else [])] for k in (i, j))
    parts = [form.M[a, b] * (s * t) for a, s in rows for b, t in columns]
    return cast("Expression", sum(parts[1:], parts[0]))
