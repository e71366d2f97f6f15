"""Lines of LLVM IR that work on vectors, one state per lane."""

from __future__ import annotations

from dynamis.compiler.target import Target


class Vectors:
    """The lines of a function, each with a register of its own."""

    def __init__(self, target: Target) -> None:
        self.t = target
        self.lines: list[str] = []
        self.count = 0

    def new(self, text: str) -> str:
        self.count += 1
        register = f"%r{self.count}"
        self.lines.append(f"  {register} = {text}")
        return register

    def call(self, name: str, *args: str) -> str:
        t = self.t
        inside = ", ".join(f"{t.vector} {a}" for a in args)
        return self.new(f"call {t.vector} @llvm.{name}.v{t.lanes}f{t.bits}({inside})")

    def load_row(self, at: str, count: int) -> str:
        """The first elements of a vector."""
        t = self.t
        if count == t.lanes:
            return self.new(f"load {t.vector}, ptr {at}, align {t.bytes}")
        name = f"@llvm.masked.load.v{t.lanes}f{t.bits}.p0"
        return self.new(f"call {t.vector} {name}(ptr {at}, i32 {t.bytes}, {self._mask(count)}, {t.vector} zeroinitializer)")

    def store_row(self, vector: str, at: str, count: int) -> None:
        t = self.t
        if count == t.lanes:
            self.lines.append(f"  store {t.vector} {vector}, ptr {at}, align {t.bytes}")
            return
        name = f"@llvm.masked.store.v{t.lanes}f{t.bits}.p0"
        self.lines.append(f"  call void {name}({t.vector} {vector}, ptr {at}, i32 {t.bytes}, {self._mask(count)})")

    def _mask(self, count: int) -> str:
        bits = ", ".join(f"i1 {'true' if k < count else 'false'}" for k in range(self.t.lanes))
        return f"<{self.t.lanes} x i1> <{bits}>"

    def transpose(self, rows: list[str]) -> list[str]:
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
