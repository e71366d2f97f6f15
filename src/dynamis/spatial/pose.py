"""Poses, twists and wrenches.

A pose (R, p) of frame B in frame A maps coordinates of B to those of A. Spatial vectors are linear part first:
twist V = (v, ω), wrench W = (f, μ); their product V · W is a power.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.errors import InputError, literal
from dynamis.scalar import is_number
from dynamis.spatial.checks import checked_rotation, finite_or_symbolic, shape_of
from dynamis.spatial.rotation import IDENTITY, blocks, cross, from_rpy, skew

Array = npt.NDArray[Any]


class _Parts(NamedTuple):
    R: Array
    p: Array


class Pose(_Parts):
    """Pose of a frame: the columns of R are its axes, p its origin, both in the coordinates of another frame.

    Poses are composed with ``@``, also with 4 × 4 matrices; two are equal if all their numbers are.

    >>> Pose.translation([1.0, 0.0, 0.0]) @ Pose.translation([0.0, 2.0, 0.0]) == Pose.translation([1.0, 2.0, 0.0])
    True
    """

    __slots__ = ()
    __array_ufunc__ = None  # NumPy leaves matrix @ pose to __rmatmul__

    def __new__(cls, R: Any, p: Any) -> Pose:
        if type(R) is not np.ndarray or type(p) is not np.ndarray:  # typed; poses of two arrays are checked where they are used
            R, p = _numbers(R, (3, 3), "rotation"), _numbers(p, (3,), "position")
            if R is not IDENTITY and R.dtype != object:
                checked_rotation(R, "this", batch=True)
        return tuple.__new__(cls, (R, p))

    @staticmethod
    def identity() -> Pose:
        """No displacement; always the same object, whose arrays are read-only."""
        return _HERE

    @staticmethod
    def translation(p: Any) -> Pose:
        return Pose(IDENTITY, p.copy() if isinstance(p, np.ndarray) else p)

    @staticmethod
    def rotation(R: Any) -> Pose:
        return Pose(R, np.zeros(3))

    @staticmethod
    def from_matrix(X: Any) -> Pose:
        """The pose with this 4 × 4 homogeneous matrix."""
        return checked_pose(X, "the matrix")

    @staticmethod
    def from_rpy(rpy: Any, xyz: Any = (0.0, 0.0, 0.0)) -> Pose:
        """The pose ``<origin rpy= xyz=>`` of a URDF: roll, pitch and yaw [rad] about the fixed axes x, y and z, in this order.

        The rotation is Rz(yaw) Ry(pitch) Rx(roll).

        >>> import numpy as np
        >>> X = Pose.from_rpy([0.0, 0.0, np.pi / 2], [0.0, 0.0, 0.1])
        >>> X.R.round(3) @ [1.0, 0.0, 0.0], X.p
        (array([0., 1., 0.]), array([0. , 0. , 0.1]))
        """
        return Pose(from_rpy(finite_or_symbolic(rpy, (3,), "rpy")), finite_or_symbolic(xyz, (3,), "xyz"))

    def __matmul__(self, other: Any) -> Pose:
        """X_AB @ X_BC = X_AC."""
        if not isinstance(other, Pose):
            other = checked_pose(other, "the right factor of @")
        return Pose(self.R @ other.R, self.R @ other.p + self.p)

    def __rmatmul__(self, other: Any) -> Pose:
        return checked_pose(other, "the left factor of @") @ self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pose) and all(same_entries(a, b) for a, b in zip(self, other, strict=True))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]  # as its arrays

    def __add__(self, other: object) -> NoReturn:
        raise InputError("poses cannot be added or multiplied; A @ B composes two, and X.p is the position of one")

    __radd__ = __mul__ = __rmul__ = __add__

    def inverse(self) -> Pose:
        return Pose(self.R.T, -(self.R.T @ self.p))

    def matrix(self) -> Array:
        """The 4 × 4 homogeneous matrix."""
        return np.vstack([np.column_stack([self.R, self.p]), np.array([[0.0, 0.0, 0.0, 1.0]])])

    def twist_inward(self, V: Array) -> Array:
        """Ad⁻¹ V: a twist given at A in the coordinates of A, taken to B."""
        v, w = V[:3], V[3:]
        return np.concatenate([self.R.T @ (v + cross(w, self.p)), self.R.T @ w])

    def twist_outward(self, V: Array) -> Array:
        """Ad V: a twist given at B in the coordinates of B, taken to A."""
        v, w = self.R @ V[:3], self.R @ V[3:]
        return np.concatenate([v + cross(self.p, w), w])

    def wrench_outward(self, W: Array) -> Array:
        """Ad* W: a wrench given at B in the coordinates of B, taken to A."""
        f, m = self.R @ W[:3], self.R @ W[3:]
        return np.concatenate([f, m + cross(self.p, f)])

    def wrench_inward(self, W: Array) -> Array:
        """A wrench given at A in the coordinates of A, taken to B."""
        f, m = W[:3], W[3:]
        return np.concatenate([self.R.T @ f, self.R.T @ (m - cross(self.p, f))])

    def Ad(self) -> Array:
        """The 6 × 6 adjoint: twists of B to twists of A."""
        return blocks(self.R, skew(self.p) @ self.R, np.zeros((3, 3)), self.R)

    def is_identity(self) -> bool:
        if self is _HERE:
            return True
        if self.R is IDENTITY and self.p.dtype != object:
            return not self.p.any()
        return bool(object not in (self.R.dtype, self.p.dtype) and (self.R == IDENTITY).all() and (self.p == 0).all())

    def __repr__(self) -> str:
        return as_call(self)

    def _repr_html_(self) -> str:
        return as_table(self)


def checked_pose(value: Any, name: str, *, batch: bool = False) -> Pose:
    """A `Pose` or a 4 × 4 matrix that users give, as a pose; ``batch``: or several, (…, 4, 4). Symbols are not checked."""
    if isinstance(value, Pose):
        R = IDENTITY if value.R is IDENTITY else checked_rotation(value.R, name)
        return Pose(R, finite_or_symbolic(value.p, (3,), f"the position of {name}"))
    shape = shape_of(value)
    if (shape[-2:] if batch else shape) != (4, 4):
        got = f"an array of shape {shape}" if shape else type(value).__name__
        raise InputError(f"{name} must be a Pose or a 4 × 4 matrix{', or a batch of these' if batch else ''}, got {got}")
    X = finite_or_symbolic(value, (4, 4), name, batch)
    last = X[..., 3, :]
    if X.dtype != object and not (last == (0.0, 0.0, 0.0, 1.0)).all():
        wrong = last[(last != (0.0, 0.0, 0.0, 1.0)).any(axis=-1)][0]
        raise InputError(f"{name} is not a pose: its last row must be (0, 0, 0, 1), not {tuple(wrong.tolist())}")
    return Pose(checked_rotation(X[..., :3, :3], name, batch=batch), X[..., :3, 3])


def _numbers(value: Any, shape: tuple[int, ...], what: str) -> Array:
    """Lists and numbers as arrays."""
    if isinstance(value, np.ndarray):
        return value
    try:
        array = np.array(value)
    except ValueError:  # ragged
        array = np.array(None)
    if array.dtype.kind not in "iufO" or array.shape[-len(shape) :] != shape:
        raise InputError(f"the {what} of a Pose consists of {' × '.join(map(str, shape))} numbers, got {literal(value)}")
    return array if array.dtype == object else array.astype(float)


def same_entries(a: Array, b: Array) -> bool:
    """Whether two arrays have the same numbers and the same symbols."""
    if object not in (a.dtype, b.dtype):
        return np.array_equal(a, b)
    pairs = zip(a.flat, b.flat, strict=False)
    return a.shape == b.shape and all(x is y or (is_number(x) and is_number(y) and x == y) for x, y in pairs)


_HERE = Pose(IDENTITY, np.zeros(3))
_HERE.p.setflags(write=False)


def ad(V: Array) -> Array:
    """The 6 × 6 matrix of the Lie bracket: ad(V) U is how a twist U, fixed in a frame moving with V, changes."""
    v, w = skew(V[:3]), skew(V[3:])
    return blocks(w, v, np.zeros((3, 3)), w)


def motion_cross(V: Array, U: Array) -> Array:
    """ad(V) U, without forming the matrix."""
    v, w = V[:3], V[3:]
    return np.concatenate([cross(w, U[:3]) + cross(v, U[3:]), cross(w, U[3:])])


def force_cross(V: Array, W: Array) -> Array:
    """ad*(V) W = −ad(V)ᵀ W: how a wrench W, fixed in a frame moving with V, changes."""
    v, w = V[:3], V[3:]
    return np.concatenate([cross(w, W[:3]), cross(v, W[:3]) + cross(w, W[3:])])
