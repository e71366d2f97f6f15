"""All closures of a robot: h(q) = 0, its Jacobian H, the bias Ḣ v, and the rank."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.compiler.kernel import Kernel
from dynamis.display import as_text, counted, short
from dynamis.errors import InputError, SingularError
from dynamis.kinematics.closures import Anchor, Closure, closure_rows, smallest_singular_value
from dynamis.robot import Robot
from dynamis.simulation.contact_equations import Contacts
from dynamis.tolerances import LOOP_RANK_TOLERANCE, SOLUTION_TOLERANCE, TYPED_PRECISION

Array = npt.NDArray[Any]


class Constraints(NamedTuple):
    """h (…, rows), H (…, rows, n) and the bias Ḣ v (…, rows): ḣ = H v, ḧ = H v̇ + Ḣ v."""

    h: Array
    H: Array
    bias: Array

    def at(self, k: int) -> Constraints:
        """Those of one state of a batch."""
        return Constraints(self.h[k], self.H[k], self.bias[k])


# compiled once for each robot and form of closures
_compiled: weakref.WeakKeyDictionary[Robot, dict[tuple[Any, ...], Kernel]] = weakref.WeakKeyDictionary()


def _kernel(robot: Robot, closures: tuple[Closure, ...]) -> Kernel:
    kernels, key = _compiled.setdefault(robot, {}), tuple(closure.form for closure in closures)
    if key not in kernels:
        size = sum(len(closure.constants) for closure in closures)

        def plain(robot: Robot, q: Array, v: Array) -> Array:
            return np.concatenate([x.ravel() for x in closure_rows(robot, closures, q, v)])

        def anchored(robot: Robot, q: Array, v: Array, at: Array) -> Array:
            return np.concatenate([x.ravel() for x in closure_rows(robot, closures, q, v, at)])

        kernels[key] = robot.compile(anchored, at=size) if size else robot.compile(plain)
    return kernels[key]


def evaluate(robot: Robot, closures: tuple[Closure, ...], q: Array, v: Array, rank: int | None = None) -> Constraints:
    """h, H and Ḣ v at one state or a batch; with a ``rank``, projected onto as many left singular vectors of H."""
    with np.errstate(all="ignore"):
        constants = np.concatenate([closure.constants for closure in closures])
        made = _kernel(robot, closures)(q, v, *([constants] if len(constants) else []))
    if not np.isfinite(made).all():
        raise SingularError(
            "the closures have no Jacobian here: the ends of a rod (Distance) coincide, the axes of a Pin are opposite, or "
            "the frames of a Weld differ by half a turn"
        )
    rows = sum(len(closure.labels) for closure in closures)
    H = made[..., rows:-rows].reshape(*made.shape[:-1], rows, robot.n)
    found = Constraints(made[..., :rows], H, made[..., -rows:])
    if rank is None:
        return found
    U = np.linalg.svd(H, full_matrices=False)[0][..., :rank]
    return Constraints(*((U @ (U.mT @ x.reshape(*H.shape[:-1], -1))).reshape(x.shape) for x in found))


def held_at(robot: Robot, contacts: Contacts, q: Array) -> tuple[Closure, ...]:
    """Anchors of the contacts where they are at q, and the closures."""
    poses = {name: np.asarray(robot.pose(q, name)) for name in (*contacts.points, *contacts.frames)}
    held = [Anchor(name, poses[name][:3, 3]) for name in contacts.points]
    held += [Anchor(name, poses[name][:3, 3], poses[name][:3, :3]) for name in contacts.frames]
    return (*held, *contacts.closures)


@dataclass(frozen=True, eq=False, repr=False)
class Independence:
    """The rank of H at a configuration.

    ``redundant`` names rows that depend on the rows before them; ``dependencies`` (rows − rank, rows) are the linear relations
    between rows: internal forces without effect on the motion. A rank lower than in the neighbourhood marks a singular
    configuration.
    """

    rows: tuple[str, ...]
    rank: int
    coordinates: int
    redundant: tuple[str, ...]
    dependencies: Array
    singular_values: Array

    @property
    def degrees_of_freedom(self) -> int:
        """Free coordinates: n − rank [Rocco, slide "Coordinate libere", where s counts independent rows]."""
        return self.coordinates - self.rank

    def __str__(self) -> str:
        text = f"{counted(len(self.rows), 'constraint')} of rank {self.rank} on {counted(self.coordinates, 'coordinate')}: "
        text += f"{counted(self.degrees_of_freedom, 'degree of freedom', 'degrees of freedom')}"
        return text + (f"; redundant: {', '.join(self.redundant)}" if self.redundant else "")

    def __repr__(self) -> str:
        return short(f"<Independence: {self}>")

    _repr_html_ = as_text


def refuse_open(rows: Sequence[str], h: Array, rates: Array, v: Array) -> None:
    """Raise where motions cannot start: loops that are open, h of the last rows, or opening, H v (…, rows)."""
    tolerance = TYPED_PRECISION if v.dtype == np.float32 else SOLUTION_TOLERANCE
    speed = 1.0 + np.abs(v).max(axis=-1, initial=0.0)[..., None]
    for name, values, scale, cure in (("q0", h, 1.0, "assemble(q0)"), ("v0", rates, speed, "assemble_velocity(q0, v0)")):
        off = np.abs(values / scale)
        if off.size and off.max() > tolerance:
            *state, row = (int(k) for k in np.unravel_index(off.argmax(), off.shape))
            place = f" (state {state} of the batch)" if state else ""
            raise InputError(
                f"{name} does not close the loops{place}: {rows[row - off.shape[-1]]!r} is off by "
                f"{abs(values[(*state, row)]):.3g}; {cure} gives one that does"
            )


def labels(closures: Sequence[Closure]) -> tuple[str, ...]:
    return tuple(label for closure in closures for label in closure.labels)


def independence(H: Array, names: tuple[str, ...], tolerance: float) -> Independence:
    """The rank of H, and which of its rows are redundant."""
    U, s, _ = np.linalg.svd(H)
    rank = rank_of(s, tolerance)
    extra = redundant_rows(H, rank, smallest_singular_value(s, tolerance))
    return Independence(names, rank, H.shape[1], tuple(names[k] for k in extra), U[:, rank:].T, s)


def rank_of(singular_values: Array, tolerance: float = LOOP_RANK_TOLERANCE) -> int:
    if not 0.0 < tolerance < 1.0:
        raise InputError(f"tolerance= of a rank must be between 0 and 1, got {tolerance!r}")
    return int(np.count_nonzero(singular_values > smallest_singular_value(singular_values, tolerance)))


def redundant_rows(H: Array, rank: int, least: float) -> list[int]:
    """The (rows − rank) rows with the smallest components orthogonal to those before them."""
    basis = np.zeros((0, H.shape[1]))
    added = []
    for row in H:
        rest = row - basis.T @ (basis @ row)
        rest -= basis.T @ (basis @ rest)
        added.append(float(np.linalg.norm(rest)))
        if added[-1] > least:
            basis = np.vstack([basis, rest / added[-1]])
    return sorted(np.argsort(added, kind="stable")[: len(H) - rank].tolist())


def alike(some: tuple[Closure, ...], others: tuple[Closure, ...], contacts: int) -> bool:
    """Whether closures are the same, but for the places of the first ones, which are contacts."""
    forms = ([x.form for x in closures[:contacts]] for closures in (some, others))
    return next(forms) == next(forms) and some[contacts:] == others[contacts:]
