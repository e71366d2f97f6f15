"""Equations of motion of a robot with loops in independent coordinates.

    v = B(q) q̇_ind,    v̇ = B q̈_ind + b,    Bᵀ M B q̈_ind + Bᵀ (M b + C v + g + friction + springs) = Bᵀ τ

H B = 0 eliminates the multipliers [Rocco, slide "Coordinate libere"].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, flat, short
from dynamis.errors import InputError, SingularError
from dynamis.kinematics.closures import Closure, closures_of
from dynamis.robot import Robot
from dynamis.simulation.loops.constraints import evaluate, rank_of
from dynamis.tolerances import SOLUTION_TOLERANCE

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


def independent_coordinates(robot: Robot, closures: Closure | Sequence[Closure], q: Any) -> tuple[str, ...]:
    """The best-conditioned choice of independent coordinates, by column pivoting of H.

    >>> from dynamis.simulation.loops.mechanisms import five_bar
    >>> loop = five_bar()
    >>> len(independent_coordinates(loop.robot, loop.closures, loop.q))
    2
    """
    from scipy.linalg import qr

    held = closures_of(robot, closures)
    H = evaluate(robot, held, robot.inputs.one_state(q, robot.nq, "q"), np.zeros(robot.n)).H
    _, _, order = qr(H, mode="economic", pivoting=True)
    rank = rank_of(np.linalg.svd(H, compute_uv=False))
    return tuple(robot.coordinate_names[k] for k in sorted(order[rank:]))


def velocity_map(
    robot: Robot, closures: Closure | Sequence[Closure], q: Any, v: Any = None, independent: Sequence[str | int] | None = None
) -> tuple[Array, Array]:
    """(B, b) with v = B q̇_ind and v̇ = B q̈_ind + b; b is zero at rest."""
    held = closures_of(robot, closures)
    inputs = robot.inputs
    at = inputs.one_state(q, robot.nq, "q")
    rates = np.zeros(robot.n) if v is None else inputs.one_state(v, robot.n, "v")
    c = evaluate(robot, held, at, rates)
    given = independent_coordinates(robot, held, at) if independent is None else independent
    chosen = inputs.coordinates(given, "independent")
    others = [k for k in range(robot.n) if k not in chosen]
    U, s, Vt = np.linalg.svd(c.H[:, others], full_matrices=False)
    rank = rank_of(np.linalg.svd(c.H, compute_uv=False))
    if len(others) != rank or rank_of(s) < rank:
        names = ", ".join(robot.coordinate_names[k] for k in chosen) or "none"
        raise SingularError(
            f"the coordinates {names} do not determine the others here: {robot.n - rank} must be chosen; "
            f"independent here are {', '.join(independent_coordinates(robot, held, at)) or 'none'}"
        )
    B, b = np.zeros((robot.n, len(chosen))), np.zeros(robot.n)
    B[chosen] = np.eye(len(chosen))
    inverse = Vt.T @ (U / s).T if rank else np.zeros((0, len(c.h)))
    B[others] = -inverse @ c.H[:, chosen]
    b[others] = -inverse @ c.bias
    return B, b


def reduced_dynamics(
    robot: Robot,
    closures: Closure | Sequence[Closure],
    q: Any,
    v: Any,
    tau: Any,
    wrenches: Mapping[str, Any] | None = None,
    *,
    independent: Sequence[str | int] | None = None,
) -> Reduced:
    """The equation of motion in independent coordinates, given by name or chosen automatically, at one state with H v = 0.

    >>> from dynamis.simulation.loops.mechanisms import four_bar
    >>> loop = four_bar()
    >>> reduced_dynamics(loop.robot, loop.closures, loop.q, [0.0] * 3, [0.0] * 3, independent=["crank"]).mass_matrix.shape
    (1, 1)
    """
    held = closures_of(robot, closures)
    inputs = robot.inputs
    at, rates = inputs.one_state(q, robot.nq, "q"), inputs.one_state(v, robot.n, "v")
    torques = inputs.one_state(tau, robot.n, "tau")
    c = evaluate(robot, held, at, rates)
    opening = float(np.abs(c.H @ rates).max())
    if opening > SOLUTION_TOLERANCE * (1.0 + np.abs(rates).max()):
        raise InputError(
            f"v violates the constraints (max |H v| = {opening:.3g}): assemble_velocity gives the closest admissible velocity"
        )
    chosen = independent_coordinates(robot, held, at) if independent is None else independent
    B, b = velocity_map(robot, held, at, rates, chosen)
    M, rest = robot.mass_matrix(at), robot.inverse_dynamics(at, rates, np.zeros(robot.n), wrenches)
    mass, bias, torque = B.T @ M @ B, B.T @ (M @ b + rest), B.T @ torques
    try:
        np.linalg.cholesky(mass)
    except np.linalg.LinAlgError:
        raise SingularError("the independent coordinates move no mass: their acceleration is undetermined") from None
    acceleration = np.linalg.solve(mass, torque - bias)
    names = tuple(robot.coordinate_names[k] for k in inputs.coordinates(chosen, "independent"))
    return Reduced(names, B, b, mass, bias, torque, acceleration, B @ acceleration + b)
