"""Tasks other than the pose of a frame: the direction of an axis, a line of sight, the centre of mass, joint positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.errors import InputError, unknown_name
from dynamis.kinematics.tasks import AXES, Task, checked_rows
from dynamis.robot import Robot
from dynamis.scalar import sqrt
from dynamis.spatial import cross, skew
from dynamis.spatial.checks import finite

Array = npt.NDArray[Any]


@dataclass(frozen=True, repr=False)
class Direction(Task):
    """The direction u of an axis of a frame, a unit vector in world axes; rotation about the axis is free.

    ``axis`` is "x", "y", "z", "-x", "-y", "-z" or a vector in the frame's axes.

    >>> import dynamis as dy
    >>> robot, task = dy.load("ur5e"), dy.task_space.Direction(axis="z")
    >>> found = dy.inverse_kinematics(robot, [dy.task_space.Goal(task, [0.0, 0.0, -1.0])])  # the tool points down
    >>> task.value(robot, found.q).round(6).tolist()
    [0.0, 0.0, -1.0]
    """

    frame: str | None = None
    axis: Any = "z"

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", _unit_axis(self.axis))

    @property
    def names(self) -> tuple[str, ...]:
        return ("ux", "uy", "uz")

    def value(self, robot: Robot, q: Any) -> Array:
        return robot.pose(q, self.frame)[:3, :3] @ np.array(self.axis)

    def jacobian(self, robot: Robot, q: Any) -> Array:
        return -skew(self.value(robot, q)) @ robot.jacobian(q, self.frame)[3:]

    def bias(self, robot: Robot, q: Any, v: Any) -> Array:
        u, w = self.value(robot, q), robot.velocity(q, v, self.frame)[3:]
        return cross(robot.acceleration(q, v, np.zeros(robot.n), self.frame)[3:], u) + cross(w, cross(w, u))

    def as_target(self, value: Any) -> Array:
        u = finite(value, (3,), f"the target of {self!r}", batch=True)
        length = np.linalg.norm(u, axis=-1, keepdims=True)
        if not (length > 0.0).all():
            raise InputError(f"the target of {self!r} is a direction: a vector that is not zero")
        return np.asarray(u / length)

    def angular(self, robot: Robot) -> tuple[bool, ...]:  # noqa: ARG002
        return (True,) * 3

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class LookAt(Direction):
    """The direction of an axis of a frame, such as that of a camera; the target is a point to which the axis shall point.

    >>> import dynamis as dy, numpy as np
    >>> robot, point = dy.load("panda"), np.array([0.6, 0.2, 0.1])
    >>> found = dy.inverse_kinematics(robot, [dy.task_space.Goal(dy.task_space.LookAt(), point)])
    >>> sight = point - robot.pose(found.q)[:3, 3]
    >>> bool(np.allclose(robot.pose(found.q)[:3, 2], sight / np.linalg.norm(sight)))
    True
    """

    def as_target(self, value: Any) -> Array:
        return finite(value, (3,), f"the target of {self!r}", batch=True)

    def residual(self, robot: Robot, q: Any, target: Any) -> tuple[Array, Array]:
        # e = d − u with d = r / |r|, r = p* − p: ∂d/∂v = −(1 − d dᵀ) J_P / |r|
        r = np.asarray(target) - robot.pose(q, self.frame)[:3, 3]
        distance = sqrt(np.dot(r, r))
        d = r / distance
        across = (np.eye(3) - np.outer(d, d)) / distance
        return d - self.value(robot, q), self.jacobian(robot, q) + across @ robot.jacobian(q, self.frame)[:3]


@dataclass(frozen=True, repr=False)
class CenterOfMass(Task):
    """The centre of mass of the robot in world axes; ``rows="xy"`` is its projection on the ground.

    >>> import dynamis as dy
    >>> robot, task = dy.load("g1", base="floating"), dy.task_space.CenterOfMass("xy")
    >>> task.names, task.jacobian(robot, robot.neutral()).shape == (2, robot.n)
    (('x', 'y'), True)
    """

    rows: Any = (0, 1, 2)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", checked_rows(self.rows, "CenterOfMass"))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(AXES[k] for k in self.rows)

    def value(self, robot: Robot, q: Any) -> Array:
        return robot.center_of_mass(q)[list(self.rows)]

    def jacobian(self, robot: Robot, q: Any) -> Array:
        return robot.center_of_mass_jacobian(q)[list(self.rows)]

    def bias(self, robot: Robot, q: Any, v: Any) -> Array:
        return robot.center_of_mass_acceleration(q, v, np.zeros(robot.n))[list(self.rows)]

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class JointPositions(Task):
    """The positions of joints with one degree of freedom: a posture.

    >>> import dynamis as dy
    >>> robot = dy.load("panda")
    >>> dy.task_space.JointPositions(robot.joint_names).value(robot, robot.home()).round(2).tolist()
    [0.0, 0.0, 0.0, -1.57, 0.0, 0.0, 0.0]
    """

    joints: Any

    def __post_init__(self) -> None:
        joints = (self.joints,) if isinstance(self.joints, str) else self.joints
        if not isinstance(joints, Sequence) or not joints or not all(isinstance(x, str) for x in joints):
            raise InputError(f"JointPositions takes names of joints, such as robot.joint_names; got {self.joints!r}")
        object.__setattr__(self, "joints", tuple(joints))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.joints)

    def _places(self, robot: Robot) -> list[int]:
        """The coordinate of each joint, in v."""
        known = {c.name: k for k, c in enumerate(robot.model.coordinates) if c.q_index is not None}
        for name in self.joints:
            if name not in known:
                raise unknown_name("joint with one degree of freedom", name, known)
        return [known[name] for name in self.joints]

    def value(self, robot: Robot, q: Any) -> Array:
        return np.asarray(q)[np.array([robot.model.coordinates[k].q_index for k in self._places(robot)], dtype=int)]

    def jacobian(self, robot: Robot, q: Any) -> Array:  # noqa: ARG002  # constant
        return np.eye(robot.n)[self._places(robot)]

    def bias(self, robot: Robot, q: Any, v: Any) -> Array:  # noqa: ARG002
        return np.zeros(self.size)

    def angular(self, robot: Robot) -> tuple[bool, ...]:
        return tuple(bool(robot.model.coordinates[k].revolute) for k in self._places(robot))

    __repr__ = as_call
    _repr_html_ = as_table


def _unit_axis(axis: Any) -> tuple[float, ...]:
    if isinstance(axis, str) and axis.removeprefix("-") in AXES:
        u = np.eye(3)[AXES.index(axis.removeprefix("-"))] * (-1.0 if axis.startswith("-") else 1.0) + 0.0
    else:
        u = finite(axis, (3,), "axis=") if not isinstance(axis, str) else np.zeros(3)
    if not u.any():
        raise InputError(f"axis= must be 'x', 'y', 'z', one of these with a minus sign, or a vector; got {axis!r}")
    return tuple(float(x) for x in u / np.linalg.norm(u))
