"""Compiled steps between samples give the motion that event-driven integration gives, with the same events."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.simulation.compiled_pieces import C, CompiledPieces

ARM = dy.load("planar_2r_melchiorri")
RUBBING = ARM.replace(friction={name: {"coulomb": 60.0, "viscous": 20.0} for name in ARM.joint_names})
LIMITED = {name: dy.Saturated(effort=900.0) for name in ARM.coordinate_names}


def law(t, q, v):
    return ARM.gravity(q) + 1500.0 * (np.array([0.3 * np.sin(8.0 * t), 0.2]) - q) - 300.0 * v


def both(monkeypatch, robot=RUBBING, **options):
    """The motion with and without compiled steps."""
    quick = dy.simulate(robot, 0.6, [0.0, 0.25], points=61, **options)
    with monkeypatch.context() as patch:
        patch.setattr(CompiledPieces, "suits", staticmethod(lambda *_: False))
        return quick, dy.simulate(robot, 0.6, [0.0, 0.25], points=61, **options)


STRIBECK = {ARM.coordinate_names[0]: dy.Stribeck(40.0, 70.0, 0.1)}
MOTOR = {ARM.coordinate_names[1]: dy.Elastic(2e4, inertia=1.0, damping=20.0)}
CASES = {
    "sticking and saturated": {"controller": dy.Sampled(law, rate=200.0), "actuators": LIMITED},
    "Stribeck": {"controller": dy.Sampled(law, rate=200.0), "friction": STRIBECK},
    "late": {"controller": dy.Sampled(law, rate=200.0, delay=0.002), "wrenches": {ARM.link_names[-1]: [0, 20.0, 0, 0, 0, 0]}},
    "elastic": {"controller": dy.Sampled(law, rate=200.0), "actuators": MOTOR},
    "noise": {"torque": [800.0, 200.0], "disturbance": dy.Noise(50.0, hold=0.01)},
    "slow samples": {"controller": dy.Sampled(law, rate=10.0)},
}


@pytest.mark.parametrize("case", CASES)
def test_the_motion_its_events_and_its_energy_are_those_of_event_driven_integration(monkeypatch, case):
    quick, slow = both(monkeypatch, **CASES[case])
    assert quick.status == slow.status == "completed"
    for name in ("q", "v", "tau", "friction", "work"):
        mine, theirs = getattr(quick, name), getattr(slow, name)
        np.testing.assert_allclose(mine, theirs, atol=1e-6 * max(1.0, abs(theirs).max()))
    assert [(e.kind, e.joint) for e in quick.events] == [(e.kind, e.joint) for e in slow.events]
    np.testing.assert_allclose([e.time for e in quick.events], [e.time for e in slow.events], atol=1e-7)
    assert abs(quick.energy_error).max() < 1e-7 * abs(quick.energy).max()


def test_joints_that_hold_are_exactly_at_rest_and_events_occur(monkeypatch):
    quick, _ = both(monkeypatch, **CASES["sticking and saturated"])
    assert {e.kind for e in quick.events} == {"starts", "stops"}
    assert (quick.v == 0.0).any()


def test_most_intervals_are_taken_by_compiled_steps(monkeypatch):
    quick, slow = both(monkeypatch, **CASES["sticking and saturated"])
    assert quick.statistics["evaluations"] < 0.6 * slow.statistics["evaluations"]


def test_between_the_points_the_method_has_its_own_polynomial(monkeypatch):
    quick, slow = both(monkeypatch, **CASES["slow samples"])
    times = np.linspace(0.0, 0.6, 97)
    for mine, theirs in zip(quick.at(times), slow.at(times), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=2e-6)


def test_a_motion_that_is_resumed_goes_on_with_the_joints_that_held():
    options = {"controller": dy.Sampled(law, rate=200.0), "actuators": LIMITED}
    whole = dy.simulate(RUBBING, np.linspace(0.0, 0.6, 61), [0.0, 0.25], **options)
    part = dy.simulate(RUBBING, np.linspace(0.0, 0.3, 31), [0.0, 0.25], **options)
    joined = dy.simulate(RUBBING, np.linspace(0.0, 0.6, 61), resume=part, **options)
    np.testing.assert_allclose(joined.q, whole.q, atol=1e-9)
    assert [(e.kind, e.joint) for e in joined.events] == [(e.kind, e.joint) for e in whole.events]


def test_the_time_limit_ends_the_motion_with_what_was_reached():
    motion = dy.simulate(RUBBING, 500.0, controller=dy.Sampled(law, rate=1000.0), seconds=0.05)
    assert "took more than 0.05 s" in motion.status
    assert 0.0 < motion.t[-1] < 500.0


def test_the_longest_step_holds_for_every_step_of_an_interval():
    motion = dy.simulate(
        ARM, 0.5, controller=dy.Sampled(lambda t, q, v: [0.0, 0.0], 10.0), friction="none", rtol=1e-3, step=1e-3
    )
    assert motion.statistics["evaluations"] >= len(C) * 490
