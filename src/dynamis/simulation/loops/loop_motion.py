"""The equations of motion of a robot with loops, for the integrators of `simulate`.

The accelerations satisfy ḧ = 0 only; the drift of h and ḣ grows with time. It is removed either at every step by projection
onto the constraint manifold ("projection"), or by Baumgarte stabilisation ("baumgarte"). Where joints stick, the steps are
those of `stick_slip_steps`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.kernel import Kernel
from dynamis.errors import InputError, SingularError
from dynamis.kinematics.closures import Anchor, smallest_singular_value
from dynamis.robot import Robot
from dynamis.simulation.adaptive import METHODS
from dynamis.simulation.contact_equations import Contacts, constrained_accelerations
from dynamis.simulation.events import Watcher
from dynamis.simulation.friction import Law, StickingLaw
from dynamis.simulation.hard_stops import AtStop, HardStops, Sides, Stops
from dynamis.simulation.loops.constrained import Solution, decomposed, project, solve, wanted_rate
from dynamis.simulation.loops.constraints import Constraints, evaluate, labels, redundant_rows, refuse_open
from dynamis.simulation.loops.loop_trajectory import LoopTrajectory, phases
from dynamis.simulation.loops.overconstrained import overconstrained_rank
from dynamis.simulation.loops.stick_slip_steps import dry_friction, stick_slip_step
from dynamis.simulation.loops.stops import after_impact, held_at_stops, stay
from dynamis.simulation.motion import LIFTS_OFF, EquationsOfMotion, Mechanism
from dynamis.simulation.sources import EndOfMotionError
from dynamis.simulation.stepping import Crossing
from dynamis.simulation.stick_slip import Sticking
from dynamis.simulation.trajectory import Trajectory
from dynamis.tolerances import NEARLY_SINGULAR, NEGLIGIBLE, RECURSION_ROUNDING, SOLUTION_TOLERANCE

Array = npt.NDArray[Any]
TIME_STEPPING, FIXED = "time_stepping", ("rk4", "euler")
# by the way the drift is removed: projection needs methods that start anew from any state
ALLOWED = {
    "projection": ("RK23", "RK45", "DOP853", *FIXED, TIME_STEPPING),
    "baumgarte": (*METHODS, *FIXED),
    "none": (*METHODS, *FIXED),
}
PASSED = "passed a singular configuration, where motion branches meet"


@dataclass(frozen=True, eq=False)
class Loops(Mechanism):
    """A robot whose loops are closed, and how: ``gains`` (α, β in 1/s) of Baumgarte stabilisation.

    Anchors of frames with ``normals`` are contacts, which can only push along them: where one would pull, the motion ends
    (``lift_off`` = "stop") or goes on without it ("release"). ``released`` were so before the start, a configuration with the
    loops closed.
    """

    stabilisation: str = "projection"
    gains: tuple[float, float] = (0.0, 0.0)
    normals: Mapping[str, Array] = field(default_factory=dict)
    lift_off: str = "stop"
    released: Mapping[str, float] = field(default_factory=dict)
    start: Array | None = None

    def __post_init__(self) -> None:
        if self.lift_off not in ("stop", "release"):
            raise InputError(f"lift_off={self.lift_off!r} is unknown; choose 'stop' or 'release'")
        if self.stabilisation not in ALLOWED:
            raise InputError(f"stabilisation={self.stabilisation!r} is unknown; choose {', '.join(map(repr, ALLOWED))}")

    def method(self, chosen: str | None, laws: Mapping[int, Law], stops: Any) -> str:
        sticks = [self.robot.coordinate_names[k] for k, law in laws.items() if isinstance(law, StickingLaw)]
        if sticks and chosen not in (None, TIME_STEPPING):
            raise InputError(
                f"method={chosen!r}: the friction of {', '.join(sticks)} sticks, which needs method={TIME_STEPPING!r} with "
                "loops; friction='smooth' does not stick"
            )
        if isinstance(stops, HardStops) and (sticks or self.normals):
            what = f"where the friction of {', '.join(sticks)} sticks" if sticks else "where contacts can lift off"
            raise InputError(
                f"impacts at hard stops are not computed {what}: use compliant stops, "
                "stops=dynamis.joint_stops(robot, stiffness=1e4, damping=1.0), stiffness in N m/rad or N/m"
                + (", or friction='smooth'" if sticks else "")
            )
        method = chosen or (TIME_STEPPING if sticks else "DOP853")
        allowed = ALLOWED[self.stabilisation]
        if method not in allowed:
            raise InputError(
                f"method={method!r} is incompatible with stabilisation={self.stabilisation!r}; choose {', '.join(allowed)}"
            )
        if self.normals and self.lift_off == "release" and method not in METHODS:
            raise InputError(f"method={method!r} does not release contacts: use method='DOP853', or lift_off='stop'")
        return method

    def motion(self, *given: Any) -> LoopMotion:
        return LoopMotion(self, *given)

    def check_start(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The initial state with its loops closed to rounding."""
        closures = phases(self.closures, self.released, np.array([np.inf]))[0].closures
        if not closures:
            return q, v
        c = evaluate(self.robot, closures, q, v)
        refuse_open(labels(closures), c.h, c.H @ v, v)
        return project(self.robot, closures, q, v, overconstrained_rank(self.robot, closures, q))[:2]


class LoopMotion(EquationsOfMotion):
    """Accelerations in the null space of H; states are projected, and singular configurations end the motion.

    ``closures`` are those that hold, ``released`` the times at which contacts lifted off.
    """

    def __init__(self, loops: Loops, *given: Any) -> None:
        super().__init__(*given)
        self.loops, self.projecting = loops, loops.stabilisation == "projection"
        self.rules = {TIME_STEPPING: lambda t, y, h: stick_slip_step(self, self._at_state, t, y, h)}
        self.correction = [0.0, 0.0]
        self.released = dict(loops.released)
        self._sides = self._sign = 1.0
        self._known: tuple[Any, Array] = (None, np.zeros(0))
        self._hold()

    def _hold(self) -> None:
        """Set up the closures that hold."""
        self.closures = held = phases(self.loops.closures, self.released, np.array([np.inf]))[0].closures
        self._known = None, np.zeros(0)
        start = self.loops.start
        self.fixed_rank = None if start is None else overconstrained_rank(self.robot, held, start)
        self.contacts = Contacts((), (), held, *self.loops.gains, self.fixed_rank) if held else None
        self.constants = np.concatenate([np.zeros(0), *(closure.constants for closure in held)])
        self._at = self.constants if len(self.constants) else np.zeros(1)  # as an argument of compiled code
        self.rank: int | None = None  # at the start
        self._rows = np.zeros(0, dtype=int)  # as many independent ones
        self._free: Array | None = None  # directions of motion at the last step
        self.__dict__.pop("_kernel", None)

    def acceleration(self, q: Array, v: Array, tau: Array, wrenches: Mapping[str, Array] | None) -> Array:
        """v̇ by compiled code, or in the null space of H where that is inaccurate, near singular configurations."""
        if not self.closures:
            return super().acceleration(q, v, tau, wrenches)
        pushed = tau
        for frame, w in (wrenches or {}).items():
            pushed = pushed + self.smooth.jacobian(q, frame).T @ w
        with np.errstate(all="ignore"):
            found = self._kernel(q, v, pushed, self._at)
        if found[-1] <= RECURSION_ROUNDING:
            return np.asarray(found[:-1])
        return self.solved(q, v, tau, wrenches).acceleration

    @cached_property
    def _kernel(self) -> Kernel:
        """(q, v, τ, constants of the closures) → (v̇, error of `constrained_accelerations`)."""
        contacts = self.contacts
        assert contacts is not None

        def accelerations(robot: Robot, q: Array, v: Array, tau: Array, at: Array) -> Array:
            found = constrained_accelerations(robot, contacts, q, v, tau, constants=at)
            return np.append(found[: robot.n], found[-1])

        key = "accelerations with loops", contacts.form
        return self.smooth.evaluator.cached_kernel(key, lambda: self.smooth.compile(accelerations, at=len(self._at)))

    def solved(self, q: Array, v: Array, tau: Array, wrenches: Mapping[str, Array] | None) -> Solution:
        """Accelerations and closure forces under torques and wrenches."""
        c = self._at_state(q, v)
        r = tau - self.smooth.inverse_dynamics(q, v, np.zeros(len(v)), wrenches)
        return solve(self.smooth.mass_matrix(q), r, c.H, wanted_rate(c, v, *self.loops.gains))

    def dry_friction(self, q: Array, v: Array, tau: Array, wrenches: Mapping[str, Array] | None) -> Array:
        c = self._at_state(q, v)
        r = tau - self.smooth.inverse_dynamics(q, v, np.zeros_like(v), wrenches)
        M = self.smooth.mass_matrix(q)
        rates = [wanted_rate(c.at(k), v[k], *self.loops.gains) for k in range(len(v))]
        found = [dry_friction(M[k], r[k], c.H[k], rates[k], v[k], self.sticking) for k in range(len(v))]
        return np.array(found)

    def _at_state(self, q: Array, v: Array) -> Constraints:
        return evaluate(self.robot, self.closures, q, v, self.fixed_rank)

    def _constraints(self, q: Array, v: Array) -> tuple[Array, Array]:
        """(H, H v̇)."""
        c = self._at_state(q, v)
        return c.H, wanted_rate(c, v, *self.loops.gains)

    def directions(self, q: Array, v: Array, M: Array, r: Array, laws: Sticking) -> dict[int, int]:
        at_stop = {k: law.side for k, law in laws.items() if isinstance(law, AtStop)}
        staying = stay(M, r, *self._constraints(q, v), at_stop)
        return {k: 0 if k in staying else -side for k, side in at_stop.items()}

    def holding(
        self,
        q: Array,
        v: Array,
        M: Array,
        r: Array,
        directions: dict[int, int],
        laws: Sticking,  # noqa: ARG002
    ) -> tuple[Array, Array]:
        return held_at_stops(M, r, *self._constraints(q, v), [k for k, s in directions.items() if s == 0])

    def after_impact(self, stops: Stops, q: Array, v: Array, M: Array, hitting: Sides, resting: Sides) -> Array:
        return after_impact(M, self._constraints(q, v)[0], v, hitting, resting, stops.rule)

    def accepted(self, t: float, y: Array) -> Array | None:
        q, v, _ = self.split(y)
        try:
            if self.projecting:
                q, v, *off = project(self.robot, self.closures, q, v, self.fixed_rank)
                self.correction = [max(a, b) for a, b in zip(self.correction, off, strict=True)]
            self._check(t, q, v)
        except SingularError as error:
            raise EndOfMotionError(f"{error} (at t = {t:.6g} s)") from error
        return np.concatenate([q, v, y[len(q) + len(v) :]]) if self.projecting else None

    def _check(self, t: float, q: Array, v: Array) -> None:
        """End the motion where it is undetermined."""
        if not self.closures:
            return
        c = self._at_state(q, v)
        rate = wanted_rate(c, v, *self.loops.gains)
        U, s, V, free = decomposed(c.H)
        rank, residual = len(s), float(np.abs(c.H @ (V @ ((U.T @ rate) / s)) - rate).max(initial=0.0))
        self.near_singular = bool(rank) and bool(s[-1] < NEARLY_SINGULAR * s[0])
        if self.rank is None:
            least = smallest_singular_value(s)
            self.rank, self._rows = rank, np.setdiff1d(np.arange(len(c.H)), redundant_rows(c.H, rank, least))
        why = ""
        if residual > SOLUTION_TOLERANCE * (1.0 + np.abs(rate).max()):
            why = f"no acceleration keeps the loops closed (off by {residual:.3g}): a singular configuration"
        elif rank > self.rank:
            why = (
                f"the start is a singular configuration (rank {self.rank} there, {rank} nearby), "
                "from which the motion is undetermined: start at a regular configuration nearby"
            )
        elif rank < self.rank:
            why = (
                f"a singular configuration (rank {rank} in place of {self.rank}), where motion branches meet and the "
                f"closure forces are undetermined"
            )
        if why:
            raise EndOfMotionError(f"at t = {t:.6g} s: {why}")
        self._sides, self._free, self._sign = self._orientation(c.H), free, 1.0
        self._sign = self._sides * self._orientation(c.H)

    def _orientation(self, H: Array) -> float:
        """The sign of the determinant of H, bordered by the directions of motion of the last step; singularities change it."""
        if self._free is None:
            return self._sides
        return self._sign * float(np.linalg.slogdet(np.vstack([H[self._rows], self._free.T]))[0])

    def watched(self, watcher: Watcher | None) -> Watcher:
        """The events, with the passage through singular configurations."""
        watcher = watcher or Watcher({}, self.robot.nq, self.robot.n)

        def side(_t: float, q: Array, v: Array) -> float:
            return self._orientation(self._at_state(q, v).H) if self.closures else self._sides

        watcher.add("the mechanism", side, PASSED)
        return watcher

    def _normal_forces(self, t: float, y: Array) -> dict[str, float]:
        """The force of each contact that can only push, along its normal; less than a negligible pull is none."""
        key, forces = (t, y.tobytes()), self._known[1]
        if self._known[0] != key:
            q, v, z = self.split(y)
            tau, wrenches = self.drive(t, q, v, z)
            if self.sticking:
                tau = tau - self.dry_friction(q[None], v[None], tau[None], wrenches)[0]
            forces = self.solved(q, v, tau, wrenches).multipliers if self.closures else np.zeros(0)
            self._known = key, forces
        margin, found, row = NEGLIGIBLE * max(1.0, float(np.abs(forces).max(initial=0.0))), {}, 0
        for closure in self.closures:
            if isinstance(closure, Anchor) and closure.frame in self.loops.normals:
                found[closure.frame] = float(forces[row : row + 3] @ self.loops.normals[closure.frame]) + margin
            row += len(closure.labels)
        return found

    def pulling(self, t: float, y: Array) -> str | None:
        forces = self._normal_forces(t, y) if self.loops.normals else {}
        name = min(forces, key=forces.__getitem__, default=None)
        return None if name is None or forces[name] >= 0.0 else name

    def release(self, name: str, t: float) -> bool:
        if self.loops.lift_off == "stop":
            return False
        self.released[name] = t
        self._hold()
        return True

    def crossings(self) -> list[Crossing]:
        def pull(name: str, t: float, y: Array) -> float:
            return -self._normal_forces(t, y)[name]

        def depth(anchor: Anchor, _t: float, y: Array) -> float:
            gap = self.robot.pose(self.split(y)[0], anchor.frame)[:3, 3] - anchor.position
            return float(-gap @ self.loops.normals[anchor.frame]) - NEGLIGIBLE

        held = [x for x in self.loops.closures if isinstance(x, Anchor) and x.frame in self.loops.normals]
        return [
            Crossing(partial(depth, x), ("touches again", x.frame, 1)) if x.frame in self.released
            else Crossing(partial(pull, x.frame), (LIFTS_OFF, x.frame, 1)) for x in held
        ]  # fmt: skip

    def reported(self, times: Array, states: Array) -> Array:
        if not self.projecting:
            return states
        found = states.copy()
        for held, _, points in phases(self.loops.closures, self.released, times):
            rank = None if self.loops.start is None else overconstrained_rank(self.robot, held, self.loops.start)
            for k in points:
                q, v, _ = self.split(found[k])
                q, v, *_ = project(self.robot, held, q, v, rank)
                found[k, : len(q) + len(v)] = np.concatenate([q, v])
        return found

    def recorded(self, trajectory: Trajectory) -> LoopTrajectory:
        fields = {f.name: getattr(trajectory, f.name) for f in dataclasses.fields(Trajectory)}
        rank = self.rank or 0
        fields["statistics"] = {
            **trajectory.statistics, "rank": rank, "degrees of freedom": self.robot.n - rank,
            "largest correction": self.correction[0], "largest velocity correction": self.correction[1],
        }  # fmt: skip
        return LoopTrajectory(**fields, closures=self.loops.closures, stabilisation=self.loops.stabilisation,
                              gains=self.loops.gains, released=dict(self.released))  # fmt: skip
