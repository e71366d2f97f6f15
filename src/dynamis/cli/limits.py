"""Warnings of motions that exceed the limits of joints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dynamis.cli.console import clean_name
from dynamis.cli.error_handling import print_warning
from dynamis.cli.formatting import number
from dynamis.tolerances import NEGLIGIBLE

if TYPE_CHECKING:
    from dynamis.robot import Robot
    from dynamis.simulation.trajectory import Trajectory

MAX_JOINTS_LISTED = 5  # in a warning


def warn_limits(motion: Trajectory, cure: str = "") -> None:
    """Report the joints that leave their position or velocity limits: without stops, limits are not part of the dynamics."""
    import numpy as np

    robot = motion.robot
    beyond = [
        f"{clean_name(c.name)} {number(end, 3)} {unit} ({number(c.lower, 3)} … {number(c.upper, 3)})"
        for c in robot.model.coordinates
        if c.q_index is not None
        for x, unit in ((motion.q[:, c.q_index], "rad" if c.revolute else "m"),)
        for end in (float(x[np.argmax(np.maximum(c.lower - x, x - c.upper))]),)
        if not c.allows(end)
    ]
    if beyond:
        more = f", and {len(beyond) - MAX_JOINTS_LISTED} more" if len(beyond) > MAX_JOINTS_LISTED else ""
        named = ", ".join(beyond[:MAX_JOINTS_LISTED])
        print_warning(f"position limits exceeded during the motion: {named}{more}{cure}")
    speed_units = ["rad/s" if c.revolute else "m/s" for c in robot.model.coordinates]
    warn_excess(robot, "velocity", motion.v, speed_units)


def warn_excess(robot: Robot, kind: str, values: Any, unit_names: list[str]) -> None:
    """Report the joints whose velocities or torques exceed their limits."""
    import numpy as np

    peaks, limits = np.abs(values).max(axis=0), robot.limits[kind]
    over = [
        f"{clean_name(name)} {number(peak, 3)} {unit} (limit {number(limit, 3)})"
        for name, peak, limit, unit in zip(robot.coordinate_names, peaks, limits, unit_names, strict=True)
        if peak > limit * (1.0 + NEGLIGIBLE)
    ]
    if over:
        more = f", and {len(over) - MAX_JOINTS_LISTED} more" if len(over) > MAX_JOINTS_LISTED else ""
        what = "torque" if kind == "effort" else kind
        print_warning(f"{what} limits exceeded during the motion: {', '.join(over[:MAX_JOINTS_LISTED])}{more}")
