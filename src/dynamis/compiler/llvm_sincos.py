"""Vector sine and cosine as LLVM IR, several angles side by side so that one's latency hides behind the others'."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dynamis.compiler.sincos import DOUBLE, SINGLE, Coefficients
from dynamis.compiler.target import Target, literal

Render = Callable[..., str]

TOGETHER = 3  # angles computed side by side
ROOM = 6 * TOGETHER + 2  # registers that takes


def coefficients(t: Target) -> Coefficients:
    return DOUBLE if t.precision == "double" else SINGLE


class SineCosine:
    """Renders through ``new`` (a line with a result), ``call`` (an LLVM intrinsic) and ``constant`` (a fresh register)."""

    def __init__(self, t: Target, new: Render, call: Render, constant: Callable[[float], str]) -> None:
        self.t, self.new, self.call, self.constant = t, new, call, constant
        self.c = coefficients(t)

    def is_far(self, angles: Sequence[str]) -> str:
        """Whether some lane of some angle may be beyond what the reduction holds: Σ x² against the limit's square."""
        t = self.t
        total = self.new(f"fmul {t.vector} {angles[0]}, {angles[0]}")
        for x in angles[1:]:
            total = self.call("fma", x, x, total)
        beyond = self.new(f"fcmp ogt {t.vector} {total}, {self.constant(self.c.largest**2)}")
        return self.new(f"call i1 @llvm.vector.reduce.or.v{t.lanes}i1(<{t.lanes} x i1> {beyond})")

    def of(self, angles: Sequence[str]) -> list[tuple[str, str]]:
        """(sin, cos) of angles within range."""
        t, c, new, call = self.t, self.c, self.new, self.call
        turn, rounding = self.constant(c.two_over_pi), self.constant(c.rounding)
        shifted = [call("fma", x, turn, self.constant(c.rounding)) for x in angles]
        times = [new(f"fsub {t.vector} {x}, {rounding}") for x in shifted]
        r = list(angles)
        for part in c.half_pi:
            piece = self.constant(part)
            # a negation used once is taken into a multiply-subtract
            r = [call("fma", new(f"fneg {t.vector} {n}"), piece, x) for n, x in zip(times, r, strict=True)]
        z = [new(f"fmul {t.vector} {x}, {x}") for x in r]
        sine = self._horner(c.sine, z)
        sine = [new(f"fmul {t.vector} {s}, {x}") for s, x in zip(sine, z, strict=True)]
        sine = [call("fma", s, x, x) for s, x in zip(sine, r, strict=True)]
        cosine = self._horner((*c.cosine, -0.5, 1.0), z)
        return [self._in_quadrant(*x) for x in zip(shifted, sine, cosine, strict=True)]

    def _horner(self, coefficients: tuple[float, ...], z: list[str]) -> list[str]:
        first = self.constant(coefficients[0])
        value = [first] * len(z)
        for c in coefficients[1:]:
            # a multiply-add overwrites its addend, so each gets a copy of its own
            value = [self.call("fma", v, x, self.constant(c)) for v, x in zip(value, z, strict=True)]
        return value

    def _in_quadrant(self, shifted: str, s: str, c: str) -> tuple[str, str]:
        """Bit 1 of the quadrant changes both signs; bit 0 makes (s, c) to (c, −s)."""
        t, new = self.t, self.new
        quadrant = new(f"bitcast {t.vector} {shifted} to {t.integers}")
        low = new(f"and {t.integers} {quadrant}, {self._integers(1)}")
        odd = new(f"icmp ne {t.integers} {low}, zeroinitializer")
        high = new(f"shl {t.integers} {quadrant}, {self._integers(t.bits - 2)}")
        sign = new(f"and {t.integers} {high}, {self._integers(-(1 << (t.bits - 1)))}")
        s, c = self._flip(s, sign), self._flip(c, sign)
        minus = new(f"fneg {t.vector} {s}")
        chosen = [(c, s), (minus, c)]
        sine, cosine = (new(f"select <{t.lanes} x i1> {odd}, {t.vector} {a}, {t.vector} {b}") for a, b in chosen)
        return sine, cosine

    def _flip(self, x: str, sign: str) -> str:
        t = self.t
        raw = self.new(f"bitcast {t.vector} {x} to {t.integers}")
        flipped = self.new(f"xor {t.integers} {raw}, {sign}")
        return self.new(f"bitcast {t.integers} {flipped} to {t.vector}")

    def _integers(self, value: int) -> str:
        return "<" + ", ".join([f"i{self.t.bits} {value}"] * self.t.lanes) + ">"


def slow_angle(t: Target) -> str:
    """An angle beyond the reduction's range brought into (−π, π] by the C library, lane by lane: atan2(sin x, cos x).

    Others are left as they are, so that a state does not depend on its neighbours.
    """
    s = "" if t.precision == "double" else "f"
    lines = [f"define internal {t.vector} @slow_angle({t.vector} %x) cold noinline {{"]
    value = "poison"
    for k in range(t.lanes):
        lines += [
            f"  %x{k} = extractelement {t.vector} %x, i32 {k}",
            f"  %size{k} = call {t.precision} @llvm.fabs.f{t.bits}({t.precision} %x{k})",
            f"  %far{k} = fcmp ogt {t.precision} %size{k}, {literal(coefficients(t).largest, t)}",
            f"  %s{k} = call {t.precision} @sin{s}({t.precision} %x{k})",
            f"  %c{k} = call {t.precision} @cos{s}({t.precision} %x{k})",
            f"  %a{k} = call {t.precision} @atan2{s}({t.precision} %s{k}, {t.precision} %c{k})",
            f"  %y{k} = select i1 %far{k}, {t.precision} %a{k}, {t.precision} %x{k}",
            f"  %v{k} = insertelement {t.vector} {value}, {t.precision} %y{k}, i32 {k}",
        ]
        value = f"%v{k}"
    return "\n".join([*lines, f"  ret {t.vector} {value}", "}"])
