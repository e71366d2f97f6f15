"""The equations of motion in first-order form: (q, v, states of friction and drives, work) and their rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.configuration_rate import configuration_rate, normalised
from dynamis.kinematics.closures import Closure
from dynamis.robot import Robot
from dynamis.robot.dry_friction import without_dry_friction
from dynamis.scalar import FunctionState, Node
from dynamis.simulation.actuators import Actuator
from dynamis.simulation.contact_equations import Contacts, constrained_accelerations, projected
from dynamis.simulation.friction import BristleLaw, Law, SmoothLaw, StickingLaw
from dynamis.simulation.hard_stops import Sides, Stops
from dynamis.simulation.sources import Command, DivergedError, Source
from dynamis.simulation.stick_slip import Sticking, settle, solve, torques

Array = npt.NDArray[Any]
MAX_TRIAL_VELOCITY = 1e60  # in rad/s or m/s: squares of velocities overflow soon; trial steps may go far, but not there
DIVERGED_VELOCITY = 1e9  # in rad/s or m/s: no machine is that fast (light: 3e8 m/s)
FEEDBACK_DIVERGED_VELOCITY = 1e4  # in rad/s or m/s, of a controlled robot: beyond the fastest motors
LIFTS_OFF = "lifts off"  # a contact that would have to pull
DIVERGED_POSITION = 1e15  # in rad or m: double precision does not resolve a radian there


def any_nonzero(values: Array) -> bool:
    """Whether an entry is a symbol or not zero."""
    return any(isinstance(x, Node) or x != 0.0 for x in values)


def controller_name(robot: Robot) -> str:
    """The name of the controller states among those of the drives, which are named after their joints."""
    return "controller" if "controller" not in robot.coordinate_names else "controller of the robot"


@dataclass(frozen=True, eq=False)
class Mechanism:
    """What is simulated: a robot that moves freely."""

    robot: Robot
    closures: tuple[Closure, ...] = ()

    def motion(self, *given: Any) -> EquationsOfMotion:
        """Its equations for the arguments of `EquationsOfMotion`."""
        return EquationsOfMotion(*given)

    def method(self, chosen: str | None, laws: Mapping[int, Law], stops: Any) -> str | None:  # noqa: ARG002
        """The integration method where it is not chosen, after a check of what is; None leaves it open."""
        return chosen

    def check_start(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The initial state, checked."""
        return q, v


class EquationsOfMotion:
    """One robot with friction, drives, controller, external wrenches and rigid contacts.

    ``constants`` are those of the closures of ``contacts``, where they are not their own. ``rules`` replace those of
    `fixed_step`.
    """

    near_singular = False  # whether compiled accelerations are inaccurate at the last state
    probed = False  # whether functions of users may have short pulses, which long steps would pass over
    projecting = False  # whether states are projected onto the closures after every step
    rules: Mapping[str, Callable[[float, Array, float], Array]] = MappingProxyType({})

    def __init__(
        self,
        robot: Robot,
        laws: Mapping[int, Law],
        command: Command,
        wrenches: Mapping[str, Source],
        actuators: Mapping[int, Actuator] | None = None,
        disturbance: Source | None = None,
        fastest: float = DIVERGED_VELOCITY,
        contacts: Contacts | None = None,
        constants: Array | None = None,
    ) -> None:
        self.robot, self.laws, self.command, self.wrenches = robot, laws, command, wrenches
        self.disturbance, self.contacts, self.constants = disturbance, contacts, constants
        self._ends = robot.nq, robot.nq + robot.n  # of q and of v in a state
        self.actuators = dict(actuators or {})
        self.smooth = without_dry_friction(robot)
        self.sticking = {k: law for k, law in laws.items() if isinstance(law, StickingLaw)}
        self.bristles = [k for k, law in laws.items() if isinstance(law, BristleLaw)]
        # of each actuator, where its states stand behind the bristles
        self._places: dict[int, slice] = {}
        for k, actuator in self.actuators.items():
            begin = max((place.stop for place in self._places.values()), default=len(self.bristles))
            self._places[k] = slice(begin, begin + actuator.size)
        self.fastest = fastest  # velocity of the motion; trial steps may be faster
        self.state: FunctionState | None = None  # of the controller, where it may have one of its own
        self.plain = all(body.motion.nq == body.motion.nv for _, body in robot.model.moving) and not robot.model.coupled

    @property
    def states(self) -> int:
        """The number of internal states of friction, drives and controller."""
        return len(self.bristles) + sum(x.size for x in self.actuators.values()) + self.command.size

    def split(self, y: Array) -> tuple[Array, Array, Array]:
        """(q, v, z) of a state; z holds the states of bristles, actuators and controller, in this order.

        Quaternions of trial steps are normalised: integration rules leave the unit sphere between the points of a motion.
        """
        nq, moving = self._ends
        q = y[:nq] if self.plain else normalised(self.robot.model, y[:nq])
        return q, y[nq:moving], y[moving:-1]

    def start(self, q: Array, v: Array) -> Array:
        """The initial state: undeflected bristles, actuators at rest relative to their joints, zero work."""
        return np.concatenate([q, v, self.start_inside(q, v), [0.0]])

    def start_inside(self, q: Array, v: Array) -> Array:
        """The initial states of bristles, actuators and controller (…, states)."""
        z = np.zeros((*v.shape[:-1], self.states))
        for k, actuator in self.actuators.items():
            if actuator.size:
                z[..., self._places[k]] = np.moveaxis(actuator.start(self._position(k, q), v[..., k]), 0, -1)
        if self.command.start is not None:
            z[..., self.states - self.command.size :] = self.command.start(q, v)
        return z

    def _of_controller(self, z: Array) -> Array:
        return z[..., self.states - self.command.size :]

    def commanded(self, t: Any, q: Array, v: Array, z: Array) -> Array:
        """The commanded torques."""
        return self.command.torque(t, q, v, self._of_controller(z))

    def _position(self, k: int, q: Array) -> Any:
        index = self.robot.model.coordinates[k].q_index
        return 0.0 if index is None else q[..., index]

    def torque(self, t: Any, q: Array, v: Array, z: Array) -> Array:
        """The joint torques: output of the drives plus disturbance."""
        tau = self.commanded(t, q, v, z)
        if self.actuators:
            tau = np.array(tau, dtype=object if object in (tau.dtype, q.dtype, v.dtype) else float)
        for k, actuator in self.actuators.items():
            tau[k] = actuator.torque(z[self._places[k]], tau[k], self._position(k, q), v[k])
        return tau if self.disturbance is None else tau + self.disturbance(t, q, v)

    def inside(self, z: Array) -> dict[str, Array]:
        """The states of actuators, by coordinate name, and of the controller."""
        names = self.robot.coordinate_names
        found = {names[k]: z[..., place] for k, place in self._places.items() if place.stop > place.start}
        return {**found, controller_name(self.robot): self._of_controller(z)} if self.command.size else found

    def check_bounds(self, t: float, v: Array, bound: float = DIVERGED_VELOCITY) -> None:
        """Reject velocities that only a diverged integration has."""
        if len(v) and not np.abs(v).max() < bound:
            k = int(np.argmax(~(np.abs(v) < bound)))
            name = self.robot.coordinate_names[k]
            raise DivergedError(f"the velocity of {name} diverged ({v[k]:.3g}) at t = {t:.6g} s")

    def smooth_friction(self, v: Array, z: Array) -> Array:
        """The torques of the laws without sticking."""
        friction = np.zeros(len(v), dtype=object if object in (v.dtype, z.dtype) else float)
        for k, law in self.laws.items():
            if isinstance(law, SmoothLaw):
                friction[k] = law.torque(v[k])
        for place, k in enumerate(self.bristles):
            law = self.laws[k]
            assert isinstance(law, BristleLaw)
            friction[k] = law.torque(z[place], v[k])
        return friction

    def wrenches_at(self, t: Any, q: Array, v: Array) -> dict[str, Array] | None:
        return {frame: source(t, q, v) for frame, source in self.wrenches.items()} or None

    def drive(self, t: Any, q: Array, v: Array, z: Array) -> tuple[Array, dict[str, Array] | None]:
        """τ minus smooth friction, and the wrenches."""
        tau = self.torque(t, q, v, z)
        if len(self.sticking) != len(self.laws):
            tau = tau - self.smooth_friction(v, z)
        return tau, self.wrenches_at(t, q, v)

    def acceleration(self, q: Array, v: Array, tau: Array, wrenches: Mapping[str, Array] | None) -> Array:
        """v̇ under torques and wrenches, with rigid contacts held."""
        if self.contacts is None:
            return self.smooth.forward_dynamics(q, v, tau, wrenches)
        for frame, w in (wrenches or {}).items():
            tau = tau + self.smooth.jacobian(q, frame).T @ w
        return constrained_accelerations(self.smooth, self.contacts, q, v, tau, constants=self.constants)[: self.robot.n]

    def projected(self, y: Array) -> Array:
        """The state projected onto the closures, for tracing."""
        assert self.contacts is not None
        q, v, _ = self.split(y)
        return np.concatenate([*projected(self.smooth, self.contacts, q, v, self.constants), y[len(q) + len(v) :]])

    def dry_friction(self, q: Array, v: Array, tau: Array, wrenches: Mapping[str, Array] | None) -> Array:
        """The torques of the laws that stick at recorded states (N, …), under torques less smooth friction."""
        r = tau - self.smooth.inverse_dynamics(q, v, np.zeros_like(v), wrenches)
        return torques(self.smooth.mass_matrix(q), r, v, self.sticking)

    def directions(self, q: Array, v: Array, M: Array, r: Array, laws: Sticking) -> dict[int, int]:  # noqa: ARG002
        """The direction in which each joint with dry friction or at a stop moves from here on, 0 for those that stay."""
        return settle(M, r, v, laws, {k for k in laws if v[k] == 0.0})

    def holding(
        self,
        q: Array,  # noqa: ARG002
        v: Array,
        M: Array,
        r: Array,
        directions: dict[int, int],
        laws: Sticking,
    ) -> tuple[Array, Array]:
        """(a, d): accelerations, and torques of dry friction and stops."""
        return solve(M, r, v, directions, laws)

    def after_impact(self, stops: Stops, q: Array, v: Array, M: Array, hitting: Sides, resting: Sides) -> Array:  # noqa: ARG002
        """The velocities after joints hit their stops."""
        return stops.after_impact(M, v, hitting, resting)

    def accepted(self, t: float, y: Array) -> Array | None:  # noqa: ARG002 - of motions with loops
        """The state from which a step that ended at y goes on, where it is not y itself."""
        return None

    def pulling(self, t: float, y: Array) -> str | None:  # noqa: ARG002
        """The contact that would have to pull most, if any."""
        return None

    def release(self, name: str, t: float) -> bool:  # noqa: ARG002
        """Whether the motion goes on without a contact that lifts off."""
        return False

    def crossings(self) -> list[Any]:
        """Each `Crossing` of a contact that lifts off or is touched again."""
        return []

    def watched(self, watcher: Any) -> Any:
        """The `Watcher` of events, with those of these equations; None without any."""
        return watcher

    def reported(self, times: Array, states: Array) -> Array:  # noqa: ARG002
        """The states (N, …) to be recorded for those of the dense output."""
        return states

    def recorded(self, trajectory: Any) -> Any:
        """The trajectory with what is particular to these equations."""
        return trajectory

    def rates(self, t: Any, q: Array, v: Array, z: Array, acceleration: Array, power: Any) -> Array:
        """ẏ for a known acceleration; the last entry is the input power."""
        q_dot = v if self.plain else configuration_rate(self.robot.model, q, v)
        z_dot = []
        for place, k in enumerate(self.bristles):
            law = self.laws[k]
            assert isinstance(law, BristleLaw)
            z_dot.append(law.rate(z[place], v[k]))
        if self.actuators:
            u = self.commanded(t, q, v, z)
            for k, actuator in self.actuators.items():
                z_dot += list(actuator.rates(z[self._places[k]], u[k], self._position(k, q), v[k]))
        if self.command.rates is not None:
            z_dot += list(self.command.rates(t, q, v, self._of_controller(z)))
        return np.concatenate([q_dot, acceleration, z_dot, [power]])

    def power(self, q: Array, v: Array, tau: Array, wrenches: dict[str, Array] | None) -> Any:
        """Power of torques and wrenches minus viscous dissipation."""
        power = tau @ v - (self.smooth.model.viscous * v) @ v
        for frame, w in (wrenches or {}).items():
            power = power + w @ self.robot.velocity(q, v, frame)
        return power
