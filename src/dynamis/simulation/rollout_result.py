"""The result of a batch of motions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import card, counted, short
from dynamis.model.massless import describe_motion, massless_motion
from dynamis.model.model import Model
from dynamis.tolerances import SOLUTION_TOLERANCE

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Rollouts:
    """``t`` (T), ``q`` (T, …, nq) and ``v`` (T, …, n): one motion for each state of the batch.

    ``drives`` (T, …, states) holds the states of friction, drives and controller. ``note`` reports deviations from the request,
    such as a controller that could not be compiled; ``friction`` describes the simulated dry friction. ``left`` (…) is the
    largest residual of the iteration of an implicit rule. ``cause`` names a function of the user that returned no number.
    """

    t: Array
    q: Any
    v: Any
    step: float
    method: str
    drives: Any = None
    note: str = ""
    left: Any = None
    friction: str = ""
    model: Model | None = None
    cause: str = ""

    @cached_property
    def finite(self) -> Any:
        """(…): whether each motion reached its end; a diverged one is nan from then on."""
        xp = array_module(self.q)
        return xp.isfinite(self.q[-1]).all(axis=-1) & xp.isfinite(self.v[-1]).all(axis=-1)

    @property
    def status(self) -> str:
        """Message on how many motions completed."""
        count, lost = math.prod(self.q.shape[1:-1]), int((~self.finite).sum())
        loose = 0 if self.left is None else int((self.left > _tolerance(self.q.dtype) * _largest(self.q[-1], self.v[-1])).sum())
        if loose and not lost:
            return f"the iteration of the {self.method} rule did not converge in {loose} of {count}: use shorter steps"
        if not lost:
            return f"all {count} completed" if count != 1 else "completed"
        flat = on_host(self.v).reshape(len(self.t), count, -1)
        first = int(np.flatnonzero(~on_host(self.finite).reshape(count))[0])
        bad = int(np.argmax(~np.isfinite(flat[:, first]).all(axis=-1)))
        where = f"motion {first} before t = {self.t[bad]:.6g} s"
        if self.cause:
            return f"{lost} of {count} ended ({where}): {self.cause}"
        if self.model is not None and not self.model.symbolic and bad:
            last = on_host(self.q).reshape(len(self.t), count, -1)[bad - 1, first].astype(float)
            motion = massless_motion(self.model, last)
            if motion is not None:
                return f"{lost} of {count} ended at a singular mass matrix ({where}): {describe_motion(self.model, motion)}"
        return f"{lost} of {count} diverged ({where}): try shorter steps, or lower gains"

    def __repr__(self) -> str:
        return short(f"<Rollouts: {self._size()}, {self.status}>")

    def _size(self) -> str:
        """Number of motions (with the shape of the batch), stored instants, duration, method and step."""
        shape = tuple(int(x) for x in self.q.shape[1:-1])
        count = math.prod(shape)
        batch = f" ({' × '.join(map(str, shape))})" if len(shape) > 1 else ""
        by = f"{self.method}, step {self.step:g} s"
        return f"{counted(count, 'motion')}{batch} × {counted(len(self.t), 'instant')}, {self.t[-1]:g} s by {by}"

    def _repr_html_(self) -> str:
        """A row for each coordinate: the range of its final positions and velocities."""
        q, v = (on_host(x)[-1].reshape(-1, x.shape[-1]) for x in (self.q, self.v))
        sentences = [x for x in (self._size(), self.status, self.friction, self.note) if x]
        return card("Rollouts", sentences, ("at the end", "min", "max"), [*self._ends("q", q), *self._ends("v", v)])

    def _ends(self, letter: str, values: Array) -> list[tuple[str, str, str]]:
        """(name, smallest, largest finite value) of each column."""
        coordinates = () if self.model is None else self.model.coordinates
        named = len(coordinates) == values.shape[1]
        rows = []
        for k, column in enumerate(values.T):
            finite = column[np.isfinite(column)]
            name = coordinates[k].name if named else str(k + 1)
            ends = (f"{finite.min():.4g}", f"{finite.max():.4g}") if len(finite) else ("–", "–")
            rows.append((f"{letter} of {name}", *ends))
        return rows


def _tolerance(dtype: Any) -> float:
    """Tolerance of an iteration relative to the state; larger in single precision."""
    return max(SOLUTION_TOLERANCE, 100.0 * float(np.finfo(dtype).eps))


def _largest(*arrays: Any) -> Any:
    """(…): the largest magnitude in each motion, at least one."""
    xp = array_module(arrays[0])
    return xp.maximum(1.0, xp.max(xp.abs(xp.concatenate(arrays, axis=-1)), axis=-1))


def array_module(x: Any) -> Any:
    """NumPy, or CuPy for arrays on a GPU."""
    if isinstance(x, np.ndarray):
        return np
    import cupy

    return cupy


def on_host(x: Any) -> Array:
    """An array of NumPy, copied from a GPU where necessary."""
    return np.asarray(x.get() if hasattr(x, "get") else x)
