"""Comparison of redundancy-resolution laws on one robot and one task motion."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, card, counted, plotted, short
from dynamis.errors import InputError, printable, unknown_name
from dynamis.robot import Robot
from dynamis.simulation.motion import without_dry_friction
from dynamis.simulation.trajectory import Trajectory
from dynamis.task_space.feedback import Feedback
from dynamis.task_space.motions import Circle, Line
from dynamis.task_space.operational import checked_instant, checked_state
from dynamis.task_space.path_check import first_unreachable, suggested_start
from dynamis.task_space.redundancy import LAWS, MINIMISED, law_named, law_weight
from dynamis.task_space.singularities import TOLERANCE, decide
from dynamis.task_space.tasks import Task

Array = npt.NDArray[Any]
POINTS = 200  # per cycle
STEADY = 1.25  # a null-space speed that grows by less from cycle to cycle counts as steady
QUIET = 1e-6  # rad/s, m/s


@dataclass(frozen=True, eq=False, repr=False)
class LawRun:
    """The simulated motion of one law. ``costs`` has ∫ ½ τᵀ W τ dt for the W of each named law.

    ``drift`` (cycles) is ‖q − q(0)‖ after each cycle; ``null_speed`` (N) is the null-space velocity ‖(1 − J^# J) v‖;
    ``growth`` is the factor by which its mean over a cycle changes per cycle; ``error`` (N) is ‖e_x‖.
    """

    name: str
    minimises: str
    trajectory: Trajectory
    costs: Mapping[str, float]
    peak_torque: float
    peak_joint: str
    drift: Array
    null_speed: Array
    growth: float
    error: Array

    @property
    def status(self) -> str:
        return self.trajectory.status

    @property
    def peak_unit(self) -> str:
        """The unit of ``peak_torque``."""
        robot = self.trajectory.robot
        return "N m" if robot.model.coordinates[robot.coordinate_names.index(self.peak_joint)].revolute else "N"

    @property
    def null_motion(self) -> str:
        """Peak, final value and growth of the null-space velocity, as text."""
        if not self.trajectory.complete:
            return f"stopped at {self.trajectory.t[-1]:.3g} s"
        peak, left = float(self.null_speed.max(initial=0.0)), float(self.null_speed[-1])
        if peak < QUIET:
            return "none"
        speeds = f"peak {peak:.3g}, final {left:.2g}"
        if not np.isfinite(self.growth) or 1.0 / STEADY <= self.growth <= STEADY:
            return speeds
        return f"{speeds}, {'grows' if self.growth > STEADY else 'decays'} by ×{self.growth:.2f} per cycle"

    def as_dict(self) -> dict[str, Any]:
        return {
            "law": self.name, "minimises": self.minimises, "status": self.status, "costs": dict(self.costs),
            "peak_torque": self.peak_torque, "peak_joint": self.peak_joint, "drift": self.drift.tolist(),
            "null_speed_peak": float(self.null_speed.max(initial=0.0)),
            "null_speed_end": float(self.null_speed[-1]), "growth": _or_none(self.growth),
            "null_motion": self.null_motion, "largest_error": float(self.error.max(initial=0.0)),
        }  # fmt: skip

    def __repr__(self) -> str:
        return short(
            f"<LawRun of {printable(self.name)} on {printable(self.trajectory.robot.name)}: peak torque {self.peak_torque:.4g} "
            f"{self.peak_unit} at {printable(self.peak_joint)}, null-space velocity: {self.null_motion}>"
        )

    _repr_html_ = as_table


@dataclass(frozen=True, eq=False, repr=False)
class LawComparison:
    """Simulated motions of several laws for one task motion."""

    robot: Robot
    task: Task
    motion: Circle | Line
    runs: tuple[LawRun, ...]

    def __getitem__(self, name: str) -> LawRun:
        for run in self.runs:
            if run.name == name:
                return run
        raise unknown_name("law", name, [run.name for run in self.runs])

    def as_dict(self) -> dict[str, Any]:
        return {
            "robot": self.robot.name, "task": list(self.task.names), "cycles": self.motion.cycles,
            "period": self.motion.period, "laws": [run.as_dict() for run in self.runs],
        }  # fmt: skip

    def table(self) -> str:
        """The results as a text table, with the lowest cost of each column marked."""
        return table(self)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Plot joint paths, torques, null-space velocity, drift and costs of all laws; returns the axes."""
        return plotted("law_comparison", self, path)

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return html_table(self)

    def __repr__(self) -> str:
        return short(
            f"<LawComparison of {', '.join(run.name for run in self.runs)} on {printable(self.robot.name)}: "
            f"{counted(self.motion.cycles, 'cycle')}>"
        )


def compare_laws(
    robot: Robot,
    task: Task,
    motion: Circle | Line,
    laws: Sequence[str] | Mapping[str, Callable[..., Any]] = tuple(LAWS),
    *,
    q0: Any = None,
    K_P: Any = None,
    K_D: Any = None,
    null_space: Any = (),
    regularisation: float = 0.0,
    rtol: float = 1e-7,
    seconds: float | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> LawComparison:
    """Simulate several laws for the same task motion, from rest at ``q0``, and compare their costs.

    ``laws`` are names of `LAWS`, or a mapping of names to functions with the arguments of `least_torque`. Feedback (11) with
    ``K_P`` and ``K_D`` tracks the task; ``null_space`` is used with all laws. Dry friction is omitted. A motion that leaves the
    workspace raises `InputError`, unless ``regularisation`` is positive. ``seconds`` limits the
    computing time of each simulation; a diverging one is reported up to the time it reached.

    >>> import dynamis as dy, numpy as np
    >>> sizes = {f"{name}_{k}": x for name, x in (("a", 0.5), ("l", 0.25), ("m", 2.0), ("I", 0.05)) for k in (1, 2, 3)}
    >>> arm = dy.load("planar_3r", parameters=sizes | {"g": 0.0})
    >>> task, motion = dy.task_space.Position(rows=(0, 1)), dy.task_space.Circle(0.1, period=2.0, cycles=1)
    >>> found = dy.task_space.compare_laws(arm, task, motion, ["torque"], q0=[0.3, 0.8, 0.9])
    >>> bool(found["torque"].error.max() < 1e-6)
    True
    """
    if not isinstance(motion, Circle | Line):
        raise InputError(f"motion must be a Circle or a Line (closed cycles); got {type(motion).__name__}")
    start = robot.home() if q0 is None and isinstance(robot, Robot) else q0
    q, v = checked_state(robot, start, np.zeros(getattr(robot, "n", 0)), task)
    if robot.actuators:
        raise InputError("the laws assume ideal torque sources; remove actuator models with replace(actuators={…: None})")
    if seconds is not None and not (isinstance(seconds, int | float) and 0 < seconds < np.inf):
        raise InputError(f"seconds must be a positive number, got {seconds!r}")
    chosen = _laws(laws)
    _check_start(robot, q, v, task, motion, regularisation)
    smooth = without_dry_friction(robot)
    desired = motion.from_start(task.value(smooth, q))
    if regularisation == 0.0:
        _check_path(smooth, task, q, motion, desired)
    runs = []
    for place, (name, law) in enumerate(chosen.items()):
        tell = None if progress is None else _part(progress, place, len(chosen), name)
        controller = Feedback(
            smooth, task, desired, law, K_P=K_P, K_D=K_D, null_space=null_space, regularisation=regularisation
        )
        made = _simulated(smooth, motion, q, v, controller, rtol, seconds, tell)
        runs.append(_run(name, made, smooth, task, motion, desired))
    return LawComparison(robot, task, motion, tuple(runs))


def _check_start(robot: Robot, q: Array, v: Array, task: Task, motion: Circle | Line, regularisation: float) -> None:
    if task.size > robot.n:
        raise InputError(f"the task has {task.size} components, but the robot has {robot.n} joints: select fewer rows")
    at = decide(checked_instant(robot, q, v, task).whitened(), task.names, 0.0, True, TOLERANCE)
    if at.singular and regularisation == 0.0:
        raise InputError(
            f"the task is singular at q0 ({at.how}): choose another start{_such_as(robot, task, motion)}, or a positive "
            f"regularisation"
        )


def _check_path(robot: Robot, task: Task, q: Array, motion: Circle | Line, desired: Any) -> None:
    lost = first_unreachable(robot, task, q, desired, motion.period)
    if lost is not None:
        raise InputError(
            f"the task motion leaves the workspace at t = {lost:.3g} s: choose another start"
            f"{_such_as(robot, task, motion)}, or a smaller motion"
        )


def _such_as(robot: Robot, task: Task, motion: Circle | Line) -> str:
    """A start from which the motion can be followed, as part of a message."""
    q = suggested_start(robot, task, motion)
    return "" if q is None else f", such as q0=({', '.join(f'{x + 0.0:g}' for x in q)})"


def _laws(laws: Any) -> dict[str, Any]:
    if isinstance(laws, Mapping):
        given = dict(laws)
    else:
        given = {name: name for name in ((laws,) if isinstance(laws, str) else laws)}
    if not given:
        raise InputError(f"laws= is empty; choose from {', '.join(LAWS)}")
    return {str(name): law_named(law) for name, law in given.items()}


def _part(progress: Callable[[float, str], None], place: int, count: int, name: str) -> Callable[[float], None]:
    return lambda fraction: progress((place + fraction) / count, name)


def _simulated(
    robot: Robot, motion: Circle | Line, q: Array, v: Array, controller: Feedback, rtol: float, seconds: float | None,
    tell: Callable[[float], None] | None,
) -> Trajectory:  # fmt: skip
    from dynamis.simulation.simulate import simulate

    times = np.linspace(0.0, motion.duration, motion.cycles * POINTS + 1)
    # the quintics' third derivatives jump at the ends of cycles: no step may be so long as to miss them
    made = simulate(
        robot, times, q, v, controller=controller, friction="none", rtol=rtol, atol=1e-3 * rtol, step=motion.period / 20.0,
        seconds=seconds, progress=tell,
    )  # fmt: skip
    if made.status.startswith("interrupted"):
        raise KeyboardInterrupt  # the other laws are to stop too
    return made


def _run(name: str, made: Trajectory, robot: Robot, task: Task, motion: Circle | Line, desired: Any) -> LawRun:
    J = np.array([task.jacobian(robot, q) for q in made.q])
    unseen = made.v - np.einsum("knm,kml,kl->kn", np.linalg.pinv(J), J, made.v)
    null_speed = np.linalg.norm(unseen, axis=1)
    errors = [task.error(desired(t)[0], task.value(robot, q)) for t, q in zip(made.t, made.q, strict=True)]
    M = robot.mass_matrix(made.q)
    costs = {}
    for law in LAWS:
        W = np.array([law_weight(law, matrix) for matrix in M])
        costs[law] = float(np.trapezoid(0.5 * np.einsum("ki,kij,kj->k", made.tau, W, made.tau), made.t))
    joint = int(np.argmax(np.abs(made.tau).max(axis=0)))
    ends = np.flatnonzero(np.isclose(made.t % motion.period, 0.0) | np.isclose(made.t % motion.period, motion.period))[1:]
    drift = np.array([np.linalg.norm(robot.difference(made.q[0], made.q[k])) for k in ends])
    return LawRun(
        name, MINIMISED.get(name, "user-defined"), made, costs, float(np.abs(made.tau[:, joint]).max()),
        robot.coordinate_names[joint], drift, null_speed, _growth(null_speed, POINTS), np.linalg.norm(errors, axis=1),
    )  # fmt: skip


def _growth(speed: Array, cycle: int) -> float:
    """The factor per cycle of the mean speed, by linear regression of its logarithm."""
    means = [float(np.sqrt(np.mean(speed[k : k + cycle + 1] ** 2))) for k in range(0, len(speed) - cycle, cycle)]
    if len(means) < 2 or min(means) <= 0.0:
        return float("nan")
    return float(np.exp(np.polyfit(np.arange(len(means)), np.log(means), 1)[0]))


def _or_none(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None


HEADINGS = (
    "law", "∫½ τᵀM⁻²τ", "∫½ τᵀM⁻¹τ", "∫½ τᵀτ", "peak torque", "drift", "null-space velocity", "task error",
)  # fmt: skip
COST_COLUMNS = (1, 2, 3)
BEST = "*"


def table(comparison: LawComparison) -> str:
    """One row per law; the lowest cost of each column is marked."""
    return "\n".join([title(comparison), "", *_aligned([HEADINGS, *rows(comparison)]), "", *legend(comparison)])


def html_table(comparison: LawComparison) -> str:
    """The same for notebooks."""
    return card(title(comparison), legend(comparison), HEADINGS, rows(comparison))


def title(comparison: LawComparison) -> str:
    """Robot, task variables and path."""
    motion = comparison.motion
    cycles = f"{motion.cycles} cycles of {motion.period:g} s" if motion.cycles > 1 else f"one cycle of {motion.period:g} s"
    return f"{comparison.robot.name}: {', '.join(comparison.task.names)} along a {type(motion).__name__.lower()}, {cycles}"


def rows(comparison: LawComparison) -> list[tuple[str, ...]]:
    """The cells of each law."""
    runs = comparison.runs
    least = {key: min((run.costs[key] for run in runs if run.trajectory.complete), default=None) for key in runs[0].costs}
    result = []
    for run in runs:
        costs = [f"{x:.4g}{BEST if x == least[key] and len(runs) > 1 else ' '}" for key, x in run.costs.items()]
        drift = f"{run.drift[-1]:.3g}" if len(run.drift) else "–"
        peak = f"{run.peak_torque:.4g} {run.peak_unit} ({run.peak_joint})"
        result.append((run.name, *costs, peak, drift, run.null_motion, f"{run.error.max():.1e}"))
    return result


def legend(comparison: LawComparison) -> list[str]:
    """The meaning of the mark and of the drift."""
    marked = len(comparison.runs) > 1 and any(run.trajectory.complete for run in comparison.runs)
    best = [f"{BEST} lowest of the column, of the completed motions"] if marked else []
    return [*best, "drift: ‖q − q(0)‖ after the last cycle"]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    right = {*COST_COLUMNS, 5, 7}
    lines = []
    for row in rows:
        cells = [x.rjust(w) if k in right else x.ljust(w) for k, (x, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    return [lines[0], "─" * max(map(len, lines)), *lines[1:]]
