"""Which pairs of links are checked for collisions with each other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from dynamis.model.description import Description
from dynamis.model.model import Model
from dynamis.model.readers.srdf import DisabledPairs

Pair = tuple[str, str]


def candidate_pairs(
    description: Description,
    model: Model,
    links: Sequence[str],
    chosen: set[frozenset[str]],
    disabled: DisabledPairs | None,
) -> tuple[list[Pair], dict[Pair, str]]:
    """The pairs that may collide, and why the others need no check; ``chosen`` by the user, ``disabled`` by an SRDF file."""
    checked: list[Pair] = []
    excluded: dict[Pair, str] = {}
    adjacent = adjacent_pairs(description, model, set(links))
    for pair in itertools.combinations(links, 2):
        reason = None
        if model.frames[pair[0]].body == model.frames[pair[1]].body:
            reason = "fixed to each other"
        elif frozenset(pair) in adjacent:
            reason = "adjacent"
        elif frozenset(pair) in chosen:
            reason = "excluded"
        elif disabled is not None and (found := disabled.reason(pair)) is not None:
            reason = f"SRDF: {found}"
        if reason is None:
            checked.append(pair)
        else:
            excluded[pair] = reason
    return checked, excluded


def adjacent_pairs(description: Description, model: Model, links: set[str]) -> set[frozenset[str]]:
    """Pairs of links that a joint connects, or several joints with only links without geometry between them.

    Two links that move on the same fixed base are not adjacent.
    """
    neighbours: dict[str, set[str]] = {}
    for joint in description.joints:
        neighbours.setdefault(joint.parent, set()).add(joint.child)
        neighbours.setdefault(joint.child, set()).add(joint.parent)
    fixed = {name for name in neighbours if model.frames[name].body == 0}
    found = set()
    for start in links:
        seen, reached = {start}, [start]
        while reached:
            at = reached.pop()
            onward = neighbours.get(at, set()) - seen
            if at in fixed and start not in fixed:
                onward &= fixed
            for other in onward:
                seen.add(other)
                if other in links:
                    found.add(frozenset((start, other)))
                else:
                    reached.append(other)
    return found
