"""``dynamis sweep``: many simulations of one study, resumed after an interruption."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dynamis.cli.console import clean_name, echo, print_json, print_written
from dynamis.cli.error_handling import plain_errors, print_warning
from dynamis.cli.layout import print_table
from dynamis.cli.options import FOLDER, json_option, plot_option
from dynamis.cli.output_files import check_pictures, whole
from dynamis.cli.param_types import Integer
from dynamis.cli.progress import Bar
from dynamis.display import counted

if TYPE_CHECKING:
    from dynamis.sweeps.table import SweepResult

MAX_ENDINGS_LISTED = 8

HELP = """Simulate every case of a study: grids and random samples of states, loads, friction and parameters.

    Results are saved in parts. Run the command again to resume a sweep that was ended by a crash, Ctrl-C or a full disk.

    Exit status: 0 all cases done, 1 some are missing or all failed, 2 the command could not run, 130 interrupted.

    \b
    Examples:
      dynamis sweep study.toml
      dynamis sweep study.toml -o results --workers 4 --plot results.png
      dynamis sweep study.toml --scheduler tcp://10.0.0.5:8786
    """


@click.command(help=HELP, short_help="Simulate all cases of a parameter study.")
@click.argument("study", type=click.Path(path_type=Path))
@click.option("-o", "--out", "--output", "output", type=FOLDER, metavar="FOLDER",
              help="Folder of the results. Default: the study's name. An unfinished sweep in it is resumed.")  # fmt: skip
@click.option("--workers", type=Integer(1, 1024), metavar="N", help="Number of processes. Default: one per core.")
@click.option("--scheduler", metavar="ADDRESS", help="Run on the workers of a Dask scheduler, such as tcp://10.0.0.5:8786.")
@plot_option("Plot the results.")
@click.option("--show", "column", metavar="OUTPUT", help="Output that --plot draws, such as q.joint_1.")
@click.option("--over", metavar="INPUT", help="Varied input on the horizontal axis of --plot.")
@json_option
@plain_errors
def sweep(
    study: Path, output: Path | None, workers: int | None, scheduler: str | None, plot: Path | None, column: str | None,
    over: str | None, as_json: bool,
) -> None:  # fmt: skip
    from dynamis.errors import InputError
    from dynamis.sweeps.run import sweep as run
    from dynamis.sweeps.study_file import read_study

    if workers is not None and scheduler is not None:
        raise InputError("--workers runs on this machine, --scheduler on others: give one of them")
    if plot is None and (column is not None or over is not None):
        given = "--show" if column is not None else "--over"
        raise InputError(f"{given} selects what --plot draws: add --plot FILE.png")
    check_pictures(plot)
    made = read_study(study)
    folder = output or Path(study.stem)
    try:
        with Bar() as bar:
            result = run(made, folder, progress=bar.show, workers=workers, scheduler=scheduler)
    except KeyboardInterrupt:
        kept = f"interrupted; finished cases are kept in {clean_name(folder)}: run the same command again to continue"
        print_warning(kept, label="")
        sys.exit(130)
    written = [str(folder / "results.csv")] if result.complete else []
    if plot is not None and len(result):
        written.append(str(whole(plot, lambda file: result.plot(file, column, over))))
    if as_json:
        for note in result.notes:
            print_warning(note, label="note: ")
        print_json({
            "status": result.status, "complete": result.complete, "cases": len(result), "resumed": result.resumed,
            "notes": list(result.notes), "endings": dict(result.endings), "folder": str(folder),
            "statistics": {name: result.statistics(name) for name in (*result.inputs, *result.outputs)} if len(result) else {},
            "units": {name: result.units[name] for name in (*result.inputs, *result.outputs)} if len(result) else {},
            "written": written,
        })  # fmt: skip
    else:
        _print(result)
        print_written(written)
    sys.exit(0 if result.complete and result.without_results < len(result) else 1)


def _print(result: SweepResult) -> None:
    import numpy as np

    from dynamis.sweeps.table import HEADINGS

    echo((clean_name(result.study.name), {"bold": True}), f": {result.status}")
    if result.resumed:
        echo(f"  {result.resumed} of them from an earlier run")
    for note in (*result.notes, *([result.left_out] if result.left_out else [])):
        print_warning(note, label="note: ")
    for ending, count in result.endings.most_common(MAX_ENDINGS_LISTED):
        echo(f"  {count:>8} {ending}", hang=11)
    if len(result.endings) > MAX_ENDINGS_LISTED:
        echo(f"  and {counted(len(result.endings) - MAX_ENDINGS_LISTED, 'other ending')}: see column status of the results")
    if not len(result):
        return
    names = [*result.inputs, *(name for name in result.outputs if name != "t" or np.ptp(result["t"]))]
    print_table("", ("", *HEADINGS), [(result.label(name), *result.statistics(name).values()) for name in names])
