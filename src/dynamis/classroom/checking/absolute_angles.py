"""Answers in absolute link angles φ_k = q_1 + … + q_k, where the joint variables are angles relative to the link before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import accumulate, product
from typing import Any

from dynamis.classroom.answers import Located
from dynamis.classroom.checking.causes import Cause
from dynamis.classroom.checking.mistakes import all_parallel, is_small
from dynamis.classroom.checking.quantities import Quantity
from dynamis.symbolic import factored
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.notation import plain_text

Index = tuple[int, ...]
Same = Callable[[Any, Any], bool]
_COVARIANT = ("mass-matrix", "coriolis", "coriolis-vector", "gravity", "christoffel", "equations", "kinetic-energy")


def in_absolute_angles(
    form: ClosedForm, asked: Quantity, given: Mapping[Index, Located], right: Mapping[Index, Any], same: Same
) -> Cause | None:
    """The cause, if all entries of an answer become right with absolute angles as joint variables, and some of them by that."""
    known = asked.name in _COVARIANT or asked.has_datum
    if not known or not (is_small(form) and all_parallel(form)) or any(index not in right for index in given):
        return None
    sums = {id(x): total for row in (form.q, form.v, form.a) for x, total in zip(row, accumulate(row), strict=True)}
    answers = {index: factored.replaced(x.node, sums) for index, x in given.items()}
    if all(answers[index] is x.node for index, x in given.items()):
        return None
    found = any(
        all(same(entry(index), node) for index, node in answers.items())
        for entry in (right.__getitem__, partial(_transformed, right))
    )
    return _cause(form) if found else None


def _transformed(entries: Mapping[Index, Any], index: Index) -> Any:
    """An entry for the coordinates φ = A q, of A⁻ᵀ g, A⁻ᵀ M A⁻¹ and so on: differences of neighbouring entries."""
    steps = product((0, 1), repeat=len(index))
    places = ((tuple(i + k for i, k in zip(index, step, strict=True)), sum(step)) for step in steps)
    return sum(((-1.0) ** count * entries[place] for place, count in places if place in entries), 0.0)


def _cause(form: ClosedForm) -> Cause:
    q = [plain_text(form.algebra.letters.variable("position", k + 1)) for k in range(form.n)]
    sums = ", ".join(f"φ_{k + 1} = {' + '.join(q[: k + 1])}" for k in range(form.n))
    verb = "is" if form.n == 2 else "are"
    message = f"written in absolute link angles {sums}, while the robot's {', '.join(q[1:])} {verb} relative to the link before"
    return Cause(message, message)
