"""One motion with fixed steps: fully compiled if it contains no user function, else step by step."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from dynamis.compiler.kernel import Kernel
from dynamis.compiler.time_stepper import march
from dynamis.errors import InputError, SingularError
from dynamis.robot import Robot
from dynamis.scalar import maximum
from dynamis.simulation.contact import Contact, ContactGroup, contacts_in
from dynamis.simulation.contact_terms import ContactTerms
from dynamis.simulation.controllers import Law
from dynamis.simulation.events import EventRecord
from dynamis.simulation.fixed_step import Flow, take_step
from dynamis.simulation.motion import DIVERGED_VELOCITY, LIFTS_OFF, EquationsOfMotion
from dynamis.simulation.resume import names_inside
from dynamis.simulation.sampling import Held, Stepwise, instants
from dynamis.simulation.sources import DivergedError, EndOfMotionError, SourceError
from dynamis.simulation.stepping import Clock
from dynamis.simulation.trajectory import FinalState, Trajectory
from dynamis.simulation.velocity_balance import imbalance_of, ledger_length, new_ledger
from dynamis.tolerances import SOLUTION_TOLERANCE

Array = npt.NDArray[Any]
STEPS_PER_CALL = (16, 10_000)  # compiled steps between two checks of the time limit: at first, and at most
MAX_SECONDS_PER_CALL = 0.02  # between two checks of the time limit
DIVERGENT_VELOCITY = 1e6  # rad/s or m/s: a failure at a higher velocity is due to the motion, not to the configuration


@dataclass(frozen=True)
class Pushes:
    """The applied torques and wrenches as given: numbers, functions of the package, or user functions."""

    torque: Any = None
    controller: Law = field(default_factory=Law)
    stops: Any = None
    wrenches: Mapping[str, Any] = field(default_factory=dict)
    disturbance: Any = None

    @property
    def compilable(self) -> bool:
        """Whether there are only numbers and functions of the package. A user function may have side effects.

        A sampled controller is called between steps, not within them; torques and disturbances are constant between samples.
        """
        law, others = self.controller, (self.stops, *self.wrenches.values())
        called = law.sampled is None and (law.torque is not None or law.states is not None)
        return (
            (law.traceable or not called)
            and all(not callable(x) or getattr(x, "traceable", False) for x in others)
            and not callable(self.torque)
            and not callable(self.disturbance)
        )


@dataclass(frozen=True)
class TracedMotion:
    """A motion with sampled and constant torques, constant wrenches and disturbances as inputs of a compiled function.

    So are the positions at which closures hold frames.
    """

    motion: EquationsOfMotion
    pushes: Pushes

    @property
    def control(self) -> Callable[..., Any] | None:
        return None if self.pushes.controller.sampled is not None else self.pushes.controller.torque

    @property
    def functions(self) -> dict[str, Any]:
        return {frame: w for frame, w in self.pushes.wrenches.items() if callable(w)}

    @property
    def sizes(self) -> dict[str, Any]:
        """The lengths of the inputs ``w`` and ``d``; that of ``tau`` is the number of degrees of freedom."""
        return {"w": max(1, 6 * len(self.pushes.wrenches) + self._held), "d": self.motion.robot.n}

    @property
    def _held(self) -> int:
        """The number of constants of closures, which follow the wrenches."""
        return 0 if self.motion.constants is None else len(self.motion.constants)

    def kernel(self, name: str, make: Callable[[], Kernel]) -> Kernel:
        """The kernel of this name, cached with the robot unless it contains a user law, which may change."""
        motion, pushes = self.motion, self.pushes
        if self.control is not None or pushes.controller.states is not None:
            return make()
        pushed = ((frame, self.functions.get(frame)) for frame in pushes.wrenches)
        key: Any = (
            name, *motion.laws.items(), *motion.actuators.items(), *pushed, pushes.stops, motion.disturbance is None,
            None if motion.contacts is None else motion.contacts.form, motion.projecting,
        )  # fmt: skip
        return motion.robot.evaluator.cached_kernel(key, make)

    def on(self, robot: Robot, tau: Array, w: Array, d: Array) -> EquationsOfMotion:
        """The equations of motion of the robot being traced."""
        motion, control, stops, functions = self.motion, self.control, self.pushes.stops, self.functions

        def command(now: Any, q: Array, v: Array) -> Array:
            total = tau if control is None else tau + np.asarray(control(robot, now, q.copy(), v.copy()))
            return total if stops is None else total + np.asarray(stops(now, q.copy(), v.copy()))

        rows = {frame: w[6 * k : 6 * k + 6] for k, frame in enumerate(self.pushes.wrenches)}
        wrenches = {frame: functions.get(frame, lambda _t, _q, _v, w=w: w) for frame, w in rows.items()}
        disturbance = None if motion.disturbance is None else lambda _t, _q, _v: d
        commanded = self.pushes.controller.command(robot, command, checked=False)
        held = w[len(w) - self._held :] if self._held else None
        return EquationsOfMotion(robot, motion.laws, commanded, wrenches, motion.actuators, disturbance,
                                 contacts=motion.contacts, constants=held)  # fmt: skip

    def inputs(self, t: float, y: Array, held: Held | None) -> tuple[Array, Array, Array]:
        """(tau, w, d) up to the next instant at which one of them changes."""
        tau, wrenches, d = self._constants
        if self.motion.disturbance is not None:
            q, v, _ = self.motion.split(y)
            d = self.motion.disturbance(t, q, v)
        return tau if held is None else tau + held(t), wrenches, d

    @cached_property
    def _constants(self) -> tuple[Array, Array, Array]:
        """Constant torques and wrenches, and no disturbance."""
        none = np.zeros(self.motion.robot.n)
        tau = none if self.pushes.torque is None else np.asarray(self.pushes.torque, dtype=float)
        constants = [np.zeros(6) if callable(w) else np.asarray(w, dtype=float) for w in self.pushes.wrenches.values()]
        if self._held and self.motion.constants is not None:
            constants.append(self.motion.constants)
        return tau, np.concatenate(constants) if constants else np.zeros(1), none


def step_kernel(traced: TracedMotion, method: str) -> Kernel:
    """(y, t, h, τ, wrenches, disturbance) → y' over one step, with constant torques and wrenches as inputs.

    y is q, v, the states of friction and drives, the work done, the ledger of the velocity balance, and the largest residual of
    the iteration within the rule.
    """

    def step(robot: Robot, y: Array, t: Array, h: Array, tau: Array, w: Array, d: Array) -> Array:
        flow, state, ledger = Flow(traced.on(robot, tau, w, d)), y[:size], y[size:-1]
        new = take_step(flow, method, t[0], state, h[0])
        if traced.motion.projecting:
            new = flow.motion.projected(new)
        return np.concatenate([new, flow.with_step(ledger, state, h[0]), [maximum(y[-1], flow.last_change)]])

    robot = traced.motion.robot
    size = robot.nq + robot.n + traced.motion.states + 1
    length = size + ledger_length(robot.n) + 1
    return traced.kernel(f"step {method}", lambda: robot.compile(step, y=length, t=1, h=1, **traced.sizes))


def march_one(
    motion: EquationsOfMotion, pushes: Pushes, times: Array, y0: Array, *, method: str, step: float,
    progress: Callable[[float], None] | None, jumps: Sequence[Stepwise] = (), held: Held | None = None,
    clock: Clock | None = None,
) -> tuple[Trajectory, Array]:  # fmt: skip
    """Equal steps of at most ``step`` between output times and torque jumps, and the imbalance (n) of the velocities."""
    tick = _no_limit if clock is None else partial(_in_time, clock)
    stepper: _Compiled | _Called
    if pushes.compilable and method not in motion.rules:
        stepper = _Compiled(motion, pushes, method, held, tick)
    elif method == "time_stepping" and method not in motion.rules and not motion.command.size:
        stepper = _CompiledBetweenCalls(motion, pushes, method, tick)
    else:
        stepper = _Called(motion, method, tick)
    stepper.ledger = new_ledger(motion.split(y0)[1])
    contacts = contacts_in(pushes.wrenches) if pushes.compilable else []
    called = {frame: source for frame, source in motion.wrenches.items() if frame not in {one.frame for one in contacts}}
    y, rows, status, steps, watcher = y0, [y0], "completed", 0, motion.watched(None)
    events: list[EventRecord] = []
    # what was sampled at the start acts there already
    pushed = [_pushes(motion, called, jumps, float(times[0]), y)]
    try:
        for start, end in pairwise(map(float, times)):
            for a, b in pairwise(instants(jumps, start, end) if jumps else (start, end)):
                count = max(1, int(np.ceil((b - a) / step - 1e-9)))
                for source in jumps:
                    source.reach(a, *motion.split(y)[:2])
                    source.inside = 0.5 * (a + b)  # no stage of a step may see the value that comes after it
                y = stepper(a, y, count, (b - a) / count)
                steps += count
            pushed.append(_pushes(motion, called, jumps, end, y))
            rows.append(y)
            if watcher is not None:
                watcher.jumped(end, y)
            if (lifted := motion.pulling(end, y)) is not None:
                status = f"stopped at t = {end:.6g} s: {lifted} {LIFTS_OFF} (stopping event)"
                events.append(EventRecord(end, LIFTS_OFF, lifted))
                break
            if progress is not None:
                progress((end - times[0]) / (times[-1] - times[0]))
    except SourceError as failed:
        if len(rows) == 1 and not steps and not isinstance(failed, TooSlowError | DivergedError | EndOfMotionError):
            raise
        status = f"stopped: {failed}"
    except KeyboardInterrupt:
        status = f"interrupted at t = {times[len(rows) - 1]:.6g} s"
    pushed = pushed[: len(rows)]
    states, reached = np.array(rows), float(times[len(rows) - 1])
    tau, friction = (np.array([p[k] for p in pushed]) for k in (0, 1))
    wrenches = {frame: np.array([p[2][frame] for p in pushed]) for frame in called}
    q, v, z = (np.array(part) for part in zip(*map(motion.split, states), strict=True))
    wrenches |= _contact_wrenches(TracedMotion(motion, pushes), contacts, q, v)
    if motion.sticking:
        friction = friction + motion.dry_friction(q, v, tau - friction, wrenches or None)
    samples = None if held is None else held.samples(reached)
    made = Trajectory(
        motion.robot, times[: len(rows)], q, v, tau, friction, states[:, -1].copy(), wrenches,
        tuple(events if watcher is None else [*watcher.records(), *events]), status,
        statistics={"method": method, "steps": steps, "compiled": isinstance(stepper, _Compiled)},
        actuator_states=motion.inside(z),
        final_state=FinalState(reached, states[-1], names_inside(motion), planned=times, samples=samples),
    )  # fmt: skip
    return made, imbalance_of(stepper.ledger)


class _Compiled:
    """Steps of one compiled function."""

    ledger: Array  # of the velocity balance

    def __init__(
        self, motion: EquationsOfMotion, pushes: Pushes, method: str, held: Held | None, tick: Callable[[], None]
    ) -> None:
        self.motion, self.method, self.held, self.tick = motion, method, held, tick
        self.traced, self.chunk = TracedMotion(motion, pushes), STEPS_PER_CALL[0]
        self.kernel = step_kernel(self.traced, method)

    def __call__(self, t: float, y: Array, count: int, h: float) -> Array:
        given, new, k = self.traced.inputs(t, y, self.held), self.whole(y), 0
        while k < count:
            self.tick()
            some, start, began = min(self.chunk, count - k), new, time.perf_counter()
            new = march(self.kernel, start, given, t=t, h=h, first=k, reports=1, every=some)[0]
            v = self.motion.split(new)[1]
            if not np.isfinite(new).all() or np.abs(v).max(initial=0.0) >= DIVERGED_VELOCITY:
                self._find_divergence(start, given, t, h, range(k, k + some))
            k += some
            if some == self.chunk and 2.0 * (time.perf_counter() - began) < MAX_SECONDS_PER_CALL:
                self.chunk = min(2 * self.chunk, STEPS_PER_CALL[1])
        self.ledger = new[len(y) : -1]
        _check_settled(self.method, t, new[: len(y)], float(new[-1]))
        return _accepted(self.motion, t + count * h, new[: len(y)])

    def whole(self, y: Array) -> Array:
        """The state of the compiled step: y, the ledger, and the residual of an iteration."""
        return np.concatenate([y, self.ledger, [0.0]])

    def _find_divergence(self, y: Array, given: Sequence[Array], t: float, h: float, steps: range) -> NoReturn:
        """Take the same steps one by one, to name the joint and the time at which it went wrong."""
        for k in steps:
            y = march(self.kernel, y, given, t=t, h=h, first=k, reports=1)[0]
            self.motion.check_bounds(t + (k + 1) * h, self.motion.split(y)[1])
        raise SourceError(f"the state of a drive or controller diverged before t = {t + steps.stop * h:.6g} s")


class _CompiledBetweenCalls(_Compiled):
    """Compiled steps with a controller that is a user function, called once at the beginning of each step.

    Wrenches that are user functions are called likewise; contacts and stops of the package are part of the compiled step.
    """

    def __init__(self, motion: EquationsOfMotion, pushes: Pushes, method: str, tick: Callable[[], None]) -> None:
        self.stops = pushes.stops if getattr(pushes.stops, "traceable", False) else None
        ours = {frame: w for frame, w in pushes.wrenches.items() if getattr(w, "traceable", False)}
        plain = {frame: ours.get(frame, np.zeros(6)) for frame in pushes.wrenches}
        super().__init__(motion, Pushes(stops=self.stops, wrenches=plain), method, None, tick)
        self.called = [(k, frame) for k, frame in enumerate(pushes.wrenches) if frame not in ours]

    def __call__(self, t: float, y: Array, count: int, h: float) -> Array:
        function, motion = self.kernel.compiled("double").gufunc.function, self.motion
        size, y = len(y), self.whole(y)
        wrenches, length = np.zeros(self.traced.sizes["w"]), np.array([h])
        for k in range(count):
            self.tick()
            now = t + k * h
            q, v, _ = motion.split(y)
            tau = motion.command.torque(now, q, v, y[:0])
            if self.stops is not None:
                tau = tau - np.asarray(self.stops(now, q, v))
            for place, frame in self.called:
                wrenches[6 * place : 6 * place + 6] = motion.wrenches[frame](now, q, v)
            disturbance = np.zeros(len(v)) if motion.disturbance is None else motion.disturbance(now, q, v)
            with np.errstate(all="ignore"):
                y = function(y, np.array([now]), length, tau, wrenches, disturbance)
            motion.check_bounds(now + h, motion.split(y)[1])
        self.ledger = y[size:-1]
        return np.asarray(y[:size])


class _Called:
    """Steps in Python, with user functions."""

    ledger: Array

    def __init__(self, motion: EquationsOfMotion, method: str, tick: Callable[[], None]) -> None:
        self.motion, self.method, self.flow, self.tick = motion, method, Flow(motion), tick
        self.take = motion.rules.get(method) or partial(take_step, self.flow, method)

    def __call__(self, t: float, y: Array, count: int, h: float) -> Array:
        for k in range(count):
            self.tick()
            before = y
            try:
                y = self.take(t + k * h, y, h)
            except (SingularError, InputError, OverflowError, FloatingPointError) as error:
                raise SourceError(self._failure_reason(t + k * h, y, error)) from error
            _check_settled(self.method, t + k * h, y, self.flow.last_change)
            self.motion.check_bounds(t + (k + 1) * h, self.motion.split(y)[1])
            self.ledger = self.flow.with_step(self.ledger, before, h)
            y = _accepted(self.motion, t + (k + 1) * h, y)
        return y

    def _failure_reason(self, t: float, y: Array, error: Exception) -> str:
        """The reason for a failed step: divergence, or equations without solution at a moderate state."""
        v = self.motion.split(y)[1]
        k = int(np.argmax(np.abs(v)))
        if not abs(v[k]) < DIVERGENT_VELOCITY:
            name = self.motion.robot.coordinate_names[k]
            return f"the velocity of {name} diverges ({v[k]:.3g}) at t = {t:.6g} s: use a shorter step or lower gains"
        return f"{error} (at t = {t:.6g} s)"


class TooSlowError(SourceError):
    """The limit of computing time is exceeded."""


def _accepted(motion: EquationsOfMotion, t: float, y: Array) -> Array:
    changed = motion.accepted(t, y)
    return y if changed is None else changed


def _no_limit() -> None:
    pass


def _in_time(clock: Clock) -> None:
    if clock.over:
        raise TooSlowError(f"took more than {clock.seconds:g} s: use a longer step, or increase seconds=")


def _check_settled(method: str, t: float, y: Array, left: float) -> None:
    if left > SOLUTION_TOLERANCE * max(1.0, float(np.abs(y).max(initial=0.0))):
        raise SourceError(f"the iteration of the {method} rule did not converge at t = {t:.6g} s: use a shorter step")


def _pushes(
    motion: EquationsOfMotion, wrenches: Mapping[str, Any], jumps: Sequence[Stepwise], t: float, y: Array
) -> tuple[Array, Array, dict[str, Array]]:
    """The torques and these wrenches at a time, to be recorded; at a jump, those after it."""
    q, v, z = motion.split(y)
    for source in jumps:
        source.inside = None
        source.reach(t, q, v)
    return motion.torque(t, q, v, z), motion.smooth_friction(v, z), {frame: push(t, q, v) for frame, push in wrenches.items()}


def _contact_wrenches(traced: TracedMotion, contacts: Sequence[Contact | ContactGroup], q: Array, v: Array) -> dict[str, Array]:
    """The wrenches (N, 6) of contacts by frame, at all recorded states (N, …) by one compiled function."""
    if not contacts:
        return {}

    def wrenches(robot: Robot, q: Array, v: Array) -> Array:
        return ContactTerms(robot.model, q, contacts).wrenches(v)

    found = traced.kernel("contact wrenches", lambda: traced.motion.robot.compile(wrenches))(q, v)
    return {one.frame: found[:, k] for k, one in enumerate(contacts)}
