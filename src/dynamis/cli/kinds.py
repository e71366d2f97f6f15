"""Numbers that options take, refused where they are typed rather than in the middle of the work."""

from __future__ import annotations

import math
from typing import Any

import click
from click.types import FloatParamType


class _Number(FloatParamType):
    """A number from zero on, or above it; click's own ranges let what is not a number through."""

    def __init__(self, zero: bool) -> None:
        self.zero = zero

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        x = super().convert(value, param, ctx)
        if not math.isfinite(x) or x < 0.0 or (x == 0.0 and not self.zero):
            self.fail(f"{x:g} is not a number {'from 0 on' if self.zero else 'above 0'}.", param, ctx)
        return x


POSITIVE = _Number(zero=False)
NOT_NEGATIVE = _Number(zero=True)
SEED = click.IntRange(0)
