"""What a robot is, as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynamis.model.joint_coordinates import effective_limits
from dynamis.model.joints import USES_AXIS
from dynamis.robot import Robot
from dynamis.scalar import Node


def plain(value: Any) -> Any:
    """Numbers stay numbers, symbols become text, infinities None."""
    if isinstance(value, Node):
        from dynamis.symbolic.simplified import simplified

        return simplified(value)
    if isinstance(value, np.ndarray):
        return [plain(x) for x in value]
    number = float(value)
    return number if np.isfinite(number) else None


def summarise(robot: Robot) -> dict[str, Any]:
    """Everything `dynamis info` shows."""
    description, model = robot.description, robot.model
    place = {name: k for k, name in enumerate(robot.link_names)}  # depth-first, as the coordinates
    joints = sorted((j for j in description.joints if j.type != "fixed"), key=lambda j: place[j.child])
    summary: dict[str, Any] = {
        "name": robot.name,
        "about": description.about,
        "source": description.source,
        "degrees_of_freedom": robot.n,
        "length_of_q": robot.nq,
        "mass": plain(robot.mass),
        "gravity": plain(model.gravity),
        "symbolic": model.symbolic,
        "tip": model.tip,
        "joints": [_joint(joint) for joint in joints],
        "links": [_link(body.name, model.inertia_in_link_frame(i)) for i, body in model.links],
        "payloads": [_link(name, carried.inertia) for name, carried in description.payloads.items()],
        "frames": list(robot.link_names),
        "closures": [{"kind": x.kind, "first": x.first, "second": x.second} for x in description.closures],
    }
    if robot.n:
        q = robot.home()
        M = robot.mass_matrix(q)
        summary["at_home"] = {"q": plain(q), "gravity": plain(robot.gravity(q)), "mass_matrix_diagonal": plain(np.diag(M))}
        if not model.symbolic:
            values = np.linalg.eigvalsh(M)
            summary["at_home"]["mass_matrix_eigenvalues"] = [float(values[0]), float(values[-1])]
    return summary


def _joint(joint: Any) -> dict[str, Any]:
    drive = joint.drive
    reflected = drive.rotor_inertia * drive.gear_ratio * drive.gear_ratio
    axis = joint.axis
    if joint.type in USES_AXIS and axis.dtype != object:
        axis = axis / np.linalg.norm(axis)  # only its direction is used
    return {
        "name": joint.name,
        "type": joint.type,
        "parent": joint.parent,
        "child": joint.child,
        "axis": plain(axis),
        "limits": {key: plain(value) for key, value in vars(effective_limits(joint)).items()},
        "viscous": plain(drive.viscous),
        "coulomb": plain(drive.coulomb),
        "coulomb_bias": plain(drive.coulomb_bias),
        "rotor_inertia": plain(drive.rotor_inertia),
        "gear_ratio": plain(drive.gear_ratio),
        "reflected_rotor_inertia": plain(reflected),
        "stiffness": plain(drive.stiffness),
        "rest": plain(drive.rest),
        "follows": None if joint.mimic is None else joint.mimic.joint,
        "motor_link": drive.motor_link,
        "motor_axis": None if drive.motor_axis is None else [plain(x) for x in drive.motor_axis],
        "actuator": None if joint.actuator is None else _actuator(joint.actuator),
    }


def _actuator(actuator: Any) -> dict[str, Any]:
    return {"kind": actuator.kind, **{name: plain(x) for name, x in actuator.stated.items()}}


def _link(name: str, inertia: Any) -> dict[str, Any]:
    tensor = inertia.tensor_about_com
    moments = [] if tensor.dtype == object else [float(x) for x in np.linalg.eigvalsh(tensor)]
    return {"name": name, "mass": plain(inertia.mass), "com": plain(inertia.com), "principal_moments": moments}
