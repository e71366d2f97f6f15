"""Decimals of an answer, each known to half a unit of its last digit: 0.3333 for 1/3."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from dynamis.scalar import Node, gradient, symbol, topological
from dynamis.symbolic import factored

DECIMAL = r"(?<![0-9.])[0-9]*\.[0-9]+"
MIN_ROUNDED_DIGITS = 4  # a decimal with fewer significant digits, such as 9.81, is taken as exact
MAX_ROUNDED = 1000  # decimals of one answer


@dataclass(frozen=True)
class Decimals:
    """Symbols for the decimals of an answer that may be rounded, by position, with their values and half units."""

    found: dict[int, tuple[Node, float, float]] = field(default_factory=dict)

    def symbol(self, text: str, value: float, at: int) -> Node | float:
        """A symbol for a decimal that may be rounded; the value of another number."""
        if not re.match(DECIMAL, text) or len((digits := Decimal(text).as_tuple()).digits) < MIN_ROUNDED_DIGITS:
            return value
        half = float(Decimal((0, (5,), int(digits.exponent) - 1)))
        return self.found.setdefault(at, (symbol(f"decimal at {at}"), value, half))[0]

    def values(self, node: Any) -> Any:
        """An expression with the decimals as written."""
        return factored.replaced(node, {id(x): value for x, value, _ in self.found.values()}) if self.found else node

    def slopes(self, node: Any) -> list[Any]:
        """The changes of an expression by half a unit of the last digit of each decimal, to first order."""
        own = {id(n) for n in topological([node]) if n.op == "symbol"} if self.found else set()
        found = [(x, half) for x, _, half in self.found.values() if id(x) in own]
        slopes = gradient(node, [x for x, _ in found]) if found else ()
        changes = (self.values(slope * half) for slope, (_, half) in zip(slopes, found, strict=True))
        return [x for x in changes if isinstance(x, Node) or x != 0.0]


def has_rounded(text: str) -> bool:
    """Whether a text has decimals that may be rounded, and not more than can be examined."""
    rounded = [x for x in re.findall(DECIMAL, text) if len(Decimal(x).as_tuple().digits) >= MIN_ROUNDED_DIGITS]
    return 0 < len(rounded) <= MAX_ROUNDED
