"""Motions between their points: as exact as the points where the integrator's polynomials are there, smooth elsewhere."""

import dataclasses

import numpy as np
import pytest
from joint_zoo import NAMES, zoo_robot
from small_machines import ball_joint, free_body, pendulum

import dynamis as dy
from dynamis.algorithms.configuration_rate import configuration_rate
from dynamis.simulation.dense import Dense, velocities

ARM = dy.load("planar_2r_melchiorri")
TIGHT = {"rtol": 1e-12, "atol": 1e-13}


def same_place(robot, q, other):
    return max(np.abs(robot.difference(a, b)).max() for a, b in zip(q, other, strict=True))


@pytest.mark.parametrize("method", ["DOP853", "RK45", "Radau", "LSODA"])
def test_few_points_are_enough_to_know_the_motion_between_them(method):
    times = np.linspace(0.0, 1.0, 173)
    q, v = dy.simulate(ARM, 1.0, [0.3, 0.2], points=3, method=method, rtol=1e-8).at(times)
    exact = dy.simulate(ARM, times, [0.3, 0.2], **TIGHT)
    assert np.abs(q - exact.q).max() < 2e-5
    assert np.abs(v - exact.v).max() < 2e-4


def test_one_time_gives_one_state_and_points_are_themselves():
    motion = dy.simulate(ARM, 1.0, [0.3, 0.2], points=11)
    q, v = motion.at(0.4)
    assert q.shape == v.shape == (2,)
    q, v = motion.at(motion.t)
    assert np.array_equal(q, motion.q)
    assert np.array_equal(v, motion.v)


def test_joints_that_hold_stand_exactly_still_between_the_points():
    motion = dy.simulate(pendulum(coulomb=2.0), 4.0, [1.2], points=7)
    end = motion.events[-1].time
    q, v = motion.at(np.linspace(end + 1e-6, 4.0, 50))
    assert np.ptp(q) == 0.0
    assert not v.any()


@pytest.mark.parametrize("machine", [ball_joint, free_body])
@pytest.mark.parametrize("kept", [True, False])
def test_quaternions_between_points_have_length_one_and_the_velocity_belongs_to_them(machine, kept):
    robot = machine()
    start = robot.random(3)
    motion = dy.simulate(robot, 1.0, start, np.linspace(-1.0, 2.0, robot.n), points=201, **TIGHT)
    motion = motion if kept else dataclasses.replace(motion, dense_output=None)
    times = np.linspace(0.0, 1.0, 77)
    q, v = motion.at(times)
    exact = dy.simulate(robot, times, start, np.linspace(-1.0, 2.0, robot.n), **TIGHT)
    assert np.abs(np.linalg.norm(q[:, -4:], axis=1) - 1.0).max() < 1e-14
    assert same_place(robot, q, exact.q) < (1e-9 if kept else 1e-6)
    assert np.abs(v - exact.v).max() < (1e-8 if kept else 1e-4)


def test_points_of_a_quaternion_with_the_other_sign_are_the_same_rotations():
    robot = ball_joint()
    motion = dy.simulate(robot, 0.5, points=51)
    flipped = motion.q.copy()
    flipped[::2] *= -1.0
    plain, other = (
        dataclasses.replace(motion, q=q, dense_output=None).at(np.linspace(0.0, 0.5, 33)) for q in (motion.q, flipped)
    )
    assert same_place(robot, plain[0], other[0]) < 1e-12
    assert np.abs(plain[1] - other[1]).max() < 1e-10


def test_fixed_steps_are_interpolated_with_the_third_order_at_least():
    errors = []
    for points in (21, 41):
        motion = dy.simulate(ARM, 1.0, [0.3, 0.2], friction="none", method="rk4", step=1e-3, points=points)
        times = np.linspace(0.0, 1.0, 97)
        q, v = motion.at(times)
        exact = dy.simulate(ARM, times, [0.3, 0.2], friction="none", **TIGHT)
        errors.append((np.abs(q - exact.q).max(), np.abs(v - exact.v).max()))
    (q_coarse, v_coarse), (q_fine, v_fine) = errors
    assert q_coarse / q_fine > 12
    assert v_coarse / v_fine > 6


@pytest.mark.parametrize("name", NAMES)
def test_velocities_are_the_inverse_of_configuration_rates(name):
    robot = zoo_robot(name)
    q, v = robot.random(1, 5), np.random.default_rng(2).uniform(-1, 1, (5, robot.n))
    rates = np.array([configuration_rate(robot.model, a, b) for a, b in zip(q, v, strict=True)])
    assert np.abs(velocities(robot.model, q, rates) - v).max() < 1e-13


@pytest.mark.parametrize("times", [-0.1, 1.1, [0.5, 2.0], np.nan, "soon", [[0.5]]])
def test_times_outside_the_motion_are_refused_with_its_range(times):
    motion = dy.simulate(ARM, 1.0, points=5)
    with pytest.raises(dy.InputError, match="from 0 to 1 s"):
        motion.at(times)


def test_what_a_piece_says_of_joints_that_hold_is_not_believed():
    """A stiff method's polynomial may be a rounding away from rest."""
    piece = Dense(1, 0.0, (1.0, 2.0), (lambda t: np.array([0.0 * t + 3.0, 0.0 * t + 1e-17]),) * 2, ({0: 0}, {0: 1}))
    assert piece.states(np.array([0.5, 1.5])).tolist() == [[3.0, 0.0], [3.0, 1e-17]]
    assert piece.until(0.7).last().tolist() == [3.0, 0.0]
    assert piece.until(0.7).ends == (0.7,)
