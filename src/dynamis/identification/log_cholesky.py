"""Log-Cholesky parameters of a body: a bijection between θ in R¹⁰ and the physically consistent inertias.

    J = U Uᵀ,   U = e^α ⎡e^d₁  s₁₂  s₁₃  t₁⎤     θ = (α, d₁, d₂, d₃, s₁₂, s₂₃, s₁₃, t₁, t₂, t₃)
                        ⎢      e^d₂ s₂₃  t₂⎥
                        ⎢           e^d₃ t₃⎥
                        ⎣                1 ⎦

[Rucker & Wensing 2022]. The mass is e^{2α} and the centre of mass (t₁, t₂, t₃), so bounds on these are bounds on θ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.identification.pseudo_inertia import parameters_of, pseudo_inertia, upper_factor

Array = npt.NDArray[Any]

NAMES = ("alpha", "d1", "d2", "d3", "s12", "s23", "s13", "t1", "t2", "t3")
_PLACES = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))  # of s₁₂, s₂₃, s₁₃, t₁, t₂, t₃ in U


def factor(theta: Any) -> Array:
    """Return U (…, 4, 4) of θ (…, 10)."""
    theta = np.asarray(theta, dtype=float)
    U = np.zeros((*theta.shape[:-1], 4, 4))
    for k in range(3):
        U[..., k, k] = np.exp(theta[..., 1 + k])
    U[..., 3, 3] = 1.0
    for k, (i, j) in enumerate(_PLACES):
        U[..., i, j] = theta[..., 4 + k]
    return np.exp(theta[..., :1, None]) * U


def factor_derivative(theta: Any) -> Array:
    """Return ∂U/∂θ_k (…, 10, 4, 4)."""
    theta = np.asarray(theta, dtype=float)
    U = factor(theta)
    dU = np.zeros((*theta.shape, 4, 4))
    dU[..., 0, :, :] = U
    for k in range(3):
        dU[..., 1 + k, k, k] = U[..., k, k]
    size = np.exp(theta[..., 0])
    for k, (i, j) in enumerate(_PLACES):
        dU[..., 4 + k, i, j] = size
    return dU


def from_log_cholesky(theta: Any) -> Array:
    """Return the ten inertial parameters (…, 10) of θ (…, 10).

    >>> from_log_cholesky(np.zeros(10)).tolist()
    [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 2.0, 0.0, 0.0, 2.0]
    """
    U = factor(theta)
    return parameters_of(U @ np.swapaxes(U, -1, -2)) + 0.0  # + 0.0 turns −0 into 0


def jacobian(theta: Any) -> Array:
    """Return ∂π/∂θ (…, 10, 10), exact: π is linear in J, and dJ = dU Uᵀ + U dUᵀ."""
    half = factor_derivative(theta) @ np.swapaxes(factor(theta), -1, -2)[..., None, :, :]
    return np.swapaxes(parameters_of(half + np.swapaxes(half, -1, -2)), -1, -2)


def to_log_cholesky(parameters: Any) -> Array:
    """Return θ (…, 10) of ten inertial parameters (…, 10), whose pseudo-inertia must be positive definite."""
    try:
        U = upper_factor(pseudo_inertia(parameters))
    except np.linalg.LinAlgError:
        raise InputError("these parameters have no log-Cholesky form: their pseudo-inertia is not positive definite") from None
    size = U[..., 3, 3]
    V = U / size[..., None, None]
    diagonal = np.log(np.diagonal(V, axis1=-2, axis2=-1)[..., :3])
    rest = np.stack([V[..., i, j] for i, j in _PLACES], axis=-1)
    return np.concatenate([np.log(size)[..., None], diagonal, rest], axis=-1)
