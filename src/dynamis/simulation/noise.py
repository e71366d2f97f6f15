"""Reproducible random torques: each is a pure function of seed, rollout, interval and joint.

The generator is counter-based and has no state, so that disturbances do not depend on batch size, order or machine. The numbers
are SplitMix64 hashes [Steele 2014] of their indices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table, counted
from dynamis.errors import InputError
from dynamis.tolerances import NEGLIGIBLE

Array = npt.NDArray[Any]
INCREMENT, FIRST_MULTIPLIER, SECOND_MULTIPLIER = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mixed(x: Any, xp: Any = np) -> Any:
    """SplitMix64's finaliser: a bijection of 64-bit numbers in which every bit depends on all others."""
    x = (x ^ (x >> xp.uint64(30))) * xp.uint64(FIRST_MULTIPLIER)
    x = (x ^ (x >> xp.uint64(27))) * xp.uint64(SECOND_MULTIPLIER)
    return x ^ (x >> xp.uint64(31))


def hashed(seed: int, rollouts: Any, intervals: Any, joints: Any, xp: Any = np) -> Any:
    """A 64-bit hash of each combination of the broadcast integer arrays."""
    x = xp.asarray([seed % 2**64], dtype=xp.uint64)
    for numbers in (rollouts, intervals, joints):
        # mixed between, or rollout 1 in interval 2 would be rollout 2 in interval 1
        x = mixed(x + xp.uint64(INCREMENT), xp) ^ xp.asarray(numbers).astype(xp.int64).astype(xp.uint64)
    return mixed(x + xp.uint64(INCREMENT), xp)


def uniform(bits: Any, xp: Any = np) -> Any:
    """Numbers in the open interval (0, 1) from the 52 highest bits plus one half."""
    return ((bits >> xp.uint64(12)).astype(xp.float64) + 0.5) * 2.0**-52


@dataclass(frozen=True, repr=False)
class Noise:
    """Normally distributed torques with the standard deviation ``torque``, each held for ``hold`` seconds.

    ``torque`` is a number, or one per joint. Interval k lasts from k · ``hold`` to (k + 1) · ``hold``.

    >>> import numpy as np
    >>> pushes = Noise(2.0, hold=0.01, seed=3)
    >>> many = pushes.values(7, np.arange(1000), n=6)  # in the interval from 0.07 s on
    >>> many.shape, np.array_equal(pushes.values(7, [998], n=6), many[998:999])
    ((1000, 6), True)
    """

    torque: Any
    hold: float
    seed: int = 0

    def __post_init__(self) -> None:
        try:
            deviations = np.array(self.torque, dtype=float)
        except (TypeError, ValueError):
            deviations = np.array(np.nan)
        if deviations.ndim > 1 or not (np.isfinite(deviations) & (deviations >= 0)).all():
            raise InputError(f"noise requires a standard deviation ≥ 0 [N m], a number or one per joint, got {self.torque!r}")
        if not (isinstance(self.hold, int | float | np.number) and 0 < self.hold < np.inf):
            raise InputError(f"noise requires hold > 0 [s], the duration of each torque, got {self.hold!r}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int | np.integer):
            raise InputError(f"the seed of noise must be an integer, got {self.seed!r}")

    def deviations(self, n: int) -> Array:
        """The standard deviation at each of n joints."""
        given = np.array(self.torque, dtype=float)
        if given.ndim and given.shape != (n,):
            raise InputError(
                f"noise has {counted(len(given), 'standard deviation')}, the robot "
                f"{counted(n, 'degree of freedom', 'degrees of freedom')}: give one, or {n}"
            )
        return np.broadcast_to(given, (n,))

    def interval(self, t: Any) -> Any:
        """The index of the interval that contains a time."""
        return np.floor(np.asarray(t) / self.hold + NEGLIGIBLE).astype(np.int64)

    def values(self, intervals: Any, rollouts: Any, n: int, xp: Any = np) -> Any:
        """Torques (rollouts, n) of an interval, or (intervals, rollouts, n) of several, as arrays of ``xp`` (NumPy or CuPy)."""
        k, r = xp.asarray(intervals)[..., None, None], xp.asarray(rollouts)[:, None]
        bits = hashed(int(self.seed), r, k, xp.arange(n), xp)
        radius = xp.sqrt(-2.0 * xp.log(uniform(bits, xp)))
        angle = 2.0 * np.pi * uniform(mixed(bits + xp.uint64(INCREMENT), xp), xp)
        return radius * xp.cos(angle) * xp.asarray(self.deviations(n))

    def source(self, n: int) -> NoiseSource:
        """The torques of one motion, rollout 0, as a function of time."""
        return NoiseSource(self, n)

    __repr__ = as_call
    _repr_html_ = as_table


class NoiseSource:
    """τ(t), constant over each interval; integration from change to change has no discontinuity inside."""

    def __init__(self, noise: Noise, n: int) -> None:
        self.noise, self.n = noise, n
        noise.deviations(n)  # refused here if at all, before the motion begins
        self._known: tuple[int, Array] | None = None
        self.period = float(noise.hold)
        self.inside: float | None = None

    def __call__(self, t: float) -> Array:
        k = int(self.noise.interval(t if self.inside is None else self.inside))
        if self._known is None or self._known[0] != k:
            self._known = k, self.noise.values(k, [0], self.n)[0]
        return self._known[1]

    def changes(self, start: float, end: float) -> Array:
        """The times of torque jumps between two times."""
        first, last = int(self.noise.interval(start)) + 1, int(self.noise.interval(end))
        return np.arange(first, last + 1) * self.noise.hold

    def reach(self, t: float, q: Array, v: Array) -> None:
        """No action at a jump."""
