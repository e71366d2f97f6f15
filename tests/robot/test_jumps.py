"""Derivatives where a function jumps: dry friction at rest, sign and floor. They are asked for with a warning and a cure."""

import warnings

import numpy as np
import pytest

import dynamis as dy

Q, REST, MOVING = np.array([0.3, 0.5]), np.zeros(2), np.array([0.4, -0.2])
STEP, WIDTH = 1e-6, 0.05
FRICTION = "the dry friction of 'joint1' jumps at zero velocity"


@pytest.fixture
def arm():
    return dy.load("planar_2r_melchiorri").replace(friction={"joint1": {"coulomb": 20.0, "viscous": 1.0}})


DOORS = {
    "inverse_dynamics_derivatives": lambda robot, v: robot.inverse_dynamics_derivatives(Q, v, REST),
    "forward_dynamics_derivatives": lambda robot, v: robot.forward_dynamics_derivatives(Q, v, REST),
    "of a batch": lambda robot, v: robot.forward_dynamics_derivatives(Q, np.array([MOVING, v]), REST),
    "with wrenches": lambda robot, v: robot.forward_dynamics_derivatives(Q, v, REST, {robot.model.tip: np.ones(6)}),
    "differentiate": lambda robot, v: robot.differentiate("forward_dynamics").jacobian(Q, v, REST),
    "hessian": lambda robot, v: robot.differentiate("inverse_dynamics", "v").hessian(Q, v, REST),
    "linearize": lambda robot, v: dy.linearize(robot, Q, v),
}


@pytest.mark.parametrize("door", DOORS)
def test_dry_friction_at_rest_is_said_once_and_motion_is_not(arm, door):
    DOORS[door](arm, MOVING)
    DOORS[door](arm, np.array([0.4, 0.0]))  # joint2 has no dry friction
    with pytest.warns(dy.ModelWarning, match=FRICTION) as seen:
        DOORS[door](arm, REST)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    DOORS[door](arm, REST)


def test_what_does_not_depend_on_dry_friction_is_not_warned_of(arm):
    arm.differentiate("mass_matrix").jacobian(Q)
    arm.differentiate("inverse_dynamics", "q").jacobian(Q, REST, REST)
    arm.differentiate("forward_dynamics").value(Q, REST, REST)
    dy.optimize.Step(arm, 0.01).derivatives(Q, REST, REST)  # smooth
    dy.linearize(arm.replace(friction=0), Q)


def test_steps_differentiate_smooth_friction_as_the_warning_says(arm):
    step = dy.optimize.Step(arm, 0.01)
    found = arm.differentiate(step.continuous, u=step.inputs).jacobian(Q, REST, REST)[2:, 2:4]
    slope = arm.model.viscous + arm.model.coulomb / WIDTH
    assert np.allclose(found, -np.linalg.inv(arm.mass_matrix(Q)) * slope)


def test_a_linear_model_has_smooth_friction_where_it_is_asked_for(arm):
    for v in (REST, np.array([0.01, -0.3])):
        near = dy.linearize(arm, Q, v, friction_velocity=WIDTH)
        step = dy.optimize.Step(arm, 0.01, friction_velocity=WIDTH)
        J = arm.differentiate(step.continuous, u=step.inputs).jacobian(Q, v, near.tau)
        assert np.allclose(near.A, J[:, :4])
        assert np.allclose(near.B, J[:, 4:])
        assert np.allclose(near.acceleration, 0.0, atol=1e-12)
    with pytest.raises(dy.InputError, match="friction_velocity must be a positive velocity"):
        dy.linearize(arm, Q, friction_velocity=0.0)


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda robot, q: np.sign(q), r"sign of q\[0\]"),
        (lambda robot, q: np.floor(q), "floor"),
        (lambda robot, q: np.round(q - 0.5), "comparison|floor"),
        (lambda robot, q: np.where(q > 0.0, 1.0, -q), "comparison"),
        (lambda robot, q: q if q[0] > 0.0 else q + 1.0, "comparison"),
    ],
    ids=["sign", "floor", "round", "where", "if"],
)
def test_jumps_of_functions_of_ones_own(function, named):
    robot = dy.load("planar_2r_melchiorri")
    derivatives = robot.differentiate(function)
    derivatives.jacobian(Q)
    with pytest.warns(dy.ModelWarning, match=named):
        derivatives.jacobian(np.array([[0.3, 0.2], [0.0, 0.2]]))
    derivatives.jacobian(np.zeros(2))


@pytest.mark.parametrize(
    "function",
    [
        lambda robot, q: np.where(q > 0.0, q, q * q),  # continuous
        lambda robot, q: q * np.sign(q),
        lambda robot, q: np.sin(q) / np.where(q > 0.0, q, 1.0),  # no division by zero
        lambda robot, q: np.clip(q, 0.0, 1.0),
    ],
)
def test_functions_without_jumps_are_not_warned_of(function):
    dy.load("planar_2r_melchiorri").differentiate(function).jacobian(np.zeros(2))


def test_jumps_of_a_feedback_are_said(arm):
    def law(robot, q, v, r):
        return r - 10.0 * np.sign(v)

    step = dy.optimize.Step(arm, 0.01, feedback=law)
    step.derivatives(Q, MOVING, REST)
    with pytest.warns(dy.ModelWarning, match=r"feedback law jumps \(sign of v\[0\], sign of v\[1\]\)"):
        step.derivatives(Q, REST, REST)
    step = dy.optimize.Step(arm, 0.01, feedback=law)
    with pytest.warns(dy.ModelWarning, match="feedback law jumps"):
        step.gradient(np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((1, 2)), np.ones((2, 4)))


def test_casadi_functions_with_dry_friction_say_so_and_the_smooth_ones_do_not(arm):
    pytest.importorskip("casadi", reason="CasADi is not installed: pip install 'dynamis[casadi]'")
    with pytest.warns(dy.ModelWarning, match=FRICTION):
        arm.casadi("forward_dynamics")
    step = dy.optimize.Step(arm, 0.01)
    smooth = arm.casadi(step.continuous, u=step.inputs)
    assert np.isfinite(np.asarray(smooth.jacobian()(Q, REST, REST, 0)[1])).all()


def test_torch_functions_say_so_where_they_are_differentiated(arm):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'dynamis[torch]'")
    function = arm.torch("forward_dynamics")
    given = [torch.tensor(x, requires_grad=True) for x in (Q, REST, REST)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", dy.ModelWarning)
        found = function(*given)
    with pytest.warns(dy.ModelWarning, match=FRICTION):
        found.sum().backward()


def test_crocoddyl_models_have_smooth_friction_where_it_is_asked_for(arm):
    crocoddyl = pytest.importorskip("crocoddyl", reason="Crocoddyl is not installed: pip install 'dynamis[crocoddyl]'")
    costs = crocoddyl.CostModelSum(crocoddyl.StateVector(4), 2)
    with pytest.warns(dy.ModelWarning, match=r"robot\.crocoddyl\(costs, friction_velocity=0\.05\)"):
        arm.crocoddyl(costs)
    model = arm.crocoddyl(costs, friction_velocity=WIDTH)
    data, x, u = model.createData(), np.concatenate([Q, REST]), np.array([3.0, -2.0])
    model.calc(data, x, u)
    model.calcDiff(data, x, u)
    before, slopes = np.array(data.xout), np.array(data.Fx)
    for k in range(4):
        model.calc(data, x + STEP * np.eye(4)[k], u)
        assert np.allclose((data.xout - before) / STEP, slopes[:, k], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "call",
    [
        lambda robot, rest: robot.forward_dynamics_derivatives(robot.home(), rest, rest),
        lambda robot, rest: robot.differentiate("forward_dynamics").jacobian(robot.home(), rest, rest),
        lambda robot, rest: dy.linearize(robot, robot.home()),
        lambda robot, rest: dy.constrained(robot, points=["link6"]).forward_dynamics_derivatives(robot.home(), rest, rest),
    ],
)
def test_warnings_name_the_line_of_the_user(call):
    robot = dy.load("puma560")
    with pytest.warns(dy.ModelWarning, match="dry friction") as found:
        call(robot, np.zeros(6))
    assert [x.filename for x in found] == [__file__]
