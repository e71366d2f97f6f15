"""Inertias as MuJoCo takes them: principal moments with A + B ≥ C, and no moving body without mass or moments.

Published tensors may violate the first. A tensor δ (1 − a aᵀ), of a massless rod along a joint's axis a, has the same effect on
the motion on either side of the joint; across prismatic and fixed joints any tensor has. So a link takes what it lacks from its
parent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import ConversionError, printable
from dynamis.model.description import Description
from dynamis.tolerances import RECURSION_ROUNDING, SMALLEST_INERTIA

Array = npt.NDArray[Any]


def consistent_tensors(d: Description) -> tuple[dict[str, Array], list[str]]:
    """(tensors about the centres of mass by link, the links whose tensors were changed); the motion is that of the robot."""
    tensors = {x.name: np.array(x.mass_properties.tensor, float) for x in d.links if x.mass_properties is not None}
    carried = {joint.child: joint for joint in d.joints}
    moved: list[str] = []
    names = [name for name in tensors if not _is_consistent(tensors[name])]
    while names:
        name = names.pop()
        tensor, joint = tensors[name], carried.get(name)
        if _is_consistent(tensor):
            continue
        moved.append(name)
        if joint is None:  # of the base, at rest
            tensors[name] = np.zeros((3, 3))
            continue
        if joint.type in ("fixed", "prismatic"):
            R = (joint.origin @ joint.tail).R
            given, taken = -tensor, R @ tensor @ R.T
        else:
            along = joint.tail.R.T @ joint.axis
            delta = _rod(tensor, along) if joint.type in ("revolute", "continuous") else None
            if delta is None:
                raise ConversionError(
                    f"the inertia of link {printable(name)} is not that of a body (a principal moment exceeds the sum of the "
                    "others), and MuJoCo takes no such model; dynamis check FILE --repair writes one with possible inertias"
                )
            given, taken = delta * _around(along), -delta * _around(joint.origin.R @ joint.axis)
        tensors[name] = tensor + given
        tensors[joint.parent] = tensors.get(joint.parent, np.zeros((3, 3))) + taken
        names.append(joint.parent)
    return tensors, list(dict.fromkeys(moved))


def principal(tensor: Array, moving: bool) -> tuple[Array, Array]:
    """(moments, axes) of a consistent tensor, at least the smallest ones of a moving body, without rounding of A + B ≥ C."""
    moments, axes = np.linalg.eigh(tensor)
    axes[:, 2] *= np.linalg.det(axes)  # right-handed
    moments = np.maximum(moments, SMALLEST_INERTIA if moving else 0.0)
    moments[2] = min(moments[2], moments[0] + moments[1])
    return moments, axes


def _is_consistent(tensor: Array) -> bool:
    """Whether A + B ≥ C; moments below the smallest ones of a body are rounding errors, which `principal` replaces."""
    moments = np.linalg.eigvalsh(tensor)
    return abs(moments).max() < SMALLEST_INERTIA or bool(
        moments[0] + moments[1] - moments[2] >= -RECURSION_ROUNDING * abs(moments).max()
    )


def _around(axis: Any) -> Array:
    """1 − a aᵀ."""
    a = np.asarray(axis, float) / np.linalg.norm(np.asarray(axis, float))
    return np.eye(3) - np.outer(a, a)


def _rod(tensor: Array, axis: Array) -> float | None:
    """The smallest δ with which the tensor + δ (1 − a aᵀ) is consistent, by bisection; None where there is none."""
    low, high = 0.0, 4.0 * float(np.abs(np.linalg.eigvalsh(tensor)).max())
    if not _is_consistent(tensor + high * _around(axis)):
        return None
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _is_consistent(tensor + middle * _around(axis)) else (middle, high)
    return high
