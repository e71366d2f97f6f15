"""Methods of a robot for the centre of mass and the momentum."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from dynamis.algorithms.registry import ALGORITHMS
from dynamis.robot.base import direct
from dynamis.robot.functions import StateFunctions

Array = npt.NDArray[Any]


class CentroidalFunctions(StateFunctions):
    """Centre of mass and centroidal momentum, evaluated for one state or a batch."""

    @direct
    def center_of_mass(self, q: Any, link: str | None = None, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Centre of mass of the moving bodies in the world (…, 3).

        ``link`` restricts it to the body that carries this link and all bodies that this body carries. A base that is fixed to
        the world is not counted.

        >>> import dynamis as dy
        >>> robot = dy.load("ur5e")
        >>> robot.center_of_mass(robot.neutral()).round(3)
        array([-0.344, -0.082,  0.147])
        """
        return self._of_subtree("center_of_mass", (q,), link, out, dtype)

    @direct
    def center_of_mass_velocity(
        self, q: Any, v: Any, link: str | None = None, *, out: Array | None = None, dtype: Any = None
    ) -> Array:
        """Velocity of the centre of mass (…, 3)."""
        return self._of_subtree("center_of_mass_velocity", (q, v), link, out, dtype)

    @direct
    def center_of_mass_acceleration(
        self, q: Any, v: Any, a: Any, link: str | None = None, *, out: Array | None = None, dtype: Any = None
    ) -> Array:
        """Acceleration of the centre of mass, without gravity (…, 3)."""
        return self._of_subtree("center_of_mass_acceleration", (q, v, a), link, out, dtype)

    @direct
    def center_of_mass_jacobian(self, q: Any, link: str | None = None, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Jacobian J_c of the centre of mass (…, 3, n): its velocity is J_c v."""
        return self._of_subtree("center_of_mass_jacobian", (q,), link, out, dtype)

    @direct
    def centroidal_momentum(
        self, q: Any, v: Any, link: str | None = None, *, out: Array | None = None, dtype: Any = None
    ) -> Array:
        """Linear momentum, and angular momentum about the centre of mass, in world axes (…, 6)."""
        return self._of_subtree("centroidal_momentum", (q, v), link, out, dtype)

    @direct
    def centroidal_matrix(self, q: Any, link: str | None = None, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Centroidal momentum matrix A_g (…, 6, n): the `centroidal_momentum` is A_g v."""
        return self._of_subtree("centroidal_matrix", (q,), link, out, dtype)

    @direct
    def centroidal_matrix_dot(
        self, q: Any, v: Any, link: str | None = None, *, out: Array | None = None, dtype: Any = None
    ) -> Array:
        """Time derivative of the centroidal momentum matrix (…, 6, n)."""
        return self._of_subtree("centroidal_matrix_dot", (q, v), link, out, dtype)

    @direct
    def centroidal_inertia(self, q: Any, link: str | None = None, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Inertia tensor about the centre of mass, in world axes, with all joints held (…, 3, 3)."""
        return self._of_subtree("centroidal_inertia", (q,), link, out, dtype)

    def _of_subtree(self, name: str, state: tuple[Any, ...], link: str | None, out: Array | None, dtype: Any) -> Array:
        options = {} if link is None else {"link": self.model.frame(link)}
        return self.evaluate(ALGORITHMS[name], *state, out=out, dtype=dtype, **options)
