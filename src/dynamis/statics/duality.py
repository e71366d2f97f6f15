"""The duality of kinematics and statics: the ranges and null spaces of J and Jᵀ [Tzafestas, slide 7]."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_text, counted, plotted, short
from dynamis.errors import InputError, printable
from dynamis.kinematics.directions import Directions, directions_of
from dynamis.kinematics.manipulability import scaled_jacobian
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric
from dynamis.statics.convention import one_state
from dynamis.statics.describe import joints_text, motion_text, readable, wrench_text
from dynamis.tolerances import RANK_TOLERANCE

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Duality:
    """Ranges and null spaces of J and Jᵀ at a frame in one configuration, each by a basis (columns).

        possible_motions     R(J)   (m × r)        velocities the frame can have
        self_motions         N(J)   (n × n − r)    joint velocities that do not move the frame
        balanced_torques     R(Jᵀ)  (n × r)        joint torques that a wrench at the frame can balance
        structure_wrenches   N(Jᵀ)  (m × m − r)    wrenches without joint torque, carried by the structure

    ``impossible_motions`` (m × m − r) completes R(J). Rows are the task's directions. Bases are orthonormal; if the task
    mixes metres and radians, or the robot prismatic and revolute joints, they are orthonormal after distances are divided by
    ``length``; products of wrenches and twists are powers for every length. ``singular_values`` are those of the scaled
    Jacobian; values below ``gap`` times the largest are treated as zero.
    """

    robot: Robot
    q: Array
    task: Directions
    rank: int
    singular_values: Array
    gap: float
    possible_motions: Array
    impossible_motions: Array
    self_motions: Array
    balanced_torques: Array
    structure_wrenches: Array

    @property
    def length(self) -> float:
        return self.task.length

    @property
    def redundancy(self) -> int:
        """n − r: the dimension of the self-motions."""
        return self.robot.n - self.rank

    @property
    def singular(self) -> bool:
        """Whether the rank is lower here than in other configurations."""
        return self.rank < min(self.task.size, self.robot.n, self._usual_rank)

    @property
    def _usual_rank(self) -> int:
        J = scaled_jacobian(self.robot, self.robot.random(0, 8), self.task)
        values = np.linalg.svd(J, compute_uv=False)
        return int((values > self.gap * values[:, :1]).sum(axis=1).max())

    @property
    def sentences(self) -> tuple[str, ...]:
        """Wrenches without joint torque, impossible motions of the frame, and self-motions, one sentence each."""
        point = self.robot.pose(self.q, self.task.frame.name)[:3, 3]
        carried = readable(self.structure_wrenches / self._force_scale[:, None]) * self._force_scale[:, None]
        lost = readable(self.impossible_motions / self.task.scale[:, None]) * self.task.scale[:, None]
        sentences = [f"{wrench_text(w, point)} needs no joint torque: the structure carries it"
                for w in (self.task.selection.T @ carried).T]  # fmt: skip
        sentences += [f"{self.task.frame.name} cannot {motion_text(v)}" for v in (self.task.selection.T @ lost).T]
        names = self.robot.coordinate_names
        sentences += [
            f"{self.task.frame.name} is not moved by the self-motion {joints_text(x, names)}"
            for x in readable(self.self_motions).T
        ]
        return tuple(sentences)

    @property
    def _force_scale(self) -> Array:
        return 1.0 / self.task.scale

    def summary(self) -> str:
        """Ranks and dimensions, then the sentences."""
        m, n, r = self.task.size, self.robot.n, self.rank
        state = "singular" if self.singular else "regular"
        head = [
            f"{self.robot.name} at {self.task.frame.name}: {counted(m, 'direction')} "
            f"({', '.join(self.task.names)}), {counted(n, 'joint')}, rank {r}, {state}",
            f"  dim R(J) = {r} possible motions, dim N(J) = {n - r} self-motions; "
            f"dim R(Jᵀ) = {r} balanced torques, dim N(Jᵀ) = {m - r} structure wrenches",
            f"  singular values {', '.join(f'{x:.4g}' for x in self.singular_values)} ({self.task.unit()}; "
            f"values below {self.gap:g} times the largest are treated as zero)",
        ]  # fmt: skip
        return "\n".join([*head, *(f"  {s}" for s in self.sentences)])

    def as_dict(self) -> dict[str, Any]:
        spaces = ("possible_motions", "impossible_motions", "self_motions", "balanced_torques", "structure_wrenches")
        bases = {name: getattr(self, name).T.tolist() for name in spaces}
        return {
            "rows": list(self.task.names), "rank": self.rank, "singular": self.singular, "length": self.length,
            "singular_values": self.singular_values.tolist(), **bases, "sentences": list(self.sentences),
        }  # fmt: skip

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Plot the robot with its velocity and force ellipsoids, and the four subspaces; returns the axes."""
        return plotted("duality", self, path)

    def __repr__(self) -> str:
        state = "singular" if self.singular else "regular"
        at = f"{printable(self.robot.name)} at {printable(self.task.frame.name)}"
        return short(
            f"<Duality of {at}: rank {self.rank} of {counted(self.task.size, 'direction')}, "
            f"{counted(self.robot.n, 'joint')}, {state}>"
        )

    def __str__(self) -> str:
        return self.summary()

    _repr_html_ = as_text


def duality(
    robot: Robot,
    q: Any,
    frame: str | None = None,
    *,
    rows: Any = "all",
    length: float | None = None,
    gap: float = RANK_TOLERANCE,
) -> Duality:
    """The four subspaces of a robot at a frame, in one configuration.

    ``rows`` selects the directions (default: all six, see `dynamis.manipulability`), ``length`` [m] scales metres to radians
    (default: the length of the chain), ``gap`` is the relative threshold of zero singular values.

    >>> import dynamis as dy
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> stretched = dy.statics.duality(arm, [0.0, 0.0], rows="xy")
    >>> stretched.rank, stretched.sentences[0]
    (1, 'a force along (1, 0, 0) needs no joint torque: the structure carries it')
    """
    check_numeric(robot)
    at = one_state(robot, q)
    if not isinstance(gap, float | int) or not 0.0 < gap < 1.0:
        raise InputError(f"gap must be greater than 0 and less than 1, got {gap!r}")
    task = directions_of(robot, frame, rows, length)
    S, D = task.scale, task.joint_scale(robot)
    U, values, Vt = np.linalg.svd(scaled_jacobian(robot, at, task))
    r = int((values > max(gap * float(values.max(initial=0.0)), task.noise)).sum())
    # Ĵ = S⁻¹ J D: twists are S û, wrenches û / S, joint rates D v̂, torques v̂ / D
    return Duality(
        robot, at, task, r, values, float(gap),
        possible_motions=S[:, None] * U[:, :r],
        impossible_motions=S[:, None] * U[:, r:],
        self_motions=D[:, None] * Vt[r:].T,
        balanced_torques=Vt[:r].T / D[:, None],
        structure_wrenches=U[:, r:] / S[:, None],
    )  # fmt: skip
