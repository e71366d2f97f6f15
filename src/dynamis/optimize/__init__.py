"""Optimal control: steps with derivatives, optimal motions, and environments for reinforcement learning."""

from dynamis.optimize.environment import environment
from dynamis.optimize.optimal_motion import trajectory
from dynamis.optimize.steps import Step

__all__ = ["Step", "environment", "trajectory"]
