"""The names of a robot that an answer may use, and those with two meanings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from dynamis.classroom.answers import KnownNumber, Vocabulary
from dynamis.classroom.answers.vocabulary import key_of
from dynamis.classroom.checking.mistakes import all_parallel
from dynamis.classroom.checking.motion_equations import joint_names
from dynamis.classroom.checking.quantities import Quantity
from dynamis.classroom.checking.verdict import Verdict
from dynamis.errors import DynamisError, FormatError
from dynamis.scalar import Node, topological
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.notation import Notation, parameter_latex, plain_text
from dynamis.symbolic.roles import motor_roles

QUADRATIC = {  # forms of the rates: the spellings of a factor before them, the letters of the matrix, and their own letter
    "coriolis-power": (("",), ("C",), "P"),
    "kinetic-energy": (("frac12", "dfrac12", "tfrac12", "1/2", "0.5"), ("M", "B", "D", "H"), "T"),
}
MIN_TWO_DIGITS = 10  # joints from which on q_{12} may be the variable of joint 12
MAX_DOUBTFUL = 4  # names with two meanings whose combinations are tried


def vocabulary(
    form: ClosedForm,
    asked: Quantity,
    notation: Notation,
    extra: Mapping[str, Any],
    unknowns: Mapping[str, Any] | None = None,
    hidden: frozenset[str] = frozenset(),
    motors: Mapping[str, tuple[Any, ...]] | None = None,
    *,
    numbered: bool = False,
) -> Vocabulary:
    """The names allowed in an answer: the robot's parameters but ``hidden`` ones, their names in this notation, and joints'."""
    parameters = {name: x for name, x in robot_symbols(form).items() if name not in hidden}
    aliases = {}
    for name in parameters:
        written = parameter_latex(name, notation.rename)
        if written != parameter_latex(name):
            aliases[written] = name
    axes = zip(("fx", "fy", "fz", "mx", "my", "mz"), form.w, strict=True)
    wrench = {f"w_{axis}": w for axis, w in axes} if asked.has_wrench else {}
    turning = tuple(c.revolute for c in form.model.coordinates)
    return Vocabulary(
        form.q,
        form.v,
        form.a,
        turning,
        {**wrench, **parameters, **extra},
        aliases,
        unknowns or {},
        _numbers(form),
        joint_names(form),
        spellings=spellings(form, asked),
        defined=_defined(form, asked),
        gradient="g" if asked.name == "gravity" else "",
        motors=motors or {},
        quadratic=QUADRATIC.get(asked.name, ((), (), "")),
        numbered=numbered,
    )


def _defined(form: ClosedForm, asked: Quantity) -> tuple[tuple[Any, str], ...]:
    """What the robot has and the quantity is too: the gravity g beside the acceleration g, the last acceleration."""
    if asked.name == "last-acceleration":
        return ((form.a[-1], "a"),)
    symbols = robot_symbols(form)
    return tuple((symbols[name], name) for name in ("g", "G") if name in symbols) if asked.name == "gravity" else ()


def spellings(form: ClosedForm, asked: Quantity) -> dict[str, Any]:
    """Other common names: g_0, J_2 and I_{zz,2} for I_2, ω_1, q_{12} for q_1 + q_2, and p_I as in the export to SymPy.

    ω_k is left out where it can be the rate of joint k or the angular velocity of link k: after another revolute joint.
    """
    symbols = robot_symbols(form)
    found = {f"p_{name}": x for name, x in symbols.items()}
    found |= {"l" + name[3:]: x for name, x in symbols.items() if re.match(r"ell(?![A-Za-z])", name)}  # \\ell
    for name, x in symbols.items():
        letter, _, index = name.partition("_")
        if letter == "I" and (index.isdigit() or not index):
            found |= {f"J_{index}".rstrip("_"): x} if "J" not in asked.letters else {}
            written = (f"zz,{index}", f"{index},zz", f"zz{index}", f"{index}zz") if index else ("zz",)
            found |= {f"I_{{{zz}}}": x for zz in written} if form.n == 1 or all_parallel(form) else {}
        if letter == "I" and (match := re.fullmatch(r"([0-9]+)([xyz])|([xyz])([0-9]+)", index)):  # I_2x, I_x2
            axis, number = (match[2] or match[3]) * 2, match[1] or match[4]
            found |= {
                f"I_{{{both}}}": x for both in (f"{number}{axis}", f"{axis}{number}", f"{axis},{number}", f"{number},{axis}")
            }
    if "g" in symbols:
        found["g_0"] = symbols["g"]
    found |= _sums(form)
    first = next((k for k, c in enumerate(form.model.coordinates) if c.revolute), None)
    if first is not None:
        for name in (f"omega_{first + 1}", *(("omega",) if form.n == 1 else ())):
            found |= {name: form.v[first], f"{name}'": form.a[first]}
    return found


def _sums(form: ClosedForm) -> dict[str, Any]:
    """The sums of the angles of successive revolute joints and their rates: q_{12}, θ_{123}, the argument of c_{12}."""
    found: dict[str, Any] = {}
    runs = [range(i, j) for i in range(form.n) for j in range(i + 2, form.n + 1)] if form.n < MIN_TWO_DIGITS else []
    for run in runs:
        if all(form.model.coordinates[k].revolute for k in run):
            index = "_{" + "".join(str(k + 1) for k in run) + "}"
            for dots, vector in (("", form.q), ("'", form.v), ("''", form.a)):
                total = sum((vector[k] for k in run[1:]), vector[run[0]])
                found |= {f"{letter}{index}{dots}": total for letter in ("q", r"\theta")}
    return found


def robot_symbols(form: ClosedForm) -> dict[str, Any]:
    """The parameters of a robot that are symbols, by name."""
    state = {id(x) for vector in (form.q, form.v, form.a, form.tau, form.w) for x in vector} | motor_roles(form.model).keys()
    symbols = [a.node for a in form.algebra.ring.atoms if a.kind == "symbol" and a.node is not None and id(a.node) not in state]
    return {str(s.args[0]): s for s in symbols if isinstance(s, Node) and s.op == "symbol"}


def _numbers(form: ClosedForm) -> dict[str, KnownNumber]:
    """The masses and the acceleration of gravity of a robot, where they are numbers."""
    masses = [body.inertia.mass for _, body in form.model.moving]
    known = {
        k: KnownNumber(float(m), f"the mass of link {k} is a number")
        for k, m in enumerate(masses, 1)
        if not isinstance(m, Node)
    }
    numbers = {f"m_{k}": x for k, x in known.items()} | ({"m": known[1]} if len(masses) == 1 and known else {})
    if not any(isinstance(x, Node) for x in form.model.gravity):
        size = float(np.linalg.norm(np.asarray(form.model.gravity, dtype=float)))
        numbers["g"] = KnownNumber(size, "its acceleration of gravity is a number")
    return numbers


def by_joint_names(form: ClosedForm, verdict_of: Callable[[bool], tuple[Verdict, list[Any]]]) -> Verdict:
    """The verdict with joint variables read by the joints' names, or by their numbers if it is readable or right only so.

    ``verdict_of`` gives the verdict by names, or by numbers if its argument is true, and the nodes of the answer.
    """
    disputed = renumbered(form)
    if not disputed:
        return verdict_of(False)[0]
    found: dict[bool, tuple[Verdict, list[Any]]] = {}
    refused: list[DynamisError] = []
    for numbered in (False, True):
        try:
            found[numbered] = verdict_of(numbered)
        except DynamisError as error:
            refused.append(error)
    if not found:
        raise next((error for error in refused if not isinstance(error, FormatError)), refused[0])
    numbered = False not in found or (True in found and found[True][0].correct and not found[False][0].correct)
    verdict, used = found[numbered]
    if len(found) > 1 and [*map(id, used)] == [*map(id, found[not numbered][1])]:
        return verdict
    if numbered:
        said = f"joint variables are read by the joints' numbers, not by their names {', '.join(disputed)}"
    else:
        meanings = (f"{name} is that of joint {k + 1}" for name, k in disputed.items())
        said = f"joint variables are read by the joints' names: {', '.join(meanings)}"
    return replace(verdict, notes=(*verdict.notes, said))


def renumbered(form: ClosedForm) -> dict[str, int]:
    """The joints, from 0, by those names that have other numbers than they: q_0 of joint 1, theta_1 of joint 2."""
    turning = tuple(c.revolute for c in form.model.coordinates)
    found = Vocabulary(form.q, form.v, form.a, turning, robot_symbols(form), joints=joint_names(form)).renumbered
    named = [(letter, index, joint) for letter, row in found.items() for index, joint in row.items()]
    return {f"{letter}_{index}": joint for letter, index, joint in named if int(index) != joint + 1}


def abbreviated(form: ClosedForm, used: Sequence[Any]) -> dict[str, str]:
    """The parameters in an answer that have the names of sines or cosines: c_1 with cos(q_1)."""
    state = Vocabulary(form.q, form.v, form.a, tuple(c.revolute for c in form.model.coordinates), {})
    present = {id(n) for n in topological(used)}
    symbols = {name: x for name, x in robot_symbols(form).items() if id(x) in present}
    arcs = {name: state.arc(key_of(name) or "") for name in symbols}
    written = {id(q): plain_text(form.algebra.letters.variable("position", k + 1)) for k, q in enumerate(form.q)}
    return {name: f"{x.op}({_angle(x.args[0], written)})" for name, x in arcs.items() if isinstance(x, Node)}


def _angle(node: Any, written: Mapping[int, str]) -> str:
    """A sum of joint angles as text."""
    if id(node) in written:
        return written[id(node)]
    if node.op == "neg":
        return f"-{_angle(node.args[0], written)}"
    return f" {'+' if node.op == 'add' else '-'} ".join(_angle(x, written) for x in node.args)


def chosen(doubtful: Mapping[str, str]) -> Iterator[frozenset[str]]:
    """The sets of names that may have their other meaning: all of them, then fewer."""
    names = sorted(doubtful)
    sizes = range(len(names), 0, -1) if len(names) <= MAX_DOUBTFUL else (len(names), 1)
    for size in sizes:
        yield from map(frozenset, combinations(names, size))
