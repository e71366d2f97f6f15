"""``dynamis calibrate``: geometry of a robot from measured poses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.console import bullet, clean_name, echo, print_json, print_notes, print_written
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.formatting import number
from dynamis.cli.layout import print_table
from dynamis.cli.log_options import lock_notes, lock_option, locked
from dynamis.cli.options import FILE, json_option
from dynamis.cli.output_files import check_output
from dynamis.cli.param_types import Integer
from dynamis.cli.progress import waiting
from dynamis.display import counted
from dynamis.errors import InputError, printable
from dynamis.tolerances import RECURSION_ROUNDING

if TYPE_CHECKING:
    from dynamis.identification.calibrate import Calibration

MOST_NAMED = 5  # outliers

HELP = """Calibrate the geometry of a robot from poses of a frame measured by a laser tracker or a camera.

    POSES is a CSV file with one line per pose: a column for each joint (its name, or q1, q2, … in rad or m), x, y, z in m and,
    if measured, the quaternion qx, qy, qz, qw. Other units are given in the names of the columns: q1 [deg], x [mm].
    Unknowns that the poses cannot determine keep the values of the file.

    Exit status: 0 the held-out errors are smaller than those of the file; 1 they are not, or too large for poses of this robot,
    so that columns are probably wrong, and no file is written; 2 bad input.

    \b
    Examples:
      dynamis calibrate ur5e poses.csv --out better.urdf
      dynamis calibrate arm.urdf poses.csv --unknowns zero,tool --frame tool0
    """


@click.command(help=HELP, short_help="Calibrate the geometry from measured poses.")
@click.argument("robot")
@click.argument("poses", type=FILE)
@click.option("--unknowns", metavar="KINDS", default="base,tool,zero,length", show_default=True,
              help="Kinds of unknowns, of all joints: base, tool, zero, length, tilt, compliance; the first have "
              "precedence.")  # fmt: skip
@click.option("--frame", metavar="NAME", help="Measured frame. Default: the tip.")
@click.option("--folds", type=Integer(2, 1000), default=5, show_default=True, help="Number of cross-validation folds.")
@click.option("--leave-out", metavar="NUMBERS", help="Poses that are not used, numbered from 1: 12,31.")
@lock_option
@click.option("-o", "--out", "--output", "out", type=FILE, metavar="FILE", help="Write the calibrated robot, .urdf or .toml.")
@json_option
@plain_errors
def calibrate(
    robot: str, poses: Path, unknowns: str, frame: str | None, folds: int, leave_out: str | None,
    lock: tuple[str, ...], out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    import numpy as np

    from dynamis.cli.loading import load
    from dynamis.identification import Poses
    from dynamis.identification import calibrate as run

    check_output(out, (".urdf", ".toml"), (poses,))
    whole = load(robot)
    loaded = locked(whole, lock)
    with waiting("calibrating"):
        kinds = [word.strip() for word in unknowns.split(",")]
        measured = Poses.read(poses, loaded)
        left_out = _numbers(leave_out, len(measured))
        found = run(loaded, measured.without(left_out), kinds, frame=frame, folds=folds)
        kept = np.setdiff1d(np.arange(len(measured)), left_out)
    worse = bool((found.after >= found.before).any())
    refused = worse or bool(found.doubt)
    written = None if out is None or refused else found.write(out)
    if as_json:
        print_json({**_as_dict(found, kept), "written": [] if written is None else [str(out)]})
    else:
        _print(found)
        if written is not None:
            print_written([written.path])
            print_notes((*written.notes, *lock_notes(whole, loaded)))
        median = float(np.median(found.pose_errors))
        none = "" if out is None else "; no file is written"
        if found.doubt:
            bullet("warning:", f"{found.doubt}{none}")
        elif worse:
            k = int(found.pose_errors.argmax())
            usual = f"the median is {number(median, 3)} m"
            pose = f"pose {kept[k] + 1} has the largest error, {number(float(found.pose_errors[k]), 3)} m ({usual})"
            text = f"the calibrated robot predicts held-out poses no better{none}. Look for outliers, units, the frame: {pose}"
            bullet("warning:", text)
        elif found.outliers:
            bullet("warning:", _outliers(found, kept, left_out, median))
    raise SystemExit(int(refused))


def _numbers(given: str | None, count: int) -> list[int]:
    """The indices of poses numbered from 1."""
    words = [] if given is None else given.split(",")
    if wrong := [word for word in words if not word.strip().isdecimal() or not 1 <= int(word) <= count]:
        raise InputError(f"--leave-out takes numbers of poses from 1 to {count}, such as 12,31; got {printable(wrong[0])}")
    return [int(word) - 1 for word in words]


def _outliers(found: Calibration, kept: Any, left_out: list[int], median: float) -> str:
    worst = found.outliers[:MOST_NAMED]
    each = [f"pose {kept[k] + 1} by {number(float(found.pose_errors[k]), 3)} m" for k in worst]
    more = f", and {counted(len(found.outliers) - len(worst), 'other')}" if len(found.outliers) > len(worst) else ""
    every = ",".join(str(k + 1) for k in sorted([*left_out, *(int(kept[k]) for k in worst)]))
    cure = f"measure again or leave out: --leave-out {every}"
    return f"far from the prediction by the other poses: {', '.join(each)}{more} (the median is {number(median, 3)} m); {cure}"


def _as_dict(found: Calibration, kept: Any) -> dict[str, Any]:
    fixed = found.unidentifiable
    return {
        "robot": found.original.name,
        "unknowns": [
            {"name": name, "value": value, "interval": None if name in fixed else list(span)}
            for name, value, span in [*_base(found), *_corrections(found)]
        ],
        "not_identifiable": list(fixed),
        "held_out": {name: {"before": float(old), "after": float(new)}
                     for name, old, new in zip(found.groups, found.before, found.after, strict=True)},
        "doubt": found.doubt or None,
        "pose_errors": found.pose_errors.tolist(),
        "outliers": [int(kept[k]) + 1 for k in found.outliers],
        "base": found.base.matrix().tolist(),
    }  # fmt: skip


Row = tuple[str, float, tuple[float, float]]


def _base(found: Calibration) -> list[Row]:
    """The pose of the base in the measuring frame, with intervals; nothing if it was taken as known."""
    from dynamis.spatial.rotation import to_rpy

    if all(u.kind != "base" for u in found.unknowns):
        return []
    values = [*map(float, found.base.p), *map(float, to_rpy(found.base.R))]
    return [(f"base.{name}", x, span) for x, (name, span) in zip(values, found.base_intervals.items(), strict=True)]


def _corrections(found: Calibration) -> list[Row]:
    """The other unknowns: corrections of the file."""
    values, spans = found.values, found.intervals
    return [(u.name, values[u.name], spans[u.name]) for u in found.unknowns if u.kind != "base"]


def _print(found: Calibration) -> None:
    fixed = found.unidentifiable
    identified = f"  {len(found.values) - len(fixed)} of {counted(len(found.values), 'unknown')} identified"
    echo((clean_name(found.original.name), {"bold": True}), identified)
    errors = zip(found.groups, found.before, found.after, strict=True)
    rows = [(name, number(float(old), 3), number(float(new), 3)) for name, old, new in errors]
    print_table("RMS error on held-out poses", ("", "original file", "calibrated"), rows)
    heads = ("unknown", "value", "± 95 %")
    if base := _base(found):
        print_table("Base in the measuring frame, in m or rad", heads, [_cells(row) for row in base])
    if rows := [_cells(row) for row in _corrections(found) if row[0] not in fixed]:
        print_table("Corrections in rad or m", heads, rows)
    if fixed:
        bullet("–", f"not identifiable, kept as in the file: {', '.join(fixed)}", dim=True)


def _cells(row: Row) -> tuple[str, str, str]:
    name, value, (low, high) = row
    half = 0.5 * (high - low)
    return name, number(value), f"< {RECURSION_ROUNDING:.0e}" if half <= RECURSION_ROUNDING else number(half, 2)
