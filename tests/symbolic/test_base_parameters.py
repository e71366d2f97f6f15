"""Base parameters: as many as the numerical rank, by rules that leave the torque as it is."""

import numpy as np
import pytest
from closed_forms import InNumbers, arm, at, in_numbers, largest_error, rod, small_library, with_symbols
from random_trees import ONE_NUMBER, random_robot

import dynamis as dy
from dynamis.algorithms import regressor
from dynamis.model.description import Mimic
from dynamis.scalar import symbol
from dynamis.symbolic.closed_form import closed_form
from dynamis.symbolic.formulas import Formulas

NUMERIC = [name for name in small_library() if not dy.load(name).model.symbolic]
WITHIN_A_MINUTE = [pytest.param(n, marks=pytest.mark.campaign) if n == "xarm7" else n for n in NUMERIC]
SYMBOLIC = [name for name in small_library() if name not in NUMERIC]


def numerical_rank(robot, seed=0):
    """Of the regressor at random states: the inertial columns, and those of the rotors that are there."""
    rng = np.random.default_rng(seed)
    bodies, n = len(robot.model.moving), robot.n
    count = 30 + 15 * bodies
    Y = robot.regressor(robot.random(rng, count), *rng.uniform(-2.0, 2.0, (2, count, n)))
    rotors = [10 * bodies + 5 * k + 3 for k in range(n) if robot.model.rotor[k] != 0.0]
    Y = Y[..., [*range(10 * bodies), *rotors]].reshape(-1, 10 * bodies + len(rotors))
    sizes = np.linalg.norm(Y, axis=0)
    values = np.linalg.svd(Y[:, sizes > 1e-12 * sizes.max()] / sizes[sizes > 1e-12 * sizes.max()], compute_uv=False)
    ratios = values / values[0]
    assert not np.any((ratios > 1e-11) & (ratios < 1e-6)), "the rank is not clear"
    return int(np.sum(ratios > 1e-8))


def product(A, b):
    return Formulas.of((sum((A[i, k] * b[k] for k in range(1, len(b))), A[i, 0] * b[0]) for i in range(len(A))), (len(A),))


@pytest.mark.parametrize("name", WITHIN_A_MINUTE)
def test_dimension_is_the_numerical_rank(name):
    x = in_numbers(name)
    assert x.form.base.dimension == numerical_rank(x.robot)


@pytest.mark.parametrize("name", SYMBOLIC)
def test_dimension_with_symbols_is_the_numerical_rank_with_numbers(name):
    x = in_numbers(name)
    assert x.form.base.dimension == numerical_rank(x.numeric)


@pytest.mark.parametrize("seed", range(10))
def test_dimension_of_random_trees_is_the_numerical_rank(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=int(rng.integers(1, 4)), floating=False, kinds=ONE_NUMBER, mimics=False)
    assert robot.closed_form().base.dimension == numerical_rank(robot)


@pytest.mark.parametrize("ratio", [-1.0, 0.5, 1.2345])
def test_dimension_with_a_follower_is_the_numerical_rank(ratio):
    d = dy.Description("follower", gravity=(0, -10, 1)).add_link("link0")
    for k, parent in ((1, 0), (2, 1), (3, 0)):
        fields = {"mimic": Mimic("joint1", ratio, 0.2)} if k == 3 else {}
        d.add_link(f"link{k}", f"link{parent}", "revolute", joint_name=f"joint{k}", axis=(0, k - 1, 1), origin=dy.Pose(np.eye(3), np.array([0.5, 0.1 * k, 0.0])), inertia=dy.solids.box(0.1, 0.2, 0.3, mass=1.0), **fields)  # fmt: skip
    robot = dy.Robot(d)
    assert robot.closed_form().base.dimension == numerical_rank(robot)


@pytest.mark.parametrize("name", [*SYMBOLIC, "planar_2r_melchiorri"])
def test_base_regressor_times_base_parameters_is_the_torque(name):
    form = in_numbers(name).form
    assert product(form.base_regressor, form.base_parameters) == form.torque


@pytest.mark.parametrize("name", ["puma560", "stanford", "scara", "ur5e"])
def test_base_regressor_times_base_parameters_is_the_torque_in_decimals(name):
    x = in_numbers(name)
    Y, p = x.of(x.form.base_regressor), x.of(x.form.base_parameters)
    assert largest_error(np.einsum("bij,bj->bi", Y, p), x.numeric.inverse_dynamics(x.q, x.v, x.a)) < 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_base_parameters_of_random_trees_give_the_torque(seed):
    rng = np.random.default_rng(50 + seed)
    robot = random_robot(rng, bodies=int(rng.integers(1, 4)), floating=False, kinds=ONE_NUMBER, mimics=seed % 2 == 0)
    x = InNumbers(robot, robot.closed_form())
    Y, p = x.of(x.form.base_regressor), x.of(x.form.base_parameters)
    assert largest_error(np.einsum("bij,bj->bi", Y, p), robot.inverse_dynamics(x.q, x.v, x.a)) < 1e-9


def rules_leave_the_torque(form):
    """Each rule as what it says of the columns: the parameter's column is Σ β × the columns of what gains from it."""
    Y = form.formulas(regressor.regressor(form.model, form.q, form.v, form.a))
    letters = [f"{letter}{k}'" for k in range(1, len(form.model.moving) + 1) for letter in ("m_", "mx_", "my_", "mz_", "I_xx", "I_xy", "I_yy", "I_xz", "I_yz", "I_zz")]  # fmt: skip
    place = {name: k for k, name in enumerate(letters)}
    for rule in form.base.rules:
        column = Y[:, place[str(rule.parameter)]]
        gained = column * 0
        for base, beta in rule.into:
            gained = gained + Y[:, place[str(base)]] * beta
        assert (column - gained).view(Formulas).is_zero, str(rule)
    return len(form.base.rules)


def test_symbolic_puma_has_thirty_six_base_parameters_whose_rules_are_proven():
    form = closed_form(with_symbols(dy.load("puma560").model))
    assert form.base.dimension == 36
    assert rules_leave_the_torque(form) == 60 - 36
    assert product(form.base_regressor, form.base_parameters) == form.torque


def test_every_base_parameter_of_the_symbolic_puma_is_a_sum_of_the_robots_own():
    form = closed_form(with_symbols(dy.load("puma560").model))
    state = {id(x) for x in (*form.q, *form.v, *form.a)}
    for p in form.base_parameters:
        assert all(id(a.node) not in state for k, a in enumerate(form.algebra.ring.atoms) if p.numerator.degrees()[k])
    assert len(form.base_parameters) == 36
    assert len(form.base.names) == 36


@pytest.mark.parametrize("name", ["stanford", "scara"])
def test_rules_of_other_structures_are_proven_with_symbols_for_their_lengths(name):
    robot = dy.load(name)
    form = closed_form(with_symbols(robot.model))
    assert rules_leave_the_torque(form) == 10 * robot.n - form.base.dimension
    assert product(form.base_regressor, form.base_parameters) == form.torque


def test_angle_of_the_geometry_belongs_to_the_coefficients():
    alpha = symbol("alpha")
    c, s = np.cos(alpha), np.sin(alpha)
    R = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]], dtype=object)
    d = dy.Description("twisted", gravity=np.array([0.0, 0.0, -symbol("g")], dtype=object)).add_link("link0")
    d.add_link("link1", "link0", "revolute", inertia=rod(1)).add_link("link2", "link1", "revolute", origin=at(symbol("a_1"), R=R), inertia=rod(2))  # fmt: skip
    form = closed_form(with_symbols(dy.Robot(d).model, geometry=False))
    numbers = dy.Description("twisted", gravity=(0, 0, -9.81)).add_link("link0")
    turned = dy.Pose(
        np.array([[1.0, 0, 0], [0, np.cos(0.7), -np.sin(0.7)], [0, np.sin(0.7), np.cos(0.7)]]), np.array([0.4, 0, 0])
    )
    box = dy.solids.box(0.1, 0.2, 0.3, mass=1.0)
    numbers.add_link("link1", "link0", "revolute", inertia=box).add_link(
        "link2", "link1", "revolute", origin=turned, inertia=box
    )
    assert form.base.dimension == numerical_rank(dy.Robot(numbers))
    assert product(form.base_regressor, form.base_parameters) == form.torque
    assert rules_leave_the_torque(form) == 20 - form.base.dimension
    assert any("alpha" in str(rule) for rule in form.base.rules)


def test_helical_joints_with_symbols_for_their_pitches_are_regrouped():
    robot = arm([(0, 0, 1)] * 2, kinds=["helical", "helical"], joint1={"pitch": symbol("h_1")}, joint2={"pitch": symbol("h_2")})
    form = closed_form(with_symbols(robot.model))
    assert product(form.base_regressor, form.base_parameters) == form.torque
    rules_leave_the_torque(form)


def test_rules_print_the_parameter_and_what_gains_from_it():
    base = in_numbers("planar_2r").form.base
    text, latex = "\n".join(map(str, base.rules)), "\n".join(rule.latex() for rule in base.rules)
    assert "does not enter" in text
    assert "+=" in text
    assert r"\mathrel{+}=" in latex
    assert latex.count("{") == latex.count("}")


def test_columns_of_a_base_regressor_are_independent():
    x = in_numbers("puma560")
    Y = x.of(x.form.base_regressor)
    stacked = Y.reshape(-1, Y.shape[-1])
    assert np.linalg.matrix_rank(stacked / np.linalg.norm(stacked, axis=0), tol=1e-8) == Y.shape[-1]


def test_links_of_equal_parameters_share_their_base_parameters():
    leg = '[[link]]\nparent = "torso"\ntype = "revolute"\nxyz = [{}, {}, 0]\nmass = "m"\ncom = ["l", 0, 0]\ninertia = {{zz = "I"}}\n'
    legs = "".join(leg.format(x, y) for x, y in ((0.3, 0.3), (0.3, -0.2), (-0.1, 0.4)))
    names = "".join(f'{name} = "symbol"\n' for name in ("m", "l", "I", "M", "a", "J", "g"))
    torso = '[[link]]\nlink = "torso"\ntype = "revolute"\nmass = "M"\ncom = ["a", 0, 0]\ninertia = {zz = "J"}\n'
    form = dy.load(f'[robot]\ngravity = [0, "-g", 0]\n[parameters]\n{names}{torso}{legs}').closed_form()
    assert list(map(str, form.base_parameters))[-2:] == ["m*l^2 + I", "m*l"]
    assert len(form.base_parameters) == len(form.base.names) == len(form.parameters) == 5
    assert form.base.dimension == 12
    assert product(form.base_regressor, form.base_parameters) == form.torque


GEARED = """
[robot]
name = "geared arm"
[parameters]
m_1 = "symbol"
l_1 = "symbol"
I_m1 = "symbol"
k_r1 = "symbol"
[[link]]
mass = "m_1"
com = ["l_1", 0, 0]
inertia = { zz = 0.1 }
rotor_inertia = "I_m1"
gear_ratio = "k_r1"
"""


def test_a_rule_for_a_motor_regroups_its_inertia_seen_through_the_gear(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(GEARED)
    form = dy.load(path).closed_form()
    (name, value), rules = form.base.reflected[0], [str(rule) for rule in form.base.rules]
    assert (str(name).rstrip("'"), str(value)) == ("I_a1", "I_m1*k_r1^2")
    assert any(rule == "I_zz1 += (1) I_a1" for rule in rules)
    assert not any("I_m1" in rule for rule in rules)  # the letter of the robot's own, the inertia of the rotor itself
    text = form.derivation().markdown()
    assert text.index("I_{a1} = I_{m1} k_{r1}^2") < text.index(r"I_{zz1} \mathrel{+}= I_{a1}")
