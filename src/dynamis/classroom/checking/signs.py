"""Absolute values written with signs, |x| = x sgn(x), so that the ring decides whether |sgn x| is sgn² x."""

from __future__ import annotations

from typing import Any

from dynamis.scalar import Node, sign, topological
from dynamis.scalar.substitution import rebuilt


def by_signs(node: Any) -> Any:
    """An expression without absolute values, and without signs of signs.

    >>> from dynamis.scalar import symbol
    >>> x = symbol("x")
    >>> by_signs(abs(x)), by_signs(abs(sign(x)))
    (x*sign(x), sign(x)*sign(x))
    """
    order = topological([node])
    if not any(n.op == "abs" or (n.op == "sign" and isinstance(n.args[0], Node) and n.args[0].op == "sign") for n in order):
        return node
    made: dict[int, Any] = {}
    for n in order:
        operands = [made[id(a)] if isinstance(a, Node) else a for a in n.args] if n.op != "symbol" else []
        if n.op == "symbol":
            made[id(n)] = n
        elif n.op == "abs":
            made[id(n)] = operands[0] * _sign(operands[0])
        else:
            made[id(n)] = _sign(operands[0]) if n.op == "sign" else rebuilt(n.op, operands)
    return made[id(node)] if isinstance(node, Node) else node


def _sign(x: Any) -> Any:
    return x if isinstance(x, Node) and x.op == "sign" else sign(x)
