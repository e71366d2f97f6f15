"""Many motions at once: each is the one that `simulate` gives, however they are batched."""

import numpy as np
import pytest
from joint_zoo import zoo_robot
from small_machines import pendulum

import dynamis as dy
from dynamis.simulation.rollouts import rollouts
from dynamis.simulation.simulate import simulate

ARM = dy.load("planar_2r_melchiorri")
FLYER = zoo_robot("flyer")


def states(robot, count, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(rng, count), rng.uniform(-1.0, 1.0, (count, robot.n))


def law(robot, t, q, v):
    return robot.gravity(q) - 400.0 * q - 80.0 * v + np.array([10.0, 5.0]) * dy.sin(7.0 * t)


def same_law(t, q, v):
    return ARM.gravity(q) - 400.0 * q - 80.0 * v + np.array([10.0, 5.0]) * np.sin(7.0 * t)


@pytest.mark.parametrize("method", ["euler", "midpoint", "rk4"])
def test_each_motion_is_the_one_simulate_gives(method):
    q, v = states(ARM, 4)
    made = rollouts(ARM, 0.2, q, v, controller=law, method=method, step=0.01)
    for k in range(4):
        one = simulate(ARM, made.t, q[k], v[k], controller=same_law, method=method, step=0.01)
        assert np.abs(made.q[:, k] - one.q).max() < 1e-12
        assert np.abs(made.v[:, k] - one.v).max() < 1e-11


@pytest.mark.parametrize("friction", ["none", "smooth"])
def test_quaternions_and_smooth_friction_are_the_same_as_in_simulate(friction):
    q, v = states(FLYER, 2)
    made = rollouts(FLYER, 0.1, q, v, step=0.01, friction=friction)
    for k in range(2):
        one = simulate(FLYER, made.t, q[k], v[k], method="rk4", step=0.01, friction=friction)
        assert np.abs(made.q[:, k] - one.q).max() < 1e-12
        assert np.abs(made.v[:, k] - one.v).max() < 1e-11
    assert np.linalg.norm(made.q[..., 3:7], axis=-1) == pytest.approx(np.ones((11, 2)), abs=1e-14)


def test_smooth_friction_makes_a_difference_and_a_controller_still_sees_the_robots_own():
    robot = pendulum(coulomb=2.0)
    rubbed = rollouts(robot, 0.2, [1.0], [3.0], friction="smooth")
    assert np.abs(rubbed.q - rollouts(robot, 0.2, [1.0], [3.0], friction="none").q).max() > 1e-3
    helped = rollouts(
        robot, 0.2, [1.0], [3.0], friction="none", controller=lambda robot, _t, q, v: robot.bias(q, v) - robot.gravity(q)
    )
    assert helped.v[1, 0] - 3.0 == pytest.approx(1e-3 * (2.0 - 9.81 * np.sin(1.0)), abs=1e-5)


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (2, 1, 3), (0,)])
def test_any_batch_has_its_own_shape(shape):
    q = np.zeros((*shape, 2))
    made = rollouts(ARM, 0.05, q, step=0.01)
    assert made.q.shape == made.v.shape == (6, *shape, 2)


def test_one_velocity_goes_with_many_positions_and_the_other_way_round():
    q, v = states(ARM, 3)
    assert np.array_equal(rollouts(ARM, 0.05, q, v[0]).q, rollouts(ARM, 0.05, q, np.tile(v[0], (3, 1))).q)
    assert np.array_equal(rollouts(ARM, 0.05, q[0], v).q, rollouts(ARM, 0.05, np.tile(q[0], (3, 1)), v).q)


def test_every_keeps_some_of_the_same_points():
    q, v = states(ARM, 3)
    all_of_them, some = rollouts(ARM, 0.1, q, v), rollouts(ARM, 0.1, q, v, every=10)
    assert np.array_equal(some.q, all_of_them.q[::10])
    assert some.t == pytest.approx(all_of_them.t[::10], abs=1e-15)
    assert some.t[-1] == 0.1


def test_steps_are_never_longer_than_asked_and_end_at_the_end():
    made = rollouts(ARM, 1.0, np.zeros(2), step=0.3)
    assert len(made.t) == 5
    assert made.step == 0.25
    assert made.t[-1] == 1.0


def test_the_bits_depend_neither_on_the_split_of_the_batch_nor_on_the_order_of_memory_nor_on_the_call():
    q, v = states(ARM, 2000)
    whole = rollouts(ARM, 0.01, q, v, controller=law)
    again = rollouts(ARM, 0.01, np.asfortranarray(q), v[::-1].copy()[::-1], controller=law)
    parts = [
        rollouts(ARM, 0.01, a, b, controller=law).q for a, b in zip(np.array_split(q, 7), np.array_split(v, 7), strict=True)
    ]
    assert np.array_equal(whole.q, again.q)
    assert np.array_equal(whole.q, np.concatenate(parts, axis=1))
    assert np.array_equal(whole.q[:, 17], rollouts(ARM, 0.01, q[17], v[17], controller=law).q)


def test_the_states_given_are_not_changed_and_integers_will_do():
    q = np.ones((3, 2), dtype=int)
    made = rollouts(ARM, 0.01, q)
    assert np.array_equal(made.q[0], q)
    assert np.all(q == 1)
    assert made.q.dtype == float


def test_a_controller_that_branches_is_refused_with_what_to_write_instead():
    def branching(_robot, _t, q, _v):
        return -q if q[0] > 0 else q

    with pytest.raises(dy.InputError, match=r"use dynamis.where\(condition, a, b\) instead of if"):
        rollouts(ARM, 0.1, np.zeros(2), controller=branching)
    chosen = rollouts(ARM, 0.1, np.zeros(2), controller=lambda _r, _t, q, _v: np.array([dy.where(q[0] > 0, -x, x) for x in q]))
    assert np.isfinite(chosen.q).all()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"every": 0}, "every= takes a whole number"),
        ({"every": 1.5}, "every= takes a whole number"),
        ({"step": 0.0}, "time and step must be positive"),
        ({"step": np.nan}, "time and step must be positive"),
        ({"t": np.inf}, "time and step must be positive"),
        ({"t": "1"}, "time and step must be positive"),
        ({"q0": [0.0, np.nan]}, r"q0\[1\] is nan"),
        ({"q0": np.zeros(3)}, r"q0 has shape \(3,\)"),
        ({"v0": np.zeros((4, 2)), "q0": np.zeros((3, 2))}, "do not broadcast"),
        ({"controller": 3}, r"a function of \(robot, t, q, v\)"),
        ({"controller": lambda _r, _t, _q, _v: [0.0]}, r"tau has shape \(1,\)"),
        ({"friction": {"joint1": dy.Coulomb(1, 1)}}, "friction='smooth' or 'none'"),
        ({"method": "DOP853"}, "no fixed-step method named 'DOP853'"),
    ],
)
def test_wrong_arguments_are_refused_in_words(wrong, says):
    with pytest.raises((dy.InputError, dy.NameLookupError), match=says):
        rollouts(**{"robot": ARM, "t": 0.1, "q0": np.zeros(2), **wrong})


def test_what_is_no_robot_has_no_numbers_or_sticks_is_refused():
    with pytest.raises(dy.InputError, match="got str"):
        rollouts("ur5e", 0.1, np.zeros(6))
    with pytest.raises(dy.InputError, match="parameters without values"):
        rollouts(dy.load("planar_2r"), 0.1, np.zeros(2))
    with pytest.raises(dy.InputError, match="friction='smooth' or 'none'"):
        rollouts(dy.load("puma560"), 0.1, np.zeros(6))
