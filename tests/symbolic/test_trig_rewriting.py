"""Dressing: other sines and cosines, the same function, fewer terms."""

import numpy as np
import pytest
from campaign_params import seeds
from closed_forms import arm

from dynamis.scalar import evaluate, symbol
from dynamis.symbolic.angles import Angle
from dynamis.symbolic.expression import Algebra
from dynamis.symbolic.notation import NOTATIONS, SymbolPrinter
from dynamis.symbolic.ring import Ring
from dynamis.symbolic.trig_rewriting import arc_terms, dressed

x, y, z, u, a, b = (symbol(name) for name in "xyzuab")
VALUES = {x: 0.3, y: -0.8, z: 1.7, u: 0.9, a: 1.3, b: -0.6}


def algebra_of(run, *nodes):
    return Algebra(Ring.of([*nodes, a, b, x, y, z, u], run), SymbolPrinter(NOTATIONS["dynamis"], {}, (True, True)))


def value_of(algebra, p):
    """A polynomial in arcs, atom by atom."""
    total = 0.0
    for exponents, c in p.to_dict().items():
        term = int(c.p) / int(c.q)
        for atom, power in zip(algebra.ring.atoms, exponents, strict=True):
            if power:
                term *= float(evaluate(algebra.atom_node(atom), VALUES)) ** int(power)
        total += term
    return total


RUNS = {
    "one way": (Angle(x), Angle(y, base=0), Angle(z, base=1), Angle(u)),
    "both ways": (Angle(x), Angle(y, base=0, sign=-1), Angle(z, base=1), Angle(u, base=2, sign=-1)),
    "branches": (Angle(x), Angle(y, base=0), Angle(z, base=0, sign=-1), Angle(u, base=1)),
    "apart": (Angle(x), Angle(y), Angle(z), Angle(u)),
}


def random_node(rng):
    total = 0.0
    for _ in range(5):
        term = float(rng.integers(-3, 4))
        for _ in range(int(rng.integers(1, 4))):
            angle = sum((float(rng.choice([-1.0, 1.0])) * w for w in (x, y, z, u) if rng.random() < 0.5), 0.0 * x)
            kind = rng.integers(3)
            term = term * (a if kind == 0 else np.sin(angle) if kind == 1 else np.cos(angle))
        total = total + term
    return total


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("seed", seeds(10, 25))
def test_dressed_polynomial_is_the_same_function(run, seed):
    node = random_node(np.random.default_rng(seed))
    algebra = algebra_of(RUNS[run], node)
    p = algebra.ring.value(node)[0]
    expected = float(evaluate(node, VALUES))
    assert value_of(algebra, p) == pytest.approx(expected, abs=1e-12)
    assert value_of(algebra, dressed(algebra.ring, p)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("run", RUNS)
def test_dressing_never_adds_terms(run):
    for seed in range(25):
        node = random_node(np.random.default_rng(seed))
        algebra = algebra_of(RUNS[run], node)
        p = algebra.ring.value(node)[0]
        assert len(dressed(algebra.ring, p)) <= max(len(p), 1)


def test_differences_of_angles_become_one_cosine():
    algebra = algebra_of(RUNS["one way"], np.cos(y))
    for node in (a * np.cos(y), a * np.sin(y + z), b * np.cos(z)):
        assert len(dressed(algebra.ring, algebra.ring.value(node)[0])) == 1


def test_squares_of_sines_come_back():
    algebra = algebra_of(RUNS["apart"], np.sin(x))
    assert str(algebra.of_node(a * np.sin(x) ** 2)) == "a*sin(x)^2"
    assert str(algebra.of_node(b - b * np.cos(y) ** 2)) == "b*sin(y)^2"


def test_arcs_are_written_from_their_first_joint_with_a_plus():
    ring = algebra_of(RUNS["both ways"], np.sin(x)).ring
    assert [(str(unit), sign) for unit, sign, _ in arc_terms(ring, -1, 3)] == [("x", 1), ("y", -1), ("z", 1), ("u", -1)]
    assert [(str(unit), sign) for unit, sign, _ in arc_terms(ring, 0, 2)] == [("y", 1), ("z", -1)]


def test_joints_before_do_not_appear_where_nothing_depends_on_them():
    form = arm([(0, 0, 1)] * 4).closed_form()
    for i, j in np.ndindex(4, 4):
        printed = str(form.M[i, j])
        assert "c1" not in printed
        assert "s1" not in printed
    assert str(form.M[2, 3]) == "m_4*(l_4^2 + a_3*l_4*c4) + I_4"
