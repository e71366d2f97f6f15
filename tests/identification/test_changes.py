"""Loads, offsets, friction and gains that change during a log: named with their time after a refit, and no other cause is."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from campaign_params import few_of
from spoiled_logs import simulated

import dynamis as dy
from dynamis.identification import LinearModel, prepare
from dynamis.identification.base_parameters import base_parameters
from dynamis.identification.logs import examine_torques

START = 7.0
ROBOT, LOG = simulated("ur5e", 3)
RMS = np.sqrt(np.mean(LOG.tau**2, axis=0))
RATES = [np.gradient(LOG.q, LOG.t, axis=0)]
RATES.append(np.gradient(RATES[0], LOG.t, axis=0))
(RUN,) = prepare(LOG, ROBOT).samples
LATER, EVENLY = LOG.t > START, (LOG.t - LOG.t[0]) / np.ptp(LOG.t)


def own(j, torque):
    return np.where(np.arange(ROBOT.n) == j, torque, 0.0)


def loaded(mass):
    """The torques of a load on the last link."""
    carrying = ROBOT.replace(payload=dy.Inertia.about_com(mass, [0.02, 0.0, 0.1], 0.01 * mass * np.eye(3)))
    x = [np.stack([np.interp(LOG.t, RUN.t, y[:, j]) for j in range(ROBOT.n)], axis=1) for y in (RUN.q, RUN.v, RUN.a)]
    return carrying.inverse_dynamics(*x) - ROBOT.inverse_dynamics(*x)


def changed(torque):
    return replace(LOG, tau=LOG.tau + torque)


@cache
def picked_up(mass):
    """A log during which a load is picked up, and what is found of it."""
    log = changed(LATER[:, None] * loaded(mass))
    return log, dy.identify(ROBOT, log, compare=())


@pytest.mark.parametrize("mass", few_of([0.5, 2.0], [2.0]))
def test_a_load_picked_up_during_a_log_is_named_with_its_time_and_mass(mass):
    _, found = picked_up(mass)
    (finding,) = found.log_findings
    assert (finding.code, finding.change.kind) == ("change", "load")
    assert finding.change.start == pytest.approx(START, abs=0.15)
    assert finding.change.mass == pytest.approx(mass, rel=0.05)
    assert (
        f"the load on 'wrist_3_link' changes at t = {finding.change.start:.4g} s, by {finding.change.mass:.3g} kg"
        in finding.text
    )
    assert "corrected, the residual on held-out motion is" in finding.text
    assert "identify_payload" in finding.cure
    assert found.verdict.grade == "doubtful"


SPEED = RATES[0]
CHANGES = {
    "offset": (1, LATER[:, None] * 0.5 * RMS, "jumps by"),
    "friction": (
        2,
        LATER[:, None] * RMS * (0.3 * np.tanh(SPEED / 0.01) + 0.2 * SPEED),
        "the friction of 'elbow_joint' changes at",
    ),
    "gain": (1, EVENLY[:, None] * 0.4 * LOG.tau, "evenly over the log"),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_of_one_torque_is_named_with_its_time(kind):
    joint, torque, words = CHANGES[kind]
    (finding,) = examine_torques(prepare(changed(own(joint, torque)), ROBOT).samples, ROBOT)
    assert (finding.code, finding.change.kind, finding.change.joint) == ("change", kind, joint)
    assert words in finding.text
    if kind != "gain":
        assert finding.change.start == pytest.approx(START, abs=0.15)


def test_friction_of_another_form_than_in_the_model_is_no_change_of_friction():
    base = base_parameters(LinearModel(ROBOT, friction=("viscous", "coulomb"), smooth=1.0))
    assert examine_torques(RUN, ROBOT, base=base) == []


def test_a_torque_that_jumps_does_not_drift():
    found = dy.identify(ROBOT, changed(own(1, LATER[:, None] * 0.5 * RMS)), compare=())
    (finding,) = found.log_findings
    assert "the torque of 'shoulder_lift_joint' jumps by" in finding.text
    assert finding.change.sizes[0] == pytest.approx(0.5 * RMS[1], rel=0.03)
    assert found.verdict.reasons[0].startswith(finding.text[:1].upper() + finding.text[1:60])


def test_the_rest_of_a_log_without_its_changed_part_is_good():
    log, before = picked_up(2.0)
    cure = before.log_findings[0].cure.partition("leave_out=(")[2].rstrip(")")
    low, high = map(float, cure.split(","))
    found = dy.identify(ROBOT, log, compare=(), signals={"leave_out": [(low, high)]})
    assert found.log_findings == ()
    assert found.validation.held_out < 1.0
