"""Comparison of two models of a robot: differences, and their effect on the torques."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.regressor import JOINT_PARAMETERS, link_columns
from dynamis.analysis.model_pairs import Pair, Pairs, pairs
from dynamis.display import as_table, comparison_card, counted, short
from dynamis.errors import InputError, printable
from dynamis.kinematics.closures import Closure, closure_rows
from dynamis.kinematics.file_closures import closures
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric
from dynamis.spatial import Inertia
from dynamis.tolerances import FILE_PRECISION, LOOP_RANK_TOLERANCE, RECURSION_ROUNDING

Array = npt.NDArray[Any]

SPEED, ACCELERATION = 1.5, 3.0  # rad/s, rad/s²; m/s and m/s²: largest rates of the random states
STATES_OF_LOOPS = 5  # random configurations at which closures are compared
WORDS = {
    "viscous": "viscous friction", "coulomb": "dry friction", "coulomb_bias": "dry friction bias", "rotor": "rotor inertia",
    "stiffness": "spring stiffness", "rest": "spring rest position",
}  # fmt: skip
# of joint parameters and limits: for a revolute coordinate and for a prismatic one
UNITS = {
    "viscous": ("N m s/rad", "N s/m"), "coulomb": ("N m", "N"), "coulomb_bias": ("N m", "N"), "rotor": ("kg m²", "kg"),
    "stiffness": ("N m/rad", "N/m"), "rest": ("rad", "m"), "lower": ("rad", "m"), "upper": ("rad", "m"),
    "velocity": ("rad/s", "m/s"), "effort": ("N m", "N"),
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class Difference:
    """One difference: the property, its link or joint, the two values, and their difference (infinite if one has no limit).

    ``effect`` is the RMS torque difference it causes, relative to the RMS torque of the joint where it is largest (``joint``);
    ``torque`` is the same in N m or N. Both are None if no torque changes, as for a limit.
    """

    what: str
    where: str
    first: Any
    second: Any
    change: float
    unit: str
    effect: float | None = None
    torque: float | None = None
    joint: str = ""

    def __repr__(self) -> str:
        effect = "" if self.effect is None else f", {100.0 * self.effect:.3g} % of the torque of {printable(self.joint)}"
        finite = np.isfinite(self.change)
        change = f"{self.change:+.4g} {self.unit}".strip() if finite else f"{self.first:g} and {self.second:g}"
        return short(f"<Difference of {printable(self.where)}: {self.what}, {change}{effect}>")

    _repr_html_ = as_table


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison:
    """Differences between two robots, the largest effect on the torques first.

    ``torques`` and ``torque_differences`` are RMS values over random states, per joint of the first robot; ``terms`` splits
    the latter by term. All are empty if the robots do not correspond; ``obstacles`` then gives the reasons.
    """

    first: Robot
    second: Robot
    differences: tuple[Difference, ...]
    obstacles: tuple[str, ...]
    notes: tuple[str, ...]
    torques: Array
    torque_differences: Array
    largest: Array
    terms: dict[str, Array]
    states: int

    @property
    def relative(self) -> Array:
        """RMS torque difference divided by RMS torque, per joint; see ``relative_to``."""
        return self.torque_differences / self.relative_to

    @property
    def relative_to(self) -> Array:
        """The RMS torque of each joint, at least 0.1 % of the largest one: differences of unloaded joints count little."""
        return _scale(self.torques)

    @property
    def worst(self) -> float:
        """The largest relative difference; infinite for robots that do not correspond."""
        return np.inf if self.obstacles else float(self.relative.max(initial=0.0))

    def differing_limits(self, tolerance: float = 1e-6) -> tuple[Difference, ...]:
        """The limits of joints that differ by more than this relative tolerance."""
        return tuple(d for d in self.differences if d.effect is None and _part(d) > tolerance)

    def same(self, tolerance: float = 1e-6) -> bool:
        """Whether torques and limits agree to this relative tolerance."""
        return self.worst <= tolerance and not self.differing_limits(tolerance)

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        names = self.first.coordinate_names
        return {
            "first": self.first.name, "second": self.second.name, "obstacles": list(self.obstacles),
            "notes": list(self.notes), "states": self.states,
            "torques": [
                {
                    "joint": names[k], "rms": float(self.torques[k]), "rms_difference": float(self.torque_differences[k]),
                    "largest_difference": float(self.largest[k]), "relative": float(self.relative[k]),
                    "relative_to": float(self.relative_to[k]),
                }
                for k in range(len(self.torques))
            ],
            "terms": {name: value.tolist() for name, value in self.terms.items()},
            "worst": self.worst if np.isfinite(self.worst) else None,
            "differences": [
                {
                    "what": d.what, "where": d.where, "first": _plain(d.first), "second": _plain(d.second),
                    "change": _plain(d.change), "unit": d.unit, "effect": d.effect, "torque": d.torque, "joint": d.joint,
                }
                for d in self.differences
            ],
        }  # fmt: skip

    def __repr__(self) -> str:
        found = f"{counted(len(self.differences), 'difference')}, largest torque difference {100.0 * self.worst:.3g} %"
        found = f"no correspondence: {self.obstacles[0]}" if self.obstacles else found
        return short(f"<ModelComparison of {printable(self.first.name)} with {printable(self.second.name)}: {found}>")

    def _repr_html_(self) -> str:
        return comparison_card(self)


def compare(
    first: Robot, second: Robot, *, states: int = 200, seed: int = 0, progress: Callable[[float, str], None] | None = None
) -> ModelComparison:
    """Compare two models: structure, masses, centres of mass, inertias, friction, limits, and torques at random states.

    Link frames may differ (a URDF and a Denavit–Hartenberg table of the same arm are the same robot).

    >>> import dynamis as dy
    >>> arm = dy.load("ur5e")
    >>> found = dy.compare(arm, arm.replace(payload=dy.solids.sphere(0.05, mass=1.0)))
    >>> found.same(), found.differences[0].what
    (False, 'mass')
    """
    if not isinstance(states, int | np.integer) or states < 1:
        raise InputError(f"states=, the number of random states, must be a positive integer such as 200, got {states!r}")
    for robot in (first, second):
        check_numeric(robot)
    tell = progress or _silently
    tell(0.0, "matching")
    pair = pairs(first, second)
    obstacles = pair.obstacles or _differing_loops(pair)
    nothing = np.zeros(0)
    if obstacles or not first.n:
        return ModelComparison(first, second, (), obstacles, pair.notes, nothing, nothing, nothing, {}, 0)
    rng = np.random.default_rng(seed)
    speed = np.minimum(first.limits["velocity"], SPEED)
    q, v = first.random(rng, states), rng.uniform(-1.0, 1.0, (states, first.n)) * speed
    a = rng.uniform(-ACCELERATION, ACCELERATION, (states, first.n))
    other = pair.state_of_second(q), pair.rates_of_second(v), pair.rates_of_second(a)
    back = pair.coordinates
    tell(0.2, "torques of the first robot")
    mine = first.torque_ledger(q, v, a)
    tell(0.4, "torques of the second robot")
    theirs = second.torque_ledger(*other)
    tau, change = mine.total, theirs.total[..., back] - mine.total
    terms = {name: _rms(theirs.as_dict()[name][..., back] - value) for name, value in mine.as_dict().items()}
    tell(0.6, "effects")
    found = _Effects(pair, first.regressor(q, v, a), change, _rms(tau)).found()
    order = sorted(found, key=lambda d: -1.0 if d.effect is None else d.effect, reverse=True)
    return ModelComparison(
        first, second, tuple(order), (), pair.notes, _rms(tau), _rms(change), np.abs(change).max(axis=0), terms, states
    )


def _differing_loops(pair: Pairs) -> tuple[str, ...]:
    """A sentence if the closures of the two robots do not constrain them alike: the rows H, and the step H⁺ h that closes h."""
    both = [closures(robot) for robot in (pair.first, pair.second)]
    if not any(both):
        return ()
    if all(both):
        rng, different = np.random.default_rng(0), False
        for q in pair.first.random(rng, STATES_OF_LOOPS):
            (P, p), (R, r) = map(_constrained, (pair.first, pair.second), both, (q, pair.state_of_second(q)))
            back = pair.coordinates
            different |= max(np.abs(R[np.ix_(back, back)] - P).max(), np.abs(r[back] - p).max()) > FILE_PRECISION
        if not different:
            return ()
    kinds = [", ".join(sorted({type(closure).__name__ for closure in x})) for x in both]
    names = [f"{counted(len(x), 'closure')} ({kind})" if x else "none" for x, kind in zip(both, kinds, strict=True)]
    return (f"loops are closed differently: {names[0]} in the first robot, {names[1]} in the second",)


def _constrained(robot: Robot, closed_by: tuple[Closure, ...], q: Array) -> tuple[Array, Array]:
    """H⁺ H and H⁺ h at a configuration."""
    h, H, _ = (np.asarray(x, dtype=float) for x in closure_rows(robot, closed_by, q, np.zeros(robot.n)))
    inverse = np.linalg.pinv(H, rcond=LOOP_RANK_TOLERANCE)
    return inverse @ H, inverse @ h


class _Effects:
    """The torque effect of each difference: of parameters individually, by the regressor; of the rest jointly."""

    def __init__(self, pair: Pairs, Y: Array, change: Array, torques: Array) -> None:
        self.pair, self.Y, self.torques = pair, Y, torques
        self.left = change.copy()  # torque differences not caused by parameters
        self.names = pair.first.coordinate_names

    def found(self) -> list[Difference]:
        first, second = self.pair.first.model, self.pair.second.model
        own = link_columns(first)
        found = [d for pair in self.pair.bodies if pair.i in own for d in self._body(own[pair.i].start, pair)]
        start = 10 * len(own)
        for k, m in enumerate(self.pair.coordinates):
            for p, name in enumerate(JOINT_PARAMETERS):
                one, two = float(getattr(first, name)[k]), float(getattr(second, name)[m])
                step = self.Y[..., start + len(JOINT_PARAMETERS) * k + p] * (two - one)
                self.left -= step
                if _differ(one, two):
                    d = Difference(WORDS[name], self.names[k], one, two, two - one, self._unit(name, k))
                    found.append(self._with_effect(d, step))
            if first.stiffness[k] and _differ(float(first.rest[k]), float(second.rest[m])):
                one, two = float(first.rest[k]), float(second.rest[m])
                step = np.zeros_like(self.left)
                step[:, k] = first.stiffness[k] * (one - two)
                d = Difference(WORDS["rest"], self.names[k], one, two, two - one, self._unit("rest", k))
                found.append(self._with_effect(d, step))
        return found + self._geometry() + self._limits()

    def _body(self, start: int, pair: Pair) -> list[Difference]:
        A, B = self.pair.first.model.with_locked_rotors(pair.i), self.pair.inertia_of_second(pair)
        Y = self.Y[..., start : start + 10]
        self.left -= Y @ (B.parameters - A.parameters)
        m = float(A.mass), float(B.mass)
        c = [x.com if x.mass else np.zeros(3) for x in (A, B)]
        I = [x.tensor_about_com if x.mass else x.tensor for x in (A, B)]
        # one of the three changed, the others as they are in the first robot
        changed = {
            "mass": (Inertia.about_com(m[1], c[0], I[0]), m[0], m[1], m[1] - m[0], "kg", abs(m[0]) + abs(m[1])),
            "centre of mass": (Inertia.about_com(m[0], c[1], I[0]), c[0], c[1], _size(c[1] - c[0]), "m", _size(c[0]) + 1e-3),
            "inertia": (
                Inertia.about_com(m[0], c[0], I[1]),
                I[0],
                I[1],
                _size(I[1] - I[0]),
                "kg m²",
                _size(I[0]) + _size(I[1]),
            ),
        }
        found = []
        for what, (inertia, one, two, change, unit, scale) in changed.items():
            if abs(change) > 1e3 * RECURSION_ROUNDING * scale:
                step = Y @ (inertia.parameters - A.parameters)
                found.append(self._with_effect(Difference(what, pair.name, one, two, change, unit), step))
        return found

    def _geometry(self) -> list[Difference]:
        """Joint placements, joint axes and gravity: their joint effect is the remainder after the parameters."""
        found = [
            Difference(f"joint {what}", pair.name, None, None, change, unit)
            for pair in self.pair.bodies
            for what, change, unit in self.pair.joint_change(pair)
            if change > 1e-9
        ]
        g = [np.asarray(robot.model.gravity, dtype=float) for robot in (self.pair.first, self.pair.second)]
        if _size(g[1] - g[0]) > 1e-9:
            found.append(Difference("gravity", "the world", g[0], g[1], _size(g[1] - g[0]), "m/s²"))
        return [self._with_effect(d, self.left) for d in found]

    def _limits(self) -> list[Difference]:
        one, two = self.pair.first.limits, self.pair.second.limits
        return [
            Difference(f"{kind} limit", self.names[k], float(one[kind][k]), float(two[kind][m]),
                       float(two[kind][m]) - float(one[kind][k]), self._unit(kind, k))
            for k, m in enumerate(self.pair.coordinates) for kind in one if _differ(float(one[kind][k]), float(two[kind][m]))
        ]  # fmt: skip

    def _unit(self, name: str, k: int) -> str:
        """The unit of a joint parameter or limit of the first robot's coordinate k."""
        return UNITS[name][0 if self.pair.first.model.coordinates[k].revolute else 1]

    def _with_effect(self, d: Difference, step: Array) -> Difference:
        torque = _rms(step)
        part = torque / _scale(self.torques)
        k = int(part.argmax())
        return Difference(d.what, d.where, d.first, d.second, d.change, d.unit, float(part[k]), float(torque[k]), self.names[k])


def _silently(_fraction: float, _name: str) -> None:
    """A progress function that does nothing."""


def _rms(x: Array) -> Array:
    return np.asarray(np.sqrt(np.mean(x * x, axis=0)))


def _scale(torques: Array) -> Array:
    # differences of weakly loaded joints are related to this part of the largest torque
    return np.maximum(torques, max(1e-3 * float(torques.max(initial=0.0)), 1e-300))


def _size(x: Array) -> float:
    return float(np.linalg.norm(np.asarray(x, dtype=float)))


def _differ(one: float, two: float) -> bool:
    """Whether two values differ by more than rounding; an infinite one is a limit that a robot does not have."""
    size = max(abs(one), abs(two))
    return one != two and (not np.isfinite(size) or abs(two - one) > RECURSION_ROUNDING * size)


def _part(d: Difference) -> float:
    """The relative difference of a limit."""
    size = max(abs(d.first), abs(d.second))
    return abs(d.change) / size if np.isfinite(size) else np.inf


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value if value is None or np.isfinite(value) else None
