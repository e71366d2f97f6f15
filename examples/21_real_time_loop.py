"""Run an exported controller 1000 times a second in a C program, without Python or ROS.

Shows: how a control law and a robot written as C (examples/real_time_loop.c) become one program, the tracking errors it
logs, and how late its cycles start. Without Linux and a C compiler the same loop is simulated in Python instead.
"""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import INK, line_colours, new_figure, save, tidy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "real_time"

robot = dy.load("panda")
start = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
goal = np.array([0.8, 0.2, 0.3, -1.4, 0.2, 1.9, 0.2])
move = dy.trajectories.joint_move(start, goal, duration=1.0)
law = dy.control.ComputedTorque.designed(move, bandwidth=15.0)
off = start + 0.02  # the robot does not start where the motion does

dy.control.write_c(robot, law, folder)
with zipfile.ZipFile(dy.write_fmu(robot, folder / "robot.fmu", friction="none", derivatives=False, binary=False)) as unit:
    for name in ("plant.h", "model.h", "dynamis_rates.h", "dynamis_rates.c"):
        (folder / name).write_bytes(unit.read(f"sources/{name}"))
shutil.copy(Path(__file__).with_name("real_time_loop.c"), folder)

sampled = dy.Sampled(law, rate=1000.0)
times, wanted = (x[:-1] for x in move.sample(1001)[:2])
here = dy.simulate(robot, times, off, controller=sampled, friction="none", method="rk4", step=1e-3)
q, late = here.q, np.full(1000, np.nan)
compiler = shutil.which("gcc") or shutil.which("clang")
if compiler and sys.platform == "linux":
    sources = ["real_time_loop.c", "control_computed_torque.c", "dynamis_rates.c"]
    subprocess.run([compiler, "-O2", "-std=c99", *sources, "-o", "loop", "-lm"], cwd=folder, check=True)
    command = [str((folder / "loop").resolve()), "1", *map(repr, off.tolist())]
    rows = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    log = np.array([row.split(",") for row in rows], dtype=float)
    q, late = log[:, 1:8], log[:, -2]
    print(f"largest difference between the C program and Python: {abs(q - here.q).max():.1e} rad")
    print(f"law: {np.median(log[:, -1]):.1f} µs per cycle, {np.median(late):.0f} µs late, at most {late.max():.0f} µs")
else:
    print("not run in C: that needs Linux and a C compiler")

figure = new_figure(7.5, 4.7)
above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
for k, colour in enumerate(line_colours(robot.n)):
    above.plot(times, 1e3 * (q - wanted)[:, k], color=colour, linewidth=2)
below.plot(times, late, ".", color=INK, markersize=3)
tidy(above), tidy(below)
above.set(ylabel="error in mrad", xlim=(0, 1))
below.set(xlabel="time in s", ylabel="lateness in µs", yscale="log")
above.set_title("A C controller at 1 kHz: errors of seven joints, and lateness", loc="left", fontsize=15, color=INK)
save(figure, folder.parent / "21_real_time_loop.png")
