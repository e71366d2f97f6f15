"""Configurations of a robot: special and random ones, and steps on the configuration manifold."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.configurations import independent_bodies
from dynamis.algorithms.registry import ALGORITHMS
from dynamis.compiler.cuda import on_gpu
from dynamis.errors import InputError
from dynamis.model.joints import OneNumber
from dynamis.robot.base import RobotBase, direct

Array = npt.NDArray[Any]


class Configurations(RobotBase):
    """Methods of a robot that make and combine configurations."""

    def neutral(self) -> Array:
        """Configuration with all joint variables zero; spherical and free joints have the identity rotation."""
        q = np.zeros(self.nq)
        for body in independent_bodies(self.model):
            q[body.q_index] = body.motion.neutral()
        return q

    def home(self) -> Array:
        """Start of motions and searches by default: neutral, but mid-range where the limits of a joint exclude zero.

        >>> import dynamis as dy
        >>> dy.load("panda").home().round(2).tolist()
        [0.0, 0.0, 0.0, -1.57, 0.0, 0.0, 0.0]
        """
        q, limits = self.neutral(), self.limits
        for k, coordinate in enumerate(self.model.coordinates):
            lower, upper = limits["lower"][k], limits["upper"][k]
            if coordinate.q_index is not None and not lower <= q[coordinate.q_index] <= upper:
                ends = [end for end in (lower, upper) if np.isfinite(end)]
                q[coordinate.q_index] = sum(ends) / len(ends)
        return q

    def random(self, rng: np.random.Generator | int | None = None, size: int | Sequence[int] | None = None) -> Array:
        """Random configurations within the joint limits; ``rng`` is a generator or a seed, ``size`` the batch shape."""
        try:
            generator = np.random.default_rng(rng)
            sizes = () if size is None else size if isinstance(size, Sequence) else (size,)
            shape = tuple(map(operator.index, sizes))
            q = np.empty((int(np.prod(shape)), self.nq))
        except (TypeError, ValueError) as error:
            raise InputError(f"random requires a generator or a seed, and a size of integers: {error}") from None
        limits = self.limits
        bodies = [b for b in independent_bodies(self.model) if b.dof]
        simple = [(b.motion, b.dof[0]) for b in bodies if isinstance(b.motion, OneNumber)]
        if len(simple) == len(bodies):  # state by state: a longer batch begins with a shorter one
            ends = [motion.interval(limits["lower"][k], limits["upper"][k]) for motion, k in simple]
            low, high = np.array(ends).reshape(-1, 2).T
            q[:, [b.q_index.start for b in bodies]] = low + (high - low) * generator.random((len(q), len(bodies)))
        else:
            for b in bodies:
                lower, upper = (limits[end][list(b.dof)] for end in ("lower", "upper"))
                q[:, b.q_index] = b.motion.random(generator, lower, upper, len(q))
        return q.reshape(*shape, self.nq)

    @direct
    def integrate(self, q: Any, dv: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Configuration reached from q with the constant velocity dv in unit time, on the configuration manifold (…, nq).

        >>> import dynamis as dy
        >>> robot = dy.load("go2", base="floating")
        >>> q = robot.random(0)
        >>> bool(abs(robot.difference(q, robot.integrate(q, [0.1] * robot.n)) - 0.1).max() < 1e-14)
        True
        """
        return self.evaluate(ALGORITHMS["integrate"], q, dv, out=out, dtype=dtype)

    @direct
    def difference(self, q0: Any, q1: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Velocity dv with integrate(q0, dv) = q1 (…, n)."""
        return self.evaluate(ALGORITHMS["difference"], q0, q1, out=out, dtype=dtype)

    def interpolate(self, q0: Any, q1: Any, s: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Configurations (…, nq) on the shortest way from q0 (s = 0) to q1 (s = 1); ``s`` is a number or an array (…).

        >>> import dynamis as dy
        >>> robot = dy.load("ur5e")
        >>> robot.interpolate([0.0] * 6, [1.0] * 6, [0.0, 0.5, 1.0])[:, 0]
        array([0. , 0.5, 1. ])
        """
        fraction = s if on_gpu(s) else np.asarray(s)
        return self.evaluate(ALGORITHMS["interpolate"], q0, q1, fraction[..., None], out=out, dtype=dtype)

    def integrate_derivatives(self, q: Any, dv: Any) -> tuple[Array, Array]:
        """Derivatives (∂q₁/∂q, ∂q₁/∂dv) of q₁ = integrate(q, dv), each (…, n, n).

        Changes of configurations are along the entries of v: for a quaternion, rotations of the moving frame.

        >>> import dynamis as dy
        >>> robot = dy.load("go2", base="floating")
        >>> dq, ddv = robot.integrate_derivatives(robot.random(0), [0.1] * robot.n)
        >>> dq.shape, ddv.shape
        ((18, 18), (18, 18))
        """
        found = self.evaluate(ALGORITHMS["integrate_derivatives"], q, dv)
        return found[..., 0, :, :], found[..., 1, :, :]

    def difference_derivatives(self, q0: Any, q1: Any) -> tuple[Array, Array]:
        """Derivatives (∂dv/∂q₀, ∂dv/∂q₁) of dv = difference(q₀, q₁), each (…, n, n), in the same directions.

        >>> import dynamis as dy
        >>> robot = dy.load("ur5e")
        >>> dq0, dq1 = robot.difference_derivatives(robot.random(0), robot.random(1))
        >>> bool((dq0 == -dq1).all())
        True
        """
        found = self.evaluate(ALGORITHMS["difference_derivatives"], q0, q1)
        return found[..., 0, :, :], found[..., 1, :, :]
