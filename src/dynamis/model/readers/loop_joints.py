"""Joints beside the tree of a robot, which close its loops: points and frames of two links that coincide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.closures import LoopClosure
from dynamis.model.description import Description, Fresh, Joint
from dynamis.spatial.pose import Pose

Array = npt.NDArray[Any]
LOOP_ARM = 0.1  # m between the points by which a hinge or a slide closes a loop
CLOSING = ("spherical", "fixed", "revolute", "continuous", "prismatic")  # types that can close a loop


def close_loop(
    d: Description, type_: str, name: str, ends: Sequence[tuple[str, Pose]], axis: Array, links: Fresh, joints: Fresh
) -> None:
    """Add the closures of a joint of a type of `CLOSING`; ``ends`` are two links and the joint's frame in each, with ``axis``.

    A hinge is two points on its axis; a slide is three points, each on a line along the axis of the first link.
    """
    u = axis / np.linalg.norm(axis) if axis.any() else np.array([0.0, 0.0, 1.0])
    side = np.cross(u, np.eye(3)[int(np.abs(u).argmin())])
    arms = [np.zeros(3), LOOP_ARM * u, LOOP_ARM * side / np.linalg.norm(side)]
    kind, points = {"spherical": ("point", 1), "fixed": ("weld", 1), "prismatic": ("plane", 3)}.get(type_, ("point", 2))
    for number, arm in enumerate(arms[:points]):
        pair = []
        for letter, (link, at) in zip("ab", ends, strict=True):
            pair.append(links.name(f"{name}_{letter}" + (f"{number}" if number else "")))
            d.add_link(pair[-1], link, origin=at @ Pose.translation(arm), joint_name=joints.name(f"{pair[-1]}_fixed"))
        first, second = pair if kind != "plane" else reversed(pair)  # the line is fixed to the second
        along = (float(u[0]), float(u[1]), float(u[2])) if kind == "plane" else (0.0, 0.0, 1.0)
        d.closures.append(LoopClosure(kind, first, second, axis=along))


def second_parents(joints: Sequence[Joint]) -> list[Joint]:
    """The joints to links that another joint carries already: the first one stays in the tree, but one with a spring, or that
    another joint follows, takes precedence where this leaves a tree."""
    led = {joint.mimic.joint for joint in joints if joint.mimic is not None}
    into: dict[str, list[Joint]] = {}
    for joint in joints:
        into.setdefault(joint.child, []).append(joint)
    kept = {child: several[0] for child, several in into.items()}
    for child, several in into.items():
        wanted = max(several, key=lambda x: (x.name in led, x.drive.stiffness != 0.0))
        if wanted is not kept[child] and not _is_beyond(wanted.parent, child, kept):
            kept[child] = wanted
    return [joint for joint in joints if kept[joint.child] is not joint]


def _is_beyond(link: str, start: str, kept: dict[str, Joint]) -> bool:
    """Whether joints of the tree lead from ``start`` to a link."""
    seen: set[str] = set()
    while link not in seen and link != start and link in kept:
        seen.add(link)
        link = kept[link].parent
    return link == start
