"""Goals of lower priority: minimised while the errors of higher priorities keep their values.

With c the change of the errors of higher priority and r the weighted errors of this level, each round minimises
|w (c + y)|² + ε² |r|² by damped least squares and adds c to y: the method of multipliers [Hestenes 1969, Powell 1969], which
converges to the minimum of |r| for c = 0 with a fixed ε.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.kinematics.damped_least_squares import Reached, descend
from dynamis.kinematics.ik_problem import Problem
from dynamis.tolerances import RANK_TOLERANCE

Array = npt.NDArray[Any]
RATIO = 1e-2  # ε
ROUNDS = 4  # each reduces c by about ε²


def lower_priorities(problem: Problem, reached: Reached) -> Reached:
    """The results after all levels; one that would leave the tolerance of the first level is not taken."""
    if len(problem.of.tasks) == 1 or len(levels := np.unique(problem.levels)) == 1:
        return reached
    best = Reached(reached.q.copy(), reached.errors.copy(), reached.found.copy(), reached.steps.copy())
    for row in range(len(best.q)):
        one = problem.at(row)
        for level in levels[1:]:
            q, steps = _minimised(one, best.q[row], level)
            exact = descend(one, q[None])  # the last rounding errors of the first level
            best.steps[row] += steps + exact.steps[0]
            if exact.found[0] or not best.found[row]:
                best.put(np.array([row]), exact)
    return best


def _minimised(problem: Problem, q: Array, level: float) -> tuple[Array, int]:
    """q with the smallest error of this level for unchanged errors of the levels above."""
    above, here = problem.levels < level, problem.levels == level
    held, steps = problem.errors(q), 0
    y = np.zeros(len(held))
    weights = problem.weights * (above + RATIO * here)
    for _ in range(ROUNDS):
        settings = problem.settings(
            weights=weights, offset=np.where(above, y - held, 0.0), tolerance=np.full(2, -1.0), shortest=RANK_TOLERANCE
        )
        reached = descend(problem, q[None], settings=settings, patient=True)
        q, steps = reached.q[0], steps + int(reached.steps[0])
        y += problem.errors(q) - held
    return q, steps
