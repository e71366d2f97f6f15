"""Action models of Crocoddyl: derivatives, an optimal motion, the same costs with Crocoddyl's own dynamics, refusals."""

import sys

import numpy as np
import pytest

import dynamis as dy

ROBOT = dy.load("planar_2r_melchiorri")
GOAL = np.array([0.6, -0.4, 0.0, 0.0])
HOLD = ROBOT.gravity(GOAL[:2])


def test_without_crocoddyl_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "crocoddyl", None)
    with pytest.raises(dy.MissingExtraError, match="pip install 'dynamis\\[crocoddyl\\]'"):
        ROBOT.crocoddyl(None)


@pytest.fixture(scope="module")
def crocoddyl():
    return pytest.importorskip("crocoddyl", reason="Crocoddyl is not installed: pip install crocoddyl")


def costs_of(crocoddyl, state, effort, distance):
    costs = crocoddyl.CostModelSum(state, 2)
    costs.addCost("effort", crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state, HOLD)), effort)
    costs.addCost("goal", crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelState(state, GOAL, 2)), distance)
    return costs


def solution(crocoddyl, state, dynamics):
    running, last = (dynamics(costs_of(crocoddyl, state, *weights)) for weights in ((1e-6, 1e-1), (0.0, 1e3)))
    running.u_lb, running.u_ub = -np.full(2, 1200.0), np.full(2, 1200.0)
    steps = [crocoddyl.IntegratedActionModelEuler(running, 0.02)] * 30
    problem = crocoddyl.ShootingProblem(np.zeros(4), steps, crocoddyl.IntegratedActionModelEuler(last, 0.0))
    solver = crocoddyl.SolverBoxFDDP(problem)
    assert solver.solve([], [], 200)
    return solver


def test_derivatives_are_those_of_differences(crocoddyl):
    model = ROBOT.crocoddyl(costs_of(crocoddyl, crocoddyl.StateVector(4), 1e-3, 1.0))
    numerical = crocoddyl.DifferentialActionModelNumDiff(model, True)
    data, differences = model.createData(), numerical.createData()
    x, u = np.array([0.3, 0.5, -0.2, 0.4]), np.array([10.0, -5.0])
    for m, d in ((model, data), (numerical, differences)):
        m.calc(d, x, u)
        m.calcDiff(d, x, u)
    assert np.array_equal(data.xout, ROBOT.forward_dynamics(x[:2], x[2:], u))
    for name in ("Fx", "Fu", "Lx", "Lu"):
        found, expected = getattr(data, name), getattr(differences, name)
        assert np.abs(found - expected).max() < 1e-5 * max(1.0, np.abs(expected).max())


def test_a_motion_reaches_its_goal_as_with_the_dynamics_of_crocoddyl(crocoddyl):
    pinocchio = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install pin")
    state = crocoddyl.StateVector(4)
    ours = solution(crocoddyl, state, ROBOT.crocoddyl)
    assert np.abs(ours.xs[-1] - GOAL).max() < 1e-2
    assert max(np.abs(u).max() for u in ours.us) <= 1200.0

    model = ROBOT.to_pinocchio()
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFull(state)
    own = lambda costs: crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)  # noqa: E731
    probe = own(costs_of(crocoddyl, state, 1e-6, 1e-1))
    probed = probe.createData()
    probe.calc(probed, GOAL, np.zeros(2))
    if np.abs(probed.xout - pinocchio.aba(model, model.createData(), GOAL[:2], GOAL[2:], np.zeros(2))).max() > 1e-6:
        pytest.skip("this build of Crocoddyl does not compute the dynamics of this Pinocchio: pip install 'pin==4.0.0'")
    theirs = solution(crocoddyl, state, own)
    assert abs(ours.cost - theirs.cost) < 1e-6 * theirs.cost
    assert np.abs(np.array(ours.xs) - np.array(theirs.xs)).max() < 1e-5


def test_some_coordinates_may_be_without_a_motor(crocoddyl):
    costs = crocoddyl.CostModelSum(crocoddyl.StateVector(4), 1)
    model = ROBOT.crocoddyl(costs, actuated=["joint2"])
    data, x = model.createData(), np.array([0.3, 0.5, -0.2, 0.4])
    model.calc(data, x, np.array([7.0]))
    assert np.array_equal(data.xout, ROBOT.forward_dynamics(x[:2], x[2:], [0.0, 7.0]))
    model.calcDiff(data, x, np.array([7.0]))
    assert np.allclose(np.ravel(data.Fu), ROBOT.mass_matrix_inverse(x[:2])[:, 1], rtol=1e-12)


def test_other_states_and_robots_are_refused(crocoddyl):
    with pytest.raises(dy.InputError, match=r"expected crocoddyl.CostModelSum\(crocoddyl.StateVector\(4\), 2\)"):
        ROBOT.crocoddyl(crocoddyl.CostModelSum(crocoddyl.StateVector(6), 2))
    with pytest.raises(dy.InputError, match="costs must be a "):
        ROBOT.crocoddyl(None)
    with pytest.raises(dy.InputError, match="quaternions"):
        dy.load("go2", base="floating").crocoddyl(None)
