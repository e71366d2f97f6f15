"""References: a constant goal, a motion, or a function of time, all as (q, v, a) at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError
from dynamis.trajectories.validate import positive

Array = npt.NDArray[Any]
Reference = Callable[[Any], tuple[Array, Array, Array]]


def reference_of(given: Any, name: str = "the reference") -> Reference:
    """(value, first and second derivative) at a time, from numbers (a goal), an object with ``at(t)``, or a function of t.

    >>> reference_of([0.1, 0.2])(3.0)
    (array([0.1, 0.2]), array([0., 0.]), array([0., 0.]))
    """
    if callable(getattr(given, "at", None)):
        return partial(_checked, given.at, name)
    if callable(given):
        return partial(_checked, given, name)
    try:
        goal = np.atleast_1d(np.array(given, dtype=float))
    except (TypeError, ValueError):
        goal = np.full((2, 2), np.nan)
    if goal.ndim != 1 or not np.isfinite(goal).all():
        raise InputError(
            f"{name} must be a goal (finite numbers), a motion with at(t), or a function of t that returns (q, v, a); got "
            f"{type(given).__name__}"
        )
    rest = np.zeros_like(goal)
    return partial(_at_rest, goal, rest)


def _at_rest(goal: Array, rest: Array, _t: Any) -> tuple[Array, Array, Array]:
    return goal, rest, rest


def duration_of(given: Any, duration: Any, settling: float = 0.0) -> float:
    """The time for which a reference is examined: the one given, or its own, 1 s without one, with a share for settling."""
    if duration is None:
        return (1.0 + settling) * float(getattr(given, "duration", 0.0) or 1.0)
    return positive(duration, "duration")


def rests(given: Any) -> bool:
    """Whether a reference is a constant goal."""
    return not callable(given) and not callable(getattr(given, "at", None))


def resting_time(given: Any) -> float | None:
    """A time after which a reference is a constant goal: of a goal, or of a motion that ends at rest; None for others."""
    if rests(given):
        return 0.0
    end, at = float(getattr(given, "duration", 0.0) or 0.0), reference_of(given)
    moves = not end or any(np.any(x) for t in (1.4 * end, 2.0 * end) for x in at(t)[1:])
    return None if moves else 2.0 * end


def _checked(at: Callable[[Any], Any], name: str, t: Any) -> tuple[Array, Array, Array]:
    """The value of a function of time, and its first two derivatives."""
    given = at(t)
    if not isinstance(given, tuple | list | np.ndarray) or len(given) != 3:
        raise InputError(f"{name} must return (q, v, a), three vectors, got {type(given).__name__}")
    q, v, a = (np.atleast_1d(np.asarray(x)) for x in given)
    if not q.shape == v.shape == a.shape or q.ndim != 1:
        raise InputError(f"{name} returned q, v and a of shapes {q.shape}, {v.shape} and {a.shape}: each must be one vector")
    return q, v, a


def check_length(values: Array, count: int, name: str) -> None:
    """Reject a reference for another number of joints."""
    if values.shape != (count,):
        raise InputError(
            f"{name} holds {counted(values.shape[-1] if values.ndim else 1, 'number')}, the robot requires {count}"
        )
