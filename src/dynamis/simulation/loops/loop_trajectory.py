"""The motion of a robot with loops, with the forces of its closures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.dynamics import TorqueLedger
from dynamis.kinematics.closures import Anchor, Closure
from dynamis.simulation.loops.constrained import project, solve, wanted_rate
from dynamis.simulation.loops.constraints import evaluate, labels
from dynamis.simulation.loops.overconstrained import overconstrained_rank
from dynamis.simulation.trajectory import Trajectory

Array = npt.NDArray[Any]


class Phase(NamedTuple):
    """Points of a motion between two changes of its contacts: the closures that hold, and their rows among all."""

    closures: tuple[Closure, ...]
    rows: Array
    points: Array


def phases(closures: Sequence[Closure], released: Mapping[str, float], times: Array) -> list[Phase]:
    """The phases of a motion; a contact holds up to the time at which it is released."""
    ends = np.cumsum([len(closure.labels) for closure in closures])
    rows = np.split(np.arange(ends[-1]), ends[:-1])
    instants = sorted(set(released.values()))
    of_point = np.searchsorted(instants, times, side="left")
    found = []
    for k in np.unique(of_point):
        gone = {name for name, t in released.items() if t in instants[:k]}
        held = [j for j, x in enumerate(closures) if not (isinstance(x, Anchor) and x.frame in gone)]
        chosen = np.concatenate([rows[j] for j in held]) if held else np.zeros(0, dtype=int)
        found.append(Phase(tuple(closures[j] for j in held), chosen, np.flatnonzero(of_point == k)))
    return found


@dataclass(frozen=True, eq=False, kw_only=True)
class LoopTrajectory(Trajectory):
    """A motion with loops: a `Trajectory` with the closure forces.

    ``closures`` are those of the motion, held by ``stabilisation`` with ``gains`` (α, β), and ``released`` has the times at
    which contacts were released. ``statistics["largest correction"]`` is the largest violation before a projection.
    """

    closures: tuple[Closure, ...]
    stabilisation: str = "projection"
    gains: tuple[float, float] = (0.0, 0.0)
    released: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Loop{super().__repr__()[1:]}"

    @property
    def constraint_names(self) -> tuple[str, ...]:
        return labels(self.closures)

    @cached_property
    def _solution(self) -> dict[str, Array]:
        count, rows = len(self), len(self.constraint_names)
        found: dict[str, Array] = {
            name: np.zeros((count, size)) for name, size in (("a", self.robot.n), ("forces", rows), ("torque", self.robot.n))
        }
        found |= {name: np.zeros(count) for name in ("h", "rate", "conditioning")}
        smooth, applied = self._smooth, self.tau - self.friction + (0.0 if self.stop_torque is None else self.stop_torque)
        for held, chosen, points in phases(self.closures, self.released, self.t):
            q, v = self.q[points], self.v[points]
            wrenches = {frame: w[points] for frame, w in self.wrenches.items()} or None
            r = applied[points] - smooth.inverse_dynamics(q, v, np.zeros_like(v), wrenches)
            if not held:
                found["a"][points] = smooth.forward_dynamics(q, v, applied[points], wrenches)
                continue
            M, c = smooth.mass_matrix(q), evaluate(self.robot, held, q, v, overconstrained_rank(self.robot, held, self.q[0]))
            for k, point in enumerate(points):
                now = solve(M[k], r[k], c.H[k], wanted_rate(c.at(k), v[k], *self.gains))
                found["a"][point], found["torque"][point] = now.acceleration, now.torque
                found["forces"][point, chosen], found["conditioning"][point] = now.multipliers, now.conditioning
                found["h"][point] = np.abs(c.h[k]).max(initial=0.0)
                found["rate"][point] = np.abs(c.H[k] @ v[k]).max(initial=0.0)
        return found

    @property
    def constraint_forces(self) -> Array:
        """λ (N, rows), named by ``constraint_names``; zero after a release."""
        return self._solution["forces"]

    @property
    def constraint_torque(self) -> Array:
        """Hᵀ λ (N, n), the joint torques of the closures."""
        return self._solution["torque"]

    @property
    def drift(self) -> Array:
        """max |h| (N), the violation of the constraints at the output points."""
        return self._solution["h"]

    @property
    def velocity_drift(self) -> Array:
        """max |H v| (N)."""
        return self._solution["rate"]

    @property
    def conditioning(self) -> Array:
        """The smallest nonzero singular value of H over the largest (N): near 0 near a singular configuration."""
        return self._solution["conditioning"]

    @cached_property
    def acceleration(self) -> Array:
        """v̇ (N, n), with the loops closed."""
        return self._solution["a"]

    @cached_property
    def ledger(self) -> TorqueLedger:
        """Torque contributions by term (N, n); ``external`` includes the closures, −Hᵀ λ."""
        terms = super().ledger.as_dict()
        return TorqueLedger(**{**terms, "external": terms["external"] - self.constraint_torque})

    def at(self, times: Any) -> tuple[Array, Array]:
        """(q, v) at any time of the motion, as of `Trajectory`, with the loops closed."""
        q, v = super().at(times)
        if self.stabilisation != "projection":
            return q, v
        flat_q, flat_v = np.atleast_2d(q), np.atleast_2d(v)
        for held, _, points in phases(self.closures, self.released, np.atleast_1d(times)):
            rank = overconstrained_rank(self.robot, held, self.q[0])
            for k in points:
                flat_q[k], flat_v[k] = project(self.robot, held, flat_q[k], flat_v[k], rank)[:2]
        return flat_q.reshape(q.shape), flat_v.reshape(v.shape)
