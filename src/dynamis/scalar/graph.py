"""Expression graphs as a whole: the order of their nodes, their text, and their rows."""

from __future__ import annotations

from typing import Any

from dynamis.scalar.node import Node, Scalar, make, symbol


def topological(outputs: Any) -> list[Node]:
    """Every node the outputs depend on, operands before users, in an order that depends on the outputs alone."""
    order: list[Node] = []
    seen: set[int] = set()
    for output in outputs:
        stack = [output] if isinstance(output, Node) else []
        while stack:
            node = stack[-1]
            if id(node) not in seen:
                waiting = [a for a in node.args[::-1] if type(a) is Node and id(a) not in seen]
                if waiting:
                    stack += waiting
                    continue
                seen.add(id(node))
                order.append(node)
            stack.pop()
    return order


Row = tuple[Any, ...]  # an operation with its operands: numbers, and places of earlier rows


def to_rows(outputs: Any) -> tuple[list[Row], list[Any]]:
    """The nodes of expressions as rows, and the outputs likewise, for pickle, which cannot follow deep expressions.

    >>> from dynamis.scalar import symbol
    >>> to_rows([symbol("x") * 2.0 + 1.0])
    ([('symbol', 'x'), ('mul', 2.0, 0), ('add', 1.0, 1)], [2])
    """
    order = topological(outputs)
    place = {id(node): k for k, node in enumerate(order)}
    rows = [(node.op, *(place[id(a)] if isinstance(a, Node) else a for a in node.args)) for node in order]
    return rows, [place[id(x)] if isinstance(x, Node) else float(x) for x in outputs]


def from_rows(rows: list[Row], outputs: list[Any]) -> list[Any]:
    """The expressions of `to_rows`."""
    nodes: list[Node] = []
    for op, *operands in rows:
        nodes.append(
            symbol(operands[0]) if op == "symbol" else make(op, *(nodes[x] if isinstance(x, int) else x for x in operands))
        )
    return [nodes[x] if isinstance(x, int) else x for x in outputs]


_PRECEDENCE = {"add": 1, "sub": 1, "mul": 2, "div": 2, "neg": 3}
_SIGN = {"add": " + ", "sub": " - ", "mul": "*", "div": "/", "lt": " < ", "le": " <= ", "eq": " == "}


def show(node: Scalar, limit: int = 400, exact: bool = False) -> str:
    """The expression as text, cut where it becomes too long to read; ``exact`` writes every digit of its numbers."""
    texts: dict[int, str] = {}

    def text(x: Any, level: int) -> str:
        if not isinstance(x, Node):
            digits = repr(float(x)) if exact else f"{x:g}"
            return digits if x >= 0 or level == 0 else f"({digits})"
        inner = texts[id(x)]
        return f"({inner})" if _PRECEDENCE.get(x.op, 9) < level else inner

    for n in topological([node]):
        if n.op == "symbol":
            value = n.args[0]
        elif n.op == "neg":
            value = "-" + text(n.args[0], 3)
        elif n.op in ("pivot", "keep"):
            value = text(n.args[0], 9)
        elif n.op in _SIGN:
            level = _PRECEDENCE.get(n.op, 0)
            right = level + 1 if n.op in ("sub", "div") else level
            value = text(n.args[0], level) + _SIGN[n.op] + text(n.args[1], right)
        else:
            value = n.op + "(" + ", ".join(text(a, 0) for a in n.args) + ")"
        texts[id(n)] = value if len(value) <= limit else value[:limit] + "…"
    return text(node, 0)


Node.__repr__ = show  # type: ignore[assignment, method-assign]
