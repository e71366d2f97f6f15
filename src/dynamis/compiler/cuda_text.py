"""Output as CUDA C: one state per thread.

``<name>_state`` evaluates one state and is plain C++, so that it can be compiled and tested without a GPU. The kernel around
it moves rows of arrays, as NumPy keeps them, between memory and threads. Inputs and short results are read and written by
their own thread: what neighbours touch together the caches gather. The rows of a long result are gathered in shared memory
and written by the whole block, as the contiguous piece of memory they are; those of a result that does not fit there a few
numbers at a time, as soon as they are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dynamis.compiler.c_expressions import Expressions
from dynamis.compiler.code import TRIGONOMETRIC, Code, Operand
from dynamis.compiler.schedule import schedule
from dynamis.compiler.sincos import DOUBLE, LARGEST_ANGLE, SINGLE

BLOCK_SIZES = (128, 64, 32)
SHARED = 48 * 1024  # bytes a block has without asking for more
SHORT = 16  # numbers of a row that its own thread writes
LONG, PART = 12_000, 1000  # instructions of a function that is cut, and of its parts
FEW, REGISTERS = 600, 128  # instructions that need no better order; registers for which the order of others is chosen
CHUNK = 32  # numbers of a row gathered at a time where whole rows do not fit
WRITTEN = 768  # bytes of a row gathered at a time where they come from registers

_MOVING = """
#ifdef __CUDACC__
template <int SIZE> DEVICE void copy_row(const T *from, T *to)
{
#pragma unroll
    for (int k = 0; k < SIZE; ++k)
        to[k] = from[k];
}

template <int SIZE, int WIDTH> DEVICE void write_rows(T *to, int rows, const T *row, T *tile)
{
    constexpr int UNROLLED = SIZE <= 512 ? SIZE : 1;  // a longer row is in memory anyway
#pragma unroll UNROLLED
    for (int start = 0; start < SIZE; start += WIDTH) {
        const int width = SIZE - start < WIDTH ? SIZE - start : WIDTH;
        __syncthreads();
#pragma unroll UNROLLED
        for (int k = 0; k < width; ++k)
            tile[threadIdx.x * width + k] = row[start + k];
        __syncthreads();
        for (int k = threadIdx.x; k < rows * width; k += BLOCK)
            to[(k / width) * SIZE + start + k % width] = tile[k];
    }
}
"""


def block_size(code: Code, precision: str) -> int:
    """Threads a block: so many that the rows of every long result fit into shared memory, if any number does."""
    longest = max((len(values) for values in code.outputs), default=0)
    if _is_gathered(code, precision):
        return BLOCK_SIZES[-1]
    return next((size for size in BLOCK_SIZES if _room(precision, size) >= longest), BLOCK_SIZES[0])


def _is_gathered(code: Code, precision: str) -> bool:
    """Whether the only result is too long for shared memory, so that a few of its numbers are gathered at a time."""
    return [len(values) > _room(precision, BLOCK_SIZES[-1]) for values in code.outputs] == [True]


def _room(precision: str, block: int) -> int:
    """Numbers of a row that fit into shared memory."""
    return SHARED // (block * (8 if precision == "double" else 4))


def render(code: Code, name: str, precision: str) -> str:
    """The source; the kernel is called ``name`` and takes (pointer, step) of each argument, each result, and the count.

    A step is the distance of states, in numbers: the argument's length, or 0 where all states share one row.
    """
    ordered = schedule(code, REGISTERS) if len(code.instructions) > FEW else code
    if _is_gathered(ordered, precision) and len(ordered.instructions) > LONG:
        head, kernel = _preamble(ordered, name, precision), _kernel_of_parts(ordered, name, precision)
    else:
        head, kernel = [render_head(ordered, name, precision)], _kernel(ordered, name, precision)
    return "\n".join([*head, _MOVING, *kernel, "#endif", ""])


def render_head(code: Code, name: str, precision: str) -> str:
    """The function of one state and what it needs."""
    return "\n".join([*_preamble(code, name, precision), *_state(code, _expressions(code, precision), name)])


def _preamble(code: Code, name: str, precision: str) -> list[str]:
    head = [f"// {name}: one state a thread", f"typedef {precision} T;", *_macros(code, precision), ""]
    return [*head, _sincos(precision), ""] if any(i.op in TRIGONOMETRIC for i in code.instructions) else head


def _expressions(code: Code, precision: str) -> Expressions:
    return Expressions(code, precision, {f: _call(f, precision) for f in ("fma", "fms", "fnma")})


def _call(op: str, precision: str) -> str:
    f = "fma" if precision == "double" else "fmaf"
    return {"fma": f + "({}, {}, {})", "fms": f + "({}, {}, -{})", "fnma": f + "(-{}, {}, {})"}[op]


def _macros(code: Code, precision: str) -> list[str]:
    return [
        "#define DEVICE static __device__ __forceinline__",
        f"#define BLOCK {block_size(code, precision)}",
        f"#define FMA {'fma' if precision == 'double' else 'fmaf'}",
        f"#define ABS {'fabs' if precision == 'double' else 'fabsf'}",
    ]


def _sincos(precision: str) -> str:
    """Sine and cosine by the same reduction and polynomials as on the processor; very large angles by CUDA's own."""
    c = DOUBLE if precision == "double" else SINGLE
    lines = [
        "DEVICE void sine_cosine(T x, T *sine, T *cosine)",
        "{",
        f"    if (!(ABS(x) <= T({LARGEST_ANGLE!r}))) {{",
        f"        {'sincos' if precision == 'double' else 'sincosf'}(x, sine, cosine);",
        "        return;",
        "    }",
        f"    const T times = FMA(x, T({c.two_over_pi!r}), T({c.rounding!r})) - T({c.rounding!r});",
        "    const int quadrant = (int)times;",
        "    T r = x;",
        *(f"    r = FMA(-times, T({part!r}), r);" for part in c.half_pi),
        "    const T z = r * r;",
        f"    T s = T({c.sine[0]!r}), c = T({c.cosine[0]!r});",
        *(f"    s = FMA(s, z, T({x!r}));" for x in c.sine[1:]),
        *(f"    c = FMA(c, z, T({x!r}));" for x in (*c.cosine[1:], -0.5, 1.0)),
        "    s = FMA(s * z, r, r);",
        "    const T a = quadrant & 1 ? c : s, b = quadrant & 1 ? s : c;",
        "    *sine = quadrant & 2 ? -a : a;",
        "    *cosine = (quadrant + 1) & 2 ? -b : b;",
        "}",
    ]
    return "\n".join(lines)


def _state(code: Code, e: Expressions, name: str) -> list[str]:
    """The function of one state; a long one calls parts of bounded length, as NVRTC's time grows faster than linearly."""
    pointers = [f"in{k}" for k in range(len(code.arguments))], [f"out{k}" for k in range(len(code.outputs))]
    arguments = ", ".join([*(f"const T *{x}" for x in pointers[0]), *(f"T *{x}" for x in pointers[1])])
    head = [f"DEVICE void {name}_state({arguments})", "{"]
    if len(code.instructions) <= LONG:
        stores = [line for r, values in enumerate(code.outputs) for line in _stores(e, r, enumerate(values))]
        return [*head, *_instructions(code, e, range(len(code.instructions))), *stores, "}"]
    parts = Parts(code, PART)

    def stored(k: int) -> list[str]:
        return [line for r, values in parts.stored[k].items() for line in _stores(e, r, values)]

    passed = ", ".join([*pointers[0], *pointers[1], "frame"])
    calls = [f"    {name}_part{k}({passed});" for k in range(len(parts.ranges))]
    functions = _part_functions(code, e, parts, name, arguments, stored)
    return [*functions, *head, f"    T frame[{max(1, parts.slots)}];", *calls, "}"]


def _part_functions(
    code: Code, e: Expressions, parts: Parts, name: str, arguments: str, stores: Callable[[int], list[str]]
) -> list[str]:
    lines: list[str] = []
    for k, part in enumerate(parts.ranges):
        lines += [f"static __device__ __noinline__ void {name}_part{k}({arguments}, T *frame)", "{"]
        lines += [f"    const T v{x} = frame[{parts.slot[x]}];" for x in parts.read[k]]
        lines += _instructions(code, e, part)
        lines += [f"    frame[{parts.slot[x]}] = v{x};" for x in parts.kept[k]]
        lines += [*stores(k), "}", ""]
    return lines


class Parts:
    """A code cut into parts: the values each reads from the frame, those it leaves there, and the results it stores."""

    def __init__(self, code: Code, size: int) -> None:
        count = len(code.instructions)
        self.ranges = [range(start, min(start + size, count)) for start in range(0, count, size)]
        place = {code.inputs + j: k for k, part in enumerate(self.ranges) for j in part}
        self.read: list[list[int]] = []
        last: dict[int, int] = {}
        for k, part in enumerate(self.ranges):
            used = dict.fromkeys(x for j in part for x in code.instructions[j].args if isinstance(x, int))
            self.read.append([x for x in used if place.get(x, k) != k])
            last.update(dict.fromkeys(self.read[k], k))
        self.kept = [[x for x in range(code.inputs + p.start, code.inputs + p.stop) if x in last] for p in self.ranges]
        self.slot: dict[int, int] = {}
        self.slots = 0
        free: list[int] = []
        for k in range(len(self.ranges)):
            for x in self.kept[k]:
                if not free:
                    free.append(self.slots)
                    self.slots += 1
                self.slot[x] = free.pop()
            free += [self.slot[x] for x in self.read[k] if last[x] == k]
        self.stored: list[dict[int, list[tuple[int, Operand]]]] = [{} for _ in self.ranges]
        for r, values in enumerate(code.outputs):
            for at, value in enumerate(values):
                made = place.get(value, 0) if isinstance(value, int) else 0
                self.stored[made].setdefault(r, []).append((at, value))


def _stores(e: Expressions, r: int, values: Iterable[tuple[int, Operand]]) -> list[str]:
    return [f"    out{r}[{k}] = {e.operand(x)};" for k, x in values]


def _instructions(code: Code, e: Expressions, part: range) -> list[str]:
    lines: list[str] = []
    seen: dict[str, int] = {}
    for j in part:
        number, i = code.inputs + j, code.instructions[j]
        if i.op in TRIGONOMETRIC:
            angle = e.operand(i.args[0])
            if angle not in seen:
                seen[angle] = number
                lines += [f"    T s{number}, c{number};", f"    sine_cosine({angle}, &s{number}, &c{number});"]
            lines.append(f"    const T v{number} = {i.op[0]}{seen[angle]};")
        else:
            lines.append(f"    const T v{number} = {e.expression(i)};")
    return lines


def _kernel(code: Code, name: str, precision: str) -> list[str]:
    results = [len(v) for v in code.outputs]
    values = [*(f"x{k}" for k in range(len(code.arguments))), *(f"y{k}" for k in range(len(results)))]
    if _is_gathered(code, precision):
        aliases = [f"    const T *in{k} = x{k};" for k in range(len(code.arguments))]
        e, stored = _expressions(code, precision), list(enumerate(code.outputs[0]))
        inside = [
            *aliases,
            *_instructions(code, e, range(len(code.instructions))),
            *_gathered(e, stored, results[0], precision),
        ]
        out = f"    T *out = out0 + first * {results[0]};"
        return [*_kernel_head(code, name), *_tile(precision), out, "    {", *inside, "    }", "}"]
    lines = [
        *_kernel_head(code, name),
        *(f"    T y{k}[{max(1, size)}];" for k, size in enumerate(results)),
        f"    {name}_state({', '.join(values)});",
    ]
    for k, size in enumerate(results):
        if size <= SHORT:
            lines += ["    if (own < n)", f"        copy_row<{size}>(y{k}, out{k} + own * {size});"]
    room = _room(precision, block_size(code, precision))
    widths = {k: size if size <= room else CHUNK for k, size in enumerate(results) if size > SHORT}
    if widths:
        lines += [
            f"    __shared__ T tile[BLOCK * {max(widths.values())}];",
            "    const int rows = n - first < BLOCK ? (int)(n - first) : BLOCK;",
            *(
                f"    write_rows<{results[k]}, {w}>(out{k} + first * {results[k]}, rows, y{k}, tile);"
                for k, w in widths.items()
            ),
        ]
    return [*lines, "}"]


def _kernel_of_parts(code: Code, name: str, precision: str) -> list[str]:
    """Parts that write the numbers of the only result which they know, so that its rows are never kept by their threads."""
    e, parts, size = _expressions(code, precision), Parts(code, PART), len(code.outputs[0])
    stored = [sorted(part.get(0, []), key=lambda one: one[0]) for part in parts.stored]
    tables = [
        f"static __device__ const int {name}_places{k}[] = {{{', '.join(str(at) for at, _ in some)}}};"
        for k, some in enumerate(stored)
        if some
    ]
    inputs = range(len(code.arguments))
    arguments = ", ".join([*(f"const T *in{k}" for k in inputs), "T *out", "int rows", "T *tile"])
    functions = _part_functions(
        code, e, parts, name, arguments, lambda k: _gathered(e, stored[k], size, precision, f"{name}_places{k}")
    )
    passed = ", ".join([*(f"x{k}" for k in inputs), f"out0 + first * {size}", "rows", "tile", "frame"])
    calls = [f"    {name}_part{k}({passed});" for k in range(len(parts.ranges))]
    frame = f"    T frame[{max(1, parts.slots)}];"
    return [*tables, *functions, *_kernel_head(code, name), *_tile(precision), frame, *calls, "}"]


def _kernel_head(code: Code, name: str) -> list[str]:
    sizes = [n for _, n in code.arguments]
    parameters = [f"const T *__restrict__ in{k}, long long step{k}" for k in range(len(sizes))]
    parameters += [f"T *__restrict__ out{k}" for k in range(len(code.outputs))]
    return [
        f'extern "C" __global__ void __launch_bounds__(BLOCK) {name}({", ".join([*parameters, "long long n"])})',
        "{",
        "    const long long first = (long long)blockIdx.x * BLOCK, own = first + threadIdx.x;",
        "    const long long from = own < n ? own : n - 1;",
        *(f"    T x{k}[{max(1, size)}];" for k, size in enumerate(sizes)),
        *(f"    copy_row<{size}>(in{k} + from * step{k}, x{k});" for k, size in enumerate(sizes)),
    ]


def _gathered_at_a_time(precision: str) -> int:
    return WRITTEN // (8 if precision == "double" else 4)


def _tile(precision: str) -> list[str]:
    # an odd distance of rows, so that threads write to different banks
    return [
        f"    __shared__ T tile[BLOCK * {_gathered_at_a_time(precision) + 1}];",
        "    const int rows = n - first < BLOCK ? (int)(n - first) : BLOCK;",
    ]


def _gathered(
    e: Expressions, stored: Sequence[tuple[int, Operand]], size: int, precision: str, table: str | None = None
) -> list[str]:
    """Numbers of a long row, from registers through ``tile`` to their places in ``out``: in order, or those of a table."""
    lines: list[str] = []
    chunk = _gathered_at_a_time(precision)
    apart = chunk + 1
    for start in range(0, len(stored), chunk):
        some = stored[start : start + chunk]
        count = len(some)
        place = f"{start} + k % {count}" if table is None else f"{table}[{start} + k % {count}]"
        lines += [
            "    __syncthreads();",
            *(f"    tile[threadIdx.x * {apart} + {k}] = {e.operand(x)};" for k, (_, x) in enumerate(some)),
            "    __syncthreads();",
            f"    for (int k = threadIdx.x; k < rows * {count}; k += BLOCK)",
            f"        out[(long long)(k / {count}) * {size} + {place}] = tile[k / {count} * {apart} + k % {count}];",
        ]
    return lines
