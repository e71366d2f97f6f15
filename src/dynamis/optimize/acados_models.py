"""Steps of a robot as a model of acados."""

from __future__ import annotations

import re
from typing import Any

import numpy.typing as npt

from dynamis.errors import InputError, MissingExtraError
from dynamis.optimize.step_dynamics import StepDynamics
from dynamis.robot import Robot

Array = npt.NDArray[Any]


def acados_model(step: StepDynamics, name: str | None) -> Any:
    """An `acados_template.AcadosModel` with the expressions of `acados_expressions`."""
    try:
        from acados_template import AcadosModel
    except ImportError:
        raise MissingExtraError(
            "models of acados require its Python interface, which is not on PyPI: "
            "install acados from source, then pip install ACADOS_FOLDER/interfaces/acados_template"
        ) from None
    model = AcadosModel()
    for attribute, value in acados_expressions(step, name).items():
        setattr(model, attribute, value)
    return model


def acados_expressions(step: StepDynamics, name: str | None = None) -> dict[str, Any]:
    """The attributes of the model: its name, the variables x, ẋ, u and p, and the dynamics in three forms."""
    robot, m = step.robot, step.inputs
    identifier = re.sub(r"\W", "_", robot.name, flags=re.ASCII).strip("_") if name is None else name
    if name is None and not re.match(r"[A-Za-z]", identifier):
        identifier = f"robot_{identifier}"
    if not isinstance(identifier, str) or not re.fullmatch(r"[A-Za-z]\w*", identifier, re.ASCII):
        raise InputError(f"name={name!r} must be an identifier of C: letters, digits and underscores")

    def implicit(robot: Robot, q: Array, v: Array, a: Array, u: Array) -> Array:
        return step.residual(robot, q, v, a, step.commanded(robot, q, v, u))

    given: dict[str, Any] = {"parameters": step.parameters, "u": m}
    explicit, discrete = robot.casadi(step.continuous, **given), robot.casadi(step.function, **given)
    equation = robot.casadi(implicit, **given)
    import casadi

    x, rates = (casadi.SX.sym(letter, robot.nq + robot.n) for letter in ("x", "xdot"))
    u, p = casadi.SX.sym("u", m), casadi.SX.sym("p", len(step.parameters))
    q, v, values = x[: robot.nq], x[robot.nq :], [p] if step.parameters else []
    speeds = explicit(q, v, u, *values)[: robot.nq]
    return {
        "name": identifier, "x": x, "xdot": rates, "u": u, "p": p if step.parameters else [],
        "f_expl_expr": explicit(q, v, u, *values), "disc_dyn_expr": discrete(q, v, u, *values),
        "f_impl_expr": casadi.vertcat(rates[: robot.nq] - speeds, equation(q, v, rates[robot.nq :], u, *values)),
    }  # fmt: skip
