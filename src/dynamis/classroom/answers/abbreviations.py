"""Names of sines and cosines, such as c_2 and S_1, that an answer gives another meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dynamis.classroom.answers.chains import Target
from dynamis.classroom.answers.names import Address, address_of
from dynamis.classroom.answers.rules import Rule
from dynamis.classroom.answers.tree import names_in
from dynamis.classroom.answers.vocabulary import Vocabulary
from dynamis.scalar import topological

Scalars = Mapping[Address, tuple[Rule, Target]]


def abbreviations(names: Vocabulary, scalars: Scalars, tables: Mapping[str, Rule]) -> set[Address]:
    """The definitions that replace a sine or cosine of the same name: c_2 = cos(q_1 + q_2), and matrices S_1 = […]."""
    found = {address for address, (rule, target) in scalars.items() if _is_abbreviation(names, scalars, rule, target)}
    return found | {address_of(key) for key, rule in tables.items() if _is_matrix(names, key, rule)}


def entries(
    names: Vocabulary, scalars: Scalars, tables: Mapping[str, Rule], used: Iterable[str]
) -> tuple[set[Address], set[Address]]:
    """The names C_{12} of entries that a text defines, by a matrix C or one by one, and those that may as well be cosines.

    They are entries where the text has others that are no cosines, C_{11}, unless it has names such as C_2, too.
    """
    certain, unsure = set[Address](), set[Address]()
    arcs = {address_of(key): names.arc(key) is not None and names.quantity(key) is None for key in used}
    for letter in {*tables, *(letter for letter, _ in scalars)}:
        own = [(address, arc) for address, arc in arcs.items() if address[0] == letter]
        if any(len(index) == 2 and not arc for (_, index), arc in own):
            pairs = {x for x, arc in own if arc and len(x[1]) == 2 and (letter in tables or x in scalars)}
            singles = any(arc and len(index) == 1 for (_, index), arc in own)
            (unsure if singles else certain).update(pairs)
    return certain, unsure


def _is_matrix(names: Vocabulary, key: str, rule: Rule) -> bool:
    """Whether a capital letter is that of a matrix, as it is not a sine or cosine in its own entries."""
    arc = names.arc(key) is not None and names.quantity(key) is None
    return arc and key[0].isupper() and all(name.key != key for name in rule.names())


def _is_abbreviation(names: Vocabulary, scalars: Scalars, rule: Rule, target: Target) -> bool:
    """Whether a definition of s_i or c_i depends on positions and not on rates, as an entry of the vector C q̇ does.

    One of c_123 has no parameters either, which Christoffel symbols have.
    """
    held, seen = set[int](), {id(rule)}
    if names.arc(target.key) is None or names.quantity(target.key) is not None:
        return False
    stack = [rule]
    while stack:
        for name in (name for tree in stack.pop().trees for name in names_in(tree)):
            value, own = names.resolve(name.key), scalars.get(address_of(name.key))
            if own is not None and own[0] is rule:
                return False
            if value is not None:
                held |= {id(node) for node in topological([value]) if node.op == "symbol"}
            elif own is None:
                return False
            elif id(own[0]) not in seen:
                seen.add(id(own[0]))
                stack.append(own[0])
    positions = {id(x) for x in names.q}
    rates = {id(x) for x in (*names.v, *names.a)}
    return bool(held & positions) and not held & rates and (held <= positions or len(target.address[1]) < 3)
