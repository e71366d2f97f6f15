"""Rigid contacts that can only push: where they would pull, they lift off."""

import numpy as np
import pytest

import dynamis as dy

MASS, RATE, G = 2.0, 50.0, 9.81  # kg, N/s of a growing pull, m/s²
LIFT = MASS * G / RATE


def block(feet=("foot",)):
    d = dy.Description("block", gravity=np.array([0.0, 0.0, -G])).add_link("base")
    d.add_link("body", "base", "free", inertia=dy.Inertia.about_com(MASS, (0.0, 0.0, 0.0), 0.1 * np.eye(3)))
    for name, x in zip(feet, (0.0,) if len(feet) == 1 else (-0.5, 0.5), strict=True):
        d.add_link(name, "body", origin=dy.Pose.translation((x, 0.0, 0.0)))
    return dy.Robot(d)


def pull(t):
    return [0.0, 0.0, RATE * t if t < 2.0 * LIFT else 0.0, 0.0, 0.0, 0.0]


@pytest.fixture
def stance():
    return dy.constrained(block(), points="foot")


def test_the_motion_ends_where_a_contact_lifts_off(stance):
    motion = stance.simulate(1.0, wrenches={"body": pull}, points=11)
    assert motion.complete
    assert "foot lifts off (stopping event)" in motion.status
    assert [(event.kind, event.joint) for event in motion.events] == [("lifts off", "foot")]
    np.testing.assert_allclose(motion.t[-1], LIFT, atol=1e-8)
    np.testing.assert_allclose(motion.constraint_forces[:, 2], MASS * G - RATE * motion.t, atol=1e-6)
    assert np.abs(motion.q[:, :3]).max() < 1e-12


def test_a_released_contact_flies_and_its_return_is_the_end(stance):
    motion = stance.simulate(1.5, wrenches={"body": pull}, lift_off="release", step=1e-2, points=151)
    np.testing.assert_allclose(motion.released["foot"], LIFT, atol=1e-8)
    flying = (motion.t > LIFT) & (motion.t < 2.0 * LIFT)
    np.testing.assert_allclose(motion.q[flying, 2], RATE / MASS * (motion.t[flying] - LIFT) ** 3 / 6.0, atol=1e-8)
    assert not motion.constraint_forces[flying].any()
    np.testing.assert_allclose(motion.acceleration[flying, 2], RATE * motion.t[flying] / MASS - G, atol=1e-8)
    height, speed = RATE / MASS * LIFT**3 / 6.0, RATE / MASS * LIFT**2 / 2.0
    back = 2.0 * LIFT + (speed + np.sqrt(speed**2 + 2.0 * G * height)) / G
    assert [event.kind for event in motion.events] == ["lifts off", "touches again"]
    np.testing.assert_allclose(motion.t[-1], back, atol=1e-5)
    assert motion.complete


def test_one_of_two_contacts_is_released_and_the_block_tilts():
    stance = dy.constrained(block(("left", "right")), points=["left", "right"])
    motion = stance.simulate(LIFT, wrenches={"right": pull}, lift_off="release", points=21)
    assert set(motion.released) == {"right"}
    # moments about the left foot: 1 m for the pull, half of it for the weight
    np.testing.assert_allclose(motion.released["right"], LIFT / 2.0, atol=1e-8)
    assert motion.drift.max() < 1e-12
    assert motion.robot.pose(motion.q[-1], "right")[2, 3] > 1e-4
    np.testing.assert_allclose(motion.robot.pose(motion.q[-1], "left")[:3, 3], [-0.5, 0.0, 0.0], atol=1e-12)


def test_a_stopped_motion_resumes_without_the_contact(stance):
    stopped = stance.simulate(0.6, wrenches={"body": pull}, points=11)
    resumed = stance.simulate(0.6, wrenches={"body": pull}, resume=stopped, lift_off="release")
    np.testing.assert_allclose(resumed.q[-1, 2], RATE / MASS * (0.6 - LIFT) ** 3 / 6.0, atol=1e-8)
    assert resumed.status == "completed"


def test_a_contact_that_pulls_at_the_start_and_one_that_may_pull(stance):
    up = {"body": [0.0, 0.0, 2.0 * MASS * G, 0.0, 0.0, 0.0]}
    for options in ({}, {"method": "rk4", "step": 1e-3}):
        motion = stance.simulate(0.1, wrenches=up, points=11, **options)
        assert "lifts off" in motion.status
        assert motion.t[-1] == (0.01 if options else 0.0)
    for normal in (None, {"foot": None}, {"foot": (0.0, 0.0, -1.0)}):
        held = stance.simulate(0.1, wrenches=up, normal=normal, points=3)
        assert held.status == "completed"
        np.testing.assert_allclose(held.constraint_forces[:, 2], -MASS * G, atol=1e-9)
    with pytest.raises(dy.InputError, match="lift_off='fly' is unknown"):
        stance.simulate(0.1, lift_off="fly")
    with pytest.raises(dy.InputError, match="does not release contacts"):
        stance.simulate(0.1, lift_off="release", method="rk4", step=1e-3)
    with pytest.raises(dy.DynamisError, match="no contact named 'hand'"):
        stance.simulate(0.1, normal={"hand": None})
