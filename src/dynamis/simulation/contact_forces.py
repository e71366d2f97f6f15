"""Contact forces and torques for a given motion: b = Sᵀ τ + Jᵀ λ with λ inside friction cones and the smallest |τ|.

A quadratic program in λ with second-order cones, solved by Clarabel, in batches by compiled steps (`cone_program`), from which
states without solution go to Clarabel; without cones, by least squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, SingularError, printable, unknown_name
from dynamis.robot import Robot
from dynamis.simulation.cone_program import Block, minimise
from dynamis.simulation.contact_equations import Contacts
from dynamis.tolerances import RANK_TOLERANCE, SOLUTION_TOLERANCE

Array = npt.NDArray[Any]
Contact = tuple[str, int, bool]  # name, its first row, whether it has moments
COMPILED_FROM = 20  # states, for which compiling takes about as long as Clarabel for a few hundred
MAX_TILT = 60.0  # degrees: z is nearer than this to the normal if it is the nearest axis of the frame; another axis is at 90°
WEIGHT_OF_FORCES = 1e-3  # of |λ|² against |τ|²: decides where torques alone do not


def contact_forces(
    robot: Robot, held: Contacts, q: Any, b: Array, J: Array, actuated: list[int], friction: Any, normal: Any, support: Any
) -> tuple[Array, Array]:
    """(τ, λ) for b (…, n) and J (…, rows, n)."""
    contacts: list[Contact] = [(name, 3 * k, False) for k, name in enumerate(held.points)]
    contacts += [(name, 3 * len(held.points) + 6 * k, True) for k, name in enumerate(held.frames)]
    soled = held.frames if support is not None else ()
    axes = {name: np.asarray(robot.pose(q, name))[..., :3, :3] for name in soled}
    batch = np.broadcast_shapes(b.shape[:-1], J.shape[:-2])
    n, rows, count = b.shape[-1], J.shape[-2], int(np.prod(batch))
    b, J = np.broadcast_to(b, (*batch, n)).reshape(count, n), np.broadcast_to(J, (*batch, rows, n)).reshape(count, rows, n)
    turned = {name: np.broadcast_to(R, (*batch, 3, 3)).reshape(count, 3, 3) for name, R in axes.items()}
    names = [name for name, _, _ in contacts]
    coefficients, normals, sizes = (per_contact(x, names, what) for x, what in (
        (friction, "friction"), (normal, "normal"), (support, "support")))  # fmt: skip
    several = not isinstance(support, Mapping) and any(moments for _, _, moments in contacts)  # one size, for all frames
    for name, _, moments in contacts:
        if sizes[name] is not None and (moments or not several) and (coefficients[name] is None or not moments):
            why = "a point transmits no moments: name it in frames=" if not moments else "give friction= too"
            raise InputError(f"support= of contact {printable(name)} has no effect: {why}")
    for name, R in turned.items():
        if sizes[name] is not None and coefficients[name] is not None:
            _check_sole(name, R, normals[name])
    blocks = [
        block for name, row, moments in contacts if coefficients[name] is not None
        for block in _blocks(row, moments, turned.get(name), coefficients[name], normals[name], sizes[name])
    ]  # fmt: skip
    free = [k for k in range(n) if k not in actuated]
    J_a, b_a, J_u, b_u = J[:, :, actuated], b[:, actuated], J[:, :, free], b[:, free]
    forces, left = np.zeros((count, rows)), np.arange(count)
    if blocks and count >= COMPILED_FROM:
        P, c = _cost(J_a, b_a)
        forces, solved = minimise(robot, P, c, np.swapaxes(J_u, 1, 2), b_u, blocks)
        left = np.flatnonzero(~solved)
    for k in left:
        where = f" (state {[int(i) for i in np.unravel_index(k, batch)]} of the batch)" if batch else ""
        one = J_a[k], b_a[k], J_u[k], b_u[k]
        cones = [block._replace(F=block.F if block.F.ndim == 2 else block.F[k]) for block in blocks]
        forces[k] = _programme(*one, cones, where) if cones else _least_squares(*one, where)
    tau = np.zeros((count, n))
    tau[:, actuated] = b_a - (np.swapaxes(J_a, 1, 2) @ forces[..., None])[..., 0]
    return tau.reshape(*batch, n), forces.reshape(*batch, rows)


def _check_sole(name: str, R: Array, normal: Array) -> None:
    tilt = np.rad2deg(np.arccos(np.minimum(np.abs(R[..., 2] @ normal), 1.0)))  # of the sole against the ground, either side up
    if tilt.size and tilt.max() > MAX_TILT:
        raise InputError(
            f"support= of contact {printable(name)}: a sole lies in the x-y plane of its frame, whose z axis is "
            f"{tilt.max():.0f}° from the normal here, more than {MAX_TILT:.0f}°: name a frame with z along the normal, or give "
            "normal="
        )


def _cost(J_a: Array, b_a: Array) -> tuple[Array, Array]:
    """P and c of ½ λᵀ P λ + cᵀ λ = ½ |b_a − J_aᵀ λ|² + …, of one state or many."""
    P = J_a @ np.swapaxes(J_a, -1, -2) + WEIGHT_OF_FORCES * np.eye(J_a.shape[-2])
    return P, -(J_a @ b_a[..., None])[..., 0]


def _least_squares(J_a: Array, b_a: Array, J_u: Array, b_u: Array, where: str) -> Array:
    """min |b_a − J_aᵀ λ|² with J_uᵀ λ = b_u; where this leaves λ free, the smallest."""
    U, s, Vt = np.linalg.svd(J_u.T) if J_u.size else (np.eye(len(b_u)), np.zeros(0), np.eye(len(J_a)))
    rank = int((s > RANK_TOLERANCE * s[0]).sum()) if len(s) else 0
    force = Vt[:rank].T @ ((U[:, :rank].T @ b_u) / s[:rank])
    if len(b_u) and np.abs(J_u.T @ force - b_u).max() > SOLUTION_TOLERANCE * (1.0 + np.abs(b_u).max()):
        raise SingularError(f"no contact forces give this acceleration to the coordinates without motors{where}")
    N = Vt[rank:].T
    if N.size:
        force = force + N @ np.linalg.lstsq(J_a.T @ N, b_a - J_a.T @ force, rcond=RANK_TOLERANCE)[0]
    return force


def _programme(J_a: Array, b_a: Array, J_u: Array, b_u: Array, blocks: list[Block], where: str) -> Array:
    import clarabel  # loads a compiled library
    from scipy import sparse

    P, c = _cost(J_a, b_a)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    A = [J_u.T]
    for block in blocks:
        A.append(np.zeros((len(block.F), len(P))))
        A[-1][:, block.columns] = -block.F
    rows = np.vstack(A)
    right = np.concatenate([b_u, np.zeros(len(rows) - len(b_u))])
    kinds = {"second-order": clarabel.SecondOrderConeT, "positive": clarabel.NonnegativeConeT}
    sets = [clarabel.ZeroConeT(len(b_u))] * bool(len(b_u)) + [kinds[block.kind](len(block.F)) for block in blocks]
    quadratic = sparse.csc_matrix(np.triu(P))
    found = clarabel.DefaultSolver(quadratic, c, sparse.csc_matrix(rows), right, sets, settings).solve()
    if str(found.status) not in ("Solved", "AlmostSolved"):
        raise InputError(
            f"no contact forces inside the friction cones give this acceleration{where}: it is too large, the friction too low "
            "or the feet too small; give other accelerations, friction= or support="
        )
    return np.array(found.x)


def _blocks(row: int, moments: bool, R: Array | None, mu: float, normal: Array, size: Any) -> list[Block]:
    """F λ in cones for one contact, in states with the axes R (N, 3, 3) of its frame: |f_t| ≤ μ f_n; of a rectangular foot the
    wrenches it can transmit by pressure and friction [Caron, Pham & Nakamura 2015, Proposition 6]."""
    x = R[..., 0] if R is not None else np.eye(3)[int(np.argmin(np.abs(normal)))]
    x = x - normal * np.dot(x, normal)[..., None]
    x = x / np.linalg.norm(x, axis=-1, keepdims=True)
    y, z = np.cross(normal, x), np.broadcast_to(normal, x.shape)
    result = [Block("second-order", row, np.stack([mu * z, x, y], axis=-2))]
    if moments and size is not None:
        none = np.zeros(x.shape)
        f, m = [np.concatenate([e, none], axis=-1) for e in (x, y, z)], [np.concatenate([none, e], axis=-1) for e in (x, y, z)]
        X, Y = size
        signs = [(s, t) for s in (1.0, -1.0) for t in (1.0, -1.0)]
        inside = [Y * f[2] - s * m[0] for s in (1.0, -1.0)] + [X * f[2] - s * m[1] for s in (1.0, -1.0)]
        inside += [mu * (X + Y) * f[2] - m[2] - s * (Y * f[0] + mu * m[0]) - t * (X * f[1] + mu * m[1]) for s, t in signs]
        inside += [mu * (X + Y) * f[2] + m[2] - s * (Y * f[0] - mu * m[0]) - t * (X * f[1] - mu * m[1]) for s, t in signs]
        result.append(Block("positive", row, np.stack(inside, axis=-2)))
    return result


def per_contact(value: Any, names: Sequence[str], what: str) -> dict[str, Any]:
    """The friction, normal or support of each contact, from one value or a mapping from contacts to values."""
    if isinstance(value, Mapping):
        for name in value:
            if name not in names:
                raise unknown_name("contact", name, names)
        if what == "friction" and (left := [name for name in names if name not in value]):
            listed = ", ".join(map(printable, left))
            raise InputError(f"friction= has no value for {listed}: give one, or None for a contact that may pull, as a handle")
        default = (0.0, 0.0, 1.0) if what == "normal" else None
        return {name: _checked(value.get(name, default), what) for name in names}
    return dict.fromkeys(names, _checked(value, what))


def _checked(value: Any, what: str) -> Any:
    """A coefficient, a unit vector, or two half lengths; None where there is none."""
    if value is None:
        return None
    expected = {"friction": "a number that is not negative", "normal": "a direction of three numbers",
                "support": "half the length and half the width of the foot"}[what]  # fmt: skip
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    shape = {"friction": (), "normal": (3,), "support": (2,)}[what]
    positive = {"normal": np.linalg.norm(array) > 0.0, "friction": (array >= 0.0).all(), "support": (array > 0.0).all()}[what]
    if array.shape != shape or not np.isfinite(array).all() or not positive:
        raise InputError(f"{what}= must be {expected}, or a mapping from contacts to such values; got {value!r}")
    if what == "normal":
        return array / np.linalg.norm(array)
    return float(array) if what == "friction" else tuple(array.tolist())
