"""Wrenches and motions as text, and sparse bases of subspaces."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.tolerances import SINGULAR_VECTOR_ROUNDING

Array = npt.NDArray[Any]


def vector_text(x: Any) -> str:
    """(0.866, −0.5, 0)."""
    numbers = (f"{0.0 if abs(v) < 5e-5 else v:.4g}".replace("-", "−") for v in np.asarray(x, dtype=float))
    return "(" + ", ".join(numbers) + ")"


def clean(x: Array) -> Array:
    """Rounding errors set to zero, and the sign chosen so that the largest entry is positive."""
    x = np.where(np.abs(x) < SINGULAR_VECTOR_ROUNDING * np.abs(x).max(initial=0.0), 0.0, x)
    largest = x[np.argmax(np.abs(x) - 1e-9 * np.arange(len(x)))] if len(x) else 1.0
    return x if largest >= 0 else -x


def readable(basis: Array) -> Array:
    """A basis (m × k) of the same space: coordinate axes that lie in it first, then sparse vectors."""
    m, k = basis.shape
    if k == 0:
        return basis
    Q, _ = np.linalg.qr(basis)
    inside = [i for i in range(m) if 1.0 - Q[i] @ Q[i] < SINGULAR_VECTOR_ROUNDING]
    columns = [np.eye(m)[i] for i in inside]
    rest = Q.copy()
    rest[inside] = 0.0
    U, s, _ = np.linalg.svd(rest, full_matrices=False)
    left = U[:, s > 0.5].T
    # reduced echelon form with the largest pivots
    for row in range(len(left)):
        column = int(np.argmax(np.abs(left[row:]).max(axis=0) * ~np.isin(np.arange(m), _pivots(left[:row]))))
        best = row + int(np.argmax(np.abs(left[row:, column])))
        left[[row, best]] = left[[best, row]]
        left[row] /= left[row, column]
        for other in range(len(left)):
            if other != row:
                left[other] = left[other] - left[other, column] * left[row]
    return np.column_stack([*columns, *(clean(x / np.linalg.norm(x)) for x in left)])


def _pivots(rows: Array) -> list[int]:
    return [int(np.argmax(np.abs(row))) for row in rows]


def wrench_text(w: Array, origin: Array) -> str:
    """A wrench (f, μ) at a point as text: a force, a moment, or a force along a line through another point."""
    f, mu = w[:3], w[3:]
    size = np.linalg.norm(w)
    if np.linalg.norm(mu) < SINGULAR_VECTOR_ROUNDING * size or np.linalg.norm(f) < SINGULAR_VECTOR_ROUNDING * size:
        return push_text(clean(w))
    along = clean(f / np.linalg.norm(f))
    if abs(f @ mu) < SINGULAR_VECTOR_ROUNDING * np.linalg.norm(f) * np.linalg.norm(mu):
        return f"a force along {vector_text(along)} through the point {vector_text(origin + np.cross(f, mu) / (f @ f))}"
    size = np.linalg.norm(f)
    return f"a force along {vector_text(f / size)} with a moment {vector_text(mu / size)} m times the force"


def push_text(w: Array) -> str:
    """One wrench (f, μ), with its sign, as text."""
    f, mu = w[:3], w[3:]
    size = np.linalg.norm(w)
    if np.linalg.norm(mu) < SINGULAR_VECTOR_ROUNDING * size:
        return f"a force along {vector_text(f / np.linalg.norm(f))}"
    if np.linalg.norm(f) < SINGULAR_VECTOR_ROUNDING * size:
        return f"a moment about {vector_text(mu / np.linalg.norm(mu))}"
    return f"the wrench {vector_text(w)}"


def motion_text(v: Array) -> str:
    """A twist (ṗ, ω) as text."""
    p, w = v[:3], v[3:]
    size = np.linalg.norm(v)
    if np.linalg.norm(w) < SINGULAR_VECTOR_ROUNDING * size:
        return f"move along {vector_text(clean(p / np.linalg.norm(p)))}"
    if np.linalg.norm(p) < SINGULAR_VECTOR_ROUNDING * size:
        return f"rotate about {vector_text(clean(w / np.linalg.norm(w)))}"
    return (
        f"move along {vector_text(p / np.linalg.norm(p))} with the rotation {vector_text(w / np.linalg.norm(p))} rad per metre"
    )


def joints_text(x: Array, names: tuple[str, ...]) -> str:
    """Joint velocities as text: those of the joints that move, or the name of the only one."""
    x = clean(x / np.abs(x).max())
    if np.count_nonzero(x) == 1:
        return f"of {names[int(np.flatnonzero(x)[0])]} alone"
    parts = [f"{v:.3g} {name}".replace("-", "−") for v, name in zip(x, names, strict=True) if v != 0.0]
    return ", ".join(parts)
