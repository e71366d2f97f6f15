"""Force capacity, velocity ellipses and compliance of an arm.

Shows: that velocity and force ellipsoids have the same axes and reciprocal radii, how torque limits bound the forces (a
polygon, gravity included), and how to compute the compliance due to joint stiffness.
"""

import sys
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import FORCE, INK, MOTION, new_figure, save, tidy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

arm = dy.load("planar_2r_melchiorri")
configurations = ([0.2, 2.1], [0.35, 1.3], [0.55, 0.35])
figure = new_figure(7.5, 4.7)
figure.suptitle("Velocity ellipses and force polygons", fontsize=15, x=0.02, ha="left", color=INK)
panels = figure.subplots(1, 3, sharey=True)
for axes, q in zip(panels, configurations, strict=True):
    speeds = dy.statics.velocity_ellipsoid(arm, q, rows="xy")
    strength = dy.statics.force_polytope(arm, q, rows="xy", torque_limits=[2000.0, 1000.0], by="robot")
    down = dy.statics.largest_force(arm, q, (0, -1, 0), torque_limits=[2000.0, 1000.0], by="robot")
    soft = dy.statics.stiffness(arm, q, [2e4, 1e4]).compliance_on("xy")
    give = 1e3 * np.linalg.eigvalsh(soft)[-1] * 100.0
    print(f"q = {q}: radii {speeds.radii.round(2)} m/s, downward force {down.size:.0f} N, deflection under 100 N {give:.1f} mm")

    elbow, tip = arm.pose(q, "link1")[:2, 3], arm.pose(q)[:2, 3]
    axes.plot(
        *np.transpose([[0.0, 0.0], elbow, tip]), color="0.6", linewidth=7, solid_capstyle="round", solid_joinstyle="round"
    )
    axes.plot(*np.transpose([[0.0, 0.0], elbow]), "o", color=INK, markersize=8)
    ellipse = tip + 0.3 * speeds.outline()
    corners = strength.vertices[np.argsort(np.arctan2(*(strength.vertices - strength.vertices.mean(axis=0)).T))]
    axes.fill(
        *(tip + corners / 9000.0).T, facecolor="#f0d3cd", edgecolor=FORCE, linewidth=2.2, label="feasible forces", zorder=1
    )
    axes.plot(*ellipse.T, color=MOTION, linewidth=3, label="feasible velocities")
    tidy(axes)
    axes.set(xlabel="x in m", aspect="equal", xlim=(-0.3, 2.3), ylim=(-0.3, 2.3))
    axes.set_title(f"downward force {down.size / 1000:.1f} kN\ndeflection {give:.0f} mm at 100 N", fontsize=11, color=INK)
panels[0].set_ylabel("y in m")
handles, labels = panels[0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=11)
save(figure, folder / "10_forces_and_stiffness.png")
