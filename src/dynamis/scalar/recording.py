"""Functions written for numbers, called with symbols: branches are followed both ways and joined."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dynamis.errors import InputError
from dynamis.scalar.branches import deciding
from dynamis.scalar.functions import where
from dynamis.scalar.node import Node
from dynamis.scalar.numpy_protocol import traced

MAX_PATHS = 64  # of a function that branches, and branches on one path


class HiddenStateError(InputError):
    """A function that depends on more than its arguments cannot be compiled."""


def call_with_symbols(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """``function(*arguments, **named)`` for arguments that may be symbols: if-statements are followed both ways and joined.

    The function is called twice on one path: if the results differ, it has a state of its own and is refused.

    >>> from dynamis.scalar import symbol
    >>> def law(x):
    ...     return np.clip(x, -1.0, 1.0) if x > 0.5 else 0.0
    >>> call_with_symbols(law, symbol("x"))
    array(where(0.5 < x, min(max(x, -1), 1), 0), dtype=object)
    """
    if not any(_is_symbolic(x) for x in (*arguments, *named.values())):
        return function(*arguments, **named)
    given, others = [traced(x) for x in arguments], {name: traced(x) for name, x in named.items()}
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
            if paths > MAX_PATHS or len(conditions) > MAX_PATHS:
                raise InputError(f"more than {MAX_PATHS} combinations of branches; use numpy.where or numpy.clip instead of if")
            return answers[len(conditions) - 1]

        with deciding(decide):
            returned = function(*(_copied(x) for x in given), **{name: _copied(x) for name, x in others.items()})
        return returned, conditions

    def explored(answers: list[bool]) -> Any:
        known = len(answers)
        result, conditions = run(answers)
        for k in reversed(range(known, len(conditions))):
            result = _joined(conditions[k], result, explored([*answers[:k], False]))
        return result

    first: list[bool] = []
    with _variables_of(function) as changed:
        (once, conditions), (again, _) = run(first), run(first)
        same = _same(once, again)
        result = explored([]) if same and conditions else once
    if not same:
        raise HiddenStateError(
            "the function returned different results for the same arguments: it has a state of its own, such as an integral or "
            "a random generator, which compiled code cannot change; use dynamis.Controller with states, or dynamis.Noise"
        )
    if changed:
        raise InputError(f"it changes its variable {changed[0]!r}, which compiled code cannot")
    return result


@contextlib.contextmanager
def _variables_of(function: Any) -> Iterator[list[str]]:
    """The names of the attributes and closure variables that were changed; they get back their values: none keeps a symbol."""
    attributes, cells, found = [], [], [function]
    changed: list[str] = []
    for x in found:
        code, closure = getattr(x, "__code__", None), getattr(x, "__closure__", None)
        named = zip(code.co_freevars, closure, strict=True) if code and closure else ()
        of_closure = [(name, cell, cell.cell_contents) for name, cell in named]
        held = [content for _, _, content in of_closure if callable(content)] + ([x.__self__] if inspect.ismethod(x) else [])
        found += [y for y in held if not _is_own(y) and all(y is not z for z in found)]
        cells += of_closure
        if not inspect.isroutine(x) and hasattr(x, "__dict__"):
            attributes.append((vars(x), dict(vars(x))))
    try:
        yield changed
    finally:
        for now, before in attributes:
            changed += [name for name in now if now[name] is not before.get(name)]
            now.clear()
            now.update(before)
        for name, cell, content in cells:
            changed += [name] if cell.cell_contents is not content else []
            cell.cell_contents = content


def _is_own(x: Any) -> bool:
    """A class, or an object of this package, whose caches are no states of the function."""
    return isinstance(x, type) or type(x).__module__.startswith("dynamis.")


def _is_symbolic(x: Any) -> bool:
    return isinstance(x, Node) or (isinstance(x, np.ndarray) and x.dtype == object)


def _copied(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


def _entries(result: Any) -> list[Any]:
    if isinstance(result, tuple):
        return [entry for part in result for entry in _entries(part)]
    return list(np.asarray(result, dtype=object).flat)


def _same(one: Any, other: Any) -> bool:
    """Whether two results are the same expressions; numbers may differ, as those of a random generator do."""
    both = zip(_entries(one), _entries(other), strict=False)
    return all(x is y or not (isinstance(x, Node) or isinstance(y, Node)) for x, y in both)


def _joined(condition: Node, yes: Any, no: Any) -> Any:
    """The result of a function whose branches return ``yes`` and ``no``."""
    if isinstance(yes, tuple):
        return tuple(_joined(condition, a, b) for a, b in zip(yes, no, strict=True))
    yes, no = np.asarray(yes), np.asarray(no)
    if yes.shape != no.shape:
        raise InputError(f"its branches return arrays of different shapes, {yes.shape} and {no.shape}")
    return where(condition, yes, no)
