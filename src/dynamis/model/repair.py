"""Mending what can be mended: inertias no body can have, axes, swapped limits."""

from __future__ import annotations

import numpy as np

from dynamis.errors import printable
from dynamis.model.build import unit
from dynamis.model.description import Description, MassProperties
from dynamis.model.joints import USES_AXIS
from dynamis.scalar import Node


def repair(description: Description) -> tuple[Description, list[str]]:
    """(a mended copy, what was changed): nearest physically consistent inertias, unit axes, limits in order.

    Mass and centre of mass stay; see `Inertia.nearest_consistent` for what "nearest" means.
    """
    result = description.copy()
    changes: list[str] = []
    for link in result.links:
        mass = link.mass_properties
        if mass is None or isinstance(mass.mass, Node) or object in (mass.tensor.dtype, mass.com.dtype):
            continue
        inertia = mass.inertia
        moments = np.linalg.eigvalsh(0.5 * (mass.tensor + mass.tensor.T))
        symmetric = bool(np.allclose(mass.tensor, mass.tensor.T, rtol=1e-6, atol=0.0))
        if symmetric and moments[0] + moments[1] >= moments[2] * (1.0 - 1e-6) and moments[0] >= -1e-6 * moments[2]:
            continue
        mended = inertia.nearest_consistent()
        new = mended.tensor_about_com
        changes.append(
            f"link {printable(link.name)}: principal moments {_three(moments)} → {_three(np.linalg.eigvalsh(new))} kg m²"
        )
        link.mass_properties = MassProperties(mass.mass, mass.com, 0.5 * (new + new.T), mass.line)
    for joint in result.joints:
        if joint.type in USES_AXIS and joint.axis.dtype != object:
            direction = unit(joint.axis)
            if abs(float(np.linalg.norm(joint.axis)) - 1.0) > 1e-4:
                changes.append(f"joint {printable(joint.name)}: axis of length {np.linalg.norm(joint.axis):.6g} → 1")
                joint.axis = direction
        limits = joint.limits
        if limits.lower > limits.upper:
            limits.lower, limits.upper = limits.upper, limits.lower
            changes.append(f"joint {printable(joint.name)}: limits exchanged to {limits.lower:g} … {limits.upper:g}")
    return result, changes


def _three(values: np.ndarray) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in values) + ")"
