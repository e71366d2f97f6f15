"""Unoptimised code where a function is used once, optimised code where its speed is measured."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

TIER = "DYNAMIS_TIER"  # read whenever a function is compiled


@contextmanager
def code_tier(tier: str | None) -> Iterator[None]:
    """Compile with "quick" (unoptimised) code, or with None for code that is optimised in the background."""
    before = os.environ.pop(TIER, None)
    if tier is not None:
        os.environ[TIER] = tier
    try:
        yield
    finally:
        os.environ.pop(TIER, None)
        if before is not None:
            os.environ[TIER] = before
