"""Tune the gains of a controller by the sensitivities of rollouts, for three payloads at once.

Shows: symbols of robot and law as parameters of steps, derivatives of whole motions with respect to them, and a Gauss-Newton
method that lowers the errors of all motions together.
"""

import sys

import numpy as np

import dynamis as dy
from dynamis.drawing import INK, line_colours, new_figure, save, tidy

arm = dy.load("ur5e").replace(friction=0)
n, mass = arm.n, dy.symbol("mass")
kp, kd = (np.array([dy.symbol(f"{name}{k}") for k in range(n)]) for name in ("kp", "kd"))


def law(robot, q, v, goal):
    return kp * (goal - q) - kd * v + arm.gravity(q)  # of the arm without its payload


loaded = arm.replace(payload=dy.solids.sphere(0.05, mass=mass))
step = dy.optimize.Step(loaded, 0.002, parameters=[mass, *kp, *kd], feedback=law)
payloads, start = np.array([0.5, 2.0, 5.0]), np.array([0.0, -1.5, 1.2, -1.0, -1.5, 0.0])
goals = np.broadcast_to(start + np.array([0.6, 0.4, -0.5, 0.4, 0.3, 0.5]), (500, 1, n))


def motions(gains):
    """q, the errors q − goal and 0.1 s · v of all motions, and their derivatives by the logarithms of the gains."""
    p = np.concatenate([payloads[:, None], np.broadcast_to(gains, (3, 2 * n))], axis=1)
    Q, V = step.rollout(start, np.zeros(n), goals, p)
    S = step.sensitivities(Q, V, goals, p).parameters[..., 1:] * gains
    weights = np.repeat([1.0, 0.1], n)
    return Q, (weights * np.concatenate([Q - goals[0], V], axis=-1)).ravel(), (weights[:, None] * S).reshape(-1, 2 * n)


gains = np.array([300.0, 300.0, 150.0, 10.0, 10.0, 2.0, 60.0, 60.0, 30.0, 1.0, 1.0, 0.2])
before, r, J = motions(gains)
costs = [step.h * r @ r]
for _ in range(12):
    gains = gains * np.exp(np.linalg.solve(J.T @ J + 20.0 * np.eye(2 * n), -J.T @ r))
    after, r, J = motions(gains)
    costs.append(step.h * r @ r)
errors = [abs(Q[-1] - goals[0]).max() for Q in (before, after)]
print(f"cost {costs[0]:.3f}, after 12 iterations {costs[-1]:.3f}; never higher: {bool((np.diff(costs) < 0).all())}")
print(f"largest error after 1 s: {errors[0]:.3f} rad, then {errors[1]:.3f} rad")

figure = new_figure(7.5, 4.7)
for ax, Q, title in zip(figure.subplots(1, 2, sharey=True), (before, after), ("First gains", "Tuned gains"), strict=True):
    for k, colour in enumerate(line_colours(3)):
        ax.plot(np.arange(501) * step.h, Q[:, k, 1] - goals[0, 0, 1], color=colour, linewidth=2, label=f"{payloads[k]:g} kg")
    tidy(ax)
    ax.set(xlabel="time in s", ylabel="error of the shoulder in rad", xlim=(0, 1))
    ax.set_title(title, loc="left", fontsize=15, color=INK)
ax.legend(frameon=False)
save(figure, f"{sys.argv[1] if len(sys.argv) > 1 else '.'}/22_tuned_gains.png")
