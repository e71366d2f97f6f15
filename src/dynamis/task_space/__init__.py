"""Task space: operational-space dynamics, redundancy resolution, task priorities, limits, and comparison of control laws.

Modules, in order of dependence: `rotations` and `differentiation` (of tasks), `tasks` (task coordinates), `task_state` (robot
and task at one state), `singularities` (rank, damping, truncation), `operational` (Λ, μ, p), `redundancy` (one function per
law), `null_space` (null-space objectives), `resolve` (a law with a report), `priorities`, `limits` (quadratic programs),
`kernels` (batches), `feedback` and `motions`, `comparison`.
"""

from dynamis.task_space.comparison import LawComparison, LawRun, compare_laws
from dynamis.task_space.feedback import Feedback, Gains, commanded_acceleration
from dynamis.task_space.kernels import TaskKernels, task_kernels
from dynamis.task_space.limits import LimitedTorque, limited_torque
from dynamis.task_space.motions import Circle, Line
from dynamis.task_space.null_space import (
    AwayFromLimits,
    Compensation,
    Damping,
    Gradient,
    Posture,
)
from dynamis.task_space.operational import OperationalModel, operational_space, operational_terms
from dynamis.task_space.priorities import Prioritised, prioritised, prioritised_torque
from dynamis.task_space.redundancy import (
    LAWS,
    least_acceleration_energy,
    least_driven_acceleration,
    least_driven_acceleration_at_rest,
    least_torque,
    least_weighted_torque,
)
from dynamis.task_space.resolve import Resolution, resolve
from dynamis.task_space.rotations import orientation_error
from dynamis.task_space.task_state import TaskState
from dynamis.task_space.tasks import Function, Orientation, PoseTask, Position, Stacked, Task

__all__ = [
    "LAWS",
    "AwayFromLimits",
    "Circle",
    "Compensation",
    "Damping",
    "Feedback",
    "Function",
    "Gains",
    "Gradient",
    "LawComparison",
    "LawRun",
    "LimitedTorque",
    "Line",
    "OperationalModel",
    "Orientation",
    "PoseTask",
    "Position",
    "Posture",
    "Prioritised",
    "Resolution",
    "Stacked",
    "Task",
    "TaskKernels",
    "TaskState",
    "commanded_acceleration",
    "compare_laws",
    "least_acceleration_energy",
    "least_driven_acceleration",
    "least_driven_acceleration_at_rest",
    "least_torque",
    "least_weighted_torque",
    "limited_torque",
    "operational_space",
    "operational_terms",
    "orientation_error",
    "prioritised",
    "prioritised_torque",
    "resolve",
    "task_kernels",
]
