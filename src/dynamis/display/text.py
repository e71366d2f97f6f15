"""Values as text on one line: numbers rounded, long arrays by their shape, objects as constructor calls.

Small values print as a constructor call: ``__repr__ = as_call``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dynamis.tolerances import PRINTED_AS_ZERO

MAX_REPR_CHARACTERS = 200
MAX_ARRAY_ENTRIES = 12  # of an array that is printed entry by entry


def as_call(self: Any) -> str:
    """``__repr__`` as a constructor call on one line, numbers rounded; a long one leaves out default values."""
    fields, name = list(fields_of(self)), type(self).__name__
    arguments = ", ".join(
        f"{field}={flat(value, 6)}" for field, value, default in fields if not (value is None and default is None)
    )
    if len(arguments) <= MAX_REPR_CHARACTERS // 2:
        return f"{name}({arguments})"
    changed = [(field, value) for field, value, default in fields if not _same(value, default)]
    for digits in (6, 4, 3):
        text = f"{name}({', '.join(f'{field}={flat(value, digits)}' for field, value in changed)})"
        if len(text) <= MAX_REPR_CHARACTERS:
            return text
    room = max((MAX_REPR_CHARACTERS - len(name) - 2) // max(len(changed), 1) - 2, 8)
    return short(f"{name}({', '.join(short(f'{field}={flat(value, 3)}', room) for field, value in changed)})")


def short(text: str, most: int = MAX_REPR_CHARACTERS) -> str:
    """One line of so many characters at most."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def counted(number: int, noun: str, plural: str = "") -> str:
    """1 joint, 2 joints; ``plural`` for nouns that take more than an s, such as "moving bodies"."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def flat(x: Any, digits: int = 4, most: int = MAX_ARRAY_ENTRIES) -> str:
    """Any value on one line: numbers rounded, long arrays by their shape, functions by their name."""
    if isinstance(x, float | np.floating):
        return f"{x + 0.0:.{digits}g}"
    if isinstance(x, complex | np.complexfloating):
        return f"{x.real + 0.0:.{digits}g}{x.imag + 0.0:+.{digits}g}j"
    if isinstance(x, np.integer | np.bool_):
        return str(x)
    if isinstance(x, np.ndarray) or (isinstance(x, list | tuple) and not hasattr(x, "_fields")):
        return _flat_sequence(x, digits, most)
    if isinstance(x, Mapping):
        some = ", ".join(f"{key!r}: {flat(value, digits, most)}" for key, value in x.items())
        return f"{{{some}}}" if len(some) <= MAX_REPR_CHARACTERS // 2 else f"{{{', '.join(map(repr, x))}}}"
    if hasattr(x, "__array__") and hasattr(x, "shape"):  # on a GPU, or of another library
        return f"array{tuple(x.shape)}"
    text = repr(x)
    if callable(x) and (" at 0x" in text or not type(x).__module__.startswith("dynamis")):
        return str(getattr(x, "__name__", type(x).__name__))
    return short(text)


def _flat_sequence(x: Any, digits: int, most: int) -> str:
    if isinstance(x, np.ndarray) and (x.size > most or (x.ndim and not x.size)):
        return f"array{x.shape}"
    if isinstance(x, np.ndarray) and not x.ndim:
        return flat(x[()], digits, most)
    if isinstance(x, np.ndarray):
        x = without_rounding(x)
    elif len(x) > most:
        return f"{len(x)} entries"
    elif sum(np.size(entry) for entry in x if isinstance(entry, np.ndarray)) > most:
        return ", ".join(f"array{np.shape(entry)}" for entry in x)
    inside = ", ".join(flat(entry, digits, most) for entry in x)
    if isinstance(x, tuple):
        return f"({inside},)" if len(x) == 1 else f"({inside})"
    return f"[{inside}]"


def without_rounding(x: Any, relative_to: float | None = None) -> Any:
    """A numeric array whose entries below ``PRINTED_AS_ZERO`` times the largest entry, or times another size, are zero."""
    if x.dtype.kind not in "fc" or not x.size:
        return x
    size = np.abs(x)
    largest = np.max(size, initial=0.0, where=np.isfinite(size)) if relative_to is None else relative_to
    return np.where(size < PRINTED_AS_ZERO * largest, 0.0, x)


def fields_of(x: Any) -> Iterator[tuple[str, Any, Any]]:
    """(name, value, what it is unless given) of what a dataclass or a named tuple shows."""
    if not dataclasses.is_dataclass(x):
        yield from ((name, getattr(x, name), dataclasses.MISSING) for name in x._fields)
        return
    for f in dataclasses.fields(x):
        if f.repr and hasattr(x, f.name):
            make = f.default_factory
            yield f.name, getattr(x, f.name), f.default if make is dataclasses.MISSING else make()


def _same(value: Any, default: Any) -> bool:
    if default is dataclasses.MISSING:
        return False
    if value is default or type(value) is not type(default) or isinstance(value, np.ndarray):
        return value is default
    try:
        return bool(value == default)
    except ValueError:  # arrays inside have no one answer
        return False


def cell_text(x: Any) -> str:
    """A number with four digits, nothing for None and for what is not limited, and anything else as it prints."""
    if x is None or (isinstance(x, float | np.floating) and np.isinf(x)):
        return "" if x is None else "∞" if x > 0 else "−∞"
    if isinstance(x, float | np.floating):
        return f"{x + 0.0:.4g}".replace("-", "−")
    return str(x)
