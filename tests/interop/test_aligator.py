"""Steps as dynamics of aligator, where it is installed."""

import numpy as np
import pytest

import dynamis as dy


def test_values_and_jacobians_are_those_of_the_step_and_problems_are_solved():
    aligator = pytest.importorskip("aligator", reason="aligator is not installed: conda install -c conda-forge aligator")
    m = dy.symbol("m")
    arm = dy.load("planar_2r_melchiorri").replace(payload=dy.solids.sphere(0.05, mass=m))
    step = dy.optimize.Step(arm, 0.02, parameters=[m])
    model = step.aligator([1.0])
    data, x, u = model.createData(), np.array([0.3, 0.5, 0.1, -0.2]), np.array([5.0, 1.0])
    model.forward(x, u, data)
    model.dForward(x, u, data)
    A, B = step.derivatives(x[:2], x[2:], u, [1.0])
    np.testing.assert_allclose(data.xnext, np.concatenate(step(x[:2], x[2:], u, [1.0])), rtol=1e-14)
    np.testing.assert_array_equal(data.Jx, A)
    np.testing.assert_array_equal(data.Ju, B)
    running = aligator.QuadraticCost(1e-3 * np.eye(4), 1e-4 * np.eye(2))
    problem = aligator.TrajOptProblem(x, [aligator.StageModel(running, model)] * 20, running)
    solver = aligator.SolverProxDDP(1e-5, 1e-6, max_iters=100)
    solver.setup(problem)
    assert solver.run(problem, [x] * 21, [u] * 20)


def test_quaternions_wrong_parameters_and_a_missing_aligator_are_refused():
    with pytest.raises(dy.InputError, match="quaternions"):
        dy.optimize.Step(dy.load("go2", base="floating"), 0.01).aligator()
    arm = dy.load("planar_2r_melchiorri")
    with pytest.raises(dy.InputError, match="has no parameters"):
        dy.optimize.Step(arm, 0.01).aligator([1.0])
    try:
        import aligator.dynamics  # noqa: F401
    except ImportError:
        with pytest.raises(dy.MissingExtraError, match="conda install"):
            dy.optimize.Step(arm, 0.01).aligator()
