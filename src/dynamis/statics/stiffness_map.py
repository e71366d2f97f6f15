"""Stiffness over the workspace."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.kinematics.directions import directions_of
from dynamis.kinematics.state_measures import Measure, joint_springs
from dynamis.kinematics.workspace import Progress, WorkspaceSlice, workspace_slice
from dynamis.robot import Robot

Array = npt.NDArray[Any]

KINDS = {"softest": "smallest stiffness over all directions", "stiffest": "largest stiffness over all directions",
         "ratio": "ratio of smallest to largest stiffness"}  # fmt: skip


def stiffness_map(
    robot: Robot, joint_stiffness: Any, frame: str | None = None, *, kind: str = "softest", direction: Any = None,
    rows: Any = None, plane: str | None = None, samples: int = 200_000, seed: int = 0, progress: Progress | None = None,
) -> WorkspaceSlice:  # fmt: skip
    """Cartesian stiffness at a frame over a plane of the workspace: C = J K_q⁻¹ Jᵀ for a batch of configurations.

    ``kind`` is "softest" or "stiffest" (of the principal directions), or "ratio" of the two. With a ``direction`` d (3) the
    value is 1 / (dᵀ C d): the force along d per unit displacement along d, other directions being unloaded.

    >>> import dynamis as dy
    >>> found = dy.statics.stiffness_map(dy.load("planar_2r_melchiorri"), 1000.0, samples=4000)
    >>> round(found.best[0], 1)  # folded: the tip above the base, on the spring of joint 2 alone
    1000.0
    """
    k = joint_springs(robot, joint_stiffness)
    if kind not in KINDS:
        raise InputError(f"kind={kind!r} is unknown; choose {', '.join(map(repr, KINDS))}")
    d = None if direction is None else _unit(direction)

    def of(robot: Robot, q: Array, frame: str | None, rows: Any) -> Array:
        if d is not None:
            seen = np.einsum("i,...ij->...j", d, robot.jacobian(q, frame)[..., :3, :])
            with np.errstate(divide="ignore"):
                return np.asarray(1.0 / (seen**2 / k).sum(axis=-1))
        A = directions_of(robot, frame, rows).selection @ robot.jacobian(q, frame)
        C = np.maximum(np.linalg.eigvalsh((A / k) @ np.swapaxes(A, -1, -2)), 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(C[..., 0] / C[..., -1] if kind == "ratio" else 1.0 / C[..., -1 if kind == "softest" else 0])

    label = KINDS[kind] if d is None else f"stiffness along ({', '.join(f'{x:.3g}' for x in d)})"
    measure = Measure("stiffness", label, "" if kind == "ratio" and d is None else "N/m", of, logarithmic=kind != "ratio")
    return workspace_slice(robot, measure, frame=frame, plane=plane, rows=rows, samples=samples, seed=seed, progress=progress)


def _unit(direction: Any) -> Array:
    try:
        d = np.array(direction, dtype=float)
    except (TypeError, ValueError):
        d = np.zeros(0)
    if d.shape != (3,) or not np.isfinite(d).all() or not d.any():
        raise InputError(f"direction must be 3 finite numbers, not all zero; got {direction!r}")
    return np.asarray(d / np.linalg.norm(d))
