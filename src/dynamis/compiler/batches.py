"""Batches of arrays: their layout for machine code, arrays for results, slices for threads."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.threads import share
from dynamis.errors import InputError

Array = npt.NDArray[Any]

LATE = 200_000  # work, in cost times states, that is done while a sleeping thread wakes: some 0.05 ms


def broadcast_batch(
    arrays: Mapping[str, Any], broadcast_shapes: Callable[..., tuple[int, ...]] = np.broadcast_shapes
) -> tuple[int, ...]:
    """The common batch shape of named arrays, or of tensors with their own ``broadcast_shapes``."""
    try:
        return broadcast_shapes(*(a.shape[:-1] for a in arrays.values()))
    except (ValueError, RuntimeError):
        shapes = ", ".join(f"{name} {tuple(a.shape)}" for name, a in arrays.items())
        raise InputError(f"the leading (batch) axes do not broadcast: {shapes}") from None


def ordinary(array: Array, dtype: np.dtype[Any], batch: tuple[int, ...]) -> Array:
    """The array as machine code reads it: a vector, or a contiguous batch of this shape."""
    if array.ndim > 1 and array.shape[:-1] != batch:
        array = np.broadcast_to(array, (*batch, array.shape[-1]))
    return np.require(array, dtype, ("C", "A"))


def check_destination(out: Any, shapes: Sequence[tuple[int, ...]], dtype: np.dtype[Any]) -> None:
    """Refuse an ``out=`` that cannot hold the results."""
    outs = out if isinstance(out, tuple) else (out,)
    if len(outs) != len(shapes):
        raise InputError(f"out= must be a tuple of {len(shapes)} arrays, got {len(outs)}")
    for x, shape in zip(outs, shapes, strict=True):
        if not isinstance(x, np.ndarray):
            raise InputError(f"out= must be an array, got {type(x).__name__}")
        if x.shape != shape or x.dtype != dtype:
            raise InputError(f"out= must be an array of shape {shape} and type {dtype}, got {x.shape} and {x.dtype}")
        if not x.flags.writeable:
            raise InputError("out= must be an array that can be written, got a read-only one")


def in_threads(
    serial: Callable[..., Any], cost: int, shapes: Sequence[tuple[int, ...]], arrays: Sequence[Array], batch: tuple[int, ...],
    threads: int, out: Any,
) -> Any:  # fmt: skip
    """The batch in slices, each a call of ``serial`` without the interpreter's lock; ``cost`` is the work per state."""
    count = math.prod(batch)
    # the caller begins at once, so it takes more, and need not wait for the others
    own = min(1.0, (1.0 + (threads - 1) * LATE / max(1, cost * count)) / threads)
    edges = [0, *(round(count * (own + (1.0 - own) * k / (threads - 1))) for k in range(threads))]
    outs = out if out is not None else tuple(np.empty((*batch, *shape), arrays[0].dtype) for shape in shapes)
    outs = outs if isinstance(outs, tuple) else (outs,)
    rows = [a if a.ndim == 1 else a.reshape(count, a.shape[-1]) for a in arrays]
    flat = [x.reshape(count, *shape) for x, shape in zip(outs, shapes, strict=True)]

    def run(where: slice) -> None:
        pieces = tuple(x[where] for x in flat)
        serial(*(a if a.ndim == 1 else a[where] for a in rows), out=pieces[0] if len(pieces) == 1 else pieces)

    share(run, [slice(low, high) for low, high in itertools.pairwise(edges) if low < high])
    return outs[0] if len(outs) == 1 else outs
