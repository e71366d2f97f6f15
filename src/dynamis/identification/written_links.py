"""Writing inertias of moving bodies to the links of a description."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import regressor
from dynamis.errors import ConversionError, printable
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.pseudo_inertia import is_consistent
from dynamis.model.description import Description, Link, MassProperties
from dynamis.model.model import Model
from dynamis.spatial import Inertia
from dynamis.spatial.pose import Pose

Array = npt.NDArray[Any]

ROUNDING = 1e-9  # relative tolerance for the consistency of the difference of two bodies


def set_inertias(description: Description, model: Model, linear: LinearModel, values: Array, notes: list[str]) -> None:
    """Set the inertias of the links of a description from the bodies of a model."""
    links = {link.name: link for link in description.links}
    for (i, body), (name, place) in zip(regressor.links(model), linear.bodies, strict=True):
        target = values[place]
        if name not in links:
            if np.abs(target).max() > 0.0:
                raise ConversionError(
                    f"{printable(name)} is a body between the axes of one joint, for which a description has no link; "
                    "model the joint as two with a link between them"
                )
            continue
        here = [frame for frame in model.frames.values() if frame.body == i]
        fixed = [(links[f.name], f.pose) for f in here if f.name != name and links[f.name].mass_properties is not None]
        _set(links[name], model.frames[name].pose, fixed, target, notes)
        if not is_consistent(target, 1e-10):
            notes.append(f"link {printable(body.name)} is physically inconsistent in the file: simulations may fail")


def _set(link: Link, pose: Pose, fixed: list[tuple[Link, Pose]], target: Array, notes: list[str]) -> None:
    """Set a link's inertia to that of its body minus the links fixed to it."""
    rest = target - sum((_seen(other, there).parameters for other, there in fixed), start=np.zeros(10))
    if fixed and is_consistent(target, 1e-10) and not _is_body(rest, target):
        names = ", ".join(printable(other.name) for other, _ in fixed)
        notes.append(f"link {printable(link.name)} now includes {names}, fixed to it, to be physically consistent")
        for other, _ in fixed:
            other.mass_properties = None
        rest = target
    if not np.any(np.abs(rest) > 1e-15 * np.abs(target).max(initial=0.0)):
        link.mass_properties = None
        return
    inertia = Inertia.from_parameters(rest)
    link.mass_properties = MassProperties.of(inertia if pose.is_identity() else inertia.seen_from(pose.inverse()))


def _seen(link: Link, pose: Pose) -> Inertia:
    assert link.mass_properties is not None
    return link.mass_properties.inertia.seen_from(pose)


def _is_body(rest: Array, whole: Array) -> bool:
    """Return whether the difference is physically consistent, or rounding only."""
    return is_consistent(rest, ROUNDING) or bool(np.abs(rest).max() <= 1e-12 * np.abs(whole).max())
