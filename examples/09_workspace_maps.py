"""Workspace maps: manipulability and payload.

Shows: how to map a measure over a plane of the workspace, here manipulability and the payload that the motors can hold, and
how to obtain the best configuration.
"""

import sys
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import INK, SEQUENCE, new_figure, save
from dynamis.kinematics.workspace import workspace_slice

BEHIND = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none"}
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

robot = dy.load("ur5e")
print(dy.workspace(robot, samples=20_000).summary())

figure = new_figure(7.5, 4.7)
figure.suptitle("A UR5e in its vertical plane: manipulability and payload", fontsize=15, x=0.02, ha="left", color=INK)
titles = {"manipulability": "manipulability √det JJᵀ in m³", "payload": "payload, worst configuration, in kg"}
for axes, (colour, title) in zip(figure.subplots(1, 2), titles.items(), strict=True):
    found = workspace_slice(robot, colour, samples=150_000)
    x, z, numbers = found.grid(cells=80, pick="worst" if colour == "payload" else "best")
    low, high = np.nanquantile(numbers, (0.02, 0.93))
    print(f"{colour}: {low:.3g} ... {high:.3g} {found.measure.unit} at 90 % of the points; best q {found.best[2].round(2)}")
    picture = axes.pcolormesh(x, z, numbers.T, cmap=SEQUENCE, vmin=low, vmax=high, rasterized=True)
    bar = figure.colorbar(picture, ax=axes, orientation="horizontal", shrink=0.85, aspect=30, extend="both")
    bar.set_label(title, fontsize=11)
    axes.plot(0, 0, "s", color=INK, markersize=9)
    axes.annotate("base", (0, 0), (0, -19), textcoords="offset points", ha="center", color=INK, bbox=BEHIND)
    axes.set(aspect="equal", xlabel=f"{found.plane[0]} in m", ylabel=f"{found.plane[1]} in m")
    axes.spines[["top", "right"]].set_visible(False)
save(figure, folder / "09_workspace_maps.png")
