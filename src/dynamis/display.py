"""Representations of objects: one line at a prompt; in a notebook a heading, sentences and a table.

Plain HTML without colours or scripts, so that it follows the notebook's theme. Text from files is escaped. Small values print
as a constructor call: ``__repr__ = as_call``.
"""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

MOST_ROWS = 40
LINE = 200  # characters that a repr has at most
LEDGER_ROUNDING = 1e-12  # of the largest torque: smaller ones are rounding errors of double precision
FEW = 12  # entries of an array that are written out
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


def as_summary(self: Any) -> str:
    """The same for objects with a ``summary()``."""
    return f"<pre>{html.escape(self.summary())}</pre>"


def as_table(self: Any) -> str:
    """Field by field, for dataclasses and named tuples: ``_repr_html_ = as_table``."""
    rows = [(name, flat(value, 4, 3 * FEW)) for name, value, _ in _fields(self)]
    return card(type(self).__name__, [], ("", "value"), rows)


def as_call(self: Any) -> str:
    """``__repr__`` as a constructor call on one line, numbers rounded; a long one leaves out default values."""
    every, name = list(_fields(self)), type(self).__name__
    whole = ", ".join(f"{field}={flat(value, 6)}" for field, value, usual in every if not (value is None and usual is None))
    if len(whole) <= LINE // 2:
        return f"{name}({whole})"
    told = [(field, value) for field, value, usual in every if not _same(value, usual)]
    for digits in (6, 4, 3):
        text = f"{name}({', '.join(f'{field}={flat(value, digits)}' for field, value in told)})"
        if len(text) <= LINE:
            return text
    room = max((LINE - len(name) - 2) // max(len(told), 1) - 2, 8)
    return short(f"{name}({', '.join(short(f'{field}={flat(value, 3)}', room) for field, value in told)})")


def short(text: str, most: int = LINE) -> str:
    """One line of so many characters at most."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def counted(number: int, noun: str) -> str:
    """1 joint, 2 joints."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def flat(x: Any, digits: int = 4, most: int = FEW) -> str:
    """Any value on one line: numbers rounded, long arrays by their shape, functions by their name."""
    if isinstance(x, float | np.floating):
        return f"{x + 0.0:.{digits}g}"
    if isinstance(x, complex | np.complexfloating):
        return f"{x.real + 0.0:.{digits}g}{x.imag + 0.0:+.{digits}g}j"
    if isinstance(x, np.integer | np.bool_):
        return str(x)
    if isinstance(x, np.ndarray) or (isinstance(x, list | tuple) and not hasattr(x, "_fields")):
        return _flat_sequence(x, digits, most)
    if isinstance(x, Mapping):
        some = ", ".join(f"{key!r}: {flat(value, digits, most)}" for key, value in x.items())
        return f"{{{some}}}" if len(some) <= LINE // 2 else f"{{{', '.join(map(repr, x))}}}"
    if hasattr(x, "__array__") and hasattr(x, "shape"):  # on a GPU, or of another library
        return f"array{tuple(x.shape)}"
    text = repr(x)
    if callable(x) and (" at 0x" in text or not type(x).__module__.startswith("dynamis")):
        return str(getattr(x, "__name__", type(x).__name__))
    return short(text)


def _flat_sequence(x: Any, digits: int, most: int) -> str:
    if isinstance(x, np.ndarray) and x.size > most:
        return f"array{x.shape}"
    if isinstance(x, np.ndarray) and not x.ndim:
        return flat(x[()], digits, most)
    if len(x) > most:
        return f"{len(x)} entries"
    inside = ", ".join(flat(entry, digits, most) for entry in x)
    if isinstance(x, tuple):
        return f"({inside},)" if len(x) == 1 else f"({inside})"
    return f"[{inside}]"


def _fields(x: Any) -> Iterator[tuple[str, Any, Any]]:
    """(name, value, what it is unless given) of what a dataclass or a named tuple shows."""
    if not dataclasses.is_dataclass(x):
        yield from ((name, getattr(x, name), dataclasses.MISSING) for name in x._fields)
        return
    for f in dataclasses.fields(x):
        if f.repr and hasattr(x, f.name):
            make = f.default_factory
            yield f.name, getattr(x, f.name), f.default if make is dataclasses.MISSING else make()


def _same(value: Any, usual: Any) -> bool:
    if usual is dataclasses.MISSING:
        return False
    if value is usual or type(value) is not type(usual) or isinstance(value, np.ndarray):
        return value is usual
    try:
        return bool(value == usual)
    except ValueError:  # arrays inside have no one answer
        return False


def robot_card(model: Any, description: Any) -> str:
    """The moving joints with limits and friction, and the mass of each joint's child link with the links fixed to it."""
    rows = []
    masses = {body.name: body.inertia.mass for _, body in model.moving}
    for c in model.coordinates:
        joint = description.joint(c.joint)
        unit = "rad" if c.revolute else "m"
        span = f"{_text(c.lower)} … {_text(c.upper)} {unit}" if np.isfinite([c.lower, c.upper]).any() else "unlimited"
        first = c.name == c.joint or c.name == model.coordinates[0].name
        rows.append(
            (c.name, joint.type, span, c.velocity, c.effort, joint.drive.viscous, joint.drive.coulomb, joint.child,
             masses.get(joint.child) if first else None)
        )  # fmt: skip
    bodies = sum(not body.is_rotor for _, body in model.moving)
    mass = model.base.mass + sum(body.inertia.mass for _, body in model.moving)
    gravity = ", ".join(_text(x) for x in model.gravity)
    told = [description.about] if description.about else []
    told.append(f"{model.n} degrees of freedom, {bodies} moving bodies, {_text(mass)} kg, gravity ({gravity}) m/s²")
    columns = (
        "joint",
        "type",
        "range",
        "velocity limit",
        "effort limit",
        "viscous",
        "dry",
        "link",
        "mass with fixed links in kg",
    )
    return card(model.name, told, columns, rows)


def trajectory_card(motion: Any) -> str:
    """Start, end, largest velocity and torque of each joint; termination status and energy error."""
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
    return card(f"motion of {robot.name}", told, ("joint", "start", "end", "max. |velocity|", "max. |torque|"), rows)


def identification_card(found: Any) -> str:
    """The verdict, and every base parameter with its standard error."""
    s, v = found.statistics, found.validation
    told = [f"{found.verdict.grade}: {found.base.rank} base parameters from {len(found.equations)} equations"]
    told.append(f"residual on validation data: {v.held_out:.3g} %, with the initial parameters: {v.prior:.3g} %")
    rows = [(*row[:3], row[3]) for row in zip(s.names, s.coef, s.std, found.base.prior, strict=True)]
    columns = ("base parameter", "estimate", "standard error", "initial value")
    return card(f"identification of {found.base.model.robot.name}", told, columns, rows)


def base_parameters_card(base: Any) -> str:
    """Each base parameter as a linear combination, with its value in the robot's file."""
    told = [f"{base.rank} of {len(base.model.names)} parameters are identifiable (base parameters), gap {base.gap:.1e}"]
    rows = list(zip(base.expressions, base.prior, strict=True))
    return card(f"base parameters of {base.model.robot.name}", told, ("linear combination", "value in the file"), rows)


def evidence_card(evidence: Any) -> str:
    """Rows by joint."""
    told = [f"{evidence.samples} samples, {int(evidence.counts.sum())} rows for {len(evidence.names)} parameters"]
    rows = [(name, int(n), len(c)) for name, n, c in zip(evidence.joints, evidence.counts, evidence.columns, strict=True)]
    return card("normal equations", told, ("joint", "rows", "parameters"), rows)


def description_card(description: Any) -> str:
    """The joints of the file, with the mass of each child link."""
    rows = []
    for joint in description.joints:
        carried = next((link.mass_properties for link in description.links if link.name == joint.child), None)
        rows.append((joint.name, joint.type, joint.parent, joint.child, None if carried is None else carried.mass))
    told = [description.about] if description.about else []
    told.append(f"{len(description.links)} links, {len(description.joints)} joints")
    return card(description.name, told, ("joint", "type", "parent", "child", "mass in kg"), rows)


def ledger_card(ledger: Any) -> str:
    """Torque terms per joint; for a batch the largest values."""
    terms = {name: np.asarray(x) for name, x in {**ledger.as_dict(), "total": ledger.total}.items()}
    total = terms["total"]
    many, plain = total.ndim > 1, total.dtype != object
    terms = {name: x for name, x in terms.items() if name == "total" or not plain or x.any()}
    shown = {
        name: np.abs(x).max(axis=tuple(range(x.ndim - 1)), initial=0.0) if many and plain else x for name, x in terms.items()
    }
    told = [f"largest absolute values over {total[..., 0].size} states, in N m or N"] if many else ["in N m or N"]
    if plain:  # what is rounding beside the largest term is zero
        largest = max((float(np.abs(x).max(initial=0.0)) for x in shown.values()), default=0.0)
        shown = {name: np.where(np.abs(x) < LEDGER_ROUNDING * largest, 0.0, x) for name, x in shown.items()}
    joints = ledger.joints or tuple(str(k + 1) for k in range(total.shape[-1]))
    rows = [(joint, *(float(x[..., k]) if plain else str(x[..., k]) for x in shown.values())) for k, joint in enumerate(joints)]
    return card("torques by term", told, ("joint", *shown), rows if plain or not many else [])


def linearization_card(linear: Any) -> str:
    """The modes, the fastest growing first."""
    at = "at an equilibrium" if linear.at_equilibrium else "not at an equilibrium"
    told = [f"{len(linear.A)} states, {len(linear.actuated)} inputs; {linear.controllable_dimension} states controllable; {at}"]
    rows = [(m.coordinate, m.kind, flat(m.eigenvalue), m.frequency, m.damping, m.time_constant) for m in linear.modes]
    columns = ("dominant coordinate", "mode", "eigenvalue", "frequency in Hz", "damping", "time constant in s")
    return card(f"{linear.robot.name}, linearized", told, columns, rows)


def comparison_card(found: Any) -> str:
    """The differences, the largest effect first."""
    told = list(found.obstacles) or [
        f"largest relative difference of the torques (RMS over {found.states} states): {100.0 * found.worst:.3g} %"
    ]
    rows = [
        (d.what, d.where, flat(d.first), flat(d.second), f"{d.change:.4g} {d.unit}".strip(),
         None if d.effect is None else f"{100.0 * d.effect:.3g} %")
        for d in found.differences
    ]  # fmt: skip
    columns = ("property", "link or joint", "first", "second", "difference", "share of torque")
    return card(f"{found.first.name} and {found.second.name}", [*told, *found.notes], columns, rows)


def motion_card(motion: Any) -> str:
    """Start, end, and largest velocity and acceleration of each joint."""
    _, q, v, a = (np.atleast_2d(x) if np.ndim(x) > 1 else np.asarray(x)[:, None] for x in motion.sample())
    rows = [(str(k + 1), q[0, k], q[-1, k], np.abs(v[:, k]).max(), np.abs(a[:, k]).max()) for k in range(q.shape[1])]
    told = [f"{_text(motion.duration)} s", *([motion.status] if motion.status else [])]
    return card(type(motion).__name__, told, ("joint", "start", "end", "max. |velocity|", "max. |acceleration|"), rows)


def tracking_card(track: Any, name: str, told: Sequence[str] = (), bound: Any = None) -> str:
    """Tracking errors per joint, with their guaranteed bounds."""
    promised = [None] * len(track.names) if bound is None else bound
    rows = list(zip(track.names, track.largest, track.last, track.rms, promised, strict=True))
    return card(name, told, ("", "largest error", "last", "rms", "bound"), rows)


def holding_card(held: Any) -> str:
    """Static torques per joint with the share of their limits; for a batch the largest values."""
    parts = [np.abs(x).reshape(-1, len(held.names)).max(axis=0) if np.ndim(x) > 1 else x
             for x in (held.weight, held.load, held.total, held.used)]  # fmt: skip
    limits = np.broadcast_to(held.limits, (len(held.names),))
    rows = [(name, *(x[k] for x in parts[:3]), limits[k], f"{100.0 * parts[3][k]:.3g} %") for k, name in enumerate(held.names)]
    told = "within the torque limits" if np.all(held.possible) else "torque limits exceeded"
    return card("static torques", [told], ("joint", "gravity", "load", "total", "limit", "share of limit"), rows)


def stiffness_card(found: Any) -> str:
    """The diagonal of the compliance matrix."""
    names = ("x", "y", "z", "about x", "about y", "about z")
    units = ["m/N"] * 3 + ["rad/(N m)"] * 3
    rows = [(name, found.compliance[k, k], units[k]) for k, name in enumerate(names)]
    return card(f"{found.frame} of {found.robot.name}", found.sentences, ("direction", "compliance", "unit"), rows)


def polytope_card(found: Any) -> str:
    """The vertices of a force polytope."""
    rows = [(str(k + 1), *corner) for k, corner in enumerate(found.vertices)]
    told = [f"wrenches exerted by the {found.by} in static equilibrium within the torque limits", *found.sentences]
    return card(f"{found.task.frame.name} of {found.robot.name}", told, ("vertex", *found.task.names), rows)


def _text(x: Any) -> str:
    """A number with four digits, nothing for None and for what is not limited, and anything else as it prints."""
    if x is None or (isinstance(x, float | np.floating) and np.isinf(x)):
        return "" if x is None else "∞" if x > 0 else "−∞"
    if isinstance(x, float | np.floating):
        return f"{x + 0.0:.4g}".replace("-", "−")
    return str(x)
