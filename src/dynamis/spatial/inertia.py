"""The inertia of a rigid body, its ten parameters, and whether a real body can have it."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.errors import InputError, type_of
from dynamis.scalar import Node
from dynamis.spatial.checks import finite_or_symbolic
from dynamis.spatial.pose import Pose, checked_pose, same_entries
from dynamis.spatial.rotation import IDENTITY, blocks, cross, skew
from dynamis.tolerances import SUM_ROUNDING

Array = npt.NDArray[Any]

PARAMETER_NAMES = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def steiner(mass: Any, offset: Array) -> Array:
    """What the inertia tensor gains when its point moves by ``offset`` from the centre of mass.

    m (pᵀp 1 − p pᵀ) [Melchiorri, slide 15].
    """
    x, y, z = offset
    xx, yy, zz, xy, xz, yz = mass * x * x, mass * y * y, mass * z * z, -mass * x * y, -mass * x * z, -mass * y * z
    return np.array([[yy + zz, xy, xz], [xy, xx + zz, yz], [xz, yz, xx + yy]])


def nearest_consistent_tensor(tensor: Array, margin: float) -> Array:
    """The tensor about the centre of mass nearest to ``tensor`` that a real body can have.

    The matrix of second moments, ½ tr(I) 1 − I, is projected in the Frobenius norm on the matrices whose eigenvalues are
    at least ``margin`` times the largest, so that the result is strictly inside the triangle inequality. A tensor without
    any positive second moment has the zero tensor of a point mass as its nearest.
    """
    size = np.abs(tensor).max()
    if size == 0.0:
        return np.zeros((3, 3))
    I = 0.5 * (tensor / size + tensor.T / size)
    values, vectors = np.linalg.eigh(0.5 * np.trace(I) * IDENTITY - I)
    moments = (vectors * np.maximum(values, margin * max(values[-1], 0.0))) @ vectors.T
    result = np.trace(moments) * IDENTITY - moments
    return 0.5 * size * (result + result.T)


def congruence(R: Array, T: Array) -> Array:
    """R T Rᵀ of a symmetric T: only one half is computed."""
    return mirrored((R @ T), R)


def mirrored(A: Array, B: Array | None = None) -> Array:
    """The symmetric matrix whose upper half is that of A Bᵀ (of A, without B)."""
    n = len(A)
    result = np.empty((n, n), dtype=object if object in (A.dtype, A.dtype if B is None else B.dtype) else float)
    for i in range(n):
        for j in range(i, n):
            result[i, j] = result[j, i] = A[i, j] if B is None else np.dot(A[i], B[j])
    return result


def _array(value: Any, shape: tuple[int, ...], name: str) -> Array:
    """An array as it is; lists as arrays."""
    if type(value) is np.ndarray and value.shape == shape:
        return value
    return finite_or_symbolic(value, shape, f"{name} of an Inertia")


def _check_mass(mass: Any) -> None:
    if not (isinstance(mass, Real | Node) or (isinstance(mass, np.ndarray) and mass.shape == ())):
        raise InputError(f"mass of an Inertia must be a number, got {type(mass).__name__}")


@dataclass(frozen=True, eq=False, repr=False)
class Inertia:
    """A rigid body's inertia about the origin of a frame, in that frame's axes.

    ``mass`` [kg], ``first_moment`` = mass · centre of mass [kg m], ``tensor`` about the frame's origin [kg m²].
    In these ten numbers the dynamics is linear. Each may be a number or a symbol.
    """

    mass: Any
    first_moment: Array
    tensor: Array

    def __post_init__(self) -> None:
        """Typed lists become arrays; the numbers of arrays are checked where they are used."""
        _check_mass(self.mass)
        for name, shape in (("first_moment", (3,)), ("tensor", (3, 3))):
            if (array := _array(getattr(self, name), shape, name)) is not getattr(self, name):
                object.__setattr__(self, name, array)

    @staticmethod
    def zero() -> Inertia:
        return Inertia(0.0, np.zeros(3), np.zeros((3, 3)))

    @staticmethod
    def about_com(mass: Any, com: Any, tensor: Any) -> Inertia:
        """From the mass, the centre of mass, and the tensor about the centre of mass in the frame's axes."""
        _check_mass(mass)
        c = _array(com, (3,), "com")
        return Inertia(mass, mass * c, _array(tensor, (3, 3), "tensor") + steiner(mass, c))

    @staticmethod
    def from_parameters(parameters: Any) -> Inertia:
        """From the ten parameters (m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz), the tensor about the origin."""
        m, x, y, z, xx, xy, yy, xz, yz, zz = _array(parameters, (10,), "parameters")
        return Inertia(m, np.array([x, y, z]), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))

    @property
    def parameters(self) -> Array:
        """The ten parameters, in the order of ``PARAMETER_NAMES``."""
        I = self.tensor
        return np.array([self.mass, *self.first_moment, I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])

    @property
    def com(self) -> Array:
        """The centre of mass; the origin for a body without mass."""
        if not isinstance(self.mass, Node) and self.mass == 0.0:
            return np.zeros(3)
        return self.first_moment / self.mass

    @property
    def tensor_about_com(self) -> Array:
        return self.tensor - steiner(self.mass, self.com)

    def __add__(self, other: Inertia) -> Inertia:
        """The inertia of two bodies held together, both given in the same frame."""
        return Inertia(self.mass + other.mass, self.first_moment + other.first_moment, self.tensor + other.tensor)

    def seen_from(self, pose: Any) -> Inertia:
        """The same body in the coordinates of A, given in B with ``pose`` = B in A, a `Pose` or a 4 × 4 matrix."""
        return seen_from(self, checked_pose(pose, "the argument of seen_from"))

    def __eq__(self, other: object) -> bool:
        """Whether all numbers are the same."""
        if not isinstance(other, Inertia):
            return False
        ours, theirs = (np.array([x.mass, *x.first_moment, *x.tensor.flat]) for x in (self, other))
        return same_entries(ours, theirs)

    def __hash__(self) -> int:
        return hash(tuple(self.parameters.tolist()))

    def apply(self, V: Array) -> Array:
        """The momentum (linear, angular) of the body moving with twist V: the product of its 6 × 6 matrix with V."""
        v, w, h = V[:3], V[3:], self.first_moment
        return np.concatenate([self.mass * v + cross(w, h), cross(h, v) + self.tensor @ w])

    def matrix(self) -> Array:
        """The 6 × 6 inertia matrix [[m 1, S(h)ᵀ], [S(h), I]]."""
        H = skew(self.first_moment)
        return blocks(self.mass * IDENTITY, H.T, H, self.tensor)

    @property
    def pseudo_inertia(self) -> Array:
        """The 4 × 4 matrix ∫ (x, 1)(x, 1)ᵀ dm; a real body has it positive semi-definite [Wensing 2018]."""
        covariance = 0.5 * np.trace(self.tensor) * IDENTITY - self.tensor
        return np.block([[covariance, self.first_moment[:, None]], [self.first_moment[None, :], np.array([[self.mass]])]])

    def is_consistent(self, tolerance: float = 1e-9) -> bool:
        """Whether some distribution of positive mass has this inertia: mass and second moments about the centre of mass.

        The pseudo-inertia is positive semi-definite if m > 0 and the second moments about the centre of mass, Σ − h hᵀ/m, are.
        Their smallest eigenvalue may be negative by ``tolerance`` times their trace, and by the rounding errors of the
        subtraction; this does not depend on the units of mass and length. A body without mass has neither a first moment nor
        a rotational inertia.
        """
        P = self.pseudo_inertia
        if P.dtype == object:
            raise InputError("the consistency of a symbolic inertia cannot be decided; assign values to its symbols first")
        if self.mass <= 0.0:
            return not P.any()
        about_origin, h = P[:3, :3], self.first_moment
        about_com = about_origin - np.outer(h, h / self.mass)
        allowed = tolerance * max(np.trace(about_com), 0.0) + SUM_ROUNDING * np.abs(np.trace(about_origin))
        return bool(np.linalg.eigvalsh(about_com)[0] >= -allowed)

    def nearest_consistent(self, margin: float = 1e-6) -> Inertia:
        """The nearest inertia a real body can have: same mass, same centre of mass, closest second moments.

        See `nearest_consistent_tensor`; without mass the nearest body is none at all.
        """
        if self.mass == 0.0:
            return Inertia.zero()
        return Inertia.about_com(self.mass, self.com, nearest_consistent_tensor(self.tensor_about_com, margin))

    __repr__ = as_call
    _repr_html_ = as_table


def seen_from(inertia: Inertia, pose: Pose) -> Inertia:
    """The same body in the coordinates of A, given in B with ``pose`` = B in A: rotation, then Steiner."""
    R, p = pose
    h = R @ inertia.first_moment
    moved = h + inertia.mass * p
    # Steiner's shift of the tensor, m and h together: S(h) S(p)ᵀ + S(p) S(h + m p)ᵀ
    shift = skew(h) @ skew(p).T + skew(p) @ skew(moved).T
    return Inertia(inertia.mass, moved, congruence(R, inertia.tensor) + mirrored(shift))


def foreign_inertia(value: Any) -> str:
    """What stands in place of an `Inertia`, for a message; of an inertia of Pinocchio, how it is converted."""
    known = all(hasattr(value, name) for name in ("mass", "lever", "inertia"))
    return type_of(value) + (": give dynamis.Inertia.about_com(I.mass, I.lever, I.inertia)" if known else "")
