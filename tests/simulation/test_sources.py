"""What pushes: constants, functions of time and of the state, and what is done about those that fail."""

import functools
import itertools
import re

import numpy as np
import pytest
from campaign_params import few_of
from small_machines import block, pendulum

import dynamis as dy
from dynamis.simulation.simulate import simulate
from dynamis.simulation.sources import SourceError, plain_wrenches, source, torque_source

ARM = dy.load("planar_2r_melchiorri")


def fails_after(t_end, how):
    def controller(t, _q, _v):
        if t > t_end:
            return how()
        return np.zeros(1)

    return controller


def boom():
    raise RuntimeError("the gripper is lost")


def test_constants_functions_of_time_and_of_the_state_mean_the_same_and_add_up():
    ways = [
        {"torque": [3.0]},
        {"torque": lambda _t: [3.0]},
        {"controller": lambda _t, _q, _v: np.array([3.0])},
        {"torque": (1.0,), "controller": lambda _t, _q, _v: [2.0]},
        {"torque": functools.partial(lambda _t, size: [size], size=3.0)},
        {"controller": lambda _t, q, v, gain=1.0: [3.0 + 0.0 * gain * (q[0] + v[0])]},
    ]
    ends = [simulate(block(), 1.0, **way) for way in ways]
    for end in ends:
        assert end.q[-1, 0] == pytest.approx(0.5 * 3.0 / 2.0, rel=1e-9)
        assert np.array_equal(end.tau, np.full_like(end.tau, 3.0))


def test_a_function_that_works_in_place_does_not_reach_the_state():
    def careless(_t, q, v):
        q *= 0.0
        v += 100.0
        return np.zeros(2)

    for method in ({}, {"method": "rk4", "step": 1e-2}):
        assert np.array_equal(
            simulate(ARM, 0.5, controller=careless, **method).q,
            simulate(ARM, 0.5, controller=lambda _t, _q, _v: np.zeros(2), **method).q,
        )


def test_an_array_changed_after_the_call_does_not_change_the_torque():
    given = np.array([3.0])
    source = torque_source(block(), given, None)
    given[:] = 7.0
    assert source(0.0, np.zeros(1), np.zeros(1)) == 3.0


METHODS = {"": {}, "Radau": {"method": "Radau"}, "rk4": {"method": "rk4", "step": 1e-3}}
FAILURES = {
    "raises": (boom, "RuntimeError: the gripper is lost"),
    "nan": (lambda: [np.nan], r"returned \[nan\]"),
    "shape": (lambda: [0.0, 0.0], r"shape \(2,\)"),
}
EVERY = list(itertools.product(METHODS, ("none", "model"), FAILURES))
# each method with each kind of failure and each friction with each of both
USUAL = [
    (method, ("none", "model")[(i + j) % 2], failure) for i, method in enumerate(METHODS) for j, failure in enumerate(FAILURES)
]


@pytest.mark.parametrize(("method", "friction", "failure"), few_of(EVERY, USUAL))
def test_a_controller_that_fails_on_the_way_ends_the_motion_and_keeps_what_was(method, friction, failure):
    method, (how, says) = METHODS[method], FAILURES[failure]
    if method.get("step") and friction == "model":
        friction = "smooth"
    robot = pendulum(coulomb=0.3)
    motion = simulate(robot, 1.0, [1.2], controller=fails_after(0.5, how), friction=friction, **method)
    assert not motion.complete
    for word in ("controller", "t = 0.5", "q = [", "v = ["):
        assert word in motion.status
    assert re.search(says, motion.status)
    assert 0.3 < motion.t[-1] <= 0.5
    whole = simulate(robot, 0.5, [1.2], friction=friction, **method)
    assert np.interp(motion.t[-1], whole.t, whole.q[:, 0]) == pytest.approx(motion.q[-1, 0], abs=1e-4)
    assert np.isfinite(motion.acceleration).all()


@pytest.mark.parametrize("method", [{}, {"method": "rk4", "step": 1e-3}])
def test_a_controller_that_fails_at_the_very_start_raises(method):
    with pytest.raises(SourceError, match=r"ZeroDivisionError.* at t = 0 s, q = \[0.5\], v = \[0.\]") as caught:
        simulate(pendulum(), 1.0, [0.5], controller=lambda _t, _q, _v: 1 / 0, **method)
    assert isinstance(caught.value, dy.DynamisError)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("function", [lambda: 0, lambda _t, _q: 0, lambda _t, *, k: k])
def test_a_function_of_other_arguments_is_refused(function):
    with pytest.raises(dy.InputError, match=r"a function of t, of \(t, q, v\) or of \(robot, t, q, v\)"):
        simulate(block(), 1.0, controller=function)


def test_a_table_of_torques_is_refused_with_the_function_that_reads_it():
    with pytest.raises(
        dy.InputError, match=r"got an array of shape \(200, 1\): of a table with a row per step, give a function"
    ):
        simulate(block(), 1.0, torque=np.zeros((200, 1)))


@pytest.mark.parametrize("torque", [[1.0, 2.0], [np.nan], ["a"], 3.0, [np.inf]])
def test_a_constant_that_is_no_torque_is_refused(torque):
    with pytest.raises(dy.InputError, match="torque must be 1 finite number or a function"):
        simulate(block(), 1.0, torque=torque)


def test_a_controller_that_is_a_number_is_refused_with_what_it_takes():
    with pytest.raises(dy.InputError, match=r"of \(t, q, v\) or of \(robot, t, q, v\)"):
        simulate(block(), 1.0, controller=3.0)


def test_wrenches_are_refused_by_frame_and_by_size():
    with pytest.raises(dy.NameLookupError, match="did you mean 'body'"):
        simulate(block(), 1.0, wrenches={"bodi": np.zeros(6)})
    with pytest.raises(dy.InputError, match="wrench on body must be 6"):
        simulate(block(), 1.0, wrenches={"body": np.zeros(5)})
    with pytest.raises(dy.InputError, match="must map frames"):
        simulate(block(), 1.0, wrenches=np.zeros(6))


def test_a_contact_is_given_under_its_own_frame():
    floor = dy.contact(ARM, ARM.link_names[-1], dy.Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), stiffness=1e4)
    assert plain_wrenches(ARM, {ARM.link_names[-1]: floor}) == {ARM.link_names[-1]: floor}
    with pytest.raises(dy.InputError, match=f"give it under '{ARM.link_names[-1]}'"):
        plain_wrenches(ARM, {ARM.link_names[-2]: floor})
    with pytest.raises(dy.InputError, match="twice: give a list for one frame"):
        plain_wrenches(ARM, {ARM.link_names[-1]: np.ones(6), None: np.ones(6)})


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_function_that_returns_no_finite_number_is_told_so(value):
    with pytest.raises(SourceError, match=rf"torque returned \[ ?{value}\] at t = 2 s"):
        source(lambda _t: [value], 1, "torque")(2.0, np.zeros(1), np.zeros(1))


@pytest.mark.parametrize("method", [{}, {"method": "rk4", "step": 1e-3}])
def test_a_wrench_does_the_work_of_its_force_along_the_path_of_its_frame(method):
    force = np.array([30.0, -20.0, 0.0, 0.0, 0.0, 5.0])
    motion = simulate(ARM.replace(friction=0), 1.0, [0.2, 0.3], wrenches={ARM.link_names[-1]: force}, **method)
    path = motion.path(ARM.link_names[-1])
    work = (path - path[0]) @ force[:3] + force[5] * (motion.q - motion.q[0]).sum(axis=1)
    assert np.abs(motion.work - work).max() < (1e-6 if not method else 1e-4) * np.abs(work).max()
    assert np.abs(motion.ledger.total - motion.tau).max() < 1e-9
    assert np.array_equal(motion.wrenches[ARM.link_names[-1]], np.tile(force, (len(motion), 1)))


def test_a_velocity_without_bounds_ends_the_motion_with_the_joints_name():
    for robot in (pendulum(), pendulum(coulomb=0.1)):
        motion = simulate(robot, 1.0, v0=[1.0], rtol=1e-5, controller=lambda _t, _q, v: 1e3 * v)
        assert "velocity of hinge diverged" in motion.status
        assert len(motion) > 2
    burst = simulate(pendulum(viscous=1e4), 10.0, v0=[1.0], method="rk4", step=0.1)
    assert "velocity of hinge diverged" in burst.status


def test_a_function_without_a_return_statement_is_told_so():
    arm = dy.load("planar_2r_melchiorri")
    for controller in (lambda t, q, v: None, lambda robot, t, q, v: None):
        with pytest.raises(dy.DynamisError, match=r"returned None instead of 2 numbers.*no return statement"):
            dy.simulate(arm, 0.1, controller=controller)
