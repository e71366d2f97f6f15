"""Model-predictive control by sampling (MPPI): a thousand rollouts at every control step, at a real-time rate.

Shows: how `BatchSimulation` compiles a loop once and runs it again and again with other states and tables of inputs.
"""

import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.patches import Circle

import dynamis as dy
from dynamis.drawing import INK, new_figure, save, shades, tidy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
robot, rng = dy.load("ur5e"), np.random.default_rng(0)
start, end = np.array([-1.2, -1.6, 1.9, -1.9, -1.6, 0.0]), np.array([0.6, -1.5, 1.8, -1.9, -1.6, 0.0])
goal, column = robot.pose(end)[:3, 3], robot.pose(0.5 * (start + end))[:2, 3] + [0.02, 0.0]


def law(robot, t, q, v, a):  # computed torque for the acceleration the controller chooses
    return robot.inverse_dynamics(q, v, a - 4.0 * v)


simulation = dy.BatchSimulation(robot, 0.6, controller=law, inputs={"a": 6}, step=0.02, friction="none")


def cost(made):
    """(samples): distance from the goal, closeness to a column of radius 0.1 m, and speed, over the horizon."""
    tip = robot.pose(made.q[1:])[..., :3, 3]
    distance, gap = np.linalg.norm(tip - goal, axis=-1), np.linalg.norm(tip[..., :2] - column, axis=-1) - 0.13
    return distance.mean(0) + distance[-1] - 200.0 * np.minimum(gap, 0.0).sum(0) + 2e-4 * np.square(made.v).sum((0, 2))


q, v, plan, tips, samples, periods = start, np.zeros(6), np.zeros((30, 6)), [robot.pose(start)[:3, 3]], [], []
for k in range(110):
    began = time.perf_counter()
    change = rng.normal(scale=3.0, size=(6, 1024, 6)).repeat(5, axis=0)  # rad/s², held for five steps
    price = cost(made := simulation(q, v, inputs={"a": plan[:, None] + change}))
    weight = np.exp((price.min() - price) / 0.02)
    plan = plan + np.einsum("ksj,s->kj", change, weight / weight.sum())
    periods.append(time.perf_counter() - began)
    one = simulation(q, v, inputs={"a": plan[:, None]})  # the robot follows the first step of the plan
    q, v, plan = one.q[1, 0], one.v[1, 0], np.vstack([plan[1:], np.zeros(6)])
    tips.append(robot.pose(q)[:3, 3])
    samples += [robot.pose(made.q[:, ::16])[..., :3, 3]] if k in (4, 44) else []
gap, left = np.linalg.norm(np.array(tips)[:, :2] - column, axis=1).min() - 0.1, np.linalg.norm(tips[-1] - goal)
print(f"{1e3 * left:.0f} mm from the goal, past the column at {1e3 * gap:.0f} mm, {1e3 * np.median(periods):.0f} ms per step")
axes = (figure := new_figure(7.5, 4.7)).subplots()  # seen from above
axes.add_patch(Circle(column[::-1], 0.1, color="#d9d2c5"))
axes.plot(*np.hstack(samples).T[[1, 0]].reshape(2, -1, 31).swapaxes(1, 2), color=shades(3)[0], linewidth=0.4, alpha=0.35)
axes.plot(*np.array(tips).T[[1, 0]], color=shades(3)[1], linewidth=3)
axes.plot(*np.array([tips[0], goal]).T[[1, 0]], "o", color=INK)
for place, name in ((tips[0], "start"), (goal, "goal"), (np.append(column, 0.0), "column")):
    axes.annotate(name, place[[1, 0]], xytext=(0, -18), textcoords="offset points", color=INK, ha="center")
tidy(axes)
axes.set(xlabel="y in m", ylabel="x in m", xlim=(0.5, -0.5), ylim=(-0.66, -0.03), aspect="equal", axisbelow=True)
axes.set_title("Predictive control by a thousand rollouts per step", loc="left", fontsize=14, color=INK)
save(figure, folder / "19_mppi.png")
