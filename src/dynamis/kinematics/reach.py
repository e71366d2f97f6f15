"""The reach of an arm: the largest and the smallest distance of a frame from the shoulder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from dynamis.kinematics.directions import in_order_of_q
from dynamis.model.joints import Prismatic, Revolute
from dynamis.robot import Robot
from dynamis.tolerances import FILE_PRECISION

Array = npt.NDArray[Any]
STARTS = 4  # of a search


@dataclass(frozen=True)
class Reach:
    """``largest`` and ``smallest`` distance [m] of a frame from ``origin``, which ``definition`` defines.

    ``lower`` and ``upper`` are the extremes of its coordinates in world axes [m].
    """

    largest: float
    smallest: float
    origin: Array
    definition: str
    lower: Array
    upper: Array


def reach_of(robot: Robot, frame: str, q: Array, lower: Array, upper: Array) -> Reach:
    """The extremes of the distance and of the coordinates, by bounded optimisation from the best of the configurations ``q``
    (N, nq).

    A frame that is fixed to the base keeps its distance.
    """
    origin, definition = shoulder(robot, frame)
    order = np.array([c.q_index for c in robot.model.coordinates], dtype=int)
    points = robot.pose(q, frame)[:, :3, 3]
    bounds = list(zip(lower, upper, strict=True))

    def least(values: Array, function: Callable[[Array, Array], tuple[float, Array]]) -> float:
        """The minimum of a function of position and Jacobian, from the configurations in which it is small."""

        def at(x: Array) -> tuple[float, Array]:
            state = in_order_of_q(robot, x[None])[0]
            return function(robot.pose(state, frame)[:3, 3], robot.jacobian(state, frame)[:3])

        starts = np.argsort(values)[:STARTS]
        return min(float(minimize(at, q[k, order], jac=True, method="L-BFGS-B", bounds=bounds).fun) for k in starts)

    def half_square(sign: float) -> float:
        def function(p: Array, J: Array) -> tuple[float, Array]:
            away = p - origin
            return sign * 0.5 * float(away @ away), sign * away @ J

        found = least(sign * ((points - origin) ** 2).sum(axis=1), function)
        return float(np.sqrt(max(2.0 * sign * found, 0.0)))

    def coordinate(k: int, sign: float) -> float:
        values = sign * points[:, k]
        return sign * min(least(values, lambda p, J: (sign * p[k], sign * J[k])), float(values.min()))

    largest, smallest = half_square(-1.0), half_square(1.0)
    # accuracy of the minimization near a distance of zero
    smallest = smallest if smallest > 1e-4 * largest else 0.0
    ends = [np.array([coordinate(k, sign) for k in range(3)]) for sign in (1.0, -1.0)]
    return Reach(largest, smallest, origin, definition, *ends)


def starts_with_slide(robot: Robot, frame: str) -> bool:
    """Whether the first joint on the way to the frame is prismatic: the distance from its origin says nothing of the arm."""
    model = robot.model
    chain = [i for i in model.ancestors(model.frame(frame).body) if i]
    first = model.bodies[min(chain)] if chain else None
    return first is not None and isinstance(first.motion, Prismatic)


def shoulder(robot: Robot, frame: str) -> tuple[Array, str]:
    """A point of the robot's first axis, and its definition.

    Where the first two joints on the way to the frame are revolute about axes that are not parallel, it is the point of the
    first axis nearest to the second, which is the same in every configuration; otherwise the first joint's origin.
    """
    model = robot.model
    chain = [i for i in reversed(list(model.ancestors(model.frame(frame).body))) if i]
    if not chain:
        return np.zeros(3), "the origin of the base"
    bodies = [model.bodies[i] for i in chain]
    first = bodies[0]
    assert first is not None
    p = np.asarray(first.placement.p, dtype=float)
    plain = p, f"the origin of {first.name}'s joint"
    second = bodies[1] if len(bodies) > 1 else None
    if second is None or not (isinstance(first.motion, Revolute) and isinstance(second.motion, Revolute)):
        return plain
    X = first.pose(robot.home()) @ second.placement
    a: Array = np.asarray(first.placement.R @ first.motion.axis, dtype=float)
    b: Array = np.asarray(X.R @ second.motion.axis, dtype=float)
    normal = np.cross(a, b)
    if np.linalg.norm(normal) < FILE_PRECISION:
        return plain
    # the foot on the first axis of the common normal of the two axes
    along = np.cross(np.asarray(X.p, dtype=float) - p, b) @ normal / (normal @ normal)
    return p + along * a, "the shoulder (the point of the first joint's axis nearest to the second joint's axis)"
