"""Gravity that fits the torques of a log: found exactly where the file is exact, and preferred only where it explains more."""

import numpy as np
import pytest
from small_machines import spatial_arm

import dynamis as dy
from dynamis.identification import LinearModel, Samples, base_parameters
from dynamis.identification.logs.free_fit import FreeFit
from dynamis.identification.logs.gravity_fit import GravityFit, mounting
from dynamis.identification.logs.motion_summary import summary

ROBOT = spatial_arm()
OTHER = np.array([3.0, -5.0, -7.5])


@pytest.fixture(scope="module")
def fit():
    return FreeFit(base_parameters(LinearModel(ROBOT)))


def motion_under(gravity, robot=ROBOT, noise=0.0, count=300):
    rng = np.random.default_rng(0)
    t = np.linspace(0.0, 15.0, count)[:, None]
    w = np.linspace(0.9, 2.3, robot.n)
    q, v, a = (sum(f(k * w, t) for k in (1.0, 2.1)) for f in (
        lambda w, t: np.sin(w * t), lambda w, t: w * np.cos(w * t), lambda w, t: -(w**2) * np.sin(w * t)))  # fmt: skip
    tau = robot.replace(gravity=gravity).inverse_dynamics(q, v, a) + noise * rng.normal(size=q.shape)
    return summary([Samples.of(q, v, a, tau, t=t[:, 0], period=float(t[1, 0]))])[0]


def test_with_the_inertias_of_the_robot_its_gravity_is_found_exactly(fit):
    motion = motion_under(OTHER)
    found = GravityFit(fit, motion)
    best = found.best()
    assert np.abs(best.vector - OTHER).max() < 1e-6
    assert best.left.max() < 1e-10
    assert np.abs(best.fitted - motion.torque).max() < 1e-5
    known = found.at([0.0, 0.0, -9.81])
    assert known.level > best.level + 0.2 * found.count
    assert found.at(OTHER).level == pytest.approx(best.level, abs=1e-3 * found.count)


def test_the_angle_to_another_vector(fit):
    found = GravityFit(fit, motion_under(OTHER)).at([0.0, 0.0, -2.0])
    assert found.angle(np.array([0.0, 3.0, 0.0])) == pytest.approx(np.pi / 2)
    assert found.angle(np.array([0.0, 0.0, 5.0])) == pytest.approx(np.pi)
    assert found.angle(np.array([0.0, 1.0, -1.0])) == pytest.approx(np.pi / 4)
    assert found.angle(np.zeros(3)) == 0.0


def test_gravity_along_all_axes_is_not_observable(fit):
    planar = dy.load("planar_2r_melchiorri")
    assert GravityFit(fit, motion_under(OTHER)).observable
    assert not GravityFit(FreeFit(base_parameters(LinearModel(planar))), motion_under((0.0, -9.81, 0.0), planar)).observable


def test_a_mounting_is_another_direction_of_the_same_size(fit):
    motion = motion_under(OTHER, noise=0.05)
    found = mounting(fit, motion, motion)
    assert np.linalg.norm(found.after.vector) == pytest.approx(9.81)
    assert found.after.angle(OTHER) < 0.02
    assert len(found.samples) == len(found.motion.t)
    assert np.array_equal(motion.t[found.samples], found.motion.t)


def test_no_gravity_is_found_as_such_and_the_known_one_is_no_other_mounting(fit):
    nothing = motion_under((0.0, 0.0, 0.0), noise=0.05)
    assert not mounting(fit, nothing, nothing).after.vector.any()
    usual = motion_under((0.0, 0.0, -9.81), noise=0.05)
    assert mounting(fit, usual, usual) is None
    slightly = 9.81 * np.array([np.sin(0.1), 0.0, -np.cos(0.1)])  # six degrees
    assert mounting(fit, motion_under(slightly, noise=0.05), usual) is None


def test_a_correction_that_explains_as_much_is_preferred_to_another_mounting(fit):
    motion, usual = motion_under(OTHER, noise=0.05), motion_under((0.0, 0.0, -9.81), noise=0.05)
    assert mounting(fit, motion, usual) is None
    worse = motion.changed(np.negative, motion=False, torque=True)
    assert mounting(fit, motion, worse).after.angle(OTHER) < 0.02


def test_of_a_long_motion_every_so_many_samples_are_used(fit):
    motion = motion_under(OTHER, noise=0.05, count=1300)
    found = mounting(fit, motion, motion)
    assert len(found.motion.t) == 434
    assert np.array_equal(motion.t[found.samples], found.motion.t)


def test_torques_that_no_gravity_explains_are_left_alone(fit):
    motion = motion_under(OTHER, noise=20.0)
    assert mounting(fit, motion, motion) is None
