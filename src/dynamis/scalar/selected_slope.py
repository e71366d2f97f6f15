"""Slopes under selections: exactly zero where a condition does not hold, whatever they are multiplied by."""

from __future__ import annotations

from typing import Any

from dynamis.scalar.node import Node, Scalar, select

Path = dict[Any, bool]  # conditions, and whether each holds


class Branch:
    """The partial derivative of a selection by one of its values: 1 where the condition is as said, and zero elsewhere."""

    __slots__ = ("condition", "holds")
    __array_ufunc__ = None  # numbers of NumPy leave products to `__rmul__`

    def __init__(self, condition: Scalar, holds: bool) -> None:
        self.condition, self.holds = condition, holds

    def __rmul__(self, slope: Any) -> Any:
        if not isinstance(self.condition, Node):
            return slope if (self.condition != 0.0) == self.holds else 0.0
        path, value = (slope.path, slope.value) if isinstance(slope, SelectedSlope) else ({}, slope)
        if path.get(self.condition, self.holds) != self.holds:
            return 0.0
        return _made(path | {self.condition: self.holds}, value)


class SelectedSlope:
    """``value`` where all conditions are as the path says, and zero elsewhere, where the value may be undefined.

    >>> from dynamis.scalar import symbol
    >>> x = symbol("x")
    >>> plain(x * Branch(x < 2.0, True) * (1.0 / x) + 0.0)
    where(x < 2, x*1/x, 0)
    """

    __slots__ = ("path", "value")
    __array_ufunc__ = None

    def __init__(self, path: Path, value: Scalar) -> None:
        self.path, self.value = path, value

    def __mul__(self, factor: Any) -> Any:
        return NotImplemented if isinstance(factor, Branch) else _made(self.path, self.value * factor)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, SelectedSlope):
            return _sum(self, other)
        return self if _is_zero(other) else other + plain(self)

    __radd__ = __add__


def plain(slope: Any) -> Any:
    """As an expression."""
    return _where(slope.path, slope.value) if isinstance(slope, SelectedSlope) else slope


def _sum(a: SelectedSlope, b: SelectedSlope) -> Any:
    """Under the conditions that both have in common, and under either of the others."""
    shared = {condition: holds for condition, holds in a.path.items() if b.path.get(condition) == holds}
    one, other = ({c: holds for c, holds in x.path.items() if c not in shared} for x in (a, b))
    if not one or not other:
        return _made(shared, _where(one, a.value) + _where(other, b.value))
    opposite = next((condition for condition in one if condition in other), None)
    if opposite is None:
        value, either = _where(one, a.value) + _where(other, b.value), select(_where(one, 1.0), 1.0, _where(other, 1.0))
    else:
        parts = [(one, a.value), (other, b.value)] if one[opposite] else [(other, b.value), (one, a.value)]
        value, either = (
            select(opposite, *(_where({c: h for c, h in path.items() if c is not opposite}, x) for path, x in pairs))
            for pairs in (parts, [(path, 1.0) for path, _ in parts])
        )
    return _made(shared, value) * Branch(either, True)


def _made(path: Path, value: Any) -> Any:
    return value if not path or _is_zero(value) else SelectedSlope(path, value)


def _where(path: Path, value: Scalar) -> Scalar:
    for condition, holds in reversed(path.items()):
        value = select(condition, value, 0.0) if holds else select(condition, 0.0, value)
    return value


def _is_zero(x: Any) -> bool:
    return isinstance(x, float) and x == 0.0
