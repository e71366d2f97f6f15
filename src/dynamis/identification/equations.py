"""The equations of a log, y = X β: one row per joint and sample, with the regressor X evaluated in chunks and never kept."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.compiler.row_sums import row_sums
from dynamis.display import as_table, counted
from dynamis.errors import InputError, printable
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.estimators.factors import FactorSums, FoldFactors
from dynamis.identification.samples import Decimation, Samples, as_runs, means

Array = npt.NDArray[Any]
CHUNK = 2048  # samples whose regressor is computed at once: more would only need memory
FEWEST = 512  # filtered rows in a chunk: less would only need time
PART = 1 << 18  # samples filtered at once
LARGE = 12  # samples of a group of which four may represent it
SMOOTH = 1e-5  # error of the means of q, v and a by a few samples, relative to the largest value, of a smooth motion
CURVED = 1e-4  # third difference of an entry over a group, relative to its largest value, that four samples resolve
ROUNDING = 1e-12  # relative to the largest entry: columns of rounding errors
KEPT = 96 << 20  # bytes: chunks that need no more together are kept for the next pass


class JointRows(NamedTuple):
    """Rows of one joint in a chunk: their indices in the log, the parameters that matter, and ``A`` (rows, columns + 1), the
    columns of X of these parameters followed by y."""

    joint: int
    rows: Array
    columns: Array
    A: Array

    def narrowed(self, count: int) -> JointRows:
        """Return the rows with the first ``count`` parameters only."""
        own = self.columns < count
        return JointRows(self.joint, self.rows, self.columns[own], self.A[:, np.append(own, True)])


@dataclass(frozen=True, eq=False, repr=False)
class Equations:
    """The torque ``y`` (rows,) of each row, with its ``joint``, time ``t``, ``run`` and joint velocity ``v``.

    ``names`` are the parameter names, ``joints`` the joint names, ``units`` those of their torques or forces. The regressor is
    evaluated in chunks of samples whenever it is needed (`factors`, `predict`), so that the memory of a log does not grow with
    the number of parameters; ``X`` (rows, parameters) is the whole matrix, computed on access.
    """

    y: Array
    joint: Array
    t: Array
    run: Array
    v: Array
    names: tuple[str, ...]
    joints: tuple[str, ...]
    units: tuple[str, ...]
    source: Regressor | Matrix

    def __len__(self) -> int:
        return len(self.y)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all parameters of the model, of which those of the columns are the first of each sum."""
        return self.names if isinstance(self.source, Matrix) else tuple(self.source.base.model.names)

    @functools.cached_property
    def X(self) -> Array:
        """The matrix (rows, parameters)."""
        if isinstance(self.source, Matrix):
            return self.source.X
        X = np.zeros((len(self), len(self.names)))
        for chunk in self.chunks():
            for part in chunk:
                X[np.ix_(part.rows, part.columns)] = part.A[:, :-1]
        return X

    @property
    def joints_at_rest(self) -> list[str]:
        """The joints that never move."""
        return [name for j, name in enumerate(self.joints) if (own := self.v[self.joint == j]).size and not own.any()]

    def select(self, rows: Any) -> Equations:
        """Return the rows selected by a mask or by indices, with their matrix."""
        picked = {f.name: getattr(self, f.name)[rows] for f in fields(self) if isinstance(getattr(self, f.name), np.ndarray)}
        return replace(self, **picked, source=Matrix(self.X[rows]))

    def blocks(self, seconds: float) -> Array:
        """Return the index of the time block of each row; blocks of successive runs are numbered consecutively."""
        if not seconds > 0.0:
            raise InputError(f"the block duration must be positive, got {seconds!r} s")
        number = np.zeros(len(self), int)
        next_block = 0
        for run in np.unique(self.run):
            rows = self.run == run
            start = self.t[rows].min()
            # epsilon against rounding: a row must not fall into the block before its own
            number[rows] = next_block + np.floor((self.t[rows] - start) / seconds + 1e-9).astype(int)
            next_block = int(number[rows].max()) + 1
        return number

    def chunks(self) -> Iterator[list[JointRows]]:
        """Yield all rows in order of time: the rows of each joint at consecutive instants."""
        known: list[list[JointRows]] | None = self.__dict__.get("_kept")
        if known is not None:
            yield from known
            return
        known, size = [], 0
        for chunk in self.source.chunks(self):
            size += sum(part.A.nbytes for part in chunk)
            if size <= KEPT:
                known.append(chunk)
            else:
                known = []
            yield chunk
        if size <= KEPT:
            self.__dict__["_kept"] = known

    def share(self, wider: Equations) -> None:
        """Take the chunks that the same rows with further columns have kept, so that they are not evaluated again."""
        count = len(self.names)
        if (known := wider.__dict__.get("_kept")) is not None:
            self.__dict__["_kept"] = [[part.narrowed(count) for part in chunk] for chunk in known]

    def factors(self, group: Any = None, groups: int = 1) -> FoldFactors:
        """Return the triangular factors of [X, y] of each joint, for rows in ``groups`` groups: the ``group`` of each row."""
        label = np.zeros(len(self), int) if group is None else np.asarray(group)
        sums = FactorSums(groups, len(self.joints), len(self.names))
        for chunk in self.chunks():
            for part in chunk:
                own = label[part.rows]
                for g in np.unique(own):
                    sums.add(int(g), part.joint, part.columns, part.A if (own == g).all() else part.A[own == g])
        return sums.result()

    @functools.cached_property
    def whole(self) -> FoldFactors:
        """The triangular factor of each joint over all rows."""
        return self.factors()

    def predict(self, coef: Any) -> Array:
        """Return X β (rows,), or for several β (r, k) the torques (rows, k)."""
        beta = np.asarray(coef, float)
        found = np.empty((len(self), *beta.shape[1:]))
        for chunk in self.chunks():
            for part in chunk:
                found[part.rows] = part.A[:, :-1] @ beta[part.columns]
        return found

    def predict_in_groups(self, group: Array, coefs: Array) -> Array:
        """Return X β (rows, k), with the parameters of each row's group in ``coefs`` (groups, r, k)."""
        found = np.empty((len(self), coefs.shape[2]))
        for chunk in self.chunks():
            for part in chunk:
                own = group[part.rows]
                for g in np.unique(own):
                    at = own == g
                    found[part.rows[at]] = part.A[at, :-1] @ coefs[g][part.columns]
        return found

    def __repr__(self) -> str:
        return (
            f"<Equations: {counted(len(self), 'row')}, {counted(len(self.names), 'parameter')}, "
            f"{counted(len(self.joints), 'joint')}>"
        )

    _repr_html_ = as_table


@dataclass(frozen=True, eq=False)
class Matrix:
    """Rows of a matrix X in memory."""

    X: Array

    def chunks(self, rows: Equations) -> Iterator[list[JointRows]]:
        order = np.lexsort((rows.joint, rows.t, rows.run))
        columns = [np.flatnonzero(self.X[rows.joint == j].any(axis=0)) for j in range(len(rows.joints))]
        t, run = rows.t[order], rows.run[order]
        begins = np.flatnonzero(np.concatenate([[True], (np.diff(t) != 0.0) | (np.diff(run) != 0)]))
        edges = [*begins[::CHUNK], len(order)]
        for low, high in itertools.pairwise(edges):
            part = order[low:high]
            chunk = []
            for j, own in enumerate(columns):
                at = part[rows.joint[part] == j]
                if len(at):
                    chunk.append(JointRows(j, at, own, np.column_stack([self.X[np.ix_(at, own)], rows.y[at]])))
            yield chunk


@dataclass(frozen=True, eq=False)
class Regressor:
    """Rows of a regressor along runs of samples, filtered as the samples specify, without unused rows.

    ``more`` are further columns behind those of the base parameters: ``columns(part, states)`` returns their values, arrays
    (N, k), with the states of its samples (``sample_states()``), ``of_joint(j, values)`` their indices and entries in the
    torque of joint j, from filtered values.
    """

    base: BaseParameters
    runs: tuple[Samples, ...]
    more: Any = None

    def chunks(self, rows: Equations) -> Iterator[list[JointRows]]:
        first, pattern, more = 0, self.base.pattern, self.more
        columns = [np.flatnonzero(shows) for shows in pattern]
        edges = np.concatenate([[0], np.cumsum(pattern.sum(axis=1))])
        for run in self.runs:
            use = run.use[filter_of(run).centres(len(run))]
            done = 0
            for entries in self.filtered(run):
                counted = use[done : done + len(entries)]
                done += len(entries)
                place = first + np.cumsum(counted).reshape(counted.shape) - 1  # of each used row in the log
                chunk = []
                for j, own in enumerate(columns):
                    used = counted[:, j]
                    at, parts, shown = place[used, j], [entries[used, edges[j] : edges[j + 1]]], own
                    if more is not None:
                        further, values = more.of_joint(j, entries[used, edges[-1] :])
                        parts, shown = [*parts, values], np.append(own, self.base.rank + further)
                    chunk.append(JointRows(j, at, shown, np.hstack([*parts, rows.y[at][:, None]])))
                first += int(counted.sum())
                yield chunk

    def filtered(self, run: Samples) -> Iterator[Array]:
        """Yield the entries of the regressor, and more columns, after the filter of the run: (instants, entries)."""
        filtered = filter_of(run)
        states = [x.sample_states() for x in ((self.base.model,) if self.more is None else (self.base.model, self.more))]
        d, weights = filtered.averaged, filtered.weights
        if d < LARGE and len(filtered.taps) <= 2 * filtered.every:  # few rows: averages would take longer
            d, weights = 1, filtered.taps
        need, step = len(weights), filtered.every // d
        held, length, skipped = list[Array](), 0, 0  # means not yet used up, and those of the next samples that no row needs
        size = max(1, (CHUNK if d < LARGE else 2 * CHUNK) // d) * d  # of large groups a few samples are evaluated
        for low in range(0, len(run), size):
            part = run[low : low + size]
            entries = self._means(part, d, [x.advance(part) for x in states])
            held.append(entries[skipped:])
            length += len(held[-1])
            skipped = max(0, skipped - len(entries))
            count = max(0, (length - need) // step + 1)
            if count >= FEWEST or length >= CHUNK or (count and low + size >= len(run)):
                x = held[0] if len(held) == 1 else np.concatenate(held)
                if count:
                    yield (x[: count * step : step] if need == 1 else row_sums(x, weights, step, np.empty((count, x.shape[1]))))
                skipped += max(0, count * step - length)
                held, length = [x[count * step :]], max(0, length - count * step)

    def _means(self, part: Samples, d: int, states: Sequence[Array]) -> Array:
        """Return the means of the entries over groups of d samples, with the states of all samples (`SampleStates`).

        Where no joint reverses, and both the motion and the entries are smooth, a mean is that of a few samples, with weights.
        """
        few, width = self._steady(part, d), np.count_nonzero(self.base.pattern)
        if few.any():
            nodes, weights, third = _nodes(d)
            x = self._entries(part, states[0], d * np.flatnonzero(few)[:, None] + nodes)
            largest = np.abs(x).max(axis=(0, 1))
            smooth = (np.abs(third @ x) <= CURVED * (largest + ROUNDING * largest.max())).all(axis=1)
            few[few] = smooth
        every = slice(len(few) * d) if not few.any() else d * np.flatnonzero(~few)[:, None] + np.arange(d)
        found = means(self._entries(part, states[0], every).reshape(-1, width), d)
        if few.any():
            others, found = found, np.empty((len(few), width))
            found[few], found[~few] = weights @ x[smooth], others
        if self.more is None:
            return found
        return np.hstack([found, *(means(x, d) for x in self.more.columns(part, states[1]))])

    def _entries(self, part: Samples, states: Array, at: Any) -> Array:
        """Return the entries at samples (groups, k) of a part, (groups, k, entries)."""
        q, v, a, z = (x[at].reshape(-1, x.shape[1]) for x in (part.q, part.v, part.a, states))
        found = self.base.entries(q, v, a, z)
        return found if isinstance(at, slice) else found.reshape(*at.shape, found.shape[1])

    def _steady(self, part: Samples, d: int) -> Array:
        """Return in which groups of d samples the `_nodes` give the means of the motion, and no joint reverses, nor the motor
        of two of them: dry friction is discontinuous there."""
        model, count = self.base.model, len(part) // d
        if d < LARGE or model.columns or not count:
            return np.zeros(count, bool)
        nodes, weights, _ = _nodes(d)
        x = np.hstack([part.q, part.v, part.a])[: count * d].reshape(count, d, -1)
        off = np.abs(weights @ x[:, nodes] - x.mean(axis=1))
        v = part.v[: count * d].T
        pairs = {*itertools.pairwise(range(model.robot.n)), *model.couplings}
        ahead = np.stack([*v, *(v[i] + v[j] for i, j in pairs)]).reshape(-1, count, d) > 0.0
        turns = (ahead != ahead[:, :, :1]).any(axis=(0, 2))
        return np.asarray((off <= SMOOTH * np.abs(x).max(axis=(0, 1))).all(axis=1) & ~turns)


@functools.cache
def _nodes(d: int) -> tuple[Array, Array, Array]:
    """Return four of d successive samples near the nodes of Gauss–Legendre quadrature, the weights with which the mean of every
    cubic is exact, and those of the third difference."""
    near, far = (int((1.0 - x) * d / 2.0) for x in (0.33998, 0.86114))
    nodes = np.array([far, near, d - 1 - near, d - 1 - far])
    squares = (nodes[:2] - (d - 1) / 2.0) ** 2
    inner = (squares[0] - (d * d - 1) / 12.0) / (squares[0] - squares[1])
    third = 1.0 / np.prod(nodes[:, None] - nodes + np.eye(4), axis=1)
    return nodes, 0.5 * np.array([1.0 - inner, inner, inner, 1.0 - inner]), third / np.abs(third).sum()


def equations(base: BaseParameters, samples: Samples | Sequence[Samples]) -> Equations:
    """Build the equations of one or several runs: filtered as the samples specify, without unused rows.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("ur5e")
    >>> base = dy.identification.base_parameters(robot)
    >>> q, v, a = np.random.default_rng(0).normal(size=(3, 50, 6))
    >>> rows = dy.identification.equations(base, dy.identification.Samples.of(q, v, a, robot.inverse_dynamics(q, v, a)))
    >>> rows.X.shape
    (300, 36)
    """
    runs, robot = tuple(as_runs(samples)), base.model.robot
    parts: list[tuple[Array, ...]] = []
    for number, run in enumerate(runs):
        check_size(run, base)
        filtered = filter_of(run)
        centres = filtered.centres(len(run))
        tau = filtered.middles(run.tau) if run.smooth_torque else _in_parts(filtered, run.tau)
        counted = run.use[centres]
        joint = np.broadcast_to(np.arange(robot.n, dtype=np.int16), tau.shape)[counted]
        t = np.broadcast_to(run.t[centres][:, None], tau.shape)[counted]
        parts.append((tau[counted], joint, t, np.full(len(t), number, np.int32), run.v[centres][counted]))
    y, joint, t, runs_of_rows, v = (x[0] if len(x) == 1 else np.concatenate(x) for x in zip(*parts, strict=True))
    units = tuple(c.effort_unit for c in robot.model.coordinates)
    return Equations(y, joint, t, runs_of_rows, v, base.names, tuple(robot.coordinate_names), units, Regressor(base, runs))


def _in_parts(filtered: Decimation, x: Array) -> Array:
    """Filter an array in parts, so that copies of it need little memory."""
    rows, step = filtered.rows(len(x)), max(1, PART // filtered.every)
    parts = []
    for low in range(0, rows, step):
        end = (min(low + step, rows) - 1) * filtered.every + len(filtered.taps)
        parts.append(filtered.of(x[low * filtered.every : end]))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def check_size(run: Samples, base: BaseParameters) -> None:
    """Raise an error unless the samples have the positions and torques of the robot."""
    robot = base.model.robot
    if run.q.shape[1] != robot.nq or run.tau.shape[1] != robot.n:
        raise InputError(
            f"{run!r} has {counted(run.q.shape[1], 'position')} and {counted(run.tau.shape[1], 'torque')}; "
            f"robot {printable(robot.name)} has "
            f"{robot.nq} and {robot.n}"
        )
    if run.temperature is None and base.model.reference_temperature is not None:
        raise InputError(f"{run!r} has no temperatures, on which friction of the model depends: log them")


def filter_of(run: Samples) -> Decimation:
    """Return the filter of a run; the run must be long enough for it."""
    filtered = Decimation(run.period, run.parallel, run.every)
    if filtered.rows(len(run)) == 0:
        if run.parallel is None:
            raise InputError(f"{run!r} is empty: leave it out")
        raise InputError(
            f"{run!r} is shorter than its {run.parallel:g} Hz low-pass filter, which needs "
            f"{counted(len(filtered.taps), 'sample')}: raise "
            "the cut-off frequency"
        )
    return filtered
