"""Detection of a singular mass matrix."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import SingularError
from dynamis.model.massless import CURE, always_massless, describe_motion, massless_motion
from dynamis.model.model import Model

Array = npt.NDArray[Any]


def inertia_scale(model: Model) -> Array | None:
    """(n): for each degree of freedom a bound of its diagonal entry of M over all angles of the distal joints.

    The articulated-body algorithm subtracts from composite inertias; the result is compared with this bound to distinguish a
    small inertia from rounding. The travel of prismatic joints is not included. None for a symbolic robot.
    """
    if model.symbolic:
        return None
    scale = np.abs(np.asarray(model.rotor, dtype=float))
    mass, moment, inertia = (np.zeros(len(model.bodies)) for _ in range(3))  # zeroth to second moments
    for i, body in reversed(model.moving):
        mass[i] = mass[i] + abs(body.inertia.mass)
        moment[i] = moment[i] + np.abs(body.inertia.first_moment).sum()
        inertia[i] = inertia[i] + np.abs(body.inertia.tensor).sum()
        v, w = np.abs(body.S[:3]).sum(axis=0), np.abs(body.S[3:]).sum(axis=0)
        dof = list(body.dof)
        scale[dof] = scale[dof] + mass[i] * v * v + 2.0 * moment[i] * v * w + inertia[i] * w * w
        d, k = np.abs(body.placement.p).sum(), body.parent
        mass[k] = mass[k] + mass[i]
        inertia[k] = inertia[k] + inertia[i] + 2.0 * moment[i] * d + mass[i] * d * d
        moment[k] = moment[k] + moment[i] + mass[i] * d
    return scale


@contextlib.contextmanager
def singular_mass_named(model: Model, q: Any) -> Iterator[None]:
    """A `SingularError` of a calculation with M⁻¹ at q becomes that of forward dynamics there."""
    try:
        yield
    except SingularError:
        raise singular_mass_error(model, np.asarray(q)) from None


def singular_mass_error(model: Model, q: Array) -> SingularError:
    """The error for forward dynamics at q, with the joints whose motion moves no mass."""
    motion = always_massless(model) if q.dtype == object or model.symbolic else massless_motion(model, q)
    if motion is not None:
        return SingularError(f"the mass matrix is singular here: {describe_motion(model, motion)}; {CURE}")
    return SingularError(
        "the mass matrix is not positive definite here: check the inertias of the links (dynamis check FILE) "
        "and the magnitude of the entries of q"
    )
