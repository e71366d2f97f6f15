"""Code in parts as LLVM IR: functions that are called once per turn of a loop.

Arguments are first copied into arrays of vectors, one state per lane, and results from such arrays at the end: the parts read
and write vectors only. The frame holds the sum of the checks, the values `Registers` lets wait, and the arrays. Results
that are constants are written into their arrays once per batch.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from dynamis.compiler.code import Code
from dynamis.compiler.expand_sincos import expand_sincos
from dynamis.compiler.llvm_body import Body
from dynamis.compiler.llvm_vectors import Vectors
from dynamis.compiler.part_writer import RING, Part, Parts, Place
from dynamis.compiler.registers import Key, Signed
from dynamis.compiler.schedule import quick_order, schedule
from dynamis.compiler.target import LINE, Target, literal

Array = npt.NDArray[Any]

WORTH_A_TRANSPOSE = 48  # elements: fewer are moved one by one by baseline code, whose text is to be short
AHEAD = 8  # cache lines of a result to ask for in advance


@dataclass
class Module:
    """Functions that are assembled together, and the table of constants that they read."""

    text: list[str] = field(default_factory=list)
    constants: dict[float, int] = field(default_factory=dict)


def render_parts(
    code: Code, parts: Parts, target: Target, quick: bool, per_module: int | None = None
) -> Generator[Module, None, tuple[Module, int]]:
    """Modules of so many functions each, then, as the generator's value, that with ``body`` and the vectors of the frame.

    Without ``per_module`` all functions are in the last; otherwise it calls those of others by the addresses that ``connect``
    is given.
    """
    rooms, size = {}, 1
    for name, (rows, columns) in parts.arrays.items():
        rooms[name] = _Room("%frame", size, target.vector, columns)
        size += rows * columns
    for name, table in parts.tables.items():
        rooms[name] = _Room(_global(name), 0, target.precision, table.shape[1])
    calls = [f"  call void @gather{k}(ptr %in, ptr %frame)" for k, _ in enumerate(code.arguments)]
    module, apart, functions, slots = Module(), per_module is not None, 0, 0
    for k, part in enumerate(parts.parts):
        plain = expand_sincos(part.code, target.precision)
        ordered = quick_order(plain) if quick or part.ordered else schedule(plain, target.registers)
        body = _PartBody(k, part, ordered, target, module.constants, rooms, size, functions if apart else None)
        for function in body.functions():
            module.text.append(function)
            if len(module.text) == per_module:
                yield _with_tables(module, parts, target)
                module = Module()
                body.constants = module.constants
        calls += _turns(k, body)
        functions, slots = functions + body.rendered, max(slots, body.registers.slots)
    if apart and module.text:
        yield _with_tables(module, parts, target)
        module = Module()
    calls += [f"  call void @scatter{k}(ptr %out, ptr %frame)" for k, _ in enumerate(code.outputs)]
    module.text = [
        *([_connect(functions)] if apart else [_varying(name, table, target) for name, table in parts.tables.items()]),
        *(
            _gather(k, count, rooms[f"argument {k}"].start, bool(code.checks), target, quick)
            for k, (_, count) in enumerate(code.arguments)
        ),
        *(_scatter(k, len(values), rooms[f"result {k}"].start, target, quick) for k, values in enumerate(code.outputs)),
        *module.text,
        render_body(code, target, calls),
        _prepare(code, rooms, target),
    ]
    return module, size + slots


def _with_tables(module: Module, parts: Parts, target: Target) -> Module:
    """With the tables of numbers that its functions read."""
    read = {name: table for name, table in parts.tables.items() if any(f"{_global(name)}," in text for text in module.text)}
    return Module([*(_varying(name, table, target) for name, table in read.items()), *module.text], module.constants)


def _connect(functions: int) -> str:
    return f"""@functions = internal global [{functions} x ptr] zeroinitializer
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @connect(ptr %addresses) {{
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 @functions, ptr align 8 %addresses, i64 {8 * functions}, i1 false)
  ret void
}}"""


def render_body(code: Code, t: Target, calls: Sequence[str]) -> str:
    """All that is called for the states in the lanes; returns whether all values that are checked are finite."""
    lines = [
        "define internal i1 @body(ptr noalias %in, ptr noalias %out, ptr noalias %frame) {",
        "entry:",
        *([f"  store {t.vector} zeroinitializer, ptr %frame, align {t.width}"] if code.checks else []),
        *calls,
    ]
    if not code.checks:
        return "\n".join([*lines, "  ret i1 true", "}"])
    return "\n".join([
        *lines,
        f"  %sum = load {t.vector}, ptr %frame, align {t.width}",
        f"  %lanes = fcmp uno {t.vector} %sum, zeroinitializer",
        f"  %some = call i1 @llvm.vector.reduce.or.v{t.lanes}i1(<{t.lanes} x i1> %lanes)",
        "  %none = xor i1 %some, true",
        "  ret i1 %none",
        "}",
    ])  # fmt: skip


def _turns(k: int, body: _PartBody) -> list[str]:
    turns = body.part.turns
    calls: list[str] = []
    for j in range(body.first, body.first + body.rendered):
        if body.apart:
            calls.append(f"  %f{j} = load ptr, ptr getelementptr (ptr, ptr @functions, i64 {j}), align 8")
        function = f"%f{j}" if body.apart else f"@{body.name}{j}"
        calls.append(f"  call void {function}(ptr %frame, i64 {f'%t{k}' if turns > 1 else 0})")
    if turns == 1:
        return calls
    return [
        f"  br label %before{k}",
        f"before{k}:",
        f"  br label %turn{k}",
        f"turn{k}:",
        f"  %t{k} = phi i64 [ 0, %before{k} ], [ %n{k}, %turn{k} ]",
        *calls,
        f"  %n{k} = add i64 %t{k}, 1",
        f"  %c{k} = icmp slt i64 %n{k}, {turns}",
        f"  br i1 %c{k}, label %turn{k}, label %after{k}",
        f"after{k}:",
    ]


@dataclass(frozen=True)
class _Room:
    """Where an array begins, what it holds and how many columns its rows have."""

    base: str
    start: int
    kind: str
    columns: int


class _PartBody(Body):
    """The functions of a part, which read and write vectors of the frame. ``first``: number of the first among those of all
    parts, where they are in modules of their own."""

    signature = "ptr noalias %frame, i64 %turn"
    in_vectors = True

    def __init__(
        self, number: int, part: Part, code: Code, target: Target, constants: dict[float, int], rooms: dict[str, _Room],
        first_slot: int, first: int | None = None,
    ) -> None:  # fmt: skip
        self.name, self.part, self.rooms, self.first_slot = f"part{number}_", part, rooms, first_slot
        self.apart = first is not None
        if first is not None:
            self.name, self.linkage, self.first = "function", "", first
        super().__init__(code, target, constants)

    def _read(self, x: Key) -> Signed:
        if not isinstance(x, int) or x >= self.code.inputs:
            return super()._read(x)
        t, place = self.t, self.part.reads[x]
        if self.rooms[place.array].kind == t.vector:
            return self.new(f"load volatile {t.vector}, ptr {self._at(place)}, align {t.width}"), False
        number = self.new(f"load {t.precision}, ptr {self._at(place)}, align {t.bytes}")
        first = self.new(f"insertelement {t.vector} poison, {t.precision} {number}, i32 0")
        return self.new(f"shufflevector {t.vector} {first}, {t.vector} poison, <{t.lanes} x i32> zeroinitializer"), False

    def _store(self, r: int, k: int, count: int) -> None:  # noqa: ARG002 - one at a time
        x = self.code.outputs[r][k]
        value = self.plain(self.value(x)) if isinstance(x, int) else self._constant(float(x))
        self.lines.append(
            f"  store volatile {self.t.vector} {value}, ptr {self._at(self.part.writes[k])}, align {self.t.width}"
        )

    def _at(self, place: Place) -> str:
        room = self.rooms[place.array]
        row = place.first % RING if place.in_ring else place.first
        if place.step == 0:
            base = room.base
        elif place.in_ring:
            base = self._moving(room, place.step, row, RING - 1)
            row = 0
        else:
            base = self._moving(room, place.step)
        return self.new(f"getelementptr {room.kind}, ptr {base}, i64 {room.start + row * room.columns + place.column}")

    def _moving(self, room: _Room, step: int, first: int = 0, mask: int = -1) -> str:
        """A pointer that moves with the turns, by so many rows each time."""
        name = f"{room.base} {room.columns} {step} {first} {mask}"
        if name not in self.pointers:
            row = self.new(f"mul i64 %turn, {step}")
            if mask >= 0:
                row = self.new(f"and i64 {self.new(f'add i64 {row}, {first}')}, {mask}")
            elements = self.new(f"mul i64 {row}, {room.columns}")
            self.pointers[name] = self.new(f"getelementptr {room.kind}, ptr {room.base}, i64 {elements}")
        return self.pointers[name]


def _prepare(code: Code, rooms: dict[str, _Room], t: Target) -> str:
    """Write the results that are constants."""
    text = Vectors(t)
    for r, values in enumerate(code.outputs):
        for k, x in enumerate(values):
            if not isinstance(x, int):
                at = text.new(f"getelementptr {t.vector}, ptr %frame, i64 {rooms[f'result {r}'].start + k}")
                number = ", ".join([f"{t.precision} {literal(float(x), t)}"] * t.lanes)
                text.lines.append(f"  store {t.vector} <{number}>, ptr {at}, align {t.width}")
    return _function("prepare(ptr noalias %frame)", text)


def _gather(k: int, size: int, start: int, checked: bool, t: Target, quick: bool) -> str:
    """An argument of all lanes into an array of vectors, checked on the way."""
    text = Vectors(t)
    pointers = _pointers(text, "in", k)
    whole = 0 if quick and size < WORTH_A_TRANSPOSE else size - size % t.lanes

    def put(columns: list[str], at: str, first: int, total: str) -> str:
        for j, column in enumerate(columns):
            place = text.new(f"getelementptr {t.vector}, ptr {at}, i64 {start + first + j}")
            text.lines.append(f"  store {t.vector} {column}, ptr {place}, align {t.width}")
            total = text.call("fma", column, "zeroinitializer", total) if checked else total
        return total

    if whole:
        text.lines += _block_head(t)
        rows = [text.load_row(text.new(f"getelementptr {t.precision}, ptr {p}, i64 %k"), t.lanes) for p in pointers]
        total = put(text.transpose(rows), text.new(f"getelementptr {t.vector}, ptr %frame, i64 %k"), 0, "%sum")
        text.lines += [f"  %after = fadd {t.vector} {total}, zeroinitializer", *_block_foot(whole, t.lanes)]
    total = "%after" if whole else "zeroinitializer"
    looped = quick and size - whole > 1
    at = "%frame"
    elements: Sequence[int | str] = range(whole, size)
    if looped:
        text.lines += _elements_head(t, whole, total)
        at, elements, total = text.new(f"getelementptr {t.vector}, ptr %frame, i64 %e"), ["%e"], "%before"
    for e in elements:
        column = "poison"
        for lane, p in enumerate(pointers):
            one = text.new(
                f"load {t.precision}, ptr {text.new(f'getelementptr {t.precision}, ptr {p}, i64 {e}')}, align {t.bytes}"
            )
            column = text.new(f"insertelement {t.vector} {column}, {t.precision} {one}, i32 {lane}")
        total = put([column], at, 0 if isinstance(e, str) else e, total)
    if looped:
        text.lines += [f"  %total = fadd {t.vector} {total}, zeroinitializer", *_elements_foot(size)]
        total = "%total"
    if checked:
        before = text.new(f"load {t.vector}, ptr %frame, align {t.width}")
        text.lines.append(f"  store {t.vector} {text.new(f'fadd {t.vector} {before}, {total}')}, ptr %frame, align {t.width}")
    return _function(f"gather{k}(ptr noalias %in, ptr noalias %frame)", text)


def _scatter(k: int, size: int, start: int, t: Target, quick: bool) -> str:
    """A result of all lanes from its array of vectors, one cache line of each state per turn.

    The processor does not foresee stores to as many rows as there are lanes, so their memory is asked for in advance.
    """
    text = Vectors(t)
    pointers = _pointers(text, "out", k)
    line = max(t.lanes, LINE // t.bytes)
    whole = 0 if quick and size < WORTH_A_TRANSPOSE else size - size % line

    def take(at: str, place: int) -> str:
        from_ = text.new(f"getelementptr {t.vector}, ptr {at}, i64 {start + place}")
        return text.new(f"load {t.vector}, ptr {from_}, align {t.width}")

    if whole:
        text.lines += _block_head(t)
        at = text.new(f"getelementptr {t.vector}, ptr %frame, i64 %k")
        rows = [text.new(f"getelementptr {t.precision}, ptr {p}, i64 %k") for p in pointers]
        for row in rows:
            later = text.new(f"getelementptr i8, ptr {row}, i64 {AHEAD * LINE}")
            text.lines.append(f"  call void @llvm.prefetch.p0(ptr {later}, i32 1, i32 3, i32 1)")
        for first in range(0, line, t.lanes):
            vectors = text.transpose([take(at, first + j) for j in range(t.lanes)])
            for row, vector in zip(rows, vectors, strict=True):
                text.store_row(vector, text.new(f"getelementptr {t.precision}, ptr {row}, i64 {first}"), t.lanes)
        text.lines += [f"  %after = fadd {t.vector} %sum, zeroinitializer", *_block_foot(whole, line)]
    looped = quick and size - whole > 1
    at = "%frame"
    elements: Sequence[int | str] = range(whole, size)
    if looped:
        text.lines += _elements_head(t, whole, "zeroinitializer")
        at, elements = text.new(f"getelementptr {t.vector}, ptr %frame, i64 %e"), ["%e"]
    for e in elements:
        column = take(at, 0 if isinstance(e, str) else e)
        for lane, p in enumerate(pointers):
            one = text.new(f"extractelement {t.vector} {column}, i32 {lane}")
            to = text.new(f"getelementptr {t.precision}, ptr {p}, i64 {e}")
            text.lines.append(f"  store {t.precision} {one}, ptr {to}, align {t.bytes}")
    if looped:
        text.lines += [f"  %total = fadd {t.vector} %before, zeroinitializer", *_elements_foot(size)]
    return _function(f"scatter{k}(ptr noalias %out, ptr noalias %frame)", text)


def _pointers(text: Vectors, table: str, k: int) -> list[str]:
    """To an argument or a result of each lane's state."""
    places = [text.new(f"getelementptr ptr, ptr %{table}, i64 {k * text.t.lanes + lane}") for lane in range(text.t.lanes)]
    return [text.new(f"load ptr, ptr {place}, align 8") for place in places]


def _block_head(t: Target) -> list[str]:
    """A loop over blocks of elements, with the sum of the checks."""
    return [
        "  br label %block",
        "block:",
        "  %k = phi i64 [ 0, %entry ], [ %next, %block ]",
        f"  %sum = phi {t.vector} [ zeroinitializer, %entry ], [ %after, %block ]",
    ]


def _block_foot(whole: int, step: int) -> list[str]:
    return [
        f"  %next = add i64 %k, {step}",
        f"  %more = icmp slt i64 %next, {whole}",
        "  br i1 %more, label %block, label %rest",
        "rest:",
    ]


def _elements_head(t: Target, first: int, total: str) -> list[str]:
    """A loop over single elements, with the sum of the checks: the least text."""
    before = "rest" if first else "entry"
    return [
        "  br label %element",
        "element:",
        f"  %e = phi i64 [ {first}, %{before} ], [ %e1, %element ]",
        f"  %before = phi {t.vector} [ {total}, %{before} ], [ %total, %element ]",
    ]


def _elements_foot(size: int) -> list[str]:
    return [
        "  %e1 = add i64 %e, 1",
        f"  %again = icmp slt i64 %e1, {size}",
        "  br i1 %again, label %element, label %done",
        "done:",
    ]


def _function(head: str, text: Vectors) -> str:
    return "\n".join([f"define internal void @{head} {{", "entry:", *text.lines, "  ret void", "}"])


def _varying(name: str, table: Array, t: Target) -> str:
    numbers = ", ".join(f"{t.precision} {literal(float(x), t)}" for x in table.flat)
    return f"{_global(name)} = internal global [{table.size} x {t.precision}] [{numbers}], align 64"


def _global(name: str) -> str:
    return "@" + name.replace(" ", "_")
