"""Torques that hold a robot: their parts, the two conventions of the wrench, virtual work on random trees."""

import numpy as np
import pytest
from campaign_params import few_of
from random_trees import random_robot, relative_error

import dynamis as dy
from dynamis.statics import static_torques, virtual_work

SEEDS = range(12)


def random_case(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    while not robot.n:
        robot = random_robot(rng)
    return rng, robot, robot.random(rng), str(rng.choice(robot.link_names)), rng.uniform(-5, 5, 6)


@pytest.mark.parametrize("seed", few_of(SEEDS, SEEDS[:5]))
def test_the_total_is_what_the_recursion_of_forces_gives(seed):
    _, robot, q, frame, w = random_case(seed)
    held = static_torques(robot, q, w, frame)
    assert relative_error(held.total, robot.static_torque(q, {frame: w})) < 1e-11
    assert relative_error(held.weight + held.spring, robot.static_torque(q)) < 1e-11
    rest = np.zeros(robot.n)
    assert relative_error(held.total, robot.replace(friction=0).inverse_dynamics(q, rest, rest, {frame: w})) < 1e-11
    tau, _, _ = robot.static_forces(q, {frame: w})
    assert relative_error(held.total, tau) < 1e-11


@pytest.mark.parametrize("seed", few_of(SEEDS, SEEDS[:5]))
def test_virtual_work_is_zero_for_every_displacement_of_a_random_tree(seed):
    rng, robot, q, frame, w = random_case(seed)
    tau = static_torques(robot, q, w, frame).total
    for dq in rng.uniform(-1, 1, (5, robot.n)):
        work = virtual_work(robot, q, dq, tau, w, frame)
        assert abs(work.total) < 1e-10 * (abs(work.springs) + abs(work.torques) + abs(work.weight) + abs(work.wrench) + 1.0)
    # another torque does work in some displacement
    wrong = tau + 1.0
    assert abs(virtual_work(robot, q, np.ones(robot.n), wrong, w, frame).total - robot.n) < 1e-9 * (1 + abs(tau).sum())


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_virtual_work_of_the_weight_is_what_the_potential_energy_loses(seed):
    rng = np.random.default_rng(seed)
    robot = dy.load("ur5e")
    q, dq, h = robot.random(rng), rng.uniform(-1, 1, 6), 1e-6
    lost = (robot.potential_energy(q - h * dq) - robot.potential_energy(q + h * dq)) / (2 * h)
    assert virtual_work(robot, q, dq, np.zeros(6)).weight == pytest.approx(lost, rel=1e-6, abs=1e-6)


def test_the_two_conventions_are_each_others_negative():
    robot = dy.load("ur5e")
    q, w = robot.random(1), np.arange(1.0, 7.0)
    ours, theirs = (static_torques(robot, q, s * w, by=by) for s, by in ((1, "environment"), (-1, "robot")))
    np.testing.assert_array_equal(ours.load, theirs.load)
    np.testing.assert_allclose(static_torques(robot, q, w, by="robot").load, robot.jacobian(q).T @ w, rtol=1e-12)


def test_a_force_alone_has_no_moment_and_batches_broadcast():
    robot = dy.load("ur5e")
    q = robot.random(2, 7)
    held = static_torques(robot, q, (0, 0, -10.0))
    assert held.total.shape == (7, 6)
    np.testing.assert_array_equal(held.load, static_torques(robot, q, (0, 0, -10.0, 0, 0, 0)).load)
    many = static_torques(robot, q[0], np.tile([0, 0, -10.0, 0, 0, 0], (3, 1)))
    np.testing.assert_allclose(many.total, np.tile(held.total[0], (3, 1)), rtol=1e-12)


def test_limits_say_whether_it_is_possible():
    robot = dy.load("ur5e")
    q = robot.neutral()
    light, heavy = static_torques(robot, q, (0, 0, -10)), static_torques(robot, q, (0, 0, -1000))
    assert light.possible
    assert not heavy.possible
    assert (heavy.used > 1).any()


@pytest.mark.parametrize(
    ("change", "words"),
    [({"by": "nobody"}, "environment"), ({"wrench": [1, 2]}, "the 3 of a force alone"), ({"wrench": [np.nan] * 6}, "finite"),
     ({"frame": "tol0"}, "tool0"), ({"q": [0.0]}, "6 positions"), ({"wrench": "strong"}, "numbers")],
)  # fmt: skip
def test_bad_input_is_refused_with_the_cure(change, words):
    given = {"q": np.zeros(6), "wrench": np.zeros(6), "frame": None, "by": "environment"} | change
    with pytest.raises(dy.DynamisError, match=words):
        static_torques(dy.load("ur5e"), given["q"], given["wrench"], given["frame"], by=given["by"])


def test_limits_given_decide_what_is_possible():
    arm = dy.load("planar_2r_melchiorri")
    assert static_torques(arm, [0.3, 0.9]).possible
    assert not static_torques(arm, [0.3, 0.9], torque_limits=(1.0, 1.0)).possible
    assert static_torques(arm, [0.3, 0.9], torque_limits=1500.0).used.max() < 1.0
    # a joint that must hold nothing may have no torque, rounding or not
    assert static_torques(arm, [0.3, np.pi / 2 - 0.3], torque_limits=(1e4, 0.0)).possible
    with pytest.raises(dy.InputError, match="2 non-negative numbers"):
        static_torques(arm, [0.3, 0.9], torque_limits=(1.0, 2.0, 3.0))


def test_the_warning_of_open_loops_names_what_gives_their_static_torques(tmp_path):
    closed = dy.constrained(dy.load("planar_2r_melchiorri"), closures=dy.loops.Coupled("joint2", "joint1", -2.0, 0.3))
    closed.write(tmp_path / "coupled.toml")
    with pytest.warns(dy.ModelWarning, match="loops closed"):
        robot = dy.load(tmp_path / "coupled.toml")
    q = np.array([0.2, -0.1])
    with pytest.warns(dy.ModelWarning, match=r"static torques .* dynamis\.constrained\(robot\)\.inverse_dyn.*not available"):
        static_torques(robot, q)
    force = {"link2": [0.0, 10.0, 0.0, 0.0, 0.0, 0.0]}
    tau, _ = dy.constrained(robot).inverse_dynamics(q, 0.0 * q, 0.0 * q, force, actuated=["joint1"])
    along = np.array([1.0, -2.0])  # the motion that the coupling allows
    tree = robot.gravity(q) - robot.jacobian(q, "link2").T @ force["link2"]
    assert tau @ along == pytest.approx(tree @ along)
    assert tau[1] == 0.0
    with pytest.warns(dy.ModelWarning, match="time-optimal motion with closed loops is not available"):
        dy.trajectories.time_optimal(robot, [q, q + 0.1 * along], torque=5000.0)
