"""The lectures' study: the friction decides how the arm comes to rest, and three routes give the same motion."""

import numpy as np
import pytest

from dynamis.simulation.simulate import simulate
from dynamis.simulation.two_link_study import DAMPING, arm, by_implicit_equations, by_newton_euler, two_link_study


@pytest.fixture(scope="module")
def study():
    return two_link_study()


def test_without_friction_the_energy_stays(study):
    motion = study.motions[DAMPING.index(0.0)]
    assert np.ptp(motion.energy) < 1e-8 * motion.kinetic_energy.max()


def test_friction_takes_energy_at_every_instant(study):
    for d, motion in zip(study.damping, study.motions, strict=True):
        if d > 0:
            assert np.all(np.diff(motion.energy) < 1e-9)


def test_more_friction_leaves_less_motion(study):
    at_the_end = [np.abs(motion.v[-200:]).max() for motion in study.motions]
    assert at_the_end[0] > at_the_end[1] > at_the_end[2]


def test_the_balance_of_energy_closes(study):
    for motion in study.motions:
        assert np.abs(motion.energy_error).max() < 1e-9 * motion.kinetic_energy.max()


def test_the_arm_swings_about_hanging_down(study):
    assert abs(study.motions[2].q[-1, 0] + np.pi / 2) < 0.15


@pytest.mark.parametrize("route", [by_newton_euler, by_implicit_equations])
def test_other_routes_give_the_same_motion(route):
    robot = arm(30.0)
    reference = simulate(robot, 2.0, np.zeros(2), np.zeros(2), rtol=1e-11, atol=1e-13, points=21)
    np.testing.assert_allclose(route(robot, 2.0, 21), reference.q, atol=1e-8)
