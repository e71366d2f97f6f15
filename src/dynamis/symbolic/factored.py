"""Output of graphs with named common subexpressions, for expressions too large to expand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dynamis.scalar import Node, topological
from dynamis.scalar.substitution import rebuilt
from dynamis.symbolic.angles import linear_form
from dynamis.symbolic.notation import SymbolPrinter
from dynamis.symbolic.printing import raised

MIN_ABBREVIATED_SYMBOLS = 4  # in an expression that gets a name
SUM, PRODUCT, LEAF = 1, 2, 3


@dataclass(frozen=True)
class _Written:
    """A formula without its sign, its operator precedence, and its number of symbols."""

    negative: bool
    text: str
    level: int
    letters: int

    def inside(self, level: int) -> str:
        """The formula as an operand, in brackets if its precedence is lower."""
        return f"({self.text})" if self.level < level else self.text

    @property
    def signed(self) -> str:
        """By itself, with its sign."""
        return f"-{self.inside(PRODUCT)}" if self.negative else self.text


def latex(outputs: Sequence[Any], letters: SymbolPrinter, names: str = "x") -> list[tuple[str, str]]:
    """(name, formula) of each shared subexpression in the order of use, then ("", formula) of each output."""
    order = topological(outputs)
    uses = Counter(id(a) for node in order if _angle(node) is None for a in node.args if isinstance(a, Node))
    uses.update(id(x) for x in outputs if isinstance(x, Node))
    lines: list[tuple[str, str]] = []
    made: dict[int, _Written] = {}

    def of(x: Any) -> _Written:
        return made[id(x)] if isinstance(x, Node) else _Written(x < 0, _number(abs(float(x))), LEAF, 1)

    for node in order:
        written = _written(node, [of(a) for a in node.args] if node.op != "symbol" else [], letters)
        if uses[id(node)] > 1 and written.letters >= MIN_ABBREVIATED_SYMBOLS:
            name = f"{names}_{{{len(lines) + 1}}}"
            lines.append((name, written.text))
            written = _Written(written.negative, name, LEAF, 1)
        made[id(node)] = written
    return lines + [("", of(x).signed) for x in outputs]


def with_definitions(outputs: Sequence[Any], letters: SymbolPrinter, put: Callable[[list[str]], str]) -> str:
    """The outputs, followed by the definitions of the names in them."""
    lines = latex(outputs, letters)
    made = put([formula for name, formula in lines if not name])
    return r",\quad ".join([made, *(f"{name} = {formula}" for name, formula in lines if name)])


def _written(node: Node, parts: list[_Written], letters: SymbolPrinter) -> _Written:
    size = sum(p.letters for p in parts)
    match node.op:
        case "symbol":
            return _Written(False, letters.symbol(node), LEAF, 1)
        case "neg":
            return _Written(not parts[0].negative, parts[0].text, parts[0].level, size)
        case "pivot" | "keep":
            return parts[0]
        case "add" | "sub":
            a, b = parts
            minus = b.negative != (node.op == "sub")
            if a.negative and not minus:  # b − a rather than −a + b
                return _Written(False, f"{b.text} - {a.inside(PRODUCT)}", SUM, size)
            first = a.signed
            if not minus and b.text.startswith("-"):  # a sum that begins with a minus sign
                return _Written(False, f"{first} - {b.text[1:]}", SUM, size)
            return _Written(False, first + (" - " + b.inside(PRODUCT) if minus else " + " + b.text), SUM, size)
        case "mul":
            a, b = parts
            same = node.args[0] is node.args[1]
            text = raised(a.text, 2) if same and a.level == LEAF and "^" not in a.text else ""
            return _Written(a.negative != b.negative, text or f"{a.inside(PRODUCT)} {b.inside(PRODUCT)}", PRODUCT, size)
        case "div":
            return _Written(parts[0].negative != parts[1].negative, rf"\frac{{{parts[0].text}}}{{{parts[1].text}}}", LEAF, size)
        case "sin" | "cos":
            angle = _angle(node)
            if angle is None:
                return _Written(False, rf"\{node.op}({parts[0].signed})", LEAF, size)
            return _Written(False, _turned(node, angle, parts[0], letters), LEAF, 1)
    inner = ", ".join(p.signed for p in parts)
    return _Written(False, rf"\operatorname{{{'sgn' if node.op == 'sign' else node.op}}}({inner})", LEAF, size)


def _angle(node: Node) -> list[tuple[Node, int, int]] | None:
    """The argument of a sine or cosine as (symbol, sign, denominator) of each term; None where it is anything else."""
    if node.op not in ("sin", "cos"):
        return None
    form = linear_form(node.args[0])
    if form.constant or any(abs(ratio.numerator) != 1 or unit.op != "symbol" for unit, ratio in form.terms):
        return None
    return [(unit, ratio.numerator, ratio.denominator) for unit, ratio in form.terms]


def _turned(node: Node, path: list[tuple[Node, int, int]], argument: _Written, letters: SymbolPrinter) -> str:
    path = sorted(path, key=lambda term: letters.roles[id(term[0])].number if id(term[0]) in letters.roles else 0)
    if path[0][1] < 0 and node.op == "sin":
        return rf"\sin({argument.signed})"
    if path[0][1] < 0:  # the cosine is that of the opposite angle, which begins with a plus
        path = [(unit, -sign, denominator) for unit, sign, denominator in path]
    return letters.turned("sine" if node.op == "sin" else "cosine", path)


def _number(x: float) -> str:
    mantissa, _, exponent = f"{x:.6g}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def replaced(node: Any, substitute: Mapping[int, Any]) -> Any:
    """An expression with some symbols replaced, given by the ids of their nodes."""
    made: dict[int, Any] = dict(substitute)
    for n in topological([node]):
        if id(n) not in made:
            made[id(n)] = n if n.op == "symbol" else rebuilt(n.op, [made[id(a)] if isinstance(a, Node) else a for a in n.args])
    return made[id(node)] if isinstance(node, Node) else node
