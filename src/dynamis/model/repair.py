"""Repairing what has one nearest correction: inertias no body can have, axes not of unit length, exchanged limits, and
elements given several times. An inertia without mass is set to 0 where other links or rotors have the mass that joints move;
elsewhere the mass is missing, and only the user knows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dynamis.errors import printable
from dynamis.model.build import SINGULAR_MASS, examine, unit
from dynamis.model.description import Description, Joint, Link, MassProperties
from dynamis.model.joints import USES_AXIS
from dynamis.model.plausibility import NOT_NEGATIVE, inertia_fault
from dynamis.model.writers.urdf_edit import without_repeats
from dynamis.scalar import Node
from dynamis.spatial.inertia import nearest_consistent_tensor
from dynamis.tolerances import FILE_PRECISION, TYPED_PRECISION

WITHOUT_MASS = "inertia-without-mass"  # the code of this finding
# the codes of the findings that are gone after a repair
REPAIRED = frozenset(
    {
        "inertia-asymmetric",
        "inertia-negative",
        "inertia-triangle",
        "axis-length",
        "limits-swapped",
        "limits-negative",
        "negative-drive",
        "repeated-element",
    }
)


def repair(description: Description) -> tuple[Description, list[str]]:
    """(a repaired copy, what was changed): nearest physically consistent inertias, unit axes, limits in order, no
    negative limits of velocity and effort, friction, rotor inertias and springs.

    Of an element that may occur once in a URDF and is repeated, such as the <origin> of a joint, the first is kept.

    Mass and centre of mass stay; see `nearest_consistent_tensor` for what "nearest" means. `unrepaired` lists the rest.
    """
    result = description.copy()
    changes: list[str] = []
    if result.document:
        result.document, changes = without_repeats(result.document, result.file)
    _clear_inertia_without_mass(result, changes)
    for link, mass in _numeric(result):
        tensor = _repaired_tensor(mass)
        if tensor is not None:
            before, after = (_three(np.linalg.eigvalsh(0.5 * (I + I.T))) for I in (mass.tensor, tensor))
            changes.append(f"link {printable(link.name)}: principal moments {before} → {after} kg m²")
            mass.tensor = tensor
    for joint in result.joints:
        _repair_joint(joint, changes)
    return result, changes


def unrepaired(repaired: Description) -> list[str]:
    """What a repaired description still has of what a repair may change."""
    return [f"{p.where}: {p.found}; {p.repair}" for p in examine(repaired).problems if p.code in REPAIRED | {WITHOUT_MASS}]


def _numeric(description: Description) -> Iterator[tuple[Link, MassProperties]]:
    for link in description.links:
        mass = link.mass_properties
        if mass is not None and not isinstance(mass.mass, Node) and object not in (mass.tensor.dtype, mass.com.dtype):
            yield link, mass


def _clear_inertia_without_mass(result: Description, changes: list[str]) -> None:
    doubtful = [(link, mass) for link, mass in _numeric(result) if mass.mass == 0.0 and mass.tensor.any()]
    before = _massless(result) if doubtful else set()
    for link, mass in doubtful:
        tensor, mass.tensor = mass.tensor, np.zeros((3, 3))
        if _massless(result) - before:
            mass.tensor = tensor
        else:
            changes.append(f"link {printable(link.name)}: inertia without mass → 0 kg m²")


def _massless(description: Description) -> set[str]:
    """The joints that move no mass."""
    return {p.where for p in examine(description).problems if p.code in ("massless-leaf", SINGULAR_MASS)}


def _repaired_tensor(mass: MassProperties) -> Any:
    """The nearest tensor a body can have, or None for one that is possible already."""
    I = mass.tensor
    moments = np.linalg.eigvalsh(0.5 * (I + I.T))
    size = np.abs(I).max()
    if not inertia_fault(mass.mass, moments, np.abs(I - I.T).max(), size):
        return None
    # about the centre of mass itself: by way of the link's origin a small tensor far away would drown in rounding
    return nearest_consistent_tensor(I, FILE_PRECISION)


def _repair_joint(joint: Joint, changes: list[str]) -> None:
    where = f"joint {printable(joint.name)}"
    for name, what in (("axis", "axis"), ("axis2", "second axis")):
        axis = getattr(joint, name) if joint.type in USES_AXIS else None
        if axis is None or axis.dtype == object or (name == "axis2" and joint.type != "universal"):
            continue
        length = float(np.linalg.norm(axis))
        if abs(length - 1.0) > TYPED_PRECISION:
            changes.append(f"{where}: {what} of length {length:.6g} → 1")
            setattr(joint, name, unit(axis))
    limits = joint.limits
    if limits.lower > limits.upper:
        limits.lower, limits.upper = limits.upper, limits.lower
        changes.append(f"{where}: limits exchanged to {limits.lower:g} … {limits.upper:g}")
    signed: list[tuple[Any, str, str]] = [(limits, name, f"{name} limit") for name in ("velocity", "effort")]
    signed += [(joint.drive, name, joint.keys.get(name, name)) for name in sorted(NOT_NEGATIVE)]
    for holder, name, what in signed:
        value = getattr(holder, name)
        if isinstance(value, int | float) and value < 0.0:
            changes.append(f"{where}: {what} {value:g} → {-value:g}")
            setattr(holder, name, -value)


def _three(values: np.ndarray) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in values) + ")"
