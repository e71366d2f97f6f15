"""Quantities of a robot as a report shows them: intervals of the joints, units, the main frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def ranges(robot: Any) -> tuple[Array, Array]:
    """The interval (n,), (n,) in which each coordinate is shown: its limits, else ±π rad or ±1 m."""
    limits, turns = robot.limits, np.array([c.revolute for c in robot.model.coordinates])
    reach = np.where(turns, np.pi, 1.0)
    lower, upper = limits["lower"], limits["upper"]
    low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * reach, -reach))
    high = np.where(np.isfinite(upper), upper, np.where(np.isfinite(lower), lower + 2 * reach, reach))
    # one turn shows every configuration of a joint that can make several
    wide = turns & (high - low > 4 * np.pi)
    return np.where(wide, -np.pi, low), np.where(wide, np.pi, high)


def unit_of(robot: Any, k: int) -> str:
    return "rad" if robot.model.coordinates[k].revolute else "m"


def effort_name(robot: Any, k: int | None = None) -> str:
    """ "torque" for a revolute joint, "force" for a prismatic one; for all joints "generalised force" where there are both."""
    kinds = {c.revolute for c in robot.model.coordinates} if k is None else {robot.model.coordinates[k].revolute}
    return "generalised force" if len(kinds) > 1 else "torque" if kinds == {True} else "force"


def torque_unit(robot: Any, k: int) -> str:
    return robot.model.coordinates[k].effort_unit


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
