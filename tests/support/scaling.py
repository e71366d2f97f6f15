"""Robots of another mass."""

import dynamis as dy
from dynamis.model.description import MassProperties


def scaled(robot, factor):
    """The same robot with every mass and inertia multiplied."""
    description = robot.description
    for link in description.links:
        m = link.mass_properties
        if m is not None:
            link.mass_properties = MassProperties(m.mass * factor, m.com, m.tensor * factor, m.line)
    return dy.Robot(description)
