r"""Jacobians of a link in an answer: of its centre of mass, of its angular velocity (J_O, J_\omega), or both in six rows."""

from __future__ import annotations

import re
from dataclasses import replace

from dynamis.classroom.answers import Answer
from dynamis.classroom.answers.vocabulary import key_of
from dynamis.classroom.checking.asked_entries import asked_entries
from dynamis.classroom.checking.fitting import shape_of
from dynamis.classroom.checking.quantities import Quantity
from dynamis.errors import InputError
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.expression import Expression
from dynamis.symbolic.notation import Notation

Index = tuple[int, ...]
ROWS = 3  # of each of the two
_INDEX = r"([0-9]*)(?:\^\(?(?:l_?)?([0-9]+)\)?)?"  # of the link: J_{O2}, J_O^{(2)}, J_O^{(l_2)}


def with_angular_jacobian(form: ClosedForm, answer: Answer, asked: Quantity, notation: Notation) -> tuple[Answer, Quantity]:
    """The Jacobian to compare with, and the answer with its rows: angular ones stand below those of the centre of mass."""
    if asked.number is None or not asked.name.startswith("jacobian-of-link"):
        return answer, asked
    lower: dict[Index, Expression] = {(i + ROWS, j): x for (i, j), x in _entries(form, asked.number).items()}
    both = replace(asked, name=f"geometric {asked.name}", entries=dict(asked.entries) | lower)
    letters = ("JO", "Jomega", key_of(notation.angular_jacobian.partition("^")[0]) or "JO")
    alone = replace(asked, name=f"angular {asked.name}", letters=("J_O", *letters), entries=_entries(form, asked.number))
    named = {x: m for x in answer.letters if (m := re.fullmatch(rf"(?:{'|'.join(letters)}){_INDEX}", x))}
    found = [x for x, m in named.items() if {*m.groups()} <= {None, "", str(asked.number)}]
    if not found and named and len(named) == len(answer.letters):
        return answer, alone  # of another link
    if len(found) != 1:
        six = any(shape_of(x)[0] > ROWS for letter, x in answer.entries.items() if letter.startswith("J") and shape_of(x))
        return answer, both if six else asked
    angular = answer.of(found[0])
    rest = {letter: x for letter, x in answer.entries.items() if letter not in named and letter.startswith("J")}
    rest = {letter: x for letter, x in rest.items() if not any(entry.used for entry in x.values())}
    try:
        upper = asked_entries(form, replace(answer, entries=rest, definitions={}), asked) if rest else {}
    except InputError:  # those of other links
        upper = {}
    stacked = {_place(form, index): x for index, x in upper.items()}
    stacked |= {_place(form, index, ROWS): x for index, x in angular.items()}
    if upper and all(len(index) == len(next(iter(both.entries))) for index in stacked):
        others = {letter: x for letter, x in answer.entries.items() if letter not in rest}
        return replace(answer, entries={**others, "J": stacked}), both
    return replace(answer, entries={**answer.entries, "JO": angular}), alone


def _entries(form: ClosedForm, number: int) -> dict[Index, Expression]:
    jacobian = form.angular_jacobians[number - 1]
    return {(i, j): jacobian[i, j] for i in range(ROWS) for j in range(form.n)}


def _place(form: ClosedForm, index: Index, below: int = 0) -> Index:
    """An index with ``below`` rows above; a column is the matrix of a single joint."""
    return (index[0] + below, *(index[1:] or ((0,) if form.n == 1 else ())))
