"""Writing identified parameters to a robot and its file, verified by loading the file."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import regressor
from dynamis.display import as_table, counted, short
from dynamis.errors import ConversionError, InputError, ModelWarning, printable
from dynamis.files.paths import path_of
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.linear_model import LinearModel
from dynamis.model.actuators import Elastic
from dynamis.model.description import Description, Joint, Link, MassProperties
from dynamis.model.model import Model
from dynamis.model.writers.losses import extensions
from dynamis.robot import Robot, load
from dynamis.spatial import Inertia
from dynamis.spatial.inertia import seen_from
from dynamis.spatial.pose import Pose

Array = npt.NDArray[Any]

STATES = 32


@dataclass(frozen=True, eq=False, repr=False)
class Edited:
    """A robot with new parameters, and notes on those it could not represent or where they were stored."""

    robot: Robot
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Edited {self.robot!r}: {counted(len(self.notes), 'note')}>"

    _repr_html_ = as_table


@dataclass(frozen=True, eq=False, repr=False)
class Written:
    """A written file, its robot, notes, and the error of its torques.

    ``difference`` is the largest error over random states, relative to each joint's largest torque; ``held_out`` the residual
    of an identified robot on held-out motion, in percent.
    """

    path: Path
    robot: Robot
    notes: tuple[str, ...]
    difference: float
    held_out: float | None = None

    def __repr__(self) -> str:
        return short(
            f"<Written {printable(self.path.name)} of {printable(self.robot.name)}: "
            f"torques within {100.0 * self.difference:.2g} %>"
        )

    _repr_html_ = as_table


def edit(robot: Robot, model: LinearModel, parameters: Any) -> Edited:
    """Return a new robot whose torques are ``model.regressor(q, v, a) @ parameters``, and notes.

    A moving body may consist of several links of the file, joined by fixed joints. Fixed links are unchanged and the moving
    link takes the difference, unless it would be physically inconsistent: then it takes everything. Friction and springs of
    mimic joints are treated alike. Terms not in the model (such as rotors) become zero in the new robot. Offsets are stored
    as Coulomb bias, which is equivalent while the joint moves.

    >>> import dynamis as dy
    >>> robot = dy.load("ur5e")
    >>> model = dy.identification.LinearModel(robot)
    >>> heavier = edit(robot, model, 1.1 * model.prior).robot
    >>> round(float(heavier.mass - heavier.model.base.mass), 3)  # of what moves
    19.47
    """
    values = np.asarray(parameters, dtype=float)
    if values.shape != (len(model.names),) or not np.isfinite(values).all():
        raise InputError(
            f"parameters takes {counted(len(model.names), 'finite value')}, one per parameter; got shape {values.shape}"
        )
    if robot.coordinate_names != model.robot.coordinate_names or robot.link_names != model.robot.link_names:
        raise InputError(f"the model belongs to another robot than {printable(robot.name)}: their joints or links differ")
    description = robot.description
    notes: list[str] = []
    set_inertias(description, robot.model, model, values, notes)
    set_drives(description, robot.model, model, values, notes)
    return Edited(Robot(description, _quiet=True), tuple(notes))


def write(robot: Robot, path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Write a robot as .urdf or .toml, and return notes on extensions of the URDF that only Dynamis reads."""
    target = path_of(path)
    if target.suffix not in (".urdf", ".toml"):
        raise InputError(
            f"{printable(target.name)}: identified robots are written as .urdf or .toml, which hold all parameters; other "
            f"formats by dynamis.load('{target.stem}.toml').write({target.name!r})"
        )
    robot.write(target)
    return _unread(robot.description, target.name) if target.suffix == ".urdf" else ()


def write_identified(base: BaseParameters, full: Array, coef: Array, path: str | os.PathLike[str]) -> Written:
    """Write the robot with all parameters ``full`` to a file, and verify its torques with the base parameters ``coef``."""
    edited = edit(base.model.robot, base.model, full)
    notes = (*edited.notes, *write(edited.robot, path))
    return Written(Path(path), edited.robot, notes, prove_round_trip(path, base, coef))


def prove_round_trip(path: str | os.PathLike[str], base: BaseParameters, coef: Any) -> float:
    """Return the largest torque error of a file with respect to base parameters, over random states and joints, relative to
    the joint's largest torque. It is about 1e-15 if the file represents all identified terms."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        there = load(path)
    robot = base.model.robot
    if there.coordinate_names != robot.coordinate_names:
        raise InputError(f"{printable(str(path))} has other joints than robot {printable(robot.name)}, or in another order")
    rng = np.random.default_rng(0)
    q, (v, a) = robot.random(rng, size=STATES), rng.normal(size=(2, STATES, robot.n))
    # files cannot hold presliding friction, nor temperatures: compared at zero presliding and the reference temperature
    wanted = base.regressor(q, v, a, np.zeros((STATES, base.model.state_size))) @ np.asarray(coef, dtype=float)
    # not compiled: used once, and the uncompiled algorithm is the reference
    found = np.array([regressor.regressor(there.model, *state) @ there.parameters for state in zip(q, v, a, strict=True)])
    size = np.maximum(np.abs(wanted).max(axis=0), 1e-6 * np.abs(wanted).max())
    return float((np.abs(found - wanted).max(axis=0) / np.maximum(size, 1e-300)).max())


def _unread(description: Description, file: str) -> tuple[str, ...]:
    if not (found := extensions(description)):
        return ()
    what = "; ".join(found)
    return (f"{printable(file)}: URDF cannot represent {what}, which <dynamis> elements store and other tools ignore",)


ROUNDING = 1e-9  # relative tolerance for the consistency of the difference of two bodies


def set_inertias(description: Description, model: Model, linear: LinearModel, values: Array, notes: list[str]) -> None:
    """Set the inertias of the links of a description from the bodies of a model."""
    links = {link.name: link for link in description.links}
    for (i, body), (name, place) in zip(regressor.links(model), linear.bodies, strict=True):
        target = values[place]
        here = [frame for frame in model.frames.values() if frame.body == i]
        fixed = [(links[f.name], f.pose) for f in here if f.name != name and links[f.name].mass_properties is not None]
        _set_inertia(links[name], model.frames[name].pose, fixed, target, notes)
        if not Inertia.from_parameters(target).is_consistent(1e-10):
            notes.append(f"link {printable(body.name)} is physically inconsistent in the file: simulations may fail")


def _set_inertia(link: Link, pose: Pose, fixed: list[tuple[Link, Pose]], target: Array, notes: list[str]) -> None:
    """Set a link's inertia to that of its body minus the links fixed to it."""
    seen = (seen_from(link.mass_properties.inertia, there) for link, there in fixed if link.mass_properties is not None)
    rest = target - sum((inertia.parameters for inertia in seen), start=np.zeros(10))
    if fixed and Inertia.from_parameters(target).is_consistent(1e-10) and not _is_body(rest, target):
        names = ", ".join(printable(other.name) for other, _ in fixed)
        notes.append(f"link {printable(link.name)} now includes {names}, fixed to it, to be physically consistent")
        for other, _ in fixed:
            other.mass_properties = None
        rest = target
    if not np.any(np.abs(rest) > 1e-15 * np.abs(target).max(initial=0.0)):
        link.mass_properties = None
        return
    inertia = Inertia.from_parameters(rest)
    link.mass_properties = MassProperties.of(inertia if pose.is_identity() else seen_from(inertia, pose.inverse()))


def _is_body(rest: Array, whole: Array) -> bool:
    """Return whether the difference is physically consistent, or rounding only."""
    return Inertia.from_parameters(rest).is_consistent(ROUNDING) or bool(np.abs(rest).max() <= 1e-12 * np.abs(whole).max())


HELD = ("viscous", "coulomb", "coulomb_bias", "rotor", "stiffness")
NOTHING = 1e-12


def set_drives(description: Description, model: Model, linear: LinearModel, values: Array, notes: list[str]) -> None:
    """Set friction, rotors and springs of the joints of a description from a model."""
    named = dict(zip(linear.names, values.tolist(), strict=True))
    riding = {body.name.rpartition(".")[0]: named[f"{body.name}.inertia"] for _, body in regressor.rotors(model)}
    places: dict[str, list[int]] = {}
    for k in linear.driven:
        places.setdefault(model.coordinates[k].joint, []).append(k)
    shifted = []
    for name, own in places.items():
        wanted = {term: _alike(model, linear, named, own, term, notes) for term in HELD}
        shift = [named.get(f"{model.coordinates[k].name}.offset", 0.0) for k in own]
        if any(shift):
            wanted["coulomb_bias"] += _single(shift, name, "offset")
            shifted.append(printable(name))
        _set_drive(description, description.joint(name), model, own[0], wanted, riding.get(name), notes)
    if shifted:
        notes.append(f"offsets of {', '.join(shifted)} are stored as Coulomb bias: they have no effect at rest")
    for name, inertia in riding.items():
        description.joint(name).drive.rotor_inertia = inertia
    _say_what_is_lost(linear, named, notes)


def _alike(model: Model, linear: LinearModel, named: dict[str, float], own: list[int], term: str, notes: list[str]) -> float:
    """Return a term of a joint, equal for all its coordinates; zero if it is not in the model."""
    joint = model.coordinates[own[0]].joint
    if term not in linear.terms:
        if np.any(np.abs(getattr(model, term)[own]) > 0.0):
            notes.append(f"the {term.replace('_', ' ')} of joint {printable(joint)} was not identified and is set to zero")
        return 0.0
    # a rotor mounted on a link is a parameter of the rotor, not of its joint
    return _single([named.get(f"{model.coordinates[k].name}.{term}", 0.0) for k in own], joint, term)


def _single(values: list[float], joint: str, term: str) -> float:
    if np.ptp(values) > 1e-9 * max(map(abs, values)):
        raise ConversionError(
            f"joint {printable(joint)} has one {term.replace('_', ' ')} for all its axes, but {values} was identified; "
            "model it as several joints with one axis each"
        )
    return float(np.mean(values))


def _set_drive(
    description: Description,
    joint: Joint,
    model: Model,
    k: int,
    wanted: dict[str, float],
    riding: float | None,
    notes: list[str],
) -> None:
    followers = _followers(description, joint.name)
    for term in ("viscous", "coulomb", "coulomb_bias", "rotor"):
        if term == "rotor" and (riding is not None or isinstance(model.actuators[k], Elastic)):
            if abs(wanted[term]) > NOTHING:
                raise ConversionError(
                    f"the rotor of joint {printable(joint.name)} is a separate body, so it has no reflected inertia: fit with "
                    "LinearModel(rotor=False), or replace(rotors='reflected') first"
                )
            continue
        others = sum((_felt(term, ratio) * _value(f, term) for f, ratio in followers), start=0.0)
        if others and term != "coulomb_bias" and wanted[term] < others:
            notes.append(f"joint {printable(joint.name)} now includes the {term} of its mimic joints")
            for f, _ in followers:
                _assign(f, term, 0.0)
            others = 0.0
        _assign(joint, term, wanted[term] - others)
    if wanted["stiffness"] != float(model.stiffness[k]):
        for f, _ in followers:
            f.drive.stiffness = 0.0
        joint.drive.stiffness, joint.drive.rest = wanted["stiffness"], float(model.rest[k])


def _felt(term: str, ratio: float) -> float:
    """Return the contribution of a mimic joint with this ratio to the coordinate of its leader."""
    return {"coulomb": abs(ratio), "coulomb_bias": ratio}.get(term, ratio**2)


def _value(joint: Joint, term: str) -> float:
    drive = joint.drive
    return float(drive.rotor_inertia * drive.gear_ratio**2 if term == "rotor" else getattr(drive, term))


def _assign(joint: Joint, term: str, value: float) -> None:
    if term == "rotor":
        joint.drive.rotor_inertia = value / joint.drive.gear_ratio**2
    else:
        setattr(joint.drive, term, value)


def _followers(description: Description, leader: str) -> list[tuple[Joint, float]]:
    """Return the joints that mimic this one, directly or through others, with their ratios."""
    found, heads = [], [(leader, 1.0)]
    while heads:
        name, ratio = heads.pop()
        for joint in description.joints:
            if joint.mimic is not None and joint.mimic.joint == name and joint.type != "fixed":
                found.append((joint, ratio * joint.mimic.ratio))
                heads.append((joint.name, ratio * joint.mimic.ratio))
    return found


def representable(linear: LinearModel) -> LinearModel:
    """Return the model with only the terms that a description can represent, or the same one if it has no others."""
    if not unrepresented(linear):
        return linear
    own = (f"{linear.robot.coordinate_names[k]}.{term}" for k, term in linear.own_friction if term in HELD)
    friction = tuple(dict.fromkeys(("viscous", "coulomb", *(term for term in linear.friction if term in HELD), *own)))
    plain: dict[str, Any] = {
        "smooth": None,
        "stribeck_speed": None,
        "reference_temperature": None,
        "presliding": None,
        "balancer": (),
        "couplings": (),
        "columns": (),
    }
    return LinearModel(linear.robot, **{**linear.settings, **plain, "friction": friction})


def unrepresented(linear: LinearModel) -> list[str]:
    """Return the terms of a model that a description cannot represent, in words."""
    found = []
    for k in np.flatnonzero(~_held(linear)):
        owner, kind = linear.owner[k], linear.kind[k]
        words = f"the coupling of {owner}" if linear.is_shared[k] else f"{kind} friction" if owner else printable(kind)
        found.append(f"the balancer of {owner}" if kind.startswith("balancer") else words)
    if linear.smooth is not None and "coulomb" in linear.terms:
        found.append(f"tanh(v / {linear.smooth:g})")
    return list(dict.fromkeys(found))


def _held(linear: LinearModel) -> Array:
    """Return a mask (p,) of the parameters that a description can represent."""
    kept = {*HELD, "offset", "inertia"}
    own = [inertial or (kind in kept and bool(owner)) for inertial, kind, owner in zip(
        linear.is_inertial, linear.kind, linear.owner, strict=True)]  # fmt: skip
    return np.array(own, bool) & ~linear.is_shared


def _say_what_is_lost(linear: LinearModel, named: dict[str, float], notes: list[str]) -> None:
    kept = _held(linear)
    lost = [printable(name) for name, held in zip(linear.names, kept, strict=True) if not held and named[name] != 0.0]
    if lost:
        notes.append(f"a robot description cannot represent {', '.join(lost)}: omitted")
    if linear.smooth is not None and "coulomb" in linear.terms:
        notes.append(f"Coulomb friction was identified as tanh(v / {linear.smooth:g}); the description uses sign(v)")
