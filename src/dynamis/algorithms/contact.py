"""Wrenches as users give them, turned into what the recursions take."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import REST, MovingBase, chain_pose
from dynamis.model.model import Frame, Model

Array = npt.NDArray[Any]


def body_wrenches(
    model: Model, q: Array, given: list[tuple[Frame, Array]], in_world_axes: bool = True, base: MovingBase = REST
) -> dict[int, Array]:
    """Wrenches at frames' origins, in world axes or the frames' own, summed per body in its frame.

    A wrench on the base or on anything fixed to it moves no joint and is left out.
    """
    result: dict[int, Array] = {}
    for frame, wrench in given:
        if frame.body == 0:
            continue
        local = wrench
        if in_world_axes:
            R = base.pose.R @ chain_pose(model, q, frame.body).R @ frame.pose.R
            local = np.concatenate([R.T @ wrench[:3], R.T @ wrench[3:]])
        on_body = frame.pose.wrench_outward(local)
        result[frame.body] = result[frame.body] + on_body if frame.body in result else on_body
    return result
