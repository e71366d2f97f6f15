"""Where the robot is to be: a goal, a motion, or a function of time, all as (q, v, a) at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError

Array = npt.NDArray[Any]
Reference = Callable[[Any], tuple[Array, Array, Array]]


def reference_of(given: Any, name: str = "the reference") -> Reference:
    """(value, rate, second rate) at a time, from numbers (a goal), an object with ``at(t)``, or a function of t.

    >>> reference_of([0.1, 0.2])(3.0)
    (array([0.1, 0.2]), array([0., 0.]), array([0., 0.]))
    """
    if callable(getattr(given, "at", None)):
        return _checked(given.at, name)
    if callable(given):
        return _checked(given, name)
    try:
        goal = np.atleast_1d(np.array(given, dtype=float))
    except (TypeError, ValueError):
        goal = np.full((2, 2), np.nan)
    if goal.ndim != 1 or not np.isfinite(goal).all():
        raise InputError(
            f"{name} must be a goal (finite numbers), a motion with at(t), or a function of t that gives (q, v, a); "
            f"got {type(given).__name__}"
        )
    rest = np.zeros_like(goal)
    return lambda _t: (goal, rest, rest)


def rests(given: Any) -> bool:
    """Whether a reference is a goal at rest, and no motion or function of time."""
    return not callable(given) and not callable(getattr(given, "at", None))


def _checked(at: Callable[[Any], Any], name: str) -> Reference:
    def reference(t: Any) -> tuple[Array, Array, Array]:
        given = at(t)
        if not isinstance(given, tuple | list | np.ndarray) or len(given) != 3:
            raise InputError(f"{name} must give (q, v, a) at a time: three vectors, got {type(given).__name__}")
        q, v, a = (np.atleast_1d(np.asarray(x)) for x in given)
        if not q.shape == v.shape == a.shape or q.ndim != 1:
            raise InputError(
                f"{name} gives q, v and a of shapes {q.shape}, {v.shape} and {a.shape}: they must be one vector each"
            )
        return q, v, a

    return reference


def check_length(values: Array, count: int, name: str) -> None:
    """Refuse a reference for another number of joints."""
    if values.shape != (count,):
        raise InputError(f"{name} holds {values.shape[-1] if values.ndim else 1} numbers, the robot needs {count}")
