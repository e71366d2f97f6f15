"""Forward kinematics of poses, twists and accelerations.

Every quantity of body i is in the frame of body i unless its name says otherwise (``X_W`` poses are in the world).
Index 0 is the base.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.model.model import Frame, Model
from dynamis.spatial import Pose, cross, motion_cross
from dynamis.spatial.checks import finite_or_symbolic
from dynamis.spatial.pose import checked_pose

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class MovingBase:
    """Prescribed motion of the base: its pose in the world, and twist and acceleration (v̇, ω̇) in its own frame.

    The pose is a `Pose` or a 4 × 4 matrix.
    """

    pose: Pose
    twist: Array
    acceleration: Array

    def __post_init__(self) -> None:
        if self.pose is not Pose.identity():
            object.__setattr__(self, "pose", checked_pose(self.pose, "the pose of the base"))
        for name in ("twist", "acceleration"):
            object.__setattr__(self, name, finite_or_symbolic(getattr(self, name), (6,), f"the {name} of the base"))

    @staticmethod
    def at_rest() -> MovingBase:
        return MovingBase(Pose.identity(), np.zeros(6), np.zeros(6))

    @property
    def symbolic(self) -> bool:
        return any(np.asarray(x).dtype == object for x in (*self.pose, self.twist, self.acceleration))

    __repr__ = as_call
    _repr_html_ = as_table


REST = MovingBase.at_rest()


def relative_poses(model: Model, q: Array) -> list[Pose]:
    """The pose of each body in its parent's frame, X_λ(i),i(q)."""
    return [Pose.identity()] + [body.pose(q) for _, body in model.moving]


def world_poses(model: Model, X: list[Pose], base: MovingBase = REST) -> list[Pose]:
    """The pose of each body in the world, from the relative ones."""
    X_W = [base.pose]
    for i, body in model.moving:
        X_W.append(X_W[body.parent] @ X[i])
    return X_W


def twists(model: Model, X: list[Pose], v: Array, base: MovingBase = REST) -> list[Array]:
    """V_i = Ad⁻¹ V_λ(i) + S_i v_i [Pisa notes, ABA pass 1]."""
    V = [base.twist]
    for i, body in model.moving:
        V.append(X[i].twist_inward(V[body.parent]) + body.S @ v[list(body.dof)])
    return V


def accelerations(model: Model, X: list[Pose], V: list[Array], v: Array, a: Array, base: MovingBase = REST) -> list[Array]:
    """V̇_i = Ad⁻¹ V̇_λ(i) + S_i v̇_i + ad(V_i) S_i v_i, the rate of the components of V_i [Pisa notes, ABA (2)]."""
    A = [base.acceleration]
    for i, body in model.moving:
        dof = list(body.dof)
        A.append(X[i].twist_inward(A[body.parent]) + body.S @ a[dof] + motion_cross(V[i], body.S @ v[dof]))
    return A


def pose(model: Model, q: Array, frame: Frame) -> Array:
    """The 4 × 4 pose of a frame in the world."""
    return (chain_pose(model, q, frame.body) @ frame.pose).matrix()


def poses(model: Model, q: Array) -> Array:
    """The poses of all frames in the world (frames, 4, 4), in the order of the model's link names."""
    X_W = world_poses(model, relative_poses(model, q))
    frames = [model.frames[name] for name in model.link_names]
    return np.array([(X_W[frame.body] @ frame.pose).matrix() for frame in frames])


def chain_pose(model: Model, q: Array, i: int) -> Pose:
    """The world pose of one body, from its ancestors only."""
    X = Pose.identity()
    for k in model.ancestors(i):
        body = model.bodies[k]
        assert body is not None
        X = body.pose(q) @ X
    return X


def velocity(model: Model, q: Array, v: Array, frame: Frame, base: MovingBase = REST) -> Array:
    """The twist (ṗ, ω) of a frame: velocity of its origin and its angular velocity, in world axes."""
    X_W, V = base.pose, base.twist
    for i in reversed(list(model.ancestors(frame.body))):
        body = model.bodies[i]
        assert body is not None
        X = body.pose(q)
        X_W, V = X_W @ X, X.twist_inward(V) + body.S @ v[list(body.dof)]
    X_W, V = X_W @ frame.pose, frame.pose.twist_inward(V)
    return np.concatenate([X_W.R @ V[:3], X_W.R @ V[3:]])


def acceleration(model: Model, q: Array, v: Array, a: Array, frame: Frame, base: MovingBase = REST) -> Array:
    """The acceleration (p̈, ω̇) of a frame: that of its origin, without gravity, in world axes."""
    X = relative_poses(model, q)
    X_W = world_poses(model, X, base)[frame.body] @ frame.pose
    V_body = twists(model, X, v, base)
    A = frame.pose.twist_inward(accelerations(model, X, V_body, v, a, base)[frame.body])
    V = frame.pose.twist_inward(V_body[frame.body])
    # the components of V turn with the frame: p̈ = R (v̇ + ω × v)
    return np.concatenate([X_W.R @ (A[:3] + cross(V[3:], V[:3])), X_W.R @ A[3:]])
