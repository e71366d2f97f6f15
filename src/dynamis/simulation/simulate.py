"""``simulate``: a robot set in motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.simulation.actuators import Actuator, actuators_of
from dynamis.simulation.adaptive import METHODS, Pieces, integrate
from dynamis.simulation.fixed_step import STEPS, march
from dynamis.simulation.friction import LuGre, laws_of
from dynamis.simulation.motion import Motion
from dynamis.simulation.sampling import Held, Sampled, integrate_sampled
from dynamis.simulation.sources import SourceError, torque_source, wrench_sources
from dynamis.simulation.sticking import solve
from dynamis.simulation.trajectory import Trajectory

Array = npt.NDArray[Any]
LEAST_RTOL = 100 * float(np.finfo(float).eps)  # the integrators take no less


def simulate(
    robot: Robot,
    t: Any,
    q0: Any = None,
    v0: Any = None,
    *,
    torque: Any = None,
    controller: Callable[..., Any] | None = None,
    wrenches: Mapping[str, Any] | None = None,
    friction: Any = "model",
    actuators: Mapping[str, Actuator] | None = None,
    stops: Callable[..., Any] | None = None,
    method: str = "DOP853",
    step: float | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    points: int = 501,
    progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """The motion from q0, v0 (at rest in the neutral configuration unless given) for the time ``t``.

    ``t`` is a duration, (start, end), or the times to report. ``torque`` is constant or a function of t; ``controller`` a
    function of (t, q, v) that returns torques; ``wrenches`` maps frames to wrenches in world axes, constant or functions.
    ``friction`` is "model" (the robot's Coulomb friction, truly sticking), "smooth", "none", or a mapping of coordinates to
    laws. ``actuators`` maps coordinates to what stands between command and torque; ``stops`` is what `joint_stops` makes.
    A `Sampled` controller acts at its rate.

    ``method`` is one of SciPy's (RK45, DOP853, Radau, LSODA, …) with ``rtol`` and ``atol``, or "euler" (semi-implicit), "rk4"
    or "midpoint" (implicit) with a fixed ``step``; an adaptive one takes ``step`` as its longest, which finds pushes that
    come and go between two of its own.

    A function that fails ends the motion: ``status`` says how, and what came before is kept. One that fails at the very
    start raises.

    >>> import dynamis as dy
    >>> motion = simulate(dy.load("planar_2r_melchiorri"), 1.0)
    >>> motion.status, bool(abs(motion.energy_error).max() < 1e-5)
    ('reached the end', True)
    """
    if not isinstance(robot, Robot):
        raise InputError(f"simulate takes a robot, got {type(robot).__name__}; dynamis.load gives one")
    if robot.model.symbolic:
        raise InputError(f"robot {robot.name!r} has parameters without values: give them with load(…, parameters={{…}})")
    times = _times(t, points)
    q = robot.neutral() if q0 is None else _vector(robot, q0, robot.nq, "q0")
    v = np.zeros(robot.n) if v0 is None else _vector(robot, v0, robot.n, "v0")
    laws = laws_of(robot.model, friction)
    robot, drives = actuators_of(robot, actuators)
    held = Held(controller, robot.n) if isinstance(controller, Sampled) else None
    command = torque_source(robot, torque, held or controller, stops)
    motion = Motion(robot, laws, command, wrench_sources(robot, wrenches), drives)
    y0 = motion.start(q, v)
    # a mass matrix that cannot be inverted is refused here, by the joint's name
    motion.smooth.forward_dynamics(q, v, np.zeros(robot.n))
    if step is not None and not (isinstance(step, int | float | np.number) and 0 < step < np.inf):
        raise InputError(f"step must be a positive number of seconds, got {step!r}")
    if method in STEPS:
        if step is None:
            raise InputError(f"method={method!r} needs a step, such as step=1e-3")
        if motion.sticking or any(isinstance(law, LuGre) for law in laws.values()):
            raise InputError(f"method={method!r} does not locate where joints stick: use friction='smooth', or method='DOP853'")
        if held is not None or any(x.size for x in drives.values()):
            raise InputError(f"method={method!r} cannot go with sampled laws or drives that have states: use method='DOP853'")
        constant = controller is None and not callable(torque) and stops is None and not drives
        return march(motion, times, y0, method=method, step=step, constant=constant, progress=progress)
    if method not in METHODS:
        raise InputError(f"method={method!r} is not known; choose {', '.join((*METHODS, *STEPS))}")
    for name, tolerance, least in (("rtol", rtol, LEAST_RTOL), ("atol", atol, 0.0)):
        if not (isinstance(tolerance, int | float | np.number) and least <= tolerance < np.inf):
            raise InputError(f"{name} must be a number from {least:g}, got {tolerance!r}")
    options = {"rtol": rtol, "atol": atol} | ({} if step is None else {"max_step": step})
    if held is not None:
        pieces = integrate_sampled(motion, held, times, y0, method=method, options=options, progress=progress)
    else:
        pieces = integrate(motion, times, y0, method=method, options=options, progress=progress)
    return _trajectory(motion, pieces, times, y0)


def _trajectory(motion: Motion, pieces: Pieces, times: Array, y0: Array) -> Trajectory:
    reached = times[times <= pieces.ends[-1]] if pieces.pieces else times[:1]
    states, directions = pieces(reached) if pieces.pieces else (y0[None], [{}])
    nq, n = motion.robot.nq, motion.robot.n
    q, v = states[:, :nq].copy(), states[:, nq : nq + n].copy()
    for body in (b for _, b in motion.robot.model.moving if b.motion.nq > b.motion.nv):
        part = q[:, body.q_index.stop - 4 : body.q_index.stop]
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    tau, friction = np.zeros_like(v), np.zeros_like(v)
    wrenches = {frame: np.zeros((len(reached), 6)) for frame in motion.wrenches}
    status, known = pieces.status, len(reached)
    for k, (t, slides) in enumerate(zip(reached, directions, strict=True)):
        v[k, [j for j, s in slides.items() if s == 0]] = 0.0
        z = states[k, nq + n : -1]
        try:
            tau[k] = motion.torque(t, q[k], v[k], z)
            pushed = motion.wrenches_at(t, q[k], v[k])
        except SourceError as failed:
            if k == 0:
                raise
            status, known = f"stopped: {failed}", k
            break
        for frame, w in (pushed or {}).items():
            wrenches[frame][k] = w
        friction[k] = motion.smooth_friction(v[k], z)
        if slides:
            r = tau[k] - friction[k] - motion.smooth.inverse_dynamics(q[k], v[k], np.zeros(n), pushed)
            friction[k] += solve(motion.smooth.mass_matrix(q[k]), r, v[k], slides, motion.sticking)[1]
    wrenches = {frame: w[:known] for frame, w in wrenches.items()}
    return Trajectory(
        motion.robot, reached[:known], q[:known], v[:known], tau[:known], friction[:known], states[:known, -1].copy(),
        wrenches, tuple(pieces.events), status, {"evaluations": pieces.evaluations, "pieces": len(pieces.pieces)},
        motion.inside(states[:known, nq + n : -1]),
    )  # fmt: skip


def _times(t: Any, points: int) -> Array:
    try:
        given = np.atleast_1d(np.array(t, dtype=float))
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all():
        raise InputError(f"t must be a duration, (start, end) or a list of times, got {t!r}")
    if len(given) == 1:
        given = np.array([0.0, given[0]])
    if not np.all(np.diff(given) > 0):
        raise InputError("times must increase, and a duration must be positive")
    if not (isinstance(points, int | np.integer) and points > 1):
        raise InputError(f"points must be a whole number from 2, got {points!r}")
    return np.linspace(given[0], given[-1], points) if len(given) == 2 else given


def _vector(robot: Robot, value: Any, size: int, name: str) -> Array:
    inputs = robot._evaluator.inputs
    return inputs.one_state(value, size, name).astype(float)
