"""``dynamis calibrate``: geometry of a robot from measured poses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.console import bullet, clean_name, echo, print_json, print_notes, print_written
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.formatting import number
from dynamis.cli.layout import print_table
from dynamis.cli.options import FILE, json_option
from dynamis.cli.output_files import check_output
from dynamis.cli.param_types import Integer
from dynamis.cli.progress import waiting
from dynamis.display import counted

if TYPE_CHECKING:
    from dynamis.identification.calibrate import Calibration

HELP = """Calibrate the geometry of a robot from poses of a frame measured by a laser tracker or a camera.

    POSES is a CSV file with one line per pose: a column for each joint (its name, or q1, q2, … in rad or m), x, y, z in m and,
    if measured, the quaternion qx, qy, qz, qw. Unknowns that the poses cannot determine keep the values of the file.

    Exit status: 0 the held-out errors are smaller than those of the file; 1 they are not, and no file is written; 2 bad input.

    \b
    Examples:
      dynamis calibrate ur5e poses.csv --out better.urdf
      dynamis calibrate arm.urdf poses.csv --unknowns zero,tool --frame tool0
    """


@click.command(help=HELP, short_help="Calibrate the geometry from measured poses.")
@click.argument("robot")
@click.argument("poses", type=FILE)
@click.option("--unknowns", metavar="KINDS", default="base,tool,zero,length", show_default=True,
              help="Kinds of unknowns, of all joints: base, tool, zero, length, tilt. The first have precedence.")  # fmt: skip
@click.option("--frame", metavar="NAME", help="Measured frame. Default: the tip.")
@click.option("--folds", type=Integer(2, 1000), default=5, show_default=True, help="Number of cross-validation folds.")
@click.option("-o", "--out", type=FILE, metavar="FILE", help="Write the calibrated robot, .urdf or .toml.")
@json_option
@plain_errors
def calibrate(
    robot: str, poses: Path, unknowns: str, frame: str | None, folds: int, out: Path | None, as_json: bool
) -> None:  # fmt: skip
    import numpy as np

    from dynamis.cli.loading import load
    from dynamis.identification import Poses
    from dynamis.identification import calibrate as run

    check_output(out, (".urdf", ".toml"), (poses,))
    loaded = load(robot)
    with waiting("calibrating"):
        kinds = [word.strip() for word in unknowns.split(",")]
        found = run(loaded, Poses.read(poses, loaded), kinds, frame=frame, folds=folds)
    worse = bool((found.after >= found.before).any())
    written = None if out is None or worse else found.write(out)
    if as_json:
        print_json({**_as_dict(found), "written": [] if written is None else [str(out)]})
    else:
        _print(found)
        if written is not None:
            print_written([written.path])
            print_notes(written.notes)
        if worse:
            k = int(found.pose_errors.argmax())
            usual = f"the median is {number(float(np.median(found.pose_errors)), 3)} m"
            pose = f"pose {k + 1} has the largest error, {number(float(found.pose_errors[k]), 3)} m ({usual})"
            kept = "" if out is None else "; no file is written"
            text = f"the calibrated robot predicts held-out poses no better{kept}. Look for outliers, units, the frame: {pose}"
            bullet("warning:", text)
    raise SystemExit(int(worse))


def _as_dict(found: Calibration) -> dict[str, Any]:
    spans, fixed = found.intervals, found.unidentifiable
    return {
        "robot": found.original.name,
        "unknowns": [
            {"name": name, "value": value, "interval": None if name in fixed else list(spans[name])}
            for name, value in found.values.items()
        ],
        "not_identifiable": list(fixed),
        "held_out": {name: {"before": float(old), "after": float(new)}
                     for name, old, new in zip(found.groups, found.before, found.after, strict=True)},
        "pose_errors": found.pose_errors.tolist(),
        "base": found.base.matrix().tolist(),
    }  # fmt: skip


def _print(found: Calibration) -> None:
    from dynamis.spatial.rotation import to_rpy

    fixed, spans = found.unidentifiable, found.intervals
    identified = f"  {len(found.values) - len(fixed)} of {counted(len(found.values), 'unknown')} identified"
    echo((clean_name(found.original.name), {"bold": True}), identified)
    errors = zip(found.groups, found.before, found.after, strict=True)
    rows = [(name, number(float(old), 3), number(float(new), 3)) for name, old, new in errors]
    print_table("RMS error on held-out poses", ("", "original file", "calibrated"), rows)
    rows = []
    for name, value in found.values.items():
        if name not in fixed:
            rows.append((name, number(value), number(value - spans[name][0], 2)))
    print_table("Corrections in rad or m", ("unknown", "value", "± 95 %"), rows)
    if not found.base.is_identity():
        place, angles = (", ".join(number(float(x)) for x in part) for part in (found.base.p, to_rpy(found.base.R)))
        echo(f"  base in the measuring frame: position {place} m; roll, pitch, yaw {angles} rad", hang=4)
    if fixed:
        bullet("–", f"not identifiable, kept as in the file: {', '.join(fixed)}", dim=True)
