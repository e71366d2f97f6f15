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
    adjacent, apart = adjacent_pairs(description, set(links)), set(map(frozenset, description.no_contact))
    for pair in itertools.combinations(links, 2):
        reason = None
        if model.frames[pair[0]].body == model.frames[pair[1]].body:
            reason = "fixed to each other"
        elif frozenset(pair) in adjacent and not (disabled is not None and disabled.enables(pair)):
            reason = "adjacent"
        elif frozenset(pair) in chosen:
            reason = "excluded"
        elif disabled is not None and (found := disabled.reason(pair)) is not None:
            reason = f"SRDF: {found}"
        elif frozenset(pair) in apart and not (disabled is not None and disabled.enables(pair)):
            reason = "no contact in the robot's file"
        if reason is None:
            checked.append(pair)
        else:
            excluded[pair] = reason
    return checked, excluded


def adjacent_pairs(description: Description, links: set[str]) -> set[frozenset[str]]:
    """Pairs of a link and one further from the root that a joint connects, or several joints with only links without geometry
    between them."""
    parents = {joint.child: joint.parent for joint in description.joints}
    found = set()
    for start in links:
        above = parents.get(start)
        while above is not None and above not in links:
            above = parents.get(above)
        if above is not None:
            found.add(frozenset((start, above)))
    return found
