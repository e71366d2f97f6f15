r"""Names with both a meaning as a velocity or an acceleration and another value: \omega = \dot\theta, \dot\omega = …

Such a pair is an equation of motion if there is a torque or an acceleration in it. If it is an identity, such as the second
derivative of a coordinate written out, it says nothing more; otherwise the answer contradicts itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from dynamis.classroom.answers import Answer, Located
from dynamis.classroom.answers.vocabulary import rate_of
from dynamis.classroom.checking.balls import agree
from dynamis.classroom.checking.motion_equations import LETTERS, named_torques
from dynamis.classroom.checking.verdict import EntryVerdict
from dynamis.errors import InputError, printable
from dynamis.scalar import topological
from dynamis.symbolic.closed_form import ClosedForm

Index = tuple[int, ...]


class Rates(NamedTuple):
    """An answer with such pairs among its equations; the formulas they are from, and findings on contradictions."""

    answer: Answer
    read: list[Located]
    findings: list[EntryVerdict]


def with_rates(form: ClosedForm, answer: Answer) -> Rates:
    """The answer with the values of names that mean velocities or accelerations as equations."""
    entries: dict[str, dict[Index, Located]] = {}
    definitions: dict[str, Located] = {}
    found = Rates(answer, [], [])
    equations = list(answer.equations)
    for letter, index, x in _formulas(answer):
        pair = None if _is_torque(form, letter) else _pair(form, letter, x)
        if pair is None:
            if index:
                entries.setdefault(letter, {})[index] = x
            else:
                definitions[letter] = x
            continue
        found.read.append(x)
        meaning, others = pair
        different = tuple(meaning - y for y in others if not agree(form, meaning, y))
        if different and _held(different, (*form.tau, *form.a)):
            equations.append(replace(x, node=different[0], also=different[1:], texts=()))
        elif different:
            found.findings.append(_contradiction(form, letter + "".join(f"_{k + 1}" for k in index), x, meaning))
    return found._replace(answer=replace(answer, entries=entries, definitions=definitions, equations=tuple(equations)))


def torque_candidates(form: ClosedForm, answer: Answer) -> Answer:
    """The answer without the names that cannot be those of torques: rates of others, and names whose values hold torques.

    Nor can those of the variables of the state, x_1 = q_1, nor, where there are several joints, τ without a joint's number, nor
    steps of a derivation that is not read.
    An answer of nothing else has no candidates, and what it gives is a part of an answer; one of other names is refused.
    """

    def is_part(letter: str, x: Located) -> bool:
        numberless = form.n > 1 and letter in LETTERS and answer.definitions.get(letter) is x
        derived = bool(answer.skipped) and not _held((x.node, *x.also), form.a)  # a step, as L or ∂L/∂q̇_1, of what is not read
        return numberless or derived or all(_is_of_state(form, y) for y in (x.node, *x.also))

    def may_be(letter: str, x: Located) -> bool:
        return rate_of(letter) is None and not is_part(letter, x) and not _held((x.node, *x.also), form.tau)

    entries = {letter: {k: x for k, x in row.items() if may_be(letter, x)} for letter, row in answer.entries.items()}
    entries = {letter: row for letter, row in entries.items() if row}
    definitions = {name: x for name, x in answer.definitions.items() if may_be(name, x)}
    if not entries and not definitions:
        others = ((letter, index, x) for letter, index, x in _formulas(answer) if not is_part(letter, x))
        letter, index, x = next(others, ("", (), None))
        if x is not None:
            base = letter.rstrip("'") + "".join(f"_{k + 1}" for k in index)
            name, order = base if base.isidentifier() else printable(base), r"\dot" if "'" in letter else r"\ddot"
            found = f"{name} is neither a torque nor defined" if letter else "no torque stands alone"
            cure = f"define it, as in {name} = {order} q{'_1' * (form.n > 1)}, or write … = \\tau_1"
            raise InputError(
                f"{answer.file}:{x.line}: no entry of the equations: {found}: {cure if letter else 'write … = τ_1'}"
            )
    return replace(answer, entries=entries, definitions=definitions)


def _formulas(answer: Answer) -> Iterator[tuple[str, Index, Located]]:
    for letter, entries in answer.entries.items():
        yield from ((letter, index, x) for index, x in entries.items())
    yield from ((name, (), x) for name, x in answer.definitions.items())


def _is_torque(form: ClosedForm, letter: str) -> bool:
    return letter in LETTERS or letter in named_torques(form)


def _pair(form: ClosedForm, letter: str, x: Located) -> tuple[Any, list[Any]] | None:
    """The meaning of a name as a rate of the state, and its other values; None without both."""
    nodes = [x.node, *x.also]
    if rate_of(letter) is not None and x.also:
        return x.also[0], [x.node, *x.also[1:]]  # the derivative of the definition comes first
    meanings = [k for k, y in enumerate(nodes) if is_motion(form, y)]
    if not meanings or len(nodes) < 2:
        return None
    return nodes[meanings[0]], [y for k, y in enumerate(nodes) if k != meanings[0]]


def is_motion(form: ClosedForm, node: Any) -> bool:
    """Whether an expression consists of velocities and accelerations, perhaps with positions, and has no parameters."""
    symbols = {id(n) for n in topological([node]) if n.op == "symbol"}
    rates = {id(n) for n in (*form.v, *form.a)}
    return bool(symbols & rates) and symbols <= rates | {id(n) for n in form.q}


def _is_of_state(form: ClosedForm, node: Any) -> bool:
    """Whether an expression is a variable of the state, a position or a velocity, or a sum of these."""
    nodes, state = topological([node]), {id(n) for n in (*form.q, *form.v)}
    return bool(nodes) and all(n.op in ("add", "sub", "neg") or id(n) in state for n in nodes)


def _held(nodes: Any, symbols: Any) -> bool:
    own = {id(x) for x in symbols}
    return any(id(n) in own for n in topological(nodes))


def _contradiction(form: ClosedForm, name: str, x: Located, meaning: Any) -> EntryVerdict:
    said = "this contradicts the definitions of the answer, by which it has another value"
    return EntryVerdict(name, x.line, False, correct=str(form.algebra.of_node(meaning)), cause=said, hint=said)
