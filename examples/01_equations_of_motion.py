"""Equations of motion of a two-link arm in closed form, and the check of a student's answer.

Shows: how to derive M, C and g symbolically, how to check an answer, and how to prove that Ṁ − 2C is skew-symmetric.
"""

import sys
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import FORCE, INK, MOTION, STRUCTURE, new_figure, save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

arm = dy.load("planar_2r").closed_form()
answer = r"g_1 = (m_1 l_1 + m_2 a_1) g c_1 + m_2 g l_2 c_{12} \\ g_2 = m_2 g l_2 s_{12}"
verdict = dy.check_answer(arm, "gravity", answer)

print("M11 =", arm.M[0, 0])
print("M' - 2C is skew:", (arm.N + arm.N.T).is_zero)
print(verdict.report())

# figure: the arm with its symbols, and the equations
figure = new_figure(7.5, 4.7)
figure.suptitle("A two-link arm: closed-form equations and a checked answer", fontsize=15, x=0.02, ha="left", color=INK)
drawing, page = figure.subplots(1, 2, width_ratios=[1, 1.9])
elbow, tip = np.array([0.87, 0.5]), np.array([1.1, 1.47])
for start, end, name in ((np.zeros(2), elbow, "1"), (elbow, tip, "2")):
    drawing.plot(*np.transpose([start, end]), color=MOTION, linewidth=10, solid_capstyle="round", alpha=0.85)
    drawing.plot(*(0.5 * (start + end)), "o", color="white", markeredgecolor=INK, markersize=10)
    drawing.annotate(f"$m_{name}, I_{name}$", 0.5 * (start + end), (-58, 8), textcoords="offset points", fontsize=13, color=INK)
    drawing.plot(*start, "o", color=INK, markersize=12)
    angle = np.linspace(0, np.arctan2(*(end - start)[::-1]), 40)
    drawing.plot(start[0] + 0.4 * np.cos(angle), start[1] + 0.4 * np.sin(angle), color=FORCE, linewidth=2)
    drawing.plot([start[0], start[0] + 0.55], [start[1]] * 2, color=STRUCTURE, linewidth=1.2, linestyle="--")
drawing.text(0.47, 0.06, "$q_1$", fontsize=15, color=FORCE)
drawing.text(1.22, 0.78, "$q_1 + q_2$", fontsize=13, color=FORCE)
drawing.set(xlim=(-0.3, 1.75), ylim=(-0.15, 1.6), aspect="equal")

exact = {
    "M_{11}": arm.M[0, 0],
    "M_{12}": arm.M[0, 1],
    "M_{22}": arm.M[1, 1],
    "C_{12}": arm.C[0, 1],
    "g_1": arm.g[0],
    "g_2": arm.g[1],
}
lines = [(f"${name} = {formula.latex()}$", INK, 13) for name, formula in exact.items()]
lines += [(r"✗   student's answer:   $g_2 = m_2 g l_2 s_{12}$", FORCE, 13), (f"      {verdict.wrong[0].cause}", FORCE, 10)]
for k, (text, colour, size) in enumerate(lines):
    page.text(0.0, 0.92 - 0.125 * k - 0.03 * (k == 6), text, fontsize=size, color=colour, transform=page.transAxes)
for axes in (drawing, page):
    axes.set_axis_off()
save(figure, folder / "01_equations_of_motion.png")
