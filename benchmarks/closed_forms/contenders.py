"""Who derives: this package, and what people do in SymPy and in the Robotics Toolbox."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Contender:
    """``last`` is the stage after which it has given all it gives; ``library`` is what `--rivals` calls it."""

    name: str
    library: str
    gives: str
    last: str


BIAS = "C q̇ + g"
CONTENDERS: dict[str, Contender] = {
    "sympy_lagrange": Contender("SymPy mechanics, Lagrange", "sympy", f"M, {BIAS}", BIAS),
    "sympy_kane": Contender("SymPy mechanics, Kane", "sympy", f"M, {BIAS}", BIAS),
    "sympy_simplified": Contender("SymPy, Jacobians, simplified", "sympy", "M, C, g", "C"),
    "sympy_jacobians": Contender("SymPy, Jacobians", "sympy", "M, C, g", "C"),
    "sympy_recursion": Contender("SymPy, recursion in named steps", "sympy", "M, C, g", "C"),
    "toolbox": Contender("Robotics Toolbox with SymPy", "robotics_toolbox", f"M, {BIAS}", BIAS),
}
