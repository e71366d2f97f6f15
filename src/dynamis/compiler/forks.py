"""Reset of locks and pending jobs after fork(), where only the forking thread continues."""

from __future__ import annotations

import os
from collections.abc import Callable


def at_fork(**hooks: Callable[[], object]) -> None:
    """``os.register_at_fork``, on systems that fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**hooks)
