"""Two motions of the robot: let fall, and driven along a reference by computed torque."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.computed_torque import ComputedTorque
from dynamis.errors import DynamisError
from dynamis.report.numbers import middle, power, ranges, short, text, torque_unit
from dynamis.report.scene import scene_of
from dynamis.report.section import Budget, Curves, Player, Plot, Section
from dynamis.report.sections.maps import plain_coordinates
from dynamis.report.subject import Subject
from dynamis.robot import Robot
from dynamis.simulation.simulate import simulate
from dynamis.simulation.trajectory import Trajectory
from dynamis.trajectories.joint_moves import joint_move

Array = npt.NDArray[Any]

KEY, TITLE = "motions", "Motions"
FALL, MOVE, REST = 2.0, 2.0, 0.5  # s
POINTS = 151
BANDWIDTH = 10.0  # rad/s
OFF = 0.05  # rad or m the arm starts away from its reference
ALIVE = 0.3  # of the largest holding torque: below it a robot let go would hardly fall
PUSH = 0.5  # rad/s or m/s, where there is nothing to fall towards
JOINTS = 8  # with a torque ledger
ZERO = 1e-9
OPTIONS: dict[str, Any] = {"rtol": 1e-7, "atol": 1e-9, "points": POINTS}


def build(subject: Subject, section: Section, budget: Budget) -> None:
    robot = subject.robot
    q0, v0 = start(robot)
    fall = simulate(robot, FALL, q0, v0, seconds=0.45 * budget.seconds, **OPTIONS)
    _show(section, "fall", "Let go" if v0 is None else "Set moving, without gravity", fall)
    driven = len(plain_coordinates(robot)) == robot.n
    section.lead = (
        f"The robot let go{', and driven along a reference' if driven else ''}. "
        "Play a motion, or drag its time; the plots follow."
    )
    again = ["import numpy as np", "import dynamis as dy", "", subject.load]
    again += [f"fall = dy.simulate(robot, {FALL}, q0={short(q0, 6)}" + ("" if v0 is None else f", v0={short(v0, 6)}") + ")"]
    again += ["print(fall, abs(fall.energy_error).max())", "fall.plot('fall.png')"]
    if not driven:
        section.notes.append("A robot whose base or joints have orientations is not driven along a reference here.")
    else:
        budget.check("the motion under computed torque")
        a, b = ends(robot)
        law = ComputedTorque.designed(joint_move(a, b, duration=MOVE), bandwidth=BANDWIDTH)
        try:
            motion = simulate(robot, MOVE + REST, a - OFF, controller=law.on(robot), seconds=0.9 * budget.left, **OPTIONS)
            _show(section, "move", "Computed torque along a joint move", motion, law)
        except DynamisError as error:
            section.notes.append(f"The motion under computed torque was not simulated: {error}")
        again += [
            f"move = dy.trajectories.joint_move(np.array({short(a, 6)}), np.array({short(b, 6)}), duration={MOVE})",
            f"law = dy.control.ComputedTorque.designed(move, bandwidth={BANDWIDTH})",
            f"motion = dy.simulate(robot, {MOVE + REST}, np.array({short(a, 6)}) - {OFF}, controller=law.on(robot))",
            "print(motion, motion.ledger.total[-1])",
        ]
    section.notes.append("Joint limits are not walls in these motions: a joint may pass them.")
    section.reproduce = "\n".join(again)


def start(robot: Robot) -> tuple[Array, Array | None]:
    """A configuration from which the robot visibly falls; without gravity a velocity besides."""
    q = np.concatenate([[_pose(robot), middle(robot)], robot.random(0, 64)])
    loads = np.abs(robot.gravity(q)).max(axis=1)
    free = [k for k, c in enumerate(robot.model.coordinates) if c.q_index is None]
    if loads.max() < ZERO:
        return q[0], PUSH * np.random.default_rng(0).uniform(-1.0, 1.0, robot.n)
    if free:
        return q[0], None
    return q[int(np.argmax(loads >= ALIVE * loads.max()))], None


def _pose(robot: Robot) -> Array:
    return np.array(scene_of(robot)["pose"], dtype=float)


def ends(robot: Robot) -> tuple[Array, Array]:
    """The pose of the picture and one a quarter of the range away, in the order of v."""
    low, high = ranges(robot)
    at = np.array([_pose(robot)[c.q_index] for c in robot.model.coordinates])
    way = 0.25 * np.minimum(high - low, 2.0 * np.pi)
    first = np.where(np.arange(robot.n) % 2 == 0, 1.0, -1.0)
    goal = np.where((at + first * way <= high) & (at + first * way >= low), at + first * way, at - first * way)
    return at, np.clip(goal, low, high)


def _show(section: Section, name: str, title: str, motion: Trajectory, law: ComputedTorque | None = None) -> None:
    robot, t = motion.robot, short(motion.t)
    if len(motion) < 2:
        section.notes.append(f"{title}: {motion.status}.")
        return
    error = float(np.abs(motion.energy_error).max())
    exchanged = max(float(np.ptp(motion.kinetic_energy)), float(np.ptp(motion.potential_energy)))
    share = f", {power(error / exchanged, 0)} of what is exchanged" if exchanged > 1e3 * error else ""
    events = f" {len(motion.events)} events, the first: {motion.events[0]}." if motion.events else ""
    summary = f"{motion.t[-1]:.3g} s, {motion.status}; the energy balance is kept to {text(error, 2)} J{share}.{events}"
    section.add(Player(name, title, t, short(motion.q, 6), summary, scene_of(robot)))
    order = [robot.coordinate_names[k] for k in range(robot.n)]
    turns = {c.revolute for c in robot.model.coordinates}
    unit = {frozenset({True}): "rad", frozenset({False}): "m"}.get(frozenset(turns), "rad or m")
    if law is not None:
        wanted, _, _ = (np.asarray(x) for x in _reference(law, motion.t))
        off = motion.q - wanted
        lines = {order[k]: short(off[:, k], 4) for k in _largest(off)}
        last = float(np.abs(off[-1]).max())
        section.add(
            Plot(
                "Distance from the reference",
                "time [s]",
                f"q − q_d [{unit}]",
                [Curves(t, lines)],
                f"From {OFF} at the start to {text(last, 2)} at the end.",
                player=name,
            )
        )
    elif len(plain_coordinates(robot)) == robot.n:
        index = [int(c.q_index or 0) for c in robot.model.coordinates]
        lines = {order[k]: short(motion.q[:, index[k]], 4) for k in _largest(motion.v)}
        section.add(
            Plot(
                "Positions",
                "time [s]",
                f"q [{unit}]",
                [Curves(t, lines)],
                f"The fastest joint reaches {text(float(np.abs(motion.v).max()), 3)} rad/s or m/s.",
                player=name,
            )
        )
    _ledger(section, name, motion)
    T, U, W = motion.kinetic_energy, motion.potential_energy, motion.work
    curves = {"kinetic": T, "potential": U - U[0], "total": T + U - U[0], "work put in": T[0] + W}
    section.add(
        Plot(
            "Energy balance",
            "time [s]",
            "energy [J]",
            [Curves(t, {k: short(x) for k, x in curves.items()})],
            f"Total energy and work put in lie on each other to {text(error, 2)} J.",
            player=name,
        )
    )


def _reference(law: ComputedTorque, t: Array) -> tuple[Any, Any, Any]:
    return law.reference.at(t)


def _largest(values: Array) -> list[int]:
    most = np.abs(values).max(axis=0)
    return sorted(int(k) for k in np.argsort(-most)[:JOINTS])


def _ledger(section: Section, name: str, motion: Trajectory) -> None:
    """Where the torque of each joint goes, term by term."""
    robot, terms = motion.robot, motion.ledger.as_dict()
    largest = max(float(np.abs(x).max()) for x in terms.values())
    shown = {term: x for term, x in terms.items() if np.abs(x).max() > ZERO * max(largest, 1e-300)}
    if not shown:
        return
    heavy = np.max([np.abs(x).max(axis=0) for x in shown.values()], axis=0)
    views = []
    # the joint most is asked of comes first
    for k in (int(k) for k in np.argsort(-heavy)[:JOINTS]):
        lines = {term: short(x[:, k], 4) for term, x in shown.items() if np.abs(x[:, k]).max() > 0.0}
        lines |= {"torque": short(np.sum([x[:, k] for x in shown.values()], axis=0), 4)}
        views.append(Curves(short(motion.t), lines, f"{robot.coordinate_names[k]} [{torque_unit(robot, k)}]"))
    k = int(np.argmax(heavy))
    by = max(shown, key=lambda term: float(np.abs(shown[term][:, k]).max()))
    section.add(
        Plot(
            "Torque ledger: the torque of a joint, term by term",
            "time [s]",
            "torque",
            views,
            f"Most is asked of {robot.coordinate_names[k]}: {by} up to {text(float(heavy[k]), 3)} {torque_unit(robot, k)}.",
            "joint",
            player=name,
        )
    )
