"""Joints with periodic angles: a full turn gives the same pose of every body."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.joints import Revolute
from dynamis.robot import Robot
from dynamis.tolerances import RECURSION_ROUNDING

Array = npt.NDArray[Any]
TWO_PI = 2.0 * np.pi


class Turns:
    """The indices in q of the joints with periodic angles, with their limits."""

    def __init__(self, robot: Robot, limits: bool = True) -> None:
        numbered = [(c.q_index, c) for c in robot.model.coordinates if c.q_index is not None and c.revolute]
        whole = {place: c for place, c in numbered if _comes_round(robot, place)}
        self.places = np.array(sorted(whole), dtype=int)
        bounds = [(whole[k].lower, whole[k].upper) if limits else (-np.inf, np.inf) for k in self.places]
        self.lower, self.upper = np.array(bounds).reshape(-1, 2).T

    def nearest(self, q: Array, reference: Array) -> Array:
        """q (…, nq) with each such joint shifted by full turns to be closest to a reference within its limits."""
        result = np.array(q)
        angle = result[..., self.places]
        inside = ((angle >= self.lower) & (angle <= self.upper)).all()
        if inside and np.abs(angle - reference[..., self.places]).max(initial=0.0) <= np.pi:  # no turn is nearer
            return result
        turned = angle - TWO_PI * np.round((angle - reference[..., self.places]) / TWO_PI)
        # where the nearest is beyond a limit, the next turn towards the range is the nearest within; there may be none
        turned = turned - TWO_PI * np.ceil((turned - self.upper - RECURSION_ROUNDING) / TWO_PI).clip(min=0.0)
        turned = turned + TWO_PI * np.ceil((self.lower - RECURSION_ROUNDING - turned) / TWO_PI).clip(min=0.0)
        fits = (turned <= self.upper + RECURSION_ROUNDING) & (turned >= self.lower - RECURSION_ROUNDING)
        result[..., self.places] = np.where(fits, np.clip(turned, self.lower, self.upper), angle)
        return result

    def apart(self, a: Array, b: Array) -> Array:
        """The difference a − b (…, nq), of periodic joints modulo full turns."""
        gap = np.array(a - b)
        gap[..., self.places] -= TWO_PI * np.round(gap[..., self.places] / TWO_PI)
        return gap


def _comes_round(robot: Robot, place: int) -> bool:
    """Whether a full turn of this coordinate rotates every dependent body by full turns."""
    bodies = [b for _, b in robot.model.moving if b.q_index.start == place and not b.is_rotor]
    return all(isinstance(b.motion, Revolute) and float(b.ratio).is_integer() for b in bodies)
