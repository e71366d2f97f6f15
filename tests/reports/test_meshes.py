"""Meshes of a robot's file in the report: found, read, made small, drawn; and never a reason to fail."""

import base64
import importlib.util
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from collada_file import TETRAHEDRON

import dynamis as dy
from dynamis.files.mesh_limits import FORMATS
from dynamis.files.mesh_readers import PACKAGES
from dynamis.model.meshes.surface import GRID_STEPS, Surface, joined, normal_classes
from dynamis.model.packages import find_file as find_mesh
from dynamis.reports.meshes import encoding
from dynamis.reports.meshes.drawing import drawing_of
from dynamis.reports.meshes.encoding import encode, simplify
from dynamis.reports.report import contents_of
from dynamis.reports.scene import scene_of

trimesh = pytest.importorskip("trimesh", reason="pip install trimesh pycollada")

FIND_SPEC = importlib.util.find_spec
INERTIA = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def shape(name, role="visual", scale="1 1 1", colour=None):
    paint = f'<material name="m"><color rgba="{colour}"/></material>' if colour and role == "visual" else ""
    return f'<{role}><geometry><mesh filename="{name}" scale="{scale}"/></geometry>{paint}</{role}>'


def arm(folder, *links):
    """A file with a base and a link on a joint for each text of shapes after the first."""
    first, *others = links
    parts = [f'<link name="base">{first}</link>']
    for k, text in enumerate(others, 1):
        parts += [
            f'<link name="link{k}">{INERTIA}{text}</link>',
            f'<joint name="j{k}" type="revolute"><parent link="{"base" if k == 1 else f"link{k - 1}"}"/><child link="link{k}"/>'
            '<origin xyz="0 0 0.3"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="9" velocity="9"/></joint>',
        ]
    path = folder / "arm.urdf"
    path.write_text(f'<robot name="arm">{"".join(parts)}</robot>')
    return path


def ball(folder, name="ball.stl", subdivisions=3):
    folder.mkdir(parents=True, exist_ok=True)
    trimesh.creation.icosphere(subdivisions, radius=0.1).export(folder / name)
    return folder / name


def surface_of(mesh):
    points, faces = joined(np.asarray(mesh.vertices), np.asarray(mesh.faces))
    return Surface(points, faces, normal_classes(points, faces), (None,))


def decoded(mesh):
    """(vertices, triangles) as the page has them."""
    steps = np.frombuffer(base64.b64decode(mesh["vertices"]), "<u2").reshape(-1, 3)
    corners = np.frombuffer(base64.b64decode(mesh["triangles"]), "<u4" if mesh["wide"] else "<u2").reshape(-1, 3)
    return np.array(mesh["low"]) + mesh["step"] * steps, corners.astype(int)


# finding


@pytest.mark.parametrize("mark", ["package.xml", "manifest.xml"])
def test_a_package_is_found_above_the_file(mark, tmp_path):
    expected = ball(tmp_path / "work" / "my_robot" / "meshes")
    (tmp_path / "work" / "my_robot" / mark).write_text("<package/>")
    folder = tmp_path / "work" / "my_robot" / "urdf"
    assert find_mesh("package://my_robot/meshes/ball.stl", folder) == expected
    assert find_mesh("package:///my_robot/meshes/ball.stl", folder) == expected
    assert find_mesh("package://my_robot/meshes/ball.stl", tmp_path / "work" / "other_robot" / "urdf") == expected


def test_a_folder_inside_a_package_is_found_by_its_name(tmp_path):
    expected = ball(tmp_path / "data" / "robots" / "arm_description" / "meshes")
    (tmp_path / "data" / "package.xml").write_text("<package/>")
    folder = tmp_path / "data" / "robots" / "arm_description" / "urdf"
    assert find_mesh("package://arm_description/meshes/ball.stl", folder) == expected


@pytest.mark.parametrize("name", ["package://private/ball.stl", "package://private/robot/ball.stl", "package://other/ball.stl"])
def test_a_folder_that_merely_has_the_name_is_not_a_package(name, tmp_path, monkeypatch):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    for place in ("private", "private/robot", "private/other"):
        ball(tmp_path / place)
    with pytest.raises(dy.InputError, match="was not found"):
        find_mesh(name, tmp_path / "private" / "robot")


def test_the_folder_for_temporary_files_is_not_a_package(tmp_path, monkeypatch):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    top = Path(*tmp_path.resolve().parts[:2])
    inside = ball(tmp_path).resolve().relative_to(top)
    with pytest.raises(dy.InputError, match="was not found"):
        find_mesh(f"package://{top.name}/{inside}", tmp_path)


@pytest.mark.parametrize(("variable", "inside"), [("ROS_PACKAGE_PATH", ""), ("AMENT_PREFIX_PATH", "share")])
def test_a_package_is_found_where_the_environment_declares_it(variable, inside, tmp_path, monkeypatch):
    expected = ball(tmp_path / inside / "far_robot")
    monkeypatch.setenv(variable, str(tmp_path))
    assert find_mesh("package://far_robot/ball.stl", None) == expected


def test_other_names_are_found_in_the_files_folder_and_beside_it(tmp_path):
    expected = ball(tmp_path / "robot" / "meshes")
    assert find_mesh("meshes/ball.stl", tmp_path / "robot") == expected
    assert find_mesh("../meshes/ball.stl", tmp_path / "robot" / "urdf") == expected


@pytest.mark.parametrize(
    "name",
    [
        "../../outside.stl",
        "/etc/passwd",
        "file:///outside.stl",
        "package://../outside.stl",
        "package://robot/../../outside.stl",
        "package://robot/../outside.stl",
        "package://./outside.stl",
    ],
)
def test_names_that_lead_away_are_refused(name, tmp_path):
    ball(tmp_path, "outside.stl")
    folder = tmp_path / "robot" / "urdf"
    folder.mkdir(parents=True)
    (tmp_path / "robot" / "package.xml").write_text("<package/>")
    with pytest.raises(dy.InputError):
        find_mesh(name, folder)


# making small


def test_a_small_mesh_stays_as_it_is(tmp_path):
    mesh = trimesh.creation.icosphere(2, radius=0.1)
    soup = mesh.vertices[mesh.faces].reshape(-1, 3)
    points, faces = joined(soup, np.arange(len(soup)).reshape(-1, 3))
    assert len(points) == len(mesh.vertices)
    small = simplify(surface_of(mesh), 0.2 / GRID_STEPS)
    vertices, corners = decoded(encode(small))
    again = trimesh.Trimesh(vertices, corners, process=False)
    assert again.is_watertight
    assert again.volume == pytest.approx(mesh.volume, rel=1e-4)
    assert len(points[faces]) == len(mesh.faces)


def test_a_large_mesh_keeps_its_form_with_fewer_triangles():
    mesh = trimesh.creation.icosphere(6, radius=0.1)
    small = simplify(surface_of(mesh), 0.008)
    assert len(small.triangles) < 0.1 * len(mesh.faces)
    assert np.allclose(np.linalg.norm(small.vertices, axis=1), 0.1, atol=1e-3)
    a, b, c = small.triangles.T
    assert not ((a == b) | (b == c) | (c == a)).any()
    outward = np.cross(small.vertices[b] - small.vertices[a], small.vertices[c] - small.vertices[a])
    assert (np.einsum("ij,ij->i", outward, small.vertices[a]) > 0).mean() > 0.99


def test_edges_of_a_box_stay_sharp():
    mesh = trimesh.creation.box((0.3, 0.2, 0.1))
    for _ in range(5):
        mesh = mesh.subdivide()
    small = simplify(surface_of(mesh), 0.03)
    assert np.abs(small.vertices).max(axis=0) == pytest.approx([0.15, 0.1, 0.05], abs=2e-3)
    assert len(small.triangles) < 0.5 * len(mesh.faces)


def test_the_sides_of_a_thin_wall_stay_apart():
    mesh = trimesh.creation.box((0.3, 0.3, 0.002))
    for _ in range(5):
        mesh = mesh.subdivide()
    small = simplify(surface_of(mesh), 0.03)
    inside = np.abs(small.vertices[:, :2]).max(axis=1) < 0.1
    assert np.abs(small.vertices[inside, 2]) == pytest.approx(0.001, abs=1e-4)


def test_all_meshes_together_keep_to_the_triangles_there_may_be(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "MAX_TRIANGLES", 2000)
    ball(tmp_path, "a.stl", 4)
    ball(tmp_path, "b.stl", 5)
    drawing = drawing_of(dy.load(arm(tmp_path, shape("a.stl"), shape("b.stl"), shape("a.stl"))))
    count = sum(paint["count"] for mesh in drawing.meshes for paint in mesh["paint"])
    assert 1000 < count <= 2000
    assert [drawn.mesh for drawn in drawing.shapes] == [0, 1, 0]  # each file once


# drawing


def test_parts_have_their_colours(tmp_path):
    scene = trimesh.Scene()
    for k, colour in enumerate(([255, 0, 0, 255], [0, 0, 255, 255])):
        box = trimesh.creation.box((0.1, 0.1, 0.1))
        box.apply_translation((0.0, 0.0, 0.2 * k))
        box.visual = trimesh.visual.TextureVisuals(material=trimesh.visual.material.PBRMaterial(baseColorFactor=colour))
        scene.add_geometry(box)
    scene.export(tmp_path / "two.glb")
    drawing = drawing_of(dy.load(arm(tmp_path, "", shape("two.glb"))))
    paint = sorted((part["count"], part["rgba"]) for part in drawing.meshes[0]["paint"])
    assert paint == [(12, [0.0, 0.0, 1.0, 1.0]), (12, [1.0, 0.0, 0.0, 1.0])]


def test_an_object_file_takes_materials_from_beside_it_only(tmp_path):
    (tmp_path / "robot").mkdir()
    text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n"
    for folder, colour in ((tmp_path, "0 1 0"), (tmp_path / "robot", "1 0 0")):
        (folder / "m.mtl").write_text(f"newmtl m\nKd {colour}\n")
    (tmp_path / "robot" / "near.obj").write_text(f"mtllib m.mtl\n{text}")
    (tmp_path / "robot" / "far.obj").write_text(f"mtllib ../m.mtl\n{text}")
    near, far = drawing_of(dy.load(arm(tmp_path / "robot", shape("near.obj"), shape("far.obj")))).meshes
    assert near["paint"] == [{"count": 1, "rgba": [1.0, 0.0, 0.0, 1.0]}]
    assert far["paint"] == [{"count": 1}]


def from_file(drawing):
    """(link, role) of what is drawn from the file."""
    return [(drawn.link, drawn.shape.role) for drawn in drawing.shapes if drawn.link is not None]


def test_a_link_whose_mesh_cannot_be_read_is_drawn_as_a_capsule_and_named_in_a_note(tmp_path):
    """Never as what it collides as: beside links with meshes that would be another kind of picture."""
    (tmp_path / "bad.stl").write_bytes(b"solid nothing")
    (tmp_path / "bad.step").write_bytes(b"?")
    ball(tmp_path)
    bad = shape("bad.stl") + shape("ball.stl", "collision") + '<collision><geometry><box size="1 1 1"/></geometry></collision>'
    drawing = drawing_of(dy.load(arm(tmp_path, shape("gone.stl"), bad, shape("bad.step"), shape("ball.stl"))))
    assert from_file(drawing) == [("link3", "visual")]
    made_up = {(drawn.body, drawn.shape.kind) for drawn in drawing.shapes if drawn.link is None}
    assert {(0, "tapered_capsule"), (1, "tapered_capsule"), (2, "tapered_capsule")} <= made_up
    assert 3 not in {body for body, _ in made_up}
    lost, broken, instead = drawing.notes
    assert lost.startswith("1 mesh not found: 'gone.stl'.")
    assert broken.startswith("2 meshes not read: 'bad.step', 'bad.stl'.")
    assert "capsules from joint to joint" in instead


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 84, b"\xff" * 200, b"solid x\nfacet normal nan nan nan\nouter loop\nvertex 1 2\n"]
)
@pytest.mark.parametrize("kind", FORMATS)
def test_no_content_breaks_the_report(content, kind, tmp_path):
    (tmp_path / f"bad.{kind}").write_bytes(content)
    drawing = drawing_of(dy.load(arm(tmp_path, "", shape(f"bad.{kind}"))))
    assert not from_file(drawing)
    assert drawing.notes[0].startswith("1 mesh not read")


def test_vertices_that_are_no_points_are_refused(tmp_path):
    (tmp_path / "bad.obj").write_text("v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    drawing = drawing_of(dy.load(arm(tmp_path, "", shape("bad.obj"))))
    assert not from_file(drawing)


def test_without_trimesh_links_are_capsules_and_a_note_names_what_to_install(tmp_path, monkeypatch):
    ball(tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "trimesh" else FIND_SPEC(name))
    contents = contents_of(arm(tmp_path, "", shape("ball.stl")), sections=["robot"])
    told = "1 mesh not read: 'ball.stl'. Reason: trimesh is not installed: pip install trimesh pycollada."
    assert told in contents.sections[0].notes
    assert {shape["kind"] for shape in scene_of(contents.subject.robot)["shapes"]} == {"tapered_capsule", "cylinder"}
    assert told in contents.markdown()


def test_a_collada_file_is_read_with_its_own_unit_and_the_transforms_of_its_nodes(tmp_path):
    (tmp_path / "tetrahedron.dae").write_text(TETRAHEDRON)
    drawing = drawing_of(dy.load(arm(tmp_path, "", shape("tetrahedron.dae"))))
    assert from_file(drawing) == [("link1", "visual")], drawing.notes
    (mesh,) = drawing.meshes
    points, triangles = decoded(mesh)
    inch = 0.0254
    np.testing.assert_allclose(points.max(axis=0), [12 * inch, 22 * inch, 32 * inch], atol=2 * mesh["step"])
    np.testing.assert_allclose(points.min(axis=0), [10 * inch, 20 * inch, 30 * inch], atol=2 * mesh["step"])
    assert len(triangles) == 4


def test_a_note_on_a_collada_file_names_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "box.dae").write_text(TETRAHEDRON)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "collada" else FIND_SPEC(name))
    drawing = drawing_of(dy.load(arm(tmp_path, "", shape("box.dae"))))
    assert drawing.notes[0] == "1 mesh not read: 'box.dae'. Reason: pycollada is not installed: pip install trimesh pycollada."


def test_a_note_names_a_module_that_the_reader_itself_misses(tmp_path, monkeypatch):
    def load(*_args, **_options):
        raise ModuleNotFoundError("No module named 'networkx.algorithms'", name="networkx.algorithms")

    ball(tmp_path)
    monkeypatch.setattr(trimesh, "load", load)
    drawing = drawing_of(dy.load(arm(tmp_path, "", shape("ball.stl"))))
    assert drawing.notes[0] == "1 mesh not read: 'ball.stl'. Reason: networkx is not installed: pip install networkx."


def test_a_link_that_shows_nothing_hides_what_it_collides_as_where_its_body_shows_something(tmp_path):
    path = arm(tmp_path, "", shape("ball.stl"))
    ball(tmp_path)
    box = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
    fixed = f'<link name="guard">{box}</link><joint name="f" type="fixed"><parent link="link1"/><child link="guard"/></joint>'
    path.write_text(path.read_text().replace("</robot>", f"{fixed}</robot>"))
    assert from_file(drawing_of(dy.load(path))) == [("link1", "visual")]


def test_a_robot_without_meshes_says_nothing_about_them():
    drawing = drawing_of(dy.load("ur5e"))
    assert (drawing.meshes, drawing.notes) == ([], [])


# the page


def test_the_page_draws_meshes_as_they_are_scaled_and_mirrored(tmp_path, opened):
    trimesh.creation.box((0.1, 0.1, 0.2)).apply_translation((0.2, 0.0, 0.1)).export(tmp_path / "box.stl")
    path = arm(tmp_path, shape("box.stl", colour="1 0 0 1"), shape("box.stl", scale="-1 1 2"))
    page = opened(dy.report(path, tmp_path / "arm.html", sections=["robot"]))
    found = page.page.evaluate(
        """() => {
          const { parts, three } = window.dynamisReport.panel.view;
          three.updateMatrixWorld(true);
          const seen = [];
          for (const thing of parts.layers.links.things) thing.traverse((one) => {
            if (!one.geometry?.attributes.position) return;
            one.geometry.computeBoundingBox();
            const box = one.geometry.boundingBox.clone().applyMatrix4(one.matrixWorld);
            const { r, g, b } = one.material[0].color;
            seen.push({ low: box.min.toArray(), high: box.max.toArray(), red: g === 0 && b === 0 && r > 0.5,
                        mirrored: one.matrixWorld.determinant() < 0, shadow: one.castShadow });
          });
          const links = parts.layers.links;
          links.visible = false;
          return { seen, hidden: links.things.every((thing) => !thing.visible) };
        }"""
    )
    assert page.wrong == []
    first, second = found["seen"]  # no tubes and no marks of joints
    assert np.allclose([first["low"], first["high"]], [[0.15, -0.05, 0.0], [0.25, 0.05, 0.2]], atol=1e-4)
    assert np.allclose([second["low"], second["high"]], [[-0.25, -0.05, 0.3], [-0.15, 0.05, 0.7]], atol=1e-4)
    assert [first["red"], second["red"]] == [True, False]
    assert [first["mirrored"], second["mirrored"]] == [False, True]
    assert first["shadow"]
    assert found["hidden"]


def test_reading_meshes_needs_nothing_beside_the_default_install():
    declared = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["dependencies"]
    assert set(PACKAGES.values()) <= {re.split("[<>=;]", x)[0] for x in declared}
