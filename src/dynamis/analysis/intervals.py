"""Interval arithmetic with outward rounding, over arrays of intervals, and expressions evaluated in it.

Each operation returns an interval that contains every exact result for operands in the given intervals
[Moore, Kearfott & Cloud 2009, ch. 2 and 4]. NumPy rounds to nearest, so each end is moved outward by one unit in the last
place of the result, and by four after sine and cosine, whose error in NumPy is smaller than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.scalar import Node, topological
from dynamis.tolerances import EPS, UNDERFLOW

Array = npt.NDArray[Any]

TWO_PI = 2.0 * np.pi


class Interval(NamedTuple):
    """The interval from ``lower`` to ``upper``, or an array of intervals."""

    lower: Any
    upper: Any


def outward(lower: Any, upper: Any, ulps: float = 1.0) -> Interval:
    """The interval widened by some units in the last place."""
    return Interval(
        lower - (np.abs(lower) * (ulps * EPS) + UNDERFLOW),
        upper + (np.abs(upper) * (ulps * EPS) + UNDERFLOW),
    )


def add(a: Interval, b: Interval) -> Interval:
    return outward(a.lower + b.lower, a.upper + b.upper)


def subtract(a: Interval, b: Interval) -> Interval:
    return outward(a.lower - b.upper, a.upper - b.lower)


def negate(a: Interval) -> Interval:
    return Interval(-a.upper, -a.lower)


def multiply(a: Interval, b: Interval) -> Interval:
    """a b; a degenerate interval requires half the products.

    >>> bool(multiply(Interval(-1.0, 2.0), Interval(3.0, 4.0)).upper >= 8.0)
    True
    """
    if isinstance(a.lower, float) and a.lower == a.upper:
        ends = (a.lower * b.lower, a.lower * b.upper)
        return outward(*ends) if a.lower >= 0.0 else outward(*ends[::-1])
    if isinstance(b.lower, float) and b.lower == b.upper:
        return multiply(b, a)
    products = a.lower * b.lower, a.lower * b.upper, a.upper * b.lower, a.upper * b.upper
    lower = np.minimum(np.minimum(products[0], products[1]), np.minimum(products[2], products[3]))
    upper = np.maximum(np.maximum(products[0], products[1]), np.maximum(products[2], products[3]))
    return outward(lower, upper)


def square(a: Interval) -> Interval:
    """a², which is non-negative, unlike the interval product a a."""
    size = magnitude(a)
    least = np.maximum(np.maximum(a.lower, -a.upper), 0.0)
    lower, upper = outward(least * least, size * size)
    return Interval(np.maximum(lower, 0.0), upper)


def divide(a: Interval, b: Interval) -> Interval:
    """a / b; unbounded where b contains zero."""
    holds_zero = (np.asarray(b.lower) <= 0.0) & (np.asarray(b.upper) >= 0.0)
    lower, upper = np.where(holds_zero, 1.0, b.lower), np.where(holds_zero, 1.0, b.upper)
    quotient = multiply(a, outward(1.0 / upper, 1.0 / lower))
    return Interval(np.where(holds_zero, -np.inf, quotient.lower), np.where(holds_zero, np.inf, quotient.upper))


def magnitude(a: Interval) -> Any:
    """The largest |x| in the interval."""
    return np.maximum(-a.lower, a.upper)


def absolute(a: Interval) -> Interval:
    return Interval(np.maximum(np.maximum(a.lower, -a.upper), 0.0), magnitude(a))


def root(a: Interval) -> Interval:
    """√a of the non-negative part."""
    lower, upper = outward(np.sqrt(np.maximum(a.lower, 0.0)), np.sqrt(np.maximum(a.upper, 0.0)))
    return Interval(np.maximum(lower, 0.0), upper)


def sine(a: Interval) -> Interval:
    return _wave(np.sin, a, 0.25)


def cosine(a: Interval) -> Interval:
    """cos a: between its values at the ends, unless a multiple of π lies between them.

    >>> float(cosine(Interval(-0.1, 0.2)).upper)
    1.0
    """
    return _wave(np.cos, a, 0.0)


def _wave(function: Any, a: Interval, crest: float) -> Interval:
    """A sine with maxima at ``crest`` + k turns and minima half a turn later.

    Where a maximum is missed because an end is within rounding of it, the error at that end is far smaller than the rounding
    added here.
    """
    whole = np.logical_not(a.upper - a.lower < TWO_PI)  # also where an end is infinite or not known
    from_, to = np.where(whole, 0.0, a.lower), np.where(whole, TWO_PI, a.upper)
    first, second = function(from_), function(to)
    lower, upper = outward(np.minimum(first, second), np.maximum(first, second), 4.0)
    start, end = from_ / TWO_PI - crest, to / TWO_PI - crest
    upper = np.where(whole | (np.floor(end) >= np.ceil(start)), 1.0, np.minimum(upper, 1.0))
    lower = np.where(whole | (np.floor(end - 0.5) >= np.ceil(start - 0.5)), -1.0, np.maximum(lower, -1.0))
    return Interval(lower, upper)


def smaller(a: Interval, b: Interval) -> Interval:
    return Interval(np.minimum(a.lower, b.lower), np.minimum(a.upper, b.upper))


def larger(a: Interval, b: Interval) -> Interval:
    return Interval(np.maximum(a.lower, b.lower), np.maximum(a.upper, b.upper))


MEANING: dict[str, Any] = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "div": divide,
    "neg": negate,
    "abs": absolute,
    "sqrt": root,
    "sin": sine,
    "cos": cosine,
    "min": smaller,
    "max": larger,
}


class IntervalProgram:
    """Expressions prepared for interval evaluation over boxes of their variables.

    >>> from dynamis import symbol
    >>> x = symbol("x")
    >>> IntervalProgram([x], [x * x])(np.array([[-1.0]]), np.array([[2.0]])).lower
    array([[0.]])
    """

    def __init__(self, variables: Sequence[Node], outputs: Sequence[Any]) -> None:
        self._outputs = list(outputs)
        self._place = {id(x): k for k, x in enumerate(variables)}
        self._steps = [node for node in topological(self._outputs) if id(node) not in self._place]
        for node in self._steps:
            if node.op not in MEANING:
                raise InputError(f"{node} cannot be enclosed: interval arithmetic does not support the operation {node.op!r}")
        last = {id(arg): k for k, node in enumerate(self._steps) for arg in node.args if isinstance(arg, Node)}
        kept = {id(x) for x in self._outputs} | set(self._place)
        self._dead: list[list[int]] = [[] for _ in self._steps]
        for key, k in last.items():
            if key not in kept:
                self._dead[k].append(key)

    def __len__(self) -> int:
        """The number of operations."""
        return len(self._steps)

    def __call__(self, lower: Array, upper: Array) -> Interval:
        """The outputs over each box: (N, variables) ends to (N, outputs) ends."""
        held: dict[int, Interval] = {key: Interval(lower[:, k], upper[:, k]) for key, k in self._place.items()}
        with np.errstate(all="ignore"):
            for node, dead in zip(self._steps, self._dead, strict=True):
                held[id(node)] = _apply(node, held)
                for key in dead:
                    del held[key]
        ends = Interval(*(np.empty((len(lower), len(self._outputs))) for _ in range(2)))
        for k, x in enumerate(self._outputs):
            for end, value in zip(ends, held[id(x)] if isinstance(x, Node) else (x, x), strict=True):
                end[:, k] = value
        # zero times infinity is not known, and an end that is not known is no bound
        np.nan_to_num(ends.lower, copy=False, nan=-np.inf, posinf=np.inf, neginf=-np.inf)
        np.nan_to_num(ends.upper, copy=False, nan=np.inf, posinf=np.inf, neginf=-np.inf)
        return ends

    def rounding(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Bounds over one box (variables,) of the magnitudes of the outputs and of their rounding errors.

        Running error analysis [Higham 2002, §3.3] of the double-precision evaluation by ``Program``. Infinite where an
        operation is discontinuous.
        """
        held = {key: Interval(lower[k : k + 1], upper[k : k + 1]) for key, k in self._place.items()}
        size = {key: float(magnitude(held[key])[0]) for key in held}
        error = dict.fromkeys(held, 0.0)
        with np.errstate(all="ignore"):
            for node in self._steps:
                held[id(node)] = _apply(node, held)
                size[id(node)] = float(np.max(magnitude(held[id(node)])))
                parts = [(size[id(a)], error[id(a)]) if isinstance(a, Node) else (abs(float(a)), 0.0) for a in node.args]
                error[id(node)] = _error(node, size[id(node)], parts)
        ends = [(size[id(x)], error[id(x)]) if isinstance(x, Node) else (abs(x), 0.0) for x in self._outputs]
        return np.array([s for s, _ in ends]), np.array([e for _, e in ends])


def _apply(node: Node, held: dict[int, Interval]) -> Interval:
    args = [held[id(a)] if isinstance(a, Node) else Interval(float(a), float(a)) for a in node.args]
    if node.op == "mul" and node.args[0] is node.args[1]:
        return square(args[0])
    result: Interval = MEANING[node.op](*args)
    return result


def _error(node: Node, size: float, parts: list[tuple[float, float]]) -> float:
    """The error of an operation for operands of given magnitudes and errors."""
    (a, da), (b, db) = parts[0], parts[-1]
    if node.op in ("add", "sub"):
        passed, computed = da + db, size + da + db
    elif node.op == "mul":
        passed, computed = a * db + b * da + da * db, (a + da) * (b + db)
    elif node.op == "neg":
        return da
    elif node.op in ("sin", "cos"):
        passed, computed = da, 4.0
    elif node.op == "div" and not isinstance(node.args[1], Node):
        passed, computed = da / b, (a + da) / b
    else:
        return float("inf")
    return (passed + EPS * computed) * (1.0 + 1e-9) + UNDERFLOW
