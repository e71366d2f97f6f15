"""Parameter types of options: numbers that are checked when the command line is parsed."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.types import FloatParamType

from dynamis.tolerances import MAX_COUNT

MAX_COMPARED_CHARACTERS = 60  # of a value, with the choices
MAX_NUMBER = 1e12  # far beyond any time, length, speed or stiffness of a robot; products of a few stay finite


class _Number(FloatParamType):
    """A finite number of ordinary size, any, ≥ 0 or > 0; click's own ranges accept NaN."""

    def __init__(self, sign: str = "") -> None:
        self.sign = sign

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        x = super().convert(value, param, ctx)
        if math.isnan(x) or (self.sign and x < 0.0) or (self.sign == "positive" and x == 0.0):
            self.fail(f"{x:g} is not a {self.sign or 'finite'} number.", param, ctx)
        if abs(x) > MAX_NUMBER:
            self.fail(f"{x:g} is too large; numbers in SI units up to {MAX_NUMBER:g} are allowed.", param, ctx)
        return x


class Integer(click.IntRange):
    """An integer within a range, called so in messages and help."""

    name = "integer"

    def __init__(self, least: int, most: int = MAX_COUNT) -> None:
        super().__init__(least, most)
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            x = int(value)
        except ValueError:
            self.fail(f"{value!r} is not an integer.", param, ctx)
        if not self.least <= x <= self.most:
            self.fail(f"{x} is not an integer from {self.least} to {self.most}.", param, ctx)
        return x

    def _describe_range(self) -> str:
        return f"{self.least} to {self.most}" if self.most < MAX_COUNT else f"at least {self.least}"


class Nearest(click.Choice[str]):
    """A choice that answers another value with all choices and the nearest; ``other_names`` are common names of the choices."""

    def __init__(self, choices: Sequence[str], other_names: Mapping[str, str]) -> None:
        super().__init__(choices)
        self.other_names = other_names

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:  # noqa: ARG002  # click's signature
        choices = [str(choice) for choice in self.choices]
        word = str(value).lower().replace("_", "-")[:MAX_COMPARED_CHARACTERS]
        near = [self.other_names[word]] if word in self.other_names else difflib.get_close_matches(word, choices, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        return f"{value!r} is not one of {', '.join(choices)}.{hint}"


NUMBER = _Number()
POSITIVE = _Number("positive")
NOT_NEGATIVE = _Number("non-negative")
SEED = Integer(0, 2**63 - 1)
