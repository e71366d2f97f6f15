"""Simulation of robots with stick-slip friction, actuators, contact, and an energy balance.

In the order of use: `friction` (friction laws), `sources` and `controllers` (torques, wrenches), `motion` (the equations of
motion), `stick_slip` (stick-slip transitions), `adaptive` (event-driven integration), `compiled_pieces` (between the samples
of a controller), `fixed_step` and `time_stepping` (fixed steps), `trajectory` (the result), with `dense` (interpolation),
`power` and `resume`, `files`, `reading` and `animation`, `rollouts` (compiled batches).
"""
