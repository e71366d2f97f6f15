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
    """The results after all levels; one that would leave the tolerance of the first level is not taken.

    Closures of loops come before all goals: where these are not met, loops are closed with the smallest error.
    """
    if len(problem.of.tasks) == 1:
        return reached
    first = problem.levels[~problem.closed].min()
    below = [level for level in np.unique(problem.levels) if level > first]
    missed = ~reached.found if problem.loops else np.zeros(len(reached.q), dtype=bool)
    if not below and not missed.any():
        return reached
    best = Reached(reached.q.copy(), reached.errors.copy(), reached.found.copy(), reached.steps.copy())
    for row in range(len(best.q)) if below else np.flatnonzero(missed).tolist():
        one = problem.at(row)
        if missed[row]:
            _close(one, best, row, first)
        for level in below:
            q, steps = _minimised(one, best.q[row], level)
            exact = descend(one, q[None], settings=one.of_loops() if missed[row] else None)  # the last rounding errors
            best.steps[row] += steps + exact.steps[0]
            if exact.found[0] or not best.found[row]:
                best.put(np.array([row]), exact)
            if missed[row]:
                best.errors[row], best.found[row] = one.sizes(best.q[row])[:2], False
    return best


def _close(problem: Problem, best: Reached, row: int, level: float) -> None:
    """Replace a result by one with closed loops and the smallest error of this level."""
    closed = descend(problem, best.q[row : row + 1], settings=problem.of_loops(), patient=True)
    q, steps = _minimised(problem, closed.q[0], level)
    exact = descend(problem, q[None], settings=problem.of_loops(), patient=True)
    best.q[row], best.errors[row] = exact.q[0], problem.sizes(exact.q[0])[:2]
    best.steps[row] += closed.steps[0] + steps + exact.steps[0]


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
