"""The libraries that read meshes: dependencies of Dynamis, which an installation may lack all the same."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

PACKAGES = {"trimesh": "trimesh", "collada": "pycollada"}  # modules and what to install for them
NEEDED = {"dae": ("trimesh", "collada")}  # modules for a format, where it is not trimesh alone
INSTALL = f"pip install {' '.join(PACKAGES.values())}"


def lacking(kind: str = "") -> str | None:
    """What is missing to read meshes of a format and how to install it; None if nothing is."""
    missing = [module for module in NEEDED.get(kind, ("trimesh",)) if importlib.util.find_spec(module) is None]
    return not_installed(missing[0]) if missing else None


def not_installed(module: str) -> str:
    """That a module is missing, and how to install it: all that meshes need, or the one that their libraries need besides."""
    name = PACKAGES.get(module, module)
    return f"{name} is not installed: {INSTALL if module in PACKAGES else f'pip install {name}'}"


def load_mesh(source: Any, **options: Any) -> Any:
    """`trimesh.load` without deprecation warnings, which concern the reading packages and not the file.

    pycollada 0.9.3, for example, sets the shape of arrays in place, which NumPy 2.5 deprecates.
    """
    import trimesh

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return trimesh.load(source, **options)


def metres_per_unit(mesh: Any, kind: str) -> float:
    """The unit of a mesh in metres: only COLLADA files state it in a way that robot files rely on."""
    from trimesh.units import unit_conversion

    return float(unit_conversion(mesh.units, "meters")) if kind == "dae" and mesh.units else 1.0
