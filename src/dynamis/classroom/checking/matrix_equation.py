r"""Equations of motion from the matrices of an answer and its equation in them: M \ddot q + C \dot q + g = \tau."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, NamedTuple

from dynamis.classroom.answers import Answer, Located
from dynamis.classroom.answers.answer import Step
from dynamis.symbolic.closed_form import ClosedForm

_Q = "(?:q|theta|vartheta)"
_TERM = re.compile(  # by the names in it: M(q) q̈, C(q, q̇) q̇, g(q), c(q, q̇)
    rf"(?P<inertia>[MBDH]) (?:{_Q} )?{_Q}'' |(?P<coriolis>C) (?:{_Q} {_Q}' )?{_Q}' |"
    rf"(?P<vector>[gGcnhbVv]) (?:{_Q} (?:{_Q}' )?)?"
)
_OTHER_SIGNS = re.compile(r"[-−/^0-9]|\\[dt]?frac|\\sum|\\int|\\partial|∂|∑|∫")


class MatrixEquation(NamedTuple):
    """An answer with the torques by its matrix equation; the entries of the matrices in it, and a note on that."""

    answer: Answer
    read: list[Located]
    notes: list[str]


def with_matrix_equation(form: ClosedForm, answer: Answer) -> MatrixEquation:
    """The answer with the torques that follow from its matrix equation, if it has nothing else on them."""
    if not answer.equations and "tau" not in (*answer.entries, *answer.definitions):
        for step in answer.skipped:
            read: list[Located] = []
            torques = _torques(form, answer, step, read)
            if torques:
                found: dict[tuple[int, ...], Located] = {(k,): Located(x, step.line, step.text) for k, x in enumerate(torques)}
                skipped = tuple(x for x in answer.skipped if x is not step)
                said = f"the equations are assembled from the matrices (line {step.line}): {step.text}"
                return MatrixEquation(replace(answer, entries={**answer.entries, "tau": found}, skipped=skipped), read, [said])
    return MatrixEquation(answer, [], [])


def _torques(form: ClosedForm, answer: Answer, step: Step, read: list[Located]) -> list[Any]:
    """The torques by a matrix equation, none if it has other terms than sums of those with matrices of the answer."""
    names = " ".join(step.names) + " "
    sides = step.text.split("=")
    if len(sides) != 2 or _OTHER_SIGNS.search(step.text):
        return []
    if names.endswith(" tau ") and "+" not in sides[1]:
        names = names.removesuffix("tau ")
    elif names.startswith("tau ") and "+" not in sides[0]:
        names = names.removeprefix("tau ")
    else:
        return []
    terms = list(_TERM.finditer(names))
    if "".join(x[0] for x in terms) != names or step.text.count("+") != len(terms) - 1:
        return []
    n = form.n
    total: list[Any] = [0.0] * n
    for term in terms:
        kind = str(term.lastgroup)
        entries = dict(answer.entries.get(term[kind], {}))
        read += entries.values()
        if kind == "inertia":
            entries = {**{index[::-1]: x for index, x in entries.items()}, **entries}
        rates = {"inertia": form.a, "coriolis": form.v}.get(kind)
        every = {(i,) for i in range(n)} if rates is None else {(i, j) for i in range(n) for j in range(n)}
        if entries.keys() != every:
            return []
        for index, x in entries.items():
            total[index[0]] = total[index[0]] + (x.node if rates is None else x.node * rates[index[1]])
    return total
