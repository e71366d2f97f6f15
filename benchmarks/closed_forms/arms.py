"""The arms whose equations are derived: planar ones, and arms of the library with some or all parameters as symbols."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import dynamis as dy
from benchmarks.subjects import subject
from dynamis.model.description import Description
from dynamis.model.model import Model
from dynamis.scalar import symbol
from dynamis.spatial import Inertia, Pose

PARAMETERS = ("m_{}", "mx_{}", "my_{}", "mz_{}", "I_xx{}", "I_xy{}", "I_yy{}", "I_xz{}", "I_yz{}", "I_zz{}")


def planar(links: int, *, symbolic: bool = True) -> dy.Robot:
    """Links one after another in a vertical plane: length a_k, centre of mass at l_k, mass m_k, moment I_k about it."""

    def value(letter: str, k: int, number: float) -> Any:
        return symbol(f"{letter}_{k}") if symbolic else number + 0.01 * k  # no two links alike

    kind = object if symbolic else float
    gravity = np.array([0.0, -symbol("g") if symbolic else -9.81, 0.0], dtype=kind)
    description = Description(f"planar {links}R", gravity=gravity).add_link("link0")
    for k in range(1, links + 1):
        place = Pose(np.eye(3), np.array([value("a", k - 1, 0.4) if k > 1 else 0.0, 0.0, 0.0], dtype=kind))
        tensor = np.zeros((3, 3), dtype=kind)
        tensor[2, 2] = value("I", k, 0.05)
        centre = np.array([value("l", k, 0.2), 0.0, 0.0], dtype=kind)
        rod = Inertia.about_com(value("m", k, 2.0), centre, tensor)
        description.add_link(f"link{k}", f"link{k - 1}", "revolute", axis=(0, 0, 1), origin=place, inertia=rod)
    return dy.Robot(description)


def of_library(name: str, joints: int | None = None) -> dy.Robot:
    """An arm of the library without friction and rotors, up to one of its joints."""
    description = subject(name, dy.load(name).description, floating=False).description
    if joints is not None:
        description.joints = description.joints[:joints]
        kept = {joint.child for joint in description.joints} | {description.joints[0].parent}
        description.links = [link for link in description.links if link.name in kept]
    return dy.Robot(description)


def with_symbols(model: Model, *, lengths: bool) -> Model:
    """Every mass, first moment and moment of inertia a symbol; every length that is not zero too, where wanted."""
    bodies: list[Any] = [None]
    for k, body in model.moving:
        inertia = Inertia.from_parameters(np.array([symbol(letter.format(k)) for letter in PARAMETERS], dtype=object))
        place = body.placement
        if lengths:
            p = [symbol(f"p_{axis}{k}") if x != 0 else 0.0 for axis, x in zip("xyz", place.p, strict=True)]
            place = Pose(place.R, np.array(p, dtype=object))
        bodies.append(replace(body, inertia=inertia, placement=place))
    return replace(model, bodies=tuple(bodies), symbolic=True)
