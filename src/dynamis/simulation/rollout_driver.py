"""Time stepping of a batch of motions between output times and changes of the disturbance."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dynamis.compiler.batches import broadcast_batch
from dynamis.compiler.cuda_time_stepper import Stages
from dynamis.compiler.kernel import Kernel
from dynamis.compiler.time_stepper import Table, march
from dynamis.errors import DynamisError, InputError, SingularError
from dynamis.scalar import FunctionState, hidden_state_error
from dynamis.simulation.closed_loop import ClosedLoop, UndefinedError
from dynamis.simulation.noise import Noise
from dynamis.simulation.sources import DivergedError
from dynamis.simulation.step_check import StepCheck, diverged_on_contacts, row_of

Progress = Callable[[float], None]
MAX_NUMBERS_PER_CALL = 64_000_000  # of results, between two updates of a progress bar


class BatchMarch:
    """The state of a batch and its time stepping."""

    def __init__(
        self, loop: ClosedLoop, xp: Any, y: Any, h: float, steps: int, every: int, noise: Noise | None, first: int,
        progress: Progress | None, table: Table | None = None,
    ) -> None:  # fmt: skip
        self.loop, self.xp, self.h, self.steps, self.every, self.noise = loop, xp, h, steps, every, noise
        self.rows = loop.rows(xp, y.shape[:-1], y.dtype)
        tables = {} if table is None else {"inputs": table.values[0]}
        batch = broadcast_batch({"q0, v0": y, **loop.batches(), **tables})
        if table is not None:  # behind the numbers
            values = table.values.astype(y.dtype, copy=False)
            self.rows = (self.rows[0], Table(values, table.hold), *self.rows[1:])
        self.table = table
        self.y = xp.ascontiguousarray(xp.broadcast_to(y, (*batch, y.shape[-1])))
        self.numbers = xp.arange(first, first + math.prod(batch))
        self.progress = progress or (lambda _x: None)
        self.hold = 0
        if noise is not None:
            self.hold = round(noise.hold / h)
            if self.hold < 1 or abs(self.hold * h - noise.hold) > 1e-6 * h:
                raise InputError(f"hold={noise.hold:g} s of the noise is not a multiple of the step of {h:g} s")

    def compiled(self, kernel: Kernel, stages: Stages | None) -> Any:
        """(outputs, …, N): the start, every so many steps, and the end."""
        xp, y, every = self.xp, self.y, self.every
        kept = [y[None]]
        run = functools.partial(march, kernel, t=0.0, h=self.h, stages=stages)
        if self.noise is None:
            at_once = max(1, MAX_NUMBERS_PER_CALL // max(1, y.size * every))
            for done in range(0, self.steps // every, at_once):
                some = min(at_once, self.steps // every - done)
                kept.append(run(y, self.rows, first=done * every, reports=some, every=every))
                y = kept[-1][-1]
                self.progress((done + some) * every / self.steps)
            if rest := self.steps % every:
                kept.append(run(y, self.rows, first=self.steps - rest, reports=1, every=rest))
                self.progress(1.0)
            return xp.concatenate(kept)
        k = 0
        while k < self.steps:
            rows = self.disturbed(k)
            some = min(every - k % every, self.hold - k % self.hold, self.steps - k)
            y = run(y, rows, first=k, reports=1, every=some)[0]
            k += some
            if k % every == 0 or k == self.steps:
                kept.append(y[None])
                self.progress(k / self.steps)
        return xp.concatenate(kept)

    def too_long_steps(self, kernel: Kernel | None, states: Any) -> str:
        """A warning of steps that do not resolve the motions; empty without, and where that is not known.

        Without a ``kernel``, that of a controller called from Python, only of motions that diverged on contacts.
        """
        if self.xp is not np or not states.size:
            return ""
        diverged = diverged_on_contacts(self.loop, states, self.h)
        if diverged or kernel is None or self.noise is not None:
            return diverged
        check = StepCheck(self.loop, kernel, self.rows, self.h)
        regular = states[: self.steps // self.every + 1]  # without an output at the end after fewer steps
        return check.warning(regular, self.every) if check.possible else ""

    def undefined(self, kernel: Kernel, states: Any) -> str:
        """Which function returned no number in the first motion that was lost, and where; empty if the motion diverged."""
        if self.xp is not np or self.noise is not None or self.loop.of_robot or not states.size:
            return ""
        flat = states.reshape(len(states), -1, states.shape[-1])
        lost = np.flatnonzero(~np.isfinite(flat[-1]).all(axis=-1))
        if not lost.size:
            return ""
        motion, batch = lost[:1], self.y.shape[:-1]
        kept = int(np.argmin(np.isfinite(flat[:, motion[0]]).all(axis=-1))) - 1  # the last output that is finite
        first, y = kept * self.every, flat[kept, motion]
        count = min(self.every, self.steps - first)
        rows = [row_of(x, batch, motion) for x in self.rows]
        steps = np.concatenate([y[None], march(kernel, y, rows, t=0.0, h=self.h, first=first, reports=count)])
        k = int(np.argmin(np.isfinite(steps[:, 0]).all(axis=-1))) - 1
        given = self.loop.parted(self._row(self.rows[0], motion[0]))
        if self.table is not None:
            given |= self.loop.inputs_of(self._row(self.table.at(first + k), motion[0]))
        try:
            with np.errstate(all="ignore"):
                self.loop.step(self.loop.robot, given, (first + k) * self.h, steps[k, 0].astype(float), self.h)
        except UndefinedError as error:
            return str(error)
        except (DynamisError, ArithmeticError):
            pass
        return ""

    def disturbed(self, k: int) -> tuple[Any, ...]:
        """The rows with the disturbance of step k as the last entry."""
        assert self.noise is not None
        n, given = self.loop.robot.n, self.rows[0]
        values = self.noise.values(k // self.hold, self.numbers, n, self.xp).reshape(*self.y.shape[:-1], n)
        wide = self.xp.broadcast_to(given, (*self.y.shape[:-1], given.shape[-1])).copy()
        wide[..., -n:] = values
        return (wide, *self.rows[1:])

    def called(self) -> Any:
        """The same, one motion at a time with the controller called from Python."""
        if self.xp is not np:
            raise InputError("on a GPU the controller must be compilable, since it runs on the device")
        if self.loop.of_robot:
            raise InputError("parameters of the robot require a controller that can be compiled")
        batch, size = self.y.shape[:-1], self.y.shape[-1]
        count = math.prod(batch)
        states = np.empty((-(-self.steps // self.every) + 1, count, size), self.y.dtype)
        states[0] = self.y.reshape(count, size)
        law = self.loop.law.torque
        state = FunctionState(law)
        for i in range(count):
            y = states[0, i]
            for k in range(self.steps):
                rows = self.rows if self.noise is None else self.disturbed(k)
                given = self.loop.parted(self._row(rows[0], i))
                if self.table is not None:
                    given |= self.loop.inputs_of(self._row(self.table.at(k), i))
                try:
                    y = self.loop.step(self.loop.robot, given, k * self.h, y, self.h)
                except (SingularError, DivergedError):
                    y = np.full(size, np.nan)
                except DynamisError:
                    raise
                except Exception as error:
                    raise InputError(
                        f"the controller raised {type(error).__name__}: {error} (t = {k * self.h:.6g} s)"
                    ) from error
                state.look()
                if law is not None and state.seen:
                    state.restore()
                    raise hidden_state_error(state.seen)
                if not np.isfinite(y).all():
                    # grown beyond all numbers: the others go on, as they do when compiled
                    states[k // self.every + 1 :, i] = np.nan
                    break
                if (k + 1) % self.every == 0 or k + 1 == self.steps:
                    states[k // self.every + 1, i] = y
            self.progress((i + 1) / count)
        return states.reshape(-1, *batch, size)

    def _row(self, array: Any, i: int) -> Any:
        """Motion i of an array that broadcasts to the batch."""
        batch = self.y.shape[:-1]
        return np.broadcast_to(array, (*batch, array.shape[-1])).reshape(math.prod(batch), -1)[i]
