"""Differentiation of expressions, forwards and backwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.scalar.branches import branches
from dynamis.scalar.functions import cos, exp, sign, sin, where
from dynamis.scalar.graph import topological
from dynamis.scalar.node import Node, Scalar

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
    "exp": lambda y, a: (exp(a),),
    "log": lambda y, a: (1.0 / a,),
    "tanh": lambda y, a: (1.0 - y * y,),
    "min": lambda y, a, b: (where(a <= b, 1.0, 0.0), where(a <= b, 0.0, 1.0)),
    "max": lambda y, a, b: (where(a <= b, 0.0, 1.0), where(a <= b, 1.0, 0.0)),
    "keep": lambda y, a: (1.0,),
    "pivot": lambda y, value, scale: (1.0, 0.0),
    "where": lambda y, c, a, b: (0.0, where(c, 1.0, 0.0), where(c, 0.0, 1.0)),
}
# piecewise constant: their derivative is zero wherever it exists
for _op in ("sign", "floor", "lt", "le", "eq", "not", "and", "or"):
    PARTIALS[_op] = lambda y, *xs: (0.0,) * len(xs)


def gradient(output: Scalar, inputs: Sequence[Node]) -> npt.NDArray[Any]:
    """∂ output / ∂ inputs, by one backward sweep."""
    return pulled_back([output], [1.0], inputs)


def pulled_back(outputs: Sequence[Any], weights: Sequence[Any], inputs: Sequence[Node]) -> npt.NDArray[Any]:
    """Σ λᵢ ∂ outputᵢ / ∂ inputs for the weights λ, which may be expressions, by one backward sweep."""
    branches.differentiated = True
    adjoint: dict[int, Any] = {}
    for output, weight in zip(outputs, weights, strict=True):
        adjoint[id(output)] = adjoint.get(id(output), 0.0) + weight
    for node in reversed(topological(outputs)):
        weight = adjoint.get(id(node), 0.0)
        if node.op == "symbol" or (isinstance(weight, float) and weight == 0.0):
            continue
        for arg, partial in zip(node.args, PARTIALS[node.op](node, *node.args), strict=True):
            if isinstance(arg, Node):
                adjoint[id(arg)] = adjoint.get(id(arg), 0.0) + weight * partial
    return np.array([adjoint.get(id(x), 0.0) for x in inputs])


def symmetric(second: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A Hessian from its lower triangle, which has the slopes by later inputs along earlier ones: the other is not computed."""
    return np.where(np.tri(len(second), dtype=bool), second, second.T)


def directional(outputs: Any, inputs: Sequence[Node], direction: Sequence[Any]) -> npt.NDArray[Any]:
    """d outputs / dε along ``inputs + ε direction``, by one forward sweep: the chain rule, Σ ∂f/∂xₖ dₖ."""
    branches.differentiated = True
    flat = np.asarray(outputs, dtype=object)
    rate: dict[int, Any] = {id(x): d for x, d in zip(inputs, direction, strict=True)}
    for node in topological(flat.flat):
        if id(node) in rate or node.op == "symbol":
            continue
        rates = [rate.get(id(arg), 0.0) if isinstance(arg, Node) else 0.0 for arg in node.args]
        if all(isinstance(r, float) and r == 0.0 for r in rates):
            continue
        partials = PARTIALS[node.op](node, *node.args)
        rate[id(node)] = sum((r * p for r, p in zip(rates, partials, strict=True)), 0.0)
    values = [rate.get(id(x), 0.0) if isinstance(x, Node) else 0.0 for x in flat.flat]
    return np.array(values).reshape(flat.shape)


def jacobian(outputs: Any, inputs: Sequence[Node]) -> npt.NDArray[Any]:
    """∂ outputs / ∂ inputs, with one more axis, the input, at the end."""
    unit = np.eye(len(inputs))
    columns = [directional(outputs, inputs, list(unit[k])) for k in range(len(inputs))]
    return np.stack(columns, axis=-1)
