"""Parameter types of options: numbers that are checked when the command line is parsed."""

from __future__ import annotations

import math
from typing import Any

import click
from click.types import FloatParamType


class _Number(FloatParamType):
    """A finite number ≥ 0 or > 0; click's own ranges accept NaN."""

    def __init__(self, zero: bool) -> None:
        self.zero = zero

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        x = super().convert(value, param, ctx)
        if not math.isfinite(x) or x < 0.0 or (x == 0.0 and not self.zero):
            self.fail(f"{x:g} is not a {'non-negative' if self.zero else 'positive'} number.", param, ctx)
        return x


POSITIVE = _Number(zero=False)
NOT_NEGATIVE = _Number(zero=True)
SEED = click.IntRange(0)
