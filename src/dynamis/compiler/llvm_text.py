"""Code as LLVM IR: one state a vector lane.

Two functions are rendered. ``body`` evaluates as many states as a vector has lanes; it gets a pointer to each argument of
each lane's state, whose elements are contiguous. ``loop`` is a NumPy inner loop: it walks the batch, lets lanes point at
their states (at a copy where elements are not contiguous, at the last state again where the batch is not a multiple of
the lanes) and calls ``body``. As every state goes through the same code, results do not depend on how a batch is split.

Signs are free: a value is kept as ± a register, and products, sums and fused multiply-adds choose the form that needs no
negation. Constants come from a table that LLVM cannot see through, so that it loads them instead of building them from
immediates.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from dynamis.compiler.code import Code, Instruction, Operand
from dynamis.compiler.llvm_loop import render_loop
from dynamis.compiler.sincos import DOUBLE, SINGLE, Coefficients
from dynamis.compiler.target import Target, literal

SEGMENT = 3000  # instructions a function; compile time grows faster than linearly with one function's size
_LIBM = {"asin": 1, "acos": 1, "exp": 1, "log": 1, "tanh": 1, "atan2": 2}


Signed = tuple[str, bool]  # a register, and whether the value is its negative


def render(code: Code, target: Target) -> str:
    """The module's text."""
    return _Module(code, target).text()


class _Module:
    def __init__(self, code: Code, target: Target) -> None:
        self.code, self.target = code, target
        self.coefficients: Coefficients = DOUBLE if target.precision == "double" else SINGLE
        self.constants: dict[float, int] = {}
        self.addends: dict[float, int] = {}

    def text(self) -> str:
        segments = self._segments()
        frame = _frame_slots(self.code, segments, self.target.lanes)
        functions = [_Function(self, k, first, last, frame).text() for k, (first, last) in enumerate(segments)]
        t = self.target
        size = max(1, len(self.constants) + t.lanes)
        table = [0.0] * size
        for value, place in self.constants.items():
            table[place] = value
        entries = ", ".join(f"{t.precision} {literal(x, t)}" for x in table)
        head = [f"@table = global [{size} x {t.precision}] [{entries}], align 64"]
        rows = [", ".join([f"{t.precision} {literal(x, t)}"] * t.lanes) for x in self.addends] or ["poison"]
        rows = [f"{t.vector} <{row}>" if row != "poison" else f"{t.vector} poison" for row in rows]
        head.append(f"@addends = global [{len(rows)} x {t.vector}] [{', '.join(rows)}], align 64")
        for name in ("fma", "sqrt", "fabs", "floor", "minnum", "maxnum"):
            count = {"fma": 3, "minnum": 2, "maxnum": 2}.get(name, 1)
            head.append(f"declare {t.vector} @llvm.{name}.v{t.lanes}f{t.bits}({', '.join([t.vector] * count)})")
        head.append(f"declare i1 @llvm.vector.reduce.or.v{t.lanes}i1(<{t.lanes} x i1>)")
        suffix = "" if t.precision == "double" else "f"
        head += [f"declare {t.precision} @{name}{suffix}({t.precision})" for name in ("sin", "cos")]
        for name, count in _LIBM.items():
            head.append(f"declare {t.precision} @{name}{suffix}({', '.join([t.precision] * count)})")
        head.append(_slow_angle(t))
        return "\n".join([*head, *functions, self._body(len(segments), len(frame)), render_loop(self.code, t)])

    def addend(self, value: float) -> int:
        return self.addends.setdefault(value, len(self.addends))

    def constant(self, value: float) -> int:
        return self.constants.setdefault(value, len(self.constants))

    def _segments(self) -> list[tuple[int, int]]:
        count = len(self.code.instructions)
        pieces = max(1, -(-count // SEGMENT))
        edges = [round(k * count / pieces) for k in range(pieces + 1)]
        return list(itertools.pairwise(edges))

    def _body(self, segments: int, slots: int) -> str:
        t = self.target
        calls = "\n".join(f"  call void @segment{k}(ptr %in, ptr %out, ptr %frame)" for k in range(segments))
        frame = f"  %frame = alloca [{max(1, slots)} x {t.vector}], align 64"
        return f"define internal void @body(ptr noalias %in, ptr noalias %out) {{\n{frame}\n{calls}\n  ret void\n}}"


def store_blocks(code: Code, lanes: int) -> Iterator[tuple[int, int, int, int]]:
    """(result, first element, count, newest value) of each store: whole vectors of elements, then single ones."""
    for r, values in enumerate(code.outputs):
        whole = len(values) - len(values) % lanes
        blocks = [(k, lanes) for k in range(0, whole, lanes)] + [(k, 1) for k in range(whole, len(values))]
        for k, count in blocks:
            yield r, k, count, max((x for x in values[k : k + count] if isinstance(x, int)), default=-1)


def _frame_slots(code: Code, segments: list[tuple[int, int]], lanes: int) -> dict[int, int]:
    """Where a value waits that is made in one segment and used in a later one."""
    home = {}
    for k, (first, last) in enumerate(segments):
        for j in range(first, last):
            home[code.inputs + j] = k
    crossing: dict[int, int] = {}
    for j, instruction in enumerate(code.instructions):
        here = home[code.inputs + j]
        for x in instruction.args:
            if isinstance(x, int) and x >= code.inputs and home[x] != here:
                crossing.setdefault(x, len(crossing))
    for r, k, count, newest in store_blocks(code, lanes):
        for x in code.outputs[r][k : k + count]:
            if isinstance(x, int) and x >= code.inputs and home[x] != home[newest]:
                crossing.setdefault(x, len(crossing))
    return crossing


def _slow_angle(t: Target) -> str:
    """An angle brought into (−π, π] by the C library, lane by lane: atan2(sin x, cos x)."""
    s = "" if t.precision == "double" else "f"
    lines = [f"define internal {t.vector} @slow_angle({t.vector} %x) cold noinline {{"]
    value = "poison"
    for k in range(t.lanes):
        lines += [
            f"  %x{k} = extractelement {t.vector} %x, i32 {k}",
            f"  %s{k} = call {t.precision} @sin{s}({t.precision} %x{k})",
            f"  %c{k} = call {t.precision} @cos{s}({t.precision} %x{k})",
            f"  %a{k} = call {t.precision} @atan2{s}({t.precision} %s{k}, {t.precision} %c{k})",
            f"  %v{k} = insertelement {t.vector} {value}, {t.precision} %a{k}, i32 {k}",
        ]
        value = f"%v{k}"
    return "\n".join([*lines, f"  ret {t.vector} {value}", "}"])


class _Function:
    """One segment."""

    def __init__(self, module: _Module, number: int, first: int, last: int, frame: dict[int, int]) -> None:
        self.m, self.t, self.code = module, module.target, module.code
        self.number, self.first, self.last, self.frame = number, first, last, frame
        self.lines: list[str] = []
        self.count = 0
        self.block = "entry"
        self.values: dict[int, Signed] = {}
        self.tables: dict[int, str] = {}
        self.splats: dict[float, str] = {}
        self.pointers: dict[str, str] = {}
        self.cases: dict[int, tuple[Signed, Signed]] = {}
        self.arguments: list[tuple[int, int]] = [
            (a, k) for a, (_, size) in enumerate(module.code.arguments) for k in range(size)
        ]
        self.pending = self._pending()

    def new(self, text: str) -> str:
        self.count += 1
        register = f"%r{self.count}"
        self.lines.append(f"  {register} = {text}")
        return register

    def text(self) -> str:
        head = f"define internal void @segment{self.number}(ptr noalias %in, ptr noalias %out, ptr noalias %frame) {{\nentry:"
        instructions = self.code.instructions[self.first : self.last]
        start = self._angles(instructions)
        if self.number == 0:
            self._store_ready(None)
        for k, instruction in enumerate(instructions):
            number = self.code.inputs + self.first + k
            if k >= start or number not in self.values:
                self.values[number] = self._instruction(instruction)
            self._keep(number)
            self._store_ready(number)
        return "\n".join([head, *self.lines, "  ret void", "}"])

    def _keep(self, number: int) -> None:
        if number in self.frame:
            place = self.new(f"getelementptr {self.t.vector}, ptr %frame, i64 {self.frame[number]}")
            self.lines.append(f"  store {self.t.vector} {self.plain(self.values[number])}, ptr {place}, align 16")

    # operands

    def value(self, x: Operand) -> Signed:
        if not isinstance(x, int):
            return self.splat(abs(x)), x < 0.0
        if x not in self.values:
            self.values[x] = (self._input(x) if x < self.code.inputs else self._from_frame(x), False)
        return self.values[x]

    def plain(self, value: Signed) -> str:
        register, negative = value
        return self.new(f"fneg {self.t.vector} {register}") if negative else register

    def splat(self, value: float) -> str:
        if value in self.splats:
            return self.splats[value]
        t, place = self.t, self.m.constant(value)
        if t.paired_constants:
            row = place // t.lanes
            if row not in self.tables:
                at = self.new(f"getelementptr {t.precision}, ptr @table, i64 {row * t.lanes}")
                self.tables[row] = self.new(f"load {t.vector}, ptr {at}, align {t.bytes * t.lanes}")
            mask = ", ".join([f"i32 {place % t.lanes}"] * t.lanes)
            result = self.new(f"shufflevector {t.vector} {self.tables[row]}, {t.vector} poison, <{t.lanes} x i32> <{mask}>")
        else:
            at = self.new(f"getelementptr {t.precision}, ptr @table, i64 {place}")
            one = self.new(f"load {t.precision}, ptr {at}, align {t.bytes}")
            result = self._broadcast(one)
        self.splats[value] = result
        return result

    def _broadcast(self, scalar: str) -> str:
        t = self.t
        first = self.new(f"insertelement {t.vector} poison, {t.precision} {scalar}, i32 0")
        return self.new(f"shufflevector {t.vector} {first}, {t.vector} poison, <{t.lanes} x i32> zeroinitializer")

    def _pointer(self, kind: str, place: int) -> str:
        key = f"{kind}{place}"
        if key not in self.pointers:
            at = self.new(f"getelementptr ptr, ptr %{kind}, i64 {place}")
            self.pointers[key] = self.new(f"load ptr, ptr {at}, align 8")
        return self.pointers[key]

    def _element(self, kind: str, argument: int, lane: int, k: int) -> str:
        pointer = self._pointer(kind, argument * self.t.lanes + lane)
        return self.new(f"getelementptr {self.t.precision}, ptr {pointer}, i64 {k}") if k else pointer

    def _input(self, x: int) -> str:
        """Element k of an argument, lane by lane; whole squares of elements are loaded and transposed at once."""
        t = self.t
        argument, k = self.arguments[x]
        size = self.code.arguments[argument][1]
        start = k - k % t.lanes
        if start + t.lanes <= size:
            rows = []
            for lane in range(t.lanes):
                at = self._element("in", argument, lane, start)
                rows.append(self.new(f"load {t.vector}, ptr {at}, align {t.bytes}"))
            for j, column in enumerate(self._transpose(rows)):
                self.values.setdefault(x - k + start + j, (column, False))
            return self.values[x][0]
        value = "poison"
        for lane in range(t.lanes):
            one = self.new(f"load {t.precision}, ptr {self._element('in', argument, lane, k)}, align {t.bytes}")
            value = self.new(f"insertelement {t.vector} {value}, {t.precision} {one}, i32 {lane}")
        return value

    def _transpose(self, rows: list[str]) -> list[str]:
        """The columns of a square of vectors, by interleaving halves log₂ times."""
        t, n = self.t, len(rows)
        low = ", ".join(f"i32 {x}" for k in range(n // 2) for x in (k, n + k))
        high = ", ".join(f"i32 {x}" for k in range(n // 2, n) for x in (k, n + k))
        step = 1
        while step < n:
            mixed = []
            for k in range(n // 2):
                a, b = rows[k], rows[k + n // 2]
                mixed += [
                    self.new(f"shufflevector {t.vector} {a}, {t.vector} {b}, <{n} x i32> <{mask}>") for mask in (low, high)
                ]
            rows, step = mixed, 2 * step
        return rows

    def _from_frame(self, x: int) -> str:
        place = self.new(f"getelementptr {self.t.vector}, ptr %frame, i64 {self.frame[x]}")
        return self.new(f"load {self.t.vector}, ptr {place}, align 16")

    # results

    def _pending(self) -> dict[int | None, list[tuple[int, int, int]]]:
        """(result, first element, count) to store once a value exists; None for what waits for no instruction of ours."""
        pending: dict[int | None, list[tuple[int, int, int]]] = {}
        first, last = self.code.inputs + self.first, self.code.inputs + self.last
        for r, k, count, newest in store_blocks(self.code, self.t.lanes):
            if newest < self.code.inputs:
                pending.setdefault(None, []).append((r, k, count))
            elif first <= newest < last:
                pending.setdefault(newest, []).append((r, k, count))
        return pending

    def _store_ready(self, number: int | None) -> None:
        t = self.t
        for r, k, count in self.pending.get(number, ()):
            values = [self.plain(self.value(x)) for x in self.code.outputs[r][k : k + count]]
            if count == t.lanes:
                for lane, row in enumerate(self._transpose(values)):
                    at = self._element("out", r, lane, k)
                    self.lines.append(f"  store {t.vector} {row}, ptr {at}, align {t.bytes}")
            else:
                for lane in range(t.lanes):
                    one = self.new(f"extractelement {t.vector} {values[0]}, i32 {lane}")
                    at = self._element("out", r, lane, k)
                    self.lines.append(f"  store {t.precision} {one}, ptr {at}, align {t.bytes}")

    # instructions

    def _instruction(self, i: Instruction) -> Signed:
        t = self.t
        args = [self.value(x) for x in i.args]
        match i.op:
            case "mul" | "div":
                (a, sa), (b, sb) = args
                return self.new(f"f{i.op} {t.vector} {a}, {b}"), sa != sb
            case "add" | "sub":
                (a, sa), (b, sb) = args
                sb = sb != (i.op == "sub")
                return self.new(f"{'fadd' if sa == sb else 'fsub'} {t.vector} {a}, {b}"), sa
            case "neg":
                return args[0][0], not args[0][1]
            case "fma" | "fms" | "fnma":
                (a, sa), (b, sb), (c, sc) = args
                product = (sa != sb) != (i.op == "fnma")
                sc = sc != (i.op == "fms")
                # ±(c + ab) or ±(c − ab): the sign of c outside, the product's relative to it inside
                factor = a if product == sc else self.new(f"fneg {t.vector} {a}")
                return self._call("fma", factor, b, c), sc
            case "sin" | "cos":
                assert isinstance(i.args[0], int)
                return self._sincos(i.args[0])[i.op == "cos"]
            case "abs":
                return self._call("fabs", args[0][0]), False
            case "sqrt" | "floor":
                return self._call(i.op, self.plain(args[0])), False
            case "min" | "and":
                return self._call("minnum", self.plain(args[0]), self.plain(args[1])), False
            case "max" | "or":
                return self._call("maxnum", self.plain(args[0]), self.plain(args[1])), False
            case "lt" | "le" | "eq":
                a, b = (self.plain(x) for x in args)
                return self._truth(f"fcmp o{i.op} {t.vector} {a}, {b}"), False
            case "not":
                return self._truth(f"fcmp oeq {t.vector} {self.plain(args[0])}, zeroinitializer"), False
            case "sign":
                x = self.plain(args[0])
                up = self._truth(f"fcmp ogt {t.vector} {x}, zeroinitializer")
                down = self._truth(f"fcmp olt {t.vector} {x}, zeroinitializer")
                return self.new(f"fsub {t.vector} {up}, {down}"), False
            case "where":
                c, a, b = (self.plain(x) for x in args)
                chosen = self.new(f"fcmp une {t.vector} {c}, zeroinitializer")
                return self.new(f"select <{t.lanes} x i1> {chosen}, {t.vector} {a}, {t.vector} {b}"), False
        return self._lane_by_lane(i.op, [self.plain(x) for x in args]), False

    def _call(self, name: str, *args: str) -> str:
        t = self.t
        inside = ", ".join(f"{t.vector} {a}" for a in args)
        return self.new(f"call {t.vector} @llvm.{name}.v{t.lanes}f{t.bits}({inside})")

    def _truth(self, comparison: str) -> str:
        flag = self.new(comparison)
        return self.new(f"uitofp <{self.t.lanes} x i1> {flag} to {self.t.vector}")

    def _lane_by_lane(self, name: str, args: list[str]) -> str:
        """Functions that no dynamics needs often, through the C library."""
        t = self.t
        function = name if t.precision == "double" else name + "f"
        value = "poison"
        for lane in range(t.lanes):
            ones = [self.new(f"extractelement {t.vector} {a}, i32 {lane}") for a in args]
            inside = ", ".join(f"{t.precision} {x}" for x in ones)
            one = self.new(f"call {t.precision} @{function}({inside})")
            value = self.new(f"insertelement {t.vector} {value}, {t.precision} {one}, i32 {lane}")
        return value

    # sines and cosines

    def _angles(self, instructions: tuple[Instruction, ...]) -> int:
        """The leading instructions up to the last sine or cosine of plain angles, with one check for very large ones.

        Returns how many instructions are done.
        """
        numbers: list[int] = []
        for i in instructions:
            if i.op in ("sin", "cos"):
                assert isinstance(i.args[0], int)
                if i.args[0] < self.code.inputs and i.args[0] not in numbers:
                    numbers.append(i.args[0])
        if numbers:
            plain = [self.value(x)[0] for x in numbers]
            for x, reduced in zip(numbers, self._in_range(plain), strict=True):
                self.cases[x] = self._polynomials(reduced)
        return 0

    def _sincos(self, x: int) -> tuple[Signed, Signed]:
        if x not in self.cases:
            register, negative = self.value(x)
            (s, ss), cosine = self._polynomials(self._in_range([register])[0])
            self.cases[x] = ((s, ss != negative), cosine)
        return self.cases[x]

    def _in_range(self, angles: list[str]) -> list[str]:
        """The same angles, or, where any lane of any is beyond what the reduction holds, their principal values."""
        t = self.t
        limit = self.splat(self.m.coefficients.largest)
        sizes = [self._call("fabs", x) for x in angles]
        while len(sizes) > 1:
            pairs = [self._call("maxnum", a, b) for a, b in zip(sizes[::2], sizes[1::2], strict=False)]
            sizes = pairs + (sizes[-1:] if len(sizes) % 2 else [])
        beyond = self.new(f"fcmp ogt {t.vector} {sizes[0]}, {limit}")
        some = self.new(f"call i1 @llvm.vector.reduce.or.v{t.lanes}i1(<{t.lanes} x i1> {beyond})")
        k = self.count
        before, far, near = self.block, f"far{k}", f"near{k}"
        self.lines += [f"  br i1 {some}, label %{far}, label %{near}", f"{far}:"]
        reduced = [self.new(f"call {t.vector} @slow_angle({t.vector} {x})") for x in angles]
        self.lines += [f"  br label %{near}", f"{near}:"]
        self.block = near
        return [self.new(f"phi {t.vector} [ {x}, %{before} ], [ {r}, %{far} ]") for x, r in zip(angles, reduced, strict=True)]

    def _polynomials(self, x: str) -> tuple[Signed, Signed]:
        t, c = self.t, self.m.coefficients
        shifted = self._call("fma", x, self.splat(c.two_over_pi), self._addend(c.rounding))
        quadrant = self.new(f"bitcast {t.vector} {shifted} to {t.integers}")
        times = self.new(f"fsub {t.vector} {shifted}, {self.splat(c.rounding)}")
        minus = self.new(f"fneg {t.vector} {times}")
        r = x
        for part in c.half_pi:
            r = self._call("fma", minus, self.splat(part), r)
        z = self.new(f"fmul {t.vector} {r}, {r}")
        s = self._horner(c.sine, z)
        s = self._call("fma", self.new(f"fmul {t.vector} {s}, {z}"), r, r)
        p = self._horner(c.cosine, z)
        half = self._call("fma", z, self.splat(-0.5), self._addend(1.0))
        k = self._call("fma", p, self.new(f"fmul {t.vector} {z}, {z}"), half)
        # quadrants 1 and 3 exchange sine and cosine; 2 and 3 change the sine's sign, 1 and 2 the cosine's
        low = self.new(f"shl {t.integers} {quadrant}, {self._integers(t.bits - 1)}")
        odd = self.new(f"icmp slt {t.integers} {low}, zeroinitializer")
        sine = self.new(f"select <{t.lanes} x i1> {odd}, {t.vector} {k}, {t.vector} {s}")
        cosine = self.new(f"select <{t.lanes} x i1> {odd}, {t.vector} {s}, {t.vector} {k}")
        next_quadrant = self.new(f"add {t.integers} {quadrant}, {self._integers(1)}")
        return (self._flip(sine, quadrant), False), (self._flip(cosine, next_quadrant), False)

    def _horner(self, coefficients: tuple[float, ...], z: str) -> str:
        value = self.splat(coefficients[0])
        for c in coefficients[1:]:
            value = self._call("fma", value, z, self._addend(c))
        return value

    def _addend(self, c: float) -> str:
        """A constant to add a product to. NEON's multiply-add overwrites its addend, so a fresh load each time is cheaper
        than a register kept and copied; marking it volatile keeps LLVM from loading it once for all."""
        if not self.t.paired_constants:
            return self.splat(c)
        at = self.new(f"getelementptr {self.t.vector}, ptr @addends, i64 {self.m.addend(c)}")
        return self.new(f"load volatile {self.t.vector}, ptr {at}, align {self.t.bytes * self.t.lanes}")

    def _integers(self, value: int) -> str:
        return "<" + ", ".join([f"i{self.t.bits} {value}"] * self.t.lanes) + ">"

    def _flip(self, x: str, quadrant: str) -> str:
        """The sign changed where bit 1 of the quadrant is set."""
        t = self.t
        bit = self.new(f"and {t.integers} {quadrant}, {self._integers(2)}")
        sign = self.new(f"shl {t.integers} {bit}, {self._integers(t.bits - 2)}")
        raw = self.new(f"bitcast {t.vector} {x} to {t.integers}")
        flipped = self.new(f"xor {t.integers} {raw}, {sign}")
        return self.new(f"bitcast {t.integers} {flipped} to {t.vector}")
