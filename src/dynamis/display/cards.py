"""The cards of results in a notebook: which sentences and which table each of them shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynamis.display.deferred import call_by_name
from dynamis.display.tables import card
from dynamis.display.text import cell_text, counted, flat, without_rounding


def robot_card(model: Any, description: Any) -> str:
    """The moving joints with limits and friction, and the mass of each joint's child link with the links fixed to it."""
    rows = []
    masses = {body.name: body.inertia.mass for _, body in model.moving}
    for c in model.coordinates:
        joint = description.joint(c.joint)
        unit = "rad" if c.revolute else "m"
        span = f"{cell_text(c.lower)} … {cell_text(c.upper)} {unit}" if np.isfinite([c.lower, c.upper]).any() else "unlimited"
        first = c.name == c.joint or c.name == model.coordinates[0].name
        rows.append(
            (c.name, joint.type, span, c.velocity, c.effort, joint.drive.viscous, joint.drive.coulomb, joint.child,
             masses.get(joint.child) if first else None)
        )  # fmt: skip
    mass = model.base.mass + sum(body.inertia.mass for _, body in model.moving)
    gravity = ", ".join(cell_text(x) for x in model.gravity)
    sentences = [description.about] if description.about else []
    sentences.append(f"{model.size_text}, {model.tip_text}, {cell_text(_sum_of(mass))} kg, gravity ({gravity}) m/s²")
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
    return card(model.name, sentences, columns, rows)


def trajectory_card(motion: Any) -> str:
    """Start, end, largest velocity and torque of each joint; termination status and energy error."""
    robot, own = motion.robot, motion.robot.nq == motion.robot.n
    rows = [
        (name, *((motion.q[0, k], motion.q[-1, k]) if own else (None, None)),
         np.abs(motion.v[:, k]).max(), np.abs(motion.tau[:, k]).max())
        for k, name in enumerate(robot.coordinate_names if len(motion) else ())
    ]  # fmt: skip
    sentences = (
        [f"{cell_text(motion.t[0])} … {cell_text(motion.t[-1])} s, {counted(len(motion), 'point')}, {motion.status}"]
        if len(motion)
        else []
    )
    if len(motion):
        many = len(motion.events)
        events = f"{counted(many, 'event')}, " if many else ""
        share = f", {100.0 * motion.energy_imbalance:.1g} % of the energy exchanged" if motion.energy_imbalance else ""
        sentences.append(f"{events}energy error at most {np.abs(motion.energy_error).max():.1e} J{share}")
    return card(f"motion of {robot.name}", sentences, ("joint", "start", "end", "max. |velocity|", "max. |torque|"), rows)


def identification_card(found: Any) -> str:
    """The verdict, and fields base parameter with its standard error."""
    s, v = found.statistics, found.validation
    sentences = [
        f"{found.verdict.grade}: {counted(found.base.rank, 'base parameter')} from {counted(len(found.equations), 'equation')}"
    ]
    sentences.append(f"residual on validation data: {v.held_out:.3g} %, with the initial parameters: {v.prior:.3g} %")
    errors = [f"none ({bound})" if bound else std for std, bound in zip(s.std, s.at_bound, strict=True)]
    rows = list(zip(s.names, s.coef, errors, found.base.prior, strict=True))
    columns = ("base parameter", "estimate", "standard error", "initial value")
    return card(f"identification of {found.base.model.robot.name}", sentences, columns, rows)


def base_parameters_card(base: Any) -> str:
    """Each base parameter as a linear combination, with its value in the robot's file."""
    sentences = [f"{base.rank} of {len(base.model.names)} parameters are identifiable (base parameters)"]
    sentences.append(f"ratio of the smallest non-zero singular value of the regressor to the largest zero one: {base.gap:.1e}")
    rows = list(zip(base.expressions, base.prior, strict=True))
    return card(f"base parameters of {base.model.robot.name}", sentences, ("linear combination", "value in the file"), rows)


def excitation_card(found: Any) -> str:
    """The range of the motion beside each limit."""
    sentences = [f"{found.kind}, {cell_text(found.duration)} s, {counted(found.parameters, 'parameter')}; {found.status}"]
    sentences.append(
        f"condition number of the scaled regressor: {found.condition:.4g}, of the initial motion {found.condition_before:.4g}"
    )
    if found.expected is not None:
        sentences.append(str(found.expected))
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
    return card(f"excitation of {found.robot_name}", sentences, columns, rows)


def bounds_card(bounds: Any) -> str:
    """A row for each bound: the value found and the proven enclosure."""
    rows = [(b.name, b.meaning, *(flat(x, 6) for x in (b.value, b.lower, b.upper)), b.status) for b in bounds]
    columns = ("", "meaning", "found", "proven from", "to", "status")
    return card(f"structural properties of {bounds.robot}", bounds.remarks, columns, rows)


def description_card(description: Any) -> str:
    """The joints of the file, with the mass of each child link."""
    rows = []
    for joint in description.joints:
        carried = next((link.mass_properties for link in description.links if link.name == joint.child), None)
        rows.append((joint.name, joint.type, joint.parent, joint.child, None if carried is None else carried.mass))
    sentences = [description.about] if description.about else []
    sentences.append(f"{counted(len(description.links), 'link')}, {counted(len(description.joints), 'joint')}")
    return card(description.name, sentences, ("joint", "type", "parent", "child", "mass in kg"), rows)


def ledger_card(ledger: Any) -> str:
    """Torque terms per joint; for a batch the largest values."""
    terms = {name: np.asarray(x) for name, x in {**ledger.as_dict(), "total": ledger.total}.items()}
    total = terms["total"]
    many, plain = total.ndim > 1, total.dtype != object
    terms = {name: x for name, x in terms.items() if name == "total" or not plain or x.any()}
    shown = {
        name: np.abs(x).max(axis=tuple(range(x.ndim - 1)), initial=0.0) if many and plain else x for name, x in terms.items()
    }
    sentences = (
        [f"largest absolute values over {counted(total[..., 0].size, 'state')}, in N m or N"] if many else ["in N m or N"]
    )
    if plain:  # what is rounding beside the largest term is zero
        largest = max((float(np.abs(x).max(initial=0.0)) for x in shown.values()), default=0.0)
        shown = {name: without_rounding(x, largest) for name, x in shown.items()}
    joints = ledger.joints or tuple(str(k + 1) for k in range(total.shape[-1]))
    rows = [(joint, *(float(x[..., k]) if plain else str(x[..., k]) for x in shown.values())) for k, joint in enumerate(joints)]
    return card("torques by term", sentences, ("joint", *shown), rows if plain or not many else [])


def linearization_card(linear: Any) -> str:
    """The modes, the fastest growing first."""
    at = "at an equilibrium" if linear.at_equilibrium else "not at an equilibrium"
    sentences = [
        f"{counted(len(linear.A), 'state')}, {counted(len(linear.actuated), 'input')}; "
        f"{counted(linear.controllable_dimension, 'state')} controllable; {at}"
    ]
    return modes_card(f"{linear.robot.name}, linearized", sentences, linear.modes)


def modes_card(name: str, sentences: Sequence[str], modes: Sequence[Any]) -> str:
    """A row for each mode: a real eigenvalue, or a pair of conjugate ones."""
    rows = [
        (m.coordinate or "–", m.kind, _eigenvalue(m.eigenvalue), *((m.frequency, m.damping) if m.oscillates else ("–", "–")),
         m.time_constant)
        for m in modes
    ]  # fmt: skip
    columns = ("dominant coordinate", "mode", "eigenvalue [rad/s]", "frequency [Hz]", "damping", "time constant [s]")
    return card(name, sentences, columns, rows)


def _eigenvalue(x: complex) -> str:
    if not x.imag:
        return cell_text(x.real)
    return f"{cell_text(x.real)} ± {cell_text(abs(x.imag))}i" if x.real else f"±{cell_text(abs(x.imag))}i"


def comparison_card(found: Any) -> str:
    """The differences, the largest effect first."""
    sentences = list(found.obstacles) or [
        f"largest relative difference of the torques (RMS over {counted(found.states, 'state')}): {100.0 * found.worst:.3g} %"
    ]
    rows = [
        (d.what, d.where, flat(d.first), flat(d.second), f"{d.change:.4g} {d.unit}".strip(),
         None if d.effect is None else f"{100.0 * d.effect:.3g} %")
        for d in found.differences
    ]  # fmt: skip
    columns = ("property", "link or joint", "first", "second", "difference", "share of torque")
    return card(f"{found.first.name} and {found.second.name}", [*sentences, *found.notes], columns, rows)


def motion_card(motion: Any) -> str:
    """Start, end, and largest velocity and acceleration of each joint."""
    _, q, v, a = (np.atleast_2d(x) if np.ndim(x) > 1 else np.asarray(x)[:, None] for x in motion.sample())
    rows = [(str(k + 1), q[0, k], q[-1, k], np.abs(v[:, k]).max(), np.abs(a[:, k]).max()) for k in range(q.shape[1])]
    sentences = [f"{cell_text(motion.duration)} s", *([motion.status] if motion.status else [])]
    return card("reference motion", sentences, ("joint", "start", "end", "max. |velocity|", "max. |acceleration|"), rows)


def tracking_card(track: Any, name: str, sentences: Sequence[str] = (), bound: Any = None) -> str:
    """Tracking errors per joint, with their guaranteed bounds."""
    promised = [None] * len(track.names) if bound is None else bound
    rows = list(zip(track.names, track.largest, track.last, track.rms, promised, strict=True))
    return card(name, sentences, ("", "largest error", "last", "rms", "bound"), rows)


def static_torques_card(held: Any) -> str:
    """Static torques per joint with the share of their limits; for a batch the largest values."""
    parts = [np.abs(x).reshape(-1, len(held.names)).max(axis=0) if np.ndim(x) > 1 else x
             for x in (held.weight, held.load, held.total, held.used, held.spring)]  # fmt: skip
    limits = np.broadcast_to(held.limits, (len(held.names),))
    springs = [parts[4]] if np.any(parts[4]) else []
    rows = [(name, *(x[k] for x in [*parts[:2], *springs, parts[2]]), limits[k], f"{100.0 * parts[3][k]:.3g} %")
            for k, name in enumerate(held.names)]  # fmt: skip
    sentences = (
        "within the torque limits" if np.all(held.possible) else f"torque limits exceeded: {', '.join(held.beyond_limits)}"
    )
    head = ("joint", "gravity", "load", *(("springs",) if springs else ()), "total", "limit", "share of limit")
    return card("static torques", [sentences], head, rows)


def stiffness_card(found: Any) -> str:
    """The diagonal of the compliance matrix."""
    names = ("x", "y", "z", "about x", "about y", "about z")
    units = ["m/N"] * 3 + ["rad/(N m)"] * 3
    rows = [(name, found.compliance[k, k], units[k]) for k, name in enumerate(names)]
    return card(f"{found.frame} of {found.robot.name}", found.sentences, ("direction", "compliance", "unit"), rows)


def polytope_card(found: Any) -> str:
    """The vertices of a force polytope."""
    rows = [(str(k + 1), *corner) for k, corner in enumerate(found.vertices)]
    sentences = [f"wrenches exerted by the {found.by} in static equilibrium within the torque limits", *found.sentences]
    return card(f"{found.task.frame.name} of {found.robot.name}", sentences, ("vertex", *found.task.names), rows)


def _sum_of(x: Any) -> Any:
    """A number, or an expression of symbols in normal form: its numbers added up, its symbols as in equations."""
    number = isinstance(x, int | float | np.number)
    return x if number else call_by_name("dynamis.symbolic.simplified:simplified", x)
