"""``dynamis check-answer``: an answer to an exercise, right or wrong and why."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import Any, TextIO

import click

from dynamis.cli.kinds import NOT_NEGATIVE
from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.progress import waiting
from dynamis.errors import InputError, printable

# the quantities of the whole robot, then those of one link (--link)
QUANTITIES = {
    "mass-matrix": "the inertia matrix", "gravity": "the gravity vector", "coriolis": "the Coriolis matrix",
    "christoffel": "Christoffel symbols c_ijk", "velocity-coefficients": "h_ijk before symmetrisation",
    "regressor": "Y, for the parameters by inspection", "parameters": "the parameters by inspection",
    "equations": "the torques", "kinetic-energy": "T", "potential-energy": "U", "coriolis-power": "q̇ᵀ C q̇",
    "last-acceleration": "q̈_n from τ_n and the accelerations before it",
    "kinetic-energy-of-link": "T_i", "potential-energy-of-link": "U_i", "jacobian-of-link": "J_P of the centre of mass",
    "force": "f_i of Newton–Euler", "moment": "μ_i of Newton–Euler",
    "articulated-inertia": "M̂_i", "projected-inertia": "M̄_i", "bias-wrench": "b̂_i",
}  # fmt: skip


def _options(command: Any) -> Any:
    for name, about in reversed(QUANTITIES.items()):
        option = click.option(f"--{name}", type=click.File("r", encoding="utf-8"), metavar="FILE", help=f"{about}.")
        command = option(command)
    return command


def _text(file: TextIO) -> str:
    try:
        return file.read()
    except UnicodeDecodeError:
        raise InputError(f"{printable(file.name)} is no text in UTF-8: give LaTeX or plain formulas") from None


@click.command("check-answer")
@click.argument("robot")
@_options
@click.option("--link", type=int, help="The number of the link, for quantities of one link.")
@click.option("--letters", help="Whose letters: dynamis, rocco, deluca, melchiorri, tzafestas. Found out if not said.")
@click.option("--tolerance", type=NOT_NEGATIVE, default=0.0, show_default=True,
              help="How far decimals may be off, as part of the largest.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def check_answer(robot: str, link: int | None, letters: str | None, tolerance: float, as_json: bool, **files: Any) -> None:
    """Check an answer, in LaTeX or plain formulas, against the closed form.

    Any algebraic form of the right answer is right. For what is wrong: the difference, numbers at which it shows, and the
    usual cause. FILE may be - for standard input.

    Exit status: 0 all is right, 1 something is wrong, 2 the command could not run.

    \b
    Examples:
      dynamis check-answer planar_2r --mass-matrix answer.tex
      echo 'g_1 = m_1 g l_1 + m_2 g (a_1 c_1 + l_2 c_12)' | dynamis check-answer planar_2r --gravity -
      dynamis check-answer planar_2r --kinetic-energy-of-link energy.tex --link 2
    """
    from dynamis.robot import load
    from dynamis.symbolic.checking import check_answer as check

    given = {name: files[name.replace("-", "_")] for name in QUANTITIES if files[name.replace("-", "_")] is not None}
    if not given:
        raise InputError("say what the answer is, such as --mass-matrix FILE; dynamis check-answer -h lists the choices")
    verdicts = {}
    with waiting("deriving"):
        form = load(robot).closed_form(letters)
        for name, file in given.items():
            verdicts[name] = check(form, name, _text(file), body=link, notation=letters, file=file.name, tolerance=tolerance)
    right = all(verdict.correct for verdict in verdicts.values())
    if as_json:
        facts = {name: {**dataclasses.asdict(verdict), "correct": verdict.correct} for name, verdict in verdicts.items()}
        click.echo(json.dumps({"robot": robot, "correct": right, "answers": facts}, indent=2, ensure_ascii=False))
        sys.exit(0 if right else 1)
    for verdict in verdicts.values():
        for finding in verdict.findings:
            click.secho(str(finding), fg="green" if finding.right else "red")
        for line in verdict.report().splitlines()[sum(str(f).count("\n") + 1 for f in verdict.findings) :]:
            click.secho(line, bold=line.startswith(verdict.quantity))
    sys.exit(0 if right else 1)
