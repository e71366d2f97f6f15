"""Task-space feedback with error dynamics ë + K_D ė + K_P e = 0."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table, counted
from dynamis.errors import InputError, SingularityWarning, printable
from dynamis.kinematics.tasks import Task
from dynamis.robot import Robot
from dynamis.task_space.null_space import checked_preferences, preferred_torque
from dynamis.task_space.operational import checked_instant
from dynamis.task_space.redundancy import Law, law_named
from dynamis.task_space.resolve import resolve
from dynamis.task_space.task_state import of_task

Array = npt.NDArray[Any]
Motion = Callable[[float], tuple[Any, Any, Any]]
FALLBACK_DAMPING = 0.01  # λ of a user's control law at a singular state


@dataclass(frozen=True, eq=False, repr=False)
class Gains:
    """K_P and K_D (m) of decoupled second-order errors."""

    K_P: Array
    K_D: Array

    @staticmethod
    def of(task: Task, stiffness: Any = None, damping: Any = None) -> Gains:
        """Gains from numbers or vectors; by default K_P = 100 and K_D = 2 √K_P (critical damping)."""
        K_P = _diagonal(100.0 if stiffness is None else stiffness, task, "K_P")
        K_D = 2.0 * np.sqrt(K_P) if damping is None else _diagonal(damping, task, "K_D")
        return Gains(K_P, K_D)

    __repr__ = as_call
    _repr_html_ = as_table


def _diagonal(value: Any, task: Task, name: str) -> Array:
    try:
        found = np.array(value, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros((0, 0, 0))
    if found.ndim == 2 and found.shape == (task.size, task.size) and not np.any(found - np.diag(np.diag(found))):
        found = np.diag(found)
    if found.shape not in ((), (task.size,)) or not np.isfinite(found).all() or np.any(found <= 0.0):
        raise InputError(
            f"{name} must be one positive number or {task.size} ({', '.join(task.names)}): the error dynamics "
            "decouple only with diagonal gains"
        )
    return np.broadcast_to(found, (task.size,)).copy()


def commanded_acceleration(robot: Robot, q: Any, v: Any, task: Task, desired: Any, K_P: Any, K_D: Any) -> Array:
    """ẍ_d + K_D (ẋ_d − J q̇) + K_P e_x, in place of ẍ in a redundancy resolution; ``desired`` is (x_d, ẋ_d, ẍ_d)."""
    x_d, x_d_dot, x_d_ddot = (of_task(part, task.size, "each of x_d, ẋ_d and ẍ_d") for part in desired)
    e = task.error(x_d, task.value(robot, q))
    return x_d_ddot + K_D * (x_d_dot - task.jacobian(robot, q) @ v) + K_P * e


class Feedback:
    """Task-space feedback as a controller: ``simulate(robot, t, q0, controller=Feedback(robot, task, motion))``.

    ``motion(t)`` returns (x_d, ẋ_d, ẍ_d). The law, its null space and the feedback are compiled together. ``law`` is a name
    of `least_cost_torque`, or a function with the same arguments. ``regularisation`` is the λ of damped least squares.
    ``actuated`` is as for `operational_space`; the torques of the other coordinates are zero. At a
    singular state a `SingularityWarning` is issued, and the torque is that of `resolve`, or a damped one for a user-defined
    function.

    >>> import dynamis as dy
    >>> robot, task = dy.load("panda"), dy.task_space.Position()
    >>> q0 = [0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8]
    >>> x0 = task.value(robot, q0)
    >>> hold = dy.task_space.Feedback(robot, task, lambda t: (x0, 0.0 * x0, 0.0 * x0))
    >>> hold(0.0, q0, [0.0] * 7).shape
    (7,)
    """

    def __init__(
        self,
        robot: Robot,
        task: Task,
        motion: Motion,
        law: str | Law = "driven-acceleration",
        *,
        K_P: Any = None,
        K_D: Any = None,
        null_space: Any = (),
        regularisation: float = 0.0,
        actuated: Any = "all",
    ) -> None:
        if not isinstance(robot, Robot) or not isinstance(task, Task):
            raise InputError("Feedback takes a robot, a task and a motion, such as Feedback(robot, Position(), motion)")
        if not callable(motion):
            raise InputError("motion must be a function of t that returns (x_d, ẋ_d, ẍ_d), such as Circle().from_start(x)")
        chosen, preferences, gains = law_named(law), checked_preferences(null_space), Gains.of(task, K_P, K_D)
        self.robot, self.task, self.motion, self.gains = robot, task, motion, gains
        self._name = law if isinstance(law, str) else None
        self._preferences = preferences
        self._driven = driven = sorted(robot.inputs.actuated(actuated))
        some = {} if len(driven) == robot.n else {"actuated": driven}  # for functions of users that do without
        size = task.size

        def torque(robot: Robot, q: Array, v: Array, desired: Array, damping: Array) -> Array:
            parts = desired[:size], desired[size : 2 * size], desired[2 * size :]
            command = commanded_acceleration(robot, q, v, task, parts, gains.K_P, gains.K_D)
            tau_0 = preferred_torque(preferences, robot, q, v)
            tau_0 = tau_0 if tau_0 is None else tau_0[driven]
            return self._of_all(chosen(robot, q, v, task, command, damping=damping[0], preferred=tau_0, **some))

        self.kernel = robot.compile(torque, desired=3 * size, damping=1)
        self._damping = np.array([float(regularisation)])

    def __repr__(self) -> str:
        law = self._name or "user-defined law"
        return f"<Feedback of {', '.join(self.task.names)} on {printable(self.robot.name)}: {law}>"

    def __call__(self, t: float, q: Any, v: Any) -> Array:
        desired = np.concatenate([np.asarray(part, dtype=float) for part in self.motion(t)])
        if desired.shape != (3 * self.task.size,):
            raise InputError(f"motion(t) must return x_d, ẋ_d and ẍ_d of {counted(self.task.size, 'number')} each")
        q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        tau = self.kernel(q, v, desired, self._damping)
        if np.isfinite(tau).all() or q.ndim != 1 or not all(np.isfinite(x).all() for x in (q, v, desired)):
            return tau
        return self._at_singularity(q, v, desired)

    def _at_singularity(self, q: Array, v: Array, desired: Array) -> Array:
        """The torque of `resolve` or a damped one, with a warning; raises if the task coordinates are singular."""
        checked_instant(self.robot, q, v, self.task)
        if self._name is None:
            warnings.warn(
                f"the task is singular at this state: the law is damped with λ = {FALLBACK_DAMPING:g}. Set the damping "
                "explicitly with regularisation=…",
                SingularityWarning, stacklevel=3,
            )  # fmt: skip
            return self.kernel(q, v, desired, np.array([FALLBACK_DAMPING]))
        command = commanded_acceleration(self.robot, q, v, self.task, np.split(desired, 3), self.gains.K_P, self.gains.K_D)
        found = resolve(self.robot, q, v, self.task, command, self._name, null_space=self._preferences, actuated=self._driven)
        return self._of_all(found.tau)

    def _of_all(self, tau: Any) -> Array:
        """The torques of all coordinates from those of the actuated ones."""
        tau = np.asarray(tau)
        full = np.zeros(self.robot.n, tau.dtype)
        full[self._driven] = tau
        return full
