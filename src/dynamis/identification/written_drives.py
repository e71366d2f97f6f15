"""Writing friction, rotor inertias and springs to the joints of a description."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import regressor
from dynamis.errors import ConversionError, printable
from dynamis.identification.linear_model import LinearModel
from dynamis.model.actuators import Elastic
from dynamis.model.description import Description, Joint
from dynamis.model.model import Model

Array = npt.NDArray[Any]

HELD = ("viscous", "coulomb", "coulomb_bias", "rotor", "stiffness")
NOTHING = 1e-12


def set_drives(
    description: Description, model: Model, linear: LinearModel, values: Array, notes: list[str], offsets: str
) -> None:
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
        if offsets == "coulomb_bias" and any(shift):
            wanted["coulomb_bias"] += _single(shift, name, "offset")
            shifted.append(printable(name))
        _set(description, description.joint(name), model, own[0], wanted, riding.get(name), notes)
    if shifted:
        notes.append(f"offsets of {', '.join(shifted)} are stored as Coulomb bias: they have no effect at rest")
    for name, inertia in riding.items():
        description.joint(name).drive.rotor_inertia = inertia
    _say_what_is_lost(linear, named, offsets, notes)


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


def _set(
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


def _say_what_is_lost(linear: LinearModel, named: dict[str, float], offsets: str, notes: list[str]) -> None:
    kept = {*HELD, "inertia", *(["offset"] if offsets == "coulomb_bias" else [])}
    lost = [
        printable(name)
        for name, kind, owner, inertial, shared in zip(
            linear.names, linear.kind, linear.owner, linear.is_inertial, linear.is_shared, strict=True
        )
        if not inertial and named[name] != 0.0 and (kind not in kept or shared or not owner)
    ]
    if lost:
        notes.append(f"a robot description cannot represent {', '.join(lost)}: omitted")
    if linear.smooth is not None and "coulomb" in linear.terms:
        notes.append(f"Coulomb friction was identified as tanh(v / {linear.smooth:g}); the description uses sign(v)")
