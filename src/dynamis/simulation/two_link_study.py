"""The final study of the Bologna lectures: a two-link arm falls from rest, without friction and with two friction coefficients.

[Melchiorri, "A Simulink dynamic model"]: m = 50 kg, I = 10 kg m², a = 1 m, centres of mass half way, gravity in the arm's
plane, from the horizontal at rest, ten seconds, D = 0, 30 and 80 N m s. Also two other formulations from the
lectures, which must give the same motion.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.mass_matrix import mass_matrix_from_rnea
from dynamis.algorithms.newton_euler import rnea
from dynamis.display import as_text, counted
from dynamis.drawing import new_figure, save
from dynamis.robot import Robot, load
from dynamis.simulation.simulate import simulate
from dynamis.simulation.trajectory import Trajectory

Array = npt.NDArray[Any]
DAMPING = (0.0, 30.0, 80.0)


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """One motion per friction coefficient."""

    damping: tuple[float, ...]
    motions: tuple[Trajectory, ...]

    def summary(self) -> str:
        """Table of the final states."""
        lines = ["D [N m s]        final angles [rad]   energy lost [J]        energy error [J]"]
        for d, motion in zip(self.damping, self.motions, strict=True):
            angles = ", ".join(f"{x:.4f}" for x in motion.q[-1])
            lost = motion.energy[0] - motion.energy[-1]
            lines.append(f"{d:9g}   {angles:>23}   {lost:15.3f}   {np.abs(motion.energy_error).max():21.1e}")
        return "\n".join(lines)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Angles, velocities, energy and the path of the tip, one column per friction coefficient."""
        return _plot(self, path)

    def __repr__(self) -> str:
        return (
            f"<Study of {counted(len(self.motions), 'motion')}: viscous friction "
            f"{', '.join(f'{d:g}' for d in self.damping)} N m s>"
        )

    def __str__(self) -> str:
        return self.summary()

    _repr_html_ = as_text


def arm(damping: float = 0.0) -> Robot:
    """The arm of the lecture with viscous friction in both joints."""
    robot = load("planar_2r_melchiorri")
    return robot.replace(friction={name: {"viscous": damping} for name in robot.joint_names})


def two_link_study(damping: tuple[float, ...] = DAMPING, duration: float = 10.0, points: int = 1001) -> Study:
    """The three motions."""
    motions = []
    for d in damping:
        motion = simulate(arm(d), duration, np.zeros(2), np.zeros(2), rtol=1e-10, atol=1e-12, points=points)
        if motion.status.startswith("interrupted"):
            raise KeyboardInterrupt  # the other motions are to stop too
        motions.append(motion)
    return Study(tuple(damping), tuple(motions))


def by_newton_euler(robot: Robot, duration: float, points: int = 101) -> Array:
    """q(t) with M built column by column from n + 1 runs of Newton–Euler [Rocco, "Calcolo della dinamica diretta"]."""
    from scipy.integrate import solve_ivp

    model, n = robot.model, robot.n

    def rates(_t: float, y: Array) -> Array:
        q, v = y[:n], y[n:]
        bias = rnea(model, q, v, np.zeros(n)) + model.viscous * v
        return np.concatenate([v, np.linalg.solve(mass_matrix_from_rnea(model, q), -bias)])

    times = np.linspace(0.0, duration, points)
    return solve_ivp(rates, (0.0, duration), np.zeros(2 * n), "DOP853", times, rtol=1e-10, atol=1e-12).y[:n].T


def by_implicit_equations(robot: Robot, duration: float, points: int = 101, substeps: int = 20) -> Array:
    """q(t) from the implicit form F(q, v, v̇) = 0 by three-point Gauss collocation, of order six.

    [Rocco]: a solver for implicit differential equations. On each step the accelerations at the three points are found
    by Newton's method from the residual of the inverse dynamics.
    """
    from scipy.optimize import root

    n = robot.n
    A, b = _gauss()
    times = np.linspace(0.0, duration, points)
    h = (times[1] - times[0]) / substeps
    q, v, motion = np.zeros(n), np.zeros(n), [np.zeros(n)]
    a = np.zeros((3, n))
    for _ in range(points - 1):
        for _ in range(substeps):

            def states(a: Array, q: Array = q, v: Array = v) -> tuple[Array, Array]:
                at = v + h * (A @ a)
                return q + h * (A @ at), at

            def residual(flat: Array) -> Array:
                a = flat.reshape(3, n)
                return robot.inverse_dynamics(*states(a), a).ravel()

            a = root(residual, a.ravel(), tol=1e-13).x.reshape(3, n)
            at = v + h * (A @ a)
            q, v = q + h * (b @ at), v + h * (b @ a)
        motion.append(q)
    return np.array(motion)


def _gauss() -> tuple[Array, Array]:
    """Weights of three-point Gauss collocation, for the stages and for the step."""
    s = np.sqrt(15.0)
    A = np.array(
        [
            [5 / 36, 2 / 9 - s / 15, 5 / 36 - s / 30],
            [5 / 36 + s / 24, 2 / 9, 5 / 36 - s / 24],
            [5 / 36 + s / 30, 2 / 9 + s / 15, 5 / 36],
        ]
    )
    return A, np.array([5 / 18, 4 / 9, 5 / 18])


def _plot(study: Study, path: str | os.PathLike[str] | None) -> Any:
    count = len(study.motions)
    figure = new_figure(4 * count, 11)
    axes = figure.subplots(4, count, squeeze=False)
    for column, (d, motion) in enumerate(zip(study.damping, study.motions, strict=True)):
        angle, rate, energy, tip = axes[:, column]
        angle.set_title(f"D = {d:g} N m s", fontsize=12)
        for k in range(2):
            angle.plot(motion.t, motion.q[:, k], label=rf"$\theta_{k + 1}$")
            rate.plot(motion.t, motion.v[:, k], label=rf"$\dot\theta_{k + 1}$")
        energy.plot(motion.t, motion.kinetic_energy, label="kinetic")
        energy.plot(motion.t, motion.potential_energy, label="potential")
        energy.plot(motion.t, motion.energy, label="total", color="black", linewidth=1)
        p = motion.path()
        tip.plot(p[:, 0], p[:, 1], linewidth=0.9)
        tip.plot(*p[0, :2], "o", color="black", markersize=4)
        tip.set_aspect("equal")
        tip.set_xlim(-2.2, 2.2)
        tip.set_ylim(-2.2, 1.2)
        for ax, unit in ((angle, "rad"), (rate, "rad/s"), (energy, "J"), (tip, "tip y [m]")):
            if column == 0:
                ax.set_ylabel(unit)
            ax.grid(alpha=0.25, linewidth=0.6)
            ax.spines[["top", "right"]].set_visible(False)
            ax.set_xlabel("tip x [m]" if ax is tip else "t [s]")
    for ax in axes[:3, -1]:  # where friction leaves most room
        ax.legend(fontsize=9, frameon=False, loc="upper right")
    for row in axes[:3]:
        low, high = min(ax.get_ylim()[0] for ax in row), max(ax.get_ylim()[1] for ax in row)
        for ax in row:
            ax.set_ylim(low, high)
    return save(figure, path)
