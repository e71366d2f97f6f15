"""Simulate a robot as a Functional Mock-up Unit in another program.

Shows: how to write the forward dynamics as an FMU, and that FMPy, an importer of FMUs, computes the same motion from the same
torques. Without FMPy (pip install 'dynamis[fmu]') or a C compiler the unit is written, and only our own motion is plotted.
"""

import shutil
import sys
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import INK, line_colours, new_figure, save, tidy

try:
    import fmpy
except ImportError:
    fmpy = None

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

robot = dy.load("ur5e")
start = np.array([0.0, -1.6, 1.2, -1.2, -1.5, 0.0])
goal = np.array([1.2, -0.9, 0.6, -1.0, -0.8, 0.9])
move = dy.trajectories.joint_move(start, goal, duration=1.0)
times, *wanted = move.sample(1001)
torques = robot.inverse_dynamics(*wanted)  # feedforward, held for 1 ms

path = folder / "ur5e.fmu"
can_compile = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
dy.write_fmu(robot, path, version=2, friction="none", binary=bool(can_compile))
print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")

held = dy.Sampled(lambda t, _q, _v: torques[round(1000 * t)], rate=1000.0)
here = dy.simulate(robot, times, start, controller=held, friction="none", method="rk4", step=1e-3)
print(f"tracking error without feedback: {abs(here.q - wanted[0]).max():.1e} rad")

if fmpy is not None and can_compile:
    names = robot.coordinate_names
    table = np.rec.fromarrays([times, *torques.T], names=["time", *(f"tau.{name}" for name in names)])
    first = {f"q.{name}": x for name, x in zip(names, start, strict=True)}
    there = fmpy.simulate_fmu(str(path), start_values=first, input=table, stop_time=1.0, output_interval=1e-3)
    there = np.column_stack([there[f"q.{name}"] for name in names])
    print(f"largest difference between FMPy and Dynamis: {abs(there - here.q).max():.1e} rad")
else:
    print("not simulated by FMPy: it needs pip install 'dynamis[fmu]' and a C compiler")
    there = np.full_like(here.q, np.nan)

figure = new_figure(7.5, 4.7)
axes = figure.subplots()
for k, colour in enumerate(line_colours(robot.n)):
    axes.plot(times, here.q[:, k], color=colour, linewidth=2, label=f"joint {k + 1}")
    axes.plot(times[::40], there[::40, k], "o", color=colour, markersize=5.5, markeredgecolor="white", markeredgewidth=0.6)
tidy(axes)
axes.set(xlabel="time in s", ylabel="joint angle in rad", xlim=(0, 1))
figure.legend(loc="outside lower center", ncols=6, frameon=False, fontsize=10.5, columnspacing=1.2, handlelength=1.4)
axes.set_title("UR5e by its torques: Dynamis (lines) and FMPy (dots)", loc="left", fontsize=15, color=INK)
save(figure, folder / "20_fmu.png")
