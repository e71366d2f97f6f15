"""Damped least squares from many starts at once.

Each step solves (JᵀJ + λ 1) dv = Jᵀe with λ = μ |e|², so that the damping vanishes near the target and the last steps converge
quadratically [Levenberg 1944, Marquardt 1963; Yamashita & Fukushima 2001 for λ ~ |e|²]. A step that increases the error is
rejected, and μ is increased. Joints pushed against a limit are fixed for the step; steps beyond a limit are clipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.kinematics.ik_problem import Problem
from dynamis.tolerances import SUM_ROUNDING

Array = npt.NDArray[Any]
MAX_ITERATIONS = 200
INITIAL_DAMPING, MIN_DAMPING = 0.1, 1e-6  # μ
MAX_STEP = 1.0  # rad or m, of any joint
STAGNATION_STEPS = 12  # a start whose error shrinks by less than MIN_PROGRESS in so many steps is given up
MIN_PROGRESS = 0.01  # of the error


@dataclass(frozen=True, eq=False)
class Reached:
    """The result of each start: q (m, nq), its errors in m and rad (m, 2), convergence (m), number of steps."""

    q: Array
    errors: Array
    found: Array
    steps: int

    def best(self) -> int:
        return int(np.argmin(self.errors.sum(axis=1)))


def descend(task: Problem, starts: Array, tolerance: Array, patient: bool = False) -> Reached:
    """Minimise the error from each start (m, nq) until it is within tolerance (2), or stagnates."""
    q = np.array(starts, dtype=float)
    e, sizes = task.errors(q)
    mu = np.full(len(q), INITIAL_DAMPING)
    found: Array = np.asarray((sizes <= tolerance).all(axis=1))
    going = np.flatnonzero(~found)
    before = np.linalg.norm(e, axis=1)
    steps = 0
    while going.size and steps < MAX_ITERATIONS:
        steps += 1
        dv = _step(task, q[going], e[going], mu[going])
        tried = task.moved(q[going], dv)
        e_tried, sizes_tried = task.errors(tried)
        better = (e_tried**2).sum(axis=1) < (e[going] ** 2).sum(axis=1)
        taken = going[better]
        q[taken], e[taken], sizes[taken] = tried[better], e_tried[better], sizes_tried[better]
        mu[going] = np.where(better, np.maximum(mu[going] / 5.0, MIN_DAMPING), mu[going] * 4.0)
        found[going] = (sizes[going] <= tolerance).all(axis=1)
        ended = found[going] | (np.abs(dv).max(axis=1) < SUM_ROUNDING)
        if steps % STAGNATION_STEPS == 0 and not patient:
            now = np.linalg.norm(e, axis=1)
            ended |= now[going] > (1.0 - MIN_PROGRESS) * before[going]
            before = now
        going = going[~ended]
    return Reached(q, sizes, found, steps)


def _step(task: Problem, q: Array, e: Array, mu: Array) -> Array:
    J = task.jacobian(q)
    push = np.einsum("mkn,mk->mn", J, e)
    free = ~task.blocked(q, push)
    J = J * free[:, None, :]
    damping = mu * (e**2).sum(axis=1) + 1e-12  # regular also where joints are redundant
    H = np.einsum("mki,mkj->mij", J, J) + damping[:, None, None] * np.eye(J.shape[2])
    dv = np.linalg.solve(H, (push * free)[..., None])[..., 0]
    return np.asarray(dv * np.minimum(1.0, MAX_STEP / np.maximum(np.abs(dv).max(axis=1), 1e-300))[:, None])
