"""The robot a user holds, with the functions of its state."""

from dynamis.robot.robot import Robot, load

__all__ = ["Robot", "load"]
