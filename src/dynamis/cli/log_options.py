"""Options of the commands that read logs: the contents of the log, and the processing of its signals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.options import EXISTING, by_name, numbers, one_or_all, words_of
from dynamis.cli.param_types import NUMBER, POSITIVE, Integer
from dynamis.errors import InputError, printable

if TYPE_CHECKING:
    from dynamis.robot import Robot

METHODS = ("central", "savgol", "spline")


def log_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the command receives ``mapping`` and, in ``signals``, the arguments of `prepare`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


lock_option = click.option(
    "--lock", multiple=True, metavar="JOINT=VALUE",
    help="Joint that the file does not contain, such as a finger of a gripper, and its position in rad or m; repeatable.",
)  # fmt: skip
_OPTIONS = (
    click.option("--mapping", type=EXISTING, metavar="FILE",
                 help="TOML file that states the columns of the log, their units, gear ratios and couplings."),
    click.option("--cutoff", type=NUMBER, metavar="HZ",
                 help="Cut-off frequency of the low-pass filter on positions. Default: from their spectrum."),
    click.option("--derivative", type=click.Choice(METHODS), default="central", show_default=True,
                 help="Method that computes velocities and accelerations from positions."),
    click.option("--logged", metavar="v,a", help="Take velocities (v) or accelerations (a) from the log instead."),
    click.option("--parallel", type=NUMBER, metavar="HZ",
                 help="Cut-off frequency of the low-pass filter applied to both regressor and torque; 0: none. "
                 "Default: five times the band of the motion, if --cutoff is not given either."),
    click.option("--every", type=Integer(1), metavar="N",
                 help="Keep every N-th filtered row. Default: about five rows per period of the cut-off."),
    click.option("--smooth-torque", is_flag=True, help="The torque was low-pass filtered before it was logged."),
    click.option("--slow", metavar="NUMBERS",
                 help="Leave out samples of joints slower than this, in rad/s: one number per joint, or one for all. "
                 "Default: 1 % of the highest speed of the joint with the automatic filter, else 0."),
    click.option("--rest", type=click.Choice(("keep", "drop")),
                 help="Samples at rest before and after the motion. Default: drop with the automatic filter, else keep."),
    click.option("--jitter", type=click.Choice(("auto", "samples", "stamps")), default="auto", show_default=True,
                 help="Uneven time stamps are the true sampling times (samples), or errors of an even clock (stamps)."),
    click.option("--period", type=POSITIVE, metavar="SECONDS",
                 help="Sampling period, also of a log without times. Default: from these."),
    click.option("--gap", type=NUMBER, metavar="PERIODS",
                 help="Longest gap that is interpolated. Default: 5, or a quarter of a period of the cut-off."),
    click.option("--trim", type=NUMBER, metavar="SECONDS",
                 help="Time left out at both ends of each run. Default: one period of the cut-off."),
    click.option("--leave-out", multiple=True, metavar="START,END",
                 help="Time in s on the clock of the log, such as of a collision, whose torques are not used; repeatable."),
    click.option("--delay", metavar="SECONDS", default="0", show_default=True,
                 help="Time by which the torques were logged late, one or one per joint; it is corrected."),
    click.option("--zero", metavar="NUMBERS",
                 help="Joint positions at logged zeros, added to the positions, in rad or m, or with a unit (90deg): one "
                 "number per joint."),
    click.option("--time-scale", type=POSITIVE, metavar="FACTOR", default=1.0, show_default=True,
                 help="Factor of the logged times, for a clock of another rate."),
    click.option("--gravity", metavar="X,Y,Z",
                 help="Gravity in the base frame, in m/s²: 0,0,9.81 for a robot hung from the ceiling, 9.81,0,0 for one on a "
                 "wall. Default: that of the robot file."),
    lock_option,
    click.option("--no-outliers", is_flag=True, help="Do not search for outliers."),
)  # fmt: skip


def mounted(robot: Robot, options: dict[str, Any]) -> Robot:
    """Remove --gravity and --lock from the options of a command, and return the robot with this gravity and these joints
    locked."""
    vector, robot = numbers(options.pop("gravity"), "--gravity"), locked(robot, options.pop("lock"))
    if vector is None:
        return robot
    if len(vector) != 3:
        raise InputError(f"--gravity takes three numbers, such as --gravity 0,0,9.81; got {len(vector)}")
    return robot.replace(gravity=vector)


def locked(robot: Robot, given: Sequence[str]) -> Robot:
    """The robot with the joints of --lock locked."""
    positions = by_name(map(_lock, given), "--lock")
    return robot.reduced(positions) if positions else robot


def lock_notes(whole: Robot, robot: Robot) -> list[str]:
    """Notes on a file of a robot with joints locked by --lock."""
    moving = [joint.name for joint in whole.description.joints if joint.type != "fixed"]
    fixed = [printable(name) for name in moving if robot.description.joint(name).type == "fixed"]
    return [f"fixed in the file at the positions of --lock: {', '.join(fixed)}"] if fixed else []


def _lock(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    try:
        return name, float(value)
    except ValueError:
        raise InputError(f"--lock takes a joint and its position, such as --lock finger_joint=0.02; got {text!r}") from None


def _spans(given: Sequence[str]) -> list[tuple[float, float]]:
    """The times of --leave-out."""
    spans = [numbers(text, "--leave-out") or [] for text in given]
    if wrong := [text for text, span in zip(given, spans, strict=True) if len(span) != 2 or not span[0] < span[1]]:
        raise InputError(f"--leave-out takes the start and the end of a time in s, such as --leave-out 8,8.6; got {wrong[0]!r}")
    return [(start, end) for start, end in spans]


def _zeros(robot: Robot, text: str) -> Any:
    """The positions of --zero, one per joint: unlike a configuration, one other than zero hardly is that of all joints."""
    from dynamis.cli.configurations import configuration

    found = configuration(robot, text, "--zero", None, within_limits=False)
    if len(words_of(text)) < len(found) and found.any():
        names = ", ".join(map(printable, robot.coordinate_names[:8])) + (", …" if robot.n > 8 else "")
        raise InputError(f"--zero takes one number per joint ({names}), 0 where the zero is right; got {text!r}")
    return found


def signals(options: dict[str, Any], robot: Robot) -> dict[str, Any]:
    """Remove the arguments of `prepare` from the options of a command and return them."""
    zero = options.pop("zero")
    slow = one_or_all(numbers(options.pop("slow"), "--slow"))
    logged = options.pop("logged")
    return {
        "cutoff": options.pop("cutoff"),
        "derivative": options.pop("derivative"),
        "logged": tuple(x.strip() for x in logged.split(",")) if logged else (),
        "parallel": options.pop("parallel"),
        "every": options.pop("every"),
        "smooth_torque": options.pop("smooth_torque"),
        "slow": slow,
        "delay": one_or_all(numbers(options.pop("delay"), "--delay")),
        "zero": None if zero is None else _zeros(robot, zero),
        **{name: options.pop(name) for name in ("rest", "jitter", "period", "gap", "trim", "time_scale")},
        "leave_out": _spans(options.pop("leave_out")),
        "outliers": not options.pop("no_outliers"),
    }
