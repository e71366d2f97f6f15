"""Steps and rollouts with further variables: parameters, wrenches, motion of the base, gains of a feedback."""

import copy
import pickle

import numpy as np
import pytest
from campaign_params import few_of
from random_trees import random_robot, relative_error

import dynamis as dy
from dynamis.optimize.step_dynamics import METHODS

m, c, f, g, kp, kd = (dy.symbol(x) for x in ("m", "c", "f", "g", "kp", "kd"))
ARM = dy.load("planar_2r_melchiorri").replace(
    payload=dy.solids.sphere(0.05, mass=m),
    gravity=[0.0, g, 0.0],
    friction={"joint1": {"viscous": c, "coulomb": f}, "joint2": {"viscous": 0.1}},
)
PARAMETERS, VALUES = [m, c, f, g], np.array([2.0, 0.3, 0.5, -9.81])


def central(function, n, h=1e-6):
    return np.stack([(function(h * x) - function(-h * x)) / (2 * h) for x in np.eye(n)], axis=-1)


def arm(method):
    return dy.optimize.Step(ARM, 0.01, method, parameters=PARAMETERS, wrenches=["link2"], moving_base=True)


def floating(method):
    tree = random_robot(np.random.default_rng(5), 2, floating=True, mimics=False)
    link = tree.link_names[-1]
    return dy.optimize.Step(
        tree.replace(gravity=[0.0, 0.0, g]), 0.01, method, parameters=[g], wrenches=[link], feedback=_damper, references=0
    )


def _damper(robot, q, v, r):
    return -0.3 * v[robot.inputs.actuated("joints")] ** 3


# each method with the arm, and a free body, long to compile, with one of two stages
CASES = [(make, method) for make in (arm, floating) for method in METHODS]
USUAL = [case for case in CASES if case[0] is arm or case[1] == "rk2"]


@pytest.mark.parametrize(("make", "method"), few_of(CASES, USUAL))
def test_all_variables_have_derivatives(make, method):
    step, rng = make(method), np.random.default_rng(2)
    robot, n, M, k = step.robot, step.robot.n, step.inputs, len(step.parameters)
    numeric = robot if robot.nq == robot.n else random_robot(np.random.default_rng(5), 2, floating=True, mimics=False)
    q, v, u = numeric.random(0), 0.5 * rng.normal(size=n), rng.normal(size=M)
    p = VALUES if k == 4 else np.array([-9.0])
    q1, v1 = step(q, v, u, p)

    def change(x):
        dq, dv, du, dp = np.split(x, (n, 2 * n, 2 * n + M))
        q2, v2 = step(numeric.integrate(q, dq) if robot.nq != n else q + dq, v + dv, u + du, p + dp)
        return np.concatenate([numeric.difference(q1, q2) if robot.nq != n else q2 - q1, v2 - v1])

    A, B = step.derivatives(q, v, u, p)
    P = step.parameter_derivatives(q, v, u, p)
    assert relative_error(np.hstack([A, B, P]), central(change, 2 * n + M + k)) < 1e-7
    batch = step.parameter_derivatives(np.tile(q, (3, 1)), v, u, np.tile(p, (2, 1, 1)))
    np.testing.assert_allclose(batch, np.broadcast_to(P, (2, 3, *P.shape)), rtol=1e-12, atol=1e-15)


def test_parameters_replace_the_numbers_of_a_model():
    numbers = dy.load("planar_2r_melchiorri")
    numbers = numbers.replace(
        payload=dy.solids.sphere(0.05, mass=2.0), gravity=[0.0, -9.81, 0.0],
        friction={"joint1": {"viscous": 0.3, "coulomb": 0.5}, "joint2": {"viscous": 0.1}},
    )  # fmt: skip
    q, v, u, w = [0.3, 0.5], [0.2, -0.1], np.array([4.0, 1.0]), np.array([1.0, 2.0, 0.0, 0.0, 0.0, 0.5])
    for method in METHODS:
        with_symbols = dy.optimize.Step(ARM, 0.01, method, parameters=PARAMETERS, wrenches="link2")
        plain = dy.optimize.Step(numbers, 0.01, method)
        still = np.concatenate([u, 0.0 * w])
        np.testing.assert_allclose(with_symbols(q, v, still, VALUES), plain(q, v, u), rtol=1e-13)
        A, B = with_symbols.derivatives(q, v, still, VALUES)
        for one, other in zip((A, B[:, :2]), plain.derivatives(q, v, u), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-13)
        a = numbers.replace(friction=0).forward_dynamics(q, [0.0, 0.0], u, {"link2": w})
        pushed = with_symbols(q, [0.0, 0.0], np.concatenate([u, w]), [2.0, 0.0, 0.0, -9.81])
        assert relative_error(pushed[1] / 0.01, a) < 0.05


def closed_loop(robot, q, v, r):
    return kp * (r - q) - kd * v


def gains_step(method="rk2"):
    return dy.optimize.Step(ARM, 0.01, method, parameters=[*PARAMETERS, kp, kd], feedback=closed_loop)


GAINS = np.array([*VALUES, 800.0, 90.0])


def test_sensitivities_of_rollouts_by_parameters_and_gains():
    step, q, v = gains_step(), np.array([0.2, -0.4]), np.zeros(2)
    goals = np.broadcast_to([0.8, 0.3], (30, 2))
    Q, V = step.rollout(q, v, goals, GAINS)
    S = step.sensitivities(Q, V, goals, GAINS)
    assert S.start.shape == (31, 4, 4)
    assert S.parameters.shape == (31, 4, 6)

    def moved(x):
        return np.concatenate(step.rollout(q + x[:2], v + x[2:4], goals, GAINS + x[4:]), axis=-1)

    found = np.concatenate([S.start, S.parameters], axis=-1)
    assert relative_error(found, central(moved, 10, 1e-5)) < 1e-6


def test_gradients_by_parameters_and_the_same_from_checkpoints():
    step, rng = gains_step("euler"), np.random.default_rng(0)
    q, v, goals = 0.3 * rng.normal(size=(3, 2)), np.zeros(2), rng.normal(size=(17, 3, 2))
    p, w = GAINS * np.array([[1.0], [1.1], [0.9]]), rng.normal(size=(18, 3, 4))
    Q, V = step.rollout(q, v, goals, p)
    found = step.gradient(Q, V, goals, w, 0.1, p)

    def cost(p):
        return (w * np.concatenate(step.rollout(q, v, goals, p), axis=-1)).sum((0, 2))

    for k in range(6):
        e = np.zeros(6)
        e[k] = 1e-5 * abs(GAINS[k])
        assert relative_error(found.parameters[:, k], (cost(p + e) - cost(p - e)) / (2 * e[k])) < 1e-6
    longest = []

    def slopes(first, q, v):
        longest.append(len(q))
        np.testing.assert_array_equal(q, Q[first : first + len(q)])
        np.testing.assert_array_equal(v, V[first : first + len(q)])
        return w[first : first + len(q)]

    again = step.rollout_gradient(q, v, goals, slopes, 0.1, p)
    assert max(longest) == 5  # of 17 steps
    for one, other in zip(found, again, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_long_motions_with_constant_references_need_no_table_of_states():
    step = gains_step("euler")
    goals, end = (
        np.broadcast_to([0.8, 0.3], (400, 2)),
        lambda first, q, _: np.where(first == 400, 1.0, 0.0) * np.ones((len(q), 4)),
    )
    found = step.rollout_gradient([0.2, -0.4], [0.0, 0.0], goals, end, p=GAINS)
    S = step.sensitivities(*step.rollout([0.2, -0.4], [0.0, 0.0], goals, GAINS), goals, GAINS)
    np.testing.assert_allclose(found.parameters, S.parameters[-1].sum(0), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found.start, S.start[-1].sum(0), rtol=1e-9, atol=1e-12)


def test_second_derivatives_of_parameters():
    step = dy.optimize.Step(ARM, 0.02, "rk2", parameters=PARAMETERS)
    q, v, u = np.random.default_rng(0).normal(size=(3, 2))
    weights = np.array([0.3, -1.0, 2.0, 0.5])

    def slopes(x):
        at = q + x[:2], v + x[2:4], u + x[4:6], VALUES + x[6:]
        return weights @ np.hstack([*step.derivatives(*at), step.parameter_derivatives(*at)])

    assert relative_error(step.weighted_hessian(q, v, u, weights, VALUES), central(slopes, 10, 1e-5)) < 1e-6


def test_steps_with_parameters_are_functions_for_casadi():
    pytest.importorskip("casadi", reason="CasADi is not installed: pip install casadi")
    step = gains_step("rk4")
    function = ARM.casadi(step.function, u=2, parameters=step.parameters)
    given = [0.1, 0.2], [0.3, -0.4], [0.5, 0.6], GAINS
    assert relative_error(np.array(function(*given)).ravel(), np.concatenate(step(*given))) < 1e-12


STATE = [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: dy.optimize.Step(ARM, 0.01, parameters=[m]), r"without values \(c, f, g\)"),
        (lambda: dy.optimize.Step(ARM, 0.01, parameters=["m"]), "must be symbols"),
        (lambda: dy.optimize.Step(ARM, 0.01, parameters=[*PARAMETERS, m]), "has a symbol twice"),
        (lambda: dy.optimize.Step(ARM, 0.01, parameters=PARAMETERS, wrenches=["link"]), "no frame named 'link'"),
        (lambda: dy.optimize.Step(ARM, 0.01, parameters=PARAMETERS, feedback=3), "must be a function of"),
        (lambda: dy.optimize.Step(ARM, 0.01, parameters=PARAMETERS, references=3), "number of references"),
        (lambda: dy.optimize.Step(ARM, 0.01, parameters=PARAMETERS)(*STATE), "parameters m, c, f, g are missing"),
        (lambda: dy.optimize.Step(ARM, 0.01, parameters=PARAMETERS)(*STATE, [1.0]), r"p has shape \(1,\)"),
        (lambda: dy.optimize.Step(ARM, 0.01, parameters=PARAMETERS)(*STATE, VALUES * np.nan), r"p\[0\] is nan"),
        (lambda: dy.optimize.Step(ARM, 0.01, parameters=PARAMETERS).torques(*STATE), "without parameters"),
        (lambda: dy.optimize.Step(dy.load("planar_2r_melchiorri"), 0.01)(*STATE, [1.0]), "has no parameters"),
        (lambda: _with_feedback(lambda _robot, q, _v, _r: q[:1])(*STATE, VALUES), "must return 2 torques"),
        (lambda: _with_feedback(lambda _robot, q, _v, r: r * float(q[0]))(*STATE, VALUES), "a number is needed"),
        (lambda: gains_step().rollout_gradient(*STATE[:2], np.zeros((4, 2)), 1.0, p=GAINS), "must be a function of"),
        (lambda: _diverging(), "the motion diverges in steps"),
    ],
)
def test_bad_variables_are_refused(made, message):
    with pytest.raises(dy.DynamisError, match=message):
        made()


def _with_feedback(law):
    return dy.optimize.Step(ARM, 0.01, parameters=PARAMETERS, feedback=law)


def _diverging():
    p = np.array([*VALUES, -1e9, -1e9])
    return gains_step("rk2").rollout_gradient([0.2, -0.4], [1.0, 0.0], np.zeros((400, 2)), lambda *_: 1.0, p=p)


def test_a_base_may_move_by_symbols_and_bad_motions_are_refused():
    robot = dy.load("planar_2r_melchiorri")
    motion = dy.MovingBase(dy.Pose.identity(), np.zeros(6), np.array([0.0, g, 0.0, 0.0, 0.0, 0.0]))
    lifted = robot.forward_dynamics([0.3, 0.5], [0.0, 0.0], [0.0, 0.0], base=motion)
    assert lifted.dtype == object
    for bad in ("text", [np.nan] * 6, np.zeros(3)):
        with pytest.raises(dy.InputError, match=r"[bB]ase"):
            robot.inverse_dynamics(*STATE, base=dy.MovingBase(dy.Pose.identity(), bad, np.zeros(6)))


def test_parameters_that_nothing_contains_are_refused():
    arm, m, k = dy.load("planar_2r_melchiorri"), dy.symbol("m"), dy.symbol("k")
    loaded = arm.replace(payload=dy.solids.sphere(0.05, mass=m))

    def law(robot, q, v, r):
        return -k * (q - r)

    assert dy.optimize.Step(loaded, 0.01, parameters=[k, m], feedback=law).parameters == (k, m)
    with pytest.raises(dy.InputError, match=r"the symbol 'm', which robot .* does not contain; the robot has no symbols"):
        dy.optimize.Step(arm, 0.01, parameters=[m])
    with pytest.raises(dy.InputError, match=r"the symbol 'k', which robot .* the symbols of the robot are 'm'"):
        dy.optimize.Step(loaded, 0.01, parameters=[m, k])
    with pytest.raises(dy.InputError, match=r"the symbol 'z', which neither robot .* nor feedback= contains"):
        dy.optimize.Step(loaded, 0.01, parameters=[m, k, dy.symbol("z")], feedback=law)


@pytest.mark.parametrize("method", METHODS)
def test_wrenches_push_as_their_torques_do(method):
    """At the beginning of the step Jᵀ w is exact; in later stages, to the order of the step."""
    robot, w = dy.load("planar_2r_melchiorri"), np.array([1.0, 20.0, 0.0, 0.0, 0.0, 0.5])
    q, v, u = np.array([0.3, 0.5]), np.array([0.2, -0.1]), np.array([4.0, 1.0])
    pushed = dy.optimize.Step(robot, 1e-4, method, wrenches=["link2", "link1"])
    plain = dy.optimize.Step(robot, 1e-4, method)
    for place, frame in ((slice(2, 8), "link2"), (slice(8, 14), "link1")):
        given = np.concatenate([u, np.zeros(12)])
        given[place] = w
        there = pushed(q, v, given)
        change = there[1] - plain(q, v, u)[1]
        assert np.abs(change).max() > 1e-6  # it moves
        np.testing.assert_allclose(there, plain(q, v, u + robot.jacobian(q, frame).T @ w), atol=1e-4 * np.abs(change).max())


def test_values_and_derivatives_belong_to_the_feedback_as_it_was_when_the_step_was_made():
    robot, gain, v, r = dy.load("planar_2r_melchiorri"), np.array([1.0, 2.0]), np.zeros(2), np.ones(2)
    step = dy.optimize.Step(robot, 0.01, feedback=lambda robot, q, v, r: gain * (r - q) + robot.gravity(q))
    q, lighter = np.array([0.9, 0.8]), robot.replace(gravity=[0.0, -1.0, 0.0])
    before = step(q, v, r)
    gain *= 1000.0
    assert np.array_equal(step(q, v, r), before)
    found = step.derivatives(q, v, r)
    assert relative_error(found.A[:, :2], central(lambda x: np.concatenate(step(q + x, v, r)), 2)) < 1e-6
    assert relative_error(step.function(robot, q, v, r), np.concatenate(before)) < 1e-12
    costate = np.array([0.3, -1.0, 2.0, 0.5])
    slopes = step.gradient(np.stack([q, before[0]]), np.stack([v, before[1]]), r[None], [0 * costate, costate])
    assert relative_error(slopes.start, costate @ found.A) < 1e-12
    # a robot with other parameters is not the recorded one
    assert relative_error(step.commanded(lighter, q, v, r), gain * (r - q) + lighter.gravity(q)) < 1e-12


@pytest.mark.parametrize(
    "make", [lambda: dy.optimize.Step(dy.load("ur5e"), 0.01, "rk2"), lambda: gains_step(), lambda: deep_step()]
)
def test_steps_are_copied_also_after_use(make):
    step = make()
    n, p = step.robot.n, (GAINS,) if step.parameters else ()
    given = 0.3 * np.ones(n), 0.1 * np.ones(n), 0.2 * np.ones(step.inputs), *p
    value, slope = step(*given), step.derivatives(*given).A
    for other in (pickle.loads(pickle.dumps(step)), copy.deepcopy(step)):
        assert np.array_equal(other(*given), value)
        assert relative_error(other.derivatives(*given).A, slope) < 1e-12


def deep_step():
    return dy.optimize.Step(dy.load("panda"), 0.01, feedback=accelerated)


def accelerated(robot, q, v, r):
    return robot.inverse_dynamics(q, v, robot.forward_dynamics(q, v, r))
