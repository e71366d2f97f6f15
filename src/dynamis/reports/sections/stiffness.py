"""The deflection of the tip under load with elastic joints, and the largest force it can exert."""

from __future__ import annotations

import numpy as np

from dynamis.documents.blocks import Section, Table
from dynamis.documents.numbers import quantity, short, triple
from dynamis.errors import DynamisError
from dynamis.kinematics.workspace import workspace, workspace_slice
from dynamis.reports.numbers import main_frame, ranges
from dynamis.reports.scene import scene_of
from dynamis.reports.sections.maps import has_plain_coordinates
from dynamis.reports.sections.workspace import CELLS, EXTENTS, intervals, slice_map
from dynamis.reports.subject import Subject
from dynamis.statics.force_polytope import largest_force
from dynamis.tolerances import RANK_TOLERANCE

KEY, TITLE = "stiffness", "Stiffness and strength"
# assumed, as robot files do not state the stiffness of transmissions: of a gear, and of a ball screw or a rack
JOINT_STIFFNESS = 1e4  # N m/rad
LINEAR_STIFFNESS = 1e7  # N/m
LOAD = 100.0  # N
SAMPLES = 80_000  # of which few cells inside the workspace remain without a configuration


def build(subject: Subject, section: Section) -> None:
    robot = subject.robot
    if not has_plain_coordinates(robot, section, "the stiffness of the tip"):
        return
    frame = main_frame(robot)
    low, high = ranges(robot)
    q = np.array(scene_of(robot)["pose"], dtype=float)
    each = [JOINT_STIFFNESS if c.revolute else LINEAR_STIFFNESS for c in robot.model.coordinates]
    springs = JOINT_STIFFNESS if set(each) == {JOINT_STIFFNESS} else each
    section.lead = (
        f"Cartesian stiffness of {frame} for an assumed stiffness of {quantity(JOINT_STIFFNESS, 'N m/rad')} per revolute joint "
        f"and {quantity(LINEAR_STIFFNESS, 'N/m')} per prismatic joint. Robot files do not contain transmission stiffness; "
        "results scale linearly with the assumed values. The table is computed at one pose, given below it."
    )
    cloud = workspace(robot, frame, samples=200, lower=low, upper=high)
    if cloud.dimension < 2:
        section.notes.append(f"No map is drawn: {frame} {EXTENTS[cloud.dimension][2]}.")
    else:
        section.lead += " The map shows the best configuration of each cell."
        found = workspace_slice(
            robot, "stiffness", frame=frame, samples=SAMPLES, joint_stiffness=springs, lower=low, upper=high
        )
        section.add(slice_map(found))
    J = robot.jacobian(q, frame)[:3]
    compliance, axes = np.linalg.eigh(J / np.array(each) @ J.T)
    rows = []
    for c, axis in zip(compliance[::-1], axes.T[::-1], strict=True):
        rigid = c <= RANK_TOLERANCE * compliance[-1]
        moved = "0" if rigid else quantity(LOAD * float(c), "m")
        rows.append(("rigid" if rigid else quantity(1.0 / float(c), "N/m"), moved, triple(axis)))
    section.add(
        Table(
            f"Principal stiffnesses of {frame} in the initial pose of the 3-D view",
            ("stiffness", f"deflection under {LOAD:g} N", "direction (world axes)"),
            rows,
            f"Computed at the pose in which the 3-D view shows the robot at first: q = {triple(q, 3)}.",
        )
    )
    if np.isfinite(robot.limits["effort"]).all():
        g = np.asarray(robot.model.gravity, dtype=float)
        down = g / np.linalg.norm(g) if g.any() else np.array([0.0, 0.0, -1.0])
        try:
            sentence = largest_force(robot, q, down, frame=frame, by="robot").sentence
            section.notes.append(f"Largest force along gravity in this pose: {sentence}.")
        except DynamisError as error:
            section.notes.append(f"The largest force in this pose could not be computed: {error}")
    section.reproduce = (
        f"import dynamis as dy\n\n{subject.load}\n"
        f"q, springs = {short(q, 6)}, {short(springs)}\n"
        f"print(dy.statics.stiffness(robot, q, springs, frame={frame!r}).compliance)\n"
    )
    if cloud.dimension < 2:
        return
    section.reproduce += (
        f"\nfrom dynamis.kinematics.workspace import workspace_slice\n\n{intervals(robot)}\n"
        f"found = workspace_slice(robot, 'stiffness', frame={frame!r}, samples={SAMPLES}, "
        f"joint_stiffness=springs,\n                        lower=low, upper=high)\n"
        f"x, y, stiffness = found.grid({CELLS})  # edges of the cells, and the best value of each cell\n"
        "found.plot('stiffness.png')"
    )
