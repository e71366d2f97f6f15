"""The pseudo-inertia of a body: the 4 × 4 matrix J = ∫ (x, 1)(x, 1)ᵀ dm, linear in the ten inertial parameters.

    J(π) = [[Σ, h], [hᵀ, m]],    Σ = ½ tr(I) 1 − I,    I about the link frame's origin

Some distribution of mass has the parameters π exactly when J is positive semi-definite: positive mass, moments that are not
negative and the triangle inequality are all contained in it [Wensing 2018]. The cone of these matrices also measures how far
two bodies are apart in a way that does not depend on units or frames: the entropic divergence [Lee 2019] and, to second
order around a body, the quadratic form tr(J₀⁻¹ ΔJ J₀⁻¹ ΔJ).
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
    """A (10, 4, 4) with J(π) = Σ π_k A_k."""
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
    """J (…, 4, 4) of ten parameters (…, 10).

    >>> pseudo_inertia([2.0, 0, 0, 0, 0.5, 0, 0.5, 0, 0, 0.5]).diagonal().tolist()
    [0.25, 0.25, 0.25, 2.0]
    """
    return np.asarray(np.tensordot(_ten(parameters), BASIS, axes=1))


def parameters_of(J: Any) -> Array:
    """The ten parameters (…, 10) of a symmetric J (…, 4, 4): I = tr(Σ) 1 − Σ."""
    J = np.asarray(J, dtype=float)
    xx, yy, zz = J[..., 0, 0], J[..., 1, 1], J[..., 2, 2]
    entries = [J[..., 3, 3], J[..., 0, 3], J[..., 1, 3], J[..., 2, 3], yy + zz, -J[..., 0, 1], xx + zz]
    return np.stack([*entries, -J[..., 0, 2], -J[..., 1, 2], xx + yy], axis=-1)


def packed(X: Array) -> Array:
    """The upper triangle of a symmetric X (…, 4, 4) as ten numbers with the same norm: off-diagonal ones times √2."""
    return np.asarray(X[..., _ROWS, _COLUMNS] * _STRETCH)


def unpacked(x: Array) -> Array:
    """The symmetric (…, 4, 4) matrix of ten packed numbers."""
    x = np.asarray(x, dtype=float)
    X = np.zeros((*x.shape[:-1], 4, 4))
    X[..., _ROWS, _COLUMNS] = X[..., _COLUMNS, _ROWS] = x / _STRETCH
    return X


def upper_factor(J: Array) -> Array:
    """The upper triangular U with positive diagonal and J = U Uᵀ; raises LinAlgError where J is not positive definite."""
    return np.ascontiguousarray(np.linalg.cholesky(J[..., ::-1, ::-1])[..., ::-1, ::-1])


def smallest_eigenvalue(parameters: Any) -> Any:
    """The smallest eigenvalue of J over its trace (…): negative for what no body can have, whatever its size."""
    J = pseudo_inertia(parameters)
    size = np.maximum(np.abs(np.trace(J, axis1=-2, axis2=-1)), 1e-300)
    return (np.linalg.eigvalsh(J)[..., 0] / size)[()]


def is_consistent(parameters: Any, tolerance: float = 1e-12) -> bool:
    """Whether a real body can have these ten parameters, up to a relative tolerance.

    Two independent tests must agree: the eigenvalues of J, and positive mass with the triangle inequality of the principal
    moments about the centre of mass. A body without mass must have nothing else either.

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
    """The smaller of the least principal moment and the gap of the triangle inequality."""
    a, b, c = np.linalg.eigvalsh(I)
    return float(min(a, a + b - c))


def entropic_divergence(parameters: Any, reference: Any) -> float:
    """tr(J₀⁻¹ J) − log det(J₀⁻¹ J) − 4: zero at the reference, infinite at the border of what a body can have.

    The Bregman divergence of −log det; near the reference it is half the squared pullback distance [Lee 2019].

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


def pullback_metric(reference: Any) -> Array:
    """The 10 × 10 matrix M with Δπᵀ M Δπ = tr(J₀⁻¹ ΔJ J₀⁻¹ ΔJ): the squared distance, as a fraction of the reference."""
    _require_body(reference)
    E = np.linalg.solve(pseudo_inertia(reference), BASIS)
    return np.einsum("kij,lji->kl", E, E)


def nearest_consistent(parameters: Any, margin: float = 1e-6, length: float | None = None) -> Array:
    """The ten parameters with J positive definite that are nearest in the Frobenius norm of J.

    Distances are counted in units of ``length`` [m], the body's own radius of gyration about the frame's origin unless given;
    eigenvalues below ``margin`` times the largest are raised to that. Mass and first moment may change, where
    `Inertia.nearest_consistent` keeps them.
    """
    J = pseudo_inertia(parameters)
    if length is None:
        spread = np.trace(J[:3, :3]) / J[3, 3] if J[3, 3] > 0.0 else 0.0
        length = float(np.sqrt(spread)) if spread > 0.0 else 0.1
    S = np.array([length, length, length, 1.0])
    values, vectors = np.linalg.eigh(J / np.outer(S, S))
    if values[-1] <= 0.0:
        raise InputError("no body is near these parameters: neither mass nor any second moment is positive")
    raised = np.maximum(values, margin * values[-1])
    if (raised == values).all():
        return _ten(parameters)
    return parameters_of((vectors * raised) @ vectors.T * np.outer(S, S))


def well_inside(parameters: Any, *, stand_in_mass: float = 1.0, slim: float = 0.01, thin: float = 0.01) -> Array:
    """A body near the given one that is thick enough to measure distances by: J positive definite and well conditioned.

    Second moments about the centre of mass are raised to ``slim`` times the largest and to mass · ``thin``² [m]. A body
    without mass is replaced by a ball of ``stand_in_mass`` at the frame's origin, with five times this radius of gyration about
    each axis. Bodies that are thick already are returned as they are.
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
        raise InputError(f"a body has ten inertial parameters (m, mx, my, mz, Ixx, …), got the shape {pi.shape}")
    return pi


def _require_body(reference: Any) -> None:
    if not smallest_eigenvalue(reference) > 0.0:
        raise InputError("the reference must be a body with mass and extent in all directions; see well_inside()")
