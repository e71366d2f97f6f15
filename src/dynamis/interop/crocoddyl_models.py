"""The dynamics of a robot as an action model of Crocoddyl."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from dynamis.errors import InputError, MissingExtraError
from dynamis.tolerances import NEGLIGIBLE, RECURSION_ROUNDING


def crocoddyl_model(robot: Any, costs: Any, columns: Sequence[int], dynamics: Any) -> Any:
    """A `DifferentialActionModelAbstract` with x = (q, v), where u are the torques of the columns, within their limits.

    ``dynamics`` has the forward dynamics and its derivatives: the robot, one with smooth friction, or one with contacts, whose
    results are pairs of accelerations and forces. Derivatives are along v, as those of a `StateMultibody`; residuals of such
    states find poses and velocities of frames in data of Pinocchio.
    """
    try:
        import crocoddyl
    except ImportError:
        raise MissingExtraError("action models of Crocoddyl require it: pip install 'dynamis[crocoddyl]'") from None
    n, nq, columns = robot.n, robot.nq, list(columns)
    limits = robot.limits["effort"][columns]
    if not isinstance(costs, crocoddyl.CostModelSum):
        raise InputError(f"costs must be a crocoddyl.CostModelSum, got {type(costs).__name__}")
    if not _is_state_of(robot, costs.state, crocoddyl) or costs.nu != len(columns):
        state = f"StateVector({2 * n})" if nq == n else "StateMultibody(robot.to_pinocchio())"
        raise InputError(
            f"costs are of {type(costs.state).__name__}, nx = {costs.state.nx}, nu = {costs.nu}; expected "
            f"crocoddyl.CostModelSum(crocoddyl.{state}, {len(columns)})"
        )
    frames = _Frames(costs.state.pinocchio) if isinstance(costs.state, crocoddyl.StateMultibody) else None
    if frames is not None and not frames.are_read_by(crocoddyl):
        frames = None  # Crocoddyl then refuses residuals of frames, which would read other memory

    class Data(crocoddyl.DifferentialActionDataAbstract):  # type: ignore[misc, unused-ignore]
        def __init__(self, model: Any) -> None:
            super().__init__(model)
            self.frames = None if frames is None else frames.model.createData()
            self.collector = (
                crocoddyl.DataCollectorAbstract() if frames is None else crocoddyl.DataCollectorMultibody(self.frames)
            )
            self.costs = model.costs.createData(self.collector)
            self.costs.shareMemory(self)  # derivatives of the costs are those of the action
            self.forces = np.zeros(0)  # of contacts and loops

    class ForwardDynamics(crocoddyl.DifferentialActionModelAbstract):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            super().__init__(costs.state, costs.nu, costs.nr)
            self.robot, self.costs = robot, costs
            self.u_lb, self.u_ub = -limits, limits

        def calc(self, data: Any, x: Any, u: Any = None) -> None:
            if u is not None:
                found = dynamics.forward_dynamics(*_state(x, u))
                data.xout, data.forces = found if isinstance(found, tuple) else (found, data.forces)
            if frames is not None:
                frames.place(data.frames, x[:nq], x[nq:])
            self.costs.calc(data.costs, *((x,) if u is None else (x, u)))
            data.cost = data.costs.cost

        def calcDiff(self, data: Any, x: Any, u: Any = None) -> None:  # name given by Crocoddyl
            if u is not None:
                found = dynamics.forward_dynamics_derivatives(*_state(x, u))
                da = found[0] if isinstance(found, tuple) else found
                data.Fx, data.Fu = np.hstack([da.dq, da.dv]), da.dtau[:, columns]
            if frames is not None:
                frames.differentiate(data.frames, x[:nq], x[nq:])
            self.costs.calcDiff(data.costs, *((x,) if u is None else (x, u)))

        def createData(self) -> Any:  # name given by Crocoddyl
            return Data(self)

    def _state(x: Any, u: Any) -> tuple[Any, Any, Any]:
        tau = np.zeros(n)
        tau[columns] = u
        return x[:nq], x[nq:], tau

    return ForwardDynamics()


class _Frames:
    """Poses, velocities and Jacobians of a model of Pinocchio, for the residuals of Crocoddyl."""

    def __init__(self, model: Any) -> None:
        self.model, self._library = model, importlib.import_module("pinocchio")  # which Crocoddyl requires

    def are_read_by(self, crocoddyl: Any) -> bool:
        """Whether this build of Crocoddyl finds fields of models and data of this Pinocchio where they are."""
        model = self._library.buildSampleModelManipulator()
        state, tau = crocoddyl.StateMultibody(model), np.ones(model.nv)
        costs = crocoddyl.CostModelSum(state, model.nv)
        own = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, crocoddyl.ActuationModelFull(state), costs)
        data, x = own.createData(), np.linspace(0.1, 0.9, state.nx)
        own.calc(data, x, tau)
        expected = self._library.aba(model, model.createData(), x[: model.nq], x[model.nq :], tau)
        return bool(np.allclose(data.xout, expected, rtol=NEGLIGIBLE))

    def place(self, data: Any, q: Any, v: Any) -> None:
        self._library.computeAllTerms(self.model, data, q, v)
        self._library.updateFramePlacements(self.model, data)

    def differentiate(self, data: Any, q: Any, v: Any) -> None:
        self._library.computeForwardKinematicsDerivatives(self.model, data, q, v, np.zeros_like(v))


def _is_state_of(robot: Any, state: Any, crocoddyl: Any) -> bool:
    """A vector (q, v), or states that change along v as those of the robot do."""
    if isinstance(state, crocoddyl.StateVector):
        return bool(robot.nq == robot.n and state.nx == 2 * robot.n)
    if not isinstance(state, crocoddyl.StateMultibody) or (state.nq, state.nv) != (robot.nq, robot.n):
        return False
    q, dv = robot.random(0), np.linspace(0.1, 0.9, robot.n)
    moved = state.integrate(np.concatenate([q, dv]), np.concatenate([dv, dv]))[: robot.nq]
    return bool(np.abs(moved - robot.integrate(q, dv)).max() < RECURSION_ROUNDING)
