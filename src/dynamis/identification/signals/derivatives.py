"""Velocities and accelerations from sampled positions, by several methods with one signature.

Position noise σ becomes noise of about σ ω_c in the velocities and σ ω_c² in the accelerations with any method: they differ in
the choice of ω_c = 2π·cutoff, the roll-off near it and the treatment of the ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, unknown_name
from dynamis.identification.signals.filters import check_cutoff, low_pass

Array = npt.NDArray[Any]
Derivatives = tuple[Array, Array, Array]
END = 1.5  # periods of the cut-off used to estimate the acceleration at an end


def derivatives(
    q: Any, period: float, method: str = "central", cutoff: float | None = None, *, velocity: Any = None, **options: Any
) -> Derivatives:
    """Return smoothed positions and their first and second derivatives, (q, v, a), of samples (N,) or (N, n) at a period [s].

    ``method``:
      "central"   zero-phase Butterworth at ``cutoff`` (None: no filter; ``order=4``), then central differences with an error of
                  O(h^accuracy), ``accuracy=4``, and one-sided stencils of as many points at the ends
      "savgol"    local polynomials of degree ``degree=5`` [Savitzky & Golay 1964] over ``window`` samples; by default the
                  window whose gain is 1/√2 at the cut-off [Schafer 2011, eq. 12]
      "spline"    least-squares quintic spline with a knot spacing of half a period of the cut-off
    ``velocity`` are logged velocities: they are smoothed likewise, and differentiated for the accelerations.

    >>> t = np.arange(400) * 0.005
    >>> _, v, a = derivatives(np.sin(3 * t), 0.005)
    >>> bool(np.abs(v - 3 * np.cos(3 * t)).max() < 1e-6), bool(np.abs(a + 9 * np.sin(3 * t)).max() < 1e-4)
    (True, True)
    """
    if method not in METHODS:
        raise unknown_name("method of differentiation", method, METHODS)
    x = _positions(q, "q")
    if cutoff is not None:
        check_cutoff(period, cutoff)
    compute = METHODS[method]
    try:
        smooth, v, a = compute(x, float(period), cutoff, **options)
    except TypeError as error:
        if "argument" not in str(error):
            raise
        raise InputError(f"method {method!r} does not accept these options ({', '.join(options)}): {error}") from None
    if velocity is None:
        return smooth, v, a
    rate = _positions(velocity, "velocity")
    if rate.shape != x.shape:
        raise InputError(f"velocity has shape {rate.shape}, but q has {x.shape}; they must be equal")
    return (smooth, *compute(rate, float(period), cutoff, **options)[:2])


def central(x: Array, period: float, cutoff: float | None, *, order: int = 4, accuracy: int = 4) -> Derivatives:
    """Low-pass filter, then central differences."""
    if accuracy not in (2, 4, 6, 8):
        raise InputError(f"accuracy, the error order of the central differences, must be 2, 4, 6 or 8, got {accuracy!r}")
    _enough(x, max(accuracy + 1, 8), f"central differences of accuracy {accuracy}")
    if cutoff is None:
        smooth = x
    else:
        ends = end_cubic(x, period, cutoff)
        smooth = ends + low_pass(x - ends, period, cutoff, order)
    return smooth, _difference(smooth, 1, accuracy) / period, _difference(smooth, 2, accuracy) / period**2


def end_cubic(x: Array, period: float, cutoff: float) -> Array:
    """Return the cubic (N,) or (N, n) through both ends of x with the accelerations there.

    Point reflection of a signal at its ends implies zero acceleration there: the remainder after subtraction of the cubic
    satisfies this.
    """
    N = len(x)
    count = int(np.clip(round(END / (cutoff * period)), 8, N))
    length = (N - 1) * period
    (q0, a0), (q1, a1) = _end(x[:count], period), _end(x[::-1][:count], period)
    a0, a1 = a0 * length**2, a1 * length**2
    s = np.linspace(0.0, 1.0, N).reshape(-1, *(1,) * (x.ndim - 1))
    return np.asarray(q0 + s * (q1 - q0 - a0 / 3.0 - a1 / 6.0 + s * (a0 / 2.0 + s * (a1 - a0) / 6.0)))


def _end(x: Array, period: float) -> tuple[Array, Array]:
    """Return position and acceleration at the first sample, from a polynomial of degree four fitted to the samples."""
    c = np.polynomial.polynomial.polyfit(np.linspace(0.0, 1.0, len(x)), x, 4)
    return c[0], 2.0 * c[2] / ((len(x) - 1) * period) ** 2


def savitzky_golay(x: Array, period: float, cutoff: float | None, *, window: int | None = None, degree: int = 5) -> Derivatives:
    """Fit polynomials to moving windows."""
    from scipy.signal import savgol_filter

    if window is None:
        if cutoff is None:
            raise InputError("method 'savgol' needs cutoff= in Hz, or window= in samples")
        half = ((degree + 1) / (2.0 * cutoff * period) + 4.6) / 3.2
        window = max(2 * round(half) + 1, degree + 2 - degree % 2)
    if window % 2 == 0 or window <= degree or degree < 2:
        raise InputError(f"window={window} must be odd and above degree={degree}, and the degree at least 2")
    _enough(x, window, f"a window of {window}")
    q, v, a = (savgol_filter(x, window, degree, deriv=k, delta=period, axis=0, mode="interp") for k in range(3))
    return q, v, a


def spline(x: Array, period: float, cutoff: float | None, *, spacing: float | None = None) -> Derivatives:
    """Fit a quintic spline with evenly spaced knots by least squares; ``spacing`` of the knots in s."""
    from scipy.interpolate import make_lsq_spline

    if spacing is None:
        if cutoff is None:
            raise InputError("method 'spline' needs cutoff= in Hz, or spacing= of its knots in s")
        spacing = 0.5 / cutoff
    _enough(x, 12, "a quintic spline")
    end = float(len(x) - 1)
    pieces = int(np.clip(round(end * period / spacing), 1, (len(x) - 6) // 2))
    knots = np.concatenate([[0.0] * 5, np.linspace(0.0, end, pieces + 1), [end] * 5])
    fitted = make_lsq_spline(np.arange(len(x), dtype=float), x, knots, k=5)
    places = np.arange(len(x))
    q, v, a = (fitted(places, k) / period**k for k in range(3))
    return q, v, a


METHODS: dict[str, Callable[..., Derivatives]] = {
    "central": central,
    "savgol": savitzky_golay,
    "spline": spline,
}


def _difference(x: Array, derivative: int, accuracy: int) -> Array:
    """Return differences of samples at unit distance: central inside, one-sided at the ends."""
    size = accuracy + 1
    half = accuracy // 2
    result = np.zeros_like(x)
    weights = stencil(np.arange(-half, half + 1), derivative)
    for k, weight in enumerate(weights):
        result[half : len(x) - half] += weight * x[k : len(x) - size + 1 + k]
    for k in range(half):
        weights = stencil(np.arange(size) - k, derivative)
        result[k] = np.tensordot(weights, x[:size], 1)
        result[-1 - k] = (-1) ** derivative * np.tensordot(weights, x[: -size - 1 : -1], 1)
    return result


def stencil(places: Array, derivative: int) -> Array:
    """Return weights of samples at these positions for the derivative at 0 of the interpolating polynomial.

    >>> stencil(np.array([-1, 0, 1]), 2).round(12).tolist()
    [1.0, -2.0, 1.0]
    """
    powers = np.arange(len(places))
    wanted = np.zeros(len(places))
    wanted[derivative] = float(derivative) if derivative == 2 else 1.0  # d!: 1 and 2
    return np.linalg.solve(np.asarray(places, dtype=float) ** powers[:, None], wanted)


def _positions(x: Any, name: str) -> Array:
    array = np.asarray(x, dtype=float)
    if array.ndim not in (1, 2):
        raise InputError(f"{name} has shape {array.shape}; expected one row per sample and one column per joint")
    bad = ~np.isfinite(array)
    if bad.any():
        row = int(np.argwhere(bad)[0][0])
        raise InputError(f"{name} has {int(bad.sum())} non-finite numbers, the first in row {row}: repair them first")
    return array


def _enough(x: Array, count: int, what: str) -> None:
    if len(x) < count:
        raise InputError(f"{len(x)} samples are too few for {what}, which needs {count}; use a longer run")
