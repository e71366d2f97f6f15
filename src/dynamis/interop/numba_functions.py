"""Compiled functions for Numba: machine code called from ``@numba.njit`` functions, without passing through Python."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dynamis.compiler import jit
from dynamis.compiler.kernel import GOOD, Kernel
from dynamis.errors import InputError, MissingExtraError

_loaded: list[jit.Loaded] = []  # functions that Numba compiles keep addresses, not objects

# One state, whose arguments and result lie one behind the other. Better code may take the place of a loop at any time.
_CALL = """
define void @loop(ptr %state) {{
  %args = alloca [{operands} x ptr], align 8
  %dims = alloca i64, align 8
  %steps = alloca [{strides} x i64], align 8
  store i64 1, ptr %dims, align 8
{stores}
  %single_place = inttoptr i64 {single} to ptr
  %general_place = inttoptr i64 {general} to ptr
  %single = load ptr, ptr %single_place, align 8
  %general = load ptr, ptr %general_place, align 8
  %missing = icmp eq ptr %single, null
  %chosen = select i1 %missing, ptr %general, ptr %single
  %services = inttoptr i64 {services} to ptr
  call void %chosen(ptr %args, ptr %dims, ptr %steps, ptr %services)
  ret void
}}
"""


def numba_function(kernel: Kernel) -> Any:
    """A function of one state for Numba: vectors in, a new array, or a number, out."""
    try:
        from numba import literal_unroll, njit
    except ImportError:
        raise MissingExtraError("functions for Numba require Numba: pip install 'dynamis[numba]'") from None
    kernel.ufunc()  # stays in memory until the process ends
    compiled = kernel.compiled("double")
    if len(compiled.shapes) != 1:
        raise InputError(f"{kernel.name} returns {len(compiled.shapes)} arrays: return one, such as np.concatenate of them")
    sizes, shape = tuple(size for _, size in kernel.arguments), compiled.shapes[0]
    call = _call(kernel, sizes, shape)
    count, given, size, scalar = len(sizes), sum(sizes), math.prod(shape), shape == ()
    message = f"{kernel.name} takes vectors with {', '.join(f'{size} ({name})' for name, size in kernel.arguments)} entries"

    def evaluate(*arguments):  # type: ignore[no-untyped-def]  # Numba finds the types
        if len(arguments) != count:
            raise ValueError(message)
        state, k, place = np.empty(given + size), 0, 0
        for argument in literal_unroll(arguments):
            if len(argument) != sizes[k]:
                raise ValueError(message)
            for x in argument:
                state[place] = x
                place += 1
            k += 1  # noqa: SIM113, Numba does not enumerate arguments of different types
        call(state.ctypes)
        return state[given] if scalar else state[given:].reshape(shape)

    evaluate.__name__ = evaluate.__qualname__ = kernel.name
    return njit(evaluate)


def _call(kernel: Kernel, sizes: Sequence[int], shape: tuple[int, ...]) -> Any:
    """A C function of the address of a state, which Numba can call."""
    compiled, width = kernel.compiled("double"), 8
    lengths = [*sizes, math.prod(shape)]
    inner = [1] * len(sizes) + [math.prod(shape[k + 1 :]) for k in range(len(shape))]
    strides = [width * x for x in (*lengths, *inner)]
    lines = []
    for k in range(len(lengths)):
        lines += [
            f"  %x{k} = getelementptr double, ptr %state, i64 {sum(lengths[:k])}",
            f"  %a{k} = getelementptr ptr, ptr %args, i64 {k}",
            f"  store ptr %x{k}, ptr %a{k}, align 8",
        ]
    for k, stride in enumerate(strides):
        lines += [f"  %s{k} = getelementptr i64, ptr %steps, i64 {k}", f"  store i64 {stride}, ptr %s{k}, align 8"]
    text = _CALL.format(
        operands=len(lengths), strides=len(strides), stores="\n".join(lines), single=ctypes.addressof(compiled.single),
        general=compiled.gufunc.place, services=compiled.gufunc.services,
    )  # fmt: skip
    loaded = jit.Loaded(jit.assemble(text, GOOD))
    _loaded.append(loaded)
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(loaded.address)
