"""Closed forms in numbers: values for their symbols, whole batches of states, and small robots made of symbols."""

from __future__ import annotations

import copy
import dataclasses
import functools

import numpy as np

import dynamis as dy
from dynamis.model.library import library_names
from dynamis.scalar import Node, Program, symbol
from dynamis.spatial import Inertia, Pose

STATES = 100
PARAMETERS = ("m_{}", "mx_{}", "my_{}", "mz_{}", "I_xx{}", "I_xy{}", "I_yy{}", "I_xz{}", "I_yz{}", "I_zz{}")


@functools.cache
def small_library():
    """The names of the library's robots with up to seven degrees of freedom that have a closed form."""
    robots = {name: dy.load(name) for name in library_names()}
    return tuple(n for n, r in robots.items() if r.n <= 7 and all(c.q_index is not None for c in r.model.coordinates))


def symbols_of(form):
    """The robot's own symbols, in a fixed order."""
    state = {id(x) for x in (*form.q, *form.v, *form.a, *form.tau, *form.w)}
    return [a.node for a in form.algebra.ring.atoms if a.kind == "symbol" and id(a.node) not in state]


def random_values(names, rng, low, high):
    """Random values of the symbols of a robot. A moment of inertia I about an axis is that of the body's points at least."""
    values = {name: float(rng.uniform(low, high)) for name in names}
    for length in {"l", "L"} & values.keys():
        if {"I", "m"} <= values.keys():
            values["I"] += values["m"] * values[length] ** 2
    return values


class InNumbers:
    """A closed form, random values of its symbols, random states, and the numeric robot that has these values."""

    def __init__(self, robot, form, numeric=None, seed=0):
        rng = np.random.default_rng(seed)
        self.robot, self.form, n = robot, form, form.n
        symbols = symbols_of(form)
        self.values = dict(zip(symbols, random_values(map(str, symbols), rng, 0.5, 1.5).values(), strict=True))
        self.numeric = robot if numeric is None else numeric({str(s): x for s, x in self.values.items()})
        self.q = rng.uniform(-np.pi, np.pi, (STATES, n))
        self.v, self.a, self.tau = rng.uniform(-2.0, 2.0, (3, STATES, n))
        self.w = rng.uniform(-2.0, 2.0, (STATES, 6))

    def of(self, formulas):
        """What formulas are at all these states."""
        return self.of_nodes(formulas.node())

    def with_value(self, symbol_, value):
        """The same states of a robot that differs in one value."""
        other = copy.copy(self)
        other.values = {**self.values, symbol_: value}
        return other

    @functools.lru_cache  # noqa: B019 - robots of the library live as long as the tests
    def term(self, name):
        """What a term of the closed form, such as "M", is at all these states."""
        return self.of(getattr(self.form, name))

    def of_nodes(self, nodes):
        form = self.form
        inputs = [*form.q, *form.v, *form.a, *form.tau, *form.w, *self.values]
        state = [x for batch in (self.q, self.v, self.a, self.tau, self.w) for x in batch.T]
        return Program(inputs, nodes)(*state, *self.values.values())


@functools.cache
def in_numbers(name):
    """A robot of the library."""
    robot = dy.load(name)
    numeric = (lambda values: dy.load(name, parameters=values)) if robot.model.symbolic else None
    return InNumbers(robot, robot.closed_form(), numeric)


def largest_error(value, reference):
    """The largest difference over all states, each in units of the reference's largest entry at that state."""
    value, reference = (np.asarray(x, dtype=float).reshape(STATES, -1) for x in (value, reference))
    assert value.shape == reference.shape
    if reference.size == 0:
        return 0.0
    sizes = np.abs(reference).max(1)
    return float((np.abs(value - reference).max(1) / np.where(sizes > 1e-9 * max(sizes.max(), 1e-300), sizes, 1.0)).max())


def with_symbols(model, geometry=True):
    """A model whose every inertial parameter, and length that is not zero, is a symbol of its own."""
    bodies = [None]
    for k, body in model.moving:
        inertia = Inertia.from_parameters(np.array([symbol(letter.format(k)) for letter in PARAMETERS], dtype=object))
        p = [
            symbol(f"p_{'xyz'[i]}{k}") if geometry and (isinstance(x, Node) or x != 0) else x
            for i, x in enumerate(body.placement.p)
        ]
        placement = type(body.placement)(body.placement.R, np.array(p, dtype=object))
        bodies.append(dataclasses.replace(body, inertia=inertia, placement=placement))
    none = np.zeros(model.n)
    return dataclasses.replace(
        model, bodies=tuple(bodies), symbolic=True, rotor=none, viscous=none, coulomb=none, coulomb_bias=none
    )


def rod(k):
    """A link of mass m_k whose centre lies l_k along x, with the moment of inertia I_k about z."""
    tensor = np.zeros((3, 3), dtype=object)
    tensor[2, 2] = symbol(f"I_{k}")
    return Inertia.about_com(symbol(f"m_{k}"), np.array([symbol(f"l_{k}"), 0.0, 0.0], dtype=object), tensor)


def at(x=0.0, y=0.0, z=0.0, R=None):
    return Pose(np.eye(3) if R is None else R, np.array([x, y, z], dtype=object))


def arm(axes, parents=None, kinds=None, gravity=True, names=None, **fields):
    """Rods a_1, a_2, … with these axes; ``parents[k]`` is the number of the link that carries link k + 1."""
    weight = [0.0, -symbol("g") if gravity else 0.0, 0.0]
    d = dy.Description("arm", gravity=np.array(weight, dtype=object)).add_link("link0")
    for k, axis in enumerate(axes, 1):
        parent = k - 1 if parents is None else parents[k - 1]
        origin = at() if parent == 0 else at(symbol(f"a_{parent}"))
        kind = "revolute" if kinds is None else kinds[k - 1]
        d.add_link(f"link{k}", f"link{parent}", kind, joint_name=f"joint{k}", axis=axis, origin=origin, inertia=rod(k), **fields.get(f"joint{k}", {}))  # fmt: skip
    return dy.Robot(d)
