"""Joints of USD: their types, frames, limits, drives and followers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.model.description import DRIVE_NUMBERS, Drive, Fresh, Joint, Limits, Mimic
from dynamis.model.diagnostics import Report
from dynamis.model.readers.usd_files import Prim, Stage
from dynamis.model.readers.usd_values import UNLIMITED, Values
from dynamis.spatial.pose import Pose
from dynamis.tolerances import FILE_PRECISION

Array = npt.NDArray[Any]
JOINTS = {"PhysicsRevoluteJoint": "revolute", "PhysicsPrismaticJoint": "prismatic", "PhysicsSphericalJoint": "spherical",
          "PhysicsFixedJoint": "fixed", "PhysicsJoint": ""}  # fmt: skip
AXES = {"X": np.array([1.0, 0.0, 0.0]), "Y": np.array([0.0, 1.0, 0.0]), "Z": np.array([0.0, 0.0, 1.0])}
DEGREE = math.pi / 180.0
READ = ("physics:axis", "physics:body", "physics:local", "physics:lowerLimit", "physics:upperLimit", "physics:jointEnabled",
        "physics:excludeFromArticulation", "physics:collisionEnabled", "limit:", "drive:", "physxMimicJoint:",
        "physxJoint:armature", "physxJoint:maxJointVelocity", "newton:armature", "newton:damping", "newton:friction",
        "newton:velocityLimit", "newton:mimic")  # fmt: skip


@dataclass(eq=False)
class Edge:
    """A joint between ``a`` and ``b``, paths of bodies or frames, with its frames on both and its axis in them."""

    prim: Prim
    kind: str
    a: str
    X_a: Pose
    b: str
    X_b: Pose
    axis: Array = field(default_factory=lambda: AXES["Z"])
    excluded: bool = False


class Joints(Values):
    def __init__(self, stage: Stage, report: Report) -> None:
        super().__init__(stage, report)
        self.joints = Fresh(())

    def motion(self, prim: Prim) -> tuple[str, Array] | None:
        """(type, axis) of a joint; None after an error."""
        kind = JOINTS[prim.type]
        if kind:
            token = str(prim.attributes.get("physics:axis", "X"))
            if token not in AXES:
                self.wrong(prim, "physics:axis", "X, Y or Z", "give one of these axes")
                return None
            return kind, AXES[token]
        free = {kind: [a for a in "XYZ" if not self._is_locked(prim, f"{kind}{a}")] for kind in ("trans", "rot")}
        slides, turns = free["trans"], free["rot"]
        names = {(0, 0): "fixed", (0, 1): "revolute", (1, 0): "prismatic", (0, 3): "spherical", (3, 3): "free",
                 (1, 1): "cylindrical", (2, 1): "planar"}  # fmt: skip
        found = names.get((len(slides), len(turns)))
        along = (turns or slides or ["Z"])[0]
        if found is None or (found == "cylindrical" and slides != turns) or (found == "planar" and along in slides):
            leaves = ", ".join(["trans" + a for a in slides] + ["rot" + a for a in turns])
            self.error("joint-type", prim, f"it leaves {leaves} free",
                       "no, one or all rotations, one translation, both along one axis, or the motions in a plane",
                       "make it several joints with a body between them")  # fmt: skip
            return None
        return found, AXES[along] if found != "free" else AXES["Z"]

    def _is_locked(self, prim: Prim, axis: str) -> bool:
        if not prim.has(f"PhysicsLimitAPI:{axis}"):
            return False
        low, high = (self.number(prim, f"limit:{axis}:physics:{end}", sign * math.inf, infinite=True)
                     for end, sign in (("low", -1.0), ("high", 1.0)))  # fmt: skip
        return low > high

    def joint(self, e: Edge, turned: bool, names: dict[str, str], links: dict[str, str]) -> Joint:
        """The joint of an edge of the tree, from its second end to its first where it is ``turned``: the axis is reversed."""
        ends = [(e.a, e.X_a), (e.b, e.X_b)]
        (parent, X_p), (child, X_c) = reversed(ends) if turned else ends
        joint = Joint(names[e.prim.path], e.kind, links[parent], links[child], X_p, -e.axis + 0.0 if turned else e.axis.copy(),
                      tail=X_c.inverse(), line=e.prim.line)  # fmt: skip
        if e.prim.type not in JOINTS:
            return joint
        self._limits(e, joint)
        self._drive(e.prim, joint)
        self._mimic(e.prim, joint, names)
        self.leave_others(e.prim, READ)
        return joint

    def _limits(self, e: Edge, joint: Joint) -> None:
        prim, unit = e.prim, self._unit(joint.type)
        letter = next(name for name, axis in AXES.items() if (axis == e.axis).all())
        keys = ("physics:lowerLimit", "physics:upperLimit")
        if prim.type == "PhysicsJoint" and joint.type in ("revolute", "prismatic"):
            own = f"limit:{'rot' if joint.type == 'revolute' else 'trans'}{letter}:physics:"
            keys = (own + "low", own + "high")
        if joint.type in ("revolute", "prismatic"):
            lower, upper = (
                self.number(prim, key, sign * math.inf, infinite=True) for key, sign in zip(keys, (-1, 1), strict=True)
            )
            joint.limits = Limits(
                -math.inf if lower <= -UNLIMITED else lower * unit, math.inf if upper >= UNLIMITED else upper * unit
            )
            names = ("newton:velocityLimit", "physxJoint:maxJointVelocity")
            speed = min(self.number(prim, name, math.inf, infinite=True) for name in names)
            joint.limits.velocity = math.inf if speed >= UNLIMITED else speed * unit
        if joint.type == "revolute" and not np.isfinite([joint.limits.lower, joint.limits.upper]).any():
            joint.type = "continuous"
        for name in ("physics:coneAngle0Limit", "physics:coneAngle1Limit"):
            if self.number(prim, name, -1.0, infinite=True) >= 0.0:
                self.leave("limits of spherical joints", prim)
        several = ("fixed", "cylindrical", "planar", "spherical", "free")
        ends = [name for name in prim.attributes if name.startswith("limit:") and joint.type in several]
        stated = {name.split(":")[1] for name in ends if abs(self.number(prim, name, infinite=True)) < UNLIMITED}
        if any(not self._is_locked(prim, axis) for axis in stated):
            self.leave("limits of joints with several axes", prim)

    def _unit(self, kind: str) -> float:
        """rad or m for the joint's unit in the file."""
        return self.stage.meters if kind == "prismatic" else DEGREE

    def _drive(self, prim: Prim, joint: Joint) -> None:
        """Friction, spring and rotor, which files of Dynamis have in attributes of their own; other drives are controllers."""
        kg, m = self.stage.kilograms, self.stage.meters
        unit, force = self._unit(joint.type), kg * m if joint.type == "prismatic" else kg * m * m
        own: dict[str, Any] = {
            name: self.number(prim, f"dynamis:drive:{name}")
            for name in DRIVE_NUMBERS
            if f"dynamis:drive:{name}" in prim.attributes
        }
        joint.drive = replace(Drive(), **own)
        inertia = kg if joint.type == "prismatic" else force
        stated = (("rotor_inertia", "physxJoint:armature", inertia), ("rotor_inertia", "newton:armature", inertia),
                  ("viscous", "newton:damping", force / unit), ("coulomb", "newton:friction", force))  # fmt: skip
        for name, key, size in stated:
            if key in prim.attributes and name not in own and joint.type in ("revolute", "continuous", "prismatic"):
                setattr(joint.drive, name, self.number(prim, key) * size)
            elif key in prim.attributes and name not in own:
                self.leave(key, prim)
        instances = {name.split(":")[1] for name in prim.attributes if name.startswith("drive:") and name.count(":") > 2}
        drive = joint.drive
        for name in sorted(instances):
            stiffness, damping, rest, speed = (
                self.number(prim, f"drive:{name}:physics:{key}")
                for key in ("stiffness", "damping", "targetPosition", "targetVelocity")
            )
            most = self.number(prim, f"drive:{name}:physics:maxForce", math.inf, infinite=True)
            accelerates = prim.attributes.get(f"drive:{name}:physics:type", "force") != "force"
            if most < UNLIMITED and joint.type in ("revolute", "continuous", "prismatic") and not accelerates:
                joint.limits.effort = most * force
            expected = (drive.stiffness * unit, drive.viscous * unit, drive.rest / unit if drive.stiffness else 0.0)
            same = np.allclose((stiffness, damping, rest), expected, rtol=FILE_PRECISION, atol=0.0)
            if (stiffness or damping or rest or speed) and (speed or accelerates or not same):
                self.leave("stiffness, damping and targets of drives, which are controllers", prim)

    def _mimic(self, prim: Prim, joint: Joint, names: dict[str, str]) -> None:
        """q = −gearing · q(reference) − offset, or coef1 · q(reference) + coef0, in the units of the file."""
        for name, targets in prim.targets.items():
            physx = name.startswith("physxMimicJoint:") and name.endswith(":referenceJoint")
            newton = name == "newton:mimicJoint" and self.flag(prim, "newton:mimicEnabled", True)
            if not physx and not newton:
                continue
            leader = self.stage.prims.get((targets or [""])[0])
            if leader is None or leader.path not in names or joint.type not in ("revolute", "continuous", "prismatic"):
                found = f"{name} is {', '.join(map(printable, targets[:4])) or 'empty'}"
                self.error("mimic", prim, found, "a joint of the robot", "correct or remove it")
                return
            own = name.removesuffix("referenceJoint")
            ratio, offset = (-self.number(prim, f"{own}gearing", 1.0), -self.number(prim, f"{own}offset")) if physx else (
                self.number(prim, "newton:mimicCoef1", 1.0), self.number(prim, "newton:mimicCoef0"))  # fmt: skip
            unit = self._unit(joint.type)
            joint.mimic = Mimic(names[leader.path], ratio * (unit / self._unit(JOINTS.get(leader.type, ""))), offset * unit)
