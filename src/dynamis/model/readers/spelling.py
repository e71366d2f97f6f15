"""Names in URDF and SDF files that are not read: misspelt ones, which are nearly those of the format, and extensions.

Names that resemble none are extensions, as are those with a prefix (drake:…).
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Mapping

from dynamis.errors import near_names, printable
from dynamis.model.diagnostics import Report
from dynamis.model.readers.xml_tree import Document, Element

# share of equal letters; xzy and xyz have 0.67
SIMILAR = 0.66
REPEATABLE = frozenset({"link", "joint", "visual", "collision", "material", "frame", "model", "include"})

# of an element: names of attributes | of elements inside | of those that are not read, and of which nothing is a misspelling;
# elements without a row are not examined. Besides the specification: what well-known tools add and resembles a name of it
_SHAPES = {
    "sphere": "radius |", "cylinder": "radius length |", "capsule": "radius length |", "box": "size |",
}  # fmt: skip
_INERTIA = "ixx ixy ixz iyy iyz izz"
URDF = {
    "robot": "name version | link joint material dynamis | gazebo transmission sensor loop_joint",
    "link": "name | inertial visual collision dynamis | type collision_checking self_collision_checking contact sensor",
    "inertial": "| origin mass inertia",
    "origin": "xyz rpy || quat_xyzw wxyz",
    "mass": "value |",
    "inertia": f"{_INERTIA} |",
    "visual": "name | origin geometry material dynamis",
    "collision": "name | origin geometry material dynamis | group",
    "geometry": "| box cylinder sphere mesh capsule",
    "mesh": "filename scale |",
    "material": "name | color | texture",
    "color": "rgba |",
    "joint": "name type | origin parent child axis limit dynamics mimic dynamis | calibration safety_controller",
    "parent": "link |",
    "child": "link |",
    "axis": "xyz |",
    "limit": "lower upper effort velocity |",
    "dynamics": "damping friction |",
    "mimic": "joint multiplier offset |",
    **_SHAPES,
}
SDF = {
    "sdf": "version | world model include",
    "world": "name | model gravity include frame joint",
    "model": "name canonical_link placement_frame | pose link joint frame model include static | self_collide "
    "allow_auto_disable enable_wind gripper plugin",
    "include": "merge | uri pose name static placement_frame | placement_frame plugin",
    "frame": "name attached_to | pose",
    "pose": "relative_to rotation_format degrees || frame",
    "link": "name | pose inertial visual collision gravity kinematic | self_collide enable_wind must_be_base_link "
    "velocity_decay sensor light projector battery audio_source audio_sink particle_emitter plugin",
    "inertial": "auto | pose mass inertia | density auto_inertia_params fluid_added_mass",
    "inertia": f"| {_INERTIA}",
    "visual": "name | pose geometry material | cast_shadows laser_retro transparency visibility_flags meta plugin",
    "collision": "name | pose geometry | surface density laser_retro max_contacts auto_inertia_params",
    "material": "| diffuse | ambient specular emissive",
    "geometry": "| box cylinder sphere mesh capsule ellipsoid | cone plane polyline heightmap image empty",
    "mesh": "| uri scale | optimization submesh convex_decomposition",
    "ellipsoid": "| radii",
    "joint": "name type | pose parent child axis axis2 thread_pitch screw_thread_pitch | physics sensor gearbox_ratio "
    "gearbox_reference_body",
    "axis": "| xyz limit dynamics mimic use_parent_model_frame | initial_position",
    "xyz": "expressed_in |",
    "limit": "| lower upper effort velocity | stiffness dissipation",
    "dynamics": "| damping friction spring_reference spring_stiffness",
    "mimic": "joint | multiplier offset reference | axis",
    **{tag: f"| {names.removesuffix(' |')}" for tag, names in _SHAPES.items()},
}
SDF["axis2"] = SDF["axis"]


@functools.cache
def _row(text: str) -> tuple[dict[str, None], dict[str, None], frozenset[str]]:
    """(attributes, elements inside, all known names) of a row."""
    attributes, inside, others = (dict.fromkeys(part.split()) for part in f"{text}||".split("|")[:3])
    return attributes, inside, frozenset([*attributes, *inside, *others])


def check_spelling(
    element: Element,
    names: Mapping[str, str],
    where: str,
    report: Report,
    aside: dict[str, list[str]],
    document: Document | None = None,
    *,
    deep: bool = True,
) -> None:
    """Warn of misspelt names of an element and, if ``deep``, of those inside it; add to ``aside`` what else is not read."""
    children = element.children
    if element.tag in names:
        attributes, inside, _ = _row(names[element.tag])
        if not attributes.keys() >= element.attributes.keys() or not {child.tag for child in children} <= inside.keys():
            wrong = _misspelt(element, names[element.tag])
            _warn(element, wrong, where, report, document)
            skipped = {name for name, *_ in wrong}
            children = _leave(element, {*attributes, *inside, *skipped}, where, aside)
    for child in children if deep else ():
        check_spelling(child, names, where, report, aside, document)


def _misspelt(element: Element, row: str) -> list[tuple[str, Element | None, str]]:
    """(the name, the element inside or None for an attribute, the name probably meant) of an element."""
    attributes, inside, known = _row(row)
    found: list[tuple[str, Element | None, str]] = [
        (key, None, near)
        for key in element.attributes
        if key not in known and (near := _near(key, [x for x in attributes if x not in element.attributes]))
    ]
    present = {child.tag for child in element.children}
    absent = [x for x in inside if x in REPEATABLE or x not in present]
    meant = {tag: _near(tag, absent) for tag in present - known}
    return found + [(child.tag, child, meant[child.tag]) for child in element.children if meant.get(child.tag)]


def _warn(
    element: Element, wrong: list[tuple[str, Element | None, str]], where: str, report: Report, document: Document | None
) -> None:
    for name, child, near in wrong:
        what = f"the attribute {printable(name)} of" if child is None else f"the element <{printable(name)[1:-1]}> in"
        line = child.line if child is not None else document.line(element, name) if document is not None else element.line
        meant = near if child is None else f"<{near}>"
        report.warn("spelling", where, f"{what} <{element.tag}> is unknown; did you mean {meant}?", "", f"write {meant}",
                    "it is skipped, as an extension", line)  # fmt: skip


def _leave(element: Element, read: set[str], where: str, aside: dict[str, list[str]]) -> list[Element]:
    """Add to ``aside`` the attributes and elements inside that are neither read nor have a warning; the other elements."""
    for key, value in element.attributes.items():
        if key not in read and value.strip() and not key.startswith("xmlns"):
            aside.setdefault(f"the attribute {printable(key)} of <{element.tag}>", []).append(where)
    for child in element.children:
        if child.tag not in read:
            own = child.attributes.get("name") or child.attributes.get("reference")
            whose = where if not own else printable(own) if where == "robot" else f"{printable(own)} in {where}"
            aside.setdefault(f"<{printable(child.tag)[1:-1]}>", []).append(whose)
    return [child for child in element.children if child.tag in read]


def _near(name: str, known: list[str]) -> str:
    """The known name that was probably meant, or nothing."""
    if ":" in name or not known:
        return ""
    near = next(iter(near_names(name, known)), "")
    return near if difflib.SequenceMatcher(None, near.casefold(), name[:80].casefold()).ratio() >= SIMILAR else ""
