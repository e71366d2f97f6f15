"""Compiled Λ, μ, p and a law for batches of states; the damping is an argument."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.cuda import as_cupy, on_gpu
from dynamis.compiler.kernel import Kernel
from dynamis.display import counted
from dynamis.errors import InputError, SingularityWarning
from dynamis.kinematics.tasks import Task
from dynamis.robot import Robot
from dynamis.scalar import solve_positive
from dynamis.task_space.null_space import Preference, checked_preferences, preferred_torque
from dynamis.task_space.operational import operational_terms
from dynamis.task_space.redundancy import Law, law_named
from dynamis.task_space.task_state import TaskState, solved

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class TaskKernels:
    """Compiled task-space functions of a robot and a task for batches; leading axes broadcast.

    Results are not finite at states where the task is singular to rounding in double precision; a `SingularityWarning` gives
    their number. A ``damping`` λ > 0, one number or one per state (…), keeps all results finite. GPU arrays give GPU results,
    without the warning.
    """

    inertia_kernel: Kernel
    terms_kernel: Kernel
    bias_kernel: Kernel
    law_kernel: Kernel

    def Lambda(self, q: Any, damping: Any = 0.0) -> Array:
        """Λ (…, m, m)."""
        return _called(self.inertia_kernel, (q,), damping)

    def bias(self, q: Any, v: Any, damping: Any = 0.0) -> Array:
        """μ + p (…, m): the task force for zero task acceleration."""
        return _called(self.bias_kernel, (q, v), damping)

    def terms(self, q: Any, v: Any, damping: Any = 0.0) -> tuple[Array, Array, Array]:
        """Λ (…, m, m), μ and p (…, m)."""
        return _called(self.terms_kernel, (q, v), damping)

    def law(self, q: Any, v: Any, acceleration: Any, damping: Any = 0.0) -> Array:
        """τ (…, n) of the law for accelerations ẍ (…, m)."""
        return _called(self.law_kernel, (q, v, acceleration), damping)

    def __repr__(self) -> str:
        return f"<TaskKernels: Λ, its terms and the law {self.law_kernel.name}, compiled>"


def task_kernels(
    robot: Robot, task: Task, law: str | Law = "driven-acceleration", *, null_space: Preference | Sequence[Preference] = ()
) -> TaskKernels:
    """Λ, μ, p and a law (default: "driven-acceleration"), compiled for batches of states.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("panda")
    >>> compiled = dy.task_space.task_kernels(robot, dy.task_space.Position())
    >>> q = robot.random(0, 1000)
    >>> compiled.Lambda(q).shape, compiled.law(q, np.zeros(7), [0.0, 0.0, 1.0]).shape
    ((1000, 3, 3), (1000, 7))
    """
    if not isinstance(robot, Robot) or not isinstance(task, Task):
        raise InputError("task_kernels takes a robot and a task, such as task_kernels(dynamis.load('panda'), Position())")
    chosen, preferences = law_named(law), checked_preferences(null_space)

    def inertia(robot: Robot, q: Array, damping: Array) -> Array:
        J = task.jacobian(robot, q)
        mobility = J @ solve_positive(robot.mass_matrix(q), J.T)
        return solved(mobility, np.eye(task.size), damping[0])

    def bias(robot: Robot, q: Array, v: Array, damping: Array) -> Array:
        at = TaskState.of(robot, q, v, task)
        return solved(at.mobility, at.beta, damping[0])

    def terms(robot: Robot, q: Array, v: Array, damping: Array) -> tuple[Array, Array, Array]:
        return operational_terms(robot, q, v, task, damping[0])

    def torque(robot: Robot, q: Array, v: Array, acceleration: Array, damping: Array) -> Array:
        tau_0 = preferred_torque(preferences, robot, q, v)
        return chosen(robot, q, v, task, acceleration, damping=damping[0], preferred=tau_0)

    return TaskKernels(
        robot.compile(inertia, damping=1),
        robot.compile(terms, damping=1),
        robot.compile(bias, damping=1),
        robot.compile(torque, acceleration=task.size, damping=1),
    )


def _called(kernel: Kernel, arrays: tuple[Any, ...], damping: Any) -> Any:
    gpu = any(map(on_gpu, arrays))
    given = [as_cupy(x) if gpu else np.asarray(x) for x in arrays]
    single = all(x.dtype == np.float32 for x in given)
    # one number for each state: a last axis of length one
    level: Array = np.asarray(damping, dtype=np.float32 if single else np.float64)[..., None]
    if not (np.isfinite(level) & (level >= 0.0)).all():
        raise InputError("damping must be a non-negative number, or one per state")
    result = kernel(*given, as_cupy(level) if gpu else level)
    parts = result if isinstance(result, tuple) else (result,)
    if isinstance(parts[0], np.ndarray):
        _warn_not_finite(parts, kernel.name)
    return result


def _warn_not_finite(parts: tuple[Array, ...], name: str) -> None:
    """Warn about the number of states whose results are not finite."""
    if all(np.isfinite(part).all() for part in parts):
        return
    first = parts[0]
    trailing = {"inertia": 2, "terms": 2}.get(name, 1)
    lost = ~np.isfinite(first).reshape(*first.shape[: first.ndim - trailing], -1).all(axis=-1)
    where = np.argwhere(np.atleast_1d(lost))
    place = f", the first at index {tuple(int(k) for k in where[0])}" if lost.ndim and len(where) else ""
    warnings.warn(
        f"the task is singular at {int(lost.sum())} of {counted(lost.size, 'state')}{place}: the result there is not finite; "
        "give damping=… for finite results",
        SingularityWarning, stacklevel=4,
    )  # fmt: skip
