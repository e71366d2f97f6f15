"""Exact simplification of expressions as text."""

from __future__ import annotations

from typing import Any

from dynamis.errors import InputError
from dynamis.symbolic.budget import Budget, BudgetSpent
from dynamis.symbolic.expression import Algebra
from dynamis.symbolic.notation import SymbolPrinter, notation_of
from dynamis.symbolic.ring import Ring

MAX_TERMS_SHOWN = 200  # terms


def simplified(node: Any) -> str:
    """The normal form of an expression in plain text: m_2*d_c2/m_2 is d_c2.

    >>> import dynamis as dy
    >>> m, l, a = (dy.symbol(name) for name in ("m", "l", "a"))
    >>> simplified((m * (l - a) + a * m) / m)
    'l'
    """
    try:
        ring = Ring.of([node])
        ring.expand([node], Budget(seconds=1.0, terms=100 * MAX_TERMS_SHOWN))
        expression = Algebra(ring, SymbolPrinter(notation_of(None), {}, ())).of_node(node)
        return str(expression) if len(expression) <= MAX_TERMS_SHOWN else str(node)
    except (InputError, BudgetSpent):  # divided by zero, no polynomial, or too large a one
        return str(node)
