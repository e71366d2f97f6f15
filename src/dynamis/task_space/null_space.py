"""Null-space objectives: preferred torques of a redundant robot.

A term specifies a joint acceleration a₀; τ₀ = M a₀ is passed to a law as ``preferred=``, which projects it into the null space
of the task (equation (8) of the exam: M (1 − J^# J) q̈₀). `Compensation` specifies τ₀ = n: a law then minimises the torque in
addition to that for gravity and Coriolis forces.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table, counted
from dynamis.errors import InputError
from dynamis.kinematics.jacobian_measures import volume
from dynamis.kinematics.tasks import Function, Task
from dynamis.robot import Robot

Array = npt.NDArray[Any]


class Preference(ABC):
    """A null-space objective."""

    @abstractmethod
    def torque(self, robot: Robot, q: Any, v: Any) -> Array:
        """τ₀ (n)."""


@dataclass(frozen=True, repr=False)
class Damping(Preference):
    """a₀ = −d v: null-space velocities decay with time constant 1/d."""

    rate: float

    def __post_init__(self) -> None:
        _positive(self.rate, "Damping(rate)")

    def torque(self, robot: Robot, q: Any, v: Any) -> Array:
        return robot.mass_matrix(q) @ (-self.rate * np.asarray(v))

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class Compensation(Preference):
    """τ₀ = n: compensation of gravity, Coriolis forces, friction and springs in the null space."""

    def torque(self, robot: Robot, q: Any, v: Any) -> Array:
        return robot.bias(q, v)

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, eq=False, repr=False)
class Posture(Preference):
    """a₀ = k (q_rest − q): attraction to a configuration, for robots without quaternions."""

    rest: Any
    gain: float = 25.0

    def torque(self, robot: Robot, q: Any, v: Any) -> Array:  # noqa: ARG002  # this one asks for a place, not a speed
        rest = np.asarray(self.rest, dtype=float)
        if robot.nq != robot.n or rest.shape != (robot.n,):
            raise InputError(
                f"Posture(rest) takes {counted(robot.n, 'joint position')} of a robot without quaternions, got "
                f"shape {rest.shape}"
            )
        return robot.mass_matrix(q) @ (self.gain * (rest - np.asarray(q)))

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class AwayFromLimits(Preference):
    """a₀ = −k ∇U, U = ½ Σ ((q − middle)/range)²: towards the middle of the joint ranges [Liégeois 1977].

    Coordinates without limits are not affected.
    """

    gain: float = 25.0

    def __post_init__(self) -> None:
        _positive(self.gain, "AwayFromLimits(gain)")

    def torque(self, robot: Robot, q: Any, v: Any) -> Array:  # noqa: ARG002  # this one asks for a place, not a speed
        lower, upper = (np.asarray(robot.limits[key], dtype=float) for key in ("lower", "upper"))
        places = [c.q_index for c in robot.model.coordinates]
        slope = []
        for k, place in enumerate(places):
            bounded = place is not None and np.isfinite(upper[k] - lower[k]) and upper[k] > lower[k]
            slope.append((np.asarray(q)[place] - 0.5 * (lower[k] + upper[k])) / (upper[k] - lower[k]) ** 2 if bounded else 0.0)
        return robot.mass_matrix(q) @ (-self.gain * np.array(slope))

    __repr__ = as_call
    _repr_html_ = as_table


class Gradient(Preference):
    """a₀ = k ∇h along v, to increase a user-defined function h(robot, q); k < 0 decreases it."""

    def __init__(self, h: Callable[[Any, Array], Any], gain: float = 1.0) -> None:
        if not isinstance(gain, int | float | np.number) or not np.isfinite(gain):
            raise InputError(f"Gradient(gain) takes a number, got {gain!r}")
        self.gain, self._function = float(gain), Function(h, 1)

    @staticmethod
    def of_manipulability(task: Task, gain: float = 1.0) -> Gradient:
        """a₀ = k ∇w, w = √det(J Jᵀ): towards configurations of high manipulability [Yoshikawa 1985].

        w has no gradient where it is zero; start from a regular configuration.
        """
        return Gradient(lambda robot, q: np.array([volume(task.jacobian(robot, q))]), gain)

    def torque(self, robot: Robot, q: Any, v: Any) -> Array:  # noqa: ARG002  # this one asks for a place, not a speed
        return robot.mass_matrix(q) @ (self.gain * self._function.jacobian(robot, q)[0])

    def __repr__(self) -> str:
        return f"<Gradient with gain {self.gain:g}>"


def preferred_torque(preferences: Sequence[Preference], robot: Robot, q: Any, v: Any) -> Array | None:
    """The sum of the preferred torques; None if there are none."""
    torques = [preference.torque(robot, q, v) for preference in preferences]
    return sum(torques[1:], torques[0]) if torques else None


def checked_preferences(given: Any) -> tuple[Preference, ...]:
    preferences = (given,) if isinstance(given, Preference) else tuple(given or ())
    for preference in preferences:
        if not isinstance(preference, Preference):
            raise InputError(
                "null_space= takes objectives such as Damping(5.0), Posture(q), AwayFromLimits(), Gradient(h), Compensation(); "
                f"got {type(preference).__name__}"
            )
    return preferences


def _positive(value: Any, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 < value < np.inf:
        raise InputError(f"{what} takes a positive number, got {value!r}")
