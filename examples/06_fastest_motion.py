"""Time-optimal motion along a path within the torque and velocity limits.

Shows: how to define a path through points, how `time_optimal` computes the time-optimal timing, and which limits are active. At
every time at least one joint is at a limit, as expected of a time-optimal motion.
"""

import sys
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import INK, line_colours, new_figure, save, tidy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

tr = dy.trajectories
robot = dy.load("panda").replace(payload=dy.solids.sphere(0.06, mass=3.0))
points = np.array(
    [[0.0, -0.5, 0.0, -2.2, 0.0, 1.6, 0.8], [0.7, 0.5, 0.3, -1.2, 0.3, 2.4, 0.2], [1.3, -0.4, 0.1, -2.0, -0.2, 1.8, 0.9]]
)
path = tr.spline_path(points)
quick = tr.time_optimal(robot, path)
print(f"{quick.duration:.3f} s minimum duration")
print(quick.status)

t, q, v, a = quick.sample(401)
torque, speed = robot.inverse_dynamics(q, v, a) / robot.limits["effort"], v / robot.limits["velocity"]
busiest = np.maximum(abs(torque).max(axis=1), abs(speed).max(axis=1))
print(f"on average the busiest joint is at {100 * busiest.mean():.1f} % of its limit")

figure = new_figure(7.5, 4.7)
figure.suptitle("Time-optimal motion of a Panda with a payload of 3 kg", fontsize=15, x=0.02, ha="left", color=INK)
panels = figure.subplots(1, 2, sharex=True, sharey=True)
for axes, name, values in zip(panels, ("torque", "velocity"), (torque, speed), strict=True):
    for side in (1, -1):
        axes.axhspan(100 * side, 140 * side, color="0.85", zorder=0)
    for k, colour in enumerate(line_colours(robot.n)):
        axes.plot(t, 100 * values[:, k], color=colour, linewidth=2.2, label=f"joint {k + 1}")
    tidy(axes)
    axes.set(xlabel="time in s", ylim=(-115, 115), xlim=(0, quick.duration))
    axes.set_title(name, fontsize=12, color=INK)
panels[0].set_ylabel("per cent of the limit")
handles, labels = panels[0].get_legend_handles_labels()
figure.legend(
    handles, labels, loc="outside lower center", ncols=7, frameon=False, fontsize=10, columnspacing=1.2, handlelength=1.4
)
save(figure, folder / "06_fastest_motion.png")
