"""Numbers in files: finite, plain decimal, whatever the locale."""

from __future__ import annotations

import math
import re

_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_GAP = "[ \\t\\r\\n]"
_LISTS = {n: re.compile(_GAP + "*" + (_GAP + "+").join([_NUMBER] * n) + _GAP + "*") for n in (1, 3, 4)}
PLAIN = "finite decimal numbers such as 1.5 or 2e-3"


def parse_number(text: str) -> float | None:
    """The number a piece of text says, or None where it is not a finite plain decimal number.

    >>> parse_number("1.5e-3"), parse_number("1,5"), parse_number("0x10"), parse_number("nan"), parse_number("1e400")
    (0.0015, None, None, None, None)
    """
    if len(text) > 400 or not _LISTS[1].fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def parse_numbers(text: str, count: int) -> list[float] | None:
    """Exactly ``count`` (1, 3 or 4) numbers separated by white space, or None."""
    if len(text) > 1000 or not _LISTS[count].fullmatch(text):
        return None
    values = [float(word) for word in text.split()]
    return values if all(map(math.isfinite, values)) else None
