"""Export a controller to C and compare it with the same law in Python.

Shows: how to export a control law with gains, reference and model as one C99 function without dependencies, and that its
torques agree. Without a C compiler the code is written, and only the Python torques are plotted.
"""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import INK, line_colours, new_figure, save, tidy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

robot = dy.load("panda")
start = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
goal = np.array([0.8, 0.2, 0.3, -1.4, 0.2, 1.9, 0.2])
move = dy.trajectories.joint_move(start, goal, duration=1.0)
law = dy.control.ComputedTorque.designed(move, bandwidth=15.0)

header, source = dy.control.write_c(robot, law, folder / "controller")
print(f"{source.name}: {len(source.read_text(encoding='utf-8').splitlines())} lines of C")

t, q, v, _ = move.sample(201)
q += 0.01 * np.sin(40.0 * t)[:, None]  # with a small tracking error
in_python = dy.control.compile_law(robot, law)(t[:, None], q, v)

in_c = np.full_like(in_python, np.nan)
if compiler := shutil.which("gcc") or shutil.which("clang"):
    library = folder / "controller" / "law.so"
    subprocess.run([compiler, "-O2", "-std=c99", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"], check=True)
    function = getattr(ctypes.CDLL(str(library.resolve())), header.stem)
    for k, state in enumerate(zip(t[:, None], q, v, strict=True)):
        arrays = [np.ascontiguousarray(x) for x in (*state, in_c[k])]
        function(*(x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in arrays))
        in_c[k] = arrays[-1]
    print(f"largest difference between C and Python: {abs(in_c - in_python).max():.1e} N m")

figure = new_figure(7.5, 4.7)
axes = figure.subplots()
for k, colour in enumerate(line_colours(robot.n)):
    axes.plot(t, in_python[:, k], color=colour, linewidth=2, label=f"joint {k + 1}")
    axes.plot(t[::8], in_c[::8, k], "o", color=colour, markersize=5.5, markeredgecolor="white", markeredgewidth=0.6)
tidy(axes)
axes.set(xlabel="time in s", ylabel="torque in N m", xlim=(0, 1))
figure.legend(loc="outside lower center", ncols=7, frameon=False, fontsize=10.5, columnspacing=1.2, handlelength=1.4)
axes.set_title("Controller of a Panda: Python (lines) and C code (dots)", loc="left", fontsize=15, color=INK)
save(figure, folder / "16_c_code.png")
