"""Arrangement: another bracketing of the same polynomial, chosen by rules that do not depend on how it was entered."""

from fractions import Fraction

import numpy as np
import pytest
from closed_forms import arm, in_numbers

import dynamis as dy
from dynamis.scalar import evaluate, symbol, topological
from dynamis.symbolic.arrangement import Style, Sum, mapped, natural, terms_of
from dynamis.symbolic.nested import nested
from dynamis.symbolic.trig_rewriting import dressed

STYLES = [Style(), Style(links="inertia first", gravity="link"), Style(links="masses first", preference=1.0)]
FORM = arm([(0, 0, 1), (0, 1, 0), (0, 0, 1)]).closed_form()


def number_of(form, arranged, values):
    return float(evaluate(mapped(arranged, form.algebra.atom_node, float), values))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("grouping", ["", "link", "angle", "length", "rate", "term"])
def test_every_arrangement_is_the_same_function(style, grouping):
    rng = np.random.default_rng(3)
    values = {a.node: float(rng.uniform(0.5, 1.5)) for a in FORM.algebra.ring.atoms if a.kind == "symbol"}
    for entry in (FORM.M[0, 0], FORM.M[0, 2], *FORM.g, FORM.coriolis_vector[2], FORM.potential_energy):
        arranged = FORM.algebra.arrange(entry.numerator, style, grouping)
        assert number_of(FORM, arranged, values) == pytest.approx(float(evaluate(entry.node(), values)), rel=1e-12)


def test_arrangement_of_zero_and_of_a_number():
    assert FORM.algebra.arrange(FORM.algebra.ring.zero, Style()).terms == ()
    assert str((FORM.M[0, 0] - FORM.M[0, 0]).grouped("link")) == "0"
    assert str(FORM.M[0, 0] * 0 - Fraction(2, 3)) == "-2/3"


def test_terms_are_grouped_link_by_link():
    form = in_numbers("planar_2r").form
    assert str(form.M[0, 0]) == "m_1*l_1^2 + I_1 + m_2*(a_1^2 + l_2^2 + 2*a_1*l_2*c2) + I_2"
    assert str(form.M[0, 1]) == "m_2*(l_2^2 + a_1*l_2*c2) + I_2"


def test_weights_are_grouped_by_angle_or_by_link_as_the_style_says():
    form = in_numbers("planar_2r").form
    by_angle, by_link = (form.algebra.arrange(form.g[0].numerator, Style(gravity=g)) for g in ("angle", "link"))
    assert isinstance(by_angle, Sum)
    assert by_angle != by_link


def test_common_factors_stand_outside():
    printed = str(FORM.algebra.of_node(symbol("m_1") * symbol("a_1") + symbol("m_1") * symbol("a_2")))
    assert printed.count("m_1") == 1


def test_powers_of_sums_are_found():
    a, b = symbol("a_1"), symbol("a_2")
    assert str(FORM.algebra.of_node((a + b) ** 3)) == "(a_1 + a_2)^3"
    assert str(FORM.algebra.of_node(a * a - b * b)) in ("(a_1 - a_2)*(a_1 + a_2)", "(a_1 + a_2)*(a_1 - a_2)")


def test_names_are_ordered_as_a_reader_counts():
    assert sorted(["a_10", "a_2", "a_1", "b"], key=natural) == ["a_1", "a_2", "a_10", "b"]


@pytest.mark.parametrize("name", ["planar_3r", "stanford", "puma560", "ur5e"])
def test_nested_graph_needs_fewer_operations_than_the_expanded_sum(name):
    form = in_numbers(name).form
    expanded = sum(sum(len(m) for m in terms_of(dressed(form.algebra.ring, e.numerator))) for e in form.M.flat)
    operations = [n for n in topological(form.M.node().flat) if n.op != "symbol"]
    assert len(operations) < expanded


def test_horner_of_a_polynomial_is_its_value():
    x, y = symbol("x"), symbol("y")
    atoms = {0: x, 1: y}
    terms = {((0, 3), (1, 1)): Fraction(2), ((0, 2),): Fraction(-1, 3), ((1, 2),): Fraction(5), (): Fraction(7, 2)}
    node = nested(terms, atoms.__getitem__, {})
    at = {x: 1.7, y: -0.4}
    expected = 2 * 1.7**3 * -0.4 - 1.7**2 / 3 + 5 * 0.16 + 3.5
    assert float(evaluate(node, at)) == pytest.approx(expected, rel=1e-14)
    assert nested({}, atoms.__getitem__, {}) == 0.0


def test_order_of_terms_does_not_depend_on_what_was_arranged_before():
    one, other = (dy.load("planar_3r").closed_form() for _ in range(2))
    first = [str(e) for e in one.M.flat]
    backwards = [str(e) for e in reversed(list(other.M.flat))]
    assert first == backwards[::-1]


def test_a_decimal_common_to_all_terms_is_written_once_and_a_coefficient_that_rounds_to_one_is_not():
    form = dy.load("planar_2r", parameters={"g": 9.81, "m_1": 2.0}).closed_form()
    assert str(form.g[0]) == "19.62*l_1*c1 + 9.81*m_2*(a_1*c1 + l_2*c12)"
    nearly = Fraction(1) + Fraction(1, 10**12)
    entry = FORM.M[0, 2]
    assert str(entry * nearly) == str(entry)
    assert (entry * nearly).latex() == entry.latex()


POLAR = """
[robot]
name = "polar"
[parameters]
m_3 = "symbol"
d_2 = "symbol"
l_3 = "symbol"
k = "symbol"
[[dh]]
alpha = "-pi/2"
[[dh]]
alpha = "pi/2"
d = "d_2"
stiffness = "k"
rest = "pi/4"
[[dh]]
type = "prismatic"
mass = "m_3"
com = [0, 0, "-l_3"]
inertia = {xx = 0.1, yy = 0.1, zz = 0.1}
"""


def test_a_length_stays_before_a_sum_with_a_position_and_angles_are_multiples_of_pi():
    form = dy.load(POLAR).closed_form()
    assert str(form.M[0, 1]) == "-m_3*d_2*(q_3 - l_3)*c2"
    assert str(form.spring[1]) == "k*(q_2 - pi/4)"
    assert form.spring[1].latex() == r"k (q_2 - \tfrac{\pi}{4})"
    assert "pi" in str(form.spring[1].sympy())
    for written in ("\n".join(x.latex() for x in form.equations), "\n".join(map(str, form.equations))):
        assert dy.check_answer(form, "equations", written).correct
        assert not dy.check_answer(form, "equations", written.replace("pi", "2*pi", 1).replace(r"\2*pi", r"2\pi")).correct
