"""What an action model hands to Crocoddyl, with a stand-in for the library: no test here needs it, or Pinocchio."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from small_machines import spatial_arm

import dynamis as dy

ARM = dy.load("planar_2r_melchiorri").replace(friction=0)
INERTIA = dy.Inertia.about_com(1.3, (0.1, -0.2, 0.3), np.diag([0.02, 0.03, 0.035]))
BODY = dy.Robot(dy.Description("body").add_link("world").add_link("box", "world", "free", inertia=INERTIA))


class Costs:
    """½ |x|² + ½ |u|², without u at the end of a motion; notes its calls."""

    def __init__(self, state, nu):
        self.state, self.nu, self.nr, self.calls = state, nu, 1, []

    def createData(self, collector):  # name given by Crocoddyl
        return SimpleNamespace(collector=collector, cost=0.0, shareMemory=lambda data: setattr(data, "shared", True))

    def calc(self, data, *given):
        self.calls.append(("calc", len(given)))
        data.cost = 0.5 * sum(float(x @ x) for x in given)

    def calcDiff(self, data, *given):  # name given by Crocoddyl
        self.calls.append(("calcDiff", len(given)))


class Vector:
    def __init__(self, nx):
        self.nx = nx


class Multibody:
    """States of a robot, with its own steps or those of a function."""

    def __init__(self, robot, integrate=None):
        self.pinocchio = SimpleNamespace(nq=robot.nq, nv=robot.n, createData=lambda: SimpleNamespace(seen=[]))
        self.nq, self.nv, self.nx = robot.nq, robot.n, robot.nq + robot.n
        self.integrate = integrate or (
            lambda x, dx: np.concatenate([robot.integrate(x[: robot.nq], dx[: robot.n]), x[robot.nq :]])
        )


class Abstract:
    def __init__(self, state, nu, nr):
        self.state, self.nu, self.nr = state, nu, nr


class FreeForwardDynamics:
    """Crocoddyl's own dynamics: those of the stand-in for Pinocchio, plus what is wrong with this build."""

    wrong = 0.0

    def __init__(self, state, _actuation, _costs):
        self.state = state

    def createData(self):  # name given by Crocoddyl
        return SimpleNamespace()

    def calc(self, data, x, tau):
        data.xout = aba(None, None, x[:2], x[2:], tau) + self.wrong


def aba(_model, _data, q, v, tau):
    return tau - v - np.sin(q)


@pytest.fixture(autouse=True)
def crocoddyl(monkeypatch):
    library, poses = ModuleType("crocoddyl"), ModuleType("pinocchio")
    vars(library).update(
        CostModelSum=Costs, StateVector=Vector, StateMultibody=Multibody, DifferentialActionModelAbstract=Abstract,
        DifferentialActionDataAbstract=type("Data", (), {"__init__": lambda self, model: None}),
        DataCollectorAbstract=lambda: "plain", DataCollectorMultibody=lambda data: ("frames", data),
        DifferentialActionModelFreeFwdDynamics=FreeForwardDynamics, ActuationModelFull=lambda state: None,
    )  # fmt: skip
    sample = SimpleNamespace(n=2, nq=2, nv=2, createData=lambda: None, integrate=None)
    vars(poses).update(
        buildSampleModelManipulator=lambda: sample, aba=aba,
        computeAllTerms=lambda model, data, q, v: data.seen.append(("terms", *q, *v)),
        updateFramePlacements=lambda model, data: data.seen.append(("placements",)),
        computeForwardKinematicsDerivatives=lambda model, data, q, v, a: data.seen.append(("derivatives", *q, *v, *a)),
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "crocoddyl", library)
    monkeypatch.setitem(sys.modules, "pinocchio", poses)
    monkeypatch.setattr(FreeForwardDynamics, "wrong", 0.0)
    return library


THREE = spatial_arm()
X, U = np.array([0.3, 0.5, -0.2, 0.4]), np.array([10.0, -5.0])


def test_acceleration_derivatives_and_costs_are_those_of_the_state_and_the_torques():
    costs = Costs(Vector(4), 2)
    model = ARM.crocoddyl(costs)
    assert (model.state, model.nu, model.nr, model.robot) == (costs.state, 2, 1, ARM)
    data = model.createData()
    assert data.shared
    assert data.costs.collector == "plain"
    model.calc(data, X, U)
    assert np.array_equal(data.xout, ARM.forward_dynamics(X[:2], X[2:], U))
    assert data.cost == pytest.approx(0.5 * (X @ X + U @ U))
    model.calcDiff(data, X, U)
    for k, column in enumerate(np.hstack([data.Fx, data.Fu]).T):
        step = 1e-6 * np.eye(6)[k]
        after, before = (ARM.forward_dynamics(X[:2] + s[:2], X[2:] + s[2:4], U + s[4:]) for s in (step, -step))
        assert np.abs(column - (after - before) / 2e-6).max() < 1e-6
    assert costs.calls == [("calc", 2), ("calcDiff", 2)]


def test_the_end_of_a_motion_has_costs_of_its_state_alone():
    costs = Costs(Vector(4), 2)
    model = ARM.crocoddyl(costs)
    data = model.createData()
    model.calc(data, X)
    model.calcDiff(data, X)
    assert data.cost == pytest.approx(0.5 * X @ X)
    assert costs.calls == [("calc", 1), ("calcDiff", 1)]
    assert not hasattr(data, "xout")
    assert not hasattr(data, "Fx")


def test_torques_of_some_joints_are_theirs_and_within_their_limits():
    limited = ARM.replace(limits={"joint1": {"effort": 2.5}, "joint2": {"effort": 7.5}})
    model = limited.crocoddyl(Costs(Vector(4), 1), actuated=["joint2"])
    assert np.array_equal(model.u_ub, [7.5])
    assert np.array_equal(model.u_lb, [-7.5])
    data = model.createData()
    model.calc(data, X, U[1:])
    model.calcDiff(data, X, U[1:])
    assert np.array_equal(data.xout, limited.forward_dynamics(X[:2], X[2:], [0.0, U[1]]))
    assert np.allclose(data.Fu, limited.mass_matrix_inverse(X[:2])[:, 1:], rtol=1e-12)


def test_a_robot_with_a_quaternion_is_differentiated_along_its_velocity():
    rng = np.random.default_rng(1)
    q, v, u = BODY.random(rng), rng.normal(size=6), rng.normal(size=6)
    x = np.concatenate([q, v])
    model = BODY.crocoddyl(Costs(Multibody(BODY), 6), actuated="all")
    data = model.createData()
    model.calc(data, x, u)
    assert np.array_equal(data.xout, BODY.forward_dynamics(q, v, u))
    model.calcDiff(data, x, u)
    for k, column in enumerate(data.Fx.T):
        step = 1e-6 * np.eye(12)[k]
        after, before = (BODY.forward_dynamics(BODY.integrate(q, s[:6]), v + s[6:], u) for s in (step, -step))
        assert np.abs(column - (after - before) / 2e-6).max() < 1e-6
    q0, v0 = tuple(q), tuple(v)
    assert data.costs.collector == ("frames", data.frames)
    assert data.frames.seen == [("terms", *q0, *v0), ("placements",), ("derivatives", *q0, *v0, *np.zeros(6))]


def test_contacts_are_held_and_their_forces_given():
    held = dy.constrained(THREE, points="link2")
    x, u = np.array([0.3, 0.5, -0.4, 0.0, 0.0, 0.0]), np.array([1.0, -0.5, 0.2])
    model = held.crocoddyl(Costs(Vector(6), 3))
    data = model.createData()
    model.calc(data, x, u)
    acceleration, forces = held.forward_dynamics(x[:3], x[3:], u)
    assert np.array_equal(data.xout, acceleration)
    assert np.array_equal(data.forces, forces)
    model.calcDiff(data, x, u)
    slopes = held.forward_dynamics_derivatives(x[:3], x[3:], u)[0]
    assert np.array_equal(data.Fx, np.hstack([slopes.dq, slopes.dv]))
    assert np.array_equal(data.Fu, slopes.dtau)


def test_a_build_that_reads_other_memory_gets_no_data_of_frames(monkeypatch):
    monkeypatch.setattr(FreeForwardDynamics, "wrong", 1e-6)
    data = BODY.crocoddyl(Costs(Multibody(BODY), 6), actuated="all").createData()
    assert data.frames is None
    assert data.costs.collector == "plain"


@pytest.mark.parametrize(
    ("robot", "costs", "says"),
    [(ARM, None, "costs must be a crocoddyl.CostModelSum, got NoneType"),
     (ARM, Costs(Vector(6), 2), r"nx = 6, nu = 2; expected crocoddyl.CostModelSum\(crocoddyl.StateVector\(4\), 2\)"),
     (ARM, Costs(Vector(4), 1), "nx = 4, nu = 1"),
     (ARM, Costs(SimpleNamespace(nx=4, nq=2, nv=2), 2), "costs are of SimpleNamespace"),
     (ARM, Costs(Multibody(BODY), 2), "costs are of Multibody, nx = 13"),
     (BODY, Costs(Vector(12), 6), r"StateMultibody\(robot.to_pinocchio\(\)\), 6\)"),
     (BODY, Costs(Multibody(BODY, lambda x, dx: np.concatenate([x[:3] + dx[:3], x[3:]])), 6), "costs are of Multibody")],
)  # fmt: skip
def test_costs_of_other_states_are_refused(robot, costs, says):
    with pytest.raises(dy.InputError, match=says):
        robot.crocoddyl(costs, actuated="all")
