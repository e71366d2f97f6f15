"""`simulate` at its boundary: the times it reports, and what it refuses in words."""

import warnings

import numpy as np
import pytest
from joint_zoo import zoo_robot
from small_machines import ball_joint, block, pendulum, point_mass

import dynamis as dy
from dynamis.simulation.simulate import simulate

ARM = dy.load("planar_2r_melchiorri")


def test_times_are_a_duration_an_interval_or_a_list_before_zero_or_after():
    assert np.array_equal(simulate(ARM, 2, points=5).t, [0.0, 0.5, 1.0, 1.5, 2.0])
    assert np.array_equal(simulate(ARM, (-2.0, -1.0), points=3).t, [-2.0, -1.5, -1.0])
    assert np.array_equal(simulate(ARM, [0.0, 0.1, 0.7]).t, [0.0, 0.1, 0.7])
    assert np.array_equal(simulate(ARM, np.float32(0.5), points=np.int64(2)).t, [0.0, 0.5])


def test_the_motion_does_not_depend_on_where_it_is_reported():
    often, seldom = simulate(ARM, 1.0, points=401), simulate(ARM, 1.0, points=3)
    assert np.array_equal(often.q[[0, 200, 400]], seldom.q)


def test_the_start_is_the_state_given_or_rest_in_the_home_configuration():
    motion = simulate(ARM, 0.1, [0.3, 0.4], [0.5, 0.6])
    assert np.array_equal(motion.q[0], [0.3, 0.4])
    assert np.array_equal(motion.v[0], [0.5, 0.6])
    top = simulate(ball_joint(), 0.1)
    assert np.array_equal(top.q[0], [0.0, 0.0, 0.0, 1.0])
    arm = simulate(dy.load("panda"), 1e-3)
    assert np.array_equal(arm.q[0], dy.load("panda").home())


@pytest.mark.parametrize("t", [-1.0, 0.0, [0.0, 1.0, 0.5], (1.0, 1.0), [0.0, 0.0, 1.0]])
def test_times_that_do_not_increase_are_refused(t):
    with pytest.raises(dy.InputError, match=r"times must increase|the duration must be positive, got -?[01] s"):
        simulate(ARM, t)


@pytest.mark.parametrize("t", ["soon", None, np.nan, np.inf, [], [[0.0, 1.0]], [0.0, np.nan]])
def test_times_that_are_no_times_are_refused(t):
    with pytest.raises(dy.InputError, match="t must be a duration"):
        simulate(ARM, t)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"q0": [np.nan, 0.0]}, r"q0\[0\] is nan"),
        ({"v0": [0.0, np.inf]}, r"v0\[1\] is inf"),
        ({"q0": [0.0]}, r"q0 has shape \(1,\)"),
        ({"q0": np.zeros((3, 2))}, "one state, not a batch"),
        ({"v0": "fast"}, "v0 must be an array of real numbers"),
        ({"points": 1}, "points must be an integer of at least 2"),
        ({"points": 2.5}, "points must be"),
        ({"method": "rk5"}, "RK45, RK23, DOP853, Radau, BDF, LSODA, euler, rk4, midpoint"),
        ({"method": 3}, "method=3 is unknown"),
        ({"method": "rk4"}, "needs a step"),
        ({"method": "rk4", "step": 0.0}, "step must be a positive number"),
        ({"method": "rk4", "step": np.nan}, "step must be a positive number"),
        ({"method": "rk4", "step": np.inf}, "step must be a positive number"),
        ({"method": "rk4", "step": "1 ms"}, "step must be a positive number"),
        ({"rtol": -1.0}, "rtol must be a number of at least 2.2"),
        ({"rtol": np.nan}, "rtol must be"),
        ({"atol": -1.0}, "atol must be"),
    ],
)
def test_wrong_arguments_are_refused_with_what_is_allowed(wrong, says):
    with pytest.raises(dy.InputError, match=says):
        simulate(ARM, 1.0, **wrong)


def test_what_is_no_robot_or_has_no_numbers_is_refused_with_what_to_do():
    with pytest.raises(dy.InputError, match="robot must be a Robot"):
        simulate("ur5e", 1.0)
    with pytest.raises(dy.InputError, match="parameters without values"):
        simulate(dy.load("planar_2r"), 1.0)


def test_a_quaternion_that_is_far_from_length_one_is_refused():
    with pytest.raises(dy.InputError, match="quaternion of norm 2"):
        simulate(ball_joint(), 1.0, [0.0, 0.0, 0.0, 2.0])
    with pytest.raises(dy.InputError, match="quaternion of norm 0; a rotation is a quaternion of norm 1"):
        simulate(ball_joint(), 1.0, [0.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("friction", [{"slide": dy.Coulomb(1, 1)}, {"slide": dy.Stribeck(1, 2, 0.1)}])
def test_fixed_steps_refuse_friction_that_sticks_and_name_what_takes_it(friction):
    with pytest.raises(dy.InputError, match="method='time_stepping' or 'DOP853', or friction='smooth'"):
        simulate(block(), 1.0, friction=friction, method="rk4", step=1e-3)


@pytest.mark.parametrize(
    "way", [{}, {"method": "rk4", "step": 0.1}, {"friction": {"light": dy.Coulomb(1, 1)}, "torque": [2.0]}]
)
@pytest.mark.filterwarnings("ignore:.*nothing with mass")
def test_a_mass_matrix_that_cannot_be_inverted_is_refused_by_the_joints_name(way):
    d = dy.Description("massless").add_link("base")
    robot = dy.Robot(d.add_link("feather", "base", "revolute", joint_name="light", axis=np.array([0.0, 1.0, 0.0])))
    with pytest.raises(dy.SingularError, match="joint 'light' can move without moving any mass"):
        simulate(robot, 1.0, **way)


@pytest.mark.parametrize("way", [{}, {"method": "rk4", "step": 0.1}])
def test_a_robot_without_joints_stands_and_says_so(way):
    robot = dy.Robot(dy.Description("statue").add_link("stone", inertia=point_mass()))
    motion = simulate(robot, 1.0, points=3, **way)
    assert motion.complete
    assert motion.q.shape == (3, 0)


def test_followers_move_with_their_leader_and_their_dry_friction_is_the_leaders():
    robot = zoo_robot("screws")
    motion = simulate(robot, 0.5, robot.random(0), points=51, rtol=1e-10, atol=1e-12)
    assert motion.q.shape[1] == robot.n < len(robot.model.moving)
    slope = (motion.q[2:] - motion.q[:-2]) / (motion.t[2:] - motion.t[:-2])[:, None]
    assert np.abs(slope - motion.v[1:-1]).max() < 1e-2 * np.abs(motion.v).max()
    assert np.abs(motion.energy_error).max() < 1e-8 * motion.kinetic_energy.max()
    # none of it is left where none is asked for
    free = simulate(robot.replace(friction=0), 0.5, robot.random(0), points=51)
    told = simulate(robot.replace(friction={j.name: {"viscous": 0.0} for j in robot.description.joints if j.type != "fixed"}), 0.5,
                    robot.random(0), points=51, friction="none")  # fmt: skip
    assert np.abs(free.q - told.q).max() < 1e-9


def test_a_controller_that_changes_its_mind_about_failing_keeps_what_was_known():
    calls = []

    def tired(_t, _q, _v):
        calls.append(1)
        if len(calls) > 900:
            raise RuntimeError("tired")
        return [0.0]

    motion = simulate(pendulum(), 1.0, [0.5], controller=tired)
    assert "RuntimeError: tired" in motion.status
    assert 1 < len(motion) < 501
    assert len(motion.tau) == len(motion.friction) == len(motion.work) == len(motion)


def test_a_start_that_looks_like_degrees_is_questioned():
    arm = dy.load("ur5e")
    with pytest.warns(dy.ReachWarning, match=r"-90 rad for joint 'shoulder_lift_joint' \(and 1 more\) is 14.3 turns.*deg2rad"):
        dy.simulate(arm, 0.01, [0, -90, 90, 0, 0, 0], points=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", dy.ReachWarning)
        dy.simulate(arm, 0.01, [0, -6.1, 0, 0, 0, 0], points=2)
