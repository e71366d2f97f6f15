"""Options of the commands that read logs: what is in them, and what is done to their signals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from dynamis.cli.bounds import numbers

METHODS = ("central", "savgol", "kalman", "spectral", "spline")


def log_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options; the command gets ``mapping`` and, in ``signals``, the arguments of `prepare`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS = (
    click.option("--mapping", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
                 help="A TOML file that says what the columns are, their units, gears and couplings."),
    click.option("--cutoff", type=float, help="Of the low-pass on positions, in Hz; found from their spectrum unless given."),
    click.option("--derivative", type=click.Choice(METHODS), default="central", show_default=True,
                 help="How velocities and accelerations come from positions."),
    click.option("--logged", metavar="v,a", help="Take these from the log instead."),
    click.option("--parallel", type=float, help="Low-pass on regressor and torque alike, in Hz."),
    click.option("--every", type=click.IntRange(1), help="Keep every so many of its rows; about five a period unless given."),
    click.option("--smooth-torque", is_flag=True, help="The torque was low-passed before it was logged."),
    click.option("--slow", metavar="NUMBERS", help="Leave out joints slower than this, in rad/s: one number, or one a joint."),
    click.option("--rest", type=click.Choice(("keep", "drop")), default="keep", show_default=True,
                 help="What to do with the time before the motion and after it."),
    click.option("--no-outliers", is_flag=True, help="Do not look for spikes."),
)  # fmt: skip


def signals(options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `prepare` among the options of a command, which are taken out of it."""
    slow = numbers(options.pop("slow"), "--slow")
    logged = options.pop("logged")
    return {
        "cutoff": options.pop("cutoff"),
        "derivative": options.pop("derivative"),
        "logged": tuple(x.strip() for x in logged.split(",")) if logged else (),
        "parallel": options.pop("parallel"),
        "every": options.pop("every"),
        "smooth_torque": options.pop("smooth_torque"),
        "slow": None if slow is None else slow[0] if len(slow) == 1 else slow,
        "rest": options.pop("rest"),
        "outliers": not options.pop("no_outliers"),
    }
