"""Calibration from logs of torques: what only they determine, what they do not, and held-out torques that confirm it."""

import numpy as np
import pytest
from campaign_params import few_of
from spoiled_logs import motion

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification import Log, Unknown, calibrate

T = np.arange(3000) / 200.0


def logged(name, seed, *, gains=1.0, soft=0.0):
    """(robot as believed, log of a robot with other masses, and friction on the motors' side of springs ``soft``)."""
    believed, rng = dy.load(name), np.random.default_rng(seed)
    links = dy.control.perturbed(believed, 0.1, seed=seed).replace(friction=0)
    q, v, a = motion(believed, T, T[-1], rng)
    tau = links.inverse_dynamics(q, v, a)
    size = tau.std(axis=0)
    measured = gains * (tau + 0.1 * size * (v / v.std(axis=0) + np.tanh(v / 0.01))) + 0.01 * size * rng.normal(size=q.shape)
    return believed, Log(T, q + soft * tau + 1e-5 * rng.normal(size=q.shape), measured, names=believed.coordinate_names)


def contains(found, name, truth):
    """Whether an interval widened by half contains the truth: with several of them, one in twenty does not."""
    low, high = found.intervals[name]
    return low - 0.5 * (high - low) <= truth <= high + 0.5 * (high - low)


@pytest.fixture(scope="module")
def scaled():
    """The gains of all joints, from a log in which those of the second are 10 % too large."""
    robot, log = logged("ur5e", 0, gains=np.array([1.0, 1.1, 1.0, 1.0, 1.0, 1.0]))
    return calibrate(robot, log, ["gain"])


def test_gains_are_those_relative_to_the_first_joint(scaled):
    assert "gain.shoulder_pan_joint" in scaled.unidentifiable
    assert scaled.values["gain.shoulder_pan_joint"] == 0.0
    assert scaled.values["gain.shoulder_lift_joint"] == pytest.approx(0.1, abs=0.02)
    for name in set(scaled.values) - set(scaled.unidentifiable):
        assert contains(scaled, name, 0.1 if "lift" in name else 0.0), name


def test_held_out_errors_are_in_the_unit_of_the_measured_torques(scaled):
    assert scaled.after[1] < 0.5 * scaled.before[1]
    assert (scaled.after > 0.5 * scaled.before)[[0, 2, 3, 4, 5]].all()
    assert not scaled.doubt


SOFT = [("ur5e", 0.0), ("ur5e", 2e-4), ("kuka_iiwa14", 0.0), ("kuka_iiwa14", 2e-4)]


@pytest.mark.parametrize(("name", "true"), few_of(SOFT, SOFT[:2]))
def test_compliances_are_those_of_the_springs(name, true):
    robot, log = logged(name, 3, soft=true)
    found = calibrate(robot, log, ["compliance"])
    identified = set(found.values) - set(found.unidentifiable)
    assert len(identified) >= 3
    for each in identified:
        assert found.values[each] >= 0.0
        assert contains(found, each, true), each
    assert bool(found.doubt) == (true == 0.0)


def test_a_calibration_that_held_out_torques_do_not_confirm_is_not_written(tmp_path):
    robot, log = logged("ur5e", 4)
    found = calibrate(robot, log, ["length"])
    with pytest.raises(InputError, match="not written: held-out torques are not predicted better"):
        found.write(tmp_path / "no.urdf")
    assert not list(tmp_path.iterdir())
    assert all(found.errors[name] < 0.1 for name in set(found.values) - set(found.unidentifiable))  # m


def test_an_unknown_of_which_the_log_says_too_little_keeps_its_prior_value():
    robot, log = logged("ur5e", 5)
    found = calibrate(robot, log, [Unknown("length", "wrist_2_joint", "z"), Unknown("length", "wrist_3_joint", "x")])
    assert found.unidentifiable
    assert all(found.values[name] == 0.0 for name in found.unidentifiable)
