"""``dynamis pose`` and ``dynamis ik``: forward and inverse kinematics of a frame."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.configurations import UNITS, degrees_option, entries_of
from dynamis.cli.console import echo, print_json
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.hints import for_command_line
from dynamis.cli.layout import print_table
from dynamis.cli.options import frame_option, json_option, numbers, set_option, start_option
from dynamis.cli.robot_options import ROW_NAMES, load_at, robot_options
from dynamis.display import without_rounding
from dynamis.errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

    from dynamis.robot import Robot

TYPED_QUATERNION = 0.02  # of the length 1: rounding to two decimals

POSE_HELP = """Pose of a frame relative to the world, and its Jacobian.

    The position is in m; roll, pitch and yaw are rotations about the fixed axes x, y and z. The Jacobian maps joint velocities
    to the velocity of the frame's origin and its angular velocity, in world axes.

    \b
    Examples:
      dynamis pose ur5e --q 0,-70,90,-50,-75,0 --degrees
      dynamis pose panda --frame panda_link4 --json
      dynamis pose go2 --all
    """
IK_HELP = """Inverse kinematics: joint positions for a pose, a position or an orientation of a frame.

    The search starts from --q0, then from random configurations; joint limits are satisfied. Exit status 1: no configuration
    was found, and the nearest one is printed.

    \b
    Examples:
      dynamis ik ur5e --position 0.4,0.2,0.3 --rpy 180,0,90 --degrees
      dynamis ik panda --position 0.4,0,0.5 --q0 0,-0.8,0,-2.3,0,1.6,0.8
      dynamis ik ur5e --quaternion 0,1,0,0 --json
    """


@click.command(help=POSE_HELP, short_help="Pose and Jacobian of a frame.")
@robot_options
@click.option("--all", "every", is_flag=True, help="List the poses of all frames.")
@json_option
@plain_errors
def pose(
    robot: str, q: str | None, degrees: bool | None, frame: str | None, settings: tuple[str, ...], every: bool, as_json: bool
) -> None:
    if every and frame is not None:
        raise InputError("--all lists all frames: omit --frame")
    loaded, at = load_at(robot, q, degrees, settings, kinematic=True)
    if every:
        frames = {name: _described(X) for name, X in zip(loaded.link_names, loaded.poses(at), strict=True)}
        if as_json:
            print_json({"robot": loaded.name, "q": at, "frames": frames})
            return
        rows = [(name, *x["position"], *x["rpy"]) for name, x in frames.items()]
        heads = ("frame", "x [m]", "y [m]", "z [m]", "roll [rad]", "pitch [rad]", "yaw [rad]")
        print_table(f"{loaded.name}: poses of its frames", heads, rows)
        return
    name = loaded.model.frame(frame).name
    found, J = _described(loaded.pose(at, name)), loaded.jacobian(at, name)
    if as_json:
        joints = list(loaded.coordinate_names)
        print_json({"robot": loaded.name, "frame": name, "q": at, **found, "joints": joints, "jacobian": J})
        return
    _print_pose(f"{loaded.name}: pose of {name}", found)
    print_table("Jacobian", ("joint", *ROW_NAMES), list(zip(loaded.coordinate_names, *J, strict=True)))


@click.command("ik", help=IK_HELP, short_help="Inverse kinematics: q for a pose of a frame.")
@click.argument("robot")
@click.option("--position", metavar="X,Y,Z", help="Position of the frame's origin in m.")
@click.option("--rpy", metavar="R,P,Y", help="Orientation by roll, pitch and yaw: rotations about the fixed axes x, y and z.")
@click.option("--quaternion", metavar="X,Y,Z,W", help="Orientation by a quaternion, its scalar part last.")
@frame_option
@start_option()
@degrees_option("--rpy", "--q0")
@set_option
@click.option("--no-limits", is_flag=True, help="Ignore the joint limits.")
@json_option
@click.pass_context
@plain_errors
def inverse_kinematics(
    ctx: click.Context, robot: str, position: str | None, rpy: str | None, quaternion: str | None, frame: str | None,
    q0: str | None, degrees: bool | None, settings: tuple[str, ...], no_limits: bool, as_json: bool,
) -> None:  # fmt: skip
    from dynamis.kinematics.inverse_kinematics import inverse_kinematics as solve

    target = _target(position, rpy, quaternion, degrees)
    loaded, start = load_at(robot, q0, degrees, settings, "--q0", kinematic=True)
    name = loaded.model.frame(frame).name
    found = solve(loaded, target, name, q0=start, limits=not no_limits)
    reached, status = _described(loaded.pose(found.q, name)), for_command_line(found.status)
    if as_json:
        print_json({
            "robot": loaded.name, "frame": name, "found": bool(found.found), "q": found.q, "status": status,
            "position_error": found.position_error, "rotation_error": found.rotation_error, "reached": reached,
        })  # fmt: skip
    else:
        echo(f"{loaded.name}: configuration for {name} {status}", hang=2)
        _print_configuration(loaded, found.q)
        _print_pose(f"pose of {name} there", reached)
    if not found.found:
        ctx.exit(1)


def _target(position: str | None, rpy: str | None, quaternion: str | None, degrees: bool | None) -> npt.NDArray[Any]:
    """A pose (4 × 4), a position (3) or an orientation (3 × 3)."""
    import numpy as np

    from dynamis.spatial import Pose
    from dynamis.spatial.rotation import from_quaternion, from_rpy

    p, four = _some(position, "--position", 3), _some(quaternion, "--quaternion", 4)
    if rpy is not None and four is not None:
        raise InputError("--rpy and --quaternion both give the orientation: omit one of them")
    if four is not None and not abs(np.linalg.norm(four) - 1.0) <= TYPED_QUATERNION:
        raise InputError(
            f"--quaternion has length {np.linalg.norm(four):.4g}, but that of an orientation has length 1: check x,y,z,w, or "
            "divide them by their length"
        )
    if rpy is not None:
        R = from_rpy(_angles(rpy, degrees))
    elif four is not None:
        R = from_quaternion(four / np.linalg.norm(four))
    elif p is not None:
        return p
    else:
        raise InputError("give a target: --position x,y,z, --rpy r,p,y or --quaternion x,y,z,w")
    return R if p is None else Pose(R, p).matrix()


def _angles(text: str, degrees: bool | None) -> list[float]:
    """Roll, pitch and yaw in rad."""
    entries = entries_of(text, "--rpy")
    if len(entries) != 3 or any(unit == "m" or not math.isfinite(x) for x, unit in entries):
        raise InputError(f"--rpy takes three angles, such as --rpy 180deg,0,90deg, got {text!r}")
    if degrees is None and any(not unit and abs(x) > 2.0 * math.pi for x, unit in entries):
        raise InputError(f"--rpy takes radians, and {text} looks like degrees: add --degrees; for radians add --radians")
    return [x * UNITS[unit or ("deg" if degrees else "rad")] for x, unit in entries]


def _some(text: str | None, option: str, count: int) -> npt.NDArray[Any] | None:
    import numpy as np

    values = numbers(text, option)
    if values is not None and len(values) != count:
        raise InputError(f"{option} takes {count} numbers, got {len(values)}")
    return None if values is None else np.array(values)


def _described(X: Any) -> dict[str, Any]:
    from dynamis.spatial.rotation import to_quaternion, to_rpy

    return {"position": X[:3, 3], "rpy": to_rpy(X[:3, :3]), "quaternion": to_quaternion(X[:3, :3]), "matrix": X}


def _print_pose(title: str, x: dict[str, Any]) -> None:
    import numpy as np

    rpy = without_rounding(x["rpy"], 1.0)
    print_table(title, ("", "x", "y", "z", "w"), [
        ("position [m]", *x["position"], None), ("roll, pitch, yaw [rad]", *rpy, None),
        ("roll, pitch, yaw [deg]", *np.rad2deg(rpy), None), ("quaternion", *x["quaternion"]),
    ])  # fmt: skip


def _print_configuration(robot: Robot, q: Any) -> None:
    import numpy as np

    q = without_rounding(q, 1.0)
    listed = "  --q " + ",".join(f"{x:.10g}" for x in q)
    if robot.nq != robot.n:
        echo(listed)
        return
    rows = [
        (c.name, q[c.q_index], "rad" if c.revolute else "m", np.rad2deg(q[c.q_index]) if c.revolute else None)
        for c in robot.model.coordinates
    ]
    print_table("joint positions", ("joint", "position", "unit", "degrees"), rows)
    echo(listed)
