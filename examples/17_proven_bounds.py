"""Proven bounds of the inertia matrix and the Coriolis terms.

Shows: how to compute bounds over all configurations, each with a guaranteed enclosure, and that random states satisfy them.
"""

import sys
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import FORCE, INK, MOTION, mark_turns, new_figure, save, tidy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

arm = dy.load("planar_2r_melchiorri")
bounds = dy.structural_bounds(arm, lower=-np.pi, upper=np.pi)
v_b = bounds.v_b[np.inf]
for name, bound in (("smallest eigenvalue of M", bounds.mu_1), ("largest eigenvalue of M", bounds.mu_2), ("Coriolis", v_b)):
    print(f"{name}: found {bound.value:.4f}, proven between {bound.lower:.4f} and {bound.upper:.4f}")

turn = np.linspace(-np.pi, np.pi, 201)
eigenvalues = np.linalg.eigvalsh(arm.mass_matrix(np.column_stack([np.zeros(201), turn])))
rng = np.random.default_rng(0)
q, v = rng.uniform(-np.pi, np.pi, (600, 2)), rng.uniform(-3.0, 3.0, (600, 2))
coriolis = abs(np.einsum("nij,nj->ni", arm.coriolis_matrix(q, v), v)).max(axis=1)
speed = abs(v).max(axis=1) ** 2
print("largest fraction of the bound in 600 random states:", (coriolis / (v_b.safe * speed)).max().round(3))

figure = new_figure(7.5, 4.7)
figure.suptitle("Proven bounds for all configurations", fontsize=15, x=0.02, ha="left", color=INK)
inertia, velocity = figure.subplots(1, 2)
inertia.semilogy(turn, eigenvalues, color=MOTION, linewidth=3)
for bound, name, side in ((bounds.mu_1, "μ₁", "top"), (bounds.mu_2, "μ₂", "bottom")):
    inertia.axhline(bound.safe, color=FORCE, linewidth=2.2, linestyle="--")
    inertia.text(0, bound.safe * (0.93 if side == "top" else 1.05), f"{name} = {bound.safe:.4g} kg m²", color=FORCE,
                 fontsize=12, ha="center", va=side)  # fmt: skip
inertia.set(ylabel="eigenvalues of M in kg m²", xlabel="elbow angle in rad", ylim=(3, 350))
mark_turns(inertia.xaxis, -np.pi, np.pi)
velocity.plot(speed, coriolis, "o", color=MOTION, markersize=4, alpha=0.6, markeredgewidth=0)
velocity.plot([0, 9], [0, 9 * v_b.safe], color=FORCE, linewidth=2.2, linestyle="--")
velocity.text(4.2, 5.2 * v_b.safe, f"{v_b.safe:.4g} ‖v‖²", color=FORCE, fontsize=12, ha="right")
velocity.set(xlabel="‖v‖² in rad²/s²", ylabel="‖C v‖ in N m", xlim=(0, 9), ylim=(0, None))
for axes in (inertia, velocity):
    tidy(axes)
save(figure, folder / "17_proven_bounds.png")
