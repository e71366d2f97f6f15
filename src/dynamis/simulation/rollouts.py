"""Batch simulation: robot, drives, controller and integrator compiled to one step for a batch of motions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.singularity import singular_mass_error
from dynamis.compiler.batches import broadcast_batch
from dynamis.compiler.cuda_time_stepper import RK4
from dynamis.compiler.kernel import Kernel
from dynamis.display import short
from dynamis.errors import InputError, ModelWarning, PerformanceWarning, printable, unknown_name
from dynamis.model.massless import massless_motion
from dynamis.robot import Robot
from dynamis.robot.checks import warn_of_open_loops
from dynamis.simulation.actuators import Actuator, actuators_of
from dynamis.simulation.closed_loop import ClosedLoop
from dynamis.simulation.contact import contacts_in
from dynamis.simulation.controllers import Controller
from dynamis.simulation.fixed_step import check_step_length
from dynamis.simulation.friction import BristleLaw, StickingLaw, in_words, laws_of
from dynamis.simulation.given_values import input_length
from dynamis.simulation.loops.actuated import warn_of_passive_joints
from dynamis.simulation.loops.constrained_robot import ConstrainedRobot
from dynamis.simulation.loops.constraints import evaluate, held_at, refuse_open
from dynamis.simulation.loops.overconstrained import overconstrained_rank
from dynamis.simulation.motion import DIVERGED_POSITION, DIVERGED_VELOCITY
from dynamis.simulation.noise import Noise
from dynamis.simulation.rollout_driver import BatchMarch, Progress
from dynamis.simulation.rollout_result import Rollouts, array_module, on_host
from dynamis.simulation.sampling import Sampled

Array = npt.NDArray[Any]


class LoopOptions(TypedDict, total=False):
    """The arguments that `rollouts` and `BatchSimulation` have in common."""

    controller: Callable[..., Any] | Sampled | Controller | None
    parameters: Mapping[str, Any] | None
    friction: Any
    actuators: Mapping[str, Actuator] | None
    wrenches: Mapping[str, Any] | None
    stops: Callable[..., Any] | None
    disturbance: Noise | None
    step: float
    method: str | None
    every: int


def rollouts(
    robot: Robot | ConstrainedRobot,
    t: float,
    q0: Any,
    v0: Any = None,
    *,
    inputs: Mapping[str, Any] | None = None,
    first: int = 0,
    progress: Progress | None = None,
    **options: Unpack[LoopOptions],
) -> Rollouts:
    """Simulate a batch of initial states for the duration ``t`` with fixed steps; output every ``every`` steps and at the end.

    ``options`` are the arguments of `BatchSimulation`: controller, parameters, friction, actuators, wrenches, stops,
    disturbance, step (1e-3 s), method and every (1).

    ``controller`` is a function of (t, q, v) or (robot, t, q, v), as `simulate` takes it, written for one state with NumPy:
    it is recorded, its branches included, and compiled together with robot, drives and integrator.
    One that cannot be traced is called from Python instead, about a thousand times slower; ``note`` gives the reason. It may be
    `Sampled`, with a period of whole steps, or a `Controller`. ``friction``, ``actuators``,
    ``wrenches`` and ``stops`` are as for `simulate`, without `HardStops`; their functions are traced too.

    ``method`` is "rk4", "euler", "midpoint" or "time_stepping", which is of order two and implicit in dry friction and contact;
    only with it do joints stick. The default is "time_stepping" for robots with dry friction or contacts, and "rk4" for all
    others.

    ``parameters`` are values per motion: for symbols of robot or controller (…), one number per motion; for additional
    arguments of the controller, one number for all motions or vectors (…, size), whose last axis reaches the controller. One
    number per motion is therefore (…, 1). An array (size,) is one vector for all motions; it is refused where size is the
    number of motions, since it could be meant either way: give (size, 1) or (1, size). ``inputs`` are additional arguments that
    change in time: tables (K, …, size) whose rows follow each other in equal parts of the duration. ``disturbance`` is a
    `Noise`: motion k of the batch, numbered from ``first``, receives the same torques in any batch.

    A robot with contacts, of `constrained`, keeps them with "rk4" or "euler", stabilised by its ``alpha`` and ``beta``;
    ``q0`` and ``v0`` must satisfy them: see `ConstrainedRobot.assemble_velocity`.

    Float32 input gives float32 output. Arrays on a GPU stay there. To simulate the same loop again and again, prepare a
    `BatchSimulation`.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("planar_2r_melchiorri")
    >>> def law(robot, t, q, v, goal):
    ...     return robot.gravity(q) - 4000.0 * (q - goal) - 800.0 * v
    >>> goals = np.random.default_rng(0).uniform(-1, 1, (64, 2))
    >>> made = rollouts(robot, 3.0, np.zeros(2), controller=law, parameters={"goal": goals}, every=100)
    >>> made.q.shape, bool(abs(made.q[-1] - goals).max() < 0.01)
    ((31, 64, 2), True)
    """
    if "torque" in options:
        raise InputError(
            "rollouts has no argument 'torque': give controller=lambda t, q, v: …, and torques of each motion as inputs= or "
            "parameters= of the controller"
        )
    if unknown := [name for name in options if name not in LoopOptions.__annotations__]:
        raise unknown_name("argument of rollouts", unknown[0], LoopOptions.__annotations__)
    sizes = {}
    if inputs is not None:
        _check_mapping("inputs", inputs)
        sizes = {name: input_length(table, name) for name, table in inputs.items()}
    simulation = BatchSimulation(robot, t, inputs=sizes, **options)
    simulation.stacklevel = 3
    return simulation(q0, v0, inputs=inputs, first=first, progress=progress)


class BatchSimulation:
    """A closed loop prepared for batches: traced and compiled once, simulated from other states and with other values.

    The arguments are those of `rollouts`; ``parameters`` are values that a call may replace, ``inputs`` the lengths of the
    inputs.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("planar_2r_melchiorri")
    >>> def pushed(robot, t, q, v, tau):
    ...     return robot.gravity(q) + tau
    >>> simulation = dy.BatchSimulation(robot, 0.3, controller=pushed, inputs={"tau": 2}, step=0.01)
    >>> torques = np.random.default_rng(0).normal(size=(30, 1024, 2))  # one row per step
    >>> simulation(np.zeros(2), inputs={"tau": torques}).q.shape
    (31, 1024, 2)
    """

    def __init__(
        self,
        robot: Robot | ConstrainedRobot,
        t: float,
        *,
        controller: Callable[..., Any] | Sampled | Controller | None = None,
        parameters: Mapping[str, Any] | None = None,
        inputs: Mapping[str, int] | None = None,
        friction: Any = "model",
        actuators: Mapping[str, Actuator] | None = None,
        wrenches: Mapping[str, Any] | None = None,
        stops: Callable[..., Any] | None = None,
        disturbance: Noise | None = None,
        step: float = 1e-3,
        method: str | None = None,
        every: int = 1,
    ) -> None:
        self._given = {name: value for name, value in locals().items() if name != "self"}
        self._constrained = robot if isinstance(robot, ConstrainedRobot) else None
        contacts = robot.ranked if isinstance(robot, ConstrainedRobot) else None
        robot = robot.robot if isinstance(robot, ConstrainedRobot) else robot
        if not isinstance(robot, Robot):
            raise InputError(f"rollouts takes a robot, got {type(robot).__name__}; dynamis.load gives one")
        if self._constrained is not None:
            cure = "with motors at some, simulate one by one with dynamis.constrained(robot).simulate(…, actuated=[…])"
            warn_of_passive_joints(self._constrained, controller, cure, stacklevel=3)
        if contacts is None:
            warn_of_open_loops(robot, "this motion", closed="dynamis.constrained(robot).simulate(…)")
        if not isinstance(every, int | np.integer) or every < 1:
            raise InputError(f"every= must be a number of steps, an integer of at least 1, got {every!r}")
        if not all(isinstance(x, int | float | np.number) and 0 < x < np.inf for x in (t, step)):
            raise InputError(f"time and step must be positive numbers, got t={t!r} and step={step!r}")
        if disturbance is not None and not isinstance(disturbance, Noise):
            raise InputError(f"disturbance= must be a Noise, got {type(disturbance).__name__}")
        for name, value in (("parameters", parameters), ("wrenches", wrenches), ("inputs", inputs)):
            if value is not None:
                _check_mapping(name, value)
        for name, size in (inputs or {}).items():
            if not isinstance(size, int | np.integer) or size < 1:
                raise InputError(f"inputs= of a prepared simulation maps names to lengths, got {name!r}: {size!r}")
        check_step_length(float(step), 0.0, float(t))
        self.robot, self.t, self.disturbance = robot, float(t), disturbance
        self.steps = max(1, int(np.ceil(t / step - 1e-9)))
        self.every = min(int(every), self.steps)
        self._shortened = ""
        if self.steps * step > t * (1.0 + 1e-6):
            self._shortened = f"the step is {t / self.steps:.6g} s instead of {step:g} s: {t:g} s are no whole number of steps"
            if isinstance(controller, Sampled):
                raise InputError(f"{self._shortened}; choose t or step so, as a sampled controller has a period of whole steps")
        self._laws = laws_of(robot.model, friction)
        if method is None:
            sticking = any(isinstance(x, StickingLaw) for x in self._laws.values())
            inner = any(isinstance(x, BristleLaw) for x in self._laws.values()) or any(
                x.size for x in actuators_of(robot, actuators)[1].values()
            )
            method = "time_stepping" if sticking or (contacts_in(wrenches) and not inner) else "rk4"
        self.method = method
        self._loop = ClosedLoop(
            robot, method, controller=controller, parameters=parameters, friction=friction, actuators=actuators,
            wrenches=wrenches, stops=stops, noise=disturbance is not None, step=self.t / self.steps, inputs=inputs,
            contacts=contacts,
        )  # fmt: skip
        self._kernels: dict[bool, tuple[Kernel, str]] = {}
        self._warned = self._steps_checked = False
        self.stacklevel = 2  # of warnings

    def __reduce__(self) -> Any:
        return partial(BatchSimulation, **self._given), ()  # compiled code is made again

    def __repr__(self) -> str:
        by = f"{self.method}, step {self.t / self.steps:g} s"
        return short(f"<BatchSimulation of {printable(self.robot.name)}: {self.t:g} s by {by}>")

    def __call__(
        self, q0: Any, v0: Any = None, *, parameters: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None, first: int = 0, progress: Progress | None = None,
    ) -> Rollouts:  # fmt: skip
        """Simulate from these states; ``parameters`` replace some of those given before, ``inputs`` are the tables."""
        robot, loop = self.robot, self._loop
        for name, value in (("parameters", parameters), ("inputs", inputs)):
            if value is not None:
                _check_mapping(name, value)
        if parameters:
            loop = loop.with_values(parameters)
        if not isinstance(first, int | np.integer) or first < 0:
            raise InputError(f"first= is the number of the first motion, an integer from 0 on, got {first!r}")
        if progress is not None and not callable(progress):
            raise InputError(f"progress= must be a function of the share that is done, such as print, got {progress!r}")
        xp, y = _starts(loop, q0, np.zeros(robot.n) if v0 is None else v0)
        if xp is np and y.size and not robot.model.symbolic:
            robot.inputs.warn_degrees(y.reshape(-1, y.shape[-1])[0, : robot.nq], stacklevel=self.stacklevel + 1)
            if self._constrained is not None:
                _check_constraints(self._constrained, y[..., : robot.nq], y[..., robot.nq : robot.nq + robot.n])
        loop.check_vectors(y.shape[:-1])
        h, table = self.t / self.steps, loop.table(xp, inputs or {}, self.steps)
        marching = BatchMarch(loop, xp, y, h, self.steps, self.every, self.disturbance, first, progress, table)
        # on a GPU a loop around one stage is quicker; quaternions are brought back to length one after whole steps
        stages = RK4 if xp is not np and self.method == "rk4" and robot.nq == robot.n and loop.samples is None else None
        kernel, note = self._kernel(stages is not None)
        states = marching.called() if note else marching.compiled(kernel, stages)
        if note and not self._warned:
            self._warned = True
            warnings.warn(note, PerformanceWarning, stacklevel=self.stacklevel)
        self._check_start(states)
        if not self._steps_checked and (too_long := marching.too_long_steps(None if note else kernel, states)):
            warnings.warn(too_long, ModelWarning, stacklevel=self.stacklevel)
        self._steps_checked = True
        cause = "" if note else marching.undefined(kernel, states)
        _clear_diverged(states, robot.nq, robot.n)
        nq, n, times = robot.nq, robot.n, np.append(np.arange(0, self.steps, self.every), self.steps) * h
        times[-1] = self.t
        q, v, inside = states[..., :nq], states[..., nq : nq + n], states[..., nq + n : nq + n + loop.states]
        left, friction = states[-1, ..., -1] if loop.watching else None, in_words(self._laws, robot.coordinate_names)
        notes = "; ".join(text for text in (note, self._shortened) if text)
        return Rollouts(times, q, v, h, self.method, inside, notes, left, friction, robot.model, cause)

    def _check_start(self, states: Any) -> None:
        """Raise if the first motion failed because the mass matrix is singular where it started."""
        if not states.shape[-1]:
            return
        first = on_host(states.reshape(len(states), -1, states.shape[-1])[:, :1])
        if first.size and not self.robot.model.symbolic and not np.isfinite(first[1]).all():
            start = first[0, 0, : self.robot.nq].astype(float)
            if massless_motion(self.robot.model, start) is not None:
                raise singular_mass_error(self.robot.model, start)

    def _kernel(self, stage: bool) -> tuple[Kernel, str]:
        """The compiled step and, if the controller has to be called from Python instead, the reason."""
        if stage not in self._kernels:
            kernel = self._loop.kernel(stage=stage)
            self._kernels[stage] = kernel, self._loop.untraceable_reason(kernel)
        return self._kernels[stage]


def _check_mapping(name: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise InputError(f"{name}= must be a mapping of names to values, got {type(value).__name__}")


def _check_constraints(robot: ConstrainedRobot, q: Array, v: Array) -> None:
    """Raise where loops are open at q (…, nq), or v (…, n) moves contacts or opens loops."""
    h = np.zeros(0)
    if robot.closures:
        h, first = evaluate(robot.robot, robot.closures, q, v).h, q.reshape(-1, q.shape[-1])[0].astype(float)
        if (rank := overconstrained_rank(robot.robot, held_at(robot.robot, robot.contacts, first), first)) != robot.ranked.rank:
            raise InputError(
                f"the rows have rank {rank or 'as with the loops open'} at q0, unlike at home(), for which the motion is "
                "compiled: simulate such motions one by one with dynamis.constrained(robot).simulate(…)"
            )
    refuse_open(robot.labels, h, (robot.jacobian(q) @ v[..., None])[..., 0] if v.any() else np.zeros(0), v)


def _starts(loop: ClosedLoop, q0: Any, v0: Any) -> tuple[Any, Any]:
    """(NumPy or CuPy, y): initial positions, velocities and internal states, with broadcast leading axes."""
    robot = loop.robot
    if hasattr(q0, "__cuda_array_interface__"):
        import cupy

        xp, q, v = cupy, q0, cupy.asarray(v0)
        v = v.astype(q.dtype) if v.ndim == 1 and q.dtype == np.float32 else v
        for name, array, size in (("q0", q, robot.nq), ("v0", v, robot.n)):
            if array.shape[-1:] != (size,):
                raise InputError(f"{name} has shape {array.shape}; its last axis must have length {size}")
    else:
        xp, inputs = np, robot.inputs
        q, v = inputs.vector(q0, robot.nq, "q0"), inputs.vector(v0, robot.n, "v0")
        if q.dtype == np.float32 and np.ndim(v0) == 1 and not np.any(v):
            v = v.astype(np.float32)  # at rest, in whatever precision
    if object in (q.dtype, v.dtype):
        raise InputError("q0 and v0 must be numbers; give values of the robot's symbols in parameters=")
    dtype = np.float32 if q.dtype == v.dtype == np.float32 else np.float64
    batch = broadcast_batch({"q0": q, "v0": v})
    q, v = (xp.broadcast_to(x.astype(dtype), (*batch, x.shape[-1])) for x in (q, v))
    y = xp.zeros((*batch, loop.length), dtype)
    y[..., : robot.nq], y[..., robot.nq : robot.nq + robot.n] = q, v
    if loop.states:
        y[..., robot.nq + robot.n : robot.nq + robot.n + loop.states] = xp.asarray(loop.start_inside(on_host(q), on_host(v)))
    if loop.samples is not None and (inside := loop.samples.inside):
        y[..., loop.length - loop.watching - inside :][..., :inside] = xp.asarray(loop.start_sampled(on_host(q), on_host(v)))
    return xp, y


def _clear_diverged(states: Any, nq: int, n: int) -> None:
    """Set a motion to nan from the first output time at which a position or velocity is beyond all bounds.

    ``states`` (T, …, N) begin with q and v. Where nothing diverged, two reductions of each find it without temporary arrays.
    """
    parts = ((states[1:, ..., :nq], DIVERGED_POSITION), (states[1:, ..., nq : nq + n], DIVERGED_VELOCITY))
    if all(not x.size or (x.max() < bound and x.min() > -bound) for x, bound in parts):
        return
    xp = array_module(states)
    beyond = sum((~(xp.abs(x) < bound)).any(axis=-1) for x, bound in parts)
    states[1:][xp.cumsum(beyond, axis=0) > 0] = np.nan
