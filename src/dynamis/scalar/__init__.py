"""Scalars: numbers, symbols, and expressions that remember how they were computed."""

from dynamis.scalar.derivative import directional, gradient, jacobian, pulled_back
from dynamis.scalar.functions import (
    acos,
    asin,
    atan2,
    cos,
    exp,
    floor,
    kept,
    log,
    maximum,
    minimum,
    sign,
    sin,
    sqrt,
    tanh,
    where,
)
from dynamis.scalar.graph import topological
from dynamis.scalar.linear import factorise, solve_lower, solve_positive, solve_upper
from dynamis.scalar.node import Node, Scalar, as_scalar, is_number, symbol
from dynamis.scalar.program import Program, evaluate

__all__ = [
    "Node",
    "Program",
    "Scalar",
    "acos",
    "as_scalar",
    "asin",
    "atan2",
    "cos",
    "directional",
    "evaluate",
    "exp",
    "factorise",
    "floor",
    "gradient",
    "is_number",
    "jacobian",
    "kept",
    "log",
    "maximum",
    "minimum",
    "pulled_back",
    "sign",
    "sin",
    "solve_lower",
    "solve_positive",
    "solve_upper",
    "sqrt",
    "symbol",
    "tanh",
    "topological",
    "where",
]
