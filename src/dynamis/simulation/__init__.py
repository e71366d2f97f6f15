"""Simulation: motion in time, with friction that sticks and an account of every joule.

In the order in which a simulation passes through them: `friction` (the laws), `sources` (what pushes), `motion` (their
equations of motion), `sticking` (which joints move), `adaptive` and `fixed_step` (the integrators), `trajectory` (what comes
out), `files` and `plots` (where it goes), `rollouts` (many at once, compiled).
"""
