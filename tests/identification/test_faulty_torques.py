"""Torques that saturate, drift, or are late in one joint: the cause is named, and no other."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.identification import Log, prepare

JOINT = 1
FRICTION = (8.0, 8.0, 6.0, 1.5, 1.5, 1.2)
ROBOT = dy.load("ur5e")
T = np.arange(0.0, 10.0, 0.004)


def torques(seed=1):
    """Positions and torques of an arm with friction and masses that are off by up to 15 %, and the noise of the torques."""
    w = 3.0 * np.pi * np.array([0.11, 0.17, 0.23, 0.31, 0.37, 0.43])
    k = np.arange(1, 7)
    q = np.array([1.0, 0.6, 0.8, 1.0, 1.0, 1.2]) * np.sin(np.outer(T, w)) + 0.3 * np.sin(np.outer(T, 1.9 * w) + k)
    q += [0.0, -1.3, 1.2, -0.5, 0.8, 0.0]
    v = np.gradient(q, T, axis=0)
    friction = {name: {"viscous": f, "coulomb": f} for name, f in zip(ROBOT.joint_names, FRICTION, strict=True)}
    real = dy.control.perturbed(ROBOT, 0.15, seed=4).replace(friction=friction)
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=q.shape) * [0.6, 0.6, 0.45, 0.09, 0.09, 0.075]
    return q + 2e-5 * rng.normal(size=q.shape), real.inverse_dynamics(q, v, np.gradient(v, T, axis=0)), noise


Q, CLEAN, NOISE = torques()
MEASURED = CLEAN + NOISE


def log_of(tau, q=Q):
    return Log(T, q, tau, names=ROBOT.coordinate_names, source="run.csv")


def identified(tau):
    return dy.identify(ROBOT, log_of(tau), compare=())


def test_links_without_inertia_about_a_joint_leave_no_room_for_its_rotor():
    """Fits to torques at a limit may have such links, whose friction depends on the load."""
    (run,) = prepare(log_of(np.clip(MEASURED, -45.0, 45.0)), ROBOT)
    friction = ("viscous", "coulomb", "shoulder_lift_joint.load")
    found = dy.identify(dy.identification.LinearModel(ROBOT, friction=friction, offset=True), run, compare=())
    assert np.isfinite(found.base.model.load_rotors).all()
    assert np.isfinite(found.validation.held_out)


@pytest.mark.parametrize(("limit", "grade"), [(60.0, "usable"), (20.0, "doubtful")])
def test_saturated_torques_limit_the_grade_and_not_the_parameters(limit, grade):
    tau = MEASURED.copy()
    tau[:, JOINT] = np.clip(tau[:, JOINT], -limit, limit)
    found = identified(tau)
    share = 100.0 * np.mean(np.abs(tau[:, JOINT]) == limit)
    assert found.verdict.grade == grade
    (reason,) = found.verdict.reasons
    assert f"clipped at -{limit:g}" in reason
    assert f"in {share:.2g} % of its rows" in reason
    assert any("torques of shoulder_lift_joint at a limit of the drive, not used" in note for note in found.notes)
    assert found.parameters["shoulder_lift_joint.viscous"] == pytest.approx(FRICTION[JOINT], abs=0.15)
    assert found.validation.held_out < 1.0
