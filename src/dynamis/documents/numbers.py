"""Numbers for a page: rounded and finite as data, with units and prefixes as text."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dynamis.tolerances import PRINTED_AS_ZERO

MIN_PLAIN, MAX_PLAIN = 1e-4, 1e6  # sizes written without a power of ten
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
PREFIXES = {-4: "p", -3: "n", -2: "µ", -1: "m", 0: "", 1: "k", 2: "M", 3: "G"}


def short(values: Any, digits: int = 5) -> Any:
    """Numbers rounded to a number of significant digits, in nested lists; values that are not finite become None."""
    array = np.asarray(values, dtype=float)
    if array.ndim:
        return [short(x, digits) for x in array]
    x = float(array)
    return float(f"{x:.{digits}g}") if math.isfinite(x) else None


def text(value: Any, digits: int = 4) -> str:
    """A number for a table, in decimal notation where that is short; a symbol as it is written; a dash for none."""
    if not isinstance(value, int | float | np.number):
        return str(value)
    x = float(value)
    if not math.isfinite(x):
        return "–"
    if not x:
        return "0"
    rounded = float(f"{x:.{digits}g}")
    if not MIN_PLAIN <= abs(rounded) < MAX_PLAIN:
        return power(x, max(digits - 1, 0), shorten=True)
    decimals = max(digits - 1 - math.floor(math.log10(abs(rounded))), 0)
    plain = f"{rounded:.{decimals}f}"
    return (plain.rstrip("0").rstrip(".") if "." in plain else plain).replace("-", "−")


def power(value: float, digits: int = 1, *, shorten: bool = False) -> str:
    """A number with a power of ten: 1.6 × 10⁻¹⁵."""
    if not value:
        return "0"
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    if shorten and "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa.replace('-', '−')} × 10{str(int(exponent)).translate(SUPERSCRIPTS)}"


def quantity(value: float, unit: str, digits: int = 3) -> str:
    """A number with a unit that takes a decimal prefix: 131 kN/m, 36 mm, 21 nJ."""
    if not math.isfinite(value):
        return "–"
    size = abs(float(f"{value:.{digits}g}"))
    if not size:
        return f"0 {unit}"
    step = int(np.clip(math.floor(math.log10(size) / 3.0), -4, 3))
    return f"{text(value / 1000.0**step, digits)} {PREFIXES[step]}{unit}"


def duration(seconds: float, digits: int = 3) -> str:
    """A time: 96.6 ns, 1.31 s, 2 min 5 s."""
    if seconds < 120.0:
        return quantity(seconds, "s", digits)
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def triple(values: Any, digits: int = 3) -> str:
    return "(" + ", ".join(text(x, digits) for x in without_noise(values)) + ")"


def without_noise(values: Any, scale: float | None = None) -> Any:
    """Numbers with those that are rounding errors beside the largest one, or ``scale``, as zeros; symbols as they are."""
    array = np.asarray(values)
    if array.dtype == object:
        return values
    size = float(np.abs(array).max(initial=0.0)) if scale is None else scale
    return np.where(np.abs(array) <= PRINTED_AS_ZERO * size, 0.0, array)
