"""Sufficient statistics of least squares in constant memory: a triangular matrix for each joint.

The rows of joint j are Y_j π = τ_j; of the matrix A_j = [Y_j, τ_j] only R_j of A_j = Q_j R_j is kept (tall-skinny QR), which
is sufficient for any weighting of joints, any prior and any constraint. Rows are processed in blocks of fixed length: the
result is bit-identical however a log is split.
"""

from __future__ import annotations

import contextlib
import functools
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from dynamis.compiler.kernel import thread_count
from dynamis.display import counted, normal_equations_card
from dynamis.errors import InputError, printable
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.equations import check_size, filter_of
from dynamis.identification.estimators.factors import householder_qr
from dynamis.identification.linear_model import Past
from dynamis.identification.samples import Decimation, Samples, as_runs
from dynamis.robot import Robot

Array = npt.NDArray[Any]

CLEAR = 1e-6
TALL = 8  # rows per column above which normal equations are faster


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """For each joint: the columns that affect its torque, R of [X, y] over them, and the number of rows.

    ``names`` are the parameter names. ``exact`` means that every row was reduced by Householder reflections; otherwise full
    blocks use AᵀA, with an error of the squared condition number times rounding. `merge` combines those of several logs;
    estimators fit them with ``fit_normal_equations``.
    """

    names: tuple[str, ...]
    joints: tuple[str, ...]
    columns: tuple[Array, ...]
    R: tuple[Array, ...]
    counts: Array
    samples: int = 0
    exact: bool = True

    def factors(self) -> list[Array]:
        """Return R of [X, y] over all columns, for each joint."""
        full = []
        for columns, R in zip(self.columns, self.R, strict=True):
            wide = np.zeros((len(R), len(self.names) + 1))
            wide[:, np.append(columns, len(self.names))] = R
            full.append(wide)
        return full

    def __repr__(self) -> str:
        return (
            f"<NormalEquations: {counted(len(self.names), 'parameter')}, {counted(self.samples, 'sample')}, "
            f"{counted(int(self.counts.sum()), 'row')}>"
        )

    def _repr_html_(self) -> str:
        return normal_equations_card(self)


def merge(parts: Iterable[NormalEquations]) -> NormalEquations:
    """Combine the normal equations of several logs, in their order."""
    found = list(parts)
    if not found:
        raise InputError("no normal equations given to merge")
    first = found[0]
    for other in found[1:]:
        if other.names != first.names or any(
            not np.array_equal(a, b) for a, b in zip(first.columns, other.columns, strict=True)
        ):
            raise InputError("normal_equations of different parameters cannot be merged: use one model for all logs")
    R = tuple(householder_qr(np.vstack([part.R[j] for part in found])) for j in range(len(first.R)))
    counts = np.sum([part.counts for part in found], axis=0)
    return replace(
        first, R=R, counts=counts, samples=sum(part.samples for part in found), exact=all(part.exact for part in found)
    )


def cholesky_qr(A: Array, gram: Array) -> Array:
    """Return R from AᵀA by Cholesky, several times faster; the last column is y. Directions below rounding are omitted.

    Rounding of AᵀA is small relative to its largest entries, so it matters only if the whole log is weak in a direction,
    by the squared condition number; the estimators check this.
    """
    r = len(gram) - 1
    scale = np.sqrt(np.diag(gram)[:r])
    scale[scale == 0.0] = 1.0
    U, pivots, rank, _ = scipy.linalg.lapack.dpstrf(gram[:r, :r] / np.outer(scale, scale))
    order = pivots - 1
    U = np.triu(U)[:rank]
    z = _solved(U[:, :rank], (gram[:r, r] / scale)[order[:rank]], trans=1)
    whole = np.zeros((rank + 1, r + 1))
    whole[:rank, order], whole[:rank, r] = U * scale[order], z
    rest = gram[r, r] - z @ z
    if rest > CLEAR * gram[r, r]:
        whole[rank, r] = np.sqrt(rest)
    else:  # a small difference of squares would be rounding: compute it from the rows
        beta = np.zeros(r)
        beta[order[:rank]] = _solved(U[:, :rank], z) / scale[order[:rank]]
        whole[rank, r] = np.linalg.norm(A[:, r] - A[:, :r] @ beta)
    return whole


def _solved(U: Array, b: Array, trans: int = 0) -> Array:
    """Return U⁻¹ b, or U⁻ᵀ b; U is upper triangular, and LAPACK rejects an empty one."""
    return np.asarray(scipy.linalg.lapack.dtrtrs(U, b, trans=trans)[0]).reshape(-1) if len(b) else b


ARRAYS = ("t", "q", "v", "a", "tau", "use")  # attributes of Samples
BLOCK = 8192  # rows per triangular factor
TOGETHER = 16  # triangular factors merged at once
TOGETHER_AT_MOST = 5  # samples averaged in one compiled function
MOST_THREADS = 16  # each holds one block
AHEAD = 2  # blocks queued per thread
TILE = 2048  # samples whose regressor is processed while in the cache
SUMMED = 1024  # rows per matrix product


class Stream:
    """Incremental normal equations: `push` samples of one uninterrupted run, then `finish`.

    The samples' own filter (``parallel``, ``every``) is applied. The result does not depend on the chunk sizes. ``exact`` uses
    Householder reflections for all rows instead of normal equations for full blocks: several times slower, and needed only for
    very ill-conditioned parameters.
    """

    def __init__(self, base: BaseParameters, exact: bool = False) -> None:
        self.base, self.exact = base, exact
        columns = tuple(np.flatnonzero(row) for row in base.pattern)
        empty, counts = tuple(np.zeros((0, len(c) + 1)) for c in columns), np.zeros(len(columns), int)
        self._nothing = NormalEquations(base.names, tuple(base.model.robot.coordinate_names), columns, empty, counts)
        self._parts: list[NormalEquations] = []
        self._waiting: list[tuple[Samples, Array]] = []
        self._count = 0
        self._filter: Decimation | None = None
        self._rooms: list[tuple[Array, Array]] = []
        threads = min(thread_count(), MOST_THREADS)
        self._threads = ThreadPoolExecutor(threads, "dynamis normal equations") if threads > 1 else None
        self._underway: deque[Callable[[], NormalEquations]] = deque()
        self._most_underway = threads + AHEAD if threads > 1 else 0
        self._broken = False

    def push(self, samples: Samples) -> None:
        """Add samples of the same run; the arrays are copied, since they are processed later."""
        copied: dict[str, Any] = {name: getattr(samples, name).copy() for name in ARRAYS}
        self.take(replace(samples, **copied))

    def take(self, samples: Samples) -> None:
        """Add samples without copying; the arrays must not change afterwards."""
        if self._broken:
            raise InputError("this stream was interrupted and is incomplete: start a new one")
        check_size(samples, self.base)
        own = Decimation(samples.period, samples.parallel, samples.every)
        if self._filter is None:
            self._filter = own
            self._smooth_torque, self._past = samples.smooth_torque, Past(self.base.model)
        elif own != self._filter or samples.smooth_torque != self._smooth_torque:
            raise InputError("all chunks of a run must have the same period and filter; finish one run before the next")
        self._waiting.append((samples, self._past.advance(samples.q)))
        self._count += len(samples)
        while self._count >= max(self._needed(BLOCK), BLOCK * own.every):
            self._work_off(BLOCK)

    def finish(self) -> NormalEquations:
        """Return the normal equations of the run, including all remaining samples."""
        if self._broken:
            raise InputError("this stream was interrupted and is incomplete: start a new one")
        if self._filter is not None and (left := self._filter.rows(self._count)):
            self._work_off(left)  # at most one block
        while self._underway:
            self._keep_next()
        self._waiting, self._count, self._filter = [], 0, None
        self._parts = [merge([self._nothing, *self._parts])]
        return self._parts[0]

    def _needed(self, rows: int) -> int:
        assert self._filter is not None
        return (rows - 1) * self._filter.every + len(self._filter.taps)

    def _work_off(self, rows: int) -> None:
        """Process a block of this many rows, and drop its samples except those the next row needs. With several threads it is
        only submitted here; results are merged in the order of the blocks."""
        assert self._filter is not None
        block = self._first(self._needed(rows))
        self._drop(min(rows * self._filter.every, self._count))
        work = functools.partial(self._normal_equations, *block)
        self._underway.append(work if self._threads is None else self._threads.submit(work).result)
        if len(self._underway) > self._most_underway:
            self._keep_next()

    def _keep_next(self) -> None:
        self._broken = True  # until completed
        self._parts.append(self._underway.popleft()())
        if len(self._parts) == TOGETHER:
            self._parts = [merge(self._parts)]
        self._broken = False

    def _first(self, count: int) -> tuple[Samples, Array]:
        """Return the first samples in the queue; copied only if they span several chunks."""
        parts: list[tuple[Samples, Array]] = []
        for run, past in self._waiting:
            parts.append((run[:count], past[:count]))
            count -= len(run)
            if count <= 0:
                break
        if len(parts) == 1:
            return parts[0]
        joined: dict[str, Any] = {name: np.concatenate([getattr(run, name) for run, _ in parts]) for name in ARRAYS}
        return replace(parts[0][0], **joined), np.concatenate([past for _, past in parts])

    def _drop(self, count: int) -> None:
        self._count -= count
        while count and count >= len(self._waiting[0][0]):
            count -= len(self._waiting.pop(0)[0])
        if count:
            run, past = self._waiting[0]
            self._waiting[0] = run[count:], past[count:]

    @np.errstate(over="ignore", invalid="ignore")  # overflow is checked at the end
    def _normal_equations(self, run: Samples, past: Array) -> NormalEquations:
        """Reduce one block. The entries of all joints are in one row, each joint's torque after its columns."""
        assert self._filter is not None
        filtered, columns = self._filter, self._nothing.columns
        rows, step = filtered.rows(len(run)), max(1, TILE // filtered.every)
        widths = [len(c) + 1 for c in columns]
        edges = np.concatenate([[0], np.cumsum(widths)])
        # averaging before the filter, by the compiled function, saves memory
        g = max(d for d in range(1, TOGETHER_AT_MOST + 1) if filtered.averaged % d == 0)
        function = _entry_function(self.base, g)
        again = max(0, len(filtered.taps) - filtered.every) // g  # means shared with the next tile
        entries, work = room = self._room(int(edges[-1]), step * filtered.every // g + again)
        centres = filtered.centres(len(run))
        use = run.use[centres]
        products = [bool(use[:, j].all()) and not self.exact and rows == BLOCK > TALL * w for j, w in enumerate(widths)]
        grams = [np.zeros((w, w)) for w in widths]
        middles = filtered.middles(run.tau) if run.smooth_torque else None
        summed = known = 0
        for low in range(0, rows, step):  # while the tile is in the cache
            high = min(low + step, rows)
            end = (high - 1) * filtered.every + len(filtered.taps)
            piece = slice(low * filtered.every + known * g, end)
            tile = work[: known + (end - piece.start) // g]
            arguments = (x[piece].reshape(len(tile) - known, -1) for x in (run.q, run.v, run.a, past, run.tau))
            function(*arguments, out=tile[known:])
            filtered.of_means(tile, g, entries[low:high])
            known = again if high < rows else 0
            tile[:known] = tile[len(tile) - known :]
            if middles is not None:
                entries[low:high, edges[1:] - 1] = middles[low:high]
            if high - summed >= SUMMED or high == rows:
                for j in np.flatnonzero(products):
                    T = entries[summed:high, edges[j] : edges[j + 1]]
                    grams[j] += T.T @ T
                summed = high
        _check_finite(grams)
        triangles, counts = [], []
        for k, gram in enumerate(grams):
            A = entries[:rows, edges[k] : edges[k + 1]]
            triangles.append(cholesky_qr(A, gram) if products[k] else householder_qr(A[use[:, k]]))
            counts.append(int(use[:, k].sum()))
        _check_finite(triangles)
        self._rooms.append(room)
        return replace(
            self._nothing,
            R=tuple(triangles),
            counts=np.array(counts),
            samples=min(rows * filtered.every, len(run)),
            exact=not any(products),
        )

    def _room(self, width: int, longest: int) -> tuple[Array, Array]:
        """Reusable memory for a block and a tile: touching fresh memory is slow."""
        with contextlib.suppress(IndexError):
            room = self._rooms.pop()
            if len(room[1]) >= longest:
                return room
        return np.empty((BLOCK, width)), np.empty((longest, width))

    def __repr__(self) -> str:
        return (
            f"<Stream of normal equations: {counted(len(self.base.names), 'parameter')} of "
            f"{printable(self.base.model.robot.name)}>"
        )


def _check_finite(matrices: Iterable[Array]) -> None:
    if not all(np.isfinite(M).all() for M in matrices):
        raise InputError("the samples contain numbers that overflow: check their units")


def normal_equations(base: BaseParameters, samples: Samples | Iterable[Samples], *, exact: bool = False) -> NormalEquations:
    """Reduce one or several runs to normal equations.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("ur5e")
    >>> base = dy.identification.base_parameters(robot)
    >>> q, v, a = np.random.default_rng(0).normal(size=(3, 5000, 6))
    >>> found = dy.identification.normal_equations(base, dy.identification.Samples.of(q, v, a, robot.inverse_dynamics(q, v, a)))
    >>> fit = dy.identification.LeastSquares().fit_normal_equations(found)
    >>> bool(np.allclose(fit.coef_, base.prior))
    True
    """
    runs = as_runs(samples) if isinstance(samples, Samples | list | tuple) else samples
    parts = []
    for run in runs:
        filter_of(run)
        stream = Stream(base, exact)
        stream.take(run)
        parts.append(stream.finish())
    return merge(parts)


@functools.lru_cache(maxsize=8)
def _entry_function(base: BaseParameters, samples: int) -> Any:
    """Return a compiled function of the structurally non-zero regressor entries and the torque of each joint, averaged over
    this many samples."""
    pattern, robot = base.pattern, base.model.robot
    sizes: dict[str, Any] = {"q": robot.nq, "v": robot.n, "a": robot.n, "past": base.model.past_size, "tau": robot.n}

    def shown(robot: Robot, q: Array, v: Array, a: Array, past: Array, tau: Array) -> Array:
        total: Any = 0.0
        for parts in zip(*(x.reshape(samples, -1) for x in (q, v, a, past, tau)), strict=True):
            Y = base.model.rows(robot, *parts[:4])[:, base.independent]
            total = total + np.concatenate([np.append(Y[j, shows], parts[4][j]) for j, shows in enumerate(pattern)])
        return np.asarray(total / samples if samples > 1 else total)

    shape = f"{pattern.shape} {np.packbits(pattern).tobytes().hex()}"
    identity = None if base.identity is None else f"{base.identity} {shape} mean of {samples}"
    return robot.compile(shown, identity=identity, **{name: samples * size for name, size in sizes.items()}).ufunc()
