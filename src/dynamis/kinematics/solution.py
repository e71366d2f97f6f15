"""What comes out: a configuration, how good it is, and in words why it is not better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from dynamis.display import as_table, flat, short

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """``q`` (nq) with its distance from the target in m and rad, the work it took, and whether that was within tolerance.

    What was not part of the task has no error. ``status`` is a sentence; where nothing was found, ``q`` is the nearest that was
    come to, and the status says what is in the way.
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
