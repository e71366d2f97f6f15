"""Inverse kinematics: configurations for a desired pose, position or orientation of a frame.

Modules, in reading order: `targets` (checks of poses, points and orientations), `task` (error and Jacobian), `descent` (damped
least squares from many starts, within limits), `turns` (joints with periodic angles), `solution` (the result), `failure`
(diagnosis of a failed search), `solve` (one solution), `all_solutions` (all solutions).
"""
