"""A sampled controller within a compiled step: its commands are part of the state, updated at the sampling instants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.scalar import Node, floor, where
from dynamis.simulation.sampling import Sampled
from dynamis.tolerances import FILE_PRECISION

Array = npt.NDArray[Any]


class SampledSteps:
    """Samples every ``period`` steps whose commands act ``delay`` steps later.

    The state holds the active and the delayed commands, newest first, and the last measured positions where velocities are
    their differences.
    """

    def __init__(self, sampled: Sampled, nq: int, n: int, step: float) -> None:
        self.sampled, self.nq, self.n = sampled, nq, n
        self.period = _steps(1.0 / sampled.rate, step, "the period of the sampled controller")
        delay = _steps(sampled.delay, step, "the delay of the sampled controller") if sampled.delay else 0
        self.whole, self.rest = divmod(delay, self.period)
        self.commands = self.whole + (2 if self.rest else 1)
        self.differences = sampled.velocity == "differences"

    @property
    def size(self) -> int:
        return self.commands * self.n + (self.nq if self.differences else 0)

    def take(self, law: Callable[[Array, Array], Array], steps: Any, q: Array, v: Array, kept: Array) -> tuple[Array, Array]:
        """(active torques, new ``kept``) in the step from this state, after ``steps`` steps."""
        number = floor(steps + 0.5)
        phase = number - self.period * floor((number + 0.5) / self.period)
        due = phase < 0.5
        if not isinstance(due, Node):
            kept = self._sampled(law, number, q, v, kept) if due else kept
        else:
            kept = np.asarray(where(due, self._sampled(law, number, q, v, kept), kept))
        acting = kept[self.whole * self.n : (self.whole + 1) * self.n]
        if self.rest:
            before = kept[(self.whole + 1) * self.n : (self.whole + 2) * self.n]
            acting = np.asarray(where(phase < self.rest - 0.5, before, acting))
        return acting, kept

    def _sampled(self, law: Callable[[Array, Array], Array], number: Any, q: Array, v: Array, kept: Array) -> Array:
        s, commands, n = self.sampled, self.commands * self.n, self.n
        seen = _quantised(q, s.resolution)
        if self.differences:
            last = kept[commands:]
            # the first sample has none before it
            rates = np.asarray(where(number < 0.5, 0.0 * v, (seen[:n] - last[:n]) * s.rate))
        else:
            rates = _quantised(v, s.velocity_resolution)
        parts = [law(seen, rates), kept[: commands - n]]
        return np.concatenate([*parts, seen] if self.differences else parts)


def _quantised(x: Array, resolution: float) -> Array:
    return np.asarray(floor(x / resolution + 0.5) * resolution) if resolution > 0 else x


def _steps(seconds: float, step: float, what: str) -> int:
    count = round(seconds / step)
    if count < 1 or abs(count * step - seconds) > FILE_PRECISION * step:
        raise InputError(f"{what}, {seconds:g} s, must be a multiple of the step of {step:g} s: choose another step=")
    return count
