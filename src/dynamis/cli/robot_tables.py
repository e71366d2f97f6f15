"""The library, a robot and a model check, printed as tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynamis.cli.console import clean_name, echo
from dynamis.cli.formatting import NONE, column, number, vector, with_units
from dynamis.cli.hints import for_command_line
from dynamis.cli.layout import print_table
from dynamis.display import counted
from dynamis.model.diagnostics import Report
from dynamis.model.joints import USES_AXIS
from dynamis.robot import Robot

MAX_ROWS = 40
TRANSLATES = frozenset({"prismatic", "cylindrical", "planar", "free"})  # joint types with a coordinate in m
PHYSICS = {  # heading, unit at a revolute joint, unit at a prismatic joint
    "viscous": ("viscous friction", "N m s/rad", "N s/m"),
    "coulomb": ("Coulomb friction", "N m", "N"),
    "rotor_inertia": ("rotor inertia", "kg m²", "kg m²"),
    "gear_ratio": ("gear ratio", "", "rad/m"),
    "reflected_rotor_inertia": ("reflected inertia", "kg m²", "kg"),
    "stiffness": ("spring", "N m/rad", "N/m"),
    "rest": ("rest position", "rad", "m"),
}


def print_library(robots: dict[str, str]) -> None:
    print_table("", ("robot", "description"), [(name, for_command_line(about)) for name, about in robots.items()], texts=(1,))


def print_summary(summary: dict[str, Any], robot: Robot) -> None:
    """Everything that `summarise` found."""
    echo()
    echo((clean_name(summary["name"]), {"bold": True}), f"  {for_command_line(clean_name(summary['about']))}")
    if summary["source"]:
        echo((f"  {clean_name(summary['source'])}", {"dim": True}))
    facts = [
        counted(summary["degrees_of_freedom"], "degree") + " of freedom",
        f"mass {number(summary['mass'])} kg",
        f"gravity {vector(summary['gravity'])} m/s²",
    ]
    if summary["tip"]:
        facts.append(f"tip {clean_name(summary['tip'])}")
    echo("  " + "  ·  ".join(facts))
    echo()
    if summary["joints"]:
        _print_joints(summary["joints"])
    else:
        echo("  no moving joints")
        echo()
    driven = [j for j in summary["joints"] if j["motor_link"] or j["actuator"]]
    if driven:
        rows = [(j["name"], _drive(j["motor_link"]), _drive(j["actuator"])) for j in driven]
        _print_some("Drives", ("joint", "motor on link", "actuator"), rows, texts=(2,))
    bodies = [
        (x["name"], x["mass"], vector(x["com"]), vector(x["principal_moments"]) if x["principal_moments"] else "symbolic")
        for x in summary["links"]
    ]
    title = "Moving bodies: each link with the links fixed to it; centre of mass in the frame of the link"
    _print_some(title, ("body", "mass [kg]", "centre of mass [m]", "principal moments [kg m²]"), bodies)
    loads = [(x["name"], x["mass"], vector(x["com"])) for x in summary["payloads"]]
    _print_some("Payloads, part of the bodies above", ("carried by", "mass [kg]", "centre of mass [m]"), loads)
    if summary["closures"]:
        rows = [(x["kind"], x["first"], x["second"] or None) for x in summary["closures"]]
        _print_some("Closures of loops, which the functions of the tree leave open", ("kind", "first", "second"), rows)
    if not robot.model.symbolic and robot.model.base.mass:
        echo(f"  The base, with the links fixed to it, has a mass of {number(robot.model.base.mass)} kg")
        echo()
    if "at_home" in summary:
        _print_dynamics(summary, robot)


def _print_some(title: str, heads: tuple[str, ...], rows: list[Any], texts: tuple[int, ...] = ()) -> None:
    """A table of at most MAX_ROWS rows; nothing if there are none."""
    if not rows:
        return
    print_table(title, heads, rows[:MAX_ROWS], texts=texts)
    if len(rows) > MAX_ROWS:
        echo(f"  … and {len(rows) - MAX_ROWS} more (--json shows all)")


def _print_joints(joints: list[dict[str, Any]]) -> None:
    rows = []
    for j in joints:
        limits = j["limits"]
        kind = j["type"] + (f" (follows {clean_name(j['follows'])})" if j["follows"] else "")
        axis = vector(j["axis"]) if j["type"] in USES_AXIS else None
        ends = _range(limits["lower"], limits["upper"])
        rows.append((j["name"], kind, axis, ends, number(limits["velocity"], 3), number(limits["effort"], 3)))
    _print_some(_joints_title(joints), ("joint", "type", "axis", "range", "velocity", "effort"), rows)
    lacking = [name for k, name in ((3, "position"), (4, "velocity"), (5, "effort")) if all(row[k] == NONE for row in rows)]
    if lacking:
        what = " or ".join([", ".join(lacking[:-1]), lacking[-1]] if lacking[1:] else lacking)
        echo((f"  the file has no limits of {what}", {"dim": True}))
        echo()
    _print_physics(joints)


def _print_physics(joints: list[dict[str, Any]]) -> None:
    """Friction, rotors and springs of the joints; columns without values are left out."""
    shown = [key for key in PHYSICS if any(j[key] not in (1.0 if key == "gear_ratio" else 0.0, None) for j in joints)]
    if "gear_ratio" not in shown and "rotor_inertia" in shown:
        shown.remove("rotor_inertia")  # the same number
    if not shown:
        return
    place = 2 if {j["type"] for j in joints} <= {"prismatic"} else 1
    heads = [f"{PHYSICS[key][0]} [{unit}]" if (unit := PHYSICS[key][place]) else PHYSICS[key][0] for key in shown]
    rows = [(j["name"], *(_coulomb(j) if key == "coulomb" else number(j[key], 3) for key in shown)) for j in joints]
    title = "Friction, rotors and springs of the joints"
    if place == 1 and {j["type"] for j in joints} & TRANSLATES:
        linear = ", ".join(f"{PHYSICS[key][0]} {PHYSICS[key][2]}" for key in shown if PHYSICS[key][1] != PHYSICS[key][2])
        title += f"; units of translations: {linear}" if linear else ""
    _print_some(title, ("joint", *heads), rows)


def _coulomb(joint: dict[str, Any]) -> str:
    """The Coulomb friction, or the two values where it depends on the direction of motion."""
    c, bias = joint["coulomb"], joint["coulomb_bias"]
    if bias in (0.0, None) or isinstance(c, str) or isinstance(bias, str):
        return number(c, 3)
    return f"{number(c + bias, 3)} (+), {number(c - bias, 3)} (−)"


def _joints_title(joints: list[dict[str, Any]]) -> str:
    """The units of the table of joints, and the frame of the axes."""
    types = {j["type"] for j in joints}
    angular, linear = "rad, rad/s, N m", "m, m/s, N"
    if types <= {"prismatic"}:
        units = linear
    else:
        units = f"rotations {angular}; translations {linear}" if types & TRANSLATES else angular
    return f"Joints: axis in the joint frame; units {units}"


def _range(lower: Any, upper: Any) -> str:
    return NONE if lower is None and upper is None else f"{number(lower, 3)} … {number(upper, 3)}"


def _drive(value: Any) -> str | None:
    """The link that carries a motor, or an actuator with its parameters."""
    if not isinstance(value, dict):
        return None if value is None else str(value)
    numbers = ", ".join(f"{key.replace('_', ' ')} {number(x, 3)}" for key, x in value.items() if key != "kind")
    kind = str(value["kind"]).replace("_", " ")
    return f"{kind}: {numbers}" if numbers else kind


def _print_dynamics(summary: dict[str, Any], robot: Robot) -> None:
    at = summary["at_home"]
    moved = any(x != y for x, y in zip(at["q"], robot.neutral(), strict=True))
    title = "In the home configuration" if moved else "At q = 0"
    if robot.n > MAX_ROWS:
        return
    if robot.model.symbolic:
        echo((title, {"bold": True}))
        echo(f"  gravity torque  {', '.join(map(str, at['gravity']))}", hang=4)
        return
    # rounding errors of a gravity torque scale with the weight of the robot, at an arm length of 1 m
    weight = max(1.0, robot.mass) * max(1.0, float(np.linalg.norm(robot.model.gravity)))
    torques = column([x if abs(x) > 1e-12 * weight else 0.0 for x in at["gravity"]])
    names, unit = with_units(robot.coordinate_names, [c.effort_unit for c in robot.model.coordinates])
    rows = list(zip(names, torques, at["mass_matrix_diagonal"], strict=True))
    inertia = {"N m": "M_ii [kg m²]", "N": "M_ii [kg]"}.get(unit, "M_ii [kg m² or kg]")
    heads: tuple[str, ...] = ("coordinate", f"gravity torque [{unit}]" if unit else "gravity torque", inertia)
    if moved:
        places = [c.q_index for c in robot.model.coordinates]
        heads = ("coordinate", "q", *heads[1:])
        rows = [(name, None if k is None else at["q"][k], *rest) for k, (name, *rest) in zip(places, rows, strict=True)]
    print_table(title, heads, rows)
    low, high = at["mass_matrix_eigenvalues"]
    condition = f", condition number {high / low:.3g}" if low > 0 else ", singular"
    echo(f"  eigenvalues of M: {low:.4g} … {high:.4g}{condition}")
    rng = np.random.default_rng(0)
    q, v, a = robot.random(rng), rng.uniform(-1, 1, robot.n), rng.uniform(-1, 1, robot.n)
    if low > 0:
        error = np.abs(robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a)) - a).max()
        echo(f"  FD(ID(a)) - a at a random state: {error:.1g}")
    echo()


COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}


def print_report(report: Report, *, every: bool = False) -> None:
    """The findings of a model check and the result; many warnings of one kind are summarised unless ``every``."""
    from dynamis.model.diagnostics import summarised

    listed = [*report, *report.notes]
    for problem in listed if every else summarised(listed):
        found = (every and problem.complete) or problem.found
        colour = COLOURS[problem.severity]
        place = clean_name(problem.file) + (f":{problem.line}" if problem.line else "")
        severity = (problem.severity, {"fg": colour, "bold": True})
        echo(f"{place}: " if place else "", severity, f" {clean_name(problem.where)}: {clean_name(found)}", hang=4)
        for label, text in (("allowed", problem.allowed), ("read as", problem.done), ("to repair", problem.repair)):
            if text:
                echo("    ", (f"{label}:", {"dim": True}), f" {clean_name(text)}", hang=6)
    errors, warnings = len(report.errors), len(report.warnings)
    source = f"{clean_name(report.source)}: "
    cut = [problem.severity for problem in listed if problem.complete or problem not in summarised(listed)]
    kinds = " and ".join(f"{kind}s" for kind in COLOURS if kind in cut)
    more = f"; --all lists all {kinds}" if not every and cut else ""
    if not errors and not warnings:
        echo(source, ("Model check: no errors or warnings", {"fg": "green", "bold": True}), more)
        return
    verdict = ("not usable", {"fg": "red", "bold": True}) if errors else ("usable", {"fg": "green", "bold": True})
    echo(source, verdict, f", {counted(errors, 'error')}, {counted(warnings, 'warning')}{more}")
    if report.skipped:
        echo(f"  {report.skipped_sentence}", hang=2)
