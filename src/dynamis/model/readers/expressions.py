"""Arithmetic in robot files: numbers, declared names, + − * / ^, parentheses and a few functions. Never ``eval``.

A number followed by ``deg`` is an angle in degrees.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from typing import Any

from dynamis.display import counted
from dynamis.errors import InputError, printable, unknown_name
from dynamis.model.readers.numbers import parse_number
from dynamis.scalar import Node, topological
from dynamis.scalar.node import binary, unary

_TOKEN = re.compile(r"\s*(?:([0-9.]+(?:[eE][-+]?[0-9]+)?)|([A-Za-z_][A-Za-z0-9_']*)|(\*\*|[-+*/^(),]))")
PARAMETER_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_']*")
MAX_CHARACTERS = 10_000
MAX_DEPTH = 60

_ONE = ("abs", "acos", "asin", "cos", "exp", "floor", "log", "sign", "sin", "sqrt", "tanh")
FUNCTIONS: dict[str, tuple[int, Any]] = {
    **{name: (1, functools.partial(unary, name)) for name in _ONE},
    "atan2": (2, functools.partial(binary, "atan2")),
    "max": (2, functools.partial(binary, "max")),
    "min": (2, functools.partial(binary, "min")),
    "tan": (1, lambda x: unary("sin", x) / unary("cos", x)),
}
CONSTANTS = {"pi": math.pi}


class UndeclaredParameterError(InputError):
    """An expression uses a name that the file does not declare."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


class NotAnAngleError(InputError):
    """A value that is no angle is given in degrees."""


def parse_expression(text: str, names: Mapping[str, Any], *, hints: bool = True, angle: bool = True) -> Any:
    """The value of an expression: a float, or a node where a name stands for a symbol.

    ``hints`` may be switched off where a file has so many mistakes that looking for near names takes long. Where the
    value is no ``angle``, degrees are the unit of arguments of functions only.

    >>> parse_expression("pi/2 - 2^2 * a", {"a": 0.25})
    0.5707963267948966
    >>> parse_expression("90deg", {}) == math.pi / 2
    True
    """
    value = _Parser(text, names, hints, angle).whole()
    for number in _numbers(value):
        if not math.isfinite(number):
            raise InputError(f"{printable(text)} contains or gives {number}, not finite numbers")
    return value


def _numbers(value: Any) -> list[float]:
    if not isinstance(value, Node):
        return [value]
    return [arg for node in topological([value]) if node.op != "symbol" for arg in node.args if not isinstance(arg, Node)]


class _Parser:
    def __init__(self, text: str, names: Mapping[str, Any], hints: bool, angle: bool) -> None:
        if len(text) > MAX_CHARACTERS:
            raise InputError(f"an expression of {counted(len(text), 'character')}; at most {MAX_CHARACTERS} are allowed")
        self.text, self.names, self.hints, self.angle, self.depth = text, names, hints, angle, 0
        self.tokens: list[tuple[str, str]] = []
        position = 0
        while position < len(text.rstrip()):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self.wrong(f"the character {printable(text[position:].strip()[:1])} is not arithmetic")
            number, name, sign_ = match.groups()
            self.tokens.append(("number", number) if number else ("name", name) if name else ("sign", sign_))
            position = match.end()
        self.tokens.append(("end", "the end"))
        self.at = 0

    def wrong(self, why: str) -> InputError:
        return InputError(f"in the expression {printable(self.text)}: {why}")

    def take(self, *signs: str) -> str | None:
        kind, token = self.tokens[self.at]
        if kind == "sign" and token in signs:
            self.at += 1
            return token
        return None

    def whole(self) -> Any:
        try:
            value = self.sum()
        except ZeroDivisionError:
            raise self.wrong("there is a division by zero") from None
        except OverflowError:
            raise self.wrong("a number becomes too large") from None
        if self.tokens[self.at][0] != "end":
            raise self.wrong(f"{printable(self.tokens[self.at][1])} is not expected here")
        return value

    def sum(self) -> Any:
        self.deeper()
        value = self.product()
        while sign_ := self.take("+", "-"):
            right = self.product()
            value = self.finite(value + right if sign_ == "+" else value - right)
        self.depth -= 1
        return value

    def finite(self, value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            raise self.wrong("a number becomes too large")
        return value

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.wrong(f"parentheses or powers are nested deeper than {MAX_DEPTH}")

    def product(self) -> Any:
        value = self.factor()
        while sign_ := self.take("*", "/"):
            right = self.factor()
            value = self.finite(value * right if sign_ == "*" else value / right)
        return value

    def factor(self) -> Any:
        negative = False
        while sign_ := self.take("+", "-"):
            negative ^= sign_ == "-"
        value = self.atom()
        if self.take("^", "**"):
            self.deeper()
            exponent = self.factor()
            self.depth -= 1
            if isinstance(exponent, Node):
                raise self.wrong("an exponent must be a number")
            value = value**exponent
            if isinstance(value, complex):
                raise self.wrong("a negative number has no such root")
        return -value if negative else value

    def atom(self) -> Any:
        kind, token = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            value = parse_number(token)
            if value is None:
                raise self.wrong(f"{printable(token)} is not a finite number")
            if self.tokens[self.at] == ("name", "deg"):
                if not self.angle:
                    raise NotAnAngleError(str(self.wrong("deg is a unit of angles, and this value is no angle")))
                self.at += 1
                value = math.radians(value)
            return value
        if kind == "name":
            if self.take("("):
                return self.call(token)
            if token in self.names:
                return self.names[token]
            if token in CONSTANTS:
                return CONSTANTS[token]
            why = f"no parameter {printable(token)}"
            if self.hints:
                why = str(unknown_name("parameter", token, [*self.names, *CONSTANTS]))
            raise UndeclaredParameterError(str(self.wrong(why)), token)
        if token == "(":  # noqa: S105  # a parenthesis, not a password
            value = self.sum()
            self.close()
            return value
        found = "it ends" if kind == "end" else f"{printable(token)} stands"
        raise self.wrong(f"{found} where a number or a name is expected")

    def call(self, name: str) -> Any:
        if name not in FUNCTIONS:
            raise self.wrong(str(unknown_name("function", name, FUNCTIONS)))
        count, function = FUNCTIONS[name]
        outside, self.angle = self.angle, True
        values = [self.sum()]
        while self.take(","):
            values.append(self.sum())
        self.angle = outside
        self.close()
        if len(values) != count:
            raise self.wrong(f"{name} takes {count} value(s), got {len(values)}")
        return function(*values)

    def close(self) -> None:
        if not self.take(")"):
            raise self.wrong("a closing parenthesis is missing")
