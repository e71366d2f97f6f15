"""Simulation: motion in time, with friction that sticks and an account of every joule.

In the order in which a simulation passes through them: `friction` (the laws), `sources` (what pushes), `motion` (their
equations of motion), `sticking` (which joints move), `adaptive` and `fixed_step` (the integrators), `trajectory` (what comes
out), with `dense` (between its points), `power` and `resume` (going on from where it stopped), `files`, `reading`, `plots` and
`animation` (where it goes), `rollouts` (many at once, compiled).
"""
