"""Joint torques of friction, rotors and springs, with the sign of τ in the equations of motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.model import Model
from dynamis.scalar import sign

Array = npt.NDArray[Any]


def viscous_torque(model: Model, v: Array) -> Array:
    """F_v v."""
    return np.asarray(model.viscous * v)


def dry_torque(model: Model, v: Array) -> Array:
    """Coulomb friction F_s sgn(v), plus the part that is the same in both directions; zero at rest."""
    s = sign(v)
    return np.asarray(model.coulomb * s + model.coulomb_bias * (s * s))


def rotor_torque(model: Model, a: Array) -> Array:
    """k_r² I_m v̇ of the reflected rotor inertias."""
    return np.asarray(model.rotor * a)


def spring_torque(model: Model, q: Array) -> Array:
    """k (q − rest)."""
    stretch = [0.0 if c.q_index is None else q[c.q_index] - rest for c, rest in zip(model.coordinates, model.rest, strict=True)]
    return model.stiffness * np.array(stretch) if stretch else np.zeros(0)
