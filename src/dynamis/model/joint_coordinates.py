"""Coordinates of joints with their limits, friction, springs and rotors; joints that follow others (mimic) share theirs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.actuators import Actuator, Elastic
from dynamis.model.description import Description, Joint, Limits
from dynamis.model.joints import JOINT_TYPES, Primitive, Prismatic
from dynamis.model.model import Coordinate

Array = npt.NDArray[Any]
NO_LIMIT = 1e16  # what SDF writes where there is no limit, also met in URDFs


def narrowed(leader: Coordinate, follower: Limits, ratio: float, offset: float) -> Coordinate:
    """The leader's limits, narrowed to what the follower allows: lower ≤ ratio · q + offset ≤ upper."""
    if follower.lower == follower.upper:
        return leader  # equal limits, which would lock the joint, count as none
    low, high = sorted(((follower.lower - offset) / ratio + 0.0, (follower.upper - offset) / ratio + 0.0))
    fastest = min(leader.velocity, follower.velocity / abs(ratio))
    if max(leader.lower, low) > min(leader.upper, high):
        return leader  # vendors write limits that contradict each other; the leader's own then hold
    return replace(leader, lower=max(leader.lower, low), upper=min(leader.upper, high), velocity=fastest)


def leaders(description: Description) -> Callable[[Joint], tuple[str, float, float]]:
    """joint → (the joint whose coordinate it has, ratio, offset), chains of followers resolved once."""
    joints = {joint.name: joint for joint in description.joints}
    known: dict[str, tuple[str, float, float]] = {}

    def leader(joint: Joint) -> tuple[str, float, float]:
        chain = [joint]
        while chain[-1].name not in known and chain[-1].mimic is not None:
            chain.append(joints[chain[-1].mimic.joint])
        for item in reversed(chain):
            if item.name in known:
                continue
            if item.mimic is None:
                known[item.name] = (item.name, 1.0, 0.0)
            else:  # q = r q₁ + o with q₁ = r₁ q₀ + o₁
                name, ratio, offset = known[item.mimic.joint]
                known[item.name] = (name, item.mimic.ratio * ratio, item.mimic.ratio * offset + item.mimic.offset)
        return known[joint.name]

    return leader


def known_limits(limits: Limits) -> Limits:
    """Without those that stand for limits that are not known: 0, or 1e16 and more.

    A joint that can neither move nor drive would be a fixed joint; files exported without limits have 0 everywhere, or 1e16.
    """
    low, high = limits.lower, limits.upper
    low, high = (-np.inf, np.inf) if low == high == 0.0 else (-np.inf if low <= -NO_LIMIT else low, high)
    return Limits(low, np.inf if high >= NO_LIMIT else high, *(
        np.inf if x == 0.0 or x >= NO_LIMIT else x for x in (limits.velocity, limits.effort)
    ))  # fmt: skip


def with_known_limits(description: Description) -> Description:
    """A copy for writers: what was read as no limit is written as none."""
    result = description.copy()
    for joint in result.joints:
        joint.limits = known_limits(joint.limits)
    return result


def effective_limits(joint: Joint) -> Limits:
    """The limits that hold: those that are known, in order, and none for several positions."""
    x = known_limits(joint.limits)
    low, high = sorted((x.lower, x.upper))
    bounded = joint.type != "continuous" and JOINT_TYPES[joint.type].degrees == 1
    return Limits(*((low, high) if bounded else (-np.inf, np.inf)), x.velocity, x.effort)


def coordinates_of(joint: Joint, motion: Primitive, suffix: str, nq: int) -> list[Coordinate]:
    """The coordinates of a joint, or of one of its stages; ``nq`` is the index of the first position."""
    x = effective_limits(joint)
    if motion.nv == 1:
        turns = not isinstance(motion, Prismatic)
        return [Coordinate(joint.name + suffix, joint.name, nq, x.lower, x.upper, x.velocity, x.effort, turns)]
    labels = ("wx", "wy", "wz") if motion.nv == 3 else ("vx", "vy", "vz", "wx", "wy", "wz")
    return [
        Coordinate(f"{joint.name}.{label}", joint.name, None, -np.inf, np.inf, x.velocity, x.effort, label[0] == "w")
        for label in labels
    ]


class JointPhysics:
    """Friction, rotor and spring gathered per degree of freedom; a following joint adds to the one it follows."""

    names = ("viscous", "coulomb", "coulomb_bias", "rotor", "stiffness", "pull")

    def __init__(self, n: int) -> None:
        self.values: dict[str, list[Any]] = {name: [0.0] * n for name in self.names}
        self.rest: list[Any] = [0.0] * n

    def add(self, joint: Joint, dof: tuple[int, ...], ratio: float, offset: float, reflects: bool) -> None:
        drive = joint.drive
        # a rotor behind a spring turns on its own, one that rides on a link is a body
        rotor = _reflected(joint) if reflects and not isinstance(joint.actuator, Elastic) else 0.0
        for k in dof:
            v = self.values
            v["viscous"][k] += ratio * ratio * drive.viscous
            v["coulomb"][k] += abs(ratio) * drive.coulomb
            v["coulomb_bias"][k] += ratio * drive.coulomb_bias
            v["rotor"][k] += ratio * ratio * rotor
            v["stiffness"][k] += ratio * ratio * drive.stiffness
            v["pull"][k] += ratio * drive.stiffness * (drive.rest - offset)
            self.rest[k] = (drive.rest - offset) / ratio if joint.mimic is None else self.rest[k]

    def arrays(self) -> dict[str, Array]:
        arrays = {name: np.array(values) if values else np.zeros(0) for name, values in self.values.items()}
        pull = arrays.pop("pull")
        rest = [r if _plain_zero(k) else p / k for p, k, r in zip(pull, arrays["stiffness"], self.rest, strict=True)]
        return {**arrays, "rest": np.array(rest) if rest else np.zeros(0)}


def _reflected(joint: Joint) -> Any:
    """The rotor's inertia reflected to the joint."""
    return joint.drive.rotor_inertia * joint.drive.gear_ratio * joint.drive.gear_ratio


def resolved_actuator(joint: Joint) -> Actuator | None:
    """The joint's actuator; a rotor behind a spring has the joint's rotor inertia unless it has its own."""
    actuator = joint.actuator
    if isinstance(actuator, Elastic) and actuator.inertia is None:
        return replace(actuator, inertia=_reflected(joint))
    return actuator


def _plain_zero(x: Any) -> bool:
    return isinstance(x, float | int) and x == 0
