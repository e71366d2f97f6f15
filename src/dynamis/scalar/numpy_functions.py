"""The functions of NumPy that record what they compute of nodes instead of asking for the truth of comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dynamis.errors import InputError
from dynamis.scalar.branches import is_argument
from dynamis.scalar.functions import acos, asin, atan2, exp, floor, log, maximum, minimum, sign, sqrt, tanh, where
from dynamis.scalar.linear import determinant, solve_general
from dynamis.scalar.node import Node, binary, equal, unary
from dynamis.scalar.numpy_protocol import FUNCTIONS, UFUNCS, plain, traced


def _ufunc(function: Callable[..., Any], arguments: int) -> np.ufunc:
    return np.frompyfunc(function, arguments, 1)


def _rounded(x: Any) -> Any:
    """The nearest integer, of two equally near ones the even one."""
    up = floor(x + 0.5)
    return where(up - x < 0.5, up, 2.0 * floor(0.5 * up))


def _cosh(x: Any) -> Any:
    return 0.5 * (exp(x) + exp(-x))


def _truth(x: Any) -> Any:
    """1 for what is not zero, else 0."""
    if isinstance(x, Node):
        return x if x.op in CONDITIONS else unary("not", equal(x, 0.0))
    return float(bool(x))


def _logical(op: str, neutral: float) -> np.ufunc:
    def function(x: Any, y: Any) -> Any:
        a, b = _truth(x), _truth(y)
        if isinstance(a, float):
            a, b = b, a
        if isinstance(b, float):
            return a if b == neutral else b
        return binary(op, a, b)

    return _ufunc(function, 2)


def _of_numbers(function: Callable[..., Any]) -> np.ufunc:
    """The same, but of a number and what is not a number the number."""
    return _ufunc(lambda x, y: where(np.isnan(x), y, where(np.isnan(y), x, function(x, y))), 2)


CONDITIONS = ("lt", "le", "eq", "not", "and", "or")  # operations whose values are 1 and 0
UFUNCS.update({
    np.maximum: _ufunc(maximum, 2), np.minimum: _ufunc(minimum, 2),
    np.fmax: _of_numbers(maximum), np.fmin: _of_numbers(minimum),
    np.sign: _ufunc(sign, 1), np.floor: _ufunc(floor, 1), np.ceil: _ufunc(lambda x: -floor(-x), 1),
    np.arcsin: _ufunc(asin, 1), np.arccos: _ufunc(acos, 1), np.arctan2: _ufunc(atan2, 2),
    np.arctan: _ufunc(lambda x: atan2(x, 1.0), 1), np.hypot: _ufunc(lambda x, y: sqrt(x * x + y * y), 2),
    np.deg2rad: _ufunc(lambda x: x * (np.pi / 180.0), 1), np.rad2deg: _ufunc(lambda x: x * (180.0 / np.pi), 1),
    np.radians: _ufunc(lambda x: x * (np.pi / 180.0), 1), np.degrees: _ufunc(lambda x: x * (180.0 / np.pi), 1),
    np.less: _ufunc(lambda x, y: x < y, 2), np.less_equal: _ufunc(lambda x, y: x <= y, 2),
    np.greater: _ufunc(lambda x, y: x > y, 2), np.greater_equal: _ufunc(lambda x, y: x >= y, 2),
    np.equal: _ufunc(lambda x, y: x == y, 2), np.not_equal: _ufunc(lambda x, y: x != y, 2),
})  # fmt: skip
UFUNCS.update({
    np.cosh: _ufunc(_cosh, 1), np.sinh: _ufunc(lambda x: tanh(x) * _cosh(x), 1),  # 0.5 (exp(x) − exp(−x)) cancels near zero
    np.rint: _ufunc(_rounded, 1), np.heaviside: _ufunc(lambda x, y: where(x < 0.0, 0.0, where(x > 0.0, 1.0, y)), 2),
    np.isfinite: _ufunc(lambda x: is_argument(x) or abs(x) < np.inf, 1),
    np.isnan: _ufunc(lambda x: x != x, 1),  # noqa: PLR0124
    np.isinf: _ufunc(lambda x: not is_argument(x) and abs(x) >= np.inf, 1),
    np.remainder: _ufunc(lambda x, y: x - y * floor(x / y), 2), np.floor_divide: _ufunc(lambda x, y: floor(x / y), 2),
    np.trunc: _ufunc(lambda x: sign(x) * floor(abs(x)), 1),
    np.fmod: _ufunc(lambda x, y: x - y * np.trunc(x / y), 2),
    np.copysign: _ufunc(lambda x, y: where(y < 0.0, -abs(x), abs(x)), 2),
    np.log2: _ufunc(lambda x: log(x) / np.log(2.0), 1), np.log10: _ufunc(lambda x: log(x) / np.log(10.0), 1),
})  # fmt: skip
UFUNCS[np.logical_and] = UFUNCS[np.bitwise_and] = _logical("and", 1.0)
UFUNCS[np.logical_or] = UFUNCS[np.bitwise_or] = _logical("or", 0.0)
UFUNCS[np.logical_xor] = UFUNCS[np.bitwise_xor] = _ufunc(lambda x, y: unary("not", equal(_truth(x), _truth(y))), 2)
UFUNCS[np.logical_not] = UFUNCS[np.invert] = _ufunc(lambda x: unary("not", _truth(x)), 1)


def _round(x: Any, decimals: int = 0) -> Any:
    return np.rint(traced(np.asarray(x, object)) * 10.0**decimals) / 10.0**decimals


def _select(conditions: Any, choices: Any, default: Any = 0) -> Any:
    result = default
    for condition, choice in reversed(list(zip(conditions, choices, strict=True))):
        result = where(condition, choice, result)
    return result


def _clip(x: Any, low: Any = None, high: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:  # noqa: A002
    low, high = min if low is None else low, max if high is None else high
    x = x if low is None else np.maximum(traced(np.asarray(x, object)), low)
    x = x if high is None else np.minimum(traced(np.asarray(x, object)), high)
    if out is not None:
        out[...] = x
    return x


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    """Linear interpolation between given points, outside of them constant or the values ``left`` and ``right``."""
    xp, fp = np.asarray(xp, float), np.asarray(fp, float)
    pieces = zip(xp, xp[1:], fp, fp[1:], strict=False)
    parts = [(b - a) / (q - p) * _clip(x - p, 0.0, q - p) if q > p else where(x < q, 0.0, b - a) for p, q, a, b in pieces]
    y = fp[0] + sum(parts)
    y = y if left is None else where(x < xp[0], left, y)
    return y if right is None else where(x > xp[-1], right, y)


def _where(condition: Any, *choices: Any) -> Any:
    if len(choices) != 2:
        raise InputError("numpy.where(condition) without values cannot be recorded; use numpy.where(condition, a, b)")
    return where(condition, *choices)


FUNCTIONS.update({
    np.where: _where, np.select: _select, np.clip: _clip, np.interp: _interp, np.round: _round,
    np.linalg.solve: lambda A, b: solve_general(plain(A), plain(b)),
    np.linalg.det: lambda A: determinant(plain(A)),
    np.linalg.inv: lambda A: solve_general(plain(A), np.eye(len(A))),
})  # fmt: skip
