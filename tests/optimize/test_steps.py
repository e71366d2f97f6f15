"""Discrete steps: agreement with simulations, derivatives, gradients of costs of motions."""

import re

import numpy as np
import pytest
from random_trees import random_robot, relative_error

import dynamis as dy
from dynamis.optimize.step_dynamics import METHODS


def central(function, n, h=1e-6):
    return np.stack([(function(h * x) - function(-h * x)) / (2 * h) for x in np.eye(n)], axis=-1)


ROBOTS = {
    "arm": lambda: dy.load("planar_2r_melchiorri").replace(friction={"joint1": {"coulomb": 0.4, "viscous": 0.1}}),
    "floating": lambda: random_robot(np.random.default_rng(5), 2, floating=True, mimics=False),
}


@pytest.fixture(scope="module", params=list(ROBOTS))
def robot(request):
    return ROBOTS[request.param]()


@pytest.mark.parametrize("method", METHODS)
def test_a_and_b_are_derivatives_along_the_entries_of_v(robot, method):
    rng = np.random.default_rng(2)
    step = dy.optimize.Step(robot, 0.01, method)
    n, q, v, u = robot.n, robot.random(0), 0.5 * rng.normal(size=robot.n), rng.normal(size=step.inputs)
    q1, v1 = step(q, v, u)

    def change(x):
        q2, v2 = step(robot.integrate(q, x[:n]), v + x[n : 2 * n], u + x[2 * n :])
        return np.concatenate([robot.difference(q1, q2), v2 - v1])

    assert relative_error(np.hstack(step.derivatives(q, v, u)), central(change, 2 * n + step.inputs)) < 1e-7


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("speed", [0.0, 1e-6, 0.5])
def test_derivatives_where_dry_friction_changes_its_sign(method, speed):
    arm = ROBOTS["arm"]().replace(friction={"joint2": {"coulomb": 2.0, "coulomb_bias": 0.3}})
    step = dy.optimize.Step(arm, 0.01, method)
    x = np.array([0.3, 0.5, speed, -speed, 4.0, -1.0])

    def change(y):
        return np.concatenate(step(*np.split(x + y, 3)))

    assert relative_error(np.hstack(step.derivatives(*np.split(x, 3))), central(change, 6)) < 1e-7
    np.testing.assert_allclose(step.function(arm, *np.split(x, 3)), change(np.zeros(6)), rtol=1e-12)


@pytest.mark.parametrize("friction", [{"viscous": 10.0}, {"viscous": 1.0, "coulomb": 5.0}, {"coulomb": 5.0}])
def test_strong_friction_of_light_links_needs_no_short_steps(friction):
    """h D / M is some 100: explicit steps would diverge."""
    light = dy.load("planar_2r_melchiorri").replace(
        inertias={"link2": dy.solids.sphere(0.02, mass=0.1)}, friction={"joint1": {"viscous": 5.0}, "joint2": friction}
    )
    start = [0.3, 0.5], [0.0, 3.0]
    _, v = dy.optimize.Step(light, 0.05).rollout(*start, np.zeros((20, 2)))
    assert np.abs(v[:, 1]).max() <= 3.0
    true = dy.simulate(light, 1.0, *start, friction={"joint2": dy.Smooth(friction.get("coulomb", 0.0), 0.05)})
    fine, _ = dy.optimize.Step(light, 0.001).rollout(*start, np.zeros((1000, 2)))
    assert np.abs(fine[-1] - true.q[-1]).max() < 0.02


@pytest.mark.parametrize("method", METHODS)
def test_the_torques_of_a_step_give_its_acceleration(method):
    arm = ROBOTS["arm"]().replace(friction={"joint2": {"coulomb": 2.0, "coulomb_bias": 0.3}})
    q, v, a = np.array([0.3, 0.5]), np.array([0.2, -0.01]), np.array([3.0, -4.0])
    h = 0.01 if method == "euler" else 1e-7
    step = dy.optimize.Step(arm, h, method)
    assert relative_error((step(q, v, step.torques(q, v, a))[1] - v) / h, a) < (1e-12 if method == "euler" else 1e-4)


def test_a_short_step_of_each_order_approaches_the_simulated_motion():
    arm = dy.load("planar_2r_melchiorri")
    q, v, u = np.array([0.3, 0.5]), np.array([1.0, -2.0]), np.array([3.0, -1.0])
    true = dy.simulate(arm, 0.2, q0=q, v0=v, torque=u, rtol=1e-12, atol=1e-12)
    for method, order in (("euler", 1), ("rk2", 2), ("rk4", 4)):
        errors = []
        for steps in (20, 40):
            Q, _ = dy.optimize.Step(arm, 0.2 / steps, method).rollout(q, v, np.tile(u, (steps, 1)))
            errors.append(np.abs(Q[-1] - true.q[-1]).max())
        assert 0.7 * 2**order < errors[0] / errors[1] < 1.4 * 2**order


@pytest.mark.parametrize(("method", "order"), [("rk2", 2), ("rk4", 4)])
def test_steps_of_quaternions_have_the_order_of_their_method(method, order):
    """The rates of the stages refer to the configuration at the start; without dexp⁻¹ rk4 is of second order."""
    free = random_robot(np.random.default_rng(5), 2, floating=True, mimics=False)
    rng = np.random.default_rng(6)
    q, v, u = free.random(0), 2.0 * rng.normal(size=free.n), np.zeros(dy.optimize.Step(free, 0.1).inputs)
    true, _ = dy.optimize.Step(free, 0.2 / 640, "rk4").rollout(q, v, np.tile(u, (640, 1)))
    errors = []
    for steps in (20, 40):
        Q, _ = dy.optimize.Step(free, 0.2 / steps, method).rollout(q, v, np.tile(u, (steps, 1)))
        errors.append(np.abs(free.difference(true[-1], Q[-1])).max())
    assert 0.6 * 2**order < errors[0] / errors[1] < 1.7 * 2**order


@pytest.mark.parametrize("torque", [2.0, 10.0])
def test_dry_friction_at_the_start_of_a_motion_is_that_of_the_new_velocity(torque):
    """With the friction of the velocity before each step the wheel is 8 and 4 % too slow after ten steps."""
    wheel = dy.load("planar_2r_melchiorri").reduced(lock={"joint2": 0.0}).replace(gravity=[0.0, 0.0, 0.0])
    wheel = wheel.replace(friction={"joint1": {"coulomb": wheel.mass_matrix([0.0])[0, 0]}})
    torque *= wheel.mass_matrix([0.0])[0, 0]
    _, fine = dy.optimize.Step(wheel, 1e-4, "rk4").rollout([0.0], [0.0], np.full((1000, 1), torque))
    _, v = dy.optimize.Step(wheel, 0.01).rollout([0.0], [0.0], np.full((10, 1), torque))
    assert abs(v[-1, 0] / fine[-1, 0] - 1.0) < 0.035


def test_second_derivatives_are_those_of_a_and_b():
    arm = ROBOTS["arm"]()
    step = dy.optimize.Step(arm, 0.02, "rk2")
    q, v, u = np.random.default_rng(0).normal(size=(3, 2))
    weights = np.array([0.3, -1.0, 2.0, 0.5])

    def slopes(x):
        return weights @ np.hstack(step.derivatives(q + x[:2], v + x[2:4], u + x[4:]))

    assert relative_error(step.weighted_hessian(q, v, u, weights), central(slopes, 6, 1e-5)) < 1e-6


def test_gradients_of_costs_of_motions(robot):
    rng = np.random.default_rng(4)
    step = dy.optimize.Step(robot, 0.02)
    n, q, v = robot.n, robot.random(1), np.zeros(robot.n)
    u, w = rng.normal(size=(6, 2, step.inputs)), rng.normal(size=(7, 2, 2 * n))
    Q, V = step.rollout(q, v, u)
    found = step.gradient(Q, V, u, w, 0.2 * u)

    def cost(u):
        a, b = step.rollout(q, v, u)
        return (w * np.concatenate([robot.difference(Q, a), b - V], axis=-1)).sum((0, 2)) + 0.1 * (u * u).sum((0, 2))

    for k, j in ((0, 0), (3, step.inputs - 1)):
        e = np.zeros_like(u)
        e[k, :, j] = 1e-6
        assert relative_error(found.inputs[k, :, j], (cost(u + e) - cost(u - e)) / 2e-6) < 1e-6
    assert found.start.shape == (2, 2 * n)


def test_steps_are_functions_for_casadi():
    casadi = pytest.importorskip("casadi", reason="CasADi is not installed: pip install casadi")
    arm = dy.load("planar_2r_melchiorri")
    step = dy.optimize.Step(arm, 0.02, "rk4")
    function = arm.casadi(step.function, u=2)
    assert isinstance(function, casadi.Function)
    given = [0.1, 0.2], [0.3, -0.4], [1.0, 2.0]
    assert relative_error(np.array(function(*given)).ravel(), np.concatenate(step(*given))) < 1e-13


def test_friction_of_both_directions_is_that_of_the_simulation():
    arm = dy.load("planar_2r_melchiorri").replace(friction={"joint1": {"coulomb": 2.0, "coulomb_bias": 0.7}})
    step, v = dy.optimize.Step(arm, 1e-5, "rk4", friction_velocity=0.1), np.array([0.05, -0.3])
    smooth = {"joint1": dy.Smooth(2.0, 0.1, bias=0.7), "joint2": dy.Smooth(0.0, 0.1)}
    exact = dy.simulate(arm, 1e-5, [0.3, 0.5], v, friction=smooth, step=1e-5)
    assert relative_error(step([0.3, 0.5], v, [0.0, 0.0])[1] - v, exact.v[-1] - v) < 1e-6
    # a bias alone is a constant torque
    only_bias, none = arm.replace(friction={"joint1": {"coulomb": 0.0}}), dy.load("planar_2r_melchiorri")
    one, other = (dy.optimize.Step(x, 0.01)([0.3, 0.5], v, [u, 0.0])[1] for x, u in ((only_bias, 0.7), (none, 0.0)))
    np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda arm: dy.optimize.Step(arm, 0.01, "rk3"), "choose one of euler, rk2, rk4"),
        (lambda arm: dy.optimize.Step(arm, 0.0), "the step h must be positive"),
        (lambda arm: dy.optimize.Step(arm, "a"), "the step h must be numeric"),
        (lambda _: dy.optimize.Step("ur5e", 0.01), "such as dynamis.load"),
        (lambda arm: dy.optimize.Step(arm, 0.01, actuated=["joint_1"]), "did you mean 'joint1'"),
        (lambda arm: dy.optimize.Step(arm, 0.01, actuated=["joint1", 0]), "has the coordinate 'joint1' twice"),
        (lambda arm: dy.optimize.Step(arm, 0.01, actuated=[]), "must name at least one"),
        (lambda arm: dy.optimize.Step(arm, 0.01, actuated=[2]), "indices from 0 to 1, got 2"),
        (lambda _: dy.optimize.Step(dy.load("planar_2r"), 0.01), "symbolic parameters"),
        (lambda arm: dy.optimize.Step(arm, 0.01)([0.0], [0.0, 0.0], [0.0, 0.0]), r"q has shape \(1,\)"),
        (lambda arm: dy.optimize.Step(arm, 0.01)([0.0, 0.0], [0.0, 0.0], [np.nan, 0.0]), r"u\[0\] is nan"),
        (lambda arm: dy.optimize.Step(arm, 0.01).derivatives([0.0, 0.0], [0.0, 0.0], [1.0]), r"u has shape \(1,\)"),
        (lambda arm: dy.optimize.Step(arm, 0.01).rollout([0.0, 0.0], [0.0, 0.0], [1.0, 1.0]), "a row of 2 inputs"),
        (lambda arm: dy.optimize.Step(arm, 0.01).rollout(np.zeros((3, 2)), np.zeros(2), np.zeros((4, 5, 2))), "broadcast"),
        (lambda arm: _gradient(arm, 3, 0.0), "5 inputs lead through 6 states"),
        (lambda arm: _gradient(arm, 6, np.zeros(3)), r"states must be numbers of shape \(6, 4\)"),
        (lambda arm: arm.differentiate(None), "got NoneType"),
        (lambda arm: arm.differentiate("gravity", wrt=3), "no argument 3"),
    ],
)
def test_bad_steps_are_refused(made, message):
    with pytest.raises(dy.DynamisError, match=message):
        made(dy.load("planar_2r_melchiorri"))


def test_the_length_of_u_is_explained_by_what_stands_in_it():
    dog = dy.load("go2", base="floating")
    names = [dog.coordinate_names[k] for k in (6, 7, 8, 9, 10, -1)]
    listed = ", ".join([*map(repr, names[:5]), "…", repr(names[5])])
    text = re.escape(f"12 numbers: the torques of the motors, of 12 actuated joints ({listed})")
    step, zeros = dy.optimize.Step(dog, 0.01), np.zeros(18)
    for call in (step, step.derivatives, lambda q, v, u: step.rollout(q, v, [u, u])):
        with pytest.raises(dy.InputError, match=text):
            call(dog.home(), zeros, zeros)
    pushed = dy.optimize.Step(dy.load("planar_2r_melchiorri"), 0.01, actuated=["joint1"], wrenches=["link2"], moving_base=True)
    text = "of 1 actuated joint ('joint1'); 6 of the wrench on link2; 12 of the motion of the base"
    with pytest.raises(dy.InputError, match=re.escape(text)):
        pushed([0.0, 0.0], [0.0, 0.0], [1.0, 2.0])


def _gradient(arm, count, states):
    return dy.optimize.Step(arm, 0.01).gradient(np.zeros((count, 2)), np.zeros((count, 2)), np.zeros((5, 2)), states)


def test_actuated_coordinates_keep_the_order_given():
    arm = dy.load("planar_2r_melchiorri")
    state = [0.3, 0.5], [0.0, 0.0]
    swapped, plain = dy.optimize.Step(arm, 0.01, actuated=["joint2", 0]), dy.optimize.Step(arm, 0.01)
    np.testing.assert_array_equal(swapped(*state, [1.0, 2.0])[1], plain(*state, [2.0, 1.0])[1])
    assert dy.optimize.Step(arm, 0.01, actuated="joint2").columns == [1]
    assert dy.optimize.Step(dy.load("go2", base="floating"), 0.01).inputs == 12


def test_motions_that_diverge_are_told():
    light = dy.load("xarm7")  # 10 N m s/rad on 1e-3 kg m²
    with pytest.warns(dy.ModelWarning, match=r"diverges in step \d+: use a shorter step h, or method 'euler'"):
        dy.optimize.Step(light, 0.01, "rk4").rollout(np.zeros(7), np.zeros(7), np.zeros((50, 7)))


def test_values_of_parameters_that_no_body_can_have_are_refused():
    m = dy.symbol("m")
    robot = dy.load("planar_2r_melchiorri").replace(payload=dy.solids.sphere(0.05, mass=m))
    step = dy.optimize.Step(robot, 0.01, parameters=[m])
    state = np.zeros(2), np.zeros(2)
    assert np.isfinite(step(*state, np.zeros(2), [[0.0], [2.0]])[0]).all()
    with pytest.raises(dy.InputError, match="the mass of the payload at 'link2' is -1,"):
        step(*state, np.zeros(2), [-1.0])
    with pytest.raises(dy.InputError, match="the mass of the payload at 'link2' is -1 in motion 1,"):
        step.rollout(*state, np.zeros((3, 2)), [[1.0], [-1.0]])


@pytest.mark.parametrize("wrenches", [["tool0", "tool0"], ["tool0", None]])
def test_a_frame_has_its_wrench_once(wrenches):
    robot = dy.load("ur5e")
    with pytest.raises(dy.InputError, match="wrenches= has the frame 'tool0' twice"):
        dy.optimize.Step(robot, 0.01, wrenches=wrenches)
    rest = np.zeros(6)
    with pytest.raises(dy.InputError, match="wrenches= has the frame 'tool0' twice"):
        robot.inverse_dynamics(rest, rest, rest, wrenches={"tool0": rest, None: rest})
    assert dy.optimize.Step(robot, 0.01, wrenches=[None]).places["wrench on tool0"] == slice(6, 12)
    one, other = (robot.inverse_dynamics(rest, rest, rest, wrenches={x: np.ones(6)}) for x in ("tool0", None))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("more", [{}, {"wrenches": ["tip"]}, {"parameters": [dy.symbol("m")]}])
def test_a_singular_mass_matrix_is_reported(method, more):
    mass = dy.symbol("m") if "parameters" in more else 1.0
    d = dy.Description("extending").add_link("base").add_link("arm", "base", "revolute", axis=(0, 0, 1))
    d.add_link("tip", "arm", "prismatic", axis=(1, 0, 0), inertia=dy.solids.sphere(0.0, mass=mass))
    step = dy.optimize.Step(dy.Robot(d), 0.01, method, **more)
    u, p = np.eye(step.inputs)[0], [np.array([1.0])] if step.parameters else []
    calls = [
        step, step.derivatives, lambda q, v, u, *p: step.weighted_hessian(q, v, u, np.ones(4), *p),
        lambda q, v, u, *p: step.rollout(q, v, np.array([u, u]), *p),
    ]  # fmt: skip
    for call in calls:
        for q in ([0.0, 0.0], [[0.0, 0.1], [0.0, 0.0]]):
            with pytest.raises(dy.SingularError, match="joint 'arm_joint' can move without moving any mass"):
                call(q, np.zeros(2), u, *p)
        call([0.0, 0.1], np.zeros(2), u, *p)
    if p:
        with pytest.raises(dy.SingularError, match="can move without moving any mass"):
            step([0.0, 0.1], np.zeros(2), u, [0.0])
