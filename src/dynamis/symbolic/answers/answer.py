"""A student's answer: the entries and definitions it gives, with where each is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dynamis.errors import unknown_name
from dynamis.scalar import Scalar


@dataclass(frozen=True)
class Located:
    """An expression and where it is written; ``also`` holds what the text says it equals besides, to be compared."""

    node: Scalar
    line: int
    text: str
    column: int = 1
    also: tuple[Scalar, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What a text says: entries by letter and indices from 0, definitions by name, and the lines that were no answers.

    ``entries["M"][0, 1]`` is M_12, ``entries["g"][0,]`` is g_1. ``skipped`` lists, by line and text, the steps of
    derivations (with ∂, sums or whole vectors), which are not read.
    """

    file: str
    entries: Mapping[str, Mapping[tuple[int, ...], Located]]
    definitions: Mapping[str, Located]
    skipped: tuple[tuple[int, str], ...] = ()

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters that have entries, in the order of the text."""
        return tuple(self.entries)

    @property
    def letter(self) -> str:
        """The first letter of the text that has entries, or else its first definition."""
        return next(iter((*self.entries, *self.definitions)))

    def of(self, letter: str) -> Mapping[tuple[int, ...], Located]:
        """The entries of a letter; a scalar, such as an energy T, has the one index ()."""
        if letter in self.entries:
            return self.entries[letter]
        if letter in self.definitions:
            return {(): self.definitions[letter]}
        raise unknown_name("letter", letter, [*self.entries, *self.definitions])
