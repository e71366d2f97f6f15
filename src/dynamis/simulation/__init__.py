"""Simulation: motion in time, with friction that sticks and a balance of energy.

In the order in which a simulation passes through them: `friction` (the laws), `sources` and `controllers` (torques, wrenches),
`motion` (the equations of motion), `sticking` (which joints move), `adaptive` (event-driven integration), `compiled_pieces`
(between the samples of a controller), `fixed_step` and `time_stepping` (fixed steps), `trajectory` (the result), with
`dense` (between its points), `power` and `resume`, `files`, `reading`, `plots` and `animation`, `rollouts` (batches, compiled).
"""
