"""The quantities of a robot that can be checked, by name, with their letters and correct entries."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dynamis.algorithms.articulated_body import articulated_inertias
from dynamis.errors import InputError, unknown_name
from dynamis.symbolic.derivation.recursion_steps import newton_euler_quantities
from dynamis.symbolic.expression import Expression
from dynamis.symbolic.formulas import Formulas
from dynamis.symbolic.notation import Notation

if TYPE_CHECKING:
    from dynamis.symbolic.closed_form import ClosedForm

Entries = Mapping[tuple[int, ...], Expression]


@dataclass(frozen=True)
class Quantity:
    """A quantity to check: its ``letters``, and ``entries`` with indices from 0; () for a scalar."""

    name: str
    letters: tuple[str, ...]
    entries: Entries
    symmetric: bool = False
    number: int | None = None

    @property
    def has_datum(self) -> bool:
        """Whether the quantity is defined up to a constant only."""
        return self.name.startswith("potential-energy")

    @property
    def has_wrench(self) -> bool:
        """Whether it depends on an external wrench on the link."""
        return self.name.startswith("bias-wrench")

    def component(self, name: str) -> tuple[int, ...] | None:
        """The index of a component of a force or a moment by its axis: mu_z, f_{2,x}."""
        if not self.name.startswith(("force", "moment")) or self.number is None:
            return None
        match = re.fullmatch(rf"(?:{'|'.join(self.letters)})(?:{self.number},?)?([xyz])(?:,?{self.number})?", name)
        return ("xyz".index(match[1]),) if match else None

    @property
    def inertial(self) -> bool:
        """Whether it consists of masses and moments of inertia times squared lengths and rates."""
        return self.name == "mass-matrix" or self.name.startswith("kinetic-energy")


def quantity(form: ClosedForm, name: str, body: int | None = None) -> Quantity:
    """A quantity by its name or a common one (`canonical`); those of one link take its number ``body``, from 1."""
    if not isinstance(name, str):
        raise InputError(f"a quantity is given by its name, such as 'gravity', got {type(name).__name__}")
    given, name = name, canonical(name)
    if name in _OF_ROBOT:
        if body is not None:
            of_link = f"; quantities of one link are {', '.join(_OF_BODY)}"
            raise InputError(f"{name} concerns the whole robot, not a link: leave out --link or body={of_link}")
        letters, make, symmetric = _OF_ROBOT[name]
        return Quantity(name, letters, _entries(make(form)), symmetric)
    if name in _OF_BODY:
        if not isinstance(body, int | np.integer) or not 1 <= body <= len(form.model.moving):
            links = len(form.model.moving)
            raise InputError(f"{name} refers to one link: give its number, from 1 to {links}, by --link or body=")
        letters, of_body, symmetric = _OF_BODY[name]
        return Quantity(f"{name} of link {body}", letters, _entries(of_body(form, body)), symmetric, body)
    raise unknown_name("quantity", given, names())


def in_convention(asked: Quantity, notation: Notation) -> Quantity:
    """The Christoffel symbols with their indices in the order of a notation; other quantities as they are."""
    if asked.name != "christoffel":
        return asked
    return replace(asked, entries={notation.christoffel_index(index): x for index, x in asked.entries.items()})


def canonical(name: str) -> str:
    """The name of a quantity in this module's spelling; unknown names are returned in that spelling too.

    Hyphens, underscores, spaces and case do not matter, except for single letters, and common names are known:

    >>> [canonical(name) for name in ("mass_matrix", "Inertia Matrix", "B", "C", "c", "kinetic_energy", "torque")]
    ['mass-matrix', 'mass-matrix', 'mass-matrix', 'coriolis', 'coriolis-vector', 'kinetic-energy', 'equations']
    """
    if name in _LETTERS:
        return _LETTERS[name]
    spelled = "-".join(name.replace("_", " ").replace("-", " ").casefold().split())
    return _COMMON_NAMES.get(spelled, spelled)


def other_quantity(letter: str, asked: Quantity) -> str | None:
    """The quantity that a letter means, if it is not one of those of the quantity that is asked."""
    if letter in asked.letters:
        return None
    if (match := _FOREIGN.fullmatch(letter)) and match[1] not in asked.letters:
        return _FOREIGN_QUANTITIES[match[1]]
    return _LETTERS.get(letter)


def is_of_recursion(letter: str) -> bool:
    """Whether a letter means a velocity, a force or a moment of a link."""
    return _FOREIGN.fullmatch(letter) is not None


def is_checkable(letter: str) -> bool:
    """Whether a letter does not mean a velocity, which is no quantity here."""
    match = _FOREIGN.fullmatch(letter)
    return match is None or _FOREIGN_QUANTITIES[match[1]] in _OF_BODY


def is_of_link(name: str) -> bool:
    """Whether a quantity is one of a single link, whose number it needs."""
    return canonical(name) in _OF_BODY


def names() -> list[str]:
    """The names of the quantities."""
    return [*_OF_ROBOT, *_OF_BODY]


def _entries(value: Any) -> dict[tuple[int, ...], Expression]:
    if isinstance(value, Expression):
        return {(): value}
    return {tuple(int(k) for k in index): x for index, x in np.ndenumerate(np.asarray(value))}


def _coriolis_power(form: ClosedForm) -> Expression:
    rates = [form.algebra.of_node(v) for v in form.v]
    terms = [rate * c for rate, c in zip(rates, form.coriolis_vector, strict=True)]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _last_acceleration(form: ClosedForm) -> Expression:
    """q̈_n from the torque of the last joint and the accelerations before it, as the recursion solves for it."""
    n = form.n - 1
    rest = form.algebra.of_node(form.tau[n]) - form.torque[n]
    return (rest + form.M[n, n] * form.algebra.of_node(form.a[n])) / form.M[n, n]


def _articulated(form: ClosedForm, part: str) -> Callable[[int], Formulas]:
    def of_body(body: int) -> Formulas:
        i = form.model.moving[body - 1][0]
        # a wrench on the body itself belongs to its bias, also where it is a leaf
        found = articulated_inertias(form.model, form.q, form.v, form.tau, {i: form.w})
        return form.formulas(getattr(found, part)[i])

    return of_body


def _newton_euler(form: ClosedForm, letter: str, body: int) -> Formulas:
    return form.formulas(newton_euler_quantities(form)[body - 1][letter])


_LETTERS = {
    **dict.fromkeys(("M", "B", "D", "H"), "mass-matrix"), "C": "coriolis", "c": "coriolis-vector",
    **dict.fromkeys(("g", "G"), "gravity"), **dict.fromkeys(("T", "K"), "kinetic-energy"),
    **dict.fromkeys(("U", "V", "P"), "potential-energy"), **dict.fromkeys(("tau", "τ", "u"), "equations"),
    "Y": "regressor", **dict.fromkeys(("pi", "π"), "parameters"),
}  # fmt: skip
_FOREIGN_QUANTITIES = {"v": "velocity", "omega": "angular velocity", "mu": "moment", "f": "force"}
_FOREIGN = re.compile(r"(v|omega|mu|f)(?:[A-Z]|[a-z]?)(?:[0-9]*,?[xyz]?|[xyz]?[0-9]*)")  # v_{c3}, omega_2, mu_z
_COMMON_NAMES = {
    **dict.fromkeys(("inertia-matrix", "mass", "inertia", "generalized-inertia-matrix"), "mass-matrix"),
    **dict.fromkeys(("coriolis-matrix", "coriolis-and-centrifugal-matrix", "centrifugal-matrix"), "coriolis"),
    **dict.fromkeys(
        ("coriolis-torque", "coriolis-torques", "coriolis-term", "coriolis-terms", "centrifugal", "velocity-product",
         "coriolis-and-centrifugal", "coriolis-and-centrifugal-vector", "coriolis-centrifugal-vector"), "coriolis-vector"),
    **dict.fromkeys(("gravity-vector", "gravity-torque", "gravity-torques", "gravity-term", "gravity-terms"), "gravity"),
    **dict.fromkeys(("christoffel-symbols", "christoffel-symbol"), "christoffel"),
    **dict.fromkeys(
        ("torque", "torques", "equation", "equations-of-motion", "eom", "dynamics", "dynamic-model", "inverse-dynamics"),
        "equations"),
    **dict.fromkeys(("kinetic", "total-kinetic-energy"), "kinetic-energy"),
    **dict.fromkeys(("potential", "total-potential-energy"), "potential-energy"),
    **dict.fromkeys(("regressor-matrix",), "regressor"),
}  # fmt: skip
_OF_ROBOT: dict[str, tuple[tuple[str, ...], Callable[[Any], Any], bool]] = {
    "mass-matrix": (("M", "B", "D", "b", "H"), lambda f: f.M, True),
    "coriolis": (("C", "c"), lambda f: f.C, False),
    "coriolis-vector": (("c", "C q'", "h", "n", "b", "V", "v"), lambda f: f.coriolis_vector, False),
    "christoffel": (("c", "h"), lambda f: f.christoffel, False),
    "velocity-coefficients": (("h", "c"), lambda f: f.h, False),
    "gravity": (("g", "G"), lambda f: f.g, False),
    "equations": (("tau", "τ", "u"), lambda f: f.torque, False),
    "regressor": (("y", "Y"), lambda f: f.regressor, False),
    "parameters": (("pi", "π", "alpha", "p"), lambda f: f.parameters, False),
    "kinetic-energy": (("T", "K"), lambda f: f.kinetic_energy, False),
    "potential-energy": (("U", "P", "V"), lambda f: f.potential_energy, False),
    "coriolis-power": (("P", "w"), _coriolis_power, False),
    "last-acceleration": (("a", "q"), _last_acceleration, False),
}
_OF_BODY: dict[str, tuple[tuple[str, ...], Callable[[Any, int], Any], bool]] = {
    "kinetic-energy-of-link": (("T", "K"), lambda f, b: f.kinetic_energies[b - 1], False),
    "potential-energy-of-link": (("U", "P", "V"), lambda f, b: f.potential_energies[b - 1], False),
    "jacobian-of-link": (("J",), lambda f, b: f.linear_jacobians[b - 1], False),
    "force": (("f",), lambda f, b: _newton_euler(f, "f", b), False),
    "moment": (("mu", "N", "n"), lambda f, b: _newton_euler(f, r"\mu", b), False),
    "articulated-inertia": (("M", "I"), lambda f, b: _articulated(f, "M_hat")(b), True),
    "projected-inertia": (("M", "I"), lambda f, b: _articulated(f, "M_bar")(b), True),
    "bias-wrench": (("b", "p"), lambda f, b: _articulated(f, "b_hat")(b), False),
}
