"""A stationary Kalman smoother for positions, velocities and accelerations [Rauch, Tung & Striebel 1965].

The model: position, velocity and acceleration, driven by white jerk; positions are measured with white noise. Its only free
parameter is the ratio of the two noises, equivalent to a bandwidth: the transfer function from measured to smoothed position
is 1/(1 + (f/cutoff)⁶). Away from the ends the gains are constant, and are used everywhere: the recursions are then linear with
constant coefficients, and run as compiled filters.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.identification.signals.ends import end_cubic

Array = npt.NDArray[Any]
EXTENSION = 20.0  # extension of a run beyond its ends, where the gains are not constant, in units of 1/ω_c
FIT = 40  # iterations of the search for the maximum-likelihood cut-off


class Gains(NamedTuple):
    """Constant gains, for states (q, v T, a T²) in units of T = 1/ω_c, and unit variance of the measurement noise."""

    unit: float
    F: Array  # one step of the model
    K: Array  # of the filter: weight of the innovation
    C: Array  # of the smoother: weight of the next step
    S: float  # variance of an innovation


def smoother(x: Array, period: float, cutoff: float | None) -> tuple[Array, Array, Array]:
    """Return smoothed positions, velocities and accelerations of (N,) or (N, n); by default with the most likely cut-offs."""
    if len(x) < 12:
        raise InputError(f"{len(x)} samples are too few for a smoother, which needs 12; use a longer run")
    columns = x.reshape(len(x), -1)
    states = np.empty((3, *columns.shape))
    for j, y in enumerate(columns.T):
        g = gains(period, likely_cutoff(y, period) if cutoff is None else cutoff)
        ends = np.array(end_cubic(y, period, 1.0 / (2.0 * np.pi * g.unit)))
        pad = min(int(np.ceil(EXTENSION * g.unit / period)), len(y) - 1)
        rest = _smoothed(_reflected(y - ends[0], pad), g)[:, pad : pad + len(y)]
        states[:, :, j] = ends + rest / g.unit ** np.arange(3)[:, None]
    q, v, a = (s.reshape(x.shape) for s in states)
    return q, v, a


def likely_cutoff(y: Any, period: float) -> float:
    """Return the maximum-likelihood cut-off [Hz] of one joint's positions (N,)."""
    from scipy.optimize import minimize_scalar

    y = np.asarray(y, dtype=float)
    low, high = np.log([max(2.0 / (len(y) * period), 1e-4 / period), 0.3 / period])

    def misfit(log_cutoff: float) -> float:
        g = gains(period, float(np.exp(log_cutoff)))
        before = _filtered(y, g)[:, :-1]
        innovations = y[1:] - (g.F[0] @ before)
        settled = innovations[min(int(3.0 * g.unit / period), len(y) // 4) :]  # gains are not constant at the start
        return float(np.log(max(np.mean(settled**2) / g.S, 1e-300)) + np.log(g.S))

    # the likelihood has one minimum for a signal with noise; a grid first, since a noiseless one has none
    grid = np.linspace(low, high, FIT // 2)
    best = int(np.argmin([misfit(x) for x in grid]))
    around = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return float(np.exp(minimize_scalar(misfit, bounds=around, method="bounded", options={"maxiter": FIT // 2}).x))


@functools.lru_cache(maxsize=256)
def gains(period: float, cutoff: float) -> Gains:
    """Return the gains for a cut-off: jerk of density R h ω_c⁶ and measurements of variance R."""
    from scipy.linalg import solve_discrete_are

    unit = 1.0 / (2.0 * np.pi * cutoff)
    e = period / unit
    F = np.array([[1.0, e, e * e / 2.0], [0.0, 1.0, e], [0.0, 0.0, 1.0]])
    Q = e * np.array([[e**5 / 20, e**4 / 8, e**3 / 6], [e**4 / 8, e**3 / 3, e**2 / 2], [e**3 / 6, e**2 / 2, e]])
    H = np.array([[1.0, 0.0, 0.0]])
    P = solve_discrete_are(F.T, H.T, Q, np.eye(1))  # covariance of the prediction
    S = float(P[0, 0]) + 1.0
    K = P[:, 0] / S
    updated = P - np.outer(K, K) * S
    return Gains(unit, F, K, np.linalg.solve(P, F @ updated).T, S)


def _filtered(y: Array, g: Gains) -> Array:
    """Forward pass: x_k = (1 − K H) F x_(k−1) + K y_k; (3, N)."""
    A = g.F - np.outer(g.K, g.F[0])
    return _recursion(A, g.K[:, None] * y, _start(y, g))


def _smoothed(y: Array, g: Gains) -> Array:
    """Backward pass: s_k = x_k + C (s_(k+1) − F x_k)."""
    x = _filtered(y, g)
    inputs = (np.eye(3) - g.C @ g.F) @ x[:, -2::-1]
    return np.concatenate([_recursion(g.C, inputs, x[:, -1])[:, ::-1], x[:, -1:]], axis=1)


def _reflected(y: Array, pad: int) -> Array:
    return np.concatenate([2.0 * y[0] - y[pad:0:-1], y, 2.0 * y[-1] - y[-2 : -pad - 2 : -1]])


def _start(y: Array, g: Gains) -> Array:
    """Return the state one step before the first sample, from a polynomial through the first samples."""
    e = g.F[0, 1]
    count = int(np.clip(round(4.0 / e), 6, len(y)))
    c = np.polynomial.polynomial.polyfit(np.arange(1, count + 1) * e, y[:count], 3)
    return np.array([c[0], c[1], 2.0 * c[2]])


def _recursion(A: Array, u: Array, x: Array) -> Array:
    """Solve x_k = A x_(k−1) + u_k for u (3, N), from the state before the first: each mode of A is a scalar filter."""
    from scipy.signal import lfilter

    values, V = np.linalg.eig(A)
    inputs, start = np.linalg.solve(V, u.astype(complex)), np.linalg.solve(V, x.astype(complex))
    for k, value in enumerate(values):
        inputs[k] = lfilter([1.0], [1.0, -value], inputs[k], zi=[value * start[k]])[0]
    return (V @ inputs).real
