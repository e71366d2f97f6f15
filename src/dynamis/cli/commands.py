"""The commands; each imports what it needs when it runs, so that help is quick."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from dynamis.cli.bench import bench
from dynamis.cli.bounds import assignments, bounds
from dynamis.cli.check_answer import check_answer
from dynamis.cli.compare import compare
from dynamis.cli.completion import complete, completion
from dynamis.cli.control import control
from dynamis.cli.derive import derive
from dynamis.cli.excite import excite
from dynamis.cli.forward import forward
from dynamis.cli.identify import identify
from dynamis.cli.inverse import inverse
from dynamis.cli.linearize import linearize
from dynamis.cli.payload import payload
from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.progress import waiting
from dynamis.cli.redundancy import redundancy
from dynamis.cli.report import report
from dynamis.cli.simulate import simulate, study
from dynamis.cli.states import loaded
from dynamis.cli.statics import statics
from dynamis.cli.stiffness import stiffness
from dynamis.cli.sweep import sweep
from dynamis.cli.workspace import workspace
from dynamis.cli.writing import check_output, whole
from dynamis.version import __version__

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(context_settings=CONTEXT)
@click.version_option(__version__, "-V", "--version", prog_name="dynamis", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """The dynamics of robot manipulators.

    ROBOT is a name of the library (dynamis robots) or a .urdf or .toml file. Files that are there are replaced, whole or not
    at all; a file that is read is not.

    \b
    Exit status:
      0    done, and all is well
      1    done, and the answer is no: errors found, models that differ, sections missing, …
      2    not done: bad input, or a file that cannot be read or written
      130  interrupted by Ctrl-C
      141  nobody reads the output any more

    \b
    Example:
      dynamis info ur5e
    """
    # rich looks at these itself, click does not
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        ctx.color = False


for _command in (
    derive, check_answer, bounds, inverse, forward, linearize, simulate, study, sweep, statics, stiffness, workspace,
    redundancy, control, excite, identify, payload, compare, bench, report, completion,
):  # fmt: skip
    _command.context_settings = {**CONTEXT, **_command.context_settings}
    cli.add_command(_command)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def robots(as_json: bool) -> None:
    """List the robots of the library.

    \b
    Example:
      dynamis robots
    """
    from dynamis.cli.tables import print_library
    from dynamis.model.library import library_table

    if as_json:
        click.echo(json.dumps(dict(library_table()), indent=2, ensure_ascii=False))
    else:
        print_library(library_table())


@cli.command()
@click.argument("robot")
@click.option("--floating", is_flag=True, help="Let the base move freely.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a symbol of the robot; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def info(robot: str, floating: bool, settings: tuple[str, ...], as_json: bool) -> None:
    """Show what a robot is: its joints, its links, its dynamics at rest.

    \b
    Examples:
      dynamis info ur5e
      dynamis info my_arm.urdf --json
    """
    from dynamis.cli.summary import summarise
    from dynamis.cli.tables import print_summary
    from dynamis.robot import load

    found = load(robot, base="floating" if floating else "fixed", parameters=assignments(settings) or None)
    with waiting("looking"):
        summary = summarise(found)
    if as_json:
        click.echo(json.dumps(summary, indent=2, ensure_ascii=False))
    else:
        print_summary(summary, found)


@cli.command()
@click.argument("file")
@click.option("--strict", is_flag=True, help="Count warnings as errors.")
@click.option("--repair", "out", type=click.Path(dir_okay=False, path_type=Path), metavar="OUT",
              help="Write a mended copy (.urdf or .toml): nearest possible inertias, unit axes, limits in order.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def check(file: str, strict: bool, out: Path | None, as_json: bool) -> None:
    """Look for everything wrong or doubtful in a robot file.

    Exit status: 0 nothing wrong (perhaps warnings), 1 errors (with --strict also warnings), 2 the command could not run.

    \b
    Examples:
      dynamis check my_arm.urdf
      dynamis check my_arm.urdf --repair mended.urdf
    """
    from dynamis.cli.tables import print_report
    from dynamis.model.load import read

    check_output(out, (".urdf", ".toml"), (file,))
    description, report = read(file)
    changes: list[str] = []
    if out is not None and description is not None and report.ok:
        from dynamis.model.repair import repair
        from dynamis.robot import Robot

        mended, changes = repair(description)
        whole(out, Robot(mended).write)
    if as_json:
        findings = [problem.as_dict() for problem in report]
        result = {"source": report.source, "ok": report.ok, "problems": findings, "repaired": changes}
        result["written"] = [str(out)] if out is not None and report.ok else []
        click.echo(json.dumps(result, indent=2, ensure_ascii=False))
    else:
        print_report(report)
        if out is not None and report.ok:
            for change in changes:
                click.echo(f"  mended {change}")
            click.echo(f"wrote {out}, {len(changes)} change(s); it holds what the model holds: controllers, materials and")
            click.echo("other tags that the dynamics does not use stay in the original only")
    if out is not None and not report.ok:
        click.secho(f"dynamis: {out} not written: errors are not mended, only doubtful physics is", fg="red", err=True)
    sys.exit(1 if report.errors or (strict and report.problems) else 0)


@cli.command()
@click.argument("robot")
@click.argument("out", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--form", type=click.Choice(["link", "dh", "mdh", "poe"]), default="link", show_default=True,
              help="How a .toml places its links: freely, by standard or modified DH table, by screws.")  # fmt: skip
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a symbol of the robot; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def convert(robot: str, out: Path, form: str, settings: tuple[str, ...], as_json: bool) -> None:
    """Write a robot in another format: URDF, DH table, product of exponentials.

    \b
    Examples:
      dynamis convert ur5e ur5e.urdf
      dynamis convert my_arm.urdf my_arm.toml --form dh
    """
    from dynamis.robot import load

    check_output(out, (".urdf", ".toml"), (robot,))
    found = load(robot, parameters=assignments(settings) or None)
    whole(out, lambda file: found.write(file, form))
    _say_written([out], as_json)


@cli.command()
@click.argument("robot")
@click.argument("function")
@click.option("--to", type=click.Choice(["c"]), default="c", show_default=True, expose_value=False, help="The language.")
@click.option(
    "--precision", type=click.Choice(["double", "float"]), default="double", show_default=True, help="Of its numbers."
)
@click.option("-o", "--out", type=click.Path(file_okay=False, path_type=Path), default=Path(), show_default="here",
              metavar="FOLDER", help="The folder.")  # fmt: skip
@click.option("--name", metavar="NAME", help="Name of the C function and of both files; dynamis_FUNCTION unless given.")
@click.option("--floating", is_flag=True, help="Let the base move freely.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a symbol of the robot; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def export(
    robot: str, function: str, precision: str, out: Path, name: str | None, floating: bool, settings: tuple[str, ...],
    as_json: bool,
) -> None:  # fmt: skip
    """Write a robot's function as C99: a header and a source, with a self-test, without dependencies.

    \b
    Example:
      dynamis export ur5e inverse_dynamics --to c
      cc -std=c99 -O2 -DDYNAMIS_INVERSE_DYNAMICS_SELFTEST dynamis_inverse_dynamics.c -lm && ./a.out
      dynamis export ur5e forward_dynamics --name ur5e_acceleration -o controller
    """
    found = loaded(robot, settings, floating)
    with waiting("writing"):
        written = found.write_c(function, out, name=name, precision=precision)
    _say_written(written, as_json)


def _say_written(paths: list[Path], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"written": [str(path) for path in paths]}, indent=2, ensure_ascii=False))
        return
    for path in paths:
        click.echo(f"wrote {path}")


@cli.command()
@click.argument("robot")
@click.argument("function")
@click.option("--as", "form", type=click.Choice(["graph", "llvm", "asm", "c", "cuda"]), default="graph", show_default=True,
              help="What to print.")  # fmt: skip
@click.option(
    "--precision", type=click.Choice(["double", "float"]), default="double", show_default=True, help="Of its numbers."
)
@click.option("--floating", is_flag=True, help="Let the base move freely.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a symbol of the robot; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def show(
    robot: str, function: str, form: str, precision: str, floating: bool, settings: tuple[str, ...], as_json: bool
) -> None:
    """Print what a function becomes: its listing, LLVM IR, this machine's assembly, C or CUDA C.

    \b
    Example:
      dynamis show ur5e gravity --as asm
    """
    from dynamis.compiler import c_text, cuda_text, jit
    from dynamis.compiler.llvm_text import render

    found = loaded(robot, settings, floating)
    with waiting("compiling"):
        code = found.kernel(function).code
    if form == "graph":
        text = code.text()
    elif form == "c":
        results = [c_text.RESULTS.get(function, "")]
        text = "\n".join(c_text.render(code, f"dynamis_{function}", precision, function, [], results))
    elif form == "cuda":
        text = cuda_text.render(code, f"dynamis_{function}", precision)
    else:
        text = render(code, jit.host_target(precision))
        text = jit.assembly(text) if form == "asm" else text
    if as_json:
        facts = {"robot": found.name, "function": function, "as": form, "precision": precision, "text": text}
        click.echo(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        click.echo(text)


complete(cli)
