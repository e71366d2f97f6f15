"""What a simulation gives: times, states, torques, energies, what happened, and how it ended."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.dynamics import TorqueLedger
from dynamis.robot import Robot

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Event:
    """Something that happened at an instant: a joint ``starts`` or ``stops``."""

    time: float
    kind: str
    joint: str

    def __str__(self) -> str:
        return f"{self.time:.6g} s: {self.joint} {self.kind}"


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion: ``t`` (N), ``q`` (N, nq), ``v`` and ``tau`` (N, n), ``friction`` (N, n) where it is dry.

    ``tau`` is what reaches the joints; ``actuator_states`` holds the drives' own states (a current; angle and velocity of a
    rotor) by coordinate. ``work`` (N) is what torques and wrenches put in since the start, less what friction took out;
    ``energy_error`` is how far the energy is from it. ``status`` is a sentence; ``complete`` says whether the end was reached.
    """

    robot: Robot
    t: Array
    q: Array
    v: Array
    tau: Array
    friction: Array
    work: Array
    wrenches: Mapping[str, Array] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    status: str = "reached the end"
    statistics: Mapping[str, Any] = field(default_factory=dict)
    actuator_states: Mapping[str, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} … {self.t[-1]:g} s" if len(self.t) else "nothing"
        return f"<Trajectory of {self.robot.name!r}, {span}, {len(self.t)} points, {self.status}>"

    @property
    def complete(self) -> bool:
        return self.status == "reached the end"

    @cached_property
    def acceleration(self) -> Array:
        """v̇ (N, n), from the equations of motion."""
        return self._smooth.forward_dynamics(self.q, self.v, self.tau - self.friction, dict(self.wrenches) or None)

    @property
    def _smooth(self) -> Robot:
        from dynamis.simulation.motion import without_dry_friction

        return without_dry_friction(self.robot)

    @cached_property
    def ledger(self) -> TorqueLedger:
        """Where the torque goes, term by term (N, n); ``dry`` is the friction of the law that was simulated."""
        terms = self._smooth.torque_ledger(self.q, self.v, self.acceleration, dict(self.wrenches) or None)
        return TorqueLedger(**{**terms.as_dict(), "dry": self.friction})

    @cached_property
    def kinetic_energy(self) -> Array:
        return np.asarray(self.robot.kinetic_energy(self.q, self.v))

    @cached_property
    def potential_energy(self) -> Array:
        return np.asarray(self.robot.potential_energy(self.q))

    @property
    def energy(self) -> Array:
        return self.kinetic_energy + self.potential_energy

    @property
    def energy_error(self) -> Array:
        """E(t) − E(0) − work: zero but for errors of integration."""
        return self.energy - self.energy[0] - self.work

    def path(self, frame: str | None = None) -> Array:
        """The positions of a frame (N, 3); without a name, the tip."""
        return self.robot.pose(self.q, frame)[:, :3, 3]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write to a .npz, .csv or .parquet file."""
        from dynamis.simulation.files import save

        return save(self, path)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Angles, velocities, torques and energies over time; returns the figure, and writes it where a path is given."""
        from dynamis.simulation.plots import plot

        return plot(self, path)
