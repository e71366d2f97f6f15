"""Answers that are no text, such as a derivation in SymPy or formulas of this package, written as text for the parser."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from dynamis.display import short
from dynamis.errors import InputError, printable
from dynamis.scalar import is_number
from dynamis.symbolic.equations import Equation, Equations
from dynamis.symbolic.expression import Expression

_TORQUE = re.compile(r"(?<![A-Za-z])tau")
_EXACT_DIGITS = 17  # of a float


def written(answer: Any, letter: str = "c") -> str:
    """The text of an answer; entries of an array with three axes are called by this ``letter``.

    >>> written([[1, "m"], ["m", 2.5]])
    '[1, m; m, 2.5]'
    """
    if isinstance(answer, str | Equation | Equations):
        return str(answer)
    try:
        # arrays of SymPy have tolist too
        entries = np.array(answer.tolist() if hasattr(answer, "tolist") else answer, dtype=object)
    except ValueError:  # rows of different lengths
        raise _refused(answer) from None
    if not entries.size:
        raise _refused(answer)
    texts = np.array([_entry(x, answer) for x in entries.flat], dtype=object).reshape(entries.shape)
    if letter == "tau" and any(_TORQUE.search(x) for x in texts.flat):  # residuals, for torques hold no torques
        texts = np.array([x if "=" in x else f"{x} = 0" for x in texts.flat], dtype=object)
    if any("=" in x for x in texts.flat):
        return "\n".join(texts.flat)
    if texts.ndim > 2:
        return "\n".join(f"{letter}_{{{','.join(str(k + 1) for k in i)}}} = {x}" for i, x in np.ndenumerate(texts))
    rows = "; ".join(", ".join(row) for row in np.atleast_2d(texts))
    return f"[{rows}]" if texts.ndim else rows


def _entry(x: Any, answer: Any) -> str:
    if isinstance(x, Expression) and x.expanded:
        return x.text(digits=_EXACT_DIGITS)
    if isinstance(x, str):
        return x
    if is_number(x):
        return repr(x if isinstance(x, int) else float(x))
    if type(x).__module__.startswith("sympy.") and hasattr(x, "free_symbols"):
        if any(number.is_number and not number.is_real for number in x.atoms()):  # I would be read as a parameter I
            raise InputError(
                f"the answer {printable(short(str(x), 60))} is not real; for a parameter I write sympy.Symbol('I')"
            )
        if getattr(x, "is_Boolean", False) and not getattr(x, "is_Equality", False):
            raise InputError(
                f"the answer is {x}: SymPy has decided an equation of it; write it as text, or its sides one by one"
            )
        return f"{x.lhs} = {x.rhs}" if getattr(x, "is_Equality", False) else str(x)
    raise _refused(answer)


def _refused(answer: Any) -> InputError:
    return InputError(
        "an answer is a text in LaTeX or plain formulas, an expression, matrix or equation of SymPy, formulas of a closed form"
        f", or a list or array of these and of numbers; got {type(answer).__name__} {printable(short(repr(answer), 60))}"
    )
