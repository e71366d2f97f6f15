"""Payloads of a description: bodies that links carry, which are part of their mass properties and can be taken off again."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from dynamis.model.description import Description, Link, MassProperties, Payload
from dynamis.model.diagnostics import Report
from dynamis.model.plausibility import check_inertias
from dynamis.scalar import Node
from dynamis.spatial.inertia import Inertia
from dynamis.tolerances import FILE_PRECISION


def load(d: Description, frame: str, payload: Inertia, at_tip: bool) -> None:
    """Let a link carry a body, given in the link's frame."""
    d.payloads[frame] = Payload(payload, d.link(frame).mass_properties, at_tip)
    d.attach_payload(payload, frame)


def payloads_at(d: Description, frame: str | None, named: bool) -> list[str]:
    """The frames whose payload another one at ``frame`` replaces: that frame, or what was put at the tip without naming one."""
    if frame in d.payloads or named:
        return [frame] if frame is not None and frame in d.payloads else []
    return [name for name, carried in d.payloads.items() if carried.at_tip]


def unloaded(description: Description) -> Description:
    """A copy whose links are without what they carry; its ``payloads`` say what that is.

    A link whose mass properties were changed since it was loaded keeps its payload as a part of it.
    """
    result = description.copy()
    for name, carried in description.payloads.items():
        link = result.link(name)
        whole = MassProperties.of(carried.inertia if carried.own is None else carried.own.inertia + carried.inertia)
        if link.mass_properties is not None and _same(link.mass_properties, whole):
            link.mass_properties = result.payloads[name].own
        else:
            del result.payloads[name]
    return result


def _same(one: MassProperties, other: MassProperties) -> bool:
    pairs = zip(_numbers(one), _numbers(other), strict=True)
    return all(
        x is y if isinstance(x, Node) or isinstance(y, Node) else np.isclose(x, y, FILE_PRECISION, FILE_PRECISION**2)
        for x, y in pairs
    )


def _numbers(m: MassProperties) -> list[Any]:
    return [m.mass, *m.com, *m.tensor.flat]


def check_bodies(bodies: Mapping[str, Inertia], report: Report, line: int | None = None) -> None:
    """Add a warning for each inertia that no body has; the keys say where it is."""
    for where, inertia in bodies.items():
        found = Report(report.source, by_hand=line is None)
        if not isinstance(inertia.mass, Node) and inertia.mass < 0.0:
            found.warn("negative-mass", where, f"the mass is {inertia.mass:g} kg", "0 or more", "give the true mass",
                       "used as written", line)  # fmt: skip
        check_inertias([Link("", dataclasses.replace(MassProperties.of(inertia), line=line))], found)
        report.problems += [dataclasses.replace(problem, where=where) for problem in found]
