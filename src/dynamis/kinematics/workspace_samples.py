"""Random configurations for workspaces, and those with a frame in a plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.kinematics.box import box_of
from dynamis.kinematics.directions import in_order_of_q
from dynamis.robot import Robot
from dynamis.tolerances import NEGLIGIBLE, RANK_TOLERANCE

Array = npt.NDArray[Any]

PLANES = {"xy": (0, 1, 2), "xz": (0, 2, 1), "yz": (1, 2, 0)}
MAX_NEWTON_STEPS = 12  # towards the plane


def configurations(robot: Robot, count: int, seed: int, lower: Any, upper: Any) -> Array:
    """Random configurations (count, nq); in one of eight, joints with less than a full turn are often at their limits."""
    low, high = box_of(robot, lower, upper)
    for k in np.flatnonzero(~(np.isfinite(low) & np.isfinite(high))):
        raise InputError(
            f"{printable(robot.coordinate_names[k])} has no limits; give lower= and upper=, one number per coordinate"
        )
    try:
        rng = np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise InputError(f"seed must be a non-negative integer, got {seed!r}") from None
    states = rng.uniform(low, high, (count, robot.n))
    ended = (np.arange(count) % 8 == 7)[:, None] & (rng.random((count, robot.n)) < 0.5) & (high - low < 2.0 * np.pi - 1e-9)
    states = np.where(ended, np.where(rng.random((count, robot.n)) < 0.5, low, high), states)
    return in_order_of_q(robot, states)


def first_origin(robot: Robot, frame: str) -> Array:
    """The origin of the first joint of the chain to the frame."""
    model = robot.model
    chain = list(model.ancestors(model.frame(frame).body))
    if not chain:
        return np.zeros(3)
    first = model.bodies[chain[-1]]
    assert first is not None
    return first.placement.p.astype(float)


def chosen_plane(robot: Robot, frame: str, plane: str | None, q: Array) -> str:
    if plane is not None:
        if plane not in PLANES:
            raise InputError(f"plane={plane!r} is unknown; choose {', '.join(map(repr, PLANES))}")
        return plane
    points = robot.pose(q[:64], frame)[:, :3, 3]
    extent = np.ptp(points, axis=0)
    still = np.flatnonzero(extent <= RANK_TOLERANCE * max(float(extent.max()), 1e-300))
    return next((name for name, (_, _, normal) in PLANES.items() if len(still) == 1 and normal == still[0]), "xz")


def onto_plane(robot: Robot, frame: str, q: Array, normal: int, level: float, low: Array, high: Array) -> Array:
    """The configurations that a few Newton steps move onto the plane, within the limits."""
    here = q
    order = np.array([c.q_index for c in robot.model.coordinates], dtype=int)
    tolerance = NEGLIGIBLE * max(1.0, float(np.abs(level)))
    for _ in range(MAX_NEWTON_STEPS):
        away = robot.pose(here, frame)[:, normal, 3] - level
        if not (np.abs(away) > tolerance).any():
            break
        row = robot.jacobian(here, frame)[:, normal, :]
        square = np.maximum(np.einsum("ij,ij->i", row, row), 1e-12)
        step = np.clip(-row * (away / square)[:, None], -0.5, 0.5)
        here = in_order_of_q(robot, np.clip(here[:, order] + step, low, high))
    return here[np.abs(robot.pose(here, frame)[:, normal, 3] - level) <= tolerance]
