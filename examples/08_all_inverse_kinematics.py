"""The eight configurations in which a UR5e reaches one pose.

Shows: how to compute all solutions of the inverse kinematics, their errors, and how to obtain link positions for drawing.
"""

import sys
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import FORCE, INK, new_figure, save, shades

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

robot = dy.load("ur5e")
reference = np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.1])
target = robot.pose(reference)
solutions = dy.all_solutions(robot, target, q0=reference)
for solution in solutions:
    print(solution.q.round(3), f"error {np.max(solution.error):.0e}")

# points to draw: link origins, from the base to the tool
frames = ["shoulder_link", "upper_arm_link", "forearm_link", "wrist_1_link", "wrist_2_link", "wrist_3_link", "tool0"]
figure = new_figure(7.5, 4.7)
figure.suptitle(
    f"All {len(solutions)} inverse-kinematics solutions of a UR5e for one tool pose", fontsize=15, x=0.02, ha="left", color=INK
)
for k, (solution, colour) in enumerate(zip(solutions, shades(8), strict=False)):
    axes = figure.add_subplot(2, 4, k + 1, projection="3d")
    for other in solutions:
        points = np.array([np.zeros(3), *(robot.pose(other.q, frame)[:3, 3] for frame in frames)])
        own = other is solution
        axes.plot(*points.T, color=colour if own else "0.86", linewidth=4.5 if own else 1.2, zorder=3 if own else 1,
                  solid_joinstyle="round", marker="o" if own else None, markersize=4, markerfacecolor=INK)  # fmt: skip
    tip, axis = target[:3, 3], target[:3, 2]
    axes.quiver(*tip, *(0.22 * axis), color=FORCE, linewidth=2.5, arrow_length_ratio=0.35)
    axes.set(xlim=(-0.9, 0.2), ylim=(-0.65, 0.45), zlim=(-0.35, 0.75))
    axes.set_box_aspect((1, 1, 1), zoom=2.25)
    axes.view_init(elev=14, azim=-70)
    axes.set_axis_off()
save(figure, folder / "08_all_inverse_kinematics.png")
