"""``dynamis identify``: parameters of a robot from logs."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.console import bullet, clean_name, echo, print_json, print_notes, print_written
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.formatting import number
from dynamis.cli.hints import for_command_line
from dynamis.cli.layout import print_table
from dynamis.cli.log_options import lock_notes, log_options, mounted, signals
from dynamis.cli.options import FILE, by_name, json_option, numbers
from dynamis.cli.output_files import check_output
from dynamis.cli.param_types import NUMBER, POSITIVE, Integer
from dynamis.cli.progress import Bar
from dynamis.display import counted
from dynamis.errors import InputError

if TYPE_CHECKING:
    from dynamis.identification import LinearModel
    from dynamis.identification.identification import Identification
    from dynamis.identification.validation.run_comparison import RunComparison
    from dynamis.identification.write_back import Written
    from dynamis.robot import Robot

MAX_ROWS = 15


class EstimatorName(click.Choice[str]):
    """The name of an estimator; the names are imported when they are asked for."""

    def __init__(self) -> None:
        self.case_sensitive = True

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]  # an attribute in click
        from dynamis.identification.identify import ESTIMATORS

        return tuple(ESTIMATORS)


HELP = """Identify the dynamic parameters of a robot from logs.

    A LOG is a CSV, NPZ, MATLAB (.mat), Parquet or HDF5 file, a ROS 2 bag, an MCAP file, or a TOML file that names the log and
    its columns.

    Exit status: 0 the result is good or usable; 1 doubtful or not usable; 2 bad input.

    \b
    Examples:
      dynamis identify ur5e run.csv --out better.urdf --report
      dynamis identify arm.urdf train.npz --validate other.npz \\
          --estimator ridge --parallel 10
      dynamis identify tx40.urdf tx40.toml --friction viscous,coulomb,power \\
          --offset --couple joint_5,joint_6 --cutoff 100 --parallel 20 \\
          --slow 0.06 --block 0.75 --report tx40.html
      dynamis identify arm.urdf empty.csv --against carrying.csv
      dynamis identify arm.urdf run.csv --only essential --offset
      dynamis identify ur10.urdf bag.db3 --offset --smooth 0.05 \\
          --presliding wrist_3_joint=0.01 --logged v --parallel 2 --smooth-torque
    """


@click.command(help=HELP, short_help="Identify dynamic parameters from logs.")
@click.argument("robot")
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option("--validate", multiple=True, metavar="LOG",
              help="Validate on this log instead of held-out blocks of the others; repeatable.")  # fmt: skip
@click.option("--against", multiple=True, metavar="LOG",
              help="Identify the same parameters from this log, too, and print where they differ; repeatable.")  # fmt: skip
@click.option("--estimator", type=EstimatorName(), default="consistent", show_default=True, help="Estimator.")
@click.option("--mass", multiple=True, metavar="LINK=LOW,HIGH", help="Bounds of the mass of a link in kg; repeatable.")
@click.option("--total-mass", type=POSITIVE, metavar="KG", help="Mass of all moving links, as from a data sheet.")
@click.option("--shapes", is_flag=True,
              help="The mass of each link lies within the box around its visual and collision shapes.")  # fmt: skip
@click.option("--compare", metavar="NAMES", show_default="all",
              help="Estimators to compare with; 'none' saves the time.")  # fmt: skip
@click.option("--only", metavar="NAMES",
              help="Fit only these base parameters by weighted least squares, or 'essential': those needed to explain the "
              "torques. The others are zero.")  # fmt: skip
@click.option("--friction", metavar="TERMS",
              help="Friction terms: viscous, coulomb, coulomb_bias, stribeck, quadratic, power, load, "
              "viscous_temperature, coulomb_temperature; or none.")  # fmt: skip
@click.option("--offset", is_flag=True, help="Identify a constant torque offset of each joint.")
@click.option("--no-rotor", is_flag=True, help="Do not identify rotor inertias.")
@click.option("--spring", is_flag=True, help="Identify joint springs.")
@click.option("--balancer", multiple=True, metavar="JOINT",
              help="Joint with a spring, counterweight or gas cylinder that the file lacks; repeatable.")  # fmt: skip
@click.option("--smooth", type=NUMBER, metavar="SPEED",
              help="Model Coulomb friction as tanh(v / SPEED), in rad/s or m/s.")  # fmt: skip
@click.option("--stribeck", type=NUMBER, metavar="SPEED", help="Stribeck velocity, in rad/s or m/s.")
@click.option("--temperature", type=NUMBER, metavar="CELSIUS",
              help="Reference temperature of friction that depends on logged temperatures.")  # fmt: skip
@click.option("--presliding", multiple=True, metavar="[JOINT=]ANGLE",
              help="Presliding displacement of Coulomb friction in rad, for all joints or one; repeatable.")  # fmt: skip
@click.option("--couple", multiple=True, metavar="A,B",
              help="Coupled transmission: the motor of joint B also turns with joint A; repeatable.")  # fmt: skip
@click.option("--folds", type=Integer(2, 1000), default=5, show_default=True, help="Number of cross-validation folds.")
@click.option("--block", type=POSITIVE, metavar="SECONDS", help="Length of the cross-validation blocks.")
@log_options
@click.option("--limits", metavar="NUMBERS", default="10,20,40", show_default=True,
              help="Residuals on held-out motion, in percent, above which a result is not good, usable, doubtful.")  # fmt: skip
@click.option("--unexamined", is_flag=True, help="Accept logs that fail the plausibility checks.")
@click.option("-o", "--out", "--output", "out", type=FILE, metavar="FILE", help="Write the identified robot, .urdf or .toml.")
@click.option("--report", is_flag=False, flag_value="identification.html", type=FILE, metavar="[FILE]",
              help="Write a report (.html, .md or .pdf). Default: identification.html.")  # fmt: skip
@click.option("--all", "show_all", is_flag=True, help="Show every parameter.")
@json_option
@plain_errors
def identify(robot: str, logs: tuple[str, ...], **options: Any) -> None:
    from dynamis.cli.loading import load
    from dynamis.documents.printing import find_browser
    from dynamis.documents.report import SUFFIXES
    from dynamis.drawing import new_figure
    from dynamis.identification.identify import COMPARED
    from dynamis.identification.identify import identify as run

    mapping, compare = options["mapping"], options["compare"]
    inputs = (*logs, *options["validate"], *options["against"], mapping)
    check_output(options["out"], (".urdf", ".toml"), inputs)
    check_output(options["report"], SUFFIXES, inputs)
    if options["report"] is not None:  # a missing plotting library or browser is reported before the work
        new_figure(1.0, 1.0)
        if options["report"].suffix.lower() == ".pdf":
            find_browser()
    whole = load(robot)
    loaded = mounted(whole, options)
    prepared = signals(options, loaded)
    model = _model(loaded, options)
    wanted = COMPARED if compare is None else () if compare == "none" else tuple(x.strip() for x in compare.split(","))
    settings = {
        "mapping": mapping, "signals": prepared, "estimator": options["estimator"], "constraints": _constraints(options),
        "only": _only(options["only"]), "folds": options["folds"], "block_seconds": options["block"],
        "examined": not options["unexamined"], "limits": _limits(options["limits"]),
    }  # fmt: skip
    with Bar() as bar:
        unseen, against = list(options["validate"]) or None, list(options["against"])
        found = run(model, list(logs), validate=unseen, compare=wanted, progress=bar.show, **settings)
        other = run(found.base.model, against, compare=(), progress=bar.show, **settings) if against else None
        runs = None if other is None else found.compared_with(other)
        bar.show(1.0, "validating")
        grade = found.verdict.grade
    written = None if options["out"] is None else found.write(options["out"])
    if written is not None:
        written = replace(written, notes=(*written.notes, *lock_notes(whole, loaded)))
    if options["report"] is not None:
        found.report(options["report"], command=shlex.join(["dynamis", *sys.argv[1:]]))
    if options["as_json"]:
        files = [str(path) for path in (options["out"], options["report"]) if path is not None]
        proven = None if written is None else {
            "difference": written.difference, "held_out": written.held_out, "notes": list(written.notes)
        }  # fmt: skip
        compared = None if runs is None else runs.as_dict()
        print_json({**found.as_dict(), "against": compared, "written": files, "round_trip": proven})
    else:
        _print(found, written, options["report"], options["show_all"])
        if runs is not None:
            _print_runs(runs, options["show_all"])
    sys.exit(0 if grade in ("good", "usable") else 1)


MODEL_OPTIONS = (
    "friction", "offset", "no_rotor", "spring", "balancer", "smooth", "stribeck", "temperature", "presliding", "couple",
)  # fmt: skip


def _model(robot: Any, options: dict[str, Any]) -> LinearModel | Robot:
    """The model with the terms given; without any of these options the robot, whose terms are then chosen by the log."""
    from dynamis.identification import LinearModel

    if all(options[name] in (None, ()) or options[name] is False for name in MODEL_OPTIONS):
        return robot
    friction = options["friction"]
    terms = None if friction is None else () if friction == "none" else tuple(x.strip() for x in friction.split(","))
    pairs = [tuple(name.strip() for name in pair.split(",")) for pair in options["couple"]]
    for pair in pairs:
        if len(pair) != 2:
            raise InputError(f"--couple takes two joints, such as --couple wrist_2,wrist_3, got {','.join(pair)!r}")
    return LinearModel(
        robot, friction=terms, offset=options["offset"], rotor=not options["no_rotor"], spring=options["spring"] or None,
        balancer=options["balancer"], smooth=options["smooth"], stribeck_speed=options["stribeck"],
        reference_temperature=options["temperature"], presliding=_presliding(options["presliding"]),
        couplings=[(first, second) for first, second in pairs],
    )  # fmt: skip


def _constraints(options: dict[str, Any]) -> dict[str, Any] | None:
    """What is known of the links besides the log."""
    masses = by_name(map(_mass, options["mass"]), "--mass")
    given = {"masses": masses, "total_mass": options["total_mass"], "shapes": options["shapes"]}
    return {name: value for name, value in given.items() if value not in (None, False, {})} or None


def _mass(text: str) -> tuple[str, tuple[float, float]]:
    link, _, ends = text.rpartition("=")
    pair = numbers(ends, "--mass") or []
    if not link or len(pair) != 2 or not 0.0 <= pair[0] <= pair[1]:
        raise InputError(f"--mass takes a link and two masses in kg, such as --mass forearm=1.5,3.5; got {text!r}")
    return link, (pair[0], pair[1])


def _only(text: str | None) -> str | list[str] | None:
    return text if text in (None, "essential") else [name.strip() for name in str(text).split(",")]


def _limits(text: str) -> tuple[float, float, float]:
    values = numbers(text, "--limits") or []
    if len(values) != 3 or sorted(values) != values or values[0] <= 0.0:
        raise InputError(f"--limits takes three increasing percentages, such as --limits 5,10,20; got {text!r}")
    return values[0], values[1], values[2]


def _presliding(given: tuple[str, ...]) -> float | dict[str, float] | None:
    angles = [_angle(text) for text in given]
    if any(not name for name, _ in angles):
        if len(angles) > 1:
            raise InputError("--presliding with one angle is for all joints: give it once, or name the joints")
        return angles[0][1]
    return by_name(angles, "--presliding") or None


def _angle(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    try:
        return name, float(value)
    except ValueError:
        raise InputError(f"--presliding takes an angle, or JOINT=ANGLE, such as wrist_3=0.01; got {text!r}") from None


def _print(found: Identification, written: Written | None, report: Path | None, show_all: bool) -> None:
    colour = {"good": "green", "usable": "green", "doubtful": "yellow"}.get(found.verdict.grade, "red")
    robot, base, v = found.base.model.robot, found.base, found.validation
    facts = f"  {counted(base.rank, 'base parameter')} from {counted(len(found.equations), 'equation')}: "
    echo((clean_name(robot.name), {"bold": True}), facts, (found.verdict.grade, {"fg": colour, "bold": True}))
    headed = bool(found.verdict.reasons)
    for title, sentences in (("Reasons for this grade:", found.verdict.reasons), ("Other findings:", found.verdict.others)):
        if headed and sentences:
            echo(f"  {title}")
        for sentence in sentences:
            bullet("•", for_command_line(sentence))
    where = "validation on a separate log" if found.validated else "validation on held-out blocks"
    rows: list[tuple[Any, ...]] = [
        (f"{name}{' (chosen)' if name == found.name else ''}", f"{x.train:.2f} %", f"{x.held_out:.2f} %")
        for name, x in found.comparison.items()
    ]
    if v.prior is not None:
        rows.append(("prior model", None, f"{v.prior:.2f} %"))
    print_table(f"Residual torque, {where}", ("estimator", "training", "validation"), rows)
    before = [None] * robot.n if v.prior_joints is None else v.prior_joints
    rows = []
    for k, joint in enumerate(found.statistics.joints):
        shares = (f"{x:.1f} %" for x in (v.train_joints[k], v.held_out_joints[k]))
        old = before[k]
        unit = robot.model.coordinates[k].effort_unit
        rows.append((joint.joint, f"{number(joint.rms, 3)} {unit}", *shares, None if old is None else f"{old:.1f} %"))
    heads = ("joint", "residual (RMS)", "training", "validation", "prior model")
    print_table(f"Residual torque by joint ({found.name})", heads, rows)
    _print_parameters(found, show_all)
    print_notes(found.notes)
    if written is not None:
        print_written([written.path])
        echo(f"  residual of the file on held-out motion: {written.held_out:.2f} %")
        echo(f"  relative torque difference of the file read back: {written.difference:.1e}")
        print_notes(written.notes)
    if report is not None:
        print_written([report])


def _print_runs(runs: RunComparison, show_all: bool) -> None:
    rows = [
        (name, *(number(x, digits) for x, digits in ((a, 4), (s, 2), (b, 4), (t, 2))), mark, unit)
        for name, a, s, b, t, mark, unit in (runs.rows if show_all else runs.rows[:MAX_ROWS])
    ]
    heads = ("parameter", "this log", "std. error", "other log", "std. error", "difference", "unit")
    print_table("Difference from the other log, in combined standard errors (* significant)", heads, rows)
    if len(rows) < len(runs.rows):
        echo((f"  the {MAX_ROWS} with the largest difference; --all shows all {len(runs.rows)}", {"dim": True}))
    for sentence in runs.sentences:
        bullet("•", sentence)


def _print_parameters(found: Identification, show_all: bool) -> None:
    from dynamis.identification.validation.describe import bound_text

    s, base = found.statistics, found.base
    order = list(range(base.rank)) if show_all else sorted(range(base.rank), key=lambda k: -s.share[k])[:MAX_ROWS]
    rows = []
    for k in order:
        half = 0.5 * float(s.interval[k, 1] - s.interval[k, 0])
        row = (number(float(s.coef[k])), number(half, 2), number(float(base.prior[k])))
        rows.append((base.names[k], *row, base.model.unit(int(base.independent[k]))))
    print_table("Base parameters: most are combinations of parameters", ("parameter", "value", "± 95 %", "prior", "unit"), rows)
    if not show_all and base.rank > MAX_ROWS:
        echo((f"  the {MAX_ROWS} with the largest effect on the torques; --all shows all {base.rank}", {"dim": True}))
    for bound in dict.fromkeys(s.at_bound[k] for k in order if s.at_bound[k]):
        names = ", ".join(base.names[k] for k in order if s.at_bound[k] == bound)
        bullet("–", f"no interval, {bound_text(bound)}: {names}", dim=True)
