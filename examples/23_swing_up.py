"""Swing a two-link arm up with a single motor, by optimal control.

Shows: an optimal motion in one call, limits of torques, a joint without a motor, and the motion with its feedback law in a
simulation with shorter steps.
"""

import sys

import numpy as np

import dynamis as dy
from dynamis.drawing import INK, new_figure, save, tidy

arm = dy.load("planar_2r_melchiorri")
arm = arm.replace(limits={"joint1": {"effort": 800.0}})
down, up = np.array([-np.pi / 2, 0.0]), np.array([np.pi / 2, 0.0])
swing = dy.optimize.trajectory(arm, down, up, 4.0, nodes=200, actuated=["joint1"])
print(swing.status)
hold = abs(arm.gravity([0.0, 0.0])[0])
print(f"largest torque {abs(swing.tau).max():.0f} N m; {hold:.0f} N m would hold the arm out straight")

motion = dy.simulate(arm, 4.0, down, controller=swing.controller, method="rk4", step=1e-3)
print(f"simulated with feedback, the arm ends {abs(motion.q[-1] - up).max():.3f} rad from the goal")

elbow, tip = arm.pose(swing.q, "link1")[:, :2, 3], arm.pose(swing.q)[:, :2, 3]
figure = new_figure(7.5, 4.7)
left, right = figure.subplots(1, 2, width_ratios=[1, 1.25])
for k in np.linspace(0, len(tip) - 1, 26).astype(int):
    shade = 0.15 + 0.85 * k / (len(tip) - 1)
    x, y = np.array([[0.0, 0.0], elbow[k], tip[k]]).T
    left.plot(x, y, "-o", color=INK, alpha=shade, linewidth=1.6, markersize=3)
left.plot(*tip.T, color="#b5705f", linewidth=1.2)
left.set(aspect="equal", xlabel="x in m", ylabel="y in m")
left.set_title("Poses, darker later", loc="left", fontsize=13, color=INK)
right.plot(swing.t[:-1], swing.tau[:, 0], drawstyle="steps-post", linewidth=2.2, color="#4d7ea8")
for side in (1, -1):
    right.axhline(side * hold, color="0.6", linestyle="--", linewidth=1)
right.set(xlabel="time in s", ylabel="torque of joint 1 in N m", xlim=(0, 4))
right.set_title("Torque; dashed: holds the arm out", loc="left", fontsize=13, color=INK)
for axes in (left, right):
    tidy(axes)
save(figure, f"{sys.argv[1] if len(sys.argv) > 1 else '.'}/23_swing_up.png")
