"""Expressions of xacro files, ``${…}``: the arithmetic part of Python, evaluated by walking its syntax tree.

Nothing is handed to Python's ``eval``. There are numbers, strings, lists and dictionaries, the functions listed here, and
attributes of dictionaries and name spaces only; steps and the sizes of values are bounded.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dynamis.errors import printable

MAX_LENGTH = 2000  # characters of an expression
MAX_NESTING = 60  # of its syntax tree
MAX_SIZE = 20_000  # characters or items of a value
MAX_BITS = 4096  # of an integer
MAX_STEPS = 2_000_000  # operations of one file
MAX_FIELDS = 100  # of a format, each of at most 999 characters and digits
FIELD = re.compile(r"%(?:%|(?:\(\w*\))?[-+ #0]*(?:[1-9]\d{0,2})?(?:\.\d{0,3})?[diouxXeEfFgGcrsa])")


class ExpressionError(Exception):
    """What is wrong with an expression, and how to write it."""

    def __init__(self, found: str, cure: str = "correct the expression") -> None:
        super().__init__(found)
        self.cure = cure


class Budget:
    """The steps that one file may take."""

    def __init__(self) -> None:
        self.left = MAX_STEPS

    def spend(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            raise ExpressionError(f"the file takes more than {MAX_STEPS} steps to expand", "make it smaller")


class Functions:
    """A name space of functions and constants: math, python, xacro."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        self.members = dict(members)


def size(value: Any, most: int = MAX_SIZE) -> int:
    """The number of characters and items of a value, counted up to ``most``."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, int):
        return value.bit_length() // 8
    if not isinstance(value, list | tuple | dict):
        return 1
    total = 1
    for item in (x for pair in value.items() for x in pair) if isinstance(value, dict) else value:
        total += 1 + size(item, most - total)
        if total > most:
            break
    return total


def bounded(value: Any, budget: Budget) -> Any:
    """The value, unless it is too large."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise ExpressionError(f"an integer has more than {MAX_BITS} bits", "use smaller numbers")
    count = size(value)
    if count > MAX_SIZE:
        raise ExpressionError(f"a value has more than {MAX_SIZE} characters or items", "use smaller values")
    budget.spend(1 + count // 16)
    return value


def _range(*ends: Any) -> list[int]:
    values = range(*ends)
    if len(values) > MAX_SIZE:
        raise ExpressionError(f"a range has more than {MAX_SIZE} numbers", "use a shorter one")
    return list(values)


def _round(x: Any, ndigits: Any = None) -> Any:
    if ndigits is not None and (not isinstance(ndigits, int) or abs(ndigits) > 300):
        raise ExpressionError(f"round to {printable(ndigits)} digits", "round to at most 300 digits")
    return round(x, ndigits)


def _formatted(text: str, values: Any) -> str:
    """``text % values`` where every field has a stated, small width."""
    rest, count = FIELD.subn("", text)
    if "%" in rest or count > MAX_FIELDS:
        raise ExpressionError(
            f"the format {printable(text, 40)} has fields that are not allowed, or more than {MAX_FIELDS}",
            "use fields such as %d, %.3f and %s, with at most 999 characters, and %% for a percent sign",
        )
    return text % values


def _replaced(text: str, old: str, new: str, count: int = -1) -> str:
    if len(text) + text.count(old) * len(new) > MAX_SIZE:
        raise ExpressionError(f"a replacement has more than {MAX_SIZE} characters", "use shorter strings")
    return text.replace(old, new, count)


def _joined(separator: str, parts: Any) -> str:
    if len(separator) * len(parts) > MAX_SIZE:
        raise ExpressionError(f"joined strings have more than {MAX_SIZE} characters", "join fewer or shorter strings")
    return separator.join(parts)


def _zip(*lists: Any) -> list[Any]:
    return list(zip(*lists, strict=False))


COMMON = {
    "list": list, "dict": dict, "len": len, "str": str, "float": float, "int": int, "bool": bool, "min": min, "max": max,
    "round": _round, "sorted": sorted, "range": _range, "abs": abs, "sum": sum, "True": True, "False": False,
}  # fmt: skip
PYTHON = {**COMMON, "all": all, "any": any, "divmod": divmod, "tuple": tuple, "zip": _zip,
          "enumerate": lambda x, start=0: list(enumerate(x, start)), "reversed": lambda x: list(reversed(x))}  # fmt: skip
# without those whose results grow faster than their arguments
MATH = {k: v for k, v in vars(math).items()
        if not k.startswith("_") and k not in ("factorial", "comb", "perm", "prod", "sumprod", "lcm")}  # fmt: skip
SYMBOLS: dict[str, Any] = {**MATH, **COMMON, "math": Functions(MATH), "python": Functions(PYTHON)}
TEXT_METHODS = (
    "lower", "upper", "strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "startswith", "endswith", "capitalize",
    "title", "find", "count", "removeprefix", "removesuffix", "isdigit",
)  # fmt: skip
METHODS: dict[type, dict[str, Callable[..., Any]]] = {
    str: {**{name: getattr(str, name) for name in TEXT_METHODS}, "replace": _replaced, "join": _joined},
    dict: {name: getattr(dict, name) for name in ("keys", "values", "items", "get")},
    list: {name: getattr(list, name) for name in ("index", "count")},
}
OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Mult: operator.mul, ast.Pow: operator.pow,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
UNARY: dict[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_}


def evaluate(text: str, names: Callable[[str], Any], budget: Budget) -> Any:
    """The value of an expression; ``names`` looks names up and raises KeyError for those it does not know."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"an expression has more than {MAX_LENGTH} characters", "write it in parts, as properties")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        return _Evaluation(names, budget).value(tree, 0)
    except ExpressionError:
        raise
    except SyntaxError as error:
        raise ExpressionError(f"it is not an expression ({error.msg})") from None
    except (ValueError, TypeError, ArithmeticError, LookupError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"it has no value ({type(error).__name__}: {printable(str(error), 120)[1:-1]})") from None


class _Evaluation:
    def __init__(self, names: Callable[[str], Any], budget: Budget) -> None:
        self.names, self.budget = names, budget
        self.local: dict[str, Any] = {}

    def value(self, node: ast.expr, depth: int) -> Any:
        if depth > MAX_NESTING:
            raise ExpressionError(f"an expression is nested more than {MAX_NESTING} deep", "write it in parts, as properties")
        return bounded(self._value(node, depth + 1), self.budget)

    def _value(self, node: ast.expr, depth: int) -> Any:
        match node:
            case ast.Constant(value=str() | int() | float() | None as constant):
                return constant
            case ast.Name(id=name):
                return self._name(name)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return self._binary(op, self.value(left, depth), self.value(right, depth))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
                return UNARY[type(op)](self.value(operand, depth))
            case ast.BoolOp(op=op, values=values):
                result: Any = None
                for part in values:
                    result = self.value(part, depth)
                    if bool(result) == isinstance(op, ast.Or):
                        break
                return result
            case ast.Compare(left=left, ops=ops, comparators=others):
                one = self.value(left, depth)
                for comparison, other in zip(ops, others, strict=True):
                    two = self.value(other, depth)
                    if not OPERATORS[type(comparison)](one, two):
                        return False
                    one = two
                return True
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.value(body if self.value(test, depth) else orelse, depth)
            case ast.List(elts=items):
                return [self.value(x, depth) for x in items]
            case ast.Tuple(elts=items):
                return tuple(self.value(x, depth) for x in items)
            case ast.Dict(keys=keys, values=values):
                return {self.value(k, depth): self.value(v, depth) for k, v in zip(keys, values, strict=True) if k is not None}
            case (
                ast.ListComp(elt=item, generators=[ast.comprehension(ast.Name(id=name), source, tests, 0)])
                | ast.GeneratorExp(elt=item, generators=[ast.comprehension(ast.Name(id=name), source, tests, 0)])
            ):
                return list(self._each(item, name, self.value(source, depth), tests, depth))
            case ast.Subscript(value=of, slice=place):
                return self._item(self.value(of, depth), place, depth)
            case ast.Attribute(value=of, attr=name):
                return self._attribute(self._value(of, depth), name)
            case ast.Call(func=function, args=arguments, keywords=keywords) if all(x.arg is not None for x in keywords):
                named = {str(x.arg): self.value(x.value, depth) for x in keywords}
                return self._call(function, [self.value(x, depth) for x in arguments], named, depth)
        raise ExpressionError(
            f"{type(node).__name__} is not allowed in an expression",
            "use numbers, strings, lists, arithmetic and the functions of math",
        )

    def _name(self, name: str) -> Any:
        if name in self.local:
            return self.local[name]
        try:
            return self.names(name)
        except KeyError:
            if name in SYMBOLS:
                return SYMBOLS[name]
            raise ExpressionError(
                f"the name {printable(name)} is not defined",
                f'define it: <xacro:property name="{printable(name)[1:-1]}" value="…"/>',
            ) from None

    def _binary(self, op: ast.operator, a: Any, b: Any) -> Any:
        text = isinstance(a, str | list | tuple) or isinstance(b, str | list | tuple)
        if isinstance(op, ast.Mod) and isinstance(a, str):
            return _formatted(a, b)
        if isinstance(op, ast.Mult) and text:
            count, repeated = (a, b) if isinstance(a, int) else (b, a)
            if not isinstance(count, int) or count * size(repeated) > MAX_SIZE:
                raise ExpressionError(f"a repetition has more than {MAX_SIZE} characters or items", "use a shorter one")
        if isinstance(op, ast.Pow) and isinstance(a, int) and isinstance(b, int) and b > 0 and a.bit_length() * b > MAX_BITS:
            raise ExpressionError(f"a power has more than {MAX_BITS} bits", "use smaller numbers, or a float such as 10.0")
        return OPERATORS[type(op)](a, b)

    def _each(self, item: ast.expr, name: str, source: Any, tests: list[ast.expr], depth: int) -> Iterator[Any]:
        if not isinstance(source, Iterable):
            raise ExpressionError("a comprehension runs over something that is no list", "give a list")
        before = dict(self.local)
        for x in source:
            self.local[name] = x
            if all(self.value(test, depth) for test in tests):
                yield self.value(item, depth)
        self.local = before

    def _item(self, of: Any, place: ast.expr, depth: int) -> Any:
        if not isinstance(of, str | list | tuple | dict):
            raise ExpressionError(f"{type(of).__name__} has no items", "index lists and dictionaries")
        if isinstance(place, ast.Slice):
            ends = [None if x is None else self.value(x, depth) for x in (place.lower, place.upper, place.step)]
            return of[slice(*ends)]
        return of[self.value(place, depth)]

    def _attribute(self, of: Any, name: str) -> Any:
        if isinstance(of, Functions) and name in of.members:
            return of.members[name]
        if isinstance(of, Mapping) and name in of:
            return of[name]
        raise ExpressionError(
            f"there is no {printable(name)} here",
            "attributes are the keys of a dictionary and the functions of math, python and xacro",
        )

    def _call(self, function: ast.expr, arguments: list[Any], named: dict[str, Any], depth: int) -> Any:
        if any(callable(x) for x in (*arguments, *named.values())):
            raise ExpressionError("functions are no arguments", "call the function in the expression")
        if isinstance(function, ast.Attribute):
            of = self._value(function.value, depth)
            for kind, methods in METHODS.items():
                if isinstance(of, kind) and function.attr in methods:
                    found = methods[function.attr](of, *arguments, **named)
                    return list(found) if kind is dict and function.attr != "get" else found
            called = self._attribute(of, function.attr)
        else:
            called = self._value(function, depth)
        if not callable(called) or isinstance(called, Functions):
            raise ExpressionError("this is no function", "call the functions of math, python and xacro")
        return called(*arguments, **named)
