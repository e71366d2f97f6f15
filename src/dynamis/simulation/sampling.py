"""Digital control: a law that is evaluated at a rate, on what sensors resolve, and acts after a delay."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.simulation.adaptive import Pieces, integrate
from dynamis.simulation.motion import Motion
from dynamis.simulation.sources import SourceError, checked_push

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Sampled:
    """``law(t, q, v)`` every 1/``rate`` seconds; its torques are held until the next sample, and come ``delay`` late.

    ``resolution`` of the positions (an encoder's step) quantises q; ``velocity`` is "measured" (quantised by
    ``velocity_resolution``) or "differences" of the quantised positions, as many controllers have it.
    """

    law: Callable[[float, Array, Array], Any]
    rate: float
    delay: float = 0.0
    resolution: float = 0.0
    velocity: str = "measured"
    velocity_resolution: float = 0.0

    def __post_init__(self) -> None:
        if not callable(self.law):
            raise InputError("a sampled controller needs a law, a function of (t, q, v)")
        if not (self.rate > 0 and self.delay >= 0 and self.resolution >= 0 and self.velocity_resolution >= 0):
            raise InputError("a sampled controller needs rate > 0 [Hz], and delay [s] and resolutions ≥ 0")
        if self.velocity not in ("measured", "differences"):
            raise InputError(f"velocity={self.velocity!r} is not known; choose 'measured' or 'differences'")

    def instants(self, start: float, end: float) -> tuple[Array, Array]:
        """(samples, all instants at which something changes), the end included in the second."""
        count = int(np.ceil((end - start) * self.rate - 1e-9))
        samples = start + np.arange(count) / self.rate
        late = samples + self.delay
        changes = np.unique(np.concatenate([samples, late[late < end], [end]]))
        # an instant that rounding doubled would make an interval too short to integrate
        apart = np.concatenate([[True], np.diff(changes) > 1e-9 / self.rate])
        return samples, changes[apart]


class Held:
    """What a sampled controller has asked for so far, as a function of time."""

    def __init__(self, sampled: Sampled, n: int) -> None:
        self.sampled, self.n = sampled, n
        self._times: list[float] = [-np.inf]
        self._torques: list[Array] = [np.zeros(n)]
        self._last: Array | None = None

    def __call__(self, t: float) -> Array:
        return self._torques[bisect_right(self._times, t + 1e-9 / self.sampled.rate) - 1]

    def sample(self, t: float, q: Array, v: Array) -> None:
        """Read the sensors, evaluate the law, and let it act after the delay."""
        s = self.sampled
        seen = _quantised(q, s.resolution)
        if s.velocity == "differences":
            rates = np.zeros(len(v)) if self._last is None else (seen[: len(v)] - self._last[: len(v)]) * s.rate
        else:
            rates = _quantised(v, s.velocity_resolution)
        self._last = seen
        torque = checked_push(s.law, self.n, "controller")(t, seen, rates)
        self._times.append(t + s.delay)
        self._torques.append(torque)


def integrate_sampled(motion: Motion, held: Held, times: Array, y0: Array, **options: Any) -> Pieces:
    """Integrate from instant to instant; between them the torques are constant."""
    start, end = float(times[0]), float(times[-1])
    samples, instants = held.sampled.instants(start, end)
    whole, y, progress = Pieces(), y0, options.pop("progress")
    waiting = deque(samples)
    for a, b in pairwise(instants):
        if waiting and waiting[0] <= a + 1e-9 / held.sampled.rate:
            q, v, _ = motion.split(y)
            try:
                held.sample(float(waiting.popleft()), q, v)
            except SourceError as failed:
                whole.status, whole.failure = f"stopped: {failed}", failed
                break
        part = integrate(motion, np.array([a, *times[(times > a) & (times < b)], b]), y, progress=None, **options)
        whole.add(part)
        if part.status != Pieces().status:
            break
        y = part.pieces[-1](b)
        if progress is not None:
            progress((b - start) / (end - start))
    return whole


def _quantised(x: Array, resolution: float) -> Array:
    return np.round(x / resolution) * resolution if resolution > 0 else x.copy()
