"""``dynamis sweep``: many simulations of one study, resumed after any crash."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.progress import Bar
from dynamis.cli.questions import finite
from dynamis.cli.writing import check_pictures, whole


@click.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option("-o", "--out", "--output", "output", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
              help="Where the results go; the study's name unless given. One begun before is gone on with.")  # fmt: skip
@click.option("--workers", type=int, metavar="N", help="How many processes; all cores unless given.")
@click.option("--scheduler", metavar="ADDRESS", help="Let the workers of a Dask scheduler do it, such as tcp://10.0.0.5:8786.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Draw the results.")
@click.option("--show", "column", metavar="OUTPUT", help="The output to draw, such as q.joint_1.")
@click.option("--over", metavar="INPUT", help="The varied input to draw it over.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def sweep(
    study: Path, output: Path | None, workers: int | None, scheduler: str | None, plot: Path | None, column: str | None,
    over: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Simulate every case of a study: grids and random draws of states, loads, friction, parameters.

    Results are kept part by part: started again after a crash, Ctrl-C or a full disk, the sweep goes on where it was.
    Exit status: 0 all cases done, 1 some are missing, 2 the command could not run, 130 interrupted.

    \b
    Examples:
      dynamis sweep study.toml
      dynamis sweep study.toml -o results --workers 4 --plot results.png
      dynamis sweep study.toml --scheduler tcp://10.0.0.5:8786
    """
    from dynamis.errors import InputError
    from dynamis.simulation.sweeps.run import sweep as run
    from dynamis.simulation.sweeps.study import read_study
    from dynamis.simulation.sweeps.summary import statistics

    if workers is not None and scheduler is not None:
        raise InputError("--workers is for this machine, --scheduler for others: give one of them")
    check_pictures(plot)
    made = read_study(study)
    folder = output or Path(study.stem)
    try:
        with Bar() as bar:
            result = run(made, folder, progress=bar.show, workers=workers, scheduler=scheduler)
    except KeyboardInterrupt:
        click.secho(
            f"dynamis: interrupted; what is done is kept in {folder}: run the same command to go on", fg="yellow", err=True
        )
        sys.exit(130)
    written = [str(folder / "results.csv")] if result.complete else []
    if plot is not None and len(result):
        written.append(str(whole(plot, lambda file: result.plot(file, column, over))))
    if as_json:
        facts = {
            "status": result.status, "complete": result.complete, "cases": len(result), "resumed": result.resumed,
            "notes": list(result.notes), "endings": dict(result.endings), "folder": str(folder),
            "statistics": {name: statistics(result[name]) for name in (*result.inputs, *result.outputs)} if len(result) else {},
            "written": written,
        }  # fmt: skip
        click.echo(json.dumps(finite(facts), indent=2, ensure_ascii=False))
    else:
        click.echo(result.summary())
        for name in written:
            click.echo(f"wrote {name}")
    sys.exit(0 if result.complete else 1)
