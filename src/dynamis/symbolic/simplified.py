"""Exact simplification of expressions as text."""

from __future__ import annotations

from typing import Any

from dynamis.errors import InputError
from dynamis.symbolic.expression import Algebra
from dynamis.symbolic.notation import Lettering, notation_of
from dynamis.symbolic.ring import Ring


def simplified(node: Any) -> str:
    """The normal form of an expression in plain text: m_2*d_c2/m_2 is d_c2.

    >>> import dynamis as dy
    >>> m, l, a = (dy.symbol(name) for name in ("m", "l", "a"))
    >>> simplified((m * (l - a) + a * m) / m)
    'l'
    """
    try:
        return str(Algebra(Ring.of([node]), Lettering(notation_of(None), {}, ())).of_node(node))
    except InputError:  # divided by zero, or what no polynomial says
        return str(node)
