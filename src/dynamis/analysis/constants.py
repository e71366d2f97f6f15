"""The constants of the structural properties as functions of q: values at points, and bounds over boxes.

Each class maximises: ``point`` gives the values of f at points, ``bound`` an upper bound of f over the box and the contribution
of each variable to it, by which the box is split. A minimum is the maximum of −f. Matrices and vectors are given as
``Linearised`` entries, in which the bounds are exact to first order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.analysis.linearised import OUTWARD_FACTOR, Linearised
from dynamis.tolerances import RECURSION_ROUNDING, UNIT_ROUNDOFF

Array = npt.NDArray[Any]


class Constant(ABC):
    """A function of the entries of a matrix or vector, to be maximised."""

    @abstractmethod
    def point(self, values: Array) -> Array:
        """(N, m) entries to (N,) values."""

    @abstractmethod
    def bound(self, f: Linearised) -> tuple[Array, Array]:
        """Upper bounds over the boxes (N,), and the share of each variable (N, d)."""


class LargestSum(Constant):
    """max_g Σ_i w_gi |f_i|, with weights w ≥ 0: the 1- and ∞-norms."""

    def __init__(self, weights: Array) -> None:
        self.weights = weights

    def point(self, values: Array) -> Array:
        return (np.abs(values) @ self.weights.T).max(axis=1)

    def bound(self, f: Linearised) -> tuple[Array, Array]:
        """|x| is bounded above by its chord, a linear function: slopes are added before they are bounded."""
        low, high = f.value - f.reach, f.value + f.reach
        width = high - low
        chord = (np.abs(high) - np.abs(low)) / np.where(width > 0.0, width, 1.0)
        middle = 0.5 * (np.abs(high) + np.abs(low)) + np.abs(chord) * f.spread
        slopes = np.abs(np.einsum("gm,nm,nmd->ngd", self.weights, chord, f.slope, optimize=True))
        sums = middle @ self.weights.T + np.einsum("ngd,nd->ng", slopes, f.half)
        return sums.max(axis=1) * OUTWARD_FACTOR, f.shares


class LeastSum(LargestSum):
    """−max_g Σ_i w_gi |f_i|: the smallest value of a norm."""

    def point(self, values: Array) -> Array:
        return -super().point(values)

    def bound(self, f: Linearised) -> tuple[Array, Array]:
        """|x| is bounded below by ± x, with the sign at the centre."""
        signs = np.sign(f.value)
        slopes = np.abs(np.einsum("gm,nm,nmd->ngd", self.weights, signs, f.slope, optimize=True))
        below = f.spread @ self.weights.T + np.einsum("ngd,nd->ng", slopes, f.half)
        sums = np.abs(f.value) @ self.weights.T
        return -(sums - below - (OUTWARD_FACTOR - 1.0) * (sums + below)).max(axis=1), f.shares


class Length(Constant):
    """The 2-norm of a vector."""

    def point(self, values: Array) -> Array:
        return np.sqrt((values * values).sum(axis=1))

    def bound(self, f: Linearised) -> tuple[Array, Array]:
        """‖f + S d‖² ≤ ‖f‖² + 2 Σ_k r_k |fᵀ s_k| + rᵀ |SᵀS| r."""
        along = np.abs(np.einsum("nm,nmd->nd", f.value, f.slope))
        gram = np.abs(np.einsum("nmd,nme->nde", f.slope, f.slope, optimize=True))
        squares = (f.value**2).sum(axis=1) + 2.0 * (along * f.half).sum(axis=1)
        squares = squares + np.einsum("nd,nde,ne->n", f.half, gram, f.half, optimize=True)
        spread = np.sqrt((f.spread**2).sum(axis=1))
        return (np.sqrt(squares * OUTWARD_FACTOR) + spread) * OUTWARD_FACTOR, f.shares


class LargestEigenvalue(Constant):
    """λ_max of a symmetric matrix; ``places`` (n, n) are the indices of the entries."""

    def __init__(self, places: Array) -> None:
        self.places = places
        self.n = len(places)
        # the sums of absolute values of the rows, as weights of the entries
        self.rows = np.array([np.bincount(row, minlength=places.max() + 1) for row in places], dtype=float)

    def point(self, values: Array) -> Array:
        return np.linalg.eigvalsh(values[:, self.places])[:, -1]

    def bound(self, f: Linearised) -> tuple[Array, Array]:
        """Over wide boxes the largest absolute row sum is the tighter bound."""
        eigenvalue, shares = largest_eigenvalue(self.matrices(f))
        rows = LargestSum(self.rows).bound(f)[0]
        return np.minimum(eigenvalue, rows), shares

    def matrices(self, f: Linearised) -> Linearised:
        """The entries as matrices (N, n, n) and slopes (N, d, n, n)."""
        slope, radius = (np.moveaxis(x[:, self.places], -1, 1) for x in (f.slope, f.radius))
        return Linearised(f.value[:, self.places], f.error[:, self.places], slope, radius, f.half)


class LeastLargestEigenvalue(LargestEigenvalue):
    """−λ_max of a symmetric matrix: the smallest value of its 2-norm."""

    def point(self, values: Array) -> Array:
        return -super().point(values)

    def bound(self, f: Linearised) -> tuple[Array, Array]:
        """λ_max ≥ xᵀ M x for the eigenvector x at the centre."""
        M = self.matrices(f)
        x = np.linalg.eigh(M.value)[1][:, :, -1]
        size = np.abs(x)
        value = np.einsum("ni,nij,nj->n", x, M.value, x, optimize=True)
        slopes = np.abs(np.einsum("ni,ndij,nj->nd", x, M.slope, x, optimize=True))
        spread = np.einsum("ni,nij,nj->n", size, f.spread[:, self.places] + _rounding(M), size, optimize=True)
        length = 1.0 + 8 * self.n * UNIT_ROUNDOFF
        return -(value - (slopes * f.half).sum(axis=1) - spread) / length, f.shares


class SmallestEigenvalue(LargestEigenvalue):
    """−λ_min of a symmetric matrix."""

    def point(self, values: Array) -> Array:
        return -np.linalg.eigvalsh(values[:, self.places])[:, 0]

    def bound(self, f: Linearised) -> tuple[Array, Array]:
        M = self.matrices(f)
        plain, _ = largest_eigenvalue(M._replace(value=-M.value, slope=-M.slope))
        scaled, shares = smallest_eigenvalue(M)
        return np.minimum(plain, -scaled), shares


class Unfolding(Constant):
    """The spectral norm of a matrix U (rows, columns) whose entries are given by ``places``."""

    def __init__(self, places: Array) -> None:
        self.places = places

    def point(self, values: Array) -> Array:
        return np.linalg.norm(values[:, self.places], 2, axis=(1, 2))

    def bound(self, f: Linearised) -> tuple[Array, Array]:
        """‖U‖² = λ_max(U Uᵀ), whose terms of second order in q − c are bounded by norms."""
        U, S = f.value[:, self.places], np.moveaxis(f.slope[:, self.places], -1, 1)
        cross = S @ np.swapaxes(U, -1, -2)[:, None]
        gram = U @ np.swapaxes(U, -1, -2)
        size = np.abs(U) + np.einsum("ndij,nd->nij", np.abs(S), f.half)
        error = 4 * U.shape[-1] * UNIT_ROUNDOFF * size @ np.swapaxes(size, -1, -2)
        linear = Linearised(gram, error, cross + np.swapaxes(cross, -1, -2), np.zeros_like(cross), f.half)
        first, _ = largest_eigenvalue(linear)
        moved = (np.sqrt((S * S).sum(axis=(2, 3))) * f.half).sum(axis=1)
        spread = np.sqrt((f.spread[:, self.places] ** 2).sum(axis=(1, 2)))
        return (np.sqrt((first + moved**2) * OUTWARD_FACTOR) + spread) * OUTWARD_FACTOR, f.shares


def largest_eigenvalue(M: Linearised) -> tuple[Array, Array]:
    """λ_max over each box, from M in the basis of its eigenvectors at the centre.

    With upper bounds α of the leading diagonal entry, β of λ_max of the remaining block and ε of the coupling,
    λ_max ≤ ½ (α + β) + √(¼ (α − β)² + ε²): as ε shrinks with the box, the bound is exact to first order.
    """
    V = np.linalg.eigh(M.value)[1][:, :, ::-1]
    T, moved, shares = _in_basis(M, V)
    defect = _defect(V)
    alpha = T[:, 0, 0] + moved[:, 0, 0]
    beta, epsilon = _rest(T, moved)
    alone = np.isneginf(beta)
    beta = np.where(alone, alpha, beta)
    bound = np.where(alone, alpha, 0.5 * (alpha + beta) + np.sqrt(0.25 * (alpha - beta) ** 2 + epsilon**2))
    return np.maximum(bound * (1.0 + defect), bound * (1.0 - defect)) + np.abs(bound) * (OUTWARD_FACTOR - 1.0), shares


def smallest_eigenvalue(M: Linearised) -> tuple[Array, Array]:
    """λ_min over each box, from M scaled by the roots of its eigenvalues at the centre.

    M ≥ t where A = Wᵀ M W ≥ t Λ⁻¹, with W = V Λ^-½, so that the bound depends on relative changes of M only. With lower bounds
    α, β of A's first entry and of λ_min of the remaining block, and a bound ε of the coupling, s = t / λ_1 is the smaller root
    of (α − s)(β − κ s) = ε², κ = λ_1 / λ_2.
    """
    eigenvalues, V = np.linalg.eigh(M.value)
    eigenvalues = np.maximum(eigenvalues, RECURSION_ROUNDING * np.abs(eigenvalues).max(axis=1, keepdims=True) + 1e-300)
    W = V / np.sqrt(eigenvalues)[:, None, :]
    A, moved, shares = _in_basis(M, W)
    defect = _defect(V)
    alpha = A[:, 0, 0] - moved[:, 0, 0]
    beta, epsilon = _rest(-A, moved)
    if A.shape[1] == 1:
        s = alpha
    else:
        kappa = eigenvalues[:, 0] / eigenvalues[:, 1]
        total = -beta + kappa * alpha
        inner = np.sqrt((-beta - kappa * alpha) ** 2 + 4.0 * kappa * epsilon**2)
        # where the rest is not positive for sure, nothing is known
        positive = (beta < 0.0) & (alpha > 0.0) & (-beta * alpha > epsilon**2)
        s = np.where(positive, 2.0 * (-beta * alpha - epsilon**2) / np.where(positive, total + inner, 1.0), -np.inf)
    t = s * eigenvalues[:, 0]
    return np.where(t > 0.0, t * (1.0 - defect) / OUTWARD_FACTOR, -np.inf), shares


def _in_basis(M: Linearised, W: Array) -> tuple[Array, Array, Array]:
    """Wᵀ M W at the centre, bounds of the deviation of its entries over the box, and the contributions of the variables."""
    Wt, size = np.swapaxes(W, -1, -2), np.abs(W)
    size_t = np.swapaxes(size, -1, -2)
    T = Wt @ M.value @ W
    by_variable = np.abs(Wt[:, None] @ M.slope @ W[:, None]) + size_t[:, None] @ M.radius @ size[:, None]
    by_variable = by_variable * M.half[:, :, None, None]
    moved = by_variable.sum(axis=1) + size_t @ (M.error + _rounding(M)) @ size
    return T, moved * OUTWARD_FACTOR, np.sqrt((by_variable**2).sum(axis=(2, 3)))


def _defect(V: Array) -> Array:
    """Twice a bound of ‖VᵀV − 1‖: the effect on eigenvalues of V not being exactly orthogonal."""
    n = V.shape[1]
    gram = np.swapaxes(V, -1, -2) @ V - np.eye(n)
    return 2.0 * np.sqrt((gram**2).sum(axis=(1, 2))) + 16 * n * n * UNIT_ROUNDOFF


def _rounding(M: Linearised) -> Array:
    """A bound of the rounding error of products of M with two matrices, per entry of M."""
    n = M.value.shape[-1]
    changed = np.einsum("ndij,nd->nij", np.abs(M.slope) + M.radius, M.half)
    return 8 * n * UNIT_ROUNDOFF * (np.abs(M.value) + changed + M.error)


def _rest(T: Array, moved: Array) -> tuple[Array, Array]:
    """An upper bound of λ_max without the first row and column, and the norm of the coupling row."""
    n = T.shape[1]
    if n == 1:
        return np.full(len(T), -np.inf), np.zeros(len(T))
    rest = np.abs(T[:, 1:, 1:]) * (1.0 - np.eye(n - 1)) + moved[:, 1:, 1:]
    norm = np.minimum(rest.sum(axis=2).max(axis=1), np.sqrt((rest**2).sum(axis=(1, 2))))
    row = np.abs(T[:, 0, 1:]) + moved[:, 0, 1:]
    top = np.einsum("nii->ni", T)[:, 1:].max(axis=1)
    return top + norm * OUTWARD_FACTOR, np.sqrt((row**2).sum(axis=1)) * OUTWARD_FACTOR


LEAST = (LeastSum, LeastLargestEigenvalue, SmallestEigenvalue)  # these maximise −f
