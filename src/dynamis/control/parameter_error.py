"""Random perturbation of the inertial parameters of a robot."""

from __future__ import annotations

import numpy as np

from dynamis.errors import InputError
from dynamis.model.description import MassProperties
from dynamis.robot import Robot
from dynamis.robot.checks import check_is_robot


def perturbed(robot: Robot, share: float = 0.05, seed: int = 0) -> Robot:
    """The robot with mass, centre of mass (each coordinate) and inertia tensor of every link scaled by 1 ± ``share`` at random.

    Uniformly distributed, reproducible by the seed. Inertia tensors are scaled as a whole, which keeps them physically
    consistent. Friction and rotors are scaled likewise.

    >>> import dynamis as dy
    >>> arm = dy.load("ur5e")
    >>> other = perturbed(arm, 0.05, seed=1)
    >>> bool(0 < abs(other.mass / arm.mass - 1) < 0.05)
    True
    """
    check_is_robot(robot)
    if not (isinstance(share, int | float | np.number) and 0.0 <= share < 1.0):
        raise InputError(f"share must be a number from 0 to 1, such as 0.05 for 5 %, got {share!r}")
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed must be an integer that is not negative, got {seed!r}")
    rng = np.random.default_rng(seed)

    def off(size: int | None = None) -> object:
        return 1.0 + rng.uniform(-share, share, size)

    d = robot.description
    for link in d.links:
        m = link.mass_properties
        if m is not None:
            link.mass_properties = MassProperties(m.mass * off(), m.com * off(3), m.tensor * off(), m.line)
    for joint in d.joints:
        for name in ("viscous", "coulomb", "rotor_inertia"):
            setattr(joint.drive, name, getattr(joint.drive, name) * off())
    return Robot(d, _quiet=True)
