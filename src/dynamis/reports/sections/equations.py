"""The equations of motion in closed form where they are short enough to read, else their structure and operation counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dynamis.display import counted
from dynamis.documents.blocks import Block, Facts, Folded, Formula, Say, Section, Table, equation, literal
from dynamis.errors import DynamisError
from dynamis.reports.subject import Subject
from dynamis.symbolic.closed_form import ClosedForm

KEY, TITLE = "equations", "Equations of motion"
MATHEMATICS = True  # $…$ in its texts
COUNTED = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix", "gravity")
MAX_UNFOLDED_FORMULAS = 9
MAX_ROW_CHARACTERS = 230  # of LaTeX in the widest row of a matrix that fits a page
MAX_TERMS_PER_ENTRY = 24  # expanded
MAX_ENTRY_CHARACTERS = 900  # of LaTeX
MAX_EXPANDED_DOF = 7  # degrees of freedom
MAX_EXPANDED_TERMS = 2e4  # a limit on the size, as limits on time vary between machines
MAX_DERIVED_DOF = 3
LINE_BREAK = r" \\[0.45em] "


def build(subject: Subject, section: Section) -> None:
    n = subject.robot.n
    form = _form(subject, section)
    structure = _structure(subject, form)
    if form is not None and _readable(form):
        terms = "".join(rf" + \tau_{{\mathrm{{{name.split()[0]}}}}}" for name, _ in _joint_terms(form))
        motion = r"M(q)\,\ddot q + C(q, \dot q)\,\dot q + g(q)" + terms
        section.lead = f"The equations of motion in closed form: ${motion} = \\tau$."
        section.add(*_closed(form))
        if n <= MAX_DERIVED_DOF:
            section.add(Folded("Derivation", _derivation(form)))
    else:
        section.lead = (
            "The expanded equations of motion of this robot are too long to print. This section gives "
            + ("the structure of the inertia matrix and " if structure else "")
            + "the number of floating-point operations of the compiled functions."
        )
    section.add(*structure)
    section.add(*_costs(subject))
    closed = (
        f"given = {subject.load_given}\nform = given.closed_form()\nprint(form.M, form.C, form.g)\n"
        'form.derivation().write("derivation.html")\n'
    )
    section.reproduce = (
        f"import dynamis as dy\n\n{closed if n <= MAX_EXPANDED_DOF else ''}"
        f"{subject.load}\nprint(robot.explain('inverse_dynamics'))"
    )


def _form(subject: Subject, section: Section) -> ClosedForm | None:
    if subject.robot.n > MAX_EXPANDED_DOF:
        return None
    try:
        form = subject.given.closed_form(seconds=math.inf, terms=MAX_EXPANDED_TERMS)
    except DynamisError as error:
        section.notes.append(f"No closed form: {str(error).rstrip('.')}.")
        return None
    if not form.expanded:
        section.notes.append(f"The closed form is kept {form.status}.")
    return form


def _readable(form: ClosedForm) -> bool:
    """Whether M is expanded and short enough to print."""
    if not form.expanded or max(len(x) for x in form.M.flat) > MAX_TERMS_PER_ENTRY:
        return False
    return max(len(x.latex()) for x in form.M.flat) <= MAX_ENTRY_CHARACTERS


def _closed(form: ClosedForm) -> list[Block]:
    blocks: list[Block] = [Say("Inertia matrix"), *_matrix(r"M(q)", form.M, symmetric=True)]
    compact = form.compact
    blocks.append(
        Say(
            "Coriolis matrix from Christoffel symbols ($\\dot M - 2C$ is skew-symmetric)"
            + (f", with the abbreviation{'s' if len(compact.names) > 1 else ''}" if compact.names else "")
        )
    )
    blocks += [Formula(equation(name, x.latex())) for name, x in compact.names]
    blocks += _coriolis(compact.C)
    if any(not x.is_zero for x in form.g):
        blocks += [Say("Gravity"), *_vector("g", form.g)]
    for name, values in _joint_terms(form):
        blocks += [Say(f"{name[:1].upper()}{name[1:]}"), *_vector(r"\tau_{\mathrm{" + name.split()[0] + "}}", values)]
    return blocks


def _joint_terms(form: ClosedForm) -> list[tuple[str, Any]]:
    """The terms of friction and springs that are not zero."""
    every = [("viscous friction", form.viscous), ("Coulomb friction", form.dry), ("springs", form.spring)]
    return [(name, values) for name, values in every if any(not x.is_zero for x in values)]


def _coriolis(C: Any) -> list[Block]:
    """C where it fits the page, else entry by entry and collapsed, else its length."""
    longest = max(len(x) for x in C.flat)
    if longest > 4 * MAX_TERMS_PER_ENTRY:
        return [Say(f"The longest entry of C has {counted(longest, 'term')}; closed_form().C returns the full matrix.")]
    blocks = _matrix(r"C(q, \dot q)", C)
    return (
        blocks
        if len(blocks) <= MAX_UNFOLDED_FORMULAS
        else [Folded(f"The {counted(len(blocks), 'nonzero entry', 'nonzero entries')} of C", blocks)]
    )


def _matrix(left: str, A: Any, *, symmetric: bool = False) -> list[Block]:
    """A matrix where it fits the page, else its entries one by one, those that are zero left out."""
    texts = [[x.latex() for x in row] for row in A]
    columns = [max(len(row[j]) for row in texts) for j in range(len(texts))]
    if sum(columns) <= MAX_ROW_CHARACTERS:
        rows = LINE_BREAK.join(" & ".join(row) for row in texts)
        return [Formula(f"{left} = \\begin{{bmatrix}} {rows} \\end{{bmatrix}}")]
    letter = left.partition("(")[0]
    return [
        Formula(
            equation(
                f"{letter}_{{{i + 1}{j + 1}}}" + (f" = {letter}_{{{j + 1}{i + 1}}}" if symmetric and i != j else ""),
                texts[i][j],
            )
        )
        for i, j in np.ndindex(*A.shape)
        if texts[i][j] != "0" and not (symmetric and i > j)
    ]


def _vector(left: str, values: Any) -> list[Block]:
    texts = [x.latex() for x in values]
    if max(map(len, texts)) <= MAX_ROW_CHARACTERS:
        rows = LINE_BREAK.join(texts)
        return [Formula(f"{left} = \\begin{{bmatrix}} {rows} \\end{{bmatrix}}")]
    return [Formula(equation(f"{left}_{{{k + 1}}}", text)) for k, text in enumerate(texts) if text != "0"]


def _derivation(form: ClosedForm) -> list[Block]:
    return [Folded(part.title, part.blocks) for part in form.derivation().sections]


def _structure(subject: Subject, form: ClosedForm | None) -> list[Block]:
    """Which entries of M are zero or constant, and the number of terms of the others."""
    robot = subject.robot
    if not 1 < robot.n <= 12:
        return []
    M = robot.mass_matrix(robot.random(0, 64))
    scale = float(np.abs(M).max())
    still, zero = np.ptp(M, axis=0) < 1e-9 * scale, np.abs(M).max(axis=0) < 1e-9 * scale

    def entry(i: int, j: int) -> str:
        if zero[i, j]:
            return "0"
        if still[i, j]:
            return "constant"
        if form is not None and form.expanded:
            return counted(form.M.item(i, j).term_count, "term")
        return "varies"

    header = ("", *(str(k + 1) for k in range(robot.n)))
    names = map(literal, robot.coordinate_names)
    rows = [(name, *(entry(i, j) for j in range(robot.n))) for i, name in enumerate(names)]
    return [
        Table(
            "Structure of the inertia matrix",
            header,
            rows,
            "Varies: depends on the configuration."
            if form is None or not form.expanded
            else "Number of terms of the fully expanded entries that depend on the configuration.",
            folded=robot.n <= 3,
        )
    ]


def _costs(subject: Subject) -> list[Block]:
    robot = subject.robot
    if not robot.n:
        return []
    counts = {name: robot.cost(name) for name in COUNTED if robot.n <= 12 or name != "coriolis_matrix"}
    kinds = [k for k in next(iter(counts.values())) if k != "total"]
    shown = [
        k for k in ("add", "sub", "mul", "div", "fma", "sin", "cos", "sqrt") if any(c.get(k) for c in counts.values())
    ] or kinds
    others = {name: sum(x for k, x in c.items() if k not in (*shown, "total")) for name, c in counts.items()}
    header = ("function", *shown, "other", "total")
    rows = [
        (
            name.replace("_", " ").replace("coriolis", "Coriolis"),
            *(str(c.get(k, 0)) for k in shown),
            str(others[name]),
            str(c["total"]),
        )
        for name, c in counts.items()
    ]
    totals = {name: counted(count["total"], "operation") for name, count in counts.items() if name != "coriolis_matrix"}
    return [
        Facts([(name.replace("_", " "), total) for name, total in totals.items()]),
        Table("Floating-point operations of the compiled functions, per state", header, rows, folded=True),
    ]
