"""Free fall of a Puma 560 with stick-slip friction.

Shows: how to simulate, that a sticking joint has exactly zero velocity, that the times at which joints start and stop are
located as events, and how the energy balance measures the integration error.
"""

import sys
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import FORCE, INK, MOTION, new_figure, save, tidy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

robot = dy.load("puma560")
fall = dy.simulate(robot, 2.0)
print(fall.status)
print(*fall.events, sep="\n")
print(f"energy error {abs(fall.energy_error).max():.1e} J of {np.ptp(fall.potential_energy):.0f} J")

# figure: velocities above, energies below, start and stop times in both
figure = new_figure(7.5, 4.7)
figure.suptitle("Free fall of a Puma 560 with stick-slip friction", fontsize=15, x=0.02, ha="left", color=INK)
speed, energy = figure.subplots(2, 1, sharex=True, height_ratios=[1.4, 1])
for name, colour in (("shoulder", MOTION), ("elbow", "#e0a030")):
    speed.plot(fall.t, fall.v[:, robot.joint_names.index(name)], color=colour, linewidth=3, label=name)
for event in fall.events:
    for axes in (speed, energy):
        axes.axvline(event.time, color=INK, linewidth=1, linestyle=":")
    speed.text(event.time, 1.03, f" {event.joint} {event.kind}", transform=speed.get_xaxis_transform(), color=INK,
               ha="left" if event is fall.events[-1] else "right", fontsize=10)  # fmt: skip
energy.plot(fall.t, fall.potential_energy - fall.potential_energy[0], color=MOTION, linewidth=2.6, label="potential")
energy.plot(fall.t, fall.kinetic_energy, color="#e0a030", linewidth=2.6, label="kinetic")
energy.plot(fall.t, fall.work, color=FORCE, linewidth=2.6, linestyle="--", label="work of friction")
speed.set(ylabel="velocity in rad/s")
energy.set(ylabel="energy in J", xlabel="time in s", xlim=(0, fall.t[-1]))
for axes in (speed, energy):
    tidy(axes)
speed.legend(frameon=False, fontsize=10, loc="lower left")
energy.legend(frameon=False, fontsize=10, loc="upper right", bbox_to_anchor=(1.41, 0.0), bbox_transform=energy.transData)
save(figure, folder / "03_fall_with_dry_friction.png")
