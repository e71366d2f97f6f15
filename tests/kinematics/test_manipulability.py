"""Manipulability, its gradient, condition numbers and the masses felt at the tip: formulas, differences, batches, symbols."""

import numpy as np
import pytest
from random_trees import random_robot

import dynamis as dy
from dynamis.kinematics.directions import characteristic_length, directions_of
from dynamis.kinematics.jacobian_measures import minors, volume
from dynamis.kinematics.manipulability import (
    condition_number,
    manipulability_gradient,
    operational_eigenvalues,
    operational_mobility,
)  # fmt: skip
from dynamis.scalar import gradient

ARMS = ["planar_2r_melchiorri", "ur5e", "panda", "stanford", "scara"]
SIX = ["ur5e", "panda", "stanford"]  # with joints for six directions
H = 1e-6


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r_melchiorri")


def task_jacobian(robot, q, rows=None):
    return directions_of(robot, None, rows).selection @ robot.jacobian(q)


def test_minors_are_determinants_of_all_choices_of_columns():
    A = np.random.default_rng(0).standard_normal((3, 5))
    from itertools import combinations

    expected = [np.linalg.det(A[:, list(c)]) for c in combinations(range(5), 3)]
    np.testing.assert_allclose(minors(A), expected, rtol=1e-10)
    assert volume(A) == pytest.approx(np.prod(np.linalg.svd(A)[1]), rel=1e-12)


def test_a_volume_is_exact_also_where_it_is_nearly_zero():
    A = np.random.default_rng(1).standard_normal((3, 4))
    A[2] = A[0] + A[1] + 1e-11 * A[2]
    # √det(A Aᵀ) would have lost every digit here
    assert volume(A) == pytest.approx(np.prod(np.linalg.svd(A)[1]), rel=1e-4)
    wide = np.random.default_rng(2).standard_normal((6, 40))
    assert volume(wide) == pytest.approx(np.prod(np.linalg.svd(wide)[1]), rel=1e-9)


@pytest.mark.parametrize("name", ARMS)
def test_measures_are_products_of_singular_values_over_a_batch(name):
    robot = dy.load(name)
    q = robot.random(1, (3, 4))
    A = task_jacobian(robot, q)
    w = np.prod(np.linalg.svd(A, compute_uv=False), axis=-1)
    np.testing.assert_allclose(dy.manipulability(robot, q), w, rtol=1e-10)
    np.testing.assert_allclose(dy.manipulability(robot, q, kind="force"), 1 / w, rtol=1e-10)
    dynamic = np.prod(np.linalg.svd(A @ np.linalg.inv(robot.mass_matrix(q)), compute_uv=False), axis=-1)
    np.testing.assert_allclose(dy.manipulability(robot, q, kind="dynamic"), dynamic, rtol=1e-8)
    # one state is a number
    assert np.ndim(dy.manipulability(robot, q[0, 0])) == 0


def test_the_planar_arm_has_the_textbook_values(arm):
    q = np.random.default_rng(2).uniform(-3, 3, (20, 2))
    np.testing.assert_allclose(dy.manipulability(arm, q), np.abs(np.sin(q[:, 1])), atol=1e-14)
    np.testing.assert_allclose(manipulability_gradient(arm, q)[:, 1], np.cos(q[:, 1]) * np.sign(np.sin(q[:, 1])), atol=1e-12)
    np.testing.assert_allclose(manipulability_gradient(arm, q)[:, 0], 0, atol=1e-12)


@pytest.mark.parametrize(("name", "rows"), [*((name, None) for name in ARMS), *((name, "all") for name in SIX)])
def test_the_gradient_is_the_limit_of_differences(name, rows):
    robot = dy.load(name)
    q = robot.random(3, 4)
    exact = manipulability_gradient(robot, q, rows=rows)
    near = [(dy.manipulability(robot, robot.integrate(q, H * e), rows=rows) - dy.manipulability(robot, robot.integrate(q, -H * e), rows=rows)) / (2 * H)
            for e in np.eye(robot.n)]  # fmt: skip
    np.testing.assert_allclose(exact, np.stack(near, axis=-1), atol=1e-7)


def test_the_gradient_goes_along_the_velocities_of_joints_with_quaternions():
    rng = np.random.default_rng(4)
    robot = random_robot(rng, bodies=3, floating=False, kinds=("spherical", "revolute"), branching=0.0, mimics=False)
    q, tip = robot.random(rng), robot.link_names[-1]
    exact = manipulability_gradient(robot, q, tip)
    near = [(dy.manipulability(robot, robot.integrate(q, H * e), tip) - dy.manipulability(robot, robot.integrate(q, -H * e), tip)) / (2 * H)
            for e in np.eye(robot.n)]  # fmt: skip
    np.testing.assert_allclose(exact, near, atol=1e-7)


def test_at_a_singularity_the_gradient_is_a_subgradient(arm):
    np.testing.assert_allclose(manipulability_gradient(arm, [[0.3, 0.0], [0.3, 1.0]])[0], [0, 0], atol=1e-15)
    assert dy.manipulability(arm, [0.3, 0.0]) < 1e-15
    assert dy.manipulability(arm, [0.0, 0.0], kind="force") == np.inf


@pytest.mark.parametrize("name", ["ur5e", "panda"])
def test_it_can_be_part_of_a_compiled_function_and_be_differentiated_there(name):
    robot = dy.load(name)

    def climb(robot, q):
        return gradient(dy.manipulability(robot, q), list(q))

    q = robot.random(5, 6)
    compiled = robot.compile(climb)
    np.testing.assert_allclose(compiled(q), manipulability_gradient(robot, q), rtol=1e-8, atol=1e-12)
    direct = robot.compile(lambda robot, q: manipulability_gradient(robot, q))
    np.testing.assert_allclose(direct(q), compiled(q), rtol=1e-12, atol=1e-14)


def test_symbols_give_an_expression():
    arm = dy.load("planar_2r")
    q = np.array([dy.symbol("q1"), dy.symbol("q2")], dtype=object)
    w = dy.manipulability(arm, q)
    values = {q[0]: 0.3, q[1]: -1.1, dy.symbol("a_1"): 2.0, dy.symbol("a_2"): 0.5}
    assert float(dy.evaluate(w, values)) == pytest.approx(2.0 * 0.5 * np.sin(1.1))


def test_condition_numbers_are_ratios_of_singular_values_with_a_stated_length():
    robot = dy.load("ur5e")
    q = robot.random(6, 5)
    J = robot.jacobian(q)
    np.testing.assert_allclose(condition_number(robot, q), np.linalg.cond(J[:, :3]), rtol=1e-9)
    L = characteristic_length(robot)
    scaled = np.concatenate([J[:, :3] / L, J[:, 3:]], axis=1)
    np.testing.assert_allclose(condition_number(robot, q, rows="all"), np.linalg.cond(scaled), rtol=1e-9)
    other = np.concatenate([J[:, :3] / 0.2, J[:, 3:]], axis=1)
    np.testing.assert_allclose(condition_number(robot, q, rows="all", length=0.2), np.linalg.cond(other), rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.*millimetres")
def test_condition_numbers_do_not_depend_on_the_unit_of_length():
    """The same arm a thousand times as large, with a sliding joint: the default length grows along."""
    d = dy.load("stanford").description
    big = dy.load("stanford").description
    for joint in big.joints:
        for place in ("origin", "tail"):
            pose = getattr(joint, place)
            setattr(joint, place, type(pose)(pose.R, 1000.0 * np.asarray(pose.p, dtype=float)))
        if joint.type == "prismatic":
            joint.limits.lower, joint.limits.upper = 1000.0 * joint.limits.lower, 1000.0 * joint.limits.upper
    small, large = dy.Robot(d), dy.Robot(big)
    q = small.random(7)
    grown = q.copy()
    slides = [c.q_index for c in small.model.coordinates if not c.revolute]
    grown[slides] *= 1000.0
    assert characteristic_length(large) == pytest.approx(1000.0 * characteristic_length(small))
    assert condition_number(large, grown, rows="all") == pytest.approx(condition_number(small, q, rows="all"), rel=1e-9)


def test_singular_and_overdetermined_tasks_are_infinitely_ill_conditioned(arm):
    assert condition_number(arm, [0.3, 0.0]) == np.inf
    assert condition_number(arm, [0.3, 0.9], rows="all") == np.inf
    assert condition_number(arm, [0.0, 0.0], rows="x") == np.inf  # no motion at all, not rounding by rounding


@pytest.mark.parametrize("name", ARMS)
def test_masses_felt_at_the_tip_are_the_eigenvalues_of_lambda(name):
    robot = dy.load(name)
    q = robot.random(8, 4)
    A, M = task_jacobian(robot, q), robot.mass_matrix(q)
    inverse = A @ np.linalg.solve(M, np.swapaxes(A, -1, -2))
    np.testing.assert_allclose(operational_mobility(robot, q), inverse, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(operational_eigenvalues(robot, q), np.linalg.eigvalsh(np.linalg.inv(inverse)), rtol=1e-6)


def test_a_frame_that_cannot_move_feels_infinitely_heavy(arm):
    values = operational_eigenvalues(arm, [[0.3, 0.0], [0.3, 1.0]])
    assert values[0, 1] == np.inf
    assert np.isfinite(values[1]).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [({"kind": "speed"}, "velocity"), ({"rows": "all"}, "at most 2 rows, such as rows='x,y'"),
     ({"rows": "xyz", "frame": None}, "at most 2 rows, such as rows='x,y'"), ({"rows": np.eye(6)[:3]}, "at most 2 rows$"), ({"rows": "q"}, "row"), ({"frame": "nowhere"}, "frame"),
     ({"q": [1.0]}, "2 positions"), ({"q": [np.nan, 0]}, "finite")],
)  # fmt: skip
def test_bad_questions_are_refused(arm, options, words):
    given = {"q": [0.1, 0.2]} | options
    with pytest.raises(dy.DynamisError, match=words):
        dy.manipulability(arm, **given)
    with pytest.raises(dy.InputError, match="Robot"):
        dy.manipulability("ur5e", [0.0])


def test_the_rows_advised_for_a_single_joint_can_be_chosen():
    pendulum = dy.load("pendulum_from_vertical", parameters={"I": 1.0, "m": 2.0, "L": 0.5, "g": 9.81, "d": 0.02})
    with pytest.raises(dy.InputError, match=r"the robot 1 joint, .*; choose at most 1 row, such as rows='x'"):
        dy.manipulability(pendulum, [0.3], rows="xy")
    assert dy.manipulability(pendulum, [0.3], rows="x") == 0.0


def test_the_force_measure_is_infinite_where_the_jacobian_is_singular(arm):
    w = dy.manipulability(arm, [[0.3, 0.0], [0.3, np.pi], [0.3, 1e-6]], kind="force")
    assert np.isinf(w[:2]).all()
    assert w[2] == pytest.approx(1e6)
    assert dy.manipulability(arm, [0.3, 0.0], kind="force") == np.inf


@pytest.mark.filterwarnings("ignore:.*nothing with mass")
@pytest.mark.parametrize(
    "felt",
    [
        lambda robot, q, _v: dy.manipulability(robot, q, kind="dynamic"),
        lambda robot, q, _v: dy.manipulability(robot, [q, q], kind="dynamic"),
        lambda robot, q, _v: operational_mobility(robot, q),
        lambda robot, q, v: dy.operational_space(robot, q, v, dy.task_space.Position(rows=(0, 2))),
        lambda robot, q, v: dy.operational_space(robot, q, v, dy.task_space.Position(rows=(0, 2)), actuated=[0]),
    ],
)
def test_a_joint_that_moves_no_mass_is_named_by_measures_of_the_mass_felt(felt):
    d = dy.Description("light hand").add_link("base")
    d.add_link("rod", "base", "revolute", axis=(0, 1, 0), inertia=dy.solids.rod(1.0, mass=1.0))
    d.add_link("hand", "rod", "revolute", axis=(0, 1, 0), origin=dy.Pose.translation([0.0, 0.0, 1.0]))
    d.add_link("tip", "hand", origin=dy.Pose.translation([0.0, 0.0, 0.5]))
    with pytest.raises(dy.SingularError, match="joint 'hand_joint' can move without moving any mass; give the links"):
        felt(dy.Robot(d), [0.1, 0.2], [0.0, 0.0])
