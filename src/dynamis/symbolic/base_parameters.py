"""Base parameters in closed form: a minimal set on which the motion depends.

The energies are linear in the ten parameters of each body: T − U = Σ E_p π_p. Where some E_p are linear combinations of
others, with constant coefficients of the geometry, only combinations of parameters are identifiable:

    E_d = Σ_s β_ds E_s   ⇒   π_s' = π_s + Σ_d β_ds π_d,   and π_d disappears.

Parameters are processed from the base to the tip, so that a body's mass, say, is regrouped into its parent body
[Gautier & Khalil 1990]. The dependent E_p are found at random numbers; the coefficients β follow from the polynomials, and each
relation is proven in the ring.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import numpy.typing as npt

from dynamis.algorithms import energy, regressor
from dynamis.algorithms.regressor import JOINT_PARAMETERS
from dynamis.errors import DynamisError
from dynamis.model.model import Model
from dynamis.scalar import Node, symbol, topological
from dynamis.spatial import Inertia
from dynamis.symbolic.angles import joint_angles
from dynamis.symbolic.expression import Algebra, Expression
from dynamis.symbolic.formulas import Formulas
from dynamis.symbolic.parameters import LinearForm, Rule
from dynamis.symbolic.ring import Atom, Polynomial, Ring
from dynamis.symbolic.terms import Terms
from dynamis.symbolic.trig_rewriting import arc_terms
from dynamis.tolerances import RANK_TOLERANCE

Array = npt.NDArray[Any]
# within a body: what stays first, what moves to the parent (for a joint about z) last
ORDER = (9, 4, 5, 7, 8, 1, 2, 6, 3, 0)
REFLECTED = "I_a"  # the inertia of a motor, seen through its gear at the joint
LETTERS = ("m_{}", "mx_{}", "my_{}", "mz_{}", "I_xx{}", "I_xy{}", "I_yy{}", "I_xz{}", "I_yz{}", "I_zz{}")
StateMonomial = tuple[int, ...]


@dataclass
class _Column:
    """E_p of one parameter: by monomial of the state, its coefficient, a polynomial of the geometry."""

    name: Node
    parts: dict[StateMonomial, Polynomial]


def base_parameters(form: Terms) -> LinearForm:
    """The linear form with independent columns, and its regrouping rules."""
    model, ring, columns = _columns(form)
    relations = _relations(ring, columns)
    Y = regressor.regressor(form.model, form.q, form.v, form.a)
    values = form.formulas(regressor.parameters(form.model))
    inertial = 10 * len(regressor.links(model))
    place = [_place(c.name, model) for c in columns]
    totals: dict[int, Expression] = {k: values[place[k]] for k in range(len(columns)) if k not in relations}
    rules = []
    for d, relation in relations.items():
        betas = {
            s: form.algebra.of_node(Expression(Algebra(ring, form.algebra.letters), *beta).node())
            for s, beta in relation.items()
        }
        rules.append(Rule(columns[d].name, tuple((columns[s].name, beta) for s, beta in betas.items())))
        for s, beta in betas.items():
            totals[s] = totals[s] + beta * values[place[d]]
    kept = [(place[k], total) for k, total in sorted(totals.items()) if not total.is_zero]
    names = [columns[k].name for k, total in sorted(totals.items()) if not total.is_zero]
    # friction and springs have columns of their own, never mixed with the others
    for number in range(inertial, inertial + len(JOINT_PARAMETERS) * form.n):
        kind = JOINT_PARAMETERS[(number - inertial) % len(JOINT_PARAMETERS)]
        if kind != "rotor" and not values[number].is_zero:
            kept.append((number, values[number]))
            names.append(symbol(f"{kind}_{(number - inertial) // len(JOINT_PARAMETERS) + 1}"))
    multiples = _multiples([total for _, total in kept])
    shape = (form.n, len(multiples))
    parts = [sum(Y[:, kept[k][0]] * float(factor) for k, factor in multiple.items()) for multiple in multiples.values()]
    picked = form.formulas(np.array(parts, dtype=object).reshape(shape[::-1]).T)
    picked = Formulas.of((x.grouped("term") for x in picked.flat), shape)
    parameters = Formulas.of((kept[k][1] for k in multiples), (len(multiples),))
    reflected = tuple((c.name, values[place[k]]) for k, c in enumerate(columns) if str(c.name).startswith(REFLECTED))
    return LinearForm(picked, parameters, tuple(rules), len(totals), tuple(names[k] for k in multiples), reflected)


def _multiples(values: Sequence[Expression]) -> dict[int, dict[int, Fraction]]:
    """The values that are independent, each with the multiples of it that all the values contain.

    Links of equal parameters have equal ones, m l and m l. Numbers, which are multiples of each other by chance, are left.
    """
    found: dict[int, dict[int, Fraction]] = {k: {k: Fraction(1)} for k in range(len(values))}
    terms = {k: x.numerator.to_dict() for k, x in enumerate(values) if x.expanded and x.denominator is None}
    in_symbols = [k for k, own in terms.items() if own and all(any(monomial) for monomial in own)]
    monomials = sorted({monomial for k in in_symbols for monomial in terms[k]})
    if not monomials:
        return found
    rows = [[terms[k].get(m, flint.fmpq(0)) for k in in_symbols] for m in monomials]
    reduced, rank = flint.fmpq_mat(rows).rref()
    pivots = [next(j for j in range(len(in_symbols)) if reduced[i, j] != 0) for i in range(rank)]
    for j in sorted(set(range(len(in_symbols))) - set(pivots)):
        del found[in_symbols[j]]
        for i, pivot in enumerate(pivots):
            if reduced[i, j] != 0:
                found[in_symbols[pivot]][in_symbols[j]] = Fraction(int(reduced[i, j].p), int(reduced[i, j].q))
    return found


def _columns(form: Terms) -> tuple[Model, Ring, list[_Column]]:
    """E_p of every inertial parameter and rotor."""
    model = form.model
    names: list[list[Node]] = []
    bodies: list[Any] = [None]
    links = {i for i, _ in regressor.links(model)}
    for i, body in regressor.without_rotors(model):
        if i not in links:
            bodies.append(body)
            continue
        names.append([symbol(letter.format(len(names) + 1) + "'") for letter in LETTERS])
        bodies.append(replace(body, inertia=Inertia.from_parameters(np.array(names[-1], dtype=object))))
    riding: list[Any] = []
    for _, body in regressor.rotors(model):
        riding.append(_rotor_name(body.dof[0], riding))
        rotor = Inertia(0.0, np.zeros(3), riding[-1] * regressor.disc(body.motion.axis).tensor)
        bodies.append(replace(body, inertia=rotor))
        carrier = bodies[body.parent]
        # a link's parameters have the rotor locked in them
        without = replace(carrier.inertia, tensor=carrier.inertia.tensor - rotor.tensor)
        bodies[body.parent] = replace(carrier, inertia=without)
    rotors = [symbol(f"{REFLECTED}{k + 1}'") if not _is_zero(model.rotor[k]) else 0.0 for k in range(model.n)]
    generic = replace(model, bodies=tuple(bodies), symbolic=True)
    T = np.sum(energy.kinetic_energies(generic, form.q, form.v))
    T = T + sum((0.5 * r * v * v for r, v in zip(rotors, form.v, strict=True) if isinstance(r, Node)), 0.0)
    U = np.sum(energy.potential_energies(generic, form.q))
    ring = Ring.of([T, U], joint_angles(model, form.q), [*form.q, *form.v])
    with form.budget.running():
        ring.expand([T - U], form.budget)
    action = ring.value(T - U)[0]
    wanted = [names[b][p] for b in range(len(names)) for p in ORDER] + [r for r in (*rotors, *riding) if isinstance(r, Node)]
    in_ring = {id(a.node) for a in ring.atoms}
    moving = {id(x) for x in [*form.q, *form.v]}
    state = [k for k, a in enumerate(ring.atoms) if _is_turning(ring, a, moving) or id(a.node) in moving]
    columns = []
    for name in wanted:
        slope = ring.derivative(action, name) if id(name) in in_ring else ring.zero
        columns.append(_Column(name, _by_state(ring, slope, state)))
    return generic, ring, columns


def _by_state(ring: Ring, p: Polynomial, state: list[int]) -> dict[StateMonomial, Polynomial]:
    parts: dict[StateMonomial, dict[tuple[int, ...], Any]] = {}
    for exponents, c in p.to_dict().items():
        key = tuple(exponents[k] for k in state)
        if any(key):  # a constant energy moves nothing
            rest = list(exponents)
            for k in state:
                rest[k] = 0
            parts.setdefault(key, {})[tuple(rest)] = c
    return {key: ring.context.from_dict(terms) for key, terms in parts.items()}


def _relations(ring: Ring, columns: list[_Column]) -> dict[int, dict[int, tuple[Polynomial, Polynomial | None]]]:
    """For each dependent column, the preceding columns of its linear combination, with coefficients."""
    numbers = _at_random_geometry(ring, columns)
    independent: list[int] = []
    relations: dict[int, dict[int, tuple[Polynomial, Polynomial | None]]] = {}
    Q = np.zeros((len(numbers), len(columns)))  # orthonormal columns of the independent ones, and
    R = np.zeros((len(columns), len(columns)))  # their coordinates in it
    for d in range(len(columns)):
        column, r = numbers[:, d], len(independent)
        along = Q[:, :r].T @ column
        rest = column - Q[:, :r] @ along
        again = Q[:, :r].T @ rest  # once more, for what rounding left of the first time
        along, rest = along + again, rest - Q[:, :r] @ again
        if np.linalg.norm(rest) > RANK_TOLERANCE * np.linalg.norm(column):
            Q[:, r], R[:r, r], R[r, r] = rest / np.linalg.norm(rest), along, np.linalg.norm(rest)
            independent.append(d)
        else:
            solution = np.linalg.solve(R[:r, :r], along)
            support = [(s, x) for s, x in zip(independent, solution, strict=True) if abs(x) > RANK_TOLERANCE]
            relations[d] = _coefficients(ring, columns, d, support) if np.any(column) else {}
    return relations


def _at_random_geometry(ring: Ring, columns: list[_Column]) -> npt.NDArray[np.float64]:
    rng = np.random.default_rng(1)
    monomials = sorted({m for c in columns for m in c.parts})
    values = [Fraction(int(x), 1000) for x in rng.integers(300, 3000, len(ring.atoms))]
    # the sine and cosine of an angle of the geometry belong together
    for j in range(len(ring.angles)):
        t = Fraction(int(rng.integers(100, 900)), 1000)
        values[ring.arc["cosine", -1, j]] = (1 - t * t) / (1 + t * t)
        values[ring.arc["sine", -1, j]] = 2 * t / (1 + t * t)
    table = np.zeros((len(monomials), len(columns)))
    place = {m: k for k, m in enumerate(monomials)}
    for d, column in enumerate(columns):
        for m, p in column.parts.items():
            table[place[m], d] = float(
                sum(
                    Fraction(int(c.p), int(c.q)) * _product(values[k] ** int(e) for k, e in enumerate(exponents) if e)
                    for exponents, c in p.to_dict().items()
                )
            )
    return table


def _coefficients(
    ring: Ring, columns: list[_Column], d: int, support: list[tuple[int, float]]
) -> dict[int, tuple[Polynomial, Polynomial | None]]:
    """β of one relation: monomial by monomial, wherever only one coefficient is still unknown."""
    found: dict[int, tuple[Polynomial, Polynomial | None]] = {}
    unknown = {s for s, _ in support}
    monomials = sorted({m for s in (d, *unknown) for m in columns[s].parts}, reverse=True)
    while unknown:
        for m in monomials:
            here = [s for s in unknown if m in columns[s].parts]
            if len(here) == 1:
                left: Any = (columns[d].parts.get(m, ring.zero), None)
                for s, beta in found.items():
                    if m in columns[s].parts:
                        product = ring.multiply(beta, (columns[s].parts[m], None))
                        left = ring.add(left, (-product[0], product[1]))
                found[here[0]] = ring.divide(left, (columns[here[0]].parts[m], None))
                unknown.discard(here[0])
                break
        else:
            # every equation has several unknowns: with numbers only, least squares has them already
            for s, x in support:
                if s in unknown:
                    found[s] = ring.number(Fraction(x).limit_denominator(10**9)), None
            break
    _prove(ring, columns, d, found, monomials)
    return {s: beta for s, beta in found.items() if not beta[0].is_zero()}


def _prove(ring: Ring, columns: list[_Column], d: int, betas: dict[int, Any], monomials: list[StateMonomial]) -> None:
    """E_d = Σ β E_s, monomial by monomial: exactly, or to the rounding of decimals."""
    for m in monomials:
        right: Any = (columns[d].parts.get(m, ring.zero), None)
        left: Any = (ring.zero, None)
        for s, beta in betas.items():
            if m in columns[s].parts:
                left = ring.add(left, ring.multiply(beta, (columns[s].parts[m], None)))
        difference = ring.difference(left, right)
        if not difference.is_zero() and not _is_small(difference, right[0]):
            raise DynamisError(f"the rule for {columns[d].name} could not be proven; this is a bug: please report the robot")


def _is_small(difference: Polynomial, beside: Polynomial) -> bool:
    sizes = [max((abs(Fraction(int(c.p), int(c.q))) for c in p.coeffs()), default=Fraction(0)) for p in (difference, beside)]
    return sizes[0] * 10**6 < max(sizes[1], Fraction(1, 1000))


def _is_turning(ring: Ring, atom: Atom, moving: set[int]) -> bool:
    """Whether an atom is a sine or cosine of joint variables, not of a geometric angle."""
    if atom.kind not in ("sine", "cosine"):
        return False
    return any(id(n) in moving for n in topological(unit for unit, _, _ in arc_terms(ring, atom.start, atom.end)))


def _place(name: Node, model: Model) -> int:
    """The index of a parameter in `regressor.parameters`."""
    text = str(name.args[0])[:-1]
    links, rotors = regressor.links(model), regressor.rotors(model)
    if text.endswith("'"):
        names: list[Node] = []
        for _, body in rotors:
            names.append(_rotor_name(body.dof[0], names))
        return 10 * len(links) + len(JOINT_PARAMETERS) * model.n + next(k for k, x in enumerate(names) if x is name)
    for number in range(1, len(links) + 1):
        for p, letter in enumerate(LETTERS):
            if letter.format(number) == text:
                return 10 * (number - 1) + p
    joint = int(text.removeprefix(REFLECTED)) - 1
    return 10 * len(links) + len(JOINT_PARAMETERS) * joint + JOINT_PARAMETERS.index("rotor")


def _rotor_name(joint: int, others: list[Node]) -> Node:
    """The name of the inertia of a rotor mounted on a link: distinguished from a reflected one by an additional prime."""
    names = (symbol(f"I_m{joint + 1}" + "'" * primes) for primes in itertools.count(2))
    return next(name for name in names if not any(name is other for other in others))


def _is_zero(x: Any) -> bool:
    return not isinstance(x, Node) and float(x) == 0.0


def _product(factors: Any) -> Fraction:
    result = Fraction(1)
    for f in factors:
        result *= f
    return result
