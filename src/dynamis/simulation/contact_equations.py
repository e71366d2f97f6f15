"""The equations of a robot with rigid contacts and closed loops, for one state of numbers or symbols.

    M v̇ + C v + g + friction + springs = τ + Jᵀ λ,    J v̇ + J̇ v = a*

Points keep their position (3 rows, forces in world axes), frames their pose (6 rows, wrenches in world axes at the origin),
closures of `dynamis.loops` their equations h(q) = 0. The forces solve D λ = a* − J̇ v − J v̇_free with D = J M⁻¹ Jᵀ. Redundant
rows are allowed: proximal iterations (D + w) λ_{k+1} = b + w λ_k converge to the acceleration, which is unique
[Parikh & Boyd 2014, §4.1.1], and to the forces of least norm. Their rounding errors along internal forces, which D does not
show, are removed in the end.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.configuration_rate import configuration_rate, moved
from dynamis.algorithms.singularity import singular_mass_error
from dynamis.errors import SingularError
from dynamis.kinematics.closures import Closure, closure_rows
from dynamis.model.massless import always_massless
from dynamis.robot import Robot
from dynamis.scalar import factorise, is_number, maximum, regularisation, solve_lower, solve_positive, solve_upper, sqrt, where
from dynamis.spatial.inertia import mirrored
from dynamis.tolerances import EPS, NEGLIGIBLE

Array = npt.NDArray[Any]
PROXIMAL_STEPS = 4


@dataclass(frozen=True, repr=False)
class Contacts:
    """The constraints of a robot: frames held at a point, frames held in their pose, closures; gains of stabilisation."""

    points: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    closures: tuple[Closure, ...] = ()
    alpha: float = 0.0
    beta: float = 0.0
    rank: int | None = None  # of all rows, given where they have a higher one with the loops open (`overconstrained_rank`)

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.points, self.frames, tuple(x.key for x in self.closures), self.alpha, self.beta, self.rank)

    @property
    def form(self) -> tuple[Any, ...]:
        """What code compiled for other constants of the closures has in common with this."""
        return (self.points, self.frames, tuple(x.form for x in self.closures), self.alpha, self.beta, self.rank)

    @property
    def labels(self) -> tuple[str, ...]:
        at_points = [f"{name}: {axis}" for name in self.points for axis in "xyz"]
        at_frames = [f"{name}: {kind} {axis}" for name in self.frames for kind in ("force", "moment") for axis in "xyz"]
        return (*at_points, *at_frames, *(label for closure in self.closures for label in closure.labels))


def constraint_rows(
    robot: Robot, contacts: Contacts, q: Array, v: Array | None = None, constants: Array | None = None
) -> tuple[Array, Array]:
    """(J, J̇ v − a*), with a* of Baumgarte; v is zero by default. ``constants`` are those of the closures."""
    c, rest = contacts, np.zeros(robot.n)
    rates = rest if v is None else v
    J = [robot.jacobian(q, name)[:3] for name in c.points] + [robot.jacobian(q, name) for name in c.frames]
    drift = [robot.acceleration(q, rates, rest, name)[:3] for name in c.points]
    drift += [robot.acceleration(q, rates, rest, name) for name in c.frames]
    if c.closures:
        h, H, bias = closure_rows(robot, c.closures, q, rates, constants)
        J, drift = [*J, H], [*drift, bias + c.beta * c.beta * h if c.beta else bias]
    rows = np.concatenate(J)
    return rows, np.concatenate(drift) + (2.0 * c.alpha * (rows @ rates) if c.alpha else 0.0)


def constrained_accelerations(
    robot: Robot, contacts: Contacts, q: Array, v: Array, tau: Array, target: Any = 0, constants: Array | None = None
) -> Array:
    """(v̇, λ, error) under torques τ, with the accelerations ``target`` of the rows beside those of Baumgarte.

    The error is the largest of the rows of J v̇ = b, relative to 1 + max |v̇|: large near singular configurations only. Where a
    rank is given it is estimated from the condition number of the rows.
    """
    J, drift = constraint_rows(robot, contacts, q, v, constants)
    found, spread = _solved(robot, contacts, q, J, tau - robot.bias(q, v), target - drift)
    a = found[: robot.n]
    return np.append(found, largest(J @ a + drift - target) / (1.0 + largest(a)) if contacts.rank is None else EPS * spread)


def largest(values: Array) -> Any:
    """max |x| of numbers or symbols."""
    return functools.reduce(maximum, np.abs(values), 0.0)


def projected(robot: Robot, contacts: Contacts, q: Array, v: Array, constants: Array | None = None) -> tuple[Array, Array]:
    """A state near the loops after a Newton step onto h = 0, and the velocity closest in kinetic energy with H v = 0."""
    n = robot.n
    h, H, _ = closure_rows(robot, contacts.closures, q, v, constants)
    step = solve_constrained(robot, contacts, q, H, 0.0 * v, -h)[:n]
    q = moved(robot.model, q, configuration_rate(robot.model, q, step))
    H = closure_rows(robot, contacts.closures, q, v, constants)[1]
    return q, solve_constrained(robot, contacts, q, H, robot.mass_matrix(q) @ v, 0.0 * h)[:n]


def factors(robot: Robot, q: Array, more: Any = 0.0) -> tuple[Array, Array]:
    """L and d of M + ``more`` = Lᵀ diag(d) L at q."""
    try:
        return factorise(robot.mass_matrix(q) + more)
    except SingularError:
        raise singular_mass_error(robot.model, q) from None


def solve_constrained(robot: Robot, contacts: Contacts, q: Array, J: Array, r: Array, b: Array) -> Array:
    """(x, λ) with M x = r + Jᵀ λ and J x = b; rounding errors in place of a row, of a constraint that always holds, change
    nothing. With ``contacts.rank``, J x = b holds for as many independent rows.

    Where M is singular everywhere, M + s JᵀJ takes its place, and r + s Jᵀ b that of r: x and λ are the same.
    """
    return _solved(robot, contacts, q, J, r, b)[0]


def _solved(robot: Robot, contacts: Contacts, q: Array, J: Array, r: Array, b: Array) -> tuple[Array, Any]:
    """(x, λ), and the largest over the smallest pivot of the independent rows where their rank is given."""
    if not contacts.closures and all(is_number(x) and x == 0.0 for x in J.flat):
        some = ", ".join([*contacts.labels[:6], *(["…"] if len(contacts.labels) > 6 else [])])
        raise SingularError(
            f"no joint moves any of the contacts ({some}), so that their forces are undetermined: choose points or frames that "
            "the joints move"
        )
    more: Any = 0.0
    if always_massless(robot.model) is not None:
        s = np.trace(robot.mass_matrix(q)) / np.sum(J * J)
        more, r = s * (J.T @ J), r + s * (J.T @ b)
    L, d = factors(robot, q, more)
    Y, z = solve_upper(L, J.T), solve_upper(L, r)
    W = Y / d[:, None]
    wanted = b - W.T @ z
    if contacts.rank is not None:
        root = sqrt(d)
        move, force, spread = _of_rank(Y.T / root, wanted, contacts.rank)
        return np.concatenate([solve_lower(L, (z / root + move) / root), force]), spread
    D = mirrored(Y.T, W.T)
    weight = regularisation(np.sum(np.diagonal(D)) / len(D)) + NEGLIGIBLE**2 * np.sum(1.0 / d) / len(d)
    A, d_A = factorise(D + weight * np.eye(len(D)))

    def regularised(b: Array) -> Array:
        return solve_lower(A, solve_upper(A, b) / d_A)

    force = np.zeros(len(D))
    for _ in range(PROXIMAL_STEPS):
        force = force + regularised(wanted - D @ force)
    internal = regularised(weight * regularised(weight * force))
    return np.concatenate([solve_lower(L, (z + Y @ force) / d), force - internal]), 1.0


def _of_rank(rows: Array, b: Array, rank: int) -> tuple[Array, Array, Any]:
    """(x, λ, spread): the shortest x with R x = b for ``rank`` independent rows, and the shortest λ with Rᵀ λ = x.

    The rows are orthogonalised by the modified Gram–Schmidt method, the one with the largest remainder first. ``spread`` is
    the norm of the first remainder over that of the last.
    """
    x, parts, values, sizes = np.zeros(rows.shape[1]), [], [], []
    for _ in range(rank):
        squares = (rows * rows).sum(axis=1)
        square, row, value = squares[0], rows[0], b[0]
        for k in range(1, len(rows)):
            larger = squares[k] > square
            square, row, value = (where(larger, *pair) for pair in ((squares[k], square), (rows[k], row), (b[k], value)))
        size = sqrt(square)
        u, value = row / size, value / size
        part = rows @ u
        x, rows, b = x + value * u, rows - np.multiply.outer(part, u), b - value * part
        parts.append(part)
        values.append(value)
        sizes.append(size)
    C = np.array(parts).T
    return x, C @ solve_positive(mirrored(C.T, C.T), np.array(values)), sizes[0] / sizes[-1]
