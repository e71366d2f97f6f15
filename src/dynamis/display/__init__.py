"""Representations of objects: one line at a prompt; in a notebook a heading, sentences and a table."""

from dynamis.display.cards import (
    base_parameters_card,
    bounds_card,
    comparison_card,
    description_card,
    excitation_card,
    identification_card,
    ledger_card,
    linearization_card,
    modes_card,
    motion_card,
    polytope_card,
    robot_card,
    static_torques_card,
    stiffness_card,
    tracking_card,
    trajectory_card,
)
from dynamis.display.deferred import (
    call_by_name,
    plotted,
)
from dynamis.display.tables import (
    as_table,
    as_text,
    card,
    scroll_shadow,
)
from dynamis.display.text import (
    as_call,
    counted,
    flat,
    short,
    without_rounding,
)

__all__ = [
    "as_call",
    "as_table",
    "as_text",
    "base_parameters_card",
    "bounds_card",
    "call_by_name",
    "card",
    "comparison_card",
    "counted",
    "description_card",
    "excitation_card",
    "flat",
    "identification_card",
    "ledger_card",
    "linearization_card",
    "modes_card",
    "motion_card",
    "plotted",
    "polytope_card",
    "robot_card",
    "scroll_shadow",
    "short",
    "static_torques_card",
    "stiffness_card",
    "tracking_card",
    "trajectory_card",
    "without_rounding",
]
