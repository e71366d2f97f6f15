"""Configurations of a robot: special and random ones, and steps on the configuration manifold."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.robot.base import RobotBase

Array = npt.NDArray[Any]


class Configurations(RobotBase):
    """Methods of a robot that make and combine configurations."""

    def neutral(self) -> Array:
        """Configuration with all joint variables zero; spherical and free joints have the identity rotation."""
        q = np.zeros(self.nq)
        for _, body in self._own_bodies():
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
        for row in q:
            for _, body in self._own_bodies():
                dof = list(body.dof)
                row[body.q_index] = body.motion.random(generator, limits["lower"][dof], limits["upper"][dof])
        return q.reshape(*shape, self.nq)

    def integrate(self, q: Any, dv: Any) -> Array:
        """Configuration reached from q with the constant velocity dv in unit time, on the configuration manifold."""
        return self.evaluator.over_states(self._integrate_one, self.nq, q=(q, self.nq), dv=(dv, self.n))

    def difference(self, q0: Any, q1: Any) -> Array:
        """Velocity dv with integrate(q0, dv) = q1."""
        return self.evaluator.over_states(self._difference_one, self.n, q0=(q0, self.nq), q1=(q1, self.nq))

    def _own_bodies(self) -> Any:
        return [(i, b) for i, b in self.model.moving if b.ratio == 1.0 and b.offset == 0.0 and not b.is_rotor]

    def _integrate_one(self, q: Array, dv: Array) -> Array:
        result = q.copy()
        for _, body in self._own_bodies():
            result[body.q_index] = body.motion.integrate(q[body.q_index], dv[list(body.dof)])
        return result

    def _difference_one(self, q0: Array, q1: Array) -> Array:
        result = np.zeros(self.n)
        for _, body in self._own_bodies():
            result[list(body.dof)] = body.motion.difference(q0[body.q_index], q1[body.q_index])
        return result
