"""Every compiled function of a robot against the plain algorithm on floats, one state at a time, on all joint types."""

import inspect
import re

import numpy as np
import pytest
from campaign_params import few_of
from joint_zoo import NAMES, zoo_robot, zoo_states
from random_trees import random_robot

import dynamis as dy
from dynamis import robot as robots
from dynamis.algorithms import (
    actuator_regressor,
    centroidal,
    configurations,
    coriolis,
    dynamics,
    energy,
    jacobian,
    kinematics,
    mass_matrix,
    registry,
    regressor,
    statics,
)
from dynamis.algorithms.articulated_body import aba
from dynamis.algorithms.registry import ALGORITHMS
from dynamis.compiler.kernel import Kernel
from dynamis.robot.evaluation import Evaluator

COUNT = 6
# the error allowed, in units of the precision's epsilon times the largest entry of the result; the worst seen is 11
FACTOR = 60.0
WRENCHES = {"tool": (1.0, -2.0, 3.0, 0.5, 0.7, -0.9), "belt": (-4.0, 1.0, 0.3, -0.2, 0.1, 2.0), "base": (5.0,) * 6}


def pull(model, q, axes):
    """Σ Jᵀ w of the wrenches above, by Jacobians: another way than the one that is compiled."""
    total = np.zeros(model.n)
    for name, wrench in WRENCHES.items():
        frame, w = model.frame(name), np.array(wrench)
        if axes == "local":
            R = kinematics.pose(model, q, frame)[:3, :3]
            w = np.concatenate([R @ w[:3], R @ w[3:]])
        total += jacobian.jacobian(model, q, frame).T @ w
    return total


def local_jacobian(model, q, frame):
    R = kinematics.pose(model, q, frame)[:3, :3]
    J = jacobian.jacobian(model, q, frame)
    return np.concatenate([R.T @ J[:3], R.T @ J[3:]])


# name → (compiled, over a batch; plain, one state; the arguments it takes)
FUNCTIONS = {
    "inverse_dynamics": (lambda r, q, v, a: r.inverse_dynamics(q, v, a), dynamics.inverse_dynamics, 3),
    "inverse_dynamics, wrenches in world axes": (
        lambda r, q, v, a: r.inverse_dynamics(q, v, a, wrenches(q)),
        lambda m, q, v, a: dynamics.inverse_dynamics(m, q, v, a) - pull(m, q, "world"), 3,
    ),
    "inverse_dynamics, wrenches in local axes": (
        lambda r, q, v, a: r.inverse_dynamics(q, v, a, wrenches(q), axes="local"),
        lambda m, q, v, a: dynamics.inverse_dynamics(m, q, v, a) - pull(m, q, "local"), 3,
    ),
    "forward_dynamics": (lambda r, q, v, a: r.forward_dynamics(q, v, a), dynamics.forward_dynamics, 3),
    "forward_dynamics, wrenches in world axes": (
        lambda r, q, v, a: r.forward_dynamics(q, v, a, wrenches(q)),
        lambda m, q, v, a: dynamics.forward_dynamics(m, q, v, a + pull(m, q, "world")), 3,
    ),
    "forward_dynamics, wrenches in local axes": (
        lambda r, q, v, a: r.forward_dynamics(q, v, a, wrenches(q), axes="local"),
        lambda m, q, v, a: dynamics.forward_dynamics(m, q, v, a + pull(m, q, "local")), 3,
    ),
    "mass_matrix": (lambda r, q: r.mass_matrix(q), mass_matrix.crba, 1),
    "mass_matrix_inverse": (lambda r, q: r.mass_matrix_inverse(q), lambda m, q: np.linalg.inv(mass_matrix.crba(m, q)), 1),
    "mass_matrix, from Jacobians": (lambda r, q: r.mass_matrix(q), mass_matrix.mass_matrix_from_jacobians, 1),
    "coriolis_matrix": (lambda r, q, v: r.coriolis_matrix(q, v), coriolis.coriolis_matrix, 2),
    "mass_matrix_dot": (lambda r, q, v: r.mass_matrix_dot(q, v), coriolis.mass_matrix_dot, 2),
    "coriolis_transpose_product": (
        lambda r, q, v: r.evaluate(ALGORITHMS["coriolis_transpose_product"], q, v), coriolis.coriolis_transpose_product, 2,
    ),
    "christoffel": (lambda r, q: r.christoffel(q), coriolis.christoffel, 1),
    "gravity": (lambda r, q: r.gravity(q), dynamics.gravity, 1),
    "bias": (lambda r, q, v: r.bias(q, v), dynamics.bias, 2),
    "kinetic_energy": (lambda r, q, v: r.kinetic_energy(q, v), energy.kinetic_energy, 2),
    "potential_energy": (lambda r, q: r.potential_energy(q), energy.potential_energy, 1),
    "link_energies, kinetic": (lambda r, q, v: r.link_energies(q, v)[0], energy.kinetic_energies, 2),
    "link_energies, potential": (lambda r, q, v: r.link_energies(q, v)[1], lambda m, q, v: energy.potential_energies(m, q), 2),
    "regressor": (lambda r, q, v, a: r.regressor(q, v, a), regressor.regressor, 3),
    "kinetic_energy_regressor": (lambda r, *s: r.kinetic_energy_regressor(*s), regressor.kinetic_energy_regressor, 2),
    "potential_energy_regressor": (lambda r, q: r.potential_energy_regressor(q), regressor.potential_energy_regressor, 1),
    "torque_ledger": (
        lambda r, q, v, a: np.stack(list(r.torque_ledger(q, v, a, wrenches(q)).as_dict().values()), axis=-2), None, 3,
    ),
    "pose": (lambda r, q: r.pose(q, "tool"), lambda m, q: kinematics.pose(m, q, m.frame("tool")), 1),
    "velocity": (lambda r, q, v: r.velocity(q, v, "tool"), lambda m, q, v: kinematics.velocity(m, q, v, m.frame("tool")), 2),
    "acceleration": (
        lambda r, q, v, a: r.acceleration(q, v, a, "tool"),
        lambda m, q, v, a: kinematics.acceleration(m, q, v, a, m.frame("tool")), 3,
    ),
    "jacobian": (lambda r, q: r.jacobian(q, "tool"), lambda m, q: jacobian.jacobian(m, q, m.frame("tool")), 1),
    "jacobian in local axes": (
        lambda r, q: r.jacobian(q, "belt", axes="local"), lambda m, q: local_jacobian(m, q, m.frame("belt")), 1,
    ),
    "jacobian_dot": (
        lambda r, q, v: r.jacobian_dot(q, v, "tool"), lambda m, q, v: jacobian.jacobian_dot(m, q, v, m.frame("tool")), 2,
    ),
    "poses": (lambda r, q: r.poses(q), lambda m, q: np.array([kinematics.pose(m, q, m.frame(x)) for x in m.link_names]), 1),
    "center_of_mass": (lambda r, *s: r.center_of_mass(*s), centroidal.center_of_mass, 1),
    "center_of_mass_velocity": (lambda r, *s: r.center_of_mass_velocity(*s), centroidal.center_of_mass_velocity, 2),
    "center_of_mass_acceleration": (lambda r, *s: r.center_of_mass_acceleration(*s), centroidal.center_of_mass_acceleration, 3),
    "center_of_mass_jacobian": (lambda r, *s: r.center_of_mass_jacobian(*s), centroidal.center_of_mass_jacobian, 1),
    "centroidal_momentum": (lambda r, *s: r.centroidal_momentum(*s), centroidal.centroidal_momentum, 2),
    "centroidal_matrix": (lambda r, *s: r.centroidal_matrix(*s), centroidal.centroidal_matrix, 1),
    "centroidal_matrix_dot": (lambda r, *s: r.centroidal_matrix_dot(*s), centroidal.centroidal_matrix_dot, 2),
    "centroidal_inertia": (lambda r, *s: r.centroidal_inertia(*s), centroidal.centroidal_inertia, 1),
    "center_of_mass of a subtree": (
        lambda r, q: r.center_of_mass(q, "tool"), lambda m, q: centroidal.center_of_mass(m, q, link=m.frame("tool")), 1,
    ),
    "integrate": (lambda r, q, v: r.integrate(q, v), configurations.integrate, 2),
    "integrate_derivatives": (
        lambda r, q, v: np.stack(r.integrate_derivatives(q, v), axis=-3), configurations.integrate_derivatives, 2,
    ),
    "integrate_derivatives, difference": (
        lambda r, q, v: np.stack(r.difference_derivatives(q, r.integrate(q, v)), axis=-3),
        lambda m, q, v: configurations.difference_derivatives(m, q, configurations.integrate(m, q, v)), 2,
    ),
    "static_torque": (
        lambda r, q: r.static_torque(q, wrenches(q)), lambda m, q: statics.static_forces(m, q)[0] - pull(m, q, "world"), 1,
    ),
}  # fmt: skip


def wrenches(q):
    return {name: np.array(w, dtype=q.dtype) for name, w in WRENCHES.items()}


def plain_ledger(model, q, v, a):
    terms = dynamics.torque_ledger(model, q, v, a).as_dict()
    terms["external"] = -pull(model, q, "world")
    return np.array(list(terms.values()))


@pytest.fixture(autouse=True)
def nothing_but_compiled_code(monkeypatch):
    """Without this, a function that cannot be traced falls back to the plain algorithm, which agrees with itself."""

    def refuse(*_, **__):
        raise AssertionError("the plain algorithm ran instead of compiled code")

    monkeypatch.setattr(Evaluator, "over_states", refuse)
    monkeypatch.setattr(Evaluator, "_explain_failure", refuse)


def judge(found, expected, dtype, condition):
    assert found.dtype == dtype
    assert found.shape == expected.shape
    allowed = FACTOR * np.finfo(dtype).eps * condition * max(1e-3, float(np.abs(expected).max()))
    assert np.abs(found - expected).max() <= allowed


# little more than the Coriolis matrix or forward dynamics, and long to compile: not on every robot
LONG = [name for name in FUNCTIONS if name in ("mass_matrix_dot", "coriolis_transpose_product", "christoffel")]
LONG += [name for name in FUNCTIONS if name.startswith("forward_dynamics, wrenches")]
CASES = [(name, function) for name in NAMES for function in FUNCTIONS if function not in LONG or name in ("screws", "wrists")]


# the instructions are the same in single precision: there, each function on one robot, each robot with some of the functions
ALL = [(*case, dtype) for dtype in (np.float64, np.float32) for case in CASES]
USUAL = ALL[: len(CASES)] + [
    (names[k % len(names)], function, np.float32)
    for k, function in enumerate(FUNCTIONS)
    for names in [[name for name, other in CASES if other == function]]
]


@pytest.mark.parametrize(("name", "function", "dtype"), few_of(ALL, USUAL))
def test_a_compiled_function_is_the_plain_algorithm(name, function, dtype):
    robot = zoo_robot(name)
    compiled, plain, count = FUNCTIONS[function]
    states = zoo_states(robot, COUNT, dtype)[:count]
    exact = [x.astype(float) for x in states]
    expected = np.array([(plain or plain_ledger)(robot.model, *state) for state in zip(*exact, strict=True)])
    # an acceleration is as uncertain as its torques times the condition of the mass matrix
    condition = 1.0
    if function.startswith("forward_dynamics"):
        condition = max(np.linalg.cond(mass_matrix.crba(robot.model, q)) for q in exact[0])
    judge(compiled(robot, *states), expected, dtype, condition)


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["double", "single"])
@pytest.mark.parametrize("orientation", ["rpy", "zyx", "xyz", "zyz", "zxz", "rotation_vector"])
def test_a_compiled_analytic_jacobian_is_the_plain_one(orientation, dtype):
    robot = zoo_robot("wrists")
    q = zoo_states(robot, 12, dtype)[0]
    frame = robot.model.frame("tool")
    expected = np.array([jacobian.analytic_jacobian(robot.model, x.astype(float), frame, orientation) for x in q])
    # rates of coordinates grow like 1/distance from their singularity, their errors like its square
    scale = np.abs(expected).max(axis=(1, 2))
    usual = scale < 10.0
    assert usual.sum() >= 6
    found = robot.analytic_jacobian(q, "tool", orientation=orientation)
    judge(found[usual], expected[usual], dtype, float(scale[usual].max()))


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_through_the_facade_are_the_plain_algorithms(seed):
    """The façade compiles regrouped inertias; on trees of any shape the torques must be those of the model as it is."""
    rng = np.random.default_rng(1000 + seed)
    robot = random_robot(
        rng, bodies=5, kinds=("revolute", "continuous", "prismatic", "helical", "cylindrical", "universal", "spherical")
    )
    m = robot.model
    q, v, a = zoo_states(robot, COUNT, seed=seed)
    condition = max(np.linalg.cond(mass_matrix.crba(m, x)) for x in q)
    for found, plain, states, uncertainty in [
        (robot.inverse_dynamics(q, v, a), dynamics.inverse_dynamics, (q, v, a), 1.0),
        (robot.forward_dynamics(q, v, a), dynamics.forward_dynamics, (q, v, a), condition),
        (robot.mass_matrix(q), mass_matrix.crba, (q,), 1.0),
        (robot.gravity(q), dynamics.gravity, (q,), 1.0),
    ]:
        expected = np.array([plain(m, *state) for state in zip(*states, strict=True)])
        judge(found, expected, np.float64, uncertainty)


def test_no_function_over_states_is_left_out():
    """A new one has to be put in the table above."""
    methods = {name: getattr(robots.Robot, name) for name in dir(robots.Robot) if not name.startswith("_")}
    public = {name for name, f in methods.items() if callable(f) and "q" in inspect.signature(f).parameters}
    plain = {"static_forces", "articulated_inertias"}  # never compiled
    derivatives = {"inverse_dynamics_derivatives", "forward_dynamics_derivatives"}
    private = {"coriolis_transpose_product"}
    elsewhere = {"analytic_jacobian", "actuator_regressor", "joint_wrenches", *derivatives}  # these have tests of their own
    assert public - plain - elsewhere == {re.split(r"[, ]", name)[0] for name in FUNCTIONS} - private


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_regressor_of_motors_is_the_plain_algorithm(dtype):
    springs = {"joint1": dy.Elastic(300.0, 0.2), "joint3": dy.Elastic(500.0, 0.1, backlash=0.25)}
    robot = dy.load("scara").replace(actuators=springs)
    q, v, theta, theta_dot, theta_ddot = np.random.default_rng(5).uniform(-1.0, 1.0, (5, COUNT, robot.n)).astype(dtype)
    states = (q, v, theta[:, :2], theta_dot[:, :2], theta_ddot[:, :2])
    expected = np.array([actuator_regressor.actuator_regressor(robot.model, *state) for state in zip(*states, strict=True)])
    judge(robot.actuator_regressor(*states), expected, dtype, 1.0)


@pytest.mark.parametrize("name", ["sliders", "wrists", "flyer"])
def test_forward_dynamics_by_the_recursion_is_the_plain_algorithm(monkeypatch, name):
    """On long chains another formulation competes: it must be right by itself, and whichever of the two is chosen."""
    monkeypatch.setattr(registry, "RECURSION_FROM", 0)
    robot = robots.Robot(zoo_robot(name).description)
    m, (q, v, tau) = robot.model, zoo_states(robot, COUNT)
    assert not m.coupled
    recursion = Kernel([lambda *x: aba(m, *x)], [("q", m.nq), ("v", m.n), ("tau", m.n)], "recursion")
    alone = np.array([aba(m, *state) for state in zip(q, v, tau, strict=True)])
    complete = np.array([dynamics.forward_dynamics(m, *state) for state in zip(q, v, tau, strict=True)])
    condition = max(np.linalg.cond(mass_matrix.crba(m, x)) for x in q)
    judge(recursion(q, v, tau), alone, np.float64, condition)
    judge(robot.forward_dynamics(q, v, tau), complete, np.float64, condition)
