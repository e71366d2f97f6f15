"""The closed loop of robot, drives, controller, wrenches, stops and disturbances as one integration step to be compiled."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.kernel import Kernel
from dynamis.compiler.time_stepper import Table
from dynamis.display import counted
from dynamis.errors import DynamisError, InputError, SingularError, unknown_name
from dynamis.model.body_values import BodyValues
from dynamis.model.massless import always_massless
from dynamis.robot import Robot
from dynamis.scalar import HiddenStateError, Node, maximum, symbol
from dynamis.simulation.actuators import Actuator, actuators_of, warn_of_voltages
from dynamis.simulation.contact import Contact, ContactGroup
from dynamis.simulation.contact_equations import Contacts
from dynamis.simulation.controllers import UPDATE, Controller, as_law, first_states, recorded, sized, taken
from dynamis.simulation.fixed_step import RULES, Flow, take_step
from dynamis.simulation.friction import StickingLaw, laws_of
from dynamis.simulation.given_values import Given, array_of
from dynamis.simulation.hard_stops import COMPLIANT, hard_stops
from dynamis.simulation.motion import DIVERGED_POSITION, DIVERGED_VELOCITY, EquationsOfMotion
from dynamis.simulation.sampled_steps import SampledSteps
from dynamis.simulation.sampling import Sampled
from dynamis.simulation.sources import Command, DivergedError, Source, at_state, plain_wrenches, wanted_arguments

Array = npt.NDArray[Any]
EXPLICIT = ("rk4", "euler")
CONTROLLER = "the controller"


class UndefinedError(InputError):
    """A function of the user returned what is no number."""


class ClosedLoop:
    """The closed loop of robot, drives, controller, wrenches, stops and disturbances, compiled as a step for a batch of states.

    ``numbers`` are the batched values: parameters of the robot, arguments of the controller, constant wrenches. ``inputs``
    are the lengths of the controller's arguments that change from step to step.
    """

    def __init__(
        self, robot: Robot, method: str, *, controller: Callable[..., Any] | Sampled | Controller | None = None,
        parameters: Mapping[str, Any] | None = None, friction: Any = "model",
        actuators: Mapping[str, Actuator] | None = None, wrenches: Mapping[str, Any] | None = None, stops: Any = None,
        noise: bool = False, step: float = 1e-3, inputs: Mapping[str, int] | None = None, contacts: Contacts | None = None,
    ) -> None:  # fmt: skip
        parameters, wrenches, self.inputs = dict(parameters or {}), dict(wrenches or {}), dict(inputs or {})
        if not isinstance(method, str) or method not in RULES:
            raise unknown_name("fixed-step method", method, RULES)
        if hard_stops(robot, stops) is not None:
            raise InputError(f"rollouts do not locate impacts, so that stops= cannot be HardStops: {COMPLIANT}")
        if contacts is not None and method not in EXPLICIT:
            raise InputError(
                f"method={method!r}: with rigid contacts the method must be 'rk4' or 'euler', and joints do not stick: "
                "give friction='smooth' or 'none'"
            )
        self.contacts, self.watching = contacts, method == "midpoint"
        laws = laws_of(robot.model, friction)
        sticking = any(isinstance(law, StickingLaw) for law in laws.values())
        if sticking and method != "time_stepping":
            raise InputError(f"with method={method!r} no joint sticks: use method='time_stepping', friction='smooth' or 'none'")
        self.robot, drives = actuators_of(robot, actuators)
        self.law = as_law(controller, (*parameters, *self.inputs))
        warn_of_voltages(controller, self.robot, drives, stacklevel=4)
        sampled = self.law.sampled
        inside = 0 if self.law.digital is None else self.law.digital.size
        self.samples = None if sampled is None else SampledSteps(sampled, robot.nq, robot.n, step, inside)
        self.method, self.laws, self.drives, self.stops = method, laws, drives, stops
        self.wrenches = {frame: _of_state(w, f"wrench on {frame}") for frame, w in plain_wrenches(robot, wrenches).items()}
        plain = EquationsOfMotion(self.robot, laws, self.command(self.robot, lambda _t, _q, v: v, {}), {}, drives)
        self.states = plain.states
        if method == "euler" and self.states:
            raise InputError("method='euler' does not support friction or drives with internal states: use method='rk4'")
        self.start_inside = plain.start_inside
        names = self.law.extra
        self.extra = {name: Given.of(parameters[name], name) for name in names if name in parameters}
        if missing := [name for name in names if name not in self.extra and name not in self.inputs]:
            raise InputError(
                f"the controller requires {missing[0]!r}: give it with parameters={{{missing[0]!r}: …}}, or with inputs= if it "
                "changes in time"
            )
        for name in self.inputs:
            if name not in names or name in parameters:
                raise InputError(
                    f"the input {name!r} is {'a parameter too' if name in parameters else 'no argument of the controller'}"
                )
        self.of_robot = {name: Given.of(values, name) for name, values in parameters.items() if name not in names}
        self.symbolic = robot.model.symbolic or any(isinstance(x, Node) for d in drives.values() for x in d.numbers.values())
        if self.of_robot and not self.symbolic and self.law.is_empty:
            raise unknown_name("parameter of robot or controller", next(iter(self.of_robot)), names)
        self.bodies = BodyValues(robot.description, [symbol(name) for name in self.of_robot])
        self._check_bodies()
        fixed = {f"wrench on {frame}": w for frame, w in self.wrenches.items() if not callable(w)}
        self.numbers = {**self.extra, **{name: Given.of(w, name, 6) for name, w in fixed.items()}}
        if noise:
            self.numbers["disturbance"] = Given(np.zeros(robot.n), False)

    def control(self, robot: Robot, given: Mapping[str, Any], t: Any, q: Array, v: Array) -> Array:
        """The torques commanded by the controller."""
        assert self.law.torque is not None
        extra, torque = self.further(given), recorded(self.law.torque, self.law.traceable)

        def call(t: Any, q: Array, v: Array) -> Any:
            return torque(robot, t, q, v, **extra)

        return _called(call, robot.n, CONTROLLER, t, q, v)

    def sampled(self, robot: Robot, given: Mapping[str, Any], t: Any, q: Array, v: Array, x: Array) -> tuple[Array, Array]:
        """The torques commanded at a sample, and the states of the controller at the next one."""
        law = self.law.digital
        if law is None:
            return self.control(robot, given, t, q, v), x
        assert self.law.sampled is not None
        torque, update = (recorded(function, self.law.traceable) for function in (law, law.update))
        period = 1.0 / self.law.sampled.rate
        more, later = (taken(function, self.further(given)) for function in (law, law.update))
        tau = _called(lambda t, q, v: torque(robot, t, q, v, x.copy(), **more), robot.n, CONTROLLER, t, q, v)
        following = _called(lambda t, q, v: update(robot, t, q, v, x.copy(), period, **later), law.size, UPDATE, t, q, v)
        return tau, following

    def start_sampled(self, q: Array, v: Array) -> Array:
        """(…, states) of the controller before the first sample."""
        law = self.law.digital
        return np.zeros((*v.shape[:-1], 0)) if law is None else first_states(law, self.robot, q, v)

    def motion(self, robot: Robot, given: Mapping[str, Any], held: Array | None = None) -> EquationsOfMotion:
        """The equations for one state; ``given`` has the values of ``numbers``, ``held`` the torques of a sampled law."""

        def command(t: Any, q: Array, v: Array) -> Array:
            tau = np.zeros(robot.n) if held is None else held
            if self.law.torque is not None and held is None:
                tau = self.control(robot, given, t, q, v)
            if self.stops is not None:
                tau = tau + _called(recorded(self.stops), robot.n, "stops=", t, q, v)
            return tau

        def push(frame: str, w: Any) -> Callable[..., Any]:
            if not callable(w):
                return _constant(given[f"wrench on {frame}"])
            if isinstance(w, Contact | ContactGroup):  # implicit in "time_stepping"
                return w
            return lambda t, q, v: _called(recorded(w), 6, f"the wrench on {frame}", t, q, v)

        wrenches = {frame: push(frame, w) for frame, w in self.wrenches.items()}
        disturbance = _constant(given["disturbance"]) if "disturbance" in given else None
        return EquationsOfMotion(robot, self.laws, self.command(robot, command, given), wrenches, self.drives, disturbance,
                                 contacts=self.contacts)  # fmt: skip

    def command(self, robot: Robot, others: Source, given: Mapping[str, Any]) -> Command:
        """Torques, to which those of a controller with states are added."""
        return self.law.command(robot, others, self.further(given), checked=False)

    def further(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the controller beyond the state."""
        return {name: given[name] for name in self.law.extra if name in given}

    def kernel(self, stage: bool = False) -> Kernel:
        """(y, t, h, the numbers, the parameters of the robot) → y' over one step, or ẏ for a stage of one, compiled."""

        def step(robot: Robot, y: Array, t: Array, h: Array, given: Array, inputs: Array) -> Array:
            values = {**self.parted(given), **self.inputs_of(inputs)}
            if stage:
                flow = Flow(self.motion(robot, values), work=False)
                return np.concatenate(flow.rates(t[0], *flow.split(y)))
            return self.step(robot, values, t[0], y, h[0])

        def without_inputs(robot: Robot, y: Array, t: Array, h: Array, given: Array) -> Array:
            return step(robot, y, t, h, given, np.zeros(0))

        width = sum(x.array.shape[-1] for x in self.numbers.values())
        sizes = {"y": self.length, "t": 1, "h": 1, "given": max(1, width)}
        parameters = [symbol(name) for name in self.of_robot]
        if not self.inputs:
            return self.robot.compile(without_inputs, parameters=parameters, **sizes)
        return self.robot.compile(step, parameters=parameters, **sizes, inputs=sum(self.inputs.values()))

    def untraceable_reason(self, kernel: Kernel) -> str:
        """Empty if the step can be traced; otherwise the reason for calling the controller from Python."""
        try:
            code = kernel.code
        except HiddenStateError:
            raise
        except Exception as error:
            if isinstance(error, SingularError) and always_massless(self.robot.model) is not None:
                raise  # by the equations of motion
            if isinstance(error, ValueError) and "broadcast" in str(error) and (vectors := self.flat_vectors()):
                shapes = ", ".join(f"{name!r} has shape ({size},)" for name, size in vectors.items())
                raise InputError(
                    f"the controller fails: {error}. {shapes}: one vector for all motions; for one number per motion the "
                    "shape must be (motions, 1)"
                ) from None
            missing = "has no value" in str(error)
            if self.of_robot and not self.symbolic and not missing:
                raise InputError(
                    f"the parameter {next(iter(self.of_robot))!r} is no argument of the controller, and symbols in it have "
                    f"values only where it can be compiled, but {error}"
                ) from error
            if self.law.is_empty or missing or self.symbolic:
                if missing:
                    raise InputError(f"{error}: parameters={{name: values}}") from None
                if isinstance(error, DynamisError):
                    raise
                sizes = ", ".join(f"{name!r} of shape {x.array.shape}" for name, x in self.extra.items() if not x.number)
                what = "a function among wrenches=, stops= or actuators=" if self.law.is_empty else "the controller"
                given = f"; its vectors are the last axes of {sizes}" if sizes else ""
                raise InputError(f"{what} fails: {type(error).__name__}: {error}{given}") from error
            reason = re.sub(r"\by\[(\d+)\]", lambda match: self._state_name(int(match[1])), str(error))
            return f"the controller cannot be compiled and is called from Python: {reason}"
        used = {x for i in code.instructions for x in i.args if isinstance(x, int)}
        for name, place in zip(self.of_robot, range(code.inputs - len(self.of_robot), code.inputs), strict=True):
            if place not in used:
                if not self.symbolic:
                    raise unknown_name("parameter of robot or controller", name, self.law.extra)
                robot = self.robot.name
                raise InputError(f"the parameter {name!r} is not a symbol in the equations of motion of robot {robot!r}")
        return ""

    def _state_name(self, k: int) -> str:
        """The name of y[k] in y = (q, v, …)."""
        nq, n = self.robot.nq, self.robot.n
        return f"q[{k}]" if k < nq else f"v[{k - nq}]" if k < nq + n else f"y[{k}]"

    def with_values(self, parameters: Mapping[str, Any]) -> ClosedLoop:
        """The same loop with other values of some parameters, of the same lengths: its kernels are the same."""
        other = copy.copy(self)
        other.extra, other.of_robot, other.numbers = dict(self.extra), dict(self.of_robot), dict(self.numbers)
        for name, value in parameters.items():
            place = other.extra if name in other.extra else other.of_robot
            if name not in place and name in self.robot.description.symbol_names():
                raise InputError(
                    f"the simulation was prepared without a value of the symbol {name!r}: name it there, "
                    f"BatchSimulation(…, parameters={{{name!r}: …}}); calls may replace the value"
                )
            if name not in place:
                raise unknown_name("parameter of robot or controller", name, [*other.extra, *other.of_robot])
            old, new = place[name], Given.of(value, name)
            if place is other.extra and (old.number != new.number or old.array.shape[-1:] != new.array.shape[-1:]):
                raise InputError(
                    f"parameter {name!r} must be {'a number' if old.number else f'an array (…, {old.array.shape[-1]})'}, as it "
                    f"was when the simulation was prepared; got shape {np.shape(value)}"
                )
            place[name] = new
            if name in other.numbers:
                other.numbers[name] = new
        other._check_bodies()
        return other

    def _check_bodies(self) -> None:
        self.bodies.check([x.array[0] if x.number else x.array for x in self.of_robot.values()])

    def inputs_of(self, row: Array) -> dict[str, Array]:
        """The inputs of one state, from the row that holds them all."""
        *places, _ = itertools.accumulate(self.inputs.values(), initial=0)
        return {name: row[place : place + size] for place, (name, size) in zip(places, self.inputs.items(), strict=True)}

    def table(self, xp: Any, inputs: Mapping[str, Any], steps: int) -> Table | None:
        """The inputs side by side (K, …, sizes), each row for an equal number of the steps."""
        if set(inputs) != set(self.inputs):
            wrong = sorted(set(inputs) ^ set(self.inputs))[0]
            known = ", ".join(self.inputs) or "none"
            raise InputError(f"the inputs are {known}; {wrong!r} is {'not one of them' if wrong in inputs else 'missing'}")
        if not self.inputs:
            return None
        arrays = {name: inputs[name] if xp is not np else array_of(inputs[name], f"input {name!r}") for name in self.inputs}
        for name, size in self.inputs.items():
            a = arrays[name]
            if a.ndim < 2 or a.shape[-1] != size or not len(a) or a.dtype.kind not in "biuf":
                raise InputError(f"input {name!r} must be an array of numbers (rows in time, …, {size}), got shape {a.shape}")
            if xp is np and not np.isfinite(a).all():
                raise InputError(f"input {name!r} must hold finite numbers")
        rows = {len(a) for a in arrays.values()}
        if len(rows) > 1 or steps % next(iter(rows)):
            raise InputError(
                f"inputs must have the same number of rows, and the {counted(steps, 'step')} must be a multiple of it; got "
                + ", ".join(f"{counted(len(a), 'row')} of {name!r}" for name, a in arrays.items())
            )
        rank = max(a.ndim for a in arrays.values())
        level = [a.reshape(len(a), *[1] * (rank - a.ndim), *a.shape[1:]) for a in arrays.values()]
        shape = np.broadcast_shapes(*(a.shape[:-1] for a in level))
        wide = [xp.broadcast_to(a, (*shape, a.shape[-1])) for a in level]
        return Table(xp.concatenate(wide, axis=-1) if len(wide) > 1 else wide[0], steps // len(level[0]))

    @property
    def length(self) -> int:
        """Length of a state: q, v, states of friction, drives and controller, samples, residual of an implicit rule."""
        sampled = 0 if self.samples is None else self.samples.size
        return self.robot.nq + self.robot.n + self.states + sampled + self.watching

    def step(self, robot: Robot, given: Mapping[str, Any], t: Any, y: Array, h: Any) -> Array:
        """One step from y. An implicit rule keeps the largest residual of its iteration."""
        nq, n = robot.nq, robot.n
        moving, after = y[: nq + n + self.states], y[nq + n + self.states :]
        held = None
        if self.samples is not None:
            kept, after = after[: self.samples.size], after[self.samples.size :]
            held, kept = self.samples.take(
                lambda q, v, x: self.sampled(robot, given, t, q, v, x), t / h, y[:nq], y[nq : nq + n], kept
            )
        flow = Flow(self.motion(robot, given, held), work=False)
        parts = [take_step(flow, self.method, t, moving, h)]
        if self.samples is not None:
            parts.append(kept)
        if self.watching:
            parts.append(np.array([maximum(after[0], flow.last_change)]))
        return np.concatenate(parts)

    def parted(self, row: Array) -> dict[str, Any]:
        """The values of ``numbers`` for one state from the row that holds them all."""
        parts, place = {}, 0
        for name, given in self.numbers.items():
            part = row[place : place + given.array.shape[-1]]
            parts[name] = part[0] if given.number else part
            place += len(part)
        return parts

    def batches(self) -> dict[str, Any]:
        """All values given per motion, by name; the leading axes are those of the batch."""
        parameters = {name: x.array if x.number else x.array[..., None] for name, x in self.of_robot.items()}
        return {**{name: x.array for name, x in self.numbers.items()}, **parameters}

    def flat_vectors(self) -> dict[str, int]:
        """{name: length} of the controller's arguments of shape (size,), each one vector for all motions."""
        return {name: len(x.array) for name, x in self.extra.items() if not x.number and x.array.ndim == 1 and len(x.array) > 1}

    def check_vectors(self, batch: tuple[int, ...]) -> None:
        """Refuse a vector for all motions that is as long as there are motions: it may be meant as one number per motion."""
        shapes = [batch, *(x.shape[:-1] for x in self.batches().values())]
        lengths = {shape[-1] for shape in shapes if shape}
        for name, size in self.flat_vectors().items():
            if size in lengths:
                raise InputError(
                    f"parameter {name!r} of the controller has shape ({size},), and there are "
                    f"{counted(size, 'motion')}: give shape "
                    f"({size}, 1) for one number per motion, or (1, {size}) for one vector of length {size} for all motions"
                )

    def rows(self, xp: Any, batch: tuple[int, ...], dtype: Any) -> tuple[Any, ...]:
        """The arrays that follow (y, t, h): the numbers side by side, and the parameters of the robot if there are any."""
        arrays = [x.array for x in self.numbers.values()]
        given = xp.zeros(1, dtype)
        if arrays:
            shape = np.broadcast_shapes(*(a.shape[:-1] for a in arrays), *([batch] if "disturbance" in self.numbers else []))
            wide = [xp.broadcast_to(xp.asarray(a, dtype), (*shape, a.shape[-1])) for a in arrays]
            given = xp.concatenate(wide, axis=-1)
        if not self.of_robot:
            return (given,)
        values = [xp.asarray(x.array, dtype)[0] if x.number else xp.asarray(x.array, dtype) for x in self.of_robot.values()]
        shape = np.broadcast_shapes(*(x.shape for x in values))
        return given, xp.stack([xp.broadcast_to(x, shape) for x in values], axis=-1)


def _called(function: Callable[..., Any], size: int, name: str, t: Any, q: Array, v: Array) -> Array:
    """What a function of the user returns; it is not called in a state beyond all bounds, of a motion that has diverged."""
    numeric = object not in (q.dtype, v.dtype)
    if numeric and not ((np.abs(q) < DIVERGED_POSITION).all() and (np.abs(v) < DIVERGED_VELOCITY).all()):
        raise DivergedError(f"the motion diverged {at_state(t, q, v)}")
    value = sized(function(t, q.copy(), v.copy()), size, name)  # copies: one that works in place must not reach the state
    if numeric and value.dtype != object and not np.isfinite(value).all():
        raise UndefinedError(f"{name} returned {value} {at_state(t, q, v)}")
    return value


def _of_state(given: Any, name: str) -> Any:
    """A function of t as a function of (t, q, v); anything else unchanged."""
    if not callable(given) or getattr(given, "traceable", False) or wanted_arguments(given, name) == 3:
        return given
    return lambda t, _q, _v: np.asarray(given(t))


def _constant(value: Any) -> Callable[..., Any]:
    return lambda _t, _q, _v: value
