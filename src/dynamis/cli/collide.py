"""``dynamis collide``: collisions and distances of a robot's links, with each other and with obstacles."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.configurations import degrees_option
from dynamis.cli.console import clean_name, echo, print_json
from dynamis.cli.error_handling import plain_errors, print_warning
from dynamis.cli.layout import print_table
from dynamis.cli.options import EXISTING, by_name, floating_option, json_option, numbers, q_option, set_option
from dynamis.cli.param_types import NUMBER, Integer
from dynamis.cli.progress import Bar
from dynamis.cli.states import loaded, rows_of, vector
from dynamis.display import counted
from dynamis.errors import InputError

if TYPE_CHECKING:
    from dynamis.collision import Obstacle, Scene

MAX_PLAUSIBLE = 50.0  # m: larger lengths of obstacles are probably millimetres

HELP = """Distances and collisions between the links of a robot, and with obstacles.

    One configuration, or where along the rows of a file (--states) the smallest distance occurs. Links are represented by
    their collision shapes, else by the visual ones, meshes by their convex hulls. Adjacent links, and links that collide in
    95 % of 200 random postures, are not checked; an SRDF file replaces the random postures.

    Needs the library coal: pip install 'dynamis[collision]'.

    Exit status: 0 free; 1 in collision; 2 bad input.

    \b
    Examples:
      dynamis collide ur5e --q 0,-70,90,-50,-75,0 --degrees
      dynamis collide panda --obstacle table:box:1,1,0.1@0.5,0,-0.05 --margin 0.02
      dynamis collide ur5e --states motion.csv --floor -0.9 --json
    """


@click.command(help=HELP, short_help="Nearest links and obstacles: distances, collisions.")
@click.argument("robot")
@q_option
@degrees_option("--q", "--states")
@click.option("--states", "table", type=EXISTING, metavar="FILE",
              help="Check every row of a .csv, .npz or .parquet file with columns such as q1 or q.JOINT.")  # fmt: skip
@click.option("--srdf", type=EXISTING, metavar="FILE", help="SRDF file with the pairs that are not checked.")
@click.option("--obstacle", "obstacles", multiple=True, metavar="NAME:KIND:SIZE@X,Y,Z",
              help="Obstacle: a box (x,y,z), sphere (radius), capsule or cylinder (radius,length) or mesh (its file), and its "
                   "centre in m; repeatable.")  # fmt: skip
@click.option("--floor", type=NUMBER, metavar="Z", help="Height of a floor in m.")
@click.option("--margin", type=NUMBER, default=0.0, show_default=True, help="Distance in m up to which a pair collides.")
@click.option("--count", type=Integer(1), default=10, show_default=True, help="Number of pairs that are listed.")
@set_option
@floating_option
@json_option
@plain_errors
def collide(
    robot: str, q: str | None, degrees: bool | None, table: Path | None, srdf: Path | None, obstacles: tuple[str, ...],
    floor: float | None, margin: float, count: int, settings: tuple[str, ...], floating: bool, as_json: bool,
) -> None:  # fmt: skip
    import numpy as np

    from dynamis.collision import Scene

    if q is not None and table is not None:
        raise InputError("--q and --states exclude each other: give one configuration, or a file with many")
    arm = loaded(robot, settings, floating)
    around = by_name([*map(_obstacle, obstacles), *_floor(floor)], "--obstacle" if floor is None else "--obstacle and --floor")
    facts: dict[str, Any] = {"robot": arm.name}
    with Bar() as bar:
        rows = None if table is None else rows_of(arm, table, {"q": q}, bar.show, degrees)
        scene = Scene(arm, srdf=srdf, obstacles=around, margin=margin)
        if rows is None:
            at = vector(arm, q, "q", degrees=degrees)
        else:
            bar.show(1.0, "computing")
            states = rows.arrays["q"]
            distances = scene.distance(states)
            facts |= {"rows": len(states), "distances": distances}
            if rows.times is None:  # of separate configurations
                k = int(np.argmin(distances))
                at, touching = states[k], bool(distances[k] <= scene.margin)
                facts["row"] = k + 1
            else:
                found = scene.along((rows.times, states))
                at, touching = found.q, not found.free
                facts |= {"time": found.time, "collisions": found.collisions}
    collides, near = scene.in_collision(at), scene.nearest(at, count)
    if as_json:
        pairs = [{"pair": n.pair, "distance": n.distance, "points": n.points, "normal": n.normal} for n in near]
        print_json({
            **facts, "q": at, "in_collision": collides, "margin": scene.margin, "nearest": pairs, "pairs": len(scene.pairs),
            "excluded": [{"pair": pair, "reason": why} for pair, why in scene.excluded.items()], "missing": scene.missing,
        })  # fmt: skip
    else:
        if rows is not None:
            where = f"row {facts['row']}" if rows.times is None else f"t = {facts['time']:.6g} s"
            inside = int((distances <= scene.margin).sum())
            state = "free" if not touching else f"in collision in {inside} of them" if inside else "in collision between them"
            echo(f"{counted(len(distances), 'row')}, {state}; smallest distance at {where}")
        _print(scene, near, collides)
    sys.exit(1 if collides else 0)


def _obstacle(text: str) -> tuple[str, Obstacle]:
    """NAME:KIND:SIZE@X,Y,Z."""
    from dynamis.collision import Obstacle

    name, _, rest = text.partition(":")
    kind, _, rest = rest.partition(":")
    size, at, place = rest.rpartition("@")
    centre = numbers(place, "--obstacle") if at else None
    if not name or not kind or centre is None or len(centre) != 3:
        raise InputError(f"--obstacle takes NAME:KIND:SIZE@X,Y,Z, such as table:box:1,1,0.1@0.5,0,-0.05, got {text!r}")
    sizes = () if kind == "mesh" else numbers(size, "--obstacle") or ()
    if (largest := max(map(abs, (*centre, *sizes)))) > MAX_PLAUSIBLE:
        print_warning(
            f"--obstacle {clean_name(name)} has a length of {largest:g}: lengths are in m; if these are mm, divide them by 1000"
        )
    if kind == "mesh":
        return name, Obstacle("mesh", pose=centre, mesh=size)
    return name, Obstacle(kind, sizes, centre)


def _floor(height: float | None) -> list[tuple[str, Obstacle]]:
    from dynamis.collision import Obstacle

    return [] if height is None else [("floor", Obstacle("half_space", (), (0.0, 0.0, height)))]


def _print(scene: Scene, near: Any, collides: bool) -> None:
    word = ("in collision", {"fg": "red", "bold": True}) if collides else ("free", {"fg": "green", "bold": True})
    checked = f" of {counted(len(scene.links), 'link')}"
    echo((clean_name(scene.robot.name), {"bold": True}), f": {counted(len(scene.pairs), 'pair')}{checked} checked, ", word)
    rows = [(n.pair[0], n.pair[1], n.distance, *n.points[0].round(5)) for n in near]  # exact along the normal only
    headings = ("link", "other", "distance, m", "x, m", "y, m", "z, m")
    print_table("Nearest pairs, and the nearest point on the first", headings, rows)
    if scene.missing:
        echo(f"  no geometry: {', '.join(map(clean_name, scene.missing))}", hang=4)
