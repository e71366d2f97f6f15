"""Representations of objects: one line at a prompt; in a notebook a heading, sentences and a table.

Plain HTML without colours or scripts, so that it follows the notebook's theme. Text from files is escaped. Small values print
as a constructor call: ``__repr__ = as_call``.
"""

from __future__ import annotations

import dataclasses
import html
import importlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

MOST_ROWS = 40
LINE = 200  # characters that a repr has at most
ROUNDING = 1e-13  # of the largest entry: smaller ones are shown as zero, being rounding errors of double precision
FEW = 12  # entries of an array that are written out
NOWRAP = 40  # characters of a cell that stay on one line
LEFT, RIGHT = (f"text-align: {side}; vertical-align: top; padding: 2px 10px" for side in ("left", "right"))
# notebooks show <pre> in the font of their text; columns need a fixed width
PREFORMATTED = "font-family: monospace; white-space: pre-wrap; word-break: normal"
NUMBER = re.compile(r"[−+±-]?(\d|∞|inf|nan).*|None|")


def card(name: str, sentences: Iterable[str], columns: Sequence[str] = (), rows: Sequence[Sequence[Any]] = ()) -> str:
    """HTML of a name, sentences below it, and a table; tables of more than ``MOST_ROWS`` rows are cut, with a note.

    Columns of numbers are aligned right, columns of text left. Long text wraps; a table wider than the page scrolls.
    """
    lines = [f"<div><strong>{html.escape(name)}</strong>"]
    lines += [f"<div>{html.escape(sentence)}</div>" for sentence in sentences]
    if rows:
        shown = [[_text(x) for x in row] for row in rows[:MOST_ROWS]]
        numeric = [k > 0 and all(NUMBER.fullmatch(row[k]) for row in shown) for k in range(len(columns))]
        head = "".join(_cell("th", x, right) for x, right in zip(columns, numeric, strict=True))
        body = ("".join(_cell("td", x, right) for x, right in zip(row, numeric, strict=True)) for row in shown)
        lines.append(f'<div style="overflow-x: auto"><table><thead><tr>{head}</tr></thead><tbody>')
        lines += [f"<tr>{row}</tr>" for row in body]
        lines.append("</tbody></table></div>")
        if len(rows) > MOST_ROWS:
            lines.append(f"<div>and {len(rows) - MOST_ROWS} more</div>")
    return "".join([*lines, "</div>"])


def _cell(tag: str, text: str, right: bool) -> str:
    wrap = "nowrap" if len(text) <= NOWRAP else "normal; overflow-wrap: anywhere"
    return f'<{tag} style="{RIGHT if right else LEFT}; white-space: {wrap}">{html.escape(text)}</{tag}>'


def scroll_shadow(boxes: str, page: str) -> str:
    """CSS for boxes that scroll sideways: a shadow at each edge beyond which there is more; ``page`` is the page's colour.

    Two covers in that colour move with the contents and hide the shadow of an edge that is reached, so no script is needed.
    """
    cover, shade = f"{page} 40%, transparent", "color-mix(in srgb, currentColor 45%, transparent), transparent"
    layers = [
        f"linear-gradient(to {way}, {colours}) {place} / {width} 100% no-repeat {attached}"
        for colours, width, attached in ((cover, "2.5rem", "local"), (shade, ".7rem", "scroll"))
        for way, place in (("right", "0"), ("left", "100%"))
    ]
    return f"@media screen {{ {boxes} {{ background: {', '.join(layers)}; }} }}"


def as_text(self: Any) -> str:
    """For objects whose ``str`` is laid out by spaces and line breaks: ``_repr_html_ = as_text`` in their class."""
    return f'<pre style="{PREFORMATTED}">{html.escape(str(self))}</pre>'


def as_table(self: Any) -> str:
    """Field by field, for dataclasses and named tuples: ``_repr_html_ = as_table``."""
    rows = [(name, value if isinstance(value, str) else flat(value, 4, 3 * FEW)) for name, value, _ in _fields(self)]
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
    if isinstance(x, np.ndarray) and (x.size > most or (x.ndim and not x.size)):
        return f"array{x.shape}"
    if isinstance(x, np.ndarray) and not x.ndim:
        return flat(x[()], digits, most)
    if isinstance(x, np.ndarray):
        x = without_rounding(x)
    elif len(x) > most:
        return f"{len(x)} entries"
    elif sum(np.size(entry) for entry in x if isinstance(entry, np.ndarray)) > most:
        return ", ".join(f"array{np.shape(entry)}" for entry in x)
    inside = ", ".join(flat(entry, digits, most) for entry in x)
    if isinstance(x, tuple):
        return f"({inside},)" if len(x) == 1 else f"({inside})"
    return f"[{inside}]"


def without_rounding(x: Any, relative_to: float | None = None) -> Any:
    """A numeric array whose entries below ``ROUNDING`` times the largest entry, or times another size, are zero."""
    if x.dtype.kind not in "fc" or not x.size:
        return x
    size = np.abs(x)
    largest = np.max(size, initial=0.0, where=np.isfinite(size)) if relative_to is None else relative_to
    return np.where(size < ROUNDING * largest, 0.0, x)


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
    bodies = len(model.links)
    mass = model.base.mass + sum(body.inertia.mass for _, body in model.moving)
    gravity = ", ".join(_text(x) for x in model.gravity)
    told = [description.about] if description.about else []
    told.append(f"{model.n} degrees of freedom, {bodies} moving bodies, {_text(_sum_of(mass))} kg, gravity ({gravity}) m/s²")
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
    errors = [f"none ({bound})" if bound else std for std, bound in zip(s.std, s.at_bound, strict=True)]
    rows = list(zip(s.names, s.coef, errors, found.base.prior, strict=True))
    columns = ("base parameter", "estimate", "standard error", "initial value")
    return card(f"identification of {found.base.model.robot.name}", told, columns, rows)


def base_parameters_card(base: Any) -> str:
    """Each base parameter as a linear combination, with its value in the robot's file."""
    told = [f"{base.rank} of {len(base.model.names)} parameters are identifiable (base parameters)"]
    told.append(f"ratio of the smallest non-zero singular value of the regressor to the largest zero one: {base.gap:.1e}")
    rows = list(zip(base.expressions, base.prior, strict=True))
    return card(f"base parameters of {base.model.robot.name}", told, ("linear combination", "value in the file"), rows)


def excitation_card(found: Any) -> str:
    """The range of the motion beside each limit."""
    told = [f"{found.kind}, {_text(found.duration)} s, {found.parameters} parameters; {found.status}"]
    told.append(
        f"condition number of the scaled regressor: {found.condition:.4g}, of the initial motion {found.condition_before:.4g}"
    )
    rows = [
        (
            use.name,
            use.kind,
            use.lowest,
            use.highest,
            use.lower,
            use.upper,
            None if use.share is None else f"{100.0 * use.share:.3g} %{' (assumed)' if use.assumed else ''}",
        )
        for use in found.uses
    ]
    columns = ("joint or frame", "quantity", "lowest", "highest", "lower bound", "upper bound", "share of limit")
    return card(f"excitation of {found.robot_name}", told, columns, rows)


def bounds_card(bounds: Any) -> str:
    """A row for each bound: the value found and the proven enclosure."""
    rows = [(b.name, b.meaning, *(flat(x, 6) for x in (b.value, b.lower, b.upper)), b.status) for b in bounds]
    columns = ("", "meaning", "found", "proven from", "to", "status")
    return card(f"structural properties of {bounds.robot}", bounds.remarks, columns, rows)


def normal_equations_card(equations: Any) -> str:
    """Rows by joint."""
    told = [f"{equations.samples} samples, {int(equations.counts.sum())} rows for {len(equations.names)} parameters"]
    rows = [(name, int(n), len(c)) for name, n, c in zip(equations.joints, equations.counts, equations.columns, strict=True)]
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
        shown = {name: without_rounding(x, largest) for name, x in shown.items()}
    joints = ledger.joints or tuple(str(k + 1) for k in range(total.shape[-1]))
    rows = [(joint, *(float(x[..., k]) if plain else str(x[..., k]) for x in shown.values())) for k, joint in enumerate(joints)]
    return card("torques by term", told, ("joint", *shown), rows if plain or not many else [])


def linearization_card(linear: Any) -> str:
    """The modes, the fastest growing first."""
    at = "at an equilibrium" if linear.at_equilibrium else "not at an equilibrium"
    told = [f"{len(linear.A)} states, {len(linear.actuated)} inputs; {linear.controllable_dimension} states controllable; {at}"]
    return modes_card(f"{linear.robot.name}, linearized", told, linear.modes)


def modes_card(name: str, told: Sequence[str], modes: Sequence[Any]) -> str:
    """A row for each mode: a real eigenvalue, or a pair of conjugate ones."""
    rows = [
        (m.coordinate or "–", m.kind, _eigenvalue(m.eigenvalue), *((m.frequency, m.damping) if m.oscillates else ("–", "–")),
         m.time_constant)
        for m in modes
    ]  # fmt: skip
    columns = ("dominant coordinate", "mode", "eigenvalue in rad/s", "frequency in Hz", "damping", "time constant in s")
    return card(name, told, columns, rows)


def _eigenvalue(x: complex) -> str:
    if not x.imag:
        return _text(x.real)
    return f"{_text(x.real)} ± {_text(abs(x.imag))}i" if x.real else f"±{_text(abs(x.imag))}i"


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
    return card("reference motion", told, ("joint", "start", "end", "max. |velocity|", "max. |acceleration|"), rows)


def tracking_card(track: Any, name: str, told: Sequence[str] = (), bound: Any = None) -> str:
    """Tracking errors per joint, with their guaranteed bounds."""
    promised = [None] * len(track.names) if bound is None else bound
    rows = list(zip(track.names, track.largest, track.last, track.rms, promised, strict=True))
    return card(name, told, ("", "largest error", "last", "rms", "bound"), rows)


def static_torques_card(held: Any) -> str:
    """Static torques per joint with the share of their limits; for a batch the largest values."""
    parts = [np.abs(x).reshape(-1, len(held.names)).max(axis=0) if np.ndim(x) > 1 else x
             for x in (held.weight, held.load, held.total, held.used)]  # fmt: skip
    limits = np.broadcast_to(held.limits, (len(held.names),))
    rows = [(name, *(x[k] for x in parts[:3]), limits[k], f"{100.0 * parts[3][k]:.3g} %") for k, name in enumerate(held.names)]
    told = "within the torque limits" if np.all(held.possible) else f"torque limits exceeded: {', '.join(held.beyond_limits)}"
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


def _sum_of(x: Any) -> Any:
    """A number, or an expression of symbols in normal form: its numbers added up, its symbols as in equations."""
    number = isinstance(x, int | float | np.number)
    return x if number else call_by_name("dynamis.symbolic.simplified:simplified", x)


def _text(x: Any) -> str:
    """A number with four digits, nothing for None and for what is not limited, and anything else as it prints."""
    if x is None or (isinstance(x, float | np.floating) and np.isinf(x)):
        return "" if x is None else "∞" if x > 0 else "−∞"
    if isinstance(x, float | np.floating):
        return f"{x + 0.0:.4g}".replace("-", "−")
    return str(x)


def call_by_name(name: str, *arguments: Any, **options: Any) -> Any:
    """Call "module:function". Results know only the names of what is made from them: figures, files, documents."""
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)(*arguments, **options)


def plotted(module: str, result: Any, *arguments: Any, function: str = "plot") -> Any:
    """Draw a result by a function of the package `plotting`."""
    return call_by_name(f"dynamis.plotting.{module}:{function}", result, *arguments)
