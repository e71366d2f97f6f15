"""Differentiation of expressions, forwards and backwards.

The branch that a selection does not take may be undefined, and zero times an infinite slope is not a number: there, slopes are
selected (see `selected_slope`), not multiplied by zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.scalar.branches import branches
from dynamis.scalar.functions import cos, exp, sign, sin
from dynamis.scalar.graph import topological
from dynamis.scalar.node import Node, Scalar, equal, less_equal, mul, power, select, sub, unary
from dynamis.scalar.selected_slope import Branch, plain


def _slopes_of_power(y: Any, a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    """b aᵇ⁻¹ and aᵇ log a, which is no number for a < 0; zero where a⁰ is constant, and by the exponent at a = 0."""
    by_base = mul(b, power(a, select(equal(b, 0.0), 1.0, sub(b, 1.0))))
    return by_base, mul(y, unary("log", select(equal(a, 0.0), 1.0, a))) if isinstance(b, Node) else 0.0


# the partial derivatives of each operation with respect to its operands; ``y`` is the operation's own value
PARTIALS: dict[str, Any] = {
    "add": lambda y, a, b: (1.0, 1.0),
    "sub": lambda y, a, b: (1.0, -1.0),
    "mul": lambda y, a, b: (b, a),
    "div": lambda y, a, b: (1.0 / b, -y / b),
    "neg": lambda y, a: (-1.0,),
    "abs": lambda y, a: (sign(a),),
    "sqrt": lambda y, a: (0.5 / y,),
    "sin": lambda y, a: (cos(a),),
    "cos": lambda y, a: (-sin(a),),
    "asin": lambda y, a: (1.0 / (1.0 - a * a) ** 0.5,),
    "acos": lambda y, a: (-1.0 / (1.0 - a * a) ** 0.5,),
    "atan2": lambda y, a, b: (b / (a * a + b * b), -a / (a * a + b * b)),
    "pow": _slopes_of_power,
    "exp": lambda y, a: (exp(a),),
    "log": lambda y, a: (1.0 / a,),
    "tanh": lambda y, a: (1.0 - y * y,),
    "min": lambda y, a, b: _branches(less_equal(a, b)),
    "max": lambda y, a, b: _branches(less_equal(a, b))[::-1],
    "where": lambda y, c, a, b: (0.0, *_branches(c)),
    "keep": lambda y, a: (1.0,),
    "pivot": lambda y, value, scale: (1.0, 0.0),
}
# piecewise constant: their derivative is zero wherever it exists
for _op in ("sign", "floor", "lt", "le", "eq", "not", "and", "or"):
    PARTIALS[_op] = lambda y, *xs: (0.0,) * len(xs)
CHOICES = frozenset({"min", "max", "where"})
STEEP = frozenset({"sqrt", "asin", "acos", "atan2", "pow"})  # may have infinite partial derivatives where the value is finite
PARTIAL_FUNCTIONS = STEEP | {"div", "log", "exp"}  # may have no finite value


def gradient(output: Scalar, inputs: Sequence[Node]) -> npt.NDArray[Any]:
    """∂ output / ∂ inputs, by one backward sweep."""
    return pulled_back([output], [1.0], inputs)


def pulled_back(outputs: Sequence[Any], weights: Sequence[Any], inputs: Sequence[Node]) -> npt.NDArray[Any]:
    """Σ λᵢ ∂ outputᵢ / ∂ inputs for the weights λ, which may be expressions, by one backward sweep."""
    branches.differentiated = True
    adjoint: dict[int, Any] = {}
    for output, weight in zip(outputs, weights, strict=True):
        adjoint[id(output)] = adjoint.get(id(output), 0.0) + weight
    order = topological(outputs)
    choices = _has_choices(order)
    undefined = _computed_by(order, PARTIAL_FUNCTIONS) if choices else ()
    for node in reversed(order):
        weight = adjoint.get(id(node), 0.0)
        if node.op == "symbol" or (isinstance(weight, float) and weight == 0.0):
            continue
        if choices and id(node) not in undefined:
            weight = plain(weight)
        for arg, partial in zip(*_local(node), strict=True):
            if isinstance(arg, Node):
                adjoint[id(arg)] = adjoint.get(id(arg), 0.0) + weight * partial
    return np.array([plain(adjoint.get(id(x), 0.0)) for x in inputs])


def symmetric(second: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A Hessian from its lower triangle, which has the slopes by later inputs along earlier ones: the other is not computed."""
    return np.where(np.tri(len(second), dtype=bool), second, second.T)


def directional(outputs: Any, inputs: Sequence[Node], direction: Sequence[Any]) -> npt.NDArray[Any]:
    """d outputs / dε along ``inputs + ε direction``, by one forward sweep: the chain rule, Σ ∂f/∂xₖ dₖ."""
    branches.differentiated = True
    flat = np.asarray(outputs, dtype=object)
    rate: dict[int, Any] = {id(x): d for x, d in zip(inputs, direction, strict=True)}
    order = topological(flat.flat)
    choices = _has_choices(order)
    steep = _needed_by(order, STEEP) if choices else ()
    for node in order:
        if id(node) in rate or node.op == "symbol":
            continue
        rates = _rates(node.args, rate)
        if all(isinstance(r, float) and r == 0.0 for r in rates):
            continue
        args, partials = _local(node)
        rates = rates if args is node.args else _rates(args, rate)
        found = sum((r * p for r, p in zip(rates, partials, strict=True)), 0.0)
        rate[id(node)] = plain(found) if choices and id(node) not in steep else found
    return np.array([plain(x) for x in _rates(flat.flat, rate)]).reshape(flat.shape)


def jacobian(outputs: Any, inputs: Sequence[Node]) -> npt.NDArray[Any]:
    """∂ outputs / ∂ inputs, with one more axis, the input, at the end."""
    unit = np.eye(len(inputs))
    columns = [directional(outputs, inputs, list(unit[k])) for k in range(len(inputs))]
    return np.stack(columns, axis=-1)


def _rates(args: Any, rate: dict[int, Any]) -> list[Any]:
    return [rate.get(id(arg), 0.0) if isinstance(arg, Node) else 0.0 for arg in args]


def _local(node: Node) -> tuple[Sequence[Any], Sequence[Any]]:
    """What a node is a function of, and its partial derivatives."""
    if node.op == "mul":
        a, b = node.args
        for root, other in ((a, b), (b, a)):
            if type(root) is Node and root.op == "sqrt":
                base = _without_factor(root.args[0])
                if n := _exponent(other, base):  # xⁿ √x, whose factors have infinite slopes at zero, unlike the product
                    return (base,), (mul(n + 0.5, mul(power(base, n - 1), root)),)
    return node.args, PARTIALS[node.op](node, *node.args)


def _branches(condition: Any) -> tuple[Branch, Branch]:
    return Branch(condition, True), Branch(condition, False)


def _without_factor(x: Any) -> Any:
    while isinstance(x, Node) and (x.op == "neg" or (x.op == "mul" and isinstance(x.args[0], float))):
        x = x.args[-1]
    return x


def _exponent(x: Any, base: Node) -> int:
    """n, if x is the product of n factors ``base``, else 0."""
    if x is base:
        return 1
    if not isinstance(x, Node) or x.op != "mul":
        return 0
    first = _exponent(x.args[0], base)
    second = _exponent(x.args[1], base) if first else 0
    return first + second if second else 0


def _has_choices(order: Sequence[Node]) -> bool:
    return any(node.op in CHOICES for node in order)


def _computed_by(order: Sequence[Node], operations: frozenset[str]) -> set[int]:
    """The nodes whose values depend on one of these operations."""
    found: set[int] = set()
    for node in order:
        if _is_one(node, operations) or any(id(arg) in found for arg in node.args):
            found.add(id(node))
    return found


def _needed_by(order: Sequence[Node], operations: frozenset[str]) -> set[int]:
    """The nodes on which one of these operations depends."""
    found: set[int] = set()
    for node in reversed(order):
        if _is_one(node, operations) or id(node) in found:
            found.update(id(arg) for arg in node.args)
    return found


def _is_one(node: Node, operations: frozenset[str]) -> bool:
    """One of these operations, other than x / 2 and atan2(x, 1), which are smooth everywhere."""
    return node.op in operations and (node.op == "pow" or isinstance(node.args[-1], Node))
