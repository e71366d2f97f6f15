"""From the energies to the equations of motion by Lagrange's method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamis.display import counted
from dynamis.documents.blocks import Section
from dynamis.documents.document import Document
from dynamis.errors import SingularError
from dynamis.symbolic.derivation.readable import MAX_FORMULA_CHARACTERS, show_entries

if TYPE_CHECKING:
    from dynamis.symbolic.closed_form import ClosedForm

MAX_CHRISTOFFEL_VALUES = 60  # listed


def write(document: Document, form: ClosedForm) -> None:
    """Energies, inertia matrix, Christoffel symbols, Coriolis matrix, skew symmetry, gravity, equations."""
    _kinetic(document.section("Kinetic energy"), form)
    _inertia(document.section("Inertia matrix"), form)
    if form.n > 1:
        _christoffel(document.section("Christoffel symbols"), form)
        _coriolis(document.section("Coriolis matrix"), form)
        _skew(document.section("Skew symmetry"), form)
    _gravity(document.section("Potential energy and gravity"), form)
    _joints(document, form)
    _equations(document.section("Equations of motion"), form)
    _state_space(document.section("State space"), form)


def _kinetic(section: Section, form: ClosedForm) -> None:
    T = form.notation.kinetic
    section.say(
        "By König's theorem the kinetic energy of a body is that of its mass at the centre of mass plus that of its rotation:"
    )
    section.show(
        rf"{T}_i = \tfrac{{1}}{{2}} m_i\, \dot p_{{C_i}}^T \dot p_{{C_i}} + "
        r"\tfrac{1}{2} \omega_i^T R_i I_i R_i^T \omega_i"
    )
    show_entries(section, [(f"{T}_{k}", x) for k, x in enumerate(form.kinetic_energies, 1)], "x")
    rotors = [(rf"{T}_{{m{k}}}", x) for k, x in enumerate(form.rotor_energies, 1) if not x.is_zero]
    if rotors:
        section.say("Rotors rotate with their joints through the gears:")
        show_entries(section, rotors, "x")


def _inertia(section: Section, form: ClosedForm) -> None:
    n = form.notation
    J, K = n.linear_jacobian.format("i"), n.angular_jacobian.format("i")
    section.say(
        f"Velocities are linear in the rates, so that ${n.kinetic} = \\tfrac{{1}}{{2}} \\dot q^T {n.inertia}(q) \\dot q$. "
        "The matrix is symmetric, and positive definite if every motion has kinetic energy:"
    )
    section.show(rf"{n.inertia}(q) = \sum_i \left( m_i\, {J}{{}}^T {J} + {K}{{}}^T R_i I_i R_i^T {K} \right)")
    entries = []
    for i in range(form.n):
        for j in range(i, form.n):
            name = rf"{n.entry}_{{{_pair(i, j)}}}"
            entries.append((name if i == j else f"{name} = {n.entry}_{{{_pair(j, i)}}}", form.M[i, j]))
    show_entries(section, entries, "x")
    zero = [f"${n.entry}_{{{_pair(i, j)}}}$" for i in range(form.n) for j in range(i, form.n) if form.M[i, j].is_zero]
    if zero:
        section.say("Zero: " + ", ".join(zero) + ".")


def _christoffel(section: Section, form: ClosedForm) -> None:
    n, e = form.notation, form.notation.entry
    section.say("The velocity terms follow from the derivatives of the inertia matrix:")
    if n.christoffel == "first":
        section.show(
            rf"c_{{ijk}} = \tfrac{{1}}{{2}} \left( \frac{{\partial {e}_{{ij}}}}{{\partial q_k}} + "
            rf"\frac{{\partial {e}_{{ik}}}}{{\partial q_j}} - \frac{{\partial {e}_{{jk}}}}{{\partial q_i}} \right)"
        )
    else:
        section.show(
            rf"c_{{ijk}} = \tfrac{{1}}{{2}} \left( \frac{{\partial {e}_{{kj}}}}{{\partial q_i}} + "
            rf"\frac{{\partial {e}_{{ki}}}}{{\partial q_j}} - \frac{{\partial {e}_{{ij}}}}{{\partial q_k}} \right)"
        )
    if not _has_expanded_velocity_terms(form):
        section.say("They are not printed for a model of this size.")
        return
    compact = form.compact
    if compact.names:
        section.say("The nonzero symbols, with a name for each value:")
        show_entries(section, compact.names, "x")
    groups: dict[str, list[str]] = {}
    for i in range(form.n):
        for j in range(form.n):
            for k in range(j, form.n):
                c = compact.christoffel[i, j, k]
                if c.is_zero:
                    continue
                value = c.latex() if len(c) <= MAX_FORMULA_CHARACTERS // 12 else f"\\text{{{counted(len(c), 'term')}}}"
                both = {_triple(form, i, j, k), _triple(form, i, k, j)}
                groups.setdefault(value, []).append(" = ".join(f"c_{{{x}}}" for x in sorted(both)))
    if not groups:
        section.say(f"${n.inertia}$ is constant: all of them are zero.")
    for value, names in list(groups.items())[:MAX_CHRISTOFFEL_VALUES]:
        section.show(" = ".join(names), value)
    if len(groups) > MAX_CHRISTOFFEL_VALUES:
        section.say(f"… and {counted(len(groups) - MAX_CHRISTOFFEL_VALUES, 'more value')}.")


def _coriolis(section: Section, form: ClosedForm) -> None:
    n = form.notation
    rule = r"C_{ij} = \sum_k c_{ijk}\, \dot q_k" if n.christoffel == "first" else r"C_{kj} = \sum_i c_{ijk}\, \dot q_i"
    section.say("The Coriolis matrix defined by these symbols makes $N$ below skew-symmetric:")
    section.show(rule)
    if not _has_expanded_velocity_terms(form):
        return
    C = form.compact.C
    if sum(len(x) for x in C.flat) <= MAX_FORMULA_CHARACTERS // 20:
        section.show(rf"C(q, \dot q) = {C.latex()}")
    elif form.compact.names:
        show_entries(section, [(f"C_{{{_pair(i, j)}}}", C[i, j]) for i in range(form.n) for j in range(form.n)], "x")


def _skew(section: Section, form: ClosedForm) -> None:
    n, e = form.notation, form.notation.entry
    section.say(
        rf"$N = \dot {n.inertia} - 2C$ is skew-symmetric: in $\dot {e}_{{ij}} - 2 C_{{ij}}$ the first term of the symbols "
        "cancels, and what remains changes sign when $i$ and $j$ are exchanged:"
    )
    section.show(
        rf"n_{{ij}} = \sum_k \left( \frac{{\partial {e}_{{jk}}}}{{\partial q_i}} - "
        rf"\frac{{\partial {e}_{{ik}}}}{{\partial q_j}} \right) \dot q_k = -n_{{ji}}"
    )
    if not _has_expanded_velocity_terms(form):
        return
    compact = form.compact
    if sum(len(x) for x in compact.N.flat) <= MAX_FORMULA_CHARACTERS // 20:
        section.show(rf"\dot {n.inertia} = {compact.M_dot.latex()}")
        section.show(rf"N = \dot {n.inertia} - 2C = {compact.N.latex()} = -N^T")
    held = (form.N + form.N.T).view(type(form.N)).is_zero
    section.say(
        "So $\\dot q^T N \\dot q = 0$: the kinetic energy changes only by the power of the other forces, "
        rf"$\tfrac12 \tfrac{{d}}{{dt}} (\dot q^T {n.inertia} \dot q) = \dot q^T (\tau - g)$ without friction."
        + (" (Checked here: every entry of $N + N^T$ is zero, identically.)" if held else "")
    )


def _gravity(section: Section, form: ClosedForm) -> None:
    U = form.notation.potential
    section.say(f"A body's weight acts at its centre of mass: ${U}_i = -m_i\\, g_0^T p_{{C_i}}$.")
    show_entries(section, [(f"{U}_{k}", x) for k, x in enumerate(form.potential_energies, 1)], "x")
    section.say(rf"Its gradient is the gravity torque: $g_i = \partial {U} / \partial q_i$.")
    if form.g.is_zero:
        section.say("Here it is zero.")
    show_entries(section, [(f"g_{k}" if form.n > 1 else "g(q)", x) for k, x in enumerate(form.g, 1)], "x")


def _joints(document: Document, form: ClosedForm) -> None:
    parts = [
        ("viscous friction", form.viscous), ("dry friction", form.dry), ("springs", form.spring),
    ]  # fmt: skip
    present = [(name, values) for name, values in parts if not values.is_zero]
    section = document.section("Friction, springs, contact")
    section.say(
        "The torques of friction and springs of the joints are added."
        if present
        else "The joints have neither friction nor springs."
    )
    for name, values in present:
        section.say(f"{name.capitalize()}:")
        section.show(rf"f = {values.latex()}")
    section.say(
        "A wrench $w = (f, \\mu)$ that the environment exerts on the robot at a point with Jacobian $J$ adds $J^T w$ on the "
        "side of the torques."
    )


def _equations(section: Section, form: ClosedForm) -> None:
    n = form.notation
    section.say(rf"Lagrange's equations for $L = {n.kinetic} - {n.potential}$:")
    section.show(
        rf"\frac{{d}}{{dt}} \frac{{\partial L}}{{\partial \dot q_i}} - \frac{{\partial L}}{{\partial q_i}} = \tau_i"
        rf" \quad\Longrightarrow\quad {n.inertia}(q)\, \ddot q + C(q, \dot q)\, \dot q + g(q) + \text{{friction}}"
        r" = \tau + J^T w"
    )
    if not _has_expanded_velocity_terms(form) or _longest(form) > MAX_FORMULA_CHARACTERS // 12:
        section.say(
            "In full they are too long to print; they are given by the matrices above, and closed_form().equations prints "
            "each one."
        )
        return
    for equation in form.equations:
        left, _, right = equation.latex().rpartition(" = ")
        section.show(right, left)


def _has_expanded_velocity_terms(form: ClosedForm) -> bool:
    return form.expanded and all(x.expanded for x in form.christoffel.flat)


def _longest(form: ClosedForm) -> int:
    """Terms of the longest equation."""
    rows = range(form.n)
    return max((sum(len(form.M[i, j]) for j in rows) + len(form.coriolis_vector[i]) for i in rows), default=0)


def _state_space(section: Section, form: ClosedForm) -> None:
    n = form.notation
    section.say(
        rf"With $x = (q, \dot q)$ the model is $\dot x = (\dot q,\; {n.inertia}^{{-1}}(\tau - n))$, where "
        r"$n = C \dot q + g$ and friction and spring torques."
    )
    if form.expanded and 0 < form.n <= 3:
        try:
            space = form.state_space
        except SingularError as error:
            section.say(f"The accelerations do not follow from the torques here: {error}.")
            return
        assert space.determinant is not None
        assert space.adjugate is not None
        if len(space.determinant) < MAX_FORMULA_CHARACTERS // 20:
            section.show(rf"\det {n.inertia}", space.determinant.latex())
            if sum(len(x) for x in space.adjugate.flat) < MAX_FORMULA_CHARACTERS // 20:
                left = rf"{n.inertia}^{{-1}} = \frac{{1}}{{\det {n.inertia}}}"
                section.show(f"{left} {space.adjugate.latex()}" if form.n > 1 else left)


def _pair(i: int, j: int) -> str:
    return f"{i + 1}{j + 1}" if max(i, j) < 9 else f"{i + 1},{j + 1}"


def _triple(form: ClosedForm, i: int, j: int, k: int) -> str:
    """The index of c as this course writes it; ours has the equation first."""
    order = form.notation.christoffel_index((i, j, k))
    comma = "," if max(order) > 8 else ""
    return comma.join(str(x + 1) for x in order)
