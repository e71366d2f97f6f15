"""Derivatives refuse the states that values refuse: numbers that are not finite, quaternions of another norm than 1."""

import numpy as np
import pytest
from random_trees import random_robot

import dynamis as dy

NAN = np.full(2, np.nan)
Q, V, A = np.random.default_rng(0).normal(size=(3, 2))


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r_melchiorri")


@pytest.fixture(scope="module")
def free():
    """A robot with a quaternion."""
    return random_robot(np.random.default_rng(5), 2, floating=True, mimics=False).replace(friction=0)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_derivatives_with_wrenches_refuse_what_values_refuse(arm, free, name):
    tip, push = arm.model.tip, {arm.model.tip: np.ones(6)}
    for method in (getattr(arm, name), getattr(arm, f"{name}_derivatives")):
        with pytest.raises(dy.InputError, match=r"q\[0\] is nan"):
            method(NAN, V, A, push)
        with pytest.raises(dy.InputError, match=r"v\[1, 0\] is nan"):
            method(Q, np.array([V, NAN]), A, push)
        with pytest.raises(dy.InputError, match=r"wrench on .*\[0\] is nan"):
            method(Q, V, A, {tip: np.full(6, np.nan)})
        with pytest.raises(dy.InputError, match="last axis must have 6 numbers"):
            method(Q, V, A, {tip: np.zeros(5)})
        with pytest.raises(dy.InputError, match="do not broadcast"):
            method(np.zeros((5, 2)), V, A, {tip: np.zeros((4, 6))})
    q = free.neutral()
    q[3:7] *= 2.0
    for method in (getattr(free, name), getattr(free, f"{name}_derivatives")):
        with pytest.raises(dy.InputError, match="quaternion of norm 2"):
            method(q, np.zeros(free.n), np.zeros(free.n), {free.link_names[-1]: np.ones(6)})


def calls(derivatives, state):
    rows = int(np.prod(derivatives.shape, dtype=int))
    weights, direction = np.ones(rows), np.ones(derivatives.size)
    return {
        "value": state, "jacobian": state, "hessian": state, "jvp": (*state, direction), "vjp": (*state, weights),
        "weighted_hessian": (*state, weights), "hvp": (*state, weights, direction),
    }  # fmt: skip


@pytest.mark.parametrize("warm", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("function", ["inverse_dynamics", lambda robot, q, v, a: robot.gravity(q) + v * a])
def test_every_derivative_refuses_numbers_that_are_not_finite(arm, function, warm):
    derivatives = arm.differentiate(function)
    for name, given in calls(derivatives, (Q, V, A)).items():
        method = getattr(derivatives, name)
        if warm:
            for _ in range(12):
                true = method(*given)
            assert np.isfinite(true).all()
        for k, argument in enumerate(given):
            for bad in (np.nan, np.inf):
                spoiled = [np.array(x) for x in given]
                spoiled[k][..., 0] = bad
                with pytest.raises(dy.InputError, match=f"is {bad}; every entry must be a finite number"):
                    method(*spoiled)
                batch = [*given[:k], np.array([argument, spoiled[k]]), *given[k + 1 :]]
                with pytest.raises(dy.InputError, match=rf"\[1, 0\] is {bad}"):
                    method(*batch)


def test_quaternions_of_no_rotation_have_no_gradient(free):
    energy = free.differentiate("potential_energy")
    assert energy.jacobian(free.neutral()).shape == (free.n,)
    for norm in (0.0, 2.0):
        q = free.neutral()
        q[3:7] *= norm
        for _ in range(2):
            with pytest.raises(dy.InputError, match=f"quaternion of norm {norm:g}"):
                energy.jacobian(q)
        with pytest.raises(dy.InputError, match=f"quaternion of norm {norm:g}"):
            energy.jacobian(np.array([free.neutral(), q]))


def test_infinite_derivatives_of_finite_states_are_returned(arm):
    root = arm.differentiate(lambda robot, q: np.sqrt(q))
    for _ in range(12):
        assert np.isinf(root.jacobian(np.zeros(2))[0, 0])


def test_steps_refuse_weights_and_slopes_that_are_not_finite(arm):
    step = dy.optimize.Step(arm, 0.01)
    with pytest.raises(dy.InputError, match=r"weights\[0\] is nan"):
        step.weighted_hessian(Q, V, A, np.full(4, np.nan))
    q, v, u = np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((2, 2))
    with pytest.raises(dy.InputError, match=r"states\[0, 0\] is nan"):
        step.gradient(q, v, u, np.full((3, 4), np.nan))
    with pytest.raises(dy.InputError, match=r"inputs\[0, 0\] is inf"):
        step.gradient(q, v, u, np.zeros((3, 4)), np.inf)


def compiled_forms(robot):
    """The kernel of a method, that of a name, and a function, each of q alone."""
    frame = robot.link_names[-1]
    return [
        robot.kernel("pose", frame=frame),
        robot.compile("center_of_mass"),
        robot.compile(lambda robot, q: robot.pose(q, frame)[:3, 3]),
    ]


@pytest.mark.parametrize("warm", [False, True], ids=["interpreted", "compiled"])
def test_kernels_and_compiled_functions_refuse_what_methods_refuse(free, warm):
    right, nan = free.random(0), np.full(free.nq, np.nan)
    doubled, drifted = right.copy(), right.copy()
    doubled[3:7] *= 2.0
    drifted[3:7] *= 1.0 + 5e-4
    for kernel in compiled_forms(free):
        if warm:
            kernel(np.tile(right, (20, 1)))
        for bad, cause in ((doubled, "quaternion of norm 2"), (nan, r"q\[.*0\] is nan")):
            for given in (bad, bad.tolist(), bad.astype(np.float32), np.array([right, bad]), np.array([[bad]])):
                with pytest.raises(dy.InputError, match=cause):
                    kernel(given)
            with pytest.raises(dy.InputError, match=cause):
                kernel(bad, out=np.empty(kernel(right).shape))
        assert np.isfinite(kernel(drifted)).all()
        np.testing.assert_array_equal(kernel(np.array([right, drifted]))[0], kernel(right))


def test_states_of_a_large_batch_are_refused_in_threads(monkeypatch):
    monkeypatch.setenv("DYNAMIS_NUM_THREADS", "2")
    robot = dy.load("ur5e")
    q = robot.random(0, 50_000)
    q[40_000, 2] = np.inf
    for kernel in (robot.kernel("gravity"), robot.compile(lambda robot, q: robot.gravity(q))):
        with pytest.raises(dy.InputError, match=r"q\[40000, 2\] is inf"):
            kernel(q)


def massless():
    """An arm whose first joint moves no mass at q₂ = 0."""
    d = dy.Description("extending").add_link("base").add_link("arm", "base", "revolute", axis=(0, 0, 1))
    return dy.Robot(d.add_link("tip", "arm", "prismatic", axis=(1, 0, 0), inertia=dy.solids.sphere(0.0, mass=1.0)))


SINGULAR = np.zeros(2), np.zeros(2), np.array([1.0, 0.0])


@pytest.mark.parametrize("warm", [False, True], ids=["interpreted", "compiled"])
def test_a_singular_mass_matrix_is_reported_by_functions_of_a_name(warm):
    robot = massless()
    regular = np.array([[0.0, 0.1], [0.3, 0.2]])
    derivatives = robot.differentiate("forward_dynamics")
    given = {"value": SINGULAR, "jacobian": SINGULAR, "hessian": SINGULAR, "jvp": (*SINGULAR, np.ones(6)),
             "vjp": (*SINGULAR, np.ones(2))}  # fmt: skip
    functions = [(robot.kernel("forward_dynamics"), SINGULAR), (robot.compile("forward_dynamics"), SINGULAR)]
    functions += [(getattr(derivatives, name), arguments) for name, arguments in given.items()]
    functions.append((lambda *x: robot.forward_dynamics_derivatives(*x, {"tip": np.ones(6)}).array, SINGULAR))
    for function, (q, *others) in functions:
        if warm:
            function(np.tile(regular, (10, 1)), *others)
        for at in (q, np.array([*regular, q])):
            with pytest.raises(dy.SingularError, match="joint 'arm_joint' can move without moving any mass"):
                function(at, *others)
        assert np.isfinite(function(regular, *others)).all()
    own = robot.compile(lambda robot, q, v, tau: robot.forward_dynamics(q, v, tau))
    assert not np.isfinite(own(*SINGULAR)).all()


def test_values_of_parameters_without_a_result_are_refused():
    robot, z = dy.load("ur5e").replace(payload=dy.solids.sphere(0.05, mass=dy.symbol("m"))), np.zeros(6)
    dynamics = robot.compile("forward_dynamics", parameters=[dy.symbol("m")])
    for _ in range(2):  # interpreted, then compiled
        with pytest.raises(dy.InputError, match="the mass of the payload at 'tool0' is -5, by the values of m"):
            dynamics(z, z, z, [[1.0], [-5.0]])
        with pytest.raises(dy.InputError, match=r"parameters\[0\] is nan"):
            dynamics(z, z, z, [np.nan])
        assert np.isfinite(dynamics(np.zeros((20, 6)), z, z, [2.0])).all()
    differences = robot.compile("gravity", parameters=[dy.symbol("m")])(z, [[-1.0], [0.0], [1.0]])
    np.testing.assert_allclose(differences[0] + differences[2], 2.0 * differences[1])
