"""Steps of a robot with loops whose joints stick.

Over a step of length h the velocity at its end is N y + p, with H N = 0 and H (N y + p − v) = −h Ḣ v, and has the least

    ½ yᵀ A y − cᵀ y + h Σ φ_k(N_k y + p_k),    A = Nᵀ (M + h B / 2) N,    c = Nᵀ (M v + h r − (M + h B / 2) p),

where φ_k is the dissipation of dry friction, whose slope is between the ends of its range at rest [Stewart & Trinkle 1996]. It
is convex, so that y is unique also where several joints hold one motion; how they share the friction is not. The friction d
solves the dual problem, min |L⁻¹ (c + A w − h Nᵀ d)|² within the ranges with A = L Lᵀ and N w = p, least squares with bounds. A
half step, then a full step with the equations at the midpoint: order two in smooth motion, as for trees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.simulation.friction import StickingLaw
from dynamis.simulation.loops.constrained import null_space
from dynamis.simulation.loops.constraints import Constraints
from dynamis.simulation.motion import EquationsOfMotion
from dynamis.tolerances import RECURSION_ROUNDING, SOLUTION_TOLERANCE

Array = npt.NDArray[Any]
Laws = Mapping[int, StickingLaw]
Rows = Callable[[Array, Array], Constraints]  # of a state (q, v)


def stick_slip_step(motion: EquationsOfMotion, rows: Rows, t: float, y: Array, h: float) -> Array:
    """The state after a step; the drift of the loops is left."""
    q, v, z = motion.split(y)
    half, power = _velocity(motion, rows, t, y, v, 0.5 * h)
    inner = motion.rates(t, q, v, z, v, power)[len(q) + len(v) :]
    middle = np.concatenate([motion.robot.integrate(q, 0.25 * h * (v + half)), half, y[len(q) + len(v) :] + 0.5 * h * inner])
    new, power = _velocity(motion, rows, t + 0.5 * h, middle, v, h)
    q_mid, v_mid, z_mid = motion.split(middle)
    inner = motion.rates(t + 0.5 * h, q_mid, v_mid, z_mid, v, power)[len(q) + len(v) :]
    return np.concatenate([motion.robot.integrate(q, 0.5 * h * (v + new)), new, y[len(q) + len(v) :] + h * inner])


def _velocity(motion: EquationsOfMotion, rows: Rows, t: float, y: Array, start: Array, h: float) -> tuple[Array, float]:
    """The velocity at the end of a step from ``start``, with the equations of state y, and the mean power."""
    q, v, z = motion.split(y)
    smooth, viscous = motion.smooth, motion.smooth.model.viscous
    tau, wrenches = motion.drive(t, q, v, z)
    M = smooth.mass_matrix(q)
    r = tau - smooth.inverse_dynamics(q, v, np.zeros(len(v)), wrenches)
    c = rows(q, v)
    p, N = null_space(c.H, c.H @ start - h * c.bias)
    A = M + 0.5 * h * np.diag(viscous)
    b = M @ start + h * (r + viscous * (v - 0.5 * start))
    new, d = _least(A, b, N, p, {k: _range(law, v[k]) for k, law in motion.sticking.items()}, h)
    return new, motion.power(q, 0.5 * (start + new), tau - d, wrenches)


def _range(law: StickingLaw, v: float) -> tuple[float, float]:
    """The friction that a joint may have in a step from the velocity v."""
    return law.holding if v == 0.0 else (law.sliding(-1, v), law.sliding(1, v))


def _least(A: Array, b: Array, N: Array, p: Array, ranges: Mapping[int, tuple[float, float]], h: float) -> tuple[Array, Array]:
    """(N y + p, d) with the least ½ xᵀ A x − bᵀ x + h Σ φ_k(x_k) of x = N y + p."""
    from scipy.optimize import lsq_linear

    d, joints = np.zeros(len(N)), list(ranges)
    if not N.shape[1]:
        return p, d
    L = np.linalg.cholesky(N.T @ A @ N)
    c = np.linalg.solve(L, N.T @ (b - A @ p))
    if joints:
        low, high = np.array([ranges[k] for k in joints]).T
        w = np.linalg.lstsq(N[joints], p[joints], rcond=None)[0] if p.any() else np.zeros(N.shape[1])
        rows = h * np.linalg.solve(L, N[joints].T)
        # in units of the range above its lower end
        wide = np.maximum(high - low, RECURSION_ROUNDING)
        share = lsq_linear(rows * wide, c + L.T @ w - rows @ low, (0.0, 1.0), method="bvls", tol=RECURSION_ROUNDING).x
        d[joints] = low + share * wide
        left = c - rows @ d[joints]
        if np.abs(left + L.T @ w).max() <= RECURSION_ROUNDING * np.abs(c).max():
            return p - N @ w, d  # at rest
        c = left
    return p + N @ np.linalg.solve(L.T, c), d


def dry_friction(M: Array, r: Array, H: Array, rate: Array, v: Array, laws: Laws) -> Array:
    """The dry friction at a state: of a moving joint that of its direction, of others what holds them, or begins to slide."""
    p, N = null_space(H, rate)
    still = SOLUTION_TOLERANCE * max(1.0, float(np.abs(v).max(initial=0.0)))
    ranges = {}
    for k, law in laws.items():
        moving = law.sliding(1 if v[k] > 0.0 else -1, v[k])
        ranges[k] = _range(law, v[k]) if abs(v[k]) <= still else (moving, moving)
    return _least(M, r, N, p, ranges, 1.0)[1]
