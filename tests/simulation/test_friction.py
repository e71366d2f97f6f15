"""Laws of dry friction: their values, their limits, what they refuse, and what they do to a moving joint."""

import numpy as np
import pytest
from small_machines import block

import dynamis as dy
from dynamis.simulation.friction import BristleLaw, SmoothLaw, StickingLaw, laws_of
from dynamis.simulation.simulate import simulate


def test_coulomb_opposes_motion_and_holds_anything_in_between():
    law = dy.Coulomb(3.0, 2.0)
    assert (law.sliding(1, 0.5), law.sliding(-1, -0.5), law.holding) == (3.0, -2.0, (-2.0, 3.0))


def test_stribeck_falls_from_static_to_coulomb_and_is_odd():
    law = dy.Stribeck(1.0, 1.5, 0.1)
    assert law.sliding(1, 0.0) == 1.5
    assert law.sliding(1, 0.1) == pytest.approx(1.0 + 0.5 / np.e)
    assert law.sliding(1, 10.0) == pytest.approx(1.0)
    assert law.sliding(-1, -0.07) == -law.sliding(1, 0.07)


def test_the_models_friction_keeps_its_asymmetry_sticking_or_smooth():
    robot = block(coulomb=3.0, coulomb_bias=0.5)
    assert laws_of(robot.model, "model") == {0: dy.Coulomb(3.5, 2.5)}
    smooth = laws_of(robot.model, "smooth")[0]
    assert smooth.torque(10.0) == pytest.approx(3.5)
    assert smooth.torque(-10.0) == pytest.approx(-2.5)
    assert laws_of(robot.model, "none") == {}


def test_a_mapping_replaces_the_law_of_the_joints_it_names_only():
    robot = dy.load("puma560")
    own = laws_of(robot.model, "model")
    mixed = laws_of(robot.model, {robot.coordinate_names[2]: dy.Smooth(1.0)})
    assert mixed[2] == dy.Smooth(1.0)
    assert {k: law for k, law in mixed.items() if k != 2} == {k: law for k, law in own.items() if k != 2}


@pytest.mark.parametrize(
    ("law", "numbers"),
    [
        (dy.Coulomb, (1.0, -2.0)),
        (dy.Coulomb, (np.nan, 1.0)),
        (dy.Stribeck, (1.0, 2.0, 0.0)),
        (dy.Stribeck, (-1.0, 2.0, 0.1)),
        (dy.Smooth, (1.0, 0.0)),
        (dy.Smooth, (-1.0,)),
        (dy.LuGre, (0.0, 1.0, 0.1, 1e4)),
        (dy.LuGre, (1.0, 1.0, 0.1, np.inf)),
        (dy.LuGre, (1.0, 1.0, 0.1, 1e4, -1.0)),
    ],
)
def test_laws_no_material_has_are_refused_by_name(law, numbers):
    with pytest.raises(dy.InputError, match=law.__name__):
        law(*numbers)


@pytest.mark.parametrize(("law", "numbers"), [(dy.Stribeck, (5.0, 3.0, 0.1)), (dy.LuGre, (5.0, 3.0, 0.1, 1e4))])
def test_friction_that_is_lower_at_rest_than_in_motion_is_refused_with_the_cure(law, numbers):
    with pytest.raises(dy.InputError, match="must not be below coulomb, that of sliding; exchange the two"):
        law(*numbers)
    assert law(3.0, 3.0, *numbers[2:]).static == 3.0


@pytest.mark.parametrize("choice", ["dry", None, 3])
def test_an_unknown_choice_lists_the_known_ones(choice):
    with pytest.raises(dy.InputError, match="'model', 'smooth', 'none'"):
        laws_of(block().model, choice)


def test_an_unknown_joint_is_answered_with_near_names_and_a_number_is_no_law():
    with pytest.raises(dy.NameLookupError, match="did you mean 'slide'"):
        laws_of(block().model, {"slid": dy.Coulomb(1, 1)})
    with pytest.raises(dy.InputError, match="Coulomb, Stribeck, Smooth or LuGre"):
        laws_of(block().model, {"slide": 3.0})


def test_lugre_sliding_steadily_has_the_torque_of_its_steady_law():
    law = dy.LuGre(2.0, 3.0, 0.05, 1e4, 50.0)
    # a strong damper drags the block to a steady speed, where the drive balances friction
    motion = simulate(
        block(), 3.0, torque=[10.0], controller=lambda _t, _q, v: -40.0 * v, friction={"slide": law}, method="Radau"
    )
    speed = motion.v[-1, 0]
    assert motion.friction[-1, 0] == pytest.approx(law.steady(speed), rel=1e-6)
    assert 10.0 - 40.0 * speed == pytest.approx(law.steady(speed), rel=1e-6)


@pytest.mark.parametrize("v", [0.02, 0.3])
def test_lugre_in_reverse_is_lugre_with_all_signs_reversed(v):
    law = dy.LuGre(2.0, 3.0, 0.05, 1e4, 50.0)
    for z in (-1e-4, 0.0, 2e-4):
        assert law.rate(-z, -v) == -law.rate(z, v)
        assert law.torque(-z, -v) == -law.torque(z, v)
    steady = -law.steady(-v) / law.stiffness  # bristles bent against a motion in the negative direction
    assert law.rate(steady, -v) == pytest.approx(0.0, abs=1e-12)
    assert law.torque(steady, -v) == pytest.approx(-law.steady(v))


def test_lugre_is_a_spring_of_its_stiffness_before_it_slides_and_holds_below_static():
    law = dy.LuGre(2.0, 3.0, 0.05, 1e4, 200.0)
    push = 1e-3
    motion = simulate(block(), 1.0, torque=[push], friction={"slide": law}, method="Radau")
    assert motion.q[-1, 0] == pytest.approx(push / law.stiffness, rel=1e-3)
    held = simulate(block(), 2.0, torque=[2.5], friction={"slide": law}, method="Radau")
    assert abs(held.v[-1, 0]) < 1e-6
    assert abs(held.q[-1, 0]) < 1e-3
    torn = simulate(block(), 2.0, torque=[3.5], friction={"slide": law}, method="Radau")
    assert torn.v[-1, 0] > 0.5


def test_smooth_friction_tends_to_coulombs_as_its_width_shrinks():
    # from 1 m/s to rest in half a second and 0.25 m
    sharp = simulate(block(coulomb=4.0), [0.0, 0.3, 0.6], v0=[1.0])
    errors = []
    for width in (1e-1, 1e-2, 1e-3):
        motion = simulate(block(coulomb=4.0), [0.0, 0.3, 0.6], v0=[1.0], friction={"slide": dy.Smooth(4.0, width)})
        errors.append(abs(motion.q[-1] - sharp.q[-1]).max())
    assert sharp.q[-1, 0] == pytest.approx(0.25)
    # what is left at the end is a creep whose length goes with the width
    assert errors[0] > 5 * errors[1] > 25 * errors[2] > 0


class Tripled(StickingLaw):
    """Three times Coulomb friction of 1 N."""

    def sliding(self, direction, v):
        return 3.0 * direction + 0.0 * v

    @property
    def holding(self):
        return -3.0, 3.0


class Quadratic(SmoothLaw):
    def torque(self, v):
        return 2.0 * v * abs(v)


class Relaxing(BristleLaw):
    """A Maxwell element: a spring of 50 N/m in series with a damper of 5 N s/m."""

    def rate(self, z, v):
        return v - 10.0 * z

    def torque(self, z, v):
        return 50.0 * z + 0.0 * v


@pytest.mark.parametrize(
    ("law", "methods", "expected"),
    [  # where a block of 2 kg stops or is after 0.5 s, from 1 m/s
        (Tripled(), ("DOP853", "time_stepping"), 0.5 - 0.5 * 1.5 * 0.25),
        (Quadratic(), ("DOP853", "rk4", "time_stepping"), np.log(1.5)),
        (Relaxing(), ("DOP853", "rk4"), None),
    ],
)
def test_a_law_of_ones_own_works_with_every_integrator_of_its_kind(law, methods, expected):
    steps = {"rk4": {"step": 1e-3}, "time_stepping": {"step": 1e-3}}
    options = {"friction": {"slide": law}, "v0": [1.0]}
    robot = block(mass=2.0)
    ends = [simulate(robot, 0.5, method=m, **steps.get(m, {}), **options).q[-1, 0] for m in methods]
    ends.append(dy.rollouts(robot, 0.5, q0=[[0.0]], v0=[[1.0]], friction={"slide": law}, step=1e-3).q[-1, 0, 0])
    np.testing.assert_allclose(ends, ends[0] if expected is None else expected, rtol=2e-5)


def test_stribeck_friction_of_any_shape_is_compiled():
    robot, law = block(mass=2.0), dy.Stribeck(1.0, 2.0, 0.3, shape=0.7)
    exact = simulate(robot, 0.5, v0=[1.0], friction={"slide": law}).q[-1, 0]
    assert simulate(robot, 0.5, v0=[1.0], friction={"slide": law}, method="time_stepping", step=1e-3).q[-1, 0] == pytest.approx(
        exact, rel=1e-4
    )
    assert dy.rollouts(robot, 0.5, q0=[[0.0]], v0=[[1.0]], friction={"slide": law}, step=1e-3).q[-1, 0, 0] == pytest.approx(
        exact, rel=1e-4
    )


@pytest.mark.parametrize("values", [(-1, 1), (5, -5), (-1, -1)])
def test_coulomb_friction_has_magnitudes(values):
    with pytest.raises(dy.InputError, match="without its sign"):
        dy.Coulomb(*values)


def test_friction_with_a_larger_constant_torque_of_a_model_is_simulated():
    d = block().description
    d.joints[0].drive.coulomb, d.joints[0].drive.coulomb_bias = 0.5, 1.5
    assert laws_of(dy.Robot(d).model, "model") == {0: dy.Coulomb(0.5, 0.5, offset=1.5)}
    assert dy.Coulomb(0.5, 0.5, offset=1.5).holding == (1.0, 2.0)
