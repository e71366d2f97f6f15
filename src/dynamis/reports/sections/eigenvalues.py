"""The eigenvalues of the inertia matrix along each joint, and over random configurations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynamis.documents.blocks import Curves, Facts, Plot, Section
from dynamis.documents.numbers import short, text
from dynamis.reports.numbers import ranges, unit_of
from dynamis.reports.sections.maps import by_influence, plain_coordinates
from dynamis.reports.subject import Subject

KEY, TITLE = "eigenvalues", "Eigenvalues of the inertia matrix"
POINTS, SAMPLES = 121, 500
MAX_JOINTS, MAX_CURVES = 7, 8


def build(subject: Subject, section: Section) -> None:
    robot = subject.robot
    values = np.linalg.eigvalsh(robot.mass_matrix(robot.random(0, SAMPLES)))
    condition = values[:, -1] / np.maximum(values[:, 0], 1e-300)
    section.lead = (
        f"Over {SAMPLES} random configurations the eigenvalues of M lie between {text(float(values.min()))} and "
        f"{text(float(values.max()))}; the median condition number is {text(float(np.median(condition)), 3)}."
    )
    share = np.quantile(condition, (0.05, 0.95))
    mixed = len({c.revolute for c in robot.model.coordinates}) > 1
    unit = "kg m² and kg" if mixed else "kg m²" if robot.model.coordinates[0].revolute else "kg"
    suffix = "" if mixed else f" {unit}"
    section.add(
        Facts(
            [
                ("Smallest eigenvalue", text(float(values.min())) + suffix),
                ("Largest eigenvalue", text(float(values.max())) + suffix),
                ("Condition number, 5th to 95th percentile", f"{text(float(share[0]), 3)} … {text(float(share[1]), 3)}"),
            ]
        )
    )
    movable = plain_coordinates(robot)
    low, high = ranges(robot)
    kept, found = _drawn_indices(robot.n), []
    for k in by_influence(robot, movable)[:MAX_JOINTS] if movable else []:
        x = np.linspace(low[k], high[k], POINTS)
        q = np.tile(robot.home(), (POINTS, 1))
        q[:, robot.model.coordinates[k].q_index] = x
        along = np.linalg.eigvalsh(robot.mass_matrix(q))
        lines = {f"λ{_subscript(i + 1)}": short(along[:, i]) for i in reversed(kept)}
        found.append((k, along, Curves(short(x), lines, f"{robot.coordinate_names[k]} [{unit_of(robot, k)}]")))
    if found:
        # the joint along which they change most comes first
        found.sort(key=lambda one: -float((one[1].max(axis=0) / np.maximum(one[1].min(axis=0), 1e-300)).max()))
        first, along, _ = found[0]
        ends = text(float(along[:, -1].min())), text(float(along[:, -1].max()))
        change = f"is {ends[0]}" if ends[0] == ends[1] else f"varies from {ends[0]} to {ends[1]}"
        summary = f"Along {robot.coordinate_names[first]} the largest eigenvalue {change}{suffix}."
        title, views = "Eigenvalues of M along one joint, the others in the home configuration", [view for _, _, view in found]
        section.add(Plot(title, "", f"eigenvalue [{unit}]", views, summary, "along", logarithmic=robot.n > 1))
        if mixed:
            section.notes.append(
                "M has rows of forces and rows of moments, so its eigenvalues depend on the units of length and angle."
            )
    if len(kept) < robot.n:
        section.notes.append(f"{len(kept)} of {robot.n} eigenvalues are plotted, including the smallest and the largest.")
    section.reproduce = _snippet(subject, [k for k, _, _ in found], kept)


def _snippet(subject: Subject, joints: Sequence[int], kept: Sequence[int]) -> str:
    """Python that computes the eigenvalues over random configurations, and those of every curve of the figure."""
    robot = subject.robot
    low, high = ranges(robot)
    lines = [
        "import numpy as np",
        "import dynamis as dy",
        "",
        subject.load,
        f"values = np.linalg.eigvalsh(robot.mass_matrix(robot.random(0, {SAMPLES})))",
        "print(values.min(), values.max(), np.median(values[:, -1] / values[:, 0]))",
    ]
    if joints:
        lines += ["", "curves = {}", "for name, k, low, high in ["]
        for k in joints:
            ends = f"{float(low[k]):.9g}, {float(high[k]):.9g}"
            lines.append(f"    ({robot.coordinate_names[k]!r}, {robot.model.coordinates[k].q_index}, {ends}),")
        chosen = "" if len(kept) == robot.n else f"[:, {list(kept)}]"
        lines += [
            "]:",
            f"    q = np.tile(robot.home(), ({POINTS}, 1))",
            f"    q[:, k] = np.linspace(low, high, {POINTS})",
            f"    curves[name] = np.linalg.eigvalsh(robot.mass_matrix(q)){chosen}  # one column per curve, in increasing order",
        ]
    return "\n".join(lines)


def _drawn_indices(n: int) -> list[int]:
    return list(range(n)) if n <= MAX_CURVES else sorted({round(x) for x in np.linspace(0, n - 1, MAX_CURVES)})


def _subscript(k: int) -> str:
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(k))
