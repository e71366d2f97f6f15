"""Numbers as a page needs them: short, finite, and as text where a person reads them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def short(values: Any, digits: int = 5) -> Any:
    """Numbers rounded to so many digits, in nested lists; what is not finite becomes None."""
    array = np.asarray(values, dtype=float)
    if array.ndim:
        return [short(x, digits) for x in array]
    x = float(array)
    return float(f"{x:.{digits}g}") if math.isfinite(x) else None


def text(value: Any, digits: int = 4) -> str:
    """A number for a table; a symbol as it is written; a dash where there is none."""
    if not isinstance(value, int | float | np.number):
        return str(value)
    if not math.isfinite(value):
        return "–"
    return f"{value:.{digits}g}".replace("-", "−") if value else "0"


def power(value: float, digits: int = 1) -> str:
    """A number with a power of ten: 1.6e−15."""
    return f"{value:.{digits}e}".replace("-", "−")


def triple(values: Any, digits: int = 3) -> str:
    return "(" + ", ".join(text(x, digits) for x in values) + ")"


def ranges(robot: Any) -> tuple[Array, Array]:
    """The ends (n,) between which each coordinate is shown: its limits, else a turn, else a metre to each side."""
    limits, turns = robot.limits, np.array([c.revolute for c in robot.model.coordinates])
    reach = np.where(turns, np.pi, 1.0)
    lower, upper = limits["lower"], limits["upper"]
    low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * reach, -reach))
    high = np.where(np.isfinite(upper), upper, np.where(np.isfinite(lower), lower + 2 * reach, reach))
    # a turn is enough to show, however often a joint may turn
    wide = turns & (high - low > 4 * np.pi)
    return np.where(wide, -np.pi, low), np.where(wide, np.pi, high)


def middle(robot: Any) -> Array:
    """A configuration in which the robot is at ease: neutral where that is within the limits, else amid them."""
    q = robot.neutral()
    low, high = ranges(robot)
    for k, c in enumerate(robot.model.coordinates):
        if c.q_index is not None and not low[k] <= q[c.q_index] <= high[k]:
            q[c.q_index] = 0.5 * (low[k] + high[k])
    return q


def unit_of(robot: Any, k: int) -> str:
    return "rad" if robot.model.coordinates[k].revolute else "m"


def torque_unit(robot: Any, k: int) -> str:
    return "N·m" if robot.model.coordinates[k].revolute else "N"


def main_frame(robot: Any) -> str:
    """The tip of a serial arm; of another robot the farthest frame of the longest branch: a foot or a hand."""
    model = robot.model
    if model.tip is not None:
        return str(model.tip)

    def depth(name: str) -> tuple[int, bool, float]:
        frame = model.frames[name]
        own = float(np.linalg.norm(np.asarray(frame.pose.p, dtype=float)))
        return len(list(model.ancestors(frame.body))), not model.children[frame.body], own

    return max(model.link_names, key=depth)
