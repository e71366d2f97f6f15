"""The linear model to be identified, τ = Y(q, v, a) π: its parameters and their prior values.

Ten inertial parameters per link; then, joint by joint, friction, offset, rotor inertia and spring stiffness; then parameters
of motors that drive two joints; then user-defined columns. The function is written for one state and compiled.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import regressor
from dynamis.compiler.kernel import Kernel
from dynamis.display import as_call, as_table, counted
from dynamis.errors import InputError, printable, unknown_name
from dynamis.identification.friction_terms import (
    TEMPERATURE,
    TERMS,
    UNITS,
    JointState,
    SampleStates,
    balancer_terms,
    coordinate,
    friction_terms,
    presliding_displacements,
)
from dynamis.robot import Robot
from dynamis.robot.checks import refuse_loops
from dynamis.scalar import call_with_symbols, is_number, sign, tanh
from dynamis.spatial import PARAMETER_NAMES

Array = npt.NDArray[Any]
TYPICAL_WARMING = 10.0  # K


class Body(NamedTuple):
    """A moving link, and the place of its ten inertial parameters."""

    name: str
    place: slice


@dataclass(frozen=True, repr=False)
class Column:
    """User-defined column: ``function(robot, q, v, a)`` returns one torque per joint for a unit parameter.

    It is written with NumPy for one state; it is recorded, branches included.
    """

    name: str
    function: Callable[..., Any]
    prior: float = 0.0

    __repr__ = as_call
    _repr_html_ = as_table


class LinearModel:
    """The parameters of a robot to be identified.

    ``friction`` lists the terms of every joint; by default those of the robot, and at least the first two: "viscous" v,
    "coulomb" sign v, "coulomb_bias" (direction-dependent Coulomb friction), "stribeck" (Coulomb friction that decays over
    ``stribeck_speed``), "quadratic" v|v|, "power" √|v| sign v, "load" |τ| sign v with the torque τ of the links,
    "viscous_temperature" and "coulomb_temperature" (T − ``reference_temperature``) v and sign v with logged temperatures T in
    °C; "elbow.power" is a term of one joint. With ``smooth`` (rad/s)
    the sign is tanh(v / smooth), closer to real drives and filtered velocities. ``offset`` adds a constant torque, such as that
    of a sensor. ``spring`` adds the stiffness of every joint; by default those of the robot's springs. ``balancer`` are joints
    with a spring, counterweight or gas cylinder that the file lacks, whose torque is a function of the position of the joint:
    two harmonics of a Fourier series, or one with ``balancer={"shoulder": 1}``, which is that of a weight.
    ``presliding`` adds presliding friction with this displacement in rad, for all joints or by joint: near standstill the
    torque depends on the previous motion [Dahl 1968]. ``couplings`` are pairs of joints where the second joint's motor turns
    with both: its inertia and friction act on the pair. ``columns`` are user-defined.

    >>> import dynamis as dy
    >>> model = dy.identification.LinearModel(dy.load("ur5e"))
    >>> len(model.names), model.names[60:63]
    (78, ('shoulder_pan_joint.viscous', 'shoulder_pan_joint.coulomb', 'shoulder_pan_joint.rotor'))
    """

    def __init__(
        self,
        robot: Robot,
        *,
        friction: Sequence[str] | None = None,
        offset: bool = False,
        rotor: bool = True,
        spring: bool | None = None,
        balancer: Sequence[str] | Mapping[str, int] = (),
        smooth: float | None = None,
        stribeck_speed: float | None = None,
        reference_temperature: float | None = None,
        presliding: float | Mapping[str, float] | None = None,
        couplings: Sequence[tuple[str, str]] = (),
        columns: Sequence[Column] = (),
    ) -> None:
        if robot.model.symbolic:
            raise InputError(f"robot {printable(robot.name)} is symbolic; identification needs numeric lengths and priors")
        if robot.n == 0:
            raise InputError(f"robot {printable(robot.name)} has no movable joint: there is nothing to identify")
        self.robot = robot
        if not isinstance(balancer, Mapping):
            if not isinstance(balancer, Iterable):
                raise InputError(f"balancer= takes names of joints, such as ['shoulder'], got {balancer!r}")
            balancer = dict.fromkeys([balancer] if isinstance(balancer, str) else balancer, 2)
        self.settings = {
            "friction": friction, "offset": offset, "rotor": rotor, "spring": spring, "balancer": balancer, "smooth": smooth,
            "stribeck_speed": stribeck_speed, "reference_temperature": reference_temperature, "presliding": presliding,
            "couplings": couplings, "columns": columns,
        }  # fmt: skip
        drives = robot.model
        if friction is None:
            friction = ("viscous", "coulomb", "coulomb_bias") if np.any(drives.coulomb_bias) else ("viscous", "coulomb")
        self.springs = {k for k in range(robot.n) if (drives.stiffness[k] != 0.0 if spring is None else spring)}
        self.friction, self.own_friction = friction_terms(robot, friction)
        self.balanced = {coordinate(robot, name): harmonics for name, harmonics in balancer.items()}
        if not set(self.balanced.values()) <= {1, 2}:
            raise InputError(f"balancer= takes 1 or 2 harmonics for each joint, got {balancer}")
        used = {*self.friction, *(term for _, term in self.own_friction)}
        if "stribeck" in used and stribeck_speed is None:
            raise InputError("Stribeck friction needs its characteristic speed, such as stribeck_speed=0.1")
        if used & {*TEMPERATURE} and not (is_number(reference_temperature) and abs(reference_temperature or 0.0) < np.inf):
            raise InputError("friction that depends on temperature needs a reference in °C, such as reference_temperature=35")
        for name, speed in (("smooth", smooth), ("stribeck_speed", stribeck_speed)):
            if speed is not None and not speed > 0.0:
                raise InputError(f"{name} must be a speed above zero, got {speed!r}")
        if stribeck_speed is not None and "stribeck" not in used:
            raise _without_term(f"stribeck_speed={stribeck_speed:g}", "stribeck")
        if reference_temperature is not None and not used & {*TEMPERATURE}:
            raise _without_term(f"reference_temperature={reference_temperature!r}", "coulomb_temperature")
        self.smooth, self.stribeck_speed = smooth, stribeck_speed
        self.reference_temperature = reference_temperature
        self.is_loaded = "load" in used
        self.terms = (
            *self.friction,
            *(["offset"] if offset else []),
            *(["rotor"] if rotor else []),
            *(["stiffness"] if self.springs else []),
        )
        self.couplings = tuple(tuple(coordinate(robot, joint) for joint in pair) for pair in couplings)
        for pair in self.couplings:
            if len(pair) != 2 or pair[0] == pair[1]:
                raise InputError("couplings= takes pairs of different joints, such as [('wrist_2', 'wrist_3')]")
        self.columns = tuple(columns)
        for column in self.columns:
            if not isinstance(column, Column):
                raise InputError(f"columns= takes Column('name', function), got {type(column).__name__}")
        free = {k for _, body in robot.model.moving if len(body.dof) == 6 for k in body.dof}
        self.driven = [k for k in range(robot.n) if k not in free]  # all coordinates but those of a floating base
        self.presliding = presliding_displacements(robot, presliding, self.driven)
        self._name_parameters()
        inertial = 10 * len(self.bodies)
        self.is_inertial = np.arange(len(self.names)) < inertial
        self.link_parameters, self.load_rotors = self.prior[:inertial], np.zeros(robot.n)

    def _name_parameters(self) -> None:
        robot, model = self.robot, self.robot.model
        links, riding = regressor.links(model), regressor.rotors(model)
        self.bodies = [Body(body.name, slice(10 * k, 10 * k + 10)) for k, (_, body) in enumerate(links)]
        labels = [(body.name, name) for _, body in links for name in PARAMETER_NAMES]
        prior = list(regressor.parameters(model)[: len(labels)])
        known = {"viscous": model.viscous, "coulomb": model.coulomb, "coulomb_bias": model.coulomb_bias, "rotor": model.rotor,
                 "stiffness": model.stiffness}  # fmt: skip
        # a rotor mounted on a link has a column of its own instead of one in its joint
        on_links = {k for _, body in riding for k in body.dof}
        single = {k: [term for j, term in self.own_friction if j == k] for k in self.driven}
        for k, harmonics in self.balanced.items():
            c = model.coordinates[k]
            if c.q_index is None:
                raise InputError(f"balancer= takes joints with one variable; {printable(c.name)} has several")
            single[k] += [*(["offset"] if "offset" not in self.terms else []), *balancer_terms(c.revolute, harmonics)]
        every = [(k, term) for k in self.driven for term in (*self.terms, *single[k])]
        absent = {(k, "rotor") for k in on_links} | {(k, "stiffness") for k in self.driven if k not in self.springs}
        self._pairs = [pair for pair in every if pair not in absent]
        labels += [(robot.coordinate_names[k], term) for k, term in self._pairs]
        prior += [float(known[term][k]) if term in known else 0.0 for k, term in self._pairs]
        labels += [(body.name, "inertia") for _, body in riding]
        prior += list(regressor.parameters(model)[len(robot.parameters) - len(riding) :])
        own = len(labels)
        for first, second in self.couplings:
            both = f"{robot.coordinate_names[first]}+{robot.coordinate_names[second]}"
            labels += [(both, term) for term in self._shared]
            prior += [0.0] * len(self._shared)
        shared = range(own, len(labels))
        labels += [(robot.coordinate_names[k], "presliding") for k in self.presliding]
        prior += [0.0] * len(self.presliding)
        labels += [("", column.name) for column in self.columns]
        prior += [column.prior for column in self.columns]
        self.owner = tuple(owner for owner, _ in labels)
        self.kind = tuple(kind for _, kind in labels)
        self.names = tuple(f"{owner}.{kind}" if owner else kind for owner, kind in labels)
        self.prior = np.array(prior, float)
        self.is_shared = np.isin(np.arange(len(labels)), shared)  # parameters of motors that drive two joints
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            raise InputError(f"two parameters have the name {printable(twice[0])}; rename the column or the link")

    def index(self, name: str) -> int:
        """Return the index of a parameter."""
        if name not in self.names:
            raise unknown_name("parameter", name, self.names)
        return self.names.index(name)

    def unit(self, index: int) -> str:
        """Return the unit of a parameter."""
        unit = UNITS.get(self.kind[index], "kg m²" if self.is_inertial[index] or self.kind[index] == "inertia" else "")
        names = self.robot.coordinate_names
        if self.owner[index] in names and not self.robot.model.coordinates[names.index(self.owner[index])].revolute:
            return unit.replace("N m", "N").replace("rad", "m").replace("kg m²", "kg")
        return unit

    @property
    def _shared(self) -> tuple[str, ...]:
        """Terms of a motor that turns with two joints."""
        return ("rotor", "viscous", "coulomb", *(["power"] if "power" in self.friction else []))

    def regressor(self, q: Any, v: Any, a: Any, states: Any = None) -> Array:
        """Return Y (…, n, parameters); ``states`` are presliding states and temperatures, if any (see `sample_states`)."""
        return np.asarray(self._kernel(q, v, a, self.checked_states(q, v, a, states)))

    @functools.cached_property
    def _kernel(self) -> Kernel:
        return self.robot.compile(self.rows, identity=self.identity, states=self.state_size)

    @property
    def identity(self) -> str | None:
        """Cache key of this model among models of the same robot; None with user-defined columns."""
        parts = (self._pairs, self.friction, self.smooth, self.stribeck_speed, self.couplings, self.presliding, self.names)
        plain = type(self) is LinearModel and not self.columns
        return repr((*parts, self.reference_temperature is None)) if plain else None

    def sample_states(self) -> SampleStates:
        """Return the states of a run on which the regressor depends besides position, velocity and acceleration."""
        return SampleStates(self.robot, self.presliding, self.reference_temperature, self.load if self.is_loaded else None)

    @property
    def state_size(self) -> int:
        """Number of these states; 1 (unused) if there are none."""
        return max(1, self.sample_states().size)

    def checked_states(self, q: Any, v: Any, a: Any, states: Any) -> Any:
        """Return the given states, or the load if it is the only one."""
        if states is not None:
            return states
        if self.presliding or self.reference_temperature is not None:
            raise InputError(
                "presliding friction depends on the previous motion, or friction on temperature: pass states= "
                "(see LinearModel.sample_states)"
            )
        return self.load(q, v, a) if self.is_loaded else np.zeros(1)

    def load(self, q: Any, v: Any, a: Any) -> Array:
        """Return the torques (…, n) of the links, with the inertias ``link_parameters`` less those of rotors that they contain,
        ``load_rotors``, which the transmissions carry."""
        return np.asarray(self._load_kernel(q, v, a, self.link_parameters) - self.load_rotors * np.asarray(a))

    @functools.cached_property
    def _load_kernel(self) -> Kernel:
        count = len(self.link_parameters)

        def load(robot: Robot, q: Array, v: Array, a: Array, links: Array) -> Array:
            return np.asarray(robot.regressor(q, v, a)[:, :count] @ links)

        return self.robot.compile(load, identity="torques of the links", links=count)

    def with_links(self, parameters: Any, rotors: Any = None) -> LinearModel:
        """Return the model with the load of friction computed from these inertial parameters of the links, which contain the
        inertias ``rotors`` (n,) of the drives of their joints."""
        other = copy.copy(self)
        other.link_parameters = np.asarray(parameters, float)
        other.load_rotors = np.zeros(self.robot.n) if rotors is None else np.asarray(rotors, float)
        if other.link_parameters.shape != self.link_parameters.shape:
            raise InputError(f"expected the {counted(len(self.link_parameters), 'inertial parameter')} of the links")
        return other

    @functools.cached_property
    def pattern(self) -> Array:
        """(n, p): whether the torque of a joint can depend on a parameter."""
        shown = np.abs(self.regressor(*self.random_states(np.random.default_rng(7), 64))).max(axis=0) > 0.0
        shown[:, len(self.names) - len(self.columns) :] = True  # a user's function is known at these states only
        return shown

    def random_states(self, rng: np.random.Generator, count: int) -> tuple[Array, Array, Array, Array]:
        """Return (q, v, a, states) of samples that excite every parameter: q ignores joint limits, which are not part of the
        geometry, and half of the velocities are low if friction decays with speed."""
        robot = self.robot
        q = robot.random(rng, size=count)
        for c in robot.model.coordinates:
            if c.q_index is not None:
                q[:, c.q_index] = rng.uniform(-np.pi, np.pi, count) if c.revolute else rng.uniform(-1.0, 1.0, count)
        v, a = rng.normal(size=(2, count, robot.n)) * np.array([2.0, 5.0])[:, None, None]
        if self.stribeck_speed is not None:
            v[::2] *= min(self.stribeck_speed, 1.0)
        states = rng.uniform(-1.0, 1.0, (count, self.state_size))
        states[:, len(self.presliding) :] *= TYPICAL_WARMING
        if self.is_loaded:
            states[:, -robot.n :] = self.load(q, v, a)
        return q, v, a, states

    def rows(self, robot: Robot, q: Array, v: Array, a: Array, states: Array) -> Array:
        """Return Y of one state, numeric or traced."""
        own = robot.regressor(q, v, a)
        riding = len(regressor.rotors(robot.model))
        links = own[:, : 10 * len(self.bodies)]
        sliding, none = len(self.presliding), np.zeros(robot.n)
        warmer = none if self.reference_temperature is None else states[sliding : sliding + robot.n]
        load = states[len(states) - robot.n :] if self.is_loaded else none
        blocks = [links, self._joint_columns(robot, q, v, a, load, warmer)]
        if riding:
            blocks.append(own[:, own.shape[1] - riding :])
        blocks += [self._coupling(robot, pair, v, a) for pair in self.couplings]
        for number, k in enumerate(self.presliding):
            blocks.append(np.where(np.arange(robot.n) == k, states[number], 0.0)[:, None])
        blocks += [_given(column, robot, q, v, a) for column in self.columns]
        return np.hstack(blocks)

    def _joint_columns(self, robot: Robot, q: Array, v: Array, a: Array, load: Array, warmer: Array) -> Array:
        block = np.zeros((robot.n, len(self._pairs)), dtype=object if v.dtype == object else float)
        for column, (k, term) in enumerate(self._pairs):
            at = robot.model.coordinates[k].q_index
            own, rest = (0.0, 0.0) if at is None else (q[at], robot.model.rest[k])
            block[k, column] = self._term(term, v[k], q=own, a=a[k], stretch=own - rest, load=load[k], warmer=warmer[k])
        return block

    def friction_of(self, term: str, v: Array, load: float = 0.0) -> Array:
        """Return the column of a friction term at velocities (N,), at the reference temperature."""
        return np.array([self._term(term, float(x), load=load) for x in v])

    def _term(self, term: str, v: Any, **others: Any) -> Any:
        s = sign(v) if self.smooth is None else tanh(v / self.smooth)
        return TERMS[term](JointState(s, v, stribeck_speed=self.stribeck_speed, **others))

    def _coupling(self, robot: Robot, pair: tuple[int, ...], v: Array, a: Array) -> Array:
        """Return the columns of the second joint's motor, which turns with both joints, due to the other joint's motion."""
        first, second = pair
        block = np.zeros((robot.n, len(self._shared)), dtype=object if v.dtype == object else float)
        both = v[first] + v[second]
        dry = [self._term(term, both) for term in self._shared[2:]]
        block[first, :] = [a[second], v[second], *dry]
        block[second, :] = [a[first], v[first], *dry]
        return block

    def __repr__(self) -> str:
        return f"<LinearModel of {printable(self.robot.name)}: {counted(len(self.names), 'parameter')}>"


def _without_term(given: str, term: str) -> InputError:
    """The error for an argument of a friction term that the model does not have."""
    friction = f"friction=('viscous', 'coulomb', '{term}')"
    return InputError(f"{given} has no effect without the friction term {term!r}; add the term, as in {friction}")


def _given(column: Column, robot: Robot, q: Array, v: Array, a: Array) -> Array:
    values = np.asarray(call_with_symbols(column.function, robot, q, v, a))
    if values.shape != (robot.n,):
        raise InputError(
            f"column {printable(column.name)} returns shape {values.shape}; it must return {counted(robot.n, 'torque')}"
        )
    return values[:, None]


def model_of(robot: Robot | LinearModel) -> LinearModel:
    """The model of a robot, or the one that is given, if its equations are those of the machine: without loops."""
    model = robot if isinstance(robot, LinearModel) else LinearModel(robot)
    why = "give joints of the tree torques that measured ones do not contain, so that τ = Y π does not hold"
    cure = "with N the null space of the loops' Jacobian Nᵀ (Y π − τ) = 0 does (docs/identification.md, Closed loops)"
    refuse_loops(model.robot, why, cure)
    return model
