"""What `Robot.replace` changes in a description."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, cast

import numpy as np

from dynamis.errors import InputError, printable, unknown_name
from dynamis.model.body_values import BodyValues
from dynamis.model.description import Description, Drive, Joint, Limits, MassProperties
from dynamis.model.diagnostics import Report
from dynamis.model.joints import JOINT_TYPES
from dynamis.model.model import Model
from dynamis.model.parameter_names import declared_name
from dynamis.model.payloads import load, payloads_at
from dynamis.model.plausibility import check_drive, check_range
from dynamis.model.symbols import with_values
from dynamis.scalar import Node, as_scalar, symbol
from dynamis.spatial.inertia import Inertia, foreign_inertia
from dynamis.tolerances import FILE_PRECISION


def replace_symbols(d: Description, parameters: Any) -> Description:
    """A description with numbers or expressions in place of some of its symbols."""
    names, table = d.symbol_names(), dict[Node, Any]()
    for written, value in _mapping(parameters, "parameters", f"{{{names[0] if names else 'm'!r}: 1.0}}").items():
        name = declared_name(written, names)
        if name not in names:
            raise unknown_name("symbol", name, names)
        if symbol(name) in table:
            raise InputError(f"parameters= gives {name!r} twice, under two spellings: {', '.join(parameters)}")
        table[symbol(name)] = found = as_scalar(value, f"the value of {name!r}")
        if not isinstance(found, Node) and not np.isfinite(found):
            raise InputError(f"the value of {name!r} is {found}; it must be a finite number")
    numbers = {one: value for one, value in table.items() if not isinstance(value, Node)}
    BodyValues(d, list(numbers)).check([np.array(value) for value in numbers.values()])
    return cast("Description", with_values(d, table))


def replace_friction(d: Description, friction: Any, report: Report) -> None:
    """No friction (0 or False), or other `Drive` fields of some joints."""
    if isinstance(friction, int | float) and not friction:
        for joint in d.joints:
            joint.drive.viscous = joint.drive.coulomb = joint.drive.coulomb_bias = 0.0
        return
    example = f"{{{_a_joint(d)!r}: {{'viscous': 0.5}}}}"
    if not isinstance(friction, Mapping):
        raise InputError(f"friction= must be 0 for none, or a mapping such as {example}")
    for name, changes in friction.items():
        joint = d.joint(name)
        for key, value in _mapping(changes, "friction", example).items():
            if key not in vars(Drive()):
                raise InputError(f"{key!r} is not a drive parameter; choose from {', '.join(vars(Drive()))}")
            setattr(joint.drive, key, value)
        check_drive(joint, report, changes)


def replace_limits(d: Description, limits: Any, report: Report) -> None:
    """Other limits of some joints."""
    example = f"{{{_a_joint(d)!r}: {{'velocity': 1.0}}}}"
    for name, changes in _mapping(limits, "limits", example).items():
        joint = d.joint(name)
        for key, value in _mapping(changes, "limits", example).items():
            if key not in vars(Limits()):
                raise InputError(f"{key!r} is not a limit; choose from {', '.join(vars(Limits()))}")
            if not isinstance(value, Real) or not float(value) >= (0.0 if key in ("velocity", "effort") else -np.inf):
                raise InputError(
                    f"the limit {key} of joint {printable(name)} must be a number, not negative for velocity and effort; "
                    f"got {value!r}"
                )
            setattr(joint.limits, key, float(value))
        if joint.limits.lower > joint.limits.upper:
            raise InputError(
                f"joint {printable(name)}: the lower limit {joint.limits.lower:g} is above the upper {joint.limits.upper:g}"
            )
        _refuse_zeros(joint, changes)
        if joint.type == "continuous" and np.isfinite([joint.limits.lower, joint.limits.upper]).any():
            joint.type = "revolute"  # with limits
        check_range(joint, [changes[key] for key in ("lower", "upper") if key in changes], report)


def _refuse_zeros(joint: Joint, changes: Mapping[str, float]) -> None:
    """In a description, limits of 0 are limits that are not known: files are exported with them (`effective_limits`)."""
    name, limits = printable(joint.name), joint.limits
    held = f"robot.reduced({{{joint.name!r}: 0.0}}) locks the joint there"
    if "effort" in changes and limits.effort == 0.0:
        cure = f"robot.replace(actuators={{{joint.name!r}: dynamis.Saturated(effort=0.0)}}) gives it a drive without torque"
        cure = cure if JOINT_TYPES[joint.type].degrees == 1 else "leave its entries of tau at 0"
        raise InputError(f"the effort limit of joint {name} cannot be 0, which stands for a limit that is not known: {cure}")
    if "velocity" in changes and limits.velocity == 0.0:
        raise InputError(f"the velocity limit of joint {name} cannot be 0, which stands for a limit that is not known: {held}")
    if {"lower", "upper"} & set(changes) and limits.lower == limits.upper == 0.0:
        raise InputError(f"the limits of joint {name} cannot both be 0, which stands for limits that are not known: {held}")


def replace_inertias(d: Description, inertias: Any, bodies: dict[str, Inertia]) -> None:
    """Other inertias of some links, in their frames; they are added to ``bodies`` by place."""
    example = "{'forearm': dynamis.solids.sphere(0.1, mass=2)}"
    for name, inertia in _mapping(inertias, "inertias", example).items():
        if not isinstance(inertia, Inertia):
            raise InputError(f"the inertia of {printable(name)} must be a dynamis.Inertia, got {foreign_inertia(inertia)}")
        holder, carried = d.link(name), d.payloads.pop(name, None)
        where = f"link {printable(name)}"
        bodies[where] = _checked(inertia, where)
        holder.mass_properties = MassProperties.of(inertia)
        if carried is not None:
            load(d, name, carried.inertia, carried.at_tip)


def replace_payload(
    d: Description, payload: Inertia | int, model: Model, named: str | None, bodies: dict[str, Inertia]
) -> None:
    """Another payload at a named frame or the tip, or none (0)."""
    if not isinstance(payload, Inertia) and (type(payload) not in (int, float) or payload != 0):
        kinds = "a dynamis.Inertia, such as dynamis.solids.sphere(0.1, mass=2), or 0 for none"
        raise InputError(f"payload= must be {kinds}, got {foreign_inertia(payload)}")
    frame = model.tip if named is None else model.frame(named).name
    earlier = payloads_at(d, frame, named is not None)
    if len(earlier) > 1 or (d.payloads and not earlier and not isinstance(payload, Inertia)):
        names = earlier or list(d.payloads)
        found = f"the payload of robot {printable(model.name)} is at {' and '.join(map(printable, names))}"
        raise InputError(f"{found}: name its frame, payload_frame={names[0]!r}")
    for name in earlier:
        d.link(name).mass_properties = d.payloads.pop(name).own
    if isinstance(payload, Inertia):
        if frame is None:
            frame = model.tip_or_refusal("payload_frame=")
        where = f"payload at {printable(frame)}"
        bodies[where] = _checked(payload, where)
        load(d, frame, Inertia(payload.mass, np.array(payload.first_moment), np.array(payload.tensor)), named is None)


def _checked(inertia: Inertia, where: str) -> Inertia:
    """An inertia whose tensor is symmetric."""
    tensor = inertia.tensor
    if tensor.dtype != object and np.abs(tensor - tensor.T).max() > FILE_PRECISION * np.abs(tensor).max():
        raise InputError(f"{where}: the inertia tensor is not symmetric (Iᵢⱼ = Iⱼᵢ): correct its products of inertia")
    return inertia


def _mapping(given: Any, name: str, example: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise InputError(f"{name}= must be a mapping such as {example}, got {type(given).__name__}")
    return given


def _a_joint(d: Description) -> str:
    """A name for examples."""
    return next((joint.name for joint in d.joints if joint.type != "fixed"), "elbow")
