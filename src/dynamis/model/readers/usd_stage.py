"""A USD stage as plain data, in a process of its own: `usd_files` starts this file as a script.

OpenUSD ends its process on some damaged files, and composes references without bound; here it does so within limits of
memory and time. Layers are opened one by one before the stage is composed, and only those in declared folders.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

MAX_PRIMS = 50_000
MAX_LAYERS = 200
SINGLE = ("float", "float2", "float3", "float4", "3f", "quatf")
MAX_LISTED = 64  # numbers of an attribute; points of meshes are not read


class Refused(Exception):  # noqa: N818
    """(found, allowed, repair, prim path)"""


def limit(memory: int, seconds: int) -> None:
    """Bound the memory and the processor time of this process, where the system can."""
    try:
        import resource
    except ImportError:  # Windows: the starting process limits the time
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def check_layers(file: str, folders: list[str], size: int) -> None:
    """Open the file and every layer it is composed of; refuse those outside the folders, too large or missing."""
    from pxr import Ar, Sdf

    resolver, seen, waiting = Ar.GetResolver(), set[str](), [(file, "")]
    with Ar.ResolverContextBinder(resolver.CreateDefaultContextForAsset(file)):
        while waiting:
            path, by = waiting.pop()
            plain = Ar.SplitPackageRelativePathOuter(path)[0] if Ar.IsPackageRelativePath(path) else path
            real = os.path.realpath(plain)
            if not any(Path(real).is_relative_to(folder) for folder in folders):
                raise Refused(f"{by} refers to {plain}, outside the folder of the file", "files in its folder",
                              "copy it there, or flatten the stage: usdcat --flatten -o flat.usda FILE")  # fmt: skip
            if Path(real).stat().st_size > size:
                raise Refused(f"{path} has more than {size // 2**20} MiB", f"at most {size // 2**20} MiB",
                              "write the robot without its meshes")  # fmt: skip
            if path in seen:
                continue
            seen.add(path)
            if len(seen) > MAX_LAYERS:
                raise Refused(f"it is composed of more than {MAX_LAYERS} layers", f"at most {MAX_LAYERS}", "flatten it")
            layer = Sdf.Layer.FindOrOpen(path)
            if layer is None:
                raise Refused(f"{path} is not a USD file", "USD: text, crate or archive", "export the robot again")
            if _has_clips(layer):
                raise Refused(f"{path} has value clips", "a stage without animation", "flatten the stage")
            for name in filter(None, layer.GetCompositionAssetDependencies()):  # the empty name is the layer itself
                found = "" if "`" in name else resolver.Resolve(layer.ComputeAbsolutePath(name)).GetPathString()
                if not found:
                    raise Refused(f"{path} refers to {name}, which cannot be found", "files in its folder",
                                  "copy it there, or flatten the stage: usdcat --flatten -o flat.usda FILE")  # fmt: skip
                waiting.append((found, path))


def _has_clips(layer: Any) -> bool:
    """Value clips name files of their own, which are opened when a value is read."""
    found = []

    def visit(path: Any) -> None:
        if path.IsPrimPath() or path.IsPrimVariantSelectionPath():
            prim = layer.GetPrimAtPath(path)
            if prim and prim.HasInfo("clips"):
                found.append(path)

    layer.Traverse("/", visit)
    return bool(found)


def extract(file: str) -> dict[str, Any]:
    """The units of the stage, and its prims with what is authored on them."""
    from pxr import Usd, UsdGeom, UsdPhysics

    stage = Usd.Stage.Open(file)
    errors = stage.GetCompositionErrors()
    if errors:
        raise Refused(" ".join(str(errors[0]).split()), "references that can be followed", "correct the reference",
                      str(errors[0].rootSite.path))  # fmt: skip
    time = Usd.TimeCode.EarliestTime()
    placed, prims = UsdGeom.XformCache(time), list[dict[str, Any]]()
    for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
        if len(prims) == MAX_PRIMS:
            raise Refused(f"there are more than {MAX_PRIMS} prims", f"at most {MAX_PRIMS}", "write a file of the robot alone")
        attributes = {}
        animated = []
        for attribute in prim.GetAuthoredAttributes():
            single = str(attribute.GetTypeName()).removesuffix("[]").endswith(SINGLE)
            value = _plain(attribute.Get(time), _shortest if single else float)
            if value is not None:
                attributes[attribute.GetName()] = value
            if attribute.GetNumTimeSamples() > 1:
                animated.append(attribute.GetName())
        targets = {r.GetName(): [str(path) for path in r.GetForwardedTargets()] for r in prim.GetAuthoredRelationships()}
        matrix = placed.GetLocalToWorldTransform(prim)
        prims.append({
            "path": str(prim.GetPath()), "type": str(prim.GetTypeName()), "apis": list(map(str, prim.GetAppliedSchemas())),
            "attributes": attributes, "targets": targets, "animated": animated, "matrix": [list(row) for row in matrix],
            "shape": bool(prim.IsA(UsdGeom.Gprim)), "purpose": _purpose(prim),
        })  # fmt: skip
    return {
        "meters": UsdGeom.GetStageMetersPerUnit(stage), "kilograms": UsdPhysics.GetStageKilogramsPerUnit(stage),
        "up": str(UsdGeom.GetStageUpAxis(stage)), "default": str(stage.GetDefaultPrim().GetPath()), "prims": prims,
    }  # fmt: skip


def _purpose(prim: Any) -> str:
    """default, render, proxy, guide, or hidden."""
    from pxr import UsdGeom

    imageable = UsdGeom.Imageable(prim)
    if not imageable:
        return ""
    return "hidden" if imageable.ComputeVisibility() == "invisible" else str(imageable.ComputePurpose())


def _plain(value: Any, number: Callable[[float], float]) -> Any:
    """A number, a text or a list of them; quaternions are (w, x, y, z). None for what is longer or of another kind."""
    if isinstance(value, float):
        return number(value)
    if isinstance(value, bool | int | str) or value is None:
        return value
    if hasattr(value, "GetReal") and hasattr(value, "GetImaginary"):
        return [number(float(value.GetReal())), *(number(float(x)) for x in value.GetImaginary())]
    try:
        return None if len(value) > MAX_LISTED else [_plain(x, number) for x in value]
    except TypeError:
        return None


def _shortest(x: float) -> float:
    """The shortest decimal that rounds to a number of single precision: 3.761 as it was written, instead of 3.76099992."""
    tries = (float(f"{x:.{digits}g}") for digits in range(6, 9))
    return next((y for y in tries if struct.pack("f", y) == struct.pack("f", x)), x)


def content(file: str, folders: list[str], size: int) -> dict[str, Any]:
    """What `extract` finds, or why it was "refused" (found, allowed, repair, prim path), or "failed" in OpenUSD's words."""
    try:
        check_layers(file, folders, size)
        return extract(file)
    except Refused as refusal:
        return {"refused": refusal.args}
    except Exception as error:  # OpenUSD's own, whose text has every detail
        return {"failed": str(error)}


if __name__ == "__main__":
    file, out, folders, size, memory, seconds = sys.argv[1:]
    limit(int(memory), int(seconds))
    Path(out).write_text(json.dumps(content(file, json.loads(folders), int(size))), encoding="utf-8")
