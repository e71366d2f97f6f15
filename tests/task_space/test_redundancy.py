"""Laws for redundant robots: each executes the task at the least of its cost, with the right projector behind it.

Equation numbers are those of the exam "Robotica II", 10 June 2009.
"""

import numpy as np
import pytest

import dynamis as dy
from dynamis.task_space.redundancy import LAWS, law_weight

ts = dy.task_space
SIZES = {f"{name}_{k}": x for name, x in (("a", 0.5), ("l", 0.25), ("m", 2.0), ("I", 0.05)) for k in (1, 2, 3)}
STATES, OTHERS = 4, 1000


def planar():
    return dy.load("planar_3r", parameters=SIZES | {"g": 9.81})


@pytest.fixture(scope="module", params=["planar 3R, 2", "panda, 6", "iiwa, 6", "panda, 3"])
def pair(request):
    """A robot with more joints than its task has directions."""
    name, size = request.param.split(", ")
    robot = {"planar 3R": planar, "panda": lambda: dy.load("panda"), "iiwa": lambda: dy.load("kuka_iiwa14")}[name]()
    task = {"2": ts.Position(rows=(0, 1)), "3": ts.Position(), "6": ts.PoseTask()}[size]
    return robot.replace(friction=0), task


@pytest.fixture(params=range(STATES))
def at(request, pair):
    """A random state in the letters of the exam."""
    robot, task = pair
    rng = np.random.default_rng(request.param)
    q, v, x_ddot = robot.random(rng), rng.uniform(-1, 1, robot.n), rng.uniform(-1, 1, task.size)
    return State(robot, task, q, v, x_ddot, rng)


class State:
    def __init__(self, robot, task, q, v, x_ddot, rng):
        self.robot, self.task, self.q, self.v, self.x_ddot, self.rng = robot, task, q, v, x_ddot, rng
        self.B, self.n, self.J = robot.mass_matrix(q), robot.bias(q, v), task.jacobian(robot, q)
        self.J_sharp = np.linalg.pinv(self.J)
        self.P = np.eye(robot.n) - self.J_sharp @ self.J
        self.r_ddot = x_ddot - task.bias(robot, q, v)

    def executes(self, tau, size=1e-7):
        a = self.robot.forward_dynamics(self.q, self.v, tau)
        np.testing.assert_allclose(self.J @ a, self.r_ddot, atol=size * max(1.0, np.abs(a).max()))

    def law(self, law="driven-acceleration", **options):
        return ts.least_cost_torque(self.robot, self.q, self.v, self.task, self.x_ddot, law, **options)


def close(found, wanted, digits=1e-8):
    np.testing.assert_allclose(found, wanted, atol=digits * max(1.0, np.abs(wanted).max()))


def test_equations_1_to_6_hold_at_the_torque_of_least_driven_acceleration(at):
    B_inverse = np.linalg.inv(at.B)
    lam = -np.linalg.solve(at.J @ at.J.T, at.r_ddot + at.J @ B_inverse @ at.n)  # (4)
    a = -B_inverse @ at.n - at.J.T @ lam  # (3)
    close(a + B_inverse @ at.n + at.J.T @ lam, np.zeros(at.robot.n))  # (1)
    close(at.J @ a, at.r_ddot)  # (2)
    close(a, at.J_sharp @ at.r_ddot - at.P @ B_inverse @ at.n)  # (5)
    tau = at.law()
    close(tau, at.B @ at.J_sharp @ (at.r_ddot + at.J @ B_inverse @ at.n))  # (6)
    close(tau, at.B @ a + at.n)


def test_equations_7_to_9_give_the_same_torque(at):
    q_ddot_0 = at.rng.uniform(-1, 1, at.robot.n)
    a = at.J_sharp @ at.r_ddot + at.P @ q_ddot_0  # (7)
    close(at.J @ a, at.r_ddot)
    tau = at.B @ at.J_sharp @ at.r_ddot + at.B @ at.P @ q_ddot_0 + at.n  # (8)
    close(at.robot.inverse_dynamics(at.q, at.v, a), tau)
    best = -np.linalg.solve(at.B, at.n)  # (9)
    tau = at.B @ at.J_sharp @ at.r_ddot + at.B @ at.P @ best + at.n
    close(at.law(), tau)


def test_equation_10_is_equation_6_at_rest_without_gravity(pair):
    robot, task = pair
    light = robot.replace(gravity=(0, 0, 0))
    q, x_ddot = robot.random(1), np.linspace(-1, 1, task.size)
    tau = ts.least_cost_torque(light, q, np.zeros(robot.n), task, x_ddot)
    close(tau, light.mass_matrix(q) @ np.linalg.pinv(task.jacobian(light, q)) @ x_ddot)


def others(at):
    """Torques that execute the task too: τ = B q̈ + n over the accelerations (7)."""
    q_ddot_0 = at.rng.normal(size=(OTHERS, at.robot.n)) * 10.0 ** at.rng.uniform(-4, 2, (OTHERS, 1))
    near = np.linalg.solve(at.B, at.law() - at.n)
    return (near + q_ddot_0 @ at.P) @ at.B + at.n


@pytest.mark.parametrize("name", list(LAWS))
def test_no_other_torque_that_executes_the_task_costs_less(at, name):
    tau, W = at.law(name), law_weight(name, at.B)
    at.executes(tau)
    many = others(at)
    costs = 0.5 * np.einsum("ki,ij,kj->k", many, W, many)
    assert (costs >= 0.5 * tau @ W @ tau * (1 - 1e-9)).all()
    # the gradient of the cost has no part along the directions that stay free: it is a minimum, not just lower than these
    close((at.B @ at.P).T @ W @ tau / np.linalg.norm(W @ tau), np.zeros(at.robot.n), 1e-7)


def test_a_weight_of_ones_own_is_minimised_and_the_named_laws_are_special_cases(at):
    n = at.robot.n
    root = at.rng.uniform(-1, 1, (n, n)) + 2 * np.eye(n)
    W = root @ root.T
    tau = at.law(weight=W)
    at.executes(tau)
    many = others(at)
    assert (0.5 * np.einsum("ki,ij,kj->k", many, W, many) >= 0.5 * tau @ W @ tau * (1 - 1e-9)).all()
    close(at.law(weight=np.ones(n)), at.law("torque"))
    close(
        at.law(weight=lambda robot, q, v: np.linalg.inv(robot.mass_matrix(q))),
        at.law("acceleration-energy"), 1e-6,
    )  # fmt: skip


def test_dynamically_consistent_torque_is_that_of_the_operational_space(at):
    x = dy.operational_space(at.robot, at.q, at.v, at.task)
    close(at.law("acceleration-energy"), x.torque(at.x_ddot))
    tau_0 = at.rng.uniform(-1, 1, at.robot.n)
    close(at.law("acceleration-energy", preferred=tau_0), x.torque(at.x_ddot, tau_0))


@pytest.mark.parametrize("name", list(LAWS))
def test_a_preferred_torque_is_followed_as_far_as_the_task_allows(at, name):
    tau_0, W = at.rng.uniform(-5, 5, at.robot.n), law_weight(name, at.B)
    tau = at.law(name, preferred=tau_0)
    at.executes(tau)
    many = others(at)
    costs = 0.5 * np.einsum("ki,ij,kj->k", many - tau_0, W, many - tau_0)
    assert (costs >= 0.5 * (tau - tau_0) @ W @ (tau - tau_0) * (1 - 1e-9)).all()
    # a torque that executes the task already is not touched
    close(at.law(name, preferred=tau), tau, 1e-7)


def test_preference_of_the_first_law_is_equation_8s_null_space_acceleration(at):
    q_ddot_0 = at.rng.uniform(-1, 1, at.robot.n)
    tau = at.law(preferred=at.B @ q_ddot_0)
    close(tau, at.law() + at.B @ at.P @ q_ddot_0)


PREFERENCES = {
    "damping": ts.Damping(3.0),
    "limits": ts.AwayFromLimits(5.0),
    "bias": ts.Compensation(),
    "gradient": ts.Gradient(lambda robot, q: np.array([np.dot(q, q)]), -0.5),
}


@pytest.mark.parametrize("kind", list(PREFERENCES))
@pytest.mark.parametrize("name", list(LAWS))
def test_preferences_leave_the_task_alone(pair, name, kind):
    robot, task = pair
    q, v = robot.random(3), np.linspace(-1, 1, robot.n)
    found = ts.resolve(robot, q, v, task, np.ones(task.size), name, null_space=[PREFERENCES[kind]])
    close(found.task_error, np.zeros(task.size), 1e-6)
    close(task.jacobian(robot, q) @ found.acceleration + task.bias(robot, q, v), np.ones(task.size), 1e-6)


def test_preferred_torques_are_what_they_say():
    robot = dy.load("panda").replace(friction=0)
    q, v = robot.random(2), np.linspace(-1, 1, 7)
    M, limits = robot.mass_matrix(q), robot.limits
    close(ts.Damping(3.0).torque(robot, q, v), M @ (-3.0 * v))
    middle, span = 0.5 * (limits["lower"] + limits["upper"]), limits["upper"] - limits["lower"]
    close(ts.AwayFromLimits(5.0).torque(robot, q, v), M @ (-5.0 * (q - middle) / span**2))
    close(ts.Compensation().torque(robot, q, v), robot.bias(q, v))
    close(ts.Posture(np.zeros(7), 4.0).torque(robot, q, v), M @ (-4.0 * q))
    close(ts.Gradient(lambda robot, q: np.array([np.dot(q, q)]), 0.5).torque(robot, q, v), M @ q)


def test_manipulability_is_climbed_along_its_gradient():
    from dynamis.kinematics.manipulability import manipulability_gradient

    robot, task = dy.load("panda").replace(friction=0), ts.Position()
    q = robot.random(2)
    wanted = manipulability_gradient(robot, q)
    close(ts.Gradient.of_manipulability(task, 2.0).torque(robot, q, np.zeros(7)), 2.0 * robot.mass_matrix(q) @ wanted)


def test_a_law_reports_rank_condition_and_cost(at):
    found = ts.resolve(at.robot, at.q, at.v, at.task, at.x_ddot)
    tau = at.law()
    close(found.tau, tau)
    assert found.how == "redundant"
    assert found.rank == at.task.size
    assert found.condition == pytest.approx(dy.operational_space(at.robot, at.q, at.v, at.task).condition)
    assert found.cost == pytest.approx(0.5 * np.sum(np.linalg.solve(at.B, tau) ** 2), rel=1e-6)


def test_a_singular_state_is_answered_by_name():
    robot, task, q = planar(), ts.Position(rows=(0, 1)), np.array([0.3, 0.0, 0.0])
    with pytest.raises(dy.SingularError, match="damping"):
        ts.least_cost_torque(robot, q, np.zeros(3), task, np.ones(2), "torque")
    with pytest.warns(dy.SingularityWarning, match="rank 1 of 2"):
        found = ts.resolve(robot, q, np.zeros(3), task, np.ones(2))
    assert np.isfinite(found.tau).all()
    across = np.array([-np.sin(0.3), np.cos(0.3)])
    assert across @ found.task_error == pytest.approx(0.0, abs=1e-9)
    for way in ({"truncate": True}, {"damping": 0.1}):
        again = ts.resolve(robot, q, np.zeros(3), task, np.ones(2), **way)
        assert np.isfinite(again.tau).all()
    assert np.isfinite(ts.least_cost_torque(robot, q, np.zeros(3), task, np.ones(2), "torque", damping=0.1)).all()


def test_joints_alone_execute_a_task_of_a_floating_robot():
    robot = dy.load("panda", base="floating").replace(friction=0)
    rng = np.random.default_rng(4)
    q, v, x_ddot, task = robot.random(rng), rng.uniform(-1, 1, robot.n), rng.uniform(-1, 1, 3), ts.Position()
    driven = np.arange(6, robot.n)
    A = task.jacobian(robot, q) @ np.linalg.inv(robot.mass_matrix(q))[:, driven]
    b = x_ddot - task.bias(robot, q, v) + task.jacobian(robot, q) @ np.linalg.solve(robot.mass_matrix(q), robot.bias(q, v))
    tau = ts.least_cost_torque(robot, q, v, task, x_ddot, "torque", actuated="joints")
    close(tau, np.linalg.pinv(A) @ b, 1e-7)
    found = ts.resolve(robot, q, v, task, x_ddot, "torque", actuated="joints", null_space=ts.Damping(1.0))
    close(task.jacobian(robot, q) @ found.acceleration + task.bias(robot, q, v), x_ddot, 1e-7)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"law": "torqe"}, dy.NameLookupError, "torque"),
        ({"weight": np.ones(6)}, dy.InputError, "7"),
        ({"weight": -np.ones(7)}, dy.InputError, "positive definite"),
        ({"weight": np.triu(np.ones((7, 7)))}, dy.InputError, "symmetric"),
        ({"null_space": [3]}, dy.InputError, "Damping"),
        ({"acceleration": [1.0]}, dy.InputError, "x, y, z"),
        ({"acceleration": [1.0, np.nan, 0.0]}, dy.InputError, "finite"),
        ({"null_space": ts.Posture([0.0])}, dy.InputError, "positions"),
    ],
)
def test_wrong_input_is_refused_with_a_sentence(options, error, words):
    robot, acceleration = dy.load("panda"), options.pop("acceleration", np.zeros(3))
    with pytest.raises(error, match=words):
        ts.resolve(robot, robot.random(0), np.zeros(7), ts.Position(), acceleration, **options)


@pytest.mark.parametrize("make", [lambda: ts.Damping(-1.0), lambda: ts.AwayFromLimits(0.0), lambda: ts.Gradient(len, "much")])
def test_preferences_that_make_no_sense_are_refused(make):
    with pytest.raises(dy.InputError):
        make()


@pytest.mark.parametrize("law", LAWS)
def test_laws_refuse_shapes_that_would_broadcast(law):
    robot = dy.load("panda")
    q, v = robot.random(0), np.zeros(7)
    with pytest.raises(dy.InputError, match="3 components"):
        ts.least_cost_torque(robot, q, v, ts.Position(), [1.0], law)
    with pytest.raises(dy.InputError, match="task_kernels"):
        ts.least_cost_torque(robot, np.zeros((2, 7)), v, ts.Position(), np.zeros(3), law)
    with pytest.raises(dy.InputError, match="Position"):
        ts.least_cost_torque(robot, q, v, "position", np.zeros(3), law)
    with pytest.raises(dy.NameLookupError, match="driven-acceleration"):
        ts.least_cost_torque(robot, q, v, ts.Position(), np.zeros(3), "power")


def test_feedback_refuses_what_is_no_motion():
    robot = dy.load("panda")
    with pytest.raises(dy.InputError, match="x_d"):
        ts.Feedback(robot, ts.Position(), 3.0)
    with pytest.raises(dy.InputError, match="a robot, a task"):
        ts.Feedback(robot, "position", lambda t: None)
    with pytest.raises(dy.InputError, match="3 numbers each"):
        ts.Feedback(robot, ts.Position(), lambda t: (np.zeros(2),) * 3)(0.0, robot.random(0), np.zeros(7))
