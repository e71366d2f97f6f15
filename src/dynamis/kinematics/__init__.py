"""Kinematics of frames: inverse kinematics, manipulability, workspace.

Inverse kinematics, in reading order: `targets` (checks of poses, points and orientations), `ik_problem` (error and Jacobian),
`damped_least_squares` (from many starts, within limits), `turns` (joints with periodic angles), `solution` (the result),
`ik_diagnosis` (why a search failed), `inverse_kinematics` (one solution), `all_solutions` (all solutions). Measures:
`directions` (of a frame's twist, and the length that scales rotations), `jacobian_measures` (volumes of one Jacobian),
`manipulability` (its gradient, condition numbers, Λ⁻¹), `state_measures` (payload and others by name), `box` (of
configurations), `workspace` and `stick_figure`.
"""
