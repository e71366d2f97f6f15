"""The parameters that motions can tell apart."""

from __future__ import annotations

from dynamis.identification.base_parameters import base_parameters
from dynamis.report.numbers import text
from dynamis.report.section import Budget, Facts, Section, Table
from dynamis.report.subject import Subject

KEY, TITLE = "parameters", "Base parameters"
SHORT = 160  # characters of a sum that are printed


def build(subject: Subject, section: Section, budget: Budget) -> None:
    robot = subject.robot
    budget.check("the base parameters")
    base = base_parameters(robot)
    total = len(base.model.names)
    section.lead = (
        f"Of the {total} inertial parameters of the links, torques depend on {base.rank} sums; only these can be identified "
        "from motions. The others move into them, or have no effect at all."
    )
    section.add(Facts([("Base parameters", str(base.rank)), ("Inertial parameters", str(total))]))
    rows = []
    for k in range(base.rank):
        sum_ = base.expressions[k]
        shown = sum_ if len(sum_) <= SHORT else sum_[:SHORT].rsplit(" ", 1)[0] + " …"
        rows.append((base.names[k], text(float(base.prior[k])), base.model.unit(int(base.independent[k])), shown))
    section.add(Table("Base parameters", ("named after", "value", "unit", "sum of parameters"), rows, folded=len(rows) > 12))
    section.reproduce = (
        f"import dynamis as dy\n\n{subject.load}\nbase = dy.identification.base_parameters(robot)\n"
        "for name, value in zip(base.expressions, base.prior):\n    print(f'{value:12.5g}  {name}')"
    )
