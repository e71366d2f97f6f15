"""numpy and math as a function sees them while it is recorded: arrays that it makes can hold symbols, and math takes them."""

from __future__ import annotations

import contextlib
import math
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dynamis.scalar.branches import branches
from dynamis.scalar.function_state import code_of, is_users, namespace, reachable
from dynamis.scalar.numpy_protocol import NumpyProtocol, traced

NAN_AWARE = ("nan_to_num", "fmax", "fmin")
ARRAYS = ("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like")
SAME_IN_NUMPY = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "exp", "log", "hypot", "copysign", "degrees", "radians",
                 "floor", "ceil", "trunc", "isnan", "isfinite", "isinf")  # fmt: skip
OTHERS_IN_NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "fabs": "abs", "pow": "power"}


def _holding_symbols(make: Callable[..., Any]) -> Callable[..., Any]:
    def made(*arguments: Any, **named: Any) -> Any:
        array = make(*arguments, **named)
        return traced(array.astype(object)) if branches.decide is not None and array.dtype == float else array

    return made


def _of_nodes(make: Callable[..., Any]) -> Callable[..., Any]:
    """Arrays made of nodes, whose functions are then recorded: np.linalg.solve(np.array([[q[0], 1.0], [1.0, 3.0]]), b)."""

    def made(*arguments: Any, **named: Any) -> Any:
        return traced(make(*arguments, **named))

    return made


def _of_symbols(function: Callable[..., Any], recorded: Callable[..., Any]) -> Callable[..., Any]:
    def called(*arguments: Any) -> Any:
        return (recorded if any(isinstance(x, NumpyProtocol) for x in arguments) else function)(*arguments)

    return called


def _substitute(module: types.ModuleType, functions: dict[str, Callable[..., Any]]) -> types.ModuleType:
    """The module with other functions."""
    made = types.ModuleType(module.__name__)
    vars(made).update(functions, __getattr__=lambda name: getattr(module, name))
    return made


_ARRAYS = {name: _holding_symbols(getattr(np, name)) for name in ARRAYS}
_ARRAYS |= {name: _of_nodes(getattr(np, name)) for name in ("array", "asarray")}
_ARRAYS["nan_to_num"] = lambda x, *others, **named: np.nan_to_num(traced(np.asarray(x)), *others, **named)
_IN_NUMPY = dict(zip(SAME_IN_NUMPY, SAME_IN_NUMPY, strict=True)) | OTHERS_IN_NUMPY
_MATH = {name: _of_symbols(getattr(math, name), getattr(np, other)) for name, other in _IN_NUMPY.items()}
_SUBSTITUTES: dict[int, Any] = {id(np): _substitute(np, _ARRAYS), id(math): _substitute(math, _MATH)}
_SUBSTITUTES |= {id(getattr(np, name)): function for name, function in _ARRAYS.items()}
_SUBSTITUTES |= {id(getattr(math, name)): function for name, function in _MATH.items()}


def must_be_recorded(function: Any) -> bool:
    """Whether a function names one of NumPy that does nothing to an array of nodes, or, by comparisons, something else."""
    names = {name for x in reachable(function) for name in getattr(code_of(x), "co_names", ())}
    return not names.isdisjoint(NAN_AWARE)


@contextlib.contextmanager
def recorded_modules(function: Any) -> Iterator[None]:
    """numpy, math and their functions in the modules of a function and of those that it uses are such that record; installed
    packages keep theirs."""
    changed = []
    for space in {id(space): space for space in map(namespace, reachable(function)) if is_users(space)}.values():
        for name, value in list(space.items()):
            if id(value) in _SUBSTITUTES:
                changed.append((space, name, value))
                space[name] = _SUBSTITUTES[id(value)]
    try:
        yield
    finally:
        for space, name, value in changed:
            space[name] = value
