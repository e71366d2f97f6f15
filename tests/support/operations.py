"""Every operation of expressions, as a function of its operands."""

from dynamis.scalar import node
from dynamis.scalar.linear import pivot
from dynamis.scalar.program import MEANING

OPERATORS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "pivot": pivot,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "eq": lambda a, b: a == b,
}  # fmt: skip
OPERANDS = {
    op: 3 if op == "where" else 2 if op in OPERATORS or op in ("atan2", "pow", "min", "max", "and", "or") else 1
    for op in MEANING
}


def build(op, *operands):
    """The operation as expressions make it."""
    if op in OPERATORS:
        return OPERATORS[op](*operands)
    if op == "where":
        return node.select(*operands)
    if op == "neg":
        return -operands[0]
    return node.unary(op, *operands) if len(operands) == 1 else node.binary(op, *operands)
