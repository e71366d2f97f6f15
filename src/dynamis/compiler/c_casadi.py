"""C with the function interface of CasADi, which `casadi.external` and acados call: arrays of pointers, patterns, work memory.

Matrices are stored by columns, without entries that are always zero (compressed column storage).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.code import Code

Array = npt.NDArray[Any]

_START = """/* {about}, with the function interface of CasADi.
 * Compile this file alone: cc -O1 -shared -fPIC {name}.c -o {name}.so -lm, then casadi.external("{name}", "./{name}.so"). */
{includes}
#if defined _WIN32
#define DYNAMIS_EXPORT __declspec(dllexport)
#elif defined __GNUC__
#define DYNAMIS_EXPORT __attribute__((visibility("default")))
#else
#define DYNAMIS_EXPORT
#endif
"""

_FUNCTION = """
static const double {name}_zeros[{longest}] = {{0}};
{tables}
DYNAMIS_EXPORT int {name}(const double **arg, double **res, long long *iw, double *w, int mem)
{{
    (void)res, (void)iw, (void)mem;
    {core}({arguments}, w);
{copies}
    return 0;
}}

DYNAMIS_EXPORT long long {name}_n_in(void) {{ return {n_in}; }}
DYNAMIS_EXPORT long long {name}_n_out(void) {{ return {n_out}; }}

DYNAMIS_EXPORT const char *{name}_name_in(long long i)
{{
    static const char *const names[] = {{{names_in}}};
    return i >= 0 && i < {n_in} ? names[i] : 0;
}}

DYNAMIS_EXPORT const char *{name}_name_out(long long i)
{{
    static const char *const names[] = {{{names_out}}};
    return i >= 0 && i < {n_out} ? names[i] : 0;
}}

DYNAMIS_EXPORT const long long *{name}_sparsity_in(long long i)
{{
    static const long long *const patterns[] = {{{patterns_in}}};
    return i >= 0 && i < {n_in} ? patterns[i] : 0;
}}

DYNAMIS_EXPORT const long long *{name}_sparsity_out(long long i)
{{
    static const long long *const patterns[] = {{{patterns_out}}};
    return i >= 0 && i < {n_out} ? patterns[i] : 0;
}}

DYNAMIS_EXPORT int {name}_work(long long *sz_arg, long long *sz_res, long long *sz_iw, long long *sz_w)
{{
    if (sz_arg)
        *sz_arg = {n_in};
    if (sz_res)
        *sz_res = {n_out};
    if (sz_iw)
        *sz_iw = 0;
    if (sz_w)
        *sz_w = {work};
    return 0;
}}
"""


@dataclass(frozen=True)
class _Matrix:
    """A matrix whose entries lie at ``places`` (rows, columns) of a result; -1 where it is always zero."""

    name: str
    places: Array

    @property
    def pattern(self) -> list[int]:
        rows, columns = self.places.shape
        filled = [np.flatnonzero(column >= 0) for column in self.places.T]
        return [rows, columns, *np.cumsum([0, *map(len, filled)]).tolist(), *(int(x) for column in filled for x in column)]

    @property
    def order(self) -> list[int]:
        """The place of each stored entry, by columns."""
        return [int(x) for x in self.places.T.ravel() if x >= 0]


def stored_entries(code: Code) -> list[int]:
    """The entries of the result that are stored, in their order; of one that is zero the first, since C has no empty arrays."""
    return _value(code, "").order or [0]


def render_casadi(code: Code, jacobian: Code, second: Sequence[Code], name: str, about: str, result: str) -> str:
    """The file that includes the sources ``name_values.c``, ``name_jacobian.c``, … of a function with one result.

    ``jacobian`` has one more axis at the end, of all inputs in a row. ``second`` is empty, or ∂(λ·y)/∂x, where λ are weights of
    the stored entries, and the derivatives of that with respect to all inputs and weights.
    """
    value, inputs = _value(code, result), [_Matrix(argument, np.arange(size)[:, None]) for argument, size in code.arguments]
    ends = np.cumsum([len(x.places) for x in inputs])
    slopes = _places(jacobian.outputs[0]).reshape(*value.places.shape, -1).transpose(1, 0, 2).reshape(value.places.size, -1)
    blocks = [
        _Matrix(f"jac_{result}_{x.name}", part) for x, part in zip(inputs, np.split(slopes, ends[:-1], axis=1), strict=True)
    ]
    given = [*inputs, _Matrix(f"out_{result}", value.places)]
    functions = {
        "values": _function(name, f"{name}_values", inputs, inputs, [value], value.places.size),
        "jacobian": _function(f"jac_{name}", f"{name}_jacobian", inputs, given, blocks, slopes.size),
    }
    if second:
        weights, seconds = _Matrix(f"adj_{result}", value.places), _places(second[1].outputs[0]).reshape(ends[-1], -1)
        core, given = [*inputs, weights], [*given, weights]
        numbers = np.split(np.arange(ends[-1])[:, None], ends[:-1])
        adjoints = [_Matrix(f"adj_{x.name}", part) for x, part in zip(inputs, numbers, strict=True)]
        blocks = [
            _Matrix(f"jac_{adjoint.name}_{x.name}", part)
            for adjoint, rows in zip(adjoints, np.split(seconds, ends[:-1]), strict=True)
            for x, part in zip(given, _by_argument(rows, ends, value), strict=True)
        ]
        unused = [_Matrix(f"out_{x.name}", x.places) for x in adjoints]
        functions |= {
            "adjoint": _function(f"adj1_{name}", f"{name}_adjoint", core, given, adjoints, ends[-1]),
            "hessian": _function(f"jac_adj1_{name}", f"{name}_hessian", core, [*given, *unused], blocks, seconds.size),
        }
    includes = "\n".join(f'#include "{name}_{part}.c"' for part in functions)
    return "".join([_START.format(about=about, name=name, includes=includes), *functions.values()])


def _by_argument(rows: Array, ends: Array, value: _Matrix) -> list[Array]:
    """Derivatives by inputs and by the weights of stored entries, as those by inputs, the result and weights of all entries."""
    *by_inputs, by_stored = np.split(rows, ends, axis=1)
    stored = np.flatnonzero(value.places.T.ravel() >= 0)
    by_weights = np.full((len(rows), value.places.size), -1)
    by_weights[:, stored] = by_stored[:, : len(stored)]
    return [*by_inputs, np.full_like(by_weights, -1), by_weights]


def _value(code: Code, name: str) -> _Matrix:
    return _Matrix(name, _places(code.outputs[0]).reshape((*code.results[0][1], 1, 1)[:2]))


def _places(flat: Sequence[Any]) -> Array:
    return np.array([-1 if not isinstance(x, int) and x == 0.0 else k for k, x in enumerate(flat)], dtype=int)


def _function(
    name: str, core: str, used: Sequence[_Matrix], given: Sequence[_Matrix], outputs: Sequence[_Matrix], work: int
) -> str:
    """A function of the given matrices that calls the core with those that it uses."""
    tables, copies = [], []
    for letter, matrices in (("i", given), ("o", outputs)):
        for k, matrix in enumerate(matrices):
            tables.append(f"static const long long {name}_{letter}{k}[] = {{{', '.join(map(str, matrix.pattern))}}};")
    for k, matrix in enumerate(outputs):
        order = matrix.order
        if order:
            tables.append(f"static const int {name}_w{k}[] = {{{', '.join(map(str, order))}}};")
            copies.append(f"    if (res[{k}])\n        for (int k = 0; k < {len(order)}; ++k)\n"
                          f"            res[{k}][k] = w[{name}_w{k}[k]];")  # fmt: skip
    places = [k for k, matrix in enumerate(given) if any(matrix is x for x in used)]
    return _FUNCTION.format(
        name=name, core=core, longest=max(1, *(len(x.order) for x in used)), tables="\n".join(tables), copies="\n".join(copies),
        arguments=", ".join(f"arg[{k}] ? arg[{k}] : {name}_zeros" for k in places),
        n_in=len(given), n_out=len(outputs), names_in=_quoted(given), names_out=_quoted(outputs),
        patterns_in=", ".join(f"{name}_i{k}" for k in range(len(given))),
        patterns_out=", ".join(f"{name}_o{k}" for k in range(len(outputs))), work=max(1, work),
    )  # fmt: skip


def _quoted(matrices: Sequence[_Matrix]) -> str:
    return ", ".join(f'"{x.name}"' for x in matrices)
