"""Entries of an answer that stand in each other's places: rows, columns or links exchanged, a transposed matrix."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

from dynamis.classroom.answers import Located
from dynamis.classroom.answers.vocabulary import key_of
from dynamis.classroom.checking.causes import Cause
from dynamis.classroom.checking.mistakes import is_small
from dynamis.classroom.checking.quantities import Quantity
from dynamis.classroom.checking.robot_names import robot_symbols
from dynamis.scalar import topological
from dynamis.symbolic import factored
from dynamis.symbolic.closed_form import ClosedForm

Index = tuple[int, ...]
Same = Callable[[Any, Any], bool]


class _Exchange(NamedTuple):
    """Where the entry that an answer gives at an index belongs, and the mistake."""

    place: Callable[[Index], Index]
    text: str


def exchanged(
    form: ClosedForm, asked: Quantity, given: Mapping[Index, Located], right: Mapping[Index, Any], same: Same
) -> Cause | None:
    """The cause, if all entries of an answer, of which two or more are wrong, are right with two exchanged."""
    if not is_small(form) or any(index not in right for index in given):
        return None
    for place, text in _exchanges(asked, given):
        if all(place(index) in right and same(right[place(index)], x.node) for index, x in given.items()):
            return Cause(text, text)
    for i, j in combinations(range(1, form.n + 1), 2):
        names = _renamed_parameters(form, i, j, right)
        if names and all(same(right[index], factored.replaced(x.node, names)) for index, x in given.items()):
            text = f"the parameters of links {i} and {j} are exchanged"
            return Cause(text, text)
    return None


def _exchanges(asked: Quantity, given: Mapping[Index, Located]) -> Iterator[_Exchange]:
    rank = len(next(iter(given), ()))
    if rank == 2:
        yield _Exchange(lambda index: index[::-1], "the matrix is transposed: rows and columns are exchanged")
    sizes = [max(index[axis] for index in given) + 1 for axis in range(rank)]
    square = len(set(sizes)) == 1
    for i, j in combinations(range(max(sizes, default=0)), 2):
        swapped, numbers = partial(_swapped, {i: j, j: i}), f"{i + 1} and {j + 1} are exchanged"
        if square:
            of = "rows and columns" if rank == 2 else "equations" if asked.name == "equations" else "entries"
            yield _Exchange(partial(swapped, range(rank)), f"{of} {numbers}")
        if rank == 2:
            yield _Exchange(partial(swapped, (0,)), f"rows {numbers}")
            yield _Exchange(partial(swapped, (1,)), f"columns {numbers}")


def _swapped(others: Mapping[int, int], axes: Container[int], index: Index) -> Index:
    """An index with the numbers on some axes exchanged."""
    return tuple(others.get(k, k) if axis in axes else k for axis, k in enumerate(index))


def _renamed_parameters(form: ClosedForm, i: int, j: int, right: Mapping[Index, Any]) -> dict[int, Any]:
    """The parameters of two links in the correct entries, m_1 and m_2, by the ids of the others; of at least two kinds."""
    used = {id(n) for n in topological(list(right.values()))}
    symbols = {key: x for name, x in robot_symbols(form).items() if id(x) in used and (key := key_of(name)) is not None}
    others = {key: key.rstrip("0123456789") + str(j) for key in symbols if key.rstrip("0123456789") + str(i) == key}
    pairs = [(symbols[key], symbols[other]) for key, other in others.items() if other in symbols]
    return {} if len(pairs) < 2 else {id(x): y for pair in pairs for x, y in (pair, pair[::-1])}
