"""The interpreter: what each operation means, and how a graph is evaluated over whole arrays.

This is the definition of the operations; everything that compiles a graph must agree with it. Only the sign of a zero is
left open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.scalar.graph import topological
from dynamis.scalar.linear import PIVOT_TOLERANCE
from dynamis.scalar.node import Node, symbol


def _pivot(value: Any, scale: Any) -> Any:
    single = np.result_type(np.float32, value, scale) == np.float32
    return np.where(value > PIVOT_TOLERANCE["float" if single else "double"] * scale, value, 0.0)


def _power(a: Any, b: Any) -> Any:
    return np.power(a, b, dtype=np.result_type(np.float32, a, b))  # of integers too


MEANING: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan2": np.arctan2,
    "pow": _power,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "floor": np.floor,
    "min": np.minimum,
    "max": np.maximum,
    "lt": lambda a, b: np.less(a, b) * 1.0,
    "le": lambda a, b: np.less_equal(a, b) * 1.0,
    "eq": lambda a, b: np.equal(a, b) * 1.0,
    "not": lambda a: np.equal(a, 0.0) * 1.0,
    "and": np.minimum,
    "or": np.maximum,
    "keep": lambda a: a,
    "pivot": _pivot,
    "where": lambda c, a, b: np.where(np.not_equal(c, 0.0), a, b),
}


class Program:
    """A graph made ready to run: ``program(*values)`` takes one array per input and returns the outputs' values.

    Inputs and values broadcast against each other; the output gains the shape of the traced output behind the
    broadcast axes.
    """

    def __init__(self, inputs: Sequence[Node], outputs: Any) -> None:
        flat = np.asarray(outputs, dtype=object)
        self.shape = flat.shape
        order = topological(flat.flat)
        slot = {id(node): k for k, node in enumerate(inputs)}
        for node in order:
            if node.op == "symbol" and id(node) not in slot:
                raise InputError(f"the symbol {node} has no value: give it one, or make it an input")
        steps: list[tuple[Any, list[Any], list[bool], int]] = []
        for node in order:
            if id(node) in slot:
                continue
            slot[id(node)] = len(slot)
            operands = [slot[id(a)] if isinstance(a, Node) else a for a in node.args]
            steps.append((MEANING[node.op], operands, [isinstance(a, Node) for a in node.args], slot[id(node)]))
        self._steps = steps
        self._slots = len(slot)
        self._inputs = len(inputs)
        self._outputs = [(True, slot[id(x)]) if isinstance(x, Node) else (False, x) for x in flat.flat]
        # a value is dropped after its last use, so that a large batch needs memory for few of them at a time
        last = {operand: k for k, (_, ops, on, _) in enumerate(steps) for operand, o in zip(ops, on, strict=True) if o}
        kept = {index for is_slot, index in self._outputs if is_slot}
        self._dead: list[list[int]] = [[] for _ in steps]
        for operand, k in last.items():
            if operand not in kept:
                self._dead[k].append(operand)

    def __len__(self) -> int:
        """The number of operations."""
        return len(self._steps)

    def __call__(self, *values: Any) -> npt.NDArray[Any]:
        if len(values) != self._inputs:
            raise InputError(f"the program takes {self._inputs} inputs, got {len(values)}")
        arrays = [np.asarray(v) for v in values]
        batch = np.broadcast_shapes(*(a.shape for a in arrays)) if arrays else ()
        dtype = np.result_type(np.float32, *arrays) if arrays else np.dtype(float)
        held: list[Any] = [None] * self._slots
        held[: len(arrays)] = arrays
        with np.errstate(all="ignore"):
            for (function, operands, is_slot, target), dead in zip(self._steps, self._dead, strict=True):
                held[target] = function(*(held[x] if s else x for x, s in zip(operands, is_slot, strict=True)))
                for index in dead:
                    held[index] = None
        result = np.empty((*batch, len(self._outputs)), dtype=dtype)
        for k, (computed, x) in enumerate(self._outputs):
            result[..., k] = held[x] if computed else x
        return result.reshape((*batch, *self.shape))


def evaluate(outputs: Any, values: Mapping[Node, Any] | Mapping[str, Any]) -> npt.NDArray[Any]:
    """Evaluate an array of expressions, or formulas of a closed form, for given values of its symbols, by symbol or name.

    >>> from dynamis import symbol
    >>> x = symbol("x")
    >>> float(evaluate(x * x + 1.0, {x: 3.0})), float(evaluate(x * x + 1.0, {"x": 3.0}))
    (10.0, 10.0)
    """
    if not isinstance(values, Mapping) or not all(isinstance(key, str | Node) for key in values):
        raise InputError(f"values must be a mapping of symbols or their names to numbers, such as {{'x': 1.0}}, got {values!r}")
    for key, value in values.items():
        if value is None or np.asarray(value).dtype.kind not in "biufcO":
            raise InputError(f"the value of the symbol {key} must be a number, or an array of numbers, got {value!r}")
    if hasattr(outputs, "node"):  # of a closed form
        outputs = outputs.node()
    symbols = [symbol(key) if isinstance(key, str) else key for key in values]
    return Program(symbols, outputs)(*values.values())
