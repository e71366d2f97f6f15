"""The dynamics of a robot as an action model of Crocoddyl."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynamis.errors import InputError, MissingExtraError


def crocoddyl_model(robot: Any, costs: Any, columns: Sequence[int], limits: Any, dynamics: Any) -> Any:
    """A `DifferentialActionModelAbstract` with x = (q, v), where u are the torques of the columns, within ± limits.

    ``dynamics`` has the forward dynamics and its derivatives: the robot, or one with smooth friction.
    """
    try:
        import crocoddyl
    except ImportError:
        raise MissingExtraError("action models of Crocoddyl require it: pip install 'dynamis[crocoddyl]'") from None
    n, columns = robot.n, list(columns)
    if robot.nq != n:
        raise InputError(f"{robot.name} has spherical or free joints, with quaternions: states must be vectors (q, v)")
    if not isinstance(costs, crocoddyl.CostModelSum):
        raise InputError(f"costs must be a crocoddyl.CostModelSum, got {type(costs).__name__}")
    if not isinstance(costs.state, crocoddyl.StateVector) or (costs.state.nx, costs.nu) != (2 * n, len(columns)):
        raise InputError(
            f"costs are of {type(costs.state).__name__}, nx = {costs.state.nx}, nu = {costs.nu}; expected "
            f"crocoddyl.CostModelSum(crocoddyl.StateVector({2 * n}), {len(columns)})"
        )

    class Data(crocoddyl.DifferentialActionDataAbstract):  # type: ignore[misc, unused-ignore]
        def __init__(self, model: Any) -> None:
            super().__init__(model)
            self.collector = crocoddyl.DataCollectorAbstract()
            self.costs = model.costs.createData(self.collector)
            self.costs.shareMemory(self)  # derivatives of the costs are those of the action

    class ForwardDynamics(crocoddyl.DifferentialActionModelAbstract):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            super().__init__(costs.state, costs.nu, costs.nr)
            self.robot, self.costs = robot, costs
            self.u_lb, self.u_ub = -limits, limits

        def calc(self, data: Any, x: Any, u: Any = None) -> None:
            if u is not None:
                data.xout = dynamics.forward_dynamics(*_state(x, u))
            self.costs.calc(data.costs, *((x,) if u is None else (x, u)))
            data.cost = data.costs.cost

        def calcDiff(self, data: Any, x: Any, u: Any = None) -> None:  # name given by Crocoddyl
            if u is not None:
                da = dynamics.forward_dynamics_derivatives(*_state(x, u))
                data.Fx, data.Fu = np.hstack([da.dq, da.dv]), da.dtau[:, columns]
            self.costs.calcDiff(data.costs, *((x,) if u is None else (x, u)))

        def createData(self) -> Any:  # name given by Crocoddyl
            return Data(self)

    def _state(x: Any, u: Any) -> tuple[Any, Any, Any]:
        tau = np.zeros(n)
        tau[columns] = u
        return x[:n], x[n:], tau

    return ForwardDynamics()
