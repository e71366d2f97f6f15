"""``dynamis derive``: the equations of motion, and the derivation as a document."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dynamis.cli.console import clean, clean_name, echo, print_json
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.options import assignments, json_option, set_option
from dynamis.cli.output_files import check_output, whole
from dynamis.cli.param_types import NOT_NEGATIVE
from dynamis.cli.progress import Bar
from dynamis.cli.states import require_joints
from dynamis.display import counted
from dynamis.documents.document import PDF, RENDERERS, SUFFIXES
from dynamis.documents.printing import find_browser
from dynamis.errors import InputError

MAX_UNASKED_CHARACTERS = 20_000  # on a terminal; longer text is printed after confirmation


def on_terminal() -> bool:
    """Whether a person reads the output and can answer a question."""
    return sys.stdin.isatty() and sys.stdout.isatty()


@click.command()
@click.argument("robot")
@click.option(
    "--letters", default="dynamis", show_default=True, help="Notation: dynamis, rocco, deluca, melchiorri or tzafestas."
)
@click.option("-o", "--out", "--output", "output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write the derivation to a .html (needs no network), .tex, .md, .ipynb or .pdf file (a PDF is "
                   "printed by Chromium, Chrome or Edge).")  # fmt: skip
@click.option("--as", "form", type=click.Choice(["equations", *RENDERERS]), default="equations", show_default=True,
              help="What to print to standard output when no -o is given.")  # fmt: skip
@click.option(
    "--seconds",
    type=NOT_NEGATIVE,
    default=60.0,
    show_default=True,
    help="Time limit for expanding the equations; larger robots are printed with named parts.",
)
@set_option
@json_option
@plain_errors
def derive(
    robot: str, letters: str, output: Path | None, form: str, seconds: float, settings: tuple[str, ...], as_json: bool
) -> None:
    """Derive the equations of motion in closed form.

    Without -o the equations are printed as text. With -o the whole derivation is written, step by step: frames, Jacobians,
    energies, inertia matrix, Christoffel symbols, equations of motion, parameters, and the recursive algorithms.

    \b
    Examples:
      dynamis derive planar_2r
      dynamis derive planar_2r --set m_1=2 --set g=9.81
      dynamis derive planar_2r --letters rocco -o planar.html
      dynamis derive scara --as markdown
    """
    from dynamis.cli.loading import load
    from dynamis.robot.checks import warn_of_open_loops

    check_output(output, SUFFIXES)
    if form != "equations" and (as_json or output is not None):
        raise InputError(f"--as {form} prints to standard output: leave out {'--json' if as_json else '-o, or --as'}")
    if output is not None and output.suffix == PDF:
        find_browser()  # before the work
    loaded = load(robot, parameters=assignments(settings) or None)
    require_joints(loaded)
    warn_of_open_loops(loaded, "these equations")
    with Bar() as bar:

        def tell(done: int, total: int, terms: int) -> None:
            bar.show(done / total, f"expanding, {counted(terms, 'term')}")

        closed = loaded.closed_form(letters, seconds=seconds, progress=tell)
    if not closed.expanded:
        echo((f"dynamis: {closed.status}", {"fg": "yellow"}), err=True)
    if output is not None:
        with Bar() as bar:
            steps = iter(range(1, 100))
            document = closed.derivation(progress=lambda title: bar.show(min(1.0, next(steps) / 18), title))
        whole(output, document.write)
    equations = [str(x) for x in (*closed.equations, *closed.actuator_equations)] if closed.expanded else []
    if as_json:
        facts = {
            "robot": loaded.name, "letters": letters, "expanded": closed.expanded, "status": closed.status,
            "equations": equations, "written": [] if output is None else [str(output)],
        }  # fmt: skip
        print_json(facts)
    elif output is not None:
        echo(f"wrote {clean_name(output)}")
    elif form == "equations":
        size = sum(map(len, equations))
        if size > MAX_UNASKED_CHARACTERS and on_terminal():
            echo(f"The equations are {size / 1000:.0f} kB of text; -o FILE.html writes them as a typeset page.", err=True)
            click.confirm("Print them anyway?", abort=True, err=True)
        for equation in equations:
            echo(f"{equation}\n")
        if not closed.expanded:
            echo("the equations are too long to print; --as markdown shows them with named parts")
    else:
        _, render = RENDERERS[form]
        click.echo(clean(render(closed.derivation()).rstrip("\n")))  # a document for a file: its lines are not broken
