"""Three controllers whose model has inertial parameters in error by ten per cent.

Shows: how to design control laws from a bandwidth, how to give them an inexact model, and the resulting errors. Computed
torque uses the full model; PD with gravity compensation only gravity; the adaptive law estimates the parameters on-line.
"""

import sys
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import FORCE, INK, MOTION, new_figure, save, tidy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

robot = dy.load("ur5e")
believed = dy.control.perturbed(robot, 0.10, seed=3)  # the controllers' model
start, goal = np.array([0.0, -1.2, 1.5, -0.4, 0.8, 0.1]), np.array([0.7, -0.6, 0.9, -1.0, 0.2, 0.7])
move = dy.trajectories.joint_move(start, goal, duration=1.2)

stiffness, damping = dy.control.gains(10.0, robot=believed)
laws = {
    "PD + gravity": dy.control.PDGravity(move, stiffness=stiffness, damping=damping),
    "computed torque": dy.control.ComputedTorque.designed(move, bandwidth=10.0),
    "adaptive (Slotine–Li)": dy.control.SlotineLi.designed(believed, move, bandwidth=10.0, learning=5.0),
}
figure = new_figure(7.5, 4.7)
axes = figure.subplots()
for (name, law), colour, style in zip(laws.items(), ("#e0a030", MOTION, FORCE), ("-", "-", "--"), strict=True):
    motion = dy.simulate(robot, 2.0, start, controller=law.with_model(believed), method="rk4", step=2e-3)
    wanted = np.array([move.at(t)[0] for t in motion.t])
    error = np.degrees(abs(motion.q - wanted).max(axis=1))
    print(f"{name:22s} largest {error.max():.3f} deg, at the end {error[-1]:.4f} deg")
    axes.semilogy(motion.t[1:], error[1:], color=colour, linestyle=style, linewidth=3, label=name)

axes.axvspan(0, move.duration, color=MOTION, alpha=0.07)
axes.text(
    0.5 * move.duration, 0.97, "moving", transform=axes.get_xaxis_transform(), ha="center", va="top", color=INK, fontsize=11
)
tidy(axes)
axes.set(xlabel="time in s", ylabel="largest joint error in degrees", xlim=(0, 2))
axes.set_ylim(1e-3, 40)
axes.legend(frameon=False, fontsize=11, loc="lower right")
axes.set_title("Control of a UR5e with 10 % model error", loc="left", fontsize=15, color=INK)
save(figure, folder / "04_control_with_a_wrong_model.png")
