"""``dynamis check-answer``: an answer to an exercise, right or wrong and why."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any, TextIO

import click

from dynamis.cli.console import echo, print_json
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.options import assignments, set_option
from dynamis.cli.param_types import NOT_NEGATIVE, Integer
from dynamis.cli.progress import waiting
from dynamis.errors import InputError, printable

# the quantities of the whole robot, then those of one link (--link)
QUANTITIES = {
    "mass-matrix": "Inertia matrix M(q)", "coriolis": "Coriolis matrix C(q, q̇)", "coriolis-vector": "Vector C(q, q̇) q̇",
    "gravity": "Gravity vector g(q)", "equations": "Equations of motion, or the torques τ",
    "kinetic-energy": "Kinetic energy T", "potential-energy": "Potential energy U, up to a constant",
    "christoffel": "Christoffel symbols c_ijk", "velocity-coefficients": "Coefficients h_ijk, before symmetrisation",
    "regressor": "Regressor Y of the parameters found by inspection", "parameters": "Parameters π found by inspection",
    "coriolis-power": "Power q̇ᵀ C q̇", "last-acceleration": "Acceleration q̈_n from τ_n and the accelerations before",
    "kinetic-energy-of-link": "Kinetic energy T_i", "potential-energy-of-link": "Potential energy U_i, up to a constant,",
    "jacobian-of-link": "Jacobian J_P of the centre of mass, J_O or both", "force": "Newton–Euler force f_i",
    "moment": "Newton–Euler moment μ_i", "articulated-inertia": "Articulated-body inertia M̂_i",
    "projected-inertia": "Articulated-body inertia M̄_i projected by the joint", "bias-wrench": "Bias wrench b̂_i",
}  # fmt: skip


def _options(command: Any) -> Any:
    of_link = list(QUANTITIES).index("kinetic-energy-of-link")
    for k, (name, about) in reversed(list(enumerate(QUANTITIES.items()))):
        text = f"{about}{' of one link' if k >= of_link else ''}."
        command = click.option(f"--{name}", type=click.File("r", encoding="utf-8"), metavar="FILE", help=text)(command)
    return command


def _option_name(token: str) -> str:
    """--mass_matrix, --inertia-matrix and --M as --mass-matrix."""
    from dynamis.classroom.checking import canonical

    name = canonical(token)
    return name if name in QUANTITIES else token


def _text(file: TextIO) -> str:
    try:
        return file.read()
    except UnicodeDecodeError:
        raise InputError(f"{printable(file.name)} is not UTF-8 text: write LaTeX or plain formulas") from None


@click.command("check-answer", context_settings={"token_normalize_func": _option_name})
@click.argument("robot")
@_options
@click.option("--link", type=Integer(1, 1000), help="Number of the link, from 1, for quantities of one link only.")
@click.option(
    "--letters", help="Notation of the answer: dynamis, rocco, deluca, melchiorri, tzafestas. Detected automatically."
)
@click.option("--tolerance", type=NOT_NEGATIVE, default=0.0, show_default=True,
              help="Largest error of a coefficient, relative to the largest coefficient.")  # fmt: skip
@set_option
@click.option("--hint", is_flag=True, help="Print the probable cause of each error, but not the solution.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def check_answer(
    robot: str, link: int | None, letters: str | None, tolerance: float, settings: tuple[str, ...], hint: bool, as_json: bool,
    **files: Any,
) -> None:  # fmt: skip
    """Check an answer to an exercise against the exact equations of motion.

    FILE holds the answer in LaTeX or as plain formulas; - reads standard input. Any algebraic form of the correct answer is
    accepted, and so is a part of it: what was not given is listed. For each wrong entry the command prints the probable
    cause, the correct formula, the difference and a numerical counterexample; with --hint only the cause. Common names of
    quantities work as options too: --inertia-matrix, --mass_matrix, --torque.

    Coordinates are q_1, q_2, … or the names of the joints, such as x and \\theta. Equations that hold only if a torque
    vanishes are correct, and the command says which joint is then not actuated.

    A Coriolis matrix other than the Christoffel matrix, but with the correct C q̇, is reported as such.

    Exit status: 0 everything given is correct, 1 something is wrong, an equation of motion could not be read, or C is not the
    Christoffel matrix, 2 the command could not run.

    \b
    Examples:
      dynamis check-answer planar_2r --mass-matrix answer.tex
      dynamis check-answer planar_2r --mass-matrix answer.tex --hint
      echo 'g_1 = m_1 g l_1 + m_2 g (a_1 c_1 + l_2 c_12)' | \\
          dynamis check-answer planar_2r --gravity -
      dynamis check-answer planar_2r --kinetic-energy-of-link energy.tex --link 2
    """
    from dynamis.classroom.answers.source import detected_format
    from dynamis.classroom.checking import check_answer as check
    from dynamis.classroom.checking.quantities import is_of_link
    from dynamis.cli.loading import load

    given = {name: files[name.replace("-", "_")] for name in QUANTITIES if files[name.replace("-", "_")] is not None}
    if not given:
        raise InputError(
            "name the quantity and the file with the answer, such as --mass-matrix answer.tex; "
            "dynamis check-answer -h lists all quantities"
        )
    of_link = [name for name in given if is_of_link(name)]
    verdicts, formats = {}, {}
    with waiting("deriving"):
        form = load(robot, parameters=assignments(settings) or None).closed_form(letters)
        for name, file in given.items():
            text = _text(file)
            formats[name] = detected_format(text)
            body = link if name in of_link or not of_link else None
            verdict = check(form, name, text, body=body, notation=letters, file=file.name, tolerance=tolerance)
            verdicts[name] = verdict.without_solution() if hint else verdict
    right = all(verdict.correct for verdict in verdicts.values())
    if as_json:
        facts = {
            name: {
                **dataclasses.asdict(verdict),
                "format": formats[name],
                "correct": verdict.correct,
                "complete": verdict.complete,
            }
            for name, verdict in verdicts.items()
        }
        print_json({"robot": robot, "correct": right, "answers": facts})
        sys.exit(0 if right else 1)
    for name, verdict in verdicts.items():
        notation = f", notation {verdict.letters}" if verdict.letters else ""
        echo((f"read as {formats[name]}{notation}", {"dim": True}))
        for line in verdict.introduction(hint=hint):
            echo((line, {"bold": True}))
        for finding in verdict.findings:
            colour = "green" if finding.right else "yellow" if finding.alternative else "red"
            echo((finding.text(hint=hint), {"fg": colour}))
        for line in verdict.conclusion(hint=hint):
            echo((line, {"bold": line.startswith(verdict.quantity)}))
    sys.exit(0 if right else 1)
