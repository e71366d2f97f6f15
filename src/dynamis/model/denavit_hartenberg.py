"""From any serial arm to its Denavit–Hartenberg table."""

from __future__ import annotations

import copy
import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.errors import ConversionError, InputError, ModelError, printable
from dynamis.model.build import build, snap, snap_pose, unit
from dynamis.model.description import Description, Fresh, Joint, Link, MassProperties
from dynamis.model.editing import rotors_reflected
from dynamis.model.equivalence import are_equivalent
from dynamis.model.forms import X_AXIS, Z_AXIS, joint_from_dh, joint_from_modified_dh
from dynamis.model.model import Model
from dynamis.spatial.inertia import seen_from
from dynamis.spatial.pose import Pose

Array = npt.NDArray[Any]


@dataclass(frozen=True, repr=False)
class DHRow:
    """One row of the table; ``theta`` (``d`` of a prismatic joint) is the offset of the joint's variable."""

    joint: str
    link: str
    type: str
    a: float
    alpha: float
    d: float
    theta: float

    __repr__ = as_call
    _repr_html_ = as_table


def to_dh(description: Description, convention: str = "standard") -> tuple[Description, list[DHRow]]:
    """The same robot with its frames placed by Denavit–Hartenberg, and its table.

    ``convention`` is "standard" or "modified" (Craig). A moving link keeps its name where its frame is the DH frame; where
    it is not, ``NAME_dh`` carries its inertia, re-expressed in the DH frame. What a table cannot hold stays as fixed joints:
    the place of the first axis (``dh_base``) and every other link and frame of the file, under its own name and in its own
    place, so that the tip stays the tip. Joint coordinates keep their meaning. Raises `ConversionError` for branches and for
    joints that neither turn nor slide.
    """
    if convention not in ("standard", "modified"):
        raise InputError(f"convention {convention!r} is not known; choose 'standard' or 'modified'")
    # links keep their names and places, and so do motors on them
    model = build(rotors_reflected(description))
    joints = _serial_joints(description, model)
    X_W = [Pose.identity()]  # bodies at q = 0
    for _, body in model.moving:
        X_W.append(X_W[body.parent] @ body.pose(np.zeros(model.nq)))
    axes = [(X_W[i].p, X_W[i].R @ unit(joint.axis)) for i, joint in enumerate(joints, 1)]
    frames = _standard_frames(axes)
    if convention == "modified":
        frames = _modified_frames(frames)
    try:
        result, rows = _assemble(description, model, joints, X_W, frames, convention)
        if are_equivalent(model, build(rotors_reflected(result)), 1e-9):
            return result, rows
    except ConversionError:
        raise
    except (InputError, ModelError):
        pass  # axes that are nearly, but not quite, parallel have a common normal far away, where digits are lost
    raise ConversionError(
        f"robot {printable(model.name)} has axes that are nearly but not quite parallel: their Denavit–Hartenberg "
        "parameters cannot be held in floating point; make them parallel, or use the forms link or poe"
    )


def _serial_joints(description: Description, model: Model) -> list[Joint]:
    name = printable(description.name)
    description.require_numbers("a Denavit–Hartenberg table found from joint axes")
    if model.coupled:
        raise ConversionError(f"robot {name} has joints that follow others (mimic): a Denavit–Hartenberg table has no coupling")
    joints = [description.joint(joint) for joint in model.joint_names]
    if not joints:
        raise ConversionError(f"robot {name} has no moving joint")
    for joint in joints:
        if joint.type not in ("revolute", "continuous", "prismatic"):
            raise ConversionError(
                f"joint {printable(joint.name)} is {joint.type}: a Denavit–Hartenberg table holds only revolute and prismatic "
                "joints"
            )
    for i, body in model.moving:
        if body.parent != i - 1:
            parent = model.bodies[body.parent]
            at = "its base" if parent is None else f"link {printable(parent.name)}"
            raise ConversionError(
                f"robot {name} branches at {at}, to {printable(body.name)}: a Denavit–Hartenberg table holds one chain"
            )
    return joints


def _standard_frames(axes: list[tuple[Array, Array]]) -> list[Pose]:
    """F_0 … F_n at q = 0: z_i along axis i + 1, x_i along the common normal of axes i and i + 1, origin on axis i + 1.

    No axis follows the last joint; the last frame takes the last axis once more.
    """
    p, z = axes[0]
    frames = [_frame(p - np.dot(p, z) * z, _any_normal(z), z)]  # the point of axis 1 nearest to the base's origin
    for p, z in [*axes[1:], axes[-1]]:
        last = frames[-1]
        z_last = last.R[:, 2]
        normal = np.cross(z_last, z)
        if np.linalg.norm(normal) < 1e-9:  # parallel axes have many common normals: take the one that makes d = 0
            arm = p - last.p - np.dot(p - last.p, z_last) * z_last
            length = np.linalg.norm(arm)
            frames.append(_frame(last.p + arm, arm / length if length > 1e-9 else last.R[:, 0], z))
        else:
            along = np.dot(np.cross(p - last.p, z_last), normal) / np.dot(normal, normal)
            foot = p + along * z  # the point of this axis nearest to the last one
            x = normal / np.linalg.norm(normal)
            frames.append(_frame(foot, -x if np.dot(foot - last.p, x) < -1e-9 else x, z))
    return frames


def _modified_frames(standard: list[Pose]) -> list[Pose]:
    """G_0 … G_n: z_i along axis i itself, x_i as before, origin where the common normal leaves axis i."""
    frames = [standard[0]]
    for last, frame in itertools.pairwise(standard):
        a = _standard_row(last.inverse() @ frame)[0]
        frames.append(_frame(frame.p - a * frame.R[:, 0], frame.R[:, 0], last.R[:, 2]))
    return frames


def _any_normal(z: Array) -> Array:
    x = X_AXIS - np.dot(X_AXIS, z) * z
    return np.asarray(x / np.linalg.norm(x)) if np.linalg.norm(x) > 1e-6 else np.array([0.0, 1.0, 0.0])


def _frame(p: Array, x: Array, z: Array) -> Pose:
    x = x - np.dot(x, z) * z
    x = x / np.linalg.norm(x)
    return Pose(snap(np.column_stack([x, np.cross(z, x), z])), p)


def _standard_row(step: Pose) -> tuple[float, float, float, float]:
    """(a, α, d, θ) with step = Rz(θ) Tz(d) Tx(a) Rx(α)."""
    R, p = step
    theta, alpha = np.arctan2(R[1, 0], R[0, 0]), np.arctan2(R[2, 1], R[2, 2])
    return _clean(np.cos(theta) * p[0] + np.sin(theta) * p[1], alpha, p[2], theta)


def _modified_row(step: Pose) -> tuple[float, float, float, float]:
    """(a, α, d, θ) with step = Rx(α) Tx(a) Rz(θ) Tz(d)."""
    R, p = step
    theta, alpha = np.arctan2(-R[0, 1], R[0, 0]), np.arctan2(-R[1, 2], R[2, 2])
    return _clean(p[0], alpha, np.cos(alpha) * p[2] - np.sin(alpha) * p[1], theta)


def _clean(*values: Any) -> Any:
    return tuple(0.0 if abs(x) < 1e-12 else float(x) for x in values)


def _assemble(
    description: Description, model: Model, joints: list[Joint], X_W: list[Pose], frames: list[Pose], convention: str
) -> tuple[Description, list[DHRow]]:
    row_of, place = (_standard_row, joint_from_dh) if convention == "standard" else (_modified_row, joint_from_modified_dh)
    result = Description(
        description.name, gravity=description.gravity.copy(), about=description.about, source=description.source,
        tip=description.tip,
    )  # fmt: skip
    carried = {joint.child for joint in description.joints}
    root = next(link for link in description.links if link.name not in carried)
    result.appearance = copy.deepcopy(description.appearance)
    shapes = {link.name: link.shapes for link in description.links}
    result.links.append(Link(root.name, MassProperties.of(model.base), copy.deepcopy(root.shapes)))
    fresh = Fresh([*model.frames, *model.joint_names])
    last = fresh.name("dh_base")
    result.add_link(last, root.name, joint_name=fresh.name(f"{last}_mount"), origin=frames[0])
    rows: list[DHRow] = []
    for i, joint in enumerate(joints, 1):
        own = snap_pose(frames[i].inverse() @ X_W[i] @ model.frames[joint.child].pose).is_identity()
        name = joint.child if own else fresh.name(f"{joint.child}_dh")
        row = DHRow(joint.name, name, joint.type, *row_of(frames[i - 1].inverse() @ frames[i]))
        origin, tail = place(joint.type, row.a, row.alpha, row.d, row.theta)
        body = model.bodies[i]
        assert body is not None
        inertia = seen_from(body.inertia, snap_pose(frames[i].inverse() @ X_W[i]))
        result.links.append(Link(row.link, MassProperties.of(inertia), copy.deepcopy(shapes[row.link]) if own else []))
        placed = copy.deepcopy(joint)
        placed.parent, placed.child, placed.axis = last, row.link, Z_AXIS.copy()
        placed.origin, placed.tail = origin, tail
        result.joints.append(placed)
        rows.append(row)
        last = row.link
    shapes = {link.name: link.shapes for link in description.links}
    result.links[0].shapes = copy.deepcopy(root.shapes)
    mounts = {joint.child: joint for joint in description.joints if joint.type == "fixed"}
    placed_links = {link.name for link in result.links}  # the root, and links whose frames are those of the table
    for frame in model.frames.values():
        if frame.name in placed_links:
            continue
        mount = mounts.get(frame.name)
        if mount is not None:  # on the frame that carries it, so that frames stand in each other's order as before
            holder, pose = mount.parent, snap_pose(mount.origin @ mount.tail)
        else:
            holder, pose = rows[frame.body - 1].link, snap_pose(frames[frame.body].inverse() @ X_W[frame.body] @ frame.pose)
        result.add_link(frame.name, holder, joint_name=fresh.name(f"{frame.name}_mount"), origin=pose)
        result.links[-1].shapes = copy.deepcopy(shapes[frame.name])
    return result, rows
