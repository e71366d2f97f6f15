"""The closures of loops as a task of inverse kinematics: h(q) = 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.kinematics.closures import Closure, Coupled
from dynamis.kinematics.tasks import Task
from dynamis.robot import Robot

Array = npt.NDArray[Any]


@dataclass(frozen=True, repr=False)
class LoopClosures(Task):
    """h(q) of closures, whose target is zero."""

    closures: tuple[Closure, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(label for closure in self.closures for label in closure.labels)

    @property
    def geared(self) -> bool:
        """Whether full turns of a joint open a loop."""
        return any(isinstance(closure, Coupled) for closure in self.closures)

    def _rows(self, robot: Robot, q: Any, v: Any, k: int) -> Array:
        return np.array([row for closure in self.closures for row in closure.rows(robot, q, v)[k]])

    def value(self, robot: Robot, q: Any) -> Array:
        return self._rows(robot, q, np.zeros(robot.n), 0)

    def jacobian(self, robot: Robot, q: Any) -> Array:
        return self._rows(robot, q, np.zeros(robot.n), 1)

    def bias(self, robot: Robot, q: Any, v: Any) -> Array:
        return self._rows(robot, q, v, 2)

    @property
    def target_size(self) -> int:
        return 0

    def as_target(self, value: Any) -> Array:  # noqa: ARG002  # there is one
        return np.zeros(0)

    def residual(self, robot: Robot, q: Any, target: Any) -> tuple[Array, Array]:  # noqa: ARG002
        parts = [closure.rows(robot, q, np.zeros(robot.n)) for closure in self.closures]
        h, H = (np.array([row for part in parts for row in part[k]]) for k in range(2))
        return -h, H

    __repr__ = as_call
    _repr_html_ = as_table
