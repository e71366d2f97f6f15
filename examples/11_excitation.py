"""Design of an excitation motion for identification.

Shows: how to design an excitation motion within all limits, how its condition number compares with a random motion, and how to
write it for a robot controller.
"""

import sys
from pathlib import Path

import dynamis as dy
from dynamis.drawing import INK, MOTION, line_colours, new_figure, save, tidy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

robot = dy.load("scara")
motion = dy.identification.design_excitation(robot, duration=6.0, harmonics=3, restarts=1)
print(motion)
print(f"condition number {motion.condition_before:.1f} for the best random motion, {motion.condition:.1f} for this one")
motion.write(folder / "motion.csv", rate=500.0)  # t, q, v, a for the robot controller

t, q, v, a = motion.sample(rate=100.0)
figure = new_figure(7.5, 4.7)
figure.suptitle("Excitation motion for parameter identification", fontsize=15, x=0.02, ha="left", color=INK)
angles, progress = figure.subplots(1, 2, width_ratios=[2.2, 1])
for k, colour in enumerate(line_colours(robot.n)):
    angles.plot(t, q[:, k], color=colour, linewidth=3, label=f"joint {k + 1}")
angles.set(xlabel="time in s", ylabel="angle in rad, slide of joint 3 in m", xlim=(0, motion.duration))
figure.legend(loc="outside lower left", ncols=4, frameon=False, fontsize=11)
progress.plot(motion.history, color=MOTION, linewidth=3)
progress.set(xlabel="iteration", ylabel="condition number of the regressor")
for axes in (angles, progress):
    tidy(axes)
save(figure, folder / "11_excitation.png")
