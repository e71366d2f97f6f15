"""Pairs of links between which a simulator must not compute contacts."""

from __future__ import annotations

from dynamis.collision.pairs import Pair, candidate_pairs
from dynamis.collision.scene import Scene
from dynamis.errors import MissingExtraError
from dynamis.model.description import Description
from dynamis.robot import Robot


def contact_exclusions(robot: Robot) -> tuple[dict[Pair, str], bool]:
    """The pairs of links that an MJCF file excludes from contact, each with the reason, and whether all were looked for.

    They are those that `Scene` does not check, except for links fixed to each other, with the shapes that collide there: no
    visual ones, no meshes. Without the library coal they are the adjacent ones alone.
    """
    description = robot.description
    for link in description.links:
        link.shapes = [shape for shape in link.shapes if shape.role == "collision" and shape.kind != "mesh"]
    links = [link.name for link in description.links if link.shapes]
    if len(links) < 2 or description.symbol_names():
        return {}, True
    try:
        excluded, complete = Scene(Robot(description, _quiet=True)).excluded, True
    except MissingExtraError:
        pairs, excluded = candidate_pairs(description, robot.model, links, set(), None)
        complete = not pairs
    return {pair: why for pair, why in excluded.items() if why != "fixed to each other"}, complete


def with_contact_exclusions(robot: Robot) -> tuple[Description, bool]:
    """The description for an MJCF file, with these pairs in ``no_contact``, and whether all were looked for."""
    description = robot.description
    pairs, complete = contact_exclusions(robot)
    known = set(map(frozenset, description.no_contact))
    description.no_contact += [pair for pair in pairs if frozenset(pair) not in known]
    return description, complete
