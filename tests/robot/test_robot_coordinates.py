"""Coordinates of a robot: singularities, followers, home positions, masked entries, kernels of frames."""

import numpy as np
import pytest
from random_trees import random_robot, random_states, relative_error

import dynamis as dy
from dynamis.algorithms import mass_matrix
from dynamis.algorithms.registry import ALGORITHMS, Algorithm
from dynamis.model.description import Description, Mimic
from dynamis.robot import Robot


def test_the_rotation_vector_has_no_singularity_at_rest():
    robot = dy.load("kuka_iiwa14")
    J, J_A = robot.jacobian(np.zeros(7)), robot.analytic_jacobian(np.zeros(7), orientation="rotation_vector")
    assert relative_error(J_A, J) < 1e-12


def test_singular_coordinates_are_said_to_be_singular():
    robot = dy.load("kuka_iiwa14")
    with pytest.raises(dy.SingularError, match="singular"):
        robot.analytic_jacobian(np.zeros(7), orientation="zyz")


def test_a_stage_and_a_joint_of_the_same_name_keep_their_own_coordinates():
    bar = dy.solids.box(0.1, 0.2, 0.3, mass=1.0)
    d = dy.Description("namesakes").add_link("base")
    d.add_link("a", "base", "universal", joint_name="u", axis=(0, 0, 1), axis2=np.array([1.0, 0, 0]), inertia=bar)
    d.add_link("b", "a", "revolute", joint_name="u.1", axis=(0, 1, 0), inertia=bar)
    robot = dy.Robot(d)
    assert np.linalg.eigvalsh(robot.mass_matrix(np.zeros(3)))[0] > 0.0


def test_a_follower_has_the_physics_of_the_same_joint_uncoupled(without_compilation):
    """Friction, rotor and spring of a follower, seen through q = G q₀ + o."""
    rng = np.random.default_rng(11)
    compared = 0
    for _ in range(20):
        coupled = random_robot(rng, bodies=6, floating=False, kinds=("revolute", "prismatic", "helical"))
        if not coupled.model.coupled:
            continue
        d = coupled.description
        for j in d.joints:
            j.mimic = None
        plain = dy.Robot(d)
        G, o = np.zeros((plain.n, coupled.n)), np.zeros(plain.n)
        for k, name in enumerate(plain.joint_names):
            ratio, offset, at = 1.0, 0.0, coupled.description.joint(name)
            while at.mimic is not None:
                offset, ratio = offset + ratio * at.mimic.offset, ratio * at.mimic.ratio
                at = coupled.description.joint(at.mimic.joint)
            G[k, coupled.joint_names.index(at.name)], o[k] = ratio, offset
        q, v, a = (x[0] for x in random_states(rng, coupled, 1))
        tau = G.T @ plain.inverse_dynamics(G @ q + o, G @ v, G @ a)
        assert relative_error(coupled.inverse_dynamics(q, v, a), tau) < 1e-12
        assert relative_error(coupled.mass_matrix(q), G.T @ plain.mass_matrix(G @ q + o) @ G) < 1e-12
        compared += 1
    assert compared >= 5


@pytest.mark.filterwarnings("ignore:.*without moving any mass")
def test_a_follower_narrows_the_limits_of_its_leader():
    from dynamis.model.description import Limits, Mimic

    bar = dy.solids.rod(1.0, mass=1.0)
    d = dy.Description("gripper").add_link("palm").add_link("left", "palm", "revolute", inertia=bar, limits=Limits(-2.0, 2.0))
    d.add_link("right", "palm", "revolute", inertia=bar, limits=Limits(-0.5, 0.5), mimic=Mimic("left_joint", 2.0, 0.1))
    limits = dy.Robot(d).limits
    assert limits["lower"] == pytest.approx([-0.3])
    assert limits["upper"] == pytest.approx([0.2])


def test_masked_entries_are_refused_and_masked_arrays_without_them_are_not():
    robot = dy.load("planar_2r_melchiorri")
    q = np.ma.array([[0.1, 0.2], [0.3, 0.4]], mask=[[False, False], [False, True]])
    with pytest.raises(dy.InputError, match=r"q has masked entries; .*filled"):
        robot.gravity(q)
    assert np.array_equal(robot.gravity(np.ma.array(q.data)), robot.gravity(q.data))


@pytest.mark.parametrize("name", ["panda", "go2", "g1", "ur5e", "stanford"])
def test_home_is_within_the_limits_and_zero_wherever_these_include_it(name):
    robot = dy.load(name)
    q, lower, upper = robot.home(), robot.limits["lower"], robot.limits["upper"]
    assert np.all((lower <= q) & (q <= upper))
    assert np.array_equal(q == 0.0, (lower <= 0.0) & (upper >= 0.0))


@pytest.mark.parametrize(
    ("limits", "home"),
    [("lower = 0.2, upper = 0.6", 0.4), ("lower = 0.2", 0.2), ("upper = -0.3", -0.3), ("lower = -1, upper = 0", 0.0)],
)
def test_home_is_mid_range_or_the_only_limit(limits, home, tmp_path):
    (tmp_path / "slider.toml").write_text(
        '[robot]\nname = "slider"\n[[dh]]\nlink = "carriage"\ntype = "prismatic"\nmass = 1.0\n'
        f"inertia = {{ xx = 1, yy = 1, zz = 1 }}\nlimits = {{ {limits} }}\n"
    )
    assert dy.load(tmp_path / "slider.toml").home() == pytest.approx([home])


@pytest.mark.parametrize("name", ["pose", "jacobian", "velocity", "acceleration", "jacobian_dot", "analytic_jacobian"])
def test_kernels_of_a_frame_give_the_values_of_the_method(name):
    robot = dy.load("xarm7")
    frame = robot.link_names[4]
    kernel = robot.kernel(name, frame=frame)
    state = [robot.random(1)] + [np.linspace(-1.0, 1.0, robot.n)] * (len(kernel.arguments) - 1)
    assert kernel(*state) == pytest.approx(getattr(robot, name)(*state, frame=frame), abs=1e-14)
    assert np.abs(kernel(*state) - getattr(robot, name)(*state)).max() > 1e-3  # of the tip


def test_a_frame_is_refused_where_nothing_depends_on_it():
    with pytest.raises(dy.InputError, match="gravity does not depend on a frame"):
        dy.load("ur5e").kernel("gravity", frame="tool0")


def test_a_function_of_the_model_is_evaluated_over_batches():
    trace = Algorithm("trace_of_inertia", lambda model, q: np.trace(mass_matrix.crba(model, q)), ("q",))
    robot = dy.load("ur5e")
    q = robot.random(0, (4, 3))
    assert robot.evaluate(trace, q) == pytest.approx(np.trace(robot.mass_matrix(q), axis1=-2, axis2=-1))
    with pytest.raises(dy.InputError, match=r"takes an algorithm.*got dict; robot\.replace\(parameters="):
        dy.load("ur5e").evaluate({"m": 1.0})


@pytest.mark.parametrize(
    ("joints", "coupled", "methods"),
    [(16, False, ["M"]), (17, False, ["M", "ABA"]), (39, False, ["M", "ABA"]), (40, False, ["ABA"]), (40, True, ["M"])],
)
def test_forward_dynamics_is_compiled_by_recursion_for_long_chains_of_independent_joints(joints, coupled, methods):
    d = Description("chain").add_link("l0")
    for k in range(1, joints + 1):
        d.add_link(f"l{k}", f"l{k - 1}", "revolute", joint_name=f"j{k}", origin=dy.Pose.translation([0.1, 0.0, 0.0]),
                   inertia=dy.solids.sphere(0.05, mass=1.0))  # fmt: skip
    if coupled:
        d.add_link(
            "follower", "l0", "revolute", joint_name="follower", mimic=Mimic("j1"), inertia=dy.solids.sphere(0.05, mass=1.0)
        )
    row, model = ALGORITHMS["forward_dynamics"], Robot(d).model
    short = {"factorisation M = Lᵀ D L, solved for τ − bias": "M", "articulated-body algorithm": "ABA"}
    assert [short[m.title] for m in row.candidates(model)] == methods
    assert [short[m.title] for m in row.compared(model)] == (["M"] if coupled else ["M", "ABA"])


def test_the_text_of_a_robot_counts_one_body_and_several():
    assert "1 degree of freedom, 1 moving body, tip 'pendulum'>" in repr(dy.load("pendulum_from_vertical"))
    assert "6 degrees of freedom, 6 moving bodies, tip 'tool0'>" in repr(dy.load("ur5e"))
    assert "moving bodies, no single tip>" in repr(dy.load("go2"))
    assert "1 degree of freedom, 1 moving body>" in repr(dy.load("pendulum_from_vertical").model)
    assert "ClosedForm of 1 degree of freedom," in repr(dy.load("pendulum_from_vertical").closed_form())
