"""``dynamis report``: an HTML report of a robot."""

from __future__ import annotations

from pathlib import Path

import click

from dynamis.cli.console import clean_name, echo, print_json
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.options import FILE, assignments, floating_option, json_option, names, set_option
from dynamis.cli.output_files import check_output
from dynamis.cli.param_types import NUMBER
from dynamis.cli.progress import Bar
from dynamis.display import counted
from dynamis.errors import InputError, printable

HELP = """Write a report of a robot: one HTML page that opens without a network connection.

    It contains an interactive 3-D view, the model check, equations, maps, workspace, stiffness, motions with their torques and
    energies, base parameters and execution times, with the Python code of each. A section that fails is listed with the reason.

    Exit status: 0 written, 1 written with sections missing, 2 the command could not run.

    \b
    Examples:
      dynamis report ur5e
      dynamis report arm.urdf --out arm.html --without speed --open
      dynamis report planar_2r --set m_1=5 --set m_2=3 \\
          --sections robot,equations,motions
      dynamis report scara --sections robot,check,equations --pdf
    """


@click.command(help=HELP, short_help="Write a report of a robot: HTML, PDF or Markdown.")
@click.argument("robot")
@click.option("-o", "--out", "--output", "out", type=FILE, metavar="FILE",
              help="Output file (.html, .md or .pdf). Default: named after the robot.")  # fmt: skip
@click.option("--sections", metavar="NAMES",
              help="Only these sections, out of robot, check, equations, maps, eigenvalues, workspace, stiffness, motions, "
                   "parameters and speed.")  # fmt: skip
@click.option("--without", metavar="NAMES", help="All sections but these.")
@set_option
@floating_option
@click.option(
    "--seconds",
    type=NUMBER,
    default=30.0,
    show_default=True,
    help="Time limit for extras: further random states in the model check.",
)
@click.option("--pdf", is_flag=True, help="Write a PDF; needs Chromium, Chrome or Edge.")
@click.option("--markdown", is_flag=True, help="Write Markdown: text, tables and formulas, without figures.")
@click.option("--open", "show", is_flag=True, help="Open the report after writing it.")
@json_option
@plain_errors
def report(
    robot: str, out: Path | None, sections: str | None, without: str | None, settings: tuple[str, ...], floating: bool,
    seconds: float, pdf: bool, markdown: bool, show: bool, as_json: bool,
) -> None:  # fmt: skip
    from dynamis.cli.loading import is_pipe, load
    from dynamis.documents.printing import find_browser
    from dynamis.reports.report import contents_of

    if pdf and markdown:
        raise InputError("choose one of --pdf and --markdown")
    suffix = ".pdf" if pdf else ".md" if markdown else ".html"
    if out is not None:
        _check_name(out, suffix if pdf or markdown else None)
        check_output(out, inputs=(robot,))
    if pdf or (out is not None and out.suffix.lower() == ".pdf"):
        find_browser()  # a missing browser is reported before the work
    loaded = load(robot, base="floating" if floating else "fixed")
    with Bar() as bar:
        contents = contents_of(
            loaded, source=None if is_pipe(robot) else robot, sections=names(sections, "--sections", "robot,check"),
            without=names(without, "--without", "speed") or (), values=assignments(settings), seconds=seconds,
            progress=bar.show,
        )  # fmt: skip
        target = out if out is not None else contents.default_path
        if out is None or pdf or markdown:
            target = target.with_suffix(suffix)
        bar.show(1.0, f"writing {target.name}")
        written = contents.write(target)
    missing = {section.key: section.failed for section in contents.sections if section.failed}
    if as_json:
        print_json({
            "path": str(written), "written": [str(written)], "bytes": written.stat().st_size, "robot": contents.title,
            "sections": {s.key: {"seconds": round(s.seconds, 3), "missing": s.failed or None} for s in contents.sections},
        })  # fmt: skip
    else:
        size = f"{written.stat().st_size / 1e6:.2g} MB, {counted(len(contents.sections), 'section')}"
        click.echo(f"wrote {clean_name(written)} ({size})")
        for key, why in missing.items():
            echo((f"  section {key} is missing: {why}", {"fg": "yellow"}), err=True)
    if show:
        click.launch(str(written))
    if missing:
        raise SystemExit(1)


def _check_name(out: Path, suffix: str | None) -> None:
    """The suffix of the file must agree with --pdf and --markdown."""
    if suffix is None and out.suffix.lower() not in (".html", ".htm", ".md", ".pdf"):
        raise InputError(f"{printable(out.name)}: name the report .html, .md or .pdf")
    if suffix is not None and out.suffix.lower() not in ("", suffix):
        raise InputError(f"{printable(out.name)} does not end with {suffix}, as --pdf or --markdown requires")
