"""Inverse kinematics: configurations for where a frame is wanted.

In reading order: `targets` (poses, points and orientations as users give them), `task` (how far a configuration is from one),
`descent` (damped least squares from many starts at once, within limits), `turns` (joints that come round), `solution` (what
comes out), `failure` (why nothing was found, in words), `solve` (one solution), `all_solutions` (every one).
"""
