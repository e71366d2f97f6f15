"""A robot that is let go: gravity alone, with joint limits, light damping and the floor.

A serial arm is integrated with adaptive steps between hard stops, up to its first contact with the floor. Robots on a floating
base and trees, whose feet may stand on the floor from the start, have compliant contacts and stops, and are integrated with a
fixed step by the time stepping that is implicit in contact.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.documents.numbers import text
from dynamis.model.build import with_floating_base
from dynamis.reports.contact_points import ContactPoint, contact_points
from dynamis.reports.numbers import ranges, torque_unit, unit_of
from dynamis.reports.scene import scene_of
from dynamis.reports.staging import body_poses, free_base, is_mobile
from dynamis.robot import Robot
from dynamis.simulation.contact import Contact, ContactGroup, Plane, contact, joint_stops
from dynamis.simulation.events import Event
from dynamis.simulation.hard_stops import HardStops
from dynamis.simulation.simulate import simulate
from dynamis.simulation.trajectory import Trajectory

Array = npt.NDArray[Any]

DURATION, POINTS = 2.0, 151  # s
FARTHEST_SLIDE = 1.5  # of the reach: where the motion of a joint without limits ends
DAMPING_TIME = 4.0  # s: time constant with which damping alone would slow the joint of the largest inertia
CONTACT_SAMPLES = 200  # configurations, to find the points of the robot that can touch the floor
CONTACT_RADIUS = 0.02  # of the reach
LONGEST_STEP = 5e-4  # s; halved until the energy balance is kept
SHORTEST_STEP = LONGEST_STEP / 16
KEPT_BALANCE = 0.01  # of the energy exchanged
STATIC_PENETRATION = 3e-3  # of the reach, where one contact carries the weight of the robot
DAMPING, FRICTION, SLIP = 1.0, 0.6, 0.1  # s/m, –, m/s
FLOATING_DAMPING_TIME = 0.2  # s: likewise for a floating base, so that it comes to rest within the simulation
STOP_STIFFNESS, STOP_DAMPING = 200.0, 0.5  # N m/rad, s/rad
ADAPTIVE: dict[str, Any] = {"rtol": 1e-7, "atol": 1e-9, "points": POINTS}


@dataclass(frozen=True)
class Fall:
    """A simulated fall, the assumptions it was made with, and the Python that simulates it again."""

    motion: Trajectory
    assumptions: tuple[str, ...]
    again: tuple[str, ...]


def released(robot: Robot) -> Robot:
    """The robot on a floating base if nothing holds its base; otherwise the robot itself."""
    if is_mobile(robot) and free_base(robot) is None:
        return Robot(with_floating_base(robot.description), _quiet=True)
    return robot


def fall(robot: Robot, q0: Array, v0: Array | None) -> Fall:
    """The motion from ``q0`` without actuation."""
    free = any(c.q_index is None for c in robot.model.coordinates)
    damping = light_damping(robot, q0, FLOATING_DAMPING_TIME if free else DAMPING_TIME)
    damped = robot.replace(friction={name: {"viscous": d} for name, d in damping.items()}) if damping else robot
    scene = scene_of(robot)
    parents = [body.parent for _, body in robot.model.moving if not body.is_rotor]
    serial = len(set(parents)) == len(parents) and all(c.q_index is not None for c in robot.model.coordinates)
    scalar = [c for c in robot.model.coordinates if c.q_index is not None]
    limited = any(np.isfinite((c.lower, c.upper)).any() for c in scalar) and all(c.lower < c.upper for c in scalar)
    if scene["planar"] or not np.asarray(robot.model.gravity).any():
        touching = []
    else:
        touching = contact_points(robot) if free else touching_points(robot, q0)
        q0 = _above_the_floor(robot, q0, touching, scene)
    again = [f"damped = robot.replace(friction={{{', '.join(f'{k!r}: dict(viscous={d:.6g})' for k, d in damping.items())}}})"]
    sentences = _damping_sentences(robot, damping)
    if limited:
        stiff = f"compliant stops ({STOP_STIFFNESS:g} N m/rad)" if not serial else "inelastic hard stops"
        sentences.append(f"Joint limits act as {stiff}.")
    if not serial:
        step = LONGEST_STEP
        motion = _with_contacts(damped, q0, v0, touching, limited, scene, step)
        while motion.energy_imbalance > KEPT_BALANCE and step > SHORTEST_STEP:
            step *= 0.5
            motion = _with_contacts(damped, q0, v0, touching, limited, scene, step)
        floor = ""
        if touching:
            law = _contact_law(robot, scene)
            floor = (
                f"The floor is compliant ({law['stiffness'] / 1e3:g} kN/m at each contact), with friction coefficient "
                f"{FRICTION:g}; {len(touching)} spheres inside the drawn links touch it. Collisions between links are not "
                "computed."
            )
        again += _contacts_again(robot, touching, limited, scene, q0, step)
        return Fall(motion, tuple(x for x in (*sentences, floor) if x), tuple(again))
    stops = HardStops() if limited else None
    events = {"floor contact": Event(_clearance(damped, touching, scene), stop=True)} if touching else {}
    # a slider without limits would fall out of sight
    unlimited = [c for c in scalar if not c.revolute and not np.isfinite((c.lower, c.upper)).all()]
    sliding = {c.name: c.q_index for c in unlimited if c.q_index is not None}
    events |= {name: Event(_slide(k, q0, FARTHEST_SLIDE * scene["reach"]), stop=True) for name, k in sliding.items()}
    motion = simulate(damped, DURATION, q0, v0, stops=stops, events=events or None, **ADAPTIVE)
    if events and motion.t[-1] < DURATION - 1e-9:
        slid = next((name for name in sliding if any((e.joint, e.kind) == (name, "happens") for e in motion.events)), None)
        end = (
            f"{_lowest(damped, touching, scene, motion.q[-1])} touches the floor"
            if slid is None
            else f"{slid}, which has no limits, has moved by {FARTHEST_SLIDE * scene['reach']:.3g} m"
        )
        sentences.append(f"The simulation ends at {motion.t[-1]:.3g} s, when {end}.")
        motion = simulate(damped, float(motion.t[-1]), q0, v0, stops=stops, **ADAPTIVE)  # again, for evenly spaced points
    given = f"q0={_rounded(q0)}" + ("" if v0 is None else f", v0={_rounded(v0)}")
    limits = ", stops=dy.HardStops()" if limited else ""
    again.append(f"fall = dy.simulate(damped, {float(motion.t[-1]):.6g}, {given}{limits})")
    return Fall(motion, tuple(sentences), tuple(again))


def _slide(k: int, q0: Array, length: float) -> Callable[[float, Array, Array], float]:
    return lambda _t, q, _v: float(abs(q[k] - q0[k]) - length)


def _above_the_floor(robot: Robot, q0: Array, touching: list[ContactPoint], scene: dict[str, Any]) -> Array:
    """``q0`` with the floating base raised until no contact sphere penetrates the floor."""
    base = free_base(robot)
    if base is None or not touching:
        return q0
    up, poses = np.asarray(scene["up"]), body_poses(robot, q0)
    frames = [robot.model.frames[one.frame] for one in touching]
    placed = [poses[frame.body] @ frame.pose for frame in frames]
    heights = [up @ (X.R @ one.point + X.p) - one.radius for one, X in zip(touching, placed, strict=True)]
    raised = q0.copy()
    raised[base : base + 3] += max(float(scene["floor"]) - min(heights), 0.0) * up
    return raised


def light_damping(robot: Robot, q: Array, decay: float) -> dict[str, float]:
    """Viscous friction √(M_kk M_max) / ``decay`` of the joints whose model has no friction, with the inertias at ``q``.

    The geometric mean: light for the joints that carry the robot, and enough for small ones, which heavy links drive.
    """
    model = robot.model
    inertia = np.diag(robot.mass_matrix(q))
    made: dict[str, float] = {}
    for turns in (True, False):
        own = [k for k, c in enumerate(model.coordinates) if c.q_index is not None and c.revolute is turns]
        most = max((float(inertia[k]) for k in own), default=0.0)
        for k in own:
            if not float(model.viscous[k]) and not float(model.coulomb[k]):
                joint, d = model.coordinates[k].joint, float(f"{np.sqrt(inertia[k] * most) / decay:.3g}")
                made[joint] = min(d, made.get(joint, d))
    return made


def _damping_sentences(robot: Robot, damping: dict[str, float]) -> list[str]:
    if not damping:
        return ["Joint friction is that of the model."]
    kinds: dict[str, list[float]] = {}
    for k, c in enumerate(robot.model.coordinates):
        if c.joint in damping and c.q_index is not None:
            kinds.setdefault(f"{torque_unit(robot, k)} s/{unit_of(robot, k)}", []).append(damping[c.joint])
    spans = [text(min(x)) + (f" to {text(max(x))}" if max(x) > min(x) else "") + f" {unit}" for unit, x in kinds.items()]
    plain = {c.joint for c in robot.model.coordinates if c.q_index is not None}
    which = "The model has no joint friction" if plain == set(damping) else "Some joints of the model have no friction"
    return [f"{which}; light viscous damping is added for this simulation ({' and '.join(spans)})."]


def touching_points(robot: Robot, q0: Array) -> list[ContactPoint]:
    """One point per body that moves up and down and can get below the floor: where its links end."""
    scene, model = scene_of(robot), robot.model
    up, floor = np.asarray(scene["up"]), float(scene["floor"])
    low, high = ranges(robot)
    rng = np.random.default_rng(0)
    q = np.tile(robot.home(), (CONTACT_SAMPLES, 1))
    for k, c in enumerate(model.coordinates):
        if c.q_index is not None:
            q[1:, c.q_index] = rng.uniform(low[k], high[k], CONTACT_SAMPLES - 1)
    free = any(c.q_index is None for c in model.coordinates)
    found = []
    for i, body in model.moving:
        frames = [name for name in model.link_names if model.frames[name].body == i]
        if body.is_rotor or not frames:
            continue
        frame, point = _end(robot, i, frames)
        heights = np.array([_height(robot, x, i, frame, point, up) for x in (q0, *q)])
        radius = float(np.clip(heights[0] - floor, 0.0, CONTACT_RADIUS * scene["reach"]))
        sinks = heights.min() < floor + radius or free
        if (np.ptp(heights) > 1e-6 or free) and sinks and heights[0] >= floor - 1e-9:
            found.append(ContactPoint(frame, point, radius))
    return found


def _end(robot: Robot, i: int, frames: list[str]) -> tuple[str, Array]:
    """A point of a body: its own frame; of a last body its farthest frame, or twice as far as its centre of mass."""
    model = robot.model
    if any((b := model.bodies[k]) is not None and not b.is_rotor for k in model.children[i]):
        return frames[0], np.zeros(3)
    far = max(frames, key=lambda name: float(np.linalg.norm(np.asarray(model.frames[name].pose.p, dtype=float))))
    pose = model.frames[far].pose
    inertia = model.with_locked_rotors(i)
    if np.linalg.norm(np.asarray(pose.p, dtype=float)) > 1e-6 or not float(inertia.mass):
        return far, np.zeros(3)
    return far, np.asarray(pose.R, dtype=float).T @ (2.0 * np.asarray(inertia.com, dtype=float))


def _height(robot: Robot, q: Array, i: int, frame: str, point: Array, up: Array) -> float:
    model = robot.model
    X = model.frames[frame].pose
    for j in model.ancestors(i):
        body = model.bodies[j]
        assert body is not None
        X = body.pose(q) @ X
    return float(up @ (np.asarray(X.R, dtype=float) @ point + np.asarray(X.p, dtype=float)))


def _heights(robot: Robot, touching: list[ContactPoint], scene: dict[str, Any]) -> Callable[[Array], Array]:
    """Compiled: the clearances of all points from the floor."""
    up, floor = np.asarray(scene["up"], dtype=float), float(scene["floor"])

    def clearances(robot: Robot, q: Array) -> Array:
        poses = [robot.pose(q, one.frame) for one in touching]
        return np.array([
            up @ (X[:3, :3] @ one.point + X[:3, 3]) - floor - one.radius for one, X in zip(touching, poses, strict=True)
        ])  # fmt: skip

    return robot.compile(clearances)


def _clearance(robot: Robot, touching: list[ContactPoint], scene: dict[str, Any]) -> Callable[[float, Array, Array], float]:
    heights = _heights(robot, touching, scene)
    return lambda _t, q, _v: float(np.min(heights(q)))


def _lowest(robot: Robot, touching: list[ContactPoint], scene: dict[str, Any], q: Array) -> str:
    return touching[int(np.argmin(_heights(robot, touching, scene)(q)))].frame


def _contact_law(robot: Robot, scene: dict[str, Any]) -> dict[str, float]:
    weight = float(robot.mass) * float(np.linalg.norm(np.asarray(robot.model.gravity, dtype=float)))
    stiffness = float(f"{weight / (STATIC_PENETRATION * scene['reach']):.2g}")
    return {"stiffness": stiffness, "damping": DAMPING, "friction": FRICTION, "slip": SLIP}


def _contacts_again(
    robot: Robot, touching: list[ContactPoint], limited: bool, scene: dict[str, Any], q0: Array, step: float
) -> list[str]:
    """Python that simulates the same contacts."""
    rows = ", ".join(f"({x.frame!r}, {_rounded(x.point)}, {x.radius:.6g})" for x in touching)
    up = np.asarray(scene["up"], dtype=float)
    stops = f", stops=dy.joint_stops(damped, stiffness={STOP_STIFFNESS}, damping={STOP_DAMPING})" if limited else ""
    law = ", ".join(f"{name}={value:g}" for name, value in _contact_law(robot, scene).items())
    contacts = [
        f"floor = dy.Plane({tuple(_rounded(scene['floor'] * up))}, {tuple(_rounded(up))})",
        f"spheres = [{rows}]  # frame, centre in the frame, radius",
        "wrenches = {}",
        "for frame, point, radius in spheres:",
        f"    one = dy.contact(damped, frame, floor, point=point, radius=radius, {law})",
        "    wrenches.setdefault(frame, []).append(one)",
    ]
    given = "wrenches=wrenches" if touching else "wrenches=None"
    return [
        *(contacts if touching else []),
        f"fall = dy.simulate(damped, {DURATION}, q0={_rounded(q0)}, method='time_stepping', step={step:g}, friction='smooth', "
        f"{given}{stops})",
    ]


def _rounded(values: Array) -> list[float]:
    return [round(float(x), 6) for x in values]


def _with_contacts(
    robot: Robot, q0: Array, v0: Array | None, touching: list[ContactPoint], limited: bool, scene: dict[str, Any], step: float
) -> Trajectory:
    up = np.asarray(scene["up"], dtype=float)
    plane = Plane(tuple(scene["floor"] * up), tuple(up))
    law: dict[str, Any] = _contact_law(robot, scene) if touching else {}
    spheres: dict[str, list[Contact]] = {}
    for one in touching:
        spheres.setdefault(one.frame, []).append(contact(robot, one.frame, plane, radius=one.radius, point=one.point, **law))
    wrenches = {frame: ContactGroup(them) for frame, them in spheres.items()}
    stops = joint_stops(robot, stiffness=STOP_STIFFNESS, damping=STOP_DAMPING) if limited else None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the energy balance")  # the caller shortens the step
        return simulate(
            robot, DURATION, q0, v0, method="time_stepping", step=step, points=POINTS, stops=stops, wrenches=wrenches or None,
            friction="smooth",
        )  # fmt: skip
