"""Quadratic programs over physically consistent inertias, solved by Clarabel.

min  ½ wᵀ P w + qᵀ w − κ Σ log det B_k    with   B_k = unpacked(b_k + M_k w) ⪰ ε,   lower ≤ A w ≤ upper
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dynamis.identification.pseudo_inertia import packed, unpacked

Array = npt.NDArray[Any]

LEAST = 1e-7  # margin ε, relative to the prior inertia
ONE = packed(np.eye(4))
GOAL = 1e-10
_SMALL = [(i, j) for j in range(4) for i in range(j + 1)]
_LARGE = [(i, j) for j in range(8) for i in range(j + 1)]
_WORDS = {
    "Solved": "solved",
    "AlmostSolved": "solved with reduced accuracy",
    "PrimalInfeasible": "no physically consistent parameters satisfy the bounds",
    "AlmostPrimalInfeasible": "probably no physically consistent parameters satisfy the bounds",
}


@dataclass(frozen=True, eq=False)
class Rows:
    """lower ≤ A w ≤ upper, with a name for each row."""

    A: Array
    lower: Array
    upper: Array
    names: tuple[str, ...]

    def hold(self, w: Array, tolerance: float) -> bool:
        """Return whether w satisfies them up to a tolerance."""
        at, room = self.A @ w, tolerance * np.linalg.norm(self.A, axis=1)
        return bool((at >= self.lower - room).all() and (at <= self.upper + room).all())

    def moved(self, start: Array, W: Array) -> Rows:
        """Return the same constraints for x = start + W w."""
        at = self.A @ start
        return Rows(self.A @ W, self.lower - at, self.upper - at, self.names)


@dataclass(frozen=True, eq=False)
class Programme:
    """The program; ``bodies`` holds (b_k, M_k) of each link, ``log_det`` is κ, ``start`` a strictly feasible w if one is
    known."""

    P: Array
    q: Array
    bodies: list[tuple[Array, Array]]
    rows: Rows
    log_det: float = 0.0
    least: float = LEAST
    start: Array | None = None


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of a solver: the point, a status text, whether it is a minimum, and whether the problem is infeasible."""

    x: Array
    status: str
    solved: bool
    impossible: bool = False


def minimise(programme: Programme) -> Solution:
    """Solve the program: A w + s = b with s in the cones."""
    import clarabel  # loads a compiled library

    n, log_det, bodies = len(programme.q), programme.log_det, programme.bodies
    extra = 14 * len(bodies) if log_det else 0
    A, b, cones = _rows(clarabel, programme, extra)
    for k, (start, M) in enumerate(bodies):
        if log_det:
            rows, right = _log_det_rows(start, M, k, n + extra)
            cones += [clarabel.PSDTriangleConeT(8), *(clarabel.ExponentialConeT() for _ in range(4))]
        else:
            rows, right = -M, start - programme.least * ONE
            cones.append(clarabel.PSDTriangleConeT(4))
        A.append(rows)
        b.append(right)
    costs = np.append(programme.q, np.tile([*np.zeros(10), *np.full(4, -log_det)], extra // 14))
    quadratic = sparse.block_diag([sparse.csc_matrix(np.triu(programme.P)), sparse.csc_matrix((extra, extra))], format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = GOAL
    columns = sparse.csc_matrix(np.vstack(A))
    # one thread per small program: more would compete with each other
    found = clarabel.DefaultSolver(quadratic, costs, columns, np.concatenate(b), cones, settings).solve()
    status = str(found.status)
    words = _WORDS.get(status, f"Clarabel stopped: {status}")
    w, solved = np.array(found.x)[:n], status in ("Solved", "AlmostSolved")
    return Solution(_moved_inside(programme, w) if solved else w, words, solved, "PrimalInfeasible" in status)


def _moved_inside(programme: Programme, w: Array) -> Array:
    """Return w, moved towards the interior point ``start`` until it is strictly inside.

    Clarabel's tolerances are relative to the largest numbers of the program; physical consistency has none.
    """
    start = programme.start
    if _is_inside(programme, w) or start is None or not _is_inside(programme, start):
        return w
    for share in 10.0 ** np.arange(-9.0, 0.0):
        moved = w + share * (start - w)
        if _is_inside(programme, moved):
            return np.asarray(moved)
    return w


def _is_inside(programme: Programme, w: Array) -> bool:
    least = 0.5 * programme.least
    bodies = all(np.linalg.eigvalsh(unpacked(b + M @ w))[0] >= least for b, M in programme.bodies)
    return bodies and programme.rows.hold(w, 1e-9)


def _rows(clarabel: Any, programme: Programme, extra: int) -> tuple[list[Array], list[Array], list[Any]]:
    rows = programme.rows
    # normalized, so that tolerances are equal for all rows
    size = np.linalg.norm(rows.A, axis=1)
    A = np.hstack([rows.A / size[:, None], np.zeros((len(size), extra))])
    lower, upper = rows.lower / size, rows.upper / size
    equal = rows.lower == rows.upper
    above, below = np.isfinite(upper) & ~equal, np.isfinite(lower) & ~equal
    cones: list[Any] = []
    if above.any() or below.any():
        cones.append(clarabel.NonnegativeConeT(int(above.sum() + below.sum())))
    if equal.any():
        cones.append(clarabel.ZeroConeT(int(equal.sum())))
    return [A[above], -A[below], A[equal]], [upper[above], -lower[below], lower[equal]], cones


def _log_det_rows(start: Array, M: Array, k: int, columns: int) -> tuple[Array, Array]:
    """Encode log det B ≥ Σ t_i by a lower triangular Z: [[B, Z], [Zᵀ, diag Z]] ⪰ 0 and t_i ≤ log Z_ii."""
    n = M.shape[1]
    first = n + 14 * k  # ten entries of Z, then four t
    A, b = np.zeros((36 + 12, columns)), np.zeros(36 + 12)
    B0, BM = unpacked(start), unpacked(M.T)
    place = {(j, i): first + number for number, (i, j) in enumerate(_SMALL)}
    for number, (i, j) in enumerate(_LARGE):
        stretch = 1.0 if i == j else np.sqrt(2.0)
        if j < 4:
            A[number, :n], b[number] = -stretch * BM[:, i, j], stretch * B0[i, j]
        elif i < 4 and (i, j - 4) in place:
            A[number, place[i, j - 4]] = -stretch
        elif i == j:
            A[number, place[i - 4, i - 4]] = -1.0
    for i in range(4):  # (t, 1, Z_ii) with exp(t) ≤ Z_ii
        at = 36 + 3 * i
        A[at, first + 10 + i] = -1.0
        b[at + 1] = 1.0
        A[at + 2, place[i, i]] = -1.0
    return A, b
