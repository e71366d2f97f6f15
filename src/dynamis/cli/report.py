"""``dynamis report``: the analysis of a robot in one file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dynamis.cli.bounds import assignments
from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.progress import Bar
from dynamis.cli.writing import check_output
from dynamis.errors import InputError, printable


def words(text: str | None, option: str) -> list[str] | None:
    """Names separated by commas or spaces."""
    if text is None:
        return None
    found = text.replace(",", " ").split()
    if not found:
        raise InputError(f"{option} takes names of sections separated by commas, such as {option} robot,check")
    return found


@click.command()
@click.argument("robot")
@click.option("--out", "-o", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Output file (.html, .md or .pdf); default: the robot's name.")  # fmt: skip
@click.option("--sections", metavar="NAMES",
              help="Include only these sections, of robot, check, equations, maps, eigenvalues, workspace, stiffness, "
                   "motions, parameters and speed.")  # fmt: skip
@click.option("--without", metavar="NAMES", help="Omit these sections.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="A value for a symbol of the robot; repeatable.")  # fmt: skip
@click.option("--floating", is_flag=True, help="Let the base move freely.")
@click.option(
    "--seconds",
    type=float,
    default=30.0,
    show_default=True,
    help="Time limit for extras: further random states in the model check.",
)
@click.option("--pdf", is_flag=True, help="Write a PDF, printed by the Chromium, Chrome or Edge of this machine.")
@click.option("--markdown", is_flag=True, help="Write Markdown: text, tables and formulas, without figures.")
@click.option("--open", "show", is_flag=True, help="Open the file when it is written.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def report(
    robot: str, out: Path | None, sections: str | None, without: str | None, settings: tuple[str, ...], floating: bool,
    seconds: float, pdf: bool, markdown: bool, show: bool, as_json: bool,
) -> None:  # fmt: skip
    """Write the analysis of a robot to one file.

    The page is self-contained and works offline: interactive 3-D view, model check, equations of motion, maps of gravity and
    inertia, workspace, stiffness, simulated motions, base parameters, computation times, and Python code that reproduces each
    section. A section that fails contains the error message.

    Exit status: 0 written, 1 written with sections missing, 2 the command could not run.

    \b
    Examples:
      dynamis report ur5e
      dynamis report arm.urdf --out arm.html --without speed --open
      dynamis report planar_2r --set m_1=5 --set m_2=3 --sections robot,equations,motions
      dynamis report panda --sections robot,check,equations --pdf
    """
    from dynamis.report.printing import find_browser
    from dynamis.report.report import contents_of
    from dynamis.robot import load

    if pdf and markdown:
        raise InputError("choose one of --pdf and --markdown")
    suffix = ".pdf" if pdf else ".md" if markdown else ".html"
    if out is not None:
        _check_name(out, suffix if pdf or markdown else None)
        check_output(out, inputs=(robot,))
    if pdf or (out is not None and out.suffix.lower() == ".pdf"):
        find_browser()  # before any work is done for nothing
    loaded = load(robot, base="floating" if floating else "fixed")
    with Bar() as bar:
        contents = contents_of(
            loaded, source=robot, sections=words(sections, "--sections"), without=words(without, "--without") or (),
            values=assignments(settings), seconds=seconds, progress=bar.show,
        )  # fmt: skip
        target = out if out is not None else contents.default_path
        if out is None or pdf or markdown:
            target = target.with_suffix(suffix)
        bar.show(1.0, f"writing {target.name}")
        written = contents.write(target)
    missing = {section.key: section.failed for section in contents.sections if section.failed}
    if as_json:
        told = {
            "path": str(written), "written": [str(written)], "bytes": written.stat().st_size, "robot": contents.title,
            "sections": {s.key: {"seconds": round(s.seconds, 3), "missing": s.failed or None} for s in contents.sections},
        }  # fmt: skip
        click.echo(json.dumps(told, indent=2, ensure_ascii=False))
    else:
        count = len(contents.sections)
        click.echo(f"wrote {written} ({written.stat().st_size / 1e6:.2g} MB, {count} section{'s' if count > 1 else ''})")
        for key, why in missing.items():
            click.secho(f"  {key} is missing: {why}", fg="yellow", err=True)
    if show:
        click.launch(str(written))
    if missing:
        raise SystemExit(1)


def _check_name(out: Path, suffix: str | None) -> None:
    """The ending says what is written, and an option that says it too must agree."""
    if suffix is None and out.suffix.lower() not in (".html", ".htm", ".md", ".pdf"):
        raise InputError(f"{printable(out.name)}: name the report .html, .md or .pdf")
    if suffix is not None and out.suffix.lower() not in ("", suffix):
        raise InputError(f"{printable(out.name)} does not end with {suffix}, which is what was asked for")
