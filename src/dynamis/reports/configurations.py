"""Configurations of the cells of a map, compact enough for a page: 16 bits per joint, in base64."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.reports.numbers import ranges
from dynamis.robot import Robot

Array = npt.NDArray[Any]

QUANTIZATION_LEVELS = 65535  # over a joint's range: 0.0002 rad over two turns


def encoded(robot: Robot, q: Array, cells: Array, count: int) -> str:
    """``q`` (N, nq) at the cells with these numbers (N,), row by row, of ``count`` in all; the others are zero.

    An entry of q at the fraction f of its joint's range is round(f · 65535), in little-endian order.
    """
    low, high = ranges(robot)
    order = np.array([c.q_index for c in robot.model.coordinates], dtype=int)
    levels = np.zeros((count, robot.n), dtype="<u2")
    share = (q[:, order] - low) / np.maximum(high - low, 1e-300)
    levels[cells] = np.round(np.clip(share, 0.0, 1.0) * QUANTIZATION_LEVELS).astype("<u2")
    return base64.b64encode(levels.tobytes()).decode("ascii")
