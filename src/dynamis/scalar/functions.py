"""Mathematical functions that take a float, a node, or an array of either."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dynamis.scalar.node import Node, as_scalar, binary, select, unary


def _of_one(op: str, numeric: Any, of_float: Any = None) -> Any:
    def function(x: Any) -> Any:
        if of_float is not None and isinstance(x, float):
            return of_float(x)
        if isinstance(x, Node):
            return unary(op, x)
        if isinstance(x, np.ndarray) and x.dtype == object:
            return np.array([function(e) for e in x.flat], dtype=object).reshape(x.shape)
        return numeric(x)

    function.__name__ = op
    function.__doc__ = f"{op}(x), for a number, a symbol, or an array of them."
    return function


sin = _of_one("sin", np.sin, math.sin)
cos = _of_one("cos", np.cos, math.cos)
asin = _of_one("asin", np.arcsin)
acos = _of_one("acos", np.arccos)
sqrt = _of_one("sqrt", np.sqrt)
exp = _of_one("exp", np.exp)
log = _of_one("log", np.log)
tanh = _of_one("tanh", np.tanh)
sign = _of_one("sign", np.sign)
floor = _of_one("floor", np.floor)
kept = _of_one("keep", np.asarray, float)
kept.__doc__ = "The value itself; expressions made with it take in neither its sign nor the terms of its sum."


def _is_symbolic(x: Any) -> bool:
    return isinstance(x, Node) or (isinstance(x, np.ndarray) and x.dtype == object)


def _of_several(scalar: Any, numeric: Any, name: str, doc: str) -> Any:
    lifted = np.frompyfunc(lambda *xs: scalar(*(as_scalar(x, name) for x in xs)), numeric.nin, 1)

    def function(*xs: Any) -> Any:
        symbolic = any(map(_is_symbolic, xs))
        return lifted(*xs) if symbolic else numeric(*xs)

    function.__name__ = name
    function.__doc__ = doc
    return function


atan2 = _of_several(lambda a, b: binary("atan2", a, b), np.arctan2, "atan2", "The angle of the point (x, y): atan2(y, x).")
minimum = _of_several(lambda a, b: binary("min", a, b), np.minimum, "minimum", "The smaller of two values.")
maximum = _of_several(lambda a, b: binary("max", a, b), np.maximum, "maximum", "The larger of two values.")


def where(condition: Any, a: Any, b: Any) -> Any:
    """``a`` where the condition holds, else ``b``: the traceable form of if.

    >>> from dynamis.scalar import symbol, where
    >>> x = symbol("x")
    >>> where(x < 0.0, -x, x)
    where(x < 0, -x, x)
    """
    if any(map(_is_symbolic, (condition, a, b))):
        lifted = np.frompyfunc(lambda c, x, y: select(as_scalar(c + 0.0), as_scalar(x), as_scalar(y)), 3, 1)
        return lifted(condition, a, b)
    return np.where(condition, a, b)
