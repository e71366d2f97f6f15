"""The result of inverse kinematics: a configuration, its errors, and a status sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from dynamis.display import as_table, flat, short

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Configuration ``q`` (nq), its errors in m and rad, iteration and restart counts, and whether it is within tolerance.

    An error that is not part of the task is zero. ``status`` is a sentence; if ``found`` is False, ``q`` is the configuration
    with the smallest error, and the status gives the reason.
    """

    q: Array
    position_error: float
    rotation_error: float
    iterations: int
    restarts: int
    found: bool
    status: str

    @property
    def error(self) -> float:
        """The larger of the two errors."""
        return max(self.position_error, self.rotation_error)

    def __repr__(self) -> str:
        return short(f"<Solution {flat(self.q, 4, 40)}: {self.status}>")

    _repr_html_ = as_table
