"""What the commands about one configuration share: the robot, the frame, a wrench."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.configurations import degrees_option
from dynamis.cli.options import frame_option, numbers, q_option, set_option
from dynamis.cli.states import loaded, vector
from dynamis.errors import InputError

if TYPE_CHECKING:
    from dynamis.robot import Robot

ROW_NAMES = ("x", "y", "z", "about x", "about y", "about z")


def robot_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """ROBOT, --q, --degrees, --frame and --set."""
    for option in (set_option, frame_option, degrees_option("--q"), q_option, click.argument("robot")):
        command = option(command)
    return command


def load_at(
    robot: str, q: str | None, degrees: bool | None, settings: tuple[str, ...], option: str = "--q", *, kinematic: bool = False
) -> tuple[Robot, Any]:  # fmt: skip
    """The robot, for its kinematics only if ``kinematic`` (see `loaded`), and the configuration asked for."""
    found = loaded(robot, settings, kinematic=kinematic)
    return found, vector(found, q, "q", option, degrees=degrees)


def wrench_of(text: str | None) -> list[float] | None:
    """Three numbers of a force, or six of a wrench."""
    values = numbers(text, "--wrench")
    if values is not None and len(values) not in (3, 6):
        raise InputError(
            f"--wrench takes 3 numbers (a force) or 6 (force and moment), such as --wrench 0,0,-50; got {len(values)}"
        )
    return values
