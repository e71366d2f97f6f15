"""The 3-D view of a robot, or the animation of a motion, in a notebook or as a page."""

from __future__ import annotations

import html
import numbers
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dynamis.documents.blocks import Player, Robot3D
from dynamis.documents.numbers import short
from dynamis.documents.report_page import render_view
from dynamis.errors import InputError, printable
from dynamis.files.atomic_write import write_file
from dynamis.files.paths import path_of
from dynamis.reports.scene import POSE_DIGITS, scene_of
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric
from dynamis.simulation.trajectory import Trajectory

FRAMES_PER_SECOND = 60.0
MAX_FRAMES = 1800
MIN_HEIGHT = 200  # pixels


@dataclass(frozen=True, eq=False, repr=False)
class View:
    """The result of `view`: displayed by a notebook at the end of a cell; `write` saves it as a file.

    The page is self-contained: nothing is fetched, and a saved notebook still shows it.
    """

    name: str
    block: Robot3D | Player
    height: int

    def html(self) -> str:
        """The page."""
        return render_view(self.name, self.block)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to an .html file."""
        target = path_of(path)
        if target.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"{printable(target.name)}: name the page .html")
        return write_file(target, self.html().encode("utf-8"))

    def _repr_html_(self) -> str:
        # a sandboxed frame: the page can neither read nor change the notebook
        style = f"width: 100%; height: {self.height}px; border: 0; border-radius: 10px"
        inside = html.escape(self.html(), quote=True)
        name = html.escape(self.name, quote=True)
        return f'<iframe title="{name}" sandbox="allow-scripts" style="{style}" srcdoc="{inside}"></iframe>'

    def __repr__(self) -> str:
        what = "the robot" if isinstance(self.block, Robot3D) else "a motion of"
        return f"<View: {what} {printable(self.name)}; a notebook shows it, write('view.html') makes a page>"


def view(shown: Robot | Trajectory, q: Any = None, *, height: int = 480) -> View:
    """A robot in 3-D with a slider per joint, or the animation of a motion: displayed by a notebook at the end of a cell.

    The robot stands at ``q``, by default in a pose that shows its links. ``height`` is in pixels. ``.write("view.html")``
    saves it as a page.

    >>> import dynamis as dy
    >>> dy.view(dy.load("ur5e"))
    <View: the robot 'UR5e'; a notebook shows it, write('view.html') makes a page>
    """
    if isinstance(height, bool) or not isinstance(height, numbers.Integral) or height < MIN_HEIGHT:
        raise InputError(f"height={height!r} must be a whole number of pixels, {MIN_HEIGHT} or more")
    if isinstance(shown, Robot):
        return View(shown.name, _of_robot(shown, q), int(height))
    if isinstance(shown, Trajectory):
        if q is not None:
            raise InputError("q= is the configuration of a robot: dy.view(motion.robot, motion.q[k]) shows one of a motion")
        return View(shown.robot.name, _of_motion(shown), int(height))
    raise InputError(f"view takes a robot or a simulated motion, got {type(shown).__name__}; dy.load gives a robot")


def _of_robot(robot: Robot, q: Any) -> Robot3D:
    check_numeric(robot)
    if not robot.n:
        raise InputError(f"robot {printable(robot.name)} has no joints that move")
    scene = scene_of(robot)
    if q is not None:
        state = robot.inputs.one_state(q, robot.nq, "q")
        if state.dtype == object:
            raise InputError("q must have numeric entries, not symbols")
        robot.inputs.warn_degrees(state, "q", stacklevel=4)
        scene = scene | {"pose": short(state, POSE_DIGITS)}
    return Robot3D(scene)


def _of_motion(motion: Trajectory) -> Player:
    if len(motion) < 2:
        raise InputError(f"there is no motion to play: {motion.status}")
    start, end = float(motion.t[0]), float(motion.t[-1])
    times = np.linspace(start, end, int(np.clip(np.ceil((end - start) * FRAMES_PER_SECOND), 2, MAX_FRAMES)) + 1)
    q, _ = motion.at(times)
    title = motion.robot.name if motion.status == "completed" else f"{motion.robot.name}: {motion.status}"
    return Player("motion", title, short(times), short(q, 6), "", scene_of(motion.robot))
