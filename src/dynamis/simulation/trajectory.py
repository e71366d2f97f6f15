"""The result of a simulation: times, states, torques, energies, events and status."""

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
from dynamis.display import as_table, call_by_name, counted, plotted, short, trajectory_card
from dynamis.errors import InputError, printable
from dynamis.robot import Robot
from dynamis.robot.dry_friction import without_dry_friction
from dynamis.simulation.dense import Dense, between_points, unit_quaternions
from dynamis.simulation.events import EventRecord
from dynamis.simulation.sampling import Samples
from dynamis.tolerances import NEGLIGIBLE

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Power:
    """Powers in W at each point of a motion (N); positive into the robot.

    ``torques`` τ·v of the joint torques, ``friction`` −d·v of dry friction d, ``viscous`` −v·B v, ``wrenches`` Σ w·V with the
    twist V of each frame, ``stops`` of the torques of joint stops, if any; ``input`` is their sum. ``stored`` is d(T + U)/dt =
    vᵀ M v̇ + ½ vᵀ Ṁ v + v·(weight and springs), from the state and the acceleration alone. ``residual`` = ``stored`` −
    ``input`` is of the order of rounding.
    """

    torques: Array
    friction: Array
    viscous: Array
    wrenches: Array
    stops: Array
    stored: Array

    @property
    def input(self) -> Array:
        return self.torques + self.friction + self.viscous + self.wrenches + self.stops

    @property
    def residual(self) -> Array:
        return self.stored - self.input

    def __repr__(self) -> str:
        return f"<Power at {counted(len(self.torques), 'point')}: torques up to {np.abs(self.torques).max(initial=0.0):.4g} W>"

    _repr_html_ = as_table


@dataclass(frozen=True, eq=False)
class FinalState:
    """The end of a motion: the full state ``y`` at ``t``.

    ``inside`` names the entries of y between v and the work; ``directions`` are the sliding directions (0: sticking),
    ``resting`` the stops at which joints rest; ``planned`` are the requested output times, and ``samples`` is the memory of a
    sampled controller. ``adaptive`` states whether the method locates stick-slip transitions.
    """

    t: float
    y: Array
    inside: tuple[str, ...] = ()
    directions: Mapping[int, int] = field(default_factory=dict)
    resting: Mapping[int, int] = field(default_factory=dict)
    planned: Array = field(default_factory=lambda: np.zeros(0))
    samples: Samples | None = None
    adaptive: bool = False


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A simulated motion: ``t`` (N), ``q`` (N, nq), ``v``, ``tau`` and dry ``friction`` (N, n).

    ``tau`` are the joint torques; ``actuator_states`` holds the states of actuators (current; rotor angle and velocity)
    by coordinate, and those of a `Controller` as "controller". ``work`` (N) is the work of torques and wrenches since the
    start minus the energy dissipated by friction; ``energy_error`` is the energy change minus this work. ``status`` is a
    message; ``complete`` states whether the end, or a stopping event, was reached. ``stop_torque`` (N, n) is the reaction of
    hard stops on joints that rest at them.
    """

    robot: Robot
    t: Array
    q: Array
    v: Array
    tau: Array
    friction: Array
    work: Array
    wrenches: Mapping[str, Array] = field(default_factory=dict)
    events: tuple[EventRecord, ...] = ()
    status: str = "completed"
    statistics: Mapping[str, Any] = field(default_factory=dict)
    actuator_states: Mapping[str, Array] = field(default_factory=dict)
    stop_torque: Array | None = None
    dense_output: Dense | None = field(default=None, repr=False, compare=False)
    final_state: FinalState | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} … {self.t[-1]:g} s" if len(self.t) else "nothing"
        return short(f"<Trajectory of {printable(self.robot.name)}, {span}, {counted(len(self.t), 'point')}, {self.status}>")

    def _repr_html_(self) -> str:
        return trajectory_card(self)

    @property
    def complete(self) -> bool:
        return ended(self.status)

    @cached_property
    def acceleration(self) -> Array:
        """v̇ (N, n), from the equations of motion."""
        stops = 0.0 if self.stop_torque is None else self.stop_torque
        return self._smooth.forward_dynamics(self.q, self.v, self.tau - self.friction + stops, dict(self.wrenches) or None)

    @property
    def _smooth(self) -> Robot:
        return without_dry_friction(self.robot)

    @cached_property
    def ledger(self) -> TorqueLedger:
        """Torque contributions by term (N, n); ``dry`` is the simulated dry friction."""
        terms = self._smooth.torque_ledger(self.q, self.v, self.acceleration, dict(self.wrenches) or None)
        external = terms.external if self.stop_torque is None else terms.external - self.stop_torque
        return TorqueLedger(**{**terms.as_dict(), "dry": self.friction, "external": external})

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
        """E(t) − E(0) − work since then, the integration error of the energy."""
        return self.energy - self.energy[0] - (self.work - self.work[0])

    @property
    def energy_exchanged(self) -> float:
        """The largest kinetic energy, change of the potential energy, or work, in J."""
        return max(float(x) for x in (self.kinetic_energy.max(), np.ptp(self.potential_energy), np.ptp(self.work)))

    @property
    def energy_imbalance(self) -> float:
        """The largest `energy_error`, as a fraction of the energy exchanged; 0 below 1e-9 J."""
        error = float(np.abs(self.energy_error).max())
        return error / max(self.energy_exchanged, error) if error > NEGLIGIBLE else 0.0

    def path(self, frame: str | None = None) -> Array:
        """The positions of a frame (N, 3), by default the tip."""
        return self.robot.pose(self.q, frame)[:, :3, 3]

    def at(self, times: Any) -> tuple[Array, Array]:
        """(q, v) at any time of the motion, or (N, nq) and (N, n) at an array of times.

        Adaptive methods use the dense output of the integrator, as accurate as the points; otherwise cubic interpolation
        between the points is used.

        >>> import dynamis as dy
        >>> motion = dy.simulate(dy.load("planar_2r_melchiorri"), 1.0, points=11)
        >>> q, v = motion.at(0.123)
        >>> bool(abs(q - dy.simulate(motion.robot, 0.123).q[-1]).max() < 1e-7)
        True
        """
        try:
            wanted = np.array(times, dtype=float)
        except (TypeError, ValueError):
            wanted = np.full((2, 2), np.nan)
        end = self.t[-1] if self.dense_output is None else max(self.t[-1], self.dense_output.ends[-1])
        if wanted.ndim > 1 or not np.all((wanted >= self.t[0]) & (wanted <= end)):
            raise InputError(f"times must be one time or a list, from {self.t[0]:.9g} to {end:.9g} s, got {times!r}")
        flat = np.atleast_1d(wanted)
        model, nq = self.robot.model, self.robot.nq
        dense = np.zeros(len(flat), dtype=bool) if self.dense_output is None else flat >= self.dense_output.start
        q, v = np.empty((len(flat), nq)), np.empty((len(flat), self.robot.n))
        if not dense.all():
            q[~dense], v[~dense] = between_points(model, self.t, self.q, self.v, flat[~dense])
        if self.dense_output is not None and dense.any():
            y = self.dense_output.states(flat[dense])
            q[dense], v[dense] = unit_quaternions(model, y[:, :nq]), y[:, nq : nq + self.robot.n]
        return (q, v) if wanted.ndim else (q[0], v[0])

    @cached_property
    def power(self) -> Power:
        """The power balance at each point."""
        q, v = self.q, self.v
        smooth = self._smooth
        wrenches = np.zeros(len(self))
        for frame, w in self.wrenches.items():
            wrenches += _along(w, self.robot.velocity(q, v, frame))
        stopping = self.stop_torque
        M, M_dot = smooth.mass_matrix(q), smooth.mass_matrix_dot(q, v)
        weight_and_springs = smooth.bias(q, np.zeros_like(v))
        stored = _quadratic(v, M, self.acceleration) + 0.5 * _quadratic(v, M_dot, v) + _along(weight_and_springs, v)
        return Power(
            torques=_along(self.tau, v),
            friction=-_along(self.friction, v),
            viscous=-_along(smooth.model.viscous * v, v),
            wrenches=wrenches,
            stops=np.zeros(len(self)) if stopping is None else _along(stopping, v),
            stored=stored,
        )

    def animation(self, rate: float = 60.0) -> dict[str, Any]:
        """The poses and shapes of all links at ``rate`` frames per second, as a dict for JSON."""
        return call_by_name("dynamis.simulation.animation:animation", self, rate)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write to a .npz, .csv or .parquet file, or to .json for a viewer."""
        return call_by_name("dynamis.simulation.files:save", self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], robot: Any) -> Trajectory:
        """Load a motion of this robot that `save` wrote to a .npz, .csv or .parquet file.

        One from .npz can be resumed. A .csv file does not contain status and events. The motion of a robot of
        `dynamis.constrained` has its loops again; from a .csv file only if ``robot`` is this one, not its tree.
        """
        return call_by_name("dynamis.simulation.reading:load", path, robot)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Plot positions, velocities, torques and energies; returns the axes, and writes a file if ``path`` is given."""
        return plotted("trajectory", self, path)


def _along(x: Array, y: Array) -> Array:
    return np.asarray(np.sum(x * y, axis=-1))


def _quadratic(x: Array, A: Array, y: Array) -> Array:
    return np.asarray(np.einsum("ki,kij,kj->k", x, A, y))


def ended(status: str) -> bool:
    """Whether a motion with this status reached its end or an event that stops it."""
    return status == "completed" or status.endswith(" (stopping event)")
