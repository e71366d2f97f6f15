"""Goals of inverse kinematics: tasks with their targets, weights and priorities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table, counted
from dynamis.errors import InputError
from dynamis.kinematics.tasks import Task

Array = npt.NDArray[Any]
SMALLEST_WEIGHT = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class Goal:
    """A task and the target it shall reach.

    The form of the target is that of the task's value: a point for `Position`, `LookAt` and `CenterOfMass`, a rotation matrix
    for `Orientation`, a pose for `PoseTask`, a vector for `Direction`, positions for `JointPositions`, a list for `Stacked`.
    Leading axes are a batch.

    ``weight``, one number or one per component, multiplies the error; goals of the same ``priority`` are weighed against each
    other. A goal of a lower priority (a larger number) is pursued as far as it does not change the errors of higher ones.

    >>> import dynamis as dy
    >>> ts = dy.task_space
    >>> ts.Goal(ts.Position("left_hand"), [0.3, 0.2, 0.9], priority=2).priority
    2
    """

    task: Task
    target: Any
    weight: Any = 1.0
    priority: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.task, Task):
            raise InputError(f"Goal takes a task, such as Position('hand'), and its target; got {type(self.task).__name__}")
        if isinstance(self.priority, bool) or not isinstance(self.priority, int | np.integer) or self.priority < 1:
            raise InputError(f"priority= must be a positive integer, 1 for the most important goals; got {self.priority!r}")
        object.__setattr__(self, "weight", checked_weights(self.weight, self.task.size, "weight="))

    __repr__ = as_call
    _repr_html_ = as_table


def checked_weights(weights: Any, count: int, name: str = "weights=") -> Array:
    """One number or one per component, none negative, as an array (count).

    Positive ones are at least `SMALLEST_WEIGHT` of the largest: smaller ones would be rounding beside it.
    """
    try:
        array = np.array(weights, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be {counted(count, 'number')}, got {weights!r}") from None
    if array.shape not in ((), (count,)) or not np.isfinite(array).all() or (array < 0.0).any() or not array.any():
        raise InputError(f"{name} must be {counted(count, 'finite non-negative number')}, not all zero, got {weights!r}")
    return np.broadcast_to(np.where(array > 0.0, np.maximum(array, SMALLEST_WEIGHT * array.max()), 0.0), (count,)).copy()
