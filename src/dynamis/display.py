"""How objects show themselves in a notebook: a name, a sentence, and a small table.

Plain HTML without colours or scripts of its own, so that it follows the notebook's theme. Everything that comes from a file is
escaped.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

MOST_ROWS = 40
LEFT, RIGHT = (f"text-align: {side}; padding: 2px 10px; white-space: nowrap" for side in ("left", "right"))


def card(name: str, sentences: Iterable[str], columns: Sequence[str] = (), rows: Sequence[Sequence[Any]] = ()) -> str:
    """HTML of a name, sentences below it, and a table whose first column is text; long tables are cut, and say so."""
    lines = [f"<div><strong>{html.escape(name)}</strong>"]
    lines += [f"<div>{html.escape(sentence)}</div>" for sentence in sentences]
    if rows:
        head = "".join(f'<th style="{RIGHT if k else LEFT}">{html.escape(x)}</th>' for k, x in enumerate(columns))
        lines.append(f"<table><thead><tr>{head}</tr></thead><tbody>")
        for row in rows[:MOST_ROWS]:
            cells = (f'<td style="{RIGHT if k else LEFT}">{html.escape(_text(x))}</td>' for k, x in enumerate(row))
            lines.append(f"<tr>{''.join(cells)}</tr>")
        lines.append("</tbody></table>")
        if len(rows) > MOST_ROWS:
            lines.append(f"<div>and {len(rows) - MOST_ROWS} more</div>")
    return "".join([*lines, "</div>"])


def as_text(self: Any) -> str:
    """For objects whose ``str`` is laid out already: ``_repr_html_ = as_text`` in their class."""
    return f"<pre>{html.escape(str(self))}</pre>"


def robot_card(model: Any, description: Any) -> str:
    """The joints that move, with limits and friction, and the mass of the link that each moves."""
    rows = []
    for c in model.coordinates:
        joint = description.joint(c.joint)
        carried = description.link(joint.child).mass_properties
        unit = "rad" if c.revolute else "m"
        span = f"{_text(c.lower)} … {_text(c.upper)} {unit}" if np.isfinite([c.lower, c.upper]).any() else "without end"
        first = c.name == c.joint or c.name == model.coordinates[0].name
        rows.append(
            (c.name, joint.type, span, c.velocity, c.effort, joint.drive.viscous, joint.drive.coulomb, joint.child,
             carried.mass if carried is not None and first else None)
        )  # fmt: skip
    bodies = sum(not body.is_rotor for _, body in model.moving)
    mass = model.base.mass + sum(body.inertia.mass for _, body in model.moving)
    gravity = ", ".join(_text(x) for x in model.gravity)
    told = [description.about] if description.about else []
    told.append(f"{model.n} degrees of freedom, {bodies} moving bodies, {_text(mass)} kg, gravity ({gravity}) m/s²")
    columns = ("joint", "type", "range", "velocity", "effort", "viscous", "dry", "link", "mass in kg")
    return card(model.name, told, columns, rows)


def trajectory_card(motion: Any) -> str:
    """Where each joint went and what drove it; how the motion ended and how well the energy was kept."""
    robot, own = motion.robot, motion.robot.nq == motion.robot.n
    rows = [
        (name, *((motion.q[0, k], motion.q[-1, k]) if own else (None, None)),
         np.abs(motion.v[:, k]).max(), np.abs(motion.tau[:, k]).max())
        for k, name in enumerate(robot.coordinate_names if len(motion) else ())
    ]  # fmt: skip
    told = [f"{_text(motion.t[0])} … {_text(motion.t[-1])} s, {len(motion)} points, {motion.status}"] if len(motion) else []
    if len(motion):
        many = len(motion.events)
        events = f"{many} event{'s' if many > 1 else ''}, " if many else ""
        told.append(f"{events}energy error at most {np.abs(motion.energy_error).max():.1e} J")
    return card(f"motion of {robot.name}", told, ("joint", "start", "end", "most velocity", "most torque"), rows)


def identification_card(found: Any) -> str:
    """The verdict, and every base parameter with its standard error."""
    s, v = found.statistics, found.validation
    told = [f"{found.verdict.grade}: {found.base.rank} base parameters from {len(found.equations)} equations"]
    told.append(f"unexplained on motion held out: {v.held_out:.3g} %, before: {v.prior:.3g} %")
    rows = [(*row[:3], row[3]) for row in zip(s.names, s.coef, s.std, found.base.prior, strict=True)]
    columns = ("base parameter, named after", "found", "standard error", "before")
    return card(f"identification of {found.base.model.robot.name}", told, columns, rows)


def base_parameters_card(base: Any) -> str:
    """Each base parameter as a sum, with what the robot's file says of it."""
    told = [f"{base.rank} of {len(base.model.names)} parameters can be told apart, gap {base.gap:.1e}"]
    rows = list(zip(base.expressions, base.prior, strict=True))
    return card(f"base parameters of {base.model.robot.name}", told, ("sum", "of the file"), rows)


def evidence_card(evidence: Any) -> str:
    """Rows by joint."""
    told = [f"{evidence.samples} samples, {int(evidence.counts.sum())} rows about {len(evidence.names)} parameters"]
    rows = [(name, int(n), len(c)) for name, n, c in zip(evidence.joints, evidence.counts, evidence.columns, strict=True)]
    return card("evidence", told, ("joint", "rows", "parameters that show"), rows)


def _text(x: Any) -> str:
    """A number with four digits, nothing for None and for what is not limited, and anything else as it prints."""
    if x is None or (isinstance(x, float | np.floating) and np.isinf(x)):
        return "" if x is None else "∞" if x > 0 else "−∞"
    if isinstance(x, float | np.floating):
        return f"{x + 0.0:.4g}".replace("-", "−")
    return str(x)
