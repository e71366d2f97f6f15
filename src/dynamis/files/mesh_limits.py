"""Mesh files are examined before a library reads them: what they declare must fit the bytes they have.

A few hundred bytes can declare gigabytes of vertices, unpack to them, or place one mesh in a scene millions of times.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import BinaryIO
from xml.etree import ElementTree

from dynamis.errors import InputError, printable
from dynamis.files.limits import check_size

FORMATS = ("stl", "dae", "obj", "ply", "off", "glb")
MAX_INSTANCES = 10_000  # of meshes in the scene of a file
MAX_HEADER_BYTES = 1 << 16  # of a PLY file
BYTES_PER_NUMBER = 8  # in memory
COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}


def check_mesh_file(path: Path) -> str:
    """The format of a mesh file; raises `InputError` for other formats and for files that declare too much."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise InputError(f"the mesh formats read are {', '.join(FORMATS)}; {printable(path.name)} is none of them")
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(2) == b"PK":
            raise InputError(f"{printable(path.name)} is a compressed archive: unpack it")
        file.seek(0)
        check = {"dae": _check_collada, "glb": _check_gltf, "ply": _check_ply}.get(kind)
        if check is not None:
            check(file, size)
    return kind


def _check_collada(file: BinaryIO, _: int) -> None:
    content = file.read()
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content or b"\0" in content[:200]:
        raise InputError("a document type, entities and encodings other than UTF-8 are not read; remove them")
    try:
        root = ElementTree.fromstring(content)  # noqa: S314 - documents with entities were refused above
    except ElementTree.ParseError as error:
        raise InputError(f"not well-formed XML: {error}") from None
    nodes = [node for node in root.iter() if node.tag.endswith("}node")]
    by_url = {f"#{node.get('id')}": id(node) for node in nodes}
    kept = set(map(id, nodes))
    inside: dict[int, list[int | None]] = {}
    for node in nodes:
        geometry = [None for part in node if part.tag.endswith(("}instance_geometry", "}instance_controller"))]
        instances = [by_url[part.get("url", "")] for part in node if part.get("url") in by_url]
        inside[id(node)] = [*geometry, *instances, *(id(part) for part in node if id(part) in kept)]
    _check_placed(inside)


def _check_gltf(file: BinaryIO, size: int) -> None:
    head = file.read(20)
    if len(head) < 20 or head[:4] != b"glTF":
        raise InputError("not a binary glTF 2.0 file")
    length = struct.unpack("<I", head[12:16])[0]
    if length > size:
        raise InputError(f"its JSON part has {length} bytes, the file {size}")
    try:
        tree = json.loads(file.read(length))
        accessors, nodes = tree.get("accessors", []), tree.get("nodes", [])
        wanted = sum(BYTES_PER_NUMBER * int(a["count"]) * COMPONENTS[a["type"]] for a in accessors)
        inside = {k: [*map(int, node.get("children", ())), *([None] if "mesh" in node else [])] for k, node in enumerate(nodes)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        raise InputError("its JSON part is no glTF 2.0") from None
    check_size("its geometry", wanted, size)
    _check_placed(inside)


def _check_ply(file: BinaryIO, size: int) -> None:
    header = file.read(MAX_HEADER_BYTES).partition(b"end_header")[0]
    wanted, count = 0, 0
    for line in header.splitlines():
        words = line.split()
        if words[:1] == [b"element"] and len(words) == 3:
            if not words[2].isdigit() or len(words[2]) > 15:
                raise InputError("its header has a number of elements that is none")
            count = int(words[2])
        elif words[:1] == [b"property"]:
            wanted += count * BYTES_PER_NUMBER
    check_size("its geometry", wanted, size)


def _check_placed(inside: Mapping[int, list[int | None]]) -> None:
    """Count the meshes (None) of a scene, whose nodes may contain each other several times."""
    graph = {node: [part for part in parts if part is not None] for node, parts in inside.items()}
    total: dict[int, int] = {}
    try:
        for node in TopologicalSorter(graph).static_order():
            total[node] = sum(1 if part is None else total[part] for part in inside.get(node, ()))
            if total[node] > MAX_INSTANCES:
                raise InputError(f"its scene contains more than {MAX_INSTANCES} meshes")
    except CycleError:
        raise InputError("a node of its scene contains itself") from None
