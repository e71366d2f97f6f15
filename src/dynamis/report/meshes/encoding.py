"""Meshes as the page decodes them: integers of 16 bits, in text."""

from __future__ import annotations

import base64
import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.report.meshes.reading import MeshFile, read
from dynamis.report.meshes.simplifying import cell_of, fineness_of, simplify
from dynamis.report.meshes.surface import STEPS, Surface

Array = npt.NDArray[Any]


@functools.lru_cache(maxsize=4)
def encoded(files: tuple[MeshFile, ...]) -> list[dict[str, Any]]:
    surfaces = [surface for file in files if isinstance(surface := read(file), Surface)]
    read.cache_clear()  # as they were read they are large, and no longer needed
    fineness = fineness_of(surfaces)
    return [encode(simplify(surface, cell_of(surface, fineness))) for surface in surfaces]


def encode(surface: Surface) -> dict[str, Any]:
    """The numbers `page/robot_parts.js` decodes: vertices in steps from the lowest, triangles in the order of their colours."""
    low, step = surface.low, surface.size / STEPS
    colours = list(dict.fromkeys(surface.colours))
    paint = np.array([colours.index(colour) for colour in surface.colours])[surface.part]
    counts = np.bincount(paint, minlength=len(colours))
    wide = len(surface.vertices) > STEPS
    return {
        "low": [float(x) for x in low],
        "step": step,
        "vertices": _text(np.rint((surface.vertices - low) / step), "<u2"),
        "triangles": _text(surface.triangles[np.argsort(paint, kind="stable")], "<u4" if wide else "<u2"),
        "wide": wide,
        "paint": [
            {"count": int(count), **({"rgba": list(colour)} if colour is not None else {})}
            for count, colour in zip(counts, colours, strict=True)
            if count
        ],
    }


def _text(numbers: Array, kind: str) -> str:
    return base64.b64encode(numbers.astype(kind).tobytes()).decode("ascii")
