"""Letters: what is printed can be read back, has one meaning, and is LaTeX whatever a file calls its parameters."""

import re

import numpy as np
import pytest
from balanced_latex import is_balanced
from closed_forms import arm, at, rod, small_library
from processes import output_of

import dynamis as dy
from dynamis.classroom.answers import Vocabulary, parse_answer
from dynamis.model.description import Mimic
from dynamis.scalar import symbol
from dynamis.symbolic.closed_form import closed_form
from dynamis.symbolic.equivalence import equivalent
from dynamis.symbolic.expression import Algebra
from dynamis.symbolic.formulas import Formulas
from dynamis.symbolic.notation import NOTATIONS, Notation, SymbolPrinter, notation_of, parameter_latex
from dynamis.symbolic.ring import Ring

PARALLEL = [(0, 0, 1)] * 3


def vocabulary(form, aliases=None):
    names = {str(a.node): a.node for a in form.algebra.ring.atoms if a.kind == "symbol" and "[" not in str(a.node)}
    return Vocabulary(form.q, form.v, form.a, tuple(c.revolute for c in form.model.coordinates), names, aliases or {})


def read_back(text, form):
    return parse_answer(text, vocabulary(form)).entries[""][()].node


SYMBOLIC = [name for name in small_library() if dy.load(name).model.symbolic]


def twisted():
    """Two joints whose axes enclose the angle alpha, a symbol."""
    alpha = symbol("alpha")
    c, s = np.cos(alpha), np.sin(alpha)
    R = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]], dtype=object)
    d = dy.Description("twisted", gravity=np.array([0.0, 0.0, -symbol("g")], dtype=object)).add_link("link0")
    d.add_link("link1", "link0", "revolute", inertia=rod(1))
    return dy.Robot(d.add_link("link2", "link1", "revolute", origin=at(symbol("a_1"), R=R), inertia=rod(2)))


ARMS = {
    "twisted": twisted,
    "parallel": lambda: arm(PARALLEL),
    "up and down": lambda: arm([(0, 0, 1), (0, 0, -1), (0, 0, 1)]),
    "down and up": lambda: arm([(0, 0, -1), (0, 0, 1), (0, 0, 1), (0, 0, -1)]),
    "tree": lambda: arm([(0, 0, 1)] * 5, parents=[0, 1, 1, 3, 2]),
    "other axes": lambda: arm([(1, 0, 0), (0, 1, 0), (0, 0, 1)]),
    "sliding": lambda: arm([(0, 0, 1), (1, 0, 0), (0, 0, 1)], kinds=["revolute", "prismatic", "revolute"]),
    "helical": lambda: arm([(0, 0, 1)] * 2, kinds=["helical"] * 2, joint1={"pitch": symbol("h_1")}, joint2={"pitch": symbol("h_2")}),
    "long": lambda: arm([(0, 0, 1)] * 11),
    "follower": lambda: arm([(0, 0, 1)] * 3, joint2={"mimic": Mimic("joint1", 0.5, 0.0)}),
}  # fmt: skip


def some_expressions(form):
    if form.n > 6:
        return [form.g[0], form.g[form.n - 1], form.M[0, form.n - 1], form.M[form.n - 2, form.n - 1], form.christoffel[0, 1, 2]]
    return [
        *form.M[np.triu_indices(form.n)],
        *form.g,
        form.kinetic_energies[-1],
        form.potential_energy,
        form.coriolis_vector[0],
    ]


@pytest.mark.parametrize("name", SYMBOLIC)
def test_text_of_the_library_can_be_read_back(name):
    form = dy.load(name).closed_form()
    for expression in some_expressions(form):
        assert equivalent(expression, read_back(str(expression), form)), str(expression)


@pytest.mark.parametrize("name", ARMS)
def test_text_can_be_read_back(name):
    form = ARMS[name]().closed_form()
    for expression in some_expressions(form):
        assert equivalent(expression, read_back(str(expression), form)), str(expression)


@pytest.mark.parametrize("name", ARMS)
def test_latex_can_be_read_back(name):
    form = ARMS[name]().closed_form()
    for expression in some_expressions(form):
        assert equivalent(expression, read_back(expression.latex(), form)), expression.latex()


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("name", ["planar_2r", "planar_prp", "pendulum_from_vertical"])
def test_latex_is_balanced_in_every_notation(name, notation):
    form = dy.load(name).closed_form(notation)
    for latex in (
        form.latex(),
        form.M.latex(),
        form.C.latex(),
        form.g.latex(),
        form.torque.latex(),
        form.base_parameters.latex(),
    ):
        assert is_balanced(latex)
    assert form.in_letters("dynamis").M == form.M


@pytest.mark.parametrize("name", ["planar_2r", "planar_3r"])
def test_letters_change_nothing_but_the_letters(name):
    form = dy.load(name).closed_form()
    lengths = {len(form.M[0, 0].latex(notation).split("+")) for notation in ("dynamis", "rocco")}
    assert len(lengths) == 1
    assert r"\vartheta" in form.potential_energy.latex(Notation(revolute=r"\vartheta", functions="long"))
    assert form.M[0, 1].latex("tzafestas") != form.M[0, 1].latex("dynamis")
    for notation in NOTATIONS:
        assert equivalent(form.in_letters(notation).M, form.M)


def test_notation_of_another_name_is_refused_with_the_near_ones():
    with pytest.raises(dy.NameLookupError, match="rocco"):
        notation_of("roco")
    with pytest.raises(dy.NameLookupError, match="melchiorri"):
        dy.load("planar_2r").closed_form("melchiori")


def test_parallel_axes_are_printed_as_sums():
    form = arm(PARALLEL).closed_form()
    assert str(form.g[2]) == "m_3*g*l_3*c123"
    assert form.g[2].latex() == "m_3 g l_3 c_{123}"
    assert "c_{12}" in form.g[1].latex()
    assert r"\cos(q_1 + q_2 + q_3)" in form.g[2].latex("deluca")


def test_opposite_axes_are_printed_with_their_signs():
    form = arm([(0, 0, 1), (0, 0, -1), (0, 0, 1)]).closed_form()
    assert form.g[2].latex() == "m_3 g l_3 c_{1-2+3}"
    assert r"\cos(q_1 - q_2 + q_3)" in form.g[2].latex("deluca")
    turned = arm([(0, 0, -1), (0, 0, 1), (0, 0, 1)]).closed_form()
    assert turned.g[2].latex() == "m_3 g l_3 c_{1-2-3}"


def test_indices_of_ten_joints_or_more_are_parted_by_commas():
    form = arm([(0, 0, 1)] * 12).closed_form()
    assert form.g[11].latex() == "m_{12} g l_{12} c_{1,2,3,4,5,6,7,8,9,10,11,12}"
    last = arm([(0, 0, 1)] * 2 + [(0, 1, 0)] + [(0, 0, 1), (0, 1, 0)] * 4 + [(1, 0, 0)]).closed_form()
    atoms = {last.algebra.letters.latex(last.algebra.ring, a) for a in last.algebra.ring.atoms if a.kind == "cosine"}
    assert len(atoms) == sum(a.kind == "cosine" for a in last.algebra.ring.atoms)  # c_{12} is not c_{1,2}
    assert {"c_{12}", "c_{1,2}"} <= atoms


@pytest.mark.parametrize("name", ARMS)
def test_no_two_sines_are_printed_alike(name):
    form = ARMS[name]().closed_form()
    letters, ring = form.algebra.letters, form.algebra.ring
    for write in (letters.latex, letters.text):
        printed = [write(ring, a) for a in ring.atoms if a.kind in ("sine", "cosine", "symbol")]
        assert len(set(printed)) == len(printed)


def test_hash_seed_and_history_do_not_change_what_is_printed():
    program = (
        "import dynamis as dy\n"
        "{before}"
        "for name in ('planar_3r', 'scara'):\n"
        "    form = dy.load(name).closed_form()\n"
        "    print(form.latex()); print(form.M, form.C, form.base_parameters, [str(r) for r in form.base.rules])\n"
        "    print([str(e) for e in form.equations])\n"
    )
    before = "dy.load('puma560').closed_form().C; keep = [dy.symbol(f'm_{k}') * dy.symbol(f'a_{k}') for k in (3, 2, 1)]\n"
    runs = [("", 0), ("", 1), (before, 4711)]
    assert len({output_of(program.replace("{before}", b), PYTHONHASHSEED=str(seed)) for b, seed in runs}) == 1


def test_order_in_which_a_robot_is_described_does_not_change_its_inertia_matrix():
    one = arm(PARALLEL)
    d = one.description.copy()
    d.links.reverse()
    assert closed_form(dy.Robot(d).model).M == one.closed_form().M
    assert str(closed_form(dy.Robot(d).model).M) == str(one.closed_form().M)


# names from files


NASTY = [
    "__import__('os')", r"\input{x}", "$x$", "m_1}", "lambda", "ä", "α_1", "m" * 300, "a%b", "a#b", "a&b", "x^2", "~x", "a_b_c",
    "{", "}", "\\", "\\}", "a\\", "x\ny", "\u202eabc", "a b", "%", "^", "_", r"\write18{rm}", "]]>", "<b>", "\x00",
]  # fmt: skip


@pytest.mark.parametrize("name", NASTY)
def test_latex_of_any_name_is_escaped(name):
    latex = parameter_latex(name)
    assert is_balanced(latex)
    assert not re.search(r"(?<!\\)[$#%&~]", latex)
    assert not any(ord(c) < 32 or c == "\u202e" for c in latex)
    commands = set(re.findall(r"\\([A-Za-z]+)", latex))
    assert commands <= {"mathrm", "backslash", "sim", "wedge", "lambda", "alpha"}


@pytest.mark.parametrize("name", NASTY)
def test_robot_with_any_name_prints_balanced_latex(name):
    inertia = dy.Inertia.about_com(symbol(name), np.array([symbol(name + "l"), 0.0, 0.0], dtype=object), np.zeros((3, 3)))
    d = dy.Description(name, gravity=(0, -10, 0)).add_link(name)
    d.add_link("link1", name, "revolute", joint_name=name + "j", inertia=inertia)
    d.add_link("link2", "link1", "revolute", origin=at(1.0), inertia=rod(2))
    form = dy.Robot(d).closed_form()
    for latex in (form.latex(), form.M.latex(), form.base_parameters.latex(), form.M.latex("melchiorri")):
        assert is_balanced(latex)
        assert "\\input" not in latex
        assert "\\write" not in latex
        assert not re.search(r"(?<!\\)[$#%]", latex)
    assert isinstance(str(form.M), str)


def test_names_with_an_index_are_written_with_one():
    assert parameter_latex("a_C1") == "a_{C1}"
    assert parameter_latex("m_12") == "m_{12}"
    assert parameter_latex("lc2") == "l_{c2}"
    assert parameter_latex("mu1") == r"\mu_1"
    assert parameter_latex("Jm1") == "J_{m1}"
    assert parameter_latex("th1") == r"\mathrm{th}_1"
    assert parameter_latex("ab1") == r"\mathrm{ab}_1"
    assert parameter_latex("alpha") == r"\alpha"
    assert parameter_latex("Omega_2") == r"\Omega_2"
    assert parameter_latex("mass_1") == r"\mathrm{mass}_1"
    assert parameter_latex("l_1", {"l": "a_C{}"}) == "a_{C1}"
    assert parameter_latex("I_1", {"I": r"\tilde{I}_{}"}) == r"\tilde{I}_1"


def test_large_numbers_and_powers_are_written_whole():
    x, y = symbol("x"), symbol("y")
    algebra = Algebra(Ring.of([x, y]), SymbolPrinter(NOTATIONS["dynamis"], {}, (True, True)))
    assert algebra.of_node(3e15 * x).latex() == r"3 \cdot 10^{15} x"
    assert algebra.of_node(1e-7 * x).latex() == r"1 \cdot 10^{-7} x"
    assert algebra.of_node((x + y) ** 12).latex() == "(x + y)^{12}"
    assert algebra.of_node(x**11).latex() == "x^{11}"
    assert algebra.of_node(x / 3.0).latex() == r"\tfrac{1}{3} x"
    assert str(algebra.of_node(x / 3.0)) == "1/3*x"
    assert algebra.of_node(0.0 * x).latex() == "0"


def test_numbers_of_a_robot_are_decimals_and_a_factor_of_minus_one_is_a_sign():
    first, *_, last = map(str, dy.load("scara").closed_form().equations)
    assert first.startswith("(25.395 + 11.25*c2)*q_1'' + (10.0625 + 5.625*c2)*q_2'' - q_4'' - 11.25*s2*q_1'*q_2'")
    assert last == "-q_1'' - q_2'' + 1.4*q_4'' + 2*q_4' = tau_4"
    assert r"-\ddot{q}_1 - \ddot{q}_2 + 1.4 \ddot{q}_4" in dy.load("scara").closed_form().equations[-1].latex()


def test_rows_of_matrices_with_fractions_are_spaced():
    x = symbol("x")
    algebra = Algebra(Ring.of([x]), SymbolPrinter(NOTATIONS["dynamis"], {}, (True,)))
    whole, third = algebra.of_node(x), algebra.of_node(x / 3.0)
    assert np.array([whole, whole]).view(Formulas).latex() == r"\begin{bmatrix} x \\ x \end{bmatrix}"
    assert np.array([third, whole]).view(Formulas).latex() == r"\begin{bmatrix} \tfrac{1}{3} x \\[0.4em] x \end{bmatrix}"


DAMPED = """
[robot]
gravity = [0, "-g", 0]
[parameters]
M = "symbol"
h = "symbol"
g = "symbol"
c_1 = "symbol"
c_2 = "symbol"
[[link]]
type = "revolute"
mass = "M"
com = ["h", 0, 0]
viscous = "c_1"
[[link]]
type = "revolute"
xyz = ["h", 0, 0]
mass = "M"
com = ["h", 0, 0]
viscous = "c_2"
"""


def test_functions_are_written_in_full_where_parameters_have_the_names_of_abbreviations():
    form = dy.load(DAMPED).closed_form()
    assert form.equations[0].latex().endswith(r"c_1 \dot{q}_1 + M g h (2 \cos q_1 + \cos(q_1 + q_2)) = \tau_1")
    assert str(form.g[1]) == "M*g*h*cos(q_1 + q_2)"
    assert [name for name, _ in form.compact.names] == [r"\eta"]  # h is a length
    assert dy.check_answer(form, "equations", "\n".join(x.latex() for x in form.equations)).correct
    others = dy.load(
        DAMPED.replace("c_1", "b_1").replace("c_2", "b_2").replace('"h"', '"a"').replace("h =", "a =")
    ).closed_form()
    assert r"(2 c_1 + c_{12})" in others.equations[0].latex()
    assert [name for name, _ in others.compact.names] == ["h"]


@pytest.mark.parametrize("name", ["tau_1", "q_2"])
def test_parameters_with_names_of_variables_are_refused(name):
    with pytest.raises(dy.InputError, match=f"parameter '{name}' has the name of a joint variable or torque"):
        dy.load(DAMPED.replace('"M"', f'"{name}"').replace("M =", f"{name} =")).closed_form()


@pytest.mark.parametrize(
    ("name", "other"), [("l1", "l_1"), ("lc1", "l_c1"), ("I_xx", "Ixx"), ("ell_1", "l_1"), ("phi", "varphi")]
)
def test_two_parameters_with_one_spelling_are_refused(name, other):
    text = DAMPED.replace("M =", f'{name} = "symbol"\n{other} =').replace('mass = "M"', f'mass = "{name} * {other}"')
    with pytest.raises(dy.InputError, match=r"cannot be told apart in formulas, .*; rename one of them in the file") as told:
        dy.load(text).closed_form()
    assert f"'{name}'" in str(told.value)
    assert f"'{other}'" in str(told.value)


def test_names_of_several_letters_are_read_as_they_are_printed():
    form = dy.load(DAMPED.replace("c_1", "th1").replace('"h"', '"ab1"').replace("h =", "ab1 =")).closed_form()
    for written in ("\n".join(x.latex() for x in form.equations), "\n".join(map(str, form.equations))):
        assert "th_1" in written.replace(r"\mathrm{th}", "th")
        assert dy.check_answer(form, "equations", written).correct
        for wrong in (written.replace("ab}_1", "th}_1", 1), written.replace("ab_1", "th_1", 1)):
            assert wrong == written or not dy.check_answer(form, "equations", wrong).correct
