"""Steps as models of acados: expressions of CasADi, and the class where acados is installed."""

import numpy as np
import pytest
from random_trees import random_robot, relative_error

import dynamis as dy
from dynamis.optimize.acados_models import acados_expressions

m = dy.symbol("m")


def loaded():
    arm = dy.load("planar_2r_melchiorri").replace(friction={"joint1": {"coulomb": 0.4, "viscous": 0.1}})
    return dy.optimize.Step(arm.replace(payload=dy.solids.sphere(0.05, mass=m)), 0.01, parameters=[m], wrenches=["link2"])


def braked(_robot, q, v, r):
    return r * (1.0 - q[0]) - 3.0 * v


def steps():
    yield loaded(), [2.0]
    yield dy.optimize.Step(dy.load("planar_2r_melchiorri"), 0.01, "rk4", feedback=braked), None
    yield dy.optimize.Step(random_robot(np.random.default_rng(5), 2, floating=True, mimics=False), 0.01, "rk2"), None


@pytest.mark.parametrize("number", range(3))
def test_the_expressions_are_the_discrete_explicit_and_implicit_dynamics(number):
    casadi = pytest.importorskip("casadi", reason="CasADi is not installed: pip install casadi")
    step, p = list(steps())[number]
    robot, rng = step.robot, np.random.default_rng(0)
    q = rng.normal(size=robot.nq) if robot.nq == robot.n else robot.random(0)
    v, u = rng.normal(size=robot.n), rng.normal(size=step.inputs)
    found = acados_expressions(step, "arm")
    values = [] if p is None else [found["p"]]
    names = ("disc_dyn_expr", "f_expl_expr", "f_impl_expr")
    function = casadi.Function("f", [found["x"], found["u"], found["xdot"], *values], [found[name] for name in names])
    given = [*([p] if p is not None else [])]
    x = np.concatenate([q, v])
    discrete, explicit, _ = function(x, u, np.zeros_like(x), *given)
    assert relative_error(np.array(discrete).ravel(), np.concatenate(step(q, v, u, p))) < 1e-12
    rates = np.array(explicit).ravel()
    short = type(step)(
        robot, 1e-6, step.method, parameters=step.parameters, wrenches=step.frames, feedback=step.feedback
    )  # fmt: skip
    assert relative_error((np.concatenate(short(q, v, u, p)) - x) / 1e-6, rates) < 1e-4
    residual = np.array(function(x, u, rates, *given)[2]).ravel()
    assert np.abs(residual).max() < 1e-10 * max(1.0, np.abs(rates).max())
    assert found["name"] == "arm"


def test_the_class_of_acados_takes_the_expressions():
    acados = pytest.importorskip("acados_template", reason="acados is not installed: see docs/optimization.md")
    model = loaded().acados("arm")
    assert isinstance(model, acados.AcadosModel)
    assert (model.name, model.x.shape, model.u.shape, model.p.shape) == ("arm", (4, 1), (8, 1), (1, 1))
    sim = acados.AcadosSim()
    sim.model = model
    model.make_consistent(sim.dims)
    assert (sim.dims.nx, sim.dims.nu, sim.dims.np) == (4, 8, 1)


def test_names_are_identifiers_and_a_missing_acados_says_how_to_install_it():
    pytest.importorskip("casadi", reason="CasADi is not installed: pip install casadi")
    with pytest.raises(dy.InputError, match="identifier of C"):
        acados_expressions(loaded(), "my arm")
    assert acados_expressions(loaded())["name"] == "planar_2R__Melchiorri"
    try:
        import acados_template  # noqa: F401
    except ImportError:
        with pytest.raises(dy.MissingExtraError, match="pip install ACADOS_FOLDER"):
            loaded().acados()
