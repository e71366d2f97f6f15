"""The values of a recorded function are those of the function itself: compared at a few random states.

A function may catch the error that a symbol raises, or ask for types; then it records something else than it computes.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.scalar.function_state import code_of
from dynamis.scalar.graph import topological
from dynamis.scalar.node import Node
from dynamis.scalar.program import Program

Array = npt.NDArray[Any]
TOLERANCE = 1e-6  # relative: the two round differently, and a solution of equations may lose ten digits
MAX_SHOWN = 6  # values in a message
SIZES = (0.5, 1.5, 4.0)  # of the random values of each comparison


def entries(result: Any) -> list[Any]:
    """The numbers and expressions of a result, or of a tuple of results."""
    if isinstance(result, tuple):
        return [entry for part in result for entry in entries(part)]
    return list(np.asarray(result, dtype=object).flat)


def with_numbers(
    function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]
) -> Iterator[tuple[list[Node], Array, Callable[[], Any]]]:
    """Symbols in the arguments, random values of them, and the function bound to these values."""
    given: dict[Any, Any] = {**dict(enumerate(arguments)), **named}
    symbols = [x for x in topological([x for array in given.values() for x in nodes_of(array)]) if x.op == "symbol"]
    rng = np.random.default_rng(0)
    for size in SIZES:
        values = rng.uniform(-size, size, len(symbols))
        numbers = {name: _evaluated(x, symbols, values) for name, x in given.items()}
        positions = [numbers.pop(k) for k in range(len(arguments))]
        yield symbols, values, functools.partial(function, *positions, **numbers)


def difference(function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any], result: Any) -> str:
    """How the recorded result differs from the values of the function; states at which the function fails do not count."""
    recorded = np.array(entries(result), dtype=object)
    for symbols, values, call in with_numbers(function, arguments, named):
        known = set(map(id, symbols))
        if any(x.op == "symbol" and id(x) not in known for x in topological(list(recorded))):
            return ""  # parameters of the robot, which have no values here
        direct = None
        with np.errstate(all="ignore"):
            with contextlib.suppress(Exception):
                direct = np.array(entries(call()), dtype=float)
            if direct is None:
                continue
            found = np.array(Program(symbols, recorded)(*values), dtype=float)
        size = 1.0 + np.abs(direct[np.isfinite(direct)]).max(initial=0.0)
        if len(direct) != len(found):
            return f"{len(found)} instead of {len(direct)}"
        same = np.isclose(found, direct, rtol=0.0, atol=TOLERANCE * size, equal_nan=True)
        if not same.all():
            k, where = int(np.argmin(same)), zip(symbols[:MAX_SHOWN], values, strict=False)
            more = ", …" if len(symbols) > MAX_SHOWN else ""
            return f"{found[k]:.6g} instead of {direct[k]:.6g} at {', '.join(f'{x} = {value:.6g}' for x, value in where)}{more}"
    return ""


def place(function: Any) -> str:
    """The name of a function and its line, for a message."""
    while isinstance(function, functools.partial):
        function = function.func
    code = code_of(function)
    name = getattr(function, "__name__", type(function).__name__)
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code else name


def nodes_of(x: Any) -> list[Node]:
    """The symbols and expressions of an argument."""
    if isinstance(x, Node):
        return [x]
    return [y for y in x.flat if isinstance(y, Node)] if isinstance(x, np.ndarray) and x.dtype == object else []


def _evaluated(x: Any, symbols: list[Node], values: Array) -> Any:
    found = nodes_of(x)
    if not found:
        return x
    result = np.array(Program(symbols, np.asarray(x, dtype=object))(*values), dtype=float)
    return result if result.ndim else float(result)
