"""Code as C99: one state a call, no dependency but <math.h>, no allocation, no global state.

Every identifier is generated; names of robots and joints never reach the text except as filtered comments.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.c_expressions import Expressions
from dynamis.compiler.code import Code
from dynamis.errors import InputError, printable
from dynamis.version import __version__

Array = npt.NDArray[Any]

_FUSED = {"fma": "{} * {} + {}", "fms": "{} * {} - {}", "fnma": "{2} - {0} * {1}"}


def write_pair(folder: str | os.PathLike[str], identifier: str, texts: Sequence[str]) -> list[Path]:
    """The header and the source as files of this name in a folder, which is made if need be."""
    paths = [Path(folder) / f"{identifier}{suffix}" for suffix in (".h", ".c")]
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="ascii")
    except OSError as error:
        raise InputError(f"{printable(str(folder))} cannot be written: {error.strerror}") from None
    return paths


def render(code: Code, identifier: str, precision: str, comment: str, states: list[list[Array]]) -> tuple[str, str]:
    """(header, source). ``states`` are inputs for the self-test; their results are computed here, by the interpreter's rules.

    With ``-D<IDENTIFIER>_SELFTEST`` the source has a ``main`` that evaluates them and returns 0 if all agree.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,60}", identifier):
        raise InputError(f"the C name {identifier!r} must be lower-case letters, digits and _, starting with a letter")
    if precision not in ("double", "float"):
        raise InputError(f"precision {precision!r} is not known; choose 'double' or 'float'")
    t = _Text(code, identifier, precision)
    about = re.sub(r"[^A-Za-z0-9 .,:()_-]", "?", comment)[:200]
    return t.header(about), t.source(about, states)


class _Text(Expressions):
    def __init__(self, code: Code, identifier: str, precision: str) -> None:
        super().__init__(code, precision, _FUSED)
        self.code, self.name = code, identifier

    def prototype(self) -> str:
        arguments = [f"const {self.type} in{k}[{size}]" for k, (_, size) in enumerate(self.code.arguments)]
        results = [f"{self.type} out{k}[{max(1, len(v))}]" for k, v in enumerate(self.code.outputs)]
        return f"void {self.name}({', '.join(arguments + results)})"

    def header(self, about: str) -> str:
        guard = f"{self.name.upper()}_H"
        lines = [f"/* {about}", f" * Written by dynamis {__version__}. SI units. Matrices are stored row by row."]
        for k, (name, size) in enumerate(self.code.arguments):
            label = re.sub(r"[^A-Za-z0-9 _]", "?", name)
            lines.append(f" * in{k}: {label}, {size} numbers")
        for k, (_, shape) in enumerate(self.code.results):
            lines.append(f" * out{k}: {' x '.join(map(str, shape)) or 'one number'}")
        lines += [" */", f"#ifndef {guard}", f"#define {guard}", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
        return "\n".join([*lines, self.prototype() + ";", "", "#ifdef __cplusplus", "}", "#endif", "#endif", ""])

    def source(self, about: str, states: list[list[Array]]) -> str:
        lines = [f"/* {about} */", f'#include "{self.name}.h"', "#include <math.h>", "", self.prototype(), "{"]
        used = {x for i in self.code.instructions for x in i.args if isinstance(x, int)}
        used |= {x for values in self.code.outputs for x in values if isinstance(x, int)}
        start = 0
        for k, (_, size) in enumerate(self.code.arguments):
            if not used & set(range(start, start + size)):
                lines.append(f"    (void)in{k};")
            start += size
        for k, i in enumerate(self.code.instructions, len(self.inputs)):
            lines.append(f"    const {self.type} v{k} = {self.expression(i)};")
        for r, values in enumerate(self.code.outputs):
            lines += [f"    out{r}[{k}] = {self.operand(x)};" for k, x in enumerate(values)]
        return "\n".join([*lines, "}", "", *self.selftest(states)])

    def selftest(self, states: list[list[Array]]) -> list[str]:
        if not states:
            return []
        results = [evaluate(self.code, state) for state in states]
        lines = [f"#ifdef {self.name.upper()}_SELFTEST", "#include <stdio.h>"]
        counts = [size for _, size in self.code.arguments], [max(1, len(v)) for v in self.code.outputs]
        for prefix, sizes, rows in (("in", counts[0], states), ("out", counts[1], results)):
            for k, size in enumerate(sizes):
                body = ", ".join("{" + ", ".join(self.number(x) for x in np.ravel(row[k])) + "}" for row in rows)
                lines.append(f"static const {self.type} test_{prefix}{k}[{len(states)}][{size}] = {{{body}}};")
        tolerance = "1e-9" if self.type == "double" else "1e-3f"
        lines += ["", "int main(void)", "{", "    int bad = 0;", f"    for (int s = 0; s < {len(states)}; ++s) {{"]
        lines += [f"        {self.type} out{k}[{size}];" for k, size in enumerate(counts[1])]
        inside = [f"test_in{k}[s]" for k in range(len(counts[0]))] + [f"out{k}" for k in range(len(counts[1]))]
        lines.append(f"        {self.name}({', '.join(inside)});")
        for k, size in enumerate(counts[1]):
            lines += [
                f"        {self.type} scale{k} = {self.number(1.0)};",
                f"        for (int k = 0; k < {size}; ++k)",
                f"            scale{k} = fmax{self.suffix}(scale{k}, fabs{self.suffix}(test_out{k}[s][k]));",
                f"        for (int k = 0; k < {size}; ++k)",
                f"            bad += !(fabs{self.suffix}(out{k}[k] - test_out{k}[s][k]) <= {tolerance} * scale{k});",
            ]
        lines += [
            "    }",
            f'    printf("{self.name}: %d wrong of {len(states)} states\\n", bad);',
            "    return bad != 0;",
            "}",
            "#endif",
            "",
        ]
        return lines


def evaluate(code: Code, state: list[Array]) -> list[Array]:
    """The results at one state, instruction by instruction, in double precision."""
    from dynamis.scalar.program import MEANING

    fused = {"fma": lambda a, b, c: a * b + c, "fms": lambda a, b, c: a * b - c, "fnma": lambda a, b, c: c - a * b}
    values: list[Any] = [float(x) for vector in state for x in vector]
    for i in code.instructions:
        args = [values[x] if isinstance(x, int) else x for x in i.args]
        values.append(float((fused.get(i.op) or MEANING[i.op])(*args)))
    return [np.array([values[x] if isinstance(x, int) else x for x in result]) for result in code.outputs]
