"""Three redundancy resolutions compared on the same motion.

Shows: how to compare laws of redundancy resolution. All trace the same circle with the tip; the law that minimises the torque
at every instant builds up large null-space velocities.
"""

import sys
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import FORCE, INK, MOTION, new_figure, save, tidy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

ts = dy.task_space
sizes = {f"{name}_{k}": x for name, x in (("a", 0.5), ("l", 0.25), ("m", 2.0), ("I", 0.05)) for k in (1, 2, 3)}
arm = dy.load("planar_3r", parameters=sizes | {"g": 0.0})
circle = ts.Circle(radius=0.12, period=2.0, cycles=2)
found = dy.control.compare_laws(arm, motion=circle, task=ts.Position(rows=(0, 1)), q0=[0.3, 0.8, 0.9])
print(found)

figure = new_figure(7.5, 4.7)
figure.suptitle("Three redundancy resolutions on the same circle", fontsize=15, x=0.02, ha="left", color=INK)
panels = figure.subplots(2, 3, height_ratios=[1.35, 1])
frames = ["link1", "link2", "link3", arm.link_names[-1]]
titles = ("min ‖M⁻¹τ‖²", "min τᵀM⁻¹τ", "min ‖τ‖²")
for (above, below), run, title, colour in zip(panels.T, found.runs, titles, (MOTION, "#e0a030", FORCE), strict=True):
    motion = run.trajectory
    for q in motion.q[:: len(motion.q) // 12]:
        joints = np.array([[0.0, 0.0], *(arm.pose(q, name)[:2, 3] for name in frames)])
        above.plot(*joints.T, color=colour, linewidth=2, alpha=0.45)
    above.plot(*motion.path()[:, :2].T, color=INK, linewidth=2)
    above.set(aspect="equal", xlim=(-0.45, 0.95), ylim=(-0.1, 1.25), xticks=[], yticks=[])
    above.set_title(title, fontsize=11, color=INK)
    above.spines[:].set_visible(False)
    below.semilogy(motion.t, np.maximum(run.null_space.speed, 1e-2), color=colour, linewidth=2.2)
    tidy(below)
    below.set(xlabel="time in s", ylim=(1e-2, 2e2), xlim=(0, 4))
panels[1, 0].set_ylabel("null-space velocity in rad/s")
save(figure, folder / "07_redundancy.png")
