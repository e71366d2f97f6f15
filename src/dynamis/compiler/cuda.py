"""Kernels on an NVIDIA GPU, through CuPy: arrays stay on the device, and results are CuPy arrays.

Anything that shows its device memory (CuPy, PyTorch, JAX, Numba) goes in without a copy; contiguous rows are read where
they are. Work is queued on CuPy's current stream.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from dynamis.compiler.code import Code
from dynamis.compiler.cuda_text import block_size, render
from dynamis.errors import InputError, MissingExtraError

# nothing may be fused that the code does not fuse: results are then those of the processor, up to its rounding
OPTIONS = ("--fmad=false", "--std=c++17")
NAME = "dynamis_kernel"
_CUDA_DEVICE = 2  # DLPack's number for it


def cupy_if_used(value: Any) -> Any | None:
    """The module of a CuPy array, otherwise None."""
    cupy = sys.modules.get("cupy")
    return cupy if cupy is not None and type(value) is cupy.ndarray else None


def on_gpu(value: Any) -> bool:
    """Whether this is an array in the memory of an NVIDIA GPU."""
    if isinstance(value, np.ndarray):
        return False
    if hasattr(value, "__cuda_array_interface__"):
        return True
    return hasattr(value, "__dlpack_device__") and value.__dlpack_device__()[0] == _CUDA_DEVICE


def as_cupy(value: Any) -> Any:
    """The same memory as a CuPy array; numbers from elsewhere are sent over."""
    cupy = _cupy()
    if not hasattr(value, "__cuda_array_interface__") and on_gpu(value):
        return cupy.from_dlpack(value)
    return cupy.asarray(value)


def _cupy() -> Any:
    try:
        import cupy
    except ImportError as error:
        raise MissingExtraError(
            f"GPU arrays require CuPy: pip install cupy-cuda13x, or the package for your CUDA version ({error})"
        ) from None
    return cupy


@lru_cache(maxsize=64)
def compile_module(source: str, options: tuple[str, ...]) -> Any:
    """Compiled by NVRTC when first asked for; CuPy keeps the binary on disk."""
    return _cupy().RawModule(code=source, options=options)


class CudaKernel:
    """A code compiled for the GPU, once a precision."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self._functions: dict[str, Any] = {}
        self._sizes = [size for _, size in code.arguments]
        self._blocks = {precision: block_size(code, precision) for precision in ("float", "double")}

    def function(self, precision: str) -> Any:
        """The raw kernel."""
        if precision not in self._functions:
            module = compile_module(render(self.code, NAME, precision), OPTIONS)
            self._functions[precision] = module.get_function(NAME)
        return self._functions[precision]

    def ordinary(self, values: Sequence[Any], cupy: Any) -> Any | None:
        """The only result for CuPy arrays of one type and shape, contiguous; None for all others.

        A launch takes the host a few microseconds, during which the GPU computes some hundred thousand states: nothing else is
        done here.
        """
        first, sizes = values[0], self._sizes
        shape, dtype = first.shape, first.dtype
        precision = "float" if dtype == np.float32 else "double" if dtype == np.float64 else None
        function = None if precision is None else self._functions.get(precision)
        if precision is None or function is None or len(self.code.results) != 1 or not first.size:
            return None
        batch = shape[:-1]
        arguments: list[Any] = []
        for value, size in zip(values, sizes, strict=True):
            if type(value) is not cupy.ndarray or value.dtype != dtype or value.shape != (*batch, size):
                return None
            if not value.flags.c_contiguous:
                return None
            arguments += (value, size)
        count, block = first.size // sizes[0], self._blocks[precision]
        out = cupy.ndarray((*batch, *self.code.results[0][1]), dtype)
        function((-(-count // block),), (block,), (*arguments, out, count))
        return out

    def __call__(self, *values: Any) -> Any:
        """Results for every state of the broadcast batch."""
        cupy = _cupy()
        result = self.ordinary(values, cupy)
        if result is not None:
            return result
        arrays = [as_cupy(value) for value in values]
        for (name, size), array in zip(self.code.arguments, arrays, strict=True):
            if array.dtype.kind not in "biuf" or array.ndim == 0 or array.shape[-1] != size:
                raise InputError(
                    f"{name} must be a numeric array with {size} entries on its last axis; got {array.dtype} {array.shape}"
                )
        single = all(a.dtype == np.float32 for a in arrays)
        dtype = np.float32 if single else np.float64
        batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
        count = int(np.prod(batch))
        outs = [cupy.empty((*batch, *shape), dtype) for _, shape in self.code.results]
        if count:
            precision = "float" if single else "double"
            arguments: list[Any] = []
            for (_, size), array in zip(self.code.arguments, arrays, strict=True):
                arguments += as_rows(cupy, array.astype(dtype, copy=False), size, batch)
            block = self._blocks[precision]
            self.function(precision)((-(-count // block),), (block,), (*arguments, *outs, np.int64(count)))
        return outs[0] if len(outs) == 1 else tuple(outs)


def as_rows(cupy: Any, array: Any, size: int, batch: Sequence[int]) -> tuple[Any, np.int64]:
    """(array, step) of contiguous rows: one row for all states needs no copy."""
    if array.size == size:
        return cupy.ascontiguousarray(array), np.int64(0)
    return cupy.ascontiguousarray(cupy.broadcast_to(array, (*batch, size))), np.int64(size)
