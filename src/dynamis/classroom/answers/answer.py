"""A parsed answer: its entries and definitions, with their positions in the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from dynamis.errors import unknown_name
from dynamis.scalar import Node, Scalar


@dataclass(frozen=True)
class Located:
    """An expression with its position; ``also`` holds other expressions that the text equates to it.

    ``texts`` are those of the expression and of the others, in this order; empty where they are not known. ``condition``
    says when the equation from which it follows holds, as in "if τ_2 = 0". ``used``: other formulas of the text use its name.
    ``solved_for`` is the left side of an equation whose right side this is, if the text has the equation in another form.
    """

    node: Scalar
    line: int
    text: str
    column: int = 1
    also: tuple[Scalar, ...] = ()
    texts: tuple[str, ...] = ()
    condition: str = ""
    used: bool = False
    solved_for: str = ""


class Step(NamedTuple):
    """A formula of a derivation that is not read: its line and text, and the names in it, in canonical spelling."""

    line: int
    text: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """The contents of a text: entries by letter and indices from 0, definitions by name, skipped lines and prose.

    ``entries["M"][0, 1]`` is M_12, ``entries["g"][0,]`` is g_1. ``skipped`` lists the steps of
    derivations (with ∂, sums or whole vectors), which are not read; ``prose`` the words in \\text with the
    symbols between them. ``equations`` hold, as expressions equal to zero, those equations that determine unknowns of the
    vocabulary and have none of them alone on one side, and where there are unknowns those of accelerations.
    ``constants`` are the symbols of names that have no meaning in the vocabulary, if it allows them. ``units`` are those that
    change a value, or that may be names: line, text and factor. ``whole`` are the letters given as a vector or a matrix.
    """

    file: str
    entries: Mapping[str, Mapping[tuple[int, ...], Located]]
    definitions: Mapping[str, Located]
    skipped: tuple[Step, ...] = ()
    prose: tuple[tuple[int, str], ...] = ()
    equations: tuple[Located, ...] = ()
    constants: Mapping[str, Node] = field(default_factory=dict)
    units: tuple[tuple[int, str, Fraction], ...] = ()
    whole: frozenset[str] = frozenset()

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters with entries, in the order of the text."""
        return tuple(self.entries)

    @property
    def letter(self) -> str:
        """The first letter with entries in the text, or else its first definition."""
        return next(iter((*self.entries, *self.definitions)))

    def formulas(self) -> Iterator[tuple[str, Located]]:
        """The entries and definitions with their names, M12 or h."""
        for letter, entries in self.entries.items():
            for index, entry in entries.items():
                yield letter + ",".join(str(k + 1) for k in index), entry
        yield from self.definitions.items()

    def of(self, letter: str) -> Mapping[tuple[int, ...], Located]:
        """The entries of a letter; a scalar, such as an energy T, has the one index ()."""
        if letter in self.entries:
            return self.entries[letter]
        if letter in self.definitions:
            return {(): self.definitions[letter]}
        raise unknown_name("letter", letter, [*self.entries, *self.definitions])
