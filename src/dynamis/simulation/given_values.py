"""Values that users give for parameters and inputs of a batch of motions, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Given:
    """An argument of the controller: (…, size), or one number that reaches it as a number."""

    array: Any
    number: bool

    @staticmethod
    def of(value: Any, name: str, size: int | None = None) -> Given:
        array = value if hasattr(value, "__cuda_array_interface__") else array_of(value, name)
        if array.dtype.kind not in "biuf" or (size is not None and array.shape[-1:] != (size,)):
            raise InputError(f"{name} must be {size or 'an array of'} numbers, got {type(value).__name__} {array.shape}")
        if isinstance(array, np.ndarray) and not np.isfinite(array).all():
            raise InputError(f"{name} must hold finite numbers, got {array.flat[int(np.argmin(np.isfinite(array)))]}")
        return Given(array.reshape(1), True) if array.ndim == 0 else Given(array, False)


def input_length(table: Any, name: str) -> int:
    """The length of an input from its table (rows in time, …, length)."""
    shape = np.shape(table if hasattr(table, "__cuda_array_interface__") else array_of(table, f"input {name!r}"))
    if len(shape) < 2 or not shape[0] or not shape[-1]:
        raise InputError(
            f"input {name!r} must be an array of numbers (rows in time, …, length), neither of them 0, got shape {shape}"
        )
    return int(shape[-1])


def array_of(value: Any, name: str) -> Array:
    try:
        return np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise InputError(f"{name} must be an array of numbers, with rows of the same length: {error}") from None
