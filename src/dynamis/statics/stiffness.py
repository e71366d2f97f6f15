"""Cartesian stiffness at a frame from the stiffness of joints, base and links, with the geometric stiffness of a load."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.display import plotted, short, stiffness_card
from dynamis.errors import InputError, SingularError, printable
from dynamis.kinematics.directions import Directions, characteristic_length, directions_of
from dynamis.kinematics.state_measures import joint_springs
from dynamis.robot import Robot
from dynamis.robot.checks import check_is_robot
from dynamis.spatial import skew
from dynamis.statics.closed_chains import reduced_stiffness
from dynamis.statics.convention import one_state, one_wrench
from dynamis.statics.describe import motion_text, readable
from dynamis.statics.ellipsoids import Ellipsoid, refuse_mixed
from dynamis.statics.geometric_stiffness import (
    check_coordinates,
    largest_divergence,
    load_stiffness,
    spring_stiffness,
    weight_stiffness,
)
from dynamis.tolerances import NEGLIGIBLE, RANK_TOLERANCE

if TYPE_CHECKING:
    from dynamis.simulation.loops.constrained_robot import ConstrainedRobot

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Stiffness:
    """Cartesian compliance and stiffness of a frame: ``compliance`` (6 × 6) maps a small wrench (f, μ) to (δp, δφ).

    C = J (K_q − K_G)⁻¹ Jᵀ plus the compliances of base and links [Tzafestas, slide 8; Chen and Kao 2000]. ``joint`` is K_q,
    ``load`` is K_G = ∂(Jᵀ w)/∂q, minus ∂g/∂q with ``weight=True``; both are in independent coordinates where loops
    are closed, and K_q includes the forces of preloaded springs there.
    ``parts`` has the compliance of joints, base and links.
    ``rigid`` (6 × k) spans the wrenches that cause no displacement; C is singular if there are any.
    """

    robot: Robot
    q: Array
    frame: str
    joint: Array
    load: Array
    parts: dict[str, Array]
    length: float

    @cached_property
    def compliance(self) -> Array:
        return sum(self.parts.values(), np.zeros((6, 6)))

    @cached_property
    def _scaled(self) -> tuple[Array, Array, Array]:
        """The SVD of the compliance, with angles scaled to lengths."""
        S = np.array([1.0] * 3 + [self.length] * 3)
        U, s, Vt = np.linalg.svd(self.compliance * S[:, None] * S)
        return U / S[:, None], s, Vt.T * S[:, None]

    @property
    def _closed(self) -> bool:
        """Whether loops or contacts are held, so that there are fewer independent coordinates than those of the tree."""
        return len(self.joint) < self.robot.n

    @property
    def rank(self) -> int:
        s = self._scaled[1]
        return int((s > RANK_TOLERANCE * max(float(s.max()), 1e-300)).sum())

    @property
    def gives_way(self) -> Array:
        """For each of the six directions (x, y, z, rx, ry, rz), whether its diagonal compliance is nonzero."""
        S = np.array([1.0] * 3 + [self.length] * 3)
        return np.asarray(np.diag(self.compliance) * S**2 > RANK_TOLERANCE * max(float(self._scaled[1].max()), 1e-300))

    @property
    def rigid(self) -> Array:
        """Wrenches (f, μ) that cause no displacement, as columns: the structure carries them."""
        return self._scaled[2][:, self.rank :]

    @property
    def stiffness(self) -> Array:
        """K_p = C⁻¹ (6 × 6); raises `SingularError` if there are rigid directions."""
        if self.rank < 6:
            sentences = "; ".join(self.sentences)
            raise SingularError(f"the 6 × 6 compliance is singular: {sentences}. Select other directions, such as on('xy')")
        return np.linalg.inv(self.compliance)

    def compliance_on(self, rows: Any) -> Array:
        """The compliance in selected directions, such as "xy"."""
        P = self._task(rows).selection
        return P @ self.compliance @ P.T

    def on(self, rows: Any) -> Array:
        """The stiffness in selected directions, the others being unloaded: the inverse of that block of C."""
        task = self._task(rows)
        C = self.compliance_on(rows)
        scaled = C / task.scale[:, None] / task.scale
        values = np.linalg.svd(scaled, compute_uv=False)
        if values[-1] <= RANK_TOLERANCE * max(values[0], 1e-300):
            U = np.linalg.svd(scaled)[0][:, values <= RANK_TOLERANCE * max(values[0], 1e-300)]
            stiff = (task.selection.T @ (readable(U) * task.scale[:, None])).T
            raise SingularError(f"{self.frame} is rigid: no load can make it {' or '.join(motion_text(v) for v in stiff)}")
        return np.linalg.inv(C)

    def _task(self, rows: Any) -> Directions:
        return directions_of(self.robot, self.frame, rows, self.length, closed=self._closed)

    @property
    def symmetric(self) -> bool:
        """Whether the stiffness is symmetric; a moment of constant direction has no potential and makes it asymmetric."""
        return bool(np.abs(self.load - self.load.T).max(initial=0.0) <= 1e-9 * np.abs(self.joint).max(initial=1.0))

    @property
    def stable(self) -> bool:
        """Whether the equilibrium is statically stable: no part of the load up to the whole makes K_q − K_G singular.

        With a symmetric K_G, K_q − K_G is then positive definite.
        """
        return self._divergence < 1.0

    @cached_property
    def _divergence(self) -> float:
        """The reciprocal of the critical factor; infinite where preloaded springs in loops are unstable by themselves."""
        regular = np.linalg.eigvalsh(0.5 * (self.joint + self.joint.T))[0] > 0.0
        return largest_divergence(self.joint, self.load) if regular else float("inf")

    @property
    def critical_load(self) -> float:
        """Factor of the load (and weight, if included) at which K_q − K_G becomes singular (buckling); may be infinite."""
        worst = self._divergence
        return 1.0 / worst if worst > NEGLIGIBLE else float("inf")

    @property
    def sentences(self) -> tuple[str, ...]:
        basis = self._scaled[0][:, self.rank :]
        S = np.array([1.0] * 3 + [self.length] * 3)
        rigid = (readable(basis * S[:, None]) / S[:, None]).T
        sentences = [f"{self.frame} is rigid: no load can make it {motion_text(v)}" for v in rigid]
        return (*sentences, *([self.buckling] if self.buckling else []))

    @property
    def buckling(self) -> str:
        """A sentence on buckling under the load; empty if the load does not reduce the stiffness."""
        if not self.stable:
            return "the equilibrium is unstable under this load (buckling): K_q − K_G is singular under a part of it"
        factor = self.critical_load
        return f"buckling occurs at {factor:.4g} times this load" if np.isfinite(factor) else ""

    def compliance_ellipsoid(self, rows: Any = None) -> Ellipsoid:
        """Displacements under forces of unit size: half-axes are the singular values of C."""
        task = directions_of(self.robot, self.frame, rows, closed=self._closed)
        refuse_mixed(task)
        U, s, _ = np.linalg.svd(self.compliance_on(rows if rows is not None else task.selection))
        s = np.where(s > RANK_TOLERANCE * max(float(s.max()), 1e-300), s, 0.0)
        return Ellipsoid(s, U, np.zeros(len(s)), "m/N" if task.linear.all() else "rad/(N m)")

    def stiffness_ellipsoid(self, rows: Any = None) -> Ellipsoid:
        """Forces for displacements of unit size; infinite in rigid directions."""
        C = self.compliance_ellipsoid(rows)
        with np.errstate(divide="ignore"):
            return Ellipsoid(1.0 / C.radii, C.directions, C.centre, "N/m" if C.unit == "m/N" else "N m/rad")

    def as_dict(self) -> dict[str, Any]:
        critical, closed = self.critical_load, self._closed
        return {
            "robot": self.robot.name, "frame": self.frame, "q": self.q.tolist(),
            **({"reduced_stiffness": self.joint.tolist()} if closed else {"joint_stiffness": np.diag(self.joint).tolist()}),
            "compliance": self.compliance.tolist(), "stiffness": self.stiffness.tolist() if self.rank == 6 else None,
            "rank": self.rank, "stable": self.stable, "critical_load": critical if np.isfinite(critical) else None,
            "sentences": list(self.sentences),
        }  # fmt: skip

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Plot the robot with its compliance ellipse; returns the axes."""
        return plotted("stiffness", self, path)

    def __repr__(self) -> str:
        soft = float(np.linalg.norm(self.compliance[:3, :3], 2))
        state = "stable" if self.stable else "buckling"
        at = f"{printable(self.robot.name)} at {printable(self.frame)}"
        return short(f"<Stiffness of {at}: largest compliance {soft:.4g} m/N, rank {self.rank}, {state}>")

    def _repr_html_(self) -> str:
        return stiffness_card(self)


def stiffness(
    robot: Robot | ConstrainedRobot, q: Any, joint_stiffness: Any, frame: str | None = None, *, wrench: Any = None,
    by: str = "environment", weight: bool = False, base_compliance: Any = None,
    link_compliance: Mapping[str, Any] | None = None,
) -> Stiffness:  # fmt: skip
    """Cartesian stiffness of a robot at a frame from the stiffness of its joints: C = J (K_q − K_G)⁻¹ Jᵀ.

    ``joint_stiffness`` is one number for all joints [N m/rad, N/m], one per joint, or a symmetric positive definite matrix;
    the springs of the model are added to it. ``wrench`` is the load in this configuration, constant in world axes: it adds
    K_G = ∂(Jᵀ w)/∂q, and ``weight=True`` subtracts ∂g/∂q. ``base_compliance`` (6 × 6, or its diagonal) is the compliance of
    the base mount at the world origin in world axes; ``link_compliance`` maps frames to compliances at their origins in their
    own axes. Base and link compliances are added to first order; the load does not change them.

    A robot of `dynamis.constrained` has its loops closed and its contacts held, under the forces of both; its
    ``joint_stiffness`` is a mapping of the joints that have some, or one number per coordinate with zeros of passive joints.

    >>> import dynamis as dy, numpy as np
    >>> loop = dy.loops.five_bar()
    >>> dy.statics.stiffness(loop, loop.home(), {"left": 1e3, "right": 1e3}, "left_lower_end").gives_way[:2].tolist()
    [True, True]
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> found = dy.statics.stiffness(arm, [0.0, np.pi / 2], [200.0, 100.0])
    >>> found.compliance_on("xy").round(6).tolist()  # J K_q⁻¹ Jᵀ
    [[0.015, -0.005], [-0.005, 0.005]]
    """
    tree: Any = getattr(robot, "robot", robot)
    check_is_robot(tree)
    f = tree.model.frame(frame)
    if isinstance(robot, Robot):
        at = one_state(robot, q)
        check_coordinates(robot)
        K = joint_matrix(robot, joint_stiffness) + spring_stiffness(robot)
        G = load_stiffness(robot, at, one_wrench(robot, wrench, by), f.name)
        if weight:
            G = G - weight_stiffness(robot, at)
        J = robot.jacobian(at, f.name)
    else:
        at = tree.inputs.one_state(q, tree.nq, "q").astype(float)
        K, G, T = reduced_stiffness(robot, at, joint_stiffness, one_wrench(tree, wrench, by), f.name, weight)
        J = tree.jacobian(at, f.name) @ T
    try:
        parts = {"joints": J @ np.linalg.solve(K - G, J.T)}
    except np.linalg.LinAlgError:
        raise SingularError(
            "K_q − K_G is singular: this load is the buckling load; reduce it or increase the joint stiffness"
        ) from None
    if base_compliance is not None:
        parts["base"] = base_part(tree, at, f.name, base_compliance)
    for name, given in (link_compliance or {}).items():
        parts[name] = _link_part(tree, at, f.name, name, given)
    return Stiffness(tree, at, f.name, K, G, parts, characteristic_length(tree, f.name))


def joint_matrix(robot: Robot, joint_stiffness: Any) -> Array:
    """K_q (n × n), from one number, one number per joint, or a matrix."""
    try:
        given = np.asarray(joint_stiffness, dtype=float)
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.ndim < 2:
        k = joint_springs(robot, joint_stiffness)
        if not np.isfinite(k).all():
            raise InputError("joint stiffness must be finite here; give a very large number for a rigid joint")
        return np.diag(k)
    if given.shape != (robot.n, robot.n) or not np.isfinite(given).all():
        raise InputError(f"joint stiffness must be a matrix ({robot.n}, {robot.n}) of finite numbers, got shape {given.shape}")
    if np.abs(given - given.T).max() > 1e-9 * np.abs(given).max() or np.linalg.eigvalsh(given).min() <= 0.0:
        raise InputError("a joint stiffness matrix must be symmetric and positive definite")
    return np.array(given)


def base_part(robot: Robot, q: Array, frame: str, base_compliance: Any) -> Array:
    """Compliance (6 × 6) at the frame due to a compliance of the base mount at the world origin."""
    return _carried(_spring(base_compliance, "base_compliance"), robot.pose(q, frame)[:3, 3])


def _spring(compliance: Any, name: str) -> Array:
    try:
        C = np.array(compliance, dtype=float)
    except (TypeError, ValueError):
        C = np.zeros(0)
    C = np.diag(C) if C.shape == (6,) else C
    if C.shape != (6, 6) or not np.isfinite(C).all():
        raise InputError(
            f"{name} must be a 6 × 6 compliance matrix, or its diagonal, in m/N and rad/(N m); got shape {C.shape}"
        )
    if np.abs(C - C.T).max() > 1e-9 * max(np.abs(C).max(), 1e-300) or np.linalg.eigvalsh(C).min() < -1e-12 * np.abs(C).max():
        raise InputError(f"{name} must be symmetric and positive semidefinite")
    return C


def _carried(C: Array, arm: Array) -> Array:
    """A compliance transformed to another point of the same body, displaced by ``arm``: X C Xᵀ."""
    X = np.eye(6)
    X[:3, 3:] = -skew(arm)
    return X @ C @ X.T


def _link_part(robot: Robot, q: Array, frame: str, link: str, given: Any) -> Array:
    """Compliance at the frame due to that of a link; zero if the link does not support the frame."""
    C = _spring(given, f"link_compliance[{link!r}]")
    model = robot.model
    spring, tip = model.frame(link), model.frame(frame)
    if spring.body not in (0, *model.ancestors(tip.body)):
        return np.zeros((6, 6))
    here, there = robot.pose(q, link), robot.pose(q, frame)
    R = np.kron(np.eye(2), here[:3, :3])
    return _carried(R @ C @ R.T, there[:3, 3] - here[:3, 3])
