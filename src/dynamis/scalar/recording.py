"""Functions written for numbers, called with symbols: branches are followed both ways and joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dynamis.errors import DynamisError, InputError
from dynamis.scalar.branches import NumberNeededError, branches, deciding, excerpt
from dynamis.scalar.function_state import FunctionState
from dynamis.scalar.functions import where
from dynamis.scalar.node import Node
from dynamis.scalar.numpy_protocol import REFUSALS, plain, traced
from dynamis.scalar.recorded_modules import must_be_recorded, recorded_modules
from dynamis.scalar.recording_check import difference, entries, nodes_of, place, with_numbers

MAX_PATHS = 4096  # of a function that branches: six joints with three cases each have 729
MAX_BRANCHES = 64  # on one path


class HiddenStateError(InputError):
    """A function that depends on more than its arguments cannot be compiled."""


def call_with_symbols(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """``function(*arguments, **named)`` for arguments that may be symbols: if-statements are followed both ways and joined.

    The function is called twice on one path: if the results differ, it has a state of its own and is refused. If it needs
    numbers, it is called again with arrays of numpy.zeros that hold symbols, arrays of numpy.array whose functions are
    recorded, and functions of math that take symbols.

    >>> from dynamis.scalar import symbol
    >>> def law(x):
    ...     return np.clip(x, -1.0, 1.0) if x > 0.5 else 0.0
    >>> call_with_symbols(law, symbol("x"))
    where(0.5 < x, min(1, max(-1, x)), 0)
    """
    if not any(_is_symbolic(x) for x in (*arguments, *named.values())):
        return function(*arguments, **named)
    branches.differentiated = False
    try:
        result = _recorded_in_either_way(function, arguments, named)
    except DynamisError:
        raise
    except Exception as error:
        if _fails_alike(function, arguments, named, error):
            raise
        why = f"the function cannot be recorded: {type(error).__name__}: {error}"
        raise InputError(why).with_traceback(error.__traceback__) from None
    if not branches.differentiated:
        _check(function, arguments, named, result)
    return result


def _recorded_in_either_way(function: Callable[..., Any], arguments: Sequence[Any], named: dict[str, Any]) -> Any:
    if not must_be_recorded(function):
        try:
            return _recorded(function, arguments, named)
        except (NumberNeededError, TypeError) as error:
            if isinstance(error, TypeError) and not _is_of_nodes(error):
                raise
            first = error
        try:
            with recorded_modules(function):
                return _recorded(function, arguments, named)
        except (NumberNeededError, TypeError):
            raise first from None
    with recorded_modules(function):
        return _recorded(function, arguments, named)


def _is_of_nodes(error: Exception) -> bool:
    """Whether it is an error of NumPy or Python about the type of nodes."""
    return any(text in str(error) for text in REFUSALS)


def _fails_alike(function: Callable[..., Any], arguments: Sequence[Any], named: dict[str, Any], error: Exception) -> bool:
    """Whether a function has the same error with numbers."""
    state = FunctionState(function)
    try:
        for _, _, call in with_numbers(function, arguments, named):
            try:
                call()
            except Exception as other:
                if type(other) is type(error):
                    return True
        return False
    finally:
        state.restore()


def _check(function: Callable[..., Any], arguments: Sequence[Any], named: dict[str, Any], result: Any) -> None:
    """Refuse a function that has other values with numbers; what is called with expressions was checked with symbols before."""
    if not all(x.op == "symbol" for array in (*arguments, *named.values()) for x in nodes_of(array)):
        return
    state = FunctionState(function)
    try:
        other = difference(function, arguments, named, result)
        state.look()
    finally:
        state.restore()
    if state.seen:
        raise hidden_state_error(state.seen)
    if other:
        raise InputError(
            f"recorded with symbols, {place(function)} has other values than with numbers: {other}. It catches errors by try, "
            "asks for types by isinstance or dtype, adds conditions, whose sum NumPy takes for |, or uses what depends on the "
            "types of numbers in another way; use numpy.where, numpy.clip and | instead"
        )


def _recorded(function: Callable[..., Any], arguments: Sequence[Any], named: dict[str, Any]) -> Any:
    given, others = [traced(x) for x in arguments], {name: traced(x) for name, x in named.items()}
    finite = tuple(x for array in (*arguments, *named.values()) if _is_symbolic(array) for x in np.ravel(plain(array)))
    known: dict[Any, Any] = {}
    paths = 0

    def run(answers: list[bool]) -> tuple[Any, list[Node]]:
        nonlocal paths
        paths += 1
        conditions: list[Node] = []

        def decide(condition: Node) -> bool:
            for k, earlier in enumerate(conditions):
                if earlier is condition:
                    return answers[k]
            conditions.append(condition)
            if len(conditions) > len(answers):
                answers.append(True)
            if paths > MAX_PATHS or len(conditions) > MAX_BRANCHES:
                many = f"{MAX_PATHS} combinations of branches" if paths > MAX_PATHS else f"{MAX_BRANCHES} branches in turn"
                raise InputError(f"more than {many}; use numpy.where or numpy.clip instead of if")
            return answers[len(conditions) - 1]

        with deciding(decide, finite, known):
            try:
                returned = function(*(_copied(x) for x in given), **{name: _copied(x) for name, x in others.items()})
            except Exception as error:
                if isinstance(error, DynamisError) or _is_of_nodes(error) or not conditions:
                    raise
                raise _branch_error(error, conditions[-1], answers[len(conditions) - 1]) from None
        state.look()
        if state.seen:
            raise hidden_state_error(state.seen)
        return returned, conditions

    def explored(answers: list[bool]) -> Any:
        known = len(answers)
        result, conditions = run(answers)
        for k in reversed(range(known, len(conditions))):
            result = _joined(conditions[k], result, explored([*answers[:k], False]))
        return result

    first: list[bool] = []
    state = FunctionState(function)
    try:
        (once, conditions), (again, _) = run(first), run(first)
        same = _same(once, again)
        result = explored([]) if same and conditions else once
    finally:
        state.restore()
    if not same:
        raise hidden_state_error([])
    return result


def _branch_error(error: Exception, condition: Node, holds: bool) -> InputError:
    text = excerpt(condition)
    why = (
        f"the function raises {type(error).__name__}: {error}, in the branch where {text if holds else f'not ({text})'}. All "
        "branches are followed while it is recorded, whatever its arguments will be: check them before the compiled function "
        "is called, or use numpy.where(condition, value, numpy.nan)"
    )
    return InputError(why).with_traceback(error.__traceback__)


def hidden_state_error(changed: Sequence[str]) -> HiddenStateError:
    """For a function that changed these variables, or returned different results for the same arguments."""
    why = f"it changes {changed[0]!r}" if changed else "it returned different results for the same arguments"
    return HiddenStateError(
        f"the function has a state of its own, such as an integral, a mode or a random generator ({why}), which no motion has "
        "for itself; use a dynamis.Controller with states, or dynamis.Noise"
    )


def _is_symbolic(x: Any) -> bool:
    return isinstance(x, Node) or (isinstance(x, np.ndarray) and x.dtype == object)


def _copied(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


def _same(one: Any, other: Any) -> bool:
    """Whether two results are the same expressions and numbers."""
    first, second = entries(one), entries(other)
    return len(first) == len(second) and all(map(_equal, first, second))


def _equal(x: Any, y: Any) -> bool:
    if isinstance(x, Node | np.ndarray) or isinstance(y, Node | np.ndarray):
        return x is y or (not isinstance(x, Node) and not isinstance(y, Node) and np.array_equal(x, y))
    return bool(x == y or (x != x and y != y))  # noqa: PLR0124 - not numbers


def _joined(condition: Node, yes: Any, no: Any) -> Any:
    """The result of a function whose branches return ``yes`` and ``no``."""
    if isinstance(yes, tuple):
        return tuple(_joined(condition, a, b) for a, b in zip(yes, no, strict=True))
    yes, no = np.asarray(yes), np.asarray(no)
    if yes.shape != no.shape:
        raise InputError(f"its branches return arrays of different shapes, {yes.shape} and {no.shape}")
    return where(condition, yes, no)
