"""Identify a robot from a log, and write the identified parameters to a URDF.

Shows: the complete procedure from a log to a URDF. The robot here is simulated: its inertial parameters differ from the file
by up to 15 per cent, it has friction that the file lacks, and encoders and torques are noisy.
"""

import sys
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import INK, MOTION, STRUCTURE, new_figure, save, tidy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

believed = dy.load("ur5e")
friction = {joint: {"viscous": 2.0, "coulomb": 1.5} for joint in believed.joint_names}
real = dy.control.perturbed(believed, 0.15, seed=4).replace(friction=friction)

rng = np.random.default_rng(1)
points = np.clip(believed.random(rng, 12), -1.2, 1.2)  # example 11 designs better motions
motion = dy.trajectories.spline(np.linspace(0.0, 8.0, 12), points, order=5)
t, q, v, a = motion.sample(4001)
tau = real.inverse_dynamics(q, v, a) + rng.normal(scale=0.3, size=q.shape)
log = np.column_stack([t, q + rng.normal(scale=2e-5, size=q.shape), tau])
names = ["t", *(f"q{k}" for k in range(1, 7)), *(f"tau{k}" for k in range(1, 7))]
np.savetxt(folder / "run.csv", log, delimiter=",", header=",".join(names), comments="")

found = dy.identify(believed, folder / "run.csv", signals={"parallel": 20.0, "slow": 0.05})  # rad/s: sign uncertain below it
print(found)
written = found.write(folder / "better.urdf")
print(f"better.urdf: largest relative torque difference after reading back {written.difference:.0e}")

# validation on another motion: the original and the identified file
better = dy.load(folder / "better.urdf")
move = dy.trajectories.joint_move([0, -1.4, 1.8, -0.4, 1.0, 0], [1.5, -0.6, 0.7, -1.0, 1.2, 0.6], duration=1.2)
t, q, v, a = move.sample(241)
true = real.inverse_dynamics(q, v, a)
before, after = believed.inverse_dynamics(q, v, a) - true, better.inverse_dynamics(q, v, a) - true
error = [100 * np.linalg.norm(e, axis=0) / np.linalg.norm(true, axis=0) for e in (before, after)]
print("torque errors on another motion:", error[0].round(1), "% before and", error[1].round(2), "% after")

figure = new_figure(7.5, 4.7)
figure.suptitle("A UR5e identified from an eight-second log", fontsize=15, x=0.02, ha="left", color=INK)
lines, bars = figure.subplots(1, 2, width_ratios=[1.3, 1])
lines.plot(t, before[:, 1] + true[:, 1], color=STRUCTURE, linewidth=2.6, label="original file")
lines.plot(t, true[:, 1], color="#e0a030", linewidth=6, alpha=0.7, label="robot")
lines.plot(t, after[:, 1] + true[:, 1], color=MOTION, linewidth=2.2, linestyle="--", label="identified file")
lines.set(xlabel="time in s", ylabel="shoulder torque in N m", xlim=(0, 1.2))
lines.legend(frameon=False, fontsize=10)
place = np.arange(6)
bars.bar(place - 0.2, error[0], 0.4, color=STRUCTURE, label="before")
bars.bar(place + 0.2, error[1], 0.4, color=MOTION, label="after")
bars.set_yscale("log")
bars.set(xlabel="joint", ylabel="torque error in per cent", xticks=place, xticklabels=place + 1)
for axes in (lines, bars):
    tidy(axes)
bars.legend(frameon=False, fontsize=10, ncols=2, loc="upper center", bbox_to_anchor=(0.5, 1.1))
save(figure, folder / "12_identify_a_robot.png")
