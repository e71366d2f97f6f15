"""The linear model to be identified, τ = Y(q, v, a) π: its parameters and their prior values.

Ten inertial parameters per link; then, joint by joint, friction, offset, rotor inertia and spring stiffness; then parameters
of motors that drive two joints; then user-defined columns. The function is written for one state and compiled.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import regressor
from dynamis.compiler.kernel import Kernel
from dynamis.display import as_call, as_table, counted
from dynamis.errors import InputError, printable, unknown_name
from dynamis.robot import Robot
from dynamis.scalar import call_with_symbols, exp, sign, sqrt, tanh
from dynamis.spatial import PARAMETER_NAMES

Array = npt.NDArray[Any]

FRICTION = ("viscous", "coulomb", "coulomb_bias", "stribeck", "quadratic", "power")
UNITS = {
    "viscous": "N m s/rad", "coulomb": "N m", "coulomb_bias": "N m", "stribeck": "N m", "quadratic": "N m s²/rad²",
    "power": "N m (s/rad)^½", "offset": "N m", "presliding": "N m", "rotor": "kg m²", "stiffness": "N m/rad", "m": "kg",
    "mx": "kg m", "my": "kg m", "mz": "kg m",
}  # fmt: skip


# columns of one joint: of the direction s of its velocity v, its acceleration, the stretch of its spring, the Stribeck speed
TERMS: dict[str, Callable[..., Any]] = {
    "viscous": lambda _s, v, *_: v,
    "coulomb": lambda s, *_: s,
    "coulomb_bias": lambda s, *_: s * s,
    "stribeck": lambda s, v, _a, _stretch, speed: s * exp(-((v / speed) ** 2)),
    "quadratic": lambda _s, v, *_: v * abs(v),
    "power": lambda s, v, *_: s * sqrt(abs(v)),
    "offset": lambda *_: 1.0,
    "rotor": lambda _s, _v, a, *_: a,
    "stiffness": lambda _s, _v, _a, stretch, _: stretch,
}


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
    ``stribeck_speed``), "quadratic" v|v|, "power" √|v| sign v; "elbow.power" is a term of one joint. With ``smooth`` (rad/s)
    the sign is tanh(v / smooth), closer to real drives and filtered velocities. ``offset`` adds a constant torque, such as that
    of a sensor or a gravity spring. ``spring`` adds the stiffness of every joint; by default those of the robot's springs.
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
        smooth: float | None = None,
        stribeck_speed: float | None = None,
        presliding: float | Mapping[str, float] | None = None,
        couplings: Sequence[tuple[str, str]] = (),
        columns: Sequence[Column] = (),
    ) -> None:
        if robot.model.symbolic:
            raise InputError(f"robot {printable(robot.name)} is symbolic; identification needs numeric lengths and priors")
        if robot.n == 0:
            raise InputError(f"robot {printable(robot.name)} has no movable joint: there is nothing to identify")
        self.robot = robot
        self.settings = {
            "friction": friction, "offset": offset, "rotor": rotor, "spring": spring, "smooth": smooth,
            "stribeck_speed": stribeck_speed, "presliding": presliding, "couplings": couplings, "columns": columns,
        }  # fmt: skip
        drives = robot.model
        if friction is None:
            friction = ("viscous", "coulomb", "coulomb_bias") if np.any(drives.coulomb_bias) else ("viscous", "coulomb")
        self.springs = {k for k in range(robot.n) if (drives.stiffness[k] != 0.0 if spring is None else spring)}
        self.friction, self.own_friction = _friction(robot, friction)
        if "stribeck" in (*self.friction, *(term for _, term in self.own_friction)) and stribeck_speed is None:
            raise InputError("Stribeck friction needs its characteristic speed, such as stribeck_speed=0.1")
        for name, speed in (("smooth", smooth), ("stribeck_speed", stribeck_speed)):
            if speed is not None and not speed > 0.0:
                raise InputError(f"{name} must be a speed above zero, got {speed!r}")
        self.smooth, self.stribeck_speed = smooth, stribeck_speed
        self.terms = (
            *self.friction,
            *(["offset"] if offset else []),
            *(["rotor"] if rotor else []),
            *(["stiffness"] if self.springs else []),
        )
        self.couplings = tuple(tuple(_coordinate(robot, joint) for joint in pair) for pair in couplings)
        for pair in self.couplings:
            if len(pair) != 2 or pair[0] == pair[1]:
                raise InputError("couplings= takes pairs of different joints, such as [('wrist_2', 'wrist_3')]")
        self.columns = tuple(columns)
        for column in self.columns:
            if not isinstance(column, Column):
                raise InputError(f"columns= takes Column('name', function), got {type(column).__name__}")
        free = {k for _, body in robot.model.moving if len(body.dof) == 6 for k in body.dof}
        self.driven = [k for k in range(robot.n) if k not in free]  # all coordinates but those of a floating base
        self.presliding = _presliding(robot, presliding, self.driven)
        self._name_parameters()
        inertial = 10 * len(self.bodies)
        self.is_inertial = np.arange(len(self.names)) < inertial

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

    def regressor(self, q: Any, v: Any, a: Any, past: Any = None) -> Array:
        """Return Y (…, n, parameters); ``past`` is the presliding state, if the model has one (see `presliding`)."""
        return np.asarray(self._kernel(q, v, a, self.checked_past(past)))

    @functools.cached_property
    def _kernel(self) -> Kernel:
        return self.robot.compile(self.rows, identity=self.identity, past=self.past_size)

    @property
    def identity(self) -> str | None:
        """Cache key of this model among models of the same robot; None with user-defined columns."""
        parts = (self._pairs, self.friction, self.smooth, self.stribeck_speed, self.couplings, self.presliding, self.names)
        return None if self.columns or type(self) is not LinearModel else repr(parts)

    @property
    def past_size(self) -> int:
        """Size of the presliding state; 1 (unused) if there is none."""
        return max(1, len(self.presliding))

    def checked_past(self, past: Any) -> Any:
        if past is None and self.presliding:
            raise InputError("presliding friction depends on the previous motion: pass past= (see presliding.Past)")
        return np.zeros(1) if past is None else past

    @functools.cached_property
    def pattern(self) -> Array:
        """(n, p): whether the torque of a joint can depend on a parameter."""
        shown = np.abs(self.regressor(*self.random_states(np.random.default_rng(7), 64))).max(axis=0) > 0.0
        shown[:, len(self.names) - len(self.columns) :] = True  # a user's function is known at these states only
        return shown

    def random_states(self, rng: np.random.Generator, count: int) -> tuple[Array, Array, Array, Array]:
        """Return (q, v, a, past) of states that excite every parameter: q ignores joint limits, which are not part of the
        geometry, and half of the velocities are low if friction decays with speed."""
        robot = self.robot
        q = robot.random(rng, size=count)
        for coordinate in robot.model.coordinates:
            if coordinate.q_index is not None:
                q[:, coordinate.q_index] = (
                    rng.uniform(-np.pi, np.pi, count) if coordinate.revolute else rng.uniform(-1.0, 1.0, count)
                )
        v, a = rng.normal(size=(2, count, robot.n)) * np.array([2.0, 5.0])[:, None, None]
        if self.stribeck_speed is not None:
            v[::2] *= min(self.stribeck_speed, 1.0)
        return q, v, a, rng.uniform(-1.0, 1.0, (count, self.past_size))

    def rows(self, robot: Robot, q: Array, v: Array, a: Array, past: Array) -> Array:
        """Return Y of one state, numeric or traced."""
        own = robot.regressor(q, v, a)
        riding = len(regressor.rotors(robot.model))
        blocks = [own[:, : 10 * len(self.bodies)], self._joint_columns(robot, q, v, a)]
        if riding:
            blocks.append(own[:, own.shape[1] - riding :])
        blocks += [self._coupling(robot, pair, v, a) for pair in self.couplings]
        for number, k in enumerate(self.presliding):
            blocks.append(np.where(np.arange(robot.n) == k, past[number], 0.0)[:, None])
        blocks += [_given(column, robot, q, v, a) for column in self.columns]
        return np.hstack(blocks)

    def _joint_columns(self, robot: Robot, q: Array, v: Array, a: Array) -> Array:
        block = np.zeros((robot.n, len(self._pairs)), dtype=object if v.dtype == object else float)
        for column, (k, term) in enumerate(self._pairs):
            at = robot.model.coordinates[k].q_index
            stretch = 0.0 if at is None else q[at] - robot.model.rest[k]
            block[k, column] = self._term(term, v[k], a[k], stretch)
        return block

    def friction_of(self, term: str, v: Array) -> Array:
        """Return the column of a friction term at velocities (N,)."""
        return np.array([self._term(term, float(x), 0.0, 0.0) for x in v])

    def _term(self, term: str, v: Any, a: Any, stretch: Any) -> Any:
        s = sign(v) if self.smooth is None else tanh(v / self.smooth)
        return TERMS[term](s, v, a, stretch, self.stribeck_speed)

    def _coupling(self, robot: Robot, pair: tuple[int, ...], v: Array, a: Array) -> Array:
        """Return the columns of the second joint's motor, which turns with both joints, due to the other joint's motion."""
        first, second = pair
        block = np.zeros((robot.n, len(self._shared)), dtype=object if v.dtype == object else float)
        both = v[first] + v[second]
        dry = [self._term(term, both, 0.0, 0.0) for term in self._shared[2:]]
        block[first, :] = [a[second], v[second], *dry]
        block[second, :] = [a[first], v[first], *dry]
        return block

    def __repr__(self) -> str:
        return f"<LinearModel of {printable(self.robot.name)}: {counted(len(self.names), 'parameter')}>"


def _friction(robot: Robot, friction: Sequence[str]) -> tuple[tuple[str, ...], tuple[tuple[int, str], ...]]:
    """Return the terms of all joints, and further ones as (coordinate, term)."""
    every, own = set[str](), set[tuple[int, str]]()
    for given in (friction,) if isinstance(friction, str) else friction:
        joint, _, term = given.rpartition(".")
        if term not in FRICTION:
            raise unknown_name("friction term", term, FRICTION)
        if joint:
            own.add((_coordinate(robot, joint), term))
        else:
            every.add(term)
    return tuple(term for term in FRICTION if term in every), tuple(sorted(pair for pair in own if pair[1] not in every))


def _presliding(robot: Robot, given: float | Mapping[str, float] | None, joints: Sequence[int]) -> dict[int, float]:
    """Return {coordinate: presliding displacement}."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        found = {_coordinate(robot, name): float(value) for name, value in given.items()}
    else:
        found = dict.fromkeys(joints, float(given))
    for k, displacement in found.items():
        if robot.model.coordinates[k].q_index is None or not displacement > 0.0:
            name = printable(robot.coordinate_names[k])
            raise InputError(f"presliding of {name} must be a displacement above zero, of a joint with one variable")
    return found


def _coordinate(robot: Robot, name: str) -> int:
    if name not in robot.coordinate_names:
        raise unknown_name("joint", name, robot.coordinate_names)
    return robot.coordinate_names.index(name)


def _given(column: Column, robot: Robot, q: Array, v: Array, a: Array) -> Array:
    values = np.asarray(call_with_symbols(column.function, robot, q, v, a))
    if values.shape != (robot.n,):
        raise InputError(
            f"column {printable(column.name)} returns shape {values.shape}; it must return {counted(robot.n, 'torque')}"
        )
    return values[:, None]


class Past:
    """The presliding states of a model, updated with each position; `advance` returns them."""

    def __init__(self, model: LinearModel) -> None:
        self.model = model
        self._turns: list[_Turn] | None = None

    def advance(self, q: Array) -> Array:
        """Return (N, H): the states at the next N positions."""
        joints = self.model.presliding
        states = np.zeros((len(q), self.model.past_size))
        if not joints or not len(q):
            return states
        places = [self.model.robot.model.coordinates[k].q_index for k in joints]
        if self._turns is None:
            self._turns = [_Turn(float(q[0, place])) for place in places]
        for column, (place, x) in enumerate(zip(places, joints.values(), strict=True)):
            states[:, column] = _dahl(q[:, place], x, self._turns[column])
        return states


@dataclass
class _Turn:
    """Last reversal of a joint: position, state, direction since, and the current position."""

    at: float
    z: float = 0.0
    direction: float = 0.0
    now: float | None = None


def _dahl(q: Array, x: float, turn: _Turn) -> Array:
    path = np.concatenate([[turn.at if turn.now is None else turn.now], q])
    moved = np.sign(np.diff(path))
    z = np.empty(len(q))
    # segments of one direction, measured from the last reversal, also in an earlier chunk; standstill changes nothing
    edges = np.concatenate([[0], np.flatnonzero(np.diff(moved)) + 1, [len(moved)]])
    for low, high in itertools.pairwise(edges):
        direction = float(moved[low])
        if direction and direction != turn.direction:
            turn.z = _state(path[low], x, turn)
            turn.at, turn.direction = float(path[low]), direction
        z[low:high] = _state(path[low + 1 : high + 1], x, turn)
    turn.now = float(path[-1])
    return z


def _state(q: Any, x: float, turn: _Turn) -> Any:
    """Return z at positions reached without reversal."""
    return turn.direction + (turn.z - turn.direction) * np.exp(-np.abs(q - turn.at) / x) if turn.direction else turn.z
