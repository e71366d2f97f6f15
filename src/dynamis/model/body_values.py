"""Masses and moments of inertia in terms of symbols: values that make one of them negative belong to no body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynamis.errors import InputError, printable
from dynamis.model.description import Description, MassProperties
from dynamis.model.payloads import unloaded
from dynamis.scalar import Node
from dynamis.scalar.graph import topological
from dynamis.scalar.program import Program
from dynamis.tolerances import FILE_PRECISION


class BodyValues:
    """What the mass properties of a robot's links and payloads are for values of these ``symbols``."""

    def __init__(self, d: Description, symbols: Sequence[Node]) -> None:
        self.names, self.parameters = list[str](), list[str]()
        values, scales = [], []
        known = set(symbols)
        bodies = [(f"link {printable(x.name)}", x.mass_properties) for x in unloaded(d).links if x.mass_properties is not None]
        bodies += [(f"the payload at {printable(name)}", MassProperties.of(x.inertia)) for name, x in d.payloads.items()]
        for where, m in bodies:
            about_origin = m.inertia.tensor
            for name, value, scale in [
                (f"the mass of {where}", m.mass, 0.0),
                *((f"I{a}{a} of {where}", m.tensor[k, k], about_origin[k, k]) for k, a in enumerate("xyz")),
            ]:
                if isinstance(value, Node) and {x for x in topological([value, scale]) if x.op == "symbol"} <= known:
                    used = set(topological([value]))
                    self.names.append(name)
                    self.parameters.append(", ".join(str(x) for x in symbols if x in used))
                    values.append(value)
                    scales.append(scale)
        self._program = Program(symbols, [values, scales]) if values else None

    def check(self, values: Sequence[Any]) -> None:
        """Refuse values of the symbols, arrays that broadcast; those on a GPU are not examined."""
        if self._program is None or not all(isinstance(x, np.ndarray | np.generic) for x in values):
            return
        found, scale = np.moveaxis(self._program(*values), -2, 0)
        wrong = found < -FILE_PRECISION * np.abs(scale)  # those about the centre of mass are differences
        if wrong.any():
            place = np.argwhere(wrong)[0]
            of = f" in motion {' '.join(map(str, place[:-1]))}" if len(place) > 1 and found.size > len(self.names) else ""
            raise InputError(
                f"{self.names[place[-1]]} is {found[tuple(place)]:.6g}{of}, by the values of "
                f"{self.parameters[place[-1]]}: no body has a negative one, give values that make it 0 or more"
            )
