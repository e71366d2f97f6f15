"""Arrays of the expressions of a closed form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.symbolic import factored
from dynamis.symbolic.notation import Notation

Array = npt.NDArray[Any]
MAX_CHRISTOFFEL_VALUES = 40  # shown in a notebook


def _matrix(entries: list[str], width: int) -> str:
    rows = [entries[k : k + width] for k in range(0, len(entries), width)]
    # fractions of neighbouring rows would touch each other
    apart = r" \\[0.4em] " if any("frac{" in entry for entry in entries) else r" \\ "
    body = apart.join(" & ".join(row) for row in rows)
    return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"


class Formulas(np.ndarray[Any, Any]):
    """An array of expressions, with NumPy indexing and arithmetic, and the output formats of `Expression`.

    Indices of the array start from 0, printed subscripts from 1: ``c[0, 0, 1]`` is c_112. Those of Christoffel symbols, whose
    first axis is that of the equation, are printed in the order of the notation: c_121 where the equation's index is the last.
    """

    letter = "c"  # of the entries of an array with three axes
    is_christoffel = False

    @staticmethod
    def of(values: Any, shape: tuple[int, ...], letter: str = "c") -> Formulas:
        array = np.empty(shape, dtype=object)
        array.reshape(-1)[:] = list(values)
        made = array.view(Formulas)
        made.letter = letter
        return made

    def as_christoffel(self) -> Formulas:
        """The array, marked as that of the Christoffel symbols."""
        self.is_christoffel = True
        return self

    def latex(self, notation: str | Notation | None = None, digits: int = 6) -> str:
        """A matrix (or a column) in LaTeX; common subexpressions of factored entries are defined after it.

        Of an array with three axes, its entries that are not zero, by name.
        """
        if self.ndim == 3 and all(x.expanded for x in self.flat):
            return self._entries_latex(notation, digits, self.size)
        rows = self.reshape(-1, 1) if self.ndim == 1 else self
        if not all(x.expanded for x in self.flat):
            letters, width = next(iter(self.flat)).algebra.letters.with_notation(notation), rows.shape[1]
            return factored.with_definitions(list(self.node().flat), letters, lambda entries: _matrix(entries, width))
        return _matrix([x.latex(notation, digits) for x in self.flat], rows.shape[1])

    def factored(self, notation: str | Notation | None = None, names: str = "x") -> list[tuple[str, str]]:
        """(name, formula) in LaTeX: first each common subexpression, then the entries, named by their indices."""
        letters = next(iter(self.flat)).algebra.letters.with_notation(notation)
        lines = factored.latex(list(self.node().flat), letters, names)
        indices = iter("".join(str(k + 1) for k in index) for index in np.ndindex(self.shape))
        return [(name or f"_{{{next(indices)}}}", formula) for name, formula in lines]

    def node(self, substitute: Mapping[int, Any] | None = None) -> Array:
        """The nodes, to compile or to evaluate."""
        atoms: dict[int, Any] = {}
        known: dict[Any, Any] = {}
        result = np.empty(self.size, dtype=object)
        once = {id(x): x for x in self.flat}  # the two halves of a symmetric matrix are the same objects
        made = {key: x._node(substitute, atoms, known) for key, x in once.items()}
        result[:] = [made[id(x)] for x in self.flat]
        return result.reshape(self.shape)

    def sympy(self) -> Any:
        """A SymPy matrix (or nested arrays for more than two axes)."""
        entries = [x.sympy() for x in self.flat]  # which says what to do where SymPy is missing
        import sympy

        if self.ndim > 2:
            return sympy.Array(entries, self.shape)
        return sympy.Matrix(self.shape[0], 1 if self.ndim == 1 else self.shape[1], entries)

    @property
    def is_zero(self) -> bool:
        return all(x.is_zero for x in self.flat)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, np.ndarray) or other.shape != self.shape:
            return NotImplemented
        return bool(all(a == b for a, b in zip(self.flat, other.flat, strict=True)))

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return NotImplemented if equal is NotImplemented else not equal

    __hash__ = None

    def __str__(self) -> str:
        if self.ndim > 2:
            return "\n".join(f"{self.letter}_{index} = {x}" for index, x in self._nonzero(None)) or "0"
        rows = self.reshape(-1, 1) if self.ndim == 1 else np.asarray(self)
        return "[" + ",\n ".join("[" + ", ".join(map(str, row)) + "]" for row in rows) + "]"

    __repr__ = __str__

    def _repr_latex_(self) -> str | None:
        if self.ndim <= 2:
            return f"$${self.latex()}$$"
        if self.ndim > 3 or not all(x.expanded for x in self.flat):
            return None
        return f"$${self._entries_latex(None, 6, MAX_CHRISTOFFEL_VALUES)}$$"

    def _nonzero(self, notation: str | Notation | None) -> list[tuple[str, Any]]:
        """The entries that are not zero, by their subscripts: indices from 1, as in textbooks."""
        found = {index: x for index, x in np.ndenumerate(np.asarray(self)) if not x.is_zero}
        if found and self.is_christoffel:
            letters = next(iter(found.values())).algebra.letters.with_notation(notation)
            found = {letters.notation.christoffel_index(index): x for index, x in found.items()}
        comma = "," if max(self.shape) > 9 else ""
        return [(comma.join(str(k + 1) for k in index), found[index]) for index in sorted(found)]

    def _entries_latex(self, notation: str | Notation | None, digits: int, most: int) -> str:
        """The nonzero entries of Christoffel symbols, one line per value: c_{112} = c_{121} = …."""
        groups: list[tuple[Any, list[str]]] = []
        for index, x in self._nonzero(notation):
            name = f"{self.letter}_{{{index}}}"
            same = next((names for value, names in groups if value == x), None)
            if same is None:
                groups.append((x, [name]))
            else:
                same.append(name)
        if not groups:
            return rf"{self.letter}_{{ijk}} = 0 \text{{ for all }} i, j, k"
        lines = [" = ".join(names) + " &= " + x.latex(notation, digits) for x, names in groups[:most]]
        if len(groups) > most:
            lines.append(rf"&\text{{and {counted(len(groups) - most, 'more value')}}}")
        return r"\begin{aligned} " + r" \\ ".join(lines) + r" \end{aligned}"
