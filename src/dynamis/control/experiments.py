"""Experiments: several laws simulated on the same motion, with their tracking errors, torques, costs and stability."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.law import ControlLaw
from dynamis.control.law_runs import LawComparison, LawRun, torque_limited
from dynamis.control.named_laws import (
    CONTROL_LAWS,
    JOINT_LAWS,
    LAWS,
    SHORT_STEPS,
    LawDesign,
    error_bound,
    least_mobile,
    named_law,
    redundancy_law,
    stability_of,
)
from dynamis.control.null_space_motion import null_space_motion
from dynamis.control.parameter_error import perturbed
from dynamis.control.reachability import check_cycles, why_unreachable
from dynamis.control.stability import SEARCHED, Condition
from dynamis.control.task_loop import task_units
from dynamis.control.tip_task import check_tip_goal, tip_position
from dynamis.control.tracking import Tracking, tracking
from dynamis.display import counted
from dynamis.errors import InputError, ReachWarning, printable, unknown_name
from dynamis.kinematics.box import check_robot
from dynamis.kinematics.tasks import Position, Task
from dynamis.robot import Robot
from dynamis.robot.dry_friction import without_dry_friction
from dynamis.simulation.output_times import POINTS
from dynamis.simulation.sampling import Sampled
from dynamis.simulation.simulate import simulate
from dynamis.simulation.trajectory import Trajectory
from dynamis.task_space.motions import Circle, Line
from dynamis.task_space.operational import checked_state
from dynamis.task_space.redundancy import LAWS as REDUNDANCY_LAWS
from dynamis.tolerances import NEGLIGIBLE
from dynamis.trajectories.joint_moves import joint_move

Array = npt.NDArray[Any]

MAX_HALVINGS = 4  # of the step
MAX_OUTPUT_TIMES = 50_000  # the reference and the errors are evaluated at each
STEP_TOLERANCE = 0.1  # of the largest errors, when the step is halved


def compare_laws(
    robot: Robot,
    laws: str | Sequence[str] | Mapping[str, Any] | None = None,
    motion: Any = None,
    *,
    task: Task | None = None,
    q0: Any = None,
    design: LawDesign | None = None,
    error: float = 0.0,
    seed: int = 0,
    duration: float = 2.0,
    move: float | None = None,
    step: float | None = None,
    seconds: float | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> LawComparison:
    """Simulate one or several laws on the same motion from rest at ``q0`` (default: home), and compare the results.

    ``laws`` are names: in joint space "gravity-compensation", "pd-gravity", "pid", "pd-bounded", "feedforward-pd",
    "computed-torque", "slotine-li"; in task space "operational-space", "impedance", and the redundancy resolutions
    "driven-acceleration", "acceleration-energy", "torque" (default: these three). A mapping gives other names, and
    user-defined resolutions with the arguments of `task_space.least_cost_torque`. ``design`` has bandwidth, damping ratio and
    other settings of the laws.

    ``motion`` is a goal, in joint coordinates or in those of ``task`` (default: the tip position), which is reached in
    ``move`` seconds (default: half the ``duration``); or a `Circle` or `Line` of the task, simulated without dry friction;
    None holds the start. A tip position out of reach is simulated with a `ReachWarning`, a periodic motion out of reach is an
    `InputError` unless ``design.regularisation`` is positive.

    The parameters of the laws' model have the relative ``error``. With ``design.rate`` the laws are sampled; ``chatter`` of a
    run has the joints whose torques swing back and forth every few samples. ``step`` is the integration step, of which the
    sampling period is a multiple; ``seconds`` limits the computing time of each simulation.

    >>> import dynamis as dy
    >>> found = dy.control.compare_laws(dy.load("planar_2r_melchiorri"), "computed-torque", [0.5, -0.5], error=0.05)
    >>> run = found["computed-torque"]
    >>> run.stability.stable, bool((run.tracking.largest < run.bound).all())
    (True, True)
    """
    check_robot(robot)
    made, chosen = design or LawDesign(), _laws(laws)
    limits = {"seconds": None if seconds is None else _positive(seconds, "seconds"), "step": step}
    q, v = robot.home() if q0 is None else _vector(q0, robot.nq, "q0"), np.zeros(robot.n)
    if task is not None:
        q, v = checked_state(robot, q, v, task)
    if isinstance(motion, Circle | Line):
        experiment = _periodic(robot, chosen, motion, task, q, made)
    else:
        end = _positive(duration, "duration")
        over = _positive(end / 2.0 if move is None else move, "move")
        if over > end:
            raise InputError(
                f"move={over:g} is longer than duration={end:g}: the motion would not reach the goal; simulate longer, or move "
                "faster"
            )
        experiment = _move(robot, chosen, motion, task, q, end, over)
    model = perturbed(experiment.plant, error, seed)
    runs = []
    for place, (name, law) in enumerate(chosen.items()):
        tell = None if progress is None else _part(progress, place, len(chosen), name)
        runs.append(_run(experiment, name, law, model, q, v, made, error, limits | {"progress": tell}))
        if runs[-1].trajectory.status.startswith("interrupted") and len(chosen) > 1:
            raise KeyboardInterrupt  # the other laws are to stop too
    return LawComparison(robot, experiment.task, motion, tuple(runs), error, experiment.unreachable)


@dataclass(frozen=True, eq=False)
class _Experiment:
    """What all laws have in common: the simulated robot, the reference, and the options of the simulation."""

    plant: Robot
    task: Task | None
    motion: Any
    reference: Any
    times: Any
    options: Mapping[str, Any]
    unreachable: str = ""


def _periodic(
    robot: Robot, laws: Mapping[str, Any], motion: Circle | Line, task: Task | None, q: Array, design: LawDesign
) -> _Experiment:
    _reject(laws, JOINT_LAWS, f"a {type(motion).__name__} is a motion of a task")
    _check_torque_sources(robot)
    chosen = tip_position(robot, q) if task is None else task
    plant = without_dry_friction(robot)
    desired = motion.from_start(chosen.value(plant, q))
    if design.regularisation == 0.0:
        check_cycles(plant, chosen, q, motion, desired)
    times = np.linspace(0.0, motion.duration, motion.cycles * 200 + 1)
    # the quintics' third derivatives jump at the ends of cycles: no step may be so long as to miss them
    # accurate enough to measure the growth from cycle to cycle
    options = {"friction": "none", "rtol": 1e-7, "atol": 1e-10, "step": motion.period / 20.0}
    return _Experiment(plant, chosen, motion, desired, times, options)


def _move(
    robot: Robot, laws: Mapping[str, Any], goal: Any, task: Task | None, q: Array, end: float, over: float
) -> _Experiment:
    if goal is not None and "gravity-compensation" in laws:
        takers = [name for name in CONTROL_LAWS if name != "gravity-compensation"]
        raise InputError(
            "gravity-compensation has no goal: it cancels gravity and damps the motion. Leave the goal out, or choose a law "
            f"that moves the robot to one: {', '.join(takers[:-1])} or {takers[-1]}"
        )
    joint = [name for name in laws if name in JOINT_LAWS]
    if joint and (task is not None or len(joint) < len(laws)):
        _reject(laws, JOINT_LAWS, "the goal is one of a task")
    chosen = None if joint else (tip_position(robot, q) if task is None else task)
    if chosen is not None and not set(laws) <= set(CONTROL_LAWS):
        _check_torque_sources(robot)
    if goal is not None and task is None and isinstance(chosen, Position):
        check_tip_goal(goal, chosen)
    here = q if chosen is None else chosen.value(robot, q)
    there = here if goal is None else _vector(goal, len(here), "goal")
    unreachable = "" if chosen is None or goal is None else why_unreachable(robot, chosen, there, q)
    if unreachable:
        warnings.warn(unreachable, ReachWarning, stacklevel=3)
    # dry friction makes joints of small inertia stiff; an explicit step would not resolve it
    dry = bool(robot.model.coulomb.any())
    scheme = {"friction": "model", "method": "time_stepping"} if dry else {"friction": "smooth", "method": "rk4"}
    options: dict[str, Any] = {**scheme, "step": None}
    return _Experiment(robot, chosen, goal, joint_move(here, there, duration=over), end, options, unreachable)


def _run(
    experiment: _Experiment, name: str, law: Any, model: Robot, q: Array, v: Array, design: LawDesign, error: float,
    limits: Mapping[str, Any],
) -> LawRun:  # fmt: skip
    robot, task, reference = experiment.plant, experiment.task, experiment.reference
    if law in CONTROL_LAWS:
        controller = named_law(law, model, reference, task, design)
        acting = controller.with_model(model).with_motors(robot)
    else:
        assert task is not None
        controller = acting = redundancy_law(law, model, getattr(reference, "at", reference), task, design)
    usual = experiment.options["step"] or SHORT_STEPS.get(name, 1e-3)
    rate = design.rate
    if rate is not None:
        acting = Sampled(acting, rate)
        usual = 1.0 / (rate * math.ceil(1.0 / (rate * usual)))  # samples are at ends of steps
    options = {**experiment.options, **limits, "step": limits["step"] or usual}
    times = experiment.times
    if rate is not None and np.ndim(times) == 0:
        times = _with_samples(times, rate, options["step"])
    made = simulate(robot, times, q, v, controller=acting, **options)
    track = _tracking(made, reference, task)
    if limits["step"] is None and not isinstance(experiment.motion, Circle | Line) and _has_friction(robot):
        # the law compensates friction a step late: on a light link that needs shorter steps
        for _ in range(MAX_HALVINGS):
            options["step"] *= 0.5
            before, made = track.largest, simulate(robot, times, q, v, controller=acting, **options)
            track = _tracking(made, reference, task)
            converged = made.complete and np.allclose(before, track.largest, rtol=STEP_TOLERANCE, atol=1e-6)
            if converged or made.status.startswith("interrupted") or ("diverge" not in made.status and not made.complete):
                break
    if task is None:
        units = tuple("rad" if c.revolute else "m" for c in robot.model.coordinates)
        bound, least = error_bound(controller, model, robot, reference, float(made.t[-1]), rate), q
    else:
        units = task_units(task)
        bound, least = None, least_mobile(made, task) if isinstance(controller, ControlLaw) else q
    moved = (
        null_space_motion(made, task, experiment.motion, law) if isinstance(experiment.motion, Circle | Line) and task else None
    )
    report = stability_of(controller, robot, model, least, rate, error)
    if report is not None and (limited := torque_limited(made)):
        bound, report = None, replace(report, conditions=(*report.conditions, _actuators_suffice(limited)))
    return LawRun(name, controller, made, track, units, bound, report, moved, rate)


def _with_samples(end: float, rate: float, step: float) -> Any:
    """Output times at all samples, and at steps between them where these are few; ``end`` where they are too many."""
    steps = math.ceil(1.0 / (rate * step) - NEGLIGIBLE)
    parts = next((k for k in range(1, steps + 1) if steps % k == 0 and k * rate * end >= POINTS - 1), steps)
    count = math.floor(end * rate * parts + NEGLIGIBLE)
    if count > MAX_OUTPUT_TIMES or step * rate > 1.0 + NEGLIGIBLE:
        return end
    times = np.minimum(np.arange(count + 1) / (rate * parts), end)
    return times if end - times[-1] < NEGLIGIBLE / rate else np.append(times, end)


def _actuators_suffice(limited: Mapping[str, float]) -> Condition:
    """The theorems are those of ideal torque sources."""
    longest = max(limited.values())
    why = f"the torque of {', '.join(map(printable, limited))} is limited by the actuator: the law's torques do not act"
    return Condition("share of the motion at an actuator's limit", False, longest, 0.0, SEARCHED, why, "≤")


def _has_friction(robot: Robot) -> bool:
    return bool(robot.model.coulomb.any() or robot.model.viscous.any())


def _tracking(made: Trajectory, reference: Any, task: Task | None) -> Tracking:
    if task is None:
        return tracking(made, reference)
    at = getattr(reference, "at", reference)
    desired = np.array([np.asarray(at(float(t))[0], dtype=float) for t in made.t])
    errors = np.array([task.error(x, task.value(made.robot, q)) for x, q in zip(desired, made.q, strict=True)])
    return Tracking(made.t, errors, desired, made.tau, made.robot.limits["effort"], task.names)


def _laws(laws: Any) -> dict[str, Any]:
    """Laws by name: names of `LAWS`, or user-defined redundancy resolutions."""
    if laws is None:
        laws = REDUNDANCY_LAWS
    given = dict(laws) if isinstance(laws, Mapping) else {name: name for name in ((laws,) if isinstance(laws, str) else laws)}
    if not given:
        raise InputError(f"laws= is empty; choose from {', '.join(LAWS)}")
    for law in given.values():
        if not callable(law) and law not in LAWS:
            raise unknown_name("law", law, LAWS)
    return {str(name): law for name, law in given.items()}


def _reject(laws: Mapping[str, Any], wrong: Sequence[str], why: str) -> None:
    found = [name for name, law in laws.items() if law in wrong]
    if found:
        others = [name for name in LAWS if name not in wrong]
        raise InputError(f"{found[0]} takes a goal in joint coordinates, but {why}: choose from {', '.join(others)}")


def _check_torque_sources(robot: Robot) -> None:
    if robot.actuators:
        raise InputError("the laws assume ideal torque sources; remove actuator models with replace(actuators={…: None})")


def _part(progress: Callable[[float, str], None], place: int, count: int, name: str) -> Callable[[float], None]:
    return lambda fraction: progress((place + fraction) / count, name)


def _positive(value: Any, name: str) -> float:
    if isinstance(value, bool) or not (isinstance(value, int | float | np.number) and 0.0 < value < np.inf):
        raise InputError(f"{name} must be a positive number of seconds, got {value!r}")
    return float(value)


def _vector(value: Any, size: int, name: str) -> Array:
    try:
        given = np.atleast_1d(np.array(value, dtype=float))
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.shape == (1,) and size > 1:
        given = np.full(size, given[0])
    if given.shape != (size,) or not np.isfinite(given).all():
        raise InputError(f"{name} must be {counted(size, 'finite number')}, got {np.size(value)}")
    return given
