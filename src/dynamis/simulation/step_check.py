"""Whether the fixed steps of a batch of motions resolve them: the velocity balance of some motions, in parts of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.kernel import Kernel
from dynamis.compiler.time_stepper import Table, march
from dynamis.display import counted
from dynamis.errors import printable
from dynamis.robot import Robot
from dynamis.simulation.closed_loop import ClosedLoop
from dynamis.simulation.contact import contacts_in, step_for
from dynamis.simulation.motion import DIVERGED_POSITION, DIVERGED_VELOCITY
from dynamis.simulation.velocity_balance import LARGE_IMBALANCE, LASTING, imbalance, lasting

Array = npt.NDArray[Any]
SHARE = 0.05  # of the steps of a batch are checked: each takes the time of two or three
STEPS_CHECKED = (8192, 65536)  # at least, if there are so many, and at most
MIN_MOTIONS = 8  # of the batch, if there are so many
WINDOW = (64, 512)  # consecutive steps that are checked, usually and at most; those of all windows are taken at once
START = 1.0 / 64.0  # of a step: the change of the velocity in it is that by the acceleration at the start of the step
SHORTER = (2, 5, 10, 20, 50, 100, 200, 500, 1000)  # times shorter steps that are tried
STEPS_TRIED = (10_000, 500_000)  # of a motion from its start, in the steps that are too long, and in shorter ones


class StepCheck:
    """The velocity balance of the motions of one loop with steps of length h; ``rows`` are the further inputs of the kernel."""

    def __init__(self, loop: ClosedLoop, kernel: Kernel, rows: Sequence[Any], h: float) -> None:
        self.loop, self.kernel, self.rows, self.h = loop, kernel, rows, h
        self.robot = loop.robot
        self.v = slice(self.robot.nq, self.robot.nq + self.robot.n)

    @property
    def possible(self) -> bool:
        """Whether velocities follow from the accelerations at the starts of steps, not from samples or implicit contacts."""
        implicit = self.loop.method == "time_stepping" and contacts_in(self.loop.wrenches)
        return self.loop.samples is None and self.loop.method != "midpoint" and not implicit

    def warning(self, states: Array, every: int) -> str:
        """What is wrong with steps from which these states (T, …, N) were kept, and the step to choose; otherwise empty."""
        states, batch = states.reshape(len(states), -1, states.shape[-1]), states.shape[1:-1]
        size, steps = states.shape[1], (len(states) - 1) * every
        alive = np.flatnonzero(_alive(states[-1], self.robot))
        if not (len(alive) and self.robot.n):
            return ""
        checked = int(np.clip(SHARE * steps * size, *STEPS_CHECKED))
        motions = _spread(alive, max(MIN_MOTIONS, checked // steps))
        length = min(steps, WINDOW[1], every * -(-WINDOW[0] // every))
        starts = _spread(np.arange((steps - length) // every + 1), max(1, checked // (length * len(motions))))
        off, speed = self.windows(states[starts][:, motions], starts * every, length, batch, motions)
        found = imbalance(off.max(axis=0), np.maximum(speed, np.abs(states[:, motions, self.v]).max(axis=0)))
        wrong = found.max(axis=-1) > LARGE_IMBALANCE
        if not wrong.any():
            return ""
        worst, joint = np.unravel_index(int(np.argmax(found)), found.shape)
        last = int(starts[int(np.argmax(off[:, worst, joint]))]) * every + length
        step = self.shorter(states[0, motions[worst]], steps if steps <= STEPS_TRIED[0] else last, batch, motions[worst])
        among = counted(size, "motion") if len(motions) == size else f"the {len(motions)} motions checked"
        return (
            f"steps of {self.h:g} s are too long for {printable(self.robot.coordinate_names[joint])} in {int(wrong.sum())} of "
            f"{among}: its velocity changes by other than its acceleration; use "
            f"{'a shorter step=' if step is None else f'step={step:g} or shorter'}, or lower gains"
        )

    def windows(self, y: Array, first: Array, length: int, batch: tuple[int, ...], motions: Array) -> tuple[Array, Array]:
        """(windows, motions, n) differences and (motions, n) largest velocities in steps from y, the first of these numbers."""
        off, recent = np.zeros((*y.shape[:2], self.robot.n)), []
        speed, known = np.zeros(off.shape[1:]), None
        for k in range(length):
            rows = [_rows_at(x, first + k, batch, motions) for x in self.rows]
            t = (first + k)[:, None, None] * self.h
            before = self.acceleration(y, t, rows) if known is None else known
            new = self.stepped(y, t, self.h, rows)
            after = self.acceleration(new, t + self.h, rows)
            known = None if any(isinstance(x, Table) for x in self.rows) else after
            recent.append(np.nan_to_num(np.abs((new - y)[..., self.v] - 0.5 * self.h * (before + after))))
            recent = recent[-min(LASTING, length) :]
            if len(recent) == min(LASTING, length):
                off = np.maximum(off, lasting(np.array(recent)))
            speed, y = np.maximum(speed, np.abs(new[..., self.v]).max(axis=0)), new
        return off, speed

    def acceleration(self, y: Array, t: Any, rows: Sequence[Any], h: float | None = None) -> Array:
        short = START * (self.h if h is None else h)
        return np.asarray((self.stepped(y, t, short, rows) - y)[..., self.v] / short)

    def stepped(self, y: Array, t: Any, h: float, rows: Sequence[Any]) -> Array:
        return np.asarray(self.kernel.call(y, np.asarray(t, y.dtype), np.array([h], y.dtype), *rows))

    def shorter(self, y: Array, steps: int, batch: tuple[int, ...], motion: int) -> float | None:
        """The longest of some shorter steps that resolve the motion from y in the time of so many steps."""
        for times in SHORTER:
            if steps * times > STEPS_TRIED[1]:
                break
            h, count = self.h / times, steps * times
            one = np.array([motion])
            rows = [_rows_at(x, np.arange(count) // times, batch, one) for x in self.rows]
            held = [Table(x, 1) if isinstance(given, Table) else x for given, x in zip(self.rows, rows, strict=True)]
            states = np.concatenate([y[None, None], march(self.kernel, y[None], held, t=0.0, h=h, reports=count)])
            t = np.arange(count)[:, None, None] * h
            before, after = (self.acceleration(x, s, rows, h) for x, s in ((states[:-1], t), (states[1:], t + h)))
            speeds = states[..., self.v]
            off = lasting(np.abs(np.diff(speeds, axis=0) - 0.5 * h * (before + after)))
            if (imbalance(off, np.abs(speeds).max(axis=0)) <= LARGE_IMBALANCE).all():
                return _one_digit(h)
        return None


def diverged_on_contacts(loop: ClosedLoop, states: Array, h: float) -> str:
    """How many motions (T, …, N) diverged in steps longer than those for the stiffness of contacts, and these; or empty."""
    contacts, nq = contacts_in(loop.wrenches), loop.robot.nq
    states = states.reshape(len(states), -1, states.shape[-1])
    lost = np.flatnonzero(~_alive(states[-1], loop.robot)) if contacts else np.zeros(0, int)
    if not len(lost):
        return ""
    step = step_for(contacts, states[0, lost[0], :nq].astype(float))
    if h <= step:
        return ""
    return (
        f"{len(lost)} of {counted(states.shape[1], 'motion')} diverged in steps of {h:g} s: use step={_one_digit(step):g} or "
        "shorter, as simulate chooses it from the stiffness of the contacts, or lower gains"
    )


def _one_digit(h: float) -> float:
    """A step length rounded down to one digit."""
    unit = 10.0 ** math.floor(math.log10(h))
    return math.floor(h / unit + 1e-9) * unit


def _alive(states: Array, robot: Robot) -> Array:
    """(…): whether positions and velocities are within all bounds; false for nan."""
    bounds = np.repeat([DIVERGED_POSITION, DIVERGED_VELOCITY], [robot.nq, robot.n])
    return np.asarray((np.abs(states[..., : len(bounds)]) < bounds).all(axis=-1))


def _spread(given: Array, count: int) -> Array:
    """So many of them, equally spaced, the first and the last among them."""
    return given[np.unique(np.linspace(0, len(given) - 1, min(count, len(given))).round().astype(int))]


def row_of(given: Any, batch: tuple[int, ...], motions: Array) -> Any:
    """The values for these motions of the batch, with their own table if they have one."""
    if isinstance(given, Table):
        return Table(_rows_at(given, np.arange(len(given.values)) * given.hold, batch, motions), given.hold)
    return _rows_at(given, np.zeros(0), batch, motions)


def _rows_at(given: Any, steps: Array, batch: tuple[int, ...], motions: Array) -> Array:
    """The values for these motions of the batch: (motions, size), or (steps, motions, size) of a table."""
    if isinstance(given, Table):
        values = given.values[np.minimum(steps // given.hold, len(given.values) - 1)]
        wide = values.reshape(len(values), *[1] * (len(batch) + 2 - values.ndim), *values.shape[1:])
        return np.broadcast_to(wide, (len(values), *batch, values.shape[-1])).reshape(len(values), -1, values.shape[-1])[
            :, motions
        ]
    return np.broadcast_to(given, (*batch, given.shape[-1])).reshape(math.prod(batch), -1)[motions]
