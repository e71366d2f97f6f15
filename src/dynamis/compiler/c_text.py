"""Output as C99: one state per call, no dependency except <math.h>, no allocation, no global state.

Arguments have the names of the traced function's own where those are valid C identifiers; every other identifier is generated.
Names of robots and joints reach the text only as filtered comments.
"""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dynamis.compiler.c_expressions import Expressions
from dynamis.compiler.code import TRIGONOMETRIC, Code, Operand
from dynamis.compiler.schedule import schedule
from dynamis.compiler.sincos import DOUBLE, LARGEST_ANGLE
from dynamis.errors import InputError, ModelWarning, printable
from dynamis.files.atomic_write import write_file
from dynamis.files.paths import path_of
from dynamis.version import __version__

Array = npt.NDArray[Any]

# of the entries of a matrix: the letter of NumPy, and a sentence for the header
ORDERS: dict[str, tuple[Literal["C", "F"], str]] = {
    "row": ("C", "Matrices are stored row by row."),
    "column": ("F", "Matrices are stored column by column: the first index varies fastest."),
}
DRAWS = 50  # of the states of a self-test, for functions that are not finite at all of them
_FUSED = {"fma": "{} * {} + {}", "fms": "{} * {} - {}", "fnma": "{2} - {0} * {1}"}


_KEYWORDS = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while"
)
_FUNCTIONS = "sin cos sincos asin acos atan2 pow exp log tanh sqrt floor fabs fmax y0 y1 yn j0 j1 jn gamma main printf bad s k"
RESERVED = {*_KEYWORDS.split(), *_FUNCTIONS.split(), *(f"{name}f" for name in _FUNCTIONS.split())}
# what a function with external linkage would replace: functions of the C library and of POSIX; and words of C++ and of headers
_MATH = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax "
    "fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint "
    "nextafter nexttoward pow remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc"
)
_LIBRARY = (
    "abort abs accept alarm assert atexit atof atoi atol atoll bind bsearch calloc clock close connect ctime difftime "
    "div exit fclose feof ferror fflush fgetc fgets fopen fork fprintf fputc fputs fread free freopen fscanf fseek ftell "
    "fwrite getc getchar getenv gets gmtime index isalnum isalpha isdigit isinf isnan isspace kill labs ldiv link listen "
    "llabs localtime longjmp malloc memchr memcmp memcpy memmove memset mktime open pause perror pipe poll putc putchar "
    "puts qsort raise rand random read realloc recv remove rename rewind scanf select send setjmp signal sleep snprintf "
    "sprintf srand sscanf stat strcat strchr strcmp strcpy strlen strncmp strncpy strstr strtod strtof strtol strtoul "
    "strtok sync system time tolower toupper ungetc unlink wait write"
)
_OTHER_WORDS = (
    "alignas alignof and asm bool catch class compl complex concept constexpr decltype delete dynamic_cast errno "
    "explicit export false friend imaginary linux mutable namespace new noexcept not nullptr operator or private "
    "protected public requires static_assert static_cast stderr stdin stdout template this throw true try typeid "
    "typename typeof unix using virtual xor"
)
_OF_FUNCTIONS = {
    *RESERVED, *_LIBRARY.split(), *_OTHER_WORDS.split(),
    *(f"{name}{kind}" for name in _MATH.split() for kind in ("", "f", "l")),
}  # fmt: skip

# Parts of π/2 of 33 bits, whose products with integers up to 2^20 are exact without fused multiply-adds [fdlibm].
_HALF_PI = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
_SINE_AND_COSINE = """\
/* Sine and cosine within 2 units in the last place; large angles are left to the C library. */
static inline void {name}(double x, double *sine, double *cosine)
{{
    if (!(fabs(x) <= {largest})) {{
        *sine = sin(x);
        *cosine = cos(x);
        return;
    }}
    const int n = (int)(x * {two_over_pi} + (x < 0.0 ? -0.5 : 0.5));
    const double r = ((x - n * {half_pi[0]!r}) - n * {half_pi[1]!r}) - n * {half_pi[2]!r};
    const double z = r * r;
    const double s = r + r * (z * ({sine}));
    const double c = {cosine};
    const double odd = n & 1 ? c : s, even = n & 1 ? s : c;
    *sine = n & 2 ? -odd : odd;
    *cosine = (n + 1) & 2 ? -even : even;
}}
"""


def write_pair(folder: str | os.PathLike[str], identifier: str, texts: Sequence[str]) -> list[Path]:
    """Write the header and the source into a folder, which is created if missing. Existing files are replaced atomically."""
    paths = [path_of(folder) / f"{identifier}{suffix}" for suffix in (".h", ".c")]
    try:
        path_of(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "it is a file; give a folder" if path_of(folder).is_file() else error.strerror
        raise InputError(f"{printable(str(folder))} cannot be written: {reason}") from None
    for path, text in zip(paths, texts, strict=True):
        write_file(path, text.encode("ascii"))
    return paths


def render(
    code: Code, identifier: str, precision: str, comment: str, states: list[list[Array]], results: Sequence[str] = (),
    order: str = "row",
) -> tuple[str, str]:  # fmt: skip
    """(header, source). ``states`` are inputs of the self-test; the expected results are computed by interpreting the code.

    ``results`` are the names of the output arguments, ``order`` that of the entries of matrices. With
    ``-D<IDENTIFIER>_SELFTEST`` the source has a ``main`` that evaluates the function at these states and returns 0 if all
    results agree.
    """
    check_name(identifier)
    if precision not in ("double", "float"):
        raise InputError(f"precision {precision!r} is unknown; choose 'double' or 'float'")
    if order not in ORDERS:
        raise InputError(f"order {order!r} is unknown; choose 'row' or 'column'")
    t = _Text(schedule(_stored(code, order)), identifier, precision, results)
    about = plain(comment)
    return t.header(about, ORDERS[order][1]), t.source(about, states)


def check_name(identifier: str) -> None:
    """Refuse a name that a function in C cannot have."""
    if not isinstance(identifier, str) or not re.fullmatch(r"[a-z][a-z0-9_]{0,60}", identifier):
        raise InputError(
            f"the C name {identifier!r} must be lower-case letters, digits and _, starting with a letter, and not a C keyword"
        )
    if identifier in _OF_FUNCTIONS:
        raise InputError(
            f"the C name {identifier!r} is a word of C or C++ or a function of the C library: give another name, such as "
            f"{'robot_' + identifier!r}"
        )


def _stored(code: Code, order: str) -> Code:
    """The code with its results in this order of their entries."""
    places = [np.arange(math.prod(shape)).reshape(shape).ravel(ORDERS[order][0]) for _, shape in code.results]
    outputs = tuple(tuple(values[k] for k in where) for values, where in zip(code.outputs, places, strict=True))
    return replace(code, outputs=outputs)


def plain(comment: str) -> str:
    """Text that cannot end a comment."""
    return re.sub(r"[^A-Za-z0-9 .,:()_-]", "?", comment)[:200]


def argument_names(wanted: Sequence[str], fallback: str, taken: set[str]) -> list[str]:
    """A C identifier for each wanted name: the name itself if it is valid and free, otherwise ``fallback`` with its number."""
    names = []
    for k, name in enumerate(wanted):
        valid = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,30}", name) and not re.fullmatch(r"(v|in|out|scale)\d+|test_\w*", name)
        names.append(name if valid and name not in RESERVED | taken else f"{fallback}{k}")
        taken.add(names[-1])
    return names


class _Text(Expressions):
    def __init__(self, code: Code, identifier: str, precision: str, results: Sequence[str]) -> None:
        self.sincos = f"{identifier}_sincos"
        taken = {identifier, self.sincos}
        self.given = argument_names([name for name, _ in code.arguments], "in", taken)
        super().__init__(code, precision, _FUSED, self.given)
        self.code, self.name = code, identifier
        self.results = argument_names([*results, *[""] * (len(code.outputs) - len(results))], "out", taken)

        self.pairs = _pairs(code) if precision == "double" else {}

    def definitions(self) -> list[str]:
        """The sine and cosine of one angle, where the code needs both."""
        if not self.pairs:
            return []
        polynomials = {"sine": self.horner(DOUBLE.sine), "cosine": self.horner((*DOUBLE.cosine, -0.5, 1.0))}
        constants = {"largest": LARGEST_ANGLE, "two_over_pi": DOUBLE.two_over_pi, "half_pi": _HALF_PI}
        return [_SINE_AND_COSINE.format(name=self.sincos, **constants, **polynomials)]

    def horner(self, coefficients: Sequence[float]) -> str:
        text = self.number(coefficients[0])
        for k, c in enumerate(coefficients[1:]):
            text = f"({text})" if k else text
            text = f"{text} * z {'-' if c < 0 else '+'} {self.number(abs(c))}"
        return text

    def prototype(self) -> str:
        sizes = [size for _, size in self.code.arguments]
        arguments = [f"const {self.type} {name}[{size}]" for name, size in zip(self.given, sizes, strict=True)]
        outputs = zip(self.results, self.code.outputs, strict=True)
        results = [f"{self.type} {name}[{max(1, len(values))}]" for name, values in outputs]
        return f"void {self.name}({', '.join(arguments + results)})"

    def header(self, about: str, storage: str) -> str:
        guard = f"{self.name.upper()}_H"
        lines = [f"/* {about}", f" * Written by dynamis {__version__}. SI units. {storage}"]
        for own, (name, size) in zip(self.given, self.code.arguments, strict=True):
            label = "" if own == name else re.sub(r"[^A-Za-z0-9 _]", "?", name) + ", "
            lines.append(f" * input {own}: {label}{size} number{'s' * (size != 1)}")
        for own, (_, shape) in zip(self.results, self.code.results, strict=True):
            extent = " x ".join(map(str, shape)) + " numbers" if shape else "one number"
            lines.append(f" * output {own}: {extent}")
        lines += [" */", f"#ifndef {guard}", f"#define {guard}", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
        return "\n".join([*lines, self.prototype() + ";", "", "#ifdef __cplusplus", "}", "#endif", "#endif", ""])

    def source(self, about: str, states: list[list[Array]]) -> str:
        lines = [
            f"/* {about} */",
            f'#include "{self.name}.h"',
            "#include <math.h>",
            "",
            *self.definitions(),
            self.prototype(),
            "{",
        ]
        used = {x for i in self.code.instructions for x in i.args if isinstance(x, int)}
        used |= {x for values in self.code.outputs for x in values if isinstance(x, int)}
        start = 0
        for name, (_, size) in zip(self.given, self.code.arguments, strict=True):
            if not used & set(range(start, start + size)):
                lines.append(f"    (void){name};")
            start += size
        for k, i in enumerate(self.code.instructions, len(self.inputs)):
            pair = self.pairs.get(i.args[0]) if i.op in TRIGONOMETRIC else None
            if pair is None:
                lines.append(f"    const {self.type} v{k} = {self.expression(i)};")
            elif k == min(pair):
                lines.append(f"    double v{pair[0]}, v{pair[1]};")
                lines.append(f"    {self.sincos}({self.operand(i.args[0])}, &v{pair[0]}, &v{pair[1]});")
        for r, values in enumerate(self.code.outputs):
            lines += [f"    {self.results[r]}[{k}] = {self.operand(x)};" for k, x in enumerate(values)]
        return "\n".join([*lines, "}", "", *self.selftest(states)])

    def selftest(self, states: list[list[Array]]) -> list[str]:
        if not states:
            return []
        results = [evaluate(self.code, state) for state in states]
        lines = [f"#ifdef {self.name.upper()}_SELFTEST", "#include <stdio.h>"]
        counts = [size for _, size in self.code.arguments], [max(1, len(v)) for v in self.code.outputs]
        for names, sizes, rows in ((self.given, counts[0], states), (self.results, counts[1], results)):
            for k, (name, size) in enumerate(zip(names, sizes, strict=True)):
                body = ", ".join("{" + ", ".join(self.number(x) for x in np.ravel(row[k])) + "}" for row in rows)
                lines.append(f"static const {self.type} test_{name}[{len(states)}][{size}] = {{{body}}};")
        tolerance = "1e-9" if self.type == "double" else "1e-3f"
        lines += ["", "int main(void)", "{", "    int bad = 0;", f"    for (int s = 0; s < {len(states)}; ++s) {{"]
        lines += [f"        {self.type} {name}[{size}];" for name, size in zip(self.results, counts[1], strict=True)]
        inside = [f"test_{name}[s]" for name in self.given] + self.results
        lines.append(f"        {self.name}({', '.join(inside)});")
        for k, (name, size) in enumerate(zip(self.results, counts[1], strict=True)):
            lines += [
                f"        {self.type} scale{k} = {self.number(1.0)};",
                f"        for (int k = 0; k < {size}; ++k)",
                f"            scale{k} = fmax{self.suffix}(scale{k}, fabs{self.suffix}(test_{name}[s][k]));",
                f"        for (int k = 0; k < {size}; ++k)",
                f"            bad += !(fabs{self.suffix}({name}[k] - test_{name}[s][k]) <= {tolerance} * scale{k});",
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


def _pairs(code: Code) -> dict[Operand, tuple[int, int]]:
    """(number of the sine, number of the cosine) by angle, where the code has both."""
    found = {(i.op, i.args[0]): k for k, i in enumerate(code.instructions, code.inputs) if i.op in TRIGONOMETRIC}
    return {angle: (k, found["cos", angle]) for (op, angle), k in found.items() if op == "sin" and ("cos", angle) in found}


def finite_states(code: Code, draw: Callable[[], list[list[Array]]], count: int) -> list[list[Array]]:
    """``count`` states from ``draw`` at which all results are finite; fewer, with a warning, where too many are not."""
    found: list[list[Array]] = []
    for _ in range(DRAWS):
        states = draw()
        results = evaluate(code, [np.array(vectors) for vectors in zip(*states, strict=True)])
        finite = np.all([np.isfinite(x).all(axis=-1) for x in results], axis=0)
        found += [state for state, good in zip(states, np.broadcast_to(finite, len(states)), strict=True) if good]
        if len(found) >= count:
            return found[:count]
    tests = f"{len(found)} of {count} states" if found else "no states, and is left out"
    warnings.warn(
        f"{printable(code.name)} is not finite at most states of its arguments: the self-test of the C code has {tests}",
        ModelWarning, stacklevel=3,
    )  # fmt: skip
    return found


def evaluate(code: Code, state: Sequence[Array]) -> list[Array]:
    """The results at one state, or in rows at the states in the rows of each argument, in double precision."""
    from dynamis.scalar.program import MEANING

    fused = {"fma": lambda a, b, c: a * b + c, "fms": lambda a, b, c: a * b - c, "fnma": lambda a, b, c: c - a * b}
    values: list[Any] = [np.asarray(x, float) for vector in state for x in np.moveaxis(np.asarray(vector), -1, 0)]
    batch = np.shape(state[0])[:-1] if state else ()
    with np.errstate(all="ignore"):
        for i in code.instructions:
            args = [values[x] if isinstance(x, int) else x for x in i.args]
            values.append((fused.get(i.op) or MEANING[i.op])(*args))
    results = []
    for outputs in code.outputs:
        results.append(np.empty((*batch, len(outputs))))
        for k, x in enumerate(outputs):
            results[-1][..., k] = values[x] if isinstance(x, int) else x
    return results
