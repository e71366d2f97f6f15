"""Notes on units that are not those of the quantity, such as N m for a moment of inertia."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from fractions import Fraction

from dynamis.classroom.answers import Located
from dynamis.classroom.answers.unit_factors import unit_value
from dynamis.classroom.checking.quantities import Quantity
from dynamis.symbolic.closed_form import ClosedForm

_AFTER = re.compile(
    r"(?:\s|\\[,;: !]|~|\\cdot|\*)*"
    r"(?:\\(?:mathrm|textrm|text|si|unit)\s*\{(?P<styled>[^{}]*(?:\{[^{}]*\}[^{}]*)*)\}(?P<power>\s*\^\s*\{?-?[0-9]\}?)?"
    r"|\[(?P<bracketed>[^\[\]]+)\]|(?P<bare>[A-Za-z][A-Za-z0-9 */·²³^{}-]*?))\s*(?:[].,;&$)]|\\\\|\n|\Z)"
)
_WRITTEN = {
    (1, 2, 0): "kg m²", (1, 1, 0): "kg m", (1, 0, 0): "kg", (1, 2, -1): "kg m²/s", (1, 1, -1): "kg m/s", (1, 0, -1): "kg/s",
    (1, 2, -2): "N m", (1, 1, -2): "N",
}  # fmt: skip


def unit_notes(
    form: ClosedForm, asked: Quantity, entries: Mapping[tuple[int, ...], Located], text: str, symbols: Set[str]
) -> Iterator[str]:
    """A sentence for each entry of the text that is followed by a unit of another quantity."""
    lines = text.splitlines(keepends=True)
    for index, entry in entries.items():
        rest = "".join(lines[entry.line - 1 :])[entry.column - 1 :]
        written = re.match(r"\s+".join(map(re.escape, entry.text.split())), rest)
        match = _AFTER.match(rest, written.end()) if written else None
        expected = _dimension(form, asked, index)
        if match is None or expected is None:
            continue
        unit = (match["styled"] or match["bracketed"] or match["bare"] or "") + (match["power"] or "")
        value = unit_value(unit)
        if value is None or value.dimension == expected or symbols & set(re.findall("[A-Za-z]+", unit)):
            continue
        name = asked.letters[0] + ("_" + "".join(str(k + 1) for k in index) if index else "")
        shown = " ".join(unit.replace("\\,", " ").replace("\\cdot", " ").split())
        yield f"the unit of {name} is {_WRITTEN[expected]}, not {shown}"


def converted(unit: str, factor: Fraction) -> str:
    """A unit as it is written, with its value in those of the SI if that is not 1."""
    value = unit_value(unit)
    written = _WRITTEN.get(value.dimension, "in SI units") if value is not None else ""
    plain = " ".join(re.sub(r"(?:\\[A-Za-z]+\s*|^)\{([^{}]*)\}", r"\1", unit).replace("\\,", " ").split())
    return plain if factor == 1 else f"{plain} = {float(factor):g} {written}"


def _dimension(form: ClosedForm, asked: Quantity, index: tuple[int, ...]) -> tuple[int, int, int] | None:
    """The powers of kg, m and s in the unit of an entry; None where these are not told."""
    if any(k >= form.n for k in index):
        return None
    turning = sum(form.model.coordinates[k].revolute for k in index)
    if asked.name == "mass-matrix":
        return 1, turning, 0
    if asked.name == "coriolis":
        return 1, turning, -1
    if asked.name in ("gravity", "coriolis-vector", "equations"):
        return 1, 1 + turning, -2
    return (1, 2, -2) if asked.name.startswith(("kinetic-energy", "potential-energy")) else None
