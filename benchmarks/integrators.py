"""How well integrators keep what they should: energy over ten seconds and over an hour, and their order.

Every robot of the library, without friction: *thrown* without weight with velocities up to 1 rad/s, and *falling* from rest at
a random configuration, where light wrists come to whirl at hundreds of radians a second.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

import dynamis as dy
from benchmarks import subjects
from benchmarks.offers import reason
from benchmarks.options import Options
from benchmarks.rivals import mujoco
from benchmarks.subjects import States

Array = npt.NDArray[Any]
TEN_SECONDS, HOUR, STEP = 10.0, 3600.0, 1e-3
PARTS = 24  # of an hour
HOURS = (
    ("planar_2r_melchiorri", "swinging"),
    ("puma560", "swinging"),
    ("planar_2r_melchiorri", "falling"),
    ("ur5e", "falling"),
)
NOMINAL = {"euler": 1, "midpoint": 2, "rk4": 4, "RK23": 3, "RK45": 5, "DOP853": 8}
COARSE = {"RK23": 0.005, "RK45": 0.005, "DOP853": 0.06}  # where the error is the order's and above rounding; else 0.02 s
LOOSE = 1e6  # tolerances with which an adaptive method takes every step as long as it may


def measure(options: Options) -> dict[str, Any]:
    rows = []
    for name in sorted(path.name.removesuffix(".toml") for path in files("dynamis.model.library").iterdir()):
        if name.startswith("_"):
            continue
        options.tell(f"{name}: energy over ten seconds")
        rows.append({"robot": name, **_drifts(_numeric(name)), **_mujoco(name, options)})
    hours = [_hour(name, how, options) for name, how in (HOURS if options.seconds >= 0.5 else HOURS[:1])]
    options.tell("orders")
    return {"rows": rows, "hours": hours, "orders": {method: _order(method) for method in NOMINAL}}


def _numeric(name: str) -> dy.Robot:
    """A robot of the library without friction; where it has symbols, they are 1, and gravity is 9.81."""
    text = files("dynamis.model.library").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    symbols = tomllib.loads(text).get("parameters", {})
    return dy.load(name, parameters={key: 9.81 if key == "g" else 1.0 for key in symbols} or None).replace(friction=0)


def _drifts(robot: dy.Robot) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    q0, v0 = robot.random(rng), rng.uniform(-1.0, 1.0, robot.n)
    starts = {"thrown": (robot.replace(gravity=(0, 0, 0)), q0, v0), "falling": (robot, q0, 0.0 * v0)}
    found: dict[str, Any] = {"n": robot.n}
    for how, (moving, q, v) in starts.items():
        for method, options in (("rk4", {"step": STEP}), ("DOP853", {"rtol": 1e-10, "atol": 1e-12})):
            motion = dy.simulate(moving, TEN_SECONDS, q, v, method=method, friction="none", points=101, **options)
            peak = float(motion.kinetic_energy.max())
            if peak:  # an arm in a horizontal plane does not fall
                found[f"{how}_{method}"] = float(np.abs(motion.energy - motion.energy[0]).max() / peak)
        found[f"{how}_speed"] = float(np.abs(motion.v).max(initial=0.0))
    return found


def _mujoco(name: str, options: Options) -> dict[str, Any]:
    """Its RK4 with the same step from the same state, falling."""
    if "mujoco" not in options.rivals or subjects.FLOATING.get(name, True):
        return {}
    try:
        subject = subjects.load(name)
        rng = np.random.default_rng(1)
        q = subject.robot.random(rng)[None]
        m = mujoco.Model(subject, States(q, 0.0 * q, 0.0 * q, 0.0 * q))
        m.model.opt.timestep = STEP
        m.model.opt.integrator = int(m.mujoco.mjtIntegrator.mjINT_RK4)
        m.data.qpos[:], m.data.qvel[:] = m.q[0], 0.0
        energies = []
        for k in range(round(TEN_SECONDS / STEP) + 1):
            if k % 100 == 0:
                at, rate = m.data.qpos[m.place], m.data.qvel[m.place]
                energies.append((subject.robot.kinetic_energy(at, rate), subject.robot.potential_energy(at)))
            m.mujoco.mj_step(m.model, m.data)
        kinetic, potential = np.array(energies, dtype=float).T
        return {"falling_mujoco": float(np.abs(kinetic + potential - potential[0]).max() / kinetic.max())}
    except Exception as error:
        return {"why": reason(error)}


def _hour(name: str, how: str, options: Options) -> dict[str, Any]:
    """The trend of the energy's error over an hour by the implicit midpoint rule, per second, and its standard error.

    Swinging is within 0.1 rad of where the robot hangs at rest, a regular motion; falling from anywhere is chaotic. As the
    error wanders, the line is laid through means over parts of the hour.
    """
    options.tell(f"{name}, {how}: an hour by the midpoint rule")
    robot = _numeric(name)
    q0 = robot.random(1) if how == "falling" else _at_rest(robot) + 0.1
    motion = dy.simulate(robot, HOUR, q0, method="midpoint", step=STEP, friction="none", points=7201)
    error = (motion.energy - motion.energy[0]) / motion.kinetic_energy.max()
    parts = [[part.mean() for part in np.array_split(x[1:], PARTS)] for x in (motion.t, error)]
    fit, covariance = np.polyfit(*parts, 1, cov=True)
    return {
        "robot": name, "how": how, "largest": float(np.abs(error).max()), "slope": float(fit[0]),
        "slope_error": float(np.sqrt(covariance[0, 0])), "status": motion.status,
    }  # fmt: skip


def _at_rest(robot: dy.Robot) -> Array:
    """Where a minute of friction leaves it."""
    damped = robot.replace(friction={name: {"viscous": 5.0} for name in robot.joint_names})
    return dy.simulate(damped, 60.0, robot.random(1), friction="none", method="Radau", rtol=1e-6, points=11).q[-1]


def _order(method: str) -> float:
    """Richardson's: from the differences of three ends, each step half of the one before."""
    longest = COARSE.get(method, 0.02)
    ends = [_end(method, 10 * longest, h) for h in (longest, longest / 2, longest / 4)]
    return float(np.log2(np.linalg.norm(ends[0] - ends[1]) / np.linalg.norm(ends[1] - ends[2])))


def _end(method: str, end: float, h: float) -> Array:
    """Where a planar arm is after steps of this length."""
    robot = dy.load("planar_2r_melchiorri")
    start = np.array([0.3, 0.4, 1.0, -1.0])
    if method in ("euler", "midpoint", "rk4"):
        motion = dy.simulate(robot, [0.0, end], start[:2], start[2:], method=method, step=h, points=2)
        return np.concatenate([motion.q[-1], motion.v[-1]])
    from scipy.integrate import solve_ivp

    def rates(_t: float, y: Array) -> Array:
        return np.concatenate([y[2:], robot.forward_dynamics(y[:2], y[2:], np.zeros(2))])

    # so loose that every step is taken as long as it may be
    made = solve_ivp(rates, (0.0, end), start, method=method, first_step=h, max_step=h, rtol=LOOSE, atol=LOOSE)
    return np.asarray(made.y[:, -1])
