"""Optimal control: steps with derivatives, and optimal motions."""

from dynamis.optimize.optimal_motion import trajectory
from dynamis.optimize.steps import Step

__all__ = ["Step", "trajectory"]
