"""A robot among obstacles: collisions and distances of its links, with each other and with the obstacles."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.jacobian import joint_twists
from dynamis.algorithms.registry import Algorithm
from dynamis.collision.clearance import Clearance, clearance
from dynamis.collision.geometry import link_parts
from dynamis.collision.obstacle import Obstacle
from dynamis.collision.pairs import Pair, candidate_pairs
from dynamis.collision.placement import PartPairs, Placed, Witness
from dynamis.display import as_table, card, counted, flat, short
from dynamis.errors import InputError, ModelError, printable, unknown_name
from dynamis.kinematics.ik_problem import check_robot
from dynamis.model.diagnostics import Report
from dynamis.model.readers.srdf import read_srdf
from dynamis.robot import Robot
from dynamis.spatial import cross
from dynamis.tolerances import NEGLIGIBLE

Array = npt.NDArray[Any]
Function = Callable[[Any], Array]

POSTURES, APART_IN = 200, 10  # random; a pair that is apart in at most so many of them is left out, as in MoveIt
STATES_AT_ONCE, POSTURES_AT_ONCE = 1000, 20  # of a batch; most pairs are found apart in the first postures
JOINT_TWISTS = Algorithm("joint_twists", joint_twists, ("q",), "twists", "joint axes in the world")


@dataclass(frozen=True, eq=False, repr=False)
class Nearest:
    """Two links, or a link and an obstacle: their signed distance, negative where they overlap, and where they are nearest.

    ``points`` (2, 3) are the nearest points of the first and the second in the world; ``normal`` is the unit vector from the
    first to the second: distance = normal · (points[1] − points[0]).
    """

    pair: Pair
    distance: float
    points: Array
    normal: Array

    @property
    def status(self) -> str:
        """How far the two are apart, or how deep they overlap."""
        pair = " and ".join(map(printable, self.pair))
        return f"{pair} overlap by {-self.distance:.3g} m" if self.distance < 0.0 else f"{pair} are {self.distance:.3g} m apart"

    def __repr__(self) -> str:
        return short(f"<Nearest {' and '.join(map(printable, self.pair))}: {self.distance:.6g} m>")

    _repr_html_ = as_table


class Scene:
    """A robot among obstacles: which links collide, how far they are apart, and how that changes with the joints.

    Each link is represented by its collision shapes, or by its visual ones where it has none; a mesh by its convex hull.
    ``missing`` says which links have no geometry, and why. Not checked are links on one rigid body, adjacent links (connected
    by a joint, or by several with only links without geometry between them), links that collide (are within the margin) in at
    least 95 % of 200 random postures or have the same distance in all of them, those that the robot's file excludes
    (``<exclude>`` of MJCF), and the pairs in ``exclude``. The ``<disable_collisions>`` of an SRDF file (``srdf``: its path or
    text) replace the random postures. ``pairs`` are the pairs that are checked, ``excluded`` says why the others are not.

    ``obstacles`` maps names to an `Obstacle`, at rest or carried by a link. All links are checked with it that move relative to
    it, and carried ones with those at rest. Pairs at a distance up to ``margin`` count as collisions.

    Requires the extra ``collision``: pip install 'dynamis[collision]'.

    >>> import dynamis as dy
    >>> robot = dy.load("ur5e")
    >>> table = dy.collision.Obstacle("box", (1.0, 1.0, 0.1), (0.0, 0.0, -0.06))
    >>> scene = dy.collision.Scene(robot, obstacles={"table": table})
    >>> q = [0.0, -1.2, 1.5, -0.4, 0.8, 0.1]
    >>> scene.in_collision(q), round(scene.distance(q), 4)
    (False, 0.0125)
    """

    def __init__(
        self,
        robot: Robot,
        *,
        srdf: Any = None,
        exclude: Iterable[Pair] = (),
        obstacles: Mapping[str, Obstacle] | None = None,
        margin: float = 0.0,
    ) -> None:
        check_robot(robot)
        self.robot = robot
        self.margin = _length(margin, "margin")
        self.obstacles = _checked_obstacles(robot, obstacles)
        description = robot.description
        self._parts, self.missing = link_parts(description)
        self.links = tuple(self._parts)
        if not self.links:
            raise ModelError(
                f"no link of robot {printable(robot.name)} has a shape that can collide ({_reasons(self.missing)}); add "
                "<collision> or <visual> elements to its file, or shapes to its links"
            )
        unread = {name: why for name, why in self.missing.items() if why != "no shape"}
        report = Report(robot.name)
        for name, why in unread.items():
            report.warn("no-collision-geometry", f"link {printable(name)}", why, "", "", "it is not checked for collisions")
        report.emit_warnings(2)
        disabled = None
        if srdf is not None:
            findings = Report("")
            disabled = read_srdf(srdf, [link.name for link in description.links], findings)
            findings.emit_warnings(2)
        self._chosen = _checked_pairs(exclude, [*robot.link_names, *self.obstacles])
        pairs, self.excluded = candidate_pairs(description, robot.model, self.links, self._chosen, disabled)
        if disabled is None or not (disabled.pairs or disabled.default):
            enabled = [pair for pair in pairs if disabled is not None and disabled.enables(pair)]
            pairs = enabled + self._changing([pair for pair in pairs if pair not in enabled])
        self._own_pairs = tuple(pairs)
        self._place()

    def with_obstacles(self, obstacles: Mapping[str, Obstacle] | None) -> Scene:
        """The same robot, pairs and margin among other obstacles."""
        scene = object.__new__(Scene)
        scene.__dict__.update({k: v for k, v in self.__dict__.items() if k != "_joint_columns"})
        scene.obstacles = _checked_obstacles(self.robot, obstacles)
        scene._place()
        return scene

    def __getstate__(self) -> dict[str, Any]:
        """All but the objects of coal, which are made again."""
        return {k: v for k, v in self.__dict__.items() if k not in ("_parts", "_part_pairs", "_body", "_joint_columns")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._parts = link_parts(self.robot.description)[0]
        self._place()

    def _place(self) -> None:
        """Add the pairs of obstacles with links, and with each other, that move relative to each other."""
        frames = self.robot.model.frames
        body = {name: frames[name].body for name in self.links}
        body |= {name: 0 if x.frame is None else frames[x.frame].body for name, x in self.obstacles.items()}
        others = [*((link, name) for name in self.obstacles for link in self.links), *combinations(self.obstacles, 2)]
        apart = [pair for pair in others if body[pair[0]] != body[pair[1]] and frozenset(pair) not in self._chosen]
        self._body, self.pairs = body, (*self._own_pairs, *apart)
        self._part_pairs = self._paired(self.pairs, self.obstacles)

    def _paired(self, pairs: Sequence[Pair], obstacles: Mapping[str, Obstacle]) -> PartPairs:
        names, frames = self.robot.link_names, [*self.links, *(x.frame for x in obstacles.values())]
        number = {name: k for k, name in enumerate((*self.links, *obstacles))}
        owners = [*self._parts.values(), *(x.parts() for x in obstacles.values())]
        places = [len(names) if frame is None else names.index(frame) for frame in frames]  # the world comes last
        return PartPairs(owners, places, [(number[a], number[b]) for a, b in pairs])

    def _changing(self, pairs: list[Pair]) -> list[Pair]:
        """The pairs that neither collide in nearly all of some random postures nor are always equally far apart."""
        part_pairs, first = self._paired(pairs, {}), np.zeros(0)
        apart = dict.fromkeys(range(len(pairs)), 0)  # in so many postures, of the pairs that may collide in nearly all
        constant = set(apart)
        for placed in self._states(self.robot.random(0, POSTURES), part_pairs, POSTURES_AT_ONCE):
            if not len(first):
                first = np.array([placed.distance(k) for k in range(len(pairs))])
            collide = placed.touching(set(apart), self.margin)
            apart = {k: n + (k not in collide) for k, n in apart.items() if n + (k not in collide) <= APART_IN}
            constant = {k for k in constant if abs(placed.distance(k) - first[k]) < NEGLIGIBLE}
            if not apart and not constant:
                break
        self.excluded |= {pairs[k]: f"always {first[k]:.4g} m apart" for k in sorted(constant)}
        self.excluded |= {pairs[k]: f"in collision in {POSTURES - n} of {POSTURES} random postures" for k, n in apart.items()}
        return [pair for k, pair in enumerate(pairs) if k not in apart.keys() | constant]

    def _states(self, q: Array, part_pairs: PartPairs | None = None, at_once: int = STATES_AT_ONCE) -> Iterator[Placed]:
        """The pairs at each of some configurations (states, nq)."""
        pairs = self._part_pairs if part_pairs is None else part_pairs
        for start in range(0, len(q), at_once):
            X = np.asarray(self.robot.poses(q[start : start + at_once]), dtype=float)
            X = np.concatenate([X, np.broadcast_to(np.eye(4), (len(X), 1, 4, 4))], axis=1)
            yield from map(pairs.at, X)

    def _over(self, q: Any, function: Callable[[Placed], Any], dtype: type, *shape: int) -> Any:
        """A function of each state of a batch; of one state, a scalar where the shape is ()."""
        q = self.robot.inputs.vector(q, self.robot.nq, "q")
        if q.dtype == object:
            raise InputError("q must have numeric entries, not symbols")
        states = q.reshape(-1, self.robot.nq).astype(float)
        found: Array = np.empty((len(states), *shape), dtype=dtype)
        for k, placed in enumerate(self._states(states)):
            found[k] = function(placed)
        result = found.reshape((*q.shape[:-1], *shape))
        return result if result.ndim else result[()].item()

    def in_collision(self, q: Any) -> Any:
        """Whether some pair is at a distance of at most ``margin``: a bool, or an array of them for a batch (…, nq)."""
        found = self._over(q, lambda placed: placed.touches(self.margin), bool)
        self._warn_degrees(q)
        return found

    def distance(self, q: Any, *, within: float = np.inf) -> Any:
        """The smallest signed distance of all pairs in m (…), negative where links overlap; infinite if there is no pair.

        Where it exceeds ``within``, that is returned instead, which is quicker.
        """
        found = self._distance(q, within)
        self._warn_degrees(q)
        return found

    def _distance(self, q: Any, within: float = np.inf) -> Any:
        return self._over(q, lambda placed: min((w.distance for w in placed.nearest(1, within)), default=within), float)

    def _warn_degrees(self, q: Any) -> None:
        """Warn the caller of a method of checked configurations that look like degrees."""
        self.robot.inputs.warn_degrees_of_states(np.asarray(q, dtype=float).reshape(-1, self.robot.nq), 4)

    def distances(self, q: Any, *, within: float = np.inf) -> Array:
        """The signed distance of each of ``pairs`` in m (…, pairs); ``within`` where it is larger, which is quicker."""
        count = len(self.pairs)

        def every(placed: Placed) -> Array:
            found = np.full(count, within)
            for w in placed.nearest(count, within):
                found[w.pair] = w.distance
            return found

        return np.asarray(self._over(q, every, float, count))

    def nearest(self, q: Any, count: int = 1, *, within: float = np.inf) -> list[Nearest]:
        """The nearest pairs of one configuration, nearest first: at most ``count``, and not farther apart than ``within``.

        >>> import dynamis as dy
        >>> robot = dy.load("ur5e")
        >>> dy.collision.Scene(robot).nearest(robot.home(), 1)[0].pair
        ('base', 'upper_arm_link')
        """
        found = self._nearest(q, count, within)
        self._warn_degrees(q)
        return found

    def _nearest(self, q: Any, count: int = 1, within: float = np.inf) -> list[Nearest]:
        return [Nearest(self.pairs[w.pair], w.distance, w.points, w.normal) for w in self._witnesses(q, count, within)]

    def distance_gradient(self, q: Any) -> Array:
        """The gradient of the smallest distance with respect to v (…, n): ḋ = gradient · v.

        nᵀ (J_2 − J_1) with the normal n and the Jacobians of the nearest points. The distance has no gradient where two pairs
        or two points are equally near; that of one of them is returned.
        """

        def smallest(state: Array) -> Array:
            rows = self._gradients(state, self._witnesses(state, 1))
            return rows[0] if len(rows) else np.zeros(self.robot.n)

        return self._over_states(q, smallest, self.robot.n)

    def distance_gradients(self, q: Any, *, within: float = np.inf) -> Array:
        """The gradients of the distances of all ``pairs`` (…, pairs, n); zero where a distance exceeds ``within``."""

        def every(state: Array) -> Array:
            found = np.zeros((len(self.pairs), self.robot.n))
            witnesses = self._witnesses(state, len(self.pairs), within)
            found[[w.pair for w in witnesses]] = self._gradients(state, witnesses)
            return found

        return self._over_states(q, every, len(self.pairs), self.robot.n)

    def _over_states(self, q: Any, function: Callable[[Array], Array], *shape: int) -> Array:
        q = self.robot.inputs.vector(q, self.robot.nq, "q")
        found = [function(state) for state in q.reshape(-1, self.robot.nq)]
        return np.array(found).reshape((*q.shape[:-1], *shape))

    def barrier(self, margin: float | None = None, *, within: float = 0.1) -> tuple[Function, Function]:
        """Functions (h, ∂h/∂v) of q for ``barriers=`` of `differential_inverse_kinematics`: h = distance − margin ≥ 0.

        They have rows for each pair with h ≤ ``within``, in m, whose distance changes with v: one for its nearest points, and
        four for those that become the nearest if one link tilts a little, since the points of edges and faces jump. ``margin``
        is that of the scene unless given.
        """
        keep = self.margin if margin is None else _length(margin, "margin")
        near = keep + _length(within, "within")

        @functools.lru_cache(maxsize=1)
        def found(q: bytes) -> tuple[Array, Array]:
            state = np.frombuffer(q)
            placed = next(self._states(state[None]))
            nearest = placed.nearest(len(self.pairs), near)
            witnesses = [*nearest, *(other for w in nearest for other in placed.tilted(w))]
            distances, gradients = np.array([w.distance for w in witnesses]), self._gradients(state, witnesses)
            changing = np.abs(gradients).max(axis=1, initial=0.0) > NEGLIGIBLE
            return distances[changing] - keep, gradients[changing]

        def value(q: Any) -> Array:
            return found(np.asarray(q, dtype=float).tobytes())[0]

        def gradient(q: Any) -> Array:
            return found(np.asarray(q, dtype=float).tobytes())[1]

        return value, gradient

    def along(self, motion: Any, *, samples: int = 201) -> Clearance:
        """The smallest distance along a motion, and where it occurs.

        ``motion`` is one of `trajectories`, a simulated or optimal motion, or a pair of times (N) and configurations (N, nq),
        between which the motion takes the shortest way. It is examined at so many ``samples`` or more, and then about the
        lowest distances found; dips shorter than the time between samples may be missed.

        >>> import dynamis as dy
        >>> robot = dy.load("ur5e")
        >>> move = dy.trajectories.joint_move([0, -1.5, 1.5, 0, 0, 0], [0, -1.5, 2.5, -1.5, 0, 0], duration=2.0)
        >>> dy.collision.Scene(robot).along(move).free
        True
        """
        return clearance(self.robot, motion, samples, self.margin, self._distance, self._nearest)

    def _witnesses(self, q: Any, count: int, within: float = np.inf) -> list[Witness]:
        if not isinstance(count, int | np.integer) or count < 0:
            raise InputError(f"count must be a non-negative integer, got {count!r}")
        state = self.robot.inputs.one_state(q, self.robot.nq, "q")
        return next(self._states(state[None])).nearest(count, within) if count else []

    def _gradients(self, q: Array, witnesses: list[Witness]) -> Array:
        """nᵀ (J_2 − J_1) of some pairs (pairs, n)."""
        rows = np.zeros((len(witnesses), self.robot.n))
        twists = np.asarray(self.robot.evaluate(JOINT_TWISTS, q), dtype=float) if witnesses else None
        for k, w in enumerate(witnesses):
            for sign, name, point in zip((-1.0, 1.0), self.pairs[w.pair], w.points, strict=True):
                if body := self._body[name]:
                    line = np.concatenate([w.normal, cross(point, w.normal)])  # Plücker coordinates of the normal
                    rows[k] += sign * (twists @ line) @ self._joint_columns[body]
        return rows

    @functools.cached_property
    def _joint_columns(self) -> list[Array]:
        """For each body, a matrix (columns of all joints, n): which of them move it, and of which entry of v they are."""
        model = self.robot.model
        columns = [(i, k) for i, body in model.moving for k in body.dof]
        chosen = []
        for body in range(len(model.bodies)):
            moving = set(model.ancestors(body))
            matrix = np.zeros((len(columns), model.n))
            for row, (i, k) in enumerate(columns):
                matrix[row, k] = i in moving
            chosen.append(matrix)
        return chosen

    def __repr__(self) -> str:
        without = f"; no geometry: {', '.join(map(printable, self.missing))}" if self.missing else ""
        return short(f"<Scene of {printable(self.robot.name)}: {self._counts()}{without}>")

    def _counts(self) -> str:
        numbers = {"link": self.links, "pair": self.pairs, "obstacle": self.obstacles}
        return ", ".join(counted(len(items), name) for name, items in numbers.items())

    def _repr_html_(self) -> str:
        rows = [(f"{a}, {b}", flat(d)) for (a, b), d in zip(self.pairs, self.distances(self.robot.home()), strict=True)]
        return card(f"Scene of {self.robot.name}", [self._counts()], ("pair", "distance at home, m"), rows)


def _checked_pairs(pairs: Any, names: list[str]) -> set[frozenset[str]]:
    found = set()
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"exclude= takes pairs of names, such as [('base', 'wrist')], got {pair!r}")
        for name in pair:
            if name not in names:
                raise unknown_name("link or obstacle", name, names)
        found.add(frozenset(pair))
    return found


def _checked_obstacles(robot: Robot, obstacles: Any) -> dict[str, Obstacle]:
    given = {} if obstacles is None else obstacles
    if not isinstance(given, Mapping) or not all(isinstance(x, Obstacle) for x in given.values()):
        raise InputError('obstacles= must map names to obstacles, such as {"table": Obstacle("box", (1, 1, 0.1))}')
    if taken := [name for name in given if name in robot.model.frames]:
        raise InputError(f"the obstacle {printable(taken[0])} has the name of a link: choose another")
    for obstacle in given.values():
        if obstacle.frame is not None:
            robot.model.frame(obstacle.frame)
    return dict(given)


def _length(value: Any, name: str) -> float:
    if not isinstance(value, int | float | np.floating | np.integer) or not 0.0 <= value < np.inf:
        raise InputError(f"{name} must be a length in m, zero or positive, got {value!r}")
    return float(value)


def _reasons(missing: Mapping[str, str]) -> str:
    return "; ".join(f"{printable(name)}: {why}" for name, why in list(missing.items())[:4])
