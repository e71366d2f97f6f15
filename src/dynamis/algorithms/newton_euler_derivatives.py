"""Analytical derivatives of the Newton–Euler algorithm, with all vectors in one frame [Singh, Russell & Wensing 2022].

The twist of joint j is S_j, V_λ and A_λ are twist and acceleration of the body it is mounted on, the acceleration with −g. When
q_j changes, the velocities and accelerations of the joint that are due to the bodies before it change by

    Ψ̇_j = V_λ × S_j,    Ψ̈_j = A_λ × S_j + V_λ × Ψ̇_j,    and when v_j changes, accelerations by    Ψ̇_j + Ṡ_j,    Ṡ_j = V_j × S_j

With the sums over the bodies that joint i carries, I the inertia, F the wrench, and B the change of F with velocity,

    ∂τ_i/∂q_j = S_iᵀ (B Ψ̇_j + I Ψ̈_j)                      ∂τ_i/∂v_j = S_iᵀ (B S_j + I (Ψ̇_j + Ṡ_j))     for j before i or j = i
    ∂τ_j/∂q_i = S_jᵀ (B Ψ̇_i + I Ψ̈_i + S_i ×* F)           ∂τ_j/∂v_i = S_jᵀ (B S_i + I (Ψ̇_i + Ṡ_i))     for j before i

and zero for joints of different branches. B is [[0, −2 S(p)], [0, 2 (tr K 1 − K)]], from the linear momentum p and the moments
K = ∫ ẋ xᵀ dm of the velocities, both additive. The frame is that of the first moving body: its joint and, if its axis is
vertical, its coordinate do not appear in the results.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import relative_poses
from dynamis.algorithms.subtree import add_block
from dynamis.model.model import Body, Model
from dynamis.spatial import Inertia, Pose, cross, force_cross, motion_cross, skew

Array = npt.NDArray[Any]


@dataclass
class Joint:
    """A body in the common frame: pose, twist V and acceleration A, and S, Ψ̇, Ψ̈, Ψ̇ + Ṡ of its joint (6 × k)."""

    X: Pose
    V: Array
    A: Array
    S: Array
    Psi_dot: Array
    Psi_ddot: Array
    rate: Array

    @staticmethod
    def of(body: Body, before: Joint | None, X: Pose, gravity: Array, v: Array, a: Array) -> Joint:
        """From the joint before it, if any, and the pose X relative to it."""
        if before is None:
            X, V, A = Pose.identity(), np.zeros(6), np.concatenate([-(X.R.T @ gravity), np.zeros(3)])
        else:
            X, V, A = before.X @ X, before.V, before.A
        S = X.twist_outward(body.S)
        Psi_dot = motion_cross(V, S)
        Psi_ddot = motion_cross(A, S) + motion_cross(V, Psi_dot)
        V, A = V + S @ v, A + S @ a + Psi_dot @ v
        rate = Psi_dot + (Psi_dot if len(body.dof) == 1 else motion_cross(V, S))
        return Joint(X, V, A, S, Psi_dot, Psi_ddot, rate)


@dataclass
class Moments:
    """Mass, first and second moments of a set of bodies, ∫ ẋ dm = p, ∫ ẋ xᵀ dm = K, and the wrench F that moves them."""

    mass: Any
    first: Array
    second: Array
    p: Array
    K: Array
    F: Array

    @staticmethod
    def of(inertia: Inertia, joint: Joint) -> Moments:
        m, (first, second) = inertia.mass, _moments_seen_from(inertia, joint.X)
        v, w = joint.V[:3], joint.V[3:]
        p, K = m * v + cross(w, first), skew(w) @ second + np.outer(v, first)
        L = np.array([K[2, 1] - K[1, 2], K[0, 2] - K[2, 0], K[1, 0] - K[0, 1]])
        F = Inertia(m, first, _complement(second)).apply(joint.A) + force_cross(joint.V, np.concatenate([p, L]))
        return Moments(m, first, second, p, K, F)

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.mass + other.mass, self.first + other.first, self.second + other.second,
            self.p + other.p, self.K + other.K, self.F + other.F,
        )  # fmt: skip

    def inertia(self) -> Inertia:
        return Inertia(self.mass, self.first, _complement(self.second))

    def velocity_product(self, U: Array) -> Array:
        """B U."""
        w = U[3:] + U[3:]
        return np.concatenate([cross(w, self.p), _complement(self.K) @ w])

    def transposed_velocity_product(self, U: Array) -> Array:
        """The angular part of Bᵀ U; its linear part is zero."""
        half = cross(self.p, U[:3]) + _complement(self.K).T @ U[3:]
        return half + half


class SpatialState:
    """The joints of a model in one state, and the moments of the bodies that each of them carries."""

    def __init__(self, model: Model, q: Array, v: Array, a: Array) -> None:
        self.model, self._given = model, (q, v, a)
        X = relative_poses(model, q)
        self.joints: dict[int, Joint] = {}
        self.carried: dict[int, Moments] = {}
        for i, body in model.moving:
            dof = list(body.dof)
            self.joints[i] = Joint.of(body, self.joints.get(body.parent), X[i], model.gravity, v[dof], a[dof])
            self.carried[i] = Moments.of(body.inertia, self.joints[i])
        for i, body in reversed(model.moving):
            if body.parent > 0:
                self.carried[body.parent] = self.carried[body.parent] + self.carried[i]

    def torques(self) -> Array:
        """τ_i = S_iᵀ F_i of the rigid bodies."""
        tau = self.model.zeros(self.model.n, *self._given)
        for i, body in self.model.moving:
            tau[list(body.dof)] += self.joints[i].S.T @ self.carried[i].F
        return tau

    def mass_matrix(self) -> Array:
        """M_ij = S_iᵀ I S_j of the rigid bodies, for j before i or j = i."""
        M = self._square()
        for i, body in self.model.moving:
            momentum = self.carried[i].inertia().apply(self.joints[i].S)
            for dof, joint in self._before(i):
                block = momentum.T @ joint.S
                add_block(M, body.dof, dof, block)
                if joint is not self.joints[i]:
                    add_block(M, dof, body.dof, block.T)
        return M

    def derivatives(self) -> tuple[Array, Array]:
        """(∂τ/∂q, ∂τ/∂v) of the rigid bodies."""
        dq, dv = self._square(), self._square()
        for i, body in self.model.moving:
            own, moments = self.joints[i], self.carried[i]
            I, B, S = moments.inertia(), moments.velocity_product, own.S
            momentum, transposed = I.apply(S), moments.transposed_velocity_product(S)
            along_q = B(own.Psi_dot) + I.apply(own.Psi_ddot) + force_cross(S, moments.F)
            along_v = B(S) + I.apply(own.rate)
            for dof, joint in self._before(i):
                add_block(dq, body.dof, dof, transposed.T @ joint.Psi_dot[3:] + momentum.T @ joint.Psi_ddot)
                add_block(dv, body.dof, dof, transposed.T @ joint.S[3:] + momentum.T @ joint.rate)
                if joint is not own:
                    add_block(dq, dof, body.dof, joint.S.T @ along_q)
                    add_block(dv, dof, body.dof, joint.S.T @ along_v)
        return dq, dv

    def _square(self) -> Array:
        return self.model.zeros((self.model.n, self.model.n), *self._given)

    def _before(self, i: int) -> list[tuple[tuple[int, ...], Joint]]:
        """(coordinates, joint) from joint i to the base, i included."""
        bodies = self.model.bodies
        return [(body.dof, self.joints[j]) for j in self.model.ancestors(i) if (body := bodies[j]) is not None]


def _moments_seen_from(inertia: Inertia, X: Pose) -> tuple[Array, Array]:
    """First and second moments, ∫ x dm and ∫ x xᵀ dm, in the frame in which the body has pose X = (R, p).

    The second moments are those of R x + p, written as T + Tᵀ with T = Σ_k t_k r_kᵀ + ½ m p pᵀ over the columns r_k of R.
    """
    R, p = X
    m, h = inertia.mass, inertia.first_moment
    second = -inertia.tensor + np.diag(np.full(3, 0.5 * np.trace(inertia.tensor)))
    T = np.outer(0.5 * m * p, p)
    for k in range(3):
        t = 0.5 * second[k, k] * R[:, k] + h[k] * p
        for l in range(k + 1, 3):
            t = t + second[k, l] * R[:, l]
        T = T + np.outer(t, R[:, k])
    return R @ h + m * p, T + T.T


def _complement(K: Array) -> Array:
    """tr K 1 − K: of the second moments, the tensor of inertia."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = K
    return np.array([[yy + zz, -xy, -xz], [-yx, xx + zz, -yz], [-zx, -zy, xx + yy]])
