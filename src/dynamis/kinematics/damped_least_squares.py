"""Damped least squares from many starts at once: the compiled iteration, repeated until every start has ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.kinematics.ik_iteration import ANGLE_ERROR, COUNT, ENDED, FOUND, LENGTH_ERROR, PROGRESS, Settings, first_state
from dynamis.kinematics.ik_problem import Problem

Array = npt.NDArray[Any]
MAX_ITERATIONS = 200
SLOW_PROGRESS = 1e-3  # share of the error; three digits of its minimum are enough where an iteration takes long
FEW_STEPS, LARGE_BATCH = 4, 1000  # in smaller batches so many steps take no longer than to drop the starts that have ended


@dataclass(frozen=True, eq=False)
class Reached:
    """The result of each start: q (m, nq), its errors in m and rad (m, 2), convergence (m), number of iterations (m)."""

    q: Array
    errors: Array
    found: Array
    steps: Array

    def best(self) -> int:
        return int(np.argmin(self.errors.sum(axis=1)))

    def at(self, rows: Array) -> Reached:
        return Reached(self.q[rows], self.errors[rows], self.found[rows], self.steps[rows])

    def put(self, rows: Array, others: Reached) -> None:
        """Replace the results of these rows, but not the number of iterations."""
        self.q[rows], self.errors[rows], self.found[rows] = others.q, others.errors, others.found


def descend(problem: Problem, starts: Array, *, settings: Settings | None = None, patient: bool = False) -> Reached:
    """Minimise the error from each start (m, nq) until it is within tolerance, or stagnates; ``patient``: or cannot be reduced.

    The problem has one target, or one for each start.
    """
    given = problem.vector if settings is None else settings.vector()
    if patient:
        given = given.copy()
        given[PROGRESS] = SLOW_PROGRESS if problem.of.interpreted else -np.inf
    kernel, nq = problem.of.kernel, problem.robot.nq
    if len(starts) == 1:
        state, target = first_state(starts[0]), problem.target.reshape(-1)
        for _ in range(MAX_ITERATIONS):
            state = kernel(state, target, given)
            if state[nq + ENDED]:
                break
        states = state[None]
    else:
        states = _descend_batch(kernel, nq, first_state(starts), problem.target, given)
    q, errors, found = states[:, :nq].copy(), states[:, [nq + LENGTH_ERROR, nq + ANGLE_ERROR]], states[:, nq + FOUND] != 0.0
    if problem.collision is not None and found.any():
        found[found] = ~problem.collision.in_collision(q[found])
    return Reached(q, errors, found, states[:, nq + COUNT].astype(int))


def _descend_batch(kernel: Any, nq: int, states: Array, target: Array, settings: Array) -> Array:
    going, part = np.arange(len(states)), states
    several = target.ndim == 2
    done = 0
    while going.size and done < MAX_ITERATIONS:
        several_steps = FEW_STEPS if len(part) < LARGE_BATCH else 1
        for _ in range(several_steps):  # a start that has ended is not changed
            part = kernel(part, target, settings)
        done += several_steps
        ended = part[:, nq + ENDED] != 0.0
        if ended.any():
            states[going[ended]] = part[ended]
            going, part = going[~ended], part[~ended]
            target = target[~ended] if several else target
    states[going] = part
    return states
