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
from dynamis.errors import SingularError
from dynamis.scalar import Node, topological
from dynamis.spatial import Pose, cross
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.formulas import Formulas
from dynamis.tolerances import SUM_ROUNDING

Array = npt.NDArray[Any]
MAX_NEWTON_EULER_DOF = 3  # beyond, a link's quantities no longer fit a line
MAX_ARTICULATED_BODY_DOF = 2
MAX_TERMS_SHOWN = 80
MAX_MATRIX_CHARACTERS = 250  # of LaTeX in a row of a matrix that is legible on a page


def write(document: Document, form: ClosedForm) -> None:
    """Newton–Euler, the articulated-body algorithm, and operation counts."""
    section = document.section("The Newton–Euler recursion")
    if form.expanded and form.n <= MAX_NEWTON_EULER_DOF and not form.model.coupled:
        _newton_euler(section, form)
    elif form.model.coupled:
        section.say(
            f"Some bodies move with the joint of another ({_followers(form)}); robot.inverse_dynamics includes them in the "
            "recursion."
        )
    else:
        section.say("Link by link the quantities are too long to print for this robot; robot.inverse_dynamics computes them.")
    section = document.section("The articulated-body algorithm")
    if form.expanded and form.n <= MAX_ARTICULATED_BODY_DOF and not form.model.coupled:
        _articulated(section, form)
    elif form.model.coupled:
        section.say(
            f"The algorithm requires independent joints, but some bodies move with the joint of another ({_followers(form)})."
        )
    else:
        section.say("The articulated inertias of this robot are too long to print; robot.articulated_inertias computes them.")
    if form.expanded:
        _costs(document.section("Operation counts"), form)


def _followers(form: ClosedForm) -> str:
    rotors = any(body.is_rotor for _, body in form.model.moving)
    mimics = any((body.ratio != 1.0 or body.offset != 0.0) and not body.is_rotor for _, body in form.model.moving)
    return " and ".join(["mimic joints"] * (mimics or not rotors) + ["rotors mounted on links"] * rotors)


def ends_at_next_joint(form: ClosedForm) -> bool:
    """Whether links have their frames where the next joint begins, as Denavit–Hartenberg frames do."""
    ends = [frame.p for frame in _link_frames(form)]
    number = {i: k for k, (i, _) in enumerate(form.model.moving)}
    joints = [(body.placement.p, ends[number[body.parent]]) for _, body in form.model.moving if body.parent in number]
    return any(_differs(end, np.zeros(3)) for end in ends) and not any(_differs(joint, end) for joint, end in joints)


def _any_nonzero(values: Array) -> bool:
    return any(isinstance(x, Node) or x != 0.0 for x in values)


def _differs(one: Array, other: Array) -> bool:
    pairs = zip(one, other, strict=True)
    return any(x is not y and (isinstance(x, Node) or isinstance(y, Node) or abs(x - y) > SUM_ROUNDING) for x, y in pairs)


def _link_frames(form: ClosedForm) -> list[Pose]:
    """Of each moving body, the frame of its link in the body's frame."""
    named = [form.model.frames.get(body.name) for _, body in form.model.moving]
    return [Pose.identity() if frame is None else frame.pose for frame in named]


def newton_euler_quantities(form: ClosedForm) -> list[dict[str, Array]]:
    """ω, ω̇, p̈, p̈_C, f, μ of each link, as nodes in the axes of its frame, μ about the origin of the body's frame.

    The frame, to whose origin p̈ belongs, is that of the link if links end at the next joint, otherwise the body's.
    """
    model, q, v, a = form.model, form.q, form.v, form.a
    g = np.concatenate([model.gravity, np.zeros(3)])
    X = relative_poses(model, q)
    V = twists(model, X, v)
    A = accelerations(model, X, V, v, a, MovingBase(REST.pose, REST.twist, -g))
    _, F = joint_wrenches(model, q, v, a)
    quantities = []
    frames = _link_frames(form) if ends_at_next_joint(form) else [Pose.identity()] * len(model.moving)
    for frame, (i, body) in zip(frames, model.moving, strict=True):
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
    bodies = [body for _, body in model.moving]
    turns, slides = (any(_any_nonzero(body.S[part].ravel()) for body in bodies) for part in (slice(3, 6), slice(0, 3)))
    if ends_at_next_joint(form):
        frame, last, arm = "link $i$, at its end", "i - 1", "i"
    else:
        frame, last, arm = r"body $i$ (step 1), carried by $\lambda$", r"\lambda", r"\lambda"
    section.say(
        r"Outward from the base, which has the acceleration $-g_0$ for gravity, then inward from the tip. Vectors $i$ are in "
        rf"the frame of {frame}. From its origin, $r_{{C_i}}$ leads to the centre of mass, and $r_i$ there from that of "
        rf"${last}$; "
        "from the origin of body $i$ (step 1), $c_i$ leads to the centre of mass, $s_{ij}$ to that of a body $j$ it carries."
    )
    turned, moved = r"\dot\vartheta_i z_i", rf"\ddot d_i z_i + 2 \omega_{{{last}}} \times \dot d_i z_i"
    rows = [
        rf"\omega_i &= \omega_{{{last}}}"
        + (f" + {turned}" if turns else "")
        + rf", \quad \dot\omega_i = \dot\omega_{{{last}}}"
        + (rf" + \ddot\vartheta_i z_i + \omega_{{{last}}} \times {turned}" if turns else ""),
        rf"\ddot p_i &= \ddot p_{{{last}}} + \dot\omega_{{{arm}}} \times r_i"
        rf" + \omega_{{{arm}}} \times (\omega_{{{arm}}} \times r_i)" + (f" + {moved}" if slides else ""),
        r"\ddot p_{C_i} &= \ddot p_i + \dot\omega_i \times r_{C_i} + \omega_i \times (\omega_i \times r_{C_i}), \quad"
        r" f_i = \textstyle\sum_j f_j + m_i \ddot p_{C_i}",
        r"\mu_i &= \textstyle\sum_j (\mu_j + s_{ij} \times f_j) + c_i \times m_i \ddot p_{C_i} + I_i \dot\omega_i"
        r" + \omega_i \times I_i \omega_i",
    ]  # fmt: skip
    section.show(r"\begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}")
    quantities = newton_euler_quantities(form)
    section.say("Outward:")
    for number, values in enumerate(quantities, 1):
        for letter in (r"\omega", r"\dot\omega", r"\ddot p", r"\ddot p_C"):
            _vector(section, form, letter, number, values[letter])
    section.say("Inward:")
    for number, values in reversed(list(enumerate(quantities, 1))):
        for letter in ("f", r"\mu"):
            _vector(section, form, letter, number, values[letter])
        body = model.moving[number - 1][1]
        for k in body.dof:
            left, _, torque = form.equations[k].latex().rpartition(" = ")
            section.show(torque, left)
    ways = [r"$z_i^T \mu_i$ (revolute)"] * turns + [r"$z_i^T f_i$ (prismatic)"] * slides
    more = [what for what, there in (("rotor inertia", model.rotor), ("friction", model.viscous), ("friction", model.coulomb),
                                     ("springs", model.stiffness)) if _any_nonzero(there)]  # fmt: skip
    added = f", plus that of {' and '.join(dict.fromkeys(more))}" if more else ""
    section.say(f"The torques, {' or '.join(ways)}{added}, are those of Lagrange's equations.")


def _vector(section: Section, form: ClosedForm, letter: str, number: int, values: Array) -> None:
    formulas = form.formulas(values)
    name = f"{letter[:-2]}_{{C_{number}}}" if letter.endswith("_C") else f"{letter}_{number}"
    if sum(len(x) for x in formulas.flat) > MAX_TERMS_SHOWN:
        section.say(f"${name}$ is too long to print.")
    else:
        section.show(f"{name}^{number} = {formulas.latex()}")


def _articulated(section: Section, form: ClosedForm) -> None:
    model = form.model
    rotors = r" $+$ the reflected rotor inertia" if _any_nonzero(model.rotor) else ""
    section.say(
        "Each joint carries an articulated body, the distal part of the robot, with inertia $\\hat M$. Propagated across the "
        f"joint it is $\\bar M = \\hat M - \\hat M X \\hat m^{{-1}} X^T \\hat M$, with $\\hat m = X^T \\hat M X$"
        f"{rotors} and the joint's twist $X$. From the tips to the base, twists with the linear part first:"
    )
    section.show(r"\hat M_i = M_i + \sum_{j \in \mu(i)} A_{ij}^{*}\, \bar M_j\, A_{ij}^{-1}")
    bias = joint_bias(model, form.q, form.v)
    try:
        art = articulated_inertias(model, form.q, form.v, form.tau - bias)
    except SingularError:
        section.say(r"Here the inertia $\hat m$ of a joint is zero, so that the algorithm cannot be carried out.")
        return
    for number, (i, _) in reversed(list(enumerate(model.moving, 1))):
        for letter, values in ((r"\hat M", art.M_hat[i]), (r"\hat m", art.m_hat[i]), (r"\bar M", art.M_bar[i])):
            if values.shape == (1, 1):
                section.show(f"{letter}_{number}", form.expression(values[0, 0]).latex())
                continue
            _inertia(section, f"{letter}_{number}", form.formulas(values))
        b_hat = form.formulas(art.b_hat[i])
        if sum(len(x) for x in b_hat.flat) <= MAX_TERMS_SHOWN:
            section.show(rf"\hat b_{number} = {b_hat.latex()}")
    lost = _any_nonzero(bias)
    section.say(
        r"Outward again, from $\dot V_0 = (-g_0, 0)$, each acceleration follows from the one before: "
        rf"$\ddot q_i = \hat m_i^{{-1}} \bigl(\tau_i {'- b_i ' if lost else ''}"
        r"- X_i^T(\hat M_i (\dot V_{\lambda(i)} - a_i V_{\lambda(i)}) + \hat b_i)\bigr)$"
        + (", with the torques $b_i$ of friction and springs." if lost else ".")
    )


def _inertia(section: Section, name: str, formulas: Formulas) -> None:
    """A symmetric matrix, or the list of its entries where it does not fit a line."""
    if sum(len(x) for x in formulas.flat) > 4 * MAX_TERMS_SHOWN:
        return
    texts = np.array([[x.latex() for x in row] for row in formulas])
    if sum(max(map(len, column)) for column in texts.T) <= MAX_MATRIX_CHARACTERS:
        section.show(f"{name} = {formulas.latex()}")
        return
    section.say(f"${name}$ is symmetric; its entries that are not zero:")
    for i, j in zip(*np.triu_indices(len(texts)), strict=True):
        if not formulas[i, j].is_zero:
            section.show(rf"\bigl({name}\bigr)_{{{i + 1}{j + 1}}}", texts[i, j])


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
