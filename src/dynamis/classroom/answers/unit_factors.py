"""Units and their values in those of the SI: 22500 g m² is 22.5 kg m², 0.2 kN m is 200 N m."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import NamedTuple

_THOUSANDTH = Fraction(1, 1000)
_UNITS: dict[str, tuple[Fraction, tuple[int, int, int]]] = {  # in kg, m, s, and the powers of these
    "kg": (Fraction(1), (1, 0, 0)), "g": (_THOUSANDTH, (1, 0, 0)),
    "m": (Fraction(1), (0, 1, 0)), "mm": (_THOUSANDTH, (0, 1, 0)), "cm": (Fraction(1, 100), (0, 1, 0)),
    "dm": (Fraction(1, 10), (0, 1, 0)), "km": (Fraction(1000), (0, 1, 0)), "um": (_THOUSANDTH**2, (0, 1, 0)),
    "s": (Fraction(1), (0, 0, 1)), "ms": (_THOUSANDTH, (0, 0, 1)), "Hz": (Fraction(1), (0, 0, -1)),
    "kHz": (Fraction(1000), (0, 0, -1)), "N": (Fraction(1), (1, 1, -2)), "kN": (Fraction(1000), (1, 1, -2)),
    "mN": (_THOUSANDTH, (1, 1, -2)), "MN": (Fraction(1000**2), (1, 1, -2)), "J": (Fraction(1), (1, 2, -2)),
    "kJ": (Fraction(1000), (1, 2, -2)), "mJ": (_THOUSANDTH, (1, 2, -2)), "W": (Fraction(1), (1, 2, -3)),
    "kW": (Fraction(1000), (1, 2, -3)), "rad": (Fraction(1), (0, 0, 0)), "mrad": (_THOUSANDTH, (0, 0, 0)),
    "deg": (Fraction(math.radians(1.0)), (0, 0, 0)), "V": (Fraction(1), (0, 0, 0)), "A": (Fraction(1), (0, 0, 0)),
}  # fmt: skip
_JOINED = {  # units written as one word; a power belongs to the last
    "Nm": ("N", "m"), "Nmm": ("N", "mm"), "Ncm": ("N", "cm"), "Nms": ("N", "m", "s"), "kNm": ("kN", "m"), "mNm": ("mN", "m"),
    "kgm": ("kg", "m"), "kgmm": ("kg", "mm"), "kgcm": ("kg", "cm"), "gmm": ("g", "mm"), "gcm": ("g", "cm"),
}  # fmt: skip
WORDS = frozenset({*_UNITS, *_JOINED})
_COMMANDS = {  # of siunitx
    "gram": "g", "metre": "m", "meter": "m", "second": "s", "newton": "N", "joule": "J", "watt": "W", "radian": "rad",
    "degree": "deg", "hertz": "Hz", "kilogram": "kg", "millimetre": "mm", "millimeter": "mm", "centimetre": "cm",
    "centimeter": "cm", "kg": "kg", "mm": "mm", "cm": "cm",
}  # fmt: skip
_PREFIXES = {"kilo": "k", "milli": "m", "centi": "c", "mega": "M", "micro": "u"}
_RAISED = {"squared": "2", "cubed": "3"}
_SUPERSCRIPT = re.compile("⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]")
_DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_PIECE = re.compile(
    r"\\(?P<command>[A-Za-z]+)|(?P<word>[A-Za-z]+)|(?P<per>/)|\^\s*\{?\s*(?P<power>-?[0-9])\s*\}?"
    r"|(?<=[A-Za-z])(?P<index>[23])(?![0-9])"
)


class UnitValue(NamedTuple):
    """A unit: its value in units of the SI, and the powers of kg, m and s."""

    factor: Fraction
    dimension: tuple[int, int, int]


def unit_value(text: str) -> UnitValue | None:
    """The value of a unit as it is written, kg m^2 or kgm2; None if it is not known.

    >>> texts = "g m^2", r"\\mathrm{kN\\,m}", "kg/mm", "mm⁻¹", r"\\kilo\\gram\\metre\\squared"
    >>> [str(unit_value(text).factor) for text in texts]
    ['1/1000', '1000', '1000', '1000', '1']
    """
    powers: list[tuple[str, int]] = []
    inverse, prefix, square = False, "", 1
    for piece in _PIECE.finditer(_SUPERSCRIPT.sub(lambda m: "^" + m[0].translate(_DIGITS), text)):
        command, word = piece["command"], piece["word"]
        raised = piece["power"] or piece["index"] or _RAISED.get(command or "")
        if command in _PREFIXES:
            prefix = _PREFIXES[command]
        elif raised and powers:
            powers[-1] = powers[-1][0], powers[-1][1] * int(raised)
        elif command == "square":
            square = 2
        elif piece["per"] or command == "per":
            inverse = True
        elif command in _COMMANDS or word is not None:
            name = prefix + _COMMANDS.get(command, word)
            names = _JOINED.get(name, (name,))
            if any(x not in _UNITS for x in names):
                return None
            powers += [(x, -square if inverse else square) for x in names]
            inverse, prefix, square = False, "", 1
    if not powers:
        return None
    factor = math.prod((_UNITS[name][0] ** power for name, power in powers), start=Fraction(1))
    kg, m, s = (sum(_UNITS[name][1][k] * power for name, power in powers) for k in range(3))
    return UnitValue(factor, (kg, m, s))
