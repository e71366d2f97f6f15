"""Mass matrices that cannot be inverted: every path to accelerations notices, and names the joints."""

import subprocess
import sys

import numpy as np
import pytest
from random_trees import random_inertia, random_pose, random_robot, random_states

import dynamis as dy
from dynamis.algorithms.dynamics import forward_dynamics, forward_dynamics_through_mass_matrix
from dynamis.algorithms.mass_matrix import crba
from dynamis.algorithms.singularity import inertia_scale
from dynamis.compiler.cuda_text import render
from dynamis.compiler.lowering import trace
from dynamis.errors import ModelWarning, SingularError
from dynamis.model.build import with_floating_base
from dynamis.model.description import Description
from dynamis.model.massless import is_regular, massless_motion
from dynamis.robot import Robot
from dynamis.scalar import solve_positive, symbol
from dynamis.spatial import Inertia

CART_POLE = """<robot name="cart_pole">
  <link name="rail"/>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <link name="cart"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="cart"/><child link="pole"/><axis xyz="0 1 0"/></joint>
  <link name="pole"><inertial><origin xyz="0 0 0.5"/><mass value="0.1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""


@pytest.fixture
def floating_cart_pole(tmp_path):
    path = tmp_path / "cart_pole.urdf"
    path.write_text(CART_POLE)
    with pytest.warns(ModelWarning, match=r"joints 'floating_base', 'slide': they can move together without moving any mass"):
        return dy.load(path, base="floating")


def massless_tree(rng):
    """A chain with some massless links, half of them on a free base: singular or not."""
    bodies, floating = int(rng.integers(2, 8)), rng.random() < 0.5
    d = Description("chain").add_link("l0", inertia=None if floating else random_inertia(rng))
    for i in range(1, bodies + 1):
        inertia = None if i < bodies and rng.random() < 0.6 else random_inertia(rng)
        kind = str(rng.choice(["revolute", "prismatic"]))
        d.add_link(f"l{i}", f"l{i - 1}", kind, joint_name=f"j{i}", axis=rng.standard_normal(3), origin=random_pose(rng),
                   inertia=inertia)  # fmt: skip
    return Robot(with_floating_base(d) if floating else d)


def singular_robots(count, seed=0):
    rng = np.random.default_rng(seed)
    while count:
        robot = massless_tree(rng)
        q = robot.random(rng)
        if massless_motion(robot.model, q) is not None:
            count -= 1
            yield robot, q


@pytest.mark.parametrize("name", ["forward_dynamics", "forward_dynamics_derivatives"])
def test_a_floating_base_without_mass_is_refused_by_the_joints_names(floating_cart_pole, name):
    robot = floating_cart_pole
    q, zero = robot.random(0), np.zeros(robot.n)
    with pytest.raises(SingularError, match=r"joints 'floating_base', 'slide' can move together without moving any mass"):
        getattr(robot, name)(q, zero, zero)


def test_compiled_batches_of_both_precisions_notice(floating_cart_pole):
    robot = floating_cart_pole
    q = robot.random(0, size=7)
    for dtype in (np.float64, np.float32):
        with pytest.raises(SingularError, match="'floating_base', 'slide'"):
            robot.forward_dynamics(q.astype(dtype), np.zeros(robot.n, dtype), np.zeros(robot.n, dtype))


def test_rollouts_and_simulations_refuse_it(floating_cart_pole):
    robot = floating_cart_pole
    with pytest.raises(SingularError, match="'floating_base', 'slide'"):
        dy.rollouts(robot, 0.1, robot.neutral())
    with pytest.raises(SingularError, match="'floating_base', 'slide'"):
        dy.simulate(robot, 0.1, robot.neutral())


def test_on_a_fixed_base_the_same_robot_is_regular(tmp_path):
    path = tmp_path / "cart_pole.urdf"
    path.write_text(CART_POLE)
    robot = dy.load(path)
    assert np.isfinite(robot.forward_dynamics(np.zeros(2), np.zeros(2), np.ones(2))).all()
    assert dy.check(path).ok


def test_a_library_robot_on_a_massless_floating_base_is_told(recwarn):
    dy.load("ur5e")
    assert not recwarn.list
    with pytest.warns(ModelWarning, match=r"'floating_base', 'shoulder_pan_joint'"):
        dy.load("ur5e", base="floating")


@pytest.mark.filterwarnings("ignore:.*without moving any mass")
def test_singular_robots_in_general_position_are_refused_by_every_formulation():
    for robot, q in singular_robots(60):
        zero, tau = np.zeros(robot.n), np.ones(robot.n)
        for way in (forward_dynamics, forward_dynamics_through_mass_matrix):
            with pytest.raises(SingularError, match="without moving any mass"):
                way(robot.model, q, zero, tau)


@pytest.mark.parametrize("way", [forward_dynamics, forward_dynamics_through_mass_matrix])
@pytest.mark.filterwarnings("ignore:.*without moving any mass")
def test_the_expressions_that_are_compiled_give_no_finite_number_for_singular_robots(way):
    for robot, q in singular_robots(8, seed=2):
        symbols = [dy.symbol(f"x{k}") for k in range(robot.nq)]
        try:
            traced = way(robot.model, np.array(symbols, dtype=object), np.zeros(robot.n), np.ones(robot.n))
        except SingularError as error:  # a pivot that is zero for every q
            assert "without moving any mass" in str(error)
        else:
            found = np.array(dy.evaluate(traced, dict(zip(symbols, q, strict=True))), dtype=float)
            assert not np.isfinite(found).all()


@pytest.mark.filterwarnings("ignore:.*without moving any mass")
def test_compiled_code_notices_singular_robots_in_general_position():
    for robot, q in singular_robots(6, seed=1):
        with pytest.raises(SingularError, match="without moving any mass"):
            robot.forward_dynamics(np.stack([q, q]), np.zeros(robot.n), np.ones(robot.n))


def test_regular_robots_keep_their_accelerations():
    rng = np.random.default_rng(3)
    for _ in range(30):
        robot = random_robot(rng, mimics=False)
        q, v, tau = (x[0] for x in random_states(rng, robot, 1))
        assert np.isfinite(forward_dynamics(robot.model, q, v, tau)).all()
        assert massless_motion(robot.model, q) is None


@pytest.mark.parametrize("name", ["panda", "scara", "go2"])
def test_single_precision_does_not_take_light_wrists_for_singular(name):
    robot = dy.load(name, base="floating")
    q = robot.random(0, size=50).astype(np.float32)
    a = robot.forward_dynamics(q, np.zeros(robot.n, np.float32), np.zeros(robot.n, np.float32))
    assert a.dtype == np.float32
    assert np.isfinite(a).all()


def wrist():
    """Three joints whose outer axes align at zero; its inner links are massless."""
    d = Description("wrist").add_link("base")
    d.add_link("a", "base", "revolute", joint_name="first", axis=[0, 0, 1])
    d.add_link("b", "a", "revolute", joint_name="second", axis=[0, 1, 0])
    d.add_link("c", "b", "revolute", joint_name="third", axis=[0, 0, 1], inertia=random_inertia(np.random.default_rng(0)))
    return Robot(d)


def test_a_singular_configuration_of_a_regular_robot_is_refused_there_only():
    robot, zero = wrist(), np.zeros(3)
    assert np.isfinite(robot.forward_dynamics(np.array([0.1, 0.7, 0.2]), zero, zero)).all()
    with pytest.raises(SingularError, match=r"joints 'first', 'third'"):
        robot.forward_dynamics(np.array([0.1, 0.0, 0.2]), zero, zero)


def test_the_scale_bounds_the_diagonal_of_the_mass_matrix():
    rng = np.random.default_rng(4)
    for _ in range(20):
        robot = random_robot(rng, kinds=("revolute", "continuous", "spherical"), mimics=False, tails=False)
        M = crba(robot.model, robot.random(rng))
        assert (np.diagonal(M) <= inertia_scale(robot.model) * (1.0 + 1e-12)).all()


def test_numbers_that_overflow_are_not_called_a_singular_matrix():
    with pytest.raises(SingularError, match="not finite"):
        solve_positive(np.array([[np.inf, 0.0], [0.0, 1.0]]), np.ones(2))


def test_the_test_of_a_pivot_is_in_generated_code():
    robot = dy.load("planar_2r_melchiorri")
    code = trace(lambda q: forward_dynamics_through_mass_matrix(robot.model, q, np.zeros(2), np.zeros(2)), [("q", 2)])
    assert "pivot" in code.cost()
    for precision, tolerance in (("double", "1e-11"), ("float", "f")):
        text = render(code, "fd", precision)
        assert "> " in text
        assert tolerance in text


def test_exported_c_tests_its_pivots(tmp_path):
    wrist().write_c("forward_dynamics", tmp_path)
    assert any("> 1e-11 *" in path.read_text() for path in tmp_path.glob("*.c"))


def test_c_of_a_robot_that_is_always_singular_is_refused(floating_cart_pole, tmp_path):
    with pytest.raises(SingularError, match="'floating_base', 'slide'"):
        floating_cart_pole.write_c("forward_dynamics", tmp_path)


def test_importing_the_model_needs_no_algorithm():
    code = "import sys, dynamis.model.build; print(any(name.startswith('dynamis.algorithms') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"


def test_rollouts_name_the_joints_of_a_singular_state_in_the_batch():
    robot = wrist()
    made = dy.rollouts(robot, 0.01, np.array([[0.1, 0.7, 0.2], [0.1, 0.0, 0.2]]))
    assert made.finite.tolist() == [True, False]
    assert made.status.startswith("1 of 2 ended at a singular mass matrix (motion 1")
    assert "'first', 'third'" in made.status


def test_only_a_body_with_mass_and_moments_about_every_axis_is_regular():
    m = symbol("m")
    assert all(is_regular(body) for body in (dy.solids.sphere(0.1, mass=1.0), dy.solids.sphere(0.1, mass=m)))
    flat = dy.solids.disc(0.1, mass=1.0)
    assert is_regular(flat)
    assert not any(is_regular(body) for body in (Inertia.zero(), dy.solids.point_mass(mass=1.0), dy.solids.rod(0.1, mass=1.0)))
