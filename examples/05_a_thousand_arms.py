"""A thousand simulations at once, each with a different payload and different noise.

Shows: how `rollouts` compiles robot, controller and integrator into one loop, how a parameter of the robot (here the payload
mass) becomes an input that differs between simulations, and how to add reproducible noise.
"""

import sys
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import INK, new_figure, save, shades, tidy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

known = dy.load("panda")
carrying = known.replace(payload=dy.solids.sphere(0.05, mass=dy.symbol("m")))
start = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
goal = np.array([0.8, 0.2, 0.3, -1.4, 0.2, 1.9, 0.2])
move = dy.trajectories.joint_move(start, goal, duration=1.0)


def law(robot, t, q, v):  # computed torque with the model without payload
    qd, vd, ad = move.at(t)
    return known.inverse_dynamics(q, v, ad + 225.0 * (qd - q) + 30.0 * (vd - v))


masses = np.random.default_rng(0).uniform(0.0, 3.0, 1000)
made = dy.rollouts(carrying, 1.5, np.tile(start, (1000, 1)), controller=law, step=1e-3, every=50, friction="smooth",
                   parameters={"m": masses}, disturbance=dy.Noise(1.0, hold=0.02))  # fmt: skip
print(made.status)

wanted = np.array([known.pose(move.at(t)[0])[:3, 3] for t in made.t])
error = 1e3 * np.linalg.norm(known.pose(made.q)[..., :3, 3] - wanted[:, None], axis=-1)
print(f"tip error {np.median(error[-1]):.1f} mm median, {error[-1].max():.1f} mm largest, at the end")

# figure: five classes of mass, the median of each and the range of 90 %
figure = new_figure(7.5, 4.7)
axes = figure.subplots()
for k, colour in enumerate(shades(5)):
    group = error[:, (masses >= 0.6 * k) & (masses < 0.6 * (k + 1))]
    low, middle, high = np.quantile(group, (0.05, 0.5, 0.95), axis=1)
    axes.fill_between(made.t, low, high, color=colour, alpha=0.3, linewidth=0)
    axes.plot(made.t, middle, color=colour, linewidth=3)
    axes.text(1.52, middle[-1], f"{0.6 * k:.1f} … {0.6 * (k + 1):.1f} kg", color=colour, va="center", fontsize=11)
tidy(axes)
axes.set(xlabel="time in s", ylabel="tip error in mm", xlim=(0, 1.5), ylim=(0, None))
axes.set_title("A thousand Pandas with payloads unknown to the controller", loc="left", fontsize=15, color=INK)
save(figure, folder / "05_a_thousand_arms.png")
