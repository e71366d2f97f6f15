"""``simulate_loops``: simulation of a robot with loops.

The accelerations of `constrained` satisfy ḧ = 0 only; the drift of h and ḣ grows with time. It is removed either at every step
by projection onto the constraint manifold ("projection"), or by Baumgarte stabilisation ("baumgarte"). Where joints stick, the
steps are those of `stick_slip_steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.dynamics import TorqueLedger
from dynamis.errors import InputError, SingularError
from dynamis.kinematics.closures import Closure, closures_of
from dynamis.robot import Robot
from dynamis.simulation.actuators import Actuator, actuators_of
from dynamis.simulation.adaptive import METHODS
from dynamis.simulation.controllers import as_law
from dynamis.simulation.events import EventRecord
from dynamis.simulation.fixed_step import check_step_length, moved
from dynamis.simulation.friction import StickingLaw, laws_of
from dynamis.simulation.loops.constrained import Constrained, project, solve, wanted_rate
from dynamis.simulation.loops.constraints import Constraints, evaluate, labels, redundant_rows
from dynamis.simulation.loops.stick_slip_steps import dry_friction, stick_slip_step
from dynamis.simulation.motion import EquationsOfMotion
from dynamis.simulation.simulate import output_times, state_vector
from dynamis.simulation.sources import SourceError, torque_source, wrench_sources
from dynamis.simulation.trajectory import Trajectory
from dynamis.tolerances import LOOP_RANK_TOLERANCE, RECURSION_ROUNDING, SOLUTION_TOLERANCE

Array = npt.NDArray[Any]
ONE_STEP = ("RK23", "RK45", "DOP853")  # methods that start anew from any state
TIME_STEPPING = "time_stepping"
STABILISATIONS = ("projection", "baumgarte", "none")


@dataclass(frozen=True, eq=False, kw_only=True)
class LoopTrajectory(Trajectory):
    """A motion with loops: a `Trajectory` with the closure forces.

    ``constraint_forces`` λ (N, rows) are named by ``constraint_names``; ``constraint_torque`` Hᵀ λ (N, n) are their joint
    torques. ``drift`` max |h| and ``velocity_drift`` max |H v| (N) are the constraint violations at the output points;
    ``statistics["largest correction"]`` is the largest violation before a projection.
    """

    closures: tuple[Closure, ...]
    constraint_forces: Array
    constraint_torque: Array
    drift: Array
    velocity_drift: Array
    solved_acceleration: Array

    def __repr__(self) -> str:
        return f"<Loop{super().__repr__()[1:]}"

    @property
    def constraint_names(self) -> tuple[str, ...]:
        return labels(self.closures)

    @cached_property
    def acceleration(self) -> Array:
        """v̇ (N, n), with the loops closed."""
        return self.solved_acceleration

    @cached_property
    def ledger(self) -> TorqueLedger:
        """Torque contributions by term (N, n); ``external`` includes the closures, −Hᵀ λ."""
        terms = super().ledger.as_dict()
        return TorqueLedger(**{**terms, "external": terms["external"] - self.constraint_torque})


def simulate_loops(
    robot: Robot,
    closures: Closure | Sequence[Closure],
    t: Any,
    q0: Any,
    v0: Any = None,
    *,
    torque: Any = None,
    controller: Callable[..., Any] | None = None,
    wrenches: Mapping[str, Any] | None = None,
    friction: Any = "smooth",
    actuators: Mapping[str, Actuator] | None = None,
    method: str | None = None,
    step: float = 1e-3,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    stabilisation: str = "projection",
    alpha: float = 20.0,
    beta: float = 20.0,
    points: int = 501,
    progress: Callable[[float], None] | None = None,
) -> LoopTrajectory:
    """Simulate a robot with loops from q0 and v0 (default: at rest), which must satisfy the constraints: see `assemble`.

    ``t``, ``torque``, ``controller``, ``wrenches``, ``actuators``, ``rtol`` and ``atol`` are those of `simulate`, and so are
    the laws of ``friction``, "smooth" by default. With laws that stick ("model", `Coulomb`, `Stribeck`) the method is
    "time_stepping", with steps of length ``step``; otherwise one of SciPy's, "DOP853" by default.
    ``stabilisation`` is "projection" (with RK23, RK45, DOP853 or time stepping), "baumgarte" (with any of SciPy's methods;
    ``alpha`` and ``beta`` in 1/s), or "none", for comparison.

    A function that raises an exception, or a singular configuration, ends the simulation: ``status`` gives the reason, and the
    motion so far is returned. Passing through a singular configuration is an event.

    >>> from dynamis.simulation.loops.mechanisms import four_bar
    >>> robot, closures, q0 = four_bar()
    >>> motion = simulate_loops(robot, closures, 0.5, q0, points=11)
    >>> motion.status, bool(motion.drift.max() < 1e-12), motion.constraint_forces.shape
    ('completed', True, (11, 2))
    """
    if not isinstance(robot, Robot):
        raise InputError(f"simulate_loops takes a robot, got {type(robot).__name__}; dynamis.load gives one")
    held, times = closures_of(robot, closures), output_times(t, points)
    laws = laws_of(robot.model, friction)
    sticks = [robot.coordinate_names[k] for k, law in laws.items() if isinstance(law, StickingLaw)]
    if sticks and method not in (None, TIME_STEPPING):
        raise InputError(
            f"method={method!r}: the friction of {', '.join(sticks)} sticks, which needs method={TIME_STEPPING!r} with loops; "
            "friction='smooth' does not stick"
        )
    method = method or (TIME_STEPPING if sticks else "DOP853")
    if stabilisation not in STABILISATIONS:
        raise InputError(f"stabilisation={stabilisation!r} is unknown; choose {', '.join(map(repr, STABILISATIONS))}")
    allowed = (*ONE_STEP, TIME_STEPPING) if stabilisation == "projection" else METHODS
    if method not in allowed:
        raise InputError(f"method={method!r} is incompatible with stabilisation={stabilisation!r}; choose {', '.join(allowed)}")
    q = state_vector(robot, q0, robot.nq, "q0")
    v = np.zeros(robot.n) if v0 is None else state_vector(robot, v0, robot.n, "v0")
    q, v = _closed(robot, held, q, v)
    robot, drives = actuators_of(robot, actuators)
    law = as_law(controller)
    if law.sampled is not None or law.extra:
        raise InputError("with loops, controller= must be a function of (t, q, v) or (robot, t, q, v), or a Controller")
    function = None if law.torque is None else law.on(robot)
    command = law.command(robot, torque_source(robot, torque, function), checked=True)
    motion = EquationsOfMotion(robot, laws, command, wrench_sources(robot, wrenches), drives)
    gains = (alpha, beta) if stabilisation == "baumgarte" else (0.0, 0.0)
    run = _Run(motion, held, stabilisation == "projection", gains)
    y = motion.start(q, v)
    if method == TIME_STEPPING:
        if not (isinstance(step, int | float) and 0.0 < step < np.inf):
            raise InputError(f"step= must be a positive number of seconds, got {step!r}")
        check_step_length(step, float(times[0]), float(times[-1]))
        run.take_steps(times, y, float(step), progress)
    else:
        run.integrate(times, y, method, {"rtol": rtol, "atol": atol}, progress)
    return run.trajectory()


def _closed(robot: Robot, closures: tuple[Closure, ...], q: Array, v: Array) -> tuple[Array, Array]:
    c = evaluate(robot, closures, q, v)
    for name, values, cure in (("q0", c.h, "assemble"), ("v0", c.H @ v, "assemble_velocity")):
        worst = int(np.argmax(np.abs(values)))
        if abs(values[worst]) > SOLUTION_TOLERANCE * (1.0 + (np.abs(v).max() if name == "v0" else 0.0)):
            raise InputError(
                f"{name} does not close the loops: {labels(closures)[worst]!r} is off by {abs(values[worst]):.3g}; "
                f"{cure}(robot, closures, {name}) gives one that does"
            )
    return project(robot, closures, q, v)[:2]


class _Solved(NamedTuple):
    """A state with its accelerations, closure forces, joint torques and dry friction."""

    t: float
    y: Array
    now: Constrained
    c: Constraints
    tau: Array
    friction: Array
    wrenches: dict[str, Array] | None


class _Run:
    """One simulation: its right-hand side, steps and recorded output."""

    def __init__(
        self, motion: EquationsOfMotion, closures: tuple[Closure, ...], projecting: bool, gains: tuple[float, float]
    ) -> None:
        self.motion, self.closures, self.projecting, self.gains = motion, closures, projecting, gains
        self.kept: list[_Solved] = []
        self.events: list[EventRecord] = []
        self.status = "completed"
        self.evaluations = self.steps = 0
        self.correction = [0.0, 0.0]

    def solved(self, t: float, y: Array) -> _Solved:
        motion = self.motion
        q, v, z = motion.split(y)
        tau, friction, wrenches = motion.torque(t, q, v, z), motion.smooth_friction(v, z), motion.wrenches_at(t, q, v)
        c = evaluate(motion.robot, self.closures, q, v)
        r = tau - friction - motion.smooth.inverse_dynamics(q, v, np.zeros(len(v)), wrenches)
        M, rate = motion.smooth.mass_matrix(q), wanted_rate(c, v, *self.gains)
        if motion.sticking:
            friction = friction + dry_friction(M, r, c.H, rate, v, motion.sticking)
            r = tau - friction - motion.smooth.inverse_dynamics(q, v, np.zeros(len(v)), wrenches)
        return _Solved(t, y, solve(M, r, c.H, rate), c, tau, friction, wrenches)

    def rates(self, t: float, y: Array) -> Array:
        self.evaluations += 1
        return self._rates(self.solved(t, y.copy()))

    def _rates(self, at: _Solved) -> Array:
        q, v, z = self.motion.split(at.y)
        power = self.motion.power(q, v, at.tau - at.friction, at.wrenches)
        return self.motion.rates(at.t, q, v, z, at.now.acceleration, power)

    def integrate(self, times: Array, y: Array, method: str, options: dict[str, Any], progress: Any) -> None:
        from scipy import integrate

        start, end, pending = float(times[0]), float(times[-1]), [float(x) for x in times[1:]]
        try:
            last = self.solved(start, y)
            self.kept.append(last)
            self._check(last)
            solver = getattr(integrate, method)(self.rates, start, y, end, **options)
            while solver.status == "running" and self.complete:
                message = solver.step()
                if solver.status == "failed":
                    self.status = f"stopped at t = {solver.t:.6g} s: {message}"
                    break
                self.steps += 1
                reached = [x for x in pending if x <= solver.t]
                if reached:
                    between = solver.dense_output()
                    for x in reached:
                        last = self._follow(last, x, between(x))
                        self.kept.append(last)
                pending = pending[len(reached) :]
                last = self._follow(last, solver.t, solver.y, count=True)
                if self.projecting:
                    solver.y, solver.f = last.y, self._rates(last)
                if progress is not None:
                    progress((solver.t - start) / (end - start))
        except (SourceError, SingularError) as failed:
            if not self.kept:
                raise
            self.status = f"stopped: {failed}"
        if progress is not None:
            progress(1.0)

    def take_steps(self, times: Array, y: Array, step: float, progress: Any) -> None:
        """Time stepping, for joints that stick; each interval between output times is divided into equal steps."""
        t = float(times[0])
        try:
            self.kept.append(self.solved(t, y))
            self._check(self.kept[0])
            for end in times[1:]:
                count = int(np.ceil((end - t) / step * (1.0 - RECURSION_ROUNDING)))
                for h in np.diff(np.linspace(t, end, count + 1)):
                    y = self._projected(stick_slip_step(self.motion, self.closures, t, y, float(h)), count=True)
                    t, self.steps = t + float(h), self.steps + 1
                t = float(end)
                self.kept.append(self._follow(self.kept[-1], t, y))
                if progress is not None:
                    progress((t - times[0]) / (times[-1] - times[0]))
                if not self.complete:
                    break
        except (SourceError, SingularError) as failed:
            if not self.kept:
                raise
            self.status = f"stopped: {failed}"

    @property
    def complete(self) -> bool:
        return self.status == "completed"

    def _follow(self, last: _Solved, t: float, y: Array, count: bool = False) -> _Solved:
        """The next state with its loops closed, after a check of the interval between."""
        at = self.solved(t, self._projected(y, count))
        if self.complete:
            self._check(at)
        kept = self.rows
        if at.now.rank == last.now.rank == len(kept) and _turned_over(last.c.H[kept], at.c.H[kept], last.now.free):
            self.events.append(EventRecord(t, "passed a singular configuration, where motion branches meet", "the mechanism"))
        return at

    def _projected(self, y: Array, count: bool) -> Array:
        """The state projected onto the constraints, if selected, with normalised quaternions."""
        q, v, z = self.motion.split(y)
        if not self.projecting:
            return np.concatenate([moved(self.motion.robot.model, q, np.zeros(len(q))), v, z, y[-1:]])
        q, v, *off = project(self.motion.robot, self.closures, q, v)
        if count:
            self.correction = [max(a, b) for a, b in zip(self.correction, off, strict=True)]
        return np.concatenate([q, v, z, y[-1:]])

    @property
    def rank(self) -> int:
        """At the start."""
        return self.kept[0].now.rank

    @cached_property
    def rows(self) -> Array:
        """As many independent rows, in the order given."""
        H = self.kept[0].c.H
        return np.setdiff1d(np.arange(len(H)), redundant_rows(H, self.rank, LOOP_RANK_TOLERANCE * float(np.linalg.norm(H, 2))))

    def _check(self, at: _Solved) -> None:
        """Stop where the motion is undetermined."""
        now, where = at.now, f"stopped at t = {at.t:.6g} s: "
        if now.residual > SOLUTION_TOLERANCE * (1.0 + np.abs(now.acceleration).max()):
            self.status = (
                where + f"no acceleration keeps the loops closed (off by {now.residual:.3g}): a singular configuration"
            )
        elif now.rank > self.rank:
            self.status = where + (
                f"the start is a singular configuration (rank {self.rank} there, {now.rank} nearby), "
                "from which the motion is undetermined: start at a regular configuration nearby"
            )
        elif now.rank < self.rank:
            self.status = where + (
                f"a singular configuration (rank {now.rank} in place of {self.rank}), where motion branches meet and the "
                f"closure forces are undetermined"
            )

    def trajectory(self) -> LoopTrajectory:
        robot, found = self.motion.robot, self.kept
        t, states = np.array([at.t for at in found]), np.array([at.y for at in found])
        q, v = states[:, : robot.nq].copy(), states[:, robot.nq : robot.nq + robot.n].copy()
        inside = self.motion.inside(states[:, robot.nq + robot.n : -1])
        wrenches = {frame: np.array([(at.wrenches or {})[frame] for at in found]) for frame in self.motion.wrenches}
        statistics = {
            "evaluations": self.evaluations, "steps": self.steps, "rank": self.rank,
            "degrees of freedom": robot.n - self.rank, "least conditioning": min(at.now.conditioning for at in found),
            "largest correction": self.correction[0], "largest velocity correction": self.correction[1],
        }  # fmt: skip
        return LoopTrajectory(
            robot, t, q, v, np.array([at.tau for at in found]), np.array([at.friction for at in found]), states[:, -1].copy(),
            wrenches, tuple(self.events), self.status, statistics, inside,
            closures=self.closures,
            constraint_forces=np.array([at.now.multipliers for at in found]),
            constraint_torque=np.array([at.now.torque for at in found]),
            drift=np.array([np.abs(at.c.h).max() for at in found]),
            velocity_drift=np.array([np.abs(at.c.H @ rates).max() for at, rates in zip(found, v, strict=True)]),
            solved_acceleration=np.array([at.now.acceleration for at in found]),
        )  # fmt: skip


def _turned_over(H_before: Array, H: Array, free: Array) -> bool:
    """Whether the determinant of H, bordered by its free directions, changed sign in a step."""
    signs = [np.linalg.slogdet(np.vstack([one, free.T]))[0] for one in (H_before, H)]
    return bool(signs[0] * signs[1] < 0)
