"""Kinematic loops: what closes them, and how a robot with loops moves.

A tree robot with holonomic constraints h(q) = 0. In the order in which they build on each other: `closure` (what is held to
what), `constraints` (h, its Jacobian H, the bias Ḣ v, the rank), `constrained` (accelerations and multipliers; assembling),
`reduced` (independent coordinates), `simulate_loops` (motion in time), `mechanisms` (worked examples).
"""
