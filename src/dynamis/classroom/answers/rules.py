"""The chains of an answer as rules: in which order they are evaluated, and which derivatives of the state they hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dynamis.classroom.answers.chains import Chain
from dynamis.classroom.answers.tree import Name, Tree, names_in
from dynamis.errors import FormatError


@dataclass
class Rule:
    """A chain with the syntax trees of its members; the last one is its value."""

    chain: Chain
    trees: list[Tree]

    def names(self) -> list[Name]:
        """Every name in its members."""
        return [name for tree in self.trees for name in names_in(tree)]


Uses = Callable[[Rule], list[tuple[Name, Rule]]]


def in_order(rules: Sequence[Rule], used_by: Uses, circular: Callable[[Name], FormatError]) -> list[Rule]:
    """The rules in order of dependence; a rule that needs itself is an error."""
    order: list[Rule] = []
    state: dict[int, str] = {}
    for first in rules:
        stack = [(first, iter(used_by(first)))]
        while stack:
            rule, rest = stack[-1]
            state.setdefault(id(rule), "open")
            following = next(((n, r) for n, r in rest if state.get(id(r)) != "done"), None)
            if state[id(rule)] == "done":
                stack.pop()
            elif following is None:
                state[id(rule)] = "done"
                order.append(rule)
                stack.pop()
            elif state.get(id(following[1])) == "open":
                raise circular(following[0])
            else:
                stack.append((following[1], iter(used_by(following[1]))))
    return order
