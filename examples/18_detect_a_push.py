"""Collision detection without a force sensor.

Shows: how a momentum observer estimates external torques from logged positions and torques, how the threshold is set from a
collision-free interval, and which joint is affected. The observer model has three per cent parameter error.
"""

import sys
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import FORCE, INK, line_colours, new_figure, save, tidy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

robot = dy.load("kuka_iiwa14")
model = dy.control.perturbed(robot, 0.03, seed=2)
start, goal = np.array([0.0, 0.4, 0.0, -1.2, 0.0, 0.8, 0.0]), np.array([0.6, 0.8, 0.3, -0.8, 0.4, 0.4, 0.3])
move = dy.trajectories.joint_move(start, goal, duration=2.0)
law = dy.control.ComputedTorque.designed(move, bandwidth=12.0)


def push(t, q, v):  # 40 N sideways for 0.1 s
    return np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0]) * np.where(t > 1.4, np.where(t < 1.5, 40.0, 0.0), 0.0)


motion = dy.simulate(robot, 2.2, start, controller=law.with_model(model), wrenches={"link5": push}, friction="smooth",
                     method="rk4", step=2e-3)  # fmt: skip
seen = dy.control.detect_collisions(motion, model, bandwidth=50.0, calm=1.3)
print(seen)

figure = new_figure(7.5, 4.7)
axes = figure.subplots()
axes.axvspan(1.4, 1.5, color="0.85", label="40 N on link 5")
for k, colour in enumerate(line_colours(robot.n)):
    axes.plot(seen.t, seen.r[:, k], color=colour, linewidth=2.4, label=f"joint {k + 1}")
for hit in seen.found:
    axes.axvline(hit.start, color=FORCE, linewidth=2, linestyle="--")
    axes.annotate(f"detected after {1e3 * (hit.start - 1.4):.0f} ms,\nat or beyond {hit.joint}", (hit.start, 0.93),
                  (-10, 0), xycoords=("data", "axes fraction"), textcoords="offset points", ha="right", va="top",
                  color=FORCE, fontsize=12)  # fmt: skip
tidy(axes)
axes.set(xlabel="time in s", ylabel="external torque in N m", xlim=(0.8, 2.0))
figure.legend(loc="outside lower center", ncols=8, frameon=False, fontsize=9.5, columnspacing=0.9, handlelength=1.2)
axes.set_title("Collision detection on a moving iiwa by a momentum observer", loc="left", fontsize=15, color=INK)
save(figure, folder / "18_detect_a_push.png")
