"""Identify a payload from joint torques.

Shows: how to identify a payload with a reference run without it, and how the standard errors decrease with its length.
"""

import sys
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import FORCE, INK, MOTION, new_figure, save, tidy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

believed = dy.load("ur5e")
real = dy.control.perturbed(believed, 0.10, seed=4)  # the arm differs from its file
box = dy.solids.box(0.1, 0.1, 0.2, mass=3.0).seen_from(dy.Pose.translation([0.0, 0.02, 0.1]))

rng = np.random.default_rng(1)
points = np.clip(believed.random(rng, 16), -1.5, 1.5)
motion = dy.trajectories.spline(np.linspace(0.0, 10.0, 16), points, order=5)


def log_of(robot, seconds):
    t = np.arange(0.0, seconds, 0.004)
    q, v, a = motion.at(t)
    tau = robot.inverse_dynamics(q, v, a) + rng.normal(scale=0.8, size=q.shape)
    return dy.identification.Samples.of(q, v, a, tau, period=0.004, parallel=20.0, every=5)


empty = log_of(real, 10.0)
lengths = np.array([0.5, 1.0, 2.0, 4.0, 6.0, 10.0])
found = [dy.identification.identify_payload(believed, log_of(real.replace(payload=box), T), reference=empty) for T in lengths]
print(found[-1])

truth = box.parameters  # m, m x, m y, m z, and the inertia
values = np.array([x.parameters for x in found])
errors = np.array([x.standard_errors for x in found])

figure = new_figure(7.5, 4.7)
figure.suptitle("Payload of a UR5e, identified from its torques", fontsize=15, x=0.02, ha="left", color=INK)
panels = ((0, 1.0, "mass in kg"), (3, 1e3 / truth[0], "height of the centre of mass in mm"))
for axes, (k, scale, name) in zip(figure.subplots(1, 2), panels, strict=True):
    axes.axhline(scale * truth[k], color=FORCE, linewidth=2.5, linestyle="--", label="true value")
    axes.errorbar(lengths, scale * values[:, k], 2 * scale * errors[:, k], fmt="o", color=MOTION, markersize=8, linewidth=2.5,
                  capsize=5, label="estimate ± two standard errors")  # fmt: skip
    tidy(axes)
    axes.set(xlabel="length of the log in s", ylabel=name, xlim=(0, 10.5))
handles, labels = axes.get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=11)
save(figure, folder / "13_payload_from_a_log.png")
