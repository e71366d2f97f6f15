"""Tasks: task coordinates x = f(q), with ẋ = J v and ẍ = J v̇ + J̇ v.

A task is written for one state, in plain NumPy, for numbers and for symbols: ``value``, ``jacobian`` and ``bias`` (J̇ v) may
be used inside any function that is traced and compiled.
"""

from __future__ import annotations

import functools
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.jacobian import orientation_coordinates
from dynamis.display import as_call, as_table, counted
from dynamis.errors import InputError
from dynamis.kinematics import differentiation
from dynamis.kinematics.rotations import (
    COORDINATES,
    EULER,
    as_rotation,
    inverse_times,
    orientation_error,
    rate_map,
    rate_map_drift,
    rotation_of,
)
from dynamis.kinematics.targets import angles_in_range, as_orientation, as_point, as_pose, is_pose
from dynamis.kinematics.task_methods import of_a_robot
from dynamis.robot import Robot
from dynamis.scalar import atan2, cos, sin
from dynamis.spatial.checks import finite

Array = npt.NDArray[Any]
AXES = ("x", "y", "z")


class Task(ABC):
    """Task coordinates: ``size`` numbers x, each with a name."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name in ("value", "jacobian", "bias"):
            if name in vars(cls):
                setattr(cls, name, of_a_robot(vars(cls)[name]))

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """A name for each component of x."""

    @functools.cached_property
    def size(self) -> int:
        return len(self.names)

    @abstractmethod
    def value(self, robot: Robot, q: Any) -> Array:
        """x = f(q) (size)."""

    @abstractmethod
    def jacobian(self, robot: Robot, q: Any) -> Array:
        """J with ẋ = J v (size × n)."""

    @abstractmethod
    def bias(self, robot: Robot, q: Any, v: Any) -> Array:
        """J̇ v, the task acceleration ẍ for v̇ = 0 (size)."""

    def error(self, desired: Any, value: Any) -> Array:
        """Task error e_x = x_d − x: angle differences in (−π, π], rotations as a rotation vector."""
        return np.asarray(desired) - np.asarray(value)

    # for inverse kinematics: targets are passed to compiled code as vectors

    @property
    def target_size(self) -> int:
        """Length of a target as a vector."""
        return self.size

    def as_target(self, value: Any) -> Array:
        """A target given by the user, or a batch of them, as vectors (…, target_size)."""
        return finite(value, (self.size,), f"the target of {self!r}", batch=True)

    def residual(self, robot: Robot, q: Any, target: Any) -> tuple[Array, Array]:
        """The task error e (size) of a target vector, and −∂e/∂v (size × n), exact for e = 0."""
        return self.error(target, self.value(robot, q)), self.jacobian(robot, q)

    def angular(self, robot: Robot) -> tuple[bool, ...]:  # noqa: ARG002  # of joints it depends on the robot
        """Whether each component is an angle, in rad; the others are lengths, in m."""
        return (False,) * self.size


@dataclass(frozen=True, repr=False)
class Position(Task):
    """The position of a frame's origin in world axes; ``rows="xy"`` or ``(0, 1)`` is that of a planar arm.

    >>> import dynamis as dy
    >>> robot, task = dy.load("ur5e"), dy.task_space.Position()
    >>> task.names, task.jacobian(robot, robot.neutral()).shape
    (('x', 'y', 'z'), (3, 6))
    """

    frame: str | None = None
    rows: Any = (0, 1, 2)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", checked_rows(self.rows, "Position"))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(AXES[k] for k in self.rows)

    def value(self, robot: Robot, q: Any) -> Array:
        return robot.pose(q, self.frame)[list(self.rows), 3]

    def jacobian(self, robot: Robot, q: Any) -> Array:
        return robot.jacobian(q, self.frame)[list(self.rows)]

    def bias(self, robot: Robot, q: Any, v: Any) -> Array:
        return robot.acceleration(q, v, np.zeros(robot.n), self.frame)[list(self.rows)]

    def as_target(self, value: Any) -> Array:
        if is_pose(value):
            return as_point(value, batch=True)[..., list(self.rows)]
        return finite(value, (self.size,), "target", batch=True)

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class Orientation(Task):
    """The orientation of a frame.

    ``coordinates``: "geometric" has the angular velocity in world axes as its rate and therefore no singularity; its value is
    the rotation vector from ``reference`` (3 × 3, by default the identity). "rotation_vector" has the rate of that vector,
    discontinuous at an angle of π; "rpy", "zyx", "xyz", "zyz" and "zxz" are angles. ``rows`` selects some of the three
    components, but not of "geometric", whose rate is not the derivative of a coordinate.
    """

    frame: str | None = None
    coordinates: str = "geometric"
    rows: Any = (0, 1, 2)
    reference: Any = None

    def __post_init__(self) -> None:
        if self.coordinates not in COORDINATES:
            raise InputError(f"coordinates={self.coordinates!r} is unknown; choose {', '.join(map(repr, COORDINATES))}")
        object.__setattr__(self, "rows", checked_rows(self.rows, "Orientation"))
        if self.coordinates == "geometric" and len(self.rows) < 3:
            raise InputError(
                "Orientation(rows=…) is not available with 'geometric': a component of the angular velocity is not the "
                "rate of a coordinate; choose 'rotation_vector' or 'rpy', such as Orientation(coordinates='rpy', rows=(2,))"
            )
        if self.reference is None:
            return
        if self.coordinates in EULER:
            raise InputError("reference= applies to 'geometric' and 'rotation_vector' only; angles refer to the world axes")
        R = as_rotation(self.reference)
        object.__setattr__(self, "reference", tuple(map(tuple, R.tolist())))

    @property
    def names(self) -> tuple[str, ...]:
        kinds = {"rpy": ("roll", "pitch", "yaw"), "geometric": ("rx", "ry", "rz"), "rotation_vector": ("rx", "ry", "rz")}
        known = kinds.get(self.coordinates) or tuple(f"{letter}{k + 1}" for k, letter in enumerate(self.coordinates))
        return tuple(known[k] for k in self.rows)

    def _turned(self, robot: Robot, q: Any) -> Array:
        R = robot.pose(q, self.frame)[:3, :3]
        return R if self.reference is None else R @ np.array(self.reference).T

    @property
    def _kind(self) -> str:
        return "rotation_vector" if self.coordinates == "geometric" else self.coordinates

    def value(self, robot: Robot, q: Any) -> Array:
        return orientation_coordinates(self._turned(robot, q), self._kind)[list(self.rows)]

    def jacobian(self, robot: Robot, q: Any) -> Array:
        J = robot.jacobian(q, self.frame)[3:]
        if self.coordinates != "geometric":
            J = inverse_times(rate_map(self._turned(robot, q), self._kind), J)
        return J[list(self.rows)]

    def bias(self, robot: Robot, q: Any, v: Any) -> Array:
        w_dot = robot.acceleration(q, v, np.zeros(robot.n), self.frame)[3:]
        if self.coordinates == "geometric":
            return w_dot[list(self.rows)]
        R = self._turned(robot, q)
        T, w = rate_map(R, self._kind), robot.velocity(q, v, self.frame)[3:]
        phi_dot = inverse_times(T, w)
        return inverse_times(T, w_dot - rate_map_drift(R, self._kind, phi_dot))[list(self.rows)]  # from ω̇ = T φ̈ + Ṫ φ̇

    def error(self, desired: Any, value: Any) -> Array:
        difference = np.asarray(desired) - np.asarray(value)
        if self.coordinates in EULER:
            return np.array([atan2(sin(x), cos(x)) for x in difference])
        if self.coordinates == "rotation_vector":
            return difference
        # the reference drops out: R_d Rᵀ = exp(x_d) exp(x)ᵀ, in the order of the rows
        back = list(np.argsort(self.rows))
        R_d, R = rotation_of(np.asarray(desired)[back]), rotation_of(np.asarray(value)[back])
        return orientation_error(R_d, R)[list(self.rows)]

    @property
    def target_size(self) -> int:
        return 9 if self.coordinates == "geometric" else self.size

    def as_target(self, value: Any) -> Array:
        if self.coordinates in EULER:
            return angles_in_range(super().as_target(value), self.coordinates, self.rows, self.names)
        if self.coordinates != "geometric":
            return super().as_target(value)
        R = as_orientation(value, batch=True)
        return R.reshape(*R.shape[:-2], 9)

    def residual(self, robot: Robot, q: Any, target: Any) -> tuple[Array, Array]:
        if self.coordinates != "geometric":
            return super().residual(robot, q, target)
        R_d, rows = np.asarray(target).reshape(3, 3), list(self.rows)
        return orientation_error(R_d, robot.pose(q, self.frame)[:3, :3])[rows], robot.jacobian(q, self.frame)[3:][rows]

    def angular(self, robot: Robot) -> tuple[bool, ...]:  # noqa: ARG002
        return (True,) * self.size

    __repr__ = as_call
    _repr_html_ = as_table


class _Parts(Task):
    """Several tasks, stacked."""

    parts: tuple[Task, ...]

    @property
    def names(self) -> tuple[str, ...]:
        every = [name for part in self.parts for name in part.names]
        doubled = len(set(every)) < len(every)
        if not doubled:
            return tuple(every)
        return tuple(f"{k + 1}.{name}" for k, part in enumerate(self.parts) for name in part.names)

    def value(self, robot: Robot, q: Any) -> Array:
        return np.concatenate([part.value(robot, q) for part in self.parts])

    def jacobian(self, robot: Robot, q: Any) -> Array:
        return np.concatenate([part.jacobian(robot, q) for part in self.parts])

    def bias(self, robot: Robot, q: Any, v: Any) -> Array:
        return np.concatenate([part.bias(robot, q, v) for part in self.parts])

    def error(self, desired: Any, value: Any) -> Array:
        ends = np.cumsum([part.size for part in self.parts])[:-1]
        wanted, found = np.split(np.asarray(desired), ends), np.split(np.asarray(value), ends)
        return np.concatenate([part.error(*pair) for part, *pair in zip(self.parts, wanted, found, strict=True)])

    @property
    def target_size(self) -> int:
        return sum(part.target_size for part in self.parts)

    def as_target(self, value: Any) -> Array:
        """A sequence with the target of each part."""
        if not isinstance(value, list | tuple) or len(value) != len(self.parts):
            raise InputError(f"the target of {self!r} is a list of {counted(len(self.parts), 'target')}, one per part")
        return np.concatenate([part.as_target(x) for part, x in zip(self.parts, value, strict=True)], axis=-1)

    def residual(self, robot: Robot, q: Any, target: Any) -> tuple[Array, Array]:
        ends = np.cumsum([part.target_size for part in self.parts])[:-1]
        pairs = [part.residual(robot, q, x) for part, x in zip(self.parts, np.split(np.asarray(target), ends), strict=True)]
        return np.concatenate([e for e, _ in pairs]), np.concatenate([J for _, J in pairs])

    def angular(self, robot: Robot) -> tuple[bool, ...]:
        return tuple(x for part in self.parts for x in part.angular(robot))


@dataclass(frozen=True, repr=False)
class PoseTask(_Parts):
    """Position and orientation of a frame, six numbers; ``coordinates`` and ``reference`` are those of `Orientation`.

    >>> import dynamis as dy
    >>> dy.task_space.PoseTask(coordinates="rpy").names
    ('x', 'y', 'z', 'roll', 'pitch', 'yaw')
    """

    frame: str | None = None
    coordinates: str = "geometric"
    reference: Any = None
    parts: tuple[Task, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        orientation = Orientation(self.frame, self.coordinates, reference=self.reference)
        object.__setattr__(self, "reference", orientation.reference)
        object.__setattr__(self, "parts", (Position(self.frame), orientation))

    def as_target(self, value: Any) -> Array:
        """A pose; with angles as coordinates six numbers."""
        if self.coordinates != "geometric":
            p, angles = np.split(finite(value, (6,), "target", batch=True), 2, axis=-1)
            return np.concatenate([p, self.parts[1].as_target(angles)], axis=-1)
        R, p = as_pose(value, batch=True)
        return np.concatenate([p, R.reshape(*R.shape[:-2], 9)], axis=-1)

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, init=False, repr=False)
class Stacked(_Parts):
    """Several tasks stacked into one: ``Stacked(Position("left"), Position("right"))``."""

    parts: tuple[Task, ...]

    def __init__(self, *parts: Task) -> None:
        if not parts or not all(isinstance(part, Task) for part in parts):
            raise InputError("Stacked takes tasks, such as Stacked(Position('left_hand'), Position('right_hand'))")
        object.__setattr__(self, "parts", parts)

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Function(Task):
    """A user-defined task: ``f(robot, q)`` returns ``size`` numbers. Its Jacobian and J̇ v are obtained by differentiation.

    f is written with NumPy for one state; it is recorded, branches included.

    >>> import dynamis as dy, numpy as np
    >>> def reach(robot, q):  # the distance of the tip from the base's axis
    ...     p = robot.pose(q)[:3, 3]
    ...     return np.array([np.sqrt(p[0] * p[0] + p[1] * p[1])])
    >>> task = dy.task_space.Function(reach, 1)
    >>> task.jacobian(dy.load("scara"), [0.3, 1.0, 0.1, 0.0]).shape
    (1, 4)
    """

    f: Callable[[Any, Array], Any]
    labels: tuple[str, ...]
    _known: weakref.WeakKeyDictionary[Robot, differentiation.Expressions] = field(repr=False)

    def __init__(self, f: Callable[[Any, Array], Any], size: int, names: tuple[str, ...] = ()) -> None:
        if not callable(f):
            raise InputError(f"Function takes a function of (robot, q), got {type(f).__name__}")
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            raise InputError(f"size=, the number of values f returns, must be a positive integer; got {size!r}")
        if names and len(names) != size:
            raise InputError(f"names= must have {size} names, one per component, got {len(names)}")
        object.__setattr__(self, "f", f)
        object.__setattr__(self, "labels", tuple(names) or tuple(f"x{k + 1}" for k in range(size)))
        object.__setattr__(self, "_known", weakref.WeakKeyDictionary())

    @property
    def names(self) -> tuple[str, ...]:
        return self.labels

    def _expressions(self, robot: Robot) -> differentiation.Expressions:
        found = self._known.get(robot)
        if found is None:
            found = self._known[robot] = differentiation.traced(self.f, robot, self.size)
        return found

    def value(self, robot: Robot, q: Any) -> Array:
        e = self._expressions(robot)
        return differentiation.at(e.x, list(e.q), list(_state(robot, q, robot.nq, "q")))

    def jacobian(self, robot: Robot, q: Any) -> Array:
        e = self._expressions(robot)
        return differentiation.at(e.J, list(e.q), list(_state(robot, q, robot.nq, "q")))

    def bias(self, robot: Robot, q: Any, v: Any) -> Array:
        e = self._expressions(robot)
        state = [*_state(robot, q, robot.nq, "q"), *_state(robot, v, robot.n, "v")]
        return differentiation.at(e.drift, [*e.q, *e.v], state)

    __repr__ = as_call
    _repr_html_ = as_table


def _state(robot: Robot, x: Any, size: int, name: str) -> Array:
    return robot.inputs.one_state(x, size, name)


def checked_rows(rows: Any, what: str) -> tuple[int, ...]:
    if isinstance(rows, str) and rows and set(rows) <= set(AXES):
        rows = [AXES.index(letter) for letter in rows]
    try:
        found = tuple(int(k) for k in rows)
        whole = all(k == int(k) for k in rows)
    except (TypeError, ValueError):
        found, whole = (), False
    if not found or not whole or len(set(found)) != len(found) or not set(found) <= {0, 1, 2}:
        raise InputError(
            f"{what}(rows=…) must be distinct axes or indices from 0, 1, 2, such as rows='xy' or rows=(0, 1); got {rows!r}"
        )
    return found
