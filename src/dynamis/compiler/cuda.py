"""Kernels on an NVIDIA GPU, through CuPy: arrays stay on the device, and results are CuPy arrays.

Anything that shows its device memory (CuPy, PyTorch, JAX, Numba) goes in without a copy; contiguous rows are read where
they are. Work is queued on CuPy's current stream.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from dynamis.compiler.batches import broadcast_batch
from dynamis.compiler.code import Code
from dynamis.compiler.cuda_text import block_size, render
from dynamis.errors import InputError, MissingExtraError

# nothing may be fused that the code does not fuse: results are then those of the processor, up to its rounding
OPTIONS = ("--fmad=false", "--std=c++17")
NAME = "dynamis_kernel"
PLANS = 16  # shapes of arrays for which launches are kept
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
            f"GPU arrays require CuPy: pip install 'dynamis[cuda]', or CuPy's package for your CUDA version ({error})"
        ) from None
    return cupy


@contextlib.contextmanager
def queued_on(stream: int, device: int) -> Iterator[None]:
    """Queue work on a stream of another library, given by its address and its GPU."""
    cuda = _cupy().cuda
    with cuda.Device(device), cuda.ExternalStream(stream, device) if stream else cuda.Stream.null:
        yield


@lru_cache(maxsize=64)
def compile_module(source: str, options: tuple[str, ...]) -> Any:
    """Compiled by NVRTC when first asked for; CuPy keeps the binary on disk."""
    return _cupy().RawModule(code=source, options=options)


@dataclass(frozen=True, eq=False)
class _Plan:
    """A launch for arrays of these shapes."""

    array: Any  # CuPy's type of arrays
    dtype: Any
    shapes: list[tuple[int, ...]]
    strides: list[tuple[int, ...]]  # of contiguous arrays
    result: tuple[int, ...]
    count: int
    grid: int
    block: int
    function: int
    launch: Callable[..., None]
    own: threading.local = field(default_factory=threading.local)

    def parameters(self) -> tuple[Any, int]:
        """The values of the kernel's parameters and the address of the pointers to them; one set per thread."""
        try:
            found: tuple[Any, int, Any] = self.own.parameters
        except AttributeError:
            words = (ctypes.c_int64 * (2 * len(self.shapes) + 2))()
            for k, shape in enumerate(self.shapes):
                words[2 * k + 1] = shape[-1]
            words[len(words) - 1] = self.count
            start = ctypes.addressof(words)
            pointers = (ctypes.c_void_p * len(words))(*(start + 8 * k for k in range(len(words))))
            found = self.own.parameters = words, ctypes.addressof(pointers), pointers
        return found[:2]


class CudaKernel:
    """A code compiled for the GPU, once a precision."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self._functions: dict[Any, Any] = {}
        self._plans: dict[Any, _Plan] = {}
        self._sizes = [size for _, size in code.arguments]
        self.blocks = {precision: block_size(code, precision) for precision in ("float", "double")}

    def function(self, precision: str) -> Any:
        """The raw kernel."""
        return self.made_once(precision, NAME, lambda: render(self.code, NAME, precision))

    def made_once(self, key: Any, name: str, source: Callable[[], str]) -> Any:
        """The raw kernel of this name in a source that is rendered and compiled when first asked for by its key."""
        if key not in self._functions:
            self._functions[key] = compile_module(source(), OPTIONS).get_function(name)
        return self._functions[key]

    def ordinary(self, values: Sequence[Any], cupy: Any) -> Any | None:
        """The only result for contiguous CuPy arrays of one type and batch; None for all others.

        While the host prepares a launch, the GPU computes some hundred thousand states: what depends on the shapes only is
        prepared once, and the driver is called without CuPy's own wrapper.
        """
        first = values[0]
        plan = self._plans.get((first.shape, first.dtype.char))
        if plan is None:
            plan = self._plan(first, cupy)
            if plan is None:
                return None
        if len(values) != len(plan.shapes):
            return None
        words, parameters = plan.parameters()
        array, dtype, place = plan.array, plan.dtype, 0
        for value, shape, strides in zip(values, plan.shapes, plan.strides, strict=True):
            if type(value) is not array or value.shape != shape or value.strides != strides or value.dtype is not dtype:
                return None
            words[place] = value.data.ptr
            place += 2
        out = array(plan.result, dtype)
        words[place] = out.data.ptr
        stream = cupy.cuda.get_current_stream().ptr
        plan.launch(plan.function, plan.grid, 1, 1, plan.block, 1, 1, 0, stream, parameters, 0)
        return out

    def _plan(self, first: Any, cupy: Any) -> _Plan | None:
        precision = {"f": "float", "d": "double"}.get(first.dtype.char)
        if precision is None or precision not in self._functions or len(self.code.results) != 1 or not first.size:
            return None
        batch, block = first.shape[:-1], self.blocks[precision]
        count = first.size // self._sizes[0]
        shapes = [(*batch, size) for size in self._sizes]
        strides = [tuple(first.itemsize * math.prod(s[k + 1 :]) for k in range(len(s))) for s in shapes]
        plan = _Plan(
            cupy.ndarray, first.dtype, shapes, strides, (*batch, *self.code.results[0][1]), count,
            -(-count // block), block, self._functions[precision].kernel.ptr, cupy.cuda.driver.launchKernel,
        )  # fmt: skip
        if len(self._plans) >= PLANS:
            self._plans.clear()
        self._plans[first.shape, first.dtype.char] = plan
        return plan

    def __call__(self, *values: Any) -> Any:
        """Results for every state of the broadcast batch."""
        cupy = _cupy()
        arrays = [as_cupy(value) for value in values]
        result = self.ordinary(arrays, cupy)
        if result is not None:
            return result
        for (name, size), array in zip(self.code.arguments, arrays, strict=True):
            if array.dtype.kind not in "biuf" or array.ndim == 0 or array.shape[-1] != size:
                raise InputError(
                    f"{name} must be a numeric array with {size} entries on its last axis; got {array.dtype} {array.shape}"
                )
        single = all(a.dtype == np.float32 for a in arrays)
        dtype = np.float32 if single else np.float64
        batch = broadcast_batch({name: a for (name, _), a in zip(self.code.arguments, arrays, strict=True)})
        count = int(np.prod(batch))
        outs = [cupy.empty((*batch, *shape), dtype) for _, shape in self.code.results]
        if count:
            precision = "float" if single else "double"
            arguments: list[Any] = []
            for (_, size), array in zip(self.code.arguments, arrays, strict=True):
                arguments += as_rows(cupy, array.astype(dtype, copy=False), size, batch)
            block = self.blocks[precision]
            self.function(precision)((-(-count // block),), (block,), (*arguments, *outs, np.int64(count)))
        return outs[0] if len(outs) == 1 else tuple(outs)


def as_rows(cupy: Any, array: Any, size: int, batch: Sequence[int]) -> tuple[Any, np.int64]:
    """(array, step) of contiguous rows: one row for all states needs no copy."""
    if array.size == size:
        return cupy.ascontiguousarray(array), np.int64(0)
    return cupy.ascontiguousarray(cupy.broadcast_to(array, (*batch, size))), np.int64(size)
