"""Kinematics of frames: tasks, inverse kinematics, manipulability, workspace.

Tasks: `targets` (checks of poses, points and orientations), `rotations` and `differentiation`, `tasks` and `posture_tasks`
(task coordinates), `closures` and `closure_task` (loops), `goals` (with targets, weights and priorities). Inverse kinematics:
`ik_iteration` (one step of damped least squares, compiled), `ik_problem` (goals, limits and tolerance), `collision_check` (what
is asked of a scene), `damped_least_squares` (from many starts), `turns` (joints with periodic angles), `solution` (the result),
`ik_diagnosis` (why a search failed), `ik_priorities` (goals of lower priority), `inverse_kinematics` and `all_solutions`;
`differential` (velocities, by a `quadratic_program`). Measures:
`directions` (of a frame's twist, and the length that scales rotations), `jacobian_measures` (volumes of one Jacobian),
`manipulability` (its gradient, condition numbers, Λ⁻¹), `state_measures` (payload and others by name), `box` (of
configurations), `workspace` and `stick_figure`.
"""
