"""Stiffness synthesis: joint stiffness for a desired Cartesian stiffness at a frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, counted, flat, short
from dynamis.errors import InputError, SingularError
from dynamis.kinematics.directions import directions_of
from dynamis.robot import Robot
from dynamis.statics.convention import one_state
from dynamis.statics.geometric_stiffness import check_coordinates
from dynamis.tolerances import RANK_TOLERANCE

Array = npt.NDArray[Any]

DEFAULT_ROWS = {2: None, 3: None, 6: "all"}


@dataclass(frozen=True, eq=False, repr=False)
class JointStiffness:
    """Joint stiffness for a desired Cartesian stiffness K_w: ``matrix`` K_q (n × n), or ``values`` (n) on its diagonal.

    ``achieved`` is the resulting stiffness at the frame, ``residual`` = ‖K_w^{½} C K_w^{½} − 1‖ / √m with the resulting
    compliance C: 0 if K_w is achieved exactly. An infinite value means a rigid joint; joints that do not move the frame are
    rigid too.
    """

    values: Array
    matrix: Array
    compliance: Array
    achieved: Array
    residual: float

    @property
    def exact(self) -> bool:
        return self.residual < 1e-8

    def __repr__(self) -> str:
        return short(f"<JointStiffness {flat(self.values)}: {'exact' if self.exact else f'residual {self.residual:.3g}'}>")

    _repr_html_ = as_table


def joint_stiffness_for(
    robot: Robot, q: Any, wanted: Any, frame: str | None = None, *, rows: Any = None, diagonal: bool = True,
    null_stiffness: float | None = None,
) -> JointStiffness:  # fmt: skip
    """Joint stiffness K_q for a desired Cartesian stiffness ``wanted`` (m × m) in the directions ``rows``.

    ``diagonal=True``: one spring per joint; 1/k_j ≥ 0 by non-negative least squares of J diag(1/k) Jᵀ against the desired
    compliance, scaled by it. With n unknowns for m (m + 1)/2 equations the result is rarely exact; ``residual`` is the
    relative error. ``diagonal=False``: a full matrix, as a controller can realise, K_q = Jᵀ K J plus ``null_stiffness`` on
    the null space of J: exact wherever J has full rank.

    >>> import dynamis as dy, numpy as np
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> found = dy.statics.joint_stiffness_for(arm, [0.3, 1.0], np.diag([1000.0, 4000.0]), diagonal=False)
    >>> found.exact, np.diag(found.achieved).round(6).tolist()
    (True, [1000.0, 4000.0])
    """
    at = one_state(robot, q)
    check_coordinates(robot)
    K_w = _desired_stiffness(wanted)
    task = directions_of(robot, frame, DEFAULT_ROWS.get(len(K_w)) if rows is None else rows)
    if task.size != len(K_w):
        raise InputError(
            f"the desired stiffness is {len(K_w)} × {len(K_w)}, but the task has {counted(task.size, 'direction')} "
            f"({', '.join(task.names)}); select them with rows=, such as rows='xy'"
        )
    J = task.selection @ robot.jacobian(at, frame)
    C_q = _springs(J, K_w) if diagonal else _full(J, K_w, null_stiffness)
    C = J @ C_q @ J.T
    L = np.linalg.cholesky(K_w)
    residual = float(np.linalg.norm(L.T @ C @ L - np.eye(len(C))) / np.sqrt(len(C)))
    with np.errstate(divide="ignore"):
        values = 1.0 / np.diag(C_q) if diagonal else np.diag(np.linalg.inv(C_q))
    matrix = np.diag(values) if diagonal else np.linalg.inv(C_q)
    return JointStiffness(values, matrix, C_q, np.linalg.pinv(C, rcond=RANK_TOLERANCE, hermitian=True), residual)


def _desired_stiffness(wanted: Any) -> Array:
    try:
        K = np.array(wanted, dtype=float)
    except (TypeError, ValueError):
        K = np.zeros(0)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not 1 <= len(K) <= 6 or not np.isfinite(K).all():
        raise InputError(f"the desired stiffness must be a square matrix of finite numbers, such as 2 × 2; got shape {K.shape}")
    if np.abs(K - K.T).max() > 1e-9 * np.abs(K).max() or np.linalg.eigvalsh(K).min() <= 0.0:
        raise InputError("the desired stiffness must be symmetric and positive definite")
    return K


def _springs(J: Array, K_w: Array) -> Array:
    """Σ c_j (Lᵀ J_j)(Lᵀ J_j)ᵀ ≈ 1 with c ≥ 0 and K_w = L Lᵀ: least squares in the entries, each off-diagonal pair once."""
    from scipy.optimize import nnls

    seen = np.linalg.cholesky(K_w).T @ J
    rows, columns = np.triu_indices(len(K_w))
    weight = np.where(rows == columns, 1.0, np.sqrt(2.0))
    entries = (seen[rows] * seen[columns]) * weight[:, None]
    # columns of like size: one joint may move the frame far more than another, and one that does not move it is held
    sizes = np.linalg.norm(entries, axis=0)
    moving = sizes > RANK_TOLERANCE * max(float(sizes.max(initial=0.0)), 1e-300)
    c = np.zeros(J.shape[1])
    if moving.any():
        c[moving] = nnls(entries[:, moving] / sizes[moving], (rows == columns) * 1.0)[0] / sizes[moving]
    return np.diag(c)


def _full(J: Array, K_w: Array, null_stiffness: float | None) -> Array:
    """The inverse of Jᵀ K J + k₀ N Nᵀ: where J has full rank, J (·) Jᵀ is the desired compliance."""
    K = J.T @ K_w @ J
    _, s, Vt = np.linalg.svd(J)
    r = int((s > RANK_TOLERANCE * max(float(s.max(initial=0.0)), 1e-300)).sum())
    if r == 0:
        raise SingularError("the Jacobian is zero in these directions here, so joint stiffness has no effect on the frame")
    N = Vt[r:].T
    k0 = float(np.trace(K)) / r if null_stiffness is None else null_stiffness
    if not isinstance(k0, float | int) or not (np.isfinite(k0) and k0 > 0.0):
        raise InputError(f"null_stiffness must be a positive number, got {null_stiffness!r}")
    return np.linalg.inv(K + k0 * N @ N.T)
