"""Notation: how symbols, joint variables and functions are written.

A `Notation` defines the letters of a course; a `SymbolPrinter` applies it to a robot and writes any atom of a ring.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dynamis.display import as_call, as_table
from dynamis.errors import InputError, unknown_name
from dynamis.symbolic.arrangement import Role, Style
from dynamis.symbolic.ring import Atom, Ring
from dynamis.symbolic.trig_rewriting import arc_terms

GREEK = frozenset({
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta", "iota", "kappa",
    "lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "varphi", "chi", "psi", "omega",
    "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
})  # fmt: skip
# a motor's angle, current and command: the first of these that no parameter is written as
MOTOR_LETTERS = {
    "theta": (r"\theta_{{m{}}}", r"\phi_{{m{}}}", r"\theta_{{rotor{}}}"),
    "i": ("i_{{{}}}", "i_{{a{}}}", "i_{{armature{}}}"),
    "u": ("u_{{{}}}", "u_{{c{}}}", "u_{{command{}}}"),
}
WRITTEN = {"sign": "sgn", "asin": "arcsin", "acos": "arccos"}  # operations with other names in formulas
_STATES = {"q": "position", "v": "velocity", "a": "acceleration", "tau": "torque"}
_STATE = re.compile(rf"\b({'|'.join(_STATES)})\[(\d+)\]")
_AS_SPOKEN = re.compile(r"\\mathrm|\\var|\\(?=[A-Za-z])|(?<!\\)[_{}]")  # what two spellings of one name may differ in
_OF_A_POINT = "cCGmxyz"  # index letters of centres of mass, of motors and of axes: lc2, Jm1, Ix2
_ESCAPES = {c: f"\\{c}" for c in "&%$#_{}"} | {"~": r"\sim ", "^": r"\wedge ", "\\": r"\backslash "}


@dataclass(frozen=True, repr=False)
class Notation:
    """The mathematical notation of a course.

    ``rename`` maps the letter of a parameter to a pattern: {"l": "a_C{}"} writes l_1 as a_{C1}, {"I": r"\\tilde{I}_{}"}
    writes I_1 with a tilde. ``christoffel`` gives the position of the equation index in c_ijk: "first"
    (C_ij = Σ_k c_ijk q̇_k) or "last" (C_kj = Σ_i c_ijk q̇_i). ``functions`` writes cos(q_1 + q_2) "short", c_12, or "long".
    """

    name: str = "dynamis"
    inertia: str = "M"
    entry: str = "M"
    revolute: str = "q"
    prismatic: str = "q"
    sine: str = "s"
    cosine: str = "c"
    functions: str = "short"
    kinetic: str = "T"
    potential: str = "U"
    viscous: str = "F_v"
    parameters: str = r"\pi"
    christoffel: str = "first"
    linear_jacobian: str = "J_P^{{({})}}"
    angular_jacobian: str = "J_O^{{({})}}"
    rename: Mapping[str, str] = field(default_factory=dict)
    style: Style = field(default_factory=Style)

    __repr__ = as_call
    _repr_html_ = as_table

    def christoffel_index(self, index: tuple[int, ...]) -> tuple[int, ...]:
        """The subscript of the symbol that is c[i, j, k] here, with the equation first."""
        return index if self.christoffel == "first" else (*index[1:], index[0])


NOTATIONS = {
    n.name: n
    for n in (
        Notation(),
        Notation("rocco", "B", "b", r"\vartheta", "d", linear_jacobian="J_P^{{(l_{})}}", angular_jacobian="J_O^{{(l_{})}}"),
        Notation("deluca", "B", "b", functions="long", style=Style(links="inertia first")),
        Notation(
            "melchiorri", "M", "M", r"\theta", "d", "S", "C", kinetic="K", potential="P", viscous="D", parameters=r"\alpha",
            christoffel="last", linear_jacobian=r"J_v^{{{}}}", angular_jacobian=r"J_\omega^{{{}}}",
            rename={"l": "a_C{}", "I": r"\tilde{I}_{}"}, style=Style(links="masses first"),
        ),
        Notation(
            "tzafestas", "D", "D", kinetic="K", potential="P", linear_jacobian="J_L^{{({})}}",
            angular_jacobian="J_A^{{({})}}", rename={"a": "l_{}", "l": "l_c{}"},
            style=Style(links="inertia first", gravity="link"),
        ),
    )
}  # fmt: skip


def notation_of(choice: str | Notation | None) -> Notation:
    """A notation by its name: dynamis, rocco, deluca, melchiorri or tzafestas."""
    if isinstance(choice, Notation):
        return choice
    if choice is None:
        return NOTATIONS["dynamis"]
    if not isinstance(choice, str) or choice not in NOTATIONS:
        raise unknown_name("notation", choice, NOTATIONS)
    return NOTATIONS[choice]


@dataclass(frozen=True)
class SymbolPrinter:
    """The names of one robot in one notation."""

    notation: Notation
    roles: Mapping[int, Role]
    turning: tuple[bool, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    motors: Mapping[str, str] = field(default_factory=dict)
    parameters: frozenset[str] = frozenset()  # their names

    def __post_init__(self) -> None:
        kinds = ("position", "velocity", "acceleration", "torque")
        variables = {self.variable(kind, k + 1) for kind in kinds for k in range(len(self.turning))}
        for name in sorted(self.parameters):
            if parameter_latex(name, self.notation.rename) in variables:
                raise InputError(f"the parameter {name!r} has the name of a joint variable or torque; rename it in the file")
        spoken: dict[str, str] = {}
        for name in sorted(self.parameters):
            written = parameter_latex(name, self.notation.rename)
            other = spoken.setdefault(_AS_SPOKEN.sub("", written.replace(r"\ell", "l")), name)
            if other != name:
                raise InputError(
                    f"the parameters {other!r} and {name!r} cannot be told apart in formulas, where {name!r} is written as "
                    f"{written}; rename one of them in the file"
                )

    @functools.cached_property
    def abbreviates(self) -> bool:
        """Whether c_1 can stand for cos(q_1): it cannot where a parameter has such a name."""
        n = self.notation
        short = re.compile(rf"({re.escape(n.sine)}|{re.escape(n.cosine)})_(\d|{{[\d,+-]+}})")
        return n.functions == "short" and not any(short.fullmatch(parameter_latex(x, n.rename)) for x in self.parameters)

    def is_free(self, letter: str) -> bool:
        """Whether no parameter is written with this letter, in LaTeX, alone or with an index."""
        taken = [parameter_latex(name, self.notation.rename) for name in self.parameters]
        return not any(name == letter or name.startswith(f"{letter}_") for name in taken)

    def with_notation(self, choice: str | Notation | None) -> SymbolPrinter:
        return self if choice is None else replace(self, notation=notation_of(choice))

    def latex(self, ring: Ring, atom: Atom) -> str:
        """An atom in LaTeX."""
        if atom.kind in ("sine", "cosine"):
            return self._arc(ring, atom, latex=True)
        if atom.kind == "name":
            return self.names.get(atom.name, atom.name)
        if atom.kind == "opaque":
            return self._opaque(atom)
        return self.symbol(atom.node)

    def text(self, ring: Ring, atom: Atom) -> str:
        """An atom in plain text."""
        if atom.kind in ("sine", "cosine"):
            return self._arc(ring, atom, latex=False)
        return plain_text(self.latex(ring, atom))

    def symbol(self, node: Any) -> str:
        """A symbol in LaTeX: a state variable by its number, a parameter by its renamed letter."""
        role = self.roles.get(id(node))
        motor = re.fullmatch(r"(theta|i|u)('*)\[(\d+)\]", str(node.args[0])) if node.op == "symbol" else None
        if motor is not None and motor[1] in self.motors:
            return self._motor_variable(motor[1], len(motor[2]), motor[3])
        if role is not None and role.kind in ("position", "velocity", "acceleration", "torque"):
            return self.variable(role.kind, role.number)
        if node.op == "mul" and all(getattr(a, "op", "symbol") == "symbol" for a in node.args):  # inside a sine: 1.2 q_1
            return " ".join(self.symbol(a) if hasattr(a, "op") else f"{a:g}" for a in node.args)
        if node.op != "symbol":
            return self._argument(node)
        name = str(node.args[0])
        component = re.fullmatch(r"w\[([a-z]+)\]", name)  # of the external wrench
        return f"w_{{{component[1]}}}" if component else parameter_latex(name, self.notation.rename)

    def _motor_variable(self, letter: str, dots: int, number: str) -> str:
        head, index = self.motors[letter].format(number if len(self.turning) > 1 else "").split("_", 1)
        index = index.strip("{}")
        # a dotted i loses its own dot
        head = ("{}", r"\dot{{{}}}", r"\ddot{{{}}}")[dots].format(r"\imath" if dots and head == "i" else head)
        return _indexed(head, index)

    def variable(self, kind: str, number: int) -> str:
        """q_i, its rate, its acceleration or its torque, in LaTeX; without index where there is only one."""
        index = f"_{{{number}}}" if number > 9 else f"_{number}"
        index = "" if len(self.turning) == 1 else index
        if kind == "torque":
            letter = r"\tau" if self.turning[number - 1] or self.notation.prismatic == self.notation.revolute else "f"
            return letter + index
        letter = self.notation.revolute if self.turning[number - 1] else self.notation.prismatic
        dots = {"position": "{}", "velocity": r"\dot{{{}}}", "acceleration": r"\ddot{{{}}}"}[kind]
        return dots.format(letter) + index

    def _opaque(self, atom: Atom) -> str:
        node = atom.node
        assert node is not None
        inner = ", ".join(self.symbol(a) if getattr(a, "op", "") == "symbol" else self._argument(a) for a in node.args)
        return rf"\operatorname{{{WRITTEN.get(node.op, node.op)}}}({inner})"

    def _argument(self, x: Any) -> str:
        """An expression as the argument of a function."""
        operations = re.sub(r"[a-z]\w*(?=\()", lambda m: WRITTEN.get(m[0], m[0]), str(x))
        return _STATE.sub(lambda m: self.variable(_STATES[m[1]], int(m[2])), _escaped(operations))

    def _arc(self, ring: Ring, atom: Atom, *, latex: bool) -> str:
        return self.turned(atom.kind, arc_terms(ring, atom.start, atom.end), latex=latex)

    def turned(self, kind: str, path: Sequence[tuple[Any, int, int]], *, latex: bool = True) -> str:
        """The sine or cosine of Σ sign · unit / denominator, short where all are joint variables: c_{12}."""
        roles = [self.roles.get(id(unit)) for unit, _, _ in path]
        numbers = [r.number for r in roles if r is not None and r.kind == "position"]
        whole = all(d == 1 for _, _, d in path)
        n = self.notation
        if self.abbreviates and len(self.turning) > 1 and len(numbers) == len(path) and whole:
            letter = n.sine if kind == "sine" else n.cosine
            plus = "+" if any(s < 0 for _, s, _ in path) else ""
            signs = ["", *(plus if s > 0 else "-" for _, s, _ in path[1:])]
            # where there is a joint 12, c_{12} is its cosine, and that of the sum of the first two is c_{1,2}
            comma = "," if len(self.turning) > 9 and not plus else ""
            index = comma.join(f"{s}{k}" for s, k in zip(signs, numbers, strict=True))
            if not latex:
                return f"{letter}{index}" if index.isdigit() else f"{letter}[{index}]"
            return f"{letter}_{{{index}}}" if len(index) > 1 else f"{letter}_{index}"
        parts = [self._turn(unit, denominator, latex) for unit, _, denominator in path]
        inner = parts[0] + "".join((" + " if s > 0 else " - ") + p for p, (_, s, _) in zip(parts[1:], path[1:], strict=True))
        name = ("\\" if latex else "") + ("sin" if kind == "sine" else "cos")
        if latex and len(path) == 1 and path[0][2] == 1:
            return rf"{name} {inner}"
        return f"{name}({inner})"

    def _turn(self, unit: Any, denominator: int, latex: bool) -> str:
        written = self.symbol(unit)
        written = written if latex else plain_text(written)
        return (
            written if denominator == 1 else rf"\tfrac{{{written}}}{{{denominator}}}" if latex else f"{written}/{denominator}"
        )


def parameter_latex(name: str, rename: Mapping[str, str] | None = None) -> str:
    r"""A parameter's name in LaTeX: its letter, and the rest as an index.

    >>> parameter_latex("a_C1"), parameter_latex("lc2"), parameter_latex("alpha_1"), parameter_latex("50%_load")
    ('a_{C1}', 'l_{c2}', '\\alpha_1', '\\mathrm{50\\%\\_load}')
    >>> parameter_latex("m_hat"), parameter_latex("I_xx"), parameter_latex("ell_1")
    ('m_{\\mathrm{hat}}', 'I_{xx}', '\\ell_1')
    >>> parameter_latex("th0"), parameter_latex("ab1"), parameter_latex("theta0")
    ('\\mathrm{th}_0', '\\mathrm{ab}_1', '\\theta_0')
    """
    match = re.fullmatch(r"([A-Za-z]+?)_?([A-Za-z]?[0-9]*|[A-Za-z0-9]+|_[A-Za-z0-9]+)", name)
    parts = re.fullmatch(r"([A-Za-z]+)(?:_([A-Za-z0-9]+)|([0-9]+))?", name)
    if parts is None or match is None:
        return rf"\mathrm{{{_escaped(name)}}}"
    letter, index = parts[1], parts[2] or parts[3] or ""
    pattern = (rename or {}).get(letter)
    if pattern is not None and index:
        head, _, tail = pattern.partition("_")
        return _indexed(head, tail.format(index) if "{}" in tail else tail + index)
    if len(letter) == 2 and parts[3] and letter not in GREEK and letter[1] in _OF_A_POINT:  # lc2 is l_{c2}
        letter, index = letter[0], letter[1] + index
    if letter in GREEK or letter == "ell":
        letter = f"\\{letter}"
    elif len(letter) > 1:
        letter = rf"\mathrm{{{letter}}}"
    return _indexed(letter, index)


def _indexed(letter: str, index: str) -> str:
    if not index:
        return letter
    if re.match(r"[A-Za-z]{3}", index):  # a word, which is upright; two letters are two indices, as in I_{xx}
        return rf"{letter}_{{\mathrm{{{index}}}}}"
    return f"{letter}_{index}" if len(index) == 1 else f"{letter}_{{{index}}}"


def _escaped(name: str) -> str:
    visible = "".join(c if c.isprintable() else "?" for c in name)
    return "".join(_ESCAPES.get(c, c) for c in visible)


def plain_text(latex: str) -> str:
    """LaTeX of a symbol as plain text: q_1, q_1', q_1\'\', sgn(q_1'), Ĩ_1 as I~_1."""
    text = re.sub(r"\\ddot\{([^{}]*)\}(_\w|_\{\w+\})?", r"\1\2''", latex.replace(r"\imath", "i"))
    text = re.sub(r"\\dot\{([^{}]*)\}(_\w|_\{\w+\})?", r"\1\2'", text)
    text = re.sub(r"\\tilde\{([^{}]*)\}", r"\1~", text)
    text = re.sub(r"\\(?:mathrm|operatorname)\{((?:[^{}\\]|\\.)*)\}", r"\1", text)
    text = re.sub(r"_\{([^{}]*)\}", r"_\1", text)
    return re.sub(r"\\([A-Za-z]+)", r"\1", text).replace("\\", "").replace("vartheta", "theta")
