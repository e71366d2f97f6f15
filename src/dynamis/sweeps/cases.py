"""One case of a study: robot, initial state, simulation and recorded results."""

from __future__ import annotations

import math
import tomllib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import DynamisError, InputError, ModelError, printable, unknown_name
from dynamis.model.build import examine, with_floating_base
from dynamis.model.description import DRIVE_NUMBERS, Description, MassProperties, Payload
from dynamis.model.diagnostics import Report
from dynamis.model.payloads import load, payloads_at, unloaded
from dynamis.model.readers.toml import read_toml
from dynamis.model.readers.urdf import read_urdf
from dynamis.robot import Robot
from dynamis.simulation.simulate import simulate
from dynamis.simulation.trajectory import Trajectory
from dynamis.spatial import Inertia
from dynamis.sweeps.study import Study
from dynamis.sweeps.units import unit_of
from dynamis.version import __version__

Array = npt.NDArray[Any]
Row = list[Any]
Setting = tuple[str, str, float]

STATE = ("q0", "v0", "torque")
FAILED = "failed: "  # begins the status of a case that cannot be simulated
AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Setup:
    """The arguments of `simulate` in a case."""

    robot: Robot
    q0: Array
    v0: Array
    torque: Array
    controller: Any = None


def run_part(study: Study, cases: Sequence[int]) -> list[Row]:
    """The rows of some cases, computed by a worker. They do not depend on worker, time or order."""
    if study.version != __version__:
        raise InputError(
            f"this worker has Dynamis {__version__}, the sweep requires {study.version}: install the same version on all "
            f"machines"
        )
    return [run_case(study, case) for case in cases]


def run_case(study: Study, case: int) -> Row:
    """[case, varied values, results, status] of one case; the status of a failed case gives the reason."""
    values = study.values(case)
    try:
        setup = case_setup(study, values)
        with np.errstate(all="ignore"):  # what is not finite shows in the status
            motion = simulate(
                setup.robot, study.duration, setup.q0, setup.v0, torque=setup.torque, controller=setup.controller,
                **study.options,
            )  # fmt: skip
            if motion.status.startswith("interrupted"):
                raise KeyboardInterrupt  # half a case is none, and the sweep is to stop too
            results = _results(motion)
    except (DynamisError, ArithmeticError, ValueError) as error:  # the last from linear algebra without a solution
        sentence = " ".join(str(error).split())
        return [case, *values, *[None] * len(result_names(_robot(study, study.values(0)))), f"{FAILED}{sentence}"]
    return [case, *values, *(float(x) if math.isfinite(x) else None for x in results), motion.status]


def column_names(study: Study) -> list[str]:
    """The names of a row's entries."""
    return ["case", *(v.name for v in study.variables), *result_names(_robot(study, study.values(0))), "status"]


def column_units(study: Study) -> dict[str, str]:
    """{column: SI unit} of a row's numbers."""
    robot = _robot(study, study.values(0))
    return {name: unit_of(name, robot) for name in column_names(study)[1:-1]}


def effort_limits(study: Study) -> dict[str, float]:
    """{coordinate: largest torque or force} where the robot has a limit."""
    robot = _robot(study, study.values(0))
    pairs = zip(robot.coordinate_names, robot.limits["effort"], strict=True)
    return {name: float(limit) for name, limit in pairs if math.isfinite(limit)}


def result_names(robot: Robot) -> list[str]:
    q_names = robot.coordinate_names if robot.nq == robot.n else [f"q[{k}]" for k in range(robot.nq)]
    names = ["t", *(f"q.{name}" for name in q_names)]
    for letter in ("v", "peak_velocity", "peak_torque"):
        names += [f"{letter}.{name}" for name in robot.coordinate_names]
    return [*names, "energy", "energy_error", "events"]


def _results(motion: Trajectory) -> list[float]:
    """Final state, largest |v| and |τ|, final energy, largest energy error."""
    peaks = [np.abs(x).max(axis=0) for x in (motion.v, motion.tau)]
    error = float(np.abs(motion.energy_error).max())
    return [motion.t[-1], *motion.q[-1], *motion.v[-1], *peaks[0], *peaks[1], motion.energy[-1], error, len(motion.events)]


# from values to a robot and its start


def case_setup(study: Study, values: Sequence[float]) -> Setup:
    """The robot and the initial state of a case."""
    settings = _settings(study, values)
    robot = _robot(study, values)
    q0, v0, torque = robot.home(), np.zeros(robot.n), np.zeros(robot.n)
    for name, array in zip(STATE, (q0, v0, torque), strict=True):
        given = study.lists.get(name)
        if given is not None:
            if len(given) != len(array):
                raise InputError(f"{name} has {counted(len(given), 'number')}; robot {robot.name!r} needs {len(array)}")
            array[:] = given
    for kind, target, value in settings:
        if kind in STATE:
            array = {"q0": q0, "v0": v0, "torque": torque}[kind]
            places = _coordinates(robot, kind)
            array[list(places.values()) if target == "*" else places[target]] = value
    return Setup(robot, q0, v0, torque, _holder(study, robot))


def _settings(study: Study, values: Sequence[float] | None) -> list[Setting]:
    """What is fixed, then (not for None) what is varied; "*" comes first, so that single joints have their own values."""
    varied = () if values is None else zip(study.variables, values, strict=True)
    settings = [*study.fixed, *((v.kind, v.target, x) for v, x in varied)]
    return sorted(settings, key=lambda setting: setting[1] != "*")


_robots: OrderedDict[Any, Robot] = OrderedDict()
_lock = Lock()


def _robot(study: Study, values: Sequence[float] | None) -> Robot:
    """The robot of a case, or (None) of the study without variations; recent ones are cached, compiled."""
    changes = tuple(setting for setting in _settings(study, values) if setting[0] not in STATE)
    key = (study.fingerprint, changes)
    with _lock:
        if key in _robots:
            _robots.move_to_end(key)
            return _robots[key]
    robot = Robot(_changed(study, changes), _checked=True)
    with _lock:
        _robots[key] = robot
        while len(_robots) > 8:
            _robots.popitem(last=False)
    return robot


def describe(study: Study, parameters: dict[str, float]) -> Description:
    """The robot's description from the bytes of its file, which are part of the study."""
    report = Report(study.robot)
    if study.robot_kind == "toml":
        description = read_toml(study.robot_data, study.robot, report, parameters)
    else:
        description = read_urdf(study.robot_data, study.robot, report)
    report.raise_errors(ModelError)
    return with_floating_base(description) if study.base == "floating" else description


def _changed(study: Study, changes: Iterable[Setting]) -> Description:
    changes = list(changes)
    d = unloaded(describe(study, {target: value for kind, target, value in changes if kind == "parameters"}))
    payloads, d.payloads = d.payloads, {}
    if "gravity" in study.lists:
        if len(study.lists["gravity"]) != 3:
            raise InputError("gravity requires three numbers, such as gravity = [0, 0, -9.81]")
        d.gravity = np.array(study.lists["gravity"])
    payload: dict[str, float] = {}
    for kind, target, value in changes:
        if kind in DRIVE_NUMBERS:
            for name in _moving(d) if target == "*" else [target]:
                setattr(d.joint(name).drive, kind, value)
        elif kind == "gravity":
            d.gravity = np.array(d.gravity)
            d.gravity[AXES.index(target)] = value
        elif kind == "mass":
            _set_mass(d, target, value)
        elif kind == "payload":
            payload[target] = value
    if payload:
        assert study.payload_frame is not None
        payloads[study.payload_frame] = _with_changes(payloads.get(study.payload_frame), payload)
    for frame, carried in payloads.items():
        load(d, frame, carried.inertia, carried.at_tip)
    examine(d, report := Report(study.robot))
    report.raise_errors(ModelError)
    return d


def _with_changes(carried: Payload | None, changes: Mapping[str, float]) -> Payload:
    """A payload with another mass, to which its tensor is scaled, or another centre of mass; a point mass if there is none."""
    before = MassProperties(0.0, np.zeros(3), np.zeros((3, 3))) if carried is None else MassProperties.of(carried.inertia)
    mass = changes.get("mass", before.mass)
    if mass < 0:
        raise InputError(f"payload.mass = {mass:g} is negative; vary it over positive values")
    com = [changes.get(axis, x) for axis, x in zip(AXES, before.com, strict=True)]
    tensor = before.tensor * (mass / before.mass) if before.mass else before.tensor
    return Payload(Inertia.about_com(mass, com, tensor), None, carried is not None and carried.at_tip)


def _set_mass(d: Description, link: str, mass: float) -> None:
    """Scale mass and inertia tensor; the centre of mass is unchanged."""
    own = d.link(link).mass_properties
    assert own is not None
    if not mass > 0:
        raise InputError(f"mass.{link} = {mass:g}: a mass must be positive; vary it over positive values")
    own.tensor = np.array(own.tensor) * (mass / own.mass)
    own.mass = mass


def _moving(d: Description) -> list[str]:
    """The joints with a drive, followers (mimic) included: their friction and rotors act on the joint that they follow."""
    return [j.name for j in d.joints if j.type != "fixed"]


def _coordinates(robot: Robot, kind: str) -> dict[str, int]:
    """{name: index} of the coordinates that can be set by name in q, v or τ; quaternions are excluded."""
    if kind == "q0":
        return {c.name: c.q_index for c in robot.model.coordinates if c.q_index is not None}
    return {name: k for k, name in enumerate(robot.coordinate_names)}


def _holder(study: Study, robot: Robot) -> Any:
    """τ = g(q) − K (q − q_hold) − D v, with g of the nominal robot, without variations."""
    if study.hold is None:
        return None
    if robot.nq != robot.n:
        raise InputError("[hold] requires joints with one coordinate each: no spherical or free joints")
    target, stiffness, damping = (
        _each(study.hold[key], robot, f"hold.{key}") for key in ("q", "stiffness", "damping")
    )  # fmt: skip
    known = _robot(study, None) if study.hold["gravity"] else None
    if known is not None and known.model.symbolic:
        raise InputError("hold.gravity requires a nominal robot: give the varied parameters a value under [parameters] too")

    def law(_t: float, q: Array, v: Array) -> Array:
        push = -stiffness * (q - target) - damping * v
        return push if known is None else push + known.gravity(q)

    return law


def _each(values: Sequence[float], robot: Robot, name: str) -> Array:
    if len(values) not in (1, robot.n):
        raise InputError(f"{name} has {counted(len(values), 'number')}; give one for all, or {robot.n}")
    return np.broadcast_to(np.array(values), robot.n).copy()


# checks of names


def check_names(study: Study) -> Iterator[tuple[str, str]]:
    """(entry, message) for every name of the study that the robot does not have."""
    entries = [(f"{kind}.{target}", kind, target) for kind, target, _ in study.fixed]
    entries += [(f"vary.{v.name}", v.kind, v.target) for v in study.variables]
    settings = _settings(study, study.values(0))
    given = {target: value for kind, target, value in settings if kind == "parameters"}
    declared = _declared(study)
    for entry, kind, target in entries:
        if kind == "parameters" and target not in declared:
            cure = "" if study.robot_kind == "toml" else "; a URDF has none: vary mass.LINK, viscous.JOINT or payload.mass"
            yield entry, f"{unknown_name('parameter of the robot', target, declared)}{cure}"
    missing = [name for name, value in declared.items() if value == "symbol" and name not in given]
    if missing:
        yield "", f"the robot has parameters without values ({', '.join(missing)}): give them under [parameters] or [vary]"
        return
    try:
        description = describe(study, given)
        robot = Robot(description, _quiet=True)
    except DynamisError as error:
        yield "robot", str(error)
        return
    solid = [
        link.name for link in unloaded(description).links if link.mass_properties is not None and link.mass_properties.mass > 0
    ]
    allowed: dict[str, list[str]] = {
        "gravity": list(AXES), "payload": ["mass", *AXES], "mass": solid, "parameters": list(declared),
        **{kind: [*_coordinates(robot, kind), "*"] for kind in STATE},
        **{key: [*_moving(description), "*"] for key in DRIVE_NUMBERS},
    }  # fmt: skip
    leaders = {j.name: j.follows.joint for j in description.joints if j.follows is not None}
    for entry, kind, target in entries:
        if kind in STATE and target in leaders:
            yield entry, f"joint {printable(target)} follows {printable(leaders[target])}: set that one, or *"
        elif target not in allowed[kind]:
            what = {"gravity": "axis", "payload": "entry of a payload", "mass": "link with mass"}.get(kind, "joint")
            yield entry, str(unknown_name(what, target, allowed[kind]))
    if any(kind == "payload" for _, kind, _ in entries):
        try:
            frame = _payload_frame(study, description, robot)
        except DynamisError as error:
            yield "payload", f"{error} with frame = … under [payload]"
            return
        if frame not in description.payloads and not any((kind, target) == ("payload", "mass") for _, kind, target in entries):
            yield "payload", "the robot has no payload there and none of mass is given: add mass = 1.0 under [payload]"


def _declared(study: Study) -> dict[str, Any]:
    if study.robot_kind != "toml":
        return {}
    try:
        found = tomllib.loads(study.robot_data.decode("utf-8-sig", errors="replace")).get("parameters", {})
    except ValueError:  # the reader of robots says what is wrong
        return {}
    return found if isinstance(found, dict) else {}


def payload_frame(study: Study) -> str | None:
    """The frame of the payload, by default that of the payload put at the tip of the robot, or the tip."""
    settings = _settings(study, study.values(0))
    if not any(kind == "payload" for kind, _, _ in settings):
        return None
    description = describe(study, {target: value for kind, target, value in settings if kind == "parameters"})
    return _payload_frame(study, description, Robot(description, _quiet=True))


def _payload_frame(study: Study, description: Description, robot: Robot) -> str:
    if study.payload_frame is None and (found := payloads_at(description, robot.model.tip, named=False)):
        if len(found) > 1:
            raise InputError(f"the robot has payloads at {' and '.join(map(printable, found))}: name one of these frames")
        return found[0]
    return robot.model.frame(study.payload_frame, "payload_frame= (frame under [payload] in a file)").name
