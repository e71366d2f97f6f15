"""Modules in which mutants are drawn one module at a time, with the test files that are tried on each.

The packages of campaigns/mutation.py are drawn as a whole, with the tests of all of them; this list holds modules outside them,
and modules of theirs that are newer than their score. A module's package in the records is its path in ``src/dynamis``.
"""

from __future__ import annotations

MODULES: dict[str, tuple[str, ...]] = {
    "simulation/output_times.py": ("simulation/test_output_times", "simulation/test_simulate", "simulation/test_fixed_step",
                                   "simulation/test_resume", "simulation/test_limits_of_time"),
    "simulation/sources.py": ("simulation/test_sources", "simulation/test_pushes", "simulation/test_mistakes_of_controllers"),
    "simulation/adaptive.py": ("simulation/test_adaptive", "simulation/test_divergence", "simulation/test_simulate",
                               "simulation/test_stick_slip", "simulation/test_events", "simulation/test_hard_stops",
                               "simulation/test_lift_off", "simulation/test_limits_of_time"),
    "simulation/fixed_step.py": ("simulation/test_fixed_step", "simulation/test_limits_of_time"),
    "simulation/contact_equations.py": ("simulation/test_contact_equations", "simulation/test_constrained_robot",
                                        "simulation/test_constrained_derivatives"),
    "simulation/loops/constrained_derivatives.py": ("simulation/test_constrained_derivatives",),
    "simulation/loops/constrained_robot.py": ("simulation/test_loops", "simulation/test_constrained_robot",
                                              "simulation/test_constrained_derivatives"),
    "algorithms/configuration_rate.py": ("simulation/test_dense", "model/test_reframe", "algorithms/test_configurations",
                                         "robot/test_differentiation"),
    "algorithms/contact.py": ("algorithms/test_body_wrenches", "simulation/test_contact"),
    "model/readers/loop_joints.py": ("model/test_loop_joints", "model/test_sdf_loops", "model/test_usd"),
    "identification/friction_terms.py": ("identification/test_linear_model", "identification/test_friction_terms"),
    "identification/model_terms.py": ("identification/test_model_terms", "identification/test_linear_model",
                                      "identification/test_friction_terms"),
    "identification/logs/gravity_fit.py": ("identification/test_gravity_fit", "identification/test_examine_torques"),
    "identification/calibrate.py": ("identification/test_calibrate",),
    "identification/nonlinear.py": ("identification/test_nonlinear", "identification/test_calibrate"),
    "identification/payload.py": ("identification/test_payload_verdict", "identification/test_payload"),
    "identification/payload_fit.py": ("identification/test_payload_verdict", "identification/test_payload"),
    "interop/crocoddyl_models.py": ("interop/test_crocoddyl_calls", "interop/test_crocoddyl"),
    "robot/differentiation.py": ("robot/test_differentiation", "robot/test_refused_states", "robot/test_jumps",
                                 "robot/test_derivative_wrenches"),
    "optimize/step_dynamics.py": ("optimize/test_steps", "optimize/test_step_adjoints", "optimize/test_step_variables"),
    "optimize/steps.py": ("optimize/test_steps", "optimize/test_step_adjoints", "optimize/test_step_variables"),
    "compiler/interpreter.py": ("compiler/test_interpreter", "compiler/test_kernel", "compiler/test_operations"),
    "compiler/kernel.py": ("compiler/test_kernel", "compiler/test_interpreter", "compiler/test_cache_folder",
                           "compiler/test_layouts", "compiler/test_long_code"),
    "compiler/llvm_parts.py": ("compiler/test_recursion", "compiler/test_rolling", "compiler/test_long_code"),
    "compiler/recursion.py": ("compiler/test_recursion", "compiler/test_rolling"),
}  # fmt: skip


def tests_of(modules: list[str]) -> list[str]:
    return list(dict.fromkeys(f"tests/{name}.py" for module in modules for name in MODULES[module]))


def traced_by(test_file: str) -> list[str]:
    """The modules on which a test file is tried."""
    return [module for module in MODULES if test_file in tests_of([module])]
