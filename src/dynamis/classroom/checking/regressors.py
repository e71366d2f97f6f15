"""Regressors in any form: Y is one if there are parameters π, free of the state, with Y π = τ.

The columns may be those of the parameters found by inspection or of the base parameters, in any order, or of others. Whether
such π exist is decided by ranks, at random values of the robot's parameters; π that the answer gives decide it themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dynamis.classroom.answers import Located
from dynamis.classroom.checking.causes import Cause
from dynamis.classroom.checking.mistakes import is_small
from dynamis.classroom.checking.parameter_space import Column, coefficients, random_numbers, rank
from dynamis.classroom.checking.quantities import Quantity
from dynamis.classroom.checking.verdict import EntryVerdict
from dynamis.display import counted
from dynamis.scalar import topological
from dynamis.symbolic.cleaning import difference
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.expression import Expression
from dynamis.symbolic.ring import Polynomial, Ring

Index = tuple[int, ...]


class RegressorReference(NamedTuple):
    """The regressor with which to compare that of an answer, a remark, and the findings on an answer that is none.

    ``read`` are the parameters of the answer, if they are part of the comparison.
    """

    asked: Quantity
    remark: Cause
    findings: tuple[EntryVerdict, ...] = ()
    read: tuple[Located, ...] = ()


class _Form(NamedTuple):
    """Columns of a linear form of the robot, and its parameters."""

    title: str
    columns: list[tuple[Expression, ...]]
    parameters: list[Expression]


def reference(
    form: ClosedForm, asked: Quantity, given: Mapping[Index, Located], parameters: Mapping[Index, Located]
) -> RegressorReference:
    """What an answer in a whole matrix is compared with, with its ``parameters`` if it has as many as columns.

    Parts of a regressor are parts of that by inspection.
    """
    unchanged = RegressorReference(asked, Cause("", ""))
    count = 1 + max(index[-1] for index in given)
    whole = {(i, j) for i in range(form.n) for j in range(count)}
    if set(given) != whole or not is_small(form) or any(x.also for x in given.values()):
        return unchanged
    if parameters and all(len(index) == 1 for index in parameters):
        return _with_parameters(form, asked, given, parameters, count)
    forms = [
        _Form(title, list(zip(*Y, strict=True)), list(pi.flat))
        for title, Y, pi in (
            ("by inspection", form.regressor, form.parameters), ("base", form.base_regressor, form.base_parameters)
        )
    ]  # fmt: skip
    own = [x.node() for linear in forms for column in linear.columns for x in column]
    nodes = [given[index].node for index in sorted(whole)]
    torques = [x.node() for x in form.torque]
    ring = Ring.of([*nodes, *own, *torques], form.algebra.ring.angles, [*form.q, *form.v, *form.a])
    values = [ring.value(x) for x in (*nodes, *torques)]
    if any(denominator is not None for _, denominator in values):
        return unchanged
    rows = dict(zip(sorted(whole), (p for p, _ in values), strict=False))
    columns = [[rows[i, j] for i in range(form.n)] for j in range(count)]
    orders = [_order(ring, columns, linear) for linear in forms]
    if orders[0] == list(range(len(forms[0].columns))):
        return unchanged
    entries = {index: form.algebra.of_node(x.node) for index, x in given.items()}
    matches = [(sum(k is not None for k in order), count == len(x.columns)) for x, order in zip(forms, orders, strict=True)]
    linear, order = max(zip(forms, orders, matches, strict=True), key=lambda x: x[2])[:2]
    least = len(forms[1].columns)
    space = _Space(form, ring, nodes, columns, [p for p, _ in values[len(nodes) :]])
    if space.is_linear_form():
        return RegressorReference(replace(asked, entries=entries), _remark(linear, order, least))
    if sum(k is not None for k in order) < count - 1 and (mistake := space.lone_mistake(least + 1)) is not None:
        return RegressorReference(asked, Cause("", ""), _one_wrong(given, mistake))
    if len(order) != len(linear.columns) or all(k is None for k in order):
        return RegressorReference(asked, Cause("", ""), (_no_regressor(given, order, linear),))
    placed = _completed(ring, columns, linear, order)
    entries = {(i, j): linear.columns[k][i] for j, k in enumerate(placed) for i in range(form.n)}
    message = f"the columns are compared with those of {_named(linear, placed)}"
    message = "" if placed == sorted(placed) and linear is forms[0] else message
    return RegressorReference(replace(asked, entries=entries), Cause(message, message))


def _with_parameters(
    form: ClosedForm, asked: Quantity, given: Mapping[Index, Located], parameters: Mapping[Index, Located], count: int
) -> RegressorReference:
    """The verdict by the product Y π, compared with τ."""
    line = next(iter(given.values())).line
    if set(parameters) != {(j,) for j in range(count)}:
        message = f"Y has {counted(count, 'column')} and π {counted(len(parameters), 'entry', 'entries')}"
        return RegressorReference(asked, Cause("", ""), (EntryVerdict("Y π", line, False, cause=message, hint=message),))
    entries = {index: form.algebra.of_node(x.node) for index, x in given.items()}
    read = tuple(parameters.values())
    columns = range(len(parameters))
    products = [form.algebra.of_node(sum(given[i, j].node * parameters[j,].node for j in columns)) for i in range(form.n)]
    wrong = [i for i, product in enumerate(products) if not difference(form.torque[i], product).is_zero]
    if not wrong:
        message = "Y π = τ holds with the parameters π of the answer"
        return RegressorReference(replace(asked, entries=entries), Cause(message, message), read=read)
    rows = f"row{'s' if len(wrong) > 1 else ''} {' and '.join(str(i + 1) for i in wrong)}"
    rest = str(difference(products[wrong[0]], form.torque[wrong[0]]))
    hint = f"Y π differs from τ in {rows}"
    cause = f"{hint}: by {rest} in row {wrong[0] + 1}"
    finding = EntryVerdict("Y π", line, False, cause=cause, hint=hint)
    return RegressorReference(asked, Cause("", ""), (finding,), read)


def _order(ring: Ring, columns: Sequence[Sequence[Polynomial]], linear: _Form) -> list[int | None]:
    """For each column of an answer, that of a linear form which it is, each once."""
    own = [[ring.value(x.node())[0] for x in column] for column in linear.columns]
    found: list[int | None] = []
    for column in columns:
        equal = (k for k, other in enumerate(own) if k not in found and all(x == y for x, y in zip(column, other, strict=True)))
        found.append(next(equal, None))
    return found


def _completed(ring: Ring, columns: Sequence[Sequence[Polynomial]], linear: _Form, order: Sequence[int | None]) -> list[int]:
    """The order with the columns that are not equal to any beside those from which they differ least."""
    own = [[ring.value(x.node())[0] for x in column] for column in linear.columns]
    placed = list(order)
    for j, column in enumerate(columns):
        if placed[j] is None:
            free = [k for k in range(len(own)) if k not in placed]
            placed[j] = min(free, key=lambda k: sum(len(x - y) for x, y in zip(column, own[k], strict=True)))
    return [k for k in placed if k is not None]


class _Space:
    """The vectors of columns, at random numbers of the symbols in an answer; the torques at several of all other symbols."""

    def __init__(
        self,
        form: ClosedForm,
        ring: Ring,
        nodes: Sequence[Any],
        columns: Sequence[Sequence[Polynomial]],
        torques: Sequence[Polynomial],
    ) -> None:
        roles = form.algebra.letters.roles
        self.dynamic = {key for key, role in roles.items() if role.kind in ("mass", "inertia", "torque")}
        self.names, self.columns, self.torques = {id(n) for n in topological(nodes)}, columns, torques
        state = {id(x) for x in (*form.q, *form.v, *form.a)}
        symbols = {k: id(a.node) for k, a in enumerate(ring.atoms) if a.kind == "symbol" and id(a.node) not in state}
        self.numbers = random_numbers(symbols)
        self.others = [k for k, key in symbols.items() if key not in self.names]

    def is_linear_form(self) -> bool:
        """Whether the torques are a combination of the columns, with coefficients free of the state."""
        if self.names & self.dynamic:
            return False
        return self._dimension(self.columns) == self._dimension(self.columns, [self.numbers])

    def lone_mistake(self, samples: int) -> Index | None:
        """The entry of which alone another value would make the torques, of any parameters, combinations of the columns.

        Without its column the others lack one direction of them; in the rows without the entry, its column has this direction.
        """
        values = list(random_numbers(range(samples * len(self.others))).values())
        tried = [self.numbers | dict(zip(self.others, values[k::samples], strict=True)) for k in range(samples)]
        found = []
        for j in range(0 if self.names & self.dynamic else len(self.columns)):
            rest = [*self.columns[:j], *self.columns[j + 1 :]]
            if self._dimension(rest, tried) != self._dimension(rest) + 1:
                continue
            for i in range(len(self.torques)):
                plain, moved = (self._dimension(rest, x, i) for x in ((), tried))
                own, both = (self._dimension(self.columns, x, i) for x in ((), tried))
                if both == moved and (own != plain or moved == plain):
                    found.append((i, j))
        return found[0] if len(found) == 1 else None

    def _dimension(
        self, columns: Sequence[Sequence[Polynomial]], samples: Sequence[Mapping[int, Any]] = (), without: int | None = None
    ) -> int:
        """The dimension of the span of columns and of the torques at some numbers, in all rows or ``without`` one."""

        def vector(column: Sequence[Polynomial], numbers: Mapping[int, Any]) -> Column:
            rows = ((i, p) for i, p in enumerate(column) if i != without)
            return {(i, *m): c for i, p in rows for m, c in coefficients(p, numbers).items()}

        return rank([*(vector(x, self.numbers) for x in columns), *(vector(self.torques, x) for x in samples)])


def _remark(linear: _Form, order: Sequence[int | None], least: int) -> Cause:
    if None in order or len(order) != len(linear.columns):
        message = f"Y π = τ holds for other parameters π than those by inspection ({least} suffice)"
    else:
        message = f"Y π = τ: the columns are those of {_named(linear, [k for k in order if k is not None])}"
    return Cause(message, message)


def _named(linear: _Form, order: Sequence[int]) -> str:
    """The parameters of some columns."""
    kind = "the base parameters" if linear.title == "base" else "the parameters"
    return f"{kind} {', '.join(str(linear.parameters[k]) for k in order)}"


def _no_regressor(given: Mapping[Index, Located], order: Sequence[int | None], linear: _Form) -> EntryVerdict:
    known = [f"column {j + 1} is that of {linear.parameters[k]}" for j, k in enumerate(order) if k is not None]
    if None not in order:
        known = [f"no column is that of {x}" for k, x in enumerate(linear.parameters) if k not in order]
    message = "there are no parameters π, free of the state, with Y π = τ" + (f": {', '.join(known)}" if known else "")
    return EntryVerdict("Y", next(iter(given.values())).line, False, cause=message, hint=message)


def _one_wrong(given: Mapping[Index, Located], mistake: Index) -> tuple[EntryVerdict, ...]:
    """The findings on a regressor that is one for other parameters but for one entry."""
    message = "the other entries fit together: with another entry here, parameters π free of the state give Y π = τ"

    def finding(index: Index) -> EntryVerdict:
        comma = "," if max(index) > 8 else ""  # two digits
        name = "y_" + comma.join(str(k + 1) for k in index)
        cause = message if index == mistake else ""
        return EntryVerdict(name, given[index].line, index != mistake, cause=cause, hint=cause)

    return tuple(finding(index) for index in sorted(given))
