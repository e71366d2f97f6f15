"""The equations of motion as first-order equations: (q, v, states of friction and drives, work) and their rates."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.joints import Free, Spherical
from dynamis.model.model import Model
from dynamis.robot import Robot
from dynamis.simulation.actuators import Actuator
from dynamis.simulation.friction import Law, LuGre, Smooth
from dynamis.simulation.sources import Source, SourceError
from dynamis.spatial import rotation

Array = npt.NDArray[Any]
BEYOND_ALL_BOUNDS = 1e60  # in rad/s or m/s


# made once for each robot, as its compiled functions come with it
_smooth: weakref.WeakKeyDictionary[Robot, Robot] = weakref.WeakKeyDictionary()


def without_dry_friction(robot: Robot) -> Robot:
    """The same robot with viscous friction only."""
    if not (np.any(robot.model.coulomb) or np.any(robot.model.coulomb_bias)):
        return robot
    if robot not in _smooth:
        joints = [j.name for j in robot.description.joints if j.type != "fixed"]
        _smooth[robot] = robot.replace(friction={name: {"coulomb": 0.0, "coulomb_bias": 0.0} for name in joints})
    return _smooth[robot]


def configuration_rate(model: Model, q: Array, v: Array) -> Array:
    """q̇: v itself, and for quaternions half of the quaternion times the angular velocity."""
    rate = np.empty(model.nq, dtype=object if object in (q.dtype, v.dtype) else float)
    for _, body in model.moving:
        if body.ratio != 1.0 or body.offset != 0.0:
            continue
        own, rates = q[body.q_index], v[list(body.dof)]
        match body.motion:
            case Spherical():
                rate[body.q_index] = _spin(own, rates)
            case Free():
                turned = rotation.from_quaternion(own[3:]) @ rates[:3]
                rate[body.q_index] = np.concatenate([turned, _spin(own[3:], rates[3:])])
            case _:
                rate[body.q_index] = rates
    return rate


def _spin(quaternion: Array, w: Array) -> Array:
    return 0.5 * rotation.multiply_quaternions(quaternion, np.array([*w, 0.0]))


class Motion:
    """One robot with its friction and everything that pushes it."""

    def __init__(
        self,
        robot: Robot,
        laws: Mapping[int, Law],
        command: Source,
        wrenches: Mapping[str, Source],
        actuators: Mapping[int, Actuator] | None = None,
    ) -> None:
        self.robot, self.laws, self.command, self.wrenches = robot, laws, command, wrenches
        self.actuators = dict(actuators or {})
        self.smooth = without_dry_friction(robot)
        self.sticking = {k: law for k, law in laws.items() if not isinstance(law, Smooth | LuGre)}
        self.bristles = [k for k, law in laws.items() if isinstance(law, LuGre)]
        # of each actuator, where its states stand behind the bristles
        self._places: dict[int, slice] = {}
        for k, actuator in self.actuators.items():
            begin = max((place.stop for place in self._places.values()), default=len(self.bristles))
            self._places[k] = slice(begin, begin + actuator.size)
        self.plain = all(body.motion.nq == body.motion.nv for _, body in robot.model.moving) and not robot.model.coupled

    def split(self, y: Array) -> tuple[Array, Array, Array]:
        """(q, v, z) of a state; z holds bristles, then the actuators' own states."""
        nq, n = self.robot.nq, self.robot.n
        return y[:nq], y[nq : nq + n], y[nq + n : -1]

    def start(self, q: Array, v: Array) -> Array:
        """The state at the beginning: bristles straight, actuators at rest against their joints, no work done."""
        inside = [x.start(self._position(k, q), float(v[k])) for k, x in self.actuators.items()]
        return np.concatenate([q, v, np.zeros(len(self.bristles)), *inside, [0.0]])

    def _position(self, k: int, q: Array) -> float:
        index = self.robot.model.coordinates[k].q_index
        return 0.0 if index is None else float(q[index])

    def torque(self, t: float, q: Array, v: Array, z: Array) -> Array:
        """What reaches the joints of what was commanded."""
        tau = self.command(t, q, v)
        for k, actuator in self.actuators.items():
            tau[k] = actuator.torque(z[self._places[k]], float(tau[k]), self._position(k, q), float(v[k]))
        return tau

    def inside(self, z: Array) -> dict[str, Array]:
        """The states of each actuator that has some, by the name of its coordinate."""
        names = self.robot.coordinate_names
        return {names[k]: z[..., place] for k, place in self._places.items() if place.stop > place.start}

    def check_bounds(self, t: float, v: Array) -> None:
        """Refuse velocities whose squares are no longer numbers."""
        if len(v) and not np.abs(v).max() < BEYOND_ALL_BOUNDS:
            k = int(np.argmax(~(np.abs(v) < BEYOND_ALL_BOUNDS)))
            name = self.robot.coordinate_names[k]
            raise SourceError(f"the velocity of {name} grew beyond all bounds ({v[k]:.3g}) at t = {t:.6g} s")

    def smooth_friction(self, v: Array, z: Array) -> Array:
        """The torques of the laws that never stick."""
        friction = np.zeros(len(v))
        for k, law in self.laws.items():
            if isinstance(law, Smooth):
                friction[k] = law.torque(float(v[k]))
        for place, k in enumerate(self.bristles):
            law = self.laws[k]
            assert isinstance(law, LuGre)
            friction[k] = law.torque(float(z[place]), float(v[k]))
        return friction

    def wrenches_at(self, t: float, q: Array, v: Array) -> dict[str, Array] | None:
        return {frame: source(t, q, v) for frame, source in self.wrenches.items()} or None

    def drive(self, t: float, q: Array, v: Array, z: Array) -> tuple[Array, dict[str, Array] | None]:
        """τ less the smooth friction, and the wrenches."""
        tau = self.torque(t, q, v, z)
        if len(self.sticking) != len(self.laws):
            tau = tau - self.smooth_friction(v, z)
        return tau, self.wrenches_at(t, q, v)

    def rates(self, t: float, q: Array, v: Array, z: Array, acceleration: Array, power: float) -> Array:
        """ẏ once the acceleration is known; the last entry is the power that goes in."""
        q_dot = v if self.plain else configuration_rate(self.robot.model, q, v)
        z_dot = []
        for place, k in enumerate(self.bristles):
            law = self.laws[k]
            assert isinstance(law, LuGre)
            z_dot.append(law.rate(float(z[place]), float(v[k])))
        if self.actuators:
            u = self.command(t, q, v)
            for k, actuator in self.actuators.items():
                z_dot += list(actuator.rates(z[self._places[k]], float(u[k]), self._position(k, q), float(v[k])))
        return np.concatenate([q_dot, acceleration, z_dot, [power]])

    def power(self, q: Array, v: Array, tau: Array, wrenches: dict[str, Array] | None) -> float:
        """What torques and wrenches put in, less what viscous friction takes out."""
        power = float(tau @ v - (self.smooth.model.viscous * v) @ v)
        for frame, w in (wrenches or {}).items():
            power += float(w @ self.robot.velocity(q, v, frame))
        return power
