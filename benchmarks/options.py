"""What a run measures and how long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

CHAINS = (2, 5, 10, 20, 50, 100, 200, 500, 1000)
QUICK_CHAINS = (2, 5, 10, 20)


@dataclass(frozen=True)
class Options:
    """``seconds`` is about how long each contender gets; ``tell`` says on the terminal what is going on.

    Of closed forms: a derivation is stopped after ``limit_s``, and arms have up to ``joints`` joints where they grow.
    """

    robots: tuple[str, ...]
    rivals: tuple[str, ...]
    batch: int
    seconds: float
    chains: tuple[int, ...]
    fresh_starts: int
    symbolic_rivals: tuple[str, ...]
    limit_s: float
    joints: int
    tell: Callable[[str], None]
