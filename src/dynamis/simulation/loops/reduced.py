"""Equations of motion of a robot with loops in independent coordinates.

    v = B(q) q̇_ind,    v̇ = B q̈_ind + b,    Bᵀ M B q̈_ind + Bᵀ (M b + C v + g + friction + springs) = Bᵀ τ

H B = 0 eliminates the multipliers [Rocco, slide "Coordinate libere"].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, flat, short
from dynamis.errors import SingularError
from dynamis.robot import Robot
from dynamis.simulation.loops.constraints import Constraints, rank_of

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Reduced:
    """The equation of motion in the independent coordinates: ``mass_matrix`` q̈_ind + ``bias`` = ``torque``.

    ``B`` (n, m) is the velocity map and ``b`` (n) the acceleration at q̈_ind = 0; ``acceleration`` (m) solves the equation,
    ``full_acceleration`` (n) is B q̈_ind + b.
    """

    coordinates: tuple[str, ...]
    B: Array
    b: Array
    mass_matrix: Array
    bias: Array
    torque: Array
    acceleration: Array
    full_acceleration: Array

    def __repr__(self) -> str:
        return short(f"<Reduced to {', '.join(self.coordinates)}: acceleration {flat(self.acceleration)}>")

    _repr_html_ = as_table


def reduced(
    robot: Robot, c: Constraints, M: Array, rest: Array, tau: Array, independent: Sequence[str | int] | None
) -> Reduced:
    """The equation of motion M v̇ + rest = τ + Hᵀ λ in independent coordinates, at one state with H v = 0."""
    chosen = _best_choice(c.H) if independent is None else robot.inputs.coordinates(independent, "independent")
    B, b = _velocity_map(robot, c, chosen)
    mass, bias, torque = B.T @ M @ B, B.T @ (M @ b + rest), B.T @ tau
    try:
        np.linalg.cholesky(mass)
    except np.linalg.LinAlgError:
        raise SingularError("the independent coordinates move no mass: their acceleration is undetermined") from None
    acceleration = np.linalg.solve(mass, torque - bias)
    return Reduced(_names(robot, chosen), B, b, mass, bias, torque, acceleration, B @ acceleration + b)


def _names(robot: Robot, chosen: Sequence[int]) -> tuple[str, ...]:
    return tuple(robot.coordinate_names[k] for k in chosen)


def _best_choice(H: Array) -> list[int]:
    """The best-conditioned choice of independent coordinates, by column pivoting of H."""
    from scipy.linalg import qr

    order = qr(H, mode="economic", pivoting=True)[2]
    return sorted(order[rank_of(np.linalg.svd(H, compute_uv=False)) :].tolist())


def _velocity_map(robot: Robot, c: Constraints, chosen: list[int]) -> tuple[Array, Array]:
    """(B, b) with v = B q̇_ind and v̇ = B q̈_ind + b; b is zero at rest."""
    others = [k for k in range(robot.n) if k not in chosen]
    U, s, Vt = np.linalg.svd(c.H[:, others], full_matrices=False)
    rank = rank_of(np.linalg.svd(c.H, compute_uv=False))
    if len(others) != rank or rank_of(s) < rank:
        raise SingularError(
            f"the coordinates {', '.join(_names(robot, chosen)) or 'none'} do not determine the others here: "
            f"{robot.n - rank} must be chosen; independent here are {', '.join(_names(robot, _best_choice(c.H))) or 'none'}"
        )
    B, b = np.zeros((robot.n, len(chosen))), np.zeros(robot.n)
    B[chosen] = np.eye(len(chosen))
    inverse = Vt.T @ (U / s).T if rank else np.zeros((0, len(c.h)))
    B[others] = -inverse @ c.H[:, chosen]
    b[others] = -inverse @ c.bias
    return B, b
