"""Overconstrained linkages, as Bennett's: rows that are dependent only where the loops are closed.

Such a linkage moves because rows that are independent with the loops open, by however little, depend on each other in its
closed configurations: Bennett's loop of four hinges has three joints in the tree and rows of rank 3, but of rank 2 on the curve
of closed configurations. The rows of an open state would allow no motion, so they are restricted to the rank of closed ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.kinematics.closures import Anchor, Closure
from dynamis.robot import Robot
from dynamis.simulation.loops.constrained import assembled, decomposed
from dynamis.simulation.loops.constraints import evaluate, rank_of
from dynamis.tolerances import RECURSION_ROUNDING

Array = npt.NDArray[Any]
DIRECTIONS, STEP, LEAST_STEP = 2, 0.02, 0.005  # rad or m: long against rounding, short against links
ITERATIONS = 50


def overconstrained_rank(robot: Robot, closures: tuple[Closure, ...], q: Array) -> int | None:
    """The rank of the rows at q, with the loops closed, if it is higher with the loops open, but not nearby with them closed.

    None for all other linkages, also in singular configurations, near which the rows of closed states have a higher rank.
    """
    if all(isinstance(closure, Anchor) for closure in closures):
        return None
    rest = np.zeros(robot.n)
    H = evaluate(robot, closures, q, rest).H
    free = decomposed(H)[3]
    rank = robot.n - free.shape[1]
    if rank == min(H.shape):
        return None
    rng = np.random.default_rng(0)
    moves = STEP * rng.uniform(-1.0, 1.0, (DIRECTIONS, robot.n))
    if max(_rank(robot, closures, robot.integrate(q, move)) for move in moves) <= rank:
        return None
    for direction in rng.normal(size=(DIRECTIONS, free.shape[1])):
        move = free @ direction
        ahead = robot.integrate(q, STEP / np.abs(move).max() * move)
        try:
            near = assembled(robot, closures, ahead, (), RECURSION_ROUNDING, ITERATIONS)
        except InputError:
            return None
        if np.abs(robot.difference(q, near)).max() < LEAST_STEP or _rank(robot, closures, near) != rank:
            return None
    return rank


def _rank(robot: Robot, closures: tuple[Closure, ...], q: Array) -> int:
    return rank_of(np.linalg.svd(evaluate(robot, closures, q, np.zeros(robot.n)).H, compute_uv=False))
