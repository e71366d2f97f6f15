"""Meshes of library robots: those of the vendor's description, where a package that holds it is installed."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

import numpy as np

from dynamis.errors import DynamisError
from dynamis.model.build import build, with_floating_base
from dynamis.model.description import Description, Shape
from dynamis.model.diagnostics import Report
from dynamis.model.model import Model
from dynamis.model.packages import resolve_mesh
from dynamis.model.readers.urdf import read_urdf
from dynamis.spatial.pose import Pose
from dynamis.tolerances import TYPED_PRECISION


def installed_description(name: str) -> tuple[Description, Path] | None:
    """The description that a ``package://`` name means, and its folder; None where no installed package has it."""
    try:
        path = resolve_mesh(name, Path(), _folders())
    except DynamisError:
        return None
    return _read(path)


def corresponding_meshes(description: Description, model: Model) -> tuple[dict[str, list[Shape]], Path] | None:
    """The visual meshes of the installed description by link, and its folder.

    None unless every link of a robot that has a mesh there has the same frame in both.
    """
    found = installed_description(description.appearance.meshes) if description.appearance.meshes else None
    if found is None:
        return None
    other, folder = found
    floating = any(joint.type == "free" for joint in description.joints)
    try:
        theirs = build(with_floating_base(other) if floating else other)
    except DynamisError:
        return None
    shapes = {link.name: [s for s in link.shapes if s.role == "visual" and s.kind == "mesh"] for link in other.links}
    shapes = {name: them for name, them in shapes.items() if them and name in model.frames and name in theirs.frames}
    ours_at, theirs_at = _frames_at_zero(model), _frames_at_zero(theirs)
    agree = all(
        np.abs(ours_at[name].R - theirs_at[name].R).max() < TYPED_PRECISION
        and np.abs(ours_at[name].p - theirs_at[name].p).max() < TYPED_PRECISION
        for name in shapes
    )
    return (shapes, folder) if agree and shapes else None


def _frames_at_zero(model: Model) -> dict[str, Pose]:
    q, poses = np.zeros(model.nq), [Pose.identity()]
    for _, body in model.moving:
        if body.motion.nq > body.motion.nv:
            q[body.q_index.stop - 1] = 1.0  # the real part of a quaternion
        poses.append(poses[body.parent] @ body.pose(q))
    return {name: poses[frame.body] @ frame.pose for name, frame in model.frames.items()}


def _folders() -> list[Path]:
    """Where pip and ROS install descriptions."""
    below = [Path(entry) / "cmeel.prefix" / "share" for entry in sys.path if entry]
    declared = [Path(p) for p in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if p]
    prefixes = [Path(p) / "share" for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    return [folder for folder in (*below, Path(sys.prefix) / "share", *declared, *prefixes) if folder.is_dir()]


@functools.lru_cache(maxsize=8)
def _read(path: Path) -> tuple[Description, Path] | None:
    try:
        return read_urdf(path.read_bytes(), path.name, Report(path.name)), path.parent
    except (DynamisError, OSError):
        return None
