"""How often links of a robot collide with each other; only where the library coal is installed."""

from __future__ import annotations

import importlib.util

import numpy as np

from dynamis.collision.scene import Scene
from dynamis.display import counted
from dynamis.documents.blocks import Section, Table
from dynamis.documents.numbers import quantity, text
from dynamis.errors import ModelError
from dynamis.kinematics.directions import in_order_of_q
from dynamis.reports.numbers import ranges
from dynamis.robot import Robot

CONFIGURATIONS = ((50, 300), (10**9, 60))  # up to so many pairs: so many random configurations
MAX_PAIRS_LISTED = 8
FAR = 0.1  # m: greater distances are not computed


def add_self_collision(robot: Robot, section: Section) -> None:
    """A table of the pairs that come nearest, with the code that reproduces it; nothing for a robot without shapes."""
    if importlib.util.find_spec("coal") is None:
        return
    try:
        scene = Scene(robot)
    except ModelError:  # no shape that could collide
        return
    if not scene.pairs:
        return
    count = next(count for pairs, count in CONFIGURATIONS if len(scene.pairs) <= pairs)
    q = in_order_of_q(robot, np.random.default_rng(0).uniform(*ranges(robot), (count, robot.n)))
    distances = scene.distances(q, within=FAR)
    share, least = (distances <= 0.0).mean(axis=0), distances.min(axis=0)
    order = [k for k in np.lexsort((least, -share)) if least[k] < FAR][:MAX_PAIRS_LISTED]
    home = scene.distances(robot.home(), within=FAR)
    rows = [
        (*scene.pairs[k], f"{100.0 * share[k]:.1f} %", quantity(home[k], "m", 3) if home[k] < FAR else f"> {FAR:g} m")
        for k in order
    ]
    colliding = (distances <= 0.0).any(axis=1).mean()
    without = f" Links without shapes: {', '.join(scene.missing)}." if scene.missing else ""
    checked = f"{counted(len(scene.pairs), 'pair')} of links {'is' if len(scene.pairs) == 1 else 'are'}"
    section.add(
        Table(
            "Self-collision",
            ("link", "link", "share of configurations in collision", "distance at home"),
            rows,
            f"{text(100.0 * colliding, 3)} % of {count} random configurations are in collision. {checked} checked; adjacent "
            "links, and links that nearly always collide or have a constant distance, are "
            f"not. Meshes are replaced by their convex hulls.{without}",
        )
    )
    section.reproduce += (
        "\n\nscene = dy.collision.Scene(robot)  # needs coal: pip install 'dynamis[collision]'\n"
        f"print(scene.in_collision(q[:{count}]).mean(), scene.nearest(robot.home(), {MAX_PAIRS_LISTED}))"
    )
