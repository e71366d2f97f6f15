"""Instrumental variables: noise-free rows of X used as instruments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dynamis.errors import DynamisError, InputError
from dynamis.identification.estimators.estimator import Estimator, check_rank, checked_rows
from dynamis.identification.estimators.least_squares import WeightedLeastSquares

Array = npt.NDArray[Any]
HALVINGS = 6


class InstrumentalVariables(Estimator):
    """β with Zᵀ W (y − X β) = 0: consistent if noise in X, which biases least squares, is independent of Z.

    ``instruments(β)`` returns Z, a row for each row of X: the regressor along the motion simulated with β, see
    `SimulatedInstruments` (IDIM-IV [Janot, Vandanjon & Gautier 2014]). It may also be a constant array Z. Instruments and
    estimate are iterated, at most ``iterations`` times, until the estimate changes by less than ``tolerance`` standard errors.
    W weights each joint by its noise. ``start`` is the initial β; by default weighted least squares, or the instruments'
    ``prior`` if that cannot be simulated.

    Errors from differentiated noise are autocorrelated and mostly cancel. The covariance accounts for this by projecting the
    errors of each joint's rows, in the given order, on sine tapers of ``tapers`` low frequencies [Sun 2013]; None chooses the
    number from that of the parameters, 0 assumes independent errors.

    Additional attributes after ``fit``: ``converged_``, ``iterations_``, ``instruments_`` (the last Z).

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> exact = rng.normal(size=(20000, 2))
    >>> X, y = exact + 0.5 * rng.normal(size=(20000, 2)), exact @ [1.0, 2.0]
    >>> np.round(InstrumentalVariables(exact + 0.5 * rng.normal(size=(20000, 2))).fit(X, y).coef_, 1)
    array([1., 2.])
    """

    converged_: bool
    iterations_: int
    instruments_: Array

    def __init__(
        self,
        instruments: Callable[[Array], Any] | Any,
        start: Any = None,
        iterations: int = 20,
        tolerance: float = 1e-3,
        tapers: int | None = None,
    ) -> None:
        self.instruments, self.start = instruments, start
        self.iterations, self.tolerance, self.tapers = iterations, tolerance, tapers

    def fit(self, X: Any, y: Any, *, joint: Any = None, names: Sequence[str] | None = None) -> Self:
        rows, given, labels = checked_rows(X, y, joint, names)
        first = WeightedLeastSquares().fit(rows, given, joint=labels, names=names)
        beta, noise = first.coef_, first.noise_
        if self.start is not None:
            beta = np.asarray(self.start, float)
            if beta.shape != first.coef_.shape:
                raise InputError(f"start= takes {len(first.coef_)} numbers, one per parameter; got shape {beta.shape}")
        lengths = np.linalg.norm(rows, axis=0)
        before = beta if self.start is not None else getattr(self.instruments, "prior", beta)
        self.converged_, self.iterations_ = False, 0
        while not self.converged_ and self.iterations_ < max(1, self.iterations):
            self.iterations_ += 1
            Z, beta = self._instruments(beta, before, rows.shape)
            solution, gain, self.condition_ = _solve(Z / lengths, rows / lengths, given, noise[labels], names)
            solution, gain = solution / lengths, gain / lengths[:, None]
            noise = _noise(given - rows @ solution, labels, len(noise), rows.shape[1])
            moved = float(np.max(np.abs(solution - beta) / np.maximum(np.linalg.norm(gain, axis=1), 1e-300)))
            before, beta = beta, solution
            self.converged_ = moved < self.tolerance or not callable(self.instruments)
        self.coef_, self.noise_, self.n_features_in_ = beta, noise, rows.shape[1]
        self.dof_ = len(given) - rows.shape[1]
        _, gain, _ = _solve(Z / lengths, rows / lengths, given, noise[labels], names)
        gain = gain / lengths[:, None]
        error = (given - rows @ beta) / noise[labels]
        self.covariance_ = gain @ self._together(np.linalg.qr(Z / noise[labels][:, None])[0], error, labels) @ gain.T
        self.instruments_ = Z
        return self

    def _together(self, Q: Array, error: Array, labels: Array) -> Array:
        """Return the covariance of Qᵀ e for errors that may be autocorrelated."""
        if self.tapers == 0:
            return np.eye(Q.shape[1])
        count = 2 * Q.shape[1] if self.tapers is None else self.tapers
        total = np.zeros((Q.shape[1], Q.shape[1]))
        for k in np.unique(labels):
            score = Q[labels == k] * error[labels == k][:, None]
            waves = np.arange(1, max(1, min(count, len(score) // 4)) + 1)
            sines = np.sqrt(2.0) * np.sin(np.pi * np.outer(waves, np.arange(len(score)) + 0.5) / len(score))
            sums = sines @ score
            total += sums.T @ sums / len(waves)
        return total * len(error) / self.dof_

    def _instruments(self, beta: Array, before: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
        """Return Z of β; if the simulation diverges, of a β closer to the last one that did not."""
        if not callable(self.instruments):
            return _checked(self.instruments, shape), beta
        for halving in range(HALVINGS + 1):
            try:
                return _checked(self.instruments(beta), shape), beta
            except DynamisError as error:
                if isinstance(error, InputError) or halving == HALVINGS or np.array_equal(beta, before):
                    raise
                beta = 0.5 * (beta + before) if halving < HALVINGS - 1 else before
        raise AssertionError  # unreachable: the loop returns or raises


def _checked(instruments: Any, shape: tuple[int, ...]) -> Array:
    Z = np.asarray(instruments, float)
    if Z.shape != shape:
        raise InputError(f"the instruments have shape {Z.shape}, but X has {shape}; they must be equal")
    if not np.isfinite(Z).all():
        raise InputError("the instruments contain non-finite numbers")
    return Z


def _solve(Z: Array, X: Array, y: Array, noise: Array, names: Sequence[str] | None) -> tuple[Array, Array, float]:
    """Return β, its linear map from errors in an orthonormal basis of Z, and the correlation of Z with X."""
    Z, X = Z / noise[:, None], X / noise[:, None]
    Q, R = np.linalg.qr(Z)
    check_rank(R, names)
    # Zᵀ(y − X β) = 0 is the same for any basis of Z's columns; an orthonormal one is accurate
    across = Q.T @ X
    condition = check_rank(across, names)
    inverse = np.linalg.inv(across)
    return inverse @ (Q.T @ (y / noise)), inverse, condition


def _noise(residual: Array, labels: Array, joints: int, parameters: int) -> Array:
    counts = np.bincount(labels, minlength=joints)
    share = 1.0 - parameters / len(residual)
    squares = np.bincount(labels, residual**2, joints) / np.maximum(counts * share, 1e-300)
    return np.maximum(np.sqrt(squares), 1e-14 * np.abs(residual).max(initial=0.0) + 1e-100)
