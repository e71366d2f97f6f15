"""Controllers of robots with loops that have motors at some of their joints only.

The torques of a controller are those of all joints of the tree. With the loops closed, torques at the joints with motors have
the same effect: b = Sᵀ τ + Jᵀ λ, with the smallest τ.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import ModelWarning
from dynamis.robot import Robot
from dynamis.simulation.contact_forces import contact_forces
from dynamis.simulation.controllers import Controller, as_law
from dynamis.simulation.loops.constrained_functions import ConstrainedFunctions
from dynamis.simulation.sampling import Sampled

Array = npt.NDArray[Any]


class Actuated(Controller):
    """A controller with states, whose torques act at the joints with motors only."""

    torques = True

    def __init__(self, law: Controller, moved: Callable[[Array, Any], Array]) -> None:
        self.law, self.moved, self.size = law, moved, law.size

    @property
    def measures(self) -> Mapping[str, int]:
        return self.law.measures

    def __call__(self, robot: Robot, t: Any, q: Array, v: Array, /, *more: Any) -> Any:
        return self.moved(q, self.law(robot, t, q, v, *more))

    def rates(self, robot: Robot, t: Any, q: Array, v: Array, x: Array, /, *measured: Any) -> Any:
        return self.law.rates(robot, t, q, v, x, *measured)

    def update(self, robot: Robot, t: Any, q: Array, v: Array, x: Array, period: float, /, *more: Any, **given: Any) -> Any:
        return self.law.update(robot, t, q, v, x, period, *more, **given)

    def start(self, robot: Robot, q: Array, v: Array) -> Array:
        return self.law.start(robot, q, v)


def with_motors(held: ConstrainedFunctions, controller: Any, actuated: list[int]) -> Any:
    """The controller with the torques of the ``actuated`` coordinates that have the effect of its own."""

    def moved(q: Array, tau: Any) -> Array:
        b, J = np.asarray(tau, dtype=float), np.asarray(held.jacobian(q))
        return contact_forces(held.robot, held.contacts, q, b, J, actuated, None, (0.0, 0.0, 1.0), None)[0]

    law = as_law(controller)
    stateful = law.states or law.digital
    if stateful is not None:
        function: Any = Actuated(stateful, moved)
    else:
        torque = law.torque
        assert torque is not None

        def function(robot: Robot, t: Any, q: Array, v: Array) -> Array:
            return moved(q, torque(robot, t, q, v))

    return function if law.sampled is None else dataclasses.replace(law.sampled, law=function)


def warn_of_passive_joints(held: ConstrainedFunctions, controller: Any, cure: str, stacklevel: int) -> None:
    """Warn of a control law of the tree, which has torques at joints that may have no motors."""
    law = controller.law if isinstance(controller, Sampled) else controller
    if held.closures and isinstance(law, Controller) and law.torques:
        text = f"{type(law).__name__} has torques at all coordinates of the tree, also of joints without motors: {cure}"
        warnings.warn(text, ModelWarning, stacklevel=stacklevel)
