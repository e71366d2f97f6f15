"""Repeated execution of a compiled step on a GPU: each thread keeps its state in registers and writes it at output steps.

A step of several stages is a loop around one stage: written out, its code would not fit where a multiprocessor keeps
instructions, and three quarters of the time would go into fetching them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dynamis.compiler.code import Code
from dynamis.compiler.cuda import as_rows
from dynamis.compiler.cuda_text import block_size, render_head
from dynamis.errors import InputError

if TYPE_CHECKING:
    from dynamis.compiler.kernel import Kernel

NAME = "dynamis_march"


@dataclass(frozen=True)
class Stages:
    """A Runge–Kutta method each of whose stages needs the one before it alone.

    Stage j is at y + ``steps[j]`` h k (k of the stage before) and t + ``steps[j]`` h; ``weights`` add up to the step.
    """

    steps: tuple[float, ...]
    weights: tuple[float, ...]


RK4 = Stages((0.0, 0.5, 0.5, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6))


def render_march(code: Code, name: str, precision: str, stages: Stages | None = None) -> str:
    """The source: the function of one state, and a kernel that takes (pointer, step) of the state and of each argument behind
    time and step, the states to write, their number, the time, the step and its number, and how many reports of how many steps.

    The function gives the state after a step or, with ``stages``, its rate.
    """
    sizes = [n for _, n in code.arguments]
    given = [0, *range(3, len(sizes))]
    parameters = [f"const T *__restrict__ in{k}, long long step{k}" for k in given]
    arrays = {0: "y", 1: "t", 2: "h"} | {k: f"x{k}" for k in given[1:]}
    lines = [
        "#ifdef __CUDACC__",
        *([] if stages is None else [_table("PART", stages.steps), _table("WEIGHT", stages.weights)]),
        f'extern "C" __global__ void __launch_bounds__(BLOCK) {name}({", ".join(parameters)},',
        "    T *__restrict__ out, long long n, T begin, T length, int first, int reports, int every)",
        "{",
        "    const long long own = (long long)blockIdx.x * BLOCK + threadIdx.x;",
        "    if (own >= n)",
        "        return;",
        *(f"    T {arrays[k]}[{max(1, sizes[k])}];" for k in given),
        f"    T t[1], h[1] = {{length}}, z[{sizes[0]}];",
        *(f"    for (int k = 0; k < {sizes[k]}; ++k)\n        {arrays[k]}[k] = in{k}[own * step{k} + k];" for k in given),
        "#pragma unroll 1",
        "    for (int r = 0; r < reports; ++r) {",
        "#pragma unroll 1",
        "        for (int s = 0; s < every; ++s) {",
        "            const T now = begin + T(first + r * every + s) * length;",
        *(_whole_step(name, arrays, sizes) if stages is None else _staged_step(name, arrays, sizes, stages)),
        "        }",
        f"        for (int k = 0; k < {sizes[0]}; ++k)",
        f"            out[((long long)r * n + own) * {sizes[0]} + k] = y[k];",
        "    }",
        "}",
        "#endif",
        "",
    ]
    return "\n".join([render_head(code, name, precision), *lines])


def _table(name: str, numbers: tuple[float, ...]) -> str:
    return f"__constant__ T {name}[] = {{{', '.join(f'T({x!r})' for x in numbers)}}};"


def _whole_step(name: str, arrays: dict[int, str], sizes: list[int]) -> list[str]:
    return [
        "            t[0] = now;",
        f"            {name}_state({', '.join(arrays[k] for k in range(len(sizes)))}, z);",
        "#pragma unroll",
        f"            for (int k = 0; k < {sizes[0]}; ++k)",
        "                y[k] = z[k];",
    ]


def _staged_step(name: str, arrays: dict[int, str], sizes: list[int], stages: Stages) -> list[str]:
    """k is the rate, z where it is taken, y gathers the step's end; ``before`` is its beginning."""
    at = ["z", *(arrays[k] for k in range(1, len(sizes)))]
    return [
        f"            T before[{sizes[0]}], rate[{sizes[0]}];",
        "#pragma unroll",
        f"            for (int k = 0; k < {sizes[0]}; ++k)",
        "                before[k] = z[k] = y[k];",
        "#pragma unroll 1",
        f"            for (int j = 0; j < {len(stages.steps)}; ++j) {{",
        "                t[0] = now + PART[j] * length;",
        f"                {name}_state({', '.join(at)}, rate);",
        "                const T weight = WEIGHT[j] * length;",
        f"                const T part = j + 1 < {len(stages.steps)} ? PART[j + 1] * length : T(0);",
        "#pragma unroll",
        f"                for (int k = 0; k < {sizes[0]}; ++k) {{",
        "                    y[k] = FMA(weight, rate[k], y[k]);",
        "                    z[k] = FMA(part, rate[k], before[k]);",
        "                }",
        "            }",
    ]


def check_state(name: str, size: int, shapes: Sequence[tuple[int, ...]]) -> None:
    """Refuse a step whose result is no state: it would be written where there is no room for it."""
    if list(shapes) != [(size,)]:
        raise InputError(f"{name} must return {size} numbers per state, but returns {', '.join(map(str, shapes))}")


def march_on_gpu(
    kernel: Kernel, y: Any, others: Sequence[Any], *, t: float, h: float, reports: int, every: int, first: int,
    stages: Stages | None,
) -> Any:  # fmt: skip
    """(reports, …, N) as a CuPy array; see `march`."""
    import cupy

    code, arrays = kernel.code, [y, *others]
    check_state(code.name, code.arguments[0][1], [shape for _, shape in code.results])
    sizes = [code.arguments[0][1], *(size for _, size in code.arguments[3:])]
    single = all(a.dtype == np.float32 for a in arrays)
    dtype, precision = (np.float32, "float") if single else (np.float64, "double")
    batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
    count = math.prod(batch)
    out = cupy.empty((reports, *batch, sizes[0]), dtype)
    if count and reports:
        arguments: list[Any] = []
        for array, size in zip(arrays, sizes, strict=True):
            arguments += as_rows(cupy, array.astype(dtype, copy=False), size, batch)
        block = block_size(code, precision)
        function = kernel.cuda.made_once((NAME, precision, stages), NAME, lambda: render_march(code, NAME, precision, stages))
        numbers = (np.int64(count), dtype(t), dtype(h), np.int32(first), np.int32(reports), np.int32(every))
        function((-(-count // block),), (block,), (*arguments, out, *numbers))
    return out
