"""Compiled functions as CasADi functions of SX expressions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from dynamis.compiler.code import Code
from dynamis.errors import InputError, MissingExtraError
from dynamis.interop.replay import ARITHMETIC, replay


def casadi_function(code: Code, results: Sequence[str] = (), name: str | None = None, derivatives: Code | None = None) -> Any:
    """A `casadi.Function` with the arguments of the code, each a column, and one matrix per result.

    A result with more than two axes is split along the first: ``da`` of shape (3, n, n) becomes ``da_0``, ``da_1``, ``da_2``.
    ``derivatives``, with the same arguments and one matrix for each of them, is what CasADi uses as its Jacobian.
    """
    casadi = _casadi()
    identifier = name or re.sub(r"\W", "_", code.name).strip("_") or "function"
    if not re.fullmatch(r"[A-Za-z]\w*", identifier) or "__" in identifier:
        raise InputError(f"name={identifier!r} is no name of a CasADi function: letters, digits and single underscores")
    arguments = [casadi.SX.sym(argument, size) for argument, size in code.arguments]
    inputs = [argument[k] for argument in arguments for k in range(argument.numel())]
    outputs: list[Any] = []
    names: list[str] = []
    for k, ((given, shape), flat) in enumerate(zip(code.results, replay(code, inputs, _operations(casadi)), strict=True)):
        label = results[k] if k < len(results) else given
        rows, columns = (*shape[-2:], 1, 1)[:2]
        size = rows * columns
        parts = range(math.prod(shape[:-2]))
        for part in parts:
            entries = casadi.vertcat(*flat[part * size : (part + 1) * size])
            outputs.append(casadi.reshape(entries, columns, rows).T)
            names.append(label if len(parts) == 1 else f"{label}_{part}")
    inputs_named = [argument for argument, _ in code.arguments]
    options = {}
    if derivatives is not None:
        blocks = casadi_function(derivatives)
        unused = [casadi.SX.sym(f"out_{label}", output.sparsity()) for label, output in zip(names, outputs, strict=True)]
        options["custom_jacobian"] = casadi.Function(
            f"jac_{identifier}", [*arguments, *unused], list(blocks(*arguments)), [*inputs_named, *(f"out_{x}" for x in names)],
            [f"jac_{label}_{argument}" for label in names for argument in inputs_named],
        )  # fmt: skip
    return casadi.Function(identifier, arguments, outputs, inputs_named, names, options)


def _operations(casadi: Any) -> dict[str, Callable[..., Any]]:
    return {
        **ARITHMETIC,
        "abs": casadi.fabs, "sign": casadi.sign, "sqrt": casadi.sqrt, "sin": casadi.sin, "cos": casadi.cos,
        "asin": casadi.asin, "acos": casadi.acos, "atan2": casadi.atan2, "exp": casadi.exp, "log": casadi.log,
        "pow": casadi.power, "tanh": casadi.tanh, "floor": casadi.floor, "min": casadi.fmin, "max": casadi.fmax,
        "lt": casadi.lt, "le": casadi.le, "not": casadi.logic_not, "and": casadi.logic_and, "or": casadi.logic_or,
        "where": casadi.if_else,
        # x == x, which CasADi takes for true, is whether x is a number
        "eq": lambda a, b: casadi.fabs(a) <= casadi.inf if a is b else casadi.eq(a, b),
    }  # fmt: skip


def _casadi() -> Any:
    try:
        import casadi
    except ImportError:
        raise MissingExtraError("CasADi functions require CasADi: pip install 'dynamis[casadi]'") from None
    return casadi
