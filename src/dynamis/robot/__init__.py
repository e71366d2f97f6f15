"""The robot a user holds, with the functions of its state."""

from dynamis.robot.robot import Robot, from_mujoco, from_pinocchio, from_roboticstoolbox, load

__all__ = ["Robot", "from_mujoco", "from_pinocchio", "from_roboticstoolbox", "load"]
