"""Arguments of a wrong type or value are refused by the library's own errors, which say what is expected."""

import pickle

import numpy as np
import pytest

import dynamis as dy
from dynamis import control, statics

ARM = dy.load("planar_2r_melchiorri")
Q = np.array([0.3, 0.4])
FLOOR = dy.Plane((0, -1, 0), (0, 1, 0))


def touching(surface=FLOOR, **changes):
    return dy.contact(ARM, "link2", surface, **{"stiffness": 1e4, **changes})


@pytest.mark.parametrize(
    "call",
    [
        lambda: statics.static_torques("ur5e", Q),
        lambda: statics.virtual_work("ur5e", Q, Q, Q),
        lambda: dy.contact("go2", None, FLOOR, stiffness=1e4),
        lambda: dy.joint_stops("ur5e", stiffness=1e4),
        lambda: control.perturbed("ur5e", 0.05),
        lambda: control.gains(10, 1, robot="ur5e"),
    ],
)
def test_a_name_is_no_robot(call):
    with pytest.raises(dy.InputError, match=r"robot must be a Robot, such as dynamis.load\('ur5e'\), got str"):
        call()


@pytest.mark.parametrize("name", ["stiffness", "damping", "friction", "radius", "slip"])
@pytest.mark.parametrize("wrong", [np.inf, np.nan, -1.0, "1", None, [1.0, 2.0]])
def test_a_contact_has_finite_numbers(name, wrong):
    with pytest.raises(dy.InputError, match=f"{name}= of a contact must be a finite number"):
        touching(**{name: wrong})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: touching("floor"), "must be a dynamis.Plane or dynamis.Ball, got 'floor'"),
        (lambda: touching(stiffness=0.0), "stiffness= of a contact"),
        (lambda: touching(point="tip"), "three finite coordinates"),
        (lambda: dy.Ball((0, 0, 0), "1"), "radius of a ball"),
        (lambda: dy.joint_stops(dy.load("ur5e"), stiffness="1"), "stops require"),
        (lambda: dy.Coulomb("1", "2"), "all values must be finite numbers"),
        (lambda: dy.Stribeck(1.0, None, 0.1), "all values must be finite numbers"),
        (lambda: dy.LuGre("1", 2.0, 3.0, 4.0), "all values must be finite numbers"),
        (lambda: dy.Smooth(None), "all values must be finite numbers"),
        (lambda: dy.solids.sphere("0.1", mass=1.0), "radius must be a finite number"),
        (lambda: dy.solids.sphere(0.1, mass="1"), "mass must be a finite number"),
        (lambda: dy.solids.box(None, 1.0, 1.0, mass=1.0), "x must be a finite number"),
        (lambda: dy.solids.cylinder("0.1", 1.0, mass=1.0), "radius must be a finite number"),
        (lambda: control.perturbed(ARM, 0.05, seed=-1), "seed must be an integer"),
        (lambda: control.perturbed(ARM, 0.05, seed="x"), "seed must be an integer"),
        (lambda: dy.read_study({"robot": "ur5e"}), "read_study takes the name of a .toml file"),
        (lambda: dy.loops.four_bar(ground=None), "ground= must be a positive number"),
        (lambda: dy.loops.four_bar(masses=(1.0, 2.0)), r"masses= has shape \(2,\); it must be \(3,\)"),
        (lambda: dy.loops.slider_crank(angle="x"), "angle= must be a number, got str"),
        (lambda: dy.loops.delta(angles=None), r"angles= has shape \(\); it must be \(3,\)"),
        (lambda: ARM.indices(None), "indices takes a name or a list of names"),
        (lambda: ARM.replace(rotors=[]), "choose 'riding' or 'reflected'"),
        (lambda: statics.static_torques(ARM, Q, by=[]), "choose 'environment'"),
    ],
)
def test_wrong_values_are_named(call, message):
    with pytest.raises(dy.InputError, match=message):
        call()


@pytest.mark.parametrize("call", [lambda: ARM.closed_form(notation=[]), lambda: ARM.indices([["joint1"]])])
def test_lists_are_no_names(call):
    with pytest.raises(dy.NameLookupError, match="must be a name"):
        call()


@pytest.mark.parametrize("duration", [np.inf, None, "x", 0.0])
def test_an_environment_lasts_a_finite_time(duration):
    pytest.importorskip("gymnasium")
    with pytest.raises(dy.InputError, match="step and duration must be positive, finite numbers"):
        dy.optimize.environment(dy.load("ur5e"), duration=duration)


def test_goals_of_a_velocity_step_are_a_list():
    pytest.importorskip("daqp")
    with pytest.raises(dy.InputError, match="goals must be a list of Goal"):
        dy.differential_inverse_kinematics(ARM, Q, None, 0.01)


def test_closures_of_a_description_are_those_of_files():
    d = ARM.description
    d.closures = [dy.loops.Pin("link1", "link2")]
    with pytest.raises(dy.ModelError, match=r"LoopClosure.*dynamis.constrained\(robot, closures=…\)"):
        dy.Robot(d)


def test_friction_by_direction_has_a_bias():
    with pytest.raises(dy.ModelError, match=r"coulomb is \[1.0, 3.0\].*coulomb_bias = \(c₊ − c₋\) / 2"):
        ARM.replace(friction={"joint1": {"coulomb": [1.0, 3.0]}})


def test_symbols_have_values_by_name():
    x = dy.symbol("x")
    assert dy.evaluate([2.0 * x, x * x], {"x": 3.0}).tolist() == dy.evaluate([2.0 * x, x * x], {x: 3.0}).tolist() == [6.0, 9.0]
    M = dy.load("planar_2r").closed_form().M
    with pytest.raises(dy.InputError, match="has no value"):
        dy.evaluate(M, {"m_1": 1.0})
    parameters = {"m_1": 1.0, "m_2": 2.0, "a_1": 0.5, "a_2": 0.4, "l_1": 0.3, "l_2": 0.2, "I_1": 0.1, "I_2": 0.2, "g": 9.81}
    expected = dy.load("planar_2r", parameters=parameters).mass_matrix([0.0, 0.7])
    assert dy.evaluate(M, {**parameters, "q[2]": 0.7}) == pytest.approx(expected)


@pytest.mark.parametrize("values", [[1.0], {3: 1.0}, {"x": "1"}, {"x": None}, None])
def test_values_of_symbols_are_numbers_by_name(values):
    with pytest.raises(dy.InputError, match=r"such as \{'x': 1.0\}|must be a number"):
        dy.evaluate(2.0 * dy.symbol("x"), values)


FORM = dy.load("planar_2r").closed_form()
RAGGED = [[1, 2], [3]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dy.check_answer(FORM, "force", "f=[0,0,0]", body="2"), "force refers to one link: give its number"),
        (lambda: dy.check_answer(FORM, None, "g_2=0"), "a quantity is given by its name, such as 'gravity', got NoneType"),
        (lambda: statics.static_torques(ARM, Q, wrench=RAGGED), "wrench must be a rectangular array of numbers"),
        (lambda: dy.simulate(ARM, 0.01, method=["rk4"]), r"method=\['rk4'\] is unknown; choose one by its name"),
        (lambda: dy.Description("x").add_link("b").add_link("a", "b", "revolute", axis=RAGGED), "axis= takes three numbers"),
        (lambda: dy.simulate(ARM, 0.01, friction=np.array([])), "friction=.* is unknown; choose 'model'"),
        (lambda: dy.load("planar_2r", parameters=np.array([])), "parameters= takes a mapping"),
        (lambda: dy.collision.Obstacle("sphere", RAGGED), r"size= of a sphere is \(radius\) in m"),
        (lambda: dy.collision.Obstacle("sphere", [[1]]), r"size= of a sphere is \(radius\) in m"),
        (lambda: ARM.gravity(Q, dtype="flaot32"), "dtype='flaot32' is not available"),
        (lambda: ARM.gravity(Q, dtype=3), "dtype=3 is not available"),
    ],
)
def test_values_of_other_kinds_are_refused(call, message):
    with pytest.raises(dy.InputError, match=message):
        call()


def test_a_controller_that_returns_rows_of_different_lengths_is_named_with_its_time():
    with pytest.raises(dy.DynamisError, match="controller returned list instead of 2 numbers at t = 0 s"):
        dy.simulate(ARM, 0.01, controller=lambda t, q, v: RAGGED)


def test_a_robot_without_joints_has_motions_without_entries():
    fixed = ARM.reduced({"joint1": 0.0, "joint2": 0.0})
    assert dy.rollouts(fixed, 0.01, np.zeros((3, 0))).q.shape[1:] == (3, 0)


def test_a_law_with_a_goal_or_a_motion_can_be_pickled():
    law = control.ComputedTorque.designed(np.array([0.5, -0.5]), bandwidth=8.0)
    moving = control.ComputedTorque.designed(dy.trajectories.joint_move([0.0, 0.0], [1.0, 0.5], duration=2.0), bandwidth=8.0)
    for each in (law, moving):
        again = pickle.loads(pickle.dumps(each))
        assert np.array_equal(again(ARM, 0.3, Q, 0.0 * Q), each(ARM, 0.3, Q, 0.0 * Q))
