"""A four-bar linkage: a robot with a closed loop.

Shows: how to assemble a closed loop at any crank angle, the path of a coupler point, the pin force at constant crank speed.
"""

import sys
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import FORCE, INK, MOTION, new_figure, save, tidy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

loop = dy.loops.four_bar(ground=1.0, crank=0.3, coupler=0.9, rocker=0.7)
robot, q = loop.robot, loop.home()
print(loop.independence(q))

speed = 10.0  # crank speed in rad/s
angles = np.linspace(0.0, 2 * np.pi, 121)
postures, forces, torques = [], [], []
for angle in angles:
    q = loop.assemble([angle, *q[1:]], locked=["crank"])
    v = loop.assemble_velocity(q, [speed, 0.0, 0.0], locked=["crank"])
    crank = loop.reduced_dynamics(q, v, np.zeros(3), independent=["crank"])
    torque = [crank.bias[0], 0.0, 0.0]  # torque for constant crank speed
    _, force = loop.forward_dynamics(q, v, torque)
    postures.append(q)
    torques.append(torque[0])
    forces.append(np.linalg.norm(force))
print(f"crank torque {min(torques):.1f} ... {max(torques):.1f} N m, pin force up to {max(forces):.1f} N")

figure = new_figure(7.5, 4.7)
figure.suptitle("A four-bar linkage: coupler path, crank torque, pin force", fontsize=15, x=0.02, ha="left", color=INK)
drawing, plot = figure.subplots(1, 2, width_ratios=[1.15, 1])

frames = ["crank", "coupler", "coupler_end", "rocker"]
path = []
for k, q in enumerate(postures):
    corners = np.array([robot.pose(q, frame)[:2, 3] for frame in frames])
    along, across = corners[2] - corners[1], (corners[2] - corners[1])[::-1] * [-1, 1]
    path.append(corners[1] + 0.5 * along + 0.35 * across)
    if k % 15 == 0:
        own = k == 15
        drawing.plot(*corners.T, color=MOTION if own else "0.83", linewidth=6 if own else 2, zorder=3 if own else 1,
                     solid_joinstyle="round", marker="o" if own else None, markerfacecolor=INK)  # fmt: skip
        if own:
            drawing.fill(*np.array([corners[1], path[-1], corners[2]]).T, color=MOTION, alpha=0.25)
            drawing.plot(*path[-1], "o", color=FORCE, markersize=9, zorder=4)
drawing.plot(*np.transpose(path), color=FORCE, linewidth=2.8)
drawing.set(aspect="equal", xlabel="x in m", ylabel="y in m")
drawing.set_title("red: path of a coupler point", fontsize=11, color=INK)
plot.plot(np.degrees(angles), torques, color=MOTION, linewidth=3, label="crank torque in N m")
plot.plot(np.degrees(angles), forces, color=FORCE, linewidth=3, linestyle="--", label="pin force in N")
plot.set(ylim=(-15, 62), xlabel="crank angle in degrees, at 10 rad/s", xlim=(0, 360), xticks=range(0, 361, 90))
plot.legend(frameon=False, fontsize=11, loc="upper right")
for axes in (drawing, plot):
    tidy(axes)
save(figure, folder / "15_four_bar.png")
