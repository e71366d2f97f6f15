"""Two motions of the robot: a fall without actuation, and a reference trajectory under computed torque."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.computed_torque import ComputedTorque
from dynamis.control.law_runs import stuck_joints
from dynamis.display import counted
from dynamis.documents.blocks import Curves, Player, Plot, Section
from dynamis.documents.numbers import power, quantity, short, text, without_noise
from dynamis.errors import DynamisError
from dynamis.reports.falling import ADAPTIVE, fall, released
from dynamis.reports.numbers import effort_name, ranges, torque_unit, unit_of
from dynamis.reports.scene import scene_of
from dynamis.reports.sections.maps import plain_coordinates
from dynamis.reports.staging import is_mobile
from dynamis.reports.subject import Subject
from dynamis.robot import Robot
from dynamis.simulation.simulate import simulate
from dynamis.simulation.trajectory import Trajectory
from dynamis.tolerances import NEGLIGIBLE
from dynamis.trajectories.joint_moves import joint_move

Array = npt.NDArray[Any]

KEY, TITLE = "motions", "Simulated motions"
MOVE_SECONDS, REST_SECONDS = 2.0, 0.5  # s
BANDWIDTH = 10.0  # rad/s
INITIAL_ERROR = 0.05  # rad or m, the largest of the joints
INITIAL_DEVIATION = 0.1  # rad or m, from an unstable equilibrium
MIN_GRAVITY_SHARE = 0.3  # of the largest gravity torque: from a configuration with less the robot would hardly fall
INITIAL_VELOCITY = 0.5  # rad/s or m/s, where there is no gravity
MAX_JOINTS_PER_FIGURE = 8
COINCIDENCE = 2e-3  # of the range of a figure: closer curves are drawn as one


def build(subject: Subject, section: Section) -> None:
    robot = subject.robot
    free = released(robot)
    q0, v0 = start(free)
    fallen = fall(free, q0, v0)
    title = "Fall without actuation" if v0 is None else "Motion without actuation and gravity"
    _show(section, "fall", title, fallen.motion, fallen.assumptions)
    driven = len(plain_coordinates(robot)) == robot.n
    section.lead = (
        ("The robot released from rest" if v0 is None else "The robot with an initial velocity")
        + (", and the robot tracking a reference under computed-torque control" if driven else "")
        + "."
    )
    section.interaction = "Play a motion or drag its time slider; the plots follow."
    again = ["import numpy as np", "import dynamis as dy", "", subject.load]
    if free is not robot and subject.source is not None:
        again += [f'free = dy.load({subject.source!r}, base="floating")']
        again += [line.replace("damped = robot.", "damped = free.") for line in fallen.again]
    else:
        again += fallen.again
    again += ["print(fall, abs(fall.energy_error).max())", "fall.plot('fall.png')"]
    if driven:
        again += _tracking(robot, section)
    else:
        section.notes.append("Computed-torque control is simulated for robots with one scalar coordinate per joint only.")
    section.reproduce = "\n".join(again)


def _tracking(robot: Robot, section: Section) -> list[str]:
    a, b = ends(robot)
    off = INITIAL_ERROR * (np.arange(robot.n) + 1.0) / robot.n
    law = ComputedTorque.designed(joint_move(a, b, duration=MOVE_SECONDS), bandwidth=BANDWIDTH)
    try:
        motion = simulate(robot, MOVE_SECONDS + REST_SECONDS, a - off, controller=law.with_model(robot), **ADAPTIVE)
    except DynamisError as error:
        section.notes.append(f"The motion under computed torque could not be simulated: {error}")
        return []
    sentences = (
        f"Joint-space move of {MOVE_SECONDS:g} s under computed-torque control with bandwidth {BANDWIDTH:g} rad/s, from an "
        f"initial error of up to {INITIAL_ERROR:g} rad or m.",
        *(("The base is fixed in this simulation.",) if is_mobile(robot) else ()),
    )
    options = ", ".join(f"{name}={value!r}" for name, value in ADAPTIVE.items())
    _show(section, "move", "Computed-torque control along a joint-space move", motion, sentences, law)
    return [
        f"move = dy.trajectories.joint_move(np.array({short(a, 6)}), np.array({short(b, 6)}), duration={MOVE_SECONDS})",
        f"law = dy.control.ComputedTorque.designed(move, bandwidth={BANDWIDTH})",
        f"start = np.array({short(a - off, 6)})",
        f"motion = dy.simulate(robot, {MOVE_SECONDS + REST_SECONDS}, start, controller=law.with_model(robot), {options})",
        "print(motion, motion.ledger.total[-1])",
    ]


def start(robot: Robot) -> tuple[Array, Array | None]:
    """A configuration from which the robot visibly falls; without gravity a velocity as well.

    The pose of the 3-D view where gravity loads it or where it is an unstable equilibrium, else another configuration.
    """
    q = np.concatenate([[_pose(robot), robot.home()], robot.random(0, 64)])
    loads = np.abs(robot.gravity(q)).max(axis=1)
    free = [k for k, c in enumerate(robot.model.coordinates) if c.q_index is None]
    if loads.max() < NEGLIGIBLE:
        return q[0], INITIAL_VELOCITY * np.random.default_rng(0).uniform(-1.0, 1.0, robot.n)
    if free:
        return q[0], None
    if loads[0] < MIN_GRAVITY_SHARE * loads.max() and (way := _unstable_direction(robot, q[0])) is not None:
        return q[0] + INITIAL_DEVIATION * way, None
    return q[int(np.argmax(loads >= MIN_GRAVITY_SHARE * loads.max()))], None


def _unstable_direction(robot: Robot, q: Array) -> Array | None:
    """Of an equilibrium of gravity, the direction in q of fastest fall, its largest entry 1; None of a stable one."""
    if np.abs(robot.gravity(q)).max() > NEGLIGIBLE:
        return None
    index = np.array([c.q_index for c in robot.model.coordinates])
    rest = np.zeros(robot.n)
    values, directions = np.linalg.eigh(robot.differentiate("inverse_dynamics", "q").jacobian(q, rest, rest))
    if values[0] > -NEGLIGIBLE:
        return None
    way = np.zeros(robot.nq)
    way[index] = directions[:, 0] / directions[np.argmax(np.abs(directions[:, 0])), 0]
    return way


def _pose(robot: Robot) -> Array:
    return np.array(scene_of(robot)["pose"], dtype=float)


def ends(robot: Robot) -> tuple[Array, Array]:
    """The configuration of the 3-D view and one a quarter of the range away, in the order of v."""
    low, high = ranges(robot)
    at = np.array([_pose(robot)[c.q_index] for c in robot.model.coordinates])
    way = 0.25 * np.minimum(high - low, 2.0 * np.pi)
    first = np.where(np.arange(robot.n) % 2 == 0, 1.0, -1.0)
    goal = np.where((at + first * way <= high) & (at + first * way >= low), at + first * way, at - first * way)
    return at, np.clip(goal, low, high)


def distinct(lines: dict[str, Array]) -> dict[str, Any]:
    """Lines that coincide to drawing accuracy as one, named after all of them."""
    size = max((float(np.ptp(x)) for x in lines.values()), default=0.0)
    lines = {
        name: without_noise(x, max((float(np.abs(y).max(initial=0.0)) for y in lines.values()), default=0.0))
        for name, x in lines.items()
    }
    groups: list[tuple[list[str], Array]] = []
    for name, x in lines.items():
        same = next((names for names, y in groups if float(np.abs(x - y).max()) <= COINCIDENCE * size), None)
        if same is None:
            groups.append(([name], x))
        else:
            same.append(name)
    made = {}
    for names, x in groups:
        label = names[0] if len(names) == 1 else f"{names[0]} (coincides with {_listed(names[1:])})"
        made[label] = short(x)
    return made


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _show(
    section: Section, name: str, title: str, motion: Trajectory, sentences: tuple[str, ...], law: ComputedTorque | None = None
) -> None:
    robot, t = motion.robot, short(motion.t)
    if len(motion) < 2:
        section.notes.append(f"{title}: {motion.status}.")
        return
    if not motion.complete:
        section.notes.append(f"{title}: the simulation ends early, {motion.status}.")
        sentences = (*sentences, f"The simulation ends at {motion.t[-1]:.3g} s: {motion.status}.")
    kept = _balance(motion)
    balance = f"Energy is balanced to {kept}."
    stop = next((e for e in motion.events if "hits" in e.kind), None)
    hit = f" {stop.joint} {stop.kind} at {stop.time:.3g} s." if stop is not None else ""
    summary = " ".join([*sentences, balance]) + hit
    section.add(Player(name, title, t, short(motion.q, 6), summary, scene_of(robot)))
    order = [robot.coordinate_names[k] for k in range(robot.n)]
    unit = _position_unit(robot, range(robot.n))
    if law is not None:
        wanted, _, _ = (np.asarray(x) for x in law.reference.at(motion.t))
        off = motion.q - wanted
        shown = shown_errors(off)
        lines = distinct({order[k]: off[:, k] for k in shown})
        worst = int(np.argmax(np.abs(off[-1])))
        last = f"{text(float(abs(off[-1, worst])), 2)} at the end ({order[worst]})"
        section.add(
            Plot(
                "Tracking error",
                "time [s]",
                f"q − q_d [{unit}]",
                [Curves(t, lines)],
                f"Largest error {text(float(np.abs(off).max()), 2)}, {last} [{unit}]."
                + held_by_friction(motion, off)
                + _left_out(len(shown), robot.n, "largest errors, during the motion or at its end"),
                player=name,
            )
        )
    elif plain := plain_coordinates(robot):
        index = [int(c.q_index or 0) for c in robot.model.coordinates]
        shown = [plain[k] for k in _largest(motion.v[:, plain])]
        lines = distinct({order[k]: motion.q[:, index[k]] for k in shown})
        fastest = max(plain, key=lambda k: float(np.abs(motion.v[:, k]).max()))
        unit = _position_unit(robot, plain)
        speed = "rad/s" if robot.model.coordinates[fastest].revolute else "m/s"
        section.add(
            Plot(
                "Joint positions",
                "time [s]",
                f"q [{unit}]",
                [Curves(t, lines)],
                f"Largest velocity: {text(float(np.abs(motion.v[:, fastest]).max()), 3)} {speed} ({order[fastest]})."
                + _left_out(len(shown), len(plain), "largest velocities"),
                player=name,
            )
        )
    _ledger(section, name, motion)
    T, U, W = motion.kinetic_energy, motion.potential_energy, motion.work
    curves = {"kinetic": T, "potential": U - U[0], "total": T + U - U[0], "initial energy + work": T[0] + W}
    section.add(
        Plot(
            "Energy balance",
            "time [s]",
            "energy [J]",
            [Curves(t, distinct(curves))],
            f"Total energy equals initial energy plus the work of all torques and forces, to {kept}.",
            player=name,
        )
    )


def _balance(motion: Trajectory) -> str:
    """The largest error of the energy balance, relative to the energy exchanged, with that in joules."""
    exchanged = motion.energy_exchanged
    if not exchanged > NEGLIGIBLE:
        return quantity(float(np.abs(motion.energy_error).max()), "J", 2)
    share = 100.0 * motion.energy_imbalance
    return f"{text(share, 2) if share >= 1e-4 else power(share, 0)} % of the energy exchanged ({quantity(exchanged, 'J')})"


def _position_unit(robot: Robot, coordinates: Iterable[int]) -> str:
    units = {unit_of(robot, k) for k in coordinates}
    return "rad or m" if len(units) > 1 else units.pop()


def _left_out(shown: int, total: int, criterion: str) -> str:
    return f" {shown} of {total} joints are shown: those with the {criterion}." if shown < total else ""


def _largest(values: Array, count: int | None = None) -> list[int]:
    most = np.abs(values).max(axis=0)
    return sorted(int(k) for k in np.argsort(-most)[: MAX_JOINTS_PER_FIGURE if count is None else count])


def shown_errors(off: Array) -> list[int]:
    """The joints with the largest errors during the motion, and the one with the largest error at its end."""
    last = int(np.argmax(np.abs(off[-1])))
    shown = _largest(off)
    return shown if last in shown else sorted([*_largest(off, MAX_JOINTS_PER_FIGURE - 1), last])


def held_by_friction(motion: Trajectory, off: Array) -> str:
    """The explanation of errors that remain at the end, where Coulomb friction holds joints at rest."""
    held = stuck_joints(motion, off[-1])
    if not held:
        return ""
    return (
        f" At the end Coulomb friction holds {counted(len(held), 'joint')} at rest off the reference: the law has no integral "
        "action, and its torque for this error is below the static friction."
    )


TERMS = {"coriolis": "Coriolis and centrifugal", "viscous": "viscous friction", "dry": "Coulomb friction", "spring": "springs",
         "external": "stops and contacts", "rotor": "rotor inertia"}  # fmt: skip


def _ledger(section: Section, name: str, motion: Trajectory) -> None:
    """The torque of each joint, term by term."""
    robot, terms = motion.robot, motion.ledger.as_dict()
    largest = max(float(np.abs(x).max()) for x in terms.values())
    shown = {TERMS.get(term, term): x for term, x in terms.items() if np.abs(x).max() > NEGLIGIBLE * max(largest, 1e-300)}
    if not shown:
        return
    heavy = np.max([np.abs(x).max(axis=0) for x in shown.values()], axis=0)
    views = []
    # the joint with the largest term comes first
    for k in (int(k) for k in np.argsort(-heavy)[:MAX_JOINTS_PER_FIGURE]):
        lines = {term: x[:, k] for term, x in shown.items() if np.abs(x[:, k]).max() > NEGLIGIBLE * largest}
        effort, unit = effort_name(robot, k), torque_unit(robot, k)
        lines |= {f"actuator {effort}": np.sum([x[:, k] for x in shown.values()], axis=0)}
        joint = f"{robot.coordinate_names[k]} [{unit}]"
        views.append(Curves(short(motion.t), distinct(lines), joint, f"{effort} [{unit}]"))
    k = int(np.argmax(heavy))
    whole = effort_name(robot)
    by = max(shown, key=lambda term: float(np.abs(shown[term][:, k]).max()))
    section.add(
        Plot(
            f"Terms of the {whole if whole == 'generalised force' else f'joint {whole}'}",
            "time [s]",
            whole,
            views,
            f"Largest term: {by} of {robot.coordinate_names[k]}, {text(float(heavy[k]), 3)} {torque_unit(robot, k)}."
            + (f" {len(views)} of {counted(robot.n, 'coordinate')} can be selected." if len(views) < robot.n else ""),
            "joint",
            player=name,
        )
    )
