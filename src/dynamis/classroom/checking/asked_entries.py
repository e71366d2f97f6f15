"""The entries of an answer that are those of the quantity asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dynamis.classroom.answers import Answer, Located
from dynamis.classroom.answers.names import address_of
from dynamis.classroom.checking.balls import agree, differ_by_constant
from dynamis.classroom.checking.fitting import described, shape_of
from dynamis.classroom.checking.quantities import Quantity, is_checkable, is_of_recursion, names, other_quantity
from dynamis.errors import InputError
from dynamis.scalar import Node, topological
from dynamis.symbolic.closed_form import ClosedForm

Index = tuple[int, ...]
SKEW = "N"  # Ṁ − 2C
MAY_VANISH = ("gravity", "coriolis", "coriolis-vector", "christoffel")  # which a single zero may say of a vector or a matrix


def asked_entries(form: ClosedForm, answer: Answer, asked: Quantity) -> Mapping[Index, Located]:
    """The entries of the text to check: those of a letter of the quantity, or the only ones."""
    if () in asked.entries:
        return {(): _only(form, answer, asked)}
    if asked.number is not None and (own_number := [x for x in answer.letters if _link(x, asked) == asked.number]):
        return answer.of(own_number[0])  # J_2 = […] beside J_1 = […]
    found: dict[Index, Located] = {}
    for letter in asked.letters:
        entries = answer.entries.get(letter, {})
        # entries of a further letter of the same quantity: g_1 and G_2
        new = {index: x for index, x in entries.items() if not found or (len(index) == len(next(iter(found))) and not x.used)}
        found = {**new, **found}
    found |= {index: x for name, x in answer.formulas() if (index := asked.component(name)) is not None}
    if found:
        return found
    for name in (*asked.letters, *(f"{letter}ijk" for letter in asked.letters)):
        if name in answer.definitions and is_zero(answer.definitions[name]) and asked.name in MAY_VANISH:
            return dict.fromkeys(asked.entries, answer.definitions[name])

    def own(name: str) -> bool:
        if _link(name, asked) is not None or (name == SKEW and asked.name == "coriolis"):
            return _is_right(form, answer.of(name), asked)
        vector = asked.name == "coriolis-vector" and name == "C" and all(len(index) == 1 for index in answer.of(name))
        return (
            vector
            or other_quantity(name, asked) is None
            or (not is_of_recursion(name) and _moves(form, answer.of(name), asked))
        )

    groups = [answer.of(letter) for letter in answer.letters if own(letter)]
    groups = [group for group in groups if not any(x.used for x in group.values())] or groups  # p_1, of which others consist
    if len(groups) == 1:
        return groups[0]
    # the only entry of a robot with one joint may be written as a scalar: M = I
    for letter in asked.letters:
        if letter in answer.definitions and not (len(asked.entries) > 1 and answer.definitions[letter].used):
            return answer.of(letter)
    names = [name for name in answer.definitions if own(name)]
    names = [name for name in names if not answer.definitions[name].used] or names
    if not groups and len(names) == 1 and (len(asked.entries) == 1 or not names[0]):
        return answer.of(names[0])
    raise _nothing(answer, asked)


def _link(name: str, asked: Quantity) -> int | None:
    """The number of the link in a name of a quantity of links: 1 for J_1."""
    letter, index = address_of(name)
    return index[0] + 1 if asked.number is not None and letter in asked.letters and len(index) == 1 else None


def _is_right(form: ClosedForm, entries: Mapping[Index, Located], asked: Quantity) -> bool:
    """Whether entries under a name of another meaning, or of none, are those of the quantity all the same."""

    def right(expected: Any, given: Any) -> bool:
        return agree(form, expected, given) or (asked.has_datum and differ_by_constant(form, expected, given))

    return all(index in asked.entries and right(asked.entries[index].node(), x.node) for index, x in entries.items())


def _moves(form: ClosedForm, entries: Mapping[Index, Located], asked: Quantity) -> bool:
    """Whether torques are asked and formulas called T_2 or M are some: a kinetic energy or an inertia has no acceleration."""
    accelerations = {id(a) for a in form.a}
    nodes = [node for x in entries.values() for node in (x.node, *x.also)]
    return asked.name == "equations" and any(id(n) in accelerations for n in topological(nodes))


def is_whole(answer: Answer, entries: Mapping[Index, Located]) -> bool:
    """Whether the text gives these entries as a vector or a matrix, not one by one."""
    return any(answer.entries.get(letter, {}).keys() >= entries.keys() for letter in answer.whole)


def is_zero(x: Located) -> bool:
    """Whether a formula is the number zero."""
    return all(not isinstance(node, Node) and node == 0.0 for node in (x.node, *x.also))


def _only(form: ClosedForm, answer: Answer, asked: Quantity) -> Located:
    """The expression of the text to check: that of the quantity's letter (T, T_2), or the only one that can be it.

    A definition with another letter, as h = …, is one if it is right; one of another link, T_1, is none.
    """
    for letter in asked.letters:
        if asked.number is None and letter in answer.definitions:  # T = T_1 + T_2
            return answer.definitions[letter]
        if letter in answer.entries or letter in answer.definitions:
            entries = answer.of(letter)
            if () in entries:
                return entries[()]
            if asked.number is not None and (asked.number - 1,) in entries:
                return entries[asked.number - 1,]
            if len(entries) == 1 and (asked.number is None or len(next(iter(entries))) > 1):
                return next(iter(entries.values()))
            if letter in answer.entries and asked.number is None:
                shape = described(shape_of(entries))
                advice = "write the product out, or separate the entries of a row by commas, as in [a, b] [c; d]"
                raise InputError(f"{answer.file}: {asked.name} is a single expression, but {letter} is {shape}: {advice}")
    names = [name for name in (*answer.entries, *answer.definitions) if other_quantity(name, asked) is None]
    named = [(name, x) for name in names for index, x in answer.of(name).items() if not _is_of_other_link(name, index, asked)]
    named = [(name, x) for name, x in named if not x.used] or named
    letters = ("E", *asked.letters)
    found = [x for name, x in named if not name or name.startswith(letters) or _is_right(form, {(): x}, asked)]
    if len(found) == 1:
        return found[0]
    raise _nothing(answer, asked)


def _is_of_other_link(name: str, index: Index, asked: Quantity) -> bool:
    return asked.number is not None and name in asked.letters and len(index) == 1 and index[0] + 1 != asked.number


def with_energies_of_links(form: ClosedForm, answer: Answer, asked: Quantity) -> tuple[Answer, Quantity, list[str]]:
    """An answer that gives the energies of links, T_1 and T_2, without their sum T.

    It gets this sum, with a note; if some links are missing, the quantity becomes the energy of each link.
    """
    letter = next((x for x in asked.letters if x in answer.entries), "")
    parts = answer.entries.get(letter, {})
    given = any(x in answer.definitions for x in asked.letters) or letter in answer.whole
    if asked.name not in ("kinetic-energy", "potential-energy") or given or not parts or any(len(index) > 1 for index in parts):
        return answer, asked, []
    total, *others = parts.values()
    for x in others:
        total = replace(total, node=total.node + x.node, also=(), texts=())
    links: dict[Index, Any] = {
        (k,): x for k, x in enumerate(getattr(form, asked.name.replace("energy", "energies").replace("-", "_")))
    }
    missing = [index for index, x in links.items() if index not in parts and not x.is_zero]
    if missing and parts.keys() <= links.keys() and not _is_right(form, {(): total}, asked):
        return answer, replace(asked, entries=links), []
    if len(parts) == 1:
        return answer, asked, []
    used = {index: replace(x, used=True) for index, x in parts.items()}
    said = " + ".join(f"{letter}_{k + 1}" for (k,) in sorted(parts))
    return (
        replace(answer, entries={**answer.entries, letter: used}, definitions={**answer.definitions, letter: total}),
        asked,
        [f"{letter} is taken as {said}"],
    )


def _nothing(answer: Answer, asked: Quantity) -> InputError:
    every = [*answer.letters, *answer.definitions]
    others = {letter: other_quantity(letter, asked) for letter in every}
    numbers = [(x, _link(x + "".join(str(k + 1) for k in i), asked)) for x in every for i in ((), *answer.of(x))]
    others |= {x: f"one of link {k}" for x, k in numbers if k not in (None, asked.number)}
    if asked.name == "coriolis":
        others |= {SKEW: "matrix Ṁ − 2C"}
    found = ", ".join(f"{x}, which is the {others[x]}" if others[x] else x for x in every if x) or "nothing"
    found = "several formulas without a name" if not any(every) else found
    index = "_{" + "1" * len(next(iter(asked.entries))) + "}" if () not in asked.entries else ""
    cure = f"write {asked.letters[0]}{index} = …; found {found}"
    cure += "" if all(map(is_checkable, every)) else f"; the quantities that are checked are {', '.join(names())}"
    sums = any(r"\sum" in step.text for step in answer.skipped)
    if any("\\partial" in step.text or "∂" in step.text for step in answer.skipped):
        cure += "; derivatives are read of what the text defines, by a joint's variable, as in "
        cure += r"g_1 = \frac{\partial U}{\partial q_1}"
    cure += "; sums are read with numbers as bounds, as in \\sum_{i=1}^2 m_i" if sums else ""
    return InputError(f"{answer.file}: no entry of the {asked.name}: {cure}")
