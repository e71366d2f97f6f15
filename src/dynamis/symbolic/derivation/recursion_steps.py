"""The same torques by recursion: Newton–Euler link by link, and the articulated-body passes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import coriolis, dynamics, mass_matrix
from dynamis.algorithms.articulated_body import articulated_inertias
from dynamis.algorithms.dynamics import joint_bias
from dynamis.algorithms.kinematics import REST, MovingBase, accelerations, relative_poses, twists
from dynamis.algorithms.newton_euler import joint_wrenches
from dynamis.documents.blocks import Section
from dynamis.documents.document import Document
from dynamis.scalar import topological
from dynamis.spatial import Pose, cross
from dynamis.symbolic.closed_form import ClosedForm

Array = npt.NDArray[Any]
MAX_NEWTON_EULER_DOF = 3  # beyond, a link's quantities no longer fit a line
MAX_ARTICULATED_BODY_DOF = 2
MAX_TERMS_SHOWN = 80


def write(document: Document, form: ClosedForm) -> None:
    """Newton–Euler, the articulated-body algorithm, and operation counts."""
    section = document.section("The Newton–Euler recursion")
    if form.expanded and form.n <= MAX_NEWTON_EULER_DOF and not form.model.coupled:
        _newton_euler(section, form)
    elif form.model.coupled:
        section.say(
            "Some bodies move with the joint of another (mimic joints); `robot.inverse_dynamics` includes them in the "
            "recursion."
        )
    else:
        section.say("Link by link the quantities are too long to print for this robot; `robot.inverse_dynamics` computes them.")
    section = document.section("The articulated-body algorithm")
    if form.expanded and form.n <= MAX_ARTICULATED_BODY_DOF and not form.model.coupled:
        _articulated(section, form)
    elif form.model.coupled:
        section.say("The algorithm requires independent joints, but some bodies move with the joint of another (mimic joints).")
    else:
        section.say("The articulated inertias of this robot are too long to print; `robot.articulated_inertias` computes them.")
    if form.expanded:
        _costs(document.section("Operation counts"), form)


def link_frames(form: ClosedForm) -> list[Pose]:
    """Of each moving body, the frame of its link in the body's frame: for a DH robot, the frame at the link's end."""
    frames = []
    for _, body in form.model.moving:
        named = form.model.frames.get(body.name)
        frames.append(named.pose if named is not None else Pose.identity())
    return frames


def newton_euler_quantities(form: ClosedForm) -> list[dict[str, Array]]:
    """ω, ω̇, p̈, p̈_C, f, μ of each link, as nodes in the axes of its frame (μ about a point of the joint's axis)."""
    model, q, v, a = form.model, form.q, form.v, form.a
    g = np.concatenate([model.gravity, np.zeros(3)])
    X = relative_poses(model, q)
    V = twists(model, X, v)
    A = accelerations(model, X, V, v, a, MovingBase(REST.pose, REST.twist, -g))
    _, F = joint_wrenches(model, q, v, a)
    quantities = []
    for frame, (i, body) in zip(link_frames(form), model.moving, strict=True):
        w, w_dot = V[i][3:], A[i][3:]
        origin = A[i][:3] + cross(w, V[i][:3])

        def of_point(r: Array, origin: Array = origin, w: Array = w, w_dot: Array = w_dot) -> Array:
            return np.asarray(origin + cross(w_dot, r) + cross(w, cross(w, r)))

        axes = frame.R.T
        quantities.append(
            {
                r"\omega": axes @ w,
                r"\dot\omega": axes @ w_dot,
                r"\ddot p": axes @ of_point(frame.p),
                r"\ddot p_C": axes @ of_point(body.inertia.com),
                "f": axes @ F[i][:3],
                r"\mu": axes @ F[i][3:],
            }
        )
    return quantities


def _newton_euler(section: Section, form: ClosedForm) -> None:
    model = form.model
    section.say(
        r"Velocities and accelerations are computed outward from the base, where gravity is an acceleration $-g_0$; forces "
        r"and moments inward from the tip. All quantities of link $i$ are in the axes of its own frame."
    )
    section.show(
        r"\begin{aligned} \omega_i &= R^T(\omega_{i-1} + \dot\vartheta_i z), \quad"
        r" \dot\omega_i = R^T(\dot\omega_{i-1} + \ddot\vartheta_i z + \dot\vartheta_i\, \omega_{i-1} \times z) \\"
        r" \ddot p_i &= R^T \ddot p_{i-1} + \dot\omega_i \times r + \omega_i \times (\omega_i \times r) \\"
        r" f_i &= R f_{i+1} + m_i \ddot p_{C_i}, \quad"
        r" \mu_i = R \mu_{i+1} + r \times R f_{i+1} + r_C \times m_i \ddot p_{C_i} + I_i \dot\omega_i"
        r" + \omega_i \times I_i \omega_i \end{aligned}"
    )
    quantities = newton_euler_quantities(form)
    for number, values in enumerate(quantities, 1):
        section.say(f"Outward, link {number}:")
        for letter in (r"\omega", r"\dot\omega", r"\ddot p", r"\ddot p_C"):
            _vector(section, form, letter, number, values[letter])
    for number, values in reversed(list(enumerate(quantities, 1))):
        section.say(f"Inward, link {number}:")
        for letter in ("f", r"\mu"):
            _vector(section, form, letter, number, values[letter])
        body = model.moving[number - 1][1]
        for k in body.dof:
            left, _, torque = form.equations[k].latex().rpartition(" = ")
            section.show(torque, left)
    section.say("The torques are those of Lagrange's equations.")


def _vector(section: Section, form: ClosedForm, letter: str, number: int, values: Array) -> None:
    formulas = form.formulas(values)
    name = f"{letter[:-2]}_{{C_{number}}}" if letter.endswith("_C") else f"{letter}_{number}"
    if sum(len(x) for x in formulas.flat) > MAX_TERMS_SHOWN:
        section.say(f"${name}$ is too long to print.")
    else:
        section.show(f"{name}^{number} = {formulas.latex()}")


def _articulated(section: Section, form: ClosedForm) -> None:
    model = form.model
    section.say(
        "Each joint carries an articulated body, the distal part of the robot, with inertia $\\hat M$. Propagated across the "
        "joint it is $\\bar M = \\hat M - \\hat M X \\hat m^{-1} X^T \\hat M$, with $\\hat m = X^T \\hat M X$ and the "
        "joint's twist $X$. From the tips to the base, twists with the linear part first:"
    )
    section.show(r"\hat M_i = M_i + \sum_{j \in \mu(i)} A_{ij}^{*}\, \bar M_j\, A_{ij}^{-1}")
    art = articulated_inertias(model, form.q, form.v, form.tau)
    for number, (i, _) in reversed(list(enumerate(model.moving, 1))):
        for letter, values in ((r"\hat M", art.M_hat[i]), (r"\hat m", art.m_hat[i]), (r"\bar M", art.M_bar[i])):
            if values.shape == (1, 1):
                section.show(f"{letter}_{number}", form.expression(values[0, 0]).latex())
                continue
            formulas = form.formulas(values)
            if sum(len(x) for x in formulas.flat) <= 4 * MAX_TERMS_SHOWN:
                section.show(f"{letter}_{number} = {formulas.latex()}")
        bias = form.formulas(art.b_hat[i])
        if sum(len(x) for x in bias.flat) <= MAX_TERMS_SHOWN:
            section.show(rf"\hat b_{number} = {bias.latex()}")
    section.say(
        "Outward again, each acceleration follows from the one before: "
        r"$\ddot q_i = \hat m_i^{-1} "
        r"\bigl(\tau_i - X_i^T(\hat M_i (\dot V_{\lambda(i)} - a_i V_{\lambda(i)}) + \hat b_i)\bigr)$."
    )


def _costs(section: Section, form: ClosedForm) -> None:
    section.say("Additions and multiplications (sines included) of each method, common subexpressions counted once:")
    counts = operation_counts(form)
    section.table(("", "closed form", "recursion"), [(name, str(a), str(b)) for name, a, b in counts])


MAX_NESTED_TERMS = 30_000  # of C: nesting more takes longer than deriving them


def operation_counts(form: ClosedForm, largest: float = MAX_NESTED_TERMS) -> list[tuple[str, int, int]]:
    """(what, closed form, recursion) for M, C, g and τ: operations of each graph, common parts counted once.

    C and τ are left out where C has more terms than ``largest``.
    """
    model, q, v, a = form.model, form.q, form.v, form.a
    M, g = form.M.node(), form.g.node()
    ways: list[tuple[str, Any, Any]] = [
        ("inertia matrix", M, mass_matrix.crba(model, q)),
        ("gravity", g, dynamics.gravity(model, q)),
    ]
    if all(x.expanded for x in form.C.flat) and sum(len(x) for x in form.C.flat) <= largest:
        C = form.coriolis_graph()
        torque = M @ a + C @ v + g + joint_bias(model, q, v)
        ways += [
            ("Coriolis matrix", C, coriolis.coriolis_matrix(model, q, v)),
            ("inverse dynamics", torque, dynamics.inverse_dynamics(model, q, v, a)),
        ]
    return [(name, operations(closed), operations(recursive)) for name, closed, recursive in ways]


def operations(nodes: Any) -> int:
    """Operations of a graph, symbols not counted."""
    return sum(node.op != "symbol" for node in topological(nodes.flat))
