"""Whether two contenders compute the same: a ratio of two different computations says nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# of rounding that grows through a recursion and a badly conditioned mass matrix; another convention is off by far more
SAME = 1e-9
SAME_IN_FLOAT32 = 2e-2


class DisagreementError(Exception):
    """Two contenders that should compute the same do not."""


def difference(ours: Array, theirs: Array) -> float:
    """The largest difference at any state, relative to the largest number of that state."""
    mine, other = ours.reshape(len(ours), -1).astype(float), theirs.reshape(len(theirs), -1).astype(float)
    if mine.shape != other.shape or not np.isfinite(other).all():
        return float("inf")
    scale = np.abs(mine).max(axis=1)
    return float((np.abs(mine - other).max(axis=1) / np.where(scale > 0.0, scale, 1.0)).max())


def require_same(ours: Array, theirs: Array, tolerance: float = SAME) -> float:
    """The difference; raises `DisagreementError` where it is more than rounding."""
    found = difference(ours, theirs)
    if found > tolerance:
        raise DisagreementError(f"its results differ from ours by {found:.1e}: not timed")
    return found
