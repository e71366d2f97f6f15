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
SampledLaw = Callable[[Array, Array, Array], tuple[Array, Array]]


class SampledSteps:
    """Samples every ``period`` steps whose commands act ``delay`` steps later.

    The state holds the active and the delayed commands, newest first, the last measured positions where velocities are
    their differences, and the ``inside`` states of the controller.
    """

    def __init__(self, sampled: Sampled, nq: int, n: int, step: float, inside: int = 0) -> None:
        self.sampled, self.nq, self.n, self.inside = sampled, nq, n, inside
        self.period = _steps(1.0 / sampled.rate, step, "the period of the sampled controller")
        delay = _steps(sampled.delay, step, "the delay of the sampled controller") if sampled.delay else 0
        self.whole, self.rest = divmod(delay, self.period)
        self.commands = self.whole + (2 if self.rest else 1)
        self.differences = sampled.velocity == "differences"

    @property
    def size(self) -> int:
        return self.commands * self.n + (self.nq if self.differences else 0) + self.inside

    def take(self, law: SampledLaw, steps: Any, q: Array, v: Array, kept: Array) -> tuple[Array, Array]:
        """(active torques, new ``kept``) in the step from this state, after ``steps`` steps.

        ``law`` returns the torques and the next states from the measured q and v and the states.
        """
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

    def _sampled(self, law: SampledLaw, number: Any, q: Array, v: Array, kept: Array) -> Array:
        s, commands, n = self.sampled, self.commands * self.n, self.n
        seen = _quantised(q, s.resolution)
        if self.differences:
            last = kept[commands : commands + self.nq]
            # the first sample has none before it
            rates = np.asarray(where(number < 0.5, 0.0 * v, (seen[:n] - last[:n]) * s.rate))
        else:
            rates = _quantised(v, s.velocity_resolution)
        torque, states = law(seen, rates, kept[self.size - self.inside :])
        return np.concatenate([torque, kept[: commands - n], *([seen] if self.differences else []), states])


def _quantised(x: Array, resolution: float) -> Array:
    return np.asarray(floor(x / resolution + 0.5) * resolution) if resolution > 0 else x


def _steps(seconds: float, step: float, what: str) -> int:
    count = round(seconds / step)
    if count < 1 or abs(count * step - seconds) > FILE_PRECISION * step:
        raise InputError(f"{what}, {seconds:g} s, must be a multiple of the step of {step:g} s: choose another step=")
    return count
