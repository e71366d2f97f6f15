"""Graphs printed with names for what is used more than once: the readable form of what is too large to expand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dynamis.scalar import Node, topological
from dynamis.scalar.node import binary, make, select, unary
from dynamis.symbolic.notation import Lettering

_BINARY = {"add", "sub", "mul", "div"}
_LEVEL = {"add": 1, "sub": 1, "neg": 1, "mul": 2, "div": 3}


def latex(outputs: Sequence[Any], letters: Lettering, names: str = "x") -> list[tuple[str, str]]:
    """(name, formula) of each shared subexpression in the order of use, then ("", formula) of each output."""
    order = topological(outputs)
    uses: dict[int, int] = {}
    for node in order:
        for a in node.args:
            if isinstance(a, Node):
                uses[id(a)] = uses.get(id(a), 0) + 1
    for output in outputs:
        if isinstance(output, Node):
            uses[id(output)] = uses.get(id(output), 0) + 1
    lines: list[tuple[str, str]] = []
    written: dict[int, tuple[str, int]] = {}

    def text(x: Any, level: int) -> str:
        if not isinstance(x, Node):
            digits = _number(float(x))
            return f"({digits})" if x < 0 and level > 0 else digits
        inner, own = written[id(x)]
        return rf"({inner})" if own < level else inner

    for node in order:
        formula = _formula(node, text, letters)
        own = _LEVEL.get(node.op, 9)
        if uses.get(id(node), 0) > 1 and node.op in _BINARY and not _is_light(node):
            name = f"{names}_{{{len(lines) + 1}}}"
            lines.append((name, formula))
            formula, own = name, 9
        written[id(node)] = formula, own
    return lines + [("", text(output, 0)) for output in outputs]


def _formula(node: Node, text: Any, letters: Lettering) -> str:
    match node.op:
        case "symbol":
            return letters.symbol(node)
        case "add":
            return f"{text(node.args[0], 1)} + {text(node.args[1], 1)}"
        case "sub":
            return f"{text(node.args[0], 1)} - {text(node.args[1], 2)}"
        case "neg":
            return f"-{text(node.args[0], 2)}"
        case "mul":
            return f"{text(node.args[0], 2)} \\, {text(node.args[1], 2)}"
        case "div":
            return rf"\frac{{{text(node.args[0], 0)}}}{{{text(node.args[1], 0)}}}"
        case "sin" | "cos":
            inner = text(node.args[0], 0)
            bare = isinstance(node.args[0], Node) and node.args[0].op == "symbol"
            return rf"\{node.op} {inner}" if bare else rf"\{node.op}({inner})"
    inner = ", ".join(text(a, 0) for a in node.args)
    return rf"\operatorname{{{'sgn' if node.op == 'sign' else node.op}}}({inner})"


def _is_light(node: Node) -> bool:
    """Whether a node is as short as its name would be: a number or a sign on a symbol."""
    return node.op == "mul" and not isinstance(node.args[0], Node) and node.args[1].op == "symbol"


def _number(x: float) -> str:
    mantissa, _, exponent = f"{x:.6g}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def replaced(node: Any, substitute: Mapping[int, Any]) -> Any:
    """An expression with other things in place of some symbols, given by the ids of their nodes."""
    made: dict[int, Any] = dict(substitute)
    for n in topological([node]):
        if id(n) not in made:
            made[id(n)] = n if n.op == "symbol" else rebuilt(n.op, [made[id(a)] if isinstance(a, Node) else a for a in n.args])
    return made[id(node)] if isinstance(node, Node) else node


def rebuilt(op: str, args: Sequence[Any]) -> Any:
    """The operation on other operands, with the same folding as when an expression is written."""
    a = [float(x) if not isinstance(x, Node) else x for x in args]
    match op:
        case "add":
            return a[0] + a[1]
        case "sub":
            return a[0] - a[1]
        case "mul":
            return a[0] * a[1]
        case "div":
            return a[0] / a[1]
        case "neg":
            return -a[0]
        case "where":
            return select(*a)
        case "min" | "max" | "atan2" | "and" | "or":
            return binary(op, *a)
        case "lt" | "le" | "eq":
            return make(op, *a)
    return unary(op, a[0])
