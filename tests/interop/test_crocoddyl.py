"""Action models of Crocoddyl: derivatives, an optimal motion, the same costs with Crocoddyl's own dynamics, refusals."""

import sys

import numpy as np
import pytest

import dynamis as dy

ROBOT = dy.load("planar_2r_melchiorri")
GOAL = np.array([0.6, -0.4, 0.0, 0.0])
HOLD = ROBOT.gravity(GOAL[:2])
GO2 = dy.load("go2", base="floating")
INERTIA = dy.Inertia.about_com(1.3, (0.1, -0.2, 0.3), np.diag([0.02, 0.03, 0.035]))
BODY = dy.Robot(dy.Description("body").add_link("world").add_link("box", "world", "free", inertia=INERTIA))
BALL = dy.Robot(
    dy.Description("ball").add_link("base").add_link("arm", "base", "revolute", axis=(0, 1, 0), inertia=INERTIA)
    .add_link("hand", "arm", "spherical", inertia=INERTIA)
)  # fmt: skip


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


def skip_unless_right(robot, theirs, x):
    """Forward dynamics by Crocoddyl, which is wrong if it was built with another version of Pinocchio."""
    data, u = theirs.createData(), np.zeros(theirs.nu)
    theirs.calc(data, x, u)
    if np.abs(data.xout - robot.forward_dynamics(x[: robot.nq], x[robot.nq :], np.zeros(robot.n))).max() > 1e-6:
        pytest.skip("this build of Crocoddyl does not compute the dynamics of this Pinocchio: pip install 'pin==4.0.0'")


def compare_with_differences(crocoddyl, model, x, u):
    """The model, and Euler steps with it."""
    steps = crocoddyl.IntegratedActionModelEuler(model, 0.02)
    for pair in (
        (model, crocoddyl.DifferentialActionModelNumDiff(model, True)),
        (steps, crocoddyl.ActionModelNumDiff(steps, True)),
    ):
        data = [m.createData() for m in pair]
        for m, d in zip(pair, data, strict=True):
            m.calc(d, x, u)
            m.calcDiff(d, x, u)
        for name in ("Fx", "Fu", "Lx", "Lu"):
            found, expected = (getattr(d, name) for d in data)
            assert np.abs(found - expected).max() < 1e-5 * max(1.0, np.abs(expected).max()), name


def test_derivatives_are_those_of_differences(crocoddyl):
    model = ROBOT.crocoddyl(costs_of(crocoddyl, crocoddyl.StateVector(4), 1e-3, 1.0))
    data, x, u = model.createData(), np.array([0.3, 0.5, -0.2, 0.4]), np.array([10.0, -5.0])
    model.calc(data, x, u)
    assert np.array_equal(data.xout, ROBOT.forward_dynamics(x[:2], x[2:], u))
    compare_with_differences(crocoddyl, model, x, u)


def test_a_motion_reaches_its_goal_as_with_the_dynamics_of_crocoddyl(crocoddyl):
    pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install pin")
    state = crocoddyl.StateVector(4)
    ours = solution(crocoddyl, state, ROBOT.crocoddyl)
    assert np.abs(ours.xs[-1] - GOAL).max() < 1e-2
    assert max(np.abs(u).max() for u in ours.us) <= 1200.0

    state = crocoddyl.StateMultibody(ROBOT.to_pinocchio())
    actuation = crocoddyl.ActuationModelFull(state)
    own = lambda costs: crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)  # noqa: E731
    skip_unless_right(ROBOT, own(costs_of(crocoddyl, state, 1e-6, 1e-1)), GOAL)
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
    with pytest.raises(dy.InputError, match=r"StateMultibody\(robot.to_pinocchio\(\)\), 12\)"):
        GO2.crocoddyl(crocoddyl.CostModelSum(crocoddyl.StateVector(36), 12))


def on_manifold(crocoddyl, robot, count, effort, goal, distance):
    """Costs of torques and of the way to a goal, of a robot with quaternions."""
    pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install pin")
    state = crocoddyl.StateMultibody(robot.to_pinocchio())
    costs = crocoddyl.CostModelSum(state, count)
    costs.addCost("effort", crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state, count)), effort)
    costs.addCost("goal", crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelState(state, goal, count)), distance)
    return costs


@pytest.mark.parametrize(("robot", "actuated", "count"), [(GO2, "joints", 12), (BODY, "all", 6), (BALL, "joints", 4)])
def test_derivatives_with_quaternions_are_those_of_differences(crocoddyl, robot, actuated, count):
    rng = np.random.default_rng(1)
    x, goal = (np.concatenate([robot.random(rng), rng.normal(size=robot.n)]) for _ in range(2))
    u = rng.normal(size=count)
    model = robot.crocoddyl(on_manifold(crocoddyl, robot, count, 1e-3, goal, 1.0), actuated=actuated)
    data, tau = model.createData(), np.zeros(robot.n)
    tau[robot.n - count :] = u
    model.calc(data, x, u)
    assert np.array_equal(data.xout, robot.forward_dynamics(x[: robot.nq], x[robot.nq :], tau))
    compare_with_differences(crocoddyl, model, x, u)


WEIGHTLESS = GO2.replace(gravity=[0.0, 0.0, 0.0], friction=0)
START, BENT = (np.concatenate([GO2.neutral(), np.zeros(18)]) for _ in range(2))
START[7:19], BENT[7:19] = np.tile([0.0, 0.6, -1.2], 4), np.tile([0.1, 0.8, -1.5], 4)


def motion_of_legs(crocoddyl, dynamics):
    weights = ((0.1, BENT, 0.1), (0.0, BENT, 100.0))
    running, last = (dynamics(on_manifold(crocoddyl, WEIGHTLESS, 12, *given)) for given in weights)
    steps = [crocoddyl.IntegratedActionModelEuler(running, 0.02)] * 15
    problem = crocoddyl.ShootingProblem(START, steps, crocoddyl.IntegratedActionModelEuler(last, 0.0))
    solver = crocoddyl.SolverFDDP(problem)
    solver.th_stop = 1e-7  # of the expected decrease; 1e-9, the default, is near the rounding of the cost
    assert solver.solve([], [], 20)
    return solver


def test_a_quadruped_in_the_air_bends_its_legs(crocoddyl):
    end = motion_of_legs(crocoddyl, WEIGHTLESS.crocoddyl).xs[-1]
    assert np.abs(end[7:] - BENT[7:]).max() < 0.02
    assert abs(np.linalg.norm(end[3:7]) - 1.0) < 1e-12
    assert np.abs(WEIGHTLESS.centroidal_momentum(end[:19], end[19:])).max() < 1e-3  # nothing pushes it; Euler steps


def test_a_quadruped_moves_as_with_the_dynamics_of_crocoddyl(crocoddyl):
    def own(costs):
        costs.state.pinocchio.names[1] = "root_joint"  # Crocoddyl knows a floating base by this name
        actuation = crocoddyl.ActuationModelFloatingBase(costs.state)
        return crocoddyl.DifferentialActionModelFreeFwdDynamics(costs.state, actuation, costs)

    skip_unless_right(GO2, own(on_manifold(crocoddyl, GO2, 12, 0.1, BENT, 0.1)), BENT)
    ours, theirs = (motion_of_legs(crocoddyl, dynamics) for dynamics in (WEIGHTLESS.crocoddyl, own))
    assert abs(ours.cost - theirs.cost) < 1e-9 * theirs.cost
    assert np.abs(np.array(ours.xs) - np.array(theirs.xs)).max() < 1e-7


def test_residuals_of_frames_are_differentiated(crocoddyl):
    pinocchio = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install pin")
    rng = np.random.default_rng(2)
    robot = GO2.replace(gravity=[0.0, 0.0, 0.0])  # other gravity is what Pinocchio 4.1.0 and Crocoddyl 3.2.1 do not share
    x, u = np.concatenate([robot.random(rng), rng.normal(size=18)]), rng.normal(size=12)
    costs = on_manifold(crocoddyl, robot, 12, 1e-3, x, 1.0)
    state, frame = costs.state, costs.state.pinocchio.getFrameId("FL_foot")
    for name, residual in (
        ("position", crocoddyl.ResidualModelFrameTranslation(state, frame, np.array([0.3, 0.2, -0.4]), 12)),
        ("velocity", crocoddyl.ResidualModelFrameVelocity(state, frame, pinocchio.Motion.Zero(), pinocchio.LOCAL, 12)),
        ("centre", crocoddyl.ResidualModelCoMPosition(state, np.zeros(3), 12)),
    ):  # fmt: skip
        costs.addCost(name, crocoddyl.CostModelResidual(state, residual), 1.0)
    model = robot.crocoddyl(costs)
    try:
        data = model.createData()
    except Exception as error:
        assert "DataCollectorMultibody" in str(error)
        pytest.skip("this build of Crocoddyl does not read the data of this Pinocchio: pip install 'pin==4.0.0'")
    model.calc(data, x, u)
    position = data.costs.costs.todict()["position"].residual.r
    assert np.allclose(position, robot.pose(x[:19], "FL_foot")[:3, 3] - [0.3, 0.2, -0.4], rtol=1e-12)
    compare_with_differences(crocoddyl, model, x, u)


FEET = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]


def test_a_quadruped_on_its_feet_moves_as_with_the_contacts_of_crocoddyl(crocoddyl):
    pinocchio = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install pin")
    robot = GO2.replace(friction=0)
    stance = dy.constrained(robot, points=FEET)
    q = robot.q(robot.description.appearance.pose)
    start, goal = (np.concatenate([q, np.zeros(18)]) for _ in range(2))
    goal[2] -= 0.08  # the trunk lower
    costs = on_manifold(crocoddyl, robot, 12, 1e-4, goal, 1.0)
    state = costs.state
    state.pinocchio.names[1] = "root_joint"  # Crocoddyl knows a floating base by this name
    contacts = crocoddyl.ContactModelMultiple(state, 12)
    for foot in FEET:
        at = state.pinocchio.getFrameId(foot), np.zeros(3), pinocchio.LOCAL_WORLD_ALIGNED
        contacts.addContact(foot, crocoddyl.ContactModel3D(state, *at, 12, np.zeros(2)))
    actuation = crocoddyl.ActuationModelFloatingBase(state)
    skip_unless_right(robot, crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs), start)
    pair = stance.crocoddyl(costs), crocoddyl.DifferentialActionModelContactFwdDynamics(state, actuation, contacts, costs)
    rng = np.random.default_rng(4)
    x, u = np.concatenate([q, stance.assemble_velocity(q, 0.3 * rng.normal(size=18))]), 5.0 * rng.normal(size=12)
    data = [model.createData() for model in pair]
    for model, found in zip(pair, data, strict=True):
        model.calc(found, x, u)
        model.calcDiff(found, x, u)
    assert np.array_equal(data[0].forces, stance.forward_dynamics(x[:19], x[19:], np.append(np.zeros(6), u))[1])
    for name in ("xout", "Fx", "Fu", "Lx", "Lu"):
        found, expected = (getattr(d, name) for d in data)
        assert np.abs(found - expected).max() < 1e-10 * max(1.0, np.abs(expected).max()), name

    solvers = []
    for model in pair:
        steps = [crocoddyl.IntegratedActionModelEuler(model, 0.02)] * 10
        problem = crocoddyl.ShootingProblem(start, steps, crocoddyl.IntegratedActionModelEuler(model, 0.0))
        solvers.append(crocoddyl.SolverFDDP(problem))
        solvers[-1].th_stop = 1e-7
        assert solvers[-1].solve([start] * 11, [np.zeros(12)] * 10, 20)
    assert abs(solvers[0].cost - solvers[1].cost) < 1e-9 * solvers[1].cost
    assert np.abs(robot.pose(solvers[0].xs[-1][:19], "FL_foot")[:3, 3] - robot.pose(q, "FL_foot")[:3, 3]).max() < 1e-2
