"""Small wrong changes to Python source: each is a piece of text, where it stands, and what replaces it.

A mutant changes the value of something that is computed. Docstrings, annotations, decorators, messages of errors and
representations are left alone, since a change there is not wrong dynamics.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

SWAPPED: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
TOLERANCE = 1e-3  # constants at most this large are tolerances: multiplied by 100, others by 2
SYMMETRIC = ("min", "max", "np.minimum", "np.maximum")  # functions whose first two arguments may be exchanged
SILENT = ("__repr__", "__str__", "_repr_html_")  # functions that only describe


@dataclass(frozen=True)
class Mutant:
    """One wrong change: bytes ``start`` to ``end`` of a file are replaced by ``after``."""

    kind: str
    line: int
    start: int
    end: int
    before: str
    after: str

    def applied(self, source: str) -> str:
        data = source.encode()
        return (data[: self.start] + self.after.encode() + data[self.end :]).decode()

    def compiles(self, source: str) -> bool:
        try:
            compile(self.applied(source), "mutant", "exec")
        except (SyntaxError, ValueError):
            return False
        return True


def mutants_of(source: str) -> list[Mutant]:
    """All mutants of a module, in the order of their places. A few do not compile: see `Mutant.compiles`.

    >>> [f"{m.before} -> {m.after}" for m in mutants_of("c = a + 2.0 * b")]
    ['a + 2.0 * b -> (a - 2.0 * b)', '2.0 * b -> (2.0 / b)', '2.0 -> 4.0']
    """
    data = source.encode()
    starts = [0]
    for line in data.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    found = []
    for node, kind, after in _changes(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        found.append(Mutant(kind, node.lineno, start, end, data[start:end].decode(), after))
    return sorted(found, key=lambda m: (m.start, -m.end, m.kind))


def _changes(tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """(place, kind, replacement) of every change."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield from _changes_at(node)
        waiting += _inside(node)


def _inside(node: ast.AST) -> list[ast.AST]:
    """The parts of a node in which changes are wanted."""
    if isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert | ast.Import | ast.ImportFrom):
        return []
    if isinstance(node, ast.FunctionDef):
        return [] if node.name in SILENT else [*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body]
    if isinstance(node, ast.ClassDef):
        return list(node.body)
    if isinstance(node, ast.AnnAssign):
        return [node.value] if node.value is not None else []
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return list(node.orelse)
    return list(ast.iter_child_nodes(node))


def _changes_at(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        if ast.dump(node.left) != ast.dump(node.right):
            yield node, "swap operands", _text(ast.BinOp(node.right, ast.MatMult(), node.left))
    elif isinstance(node, ast.BinOp) and type(node.op) in SWAPPED and not _is_text(node):
        yield node, "arithmetic", _text(ast.BinOp(node.left, SWAPPED[type(node.op)](), node.right))
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        ops = [SWAPPED[type(node.ops[0])](), *node.ops[1:]]
        yield node, "comparison", _text(ast.Compare(node.left, ops, node.comparators))
    elif isinstance(node, ast.BoolOp):
        yield node, "logic", _text(ast.BoolOp(SWAPPED[type(node.op)](), node.values))
    elif (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not) and not isinstance(node.operand, ast.Constant)
    ):
        yield node, "sign", _text(node.operand)
    elif isinstance(node, ast.Constant):
        yield from _constants(node)
    elif isinstance(node, ast.Call) and len(node.args) > 1 and not any(isinstance(a, ast.Starred) for a in node.args[:2]):
        first, second, *others = node.args
        if ast.dump(first) != ast.dump(second) and ast.unparse(node.func) not in SYMMETRIC:
            yield node, "swap arguments", _text(ast.Call(node.func, [second, first, *others], node.keywords))
    elif isinstance(node, ast.AugAssign | ast.Raise | ast.Continue | ast.Break) or _is_called(node):
        assert isinstance(node, ast.stmt)
        yield node, "drop statement", "pass"
    if isinstance(node, ast.If | ast.IfExp | ast.While) and ast.unparse(node.test) != "TYPE_CHECKING":
        yield node.test, "negate condition", f"(not ({ast.unparse(node.test)}))"


def _constants(node: ast.Constant) -> Iterator[tuple[ast.expr, str, str]]:
    value = node.value
    if isinstance(value, bool):
        yield node, "constant", repr(not value)
    elif isinstance(value, int):
        yield node, "constant", repr(value + 1)
    elif isinstance(value, float):
        factor = 100.0 if 0.0 < value <= TOLERANCE else 2.0
        yield node, "tolerance" if factor > 2.0 else "constant", repr(factor * value if value else 1.0)


def _is_called(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def _is_text(node: ast.BinOp) -> bool:
    parts = (node.left, node.right)
    return any(isinstance(p, ast.JoinedStr) or (isinstance(p, ast.Constant) and isinstance(p.value, str)) for p in parts)


def _text(node: ast.expr) -> str:
    """In parentheses, so that it means the same wherever it is put."""
    return f"({ast.unparse(ast.fix_missing_locations(node))})"
