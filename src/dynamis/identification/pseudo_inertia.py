"""The pseudo-inertia of a body: the 4 × 4 matrix J = ∫ (x, 1)(x, 1)ᵀ dm, linear in the ten inertial parameters.

    J(π) = [[Σ, h], [hᵀ, m]],    Σ = ½ tr(I) 1 − I,    I about the link frame's origin

A mass distribution with parameters π exists if and only if J is positive semi-definite: this implies positive mass,
non-negative moments and the triangle inequality [Wensing 2018]. The cone of these matrices also has distances between bodies
that do not depend on units or frames: the entropic divergence [Lee 2019] and, to second order around a body, the quadratic
form tr(J₀⁻¹ ΔJ J₀⁻¹ ΔJ). Quadratic programs over these cones,

    min  ½ wᵀ P w + qᵀ w − κ Σ log det B_k    with   B_k = unpacked(b_k + M_k w) ⪰ ε,   lower ≤ A w ≤ upper,

are solved by Clarabel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError

Array = npt.NDArray[Any]

SLIM = 0.01  # least second moment of a reference body, relative to its largest

_UPPER = tuple((i, j) for j in range(4) for i in range(j + 1))  # column by column, as cone solvers pack a triangle
_ROWS, _COLUMNS = (np.array(side) for side in zip(*_UPPER, strict=True))
_PLACES = np.array([[_UPPER.index((min(i, j), max(i, j))) for j in range(4)] for i in range(4)])  # of a matrix's entries
_STRETCH = np.where(_ROWS == _COLUMNS, 1.0, np.sqrt(2.0))  # so that |packed(X)| is the Frobenius norm of X


def _basis() -> Array:
    """Return A (10, 4, 4) with J(π) = Σ π_k A_k."""
    A = np.zeros((10, 4, 4))
    A[0, 3, 3] = 1.0
    for k in range(3):
        A[1 + k, k, 3] = A[1 + k, 3, k] = 1.0
    for k, axis in ((4, 0), (6, 1), (9, 2)):
        A[k, :3, :3] = 0.5 * np.eye(3)
        A[k, axis, axis] = -0.5
    for k, i, j in ((5, 0, 1), (7, 0, 2), (8, 1, 2)):
        A[k, i, j] = A[k, j, i] = -1.0
    A.setflags(write=False)
    return A


BASIS = _basis()


def pseudo_inertia(parameters: Any) -> Array:
    """Return J (…, 4, 4) of ten parameters (…, 10).

    >>> pseudo_inertia([2.0, 0, 0, 0, 0.5, 0, 0.5, 0, 0, 0.5]).diagonal().tolist()
    [0.25, 0.25, 0.25, 2.0]
    """
    return np.asarray(np.tensordot(_ten(parameters), BASIS, axes=1))


def parameters_of(J: Any) -> Array:
    """Return the ten parameters (…, 10) of a symmetric J (…, 4, 4): I = tr(Σ) 1 − Σ."""
    J = np.asarray(J, dtype=float)
    xx, yy, zz = J[..., 0, 0], J[..., 1, 1], J[..., 2, 2]
    entries = [J[..., 3, 3], J[..., 0, 3], J[..., 1, 3], J[..., 2, 3], yy + zz, -J[..., 0, 1], xx + zz]
    return np.stack([*entries, -J[..., 0, 2], -J[..., 1, 2], xx + yy], axis=-1)


def packed(X: Array) -> Array:
    """Return the upper triangle of a symmetric X (…, 4, 4) as ten numbers with the same norm: off-diagonals times √2."""
    return np.asarray(X[..., _ROWS, _COLUMNS] * _STRETCH)


def unpacked(x: Array) -> Array:
    """Return the symmetric (…, 4, 4) matrix of ten packed numbers."""
    return np.take(np.asarray(x, dtype=float) / _STRETCH, _PLACES, axis=-1)


def upper_factor(J: Array) -> Array:
    """Return the upper triangular U with positive diagonal and J = U Uᵀ; raise LinAlgError if J is not positive definite."""
    return np.ascontiguousarray(np.linalg.cholesky(J[..., ::-1, ::-1])[..., ::-1, ::-1])


def well_inside(parameters: Any, *, stand_in_mass: float = 1.0, thin: float = 0.01) -> Array:
    """Return a nearby body with positive definite, well-conditioned J, as a reference for distances.

    Second moments about the centre of mass are raised to at least `SLIM` times the largest and mass · ``thin``² [m]. A
    massless body has the ``stand_in_mass``, at the frame's origin, with a radius of gyration of at least 5 · ``thin`` about
    each axis. Well-conditioned bodies are returned unchanged.
    """
    pi = _ten(parameters)
    if pi[0] <= 0.0:
        pi[:4], thin = [stand_in_mass, 0.0, 0.0, 0.0], 5.0 * thin
    m, h = pi[0], pi[1:4]
    J = pseudo_inertia(pi)
    values, vectors = np.linalg.eigh(J[:3, :3] - np.outer(h, h) / m)
    raised = np.maximum(values, max(SLIM * values[-1], m * thin**2))
    if (raised == values).all():
        return pi
    J[:3, :3] = (vectors * raised) @ vectors.T + np.outer(h, h) / m
    return parameters_of(J)


def _ten(parameters: Any) -> Array:
    pi = np.array(parameters, dtype=float)
    if pi.ndim == 0 or pi.shape[-1] != 10:
        raise InputError(f"a body has ten inertial parameters (m, mx, my, mz, Ixx, …), got shape {pi.shape}")
    return pi


LEAST = 1e-7  # margin ε, relative to the prior inertia
ONE = packed(np.eye(4))
UNITS = unpacked(np.eye(10))  # the matrix of each packed number
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
    from scipy import sparse

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
