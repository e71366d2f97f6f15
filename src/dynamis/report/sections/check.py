"""The certificate: independent formulations and identities, compared on this very robot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import articulated_body, coriolis, dynamics, mass_matrix, newton_euler, newton_euler_base, regressor
from dynamis.algorithms.joint_physics import dry_torque, spring_torque, viscous_torque
from dynamis.algorithms.lagrange import lagrange_program
from dynamis.model.diagnostics import Report
from dynamis.model.load import check
from dynamis.report.numbers import power, text
from dynamis.report.section import Budget, Facts, Section, Table
from dynamis.report.subject import Subject
from dynamis.robot import Robot

Array = npt.NDArray[Any]

KEY, TITLE = "check", "Check and certificate"
STATES = 50
EXACT = 1e-10  # what a comparison of exact formulations may leave; rounding leaves far less
BY_DIFFERENCES = 1e-7  # what differences of M can resolve
SMALL = 1e-300
LAGRANGE_UP_TO = 12  # degrees of freedom: its derivatives grow quickly


class Worst:
    """The worst relative error of each comparison, in the order they were first made."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[str, float, float, int]] = {}

    def compare(
        self, what: str, against: str, value: Any, reference: Any, limit: float = EXACT, scale: float | None = None
    ) -> None:
        value, reference = np.asarray(value, dtype=float), np.asarray(reference, dtype=float)
        size = max(float(np.abs(reference).max(initial=0.0)) if scale is None else scale, SMALL)
        error = float(np.abs(value - reference).max(initial=0.0)) / size
        _, worst, _, count = self.rows.get(what, ("", 0.0, 0.0, 0))
        self.rows[what] = (against, max(worst, error), limit, count + 1)

    @property
    def passed(self) -> bool:
        return all(error <= limit for _, error, limit, _ in self.rows.values())


def build(subject: Subject, section: Section, budget: Budget) -> None:
    robot = subject.robot
    worst, notes = certificate(robot, budget)
    section.notes += notes
    rows = [
        (what, against, str(count), power(error), power(limit, 0), "agrees" if error <= limit else "DISAGREES")
        for what, (against, error, limit, count) in worst.rows.items()
    ]
    most = max((error for _, error, limit, _ in worst.rows.values() if limit == EXACT), default=0.0)
    verdict = "agree" if worst.passed else "do not all agree"
    section.lead = (
        f"{len(rows)} formulations and identities were compared at random states of this robot; they {verdict}. "
        f"The worst relative error of those that are exact is {power(most)}."
    )
    section.add(
        Facts(
            [
                ("Certificate", "passed" if worst.passed else "failed"),
                ("Comparisons", str(len(rows))),
                ("Worst relative error", power(most)),
            ]
        )
    )
    section.add(
        Table(
            "Certificate",
            ("what was computed", "compared with", "states", "worst error", "allowed", "verdict"),
            rows,
            "Errors are relative to the largest entry of what is compared with.",
        )
    )
    section.add(*_findings(subject, section))
    section.reproduce = (
        f"import numpy as np\nimport dynamis as dy\n\n{subject.load}\nprint(dy.check(robot.description))\n"
        "rng = np.random.default_rng(0)\nq, v, a = robot.random(rng, 50), *rng.uniform(-1, 1, (2, 50, robot.n))\n"
        "M, C = robot.mass_matrix(q), robot.coriolis_matrix(q, v)\n"
        "tau = np.einsum('kij,kj->ki', M, a) + robot.bias(q, v)\nprint(abs(tau - robot.inverse_dynamics(q, v, a)).max())"
    )


def certificate(robot: Robot, budget: Budget) -> tuple[Worst, list[str]]:
    """Every comparison at up to 50 random states, fewer where the time is short; and what was left out."""
    worst, notes, m = Worst(), [], robot.model
    rng = np.random.default_rng(0)
    q, (v, a) = robot.random(rng, STATES), rng.uniform(-1.0, 1.0, (2, STATES, robot.n))
    if robot.n == 0:
        return worst, ["The robot has no joints that move: there is nothing to compare."]
    done = 0
    for k in range(STATES):
        _at_one_state(robot, q[k], v[k], a[k], worst, costly=k < 5)
        done = k + 1
        if budget.spent > 0.4 * budget.seconds:
            notes.append(f"The reference algorithms ran at {done} of {STATES} states, as far as the time went.")
            break
    if robot.n <= LAGRANGE_UP_TO:
        tau, rates = lagrange_program(m)(q[:done], v[:done], a[:done])
        for k in range(done):
            rnea = newton_euler.rnea(m, q[k], v[k], a[k])
            worst.compare(
                "Lagrange’s equations, by differentiating the energies",
                "Newton–Euler",
                tau[k],
                rnea + m.rotor * a[k] + spring_torque(m, q[k]),
            )
            lossless = dynamics.inverse_dynamics(m, q[k], v[k], a[k]) - viscous_torque(m, v[k]) - dry_torque(m, v[k])
            worst.compare(
                "Rate of the energies, d(T + U)/dt",
                "power of the torques, vᵀ τ",
                rates[k].sum(),
                v[k] @ lossless,
                scale=float(np.abs(v[k]) @ np.abs(lossless) + np.abs(rates[k]).sum()),
            )
    else:
        notes.append(f"Lagrange’s equations are differentiated for robots of up to {LAGRANGE_UP_TO} degrees of freedom only.")
    _compiled(robot, q[:done], v[:done], a[:done], worst, budget, notes)
    return worst, notes


def _at_one_state(robot: Robot, q: Array, v: Array, a: Array, worst: Worst, *, costly: bool) -> None:
    m = robot.model
    tau, M = newton_euler.rnea(m, q, v, a), mass_matrix.crba(m, q)
    worst.compare(
        "Newton–Euler in the base’s frame", "Newton–Euler in link frames", newton_euler_base.rnea_base_frame(m, q, v, a), tau
    )
    C, g = coriolis.coriolis_matrix(m, q, v), dynamics.gravity(m, q)
    worst.compare("M a + C v + g", "Newton–Euler", M @ a + C @ v + g, tau + m.rotor * a)
    worst.compare("M as a sum over Jacobians", "composite rigid bodies", mass_matrix.mass_matrix_from_jacobians(m, q), M)
    full = dynamics.inverse_dynamics(m, q, v, a)
    eigenvalues = np.linalg.eigvalsh(M)
    # an acceleration is a difference of what τ and the bias would each produce, and no sharper than they are
    produced = max(float(np.abs(a).max()), float(np.abs(np.linalg.solve(M, dynamics.bias(m, q, v))).max()))
    sharp = max(EXACT, 50.0 * np.finfo(float).eps * float(eigenvalues[-1] / eigenvalues[0])) * produced / float(np.abs(a).max())
    worst.compare(
        "Forward after inverse dynamics", "the acceleration", dynamics.forward_dynamics(m, q, v, full), a, max(sharp, EXACT)
    )
    if not m.coupled:
        driving = full - dynamics.joint_bias(m, q, v)
        worst.compare("Articulated bodies", "M⁻¹ (τ − bias)", articulated_body.aba(m, q, v, driving), a, max(sharp, EXACT))
    worst.compare(
        "Regressor times parameters, Y π", "inverse dynamics", regressor.regressor(m, q, v, a) @ regressor.parameters(m), full
    )
    worst.compare("Sum of the torque ledger", "inverse dynamics", dynamics.torque_ledger(m, q, v, a).total, full)
    if costly:
        M_dot = _by_differences(robot, q, v)
        worst.compare(
            "Ṁ − 2C is skew-symmetric",
            "Ṁ by differences of M",
            C + C.T,
            M_dot,
            BY_DIFFERENCES,
            scale=float(np.abs(M).max() + np.abs(M_dot).max()),
        )


def _by_differences(robot: Robot, q: Array, v: Array, h: float = 1e-5) -> Array:
    M = {s: mass_matrix.crba(robot.model, robot.integrate(q, s * h * v)) for s in (-2, -1, 1, 2)}
    return np.asarray((8.0 * (M[1] - M[-1]) - (M[2] - M[-2])) / (12.0 * h))


def _compiled(robot: Robot, q: Array, v: Array, a: Array, worst: Worst, budget: Budget, notes: list[str]) -> None:
    m = robot.model
    pairs: list[tuple[str, Callable[[], Array], Callable[[int], Array]]] = [
        ("inverse dynamics", lambda: robot.inverse_dynamics(q, v, a), lambda k: dynamics.inverse_dynamics(m, q[k], v[k], a[k])),
        ("mass matrix", lambda: robot.mass_matrix(q), lambda k: mass_matrix.crba(m, q[k])),
        ("gravity", lambda: robot.gravity(q), lambda k: dynamics.gravity(m, q[k])),
        ("Coriolis matrix", lambda: robot.coriolis_matrix(q, v), lambda k: coriolis.coriolis_matrix(m, q[k], v[k])),
    ]
    for name, compiled, reference in pairs:
        if budget.left <= 0.1 * budget.seconds:
            notes.append(f"The compiled {name} was not compared: the time was over.")
            continue
        values = compiled()
        for k in range(len(q)):
            worst.compare(f"Compiled {name}", "the algorithm run step by step", values[k], reference(k))


def findings(subject: Subject) -> Report:
    """Everything wrong or doubtful in the file the robot was read from, or in its description where there is none."""
    return check(subject.given.description if subject.source is None else subject.source)


def _findings(subject: Subject, section: Section) -> list[Table]:
    report = findings(subject)
    if not len(report):
        section.notes.append("The description has no finding: nothing wrong, nothing doubtful.")
        return []
    rows = [(p.severity, p.where, p.found, p.done or "–", p.repair or "–") for p in report]
    return [
        Table(f"Findings in the description: {text(len(rows))}", ("severity", "where", "found", "read as", "to repair"), rows)
    ]
