"""Arithmetic in robot files: numbers, declared names, + − * / ^, parentheses and a few functions. Never ``eval``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from dynamis.errors import InputError, printable, unknown_name
from dynamis.model.readers.numbers import parse_number
from dynamis.scalar import Node, acos, asin, atan2, cos, exp, log, maximum, minimum, sign, sin, sqrt, tanh

_TOKEN = re.compile(r"\s*(?:([0-9.]+(?:[eE][-+]?[0-9]+)?)|([A-Za-z_][A-Za-z0-9_']*)|(\*\*|[-+*/^(),]))")
PARAMETER_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_']*")
MAX_LENGTH = 10_000
MAX_DEPTH = 60

FUNCTIONS: dict[str, tuple[int, Any]] = {
    "abs": (1, abs), "acos": (1, acos), "asin": (1, asin), "atan2": (2, atan2), "cos": (1, cos), "exp": (1, exp),
    "log": (1, log), "max": (2, maximum), "min": (2, minimum), "sign": (1, sign), "sin": (1, sin), "sqrt": (1, sqrt),
    "tan": (1, lambda x: sin(x) / cos(x)), "tanh": (1, tanh),
}  # fmt: skip
CONSTANTS = {"pi": math.pi}


def parse_expression(text: str, names: Mapping[str, Any]) -> Any:
    """The value of an expression: a float, or a node where a name stands for a symbol.

    >>> parse_expression("pi/2 - 2^2 * a", {"a": 0.25})
    0.5707963267948966
    """
    value = _Parser(text, names).whole()
    if not isinstance(value, Node):
        value = float(value)
        if not math.isfinite(value):
            raise InputError(f"{printable(text)} is {value}, not a finite number")
    return value


class _Parser:
    def __init__(self, text: str, names: Mapping[str, Any]) -> None:
        if len(text) > MAX_LENGTH:
            raise InputError(f"an expression of {len(text)} characters; at most {MAX_LENGTH} are allowed")
        self.text, self.names, self.depth = text, names, 0
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
        except (ZeroDivisionError, OverflowError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise self.wrong(str(error)) from None
        if self.tokens[self.at][0] != "end":
            raise self.wrong(f"{printable(self.tokens[self.at][1])} is not expected here")
        return value

    def sum(self) -> Any:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.wrong(f"parentheses are nested deeper than {MAX_DEPTH}")
        value = self.product()
        while sign_ := self.take("+", "-"):
            right = self.product()
            value = value + right if sign_ == "+" else value - right
        self.depth -= 1
        return value

    def product(self) -> Any:
        value = self.factor()
        while sign_ := self.take("*", "/"):
            right = self.factor()
            value = value * right if sign_ == "*" else value / right
        return value

    def factor(self) -> Any:
        negative = False
        while sign_ := self.take("+", "-"):
            negative ^= sign_ == "-"
        value = self.atom()
        if self.take("^", "**"):
            exponent = self.factor()
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
            return value
        if kind == "name":
            if self.take("("):
                return self.call(token)
            if token in self.names:
                return self.names[token]
            if token in CONSTANTS:
                return CONSTANTS[token]
            raise self.wrong(str(unknown_name("parameter", token, [*self.names, *CONSTANTS])))
        if token == "(":  # noqa: S105  # a parenthesis, not a password
            value = self.sum()
            self.close()
            return value
        raise self.wrong(f"{printable(token)} stands where a number or a name is expected")

    def call(self, name: str) -> Any:
        if name not in FUNCTIONS:
            raise self.wrong(str(unknown_name("function", name, FUNCTIONS)))
        count, function = FUNCTIONS[name]
        values = [self.sum()]
        while self.take(","):
            values.append(self.sum())
        self.close()
        if len(values) != count:
            raise self.wrong(f"{name} takes {count} value(s), got {len(values)}")
        value = function(*values)
        return value if isinstance(value, Node) else float(value)

    def close(self) -> None:
        if not self.take(")"):
            raise self.wrong("a closing parenthesis is missing")
