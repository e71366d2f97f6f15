"""Excitation trajectory: the motion, its condition number, and its use of the limits."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table, excitation_card, plotted
from dynamis.errors import InputError, printable
from dynamis.identification.excitation.basis import Basis
from dynamis.identification.samples import Samples
from dynamis.robot import Robot
from dynamis.trajectories.motion import Motion, State
from dynamis.trajectories.validate import positive

Array = npt.NDArray[Any]


@dataclass(frozen=True, repr=False)
class Use:
    """Range of one quantity of a joint, a frame or a constraint. Bounds include the margin; ``limit`` does not.

    ``share`` is the fraction of the limit that is used; None without a reference for 100 %.
    """

    kind: str
    name: str
    lowest: float
    highest: float
    lower: float
    upper: float
    share: float | None
    limit: float | None = None

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, eq=False, repr=False)
class Excitation:
    """An excitation trajectory q(t) = q₀ + Φ(t) c, within its limits at every time.

    ``condition`` is the condition number of its regressor with normalized columns; ``condition_before`` that of the best random
    motion the search started from. ``history`` is the criterion (exponentiated if logarithmic) at each iteration. ``uses`` is
    the range of the motion for every limit. ``robot`` may be None after `load`; then torques are not available.
    """

    basis: Basis
    q0: Array
    coefficients: Array
    joint_names: tuple[str, ...]
    criterion: str
    condition: float
    condition_before: float
    parameters: int
    uses: tuple[Use, ...] = ()
    history: tuple[float, ...] = ()
    margin: float = 0.0
    seed: int = 0
    status: str = ""
    robot_name: str = ""
    robot: Robot | None = None

    @property
    def duration(self) -> float:
        return self.basis.duration

    @property
    def kind(self) -> str:
        """ "fourier" or "spline"."""
        return self.basis.kind

    @property
    def start(self) -> Array:
        """The start configuration."""
        return np.asarray(self.q0 + (self.basis.derivative([0.0]) @ self.coefficients)[0])

    @cached_property
    def motion(self) -> Motion:
        """The motion, for controllers and `dynamis.simulate`."""
        return self.basis.motion(self.q0, self.coefficients, self.status)

    def at(self, t: Any) -> State:
        """Return (q, v, a) at one or many times; at rest before the start and after the end."""
        return self.motion.at(t)

    def sample(self, rate: float = 1000.0, *, repeats: int = 1) -> tuple[Array, Array, Array, Array]:
        """Return (t, q, v, a) sampled at ``rate`` Hz from start to end, repeated ``repeats`` times."""
        rate = positive(rate, "rate")
        if not isinstance(repeats, int) or repeats < 1:
            raise InputError(f"repeats must be an integer above zero, got {repeats!r}")
        if repeats > 1 and np.abs(np.subtract(*self.at(np.array([0.0, self.duration]))[0])).max() > 1e-9:
            raise InputError("this motion does not end at its start configuration: it cannot be repeated")
        count = int(np.ceil(self.duration * repeats * rate - 1e-9))
        t = np.arange(count + 1) / rate
        turn = np.minimum(np.floor(t / self.duration), repeats - 1)
        return (t, *self.at(t - turn * self.duration))

    def samples(self, rate: float = 1000.0, *, repeats: int = 1) -> Samples:
        """Return samples with the torques of the prior robot model."""
        t, q, v, a = self.sample(rate, repeats=repeats)
        tau = self._believed("torques").inverse_dynamics(q, v, a)
        return Samples.of(q, v, a, tau, t=t, period=1.0 / rate, source=f"excitation of {self.robot_name}")

    def _believed(self, what: str) -> Robot:
        if self.robot is None:
            raise InputError(f"{what} need the robot: Excitation.load(path, robot=dynamis.load({self.robot_name!r}))")
        return self.robot

    @cached_property
    def used(self) -> dict[str, dict[str, float]]:
        """Return {kind: {name: percent}} of the limits with a reference for 100 %."""
        table: dict[str, dict[str, float]] = {}
        for use in self.uses:
            if use.share is not None:
                table.setdefault(use.kind, {})[use.name] = 100.0 * use.share
        return table

    def write(self, path: str | os.PathLike[str], *, rate: float = 1000.0, repeats: int = 1) -> Path:
        """Write .csv or .npz with t, q, v, a at a rate, or .json or .toml with the coefficients (.npz contains both)."""
        from dynamis.identification.excitation.files import write

        return write(self, path, rate, repeats)

    @staticmethod
    def load(path: str | os.PathLike[str], robot: Robot | None = None) -> Excitation:
        """Read a .json, .toml or .npz file written by `write`."""
        from dynamis.identification.excitation.files import read

        return read(path, robot)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Plot positions, velocities and torques relative to their limits, and the convergence of the criterion."""
        return plotted("excitation", self, path)

    def as_dict(self) -> dict[str, Any]:
        """Return everything except the robot as plain values."""
        uses = [{key: _plain(x) for key, x in vars(use).items()} for use in self.uses]
        return {
            "format": "dynamis excitation 1", "robot": self.robot_name, "joints": list(self.joint_names),
            "criterion": self.criterion, "condition": _plain(self.condition),
            "condition_before": _plain(self.condition_before), "parameters": self.parameters, "margin": self.margin,
            "seed": self.seed, "status": self.status, "basis": self.basis.as_dict(), "q0": self.q0.tolist(),
            "coefficients": self.coefficients.tolist(), "history": [_plain(x) for x in self.history], "uses": uses,
        }  # fmt: skip

    def __repr__(self) -> str:
        what = f"{self.kind}, {self.duration:g} s, condition number {self.condition:.4g}"
        return f"<Excitation of {printable(self.robot_name)}: {what}; {self.status}>"

    def _repr_html_(self) -> str:
        return excitation_card(self)


def _plain(x: Any) -> Any:
    """Return None for numbers that JSON cannot represent."""
    return None if isinstance(x, float) and not np.isfinite(x) else x
