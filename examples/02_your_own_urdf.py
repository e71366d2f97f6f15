"""Check a URDF, load it, and split the torques of a motion into their terms.

Shows: how to check a file (errors with line numbers), how to compute the torques of a whole motion in one call, and how
`torque_ledger` splits them into inertia, Coriolis, gravity and friction.
"""

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import dynamis as dy
from dynamis.drawing import INK, new_figure, save, tidy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

with TemporaryDirectory() as temporary:
    path = Path(temporary) / "my_arm.urdf"
    friction = {name: {"viscous": 8.0, "coulomb": 5.0} for name in dy.load("ur5e").joint_names}
    dy.load("ur5e").replace(friction=friction).write(path)

    good = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r'ixx="[^"]*"', 'ixx="9"', good, count=2), encoding="utf-8")  # physically inconsistent
    findings = dy.check(path)
    print(*(f"line {finding.line}, {finding.where}: {finding.found}" for finding in findings), sep="\n")
    path.write_text(good, encoding="utf-8")
    robot = dy.load(path)

start, goal = [0.0, -1.4, 1.8, -0.4, 1.0, 0.0], [1.8, -0.6, 0.7, -1.0, 1.2, 0.6]
move = dy.trajectories.joint_move(start, goal, robot=robot, acceleration=8.0, jerk=60.0)
t, q, v, a = move.sample(301)
ledger = robot.torque_ledger(q, v, a)
print(f"{robot.name}: {move.duration:.2f} s, peak torques", abs(ledger.total).max(axis=0).round(1), "N m")

# figure: shoulder torque, term by term, and the sum
joint = robot.joint_names.index("shoulder_lift_joint")
figure = new_figure(7.5, 4.7)
axes = figure.subplots()
terms = {"inertia": "#2b5c8a", "coriolis": "#7fb0d8", "gravity": "#7a7a7a", "viscous": "#e0a030", "dry": "#b5402f"}
for name, colour in terms.items():
    axes.plot(t, ledger.as_dict()[name][:, joint], color=colour, linewidth=2.4, label=name)
axes.plot(t, ledger.total[:, joint], color=INK, linewidth=3.4, linestyle=(0, (4, 1.5)), label="total")
tidy(axes)
axes.set(xlabel="time in s", ylabel="shoulder torque in N m", xlim=(0, move.duration))
figure.legend(loc="outside lower center", frameon=False, ncols=6, fontsize=10.5)
axes.set_title("Torque of a fast motion, term by term", loc="left", fontsize=15, color=INK)
save(figure, folder / "02_your_own_urdf.png")
