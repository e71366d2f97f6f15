"""Compiled functions as expressions of SymPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dynamis.compiler.code import Code
from dynamis.errors import InputError
from dynamis.interop.replay import ARITHMETIC, replay

LETTERS = {"q": "q", "v": "qd", "a": "qdd", "tau": "tau"}  # as in closed forms


@dataclass(frozen=True, repr=False)
class SympyFunction:
    """A function as expressions of SymPy: ``result``, a number, a column, a matrix or an array, of the symbols ``arguments``.

    ``steps`` is the same as `sympy.cse` would return it, without its search: pairs of a symbol and its expression, and the
    result in terms of them.
    """

    name: str
    arguments: dict[str, Any]
    result: Any
    steps: tuple[list[tuple[Any, Any]], Any]

    def __repr__(self) -> str:
        return f"<SympyFunction {self.name}({', '.join(self.arguments)}): {len(self.steps[0])} steps>"

    def lambdify(self, **options: Any) -> Callable[..., Any]:
        """A function of numbers, by `sympy.lambdify` of the steps: it goes through every path of the result itself."""
        import sympy

        made: Callable[..., Any] = sympy.lambdify(
            [*self.arguments.values()], self.steps[1], cse=lambda _: self.steps, **options
        )
        return made


def sympy_function(
    code: Code, parameters: Sequence[str], sympy: Any, operations: Mapping[str, Callable[..., Any]], number: Callable[..., Any]
) -> SympyFunction:
    """The code on symbols; ``parameters`` are the names of those, ``number`` makes numbers of SymPy."""
    if len(code.results) != 1:
        raise InputError(f"{code.name} returns {len(code.results)} arrays: return one, such as np.concatenate of them")
    arguments = {}
    for name, size in code.arguments:
        names = parameters if name == "parameters" else [f"{LETTERS.get(name, name)}{k + 1}" for k in range(size)]
        arguments[name] = sympy.Matrix([sympy.Symbol(x, real=True) for x in names])
    inputs = [x for column in arguments.values() for x in column]
    steps: list[tuple[Any, Any]] = []

    def exact(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *operands: function(*(number(x) if isinstance(x, float) else x for x in operands))

    def kept(function: Callable[..., Any]) -> Callable[..., Any]:
        def step(*operands: Any) -> Any:
            steps.append((sympy.Dummy(f"x{len(steps) + 1}", real=True), exact(function)(*operands)))
            return steps[-1][0]

        return step

    every = {**operations, **ARITHMETIC}
    (shape,) = (shape for _, shape in code.results)

    def shaped(flat: list[Any]) -> Any:
        entries = [number(x) if isinstance(x, float) else x for x in flat]
        if not shape:
            return entries[0]
        return sympy.Matrix(*(*shape, 1)[:2], entries) if len(shape) < 3 else sympy.Array(entries, shape)

    result, reduced = (shaped(replay(code, inputs, {op: made(f) for op, f in every.items()})[0]) for made in (exact, kept))
    return SympyFunction(code.name, arguments, result, (steps, reduced))
