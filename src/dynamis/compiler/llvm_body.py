"""The body of a kernel as LLVM IR: one state per vector lane.

The body gets a pointer to each argument and each result of each lane's state, whose elements are contiguous. It is cut into
functions of bounded size, because LLVM's work grows faster than linearly with a function; values that cross from one to
the next wait in a frame.

Signs are free: a value is kept as ± a register, and products, sums and fused multiply-adds choose the form that needs no
negation. Constants come from a table that LLVM cannot see through, so that it loads them instead of building them from
immediates; loads are marked volatile, so that LLVM reads again what `Registers` decided to read again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from dynamis.compiler.code import Code, Instruction, Operand
from dynamis.compiler.llvm_steps import Step, key, steps
from dynamis.compiler.llvm_vectors import Vectors
from dynamis.compiler.registers import Key, Registers, Signed
from dynamis.compiler.sincos import LARGEST_ANGLE
from dynamis.compiler.target import LINE, LONG_ROW, Target, literal
from dynamis.scalar.linear import PIVOT_TOLERANCE

SEGMENT = 600  # steps a function


def _is_negative(x: Operand) -> bool:
    return not isinstance(x, int) and math.copysign(1.0, x) < 0.0


class Body(Vectors):
    """Renders a code's functions ``segment0`` … one after the other; ``constants`` is the table they read."""

    name, signature, linkage = "segment", "ptr noalias %in, ptr noalias %out, ptr noalias %frame", "internal "
    first = 0  # number of the first function
    first_slot = 1  # of the frame for values that wait; before it is the sum of the checks
    in_vectors = False  # whether inputs and results lie in memory as vectors, each at a place of its own

    def __init__(self, code: Code, target: Target, constants: dict[float, int] | None = None) -> None:
        super().__init__(target)
        self.code = code
        self.constants = {} if constants is None else constants
        self.unchecked = set(code.checks)
        self.steps = steps(code, target, by_one=self.in_vectors)
        readable = code.inputs if self.in_vectors else 0
        self.registers = Registers([step.uses for step in self.steps], target.registers - 4, self._write, readable)
        self.arguments = [(a, k) for a, (_, size) in enumerate(code.arguments) for k in range(size)]
        self.rendered = 0

    def functions(self) -> Iterator[str]:
        self._open()
        for k, step in enumerate(self.steps):
            if k and k % SEGMENT == 0:
                yield self._close()
            self._step(k, step)
        yield self._close()

    # text

    def _open(self) -> None:
        self.lines, self.count = [], 0
        self.block = "entry"
        self.pointers: dict[str, str] = {}
        self.sum = "zeroinitializer"  # Σ 0 x over the values checked so far: not a number if one of them is not finite

    def _close(self) -> str:
        self.registers.let_go_of_all()
        if self.sum != "zeroinitializer":
            before = self.new(f"load {self.t.vector}, ptr %frame, align {self.t.width}")
            total = self.new(f"fadd {self.t.vector} {before}, {self.sum}")
            self.lines.append(f"  store {self.t.vector} {total}, ptr %frame, align {self.t.width}")
        head = f"define {self.linkage}void @{self.name}{self.first + self.rendered}({self.signature}) {{\nentry:"
        function = "\n".join([head, *self.lines, "  ret void", "}"])
        self.rendered += 1
        self._open()
        return function

    # steps

    def _step(self, k: int, step: Step) -> None:
        self.at = k
        for x in dict.fromkeys(step.uses):
            # an addend that lies in memory is read where it is overwritten
            if x not in self.registers and not (step.addend == x and self.registers.in_memory(x)):
                self._bring(x, step.uses)
        if step.instruction is not None:
            value = self._instruction(step.instruction)
            self._check(step.number, value[0])
            self.registers.passed(k, step.uses)
            self.registers.make_room(1, k)
            self.registers.hold(step.number, value)
        elif step.angles:
            self._angles(step)
        elif step.block is not None:
            self._store(*step.block)
            self.registers.passed(k, step.uses)
        else:
            self.registers.passed(k, step.uses)

    def _check(self, number: int, register: str) -> None:
        if number in self.unchecked:
            self.unchecked.remove(number)
            self.sum = self.call("fma", register, "zeroinitializer", self.sum)

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
        at = self.new(f"getelementptr {t.vector}, ptr %frame, i64 {self.first_slot + place}")
        return self.new(f"load volatile {t.vector}, ptr {at}, align {t.width}"), negative

    def _write(self, register: str, place: int) -> None:
        t = self.t
        at = self.new(f"getelementptr {t.vector}, ptr %frame, i64 {self.first_slot + place}")
        self.lines.append(f"  store volatile {t.vector} {register}, ptr {at}, align {t.width}")

    def _constant(self, value: float) -> str:
        t = self.t
        place = self.constants.setdefault(value, len(self.constants))
        at = self.new(f"getelementptr {t.vector}, ptr @table, i64 {place}")
        return self.new(f"load volatile {t.vector}, ptr {at}, align {t.width}")

    def value(self, x: Operand) -> Signed:
        register, negative = self.registers[key(x)]
        return register, negative != _is_negative(x)

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
        count = min(t.lanes, size - start)
        if count == t.lanes or (t.masked and count > 1):
            rows = [self.load_row(self._element("in", argument, lane, start), count) for lane in range(t.lanes)]
            first = x - k + start
            wanted = [j for j in range(first, first + count) if j == x or (self._is_fresh(j) and j not in self.registers)]
            self.registers.make_room(len(wanted), self.at, keep)
            for j, column in enumerate(self.transpose(rows)[:count], first):
                self._check(j, column)
                if j in wanted:
                    self.registers.hold(j, (column, False))
            return
        value = "poison"
        for lane in range(t.lanes):
            one = self.new(f"load {t.precision}, ptr {self._element('in', argument, lane, k)}, align {t.bytes}")
            value = self.new(f"insertelement {t.vector} {value}, {t.precision} {one}, i32 {lane}")
        self._check(x, value)
        self.registers.make_room(1, self.at, keep)
        self.registers.hold(x, (value, False))

    def _is_fresh(self, x: int) -> bool:
        return self.registers.is_needed(x) and not self.registers.in_memory(x)

    def _store(self, r: int, k: int, count: int) -> None:
        t = self.t
        elements = self.code.outputs[r][k : k + count]
        row = len(self.code.outputs[r]) * t.bytes
        if row >= LONG_ROW and k * t.bytes % LINE == 0:
            for lane in range(t.lanes):  # the same line of the states that come next
                at = self.new(f"getelementptr i8, ptr {self._element('out', r, lane, k)}, i64 {row * t.lanes}")
                self.lines.append(f"  call void @llvm.prefetch.p0(ptr {at}, i32 1, i32 3, i32 1)")
        if not any(isinstance(x, int) for x in elements):
            numbers = ", ".join(f"{t.precision} {literal(float(x), t)}" for x in [*elements, *[0.0] * (t.lanes - count)])
            for lane in range(t.lanes):
                at = self._element("out", r, lane, k)
                if count > 1:
                    self.store_row(f"<{numbers}>", at, count)
                else:
                    self.lines.append(f"  store {t.precision} {literal(float(elements[0]), t)}, ptr {at}, align {t.bytes}")
            return
        values = [self.plain(self.value(x)) if isinstance(x, int) else self._constant(float(x)) for x in elements]
        if count > 1:
            padded = [*values, *["poison"] * (t.lanes - count)]
            for lane, vector in enumerate(self.transpose(padded)):
                self.store_row(vector, self._element("out", r, lane, k), count)
            return
        for lane in range(t.lanes):
            one = self.new(f"extractelement {t.vector} {values[0]}, i32 {lane}")
            at = self._element("out", r, lane, k)
            self.lines.append(f"  store {t.precision} {one}, ptr {at}, align {t.bytes}")

    # instructions

    def _instruction(self, i: Instruction) -> Signed:
        t = self.t
        fused = i.op in ("fma", "fms", "fnma")
        args = [self.value(x) for x in (i.args[:2] if fused else i.args)]
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
                (a, sa), (b, sb) = args
                c, sc = self._to_overwrite(i.args[2])
                product = (sa != sb) != (i.op == "fnma")
                sc = sc != (i.op == "fms")
                # ±(c + ab) or ±(c − ab): the sign of c outside, the product's relative to it inside
                factor = a if product == sc else self.new(f"fneg {t.vector} {a}")
                return self.call("fma", factor, b, c), sc
            case "odd":
                return self._bits("and", args[0], 1), False
            case "half":
                high = self._bits("shl", args[0], t.bits - 2)
                return self._bits("and", (high, False), -(1 << (t.bits - 1))), False
            case "flip":
                return self._flip(args[0][0], args[1][0]), args[0][1]
            case "pick":
                low = self.new(f"bitcast {t.vector} {args[0][0]} to {t.integers}")
                mask = self.new(f"icmp ne {t.integers} {low}, zeroinitializer")
                a, b = (self.plain(x) for x in args[1:])
                return self.new(f"select <{t.lanes} x i1> {mask}, {t.vector} {a}, {t.vector} {b}"), False
            case "abs":
                return self.call("fabs", args[0][0]), False
            case "sqrt" | "floor":
                return self.call(i.op, self.plain(args[0])), False
            case "min" | "and":
                return self.call("minimum", self.plain(args[0]), self.plain(args[1])), False
            case "max" | "or":
                return self.call("maximum", self.plain(args[0]), self.plain(args[1])), False
            case "lt" | "le" | "eq":
                a, b = (self.plain(x) for x in args)
                return self._truth(f"fcmp o{i.op} {t.vector} {a}, {b}"), False
            case "not":
                return self._truth(f"fcmp oeq {t.vector} {self.plain(args[0])}, zeroinitializer"), False
            case "sign":
                x = self.plain(args[0])
                moves = self.new(f"fcmp one {t.vector} {x}, zeroinitializer")
                one = self.call("copysign", self._constant(1.0), x)
                still = self.new(f"fadd {t.vector} {x}, zeroinitializer")  # zero without a sign, or not a number
                return self.new(f"select <{t.lanes} x i1> {moves}, {t.vector} {one}, {t.vector} {still}"), False
            case "pivot":
                value, scale = (self.plain(x) for x in args)
                least = self.new(f"fmul {t.vector} {scale}, {self._constant(PIVOT_TOLERANCE[t.precision])}")
                regular = self.new(f"fcmp ogt {t.vector} {value}, {least}")
                return self.new(f"select <{t.lanes} x i1> {regular}, {t.vector} {value}, {t.vector} zeroinitializer"), False
            case "where":
                c, a, b = (self.plain(x) for x in args)
                chosen = self.new(f"fcmp une {t.vector} {c}, zeroinitializer")
                return self.new(f"select <{t.lanes} x i1> {chosen}, {t.vector} {a}, {t.vector} {b}"), False
        return self._lane_by_lane(i.op, [self.plain(x) for x in args]), False

    def _to_overwrite(self, x: Operand) -> Signed:
        """A multiply-add overwrites its addend: where that is still needed and lies in memory, a copy is read instead of
        moving the first out of the way."""
        k = key(x)
        if k not in self.registers or (self.registers.in_memory(k) and self.registers.is_needed_after(k, self.at)):
            register, negative = self._read(k)
            return register, negative != _is_negative(x)
        return self.value(x)

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

    def _bits(self, op: str, value: Signed, number: int) -> str:
        """A bitwise operation on a value that is not negative; the result is kept as if it were a number."""
        t = self.t
        raw = self.new(f"bitcast {t.vector} {value[0]} to {t.integers}")
        done = self.new(f"{op} {t.integers} {raw}, <{', '.join([f'i{t.bits} {number}'] * t.lanes)}>")
        return self.new(f"bitcast {t.integers} {done} to {t.vector}")

    def _flip(self, x: str, sign: str) -> str:
        t = self.t
        raw, bit = (self.new(f"bitcast {t.vector} {y} to {t.integers}") for y in (x, sign))
        return self.new(f"bitcast {t.integers} {self.new(f'xor {t.integers} {raw}, {bit}')} to {t.vector}")

    def _angles(self, step: Step) -> None:
        """A few angles, with one check whether any is too large for the reduction."""
        values = [self.value(x) for x, _ in step.angles]
        self.registers.passed(self.at, step.uses)
        self.registers.let_go_of_all()  # the way to very large angles is a call, which overwrites registers
        near = self._in_range([register for register, _ in values])
        for (_, number), register, (_, negative) in zip(step.angles, near, values, strict=True):
            self.registers.hold(number, (register, negative))

    def _is_far(self, angles: list[str]) -> str:
        """Whether some lane of some angle may be beyond what the reduction holds: Σ x² against the limit's square."""
        t = self.t
        total = self.new(f"fmul {t.vector} {angles[0]}, {angles[0]}")
        for x in angles[1:]:
            total = self.call("fma", x, x, total)
        beyond = self.new(f"fcmp ogt {t.vector} {total}, {self._constant(LARGEST_ANGLE**2)}")
        return self.new(f"call i1 @llvm.vector.reduce.or.v{t.lanes}i1(<{t.lanes} x i1> {beyond})")

    def _in_range(self, angles: list[str]) -> list[str]:
        """The same angles, or, where any lane of any may be beyond what the reduction holds, their principal values."""
        t = self.t
        some = self._is_far(angles)
        before, far, near = self.block, f"far{self.count}", f"near{self.count}"
        self.lines += [f"  br i1 {some}, label %{far}, label %{near}, !prof !0", f"{far}:"]
        reduced = [self.new(f"call {t.vector} @slow_angle({t.vector} {x})") for x in angles]
        self.lines += [f"  br label %{near}", f"{near}:"]
        self.block = near
        return [self.new(f"phi {t.vector} [ {x}, %{before} ], [ {r}, %{far} ]") for x, r in zip(angles, reduced, strict=True)]
