"""Methods of a robot for the centre of mass and the momentum."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from dynamis.algorithms.registry import ALGORITHMS
from dynamis.errors import InputError, printable
from dynamis.robot.base import direct
from dynamis.robot.functions import StateFunctions, checked_axes

Array = npt.NDArray[Any]


class CentroidalFunctions(StateFunctions):
    """Centre of mass and centroidal momentum, evaluated for one state or a batch."""

    @direct
    def center_of_mass(self, q: Any, link: str | None = None, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Centre of mass of the moving bodies in the world (…, 3).

        ``link`` restricts it to the body that carries this link and all bodies that this body carries. A base that is fixed to
        the world is not counted, although it is part of `mass`; that of a robot loaded with ``base="floating"`` is.

        >>> import dynamis as dy
        >>> robot = dy.load("ur5e")
        >>> robot.center_of_mass(robot.neutral()).round(3)
        array([-0.344, -0.082,  0.147])
        """
        return self._of_subtree("center_of_mass", (q,), link, out, dtype)

    @direct
    def center_of_mass_velocity(
        self, q: Any, v: Any, link: str | None = None, *, axes: str = "world", out: Array | None = None, dtype: Any = None
    ) -> Array:
        """Velocity of the centre of mass (…, 3), in world axes or the axes of the link (``axes="local"``)."""
        return self._of_subtree("center_of_mass_velocity", (q, v), link, out, dtype, axes)

    @direct
    def center_of_mass_acceleration(
        self,
        q: Any,
        v: Any,
        a: Any,
        link: str | None = None,
        *,
        axes: str = "world",
        out: Array | None = None,
        dtype: Any = None,
    ) -> Array:
        """Acceleration of the centre of mass, without gravity (…, 3), in world axes or those of the link (``axes="local"``)."""
        return self._of_subtree("center_of_mass_acceleration", (q, v, a), link, out, dtype, axes)

    @direct
    def center_of_mass_jacobian(
        self, q: Any, link: str | None = None, *, axes: str = "world", out: Array | None = None, dtype: Any = None
    ) -> Array:
        """Jacobian J_c of the centre of mass (…, 3, n): its velocity is J_c v, for all axes."""
        return self._of_subtree("center_of_mass_jacobian", (q,), link, out, dtype, axes)

    @direct
    def centroidal_momentum(
        self, q: Any, v: Any, link: str | None = None, *, axes: str = "world", out: Array | None = None, dtype: Any = None
    ) -> Array:
        """Linear momentum, and angular momentum about the centre of mass (…, 6).

        In world axes or the axes of the link (``axes="local"``):

        >>> import dynamis as dy
        >>> robot = dy.load("go2", base="floating")
        >>> q = robot.integrate(robot.neutral(), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0] + [0.0] * 12)  # turned by 1 rad about z
        >>> v = [1.0] + [0.0] * 17  # along x of the base
        >>> p = robot.centroidal_momentum(q, v, "base", axes="local")[:3]
        >>> bool(p[0] > 10 and abs(p[1]) < 1e-12)  # m v, along x of the base
        True
        """
        return self._of_subtree("centroidal_momentum", (q, v), link, out, dtype, axes)

    @direct
    def centroidal_matrix(
        self, q: Any, link: str | None = None, *, axes: str = "world", out: Array | None = None, dtype: Any = None
    ) -> Array:
        """Centroidal momentum matrix A_g (…, 6, n): the `centroidal_momentum` is A_g v, for all axes."""
        return self._of_subtree("centroidal_matrix", (q,), link, out, dtype, axes)

    @direct
    def centroidal_matrix_dot(
        self, q: Any, v: Any, link: str | None = None, *, axes: str = "world", out: Array | None = None, dtype: Any = None
    ) -> Array:
        """Time derivative of the centroidal momentum matrix in world axes (…, 6, n), given in these or those of the link.

        For all axes the rate of the `centroidal_momentum` is A_g v̇ + Ȧ_g v.
        """
        return self._of_subtree("centroidal_matrix_dot", (q, v), link, out, dtype, axes)

    @direct
    def centroidal_inertia(
        self, q: Any, link: str | None = None, *, axes: str = "world", out: Array | None = None, dtype: Any = None
    ) -> Array:
        """Inertia tensor about the centre of mass with all joints held (…, 3, 3), in world axes or those of the link."""
        return self._of_subtree("centroidal_inertia", (q,), link, out, dtype, axes)

    def _of_subtree(
        self, name: str, state: tuple[Any, ...], link: str | None, out: Array | None, dtype: Any, axes: str = "world"
    ) -> Array:
        options: dict[str, Any] = {} if link is None else {"link": self.model.frame(link)}
        if checked_axes(axes) == "local":
            if link is None:
                first = next(
                    (frame.name for frame in self.model.frames.values() if frame.body == 1), next(iter(self.model.frames))
                )
                raise InputError(f"axes='local' are those of a link: give link=, such as {printable(first)}")
            options["axes"] = axes
        return self.evaluate(ALGORITHMS[name], *state, out=out, dtype=dtype, **options)
