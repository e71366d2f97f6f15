"""The body of a kernel as LLVM IR: one state a vector lane.

The body gets a pointer to each argument and each result of each lane's state, whose elements are contiguous. It is cut into
functions of bounded size, because LLVM's work grows faster than linearly with a function; values that cross from one to
the next wait in a frame.

Signs are free: a value is kept as ± a register, and products, sums and fused multiply-adds choose the form that needs no
negation. Constants come from a table that LLVM cannot see through, so that it loads them instead of building them from
immediates; loads are marked volatile, so that LLVM reads again what `Registers` decided to read again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from dynamis.compiler.code import Code, Instruction, Operand
from dynamis.compiler.llvm_sincos import ROOM, TOGETHER, SineCosine
from dynamis.compiler.registers import Key, Registers, Signed
from dynamis.compiler.target import Target, literal

SEGMENT = 1500  # steps a function
CHECKED = 8  # angles whose range is checked at once


@dataclass(frozen=True)
class Step:
    """What is rendered at once: an instruction, a few sines and cosines, or the storing of some results."""

    uses: tuple[Key, ...]
    instruction: Instruction | None = None
    number: int = -1  # the value an instruction makes
    angles: tuple[tuple[int, int | None, int | None], ...] = ()  # (angle, its sine, its cosine)
    block: tuple[int, int, int] | None = None  # result, first element, count


def key(x: Operand) -> Key:
    """How an operand is known to `Registers`: a constant by its size."""
    return x if isinstance(x, int) else (abs(x),)


def steps(code: Code, lanes: int) -> list[Step]:
    """The instructions in order, sines and cosines gathered, each block of results stored when its last value exists."""
    pending: dict[int, list[Step]] = {}
    for r, k, count, newest in _store_blocks(code, lanes):
        uses = tuple(x for x in code.outputs[r][k : k + count] if isinstance(x, int))
        pending.setdefault(newest, []).append(Step(uses, block=(r, k, count)))
    result = [step for newest in sorted(pending) if newest < code.inputs for step in pending[newest]]
    gathered: list[tuple[int, Instruction]] = []
    for number, i in enumerate(code.instructions, code.inputs):
        # a run of sines and cosines goes on until one needs a result of the run
        if i.op in ("sin", "cos") and not any(i.args[0] == other for other, _ in gathered):
            gathered.append((number, i))
            continue
        result += _angle_steps(gathered, pending)
        gathered = []
        if i.op in ("sin", "cos"):
            gathered.append((number, i))
        else:
            result += [Step(tuple(map(key, i.args)), i, number), *pending.get(number, ())]
    return result + _angle_steps(gathered, pending)


def _angle_steps(gathered: list[tuple[int, Instruction]], pending: dict[int, list[Step]]) -> list[Step]:
    made: dict[int, tuple[int | None, int | None]] = {}
    for number, i in gathered:
        x = i.args[0]
        assert isinstance(x, int)
        sine, cosine = made.get(x, (None, None))
        made[x] = (number, cosine) if i.op == "sin" else (sine, number)
    angles = [(x, sine, cosine) for x, (sine, cosine) in made.items()]
    result = []
    for k in range(0, len(angles), CHECKED):
        group = tuple(angles[k : k + CHECKED])
        result.append(Step(tuple(x for x, _, _ in group), angles=group))
    return result + [step for number, _ in gathered for step in pending.get(number, ())]


def _store_blocks(code: Code, lanes: int) -> Iterator[tuple[int, int, int, int]]:
    """(result, first element, count, newest value) of each store: whole vectors of elements, then single ones."""
    for r, values in enumerate(code.outputs):
        whole = len(values) - len(values) % lanes
        blocks = [(k, lanes) for k in range(0, whole, lanes)] + [(k, 1) for k in range(whole, len(values))]
        for k, count in blocks:
            yield r, k, count, max((x for x in values[k : k + count] if isinstance(x, int)), default=-1)


class Body:
    """Renders a code's functions ``segment0`` … one after the other; ``constants`` is the table they read."""

    def __init__(self, code: Code, target: Target) -> None:
        self.code, self.t = code, target
        self.constants: dict[float, int] = {}
        self.steps = steps(code, target.lanes)
        self.registers = Registers([step.uses for step in self.steps], target.registers - 4, self._write)
        self.arguments = [(a, k) for a, (_, size) in enumerate(code.arguments) for k in range(size)]
        self.sincos = SineCosine(target, self.new, self._call, self._constant)
        self.functions: list[str] = []
        self._open()
        for k, step in enumerate(self.steps):
            if k and k % SEGMENT == 0:
                self._close()
            self._step(k, step)
        self._close()

    # text

    def _open(self) -> None:
        self.lines: list[str] = []
        self.count = 0
        self.block = "entry"
        self.pointers: dict[str, str] = {}

    def _close(self) -> None:
        self.registers.let_go_of_all()
        name = f"@segment{len(self.functions)}"
        head = f"define internal void {name}(ptr noalias %in, ptr noalias %out, ptr noalias %frame) {{\nentry:"
        self.functions.append("\n".join([head, *self.lines, "  ret void", "}"]))
        self._open()

    def new(self, text: str) -> str:
        self.count += 1
        register = f"%r{self.count}"
        self.lines.append(f"  {register} = {text}")
        return register

    def _call(self, name: str, *args: str) -> str:
        t = self.t
        inside = ", ".join(f"{t.vector} {a}" for a in args)
        return self.new(f"call {t.vector} @llvm.{name}.v{t.lanes}f{t.bits}({inside})")

    # steps

    def _step(self, k: int, step: Step) -> None:
        self.at = k
        for x in dict.fromkeys(step.uses):
            self._bring(x, step.uses)
        if step.instruction is not None:
            value = self._instruction(step.instruction)
            self.registers.passed(k, step.uses)
            self.registers.make_room(1, k)
            self.registers.hold(step.number, value)
        elif step.angles:
            self._angles(step)
        elif step.block is not None:
            self._store(*step.block)
            self.registers.passed(k, step.uses)

    def _bring(self, x: Key, keep: tuple[Key, ...]) -> None:
        """An operand into a register, if it is not in one."""
        if x in self.registers:
            return
        if isinstance(x, int) and not self.registers.in_memory(x):
            self._input(x, keep)
            return
        self.registers.make_room(1, self.at, keep)
        self.registers.hold(x, self._read(x))

    def _read(self, x: Key) -> Signed:
        """A value from where it lies in memory."""
        t = self.t
        if isinstance(x, tuple):
            return self._constant(x[0]), False
        place, negative = self.registers.slot(x)
        at = self.new(f"getelementptr {t.vector}, ptr %frame, i64 {place}")
        return self.new(f"load volatile {t.vector}, ptr {at}, align {t.width}"), negative

    def _write(self, register: str, place: int) -> None:
        t = self.t
        at = self.new(f"getelementptr {t.vector}, ptr %frame, i64 {place}")
        self.lines.append(f"  store volatile {t.vector} {register}, ptr {at}, align {t.width}")

    def _constant(self, value: float) -> str:
        t = self.t
        place = self.constants.setdefault(value, len(self.constants))
        at = self.new(f"getelementptr {t.vector}, ptr @table, i64 {place}")
        return self.new(f"load volatile {t.vector}, ptr {at}, align {t.width}")

    def value(self, x: Operand) -> Signed:
        register, negative = self.registers[key(x)]
        return register, negative != (not isinstance(x, int) and x < 0.0)

    def plain(self, value: Signed) -> str:
        register, negative = value
        return self.new(f"fneg {self.t.vector} {register}") if negative else register

    # arguments and results

    def _pointer(self, kind: str, place: int) -> str:
        name = f"{kind}{place}"
        if name not in self.pointers:
            at = self.new(f"getelementptr ptr, ptr %{kind}, i64 {place}")
            self.pointers[name] = self.new(f"load ptr, ptr {at}, align 8")
        return self.pointers[name]

    def _element(self, kind: str, argument: int, lane: int, k: int) -> str:
        pointer = self._pointer(kind, argument * self.t.lanes + lane)
        return self.new(f"getelementptr {self.t.precision}, ptr {pointer}, i64 {k}") if k else pointer

    def _input(self, x: int, keep: tuple[Key, ...]) -> None:
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
            first = x - k + start
            wanted = [j for j in range(first, first + t.lanes) if j == x or (self._is_fresh(j) and j not in self.registers)]
            self.registers.make_room(len(wanted), self.at, keep)
            for j, column in enumerate(self._transpose(rows), first):
                if j in wanted:
                    self.registers.hold(j, (column, False))
            return
        value = "poison"
        for lane in range(t.lanes):
            one = self.new(f"load {t.precision}, ptr {self._element('in', argument, lane, k)}, align {t.bytes}")
            value = self.new(f"insertelement {t.vector} {value}, {t.precision} {one}, i32 {lane}")
        self.registers.make_room(1, self.at, keep)
        self.registers.hold(x, (value, False))

    def _is_fresh(self, x: int) -> bool:
        return self.registers.is_needed(x) and not self.registers.in_memory(x)

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

    def _store(self, r: int, k: int, count: int) -> None:
        t = self.t
        elements = self.code.outputs[r][k : k + count]
        if not any(isinstance(x, int) for x in elements):
            numbers = ", ".join(f"{t.precision} {literal(float(x), t)}" for x in elements)
            kind, number = (t.vector, f"<{numbers}>") if count > 1 else (t.precision, literal(float(elements[0]), t))
            for lane in range(t.lanes):
                at = self._element("out", r, lane, k)
                self.lines.append(f"  store {kind} {number}, ptr {at}, align {t.bytes}")
            return
        values = [self.plain(self.value(x)) if isinstance(x, int) else self._constant(float(x)) for x in elements]
        if count == t.lanes:
            for lane, row in enumerate(self._transpose(values)):
                at = self._element("out", r, lane, k)
                self.lines.append(f"  store {t.vector} {row}, ptr {at}, align {t.bytes}")
            return
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
                c = self._to_overwrite(i.args[2], c)
                product = (sa != sb) != (i.op == "fnma")
                sc = sc != (i.op == "fms")
                # ±(c + ab) or ±(c − ab): the sign of c outside, the product's relative to it inside
                factor = a if product == sc else self.new(f"fneg {t.vector} {a}")
                return self._call("fma", factor, b, c), sc
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

    def _to_overwrite(self, x: Operand, register: str) -> str:
        """A multiply-add overwrites its addend: where that is still needed and lies in memory, a second copy is read
        instead of moving the first out of the way."""
        k = key(x)
        if self.registers.in_memory(k) and self.registers.is_needed_after(k, self.at):
            return self._read(k)[0]
        return register

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

    def _angles(self, step: Step) -> None:
        """Sines and cosines of a few angles, with one check whether any is too large for the reduction."""
        values = [self.value(x) for x, _, _ in step.angles]
        self.registers.passed(self.at, step.uses)
        self.registers.let_go_of_all()  # the way to very large angles is a call, which overwrites registers
        near = self._in_range([register for register, _ in values])
        pieces = -(-len(near) // TOGETHER)
        edges = [round(k * len(near) / pieces) for k in range(pieces + 1)]
        for first, last in itertools.pairwise(edges):
            self.registers.make_room(len(near) - first + ROOM, self.at)
            pairs = self.sincos.of(near[first:last])
            for k, (s, c) in enumerate(pairs, first):
                _, sine, cosine = step.angles[k]
                if sine is not None:
                    self.registers.hold(sine, (s, values[k][1]))
                if cosine is not None:
                    self.registers.hold(cosine, (c, False))
        self.registers.make_room(0, self.at)

    def _in_range(self, angles: list[str]) -> list[str]:
        """The same angles, or, where any lane of any may be beyond what the reduction holds, their principal values."""
        t = self.t
        some = self.sincos.is_far(angles)
        before, far, near = self.block, f"far{self.count}", f"near{self.count}"
        self.lines += [f"  br i1 {some}, label %{far}, label %{near}, !prof !0", f"{far}:"]
        reduced = [self.new(f"call {t.vector} @slow_angle({t.vector} {x})") for x in angles]
        self.lines += [f"  br label %{near}", f"{near}:"]
        self.block = near
        return [self.new(f"phi {t.vector} [ {x}, %{before} ], [ {r}, %{far} ]") for x, r in zip(angles, reduced, strict=True)]
