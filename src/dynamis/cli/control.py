"""``dynamis control``: a controller simulated on a robot whose parameters differ from its model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.configurations import configuration, degrees_option, outside_limits
from dynamis.cli.console import clean_name, echo, print_json, print_written
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.formatting import number, percent, with_units
from dynamis.cli.hints import for_command_line
from dynamis.cli.layout import print_table
from dynamis.cli.limits import warn_limits
from dynamis.cli.options import FOLDER, json_option, numbers, plot_option, set_option, start_option
from dynamis.cli.output_files import check_pictures, whole
from dynamis.cli.param_types import NUMBER, POSITIVE, SEED, Nearest
from dynamis.cli.progress import Bar
from dynamis.cli.states import loaded, units, vector
from dynamis.errors import InputError

if TYPE_CHECKING:
    from dynamis.control.law_runs import LawComparison
    from dynamis.control.stability import Condition

LAWS = (
    "gravity-compensation", "pd-gravity", "pid", "pd-bounded", "feedforward-pd", "computed-torque", "slotine-li",
    "operational-space", "impedance",
)  # fmt: skip
OTHER_NAMES = {
    "pi": "pid", "pd": "pd-gravity", "ctc": "computed-torque", "inverse-dynamics": "computed-torque",
    "feedback-linearization": "computed-torque", "feedforward": "feedforward-pd", "adaptive": "slotine-li",
    "passivity": "slotine-li", "task-space": "operational-space", "osc": "operational-space", "gravity": "gravity-compensation",
}  # fmt: skip
NOT_OF = {  # options, and the laws on which they have no effect
    "bandwidth": ("impedance",), "damping": ("pd-bounded", "slotine-li"), "move": ("gravity-compensation",),
    "stiffness": tuple(x for x in LAWS if x != "impedance"),
}  # fmt: skip
COLOURS = {True: "green", False: "red", None: "yellow"}  # of a verdict on stability
OF_THE_TIP = ("operational-space", "impedance")  # their goal is a position of the tip

HELP = """Simulate a controller on a smooth motion to a goal, and check its stability conditions.

    Dry friction holds joints at rest as long as the law's torque is below it; such joints are named.

    A tip goal out of reach is reported as a warning, with its distance from the workspace.

    Exit status: 0 goal reachable and within the joint limits, motion completed, torques within limits and
    without chatter at the sample rate, no stability condition fails, tracking errors as expected; 1 one of these fails; 2 bad
    input. Errors are expected below their predicted bound; where neither a bound nor a theorem is known, below the distance
    from start to goal.

    \b
    Examples:
      dynamis control planar_2r_melchiorri --law pd-gravity --goal 0.8,-0.6 \\
          --error 5
      dynamis control kuka_iiwa14 --law computed-torque --bandwidth 15 \\
          --goal 0.6 --error 5 --plot iiwa.png
      dynamis control puma560 --law slotine-li --goal 0.5,0.7,-0.4,0.2,0.8,0.1 \\
          --error 5 --json
      dynamis control ur5e --law operational-space --q0 0,-1.2,1.6,-2,-1.5,0 \\
          --goal=-0.4,0.2,0.5
      dynamis control ur5e --law computed-torque --goal 30 --degrees --c code
    """


@click.command(help=HELP, short_help="Simulate a controller and check its stability conditions.")
@click.argument("robot")
@click.option("--law", type=Nearest(LAWS, OTHER_NAMES), default="computed-torque", show_default=True, metavar="LAW",
              help=f"Control law: {', '.join(LAWS[:-1])} or {LAWS[-1]}.")  # fmt: skip
@click.option("--goal", metavar="NUMBERS",
              help="Goal: joint positions in rad and m; tip position in m for operational-space and impedance; "
                   "none for gravity-compensation.")  # fmt: skip
@start_option("--start", name="start")
@degrees_option("--goal", "--q0")
@click.option(
    "--bandwidth", type=POSITIVE, default=10.0, show_default=True, help="Closed-loop bandwidth in rad/s; not of impedance."
)
@click.option("--damping", type=POSITIVE, default=1.0, show_default=True,
              help="Damping ratio; 1 is critical damping; not of pd-bounded and slotine-li.")  # fmt: skip
@click.option("--stiffness", type=POSITIVE, default=1000.0, show_default=True, help="Stiffness of impedance, in N/m.")
@click.option("--time", "--duration", "duration", type=POSITIVE, default=2.0, show_default=True, help="Simulated time in s.")
@click.option("--move", type=POSITIVE, help="Duration of the reference motion in s. Default: half of --time.")
@click.option("--error", type=NUMBER, default=0.0, show_default=True,
              help="Largest error of masses, centres of mass, inertias, friction and rotors in the controller's model, "
              "in percent.")  # fmt: skip
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the parameter errors of --error.")
@click.option(
    "--rate",
    type=POSITIVE,
    help="Sample rate of the controller in Hz. Default: continuous.",
)
@click.option("--step", type=POSITIVE, help="Integration step in s. Default: chosen from the control law.")
@click.option("--seconds", type=POSITIVE, help="Time limit of the simulation, in s of computing time.")
@set_option
@click.option("--c", "folder", type=FOLDER, metavar="FOLDER", help="Also write the controller as C99 code.")
@click.option("--name", metavar="NAME", help="Name of the C function and its files, with --c. Default: control_LAW.")
@plot_option("Plot motion, tracking errors and torques.")
@json_option
@plain_errors
def control(
    robot: str, law: str, goal: str | None, start: str | None, degrees: bool | None, bandwidth: float, damping: float,
    stiffness: float, duration: float, move: float | None, error: float, seed: int, rate: float | None, step: float | None,
    seconds: float | None, settings: tuple[str, ...], folder: Path | None, name: str | None, plot: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    from dynamis.control.c_export import write_c
    from dynamis.control.experiments import compare_laws
    from dynamis.control.named_laws import LawDesign
    from dynamis.simulation.sampling import Sampled

    if not 0.0 <= error < 100.0:
        raise InputError(f"--error takes percent from 0 to 100, such as --error 5, got {error:g}")
    if name is not None and folder is None:
        raise InputError("--name is that of the C function: it needs --c FOLDER")
    _refuse_ignored(law, error, start, goal)
    check_pictures(plot)
    found = loaded(robot, settings)
    begun = vector(found, start, "q", "--q0", degrees)
    target: Any = None
    if goal is not None:
        target = numbers(goal, "--goal") if law in OF_THE_TIP else list(configuration(found, goal, "--goal", degrees))
    elif law != "gravity-compensation":  # which has no goal
        example = "a position of the tip in m, such as 0.4,0.2,0.5" if law in OF_THE_TIP else "a configuration, such as 0.5"
        raise InputError(f"--goal is missing: for {law} give {example}")
    design = LawDesign(bandwidth=bandwidth, damping=damping, stiffness=stiffness, rate=rate)
    with Bar() as bar:
        made = compare_laws(
            found, law, target, q0=begun, design=design, duration=duration, move=move, error=error / 100.0, seed=seed,
            step=step, seconds=seconds, progress=lambda x, _: bar.show(x, "simulating"),
        )  # fmt: skip
    run = made.runs[0]
    written = []
    if folder is not None:
        own = run.law.with_motors(found)
        # without states the sampled law is the same function; with states, x is that of the next sample
        called = Sampled(own, rate) if rate is not None and own.size else own
        written = [str(path) for path in write_c(found, called, folder, name=name)]
    if plot is not None:
        whole(plot, made.plot)
        written.append(str(plot))
    if as_json:
        facts = made.as_dict()
        print_json({**facts, **facts.pop("laws")[0], "written": written})
    else:
        _print(made)
        print_written(written)
        if folder is not None and rate is not None:
            echo(f"call the C function at {rate:g} Hz, and hold tau between the calls")
    interrupted = run.trajectory.status.startswith("interrupted")
    outside = law not in OF_THE_TIP and target is not None and bool(outside_limits(found, target))
    well = made.complete and run.as_expected and not (run.beyond_limits or run.chatter or made.unreachable or outside)
    sys.exit(130 if interrupted else 0 if well else 1)


def _refuse_ignored(law: str, error: float, start: str | None, goal: str | None) -> None:
    """Refuse options that have no effect on this law."""
    source = click.get_current_context().get_parameter_source
    given = {name for name in ("seed", "degrees", *NOT_OF) if source(name) is not click.core.ParameterSource.DEFAULT}
    for name, others in NOT_OF.items():
        if name in given and law in others:
            raise InputError(f"--{name} has no effect on {law}; it is for {', '.join(x for x in LAWS if x not in others)}")
    if "seed" in given and not error:
        raise InputError("--seed is that of the parameter errors: it needs --error PERCENT")
    if "degrees" in given and start is None and (goal is None or law in OF_THE_TIP):
        raise InputError("--degrees and --radians are the unit of joint positions: give --q0, or a goal in joint space")


def _print(found: LawComparison) -> None:
    made = found.runs[0]
    track, robot, report = made.tracking, found.robot, made.stability
    model = f"model parameters off by up to {100.0 * found.error:g} %" if found.error else "exact model"
    law = f"{made.law_name}, {model}" if made.rate is None else f"{made.law_name} at {made.rate:g} Hz, {model}"
    echo((clean_name(robot.name), {"bold": True}), f"  {law}: {for_command_line(made.trajectory.status)}")
    bounds = [None] * len(track.names) if made.bound is None else made.bound
    names, unit = with_units(track.names, made.units)
    print_table(
        f"Tracking errors{f' [{unit}]' if unit else ''}", ("coordinate", "largest", "final", "RMS", "expected below"),
        list(zip(names, track.largest, track.last, track.rms, bounds, strict=True)), digits=3,
    )  # fmt: skip
    names, unit = with_units(robot.coordinate_names, units(robot))
    torques = [
        (name, peak, *((None, None, None) if limit == float("inf") else (limit, percent(peak / limit, 2), percent(share, 2))))
        for name, peak, limit, share in zip(names, track.peak, made.torque_limits, made.at_limit, strict=True)
    ]
    print_table(f"Torques{f' [{unit}]' if unit else ''}", ("joint", "peak", "limit", "used", "time at limit"), torques)
    if made.beyond_limits:
        echo((f"torque limits exceeded: {', '.join(made.beyond_limits)}", {"fg": "red", "bold": True}))
    if made.chatter:
        cure = "raise --rate, or lower --bandwidth"
        cure += "; in Python, RobustPD.designed(…, width=…) has a wider boundary layer" if made.name == "pd-bounded" else ""
        echo((f"{made.chatter_verdict}; {cure}", {"fg": "red", "bold": True}))
    if made.held_by_friction:
        held = ", ".join(map(clean_name, made.held_by_friction))
        text = f"held off the goal by static friction: {held}; the law's torque for the error is below it"
        echo((text, {"fg": "yellow"}))
    warn_limits(made.trajectory)
    if made.beyond_bound:
        text = f"tracking errors larger than expected: {', '.join(map(clean_name, made.beyond_bound))}"
        echo((text, {"fg": "red", "bold": True}))
    elif not made.as_expected and (report is None or report.stable is None):
        text = "tracking errors larger than the distance from start to goal, that of a robot that does not move"
        echo((text, {"fg": "red", "bold": True}))
    if report is None:
        return
    if found.complete:
        echo((report.verdict, {"fg": COLOURS[report.stable], "bold": True}))
    else:
        echo(("the motion was not completed; stability conditions of the law:", {"fg": "red", "bold": True}))
    for condition in report.conditions:
        _print_condition(condition)
    for note in report.notes:
        echo((f"  {note}", {"dim": True}))


def _print_condition(condition: Condition) -> None:
    advice = condition.basis == "rule of thumb"
    mark, colour = ("holds", "green") if condition.holds else ("not met", "yellow") if advice else ("FAILS", "red")
    facts = condition.what
    if condition.requirement:
        facts += f" {number(condition.found)}, required {condition.requirement}"
    echo("  ", (f"{mark:<7}", {"fg": colour}), f"  {facts} ", (f"({condition.basis})", {"dim": True}), hang=11)
    if condition.why:
        echo((f"{'':11}{condition.why}", {"dim": True}))
