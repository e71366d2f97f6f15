"""Checks and conversion of arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError

Array = npt.NDArray[Any]


def numbers(value: Any, name: str, dimensions: tuple[int, ...] = (0, 1)) -> Array:
    """An array of finite numbers with the allowed number of axes."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numeric, got {type(value).__name__}") from None
    if array.ndim not in dimensions:
        wanted = " or ".join({0: "a number", 1: "a list of numbers", 2: "a two-dimensional array"}[d] for d in dimensions)
        raise InputError(f"{name} has shape {array.shape}; it must be {wanted}")
    if not np.isfinite(array).all():
        found = f"contains {array[~np.isfinite(array)][0]}; every entry" if array.ndim else f"is {array}; it"
        raise InputError(f"{name} {found} must be a finite number")
    return array


def number(value: Any, name: str) -> float:
    """One finite number."""
    return float(numbers(value, name, (0,)))


def positive(value: Any, name: str) -> float:
    """One finite positive number."""
    given = number(value, name)
    if given <= 0.0:
        raise InputError(f"{name} must be positive, got {given:g}")
    return given


def limits(value: Any, count: int, name: str) -> Array:
    """One positive bound per joint; infinite for none."""
    try:
        array = np.broadcast_to(np.array(value, dtype=float), (count,))
    except (TypeError, ValueError):
        raise InputError(f"{name} must be one number for all joints or {counted(count, 'number')}, got {value!r}") from None
    if not (array > 0.0).all():
        raise InputError(f"{name} must be positive for every joint, got {array[~(array > 0.0)][0]}")
    return array
