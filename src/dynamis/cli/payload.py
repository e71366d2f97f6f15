"""``dynamis payload``: the inertial parameters of a payload, from logs of a known arm."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.console import bullet, clean_name, echo, print_json, print_notes, print_written
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.formatting import number, with_units
from dynamis.cli.hints import for_command_line
from dynamis.cli.layout import print_table
from dynamis.cli.log_options import lock_notes, log_options, mounted, signals
from dynamis.cli.options import FILE, json_option
from dynamis.cli.output_files import check_output, whole
from dynamis.cli.param_types import NUMBER, POSITIVE
from dynamis.cli.progress import waiting
from dynamis.cli.states import units
from dynamis.errors import printable

if TYPE_CHECKING:
    from dynamis.identification import Samples
    from dynamis.identification.payload import PayloadEstimate
    from dynamis.robot import Robot

HELP = """Identify mass, centre of mass and inertia of a payload from logs of the arm that carries it.

    The values given are those of the physically consistent body that fits best; the least-squares estimate is listed beside
    them. Parameters that the motion does not excite are reported as not identifiable.

    Exit status: 0 an estimate; 1 a doubtful one: the mass is below zero, the logs contradict the arm, the residual with load is
    far above that of the reference, or the torque of a joint is explained worse than without payload, so that another link
    probably carries it, or no payload is detected that --out could write; 2 bad input, such as logs that `identify` rejects.

    \b
    Examples:
      dynamis payload ur5e carrying.csv --reference empty.csv
      dynamis payload panda carrying.npz --frame panda_link8 --arm 0.1 \\
          --out loaded.urdf --json
    """


@click.command(help=HELP, short_help="Identify mass, centre of mass and inertia of a payload.")
@click.argument("robot")
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option("--reference", multiple=True, metavar="LOG",
              help="Log without the payload, to correct the model of the arm; repeatable.")  # fmt: skip
@click.option("--frame", metavar="NAME", help="Frame that the payload is attached to. Default: the tip.")
@click.option("--size", type=POSITIVE, default=0.1, show_default=True, help="Approximate size of the payload in m.")
@click.option("--arm", type=NUMBER, metavar="SHARE", help="Relative uncertainty of the arm's own parameters, such as 0.1.")
@log_options
@click.option("--unexamined", is_flag=True, help="Accept logs that fail the plausibility checks.")
@click.option(
    "-o", "--out", "--output", "out", type=FILE, metavar="FILE", help="Write the robot with its payload, .urdf or .toml."
)
@json_option
@plain_errors
def payload(
    robot: str, logs: tuple[str, ...], reference: tuple[str, ...], frame: str | None, size: float, arm: float | None,
    mapping: Path | None, unexamined: bool, out: Path | None, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    from dynamis.cli.loading import load
    from dynamis.identification import identify_payload
    from dynamis.identification.write_back import write

    check_output(out, (".urdf", ".toml"), (*logs, *reference, mapping))
    own = load(robot)
    loaded = mounted(own, options)
    prepared = signals(options, loaded)
    notes: list[str] = []
    with waiting("reading and estimating"):
        runs = _runs(logs, loaded, mapping, prepared, notes, examined=not unexamined)
        empty = _runs(reference, loaded, mapping, prepared, notes, examined=not unexamined) if reference else None
        found = identify_payload(loaded, runs, frame=frame, reference=empty, arm=arm, size=size, examined=not unexamined)
    refused = out is not None and not found.detected
    out = out if found.detected else None
    if out is not None:
        whole(out, lambda file: notes.extend(write(found.robot, file)))
        notes += lock_notes(own, loaded)
    if as_json:
        print_json({**_as_dict(found), "notes": notes, "written": [] if out is None else [str(out)]})
    else:
        _print(found, loaded, notes, refused)
        print_written([] if out is None else [out])
    raise SystemExit(int(bool(found.worse or found.doubts or refused)))


def _runs(
    logs: tuple[str, ...], robot: Robot, mapping: Path | None, prepared: dict[str, Any], notes: list[str], *, examined: bool
) -> list[Samples]:
    from dynamis.identification import examine, prepare, read_log
    from dynamis.identification.identify import look_at

    runs: list[Samples] = []
    for path in logs:
        log = read_log(path, robot, mapping, period=prepared["period"])
        if examined:
            look_at(examine(log.with_time_scale(prepared["time_scale"]), robot), notes, outliers=prepared["outliers"])
        ready = prepare(log, robot, **prepared)
        notes += [f"{printable(log.source)}: {note}" for note in ready.notes]
        runs += ready.samples
    return runs


def _as_dict(found: PayloadEstimate) -> dict[str, Any]:
    from dynamis.spatial import PARAMETER_NAMES

    rows = zip(
        PARAMETER_NAMES, found.inertia.parameters, found.parameters, found.standard_errors, found.identifiable, strict=True
    )
    return {
        "frame": found.frame,
        "detected": found.detected,
        "mass": found.mass,
        "centre_of_mass": [float(x) for x in found.com],
        "inertia_about_frame": [[float(x) for x in row] for row in found.inertia.tensor],
        "parameters": {
            name: {
                "value": float(value) if shown else None,
                "least_squares": float(fitted) if shown else None,
                "standard_error": float(error) if shown else None,
            }
            for name, value, fitted, error, shown in rows
        },
        "residual_before": [float(x) for x in found.residual_before],
        "residual_after": [float(x) for x in found.residual_after],
        "worse": list(found.worse),
        "better_frame": found.better_frame,
        "doubts": [for_command_line(sentence) for sentence in found.doubts],
        "verdict": [for_command_line(sentence) for sentence in found.verdict],
    }


def _print(found: PayloadEstimate, robot: Robot, notes: list[str], refused: bool) -> None:
    from dynamis.spatial import PARAMETER_NAMES

    arm = (clean_name(robot.name), {"bold": True})
    if found.detected:
        known = zip(found.com, found.identifiable[1:4], strict=True)
        centre = f"({', '.join(number(1000.0 * float(x), 3) if shown else '–' for x, shown in known)})"
        mass = (f"{number(found.mass, 3)} kg", {"bold": True})
        grade = (": doubtful", {"fg": "yellow", "bold": True}) if found.worse or found.doubts else ""
        echo(arm, ": payload ", mass, f" at {clean_name(found.frame)}, centre of mass {centre} mm", grade)
    else:
        seen = f"no payload above {number(3.0 * float(found.standard_errors[0]), 2)} kg detected"
        none = "; no file is written" if refused else ""
        echo(arm, f": {'negative mass' if found.negative else seen} at {clean_name(found.frame)}{none}")
    for sentence in found.verdict:
        bullet("•", for_command_line(sentence))
    if found.negative:  # the tables would list meaningless values
        print_notes(notes)
        return
    rows = []
    for k, name in enumerate(PARAMETER_NAMES):
        unit = "kg" if name == "m" else "kg m" if name[0] == "m" else "kg m²"
        shown = bool(found.identifiable[k])
        value = number(float(found.inertia.parameters[k])) if shown else "not identifiable"
        fitted = (number(float(found.parameters[k])), number(float(found.standard_errors[k]), 2)) if shown else (None, None)
        rows.append((name, value, *fitted, unit))
    heads = ("parameter", "value", "least squares", "± 1 σ", "unit")
    print_table("Payload parameters about the frame", heads, rows)
    names, unit = with_units(robot.coordinate_names, units(robot))
    residuals = zip(names, found.residual_before, found.residual_after, strict=True)
    title = f"Torque residual (RMS){f' [{unit}]' if unit else ''}"
    print_table(title, ("joint", "without payload", "with payload"), list(residuals), digits=3)
    print_notes(notes)
