"""Verification: independent formulations and identities, compared on this robot; and the check of its file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import articulated_body, coriolis, dynamics, mass_matrix, newton_euler, newton_euler_base, regressor
from dynamis.algorithms.joint_physics import dry_torque, spring_torque, viscous_torque
from dynamis.algorithms.lagrange import lagrange_program
from dynamis.display import counted
from dynamis.documents.blocks import Facts, Section, Table
from dynamis.documents.numbers import power
from dynamis.model.diagnostics import Report, summarised
from dynamis.model.load import check
from dynamis.reports.budget import Budget
from dynamis.reports.subject import Subject
from dynamis.robot import Robot
from dynamis.tolerances import EPS, RECURSION_ROUNDING

Array = npt.NDArray[Any]

KEY, TITLE = "check", "Model check and verification"
STATES = ((7, 50), (12, 20), (10**9, 5))  # up to so many degrees of freedom: so many random states
DIFFERENCED_STATES = 5  # of them, at which M is differentiated numerically
MAX_EXTRA_STATES = 50  # while there is time
FORMULATION_TOLERANCE = 100.0 * RECURSION_ROUNDING  # between exact formulations, with a margin for ill-conditioned states
MAX_LAGRANGE_DOF = 12  # its derivatives grow quickly


class Worst:
    """The worst relative error of each comparison, in the order they were first made."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[str, float, float, int]] = {}

    def compare(
        self,
        what: str,
        against: str,
        value: Any,
        reference: Any,
        limit: float = FORMULATION_TOLERANCE,
        scale: float | None = None,
    ) -> None:
        value, reference = np.asarray(value, dtype=float), np.asarray(reference, dtype=float)
        size = max(float(np.abs(reference).max(initial=0.0)) if scale is None else scale, 1e-300)
        error = float(np.abs(value - reference).max(initial=0.0)) / size
        _, worst, _, count = self.rows.get(what, ("", 0.0, 0.0, 0))
        self.rows[what] = (against, max(worst, error), limit, count + 1)

    @property
    def largest(self) -> tuple[float, str]:
        """The largest relative error of all comparisons, and the comparison it belongs to."""
        return max(((error, what) for what, (_, error, _, _) in self.rows.items()), default=(0.0, "none"))

    @property
    def passed(self) -> bool:
        return all(error <= limit for _, error, limit, _ in self.rows.values())


def build(subject: Subject, section: Section) -> None:
    robot = subject.robot
    worst, notes = certificate(robot)
    section.notes += notes
    rows = [
        (what, against, str(count), power(error), power(limit, 0), "agrees" if error <= limit else "DISAGREES")
        for what, (against, error, limit, count) in worst.rows.items()
    ]
    most, where = worst.largest
    verdict = "all agree" if worst.passed else "do not all agree"
    section.lead = (
        f"{len(rows)} independent formulations and identities were compared at random states; they {verdict}. The largest "
        f"relative error is {power(most)} ({where})."
    )
    section.add(
        Facts(
            [
                ("Verification", "passed" if worst.passed else "failed"),
                ("Comparisons", str(len(rows))),
                ("Largest relative error", power(most)),
            ]
        )
    )
    section.add(
        Table(
            "Comparisons",
            ("quantity", "compared with", "states", "largest relative error", "tolerance", "verdict"),
            rows,
            "Errors are relative to the largest entry of the reference. Finite differences have a larger tolerance, and "
            "accelerations one that grows with the condition number of M, since rounding errors of torques do.",
        )
    )
    section.add(*_findings(subject, section))
    section.reproduce = (
        f"import numpy as np\nimport dynamis as dy\n\n{subject.load}\nprint(dy.check(robot.description))\n"
        "rng = np.random.default_rng(0)\nq, v, a = robot.random(rng, 50), *rng.uniform(-1, 1, (2, 50, robot.n))\n"
        "M, C = robot.mass_matrix(q), robot.coriolis_matrix(q, v)\n"
        "tau = np.einsum('kij,kj->ki', M, a) + robot.bias(q, v)\nprint(abs(tau - robot.inverse_dynamics(q, v, a)).max())"
    )


def add_extra(subject: Subject, section: Section, budget: Budget) -> None:
    """The reference algorithms at further random states, as long as there is time."""
    q, v, a = _random_states(subject.robot, 1, MAX_EXTRA_STATES)
    further, done = Worst(), 0
    while done < MAX_EXTRA_STATES and budget.left > 0.0:
        _at_one_state(subject.robot, q[done], v[done], a[done], further, costly=False)
        done += 1
    if done:
        section.notes.append(
            f"Extra, as the time limit allowed: {counted(done, 'further state')}, largest relative error "
            f"{power(further.largest[0])}; "
            f"{'all comparisons agree' if further.passed else 'some comparisons DISAGREE'}."
        )


def certificate(robot: Robot) -> tuple[Worst, list[str]]:
    """Every comparison, at a number of random states that depends on the robot's size alone; and notes."""
    worst, notes, m = Worst(), [], robot.model
    count = next(states for size, states in STATES if robot.n <= size)
    q, v, a = _random_states(robot, 0, count)
    for k in range(count):
        _at_one_state(robot, q[k], v[k], a[k], worst, costly=k < DIFFERENCED_STATES)
    if robot.n <= MAX_LAGRANGE_DOF:
        tau, rates = lagrange_program(m)(q, v, a)
        for k in range(count):
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
        notes.append(f"Lagrange’s equations are compared for robots of up to {MAX_LAGRANGE_DOF} degrees of freedom only.")
    _compiled(robot, q, v, a, worst)
    return worst, notes


def _random_states(robot: Robot, seed: int, count: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    q, (v, a) = robot.random(rng, count), rng.uniform(-1.0, 1.0, (2, count, robot.n))
    return q, v, a


def _at_one_state(robot: Robot, q: Array, v: Array, a: Array, worst: Worst, *, costly: bool) -> None:
    m = robot.model
    tau, M = newton_euler.rnea(m, q, v, a), mass_matrix.crba(m, q)
    worst.compare(
        "Newton–Euler in the base frame", "Newton–Euler in link frames", newton_euler_base.rnea_base_frame(m, q, v, a), tau
    )
    C, g = coriolis.coriolis_matrix(m, q, v), dynamics.gravity(m, q)
    worst.compare("M a + C v + g", "Newton–Euler", M @ a + C @ v + g, tau + m.rotor * a)
    worst.compare(
        "M as a sum over link Jacobians", "composite-rigid-body algorithm", mass_matrix.mass_matrix_from_jacobians(m, q), M
    )
    full = dynamics.inverse_dynamics(m, q, v, a)
    eigenvalues = np.linalg.eigvalsh(M)
    # the acceleration is a difference of those due to τ and to the bias, with their absolute errors
    produced = max(float(np.abs(a).max()), float(np.abs(np.linalg.solve(M, dynamics.bias(m, q, v))).max()))
    sharp = max(FORMULATION_TOLERANCE, 50.0 * EPS * float(eigenvalues[-1] / eigenvalues[0])) * produced / float(np.abs(a).max())
    worst.compare(
        "Forward dynamics of the inverse dynamics",
        "the acceleration",
        dynamics.forward_dynamics(m, q, v, full),
        a,
        max(sharp, FORMULATION_TOLERANCE),
    )
    if not m.coupled:
        driving = full - dynamics.joint_bias(m, q, v)
        worst.compare(
            "Articulated-body algorithm",
            "M⁻¹ (τ − bias)",
            articulated_body.aba(m, q, v, driving),
            a,
            max(sharp, FORMULATION_TOLERANCE),
        )
    worst.compare(
        "Regressor times parameters, Y π", "inverse dynamics", regressor.regressor(m, q, v, a) @ regressor.parameters(m), full
    )
    worst.compare("Sum of the terms of the torque (ledger)", "inverse dynamics", dynamics.torque_ledger(m, q, v, a).total, full)
    if costly:
        M_dot = _by_differences(robot, q, v)
        worst.compare(
            "Ṁ − 2C is skew-symmetric",
            "Ṁ from finite differences of M",
            C + C.T,
            M_dot,
            1e-7,
            scale=float(np.abs(M).max() + np.abs(M_dot).max()),
        )


def _by_differences(robot: Robot, q: Array, v: Array, h: float = 1e-5) -> Array:
    M = {s: mass_matrix.crba(robot.model, robot.integrate(q, s * h * v)) for s in (-2, -1, 1, 2)}
    return np.asarray((8.0 * (M[1] - M[-1]) - (M[2] - M[-2])) / (12.0 * h))


def _compiled(robot: Robot, q: Array, v: Array, a: Array, worst: Worst) -> None:
    m = robot.model
    pairs: list[tuple[str, Callable[[], Array], Callable[[int], Array]]] = [
        ("inverse dynamics", lambda: robot.inverse_dynamics(q, v, a), lambda k: dynamics.inverse_dynamics(m, q[k], v[k], a[k])),
        ("mass matrix", lambda: robot.mass_matrix(q), lambda k: mass_matrix.crba(m, q[k])),
        ("gravity", lambda: robot.gravity(q), lambda k: dynamics.gravity(m, q[k])),
        ("Coriolis matrix", lambda: robot.coriolis_matrix(q, v), lambda k: coriolis.coriolis_matrix(m, q[k], v[k])),
    ]
    for name, compiled, reference in pairs:
        values = compiled()
        for k in range(len(q)):
            worst.compare(f"Compiled {name}", "interpreted algorithm", values[k], reference(k))


def findings(subject: Subject) -> Report:
    """Errors and warnings of the file the robot was read from, or of its description where there is none.

    Values that were given for its symbols are checked with it.
    """
    if subject.source is None:
        return check(subject.given.description)
    report = check(subject.source)
    if subject.values.keys() - subject.assumed:
        known = {(p.code, p.where) for p in report}
        report.problems += [p for p in check(subject.robot.description) if (p.code, p.where) not in known]
    return report


def _findings(subject: Subject, section: Section) -> list[Table]:
    report = findings(subject)
    if not len(report):
        section.notes.append("Model check: no errors or warnings.")
        return []
    rows = [(p.severity, p.where, p.found, p.done or "–", p.repair or "–") for p in summarised(list(report))]
    title = f"Model check: {counted(len(report), 'finding')}"
    return [Table(title, ("severity", "location", "finding", "interpreted as", "suggested repair"), rows)]
