"""Zero-phase low-pass filters, the cut-off frequency between motion and noise, and derivatives of sampled positions.

Filtered signals are not delayed. Every operation is linear along the first axis, including the treatment of the ends, so
filtering both sides of τ = Y π preserves the equation: F(τ) = F(Y) π. Position noise σ becomes noise of about σ ω_c in the
velocities and σ ω_c² in the accelerations with any method of differentiation: they differ in the choice of ω_c = 2π·cutoff,
the roll-off near it and the treatment of the ends.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.compiler.recursion import low_pass_in_place
from dynamis.compiler.row_sums import row_sums
from dynamis.display import as_table, counted
from dynamis.errors import InputError, unknown_name

Array = npt.NDArray[Any]
Derivatives = tuple[Array, Array, Array]

NEGLIGIBLE = 1e-12  # relative effect of samples farther away than `margin`
EXTENSION = 6.0  # periods of the cut-off by which a signal is extended beyond its ends
BLOCK = 1 << 21  # numbers filtered at a time, to limit memory
SEGMENTS = 8  # minimal number of averaged segments, if the run is long enough
SHORTEST = 64  # samples
FAST = 4096  # samples up to which a Fourier transform of any length is fast
SMEAR = 4  # spectral lines on either side mixed by the Blackman–Harris window
LEAK = 1e-9  # leakage of the window, relative to the total power
CLEAR = 4.0  # ratio to the noise above which the spectrum is motion
END = 1.5  # periods of the cut-off used to estimate the acceleration at an end


def low_pass(x: Any, period: float, cutoff: float, order: int = 4) -> Array:
    """Low-pass filter a signal (N, …) at ``cutoff`` [Hz] with zero phase.

    A Butterworth filter of the given order runs forward and backward: gain 1/(1 + (f/cutoff)^(2 order)), a half at the cut-off.
    The signal is extended beyond its ends by point reflection, so straight lines pass unchanged.

    >>> t = np.arange(2000) * 1e-3
    >>> slow, fast = np.sin(2 * np.pi * 2 * t), np.sin(2 * np.pi * 200 * t)
    >>> bool(np.abs(low_pass(slow + fast, 1e-3, 30.0) - slow)[200:-200].max() < 1e-5)
    True
    """
    signal = np.asarray(x, dtype=float)
    if signal.ndim == 0:
        raise InputError("a signal to filter must have its samples along the first axis, got a scalar")
    sections = _sections(period, cutoff, order)
    if len(signal) < 2:
        raise InputError(f"a signal of {len(signal)} samples cannot be filtered; at least two are needed")
    pad = min(int(np.ceil(EXTENSION / (cutoff * period))), len(signal) - 1)
    flat, width = signal.reshape(len(signal), -1), max(1, BLOCK // len(signal))
    filtered = np.empty(flat.shape)
    for first in range(0, flat.shape[1], width):
        block = slice(first, first + width)
        filtered[:, block] = _zero_phase(sections, flat[:, block], pad)
    return filtered.reshape(signal.shape)


@functools.lru_cache(maxsize=64)
def margin(period: float, cutoff: float, order: int = 4) -> int:
    """Return the distance in samples beyond which a sample changes a filtered value by less than 1e-12 of itself.

    >>> margin(1e-3, 20.0) > margin(1e-3, 40.0) > 100
    True
    """
    sections = _sections(period, cutoff, order)
    K, poles = np.tan(np.pi * cutoff * period), np.exp(1j * np.pi * (0.5 + (np.arange(order) + 0.5) / order))
    slowest = np.abs((1.0 + K * poles) / (1.0 - K * poles)).max()
    length = int(np.ceil(3.0 * np.log(NEGLIGIBLE) / np.log(slowest))) + 10
    impulse = np.zeros((length + 1, 1), order="F")
    impulse[1] = 1.0
    low_pass_in_place(impulse, sections)
    h = np.abs(impulse[1:, 0])
    # the response of both passes is Σ_k h(k) h(k + n); beyond n on both sides it sums to at most 2 Σ_k |h(k)| tail(k + n)
    tail = np.concatenate([np.cumsum(h[::-1])[::-1], np.zeros(length)])
    return bisect.bisect_left(range(length), True, key=lambda n: bool(2.0 * h @ tail[n : n + length] < NEGLIGIBLE))


def check_cutoff(period: float, cutoff: float, what: str = "the cut-off") -> None:
    """Raise an error unless a cut-off is between zero and half the sampling rate."""
    if not _positive(period):
        raise InputError(f"the sampling period must be a positive number of seconds, got {period!r}")
    nyquist = 0.5 / period
    if not _positive(cutoff):
        raise InputError(f"{what} must be a positive number of hertz, got {cutoff!r}")
    if cutoff >= nyquist:
        raise InputError(
            f"{what} of {cutoff:.6g} Hz is not below {nyquist:.6g} Hz, half the sampling rate of {1.0 / period:.6g} Hz: "
            "choose a lower one, or none"
        )


def _positive(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value)) and bool(value > 0)


def _sections(period: float, cutoff: float, order: int) -> Array:
    """Return the sections (k, 3) of `low_pass_in_place` for a Butterworth filter after the bilinear transform."""
    check_cutoff(period, cutoff)
    if isinstance(order, bool) or not isinstance(order, int | np.integer) or order < 1:
        raise InputError(f"order must be an integer ≥ 1, got {order!r}")
    K = np.tan(np.pi * cutoff * period)
    scales = [1.0 / (1.0 + K * (K + 2.0 * np.sin(np.pi * (2 * k + 1) / (2 * order)))) for k in range(order // 2)]
    sections = [[2.0 * scale - 1.0, 2.0 * K * scale, 2.0 * K**2 * scale] for scale in scales]
    return np.array([*sections, [0.0, 0.0, 2.0 * K / (1.0 + K)]] if order % 2 else sections)


def _zero_phase(sections: Array, x: Array, pad: int) -> Array:
    """Filter the columns of x (N, c) forward and backward, with this many reflected samples at its ends."""
    y = np.empty((len(x) + 2 * pad, x.shape[1]), order="F")
    y[:pad], y[pad : pad + len(x)], y[pad + len(x) :] = 2.0 * x[0] - x[pad:0:-1], x, 2.0 * x[-1] - x[-2 : -pad - 2 : -1]
    low_pass_in_place(y, sections)
    low_pass_in_place(y, sections, backward=True)
    return y[pad : pad + len(x)]


class Cutoff(NamedTuple):
    """``value`` [Hz] for all joints, those of the ``joints`` (n,) [Hz], the ``noise`` of their positions (n,), and a note.

    ``band`` [Hz] contains 99 % of the power of the velocities of every joint.
    """

    value: float
    joints: Array
    noise: Array
    note: str
    band: float = 0.0

    def __repr__(self) -> str:
        return f"<Cutoff {self.value:.4g} Hz for {counted(len(self.joints), 'joint')}>"

    def _repr_html_(self) -> str:
        return as_table(self)


def suggest_cutoff(q: Any, period: float, order: int = 4, *, names: Sequence[str] = (), units: Sequence[str] = ()) -> Cutoff:
    """Suggest the cut-off of `low_pass` with the smallest error of the accelerations, for positions (N,) or (N, n).

    The motion occupies the spectrum of the positions up to where it first reaches a flat noise floor; peaks above, such as
    vibrations and encoder ripple, are ignored. With a gain G(f), the acceleration loses ∫ ω⁴ (1 − G)² of the motion's spectrum
    and keeps ∫ ω⁴ G² of the noise's. The cut-off minimizes the sum of both over the joints, each relative to the power of its
    own motion, so that no single joint determines it. ``names`` and ``units`` of the joints are used in the note.

    >>> t = np.arange(8000) * 1e-3
    >>> q = np.sin(2 * np.pi * t) + 1e-4 * np.random.default_rng(0).normal(size=t.size)
    >>> 1.0 < suggest_cutoff(q, 1e-3).value < 10.0
    True
    """
    x = np.asarray(q, dtype=float).reshape(len(q), -1)
    if len(x) < SHORTEST:
        few = f"{len(x)} samples, {len(x) * period:.3g} s, are too few to find the noise floor (at least {SHORTEST})"
        raise InputError(f"{few}: record a run of some seconds, or pass the cut-off as cutoff=")
    # of second differences: the spectrum of the slow motion would leak otherwise
    bends = np.diff(x, 2, axis=0)
    size = _smooth_number(min(len(bends), max(SHORTEST - 2, len(bends) // SEGMENTS)))
    f, P = _spectrum(bends, period, size)
    shape = (2.0 * np.sin(np.pi * f * period)) ** 4  # spectrum of differenced white noise
    floor = np.median(P[f > 0.5 * f[-1]] / shape[f > 0.5 * f[-1], None], axis=0) + 1e-300
    seen = np.append(shape[SMEAR:], np.full(SMEAR, shape[-1])) + LEAK * shape.sum()  # with the window: shape increases with f
    motion = np.where(_before_the_floor(P, seen[:, None] * floor), P, 0.0)
    candidates = np.geomspace(max(4.0 / (size * period), f[1]), 0.8 * f[-1], 60)
    G = 1.0 / (1.0 + (f / candidates[:, None]) ** (2 * order))
    cost = ((1.0 - G) ** 2) @ motion + (G**2 @ shape)[:, None] * floor
    joints = candidates[np.argmin(cost, axis=0)]
    noise = np.sqrt(floor * 0.5 / period)
    still = motion.sum(axis=0) == 0.0
    if still.all():
        raise InputError("no joint moves more than its noise, so no cut-off can be found: pass one, or use another log")
    relative = np.sum(cost[:, ~still] / motion[:, ~still].sum(axis=0), axis=1)
    value = float(candidates[np.argmin(relative)])
    band = float(_velocity_band(x[: _smooth_number(len(x)), ~still], period, joints[~still]).max())
    noisiest = int(np.flatnonzero(~still)[np.argmax((noise**2 / (motion.sum(axis=0) + 1e-300))[~still])])
    who = names[noisiest] if noisiest < len(names) else f"column {noisiest}"
    unit = f" {units[noisiest]}" if noisiest < len(units) else ""
    note = (
        f"cut-off {value:.3g} Hz chosen from the spectra of all joints (by joint: {', '.join(f'{c:.3g}' for c in joints)} Hz); "
        f"the noisiest, {who}, has a noise floor of {noise[noisiest]:.2g}{unit}"
    )
    return Cutoff(value, joints, noise, note, band)


def _smooth_number(size: int) -> int:
    """Return ``size``, or if it is large the largest number below without prime factors above 7, for the Fourier transform."""
    while size > FAST and 210**20 % size:
        size -= 1
    return size


def _spectrum(x: Array, period: float, size: int) -> tuple[Array, Array]:
    """Return the frequencies (m,) and the power spectral density (m, n) of x, averaged over half-overlapping segments."""
    angle = 2.0 * np.pi * np.arange(size) / size
    window = 0.35875 - 0.48829 * np.cos(angle) + 0.14128 * np.cos(2.0 * angle) - 0.01168 * np.cos(3.0 * angle)
    starts = range(0, len(x) - size + 1, size - size // 2)
    power = [np.abs(np.fft.rfft(np.ascontiguousarray(x[k : k + size].T) * window)) ** 2 for k in starts]
    P = np.mean(power, axis=0).T * period / np.sum(window**2)
    P[1 : (size + 1) // 2] *= 2.0  # of both signs of the frequency
    return np.fft.rfftfreq(size, period), P


def _velocity_band(x: Array, period: float, cutoffs: Array) -> Array:
    """Return the frequencies (n,) below which 99 % of the power of the velocities lies, up to the cut-off of each joint."""
    v = np.gradient(np.ascontiguousarray(x.T), axis=1)
    f = np.fft.rfftfreq(len(x), period)
    f = f[f <= cutoffs.max()]
    power = np.abs(np.fft.rfft((v - v.mean(axis=1, keepdims=True)) * np.hanning(len(x)))[:, : len(f)]) ** 2
    share = np.cumsum(np.where(f <= cutoffs[:, None], power, 0.0), axis=1)
    return f[np.argmax(share >= 0.99 * share[:, -1:], axis=1)]


def _before_the_floor(P: Array, noise: Array) -> Array:
    """Return a mask of the frequencies below the first band of a sixth of an octave that is noise."""
    standing = P / noise > CLEAR
    standing[0] = True
    motion = np.zeros_like(standing)
    for j in range(P.shape[1]):
        k = 1
        while k < len(P):
            stretch = slice(k, max(k + 3, int(k * 2.0 ** (1 / 6)) + 1))
            if not standing[stretch, j].any():
                break
            motion[stretch, j] = standing[stretch, j]
            k = stretch.stop
    return motion


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
        smooth = low_pass(x - ends, period, cutoff, order)
        smooth += ends
    return smooth, _difference(smooth, 1, accuracy, period), _difference(smooth, 2, accuracy, period)


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
    ends = s * ((a1 - a0) / 6.0)
    for coefficient in (a0 / 2.0, q1 - q0 - a0 / 3.0 - a1 / 6.0):
        ends += coefficient
        ends *= s
    ends += q0
    return np.asarray(ends)


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


def _difference(x: Array, derivative: int, accuracy: int, period: float) -> Array:
    """Return derivatives of samples (N,) or (N, n) at a period: central differences inside, one-sided ones at the ends."""
    size = accuracy + 1
    half, scale = accuracy // 2, period**-derivative
    result, flat = np.empty(x.shape), np.ascontiguousarray(x).reshape(len(x), -1)
    row_sums(flat, scale * stencil(np.arange(-half, half + 1), derivative), 1, result.reshape(flat.shape)[half : len(x) - half])
    for k in range(half):
        weights = scale * stencil(np.arange(size) - k, derivative)
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
