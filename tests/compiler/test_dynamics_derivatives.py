"""Derivatives of the dynamics: against differences, against each other, on symbols, in batches, against Pinocchio."""

import importlib.util
import warnings

import numpy as np
import pytest
from campaign_params import seeds
from random_trees import random_robot, random_states, relative_error

import dynamis as dy
from dynamis.scalar import Program

STEP = 2e-4  # central differences of fourth order: errors of some 1e-11
WEIGHTS = {-2: 1.0 / 12.0, -1: -2.0 / 3.0, 1: 2.0 / 3.0, 2: -1.0 / 12.0}
CLOSE = 1e-8


@pytest.fixture(autouse=True)
def quick_code(monkeypatch):
    """Better code, made in the background, rounds alike: nobody here waits for it."""
    monkeypatch.setenv("DYNAMIS_TIER", "quick")


def differences(function, robot, state, which):
    """d function / d state[which], one column a direction; q moves on its manifold."""
    total = 0.0
    for steps, weight in WEIGHTS.items():
        moved, change = list(state), steps * STEP * np.eye(robot.n)
        moved[which] = robot.integrate(state[which], change) if which == 0 else state[which] + change
        total = total + weight * function(*moved) / STEP
    return np.swapaxes(total, -1, -2)


@pytest.mark.parametrize("seed", seeds(3, 7))
def test_derivatives_of_random_trees_are_those_of_differences(seed):
    """Every joint type, branches, mimics, free bases, friction, rotors and springs."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=int(rng.integers(1, 4)))
    if not robot.n:
        return
    q, v, a = (x[0] for x in random_states(rng, robot, 1))
    v = v + 0.05 * np.sign(v)  # away from rest, where dry friction jumps
    found = robot.inverse_dynamics_derivatives(q, v, a)
    for which, part in enumerate(found):
        assert relative_error(part, differences(robot.inverse_dynamics, robot, [q, v, a], which)) < CLOSE
    if np.linalg.cond(robot.mass_matrix(q)) > 1e5:
        return
    tau = robot.inverse_dynamics(q, v, a)
    for which, part in enumerate(robot.forward_dynamics_derivatives(q, v, tau)):
        assert relative_error(part, differences(robot.forward_dynamics, robot, [q, v, tau], which)) < 1e-6


@pytest.mark.parametrize("name", ["ur5e", "scara"])
def test_a_batch_holds_the_derivatives_of_each_of_its_states(name):
    robot, rng = dy.load(name), np.random.default_rng(1)
    q, v, a = random_states(rng, robot, 6)
    for function in (robot.inverse_dynamics_derivatives, robot.forward_dynamics_derivatives):
        together = function(q.reshape(2, 3, -1), v.reshape(2, 3, -1), a.reshape(2, 3, -1))
        for part in range(3):
            assert together[part].shape == (2, 3, robot.n, robot.n)
            alone = [function(*state)[part] for state in zip(q, v, a, strict=True)]
            assert np.array_equal(together[part].reshape(6, robot.n, robot.n), alone)
    single = robot.inverse_dynamics_derivatives(*(x.astype(np.float32) for x in (q, v, a)))
    assert single.dq.dtype == np.float32
    assert relative_error(single.dq, robot.inverse_dynamics_derivatives(q, v, a).dq) < 1e-4


def test_the_two_kinds_belong_together():
    """∂a/∂τ = M⁻¹, and M ∂a/∂x = −∂τ/∂x at the same acceleration."""
    robot, rng = dy.load("kuka_iiwa14"), np.random.default_rng(2)
    q, v, a = random_states(rng, robot, 10)
    torque = robot.inverse_dynamics_derivatives(q, v, a)
    acceleration = robot.forward_dynamics_derivatives(q, v, robot.inverse_dynamics(q, v, a))
    M = robot.mass_matrix(q)
    assert relative_error(torque.da, M) < 1e-14
    assert relative_error(M @ acceleration.dtau, np.broadcast_to(np.eye(7), M.shape)) < 1e-11
    assert relative_error(M @ acceleration.dq, -torque.dq) < 1e-11
    assert relative_error(M @ acceleration.dv, -torque.dv) < 1e-11


def test_the_velocity_derivative_of_the_torques_contains_the_coriolis_matrix():
    """∂(C v)/∂v = 2 C on geodesics: ∂τ/∂v v = 2 C v, and the viscous friction."""
    robot = dy.load("ur5e").replace(friction=0)
    rng = np.random.default_rng(3)
    q, v, a = (x[0] for x in random_states(rng, robot, 1))
    dv = robot.inverse_dynamics_derivatives(q, v, a).dv
    assert relative_error(dv @ v, 2.0 * robot.coriolis_matrix(q, v) @ v) < 1e-13


def test_at_rest_the_derivative_of_gravity_is_symmetric():
    robot = dy.load("ur5e")
    rest = np.zeros(6)
    dq = robot.inverse_dynamics_derivatives(robot.random(4), rest, rest).dq
    assert relative_error(dq, dq.T) < 1e-13


def test_numbers_of_a_symbolic_robot_and_symbols_of_a_numeric_one():
    robot = dy.load("planar_2r_melchiorri")
    q, v, a = np.array([0.3, 0.9]), np.array([0.5, -0.4]), np.array([1.0, 2.0])
    expected = robot.inverse_dynamics_derivatives(q, v, a)
    # the same symbol in two places, and a number among them: each place has its own derivative
    x = dy.symbol("x")
    found = robot.inverse_dynamics_derivatives([0.3, x], [0.5, -0.4], [1.0, x + 1.1])
    for part, value in zip(expected, found, strict=True):
        assert relative_error(Program([x], value)(0.9), part) < 1e-14
    m = dy.symbol("m")
    loaded = robot.replace(payload=dy.solids.sphere(0.05, mass=m))
    symbolic = loaded.inverse_dynamics_derivatives(q, v, a)
    two = robot.replace(payload=dy.solids.sphere(0.05, mass=2.0)).inverse_dynamics_derivatives(q, v, a)
    for part, value in zip(two, symbolic, strict=True):
        assert relative_error(Program([m], value)(2.0), part) < 1e-13


def test_users_functions_may_contain_them_and_other_inputs():
    robot = dy.load("planar_2r_melchiorri")

    def law(robot, q, v):
        """A quarter turn further, at rest in both joints: expressions and numbers as arguments."""
        return robot.forward_dynamics_derivatives(q + 0.5, 2.0 * v, robot.gravity(q)).dq

    kernel = robot.compile(law)
    rng = np.random.default_rng(5)
    q, v, _ = random_states(rng, robot, 4)
    expected = robot.forward_dynamics_derivatives(q + 0.5, 2.0 * v, robot.gravity(q)).dq
    assert relative_error(kernel(q, v), expected) < 1e-13


def test_they_can_be_compiled_listed_and_written_by_name(tmp_path):
    robot = dy.load("scara")
    kernel = robot.compile("inverse_dynamics_derivatives")
    q, v, a = random_states(np.random.default_rng(6), robot, 3)
    for part, value in zip(robot.inverse_dynamics_derivatives(q, v, a), kernel(q, v, a), strict=True):
        assert relative_error(value, part) < 1e-14
    assert robot.cost("forward_dynamics_derivatives")["total"] > robot.cost("forward_dynamics")["total"]
    assert "forward differentiation of the recursive Newton–Euler algorithm" in robot.explain("inverse_dynamics_derivatives")
    assert len(robot.write_c("forward_dynamics_derivatives", tmp_path)) == 2


def test_a_robot_that_is_not_compiled_has_them_too():
    robot = dy.load("planar_2r_melchiorri")
    q, v, a = np.array([0.3, 0.9]), np.array([0.5, -0.4]), np.array([1.0, 2.0])
    from dynamis.algorithms.derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives

    for plain, compiled in (
        (inverse_dynamics_derivatives, robot.inverse_dynamics_derivatives),
        (forward_dynamics_derivatives, robot.forward_dynamics_derivatives),
    ):
        assert relative_error(plain(robot.model, q, v, a), np.array(compiled(q, v, a))) < 1e-13


def test_bad_input_and_singular_robots_say_so():
    robot = dy.load("planar_2r_melchiorri")
    with pytest.raises(dy.InputError, match="last axis must have the 2"):
        robot.inverse_dynamics_derivatives([0.0], [0.0, 0.0], [0.0, 0.0])
    d = dy.Description("pin").add_link("base").add_link("arm", "base", "revolute", joint_name="hinge", axis=(0, 0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)
        light = dy.Robot(d)
    with pytest.raises(dy.SingularError):
        light.forward_dynamics_derivatives([0.0], [0.0], [0.0])


@pytest.mark.skipif(
    importlib.util.find_spec("pinocchio") is None, reason="Pinocchio is not installed: pip install 'dynamis[oracles]'"
)
@pytest.mark.parametrize(("name", "base"), [("ur5e", "fixed"), ("panda", "floating")])
def test_pinocchio_finds_the_same(tmp_path, name, base):
    import pinocchio as pin

    path = tmp_path / "robot.urdf"
    d = dy.load(name).description
    for joint in d.joints:
        joint.type = "revolute" if joint.type == "continuous" else joint.type  # one number for q there too
        joint.drive = type(joint.drive)()
    dy.Robot(d).write(path)
    robot = dy.load(path, base=base)
    model = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if base == "floating" else []))
    model.gravity.linear = np.asarray(robot.model.gravity, dtype=float)
    data = model.createData()
    own = [n for n in robot.joint_names if model.existJointName(n)]
    assert list(model.names)[-len(own) :] == own  # a serial arm: the orders agree
    for state in zip(*random_states(np.random.default_rng(7), robot, 5), strict=True):
        pin.computeRNEADerivatives(model, data, *state)
        M = np.triu(data.M) + np.triu(data.M, 1).T
        for ours, theirs in zip(robot.inverse_dynamics_derivatives(*state), (data.dtau_dq, data.dtau_dv, M), strict=True):
            assert relative_error(ours, theirs) < 1e-12
        pin.computeABADerivatives(model, data, *state)
        inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        ours = robot.forward_dynamics_derivatives(*state)
        for part, theirs in zip(ours, (data.ddq_dq, data.ddq_dv, inverse), strict=True):
            assert relative_error(part, theirs) < 1e-10
