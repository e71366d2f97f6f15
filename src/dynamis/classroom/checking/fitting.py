"""Matching the shape of an answer to that of the quantity: a number for a 1 × 1 matrix, a row for a vector."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeVar

from dynamis.classroom.checking.quantities import Quantity
from dynamis.errors import InputError, printable

Index = tuple[int, ...]
Entry = TypeVar("Entry")


def fitted(entries: Mapping[Index, Entry], asked: Quantity, file: str) -> dict[Index, Entry]:
    """The entries by the indices of the quantity; an error for another shape.

    Axes of length 1 may be omitted or added: an expression is a 1 × 1 matrix, [[a, b]] a vector with two entries.
    """
    shape, given = shape_of(asked.entries), shape_of(entries)
    found: dict[Index, Entry] = {}
    for index, entry in entries.items():
        place = _placed(index, shape, given)
        if place is None:
            what = described(given if len(index) == len(given) else tuple(k + 1 for k in index))
            name = file if file.isprintable() else printable(file)
            raise InputError(f"{name}: {asked.name} is {described(shape)}, but the answer is {what}{_advice(asked, index)}")
        found[place] = entry
    return found


def shape_of(indices: Collection[Index]) -> Index:
    """The smallest shape that has all these indices; () for a single expression."""
    rank = max((len(index) for index in indices), default=0)
    return tuple(max(index[k] for index in indices if len(index) == rank) + 1 for k in range(rank))


def described(shape: Index) -> str:
    """A shape as text."""
    if not shape:
        return "a single expression"
    if len(shape) == 1:
        return f"a vector with {shape[0]} entr{'y' if shape[0] == 1 else 'ies'}"
    return f"a {' × '.join(map(str, shape))} {'matrix' if len(shape) == 2 else 'array'}"


def _placed(index: Index, shape: Index, given: Index) -> Index | None:
    if len(index) == len(shape):
        return index
    long = [k for k, size in enumerate(shape) if size != 1]
    squeezed = [k for k, size in zip(index, given, strict=False) if size != 1] if len(index) == len(given) else list(index)
    if len(squeezed) != len(long):
        return None
    place = [0] * len(shape)
    for axis, k in zip(long, squeezed, strict=True):
        place[axis] = k
    return tuple(place)


def _advice(asked: Quantity, index: Index) -> str:
    if asked.name == "coriolis" and len(index) == 1:
        return "; the vector C q̇ is checked as coriolis-vector"
    if asked.name == "coriolis-vector" and len(index) == 2:
        return "; the matrix C is checked as coriolis"
    letter, rank = asked.letters[0], len(next(iter(asked.entries)))
    example = letter + ("_{" + "1" * rank + "}" if rank else "")
    return f": write {example} = …" + (
        ", or the whole matrix, its columns separated by commas: [a, b; c, d]" if rank == 2 else ""
    )
