"""The result of inverse kinematics: configurations, their errors, and a status sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, counted, flat, short
from dynamis.errors import InputError

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Configuration ``q`` (nq), its errors in m and rad, iteration and restart counts, and whether it is within tolerance.

    An error that is not part of the task is zero. ``status`` is a sentence; if ``found`` is False, ``q`` is the configuration
    with the smallest error, and the status gives the reason. The solution of a batch of targets has arrays with the leading
    axes of the batch; ``solution[k]`` is that of target k.
    """

    q: Array
    position_error: Any
    rotation_error: Any
    iterations: Any
    restarts: Any
    found: Any
    status: str

    @property
    def error(self) -> Any:
        """The larger of the two errors."""
        larger = np.maximum(self.position_error, self.rotation_error)
        return larger if np.ndim(larger) else float(larger)

    def __bool__(self) -> bool:
        if self.q.ndim == 1:
            return bool(self.found)
        raise InputError("a batch of solutions has no truth value: use solution.found.all() or .any()")

    def __len__(self) -> int:
        if self.q.ndim == 1:
            raise TypeError("the solution of one target has no length")
        return len(self.q)

    def __getitem__(self, place: Any) -> Solution:
        found = np.asarray(self.found)[place]
        if np.ndim(found):
            return Solution(self.q[place], self.position_error[place], self.rotation_error[place], self.iterations[place],
                            self.restarts[place], found, counted_status(found))  # fmt: skip
        after = f" after {counted(self.restarts[place], 'restart')}" if self.restarts[place] else ""
        status = f"found{after}" if found else f"not found{after}: solve for this target alone to learn the reason"
        return Solution(
            self.q[place], float(self.position_error[place]), float(self.rotation_error[place]), int(self.iterations[place]),
            int(self.restarts[place]), bool(found), status,
        )  # fmt: skip

    def __iter__(self) -> Iterator[Solution]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        what = flat(self.q, 4, 40) if self.q.ndim == 1 else f"q {self.q.shape}"
        return short(f"<Solution {what}: {self.status}>")

    _repr_html_ = as_table


def counted_status(found: Array) -> str:
    """The status of a batch."""
    return f"{int(found.sum())} of {found.size} found"
