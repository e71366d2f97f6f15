"""The controller interface: a plain function of robot model, time and state.

A law is called as ``law(robot, t, q, v)``; the robot passed is the model the law computes with. `simulate` and `rollouts` pass
the simulated robot. ``law.with_model(model)`` computes with another model, whatever robot is passed, to study model errors.
``law.with_model(model)`` is the same as a function of (t, q, v).
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.stability import Stability, as_rules
from dynamis.display import short
from dynamis.errors import InputError, printable
from dynamis.model.model import fingerprint
from dynamis.robot import Robot
from dynamis.simulation.dynamic_law import DynamicLaw

Array = npt.NDArray[Any]


class Controller(ABC):
    """A control law τ = law(robot, t, q, v), written for one state without branching, so that it can be compiled."""

    traceable = True

    @property
    def measures(self) -> Mapping[str, int]:
        """Names and sizes of measurements that the law takes beyond (t, q, v)."""
        return {}

    @abstractmethod
    def __call__(self, robot: Robot, t: Any, q: Array, v: Array) -> Array:
        """The torques (n)."""

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

    def check(self, robot: Robot, *, rate: float | None = None) -> Stability:  # noqa: ARG002 - most ask both
        """Check the stability conditions of this law on this robot; ``rate`` is the sampling rate in Hz."""
        return Stability(type(self).__name__, ())


class WithModel(Controller):
    """A law with a fixed model."""

    def __init__(self, law: Controller, model: Robot) -> None:
        self.law, self.model = law, traceable_twin(model)

    @property
    def measures(self) -> Mapping[str, int]:
        return self.law.measures

    def __call__(self, robot: Robot, t: Any, q: Any, v: Any, *measured: Any) -> Array:
        check_same_joints(self.model, robot)
        return self.law(self.model, t, np.asarray(q), np.asarray(v), *measured)

    def with_model(self, model: Robot) -> WithModel:
        return WithModel(self.law, model)

    def check(self, robot: Robot, *, rate: float | None = None) -> Stability:
        return check_with_model(self.law, robot, self.model, rate)

    def __repr__(self) -> str:
        return short(f"<{self.law!r} with the model {printable(self.model.name)}>")


class DynamicController(DynamicLaw):
    """A controller with internal states (…, size): parameter estimates, integral action, observers."""

    traceable = True

    @property
    def measures(self) -> Mapping[str, int]:
        """As for a `Controller`."""
        return {}

    def with_model(self, model: Robot) -> DynamicWithModel:
        """The same law with a fixed model, whichever robot is passed."""
        return DynamicWithModel(self, model)

    def check(self, robot: Robot, *, rate: float | None = None) -> Stability:  # noqa: ARG002 - most ask both
        """Check the stability conditions of this law on this robot."""
        return Stability(type(self).__name__, ())


class DynamicWithModel(DynamicController):
    """A dynamic law with a fixed model."""

    def __init__(self, law: DynamicController, model: Robot) -> None:
        self.law, self.model, self.size = law, traceable_twin(model), law.size

    @property
    def measures(self) -> Mapping[str, int]:
        return self.law.measures

    def start(self, robot: Robot, q: Array, v: Array) -> Array:
        check_same_joints(self.model, robot)
        return self.law.start(self.model, q, v)

    def torque(self, robot: Robot, t: Any, q: Array, v: Array, x: Array, *measured: Any) -> Any:
        check_same_joints(self.model, robot)
        return self.law.torque(self.model, t, q, v, x, *measured)

    def rates(self, robot: Robot, t: Any, q: Array, v: Array, x: Array, *measured: Any) -> Any:
        check_same_joints(self.model, robot)
        return self.law.rates(self.model, t, q, v, x, *measured)

    def with_model(self, model: Robot) -> DynamicWithModel:
        return DynamicWithModel(self.law, model)

    def check(self, robot: Robot, *, rate: float | None = None) -> Stability:
        return check_with_model(self.law, robot, self.model, rate)

    def __repr__(self) -> str:
        return short(f"<{self.law!r} with the model {printable(self.model.name)}>")


def check_with_model(law: Controller | DynamicController, robot: Robot, model: Robot, rate: float | None) -> Stability:
    """Check the stability conditions of a law with this model on this robot.

    For laws whose `check` accepts no model, the theorems hold for the exact model only.
    """
    check_same_joints(model, robot)
    if fingerprint(model.model) == fingerprint(robot.model):
        return law.check(robot, rate=rate)
    if "model" in inspect.signature(law.check).parameters:
        asked: Any = law.check
        return asked(robot, rate=rate, model=model)
    why = "the theorem requires the exact model, but the law uses another: its conditions are rules of thumb"
    return as_rules(law.check(robot, rate=rate), why)


def traceable_twin(model: Robot) -> Robot:
    """The same robot, with the algorithms that are cheapest when traced."""
    if not isinstance(model, Robot):
        raise InputError(f"the model of a controller must be a robot, such as dynamis.load('ur5e'), got {type(model).__name__}")
    return Robot(model.description, _tracing=True)


def check_same_joints(model: Robot, robot: Robot) -> None:
    """Reject a model with other joints."""
    if model.n != robot.n or model.nq != robot.nq:
        raise InputError(
            f"the controller has a model of {printable(model.name)} with {model.n} joints, but the robot "
            f"{printable(robot.name)} has {robot.n}: give a model of the same arm"
        )


def check_plain_joints(robot: Robot) -> None:
    """Reject robots with spherical or free joints, for which q_d − q is not defined."""
    if robot.nq != robot.n:
        raise InputError(
            f"robot {printable(robot.name)} has a spherical or free joint; this controller requires joints with one "
            f"coordinate each"
        )
