"""Scalars: numbers, symbols, and expressions that remember how they were computed."""

from dynamis.scalar import numpy_functions as numpy_functions  # fills the tables of numpy_protocol
from dynamis.scalar.branches import computed_once
from dynamis.scalar.derivative import directional, gradient, jacobian, pulled_back, symmetric
from dynamis.scalar.function_state import FunctionState
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
from dynamis.scalar.interning import release_nodes
from dynamis.scalar.linear import factorise, regularisation, solve_lower, solve_positive, solve_upper
from dynamis.scalar.node import Node, Scalar, as_scalar, is_number, symbol
from dynamis.scalar.numpy_protocol import TracedArray
from dynamis.scalar.program import Program, evaluate
from dynamis.scalar.recording import HiddenStateError, call_with_symbols, hidden_state_error

__all__ = [
    "FunctionState",
    "HiddenStateError",
    "Node",
    "Program",
    "Scalar",
    "TracedArray",
    "acos",
    "as_scalar",
    "asin",
    "atan2",
    "call_with_symbols",
    "computed_once",
    "cos",
    "directional",
    "evaluate",
    "exp",
    "factorise",
    "floor",
    "gradient",
    "hidden_state_error",
    "is_number",
    "jacobian",
    "kept",
    "log",
    "maximum",
    "minimum",
    "pulled_back",
    "regularisation",
    "release_nodes",
    "sign",
    "sin",
    "solve_lower",
    "solve_positive",
    "solve_upper",
    "sqrt",
    "symbol",
    "symmetric",
    "tanh",
    "topological",
    "where",
]
