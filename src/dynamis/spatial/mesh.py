"""The inertia of a body given by a closed surface mesh (read by trimesh)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from dynamis.errors import InputError, MissingExtraError
from dynamis.files.mesh_limits import check_mesh_file
from dynamis.files.mesh_readers import lacking, load_mesh, metres_per_unit, not_installed
from dynamis.scalar import is_number
from dynamis.spatial.inertia import Inertia


def mesh_inertia(source: Any, *, mass: float | None = None, density: float | None = None, scale: float = 1.0) -> Inertia:
    """Inertia, about the mesh origin, of the homogeneous solid enclosed by a mesh.

    ``source`` is a file (STL, OBJ, PLY, …) or a trimesh object; lengths are in metres times ``scale``, or in the unit that a
    COLLADA file states times ``scale``. The surface must be watertight, because the volume
    integrals of an open surface are meaningless; an open mesh is rejected.

    >>> import dynamis as dy
    >>> part = dy.mesh_inertia("part.stl", density=2700.0)  # doctest: +SKIP
    """
    kind = Path(source).suffix.lower().removeprefix(".") if isinstance(source, str | Path) else ""
    missing = lacking(kind)
    if missing is not None:
        raise MissingExtraError(f"the inertia of a mesh cannot be computed: {missing}")
    if (mass is None) == (density is None):
        raise InputError("give exactly one of mass= and density=")
    for name, value in (("mass", mass), ("density", density), ("scale", scale)):
        if value is not None and not (is_number(value) and math.isfinite(value) and value > 0.0):
            raise InputError(f"{name} must be a finite positive number, got {value}")
    try:
        if isinstance(source, str | Path):
            check_mesh_file(Path(source))
        surface: Any = load_mesh(source, force="mesh") if isinstance(source, str | Path) else source.copy()
    except ModuleNotFoundError as error:
        name = (error.name or "trimesh").partition(".")[0]
        raise MissingExtraError(f"the mesh {source} cannot be read: {not_installed(name)}") from None
    except Exception as error:  # trimesh's readers raise whatever their formats do
        raise InputError(f"the mesh {source} cannot be read: {error}") from None
    if not surface.is_watertight:
        raise InputError(
            f"the mesh {source if isinstance(source, str | Path) else ''} is not watertight, so it encloses no volume; "
            "close its holes, or use its convex hull (trimesh's mesh.convex_hull) and say so"
        )
    surface.apply_scale(scale * metres_per_unit(surface, kind))
    if surface.volume < 0.0:
        surface.invert()  # faces wound inside out
    properties = surface.mass_properties
    rho = density if density is not None else (mass or 0.0) / float(properties.volume)
    tensor = np.asarray(properties.inertia) * (rho / float(properties.density))
    return Inertia.about_com(rho * float(properties.volume), np.asarray(properties.center_mass), tensor)
