"""How the robot gives way under a load, with a spring in each joint."""

from __future__ import annotations

import numpy as np

from dynamis.analysis.workspace import workspace_slice
from dynamis.errors import DynamisError
from dynamis.report.numbers import main_frame, ranges, short, text, triple
from dynamis.report.section import Budget, Section, Table
from dynamis.report.sections.maps import has_plain_coordinates
from dynamis.report.sections.workspace import slice_map
from dynamis.report.subject import Subject
from dynamis.statics.strength import largest_force

KEY, TITLE = "stiffness", "Stiffness and strength"
SPRING = 1e4  # N·m/rad or N/m, where nothing is said about the transmissions
SAMPLES = 20_000
RIGID = 1e-12  # of the largest compliance


def build(subject: Subject, section: Section, budget: Budget) -> None:
    robot = subject.robot
    if not has_plain_coordinates(robot, section, "How a tip gives way"):
        return
    frame = main_frame(robot)
    low, high = ranges(robot)
    q = robot.random(1)
    section.lead = (
        f"How far {frame} gives way, if every joint held its place with a spring of {SPRING:g} N·m/rad (N/m where it slides). "
        "The files of robots say nothing about their transmissions, so this number is assumed; stiffness scales with it."
    )
    found = workspace_slice(robot, "stiffness", frame=frame, samples=SAMPLES, joint_stiffness=SPRING, lower=low, upper=high)
    section.add(slice_map(found))
    budget.check("the principal directions")
    J = robot.jacobian(q, frame)[:3]
    compliance, axes = np.linalg.eigh(J @ J.T / SPRING)
    rows = []
    for c, axis in zip(compliance[::-1], axes.T[::-1], strict=True):
        rigid = c <= RIGID * compliance[-1]
        rows.append(("rigid" if rigid else text(1.0 / c), "0" if rigid else text(1e3 * 100.0 * c, 3), triple(axis)))
    section.add(
        Table(
            f"Principal directions at q = {triple(q, 3)}", ("stiffness [N/m]", "gives way to 100 N by [mm]", "direction"), rows
        )
    )
    if np.isfinite(robot.limits["effort"]).all():
        g = np.asarray(robot.model.gravity, dtype=float)
        down = g / np.linalg.norm(g) if g.any() else np.array([0.0, 0.0, -1.0])
        try:
            said = largest_force(robot, q, down, frame=frame, by="robot").sentence
            section.notes.append(f"There {said}.")
        except DynamisError as error:
            section.notes.append(f"How strong it is cannot be said: {error}")
    section.reproduce = (
        f"import dynamis as dy\n\n{subject.load}\nq = {short(q, 6)}\n"
        f"print(dy.statics.stiffness(robot, q, {SPRING:g}, frame={frame!r}).compliance)\n"
        f"dy.statics.stiffness_map(robot, {SPRING:g}, {frame!r}, samples={SAMPLES}).plot('stiffness.png')"
    )
