"""Simulated logs of library arms with friction, noise and a prior model that is off, and the mistakes that spoil such logs."""

import re
from dataclasses import replace

import numpy as np

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification import Log
from dynamis.identification.identify import identify
from dynamis.model.description import Limits

ARMS = ("ur5e", "panda", "puma560", "kuka_iiwa14", "xarm7")
GAINS = np.array([13.0, 14.0, 11.0, 9.0, 9.5, 10.0, 8.0])


def three_joints():
    """A vertical arm of three joints: one about the vertical, two about parallel horizontal axes; links of 0.4 m, 5, 4 and 2 kg."""
    description = dy.Description("three joints").add_link("base")
    parent = "base"
    for k, (mass, axis, at) in enumerate([(5, (0, 0, 1), 0.1), (4, (0, 1, 0), 0.4), (2, (0, 1, 0), 0.4)]):
        limits = Limits(-2.5, 2.5, 3.0, 200.0)
        body = dy.solids.cylinder(0.05, 0.4, mass=mass).seen_from(dy.Pose.translation([0, 0, 0.2]))
        description.add_link(
            f"link{k}", parent, "revolute", joint_name=f"joint{k}", axis=axis, origin=dy.Pose.translation([0, 0, at]),
            inertia=body, limits=limits,
        )  # fmt: skip
        parent = f"link{k}"
    return dy.Robot(description)


def simulated(name, seed, seconds=12.0, rate=250.0, error=0.1, zero=None, gravity=None, coloured=0.0):
    """(robot as believed, log of the real one): masses off by ``error``, friction, noise of encoders and torques.

    ``coloured`` is the size of noise below about 3 Hz, relative to the torques.
    """
    believed = three_joints() if name == "three joints" else dy.load(name)
    rng = np.random.default_rng(seed)
    real = dy.control.perturbed(believed, error, seed=seed)
    if gravity is not None:
        real = real.replace(gravity=gravity)
    t = np.arange(round(seconds * rate)) / rate
    q, v, a = motion(believed, t, seconds, rng)
    tau = real.inverse_dynamics(q if zero is None else q + zero, v, a)
    size = tau.std(axis=0)
    tau = tau + 0.25 * size * np.tanh(v / 0.01) + 0.15 * size * v / v.std(axis=0) + 0.02 * size * rng.normal(size=tau.shape)
    if coloured:
        slow = np.exp(-2.0 * np.pi * 3.0 / rate) ** np.arange(round(rate))
        noise = np.apply_along_axis(np.convolve, 0, rng.normal(size=tau.shape), slow)[: len(tau)]
        tau = tau + coloured * size * noise / noise.std(axis=0)
    read = q + 2e-5 * rng.normal(size=q.shape)
    return believed, Log(t, read, tau, names=believed.coordinate_names, source="run.csv")


def motion(robot, t, seconds, rng):
    """A Fourier series within the limits of position and velocity."""
    n = robot.n
    lower, upper = (np.where(np.isfinite(robot.limits[k]), robot.limits[k], s * 2.0) for k, s in (("lower", -1), ("upper", 1)))
    w = 2.0 * np.pi / seconds * np.arange(1, 7)[:, None, None]
    phase = w * t[:, None] + rng.uniform(0.0, 6.3, size=(6, 1, n))
    c = rng.normal(size=(6, 1, n)) / np.arange(1, 7)[:, None, None] ** 0.7
    q, v, a = (c * np.sin(phase)).sum(0), (c * w * np.cos(phase)).sum(0), -(c * w**2 * np.sin(phase)).sum(0)
    size = 0.7 * np.minimum((upper - lower) / 2.0, 1.5) / np.abs(q).max(0)
    fast = np.where(np.isfinite(robot.limits["velocity"]), robot.limits["velocity"], 2.0)
    size = np.minimum(size, 0.8 * fast / np.abs(v).max(0))
    middle = np.clip((lower + upper) / 2.0, -1.5, 1.5)
    return middle + size * q, size * v, size * a


def spoil(kind, name, seed):
    """(robot, spoiled log, words of which one must be in the answer)."""
    rng = np.random.default_rng(1000 + seed)
    if kind == "zero":
        n = dy.load(name).n
        joint, angle = int(rng.integers(1, n - 2)), float(rng.choice([-1, 1]) * rng.uniform(0.2, 0.5))
        robot, log = simulated(name, seed, zero=np.where(np.arange(n) == joint, angle, 0.0))
        return robot, log, f"zero of joint {robot.coordinate_names[joint]!r}"
    if kind == "ceiling":
        robot, log = simulated(name, seed, gravity=(0.0, 0.0, 9.81))
        return robot, log, "hung from the ceiling"
    robot, log = simulated(name, seed)
    n, q, tau = robot.n, log.q.copy(), log.tau.copy()
    joint = int(rng.integers(1, n - 1))
    column = repr(log.column("tau", joint))
    if kind == "degrees":
        return robot, replace(log, q=np.degrees(q)), "in degrees"
    if kind == "Nmm":
        return robot, replace(log, tau=1e3 * tau), "N mm"
    if kind == "signs":
        tau[:, joint] *= -1.0
        return robot, replace(log, tau=tau), f"{column} seems to have the wrong sign"
    if kind == "order":
        pair = [n - 3, n - 2]
        tau[:, pair], q[:, pair] = tau[:, pair[::-1]], q[:, pair[::-1]]
        i, j = (robot.coordinate_names[k] for k in pair)
        return robot, replace(log, q=q, tau=tau), rf"{i}' and '\w+\.{j}'.* seem to be swapped"
    if kind == "currents":
        return robot, replace(log, tau=tau / GAINS[:n]), "currents"
    if kind == "halved":
        return robot, replace(log, tau=tau / 2.0), "times those of the model"
    if kind == "delayed":
        late = round(float(rng.uniform(0.02, 0.05)) * 250.0)
        return (
            robot,
            replace(log, tau=np.concatenate([tau[:1].repeat(late, axis=0), tau[:-late]])),
            f"({'|'.join(str(4 * late + k) for k in (-1, 0, 1))}) ms late",
        )
    if kind == "frozen":
        q[1000:1500, joint] = q[1000, joint]
        return robot, replace(log, q=q), "frozen"
    if kind == "spike":
        (q if rng.integers(2) else tau)[1234, joint] += 1e3
        return robot, replace(log, q=q, tau=tau), "spike"
    assert kind == "duplicated"
    rows = np.sort(np.r_[np.arange(len(q)), rng.integers(0, len(q), 300)])
    return robot, replace(log, t=log.t[rows], q=q[rows], tau=tau[rows]), "dropped"


KINDS = (
    "degrees",
    "Nmm",
    "signs",
    "order",
    "zero",
    "currents",
    "halved",
    "delayed",
    "frozen",
    "spike",
    "duplicated",
    "ceiling",
)
ACCUSATIONS = (
    "seem",
    "times those of the model",
    "zero of joint",
    "ms late",
    "ms early",
    "drift by",
    "another robot",
    "ceiling",
)


def answer(robot, log, estimator="weighted"):
    """(grade or "refused", all that is said about the log, error on held-out motion)."""
    try:
        found = identify(robot, log, compare=(), estimator=estimator)
    except InputError as error:
        return "refused", str(error), float("nan")
    said = [*found.notes, *found.verdict.sentences]
    return found.verdict.grade, "\n".join(said), found.validation.held_out


def rightly_answered(kind, words, grade, text, error):
    """The cause is named, or the log was repaired and the result is not spoiled; no other cause is named."""
    if not re.search(words, text):
        return False
    repaired = kind in ("frozen", "spike", "duplicated")
    if repaired:
        return error < 1.0 and not accused(text)
    return grade not in ("good", "usable")


def accused(text):
    return [word for word in ACCUSATIONS if word in text]
