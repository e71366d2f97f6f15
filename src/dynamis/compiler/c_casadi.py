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
    (void)iw, (void)mem;
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


def render_casadi(code: Code, jacobian: Code, name: str, about: str, result: str) -> str:
    """The file that includes the sources ``name_values.c`` and ``name_jacobian.c`` of a function with one result.

    ``jacobian`` has one more axis at the end, of all inputs in a row.
    """
    (_, shape), flat = code.results[0], code.outputs[0]
    rows, columns = (*shape, 1, 1)[:2]
    value = _Matrix(result, _places(flat).reshape(rows, columns))
    inputs = [_Matrix(argument, np.arange(size)[:, None]) for argument, size in code.arguments]
    slopes = _places(jacobian.outputs[0]).reshape(rows, columns, -1).transpose(1, 0, 2).reshape(rows * columns, -1)
    blocks, start = [], 0
    for argument, size in code.arguments:
        blocks.append(_Matrix(f"jac_{result}_{argument}", slopes[:, start : start + size]))
        start += size
    includes = "\n".join(f'#include "{name}_{part}.c"' for part in ("values", "jacobian"))
    return "".join([
        _START.format(about=about, name=name, includes=includes),
        _function(name, f"{name}_values", inputs, [], [value], len(flat)),
        _function(f"jac_{name}", f"{name}_jacobian", inputs, [_Matrix(f"out_{result}", value.places)], blocks, slopes.size),
    ])  # fmt: skip


def _places(flat: Sequence[Any]) -> Array:
    return np.array([-1 if not isinstance(x, int) and x == 0.0 else k for k, x in enumerate(flat)], dtype=int)


def _function(
    name: str, core: str, inputs: Sequence[_Matrix], unused: Sequence[_Matrix], outputs: Sequence[_Matrix], work: int
) -> str:
    given, tables, copies = [*inputs, *unused], [], []
    for letter, matrices in (("i", given), ("o", outputs)):
        for k, matrix in enumerate(matrices):
            tables.append(f"static const long long {name}_{letter}{k}[] = {{{', '.join(map(str, matrix.pattern))}}};")
    for k, matrix in enumerate(outputs):
        order = matrix.order
        if order:
            tables.append(f"static const int {name}_w{k}[] = {{{', '.join(map(str, order))}}};")
            copies.append(f"    if (res[{k}])\n        for (int k = 0; k < {len(order)}; ++k)\n"
                          f"            res[{k}][k] = w[{name}_w{k}[k]];")  # fmt: skip
    return _FUNCTION.format(
        name=name, core=core, longest=max(len(x.places) for x in inputs), tables="\n".join(tables), copies="\n".join(copies),
        arguments=", ".join(f"arg[{k}] ? arg[{k}] : {name}_zeros" for k in range(len(inputs))),
        n_in=len(given), n_out=len(outputs), names_in=_quoted(given), names_out=_quoted(outputs),
        patterns_in=", ".join(f"{name}_i{k}" for k in range(len(given))),
        patterns_out=", ".join(f"{name}_o{k}" for k in range(len(outputs))), work=max(1, work),
    )  # fmt: skip


def _quoted(matrices: Sequence[_Matrix]) -> str:
    return ", ".join(f'"{x.name}"' for x in matrices)
