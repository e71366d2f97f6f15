"""Contact forces and torques for a given motion: b = Sᵀ τ + Jᵀ λ with λ inside friction cones and the smallest |τ|.

A quadratic program in λ with second-order cones, solved by Clarabel; without cones, by least squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, SingularError, printable, unknown_name
from dynamis.tolerances import RANK_TOLERANCE, SOLUTION_TOLERANCE

Array = npt.NDArray[Any]
Contact = tuple[str, int, bool]  # name, its first row, whether it has moments
WEIGHT_OF_FORCES = 1e-3  # of |λ|² against |τ|²: decides where torques alone do not


def contact_forces(
    b: Array, J: Array, actuated: list[int], contacts: list[Contact], axes: Mapping[str, Array], friction: Any, normal: Any,
    support: Any,
) -> tuple[Array, Array]:  # fmt: skip
    """(τ, λ) for b (…, n) and J (…, rows, n); ``axes`` are the rotations (…, 3, 3) of frames with a ``support``."""
    batch = np.broadcast_shapes(b.shape[:-1], J.shape[:-2])
    n, rows = b.shape[-1], J.shape[-2]
    b, J = np.broadcast_to(b, (*batch, n)), np.broadcast_to(J, (*batch, rows, n))
    turned = {name: np.broadcast_to(R, (*batch, 3, 3)) for name, R in axes.items()}
    names = [name for name, _, _ in contacts]
    coefficients, normals, sizes = (_per_contact(x, names, what) for x, what in (
        (friction, "friction"), (normal, "normal"), (support, "support")))  # fmt: skip
    several = not isinstance(support, Mapping) and any(moments for _, _, moments in contacts)  # one size, for all frames
    for name, _, moments in contacts:
        if sizes[name] is not None and (moments or not several) and (coefficients[name] is None or not moments):
            why = "a point transmits no moments: name it in frames=" if not moments else "give friction= too"
            raise InputError(f"support= of contact {printable(name)} has no effect: {why}")
    tau, forces = np.zeros((*batch, n)), np.zeros((*batch, rows))
    free = [k for k in range(n) if k not in actuated]
    for at in np.ndindex(batch):
        cones = []
        for name, row, moments in contacts:
            if coefficients[name] is not None:
                R = turned[name][at] if name in turned else None
                cones += _cones(rows, row, moments, R, coefficients[name], normals[name], sizes[name])
        where = f" (state {list(at)} of the batch)" if batch else ""
        solve = _least_squares if not cones else _programme
        forces[at] = solve(J[at][:, actuated], b[at][actuated], J[at][:, free], b[at][free], cones, where)
        tau[at][actuated] = b[at][actuated] - J[at][:, actuated].T @ forces[at]
    return tau, forces


def _least_squares(J_a: Array, b_a: Array, J_u: Array, b_u: Array, _cones: Any, where: str) -> Array:
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


def _programme(J_a: Array, b_a: Array, J_u: Array, b_u: Array, cones: list[tuple[str, Array]], where: str) -> Array:
    import clarabel  # loads a compiled library
    from scipy import sparse

    P = J_a @ J_a.T
    P += WEIGHT_OF_FORCES * np.eye(len(P))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    A = np.vstack([J_u.T, *(rows for _, rows in cones)])
    right = np.concatenate([b_u, np.zeros(len(A) - len(b_u))])
    kinds = {"second-order": clarabel.SecondOrderConeT, "positive": clarabel.NonnegativeConeT}
    sets = [clarabel.ZeroConeT(len(b_u))] * bool(len(b_u)) + [kinds[kind](len(rows)) for kind, rows in cones]
    quadratic = sparse.csc_matrix(np.triu(P))
    found = clarabel.DefaultSolver(quadratic, -J_a @ b_a, sparse.csc_matrix(A), right, sets, settings).solve()
    if str(found.status) not in ("Solved", "AlmostSolved"):
        raise InputError(
            f"no contact forces inside the friction cones give this acceleration{where}: it is too large, the friction too low "
            "or the feet too small; give other accelerations, friction= or support="
        )
    return np.array(found.x)


def _cones(rows: int, row: int, moments: bool, R: Array | None, mu: float, normal: Array, size: Any) -> list[tuple[str, Array]]:
    """The rows A of −A λ ∈ cone for one contact: |f_t| ≤ μ f_n; of a rectangular foot the wrenches it can transmit by
    pressure and friction [Caron, Pham & Nakamura 2015, Proposition 6]."""
    x = R[:, 0] if R is not None else np.eye(3)[int(np.argmin(np.abs(normal)))]
    x = x - normal * np.dot(x, normal)
    x /= np.linalg.norm(x)
    y = np.cross(normal, x)
    f, m = np.zeros((3, rows)), np.zeros((3, rows))
    f[:, row : row + 3] = np.array([x, y, normal])
    result = [("second-order", -np.array([mu * f[2], f[0], f[1]]))]
    if moments and size is not None:
        m[:, row + 3 : row + 6] = np.array([x, y, normal])
        X, Y = size
        signs = [(s, t) for s in (1.0, -1.0) for t in (1.0, -1.0)]
        inside = [Y * f[2] - s * m[0] for s in (1.0, -1.0)] + [X * f[2] - s * m[1] for s in (1.0, -1.0)]
        inside += [mu * (X + Y) * f[2] - m[2] - s * (Y * f[0] + mu * m[0]) - t * (X * f[1] + mu * m[1]) for s, t in signs]
        inside += [mu * (X + Y) * f[2] + m[2] - s * (Y * f[0] - mu * m[0]) - t * (X * f[1] - mu * m[1]) for s, t in signs]
        result.append(("positive", -np.array(inside)))
    return result


def _per_contact(value: Any, names: Sequence[str], what: str) -> dict[str, Any]:
    if isinstance(value, Mapping):
        for name in value:
            if name not in names:
                raise unknown_name("contact", name, names)
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
