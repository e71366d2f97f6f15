"""Small mesh files that declare, unpack to or repeat gigabytes are refused before a library reads them."""

import io
import json
import struct
import zipfile

import pytest

from dynamis import InputError
from dynamis.files.mesh_limits import MAX_INSTANCES, check_mesh_file
from dynamis.model.meshes.reading import MeshFile, read
from dynamis.spatial.mesh import mesh_inertia

NAMESPACE = 'xmlns="http://www.collada.org/2005/11/COLLADASchema"'


def glb(tree):
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    return b"glTF" + struct.pack("<IIII", 2, 20 + len(text), len(text), 0x4E4F534A) + text


def doubling(depth):
    """A scene in which each node contains the next one twice."""
    nodes = [{"children": [k + 1, k + 1]} for k in range(depth)] + [{"mesh": 0}]
    return {"asset": {"version": "2.0"}, "nodes": nodes, "scenes": [{"nodes": [0]}], "meshes": [{"primitives": []}]}


def collada(nodes):
    return f'<COLLADA {NAMESPACE} version="1.4.1"><library_nodes>{nodes}</library_nodes></COLLADA>'.encode()


def zipped(content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.dae", content)
    return stream.getvalue()


ACCESSOR = {"count": 300_000_000, "type": "VEC3", "componentType": 5126}
PAIR = '<node id="n{k}"><instance_node url="#n{next}"/><instance_node url="#n{next}"/></node>'
HOSTILE = {
    "count.glb": (glb({"asset": {"version": "2.0"}, "accessors": [ACCESSOR]}), "7.2 GB in memory"),
    "doubling.glb": (glb(doubling(40)), f"more than {MAX_INSTANCES} meshes"),
    "circle.glb": (glb({"nodes": [{"children": [1]}, {"children": [0]}]}), "contains itself"),
    "list.glb": (glb([1, 2]), "no glTF 2.0"),
    "wrong.glb": (glb({"accessors": [{"count": "many", "type": "VEC3"}]}), "no glTF 2.0"),
    "short.glb": (b"glTF" + b"\xff" * 16, "its JSON part has 4294967295 bytes"),
    "zip.dae": (zipped(b"<a/>" * 1000), "compressed archive"),
    "entities.dae": (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "entities"),
    "cut.dae": (b"<COLLADA", "not well-formed XML"),
    "doubling.dae": (
        collada(
            "".join(PAIR.format(k=k, next=k + 1) for k in range(40)) + '<node id="n40"><instance_geometry url="#g"/></node>'
        ),
        f"more than {MAX_INSTANCES} meshes",
    ),
    "circle.dae": (collada('<node id="a"><instance_node url="#a"/></node>'), "contains itself"),
    "count.ply": (
        b"ply\nformat binary_little_endian 1.0\nelement vertex 900000000\nproperty float x\nend_header\n",
        "7.2 GB in memory",
    ),
    "words.ply": (b"ply\nformat ascii 1.0\nelement vertex many\nend_header\n", "number of elements"),
    "model.3mf": (b"", "formats read are"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_meshes_are_refused(name, tmp_path):
    content, reason = HOSTILE[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=reason):
        check_mesh_file(path)
    assert reason in read(MeshFile.at(path))
    with pytest.raises(InputError, match=reason):
        mesh_inertia(path, mass=1.0)


def test_a_mesh_placed_often_is_counted_and_read(tmp_path):
    nodes = "".join(f'<node id="n{k}"><instance_geometry url="#g"/></node>' for k in range(MAX_INSTANCES))
    path = tmp_path / "many.dae"
    path.write_bytes(collada(nodes))
    assert check_mesh_file(path) == "dae"
    path.write_bytes(collada(f"<node>{nodes}<node>{nodes}</node></node>"))
    with pytest.raises(InputError, match="meshes"):
        check_mesh_file(path)
