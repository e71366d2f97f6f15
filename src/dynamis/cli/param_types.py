"""Parameter types of options: numbers that are checked when the command line is parsed."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.types import FloatParamType

MAX_COMPARED_CHARACTERS = 60  # of a value, with the choices


class _Number(FloatParamType):
    """A finite number ≥ 0 or > 0; click's own ranges accept NaN."""

    def __init__(self, zero: bool) -> None:
        self.zero = zero

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        x = super().convert(value, param, ctx)
        if not math.isfinite(x) or x < 0.0 or (x == 0.0 and not self.zero):
            self.fail(f"{x:g} is not a {'non-negative' if self.zero else 'positive'} number.", param, ctx)
        return x


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


POSITIVE = _Number(zero=False)
NOT_NEGATIVE = _Number(zero=True)
SEED = click.IntRange(0)
