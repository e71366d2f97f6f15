"""The commands; each imports what it needs when it runs, so that help is quick."""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dynamis.cli.bench import bench
from dynamis.cli.bounds import bounds
from dynamis.cli.calibrate import calibrate
from dynamis.cli.check_answer import check_answer
from dynamis.cli.collide import collide
from dynamis.cli.compare import compare
from dynamis.cli.completion import complete, completion
from dynamis.cli.console import echo, echo_text, print_json, print_written
from dynamis.cli.control import control
from dynamis.cli.derive import derive
from dynamis.cli.error_handling import plain_errors, print_error
from dynamis.cli.excite import excite
from dynamis.cli.fmu import fmu
from dynamis.cli.forward import forward
from dynamis.cli.groups import SubjectGroup
from dynamis.cli.identify import identify
from dynamis.cli.inverse import inverse
from dynamis.cli.kinematics import inverse_kinematics, pose
from dynamis.cli.linearize import linearize
from dynamis.cli.loading import add_xacro_option, is_pipe, piped, xacro_args
from dynamis.cli.options import FILE, FOLDER, assignments, floating_option, frame_option, json_option, set_option
from dynamis.cli.output_files import check_output, whole
from dynamis.cli.payload import payload
from dynamis.cli.progress import waiting
from dynamis.cli.redundancy import redundancy
from dynamis.cli.report import report
from dynamis.cli.simulate import simulate, study
from dynamis.cli.states import loaded
from dynamis.cli.statics import statics
from dynamis.cli.stiffness import stiffness
from dynamis.cli.sweep import sweep
from dynamis.cli.workspace import workspace
from dynamis.display import counted
from dynamis.version import __version__

if TYPE_CHECKING:
    from dynamis.model.description import Description

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
SUBJECTS = {
    "Models": ("robots", "info", "check", "convert", "compare", "report"),
    "Equations of motion": ("derive", "check-answer", "bounds"),
    "Kinematics": ("pose", "ik"),
    "Dynamics": ("id", "fd", "linearize"),
    "Simulation": ("simulate", "sweep", "study"),
    "Control": ("control", "redundancy"),
    "Statics and workspace": ("statics", "stiffness", "workspace", "collide"),
    "Identification": ("excite", "identify", "payload", "calibrate"),
    "Code": ("export", "fmu", "show", "bench"),
    "Tools": ("completion",),
}

HELP = """Dynamics of robot manipulators.

    ROBOT is a name of the library (see dynamis robots), a .urdf, .xacro, .sdf, .mjcf, .usd or .toml file, or - for
    standard input. Existing output files are replaced atomically; input files are never modified. dynamis COMMAND --help
    describes a command.

    \b
    Exit status:
      0    success
      1    success with a negative result: errors in a model, models that
           differ, missing sections, …
      2    the command could not run: bad input, unreadable or unwritable file
      130  interrupted (Ctrl-C)
      141  the reader of the output closed the pipe

    \b
    Example:
      dynamis info ur5e
    """


@click.group(cls=SubjectGroup, subjects=SUBJECTS, context_settings=CONTEXT, help=HELP)
@click.version_option(__version__, "-V", "--version", prog_name="dynamis", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    # Rich reads these variables itself, click does not
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        ctx.color = False


for _command in (
    derive, check_answer, bounds, pose, inverse_kinematics, inverse, forward, linearize, simulate, study, sweep, statics,
    stiffness, workspace, collide, redundancy, control, excite, identify, payload, calibrate, compare, bench, fmu, report,
    completion,
):  # fmt: skip
    _command.context_settings = {**CONTEXT, **_command.context_settings}
    cli.add_command(_command)


ROBOTS_HELP = """List the robots of the library.

    \b
    Example:
      dynamis robots
    """


@cli.command(help=ROBOTS_HELP, short_help="List the robots of the library.")
@json_option
@plain_errors
def robots(as_json: bool) -> None:
    from dynamis.cli.robot_tables import print_library
    from dynamis.model.library import library

    if as_json:
        print_json(library())
    else:
        print_library(library())


INFO_HELP = """Show the joints, links and drives of a robot, and its dynamics in the home configuration.

    \b
    Examples:
      dynamis info ur5e
      dynamis info my_arm.urdf --json
    """


@cli.command(help=INFO_HELP, short_help="Joints, links, drives, and dynamics at home.")
@click.argument("robot")
@floating_option
@set_option
@json_option
@plain_errors
def info(robot: str, floating: bool, settings: tuple[str, ...], as_json: bool) -> None:
    from dynamis.cli.loading import load
    from dynamis.cli.robot_tables import print_summary
    from dynamis.cli.summary import summarise

    found = load(robot, base="floating" if floating else "fixed", parameters=assignments(settings) or None)
    with waiting("computing"):
        summary = summarise(found)
    if as_json:
        print_json(summary)
    else:
        print_summary(summary, found)


CHECK_HELP = """Check a robot file: syntax, structure and physical consistency.

    With --repair, a URDF written as URDF keeps the original document; only the repaired values change.

    Exit status: 0 no errors (perhaps warnings), 1 errors (with --strict also warnings), 2 the command could not run.

    \b
    Examples:
      dynamis check my_arm.urdf
      dynamis check my_arm.urdf --repair repaired.urdf
      xacro my_arm.urdf.xacro | dynamis check -
    """


@cli.command(help=CHECK_HELP, short_help="Check a robot file for errors and implausible values.")
@click.argument("file")
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@click.option("--all", "every", is_flag=True, help="List every finding; by default many warnings of one kind are summarised.")
@click.option("--repair", "out", type=FILE, metavar="OUT",
              help="Write a repaired copy (.urdf or .toml): nearest feasible inertias, unit axes, ordered limits, no "
              "negative friction, the first of repeated elements.")  # fmt: skip
@json_option
@plain_errors
def check(file: str, strict: bool, every: bool, out: Path | None, as_json: bool) -> None:
    from dynamis.cli.robot_tables import print_report
    from dynamis.model.load import read

    check_output(out, (".urdf", ".toml"), (file,))
    description, report = read(piped(file) if is_pipe(file) else file, xacro_args=xacro_args())
    changes: list[str] = []
    left: list[str] = []
    if out is not None and description is not None and report.ok:
        from dynamis.model.repair import repair, unrepaired
        from dynamis.robot import Robot

        repaired, changes = repair(description)
        left = unrepaired(repaired)
        whole(out, Robot(repaired, _quiet=True).write)
    if as_json:
        findings = [problem.as_dict() for problem in report]
        result = {
            "source": report.source,
            "ok": report.ok,
            "problems": findings,
            "skipped": report.skipped,
            "notes": [note.as_dict() for note in report.notes],
            "repaired": changes,
            "not_repaired": left,
        }
        result["written"] = [str(out)] if out is not None and report.ok else []
        print_json(result)
    else:
        print_report(report, every=every)
        if out is not None and description is not None and report.ok:
            for change in changes:
                echo(f"  repaired {change}", hang=4)
            for finding in left:
                echo(f"  not repaired: {finding}", hang=4)
            print_written([out])
            echo(f"  {counted(len(changes), 'change')}. {_preserved_parts(description, out)}", hang=2)
    if out is not None and not report.ok:
        print_error(f"{out} not written: --repair corrects implausible values, not errors")
    sys.exit(1 if report.errors or (strict and report.problems) else 0)


def _preserved_parts(description: Description, out: Path) -> str:
    """What a copy keeps of the original beside the model."""
    if description.document and out.suffix == ".urdf":
        return "Everything else is as in the original"
    return "The copy contains the dynamic model only: comments, transmissions and other tags are not copied"


CONVERT_HELP = """Convert a robot to another format: URDF, SDF, MJCF, USD, Denavit–Hartenberg table, product of exponentials.

    What the format cannot represent is listed, and for URDF what only Dynamis reads of the file: gravity in another direction
    than −z, rotor inertias, springs.

    \b
    Examples:
      dynamis convert ur5e ur5e.urdf
      dynamis convert my_arm.urdf my_arm.toml --form dh
      dynamis convert my_arm.urdf my_arm.mjcf
      dynamis convert my_arm.urdf my_arm.usda
      dynamis convert go2 go2.mjcf --floating
      dynamis convert my_arm.urdf.xacro my_arm.sdf --arg prefix:=left_
    """


@cli.command(help=CONVERT_HELP, short_help="Convert between URDF, SDF, MJCF, USD, DH tables and screw axes.")
@click.argument("robot")
@click.argument("out", type=FILE)
@click.option("--form", type=click.Choice(["link", "dh", "mdh", "poe"]), default="link", show_default=True,
              help="Link placement in a .toml file: frames, standard or modified DH parameters, or screw axes.")  # fmt: skip
@floating_option
@set_option
@json_option
@plain_errors
def convert(robot: str, out: Path, form: str, floating: bool, settings: tuple[str, ...], as_json: bool) -> None:
    from dynamis.cli.loading import load_as_written
    from dynamis.collision.contact_exclusions import contact_exclusions
    from dynamis.errors import ModelWarning, printable
    from dynamis.model.writers.losses import extensions, losses

    check_output(out, (".urdf", ".toml", ".mjcf", ".xml", ".sdf", ".usda"), (robot,))
    base = {"base": "floating"} if floating else {}
    found = load_as_written(robot, parameters=assignments(settings) or None, **base)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # of what is listed below
        whole(out, lambda file: found.write(file, form))
    lost = losses(found.description, ".mjcf" if out.suffix == ".xml" else out.suffix)
    own = extensions(found.description) if out.suffix == ".urdf" else []
    exclusions, complete = contact_exclusions(found) if out.suffix in (".mjcf", ".xml") else ({}, True)
    if as_json:
        excluded = [{"pair": pair, "reason": why} for pair, why in exclusions.items()]
        print_json({"written": [str(out)], "lost": lost, "ignored_by_other_tools": own, "contact_exclusions": excluded})
        return
    print_written([out])
    for sentence in lost:
        echo(f"  not in the file: {sentence}", hang=4)
    for sentence in own:
        echo(f"  ignored by other tools: {sentence}", hang=4)
    for why in dict.fromkeys(exclusions.values()):
        pairs = ", ".join(f"{printable(a)} and {printable(b)}" for (a, b), reason in exclusions.items() if reason == why)
        echo(f"  contacts excluded, {why}: {pairs}", hang=4)
    if not complete:
        echo("  links that collide in every posture were not looked for: pip install 'dynamis[collision]'", hang=4)


EXPORT_HELP = """Write a function of a robot as C99: header and source with a self-test, without dependencies.

    \b
    Examples:
      dynamis export ur5e inverse_dynamics --to c
      cc -std=c99 -O2 -DDYNAMIS_INVERSE_DYNAMICS_SELFTEST \\
          dynamis_inverse_dynamics.c -lm && ./a.out
      dynamis export ur5e forward_dynamics --name ur5e_acceleration -o controller
      dynamis export ur5e jacobian --frame tool0
      dynamis export ur5e forward_dynamics --jacobian --order column
    """
PRECISION = click.option(
    "--precision", type=click.Choice(["double", "float"]), default="double", show_default=True, help="Floating-point precision."
)


@cli.command(help=EXPORT_HELP, short_help="Write a function as dependency-free C99.")
@click.argument("robot")
@click.argument("function")
@click.option("--to", type=click.Choice(["c"]), default="c", show_default=True, expose_value=False, help="Language.")
@PRECISION
@click.option("-o", "--out", "--output", "out", type=FOLDER, default=Path(), show_default="current folder", metavar="FOLDER",
              help="Output folder.")  # fmt: skip
@click.option("--name", metavar="NAME", help="Name of the C function and of both files. Default: dynamis_FUNCTION.")
@click.option("--jacobian", is_flag=True, help="Write the Jacobian by all arguments too, as NAME_jacobian.")
@click.option("--order", type=click.Choice(["row", "column"]), default="row", show_default=True, help="Storage of matrices.")
@frame_option
@floating_option
@set_option
@json_option
@plain_errors
def export(
    robot: str, function: str, precision: str, out: Path, name: str | None, jacobian: bool, order: str, frame: str | None,
    floating: bool, settings: tuple[str, ...], as_json: bool,
) -> None:  # fmt: skip
    from dynamis.robot.checks import warn_of_open_loops

    found = loaded(robot, settings, floating)
    warn_of_open_loops(found, "the function that is written")
    with waiting("writing"):
        written = found.write_c(function, out, name=name, precision=precision, frame=frame, jacobian=jacobian, order=order)
    _say_written(written, as_json)
    if not as_json:
        for source in (path for path in written if path.suffix == ".c"):
            click.echo(f"self-test:\n  cc -std=c99 -O2 -D{source.stem.upper()}_SELFTEST \\")
            click.echo(f"      {shlex.quote(str(source))} \\\n      -lm -o selftest && ./selftest")


def _say_written(paths: list[Path], as_json: bool) -> None:
    if as_json:
        print_json({"written": [str(path) for path in paths]})
    else:
        print_written(paths)


SHOW_HELP = """Print the generated code of a function: operations, LLVM IR, assembly, C or CUDA C.

    \b
    Example:
      dynamis show ur5e gravity --as asm
    """


@cli.command(help=SHOW_HELP, short_help="Print the generated code of a function.")
@click.argument("robot")
@click.argument("function")
@click.option("--as", "form", type=click.Choice(["graph", "llvm", "asm", "c", "cuda"]), default="graph", show_default=True,
              help="Form of the code.")  # fmt: skip
@PRECISION
@frame_option
@floating_option
@set_option
@json_option
@plain_errors
def show(
    robot: str, function: str, form: str, precision: str, frame: str | None, floating: bool, settings: tuple[str, ...],
    as_json: bool,
) -> None:  # fmt: skip
    from dynamis.algorithms.registry import ALGORITHMS
    from dynamis.compiler import c_text, cuda_text, jit
    from dynamis.compiler.llvm_text import render

    found = loaded(robot, settings, floating)
    with waiting("compiling"):
        code = found.kernel(function, frame=frame).code
    if form == "graph":
        text = code.text()
    elif form == "c":
        results = [ALGORITHMS[function].result]
        text = "\n".join(c_text.render(code, f"dynamis_{function}", precision, function, [], results))
    elif form == "cuda":
        text = cuda_text.render(code, f"dynamis_{function}", precision)
    else:
        text = render(code, jit.host_target(precision))
        text = jit.assembly(text) if form == "asm" else text
    if as_json:
        print_json({"robot": found.name, "function": function, "as": form, "precision": precision, "text": text})
    else:
        echo_text(text)


add_xacro_option(cli)
complete(cli)
