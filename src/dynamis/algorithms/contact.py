"""Conversion of external wrenches to body wrenches."""

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
    """Wrenches at frame origins, in world or frame axes, summed per body in its frame.

    Wrenches on the base and on frames fixed to it are omitted: they do not affect the joints.
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
