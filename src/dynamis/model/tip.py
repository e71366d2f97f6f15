"""The tip of a serial arm: the frame of functions for which none is named."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from dynamis.model.description import Description

_TOOL = re.compile(r"(^|[^a-z])(tool\d*|tcp\d*|ee|eef|effector|endeffector|flange)([^a-z]|$)")
_FINGER = re.compile(r"finger|jaw|knuckle")
_SENSOR = re.compile(r"camera|sensor|optical|(^|[^a-z])(cam|imu|lidar)([^a-z]|$)")


def tip_of(description: Description, frames: Mapping[str, int], depth: Mapping[str, int]) -> str | None:
    """The tip of a serial arm, or None where the choice would be a guess.

    ``frames`` has the moving body of each link (0 is the base; the last body is the outermost), ``depth`` the number of joints
    before it. The tip is at the end of the links fixed to the last body. Of several ends it is one named as a tool ("tool0",
    "tcp", "ee_link", "flange"), else one not named as a finger or a sensor, then the one with the most joints before it, then
    the first in the file. A finger or sensor is not the tip where a link before it is named as a tool. There is no tip if the
    last joint moves a jaw or finger, or if several ends that are equal so far have mass.
    """
    last = max(frames.values(), default=0)
    outer = [name for name, body in frames.items() if body == last]
    tools = [name for name in outer if is_tool(name)]
    if not outer or (not tools and _is_jaw(outer, [name for name, body in frames.items() if body == last - 1])):
        return None
    ends = _ends(description, outer)
    neutral = [name for name in ends if not _is_aside(name)]
    candidates = [name for name in ends if is_tool(name)] or neutral or tools or ends
    deepest = max(depth[name] for name in candidates)
    equal = [name for name in candidates if depth[name] == deepest]
    massive = [name for name in equal if description.link(name).mass_properties is not None]
    return equal[0] if len(massive) < 2 or is_tool(equal[0]) else None


def is_tool(name: str) -> bool:
    """Whether a word of the name is that of a tool frame."""
    return bool(_TOOL.search(name.lower())) and not _is_aside(name)


def candidates(frames: Mapping[str, int], leaves: Sequence[int], parents: Sequence[int]) -> list[str]:
    """Frames that may be meant as the tip of a robot that has none, those named as tools first, fingers and sensors last.

    ``frames`` has the body of each, ``leaves`` are the outermost bodies, ``parents`` those that carry each body. A body whose
    frames are all named as fingers is a part of a gripper: so the frames of its parent are candidates, the outermost first.
    """
    found = []
    for leaf in leaves:
        own = [name for name, body in frames.items() if body == leaf]
        if leaf and all(_is_aside(name) or "gripper" in name.lower() for name in own):
            found += [name for name, body in reversed(list(frames.items())) if body == parents[leaf] and parents[leaf]]
        found += own
    return sorted(dict.fromkeys(found), key=lambda name: (not is_tool(name), _is_aside(name)))


def _is_aside(name: str) -> bool:
    return bool(_FINGER.search(name.lower()) or _SENSOR.search(name.lower()))


def _is_jaw(outer: Collection[str], before: Collection[str]) -> bool:
    """Whether the last joint moves a part of a gripper that the body before it carries."""
    if all(_FINGER.search(name.lower()) for name in before):
        return False  # the joints of one finger
    if all(_FINGER.search(name.lower()) for name in outer):
        return True
    return all("gripper" in name.lower() for name in outer) and any("gripper" in name.lower() for name in before)


def _ends(description: Description, names: Collection[str]) -> list[str]:
    """The names of links that carry no other of them."""
    carrying = {joint.parent for joint in description.joints if joint.child in names}
    return [name for name in names if name not in carrying]
