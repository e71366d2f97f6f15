"""Treatment of singularities: rank, condition number, and damped or truncated inverse."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, SingularityWarning
from dynamis.tolerances import SAFE_DIVISOR

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Decision:
    """Basis (m × rank) of the regular directions of a task, and the treatment of the singular ones as text."""

    basis: Array
    rank: int
    condition: float
    damping: float
    how: str

    @property
    def singular(self) -> bool:
        return self.rank < len(self.basis)

    def inverse(self, B: Array) -> Array:
        """(B Bᵀ)⁻¹ on the regular directions, or (B Bᵀ + λ² 1)⁻¹, from the singular values of B for accuracy."""
        if self.damping > 0.0:
            U, sigma, _ = np.linalg.svd(B)
            values = np.zeros(len(B))
            values[: len(sigma)] = sigma
            return (U / (values * values + self.damping * self.damping)) @ U.T
        U, sigma, _ = np.linalg.svd(self.basis.T @ B, full_matrices=False)
        U = self.basis @ U
        return (U / (sigma * sigma)) @ U.T


def decide(
    B: Array, names: tuple[str, ...], damping: float, truncate: bool, tolerance: float, *, scale: float | None = None,
    warn: bool = True,
) -> Decision:  # fmt: skip
    """Regular directions by the singular values of B = J M^-½ (m × n).

    Full rank without damping: exact inverse. ``damping`` λ: damped least squares for any rank. ``truncate``: singular
    directions are truncated. Without either they are truncated with a `SingularityWarning`. ``scale`` is the reference of the
    tolerance, by default the largest singular value.
    """
    _check(damping, truncate, tolerance)
    m, n = B.shape
    U, sigma, _ = np.linalg.svd(B)
    values = np.zeros(m)
    values[: len(sigma)] = sigma
    largest, least = float(values[0]), float(values[-1])
    rank = int((values > max(tolerance * (largest if scale is None else scale), SAFE_DIVISOR)).sum())
    condition = largest / least if least > SAFE_DIVISOR else np.inf
    if damping > 0.0:
        how = f"damped least squares with λ = {damping:g}"
    elif rank == m:
        how = "square" if m == n else "redundant"
    else:
        lost = "; ".join(_direction(U[:, k], names) for k in range(rank, m))
        how = f"truncated: {m - rank} of {m} directions are singular here ({lost})"
        if warn and not truncate:
            warnings.warn(
                f"the task is singular at this state: rank {rank} of {m}, singular direction {lost}, which is truncated. "
                "Select the treatment: truncate=True, or damping=… for damped least squares",
                SingularityWarning, stacklevel=3,
            )  # fmt: skip
    return Decision(U[:, :rank], rank, condition, float(damping), how)


def _direction(u: Array, names: tuple[str, ...]) -> str:
    """A unit vector of the task as text, such as 0.8 x − 0.6 y."""
    u = u * np.sign(u[np.argmax(np.abs(u))])
    terms = [(x, name) for x, name in zip(u, names, strict=True) if abs(x) > 0.05]
    words = [name if abs(abs(x) - 1.0) < 0.005 else f"{abs(x):.2g} {name}" for x, name in terms]
    text = words[0] if terms[0][0] > 0.0 else f"−{words[0]}"
    return text + "".join(f" {'+' if x > 0.0 else '−'} {word}" for (x, _), word in zip(terms[1:], words[1:], strict=True))


def _check(damping: Any, truncate: Any, tolerance: Any) -> None:
    for name, value, below in (("damping", damping, np.inf), ("tolerance", tolerance, 1.0)):
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 <= value < below:
            room = "a non-negative number" if below == np.inf else "a number from 0 to 1"
            raise InputError(f"{name}= must be {room}, got {value!r}")
    if not isinstance(truncate, bool | np.bool_):
        raise InputError(f"truncate= must be True or False, got {truncate!r}; tolerance= sets the threshold")
    if truncate and damping > 0.0:
        raise InputError(
            "damping=… and truncate=True exclude each other: choose damped least squares or truncation of singular directions"
        )
