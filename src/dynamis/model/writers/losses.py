"""What a robot has that a file format cannot represent."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dynamis.display import counted
from dynamis.errors import printable
from dynamis.model.closures import CLOSURES
from dynamis.model.description import DRIVE_NUMBERS, STANDARD_GRAVITY, Description, Drive, Joint
from dynamis.model.diagnostics import MAX_PLACES_LISTED, listed
from dynamis.model.joint_coordinates import with_known_limits
from dynamis.model.joints import JOINT_TYPES
from dynamis.model.writers.mjcf import reserved
from dynamis.model.writers.mjcf_inertia import consistent_tensors
from dynamis.model.writers.sdf import not_nested, plain_name
from dynamis.model.writers.urdf_edit import edit_urdf


def losses(description: Description, suffix: str, *, essential: bool = False) -> list[str]:
    """Sentences on what does not travel to a .urdf, .toml, .mjcf, .sdf or .usda file, with all names; none if all does.

    ``essential`` are only those that change the motion or the names of joints, with a few names each.
    """
    d = with_known_limits(description)
    found: list[str] = []
    kept = {".toml": set(CLOSURES), ".mjcf": {"point", "weld", "coupled"}, ".usda": {"point", "weld"}}.get(suffix, set())
    found += [
        f"closures of loops of the kind {kind} ({listed(names)})"
        for kind in CLOSURES
        if kind not in kept and (names := [x.first for x in d.closures if x.kind == kind])
    ]
    found += [] if essential or suffix == ".mjcf" else _without_contact(d)
    if d.aside and not essential and (suffix != ".urdf" or not d.document or edit_urdf(description) is None):
        found += [f"{what} ({listed(names, every=True)})" for what, names in d.aside.items()]
    found += [f"the choice of the tip ({printable(d.tip)})"] if d.tip and suffix != ".toml" and not essential else []
    if d.payloads and suffix != ".toml":
        carrying = listed([printable(name) for name in d.payloads], every=not essential)
        found += [f"payloads as such, which become part of the links that carry them ({carrying})"]
    if suffix in (".urdf", ".toml"):
        return found  # <dynamis> elements hold what URDF has no place for

    world = {link.name for link in d.links if link.mass_properties is None and not link.shapes}  # or frames
    every = [*(link.name for link in d.links), *(joint.name for joint in d.joints)]

    def tell(what: str, joints: Iterable[str], *, minor: bool = False) -> None:
        names = list(joints)
        shown, more = (names[:MAX_PLACES_LISTED], "…" * (len(names) > MAX_PLACES_LISTED)) if essential else (names, "")
        if names and not (minor and essential):
            found.append(f"{what}: {counted(len(names), 'element')}, {', '.join([*map(printable, shown), *more])}")

    def of(wanted: object) -> list[str]:
        return [joint.name for joint in d.joints if callable(wanted) and wanted(joint)]

    if suffix != ".usda":
        tell("direction-dependent Coulomb friction", of(lambda j: j.drive.coulomb_bias != 0.0))
    shapes = {(link.name, shape.kind) for link in d.links for shape in link.shapes}
    for kind, nearest in (("rounded_box", "box"), ("tapered_capsule", "capsule")):
        tell(f"shapes of kind {kind}, written as {nearest}", sorted(name for name, k in shapes if k == kind), minor=True)
    found += (
        ["the appearance: pose and meshes of views"] if (d.appearance.pose or d.appearance.meshes) and not essential else []
    )
    if suffix == ".usda":
        tell("meshes", sorted(name for name, kind in shapes if kind == "mesh"), minor=True)
        tell("actuators", of(lambda j: j.actuator is not None))
        tell("motors on links, written as reflected inertias", of(lambda j: j.drive.motor_link is not None))
        tell("limits of joints with several axes",
             of(lambda j: JOINT_TYPES[j.type].degrees > 1 and j.type != "universal" and _limited(j)))  # fmt: skip
        tell("universal joints, written as two hinges", of(lambda j: j.type == "universal"), minor=True)
    elif suffix == ".mjcf":
        tell("meshes", sorted(name for name, kind in shapes if kind == "mesh"), minor=True)
        tell(
            "inertias that no body has, shared with the parent link (the motion is the same)",
            consistent_tensors(d)[1],
            minor=True,
        )
        tell("origins of free joints, whose positions are in the world there",
             of(lambda j: j.type == "free" and not j.origin.is_identity()))  # fmt: skip
        tell("rotor inertia and dry friction of free joints, which act along the axes of the world there",
             of(lambda j: j.type == "free" and (_rotor(j) or j.drive.coulomb != 0.0)))  # fmt: skip
        tell("names that MJCF reserves, written with link_", reserved(d))
        tell("actuators", of(lambda j: j.actuator is not None))
        for what, joints, minor in (
            ("universal and cylindrical joints, written as two", of(lambda j: j.type in ("universal", "cylindrical")), True),
            ("free joints, whose coordinates are the last of q there", _moved_to_the_top(d), False),
            ("velocity limits", of(lambda j: np.isfinite(j.limits.velocity)), True),
            ("limits on one side only", of(lambda j: np.isfinite(j.limits.lower) != np.isfinite(j.limits.upper)), True),
        ):
            tell(what, joints, minor=minor)
        tell("followers, written as soft constraints", of(lambda j: j.follows is not None))
        tell("rotor and gear, written as one armature", of(lambda j: _rotor(j) and j.drive.gear_ratio != 1.0), minor=True)
    else:
        tell("rotor inertias", of(_rotor))
        tell("actuators", of(lambda j: j.actuator is not None))
        tell("limits of joints with several axes", of(lambda j: j.type in ("planar", "cylindrical") and _limited(j)))
        tell("limits and friction of spherical and free joints",
             of(lambda j: j.type in ("spherical", "free") and (_limited(j) or j.drive.viscous or j.drive.coulomb)))  # fmt: skip
        tell("names with ::, written with /", [x for x in every if "::" in x] if not_nested(d) else [])
        tell("names that SDF reserves, written with link_",
             [x for x in every if "::" not in x and plain_name(x) != x and x not in world])  # fmt: skip
        tell("joints with the name of a link, renamed", sorted({x.name for x in d.links} & {x.name for x in d.joints}))
    return found


def _moved_to_the_top(d: Description) -> list[str]:
    """Free joints that come before another joint at the root, itself written as a body: free bodies follow it."""
    children = {joint.child for joint in d.joints}
    root = next(link for link in d.links if link.name not in children)
    below = [joint for joint in d.joints if joint.parent == root.name]
    if root.name == "world" and root.mass_properties is None:
        return []
    last = max((k for k, joint in enumerate(below) if joint.type != "free"), default=0)
    return [joint.name for joint in below[:last] if joint.type == "free"]


def extensions(description: Description) -> list[str]:
    """What a URDF file holds in ``<dynamis>`` elements, which other tools ignore; none if nothing."""
    found, plain = [], Drive()
    if tuple(float(x) for x in description.gravity) != STANDARD_GRAVITY:
        vector = ", ".join(f"{x:.6g}" for x in description.gravity)
        found.append(f"gravity ({vector}) m/s² in the base frame")
    moving = [joint for joint in description.joints if joint.type != "fixed"]
    of = {
        name.replace("_", " "): [joint for joint in moving if getattr(joint.drive, name) != getattr(plain, name)]
        for name in DRIVE_NUMBERS
        if name not in ("viscous", "coulomb")
    }
    of["actuators"] = [joint for joint in moving if joint.actuator is not None]
    return found + [
        f"{what} of {', '.join(printable(joint.name) for joint in joints)}" for what, joints in of.items() if joints
    ]


def _without_contact(d: Description) -> list[str]:
    pairs = [f"{printable(a)} and {printable(b)}" for a, b in d.no_contact]
    return [f"pairs of links without contacts ({listed(pairs, every=True)})"] if pairs else []


def _rotor(joint: Joint) -> bool:
    return bool(joint.drive.rotor_inertia != 0.0)


def _limited(joint: Joint) -> bool:
    return bool(np.isfinite(list(vars(joint.limits).values())).any())
