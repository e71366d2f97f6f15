"""The target of code generation: precision, vector width, registers."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property

import numpy as np

LINE = 64  # bytes of a cache line
LONG_ROW = 2048  # bytes of a state's result
SHORT = 16  # bytes of the vectors of single states


@dataclass(frozen=True)
class Target:
    """Precision, lanes (states a vector holds) and vector registers; ``masked``: part of a vector is loaded as fast as all."""

    precision: str  # "double" or "float"
    lanes: int
    registers: int
    masked: bool = False

    @property
    def bits(self) -> int:
        return 64 if self.precision == "double" else 32

    @property
    def bytes(self) -> int:
        return self.bits // 8

    @property
    def width(self) -> int:
        """Bytes of a vector."""
        return self.bytes * self.lanes

    @cached_property
    def vector(self) -> str:
        return f"<{self.lanes} x {self.precision}>"

    @property
    def integers(self) -> str:
        return f"<{self.lanes} x i{self.bits}>"


def literal(value: float, t: Target) -> str:
    """A number as LLVM writes it: the bits of a double, whatever the precision."""
    if t.precision == "float":
        with np.errstate(over="ignore"):
            value = float(np.float32(value))  # beyond the largest number: infinity, as arithmetic would give
    return "0x" + struct.pack(">d", value).hex().upper()
