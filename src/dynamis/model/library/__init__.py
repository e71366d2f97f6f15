"""The robot library: robots of the course notes and real ones, with the source of their numbers, by name and offline."""

from __future__ import annotations

import tomllib
from pathlib import Path

_FOLDER = Path(__file__).parent


def library_names() -> list[str]:
    """The names `dynamis.load` knows."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def library_path(name: str) -> Path | None:
    """The file of a robot, or None; hyphens, case and spaces do not matter."""
    plain = name.lower().replace("-", "_").replace(" ", "_")
    path = _FOLDER / f"{plain}.toml"
    # only a plain name of this folder: never a path that leads out of it
    return path if plain.replace("_", "").isalnum() and path.is_file() else None


def library() -> dict[str, str]:
    """What the robots of the library are, by name; `load` takes these names.

    >>> import dynamis as dy
    >>> dy.library()["xarm7"]
    'UFACTORY xArm 7, 7 revolute joints'
    """
    about = {}
    for name in library_names():
        with (_FOLDER / f"{name}.toml").open("rb") as file:
            about[name] = str(tomllib.load(file)["robot"].get("about", ""))
    return about
