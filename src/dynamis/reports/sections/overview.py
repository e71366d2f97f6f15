"""The robot in 3-D, with its joints, friction and links in tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynamis.display import counted
from dynamis.documents.blocks import Facts, Robot3D, Section, Table
from dynamis.documents.numbers import text, triple
from dynamis.model.joint_coordinates import effective_limits
from dynamis.reports.meshes.drawing import drawing_of
from dynamis.reports.numbers import main_frame
from dynamis.reports.scene import scene_of
from dynamis.reports.subject import Subject

KEY, TITLE = "robot", "Robot"


def build(subject: Subject, section: Section) -> None:
    robot, description = subject.robot, subject.given.description
    section.lead = description.about or f"{robot.name}, {counted(robot.n, 'degree of freedom', 'degrees of freedom')}."
    facts = [
        ("Degrees of freedom", str(robot.n)),
        ("Moving bodies", str(len(robot.model.links))),
        ("Mass", f"{text(float(robot.mass))} kg{' (values assumed)' if subject.assumed else ''}"),
        ("Gravity", f"{triple(robot.model.gravity)} m/s²"),
    ]
    section.add(
        Facts(facts),
        Robot3D(scene_of(robot)),
        _joints(subject),
        *_drives(subject),
        *_actuators(subject),
        _links(subject),
        *_payloads(subject),
    )
    if subject.values:
        rows = [(name, text(x), "assumed" if name in subject.assumed else "given") for name, x in subject.values.items()]
        note = "Formulas keep the symbols. Set values with --set NAME=VALUE or values={…}; values not set are assumed."
        section.blocks.insert(2, Table("Values of the symbols", ("symbol", "value", "origin"), rows, note))
    if description.source:
        section.notes.append(f"Source of the parameters: {description.source}")
    section.notes += drawing_of(robot).notes
    section.reproduce = (
        f"import dynamis as dy\n\n{subject.load}\nprint(robot, robot.mass)\n"
        f"print(robot.pose(robot.neutral(), {main_frame(robot)!r}))"
    )


def _joints(subject: Subject) -> Table:
    rows = []
    for j in subject.robot.description.joints:
        if j.type == "fixed":
            continue
        limits = effective_limits(j)
        ends = (limits.lower, limits.upper)
        unit = "m" if j.type == "prismatic" else "rad"
        span = f"{text(ends[0], 3)} … {text(ends[1], 3)} {unit}" if np.isfinite(ends).any() else "–"
        kind = f"{j.type}, mimics {j.mimic.joint}" if j.mimic is not None else j.type
        rows.append(
            (
                j.name,
                kind,
                f"{j.parent} → {j.child}",
                triple(j.axis / np.linalg.norm(np.asarray(j.axis, dtype=float))),
                span,
                text(limits.velocity, 3),
                text(limits.effort, 3),
            )
        )
    return Table(
        "Joints",
        ("joint", "type", "parent → child", "axis", "range", "velocity limit", "effort limit"),
        rows,
        "Velocity in rad/s or m/s, effort in N m or N; – : not stated in the file.",
        folded=len(rows) > 12,
    )


def _drives(subject: Subject) -> list[Table]:
    numbers = {
        "viscous": "viscous friction",
        "coulomb": "Coulomb friction",
        "rotor_inertia": "rotor inertia",
        "gear_ratio": "gear ratio",
        "reflected": "reflected inertia",
        "stiffness": "stiffness",
        "rest": "rest position",
    }
    usual: dict[str, Any] = {"gear_ratio": 1.0}
    joints = [j for j in subject.robot.description.joints if j.type != "fixed"]
    shown = [name for name in numbers if any(getattr(j.drive, name, 0.0) != usual.get(name, 0.0) for j in joints)]
    if not shown:
        return []
    if "rotor_inertia" in shown:
        at = shown.index("rotor_inertia")
        shown[at : at + 1] = ["rotor_inertia", "gear_ratio", "reflected"] if "gear_ratio" in shown else ["reflected"]
        shown = list(dict.fromkeys(shown))
    rows = [(j.name, *(_drive_number(j.drive, name) for name in shown)) for j in joints]
    note = (
        "Viscous friction in N m s/rad, Coulomb friction in N m (two values: in the positive and in the negative direction), "
        "rotor inertia before the gear and reflected inertia at the joint in kg m², stiffness in N m/rad, rest position of the "
        "spring in rad; for prismatic joints in N s/m, N, kg, N/m and m, with the rotor inertia in kg m² and the gear ratio in "
        "rad/m."
    )
    return [
        Table(
            "Joint friction, rotor inertia and springs",
            ("joint", *(numbers[name] for name in shown)),
            rows,
            note,
            folded=len(rows) > 12,
        )
    ]


def _actuators(subject: Subject) -> list[Table]:
    """Motors on other links, and actuator models with their parameters."""
    joints = [j for j in subject.robot.description.joints if j.type != "fixed"]
    rows = [(j.name, j.drive.motor_link or "–", _actuator(j.actuator)) for j in joints if j.drive.motor_link or j.actuator]
    return [Table("Drives", ("joint", "motor on link", "actuator"), rows, "Parameters in SI units.")] if rows else []


def _actuator(actuator: Any) -> str:
    if actuator is None:
        return "–"
    numbers = ", ".join(f"{name.replace('_', ' ')} {text(x)}" for name, x in actuator.stated.items() if x is not None)
    kind = actuator.kind.replace("_", " ")
    return f"{kind}: {numbers}" if numbers else kind


def _payloads(subject: Subject) -> list[Table]:
    rows = [
        (name, text(float(carried.inertia.mass)), triple(carried.inertia.com if float(carried.inertia.mass) else np.zeros(3)))
        for name, carried in subject.robot.description.payloads.items()
    ]
    note = "Part of the moving bodies; centre of mass in the frame of the link."
    return [Table("Payloads", ("carried by", "mass [kg]", "centre of mass [m]"), rows, note)] if rows else []


def _drive_number(drive: Any, name: str) -> str:
    """A cell of the table; two values of Coulomb friction where it depends on the direction of motion."""
    if name == "reflected":
        return text(drive.rotor_inertia * drive.gear_ratio * drive.gear_ratio)
    if name == "coulomb" and (not isinstance(drive.coulomb_bias, float | int) or drive.coulomb_bias):
        return f"{text(drive.coulomb + drive.coulomb_bias)} (+), {text(drive.coulomb - drive.coulomb_bias)} (−)"
    return text(getattr(drive, name))


def _links(subject: Subject) -> Table:
    robot = subject.robot
    rows = []
    for i, body in robot.model.links:
        inertia = robot.model.inertia_in_link_frame(i)
        moments = np.linalg.eigvalsh(np.asarray(inertia.tensor_about_com, dtype=float)) if float(inertia.mass) else np.zeros(3)
        rows.append(
            (body.name, text(float(inertia.mass)), triple(inertia.com if float(inertia.mass) else np.zeros(3)), triple(moments))
        )
    return Table(
        "Moving bodies",
        ("body", "mass [kg]", "centre of mass [m]", "principal moments [kg m²]"),
        rows,
        "Each link with the links fixed to it; centre of mass in the frame of the link, principal moments about that point.",
        folded=len(rows) > 12,
    )
