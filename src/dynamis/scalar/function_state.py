"""What a function could remember between its calls: attributes, closure variables, globals, and the contents of containers."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import sysconfig
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

CONTAINERS = (dict, list, set, np.ndarray)
MAX_ENTRIES = 100_000  # of a container that is looked through: larger ones are tables
MAX_FUNCTIONS = 1000  # in a container


class FunctionState:
    """The variables of a function, as they are now: `changed` compares with them, `restore` gives them back.

    Those of bound methods, of functions in closures and of objects that it uses are included; objects of packages are not.

    >>> class Sum:
    ...     total = 0.0
    ...
    ...     def __call__(self, x):
    ...         self.total += x
    >>> add = Sum()
    >>> state = FunctionState(add)
    >>> add(2.0)
    >>> state.changed()
    ['total']
    """

    def __init__(self, function: Any) -> None:
        self._spaces: list[tuple[dict[str, Any], dict[str, Any]]] = []  # attributes: now, and as they were
        self._cells: list[tuple[str, Any, Any]] = []
        self._globals: list[tuple[dict[str, Any], str, Any]] = []
        self._defaults: list[tuple[str, Any]] = []  # of arguments
        self.seen: list[str] = []  # of changes, by `look`
        for x in reachable(function):
            routine, code, module = _parts(x)
            if code is not None:
                if is_users(module):
                    self._globals += [(module, name, module[name]) for name in code.co_names if _is_variable(module.get(name))]
                self._cells += _cells(routine)
                last = code.co_varnames[: code.co_argcount][::-1]  # of which those have defaults, from the end on
                self._defaults += zip(last, (routine.__defaults__ or ())[::-1], strict=False)
                self._defaults += (routine.__kwdefaults__ or {}).items()
            if hasattr(x, "__dict__") and not inspect.ismethod(x):
                self._spaces.append((vars(x), dict(vars(x))))
        values = [v for _, before in self._spaces for v in before.values()]
        values += [value for *_, value in (*self._cells, *self._globals, *self._defaults)]
        self._contents = [(x, _copied(x)) for x in values if type(x) in CONTAINERS and _size(x) <= MAX_ENTRIES]

    def changed(self) -> list[str]:
        """The names of variables with other values or contents; lists and sets may collect values, as logs do."""
        names = [name for now, before in self._spaces for name in now if not _equal(now[name], before.get(name))]
        names += [name for name, cell, before in self._cells if not _equal(cell.cell_contents, before)]
        names += [name for module, name, before in self._globals if not _equal(module.get(name), before)]
        names += [self._name_of(x) for x, before in self._contents if not _equal(_without_additions(x, before), before)]
        return list(dict.fromkeys(names))

    def look(self) -> None:
        """Remember changes that may be undone later."""
        self.seen = self.seen or self.changed()

    def restore(self) -> None:
        """Give back what was changed; the rest is not touched."""
        for now, before in self._spaces:
            for name in [name for name in now if name not in before]:
                del now[name]
            now.update({name: value for name, value in before.items() if now.get(name) is not value})
        for _, cell, content in self._cells:
            if cell.cell_contents is not content:
                cell.cell_contents = content
        for module, name, value in self._globals:
            if module.get(name) is not value:
                module[name] = value
        for x, before in self._contents:
            if _equal(x, before):
                continue
            if isinstance(x, np.ndarray | list):
                x[:] = before
            else:
                x.clear()
                x.update(before)

    def _name_of(self, x: Any) -> str:
        places = [(name, value) for _, before in self._spaces for name, value in before.items()]
        places += [(name, value) for name, _, value in self._cells] + [(name, value) for _, name, value in self._globals]
        return next(name for name, value in [*places, *self._defaults] if value is x)


def _size(x: Any) -> int:
    return x.size if isinstance(x, np.ndarray) else len(x)


def _is_variable(x: Any) -> bool:
    return x is not None and not callable(x) and not inspect.ismodule(x) and not _is_own(x)


def reachable(function: Any) -> list[Any]:
    """A function with the functions and objects of the user that it uses: bound, in closures, attributes and globals, or in
    containers there."""
    found, known = [function], {id(function)}
    for x in found:
        routine, code, module = _parts(x)
        held = [x.func, *x.args, *x.keywords.values()] if isinstance(x, functools.partial) else [getattr(x, "__self__", None)]
        held += [content for *_, content in _cells(routine)]
        if is_users(module):
            held += [module.get(name) for name in getattr(code, "co_names", ())]
            held += vars(x).values() if hasattr(x, "__dict__") else ()
        for y in _with_entries(held):
            if id(y) not in known and _may_remember(y):
                known.add(id(y))
                found.append(y)
    return found


def _with_entries(held: Iterable[Any], depth: int = 3) -> Iterator[Any]:
    """Objects, and the functions and objects in those that are containers, and in containers there."""
    for x in held:
        yield x
        if type(x) in (list, tuple, set, dict) and len(x) <= MAX_FUNCTIONS and depth:
            yield from _with_entries(x.values() if isinstance(x, dict) else x, depth - 1)
        elif type(x) is np.ndarray and x.dtype == object and x.size <= MAX_FUNCTIONS:
            yield from x.flat


def namespace(x: Any) -> dict[str, Any]:
    """The global variables of the module of a function, or of the class of an object."""
    routine: Any = x if inspect.isroutine(x) else vars(type(x)).get("__call__")
    return getattr(routine, "__globals__", None) or vars(sys.modules.get(type(x).__module__, types))


def code_of(x: Any) -> types.CodeType | None:
    """The code that a call of an object runs, if it is Python's."""
    return _parts(x)[1]


def _parts(x: Any) -> tuple[Any, types.CodeType | None, dict[str, Any]]:
    """The function that a call of an object runs, its code, and the global variables of its module."""
    routine: Any = x if inspect.isroutine(x) else vars(type(x)).get("__call__")
    return routine, getattr(routine, "__code__", None), namespace(x)


def _cells(routine: Any) -> list[tuple[str, types.CellType, Any]]:
    """The variables of a closure: names, cells and contents, without those that are empty yet."""
    code, cells, found = getattr(routine, "__code__", None), getattr(routine, "__closure__", None) or (), []
    for name, cell in zip(getattr(code, "co_freevars", ()), cells, strict=False):
        with contextlib.suppress(ValueError):
            found.append((name, cell, cell.cell_contents))
    return found


def _may_remember(x: Any) -> bool:
    """A function, or an object of a class of the user."""
    if inspect.isroutine(x) or isinstance(x, functools.partial):
        return True
    return hasattr(x, "__dict__") and not _is_own(x) and not inspect.ismodule(x) and is_users(namespace(x))


def is_users(module: dict[str, Any]) -> bool:
    """Whether a module is neither of this package, nor of Python itself, nor of an installed package."""
    path = str(module.get("__file__") or "")
    installed = "site-packages" in path or "dist-packages" in path or path.startswith(sysconfig.get_path("stdlib"))
    return not installed and str(module.get("__name__", "")).split(".")[0] not in ("dynamis", *sys.builtin_module_names)


def _is_own(x: Any) -> bool:
    """A class, or an object of this package, whose caches are no states of the function."""
    return isinstance(x, type) or type(x).__module__.startswith("dynamis.")


def _copied(x: Any) -> Any:
    """A copy of a container and of the containers in it."""
    if type(x) is dict:
        return {key: _copied(value) for key, value in x.items()}
    if type(x) is list:
        return [_copied(value) for value in x]
    return x.copy() if type(x) in CONTAINERS else x


def _without_additions(x: Any, before: Any) -> Any:
    return x[: len(before)] if type(x) is list else x & before if type(x) is set else x


def _equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_equal(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return all(map(_equal, a.flat, b.flat)) if a.dtype == object else a.tobytes() == b.tobytes()
    return isinstance(a, bool | int | float | complex | str | bytes | set | np.generic) and bool(a == b)
