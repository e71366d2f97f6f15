"""The pseudo-inertia of a body: the 4 × 4 matrix J = ∫ (x, 1)(x, 1)ᵀ dm, linear in the ten inertial parameters.

    J(π) = [[Σ, h], [hᵀ, m]],    Σ = ½ tr(I) 1 − I,    I about the link frame's origin

A mass distribution with parameters π exists if and only if J is positive semi-definite: this implies positive mass,
non-negative moments and the triangle inequality [Wensing 2018]. The cone of these matrices also has distances between bodies
that do not depend on units or frames: the entropic divergence [Lee 2019] and, to second order around a body, the quadratic
form tr(J₀⁻¹ ΔJ J₀⁻¹ ΔJ).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError

Array = npt.NDArray[Any]

_UPPER = tuple((i, j) for j in range(4) for i in range(j + 1))  # column by column, as cone solvers pack a triangle
_ROWS, _COLUMNS = (np.array(side) for side in zip(*_UPPER, strict=True))
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
    x = np.asarray(x, dtype=float)
    X = np.zeros((*x.shape[:-1], 4, 4))
    X[..., _ROWS, _COLUMNS] = X[..., _COLUMNS, _ROWS] = x / _STRETCH
    return X


def upper_factor(J: Array) -> Array:
    """Return the upper triangular U with positive diagonal and J = U Uᵀ; raise LinAlgError if J is not positive definite."""
    return np.ascontiguousarray(np.linalg.cholesky(J[..., ::-1, ::-1])[..., ::-1, ::-1])


def smallest_eigenvalue(parameters: Any) -> Any:
    """Return the smallest eigenvalue of J over its trace (…): negative if physically inconsistent, whatever the size."""
    J = pseudo_inertia(parameters)
    size = np.maximum(np.abs(np.trace(J, axis1=-2, axis2=-1)), 1e-300)
    return (np.linalg.eigvalsh(J)[..., 0] / size)[()]


def is_consistent(parameters: Any, tolerance: float = 1e-12) -> bool:
    """Return whether ten parameters are physically consistent, up to a relative tolerance.

    Two independent tests must agree: the eigenvalues of J, and positive mass with the triangle inequality of the principal
    moments about the centre of mass. A massless body must have all parameters zero.

    >>> is_consistent([1.0, 0, 0, 0, 1.0, 0, 1.0, 0, 0, 2.1])
    False
    """
    pi = _ten(parameters)
    if not np.isfinite(pi).all():
        return False
    if not pi.any():
        return True
    return bool(smallest_eigenvalue(pi) >= -tolerance) and _triangle_holds(pi, tolerance)


def _triangle_holds(pi: Array, tolerance: float) -> bool:
    m, h = pi[0], pi[1:4]
    I = pi[[4, 5, 7, 5, 6, 8, 7, 8, 9]].reshape(3, 3)
    size = np.trace(I) + m
    if m <= 0.0:
        return bool(m == 0.0 and not h.any() and _sides(I) >= -tolerance * size)
    c = h / m
    return bool(_sides(I - m * (np.dot(c, c) * np.eye(3) - np.outer(c, c))) >= -tolerance * size)


def _sides(I: Array) -> float:
    """Return the smaller of the least principal moment and the margin of the triangle inequality."""
    a, b, c = np.linalg.eigvalsh(I)
    return float(min(a, a + b - c))


def entropic_divergence(parameters: Any, reference: Any) -> float:
    """Return tr(J₀⁻¹ J) − log det(J₀⁻¹ J) − 4: zero at the reference, infinite at the boundary of physical consistency.

    This is the Bregman divergence of −log det; near the reference it is half the squared pullback distance [Lee 2019].

    >>> ball = [2.0, 0, 0, 0, 0.5, 0, 0.5, 0, 0, 0.5]
    >>> round(entropic_divergence(ball, ball), 12)
    0.0
    """
    J, J0 = pseudo_inertia(parameters), pseudo_inertia(reference)
    try:
        W = np.linalg.solve(upper_factor(J0), upper_factor(J))
    except np.linalg.LinAlgError:
        _require_body(reference)
        return float("inf")
    return float((W**2).sum() - 2.0 * np.log(np.diagonal(W)).sum() - 4.0)


def nearest_consistent(parameters: Any, margin: float = 1e-6, length: float | None = None) -> Array:
    """Return the parameters with positive definite J that are nearest in the Frobenius norm of J.

    ``length`` [m] is the unit of length, by default the radius of gyration about the frame's origin; eigenvalues below
    ``margin`` times the largest are raised to this value. Mass and first moment may change, unlike with
    `Inertia.nearest_consistent`.
    """
    J = pseudo_inertia(parameters)
    if length is None:
        spread = np.trace(J[:3, :3]) / J[3, 3] if J[3, 3] > 0.0 else 0.0
        length = float(np.sqrt(spread)) if spread > 0.0 else 0.1
    S = np.array([length, length, length, 1.0])
    values, vectors = np.linalg.eigh(J / np.outer(S, S))
    if values[-1] <= 0.0:
        raise InputError("no body is near these parameters: neither the mass nor any second moment is positive")
    raised = np.maximum(values, margin * values[-1])
    if (raised == values).all():
        return _ten(parameters)
    return parameters_of((vectors * raised) @ vectors.T * np.outer(S, S))


def well_inside(parameters: Any, *, stand_in_mass: float = 1.0, slim: float = 0.01, thin: float = 0.01) -> Array:
    """Return a nearby body with positive definite, well-conditioned J, as a reference for distances.

    Second moments about the centre of mass are raised to at least ``slim`` times the largest and mass · ``thin``² [m]. A
    massless body is replaced by a ball of ``stand_in_mass`` at the frame's origin, with a radius of gyration of 5 · ``thin``
    about each axis. Well-conditioned bodies are returned unchanged.
    """
    pi = _ten(parameters)
    m, h = pi[0], pi[1:4]
    if m <= 0.0:
        return parameters_of(np.diag([stand_in_mass * (5.0 * thin) ** 2] * 3 + [stand_in_mass]))
    J = pseudo_inertia(pi)
    values, vectors = np.linalg.eigh(J[:3, :3] - np.outer(h, h) / m)
    raised = np.maximum(values, max(slim * values[-1], m * thin**2))
    if (raised == values).all():
        return pi
    J[:3, :3] = (vectors * raised) @ vectors.T + np.outer(h, h) / m
    return parameters_of(J)


def _ten(parameters: Any) -> Array:
    pi = np.array(parameters, dtype=float)
    if pi.ndim == 0 or pi.shape[-1] != 10:
        raise InputError(f"a body has ten inertial parameters (m, mx, my, mz, Ixx, …), got shape {pi.shape}")
    return pi


def _require_body(reference: Any) -> None:
    if not smallest_eigenvalue(reference) > 0.0:
        raise InputError("the pseudo-inertia of the reference must be positive definite; see well_inside()")
