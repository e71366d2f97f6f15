"""The base parameters: the identifiable combinations of inertial parameters."""

from __future__ import annotations

import numpy as np

from dynamis.display import counted
from dynamis.documents.blocks import Facts, Section, Table
from dynamis.documents.numbers import text
from dynamis.identification.base_parameters import base_parameters
from dynamis.reports.subject import Subject

KEY, TITLE = "parameters", "Base parameters"
MAX_COMBINATION_CHARACTERS = 160  # printed


def build(subject: Subject, section: Section) -> None:
    robot = subject.robot
    base = base_parameters(robot)
    others = [what for what, end in (("springs", ".stiffness"), ("rotors", ".rotor.inertia"))
              if any(name.endswith(end) for name in base.model.names)]  # fmt: skip
    of_links = sum(not name.endswith((".stiffness", ".rotor.inertia")) for name in base.model.names)
    more = len(base.model.names) - of_links
    beside = f" and the {counted(more, 'parameter')} of {' and '.join(others)}" if others else ""
    friction = "Without friction, the" if any(np.any(x) for x in (robot.model.viscous, robot.model.coulomb)) else "The"
    section.lead = (
        f"{friction} joint torques depend on {base.rank} linear combinations of the "
        f"{counted(of_links, 'inertial parameter')} of the links{beside}. Only "
        "these base parameters can be identified from motion; all other parameters enter in combination, or have no effect."
    )
    facts = [("Base parameters", str(base.rank)), ("Inertial parameters of the links", str(of_links))]
    section.add(Facts([*facts, *([("Parameters of " + " and ".join(others), str(more))] if others else [])]))
    rows = []
    for k in range(base.rank):
        sum_ = base.expressions[k]
        shown = sum_ if len(sum_) <= MAX_COMBINATION_CHARACTERS else sum_[:MAX_COMBINATION_CHARACTERS].rsplit(" ", 1)[0] + " …"
        rows.append((base.names[k], text(float(base.prior[k])), base.model.unit(int(base.independent[k])), shown))
    header = ("leading parameter", "value", "unit", "linear combination")
    section.add(Table("Base parameters", header, rows, folded=len(rows) > 12))
    if subject.values:
        section.notes.append(
            "The coefficients are numbers, for the values of the symbols above (such as lengths of 1 m); the derivation has "
            "the combinations with symbols."
        )
    section.reproduce = (
        f"import dynamis as dy\n\n{subject.load}\nbase = dy.identification.base_parameters(robot)\n"
        "for name, value in zip(base.expressions, base.prior):\n    print(f'{value:12.5g}  {name}')"
    )
