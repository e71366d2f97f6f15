"""Force capability at a frame within torque limits: the force polytope and the largest force along a direction."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, counted, plotted, polytope_card, short
from dynamis.errors import InputError, SingularError, printable, unknown_name
from dynamis.kinematics.directions import ROWS, Directions, directions_of
from dynamis.kinematics.state_measures import effort_limits
from dynamis.robot import Robot
from dynamis.statics.convention import one_state, side, torques_at_rest
from dynamis.statics.describe import push_text, readable, wrench_text
from dynamis.tolerances import NEGLIGIBLE, RANK_TOLERANCE, SOLUTION_TOLERANCE

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class ForcePolytope:
    """The wrenches w (m components in the task's directions) for which every torque is within its limit: ``A w ≤ b``.

    ``by`` is the sign convention of w, ``limits`` names the torque limit of each row of A. ``vertices`` (V, m) are those of
    the bounded part, orthogonal to ``unbounded`` (m × k), the directions without a bound. Without vertices the set is empty:
    no wrench at the frame keeps all torques within their limits.
    """

    robot: Robot
    q: Array
    task: Directions
    by: str
    A: Array
    b: Array
    limits: tuple[str, ...]
    basis: Array
    unbounded: Array
    vertices: Array

    @property
    def empty(self) -> bool:
        return not len(self.vertices)

    @property
    def bounded(self) -> bool:
        return bool(self.unbounded.shape[1] == 0)

    @property
    def span(self) -> int:
        """The dimension of the bounded part; lower than the number of bounded directions if the set is flat."""
        if self.empty:
            return 0
        away = np.linalg.svd(self.vertices - self.vertices[0], compute_uv=False)
        return int((away > 1e-9 * max(float(np.abs(self.vertices).max(initial=0.0)), 1e-300)).sum())

    def contains(self, wrench: Any, slack: float = NEGLIGIBLE) -> bool:
        """Whether a wrench (m) can be held within the torque limits."""
        w = np.asarray(wrench, dtype=float)
        if w.shape != (self.task.size,):
            raise InputError(
                f"the wrench must have {counted(self.task.size, 'number')} ({', '.join(self.task.names)}), got shape {w.shape}"
            )
        return bool((self.A @ w <= self.b + slack * (1.0 + np.abs(self.b))).all())

    @cached_property
    def volume(self) -> float:
        """The length [N], area [N²] or volume of the bounded part."""
        y = self.vertices @ self.basis
        if self.span < y.shape[1] or not y.shape[1]:
            return 0.0
        if y.shape[1] == 1:
            return float(np.ptp(y))
        from scipy.spatial import ConvexHull

        return float(ConvexHull(y).volume)

    @property
    def sentences(self) -> tuple[str, ...]:
        if self.empty:
            return ("the torques at rest exceed the torque limits here for every force at the frame",)
        point = self.robot.pose(self.q, self.task.frame.name)[:3, 3]
        carried = (self.task.selection.T @ readable(self.unbounded)).T
        J = self.robot.jacobian(self.q, self.task.frame.name)
        return tuple(f"{wrench_text(w, point)} is unbounded: {_unbounded_reason(J.T @ w, self.task)}" for w in carried)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Plot the polygon (two directions) or polyhedron (three); returns the axes."""
        return plotted("force_polytope", self, path)

    def __repr__(self) -> str:
        size = (
            "empty"
            if self.empty
            else f"{counted(len(self.vertices), 'vertex', 'vertices')}, largest "
            f"{np.linalg.norm(self.vertices, axis=1).max():.4g} N"
        )
        size += "" if self.bounded else f", unbounded in {counted(self.unbounded.shape[1], 'direction')}"
        at = f"{printable(self.robot.name)} at {printable(self.task.frame.name)}"
        return short(f"<ForcePolytope of {at}: {', '.join(self.task.names)}, {size}>")

    def _repr_html_(self) -> str:
        return polytope_card(self)


@dataclass(frozen=True, eq=False, repr=False)
class LargestForce:
    """The largest wrench along a direction: its size, the joint torques, and the joints at their limits."""

    size: float
    direction: Array
    wrench: Array
    torque: Array
    limited_by: tuple[str, ...]
    sentence: str

    @property
    def unbounded(self) -> bool:
        return bool(np.isinf(self.size))

    def __repr__(self) -> str:
        return short(f"<LargestForce {self.size:.4g}: {self.sentence}>")

    _repr_html_ = as_table


def force_polytope(
    robot: Robot, q: Any, frame: str | None = None, *, rows: Any = None, torque_limits: Any = None, gravity: bool = True,
    by: str = "environment",
) -> ForcePolytope:  # fmt: skip
    """Force polytope: all wrenches at a frame in static equilibrium within the torque limits, |g(q) − Jᵀ w| ≤ τ_max.

    ``rows`` selects the components of the wrench (by default a force in the directions of the position, no moment);
    ``torque_limits`` defaults to the robot's effort limits; ``gravity=False`` omits g(q). Wrenches are those the environment
    exerts on the robot, or with ``by="robot"`` those the robot exerts.

    >>> import dynamis as dy
    >>> arm = dy.load("planar_2r_melchiorri").replace(gravity=(0, 0, 0))
    >>> found = dy.statics.force_polytope(arm, [0.0, 1.5707963267948966], torque_limits=10.0)
    >>> len(found.vertices), round(found.volume, 6)  # a parallelogram of 4 τ₁ τ₂ / |det J|
    (4, 400.0)
    """
    at = one_state(robot, q)
    task = directions_of(robot, frame, rows)
    A, b = _half_spaces(robot, at, task, torque_limits, gravity, by)
    limited = np.isfinite(b)
    names = [f"{name} at {sign} limit" for sign in "+−" for name in robot.coordinate_names]
    A, b = A[limited], b[limited]
    _, s, Vt = np.linalg.svd(A)
    r = int((s > max(RANK_TOLERANCE * float(s.max(initial=0.0)), task.noise)).sum())
    basis = Vt[:r].T
    limits = tuple(itertools.compress(names, limited))
    return ForcePolytope(robot, at, task, by, A, b, limits, basis, Vt[r:].T, _corners(A @ basis, b) @ basis.T)


def _half_spaces(robot: Robot, q: Array, task: Directions, limits: Any, gravity: bool, by: str) -> tuple[Array, Array]:
    """A w ≤ b of the wrenches w that ``by`` exerts, from both limits of each torque g ∓ Jᵀ w."""
    most = effort_limits(robot, limits)
    g = torques_at_rest(robot, q, gravity)
    load = -side(by) * (task.selection @ robot.jacobian(q, task.frame.name)).T
    return np.vstack([load, -load]), np.concatenate([most - g, most + g])


def _corners(A: Array, b: Array) -> Array:
    """The vertices (V, r) of a bounded set A y ≤ b, in order around it where r = 2."""
    r = A.shape[1]
    norms = np.linalg.norm(A, axis=1)
    moving = norms > RANK_TOLERANCE * max(float(norms.max(initial=0.0)), 1e-300)
    if (b[~moving] < -NEGLIGIBLE * np.abs(b).max(initial=1.0)).any():
        return np.zeros((0, r))
    if r == 0:
        return np.zeros((1, 0))
    A, b = A[moving] / norms[moving, None], b[moving] / norms[moving]
    centre, room = _deepest_point(A, b)
    size = max(float(np.abs(b).max()), 1e-300)
    if room < -NEGLIGIBLE * size:
        return np.zeros((0, r))
    if room <= NEGLIGIBLE * size:
        return _flat_corners(A, b / size, centre / size) * size
    if r == 1:
        y = b / A[:, 0]
        return np.array([[y[A[:, 0] < 0].max()], [y[A[:, 0] > 0].min()]])
    from scipy.spatial import HalfspaceIntersection

    found = HalfspaceIntersection(np.column_stack([A, -b / size]), centre / size).intersections * size
    found = _distinct(found, 1e-9 * size)
    if r == 2:
        around = found - found.mean(axis=0)
        found = found[np.argsort(np.arctan2(around[:, 1], around[:, 0]))]
    return found


def _flat_corners(A: Array, b: Array, inside: Array) -> Array:
    """The vertices of a set A y ≤ b without interior, computed in its affine hull."""
    from scipy.optimize import linprog

    bounds = [(None, None)] * A.shape[1]
    found = [linprog(row, A_ub=A, b_ub=b + NEGLIGIBLE, bounds=bounds, method="highs") for row in A]
    room = np.array([limit - x.fun if x.status == 0 else np.inf for limit, x in zip(b, found, strict=True)])
    held = room <= max(SOLUTION_TOLERANCE, float(room.min()))
    E, e = A[held], b[held]
    _, s, Vt = np.linalg.svd(E)
    N = Vt[int((s > SOLUTION_TOLERANCE * s[0]).sum()) :].T
    start = inside + np.linalg.lstsq(E, e - E @ inside, rcond=SOLUTION_TOLERANCE)[0]
    within = _corners(A[~held] @ N, b[~held] - A[~held] @ start) if N.shape[1] else np.zeros((1, 0))
    return np.asarray(start + within @ N.T) if len(within) else inside[None]


def _deepest_point(A: Array, b: Array) -> tuple[Array, float]:
    """The centre and radius of the largest ball inside; the radius is negative for an empty set."""
    from scipy.optimize import linprog

    r, size = A.shape[1], max(float(np.abs(b).max()), 1e-300)
    ball = np.column_stack([A, np.ones(len(A))])
    found = linprog([*np.zeros(r), -1.0], A_ub=ball, b_ub=b / size, bounds=[(None, None)] * (r + 1), method="highs")
    return found.x[:r] * size, float(found.x[r]) * size


def _distinct(points: Array, near: float) -> Array:
    kept: list[Array] = []
    for p in points[np.isfinite(points).all(axis=1)]:
        if all(np.linalg.norm(p - k) > near for k in kept):
            kept.append(p)
    return np.array(kept)


def largest_force(
    robot: Robot, q: Any, direction: Any, frame: str | None = None, *, torque_limits: Any = None, gravity: bool = True,
    by: str = "environment", free: Any = (),
) -> LargestForce:  # fmt: skip
    """The largest wrench along a direction in static equilibrium within the torque limits, gravity and springs included.

    ``direction`` has three numbers (a force without moment) or six (f, μ), in world axes. ``free`` names additional wrench
    components, such as ("rx", "ry", "rz"), whose values are chosen to maximise the force. Solved as a linear program: the
    largest s with −τ_max ≤ g − Jᵀ (s d + free part) ≤ τ_max.

    >>> import dynamis as dy
    >>> arm = dy.load("planar_2r_melchiorri").replace(gravity=(0, 0, 0))
    >>> found = dy.statics.largest_force(arm, [0.0, 0.0], (0, 1, 0), torque_limits=(100, 80))
    >>> round(found.size, 6), found.limited_by
    (50.0, ('joint1',))
    """
    from scipy.optimize import linprog

    at = one_state(robot, q)
    d = _direction(direction)
    task = directions_of(robot, frame, "all")
    A, b = _half_spaces(robot, at, task, torque_limits, gravity, by)
    helpers = np.eye(6)[:, [_known_row(x) for x in ((free,) if isinstance(free, str) else free)]]
    columns = np.column_stack([A @ d, A @ helpers])
    columns = np.where(np.abs(columns) < RANK_TOLERANCE * max(float(np.abs(A).max(initial=0.0)), 1e-300), 0.0, columns)
    limited = np.isfinite(b)
    bounds = [(0.0, None)] + [(None, None)] * helpers.shape[1]
    found = linprog([-1.0, *np.zeros(helpers.shape[1])], A_ub=columns[limited], b_ub=b[limited], bounds=bounds, method="highs")
    who = "exerted by the environment" if by == "environment" else "exerted by the robot"
    kind = push_text(d)
    nothing = np.zeros(6)
    if found.status == 3:
        why = _unbounded_reason(robot.jacobian(at, frame).T @ d, task)
        return LargestForce(np.inf, d, nothing, torques_at_rest(robot, at, gravity), (),
                            f"{kind}, {who}, is unbounded: {why}")  # fmt: skip
    if found.status not in (0, 2):
        raise SingularError(f"the linear program for the largest force failed: {found.message}")
    if found.status == 2:
        least = f"the torques at rest exceed the torque limits here with {kind} of any size"
        return LargestForce(0.0, d, nothing, np.full(robot.n, np.nan), _overloaded(robot, at, torque_limits), least)
    s = float(found.x[0])
    w = s * d + helpers @ found.x[1:]
    tau = torques_at_rest(robot, at, gravity) - side(by) * robot.jacobian(at, frame).T @ w
    limits = effort_limits(robot, torque_limits)
    reached = np.abs(tau) >= limits * (1.0 - 1e-7)
    names = tuple(itertools.compress(robot.coordinate_names, reached))
    unit = "N m" if not d[:3].any() else "N"
    return LargestForce(
        s, d, w, np.asarray(tau), names, f"{kind}, {who}: largest magnitude {s:.4g} {unit}, with {_at_limit(names)}"
    )


def _unbounded_reason(torque: Array, task: Directions) -> str:
    """The reason for which a wrench is unbounded."""
    free = float(np.abs(torque).max(initial=0.0)) <= max(RANK_TOLERANCE * task.length, task.noise)
    return "the structure carries it" if free else "the loaded joints have no torque limits"


def _at_limit(names: tuple[str, ...]) -> str:
    return f"{', '.join(names)} at {'its torque limit' if len(names) == 1 else 'their torque limits'}"


def _overloaded(robot: Robot, q: Array, limits: Any) -> tuple[str, ...]:
    return tuple(itertools.compress(robot.coordinate_names, np.abs(torques_at_rest(robot, q)) > effort_limits(robot, limits)))


def _known_row(name: Any) -> int:
    if name not in ROWS:
        raise unknown_name("row", name, ROWS)
    return ROWS.index(name)


def _direction(direction: Any) -> Array:
    try:
        d = np.array(direction, dtype=float)
    except (TypeError, ValueError):
        d = np.zeros(0)
    if d.shape not in ((3,), (6,)) or not np.isfinite(d).all() or not d.any():
        raise InputError(
            f"direction must be 3 numbers (a force) or 6 numbers (f, μ), finite and not all zero; got {direction!r}"
        )
    d = np.concatenate([d, np.zeros(3)]) if len(d) == 3 else d
    part = d[:3] if d[:3].any() else d[3:]
    return np.asarray(d / np.linalg.norm(part))
