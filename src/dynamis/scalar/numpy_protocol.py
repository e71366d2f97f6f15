"""What NumPy calls when it is given a node or an array of nodes: np.maximum(x, 0.0), np.where(q > 0.0, q, 0.0)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dynamis.errors import InputError
from dynamis.scalar.branches import NumberNeededError

# in messages of NumPy about nodes
REFUSALS = ("Node", "not supported for the input types", "unsupported in linalg", "Cannot cast ufunc")
# functions of NumPy that would ask for the truth of a comparison, and those that record instead
UFUNCS: dict[Any, np.ufunc] = {}
FUNCTIONS: dict[Any, Callable[..., Any]] = {}


def apply_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], named: dict[str, Any]) -> Any:
    """A ufunc of NumPy on arrays and nodes; the result is traced if an argument is."""
    (out,) = named.pop("out", None) or (None,)
    if out is not None and out.dtype != object:
        raise NumberNeededError("an array of numbers cannot take symbolic values; write x = x + y instead of x += y")
    result = _tried(getattr(UFUNCS.get(ufunc, ufunc), method), map(plain, inputs), named, ufunc)
    if out is None:
        return traced(result) if any(isinstance(x, TracedArray) for x in inputs) else result
    out[...] = result
    return out


def apply_function(function: Any, types: Any, inputs: Sequence[Any], named: dict[str, Any]) -> Any:
    """Another function of NumPy on arrays and nodes of these types; the result is traced if an argument is."""
    if recorded := FUNCTIONS.get(function):
        try:
            inspect.signature(recorded).bind(*inputs, **named)
        except TypeError as error:
            raise InputError(f"numpy.{function.__name__} with these arguments cannot be recorded: {error}") from None
        result = recorded(*inputs, **named)
    elif function is np.nan_to_num:
        raise InputError("numpy.nan_to_num cannot be recorded; use numpy.where(numpy.isnan(x), 0.0, x)")
    else:
        if function.__name__.startswith("nan"):  # nansum and its like ask whether x != x, by branches
            inputs = [plain(x) for x in inputs]
        numpys_own = functools.partial(np.ndarray.__array_function__, np.empty(0), function, ())
        result = _tried(lambda *inputs, **named: numpys_own(inputs, named), inputs, named, function)
    return traced(result) if TracedArray in types else result


def _tried(function: Callable[..., Any], inputs: Iterable[Any], named: dict[str, Any], asked: Any) -> Any:
    """The function's result; an error of NumPy about the type of nodes becomes one that names the function that was called."""
    try:
        return function(*inputs, **named)
    except TypeError as error:
        if not any(text in str(error) for text in REFUSALS):
            raise
        name = ("linalg." if "linalg" in str(getattr(asked, "__module__", "")) else "") + asked.__name__
        cure = "; J⁺ x is J.T @ numpy.linalg.solve(J @ J.T, x)" if name == "linalg.pinv" else ""
        raise InputError(f"numpy.{name} cannot be recorded{cure}") from None


def plain(x: Any) -> Any:
    """An array whose functions are NumPy's own."""
    if isinstance(x, NumpyProtocol):
        array = np.empty((), dtype=object)
        array[()] = x
        return array
    return np.asarray(x) if isinstance(x, TracedArray) else x


def traced(x: Any) -> Any:
    """An array of nodes whose functions are recorded; anything else as it is."""
    return x.view(TracedArray) if isinstance(x, np.ndarray) and x.dtype == object else x


class NumpyProtocol:
    """The base of a node."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        return apply_ufunc(ufunc, method, inputs, named)

    def __array_function__(self, function: Any, types: Any, inputs: Any, named: Any) -> Any:
        return apply_function(function, types, inputs, named)

    def conjugate(self) -> Any:
        return self

    def __mod__(self, other: Any) -> Any:
        return apply_ufunc(np.remainder, "__call__", (self, other), {})

    def __floordiv__(self, other: Any) -> Any:
        return apply_ufunc(np.floor_divide, "__call__", (self, other), {})

    # of conditions, which have the values 1 and 0

    def __and__(self, other: Any) -> Any:
        return apply_ufunc(np.logical_and, "__call__", (self, other), {})

    def __or__(self, other: Any) -> Any:
        return apply_ufunc(np.logical_or, "__call__", (self, other), {})

    def __xor__(self, other: Any) -> Any:
        return apply_ufunc(np.logical_xor, "__call__", (self, other), {})

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __round__(self, decimals: int | None = None) -> Any:
        return apply_function(np.round, (), (self, decimals or 0), {})

    def __invert__(self) -> Any:
        return apply_ufunc(np.logical_not, "__call__", (self,), {})


class TracedArray(np.ndarray):
    """An array of nodes for user functions: comparisons, np.where, np.clip, np.maximum and their like are recorded."""

    def __setitem__(self, key: Any, value: Any) -> None:
        """Also for a condition, as in tau[tau > limit] = limit."""
        if isinstance(key, TracedArray) and key.shape == self.shape and np.ndim(value) == 0:
            key, value = Ellipsis, plain(np.where(key, value, self))
        super().__setitem__(key, value)

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **named: Any) -> Any:  # noqa: A002 - as of NumPy
        return np.clip(self, min, max, out, **named)

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **named: Any) -> Any:
        return apply_ufunc(ufunc, method, inputs, named)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return apply_function(func, types, args, kwargs)
