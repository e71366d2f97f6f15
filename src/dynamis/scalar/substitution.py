"""Expressions with other things in place of their symbols."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.scalar.graph import topological
from dynamis.scalar.linear import pivot
from dynamis.scalar.node import (
    FOLD,
    FOLD_TWO,
    Node,
    add,
    binary,
    div,
    equal,
    less,
    less_equal,
    mul,
    neg,
    power,
    select,
    sub,
    unary,
)

CONSTRUCTORS: dict[str, Any] = {
    "add": add, "sub": sub, "mul": mul, "div": div, "neg": neg, "lt": less, "le": less_equal, "eq": equal, "pivot": pivot,
    "where": select, "pow": power,
}  # fmt: skip
CONSTRUCTORS |= {op: functools.partial(unary, op) for op in FOLD}
CONSTRUCTORS |= {op: functools.partial(binary, op) for op in FOLD_TWO if op not in CONSTRUCTORS}


def substituted(outputs: Any, symbols: Sequence[Node], values: Sequence[Any]) -> npt.NDArray[Any]:
    """The expressions with values, numbers or nodes, in place of the symbols.

    >>> from dynamis import symbol
    >>> x, y = symbol("x"), symbol("y")
    >>> substituted([x * x + y], [x], [3.0])[0]
    9 + y
    """
    flat = np.asarray(outputs, dtype=object)
    made: dict[int, Any] = {id(s): x for s, x in zip(symbols, values, strict=True)}
    for node in topological(flat.flat):
        if id(node) not in made:
            operands = [made[id(a)] if isinstance(a, Node) else a for a in node.args]
            made[id(node)] = node if node.op == "symbol" else rebuilt(node.op, operands)
    result = [made[id(x)] if isinstance(x, Node) else x for x in flat.flat]
    return np.array(result, dtype=object).reshape(flat.shape)


def rebuilt(op: str, args: Sequence[Any]) -> Any:
    """The operation on other operands, with the same folding as when an expression is written."""
    return CONSTRUCTORS[op](*(x if isinstance(x, Node) else float(x) for x in args))
