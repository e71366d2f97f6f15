"""Code run instruction by instruction, for the first few states of a function: compiling takes as long as a hundred of them.

Rounding is that of machine code: multiply-adds are fused, sines and cosines are expanded in the same way, other functions are
those of the C library. Only the sign of a zero may differ.
"""

from __future__ import annotations

import ctypes
import math
import operator
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.code import Code
from dynamis.compiler.expand_sincos import expand_sincos
from dynamis.compiler.sincos import LARGEST_ANGLE
from dynamis.scalar.linear import PIVOT_TOLERANCE

Array = npt.NDArray[Any]
FUNCTIONS = {
    "fma": 3,
    "sqrt": 1,
    "floor": 1,
    "sin": 1,
    "cos": 1,
    "asin": 1,
    "acos": 1,
    "exp": 1,
    "log": 1,
    "tanh": 1,
    "atan2": 2,
    "pow": 2,
}


@cache
def operations() -> dict[str, Callable[..., Any]] | None:
    """What each operation does to numbers; None where the C library cannot be called."""
    try:
        library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
        c = {name: getattr(library, name) for name in FUNCTIONS}
    except (OSError, AttributeError):
        return None
    for name, count in FUNCTIONS.items():
        c[name].restype, c[name].argtypes = ctypes.c_double, [ctypes.c_double] * count
    fma, sin, cos, atan2 = c["fma"], c["sin"], c["cos"], c["atan2"]
    return {
        **c,
        "add": operator.add,
        "sub": operator.sub,
        "mul": operator.mul,
        "div": _divide,
        "neg": operator.neg,
        "abs": abs,
        "fms": lambda a, b, c: fma(a, b, -c),
        "fnma": lambda a, b, c: fma(-a, b, c),
        "sign": lambda x: x + 0.0 if x == 0.0 or x != x else math.copysign(1.0, x),  # noqa: PLR0124 - not a number
        "min": _minimum,
        "and": _minimum,
        "max": lambda a, b: -_minimum(-a, -b),
        "or": lambda a, b: -_minimum(-a, -b),
        "lt": lambda a, b: float(a < b),
        "le": lambda a, b: float(a <= b),
        "eq": lambda a, b: float(a == b),
        "not": lambda x: float(x == 0.0),
        "pivot": lambda value, scale: value if value > scale * PIVOT_TOLERANCE["double"] else 0.0,
        "where": lambda condition, a, b: a if condition != 0.0 else b,
        # of the expanded sines and cosines
        "near": lambda x: atan2(sin(x), cos(x)) if abs(x) > LARGEST_ANGLE else x,
        "odd": lambda n: math.isfinite(n) and int(n) & 1,
        "half": lambda n: math.isfinite(n) and int(n) & 2,
        "flip": lambda x, negative: -x if negative else x,
        "pick": lambda chosen, a, b: a if chosen else b,
    }


def _divide(a: float, b: float) -> float:
    if b:
        return a / b
    return math.nan if not a or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _minimum(a: float, b: float) -> float:
    """−0 is less than 0, and what is not a number is kept."""
    if a < b or a != a:  # noqa: PLR0124
        return a
    return a if a == b and math.copysign(1.0, a) < 0.0 else b


class Interpreter:
    """A function in double precision."""

    def __init__(self, code: Code) -> None:
        known = operations()
        assert known is not None
        plain = expand_sincos(code, "double")
        self._steps = [(known[i.op], i.args) for i in plain.instructions]
        self._outputs = plain.outputs
        self._shapes = [shape for _, shape in code.results]

    def __call__(self, arrays: Sequence[Array]) -> Any:
        """The results for arrays whose leading axes broadcast."""
        batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
        rows = np.concatenate([np.broadcast_to(a, (*batch, a.shape[-1])) for a in arrays], axis=-1, dtype=float)
        found = [self._at(state) for state in rows.reshape(math.prod(batch), rows.shape[-1]).tolist()]
        results = [
            np.array([values[k] for values in found], float).reshape((*batch, *shape))[()]
            for k, shape in enumerate(self._shapes)
        ]
        return results[0] if len(results) == 1 else tuple(results)

    def _at(self, state: list[float]) -> list[list[float]]:
        values: list[Any] = state
        for function, args in self._steps:
            values.append(function(*[values[x] if type(x) is int else x for x in args]))
        return [[values[x] if isinstance(x, int) else x for x in result] for result in self._outputs]
