"""C(q, x) y as a bilinear map of two velocities: its coefficients, its largest value, and matrices that bound it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.scalar import Node, jacobian

Array = npt.NDArray[Any]


def christoffel_entries(inertia: list[Any], places: Array, q: list[Node]) -> tuple[list[Any], Array]:
    """c_kij = ½ (∂M_ki/∂q_j + ∂M_kj/∂q_i − ∂M_ij/∂q_k) for i ≤ j, and their indices (n, n, n).

    ``inertia`` are the entries of M, ``places`` (n, n) their indices. [Melchiorri, slide 46]
    """
    n = len(q)
    dM = jacobian(np.array(inertia, dtype=object), q)[places]
    entries: list[Any] = []
    where = np.zeros((n, n, n), dtype=int)
    for k in range(n):
        for i in range(n):
            for j in range(i, n):
                where[k, i, j] = where[k, j, i] = len(entries)
                c = 0.5 * (dM[k, i, j] + dM[k, j, i] - dM[i, j, k])
                entries.append(c if isinstance(c, Node) else float(c))
    return entries, where


def unfoldings(places: Array) -> list[Array]:
    """c as matrices of n rows: by the torque, or by one of the velocities. Their spectral norms are bounds of v_b."""
    n = len(places)
    return [places.reshape(n, n * n), np.moveaxis(places, 1, 0).reshape(n, n * n)]


def largest_form(c: Array) -> Array:
    """max ‖c(x, x)‖₂ over ‖x‖₂ = 1, for coefficients (N, n, n, n), by alternating over torque and velocities.

    With c symmetric in its two velocities the largest uᵀ c(x, y) has x = y. Each step solves for one of the three; the best
    of several starts is a lower bound of the maximum.
    """
    n = c.shape[1]
    starts = np.vstack([np.eye(n), np.random.default_rng(0).standard_normal((4, n))])
    x = np.broadcast_to(starts / np.linalg.norm(starts, axis=1, keepdims=True), (len(c), len(starts), n))
    y = x
    for _ in range(12):
        u = _unit(np.einsum("nkij,nsi,nsj->nsk", c, x, y, optimize=True))
        S = np.einsum("nkij,nsk->nsij", c, u, optimize=True)
        x = _unit(np.einsum("nsij,nsj->nsi", S, y))
        y = _unit(np.einsum("nsij,nsi->nsj", S, x))
    reached = np.einsum("nkij,nsi,nsj->nsk", c, x, y, optimize=True)
    return np.asarray(np.sqrt((reached**2).sum(axis=2)).max(axis=1))


def _unit(x: Array) -> Array:
    length = np.sqrt((x * x).sum(axis=-1, keepdims=True))
    return np.asarray(x / np.where(length > 0.0, length, 1.0))
