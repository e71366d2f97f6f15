"""Controllers: plain functions of the robot, for simulation, for compiled closed loops, and for C.

Common: `law` (call signature and model), `reference`, `gains`, `stability`. Joint space:
`gravity_compensation`, `pd_gravity`, `robust_pd`, `feedforward_pd`, `computed_torque`, `slotine_li`. Task space:
`operational_space`, `impedance`, `hybrid`. Monitoring: `momentum_observer`, `collisions`. Tools: `tracking`,
`parameter_error`, `trials`, `c_export`.
"""

from dynamis.control.adapted_parameters import Adapted, adapted_parameters
from dynamis.control.c_export import compile_law, write_c
from dynamis.control.collisions import Collision, Collisions, detect_collisions, observer_residuals
from dynamis.control.computed_torque import ComputedTorque
from dynamis.control.damping_design import consistent_damping
from dynamis.control.feedforward_pd import FeedforwardPD
from dynamis.control.gains import gains, max_diagonal_inertia, pd_gains
from dynamis.control.gravity_compensation import GravityCompensation
from dynamis.control.hybrid import HybridForcePosition
from dynamis.control.impedance import Impedance
from dynamis.control.law import ControlLaw
from dynamis.control.momentum_observer import MomentumObserver
from dynamis.control.operational_space import OperationalSpace
from dynamis.control.parameter_error import perturbed
from dynamis.control.pd_gravity import PDGravity
from dynamis.control.robust_pd import RobustPD
from dynamis.control.slotine_li import SlotineLi
from dynamis.control.stability import Condition, Stability
from dynamis.control.structural_constants import ScaledBounds, gravity_slope, scaled_bounds
from dynamis.control.tracking import Tracking, predicted_error, tracking, tracking_bound
from dynamis.control.trials import Trial, trial

__all__ = [
    "Adapted",
    "Collision",
    "Collisions",
    "ComputedTorque",
    "Condition",
    "ControlLaw",
    "FeedforwardPD",
    "GravityCompensation",
    "HybridForcePosition",
    "Impedance",
    "MomentumObserver",
    "OperationalSpace",
    "PDGravity",
    "RobustPD",
    "ScaledBounds",
    "SlotineLi",
    "Stability",
    "Tracking",
    "Trial",
    "adapted_parameters",
    "compile_law",
    "consistent_damping",
    "detect_collisions",
    "gains",
    "gravity_slope",
    "max_diagonal_inertia",
    "observer_residuals",
    "pd_gains",
    "perturbed",
    "predicted_error",
    "scaled_bounds",
    "tracking",
    "tracking_bound",
    "trial",
    "write_c",
]
