"""Lift a payload with the least effort instead of along a smooth polynomial.

Shows: a torque-optimal motion between two configurations in the time of a quintic, and the torques of both relative to the
limits of the motors.
"""

import sys

import numpy as np

import dynamis as dy
from dynamis.drawing import INK, line_colours, new_figure, save, tidy

arm = dy.load("ur5e").replace(friction=0, payload=dy.solids.sphere(0.08, mass=5.0))
start = np.array([0.0, -0.3, 0.6, -1.8, -1.57, 0.0])
goal = np.array([1.5, -1.7, 1.4, -1.2, -1.57, 0.5])
limits, duration, nodes = arm.limits["effort"], 1.5, 100

best = dy.optimize.trajectory(arm, start, goal, duration, nodes=nodes, weights={"velocity": 0.02})
print(best.status)
t = np.linspace(0.0, duration, 301)
smooth = dy.trajectories.joint_move(start, goal, duration=duration)
torques = {"Quintic": (t, arm.inverse_dynamics(*smooth.at(t))), "Least effort": (best.t[:-1], best.tau)}
effort = {name: np.trapezoid(((tau / limits) ** 2).sum(axis=1), x) for name, (x, tau) in torques.items()}
peak = {name: 100 * abs(tau / limits).max() for name, (_, tau) in torques.items()}
for name in torques:
    print(f"{name}: effort {effort[name]:.3f}, largest torque {peak[name]:.0f} % of its limit")

figure = new_figure(7.5, 4.7)
for axes, (name, (x, tau)) in zip(figure.subplots(1, 2, sharex=True, sharey=True), torques.items(), strict=True):
    for k, colour in enumerate(line_colours(arm.n)):
        axes.plot(x, 100 * tau[:, k] / limits[k], color=colour, linewidth=2.2, label=f"joint {k + 1}")
    tidy(axes)
    axes.set(xlabel="time in s", xlim=(0, duration))
    axes.set_title(f"{name}: effort {effort[name]:.2f}", loc="left", fontsize=13, color=INK)
    if name == "Quintic":
        axes.set_ylabel("torque in per cent of its limit")
handles, labels = axes.get_legend_handles_labels()
figure.legend(
    handles, labels, loc="outside lower center", ncols=6, frameon=False, fontsize=10, columnspacing=1.2, handlelength=1.4
)
save(figure, f"{sys.argv[1] if len(sys.argv) > 1 else '.'}/24_least_effort.png")
