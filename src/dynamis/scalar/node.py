"""The node: a scalar that records how it was computed.

Algorithms are plain NumPy over small arrays. Given floats they compute; given nodes (in object arrays) they build an
expression graph. A node is never changed and never made twice: equal expressions are the same object, so every
common subexpression is found by construction. Numbers stay Python floats beside nodes, which lets zeros, ones and
constants disappear while the graph is built.
"""

from __future__ import annotations

import hashlib
import math
import numbers
import zlib
from collections.abc import Callable
from typing import Any, Union

import numpy as np

from dynamis.errors import InputError
from dynamis.scalar.branches import branches, is_argument, number_needed
from dynamis.scalar.interning import interned, newest, older
from dynamis.scalar.numpy_protocol import NumpyProtocol

Scalar = Union[float, "Node"]
MAX_POWER = 64  # by repeated multiplication

_OPERATIONS: dict[str, int] = {}


def _method(op: str) -> Callable[[Node], Any]:
    return lambda node: unary(op, node)


class Node(NumpyProtocol):
    """One operation applied to earlier nodes or floats; ``op == "symbol"`` is a leaf with a name.

    ``rank`` is made of the operation and its operands alone, so that the order of commuting operands, and with it every
    listing and every rounding, is the same wherever and whenever an expression is built.
    """

    __slots__ = ("__weakref__", "args", "op", "rank")

    op: str
    args: tuple[Any, ...]
    rank: int

    def __add__(self, other: Any) -> Any:
        return add(self, other) if type(other) is Node else _lift(add, self, other)

    def __radd__(self, other: Any) -> Any:
        return _lift(add, other, self)

    def __sub__(self, other: Any) -> Any:
        return sub(self, other) if type(other) is Node else _lift(sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _lift(sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return mul(self, other) if type(other) is Node else _lift(mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _lift(mul, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _lift(div, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _lift(div, other, self)

    def __pow__(self, exponent: Any) -> Any:
        return _lift(power, self, exponent)

    def __rpow__(self, base: Any) -> Any:
        return _lift(power, base, self)

    def __neg__(self) -> Scalar:
        return neg(self)

    def __pos__(self) -> Node:
        return self

    def __abs__(self) -> Scalar:
        return unary("abs", self)

    # NumPy's functions on arrays of nodes call these by name: np.sin(q) works in a traced function
    sin, cos, sqrt, exp, log, tanh = map(_method, ("sin", "cos", "sqrt", "exp", "log", "tanh"))

    def tan(self) -> Any:
        return self.sin() / self.cos()

    def __lt__(self, other: Any) -> Any:
        return _lift(less, self, other)

    def __gt__(self, other: Any) -> Any:
        return _lift(less, other, self)

    def __le__(self, other: Any) -> Any:
        return _lift(less_equal, self, other)

    def __ge__(self, other: Any) -> Any:
        return _lift(less_equal, other, self)

    def __eq__(self, other: Any) -> Any:
        return _lift(equal, self, other)

    def __ne__(self, other: Any) -> Any:
        return _lift(lambda a, b: unary("not", equal(a, b)), self, other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        if branches.decide is not None:
            return branches.decide(self)
        raise InputError(f"the truth of the symbolic value {self} is not known; use numpy.where(condition, a, b) instead of if")

    def __float__(self) -> float:
        raise number_needed(self)

    __int__ = __index__ = __float__

    def __format__(self, form: str) -> str:
        return format(str(self) if form in ("", "s") else float(self), form)

    def __deepcopy__(self, memo: object) -> Node:
        return self

    def __copy__(self) -> Node:
        return self

    def __reduce__(self) -> Any:
        return (symbol if self.op == "symbol" else make), ((self.args[0],) if self.op == "symbol" else (self.op, *self.args))


NOT_A_NUMBER = (math.nan, 1.0)  # NaN equals no number, itself included


def make(op: str, *args: Any) -> Node:
    """The one node of this operation on these operands."""
    key = (op, *[id(a) if type(a) is Node else NOT_A_NUMBER if math.isnan(a) else (a, math.copysign(1.0, a)) for a in args])
    node = newest.get(key)
    if node is None and (node := older.get(key)) is None:
        return _new(key, op, args, _rank(op, args))
    return node


def _new(key: tuple[Any, ...], op: str, args: tuple[Any, ...], rank: int) -> Node:
    node = Node()
    node.op, node.args, node.rank = op, args, rank
    return interned(key, node)


def _rank(op: str, args: tuple[Any, ...]) -> int:
    rank = _OPERATIONS.get(op) or _OPERATIONS.setdefault(op, zlib.crc32(op.encode()))
    for a in args:
        # a number's hash is the same in every process, unlike a text's
        rank = (rank * 0x9E3779B97F4A7C15 + (a.rank if type(a) is Node else hash(a))) & 0xFFFFFFFFFFFFFFF
    return rank


def symbol(name: str) -> Node:
    """The symbol of this name; the same name always gives the same symbol.

    >>> symbol("m_1") is symbol("m_1")
    True
    """
    if not isinstance(name, str) or not name:
        raise InputError(f"a symbol needs a name, a non-empty string, got {name!r}")
    key = ("symbol", name)
    node = newest.get(key)
    if node is None and (node := older.get(key)) is None:
        digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=7).digest()
        node = _new(key, "symbol", (name,), int.from_bytes(digest))
    return node


def is_number(x: object) -> bool:
    """Whether ``x`` is a plain real number (bool excluded)."""
    return isinstance(x, float | int | numbers.Real) and not isinstance(x, bool)


def _lift(function: Any, a: Any, b: Any) -> Any:
    # NumPy applies the operator element by element when we decline an array
    if type(a) is not float and type(a) is not Node:
        if not is_number(a):
            return NotImplemented
        a = float(a)
    if type(b) is not float and type(b) is not Node:
        if not is_number(b):
            return NotImplemented
        b = float(b)
    return function(a, b)


def add(a: Scalar, b: Scalar) -> Scalar:
    if isinstance(a, float):
        if isinstance(b, float):
            return a + b
        if a == 0.0:
            return b
    elif isinstance(b, float):
        if b == 0.0:
            return a
    elif b.op == "neg":
        return sub(a, b.args[0])
    elif a.op == "neg":
        return sub(b, a.args[0])
    return make("add", *_ordered(a, b))


def sub(a: Scalar, b: Scalar) -> Scalar:
    if isinstance(b, float):
        if isinstance(a, float):
            return a - b
        if b == 0.0:
            return a
    elif isinstance(a, float) and a == 0.0:
        return neg(b)
    if a is b:
        return 0.0
    if isinstance(b, Node) and b.op == "neg":
        return add(a, b.args[0])
    return make("sub", a, b)


def mul(a: Scalar, b: Scalar) -> Scalar:
    if isinstance(b, float):
        a, b = b, a
    if isinstance(a, float):
        if isinstance(b, float):
            return a * b
        if a == 0.0:
            return 0.0
        if a == 1.0:
            return b
        if a == -1.0:
            return neg(b)
        if b.op == "neg":
            return mul(-a, b.args[0])
        if b.op == "mul" and isinstance(b.args[0], float):
            return mul(a * b.args[0], b.args[1])
        return make("mul", a, b)
    assert isinstance(b, Node)
    if a.op == "neg":
        return neg(mul(a.args[0], b))
    if b.op == "neg":
        return neg(mul(a, b.args[0]))
    if a.op == "mul" and isinstance(a.args[0], float):  # keep the number outermost, where it can meet others
        return mul(a.args[0], mul(a.args[1], b))
    if b.op == "mul" and isinstance(b.args[0], float):
        return mul(b.args[0], mul(a, b.args[1]))
    return make("mul", *_ordered(a, b))


def div(a: Scalar, b: Scalar) -> Scalar:
    if isinstance(b, float):
        if b == 0.0:
            raise InputError(f"division of {a} by zero")
        if isinstance(a, float):
            return a / b
        if b == 1.0:
            return a
        if b == -1.0:
            return neg(a)
        return make("div", a, b)
    if isinstance(a, float):
        if a == 0.0:
            return 0.0
    elif a is b:
        return 1.0
    elif a.op == "neg":
        return neg(div(a.args[0], b))
    return make("div", a, b)


def neg(a: Scalar) -> Scalar:
    if isinstance(a, float):
        return -a
    if a.op == "neg":
        return a.args[0]
    if a.op == "sub":
        return make("sub", a.args[1], a.args[0])
    if a.op == "mul" and isinstance(a.args[0], float):
        return make("mul", -a.args[0], a.args[1])
    return make("neg", a)


def power(base: Scalar, exponent: Scalar) -> Scalar:
    """Whole powers by repeated multiplication, halves by a square root, other constant ones as exp(exponent log(base))."""
    if isinstance(exponent, Node) or isinstance(base, float) or (abs(exponent) > MAX_POWER and float(exponent).is_integer()):
        return binary("pow", base, exponent)
    if not abs(exponent) <= MAX_POWER or int(2 * exponent) != 2 * exponent:
        zero = equal(base, 0.0) if exponent > 0 else 0.0
        logarithm = unary("log", select(zero, 1.0, base))  # whose derivative would be infinite at zero
        return select(zero, 0.0, unary("exp", mul(float(exponent), logarithm)))
    if int(exponent) != exponent:
        root = unary("sqrt", base)
        return root if exponent == 0.5 else mul(power(base, math.floor(exponent)), root)
    result: Scalar = 1.0
    for bit in bin(abs(int(exponent)))[2:]:
        result = mul(result, result)
        if bit == "1":
            result = mul(result, base)
    return result if exponent >= 0 else div(1.0, result)


def less(a: Scalar, b: Scalar) -> Scalar:
    return float(a < b) if isinstance(a, float) and isinstance(b, float) else make("lt", a, b)


def less_equal(a: Scalar, b: Scalar) -> Scalar:
    return float(a <= b) if isinstance(a, float) and isinstance(b, float) else make("le", a, b)


def equal(a: Scalar, b: Scalar) -> Scalar:
    if isinstance(a, float) and isinstance(b, float):
        return float(a == b)
    if a is b and (branches.decide is None or is_argument(a)):  # a recorded function asks by x == x whether x is a number
        return 1.0
    return make("eq", *_ordered(a, b))


FOLD: dict[str, Any] = {
    "abs": abs,
    "acos": math.acos,
    "asin": math.asin,
    "cos": math.cos,
    "exp": math.exp,
    "floor": lambda x: float(math.floor(x)),
    "keep": float,
    "log": math.log,
    "not": lambda x: float(x == 0.0),
    "sign": lambda x: 0.0 if x == 0.0 else math.copysign(1.0, x),
    "sin": math.sin,
    "sqrt": math.sqrt,
    "tanh": math.tanh,
}
FOLD_TWO: dict[str, Any] = {"and": min, "atan2": math.atan2, "max": max, "min": min, "or": max, "pow": math.pow}


def unary(op: str, a: Scalar) -> Scalar:
    if isinstance(a, float):
        try:
            return FOLD[op](a)
        except (ValueError, OverflowError):
            raise InputError(f"{op}({a:g}) is not a real number") from None
    if a.op == "neg":
        if op in ("sin", "asin", "tanh", "sign"):
            return neg(unary(op, a.args[0]))
        if op in ("cos", "abs"):
            return unary(op, a.args[0])
    if op == "not" and a.op == "not":
        return a.args[0]
    return make(op, a)


def binary(op: str, a: Scalar, b: Scalar) -> Scalar:
    """The operations of `FOLD_TWO`."""
    if isinstance(a, float) and isinstance(b, float):
        try:
            return FOLD_TWO[op](a, b)
        except (ValueError, OverflowError):
            raise InputError(f"{op}({a:g}, {b:g}) is not a real number") from None
    if op not in ("atan2", "pow"):
        if a is b:
            return a
        a, b = _ordered(a, b)
    return make(op, a, b)


def select(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """``a`` where the condition is not zero, else ``b``."""
    if isinstance(condition, float):
        return a if condition != 0.0 else b
    if a is b or (isinstance(a, float) and isinstance(b, float) and a == b):
        return a
    return make("where", condition, a, b)


def _ordered(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    # one order for commuting operands: the number first
    if isinstance(a, float) or (isinstance(b, Node) and a.rank <= b.rank):
        return a, b
    return b, a


def as_scalar(x: Any, what: str = "value") -> Scalar:
    """A float or a node, or an error that names what was given."""
    if isinstance(x, Node):
        return x
    if is_number(x):
        return float(x)
    if isinstance(x, np.ndarray) and x.shape == ():
        return as_scalar(x.item(), what)
    raise InputError(f"{what} must be a number or a symbol, got {type(x).__name__}")
