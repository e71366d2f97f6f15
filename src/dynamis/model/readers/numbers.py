"""Numbers in files: finite, plain decimal, whatever the locale."""

from __future__ import annotations

import math
import re

from dynamis.display import counted
from dynamis.errors import printable

_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_GAP = "[ \\t\\r\\n]"
_LISTS = {n: re.compile(_GAP + "*" + (_GAP + "+").join([_NUMBER] * n) + _GAP + "*") for n in (1, 2, 3, 4, 6, 7)}
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
    """Exactly ``count`` (1 to 4, 6 or 7) numbers separated by white space, or None."""
    if len(text) > 1000 or not _LISTS[count].fullmatch(text):
        return None
    values = [float(word) for word in text.split()]
    return values if all(map(math.isfinite, values)) else None


_DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+(?:[eE][-+]?[0-9]+)?")
_WITH_UNIT = re.compile(rf"({_NUMBER})\s*([A-Za-z°µ²³/*^]+[A-Za-z0-9°µ²³/*^]*)")
_FACTORS = {
    "deg": math.pi / 180, "degree": math.pi / 180, "degrees": math.pi / 180, "°": math.pi / 180, "rad": 1.0,
    "mm": 1e-3, "cm": 1e-2, "m": 1.0, "g": 1e-3, "kg": 1.0, "N": 1.0, "Nm": 1.0,
}  # fmt: skip # SI units per unit


def miscounted(key: str, words: list[str], count: int) -> str:
    """What is wrong with a list of numbers of the wrong length."""
    listed = " ".join(words)
    shown = f": {printable(listed)}" if words else ""
    return f"{key} needs {counted(count, 'number')}, got {len(words) or 'none'}{shown}"


def advice(text: str, count: int) -> str:
    """How to correct text that is not ``count`` numbers: the corrected text, where it is clear what was meant.

    >>> advice("0,5", 1), advice("1, 0, 0", 3)
    ('write 0.5 instead of 0,5', 'write "1 0 0" instead of "1, 0, 0"')
    """
    if len(text) > 200:
        return _plain(count)
    quote = "" if count == 1 else '"'
    words = text.split()
    pointed = [word.replace(",", ".") if _DECIMAL_COMMA.fullmatch(word) else word for word in words]
    if pointed != words and parse_numbers(" ".join(pointed), count) is not None:
        return f"write {quote}{' '.join(pointed)}{quote} instead of {quote}{text}{quote}"
    parts = [part for part in re.split(r"[\s,;]+", text) if part]
    if count > 1 and parts != words and parse_numbers(" ".join(parts), count) is not None:
        return f'write "{" ".join(parts)}" instead of "{text}"'
    if count == 1 and re.fullmatch(_NUMBER, text.strip()):
        return "write a smaller number: this one exceeds the range of floating-point numbers"
    unit = _WITH_UNIT.fullmatch(text.strip())
    value = parse_number(unit[1]) if count == 1 and unit else None
    if unit and value is not None:
        factor = _FACTORS.get(unit[2])
        plain_number = "the value in SI units (rad, m, kg)" if factor is None else f"{value * factor:.10g}"
        return f"write {plain_number} instead of {text}"
    if count == 1 and text.strip().lower().lstrip("+-") in ("inf", "infinity"):
        return "leave it out where there is no limit, or make the joint continuous; or write a number that is large enough"
    plain = [word for word in parts if parse_number(word) is not None]
    if len(plain) == len(parts) and len(parts) != count:
        return f"write {counted(count, 'number')}, separated by spaces"
    return _plain(count)


def _plain(count: int) -> str:
    example = " ".join(["0.5", *["0"] * (count - 1)])
    return f"write a number such as {example}" if count == 1 else f'write {count} numbers, such as "{example}"'
