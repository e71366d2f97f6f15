"""Control laws: controllers with stability conditions.

A law is called as ``law(robot, t, q, v)``, with states as ``law(robot, t, q, v, x)``; the robot passed is the model the law
computes with. `simulate` and `rollouts` pass the simulated robot. ``law.with_model(model)`` computes with another model,
whatever robot is passed, to study model errors.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.gains import largest_gravity
from dynamis.control.reference import Reference, check_length
from dynamis.control.sampled_loop import of_sampled_loop
from dynamis.control.stability import Stability, as_rules
from dynamis.display import counted, short
from dynamis.errors import InputError, printable
from dynamis.model.actuators import DCMotor
from dynamis.model.model import fingerprint
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric, open_loops, torque_limits
from dynamis.simulation.controllers import Controller

Array = npt.NDArray[Any]


WRONG_MODEL = "the theorem requires the exact model, but the law uses another: its conditions are rules of thumb"


def _complete(check: Callable[..., Stability]) -> Callable[..., Stability]:
    """The check of a law's theorem, for robots that the law can control, with what the theorem leaves out.

    It is a rule of thumb with another ``model``, unless it has an argument for it, and where actuators stand before the joints;
    at a sample rate the loop of the sampled law and its model decides.
    """
    for_any_model = "model" in inspect.signature(check).parameters

    @functools.wraps(check)
    def checked(
        self: ControlLaw, robot: Robot, *, rate: float | None = None, model: Robot | None = None, **options: Any
    ) -> Stability:
        check_numeric(robot)
        self.wanted(robot, 0.0)
        other = model is not None and not _same(model, robot)
        if other and for_any_model:
            options["model"] = model
        found = check(self, robot, rate=rate, **options)
        if other and not for_any_model and rate is None:
            found = as_rules(found, WRONG_MODEL)
        if rate is not None and not robot.actuators:
            acting = self.with_model(model) if other and model is not None else self
            found = of_sampled_loop(found, self, acting, robot, rate, options.get("q"))
        found = replace(found, notes=(*found.notes, *_remarks(self, robot)))
        if not robot.actuators:
            return found
        why = "the theorem is for torques at the joints: the actuators of"
        return as_rules(found, f"{why} {', '.join(map(printable, robot.actuators))} are not part of it; simulate the loop")

    return checked


def _same(model: Robot, robot: Robot) -> bool:
    check_same_joints(model, robot)
    return fingerprint(model.model) == fingerprint(robot.model)


def _remarks(law: ControlLaw, robot: Robot) -> Iterator[str]:
    """What the theorems leave out: loops of the file, effort limits below gravity, a goal outside the joint limits."""
    if loops := open_loops(robot):
        yield f"{loops} in these conditions: dynamis.constrained(robot) closes them"
    names, limits = robot.coordinate_names, torque_limits(robot)
    if np.isfinite(limits).any():
        weight = largest_gravity(robot)
        worst = int(np.argmax(weight / limits))
        if weight[worst] > limits[worst]:
            unit = robot.model.coordinates[worst].effort_unit
            yield (
                f"the effort limit of {printable(names[worst])}, {limits[worst]:.4g} {unit}, is below its torque of gravity, "
                f"up to {weight[worst]:.4g} {unit} (sampled configurations): there no law holds the robot"
            )
    if hasattr(law, "reference") and not hasattr(law, "task"):
        goal = law.wanted(robot, float(getattr(law.reference, "duration", None) or 0.0))[0]
        outside = [c for c, x in zip(robot.model.coordinates, goal, strict=True) if not c.allows(float(x))]
        if outside:
            of = ", ".join(f"{printable(c.name)} ({c.lower:.4g} … {c.upper:.4g})" for c in outside)
            yield f"the goal is outside the joint limits of {of}, which are not part of the theorem"


class ControlLaw(Controller):
    """A controller with stability conditions, that can be compiled and can compute with another model than the robot."""

    traceable, torques = True, True
    delegates = False  # whether its check is that of another law

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "check" in vars(cls) and not cls.delegates:
            cls.check = _complete(vars(cls)["check"])  # type: ignore[method-assign]

    def with_model(self, model: Robot) -> WithModel:
        """The same law with a fixed model, whichever robot is passed.

        >>> import dynamis as dy
        >>> plant = dy.load("planar_2r_melchiorri")
        >>> law = dy.control.PDGravity([0.0, 0.5], stiffness=4000.0, damping=900.0)
        >>> rough = law.with_model(plant.replace(payload=dy.solids.sphere(0.1, mass=5.0)))
        >>> bool((rough(plant, 0.0, plant.neutral(), [0.0, 0.0]) > law(plant, 0.0, plant.neutral(), [0.0, 0.0])).all())
        True
        """
        return WithModel(self, model)

    def with_motors(self, robot: Robot) -> ControlLaw:
        """The same law with the torques of joints with a `DCMotor` converted to voltages; itself for a robot without them.

        The conversion is `DCMotor.voltage`: resistance, back-EMF and efficiency, without the inductance.

        >>> import dynamis as dy
        >>> motor = dy.DCMotor(resistance=0.5, constant=0.1, ratio=100.0)
        >>> arm = dy.load("planar_2r_melchiorri").replace(actuators={"joint1": motor})
        >>> law = dy.control.PDGravity([0.0, 0.5], stiffness=4000.0, damping=900.0)
        >>> motion = dy.simulate(arm, 3.0, controller=law.with_motors(arm), method="rk4", step=1e-3, points=3)
        >>> bool(abs(motion.q[-1] - [0.0, 0.5]).max() < 1e-2)
        True
        """
        check_numeric(robot)
        motors = {k: x for k, x in enumerate(robot.model.actuators) if isinstance(x, DCMotor)}
        return WithMotors(self, motors) if motors else self

    def wanted(self, robot: Robot, t: Any) -> Any:  # noqa: ARG002 - laws without a reference fit any robot
        """The reference at a time; the law and its check refuse by it a robot that the law cannot control."""
        return None

    @_complete
    def check(self, robot: Robot, *, rate: float | None = None) -> Stability:  # noqa: ARG002 - most ask both
        """Check the stability conditions of this law on this robot; ``rate`` is the sampling rate in Hz.

        With ``model``, another robot, they are those of the law with this model.
        """
        return Stability(type(self).__name__, ())


class Wrapper(ControlLaw):
    """A law that changes what another one receives or returns, with the attributes of that law."""

    delegates = True
    law: ControlLaw

    def __getattr__(self, name: str) -> Any:
        if name == "law" or name.startswith("_"):  # while it is copied, before it has a law
            raise AttributeError(name)
        return getattr(self.law, name)

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.law.size

    @property
    def measures(self) -> Mapping[str, int]:
        return self.law.measures


class WithModel(Wrapper):
    """A law with a fixed model."""

    def __init__(self, law: ControlLaw, model: Robot) -> None:
        self.law, self.model, self.torques = law, traceable_twin(model), law.torques

    def __call__(self, robot: Robot, t: Any, q: Any, v: Any, *more: Any) -> Any:
        check_same_joints(self.model, robot)
        return self.law(self.model, t, np.asarray(q), np.asarray(v), *more)

    def rates(self, robot: Robot, t: Any, q: Array, v: Array, x: Array, *measured: Any) -> Any:
        check_same_joints(self.model, robot)
        return self.law.rates(self.model, t, q, v, x, *measured)

    def update(self, robot: Robot, t: Any, q: Array, v: Array, x: Array, period: float) -> Any:
        check_same_joints(self.model, robot)
        return self.law.update(self.model, t, q, v, x, period)

    def start(self, robot: Robot, q: Array, v: Array) -> Array:
        check_same_joints(self.model, robot)
        return self.law.start(self.model, q, v)

    def with_model(self, model: Robot) -> WithModel:
        return WithModel(self.law, model)

    def wanted(self, robot: Robot, t: Any) -> Any:
        check_same_joints(self.model, robot)
        return self.law.wanted(self.model, t)

    @property
    def residual(self) -> Callable[[Robot, Any, Any, Any], Array]:
        """The residual of an observer, computed with the model."""
        of_model: Callable[..., Array] = self.law.residual  # type: ignore[attr-defined]
        return lambda _robot, q, v, x: of_model(self.model, q, v, x)

    def check(self, robot: Robot, *, rate: float | None = None, **options: Any) -> Stability:
        """Check the law with its model; ``options`` are those of its own check, such as q, a configuration."""
        return self.law.check(robot, rate=rate, **{**options, "model": self.model})

    def __repr__(self) -> str:
        return short(f"<{self.law!r} with the model {printable(self.model.name)}>")


class WithMotors(Wrapper):
    """A law with voltages for the DC ``motors`` (by number of the joint) in place of their torques."""

    torques = False

    def __init__(self, law: ControlLaw, motors: Mapping[int, DCMotor]) -> None:
        self.law, self.motors = law, motors

    def __call__(self, robot: Robot, t: Any, q: Any, v: Any, *more: Any) -> Any:
        tau = self.law(robot, t, q, v, *more)
        drives = [self.motors.get(k) for k in range(robot.n)]
        return np.array(
            [x if drive is None else drive.voltage(x, v[k]) for k, (x, drive) in enumerate(zip(tau, drives, strict=True))]
        )

    def rates(self, robot: Robot, t: Any, q: Array, v: Array, x: Array, *measured: Any) -> Any:
        return self.law.rates(robot, t, q, v, x, *measured)

    def update(self, robot: Robot, t: Any, q: Array, v: Array, x: Array, period: float) -> Any:
        return self.law.update(robot, t, q, v, x, period)

    def start(self, robot: Robot, q: Array, v: Array) -> Array:
        return self.law.start(robot, q, v)

    def with_motors(self, robot: Robot) -> ControlLaw:
        return self.law.with_motors(robot)

    def wanted(self, robot: Robot, t: Any) -> Any:
        return self.law.wanted(robot, t)

    def check(self, robot: Robot, *, rate: float | None = None, **options: Any) -> Stability:
        """Check the law; ``options`` are those of its own check."""
        return self.law.check(robot, rate=rate, **options)

    def __repr__(self) -> str:
        return short(f"<{self.law!r} with voltages of {counted(len(self.motors), 'DC motor')}>")


def traceable_twin(model: Robot) -> Robot:
    """The same robot, with the algorithms that are cheapest when traced."""
    if not isinstance(model, Robot):
        raise InputError(f"the model of a controller must be a robot, such as dynamis.load('ur5e'), got {type(model).__name__}")
    return Robot(model.description, _tracing=True)


def check_same_joints(model: Robot, robot: Robot) -> None:
    """Reject a model with other joints."""
    if model.n != robot.n or model.nq != robot.nq:
        raise InputError(
            f"the controller has a model of {printable(model.name)} with {counted(model.n, 'joint')}, but the robot "
            f"{printable(robot.name)} has {robot.n}: give a model of the same arm"
        )


def check_plain_joints(robot: Robot) -> None:
    """Reject robots with spherical or free joints, for which q_d − q is not defined."""
    if robot.nq != robot.n:
        raise InputError(
            f"robot {printable(robot.name)} has a spherical or free joint; this controller requires joints with one "
            f"coordinate each"
        )


def check_actuated_base(robot: Robot) -> None:
    """Reject robots with a free joint, which has no motor for the wrench that a law would ask of it."""
    free = [body for _, body in robot.model.moving if body.motion.nv == 6]
    if free:
        joint = robot.model.coordinates[free[0].dof[0]].joint
        raise InputError(
            f"robot {printable(robot.name)} has a free joint {printable(joint)}, on which this controller would command a "
            "wrench; it requires a fixed base"
        )


def joint_reference(robot: Robot, reference: Reference, t: Any, **gains: Any) -> tuple[Array, Array, Array]:
    """(q, v, a) of a reference at a time, for a robot of plain joints with as many as it and these gains have."""
    check_plain_joints(robot)
    q_d, v_d, a_d = reference(t)
    check_length(q_d, robot.n, "the reference")
    check_gain_lengths(robot, **gains)
    return q_d, v_d, a_d


def check_gain_lengths(robot: Robot, **gains: Any) -> None:
    """Reject gains by name that are neither one number nor one per joint."""
    for name, value in gains.items():
        if np.ndim(value) and len(value) != robot.n:
            raise InputError(
                f"{name} has {counted(len(value), 'number')}, the robot {printable(robot.name)} has "
                f"{counted(robot.n, 'joint')}: give one number, or one per joint"
            )
