"""Moves of all joints together, and splines through points."""

import re
import warnings

import numpy as np
import pytest
from floating import floating

import dynamis as dy
from dynamis.trajectories import joint_move, spline, spline_path

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("jerk", [None, 30.0])
def test_joints_move_on_one_line_and_one_of_them_is_at_its_limit(jerk):
    q0, q1 = RNG.normal(size=(2, 4))
    velocity, acceleration = np.array([1.0, 2.0, 0.5, np.inf]), np.array([4.0, 3.0, 5.0, 2.0])
    move = joint_move(q0, q1, velocity=velocity, acceleration=acceleration, jerk=jerk)
    _, q, v, a = move.sample(2001)
    share = (q - q0) / (q1 - q0)
    assert np.allclose(share, share[:, :1], atol=1e-12)
    assert np.allclose(q[-1], q1)
    assert (np.abs(v) <= velocity * (1 + 1e-12)).all()
    assert (np.abs(a) <= acceleration * (1 + 1e-12)).all()
    assert max((np.abs(v) / velocity).max(), (np.abs(a) / acceleration).max()) == pytest.approx(1.0)


def test_a_robot_gives_its_velocity_limits_and_a_duration_slows_down():
    robot = dy.load("ur5e")
    q0, q1 = np.zeros(6), np.full(6, 2.0)
    quick = joint_move(q0, q1, robot=robot, acceleration=10.0)
    assert quick.sample()[2].max() == pytest.approx(np.pi)
    assert joint_move(q0, q1, robot=robot, acceleration=10.0, duration=3.0).duration == pytest.approx(3.0)
    assert joint_move(q0, q1, duration=3.0).duration == 3.0
    assert joint_move(q0, q0, velocity=1.0, acceleration=1.0).duration == 0.0
    only_jerk = joint_move(q0, q1, jerk=4.0)
    assert np.abs(only_jerk.clock.coefficients[:, 3]).max() * 6 * 2.0 == pytest.approx(4.0)
    assert len(only_jerk.clock.coefficients) == 4


def test_a_duration_too_short_is_refused_with_the_joint_and_its_limit_in_the_units_given():
    robot = dy.load("stanford")  # with a prismatic joint
    q0, q1 = np.array([0.0, 0.0, 0.5, 0.0, 0.0, 0.0]), np.array([0.1, 0.2, 1.1, 0.0, 0.1, 0.0])
    v = np.array([1.0, 1.0, 0.5, 1.0, 1.0, 1.0])
    slider = f"'{robot.coordinate_names[2]}', which moves 0.6 m"
    for options, text in (
        ({"velocity": v}, f"takes more than 1.2 s within the limits: velocity 0.5 m/s of {slider}; give a longer duration="),
        ({"acceleration": 2.4 * v}, f"takes at least 1.41421 s within the limits: acceleration 1.2 m/s² of {slider};"),
        ({"velocity": v, "acceleration": 5.0}, f"velocity 0.5 m/s of {slider}, acceleration 5 m/s² of {slider};"),
    ):
        with pytest.raises(dy.InputError, match=re.escape(text)):
            joint_move(q0, q1, robot=robot, duration=1.0, **options)
    for duration in (0.5, 2.0):
        with pytest.raises(dy.InputError, match=re.escape("velocity 1 of joint 2, which moves 2;")):
            joint_move([0.0, 0.0], [1.0, -2.0], velocity=1.0, duration=duration)
    assert joint_move([0.0, 0.0], [1.0, -2.0], velocity=1.0, duration=2.0 + 1e-9).duration == 2.0 + 1e-9
    assert joint_move([0.0, 0.0], [1.0, 0.0], velocity=[np.inf, 1.0], duration=0.1).duration == 0.1


def test_a_move_to_where_it_is_rests_for_the_duration_asked_for():
    rest = joint_move([1.0, 2.0], [1.0, 2.0], duration=2.0)
    assert rest.duration == 2.0
    q, v, a = rest.at(np.array([0.0, 1.0, 2.0]))
    assert (q == [1.0, 2.0]).all()
    assert not v.any()
    assert not a.any()
    with pytest.raises(dy.InputError, match="positive"):
        joint_move([1.0], [1.0], duration=-1.0)


def test_a_slow_move_with_a_quick_ramp_gets_there():
    move = joint_move([0.0, 0.0], [1e-3, 2.0], velocity=1e-4, acceleration=1e9)
    q, v, _ = move.at(move.duration)
    assert np.allclose(q, [1e-3, 2.0], rtol=1e-14)
    assert np.allclose(v, 0.0, atol=1e-15)


def test_moves_that_make_no_sense_are_refused():
    with pytest.raises(dy.InputError, match="a move requires acceleration="):
        joint_move([0.0], [1.0], velocity=1.0)
    with pytest.raises(dy.InputError, match="both must have one per joint"):
        joint_move([0.0], [1.0, 2.0], duration=1.0)
    with pytest.raises(dy.InputError, match="6 joints, but the motion has 1"):
        joint_move([0.0], [1.0], robot=dy.load("ur5e"), acceleration=1.0)
    with pytest.raises(dy.InputError, match="2 numbers"):
        joint_move([0.0, 0.0], [1.0, 1.0], velocity=[1.0, 1.0, 1.0], acceleration=1.0)
    with pytest.raises(dy.InputError, match="one coordinate per degree of freedom"):
        joint_move(np.zeros(7), np.ones(7), robot=floating("planar_2r_melchiorri"), duration=1.0)


@pytest.mark.parametrize("order", [3, 5])
def test_a_spline_goes_through_its_points_smoothly(order):
    t, points = np.array([0.0, 0.4, 1.1, 1.5, 2.2]), RNG.normal(size=(5, 3))
    v0, v1 = RNG.normal(size=(2, 3))
    made = spline(t, points, order=order, start_velocity=v0, end_velocity=v1)
    assert np.allclose(made.at(t)[0], points, atol=1e-12)
    assert np.allclose(made.at(0.0)[1], v0)
    assert np.allclose(made.at(t[-1])[1], v1)
    for derivative in range(order):
        before, after = ((made.at(t[1:-1] + d)[0]) for d in (-1e-10, 1e-10))
        assert np.allclose(before, after, atol=1e-5 * 100**derivative)
        made = made.derivative()


def test_chosen_times_meet_the_limits_exactly():
    points = np.random.default_rng(4).normal(size=(6, 2))  # of its own, whatever ran before
    made = spline(None, points, velocity=[1.0, 2.0], acceleration=[50.0, 60.0])
    _, _, v, _ = made.sample(20001)
    assert (np.abs(v) / [1.0, 2.0]).max() == pytest.approx(1.0, abs=1e-6)
    slow = spline(None, points, velocity=[1.0, 2.0], acceleration=0.3)
    _, _, v, a = slow.sample(20001)
    at_knots = slow.at(slow.times)[2]  # where accelerations turn, between the samples
    assert max(np.abs(a).max(), np.abs(at_knots).max()) == pytest.approx(0.3, abs=1e-6)
    assert (np.abs(v) < [1.0, 2.0]).all()
    assert np.allclose(slow.at(slow.times)[0], points)


def test_a_path_has_the_chords_for_its_parameter():
    points = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]])
    path = spline_path(points)
    assert np.allclose(path.times, [0, 5, 6])
    assert np.allclose(path.at(path.times)[0], points)


def test_splines_that_make_no_sense_are_refused():
    for call, text in (
        (lambda: spline([0.0, 1.0], [[0.0]]), "two points"),
        (lambda: spline([0.0, 1.0, 2.0], [[0.0], [1.0]]), "3 times were given for 2 points"),
        (lambda: spline([0.0, 1.0, 1.0], [[0.0], [1.0], [2.0]]), "strictly increasing"),
        (lambda: spline([1.0, 2.0], [[0.0], [1.0]]), "must start at 0"),
        (lambda: spline(None, [[0.0], [1.0]]), "velocity="),
        (lambda: spline(None, [[0.0], [0.0]], velocity=1.0), "coincide"),
        (lambda: spline(None, [[0.0], [1.0]], velocity=1.0, start_velocity=1.0), "from rest to rest"),
        (lambda: spline([0.0, 1.0], [[0.0], [1.0]], velocity=1.0), "omit the limits"),
        (lambda: spline([0.0, 1.0], [[0.0], [1.0]], order=4), "choose 3 or 5"),
        (lambda: spline_path([[0.0, 0.0], [0.0, 0.0]]), "coincide"),
        (lambda: spline_path([0.0, 1.0]), "two-dimensional array"),
    ):
        with pytest.raises(dy.InputError, match=text):
            call()


def test_a_goal_outside_the_joint_limits_is_told():
    with pytest.warns(dy.ReachWarning, match="q1 is outside the joint limits: 'elbow_joint' = 3.5"):
        dy.trajectories.joint_move(np.zeros(6), [0, 0, 3.5, 0, 0, 0], robot=dy.load("ur5e"), acceleration=5.0)


def test_goals_that_look_like_degrees_are_questioned():
    robot = dy.load("ur5e")
    with pytest.warns(
        dy.ReachWarning,
        match=r"q1 is in radians, and 90 rad .*shoulder_pan_joint.*if these are degrees, give numpy.deg2rad\(q1\)",
    ):
        dy.trajectories.joint_move(np.zeros(6), [90, -45, 30, 0, 10, 0], robot=robot, duration=100.0)
    with pytest.warns(dy.ReachWarning, match=r"q1 is in radians, and 90 rad is 14.3 turns; if these are degrees"):
        dy.trajectories.joint_move([0.0, 0.0], [90.0, -45.0], duration=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dy.trajectories.joint_move([0.0, 0.0], [7.5, -2.0], duration=1.0)
        dy.trajectories.joint_move(np.zeros(6), np.full(6, 3.0), robot=robot, duration=100.0)
