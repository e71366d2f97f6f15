"""The same optimal control problem by our iLQR and by Crocoddyl; models for aligator, acados and Gymnasium.

Shows: how solvers and environments get the dynamics. A library that is not installed is named with the command to install it.
"""

import sys

import numpy as np

import dynamis as dy
from dynamis.drawing import INK, line_colours, new_figure, save, tidy

robot = dy.load("ur5e").replace(friction=0)
n, nodes, h, start = robot.n, 50, 0.02, np.array([0.0, -1.6, 1.2, -1.2, -1.5, 0.0])
goal = start + np.array([0.8, 0.6, -0.5, -0.1, 0.5, 0.5])
limits, speeds = robot.limits["effort"], robot.limits["velocity"]
ours = dy.optimize.trajectory(robot, start, goal, nodes * h, nodes=nodes, weights={"effort": 1.0, "velocity": 1.0})
print(f"iLQR: {ours.status}, cost {ours.cost:.4f}")
try:
    import crocoddyl as cr

    state, at_goal = cr.StateVector(2 * n), np.concatenate([goal, np.zeros(n)])

    def dynamics(weights, effort):
        costs = cr.CostModelSum(state, n)
        for name, residual, w in (
            ("effort", cr.ResidualModelControl(state, n), effort / limits**2),
            ("state", cr.ResidualModelState(state, at_goal, n), weights),
        ):
            costs.addCost(name, cr.CostModelResidual(state, cr.ActivationModelWeightedQuad(w), residual), 1.0)
        return robot.crocoddyl(costs)

    steps = [cr.IntegratedActionModelEuler(dynamics(np.concatenate([np.zeros(n), 1.0 / speeds**2]), 1.0), h)] * nodes
    last = cr.IntegratedActionModelEuler(dynamics(np.full(2 * n, 1e5), 0.0), 0.0)
    solver = cr.SolverBoxFDDP(cr.ShootingProblem(np.concatenate([start, np.zeros(n)]), steps, last))
    solver.solve([], [], 300)
    theirs = np.array(solver.us)
    print(f"Crocoddyl: {solver.iter} iterations, cost {solver.cost:.4f}")
except ImportError:
    print("Crocoddyl: not installed (pip install 'dynamis[crocoddyl]')")
    theirs = np.full((nodes, n), np.nan)
models = {"aligator": lambda: dy.optimize.Step(robot, h).aligator(), "acados": lambda: dy.optimize.Step(robot, h).acados("arm")}
for name, make in {**models, "Gymnasium": lambda: dy.optimize.environment(robot)}.items():
    try:
        print(f"{name}: {type(make()).__name__}")
    except dy.MissingExtraError as error:
        print(f"{name}: {error}")

figure = new_figure(7.5, 4.7)
axes = figure.subplots()
for k, colour in enumerate(line_colours(n)):
    axes.plot(ours.t[:-1], 100 * ours.tau[:, k] / limits[k], color=colour, linewidth=2.2, label=f"joint {k + 1}")
    axes.plot(ours.t[:-1], 100 * theirs[:, k] / limits[k], "o", color=colour, markersize=4.5, markeredgecolor="white")
tidy(axes)
axes.set(xlabel="time in s", ylabel="torque in per cent of its limit", xlim=(0, nodes * h))
axes.set_title("Optimal torques by our iLQR (lines) and Crocoddyl (dots)", loc="left", fontsize=15, color=INK)
figure.legend(loc="outside lower center", ncols=6, frameon=False, fontsize=10.5, columnspacing=1.2, handlelength=1.4)
save(figure, f"{sys.argv[1] if len(sys.argv) > 1 else '.'}/26_solvers_elsewhere.png")
