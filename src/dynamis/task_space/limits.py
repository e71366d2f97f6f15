"""Torques within limits: the law as a small quadratic program in the joint accelerations.

The program is solved by DAQP, a dual active-set method for small dense problems (docs/decisions, "Task space", has the
measurements behind the choice).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, flat, short
from dynamis.errors import InputError
from dynamis.kinematics.quadratic_program import EQUALITY, INEQUALITY, load_solver, minimise, symmetric_bounds
from dynamis.kinematics.tasks import Task
from dynamis.robot import Robot
from dynamis.task_space.null_space import checked_preferences, preferred_torque
from dynamis.task_space.operational import checked_instant, checked_state
from dynamis.task_space.redundancy import Weight, law_weight, weight_matrix
from dynamis.task_space.resolve import task_vector
from dynamis.tolerances import SOLUTION_TOLERANCE

Array = npt.NDArray[Any]
RELAXATIONS = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)  # by which the second program may exceed the optimum of the first


@dataclass(frozen=True, eq=False, repr=False)
class LimitedTorque:
    """Torque ``tau`` of the actuated joints within the limits, the ``acceleration`` of all joints, and the cost.

    ``task_error`` is ẍ − ẍ_achieved, zero if the task is feasible; ``acceleration_excess`` is the violation of the acceleration
    limits, nonzero only if the torque limits enforce it. ``status`` is a sentence; ``active`` names the joints at a torque
    limit.
    """

    tau: Array
    acceleration: Array
    task_error: Array
    acceleration_excess: Array
    cost: float
    feasible: bool
    active: tuple[str, ...]
    status: str

    def __repr__(self) -> str:
        return short(f"<LimitedTorque {flat(self.tau)}: {self.status}>")

    _repr_html_ = as_table


def limited_torque(
    robot: Robot,
    q: Any,
    v: Any,
    task: Task,
    acceleration: Any,
    law: str = "torque",
    *,
    torque_limits: Any = "model",
    acceleration_limits: Any = None,
    weight: Weight = None,
    null_space: Any = (),
    actuated: Any = "all",
) -> LimitedTorque:
    """The torque that realises ẍ with minimal cost ½ (τ − τ₀)ᵀ W (τ − τ₀) within limits.

    ``torque_limits`` is "model" (the robot's effort limits), None, one number, n numbers, or (lower, upper);
    ``acceleration_limits`` likewise, by default None; for two joints (lower, upper) must be lists. ``law``, ``weight`` and
    ``null_space`` are as for `resolve`, ``actuated`` as for `operational_space`: limits of the other coordinates are ignored.

    If the task is infeasible, the torque limits hold, the violation of the acceleration limits is minimised first, then the
    task error; ``status`` reports both.

    Requires the extra ``qp``: pip install 'dynamis[qp]'.
    """
    daqp = load_solver("torques within limits")
    q, v = checked_state(robot, q, v, task)
    wanted = task_vector(acceleration, task)
    driven = sorted(robot.inputs.actuated(actuated))
    at = checked_instant(robot, q, v, task, actuated)
    W = law_weight(law, at.M) if weight is None else weight_matrix(weight, robot, q, v, len(driven))
    tau_0 = preferred_torque(checked_preferences(null_space), robot, q, v)
    effort = robot.limits["effort"] if isinstance(torque_limits, str) and torque_limits == "model" else torque_limits
    tau_low, tau_high = (x[driven] for x in symmetric_bounds(effort, robot.n, "torque_limits"))
    a_low, a_high = (x[driven] for x in symmetric_bounds(acceleration_limits, robot.n, "acceleration_limits"))
    M, n = at.M, at.n
    offset = n if tau_0 is None else n - tau_0[driven]  # τ − τ₀ = M q̈ + offset
    problem = _Problem(daqp, M.T @ W @ M, M.T @ W @ offset, M, tau_low - n, tau_high - n, a_low, a_high)
    a, feasible = problem.solve(at.J, wanted - at.drift)
    tau = np.clip(M @ a + n, tau_low, tau_high)  # rounding must not exceed what a motor can give
    a = np.linalg.solve(M, tau - n)
    task_error = wanted - at.drift - at.J @ a
    excess = np.maximum(np.maximum(a - a_high, a_low - a), 0.0)
    excess[excess <= SOLUTION_TOLERANCE * np.maximum(1.0, np.abs(a))] = 0.0
    names = tuple(robot.coordinate_names[k] for k in driven)
    room = SOLUTION_TOLERANCE * np.maximum(1.0, np.abs(tau))
    active = tuple(names[k] for k in np.flatnonzero((tau >= tau_high - room) | (tau <= tau_low + room)))
    near = 1e-5 * np.maximum(1.0, np.abs(a))
    held = tuple(names[k] for k in np.flatnonzero((a >= a_high - near) | (a <= a_low + near)))
    cost = 0.5 * float(tau @ W @ tau)
    status = _sentence(task, names, feasible, (active, held), task_error, excess)
    if len(driven) < robot.n:
        full = np.zeros(robot.n)
        full[driven] = tau
        a = robot.forward_dynamics(q, v, full)
    return LimitedTorque(tau, a, task_error, excess, cost, feasible, active, status)


@dataclass(frozen=True, eq=False)
class _Problem:
    """½ aᵀ H a + fᵀ a with torques M a and accelerations a between bounds."""

    daqp: Any
    H: Array
    f: Array
    M: Array
    low: Array
    high: Array
    a_low: Array
    a_high: Array

    def solve(self, J: Array, r: Array) -> tuple[Array, bool]:
        """(a, whether J a = r within all limits)."""
        found = self._program(self.H, self.f, self.a_low, self.a_high, J, r)
        if found is not None:
            return found, True
        excess = self._least_excess()
        for slack in RELAXATIONS:  # the first is enough unless numbers of very different sizes meet
            room = 0.0 if excess is None else excess + slack * (1.0 + excess)
            a_low, a_high = self.a_low - room, self.a_high + room
            # the least ‖J a − r‖² …
            nearest = self._program(J.T @ J, -J.T @ r, a_low, a_high)
            if nearest is not None:
                # … and the least cost among those that are as near
                cheapest = self._program(self.H, self.f, a_low, a_high, J, J @ nearest)
                return (nearest if cheapest is None else cheapest), False
        raise InputError("the quadratic program failed for these limits: check their magnitudes")

    def _least_excess(self) -> Array | None:
        """The violation of the acceleration limits with minimum Σ s² under the torque limits; None if not needed."""
        n = len(self.M)
        if not np.isfinite(np.concatenate([self.a_low, self.a_high])).any() or self._within() is not None:
            return None
        # variables (a, s): torques between bounds, a − s ≤ a_high, a + s ≥ a_low
        H = np.diag(np.concatenate([np.zeros(n), np.ones(n)]))
        eye, none = np.eye(n), np.zeros((n, n))
        rows = np.block([[self.M, none], [eye, -eye], [eye, eye]])
        free = np.full(n, np.inf)
        low, high = np.concatenate([self.low, -free, self.a_low]), np.concatenate([self.high, self.a_high, free])
        found = self._run(H, np.zeros(2 * n), rows, low, high, np.zeros(3 * n, dtype=np.int32))
        return np.zeros(n) if found is None else np.maximum(found[n:], 0.0)

    def _within(self) -> Array | None:
        return self._program(np.eye(len(self.M)), np.zeros(len(self.M)), self.a_low, self.a_high)

    def _program(self, H: Array, f: Array, a_low: Array, a_high: Array, J: Any = None, r: Any = None) -> Array | None:
        n, m = len(self.M), 0 if J is None else len(J)
        rows = self.M if J is None else np.vstack([self.M, J])
        equal = np.zeros(0) if J is None else r
        low, high = np.concatenate([a_low, self.low, equal]), np.concatenate([a_high, self.high, equal])
        return self._run(H, f, rows, low, high, np.array([INEQUALITY] * (2 * n) + [EQUALITY] * m, dtype=np.int32))

    def _run(self, *program: Array) -> Array | None:
        return minimise(self.daqp, *program)


def _sentence(
    task: Task, names: tuple[str, ...], feasible: bool, at: tuple[tuple[str, ...], tuple[str, ...]], error: Array, excess: Array
) -> str:
    kinds = zip(("torque", "acceleration"), at, strict=True)
    at_limits = "".join(f"; joints at their {kind} limits: {', '.join(joints)}" for kind, joints in kinds if joints)
    if feasible:
        return f"the task is feasible within the limits{at_limits}"
    parts = []
    if np.any(excess > 0.0):
        worst = int(np.argmax(excess))
        parts.append(f"the acceleration of {names[worst]} exceeds its limit by {excess[worst]:.3g}")
    k = int(np.argmax(np.abs(error)))
    parts.append(f"the task error is {np.linalg.norm(error):.3g}, largest along {task.names[k]} ({error[k]:+.3g})")
    return f"the task is infeasible within the limits; for the best torque {' and '.join(parts)}{at_limits}"
