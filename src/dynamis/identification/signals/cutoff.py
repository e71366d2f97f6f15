"""The cut-off at which a measured motion is best differentiated, read off its own spectrum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table
from dynamis.errors import InputError

Array = npt.NDArray[Any]
SEGMENTS = 8  # at least, over which the spectrum is averaged, where the run is long enough
SHORTEST = 64  # samples
SMEAR = 4  # lines of the spectrum to either side that the Blackman-Harris window mixes
LEAK = 1e-9  # of everything, that it lets through from anywhere
CLEAR = 4.0  # times the noise: what stands out this much is motion


class Cutoff(NamedTuple):
    """``value`` [Hz] for all joints, the ``joints``' own (n,) [Hz], the ``noise`` of their positions (n,), and a sentence."""

    value: float
    joints: Array
    noise: Array
    note: str

    def __repr__(self) -> str:
        return f"<Cutoff {self.value:.4g} Hz for {len(self.joints)} joints>"

    def _repr_html_(self) -> str:
        return as_table(self)


def suggest_cutoff(q: Any, period: float, order: int = 4, *, names: Sequence[str] = ()) -> Cutoff:
    """The cut-off of `low_pass` that leaves the smallest error in the accelerations, for positions (N,) or (N, n).

    The spectrum of the positions is that of the motion up to where it first sinks into a flat floor, the noise; what may
    stand out again above that, such as vibrations and the ripple of an encoder, is not counted. With a gain G(f), the
    acceleration loses ∫ ω⁴ (1 − G)² of the motion's spectrum and keeps ∫ ω⁴ G² of the noise's; the cut-off makes the sum
    least. The joint that needs the highest one decides; ``names`` of the joints are for the note.

    >>> t = np.arange(8000) * 1e-3
    >>> q = np.sin(2 * np.pi * t) + 1e-4 * np.random.default_rng(0).normal(size=t.size)
    >>> 1.0 < suggest_cutoff(q, 1e-3).value < 10.0
    True
    """
    from scipy.ndimage import maximum_filter1d
    from scipy.signal import welch

    x = np.asarray(q, dtype=float)
    x = x.reshape(len(x), -1)
    if len(x) < SHORTEST:
        raise InputError(f"{len(x)} samples are too few to see where the noise begins ({SHORTEST}): give the cut-off yourself")
    # of second differences, since the spectrum of the slow motion itself would leak over all of theirs
    bends = np.diff(x, 2, axis=0)
    size = min(len(bends), max(SHORTEST - 2, len(bends) // SEGMENTS))
    f, P = welch(bends, 1.0 / period, window="blackmanharris", nperseg=size, detrend=False, axis=0)
    shape = (2.0 * np.sin(np.pi * f * period)) ** 4  # of what white noise becomes
    floor = np.median(P[f > 0.5 * f[-1]] / shape[f > 0.5 * f[-1], None], axis=0) + 1e-300
    seen = maximum_filter1d(shape, 2 * SMEAR + 1) + LEAK * shape.sum()  # through the window
    motion = np.where(_before_the_floor(P, seen[:, None] * floor), P, 0.0)
    candidates = np.geomspace(max(4.0 / (size * period), f[1]), 0.8 * f[-1], 60)
    G = 1.0 / (1.0 + (f / candidates[:, None]) ** (2 * order))
    cost = ((1.0 - G) ** 2) @ motion + (G**2 @ shape)[:, None] * floor
    joints = candidates[np.argmin(cost, axis=0)]
    noise = np.sqrt(floor * 0.5 / period)
    still = motion.sum(axis=0) == 0.0
    if still.all():
        raise InputError("no joint moves more than its noise, so there is no cut-off to be found: give one, or another log")
    value = float(joints[~still].max())
    which = int(np.flatnonzero(~still)[np.argmax(joints[~still])])
    who = names[which] if which < len(names) else f"column {which}"
    note = (
        f"cut-off {value:.3g} Hz chosen from the spectra: there {who} sinks into its noise of {noise[which]:.2g} rad or m "
        f"(each by itself: {', '.join(f'{c:.3g}' for c in joints)} Hz)"
    )
    return Cutoff(value, joints, noise, note)


def _before_the_floor(P: Array, noise: Array) -> Array:
    """Which frequencies lie below the first stretch that does not stand out; a stretch is a sixth of an octave."""
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
