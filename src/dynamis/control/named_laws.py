"""Control laws by name: their construction from a design, their stability check and their predicted error bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.computed_torque import ComputedTorque
from dynamis.control.feedforward_pd import FeedforwardPD
from dynamis.control.gains import gains, max_diagonal_inertia
from dynamis.control.gravity_compensation import GravityCompensation
from dynamis.control.impedance import Impedance
from dynamis.control.law import ControlLaw
from dynamis.control.operational_space import OperationalSpace, well_conditioned
from dynamis.control.pd_gravity import PDGravity
from dynamis.control.pid import PID
from dynamis.control.robust_pd import RobustPD
from dynamis.control.slotine_li import SlotineLi
from dynamis.control.stability import Stability
from dynamis.control.tracking import largest_predicted
from dynamis.display import as_call, as_table
from dynamis.kinematics.tasks import Task
from dynamis.robot import Robot
from dynamis.simulation.trajectory import Trajectory
from dynamis.task_space.feedback import Feedback
from dynamis.task_space.redundancy import LAWS as REDUNDANCY_LAWS
from dynamis.tolerances import SIMULATED_ERROR

Array = npt.NDArray[Any]
JOINT_LAWS = ("gravity-compensation", "pd-gravity", "pid", "pd-bounded", "feedforward-pd", "computed-torque", "slotine-li")
TIP_LAWS = ("operational-space", "impedance")
CONTROL_LAWS = (*JOINT_LAWS, *TIP_LAWS)
LAWS = (*CONTROL_LAWS, *REDUNDANCY_LAWS)
SHORT_STEPS = {"pd-bounded": 1e-4, "slotine-li": 5e-4}  # s: integration steps of laws with high gains near rest


@dataclass(frozen=True, eq=False, repr=False)
class LawDesign:
    """Design of the laws of `compare_laws`: ``bandwidth`` ω [rad/s] and ``damping`` ratio of the closed loop.

    ``stiffness`` [N/m] is that of "impedance". ``null_space`` objectives and the ``regularisation`` λ of damped least squares
    are those of redundancy-resolution laws. ``rate`` [Hz] is the sample rate, also of the stability
    check; None for continuous laws.

    >>> LawDesign(bandwidth=15.0).damping
    1.0
    """

    bandwidth: Any = 10.0
    damping: Any = 1.0
    stiffness: float = 1000.0
    null_space: Any = ()
    regularisation: float = 0.0
    rate: float | None = None

    __repr__ = as_call
    _repr_html_ = as_table


def named_law(name: str, model: Robot, reference: Any, task: Task | None, design: LawDesign) -> Any:
    """The control law of this name for the model of the robot, designed for a reference in joint or task coordinates."""
    w, zeta = design.bandwidth, design.damping
    match name:
        case "gravity-compensation":
            return GravityCompensation(damping=2.0 * zeta * w * max_diagonal_inertia(model))
        case "pd-gravity":
            return PDGravity.designed(model, reference, bandwidth=w, damping=zeta)
        case "pid":
            return PID.designed(model, reference, bandwidth=w, damping=zeta)
        case "pd-bounded":
            return RobustPD.designed(model, reference, bandwidth=w, constants="found", seconds=2.0)
        case "feedforward-pd":
            return FeedforwardPD.designed(model, reference, bandwidth=w, damping=zeta)
        case "computed-torque":
            return ComputedTorque.designed(reference, bandwidth=w, damping=zeta)
        case "slotine-li":
            return SlotineLi.designed(model, reference, bandwidth=w)
        case "operational-space":
            return OperationalSpace.designed(reference, task, bandwidth=w, damping=zeta)
    assert task is not None
    return Impedance(reference, design.stiffness, task, zeta, coriolis="cancelled")


def redundancy_law(law: Any, model: Robot, desired: Any, task: Task, design: LawDesign) -> Feedback:
    """Task-space feedback with a redundancy-resolution law, given by name or as a function."""
    K_P, K_D = gains(design.bandwidth, design.damping)
    return Feedback(
        model, task, desired, law, K_P=K_P, K_D=K_D, null_space=design.null_space, regularisation=design.regularisation
    )


def stability_of(law: Any, robot: Robot, model: Robot, q: Array, rate: float | None, error: float) -> Stability | None:
    """The stability conditions of a law on the robot; None for a controller without conditions."""
    # the theorems of the continuous laws have a gravity error, or hold for an exact model; the sampled loop has the model
    known = {} if rate is None else {"model": model}
    match law:
        case PDGravity():
            return law.check(robot, rate=rate, error=error, **known)
        case OperationalSpace() | Impedance():
            report = law.check(robot, rate=rate, q=q, **known)
            return replace(report, notes=(*report.notes, "q is where the task has the smallest mobility during the motion"))
        case ControlLaw():
            return law.check(robot, rate=rate, model=model)
    return None


def error_bound(
    law: Any, model: Robot, robot: Robot, reference: Any, duration: float, rate: float | None = None
) -> Array | None:
    """The predicted bound of the tracking errors of a joint law, not below those of simulations; None where none is known.

    ``duration`` is that of the motion: without a goal the drift grows with it; ``rate`` [Hz] that of a sampled law.
    """
    lag = 0.0 if rate is None else 0.5 / rate
    match law:
        case PDGravity() | FeedforwardPD() | ComputedTorque():
            return np.maximum(largest_predicted(law.with_model(model), robot, reference, lag=lag), SIMULATED_ERROR)
        case GravityCompensation():
            drift = largest_predicted(law.with_model(model), robot, reference, duration=duration)
            return np.maximum(drift, SIMULATED_ERROR)
        case RobustPD():
            return law.ultimate_error()
    return None


def least_mobile(trajectory: Trajectory, task: Task) -> Array:
    """The configuration of a motion at which the task has the smallest mobility."""
    shares = [well_conditioned(trajectory.robot, task, q).found for q in trajectory.q]
    return np.asarray(trajectory.q[int(np.argmin(shares))])
