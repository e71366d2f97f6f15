"""``simulate``: forward simulation of one motion."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, ModelWarning, printable
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric, warn_of_open_loops
from dynamis.scalar import FunctionState
from dynamis.simulation.actuators import Actuator, actuators_of, warn_of_voltages
from dynamis.simulation.adaptive import METHODS, integrate
from dynamis.simulation.compiled_pieces import CompiledPieces
from dynamis.simulation.contact import contacts_in, step_for
from dynamis.simulation.controllers import SIGNATURES, Controller, Law, as_law, first_states
from dynamis.simulation.events import Watcher
from dynamis.simulation.fixed_step import RULES, check_step_length
from dynamis.simulation.friction import laws_of
from dynamis.simulation.hard_stops import COMPLIANT, AtStop, HardStops, hard_stops, laws_with_stops
from dynamis.simulation.motion import (
    DIVERGED_VELOCITY,
    FEEDBACK_DIVERGED_VELOCITY,
    EquationsOfMotion,
    Mechanism,
    controller_name,
)
from dynamis.simulation.noise import Noise, NoiseSource
from dynamis.simulation.output_times import checked_times, times_of
from dynamis.simulation.pieces import Pieces
from dynamis.simulation.resume import (
    check_resumable,
    check_same_robot,
    joined,
    pieces_before,
    samples_of,
    state_at_stop,
    with_memory,
)
from dynamis.simulation.sampling import Held, Sampled, Samples, integrate_stepwise
from dynamis.simulation.sources import (
    HAS_A_STATE,
    Command,
    Source,
    SourceError,
    plain_wrenches,
    source,
    torque_source,
    warn_of_states,
    wrench_sources,
)
from dynamis.simulation.stepped import Pushes, TracedMotion, march_one
from dynamis.simulation.stepping import Clock
from dynamis.simulation.trajectory import Trajectory
from dynamis.simulation.velocity_balance import LARGE_IMBALANCE
from dynamis.tolerances import EPS

Array = npt.NDArray[Any]
MIN_RTOL = 100.0 * EPS  # of SciPy's integrators


def simulate(
    robot: Robot | Mechanism,
    t: Any,
    q0: Any = None,
    v0: Any = None,
    *,
    torque: Any = None,
    controller: Callable[..., Any] | Sampled | Controller | None = None,
    wrenches: Mapping[str, Any] | None = None,
    friction: Any = "model",
    actuators: Mapping[str, Actuator] | None = None,
    disturbance: Any = None,
    stops: Callable[..., Any] | HardStops | None = None,
    events: Mapping[str, Any] | None = None,
    method: str | None = None,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    points: int | None = None,
    resume: Trajectory | None = None,
    seconds: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """Simulate the motion from q0, v0 (default: at rest in the home configuration) for the time ``t``.

    ``t`` is a duration, (start, end), or the output times; the first two have ``points`` output times (2 to 10⁷), by default
    501, or as many as there are steps if these are fewer. ``torque`` is constant or a function of t; ``controller`` a
    function of (t, q, v) or (robot, t, q, v) that returns torques, as `rollouts` takes it; ``wrenches`` maps frames to wrenches
    in world axes, constant or functions.
    ``friction`` is "model" (the robot's Coulomb friction, with sticking), "smooth", "none", or a mapping of coordinates to
    laws. ``actuators`` maps coordinates to actuators that replace those of the model; ``stops`` is the result of `joint_stops`,
    or `HardStops`. ``events`` maps names to functions of (t, q, v) whose zeros are located, or to `Event` objects.
    A `Sampled` controller acts at its rate; a `Controller` may have internal states. ``disturbance`` is added to the joint
    torques: a `Noise`, constant, or a function of t. Wrenches may be `Push` objects, or lists of them.

    ``method`` is one of SciPy's (RK45, DOP853, Radau, LSODA, …) with ``rtol`` (1e-8) and ``atol`` (1e-10), or "euler"
    (semi-implicit), "rk4", "midpoint" (implicit) or "time_stepping" (implicit in dry friction and contact) with a fixed
    ``step``, which is shortened where the time between two output times is no whole number of steps. The default is
    "time_stepping" for a robot with a `contact`, with a step from its stiffness, else "DOP853", followed by "Radau" from where
    the equations prove to be stiff. For an adaptive method ``step`` is the largest step: pulses of torque that are shorter than
    it, and than the distance of the output times, may be missed.

    ``resume`` continues an earlier motion from its end to the end or the times ``t``, and returns both parts as one. The
    other arguments should be the same as before; internal states of friction, actuators and samples are continued.

    A function that raises an exception, Ctrl-C and the computing-time limit ``seconds`` end the simulation: ``status`` gives
    the reason, and the motion so far is returned. A function that fails at the start raises a `SourceError`.

    >>> import dynamis as dy
    >>> motion = simulate(dy.load("planar_2r_melchiorri"), 1.0)
    >>> motion.status, bool(abs(motion.energy_error).max() < 1e-5)
    ('completed', True)
    """
    mechanism = _mechanism(robot)
    robot = mechanism.robot
    before = None if resume is None else check_resumable(resume, q0, v0, mechanism.closures)
    times = times_of(t, points, before, method, step)
    laws = laws_of(robot.model, friction)
    method = mechanism.method(method, laws, stops)
    q, v = _start(mechanism, q0, v0, before)
    robot, drives = actuators_of(robot, actuators)
    if before is not None:
        check_same_robot(before, robot)
    law = _law(controller, robot, drives)
    function = None if law.torque is None else law.on(robot)
    held = None if law.sampled is None else _held(law, law.sampled, robot, float(times[0]), samples_of(before))
    noise, disturbing = _disturbance(disturbance, robot.n)
    hard = hard_stops(robot, stops)
    watcher = None if events is None else Watcher(events, robot.nq, robot.n)
    clock = Clock() if seconds is None else Clock(_seconds(seconds))
    command = law.command(robot, torque_source(robot, torque, held or function, None if hard else stops), checked=True)
    fastest = _fastest(robot, v) if any(x is not None for x in (law.torque, law.sampled, torque)) else DIVERGED_VELOCITY
    motion = mechanism.motion(robot, laws, command, wrench_sources(robot, wrenches), drives, disturbing, fastest)
    motion.state = None if function is None or law.sampled is not None or law.traceable else FunctionState(function)
    y0 = motion.start(q, v) if before is None else state_at_stop(before, motion, held is not None)
    if hard is not None:
        y0 = np.concatenate([hard.checked_start(y0[: robot.nq]), y0[robot.nq :]])
    _check_start(motion, float(times[0]), y0)
    if function is not None and held is None:
        _check_stateless(command, float(times[0]), q, v)
    _check_jumps({"1/rate": held, "hold": noise}, times)
    located, automatic = any(x is not None for x in (hard, watcher, rtol, atol)), method is None
    method = method or ("DOP853" if located or not _is_stiff_by_contact_alone(motion, wrenches) else "time_stepping")
    times = checked_times(t, points, before, method, step)
    if method == "time_stepping" and step is None:
        step = step_for(contacts_in(wrenches), y0[: robot.nq])
    jumps = [x for x in (held, noise) if x is not None]
    pushes = Pushes(torque, law, None if hard else stops, plain_wrenches(robot, wrenches), disturbance)
    if method in RULES:
        _check_fixed_steps(method, step, rtol, atol, motion, hard, watcher)
        made, off = march_one(
            motion, pushes, times, y0, method=method, step=float(step or 0.0), jumps=jumps, held=held,
            progress=progress, clock=clock,
        )  # fmt: skip
        return _recorded(motion, _with_balance_checked(made, off, bool(mechanism.closures)), before)
    watcher = motion.watched(watcher)
    options = _adaptive_options(method, rtol, atol, step)
    watching: dict[str, Any] = {
        "stops": hard, "watcher": watcher, "clock": clock, "progress": progress, "before": pieces_before(before),
        "automatic": automatic,
    }  # fmt: skip
    if jumps:
        suits = hard is None and events is None and CompiledPieces.suits(motion, pushes, method)
        watching["shortcut"] = CompiledPieces(TracedMotion(motion, pushes), held, options, clock, watcher) if suits else None
        pieces = integrate_stepwise(motion, jumps, times, y0, method=method, options=options, **watching)
    else:
        motion.probed = _are_of_users(torque, None if law.traceable else controller, disturbance, *motion.wrenches.values())
        pieces = integrate(motion, times, y0, method=method, options=options, **watching)
    made = with_memory(_trajectory(motion, pieces, times, y0, hard is not None), motion, times, pieces, y0, held)
    return _recorded(motion, made, before)


def _are_of_users(*sources: Any) -> bool:
    """Whether torques or wrenches are functions that may have short pulses."""
    return any(callable(source) and not getattr(source, "traceable", False) for source in sources)


def _with_balance_checked(made: Trajectory, off: Array, loops: bool) -> Trajectory:
    """Return the motion; warn of steps that are too long: velocities or energy do not follow from accelerations and work."""
    if made.complete and made.robot.n:
        share, joint = off.max(), made.robot.coordinate_names[int(np.argmax(off))]
        of = f"velocity balance of {printable(joint)}", "its largest velocity"
        if share <= LARGE_IMBALANCE:
            of, share = ("energy balance of the motion", "the energy exchanged"), made.energy_imbalance
        if share > LARGE_IMBALANCE:
            size = f"{100.0 * share:.0f} %" if share <= 1.0 else "more than 100 %"
            other = "" if loops else ", or an adaptive method, method='DOP853' without step="  # not all loops allow it
            text = f"the {of[0]} has an error of {size} of {of[1]}: use a shorter step={other}"
            warnings.warn(text, ModelWarning, stacklevel=3)
    return made


def _recorded(motion: EquationsOfMotion, made: Trajectory, before: Trajectory | None) -> Trajectory:
    if motion.state is not None:
        warn_of_states(motion.state)
    made = motion.recorded(made)
    return made if before is None else joined(before, made)


def _mechanism(robot: Any) -> Mechanism:
    mechanism = robot if isinstance(robot, Mechanism) else Mechanism(robot)
    if not isinstance(mechanism.robot, Robot) and callable(getattr(robot, "simulate", None)):
        raise InputError(f"a {type(robot).__name__} has a method for its motion: call its simulate(t, q0, …)")
    check_numeric(mechanism.robot)
    return mechanism


def _start(mechanism: Mechanism, q0: Any, v0: Any, before: Trajectory | None) -> tuple[Array, Array]:
    """The initial q and v, at rest in the home configuration where not given, or those of the motion to resume."""
    robot = mechanism.robot
    if not mechanism.closures:
        warn_of_open_loops(robot, "this motion", closed="dynamis.constrained(robot).simulate(…)", stacklevel=4)
    if before is not None:
        return mechanism.check_start(before.q[-1], before.v[-1])
    q = robot.home() if q0 is None else state_vector(robot, q0, robot.nq, "q0")
    v = np.zeros(robot.n) if v0 is None else state_vector(robot, v0, robot.n, "v0")
    return mechanism.check_start(q, v)


def _disturbance(given: Any, n: int) -> tuple[NoiseSource | None, Source | None]:
    noise = given.source(n) if isinstance(given, Noise) else None
    return noise, None if given is None else source(noise or given, n, "disturbance")


def _held(law: Law, sampled: Sampled, robot: Robot, origin: float, before: Samples | None) -> Held:
    digital = law.digital
    start = None if digital is None else lambda q, v: first_states(digital, robot, q, v)
    return Held(sampled, robot.n, origin, law.sample(robot), before, start)


def _law(controller: Any, robot: Robot, drives: Mapping[int, Actuator]) -> Law:
    law = as_law(controller)
    warn_of_voltages(controller, robot, drives, stacklevel=4)
    if law.extra:
        cures = {"robot": SIGNATURES, "x": "a Controller with states x sets size to their number"}
        cure = cures.get(law.extra[0], "give it a default, or use parameters= of rollouts")
        raise InputError(f"the controller requires {law.extra[0]!r}, which simulate does not provide; {cure}")
    return law


def _check_stateless(command: Command, t: float, q: Array, v: Array) -> None:
    """Refuse a controller that depends on how often it was called: integration calls it several times per step."""
    once, again = (command.torque(t, q, v, np.zeros(0)) for _ in range(2))
    if not np.array_equal(once, again):
        raise InputError(f"the controller returned different torques for the same time and state: {HAS_A_STATE}")


def _check_start(motion: EquationsOfMotion, t: float, y: Array) -> None:
    """Raise where functions fail at the start, or the accelerations are undetermined there."""
    q, v, z = motion.split(y)
    if motion.command.rates is not None:
        motion.command.rates(t, q, v, motion.inside(z)[controller_name(motion.robot)])
    # a mass matrix that cannot be inverted is refused here, by the joint's name
    motion.acceleration(q, v, np.zeros(len(v)), None)


def _check_jumps(sources: Mapping[str, Held | NoiseSource | None], times: Array) -> None:
    """Each interval between two jumps of the torque is integrated for itself."""
    for name, jumping in sources.items():
        if jumping is not None:
            check_step_length(jumping.period, float(times[0]), float(times[-1]), name)


def _check_fixed_steps(
    method: str, step: Any, rtol: Any, atol: Any, motion: EquationsOfMotion, hard: Any, watcher: Any
) -> None:  # fmt: skip
    if step is None:
        raise InputError(f"method={method!r} needs a step, such as step=1e-3")
    check_tolerances(method, rtol, atol)
    if motion.sticking and method != "time_stepping":
        raise InputError(
            f"with method={method!r} no joint sticks: use method='time_stepping' or 'DOP853', or friction='smooth'"
        )
    if hard is not None:
        raise InputError(f"method={method!r} does not locate impacts: use method='DOP853', or compliant stops; {COMPLIANT}")
    if watcher is not None:
        raise InputError(f"method={method!r} does not locate events: use method='DOP853'")
    if method == "euler" and motion.states:
        raise InputError("method='euler' does not support friction or drives with internal states: use method='rk4'")


def _is_stiff_by_contact_alone(motion: EquationsOfMotion, wrenches: Any) -> bool:
    """Whether there are contacts, and no other stiff states."""
    inner = motion.bristles or any(drive.size for drive in motion.actuators.values())
    return bool(contacts_in(wrenches)) and not inner


def check_tolerances(method: str, rtol: Any, atol: Any) -> None:
    """Refuse tolerances that are no numbers, below rounding, or without meaning for the method; None stands for the default."""
    for name, tolerance, least in (("rtol", rtol, MIN_RTOL), ("atol", atol, 0.0)):
        if tolerance is None:
            continue
        if not (isinstance(tolerance, int | float | np.number) and least <= tolerance < np.inf):
            raise InputError(f"{name} must be a number of at least {least:g}, got {tolerance!r}")
        if method in RULES:
            raise InputError(
                f"rtol= and atol= are tolerances of adaptive methods, and the steps of method={method!r} are fixed: leave them "
                "out, and choose the accuracy by step="
            )


def _adaptive_options(method: str, rtol: Any, atol: Any, longest: Any) -> dict[str, Any]:
    if method not in METHODS:
        raise InputError(f"method={method!r} is unknown; choose {', '.join((*METHODS, *RULES))}")
    check_tolerances(method, rtol, atol)
    tolerances = {"rtol": 1e-8 if rtol is None else rtol, "atol": 1e-10 if atol is None else atol}
    return tolerances | ({} if longest is None else {"max_step": longest})


def _trajectory(motion: EquationsOfMotion, pieces: Pieces, times: Array, y0: Array, stopping: bool) -> Trajectory:
    reached = times[times <= pieces.ends[-1]] if pieces.pieces else times[:1]
    if pieces.at_end and pieces.pieces and reached[-1] < pieces.ends[-1]:
        reached = np.append(reached, pieces.ends[-1])
    states, directions = pieces(reached) if pieces.pieces else (y0[None], [{}])
    states = motion.reported(reached, states)
    resting = pieces.resting_at(reached) if pieces.pieces else [{}]
    nq, n = motion.robot.nq, motion.robot.n
    q, v = states[:, :nq].copy(), states[:, nq : nq + n].copy()
    for body in (b for _, b in motion.robot.model.moving if b.motion.nq > b.motion.nv):
        part = q[:, body.q_index.stop - 4 : body.q_index.stop]
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    tau, friction, pushed_by_stops = np.zeros_like(v), np.zeros_like(v), np.zeros_like(v)
    wrenches = {frame: np.zeros((len(reached), 6)) for frame in motion.wrenches}
    status, known = pieces.status, len(reached)
    for k, (t, slides) in enumerate(zip(reached, directions, strict=True)):
        v[k, [j for j, s in slides.items() if s == 0]] = 0.0
        z = states[k, nq + n : -1]
        try:
            tau[k] = motion.torque(t, q[k], v[k], z)
            pushed = motion.wrenches_at(t, q[k], v[k])
        except (SourceError, KeyboardInterrupt) as failed:
            if k == 0:
                raise
            interrupted = isinstance(failed, KeyboardInterrupt)
            status = f"interrupted at t = {reached[k - 1]:.6g} s" if interrupted else f"stopped: {failed}"
            known = k
            break
        for frame, w in (pushed or {}).items():
            wrenches[frame][k] = w
        friction[k] = motion.smooth_friction(v[k], z)
    wrenches = {frame: w[:known] for frame, w in wrenches.items()}
    dry = [k for k in range(known) if directions[k]]
    if dry:
        pushed = {frame: w[dry] for frame, w in wrenches.items()} or None
        r = tau[dry] - friction[dry] - motion.smooth.inverse_dynamics(q[dry], v[dry], np.zeros((len(dry), n)), pushed)
        for k, M, row in zip(dry, motion.smooth.mass_matrix(q[dry]), r, strict=True):
            d = motion.holding(q[k], v[k], M, row, directions[k], laws_with_stops(motion.sticking, resting[k]))[1]
            for j, side in resting[k].items():
                d[j], pushed_by_stops[k, j] = AtStop(side, motion.sticking.get(j)).split(float(d[j]))
            friction[k] += d
    return Trajectory(
        motion.robot, reached[:known], q[:known], v[:known], tau[:known], friction[:known], states[:known, -1].copy(),
        wrenches, tuple(pieces.events), status, {"evaluations": pieces.evaluations, "pieces": len(pieces.pieces)},
        motion.inside(states[:known, nq + n : -1]), stop_torque=pushed_by_stops[:known] if stopping else None,
    )  # fmt: skip


def _fastest(robot: Robot, v: Array) -> float:
    """A velocity that no motion of this robot under control, or under torques that it is made for, has."""
    limits = robot.limits["velocity"]
    known = [*limits[np.isfinite(limits)], *np.abs(v)]
    return max(FEEDBACK_DIVERGED_VELOCITY, 100.0 * max(known, default=0.0))


def _seconds(seconds: Any) -> float:
    if isinstance(seconds, bool) or not (isinstance(seconds, int | float | np.number) and 0 < seconds < np.inf):
        raise InputError(f"seconds must be positive, the limit of computing time, got {seconds!r}")
    return float(seconds)


def state_vector(robot: Robot, value: Any, size: int, name: str) -> Array:
    inputs = robot.inputs
    state = inputs.one_state(value, size, name).astype(float)
    if name == "q0":
        inputs.warn_degrees(state)
    return state
